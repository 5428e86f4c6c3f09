//! What a person wrote around the values of a file: comments and blank lines,
//! and which value each belongs to.
//!
//! A comment on a line of its own belongs to what comes next, unless it stands
//! further in than that: then it closes the list or mapping it is in line with.
//! A comment behind something belongs to that.

use std::collections::{BTreeSet, HashMap};

use crate::format::yaml::comments::{Comment, Marks};
use crate::format::yaml::parse::{Body, Node};
use crate::format::yaml::write::Out;
use crate::model::Spot;

/// What stands around one value, and around the values in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::format) struct Notes {
    /// The key whose value it is; empty for an item.
    key: String,
    /// The lines above it: comments, and an empty text for a blank line.
    pub(in crate::format) above: Vec<String>,
    /// The comment at the end of its line.
    pub(crate) beside: Option<String>,
    /// The lines below the last of its parts.
    pub(crate) below: Vec<String>,
    /// What stands around the values in it, in the order of the file; those of
    /// keys by key, once fitted.
    parts: Vec<Notes>,
}

/// A value in a file, and where it stands there.
struct Place<'a> {
    key: &'a str,
    /// Where its key begins, its dash, or it itself.
    at: Spot,
    /// Where it itself begins and ends.
    value: (Spot, Spot),
    /// Whether it is in a flow style: in brackets, if it has parts.
    flow: bool,
    /// Whether the blank lines at its end are its own.
    is_kept: bool,
    parts: Vec<Self>,
}

/// The lines of a file.
struct Page<'a> {
    lines: Vec<&'a str>,
    /// The lines above which blank ones are part of a text.
    kept: BTreeSet<usize>,
}

impl Notes {
    /// What stands around a value that nobody wrote anything around.
    pub(crate) const NONE: &Self = &Self {
        key: String::new(),
        above: Vec::new(),
        beside: None,
        below: Vec::new(),
        parts: Vec::new(),
    };

    /// Finds out what each comment and blank line of a file belongs to.
    pub(in crate::format) fn of(text: &str, root: &Node, marks: &Marks) -> Self {
        let root = Place::of("", root.at, root, marks);
        let page = Page::of(text, &root);
        let mut notes = Self::around(&root);
        for comment in &marks.comments {
            if page.is_alone(comment.at) {
                notes.place_alone(&root, comment, page.has_gap_above(comment.at));
            } else {
                notes.place_beside(&root, comment);
            }
        }
        notes.place_gaps(&root, &page);
        notes.lift_header();
        notes
    }

    /// Moves what has no room around a value as it will be written: the comments
    /// of a key that goes to the one that follows, those in a value that becomes
    /// one line above it, those above the first key of an item above its dash.
    pub(in crate::format) fn fit(&mut self, out: &Out) {
        match out {
            Out::Map(pairs) => self.fit_keys(&pairs.iter().map(|(key, it)| (*key, it)).collect()),
            Out::Entries(pairs) => {
                self.fit_keys(&pairs.iter().map(|(key, it)| (key.as_str(), it)).collect());
            }
            Out::List(items) => {
                for (part, item) in self.parts.iter_mut().zip(items) {
                    part.fit(item);
                    part.share_line(item);
                }
            }
            _ => {
                let inside = self.comments_inside();
                *self = Self { parts: Vec::new(), below: Vec::new(), ..std::mem::take(self) };
                self.above.extend(inside);
            }
        }
    }

    fn fit_keys(&mut self, values: &HashMap<&str, &Out>) {
        let mut homeless = Vec::new();
        for mut part in std::mem::take(&mut self.parts) {
            if let Some(value) = values.get(part.key.as_str()) {
                part.fit(value);
                part.above.splice(0..0, homeless.drain(..));
                self.parts.push(part);
            } else {
                homeless.extend(part.comments());
            }
        }
        self.below.splice(0..0, homeless);
        self.parts.sort_by(|a, b| a.key.cmp(&b.key));
    }

    /// Returns what stands around the value of `key`, once fitted.
    pub(crate) fn of_key(&self, key: &str) -> &Self {
        let found = self.parts.binary_search_by(|it| it.key.as_str().cmp(key));
        found.map_or(Self::NONE, |it| &self.parts[it])
    }

    /// Returns what stands around an item.
    pub(crate) fn of_item(&self, place: usize) -> &Self {
        self.parts.get(place).unwrap_or(Self::NONE)
    }

    /// Moves what has no room around the dash of an item and the first key, which
    /// stand on one line.
    fn share_line(&mut self, item: &Out) {
        let Out::Map(pairs) = item else { return };
        let first = pairs.first().map(|(key, _)| *key).unwrap_or_default();
        let Some(first) = self.parts.iter_mut().find(|it| it.key == first) else { return };
        self.above.append(&mut first.above);
        let beside = self.beside.take();
        match &first.beside {
            None => first.beside = beside,
            Some(_) => self.above.extend(beside),
        }
    }

    fn comments(&self) -> Vec<String> {
        let own = self.above.iter().chain(&self.beside).filter(|it| !it.is_empty()).cloned();
        own.chain(self.comments_inside()).collect()
    }

    fn comments_inside(&self) -> Vec<String> {
        let parts = self.parts.iter().flat_map(Self::comments);
        parts.chain(self.below.iter().filter(|it| !it.is_empty()).cloned()).collect()
    }

    fn around(place: &Place<'_>) -> Self {
        let parts = place.parts.iter().map(Self::around).collect();
        Self { key: place.key.to_owned(), parts, ..Self::default() }
    }

    fn place_alone(&mut self, place: &Place<'_>, comment: &Comment, has_gap: bool) {
        let next = place.parts.partition_point(|it| it.at <= comment.at);
        if let Some(last) = next.checked_sub(1) {
            let part = &place.parts[last];
            if part.holds(comment.at, place.value.0.column) {
                return self.parts[last].place_alone(part, comment, has_gap);
            }
            if part.value.0 > comment.at {
                return self.parts[last].above.push(comment.text.clone());
            }
        }
        let lines = match self.parts.get_mut(next) {
            Some(next) => &mut next.above,
            None => &mut self.below,
        };
        lines.extend(has_gap.then(String::new));
        lines.push(comment.text.clone());
    }

    fn place_beside(&mut self, place: &Place<'_>, comment: &Comment) {
        let before = place.parts.partition_point(|it| it.at < comment.at);
        let Some(last) = before.checked_sub(1) else {
            return self.place_alone(place, comment, false);
        };
        let (part, notes) = (&place.parts[last], &mut self.parts[last]);
        let has_begun = match part.flow {
            true => part.value.0 < comment.at && comment.at < part.value.1,
            false => part.parts.first().is_some_and(|it| it.at < comment.at),
        };
        if has_begun {
            return notes.place_beside(part, comment);
        }
        notes.above.extend(notes.beside.replace(comment.text.clone()));
    }

    /// Keeps the blank line above each value that begins a line.
    fn place_gaps(&mut self, place: &Place<'_>, page: &Page<'_>) {
        for (notes, part) in self.parts.iter_mut().zip(&place.parts) {
            if page.is_alone(part.at) && page.has_gap_above(part.at) {
                notes.above.push(String::new());
            }
            if !part.flow {
                notes.place_gaps(part, page);
            }
        }
    }

    /// What stands above the first key and a blank line is about the file, and
    /// stays at its top wherever the key goes.
    fn lift_header(&mut self) {
        let Some(first) = self.parts.first_mut() else { return };
        if let Some(end) = first.above.iter().rposition(String::is_empty) {
            self.above = first.above.drain(..=end).collect();
        }
    }
}

impl<'a> Place<'a> {
    fn of(key: &'a str, at: Spot, node: &'a Node, marks: &Marks) -> Self {
        let parts = match &node.body {
            Body::Scalar { .. } => Vec::new(),
            Body::Map(pairs) => {
                pairs.iter().map(|(key, it)| Self::of(&key.text, key.at, it, marks)).collect()
            }
            Body::List(items) => {
                let dash = |it: &Node| {
                    let before = marks.dashes.partition_point(|dash| *dash < it.at);
                    before.checked_sub(1).filter(|_| !node.flow).map(|dash| marks.dashes[dash])
                };
                items.iter().map(|it| Self::of("", dash(it).unwrap_or(it.at), it, marks)).collect()
            }
        };
        let is_kept = matches!(&node.body, Body::Scalar { text, .. } if text.ends_with("\n\n"));
        let is_kept = is_kept && !node.flow;
        Self { key, at, value: (node.at, node.end), flow: node.flow, is_kept, parts }
    }

    /// Tells whether a comment on a line of its own, behind where this value is
    /// announced, is in it; `column` is that of what this value is in.
    fn holds(&self, comment: Spot, column: usize) -> bool {
        let (begin, end) = self.value;
        match self.flow {
            true => comment < end,
            false if self.parts.is_empty() => false,
            false => comment < end || begin.column <= comment.column && column < comment.column,
        }
    }

    fn collect_kept(&self, lines: &mut BTreeSet<usize>) {
        lines.extend(self.is_kept.then_some(self.value.1.line));
        self.parts.iter().for_each(|it| it.collect_kept(lines));
    }
}

impl<'a> Page<'a> {
    fn of(text: &'a str, root: &Place<'_>) -> Self {
        let mut kept = BTreeSet::new();
        root.collect_kept(&mut kept);
        Self { lines: text.lines().collect(), kept }
    }

    /// Tells whether nothing stands before that place on its line.
    fn is_alone(&self, at: Spot) -> bool {
        let line = self.lines.get(at.line - 1).copied().unwrap_or_default();
        line.chars().take(at.column - 1).all(|it| matches!(it, ' ' | '\t' | '\u{feff}'))
    }

    fn has_gap_above(&self, at: Spot) -> bool {
        let above = at.line.checked_sub(2).and_then(|it| self.lines.get(it));
        above.is_some_and(|it| it.trim().is_empty()) && !self.kept.contains(&at.line)
    }
}
