//! Finds the items of a list that an edited list still has.

use std::collections::{BTreeMap, HashMap};

use gix_imara_diff::{Algorithm, Diff, InternedInput};

use crate::format::yaml::output_node::OutputNode;
use crate::format::yaml::word_diff::have_half_in_common;

/// The keys that identify an item: an action by its label, a step by its text, a relation by its
/// target, type and start.
const IDENTITY_KEYS: [&[&str]; 3] = [&["label"], &["step"], &["to", "type", "since"]];

/// The item of the old list that is the same as one of the new list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OldItem {
    pub(super) index: usize,
    /// Whether it keeps its place between the others; else it has moved.
    pub(super) stays: bool,
}

/// Returns for each item of `now` the same item of `was`: along a longest common subsequence; then
/// an equal one that has moved; then one with the same identity; then one at the same place that is
/// alike.
pub(super) fn match_items(was: &[OutputNode], now: &[OutputNode]) -> Vec<Option<OldItem>> {
    let mut matching = ItemMatching::from_common_subsequence(was, now);
    matching.match_by_key(was, now, |it| Some(format!("{it:?}")));
    matching.match_by_key(was, now, identity);
    matching.match_alike_items(was, now);
    matching.into_old_items()
}

struct ItemMatching {
    /// The matched old item of each new one, and the new item of each old one.
    old_of_new: Vec<Option<usize>>,
    new_of_old: Vec<Option<usize>>,
    /// The number of items of the common subsequence before each item.
    place_of_old: Vec<usize>,
    place_of_new: Vec<usize>,
    /// Whether a new item is in the common subsequence.
    is_common: Vec<bool>,
}

impl ItemMatching {
    fn from_common_subsequence(was: &[OutputNode], now: &[OutputNode]) -> Self {
        let mut input = InternedInput::default();
        input.update_before(was.iter().map(Some));
        input.update_after(now.iter().map(Some));
        let diff = Diff::compute(Algorithm::MyersMinimal, &input);
        let mut it = Self {
            old_of_new: vec![None; now.len()],
            new_of_old: vec![None; was.len()],
            place_of_old: Vec::new(),
            place_of_new: Vec::new(),
            is_common: Vec::new(),
        };
        let kept = |count: usize, is_kept: &dyn Fn(u32) -> bool| -> Vec<usize> {
            (0..).zip(0..count).filter(|(it, _)| is_kept(*it)).map(|(_, it)| it).collect()
        };
        let old = kept(was.len(), &|it| !diff.is_removed(it));
        let new = kept(now.len(), &|it| !diff.is_added(it));
        for (old, new) in old.iter().zip(&new) {
            it.pair(*old, *new);
        }
        it.place_of_old = (0..was.len()).map(|at| old.partition_point(|it| *it < at)).collect();
        it.place_of_new = (0..now.len()).map(|at| new.partition_point(|it| *it < at)).collect();
        it.is_common = it.old_of_new.iter().map(Option::is_some).collect();
        it
    }

    fn pair(&mut self, old: usize, new: usize) {
        self.old_of_new[new] = Some(old);
        self.new_of_old[old] = Some(new);
    }

    /// Pairs unmatched items with one key: the first with the first, and so on.
    fn match_by_key(
        &mut self,
        was: &[OutputNode],
        now: &[OutputNode],
        key: impl Fn(&OutputNode) -> Option<String>,
    ) {
        let mut by_key: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, item) in was.iter().enumerate().rev() {
            if let Some(key) = key(item).filter(|_| self.new_of_old[index].is_none()) {
                by_key.entry(key).or_default().push(index);
            }
        }
        for (new, item) in now.iter().enumerate() {
            if self.old_of_new[new].is_none()
                && let Some(old) = key(item).and_then(|it| by_key.get_mut(&it)?.pop())
            {
                self.pair(old, new);
            }
        }
    }

    /// Pairs unmatched items that are alike and between the same items of the common subsequence.
    fn match_alike_items(&mut self, was: &[OutputNode], now: &[OutputNode]) {
        for (new, item) in now.iter().enumerate() {
            let place = self.place_of_new[new];
            let start = self.place_of_old.partition_point(|it| *it < place);
            let end = self.place_of_old.partition_point(|it| *it <= place);
            let is_same =
                |old: &usize| self.new_of_old[*old].is_none() && is_alike(&was[*old], item);
            let is_unmatched = self.old_of_new[new].is_none();
            if let Some(old) = (start..end).filter(|_| is_unmatched).find(is_same) {
                self.pair(old, new);
            }
        }
    }

    fn into_old_items(self) -> Vec<Option<OldItem>> {
        let mut last_of_place: BTreeMap<usize, usize> = BTreeMap::new();
        let old_item = |(new, old): (usize, &Option<usize>)| {
            let index = (*old)?;
            let place = self.place_of_new[new];
            let is_here = self.place_of_old[index] == place
                && last_of_place.get(&place).is_none_or(|it| *it < index);
            let stays = self.is_common[new] || is_here;
            if stays {
                last_of_place.insert(place, index);
            }
            Some(OldItem { index, stays })
        };
        self.old_of_new.iter().enumerate().map(old_item).collect()
    }
}

/// Returns what identifies an item; a text with a note is the same step as the text alone.
fn identity(item: &OutputNode) -> Option<String> {
    let Some(pairs) = item.pairs() else { return item.as_text().map(str::to_owned) };
    let field = |key: &str| {
        let value = pairs.iter().find(|it| it.0 == key)?.1;
        value.as_text().map(str::to_owned)
    };
    let keys = IDENTITY_KEYS.iter().find(|keys| field(keys[0]).is_some())?;
    Some(keys.iter().filter_map(|it| field(it)).collect::<Vec<_>>().join("\n"))
}

/// Returns whether a changed item is likely to be the same: texts with half of their words in
/// common, relations to one target, other mappings and lists with half of their content in common.
fn is_alike(a: &OutputNode, b: &OutputNode) -> bool {
    if let (OutputNode::List(a), OutputNode::List(b)) = (a, b) {
        let common = a.iter().filter(|it| b.contains(it)).count();
        return common > 0 && 2 * common >= a.len().max(b.len());
    }
    let (Some(a_pairs), Some(b_pairs)) = (a.pairs(), b.pairs()) else {
        let texts = a.as_text().zip(b.as_text());
        return texts.is_some_and(|(a, b)| have_half_in_common(a, b));
    };
    let is_telling = |it: &&(&str, &OutputNode)| it.0 != "type";
    let common = a_pairs.iter().filter(is_telling).filter(|it| b_pairs.contains(it));
    let target = |pairs: &[(&str, &OutputNode)]| pairs.iter().find(|it| it.0 == "to").is_some();
    if target(&a_pairs) && target(&b_pairs) {
        return common.clone().any(|it| it.0 == "to");
    }
    let count = |pairs: &[(&str, &OutputNode)]| pairs.iter().filter(is_telling).count();
    let common = common.count();
    common > 0 && 2 * common >= count(&a_pairs).max(count(&b_pairs))
}
