//! The scrolls of a palace, by the room in which they are.

use std::collections::BTreeMap;

use ulid::Ulid;

use crate::model::room::room_id::RoomRenames;
use crate::model::{Palace, RoomId, Scroll, ScrollId};

impl Palace {
    /// Yields the scrolls of a room, newest first, with those that are stored under an old name of
    /// the room.
    pub fn scrolls_in_room(&self, room: &RoomId) -> impl Iterator<Item = &Scroll> {
        let names = [room].into_iter().chain(self.room_renames.old_names(room));
        let mut rooms: Vec<_> = names.filter_map(|it| self.scrolls.get(it)).collect();
        let merged: BTreeMap<_, _> = match rooms.len() {
            0 | 1 => BTreeMap::new(),
            _ => std::mem::take(&mut rooms).into_iter().flatten().collect(),
        };
        let only = rooms.pop().into_iter().flat_map(|it| it.values().rev());
        only.chain(merged.into_values().rev())
    }

    /// Returns the newest scroll of the room that replaces this one: it names this one, or one that was
    /// newer than this one and is gone.
    pub fn replacement_of_scroll(&self, room: &RoomId, scroll: &Scroll) -> Option<&Scroll> {
        self.direct_replacement(room, scroll).or_else(|| self.indirect_replacement(room, scroll))
    }

    /// Returns the newest scroll of the room that names this one as replaced. One of another room, or one
    /// that was not written later, replaces nothing: it would take away what it is no newer version of.
    fn direct_replacement(&self, room: &RoomId, scroll: &Scroll) -> Option<&Scroll> {
        let all = self.replacing_scrolls.get(&scroll.id)?.iter();
        let here = all.filter(|it| self.is_same_room(room, &it.room));
        let found = here.filter_map(|it| self.scrolls.get(&it.room)?.get(&it.id));
        let age = |it: &Scroll| (it.written, it.id);
        found.filter(|it| age(it) > age(scroll)).max_by_key(|it| age(it))
    }

    /// Returns the newest scroll with the same room and title that names a scroll as replaced which was
    /// newer than this one and no longer exists. So when the second of three hand-overs is undone, the first stays replaced.
    fn indirect_replacement(&self, room: &RoomId, scroll: &Scroll) -> Option<&Scroll> {
        let is_anywhere = |id: &Ulid| self.scrolls.values().any(|it| it.contains_key(id));
        let is_gone = |id: &Ulid| *id > scroll.id && !is_anywhere(id);
        let newer = self.scrolls_in_room(room).take_while(|it| it.id > scroll.id);
        let mut replacing = newer.filter(|it| {
            !it.replaces.is_empty()
                && it.written >= scroll.written
                && it.title.to_lowercase() == scroll.title.to_lowercase()
        });
        replacing.find(|it| it.replaces.iter().any(is_gone))
    }

    /// Returns whether two ids name one room: equal, or one is an old name of the other.
    pub fn is_same_room(&self, one: &RoomId, other: &RoomId) -> bool {
        let is_old =
            |old: &RoomId, new: &RoomId| self.room_renames.old_names(new).any(|it| it == old);
        one == other || is_old(one, other) || is_old(other, one)
    }

    /// Yields all scrolls with their rooms.
    pub fn scrolls(&self) -> impl Iterator<Item = (&RoomId, &Scroll)> {
        self.scrolls.iter().flat_map(|(room, it)| it.values().map(move |scroll| (room, scroll)))
    }

    /// Returns one scroll.
    pub fn scroll(&self, which: &ScrollId) -> Option<&Scroll> {
        let room = self.folder_of_scroll(which)?;
        self.scrolls.get(room)?.get(&which.id)
    }

    /// Returns the room under whose name a scroll is stored: its room, or an old name of it.
    fn folder_of_scroll<'a>(&'a self, which: &'a ScrollId) -> Option<&'a RoomId> {
        let mut names = [&which.room].into_iter().chain(self.room_renames.old_names(&which.room));
        names.find(|it| self.scrolls.get(*it).is_some_and(|it| it.contains_key(&which.id)))
    }

    /// Yields the rooms that do not exist but have scrolls.
    pub fn missing_rooms_with_scrolls(&self) -> impl ExactSizeIterator<Item = &RoomId> {
        self.missing_rooms_with_scrolls.iter()
    }

    /// Inserts the scroll in `file`, replacing the previous one.
    ///
    /// A scroll whose id another scroll of the room already has is rejected, and that scroll's file
    /// is returned.
    pub fn insert_scroll(
        &mut self,
        file: &str,
        room: &RoomId,
        scroll: Scroll,
    ) -> Result<(), String> {
        self.remove_scroll(file);
        let which = ScrollId { room: room.clone(), id: scroll.id };
        if let Some(holder) = self.files_by_scroll.get(&which) {
            return Err(holder.clone());
        }
        if self.room(room).is_none() && self.missing_rooms_with_scrolls.insert(room.clone()) {
            self.room_renames = RoomRenames::default();
        }
        for id in scroll.replaces.iter().filter(|it| **it != scroll.id) {
            self.replacing_scrolls.entry(*id).or_default().insert(which.clone());
        }
        self.files_by_scroll.insert(which.clone(), file.to_owned());
        self.scroll_files.insert(file.to_owned(), which);
        self.scrolls.entry(room.clone()).or_default().insert(scroll.id, scroll);
        Ok(())
    }

    /// Removes the scroll in `file`.
    pub fn remove_scroll(&mut self, file: &str) {
        let Some(which) = self.scroll_files.remove(file) else { return };
        self.files_by_scroll.remove(&which);
        if let Some(left) = self.scrolls.get_mut(&which.room) {
            let removed = left.remove(&which.id);
            for id in removed.into_iter().flat_map(|it| it.replaces) {
                if let Some(others) = self.replacing_scrolls.get_mut(&id) {
                    others.remove(&which);
                    if others.is_empty() {
                        self.replacing_scrolls.remove(&id);
                    }
                }
            }
            if left.is_empty() {
                self.scrolls.remove(&which.room);
                self.missing_rooms_with_scrolls.remove(&which.room);
            }
        }
    }

    /// Returns the file of a scroll.
    pub fn file_of_scroll(&self, which: &ScrollId) -> Option<&str> {
        let room = self.folder_of_scroll(which)?.clone();
        self.files_by_scroll.get(&ScrollId { room, id: which.id }).map(String::as_str)
    }

    /// Yields the files with scrolls, with the id of each scroll.
    pub fn scroll_files(&self) -> impl Iterator<Item = (&str, &ScrollId)> {
        self.scroll_files.iter().map(|(file, which)| (file.as_str(), which))
    }

    /// Returns the id of the scroll in `file`.
    pub fn scroll_in_file(&self, file: &str) -> Option<&ScrollId> {
        self.scroll_files.get(file)
    }
}
