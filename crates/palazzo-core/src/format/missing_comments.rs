//! Brings the comments of one version of a file into another.

use std::collections::HashMap;

use crate::format::fields_and_body::parse_fields_and_body;
use crate::format::front_matter;
use crate::format::paths::PalacePath;
use crate::format::yaml::CommentsAndDashes;

/// A comment and what is on its line before it.
struct FoundComment<'a> {
    /// The index of its line.
    line: usize,
    /// The text before it on its line, without indentation; empty for a line of its own.
    before: &'a str,
    text: String,
}

/// Adds to `text` the comments of `other` that `base` does not have: above or beside the line that
/// they are at in `other`, if it is in `text` too, else above the key around it.
pub fn add_missing_comments(path: &str, text: &str, base: &str, other: &str) -> String {
    let mut known = count_comments(path, base);
    let mut present = count_comments(path, text);
    let mut merged = text.to_owned();
    let take = |counts: &mut HashMap<String, usize>, text: &str| match counts.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    for comment in find_comments(path, other) {
        let is_present = take(&mut present, &comment.text);
        if !take(&mut known, &comment.text) && !is_present {
            merged = insert_comment(path, &merged, other, &comment).unwrap_or(merged);
        }
    }
    merged
}

fn count_comments(path: &str, text: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for comment in find_comments(path, text) {
        *counts.entry(comment.text).or_default() += 1;
    }
    counts
}

/// Finds the comments of a file; in a text they are not looked for.
fn find_comments<'a>(path: &str, text: &'a str) -> Vec<FoundComment<'a>> {
    let lines: Vec<_> = text.lines().collect();
    let places: Vec<(usize, usize)> = if path == PalacePath::SETTINGS_FILE {
        let comment = |line: &&str| {
            let quotes = |at: usize| line[..at].matches(['"', '\'']).count();
            line.match_indices('#').map(|it| it.0).find(|it| quotes(*it) % 2 == 0)
        };
        let lines = lines.iter().enumerate();
        lines.filter_map(|(index, line)| Some((index, comment(line)?))).collect()
    } else {
        let is_markdown = parse_fields_and_body(path, text).is_some_and(|it| it.body.is_some());
        let matter = front_matter::split_front_matter(text).filter(|_| is_markdown);
        let (offset, yaml) = matter.map_or((0, text), |(matter, _)| (1, matter));
        let byte = |line: usize, column: usize| {
            let line = lines.get(line)?;
            Some(line.char_indices().nth(column).map_or(line.len(), |(at, _)| at))
        };
        let comments = CommentsAndDashes::scan(yaml).comments.into_iter();
        let places = comments.map(|it| (it.at.line - 1 + offset, it.at.column - 1));
        places.filter_map(|(line, column)| Some((line, byte(line, column)?))).collect()
    };
    let found = places.into_iter().filter_map(|(line, at)| {
        let (before, text) = lines.get(line)?.split_at_checked(at)?;
        Some(FoundComment { line, before: before.trim(), text: text.trim_end().to_owned() })
    });
    found.collect()
}

/// Inserts a comment at the best place at which the content of the file stays the same.
fn insert_comment(
    path: &str,
    text: &str,
    other: &str,
    comment: &FoundComment<'_>,
) -> Option<String> {
    let meant = parse_fields_and_body(path, text)?;
    let count = count_comments(path, text).get(&comment.text).copied().unwrap_or_default();
    let is_inserted = |it: &String| {
        parse_fields_and_body(path, it).as_ref() == Some(&meant)
            && count_comments(path, it).get(&comment.text) == Some(&(count + 1))
    };
    let lines: Vec<_> = text.lines().collect();
    let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let above = |index: usize| {
        let mut lines: Vec<_> = lines.iter().map(|it| (*it).to_owned()).collect();
        let indent = lines.get(index).map(|it| " ".repeat(indentation(it))).unwrap_or_default();
        lines.insert(index.min(lines.len()), format!("{indent}{}", comment.text));
        lines.join(ending) + ending
    };
    let beside = |index: usize| {
        let mut lines: Vec<_> = lines.iter().map(|it| (*it).to_owned()).collect();
        lines[index] = format!("{} {}", lines[index].trim_end(), comment.text);
        lines.join(ending) + ending
    };
    let places = find_places(&lines, &enclosing_lines(other, comment));
    let same = places.first().filter(|it| lines[**it].trim() == comment.before);
    let attempts = same.into_iter().map(|it| beside(*it));
    let attempts = attempts.chain(places.iter().map(|it| above(*it)));
    let mut attempts = attempts.chain([lines.len(), 1, 0].into_iter().map(above));
    attempts.find(is_inserted)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the line to which a comment belongs, and those of the keys and items around it, from the
/// outside.
fn enclosing_lines<'a>(other: &'a str, comment: &FoundComment<'_>) -> Vec<&'a str> {
    let lines: Vec<_> = other.lines().collect();
    let is_code = |it: &str| !it.trim().is_empty() && !it.trim().starts_with('#');
    let own = match comment.before.is_empty() {
        true => lines[comment.line..].iter().position(|it| is_code(it)).map(|it| it + comment.line),
        false => Some(comment.line),
    };
    let Some(own) = own else { return Vec::new() };
    let code = lines[own].trim();
    let mut enclosing = vec![code.strip_suffix(comment.text.as_str()).unwrap_or(code).trim()];
    let mut inner = indentation(lines[own]);
    for line in lines[..own].iter().rev().filter(|it| is_code(it)) {
        if indentation(line) < inner {
            inner = indentation(line);
            enclosing.push(line.trim());
        }
    }
    enclosing.reverse();
    enclosing
}

/// Finds the lines of a text that correspond to lines which enclose each other; returns them from
/// the inside. A key may have another value, but a list item must be the same.
fn find_places(lines: &[&str], enclosing: &[&str]) -> Vec<usize> {
    let (mut places, mut range) = (Vec::new(), 0..lines.len());
    for wanted in enclosing {
        let key = wanted.split_once([':', '=']).map(|(key, _)| key.trim_end());
        let has_key = |line: &str| {
            let rest = key.and_then(|it| line.strip_prefix(it)).map(str::trim_start);
            !line.starts_with('-') && rest.is_some_and(|it| it.starts_with([':', '=']))
        };
        let same = range.clone().find(|it| lines[*it].trim() == *wanted);
        let Some(place) = same.or_else(|| range.clone().find(|it| has_key(lines[*it].trim())))
        else {
            break;
        };
        let own = indentation(lines[place]);
        let is_inside = |line: &&str| {
            let is_item = line.trim().starts_with('-') && !lines[place].trim().starts_with('-');
            line.trim().is_empty() || indentation(line) > own || is_item && indentation(line) == own
        };
        let length = lines[place + 1..range.end].iter().take_while(|it| is_inside(it)).count();
        range = place + 1..place + 1 + length;
        places.push(place);
    }
    places.reverse();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: &str = "name: Hall\nactions:\n  - label: Look\n    type: text\n    content: |\n      # no\n      Stone.\nportals: [crypt]\n";

    fn merged(text: &str, other: &str) -> String {
        add_missing_comments("rooms/hall.yaml", text, ROOM, other)
    }

    #[test]
    fn a_comment_goes_to_the_same_line() {
        let other = ROOM.replace("    type", "    # what it does\n    type");
        let text = ROOM.replace("Hall", "Great Hall");
        assert_eq!(merged(&text, &other), other.replace("Hall", "Great Hall"));
        let other = ROOM.replace("type: text", "type: text # what it does");
        assert_eq!(merged(&text, &other), other.replace("Hall", "Great Hall"));
    }

    #[test]
    fn a_comment_of_a_changed_line_goes_above_its_key() {
        let other = ROOM.replace("name: Hall", "name: Hall # why");
        let text = ROOM.replace("Hall", "Great Hall");
        assert_eq!(merged(&text, &other), format!("# why\n{text}"));
        let other = ROOM.replace("portals: [crypt]", "# doors\nportals: [attic]");
        assert_eq!(merged(&text, &other), text.replace("portals", "# doors\nportals"));
    }

    #[test]
    fn a_comment_of_a_deleted_item_goes_above_its_list() {
        let other = ROOM.replace("    type", "    # what it does\n    type");
        let text = ROOM.replace("label: Look", "label: Listen");
        assert_eq!(merged(&text, &other), text.replace("actions", "# what it does\nactions"));
    }

    #[test]
    fn a_comment_that_is_there_already_or_was_removed_is_not_added() {
        let with = ROOM.replace("name", "# one\nname");
        assert_eq!(merged(&with, &with), with);
        assert_eq!(add_missing_comments("rooms/hall.yaml", ROOM, &with, &with), ROOM);
    }

    #[test]
    fn comments_of_settings_and_front_matter_are_added() {
        let (base, other) = ("name = \"P\"\n", "# ours\nname = \"P\"\n");
        let text = "name = \"Q\"\n[menu]\nlayout = \"wide\"\n";
        let merged = add_missing_comments("palace.toml", text, base, other);
        assert_eq!(merged, format!("# ours\n{text}"));
        let scroll = "---\ntitle: T\n---\n\n# body\n";
        let other = scroll.replace("title", "# mine\ntitle");
        let text = scroll.replace(": T", ": U");
        let merged = add_missing_comments("scrolls/a/b.md", &text, scroll, &other);
        assert_eq!(merged, text.replace("title", "# mine\ntitle"));
    }
}
