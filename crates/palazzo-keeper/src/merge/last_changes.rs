//! Finds out who last changed a part of an item, on each side.

use std::cmp::Ordering;

use crate::merge::items::{Item, entity_name};
use crate::merge::{FilePart, MergeInput, Version};
use palazzo_core::format::file_kind;
use palazzo_core::merge::{Fields, LastChange, find_field};

/// The two sides of an item, the one that precedes first.
#[derive(Clone, Copy)]
pub(super) struct OrderedSides<'a> {
    input: &'a MergeInput<'a>,
    pub(super) item: &'a Item,
    /// The side (0 or 1) whose last change of the file precedes.
    pub(super) first: usize,
}

impl<'a> OrderedSides<'a> {
    /// Orders the sides of an item by their last changes of the file, else by content.
    pub(super) fn new(input: &'a MergeInput<'a>, item: &'a Item) -> Self {
        let sides = Self { input, item, first: 0 };
        let [a, b] = sides.last_changes_of_file();
        let content = |side: usize| item.sides[side].as_ref().map(|it| (&it.bytes, &it.path));
        let order = a.precedence(&b).then_with(|| content(0).cmp(&content(1)));
        Self { first: usize::from(order == Ordering::Less), ..sides }
    }

    /// Returns the last changes of the file, like all others that of the side `first` first.
    pub(super) fn last_changes_of_file(&self) -> [LastChange; 2] {
        self.of_part(|_| FilePart::Any)
    }

    /// Returns the last changes of the path.
    pub(super) fn last_changes_of_path(&self) -> [LastChange; 2] {
        self.of_part(|_| FilePart::Path)
    }

    /// Returns the last changes of the body; `bodies` are those of the sides, in this order.
    pub(super) fn last_changes_of_body(&self, bodies: [Option<&str>; 2]) -> [LastChange; 2] {
        self.of_part(|index| FilePart::Body(bodies[index]))
    }

    /// Returns the last changes of a field, by its name in the base, or else on a side; `sides` are
    /// the fields of the sides, in this order.
    pub(super) fn last_changes_of_field(
        &self,
        base: &Fields,
        sides: [&Fields; 2],
        name: &str,
    ) -> [LastChange; 2] {
        let Some(kind) = file_kind(self.item.any_path()) else {
            return self.last_changes_of_file();
        };
        let in_base = find_field(kind, base, name).filter(|it| it.value(base).is_some());
        [0, 1].map(|index| {
            let fields = sides[index];
            let on_side = match &in_base {
                Some(place) => place.in_version(kind, base, fields),
                None => find_field(kind, fields, name),
            };
            let value = on_side.as_ref().and_then(|it| it.value(fields));
            let part = match (&on_side, &in_base) {
                (Some(place), _) => FilePart::Field { fields, place, value: value.as_ref() },
                (None, Some(place)) => FilePart::Field { fields: base, place, value: None },
                (None, None) => FilePart::Any,
            };
            self.last_change(index, part)
        })
    }

    /// Returns the last change of the file on the first side that has it.
    pub(super) fn last_change_of_existing_file(&self) -> LastChange {
        let is_first = self.item.sides[self.first].is_some();
        self.last_change(usize::from(!is_first), FilePart::Any)
    }

    /// Returns whether a person has moved the file on a side.
    pub(super) fn is_moved_by_hand(&self) -> bool {
        let base = self.item.base.as_ref().map(|it| &it.path);
        let is_moved = |index: usize| {
            let version = self.version(index);
            version.is_some_and(|it| Some(&it.path) != base)
                && self.last_change(index, FilePart::Path).is_by_hand
        };
        is_moved(0) || is_moved(1)
    }

    /// Returns whether a person has given an entity another name than `old` on a side.
    pub(super) fn is_renamed_by_hand(&self, old: &str) -> bool {
        let fields = |name: &str| Fields::from_iter([("name".to_owned(), name.into())]);
        let names = [0, 1].map(|it| self.version(it).and_then(entity_name));
        let [a, b] = names.each_ref().map(|it| fields(it.as_deref().unwrap_or(old)));
        let changes = self.last_changes_of_field(&fields(old), [&a, &b], "name");
        let mut sides = names.iter().zip(changes);
        sides.any(|(name, change)| name.as_deref().is_some_and(|it| it != old) && change.is_by_hand)
    }

    fn version(&self, index: usize) -> Option<&Version> {
        self.item.sides[if index == 0 { self.first } else { 1 - self.first }].as_ref()
    }

    fn of_part<'p>(&self, part: impl Fn(usize) -> FilePart<'p>) -> [LastChange; 2] {
        [0, 1].map(|index| self.last_change(index, part(index)))
    }

    fn last_change(&self, index: usize, part: FilePart<'_>) -> LastChange {
        let side = if index == 0 { self.first } else { 1 - self.first };
        let version = self.item.sides[side].as_ref().or(self.item.base.as_ref());
        let path = version.map_or_else(|| self.item.any_path(), |it| &it.path);
        (self.input.last_change)(side, path, part)
    }
}
