//! One contiguous change of a text, and how it is reverted in a text that others have changed
//! since.

use palazzo_core::model::TextChange;

/// Returns the shortest contiguous change that makes `new` of `was`.
pub fn text_change(was: &str, new: &str) -> TextChange {
    let same = was.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = (0..=same).rev().find(|it| was.is_char_boundary(*it)).unwrap_or_default();
    let (was, new) = (&was[start..], &new[start..]);
    let same = was.bytes().rev().zip(new.bytes().rev()).take_while(|(a, b)| a == b).count();
    let is_boundary = |it: &usize| was.is_char_boundary(was.len() - it);
    let end = (0..=same).rev().find(is_boundary).unwrap_or_default();
    TextChange {
        inserted: new[..new.len() - end].to_owned(),
        replaced: was[..was.len() - end].to_owned(),
    }
}

/// Reverts a change; `None` if the text no longer has what was inserted, or has it several times.
pub fn revert_text_change(text: &str, change: &TextChange) -> Option<String> {
    let TextChange { inserted, replaced } = change;
    let mut found = text.match_indices(inserted.as_str());
    match (found.next(), found.next()) {
        (Some((at, _)), None) if !inserted.is_empty() => {
            Some([&text[..at], replaced, &text[at + inserted.len()..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_change_is_reverted_exactly(start in "[aé\n]{0,4}", end in "[aé\n]{0,4}", was in "[ab,]{0,3}") {
            let (was, new) = (format!("{start}{was}{end}"), format!("{start}b palazzo é{end}"));
            let change = text_change(&was, &new);
            prop_assert_eq!(revert_text_change(&new, &change), Some(was.clone()));
            let later = format!("{new}later");
            prop_assert_eq!(revert_text_change(&later, &change), Some(format!("{was}later")));
        }
    }

    #[test]
    fn what_was_inserted_must_be_there_once() {
        let change = text_change("a", "a palazzo");
        assert_eq!(revert_text_change("a", &change), None);
        assert_eq!(revert_text_change("a palazzo palazzo", &change), None);
        assert_eq!(revert_text_change("a", &text_change("a", "a")), None);
    }
}
