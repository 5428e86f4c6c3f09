//! Finds what an older program has filed of the same source: in another room, with other parts of a
//! message, or in other pieces. It is not filed a second time.

use std::collections::HashSet;

use crate::keeper::palace::OpenPalace;
use crate::model::{Drawer, WingRoomNames};

/// The files of a source in which none of its texts has been found yet.
pub(crate) struct EarlierTexts<'o> {
    open: &'o OpenPalace,
    files: Vec<&'o str>,
}

/// How much of a text an older program has filed.
pub(crate) enum EarlierReading<'o> {
    None,
    /// All of it, and maybe more.
    All,
    /// A part of it, in this file.
    Part(&'o str),
}

impl<'o> EarlierTexts<'o> {
    pub(crate) fn new(open: &'o OpenPalace, files: Vec<&'o str>) -> Self {
        Self { open, files }
    }

    /// Takes the file with one of these texts in a wing.
    pub(crate) fn take_same(&mut self, wing: &str, texts: &[&str]) -> Option<&'o str> {
        self.take(wing, |old| texts.contains(&old.text.as_str()))
    }

    /// Takes the file with the same text of a conversation in any room, or with another reading of a
    /// message of the same time: with lines more, or lines less. Those with one of `texts` are of
    /// other messages.
    pub(crate) fn take_reading(
        &mut self,
        wing: &str,
        new: &Drawer,
        has_own_time: bool,
        texts: &HashSet<&str>,
    ) -> EarlierReading<'o> {
        let is_then = |old: &Drawer| !has_own_time || old.filed == new.filed;
        if self.take(wing, |old| old.text == new.text && is_then(old)).is_some() {
            return EarlierReading::All;
        }
        let is_other_reading = |old: &Drawer| {
            has_own_time && old.filed == new.filed && !texts.contains(old.text.as_str())
        };
        let has_more = |old: &Drawer| is_other_reading(old) && has_lines_of(&old.text, &new.text);
        if self.take(wing, has_more).is_some() {
            return EarlierReading::All;
        }
        let has_less = |old: &Drawer| is_other_reading(old) && has_lines_of(&new.text, &old.text);
        self.take(wing, has_less).map_or(EarlierReading::None, EarlierReading::Part)
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, file: &str) {
        self.files.retain(|it| *it != file);
    }

    /// Returns true if the files of a wing and room contain a whole document, however it was split.
    pub(crate) fn contain_document(&self, shelf: &WingRoomNames, document: &str) -> bool {
        let drawers = &self.open.palace.drawers;
        let here =
            self.files.iter().filter(|it| drawers.wing_room_of_file(it).as_ref() == Some(shelf));
        let pieces = here.filter_map(|it| Some(drawers.drawer_in_file(it)?.text.trim()));
        let mut pieces: Vec<_> = pieces.filter(|it| !it.is_empty()).collect();
        let mut rest = document.trim();
        while !rest.is_empty() {
            let starting = pieces.iter().enumerate().filter(|(_, it)| rest.starts_with(**it));
            let Some((longest, piece)) = starting.max_by_key(|(_, it)| it.len()) else {
                return false;
            };
            rest = rest[piece.len()..].trim_start();
            pieces.swap_remove(longest);
        }
        true
    }

    fn take(&mut self, wing: &str, is_sought: impl Fn(&Drawer) -> bool) -> Option<&'o str> {
        let drawers = &self.open.palace.drawers;
        let place = self.files.iter().position(|file| {
            drawers.drawer_in_file(file).is_some_and(&is_sought)
                && drawers.wing_room_of_file(file).is_some_and(|it| it.wing == wing)
        })?;
        Some(self.files.swap_remove(place))
    }
}

/// Returns true if `text` has all lines of `part`, in this order.
fn has_lines_of(text: &str, part: &str) -> bool {
    let lines = |it: &'_ str| -> Vec<String> {
        it.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
    };
    let (all, part) = (lines(text), lines(part));
    let mut all = all.iter();
    part.iter().all(|line| all.any(|it| it == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_lines_of_a_part_in_their_order() {
        let whole = "User:\n<ide>a.rs</ide>\nWhy?\n\nAssistant:\nSo.\n";
        assert!(has_lines_of(whole, "User:\nWhy?\n\nAssistant:\nSo.\n"));
        assert!(!has_lines_of(whole, "User:\nWhy?\n\nAssistant:\nNot so.\n"));
        assert!(!has_lines_of(whole, "Assistant:\nSo.\nUser:\nWhy?\n"));
    }
}
