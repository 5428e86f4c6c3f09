//! Removes the marks of sources that ChatGPT puts into its answers. They name nothing outside of its
//! own conversation.

use std::borrow::Cow;

/// The private characters in which ChatGPT writes elements: the first one opens an element, the next
/// one closes it, and the third one separates its fields.
const OPEN: char = '\u{e200}';
const CLOSE: char = '\u{e201}';
const SEPARATOR: char = '\u{e202}';

/// All of these characters.
const MARKS: std::ops::RangeInclusive<char> = '\u{e200}'..='\u{e2ff}';

/// The characters before which no blank stays when a mark between them is removed.
const CLOSING: &[char] = &['.', ',', ';', ':', '!', '?', ')', ' ', '\n'];

/// Returns a text without citations. What an element shows to the reader, like a name, stays.
pub fn without_citations(text: &str) -> Cow<'_, str> {
    let is_mark = |it: char| it == '【' || MARKS.contains(&it);
    if !text.contains(is_mark) {
        return Cow::Borrowed(text);
    }
    let (mut rest, mut kept) = (text, String::with_capacity(text.len()));
    while let Some(at) = rest.find(is_mark) {
        kept.push_str(&rest[..at]);
        let (shown, length) = parse_mark(&rest[at..]);
        rest = &rest[at + length..];
        kept.push_str(&shown);
        let is_closed = rest.is_empty() || rest.starts_with(CLOSING);
        if shown.is_empty() && is_closed && kept.ends_with(' ') {
            kept.pop();
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Returns what is shown of the mark at the beginning of a text, and its length in bytes.
fn parse_mark(text: &str) -> (String, usize) {
    let line = text.lines().next().unwrap_or_default();
    let mark = text.chars().next().unwrap_or_default();
    let inside =
        |end: char| line.find(end).map(|it| (&line[mark.len_utf8()..it], it + end.len_utf8()));
    match mark {
        OPEN => match inside(CLOSE) {
            Some((element, length)) => (shown_text(element), length),
            None => (String::new(), mark.len_utf8()),
        },
        '【' => match inside('】').filter(|(it, _)| is_reference(it)) {
            Some((_, length)) => (String::new(), length),
            None => (mark.to_string(), mark.len_utf8()),
        },
        _ => (String::new(), mark.len_utf8()),
    }
}

/// Returns what the reader sees of an element, `kind`, and its fields: the name of an entity, or texts
/// that are neither references nor JSON.
fn shown_text(element: &str) -> String {
    let mut fields = element.split(SEPARATOR);
    let kind = fields.next().unwrap_or_default();
    if kind.ends_with("cite") {
        return String::new();
    }
    if kind == "entity" {
        let names = fields.next().and_then(|it| serde_json::from_str::<Vec<String>>(it).ok());
        return names.and_then(|it| it.into_iter().nth(1)).unwrap_or_default();
    }
    let texts = fields.filter(|it| !it.starts_with(['{', '[']) && !is_turn_reference(it));
    texts.collect::<Vec<_>>().join(" ")
}

/// Returns true for what is between `【` and `】` of a citation: `12†source`, `4:0†a.pdf`,
/// `turn0search1`.
fn is_reference(text: &str) -> bool {
    let is_number = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_digit())
            && it.chars().all(|it| it.is_ascii_digit() || it == ':')
    };
    text.split_once('†').is_some_and(|(number, _)| is_number(number)) || is_turn_reference(text)
}

/// Returns true for references like `turn0search1`.
fn is_turn_reference(text: &str) -> bool {
    let is_digit = |it: char| it.is_ascii_digit();
    text.strip_prefix("turn").is_some_and(|it| {
        it.starts_with(is_digit)
            && it.ends_with(is_digit)
            && it.chars().all(|it| it.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_removed_and_what_they_show_stays() {
        for (text, expected) in [
            (
                "Coal is old. \u{e200}cite\u{e202}turn0search1\u{e202}turn0search3\u{e201}\nSo.",
                "Coal is old.\nSo.",
            ),
            ("Coal\u{e200}filecite\u{e202}turn0file1\u{e201} is old.", "Coal is old."),
            ("Coal \u{e200}cite\u{e202}turn0search1\u{e201}, and iron.", "Coal, and iron."),
            ("\u{e203}Coal\u{e204} is old.\u{e206}", "Coal is old."),
            ("Ask \u{e200}entity\u{e202}[\"person\",\"Ada\",\"surveyor\"]\u{e201}.", "Ask Ada."),
            ("See \u{e200}url\u{e202}the map\u{e202}turn0search1\u{e201}.", "See the map."),
            ("Here:\n\u{e200}image_group\u{e202}{\"query\":[\"coal\"]}\u{e201}\n", "Here:\n\n"),
            ("Coal is old 【12†source】.", "Coal is old."),
            ("Coal【4:0†beds.pdf】【turn0search1】 is old.", "Coal is old."),
            ("【注意】 Coal 【1】 is † old.", "【注意】 Coal 【1】 is † old."),
            ("Never closed \u{e200}cite", "Never closed cite"),
        ] {
            assert_eq!(without_citations(text), expected);
        }
        assert!(matches!(without_citations("Coal."), Cow::Borrowed(_)));
    }
}
