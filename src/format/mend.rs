//! Mending what is wrong in a file where there is no doubt what was meant.
//!
//! A mended file is believed only if it is read with fewer findings than before,
//! and none that was not there.

use std::ops::Range;

use crate::format::understand;
use crate::format::yaml::one_line;
use crate::model::{Code, Diagnostic, LARGEST_FILE, Slug, Spot, lines};

/// How many faults of one file are mended at once.
const MOST: usize = 50;

/// How many bytes are read again at most to mend one file.
const EFFORT: usize = 4 * LARGEST_FILE;

/// A file in which something was mended.
#[derive(Clone, Debug, PartialEq)]
pub struct Mended {
    /// Its text.
    pub text: String,
    /// What was wrong with it, each where it stood when its turn came.
    pub faults: Vec<Diagnostic>,
}

/// Mends what can be mended in the text of a file; `None`: nothing can.
///
/// Words that are one slip of the pen away from the only one possible, slugs that
/// are none, ids that contradict the file's name, texts that want quotes.
pub fn mend(path: &str, text: &str) -> Option<Mended> {
    let mut mended = Mended { text: text.to_owned(), faults: Vec::new() };
    let mut findings = understand(path, text).findings;
    let mut tries = EFFORT / text.len().max(1);
    while mended.faults.len() < MOST && tries > 0 {
        let attempts = findings.iter().filter_map(|it| Some((it, attempt(it, &mended.text)?)));
        let mut tried = attempts.take(tries).map(|(fault, text)| {
            tries -= 1;
            (fault, understand(path, &text).findings, text)
        });
        let better = tried.find(|(fault, after, _)| is_better(fault, &findings, after));
        let Some((fault, after, text)) = better else { break };
        mended.faults.push(fault.clone());
        (mended.text, findings) = (text, after);
    }
    (!mended.faults.is_empty()).then_some(mended)
}

/// Returns the path that a file should have whose name, or that of a folder it
/// lies in, is none such a file may have.
pub fn right_path(path: &str) -> Option<String> {
    let (start, ending) = path.rsplit_once('.')?;
    let ending = match ending.to_lowercase().as_str() {
        "yml" | "yaml" => "yaml",
        "md" | "markdown" => "md",
        _ => return None,
    };
    let slug = |it: &str| match it.parse::<Slug>() {
        Ok(_) => Some(it.to_owned()),
        Err(_) => Slug::of(it).map(|it| it.to_string()),
    };
    let mut names = start.split('/');
    let (kind, mut names): (_, Vec<_>) = (names.next()?, names.map(str::to_owned).collect());
    // Rooms are called as their files are, texts only as the folders they lie in.
    let named = match kind {
        "rooms" => names.len(),
        "scrolls" | "drawers" | "diary" => names.len().checked_sub(1)?,
        _ => 0,
    };
    for name in &mut names[..named] {
        *name = slug(name)?;
    }
    let right = format!("{kind}/{}.{ending}", names.join("/"));
    (right != path).then_some(right)
}

/// Tells whether a file has one fault less and no other more. What could not be
/// read at all may have others further down.
fn is_better(fault: &Diagnostic, before: &[Diagnostic], after: &[Diagnostic]) -> bool {
    if fault.code == Code::Syntax {
        return after.iter().all(|it| it.code != Code::Syntax || it.at.line > fault.at.line);
    }
    let is_known = |it: &Diagnostic| before.iter().any(|was| was.message == it.message);
    after.len() < before.len() && after.iter().all(is_known)
}

/// Returns the text with what is meant in place of what is wrong.
fn attempt(fault: &Diagnostic, text: &str) -> Option<String> {
    let (place, anew) = match &fault.meant {
        Some(meant) => (spelled(text, fault.at, fault.code)?, meant.to_string()),
        None if fault.code == Code::Syntax => quoted(text, fault.at)?,
        None => return None,
    };
    let mut text = text.to_owned();
    text.replace_range(place, &anew);
    Some(text)
}

/// Returns where the word is spelled that stands at that place.
fn spelled(text: &str, at: Spot, code: Code) -> Option<Range<usize>> {
    let line = line(text, at.line)?;
    let before: usize = text[line.clone()].chars().take(at.column - 1).map(char::len_utf8).sum();
    let start = line.start + before;
    let rest = &text[start..line.end];
    let end = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].find(quote)? + 2,
        _ if code == Code::UnknownKey => rest
            .find(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '-')))
            .unwrap_or(rest.len()),
        _ => {
            let end = rest.find([',', ']', '}', '#']).unwrap_or(rest.len());
            rest[..end].trim_end().len()
        }
    };
    Some(start..start + end)
}

/// Returns the text behind the key of a line, and the same in quotes.
fn quoted(text: &str, at: Spot) -> Option<(Range<usize>, String)> {
    let line = line(text, at.line)?;
    let (key, value) = text[line.clone()].split_once(": ")?;
    let said = value.trim();
    // What begins so is in some other style, and ` #` may be meant as a comment.
    if said.is_empty() || said.starts_with(['"', '\'', '[', '{', '|', '>']) || said.contains(" #") {
        return None;
    }
    // A text may go on further in, on the line below.
    let column = |it: &str, blanks: &[char]| it.len() - it.trim_start_matches(blanks).len();
    let below = lines(text).nth(at.line).filter(|it| !it.trim().is_empty());
    if below.is_some_and(|it| column(it, &[' ']) > column(key, &[' ', '-'])) {
        return None;
    }
    let start = line.start + key.len() + 2 + (value.len() - value.trim_start().len());
    Some((start..start + said.len(), one_line(said)))
}

/// Returns where a line begins and ends, without its break.
fn line(text: &str, number: usize) -> Option<Range<usize>> {
    let line = lines(text).nth(number.checked_sub(1)?)?;
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(path: &str, text: &str, meant: &str) {
        assert_eq!(mend(path, text).map(|it| it.text).as_deref(), Some(meant), "{text}");
    }

    #[test]
    fn a_word_that_is_one_slip_away_becomes_what_is_meant() {
        becomes("rooms/a.yaml", "nmae: Hall # mine\n", "name: Hall # mine\n");
        becomes("rooms/a.yaml", "\"naem\" : Hall\r\n", "name : Hall\r\n");
        becomes(
            "palace.toml",
            "name = \"P\"\n[meun]\nlayout = \"wide\"\n",
            "name = \"P\"\n[menu]\nlayout = \"wide\"\n",
        );
        let action =
            |word| format!("name: Hall\nactions: [{{ label: Go, type: {word}, room: a }}]\n");
        becomes("rooms/a.yaml", &action("navigat"), &action("navigate"));
        becomes("tasks/a.yaml", "title: T\nstatus: doen # yes\n", "title: T\nstatus: done # yes\n");
    }

    #[test]
    fn what_names_a_room_becomes_a_slug() {
        becomes(
            "rooms/a.yaml",
            "name: Hall\nportals:\n  - The Attic\n  - 'Crypt'\n",
            "name: Hall\nportals:\n  - the-attic\n  - crypt\n",
        );
    }

    #[test]
    fn a_text_that_wants_quotes_has_them() {
        becomes(
            "rooms/a.yaml",
            "name: Wegener: a life\ndescription: @ home: now\n",
            "name: \"Wegener: a life\"\ndescription: \"@ home: now\"\n",
        );
        becomes(
            "scrolls/a/a.md",
            "---\ntitle: A: b\nwritten: 2026-03-01\n---\nC: d: e\n",
            "---\ntitle: \"A: b\"\nwritten: 2026-03-01\n---\nC: d: e\n",
        );
    }

    #[test]
    fn the_id_of_another_becomes_that_of_the_name() {
        let text = |id| format!("---\nid: {id}\ntitle: T\nwritten: 2026-03-01\n---\n");
        let (own, other) = ("01KJMPXF9069S44V81ASY1KY37", "01KJMPXF9069S44V81ASY1KY38");
        becomes(&format!("scrolls/a/{own}.md"), &text(other), &text(own));
    }

    #[test]
    fn what_may_be_meant_otherwise_stays() {
        for text in [
            "nmae: Hall\nname: Attic\n",
            "name: Hall\nnotes: x\n",
            "name: [Hall\n",
            "name: a: b # c\n",
            "name: Wegener: a life\n  and a death\n",
            "name: &a Hall\n",
            "name: Hall\n",
        ] {
            assert_eq!(mend("rooms/a.yaml", text), None, "{text}");
        }
    }

    #[test]
    fn names_of_files_become_slugs_and_endings_those_that_are_read() {
        let right = |path| right_path(path).unwrap_or_default();
        assert_eq!(right("rooms/Great Hall.yaml"), "rooms/great-hall.yaml");
        assert_eq!(right("rooms/east/Annex.YML"), "rooms/east/annex.yaml");
        assert_eq!(right("scrolls/The Hall/On Stasis.md"), "scrolls/the-hall/On Stasis.md");
        assert_eq!(right("entities/claim/X y.yml"), "entities/claim/X y.yaml");
        assert_eq!(right("rooms/---.yaml"), "");
        assert_eq!(right("rooms/hall.yaml"), "");
    }
}
