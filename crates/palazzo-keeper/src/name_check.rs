//! Refuses names that contain what nobody sees.

use crate::Refusal;
use palazzo_core::model::{Relation, is_printable, mark_hidden_chars};

/// Refuses a name with a control character, a line separator, a bidirectional override or a tag.
/// Other invisible characters may be a mistake, and `check` reports them. `what` is the argument.
pub(crate) fn reject_hidden_chars(what: &str, name: &str) -> Result<(), Refusal> {
    let is_refused = |it: char| {
        !is_printable(it) || matches!(it, '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
    };
    let found = mark_hidden_chars(name).find(|(it, is_hidden)| *is_hidden && is_refused(*it));
    match found {
        None => Ok(()),
        Some((character, _)) => Err(Refusal::HiddenCharacter {
            argument: what.to_owned(),
            name: name.to_owned(),
            character,
        }),
    }
}

/// Refuses a name that is stored as one line, as [`reject_hidden_chars`] does; line breaks and tabs
/// count as blanks.
pub(crate) fn reject_hidden_chars_in_line(what: &str, name: &str) -> Result<(), Refusal> {
    reject_hidden_chars(what, &name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Refuses the names in relations, as [`reject_hidden_chars`] does.
pub(crate) fn reject_hidden_chars_in_relations(relations: &[Relation]) -> Result<(), Refusal> {
    relations.iter().try_for_each(|it| {
        reject_hidden_chars("type", &it.kind)?;
        reject_hidden_chars("to", &it.to)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_what_nobody_sees_is_refused() {
        for name in ["a\nb", "a\u{7}", "\u{202e}a", "a\u{e0041}", "a\u{2028}b"] {
            assert!(reject_hidden_chars("name", name).is_err(), "{name:?}");
        }
        for name in [
            "Große Küche",
            "می\u{200c}شود",
            "👩\u{200d}🚀",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "A\u{200b}b",
        ] {
            assert!(reject_hidden_chars("name", name).is_ok(), "{name:?}");
        }
        assert!(reject_hidden_chars_in_line("title", "two\nlines").is_ok());
        assert_eq!(
            reject_hidden_chars("name", "Ada\u{e0041}").unwrap_err().to_string(),
            r"the `name` `Ada\u{e0041}` contains U+E0041, which nobody sees: leave it out"
        );
    }
}
