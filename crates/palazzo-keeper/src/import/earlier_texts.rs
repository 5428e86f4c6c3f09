//! Matches what is read of a source now with the drawers that were filed of it before: in another
//! room, with other parts of a message, in other pieces, or from a file that was moved since. It is
//! not filed a second time.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use crate::palace::OpenPalace;
use palazzo_core::exchange::without_citations;
use palazzo_core::model::{DisplayWingRoom, Drawer, document_body};

/// The files of a source, and those that a text has been matched with.
pub(crate) struct EarlierTexts<'o> {
    open: &'o OpenPalace,
    files: Vec<&'o str>,
    by_text: HashMap<&'o str, Vec<&'o str>>,
    by_time: HashMap<Option<DateTime<Utc>>, Vec<&'o str>>,
    taken: HashSet<&'o str>,
}

/// A text that is read now, or the text in which an older version of this program filed it.
pub(crate) struct ReadText<'r> {
    pub(crate) shelf: &'r DisplayWingRoom,
    pub(crate) drawer: &'r Drawer,
    /// The text, and what it was before secrets were redacted.
    pub(crate) texts: Vec<&'r str>,
    pub(crate) is_conversation: bool,
    /// Whether it is of a conversation, and its time is that of its message.
    pub(crate) has_own_time: bool,
}

/// How much of a text has been filed before.
pub(crate) enum EarlierReading<'o> {
    None,
    /// All of it, and maybe more, in this file if it is known.
    All(Option<&'o str>),
    /// All of it with other properties, like tags or a date, in this file.
    OtherProperties(&'o str),
    /// A part of it, in this file.
    Part(&'o str),
}

impl<'o> EarlierReading<'o> {
    fn file(&self) -> Option<&'o str> {
        match *self {
            Self::None => None,
            Self::All(file) => file,
            Self::OtherProperties(file) | Self::Part(file) => Some(file),
        }
    }
}

impl ReadText<'_> {
    /// Returns true if the text begins with `start`.
    pub(crate) fn begins_with(&self, start: &str) -> bool {
        self.texts.iter().any(|it| it.starts_with(start))
    }

    /// Returns true if all of the text, and maybe more, is in a drawer of its time.
    fn is_within(&self, filed: &Drawer) -> bool {
        self.has_own_time && self.texts.iter().any(|it| has_lines_of(&filed.text, it))
    }

    /// Returns true if a drawer has the text of this document with other properties.
    fn has_body_of(&self, filed: &Drawer) -> bool {
        let body = document_body(&filed.text);
        !self.is_conversation && self.texts.iter().any(|it| document_body(it) == body)
    }

    /// Returns true if a drawer of its time has a part of the text, maybe with other properties.
    fn has_part(&self, filed: &Drawer) -> bool {
        let body = Some(document_body(&filed.text)).filter(|it| !it.is_empty());
        let begins_with_body =
            |it: &&str| body.is_some_and(|body| document_body(it).starts_with(body));
        self.begins_with(&filed.text)
            || self.has_own_time && self.texts.iter().any(|it| has_lines_of(it, &filed.text))
            || !self.is_conversation && self.texts.iter().any(begins_with_body)
    }

    /// Returns true if a part of the text may have been filed in a wing and room. Without times,
    /// only the title shows of which conversation a text is; later ones got a number behind it.
    fn may_be_in(&self, shelf: &DisplayWingRoom) -> bool {
        let is_room = match (self.has_own_time, self.is_conversation) {
            (true, _) => true,
            (false, true) => self.shelf.room.starts_with(&shelf.room),
            (false, false) => self.shelf.room == shelf.room,
        };
        is_room && self.shelf.wing == shelf.wing
    }
}

impl<'o> EarlierTexts<'o> {
    pub(crate) fn new(open: &'o OpenPalace, files: Vec<&'o str>) -> Self {
        let (mut by_text, mut by_time) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for file in &files {
            if let Some(drawer) = open.palace.drawers.drawer_in_file(file) {
                by_text.entry(drawer.text.as_str()).or_default().push(*file);
                by_time.entry(drawer.filed).or_default().push(*file);
            }
        }
        Self { open, files, by_text, by_time, taken: HashSet::new() }
    }

    /// Takes the file with a text in its wing: the one of its time, else one of its room, else any.
    pub(crate) fn take_same(&mut self, new: &ReadText<'_>) -> Option<&'o str> {
        let drawers = &self.open.palace.drawers;
        let difference = |(file, old): &(&str, &Drawer)| {
            let is_in_room = || drawers.wing_room_of_file(file).as_ref() == Some(new.shelf);
            (old.filed != new.drawer.filed, !is_in_room())
        };
        let (file, _) = self.files_with_text(new).min_by_key(difference)?;
        self.taken.insert(file);
        Some(file)
    }

    /// Takes the file with a text, or with another reading of it: with lines more, or lines less. Of
    /// a conversation, it may be in any room. `parts` are what older versions filed of the text.
    /// Files with one of `texts` are of other messages.
    pub(crate) fn take_reading(
        &mut self,
        new: &ReadText<'_>,
        parts: &[ReadText<'_>],
        texts: &HashSet<&str>,
    ) -> EarlierReading<'o> {
        let mut then: Vec<_> = self.files_of_time(new).collect();
        then.retain(|(_, old)| !texts.contains(old.text.as_str()));
        let same = Some(new).filter(|it| it.is_conversation).and_then(|it| self.same_file(it));
        let all = same.or_else(|| then.iter().find(|it| new.is_within(it.1)).map(|it| it.0));
        let other = || then.iter().find(|it| new.has_body_of(it.1)).map(|it| it.0);
        let part = || {
            let part = then.iter().find(|it| new.has_part(it.1)).map(|it| it.0);
            let is_other = |it: &ReadText<'_>| it.texts.iter().any(|it| texts.contains(*it));
            let mut older = parts.iter().filter(|it| !is_other(it));
            part.or_else(|| older.find_map(|it| self.same_file(it)))
        };
        let reading = all.map(|it| EarlierReading::All(Some(it)));
        let reading = reading.or_else(|| other().map(EarlierReading::OtherProperties));
        let reading = reading.or_else(|| part().map(EarlierReading::Part));
        let reading = reading.unwrap_or(EarlierReading::None);
        if let Some(file) = reading.file() {
            self.taken.insert(file);
        }
        reading
    }

    /// Returns true if a file has the text that an older version made of `new`, or its beginning,
    /// and not the beginning of `new`.
    pub(crate) fn contain_older_text(&self, new: &ReadText<'_>, older: &ReadText<'_>) -> bool {
        let mut then = self.files_of_time(older);
        then.any(|(_, old)| older.begins_with(&old.text) && !new.begins_with(&old.text))
    }

    /// Returns the files of some wings and rooms with other texts than `texts`.
    pub(crate) fn files_with_other_texts(
        &self,
        shelves: &HashSet<&DisplayWingRoom>,
        texts: &HashSet<&str>,
    ) -> Vec<String> {
        let drawers = &self.open.palace.drawers;
        let is_here =
            |it: &str| drawers.wing_room_of_file(it).is_some_and(|it| shelves.contains(&it));
        let other = self.by_text.iter().filter(|(text, _)| !texts.contains(**text));
        let mut other: Vec<_> = other.flat_map(|(_, files)| files).copied().collect();
        other.retain(|it| !self.taken.contains(it) && is_here(it));
        other.sort_unstable();
        other.into_iter().map(str::to_owned).collect()
    }

    /// Returns true if the files of a wing and room contain a whole document, however it was split.
    pub(crate) fn contain_document(&self, shelf: &DisplayWingRoom, document: &str) -> bool {
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

    /// Returns the file with a text in its wing, and of its time if it has one.
    fn same_file(&self, new: &ReadText<'_>) -> Option<&'o str> {
        let is_then = |old: &Drawer| !new.has_own_time || old.filed == new.drawer.filed;
        self.files_with_text(new).find(|(_, old)| is_then(old)).map(|(file, _)| file)
    }

    fn files_with_text(&self, new: &ReadText<'_>) -> impl Iterator<Item = (&'o str, &'o Drawer)> {
        let files = new.texts.iter().filter_map(|it| self.by_text.get(*it)).flatten();
        self.free_files(files, move |it| it.wing == new.shelf.wing)
    }

    /// Returns the files that may have a part of a text: those of its time, or of its room.
    fn files_of_time(&self, new: &ReadText<'_>) -> impl Iterator<Item = (&'o str, &'o Drawer)> {
        let files = match new.has_own_time {
            true => self.by_time.get(&new.drawer.filed),
            false => Some(&self.files),
        };
        self.free_files(files.into_iter().flatten(), move |it| new.may_be_in(it))
    }

    /// Returns the files that no text has been matched with, of some wings and rooms.
    fn free_files<'s>(
        &'s self,
        files: impl Iterator<Item = &'s &'o str>,
        is_here: impl Fn(&DisplayWingRoom) -> bool,
    ) -> impl Iterator<Item = (&'o str, &'o Drawer)> {
        let drawers = &self.open.palace.drawers;
        let free = files.filter(|it| !self.taken.contains(**it));
        let free =
            free.filter(move |it| drawers.wing_room_of_file(it).is_some_and(|it| is_here(&it)));
        free.filter_map(move |it| Some((*it, drawers.drawer_in_file(it)?)))
    }
}

/// The files of drawers with a source: by the source, by its file name, and by their text.
pub(crate) struct SourceIndex<'o> {
    open: &'o OpenPalace,
    by_source: HashMap<&'o str, Vec<&'o str>>,
    by_name: HashMap<&'o str, Vec<&'o str>>,
    by_text: HashMap<&'o str, Vec<&'o str>>,
}

impl<'o> SourceIndex<'o> {
    pub(crate) fn new(open: &'o OpenPalace) -> Self {
        let drawers = open.palace.drawers.iter();
        let mut filed: Vec<_> =
            drawers.filter_map(|(file, _, it)| Some((file, it.source.as_deref()?, it))).collect();
        // The order in memory is a random one.
        filed.sort_unstable_by_key(|(file, ..)| *file);
        let [mut by_source, mut by_name, mut by_text] =
            [(); 3].map(|()| HashMap::<_, Vec<_>>::new());
        for (file, source, drawer) in filed {
            by_source.entry(source).or_default().push(file);
            by_name.entry(file_name(source)).or_default().push(file);
            by_text.entry(drawer.text.as_str()).or_default().push(file);
        }
        Self { open, by_source, by_name, by_text }
    }

    /// Returns the files of a document.
    pub(crate) fn files_of_document(&self, source: &str) -> &[&'o str] {
        self.by_source.get(source).map_or(&[], Vec::as_slice)
    }

    /// Returns the files of the conversations in a file, wherever it is: a client gives its file a name
    /// that stays.
    pub(crate) fn files_of_conversations(&self, source: &str) -> &[&'o str] {
        self.by_name.get(file_name(source)).map_or(&[], Vec::as_slice)
    }

    /// Returns the file with a text and its time in its wing; of the document `below`, also in another wing:
    /// that of a folder around the document, or of a folder that was renamed.
    pub(crate) fn file_of_moved_text(
        &self,
        new: &ReadText<'_>,
        below: Option<&str>,
    ) -> Option<&'o str> {
        let drawers = &self.open.palace.drawers;
        let is_moved = |file: &&str| {
            let Some(old) = drawers.drawer_in_file(file) else { return false };
            let is_in_wing =
                || drawers.wing_room_of_file(file).is_some_and(|it| it.wing == new.shelf.wing);
            let is_below = || {
                below.zip(old.source.as_deref()).is_some_and(|(new, old)| has_same_end(new, old))
            };
            old.filed.is_some() && old.filed == new.drawer.filed && (is_in_wing() || is_below())
        };
        let files = new.texts.iter().filter_map(|it| self.by_text.get(*it)).flatten();
        files.copied().find(is_moved)
    }
}

/// Returns true if `text` has all lines of `part`, in this order. Older versions filed citations.
fn has_lines_of(text: &str, part: &str) -> bool {
    let lines = |it: &'_ str| -> Vec<String> {
        it.lines()
            .map(|it| without_citations(it).trim().to_owned())
            .filter(|it| !it.is_empty())
            .collect()
    };
    let (all, part) = (lines(text), lines(part));
    let mut all = all.iter();
    part.iter().all(|line| all.any(|it| it == line))
}

/// Returns the last name in a path of any system.
fn file_name(source: &str) -> &str {
    source.rsplit(['/', '\\']).next().unwrap_or(source)
}

/// Returns true if one of two paths is the other, or its end.
fn has_same_end(a: &str, b: &str) -> bool {
    let mut names = a.rsplit(['/', '\\']).zip(b.rsplit(['/', '\\']));
    names.all(|(a, b)| a == b)
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

    #[test]
    fn a_path_below_a_folder_has_the_same_end() {
        assert!(has_same_end("kitchen/kettle.md", "kettle.md"));
        assert!(has_same_end("kettle.md", "kitchen\\kettle.md"));
        assert!(has_same_end("kettle.md", "kettle.md"));
        assert!(!has_same_end("old-kettle.md", "kettle.md"));
        assert!(!has_same_end("kitchen/kettle.md", "cellar/kettle.md"));
    }
}
