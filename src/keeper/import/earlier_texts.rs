//! Finds what an older program has filed of the same source: in another room, with other parts of a
//! message, or in other pieces. It is not filed a second time.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::keeper::palace::OpenPalace;
use crate::model::{Drawer, WingRoomNames};

/// The files of a source, and those in which one of its texts has been found.
pub(crate) struct EarlierTexts<'o> {
    open: &'o OpenPalace,
    by_text: HashMap<&'o str, Vec<&'o str>>,
    by_time: HashMap<Option<DateTime<Utc>>, Vec<&'o str>>,
    taken: HashSet<&'o str>,
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
    pub(crate) fn new(open: &'o OpenPalace, files: &[&'o str]) -> Self {
        let (mut by_text, mut by_time) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for file in files {
            if let Some(drawer) = open.palace.drawers.drawer_in_file(file) {
                by_text.entry(drawer.text.as_str()).or_default().push(*file);
                by_time.entry(drawer.filed).or_default().push(*file);
            }
        }
        Self { open, by_text, by_time, taken: HashSet::new() }
    }

    /// Takes the file with one of these texts in a wing.
    pub(crate) fn take_same(&mut self, wing: &str, texts: &[&str]) -> Option<&'o str> {
        let files: Vec<_> = texts.iter().filter_map(|it| self.by_text.get(it)).flatten().collect();
        let file = files.into_iter().find(|it| self.is_free_in(wing, it)).copied()?;
        self.remove(file);
        Some(file)
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
        let drawers = &self.open.palace.drawers;
        let then = self.by_time.get(&new.filed).filter(|_| has_own_time);
        let free = |files: Option<&Vec<&'o str>>| -> Vec<(&'o str, &'o Drawer)> {
            let files = files.into_iter().flatten().filter(|it| self.is_free_in(wing, it));
            files.filter_map(|it| Some((*it, drawers.drawer_in_file(it)?))).collect()
        };
        let is_then = |old: &Drawer| !has_own_time || old.filed == new.filed;
        let same = free(self.by_text.get(new.text.as_str()));
        let mut others = free(then);
        others.retain(|(_, old)| !texts.contains(old.text.as_str()));
        let all = same.iter().find(|(_, old)| is_then(old));
        let all = all.or_else(|| others.iter().find(|(_, old)| has_lines_of(&old.text, &new.text)));
        let part = || others.iter().find(|(_, old)| has_lines_of(&new.text, &old.text));
        let (file, reading) = match (all, part()) {
            (Some((file, _)), _) => (*file, EarlierReading::All),
            (None, Some((file, _))) => (*file, EarlierReading::Part(file)),
            (None, None) => return EarlierReading::None,
        };
        self.remove(file);
        reading
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, file: &'o str) {
        self.taken.insert(file);
    }

    /// Returns true if the files of a wing and room contain a whole document, however it was split.
    pub(crate) fn contain_document(&self, shelf: &WingRoomNames, document: &str) -> bool {
        let drawers = &self.open.palace.drawers;
        let is_here = |it: &str| drawers.wing_room_of_file(it).as_ref() == Some(shelf);
        let here = self.by_text.iter().filter(|(_, files)| files.iter().any(|it| is_here(it)));
        let mut pieces: Vec<_> = here.map(|(text, _)| text.trim()).collect();
        pieces.retain(|it| !it.is_empty());
        let mut rest = document.trim();
        while !rest.is_empty() {
            let starting = pieces.iter().filter(|it| rest.starts_with(**it));
            let Some(piece) = starting.max_by_key(|it| it.len()) else { return false };
            rest = rest[piece.len()..].trim_start();
        }
        true
    }

    fn is_free_in(&self, wing: &str, file: &str) -> bool {
        let its_wing = || self.open.palace.drawers.wing_room_of_file(file).map(|it| it.wing);
        !self.taken.contains(file) && its_wing().is_some_and(|it| it == wing)
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
