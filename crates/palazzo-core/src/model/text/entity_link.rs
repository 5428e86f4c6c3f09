//! Links to entities in texts: `[[Cuvier]]`, or `[[Cuvier|the anatomist]]` with other words.

use std::ops::Range;

/// Maximum number of backticks around inline code.
const MAX_CODE_BACKTICKS: usize = 20;

/// A link to an entity, as written in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityLink<'a> {
    /// Its place in the text in bytes, brackets included.
    pub range: Range<usize>,
    /// The name of the entity; it may contain a line break.
    pub name: &'a str,
    /// The words to show instead of the name.
    pub words: Option<&'a str>,
}

/// Returns the links of a text. Code between backticks, and in blocks between lines of backticks or
/// tildes, contains none.
pub fn entity_links(text: &str) -> Vec<EntityLink<'_>> {
    let (mut links, mut at) = (Vec::new(), 0);
    while let Some(found) = text[at..].find(['[', '`', '~']) {
        at += found;
        let link = parse_link(text, at);
        at = match &link {
            Some(link) => link.range.end,
            None => code_end(text, at).unwrap_or(at + 1),
        };
        links.extend(link);
    }
    links
}

/// Replaces the links of a text for which `replacement` returns a text.
pub fn replace_entity_links<'a>(
    text: &'a str,
    mut replacement: impl FnMut(&EntityLink<'a>) -> Option<String>,
) -> String {
    let (mut replaced, mut copied) = (String::with_capacity(text.len()), 0);
    for link in entity_links(text) {
        let Some(new) = replacement(&link) else { continue };
        replaced.push_str(&text[copied..link.range.start]);
        replaced.push_str(&new);
        copied = link.range.end;
    }
    replaced + &text[copied..]
}

/// Replaces the names of the links for which `is_old` returns true by `name`; leaves the text as it
/// is if a link cannot contain that name.
pub fn rename_in_entity_links(text: &str, is_old: impl Fn(&str) -> bool, name: &str) -> String {
    let link = format!("[[{name}]]");
    if parse_link(&link, 0).is_none_or(|it| it.name != name || it.range.end != link.len()) {
        return text.to_owned();
    }
    replace_entity_links(text, |it| {
        let words = it.words.map(|words| format!("|{words}")).unwrap_or_default();
        is_old(it.name).then(|| format!("[[{name}{words}]]"))
    })
}

/// Parses the link at a position.
fn parse_link(text: &str, at: usize) -> Option<EntityLink<'_>> {
    let rest = text[at..].strip_prefix("[[")?;
    let (inner, after) = rest.split_at(rest.find(['[', ']'])?);
    let is_one_paragraph = !inner.lines().skip(1).any(|it| it.trim().is_empty());
    if !after.starts_with("]]") || !is_one_paragraph {
        return None;
    }
    let (name, words) = match inner.split_once('|') {
        Some((name, words)) => (name, Some(words)),
        None => (inner, None),
    };
    let words = words.map(str::trim).filter(|it| !it.is_empty());
    let (range, name) = (at..at + inner.len() + 4, name.trim());
    (!name.is_empty()).then_some(EntityLink { range, name, words })
}

/// Returns the end of the code that begins at a position with a backtick or a tilde; of marks that
/// begin no code, their own end.
fn code_end(text: &str, at: usize) -> Option<usize> {
    let mark = text[at..].chars().next().filter(|it| matches!(it, '`' | '~'))?;
    let marks = leading_marks(&text[at..], mark);
    let after = at + marks;
    if is_fence(text, at, mark, marks) {
        return Some(fenced_block_end(text, after, mark, marks));
    }
    let code = (mark == '`' && marks <= MAX_CODE_BACKTICKS)
        .then(|| inline_code_len(&text[after..], marks));
    Some(after + code.flatten().unwrap_or_default())
}

fn leading_marks(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// Returns whether the marks at a position open a block of code.
fn is_fence(text: &str, at: usize, mark: char, marks: usize) -> bool {
    if marks < 3 {
        return false;
    }
    let line_start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let info = text[at + marks..].lines().next().unwrap_or_default();
    text[line_start..at].trim().is_empty() && !(mark == '`' && info.contains('`'))
}

/// Returns the end of a block of code: after the line that closes it, else the end of the text.
fn fenced_block_end(text: &str, from: usize, mark: char, marks: usize) -> usize {
    let mut end = from;
    for (index, line) in text[from..].split_inclusive('\n').enumerate() {
        end += line.len();
        let line = line.trim();
        let is_closing = line.chars().all(|it| it == mark) && line.len() >= marks;
        if index > 0 && is_closing {
            break;
        }
    }
    end
}

/// Returns the length of inline code with its closing backticks, if it is closed in its paragraph.
fn inline_code_len(text: &str, marks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', '\n']) {
        at += found;
        let line_break = text[at..].strip_prefix('\n');
        if let Some(next) = line_break {
            if next.lines().next().is_none_or(|it| it.trim().is_empty()) {
                return None;
            }
            at += 1;
            continue;
        }
        let run = leading_marks(&text[at..], '`');
        at += run;
        if run == marks {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<&str> {
        entity_links(text).into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn a_link_names_an_entity_and_may_have_other_words() {
        let text = "See [[Cuvier]] and [[ Stasis is data | the claim ]].";
        let links = entity_links(text);
        assert_eq!((links[0].name, links[0].words), ("Cuvier", None));
        assert_eq!((links[1].name, links[1].words), ("Stasis is data", Some("the claim")));
        assert_eq!(&text[links[0].range.clone()], "[[Cuvier]]");
    }

    #[test]
    fn brackets_that_enclose_no_name_are_no_link() {
        for text in
            ["[[]]", "[[ ]]", "[[|a]]", "[[a]", "[a]]", "[[a[b]]", "[[a\n\nb]]", "[[a", "[["]
        {
            assert_eq!(names(text), [""; 0], "{text:?}");
        }
        assert_eq!(names("[[[a]]] [[b|]] [[c\nd]]"), ["a", "b", "c\nd"]);
    }

    #[test]
    fn code_contains_no_links() {
        assert_eq!(names("`[[a]]` [[b]] ``[[c]] ` [[d]]`` [[e]]"), ["b", "e"]);
        assert_eq!(names("```yaml\n[[a]]\n```\n[[b]]\n~~~\n[[c]]\n```\n~~~~\n[[d]]"), ["b", "d"]);
        assert_eq!(names("```\n[[a]]"), [""; 0], "a block that is never closed");
        assert_eq!(names("a ` b [[c]]\n\n` [[d]]"), ["c", "d"], "no pair in one paragraph");
        assert_eq!(names("~ [[a]] ~~~ [[b]]"), ["a", "b"]);
    }

    #[test]
    fn renaming_keeps_the_words_of_a_link() {
        let text = "[[Old]], [[Old|he]], `[[Old]]`, [[Other]]";
        let renamed = rename_in_entity_links(text, |it| it == "Old", "New");
        assert_eq!(renamed, "[[New]], [[New|he]], `[[Old]]`, [[Other]]");
        for name in ["A|B", "A]", " A", ""] {
            assert_eq!(rename_in_entity_links(text, |_| true, name), text, "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_searched_for_links(text in "[\\[\\]`~|\n aä]{0,60}") {
            let links = entity_links(&text);
            prop_assert!(links.is_sorted_by_key(|it| it.range.start));
            prop_assert_eq!(replace_entity_links(&text, |it| Some(text[it.range.clone()].to_owned())), text.clone());
        }
    }
}
