//! Shortens the names of a list so that they stay distinguishable.

use std::collections::HashMap;

use crate::model::{
    abridge_to_weight, common_prefix_len_ignoring_case, token_weight, whole_words_prefix_len,
};

/// A common prefix of all names that is longer than this, in bytes, is shown once.
const MIN_COMMON_PREFIX: usize = 7;
/// Without the prefix, each name must have at least so many bytes: `…1` says little.
const MIN_REST: usize = 4;

/// Shortens names, each to its token weight, and drops the first `prefix` bytes of each. Labels
/// that would be equal are cut so that they show the part where the names differ.
pub(super) fn distinct_labels(names: &[(&str, usize)], prefix: usize) -> Vec<String> {
    let mut begin = vec![prefix; names.len()];
    loop {
        let labels = names.iter().zip(&begin).map(|((name, room), begin)| {
            let more = if prefix > 0 { "…" } else { "" };
            let passed = abridge_to_weight(&name[prefix..*begin], room / 4);
            let gap = if passed.ends_with('…') || passed.is_empty() { "" } else { "…" };
            let rest = abridge_quoted(&name[*begin..], room.saturating_sub(token_weight(&passed)));
            format!("{more}{passed}{gap}{rest}")
        });
        let labels: Vec<_> = labels.collect();
        let mut same: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, label) in labels.iter().enumerate() {
            same.entry(label).or_default().push(place);
        }
        let before = begin.clone();
        for group in same.values().filter(|it| it.len() > 1) {
            let first = names[group[0]].0;
            let alike = group
                .iter()
                .map(|it| common_prefix_len_ignoring_case(first, names[*it].0))
                .min()
                .unwrap_or_default();
            // A name that is a prefix of the others has no part where it differs.
            let whole = |it: &usize| alike < names[*it].0.len();
            for place in group.iter().filter(|it| whole(it)) {
                begin[*place] = before[*place].max(whole_words_prefix_len(first, alike));
            }
        }
        if begin == before {
            return labels;
        }
    }
}

/// Shortens a text; a quotation keeps its end.
pub(super) fn abridge_quoted(text: &str, weight: usize) -> String {
    let short = abridge_to_weight(text, weight);
    let is_open = short.starts_with('"') && (short.len() == 1 || !short.ends_with('"'));
    if is_open { short + "\"" } else { short }
}

/// Returns the words that all names begin with, if they are longer than
/// [`MIN_COMMON_PREFIX`].
pub(super) fn common_prefix(names: &[String]) -> &str {
    let Some((first, others @ [_, ..])) = names.split_first() else { return "" };
    let bytes = others
        .iter()
        .map(|it| common_prefix_len_ignoring_case(first, it))
        .min()
        .unwrap_or_default();
    let words = whole_words_prefix_len(first, bytes);
    let is_long_rest = names.iter().all(|it| it.len() >= words + MIN_REST);
    if words > MIN_COMMON_PREFIX && is_long_rest { &first[..words] } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_prefix_is_left_out_unless_hardly_anything_is_left() {
        let prefix = |names: &[&str]| {
            common_prefix(&names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()).to_owned()
        };
        assert_eq!(prefix(&["Release 0.1", "Release 0.5", "Release 2.0"]), "");
        assert_eq!(prefix(&["The claim of Ada", "The claim of Eve", "The claim of Bob"]), "");
        assert_eq!(prefix(&["The claim of Hutton", "The claim of Cuvier"]), "The claim of ");
    }
}
