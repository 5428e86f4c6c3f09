//! Rooms and the ways between them.

use std::collections::{BTreeMap, BTreeSet};

use strsim::osa_distance;

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{Code, Room, RoomId, RoomRef, ValuePath};

/// How many rooms a hint lists.
const MAX_LISTED_ROOMS: usize = 5;
/// How many rooms that are not there are compared with those that are.
pub(crate) const MAX_SUGGESTIONS: usize = 20;
/// How many rooms are walked through to find out whether one is cut off.
const MAX_ROOMS_WALKED: usize = 100;

/// Where each room leads by itself, as far as rooms stand there.
type BuiltExits<'a> = BTreeMap<&'a RoomId, BTreeSet<RoomId>>;

impl PalaceCheck<'_> {
    /// Looks at every room, every way out of it, and whether one can get there.
    pub(crate) fn check_rooms(&self) -> Vec<CheckFinding> {
        let ways: BuiltExits<'_> =
            self.palace.rooms().map(|(id, it)| (id, self.built_exits(id, it))).collect();
        let mut remarks: Vec<_> = self.check_entry().into_iter().collect();
        let mut compared = 0;
        for (id, room) in self.palace.rooms() {
            let file = (self.room_file)(id);
            remarks.extend(self.check_exits(id, room, &file, &mut compared));
            remarks.extend(self.check_one_way_doors(id, room, &file, &ways));
            let is_bare =
                room.description.is_empty() && room.actions.is_empty() && room.generate.is_none();
            if is_bare && !self.unreadable_files.contains(file.as_str()) {
                let message = "there is nothing to see here: no description, no actions";
                remarks.push(CheckFinding::new(Code::EmptyRoom, &file, ValuePath::ROOT, message));
            }
        }
        remarks.extend(self.unreachable_rooms(&ways));
        remarks
    }

    /// Returns the rooms that stand where a room's own ways lead.
    fn built_exits(&self, id: &RoomId, room: &Room) -> BTreeSet<RoomId> {
        let out = room.linked_rooms().filter_map(|it| self.palace.resolve_room(it, Some(id)).ok());
        out.filter(|it| self.palace.room(it).is_some()).collect()
    }

    fn check_entry(&self) -> Option<CheckFinding> {
        let entry = self.palace.settings.entry.as_ref()?;
        if self.palace.resolve_room(entry, None).is_ok_and(|it| self.has_room_file(&it)) {
            return None;
        }
        let message = format!("the entry room `{entry}` is not there");
        let about = ValuePath::ROOT.then_value("entry");
        let remark = CheckFinding::new(Code::LostEntry, "palace.toml", about, message);
        Some(remark.with_hint("build it, or name another room as `entry`"))
    }

    /// Tells of the ways out of a room that lead to no room, each once; `compared` as
    /// for one of them.
    pub(crate) fn check_exits(
        &self,
        id: &RoomId,
        room: &Room,
        file: &str,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let mut seen = BTreeSet::new();
        let ways = exits_with_paths(room).filter(|(way, _)| seen.insert(*way));
        ways.filter_map(|(way, about)| self.check_exit(way, Some(id), file, about, compared))
            .collect()
    }

    /// Tells of one that leads to no room, from the room `from`; `compared` counts
    /// those for which a room of a similar name has been looked for.
    pub(crate) fn check_exit(
        &self,
        way: &RoomRef,
        from: Option<&RoomId>,
        file: &str,
        about: ValuePath,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        match self.palace.resolve_room(way, from) {
            Ok(to) if self.has_room_file(&to) => None,
            Ok(to) => {
                let message = format!("the room `{to}` is not built yet");
                let remark = CheckFinding::new(Code::UnfinishedRoom, file, about, message);
                *compared += 1;
                let meant = (*compared <= MAX_SUGGESTIONS).then(|| self.similar_room(&to));
                Some(match meant.flatten() {
                    Some(meant) => remark.with_hint(format!("did you mean `{meant}`?")),
                    None => remark,
                })
            }
            Err(several) => {
                let message = format!("several rooms are called `{way}`");
                let named = several.candidates.iter().take(MAX_LISTED_ROOMS);
                let named: Vec<_> = named.map(|it| format!("`{it}`")).collect();
                let more = if several.candidates.len() > MAX_LISTED_ROOMS { " …" } else { "" };
                let hint = format!("say which: {}{more}", named.join(", "));
                Some(CheckFinding::new(Code::AmbiguousRoom, file, about, message).with_hint(hint))
            }
        }
    }

    /// Tells of actions that lead to a room which has no way of its own back.
    fn check_one_way_doors(
        &self,
        id: &RoomId,
        room: &Room,
        file: &str,
        ways: &BuiltExits<'_>,
    ) -> Vec<CheckFinding> {
        let mut seen = BTreeSet::new();
        let mut remarks = Vec::new();
        for (place, action) in room.actions.iter().enumerate() {
            let Some(way) = action.target_room() else { continue };
            let Ok(to) = self.palace.resolve_room(way, Some(id)) else { continue };
            let back = ways.get(&to).is_none_or(|it| it.contains(id));
            if !back && to != *id && seen.insert(to.clone()) {
                let message = format!("`{to}` has no way of its own back: a plain door leads here");
                let about =
                    ValuePath::ROOT.then_value("actions").then_item(place).then_value("room");
                remarks.push(CheckFinding::new(Code::OneWayDoor, file, about, message));
            }
        }
        remarks
    }

    /// Tells of the rooms to which no way leads from the entry. Doors can be
    /// walked from both sides, whichever declares them.
    fn unreachable_rooms(&self, ways: &BuiltExits<'_>) -> Vec<CheckFinding> {
        let Some(entry) = self.palace.entry_room().filter(|_| !self.has_unreadable_files("rooms/"))
        else {
            return Vec::new();
        };
        let mut doors: BTreeMap<&RoomId, Vec<&RoomId>> = BTreeMap::new();
        for (from, to) in ways.iter().flat_map(|(from, all)| all.iter().map(move |to| (*from, to)))
        {
            doors.entry(from).or_default().push(to);
            doors.entry(to).or_default().push(from);
        }
        let (mut reached, mut next) = (BTreeSet::from([entry]), vec![entry]);
        while let Some(here) = next.pop() {
            let new = doors.get(here).into_iter().flatten().copied();
            next.extend(new.filter(|it| reached.insert(*it)));
        }
        ways.keys()
            .filter(|it| !reached.contains(*it))
            .map(|it| self.unreachable_finding(it))
            .collect()
    }

    /// Tells of one room that it is not joined to the entry, if the walk from there
    /// comes to an end soon.
    pub fn check_reachable(&self, id: &RoomId) -> Option<CheckFinding> {
        let entry = self.palace.entry_room().filter(|_| !self.has_unreadable_files("rooms/"))?;
        let (mut reached, mut next) = (BTreeSet::from([id.clone()]), vec![id.clone()]);
        while let Some(here) = next.pop() {
            if here == *entry || reached.len() > MAX_ROOMS_WALKED {
                return None;
            }
            let room = self.palace.room(&here)?;
            let doors = self.built_exits(&here, room).into_iter();
            let doors = doors.chain(self.palace.rooms_linking_to(&here).cloned());
            next.extend(doors.filter(|it| reached.insert(it.clone())));
        }
        Some(self.unreachable_finding(id))
    }

    fn unreachable_finding(&self, id: &RoomId) -> CheckFinding {
        let message = "no way leads here from the entry";
        let remark =
            CheckFinding::new(Code::Unreachable, &(self.room_file)(id), ValuePath::ROOT, message);
        remark.with_hint("let an action or a portal of another room lead here")
    }

    /// Tells whether a room stands, or would if its file could be read.
    fn has_room_file(&self, id: &RoomId) -> bool {
        self.palace.room(id).is_some()
            || self.unreadable_files.contains((self.room_file)(id).as_str())
    }

    /// Returns the room whose name is one slip of the pen away.
    fn similar_room(&self, id: &RoomId) -> Option<&RoomId> {
        let said = id.to_string();
        self.palace.rooms().map(|(it, _)| it).find(|it| osa_distance(&it.to_string(), &said) == 1)
    }
}

/// Yields every way out of a room, with where its file says so.
fn exits_with_paths(room: &Room) -> impl Iterator<Item = (&RoomRef, ValuePath)> {
    let action = |place| ValuePath::ROOT.then_value("actions").then_item(place).then_value("room");
    let actions = room.actions.iter().enumerate();
    let actions = actions.filter_map(move |(place, it)| Some((it.target_room()?, action(place))));
    let portal = |place| ValuePath::ROOT.then_value("portals").then_item(place);
    actions.chain(room.portals.iter().enumerate().map(move |(place, it)| (it, portal(place))))
}
