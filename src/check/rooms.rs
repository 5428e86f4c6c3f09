//! Checks rooms and the doors between them.

use std::collections::{BTreeMap, BTreeSet};

use strsim::osa_distance;

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, Room, RoomId, RoomRef, ValuePath};

/// How many rooms a hint lists.
const MAX_LISTED_ROOMS: usize = 5;
/// Limit for missing rooms that are compared with the existing ones.
pub(crate) const MAX_SUGGESTIONS: usize = 20;
/// Limit for the rooms visited to find out whether a room is unreachable.
const MAX_ROOMS_WALKED: usize = 100;

/// The existing rooms that each room's own actions and portals lead to.
type ExistingExitsByRoom<'a> = BTreeMap<&'a RoomId, BTreeSet<RoomId>>;

impl PalaceCheck<'_> {
    /// Reports faults of the entry, of rooms and of doors, and unreachable rooms.
    pub(crate) fn check_rooms(&self) -> Vec<CheckFinding> {
        let exits: ExistingExitsByRoom<'_> =
            self.palace.rooms().map(|(id, it)| (id, self.existing_exits(id, it))).collect();
        let mut findings: Vec<_> = self.check_entry().into_iter().collect();
        let mut compared = 0;
        for (id, room) in self.palace.rooms() {
            let file = (self.room_file)(id);
            findings.extend(self.check_exits(id, room, &file, &mut compared));
            findings.extend(self.check_one_way_doors(id, room, &file, &exits));
            let is_bare =
                room.description.is_empty() && room.actions.is_empty() && room.generate.is_none();
            if is_bare && !self.unreadable_files.contains(file.as_str()) {
                let message = "the room is empty: no description, no actions";
                findings.push(CheckFinding::new(Code::EmptyRoom, &file, ValuePath::ROOT, message));
            }
        }
        findings.extend(self.check_unreachable_rooms(&exits));
        findings
    }

    /// Returns the existing rooms that a room's own actions and portals lead to.
    fn existing_exits(&self, id: &RoomId, room: &Room) -> BTreeSet<RoomId> {
        let out = room.linked_rooms().filter_map(|it| self.palace.resolve_room(it, Some(id)).ok());
        out.filter(|it| self.palace.room(it).is_some()).collect()
    }

    fn check_entry(&self) -> Option<CheckFinding> {
        let entry = self.palace.settings.entry.as_ref()?;
        if self.palace.resolve_room(entry, None).is_ok_and(|it| self.has_room_file(&it)) {
            return None;
        }
        let message = format!("the entry room `{entry}` does not exist");
        let about = ValuePath::ROOT.then_value("entry");
        let finding = CheckFinding::new(Code::LostEntry, "palace.toml", about, message);
        Some(finding.with_hint("build it, or set `entry` to another room"))
    }

    /// Reports the doors of a room to missing or ambiguous rooms, each target once;
    /// `compared` is as for [`Self::check_room_reference`].
    pub(crate) fn check_exits(
        &self,
        id: &RoomId,
        room: &Room,
        file: &str,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let mut seen = BTreeSet::new();
        let exits = exits_with_paths(room).filter(|(exit, _)| seen.insert(*exit));
        exits
            .filter_map(|(exit, about)| {
                self.check_room_reference(exit, Some(id), file, about, compared)
            })
            .collect()
    }

    /// Reports a reference, from the room `from`, to a missing or ambiguous room; `compared`
    /// counts the missing rooms for which a similar name was searched.
    pub(crate) fn check_room_reference(
        &self,
        exit: &RoomRef,
        from: Option<&RoomId>,
        file: &str,
        about: ValuePath,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        match self.palace.resolve_room(exit, from) {
            Ok(to) if self.has_room_file(&to) => None,
            Ok(to) => {
                let message = format!("the room `{to}` is not built yet");
                let finding = CheckFinding::new(Code::UnfinishedRoom, file, about, message);
                *compared += 1;
                let meant = (*compared <= MAX_SUGGESTIONS).then(|| self.similar_room(&to));
                Some(match meant.flatten() {
                    Some(meant) => finding.with_hint(format!("did you mean `{meant}`?")),
                    None => finding,
                })
            }
            Err(several) => {
                let message = format!("several rooms are called `{exit}`");
                let listed = several.candidates.iter().take(MAX_LISTED_ROOMS);
                let listed: Vec<_> = listed.map(|it| format!("`{it}`")).collect();
                let more = if several.candidates.len() > MAX_LISTED_ROOMS { " …" } else { "" };
                let hint = format!("write one of: {}{more}", listed.join(", "));
                Some(CheckFinding::new(Code::AmbiguousRoom, file, about, message).with_hint(hint))
            }
        }
    }

    /// Reports actions that lead to a room which has no door back of its own.
    fn check_one_way_doors(
        &self,
        id: &RoomId,
        room: &Room,
        file: &str,
        exits: &ExistingExitsByRoom<'_>,
    ) -> Vec<CheckFinding> {
        let mut seen = BTreeSet::new();
        let mut findings = Vec::new();
        for (index, action) in room.actions.iter().enumerate() {
            let Some(target) = action.target_room() else { continue };
            let Ok(to) = self.palace.resolve_room(target, Some(id)) else { continue };
            let back = exits.get(&to).is_none_or(|it| it.contains(id));
            if !back && to != *id && seen.insert(to.clone()) {
                let message = format!("`{to}` has no door back of its own: it shows a plain door");
                let about =
                    ValuePath::ROOT.then_value("actions").then_item(index).then_value("room");
                findings.push(CheckFinding::new(Code::OneWayDoor, file, about, message));
            }
        }
        findings
    }

    /// Reports the rooms that cannot be reached from the entry. A door works in both
    /// directions, whichever room declares it.
    fn check_unreachable_rooms(&self, exits: &ExistingExitsByRoom<'_>) -> Vec<CheckFinding> {
        let Some(entry) = self.palace.entry_room().filter(|_| !self.has_unreadable_files("rooms/"))
        else {
            return Vec::new();
        };
        let mut doors: BTreeMap<&RoomId, Vec<&RoomId>> = BTreeMap::new();
        for (from, to) in exits.iter().flat_map(|(from, all)| all.iter().map(move |to| (*from, to)))
        {
            doors.entry(from).or_default().push(to);
            doors.entry(to).or_default().push(from);
        }
        let (mut reached, mut next) = (BTreeSet::from([entry]), vec![entry]);
        while let Some(here) = next.pop() {
            let new = doors.get(here).into_iter().flatten().copied();
            next.extend(new.filter(|it| reached.insert(*it)));
        }
        exits
            .keys()
            .filter(|it| !reached.contains(*it))
            .map(|it| self.unreachable_finding(it))
            .collect()
    }

    /// Reports a room that is not connected to the entry; gives up without a finding after a
    /// hundred rooms.
    pub fn check_reachable(&self, id: &RoomId) -> Option<CheckFinding> {
        let entry = self.palace.entry_room().filter(|_| !self.has_unreadable_files("rooms/"))?;
        let (mut reached, mut next) = (BTreeSet::from([id.clone()]), vec![id.clone()]);
        while let Some(here) = next.pop() {
            if here == *entry || reached.len() > MAX_ROOMS_WALKED {
                return None;
            }
            let room = self.palace.room(&here)?;
            let doors = self.existing_exits(&here, room).into_iter();
            let doors = doors.chain(self.palace.rooms_linking_to(&here).cloned());
            next.extend(doors.filter(|it| reached.insert(it.clone())));
        }
        Some(self.unreachable_finding(id))
    }

    fn unreachable_finding(&self, id: &RoomId) -> CheckFinding {
        let message = "this room cannot be reached from the entry";
        let finding =
            CheckFinding::new(Code::Unreachable, &(self.room_file)(id), ValuePath::ROOT, message);
        finding.with_hint("add an action or a portal to this room in another room")
    }

    /// Returns true if the room exists, or has a file that could not be read.
    fn has_room_file(&self, id: &RoomId) -> bool {
        self.palace.room(id).is_some()
            || self.unreadable_files.contains((self.room_file)(id).as_str())
    }

    /// Returns a room whose id differs by one typing error.
    fn similar_room(&self, id: &RoomId) -> Option<&RoomId> {
        let text = id.to_string();
        self.palace.rooms().map(|(it, _)| it).find(|it| osa_distance(&it.to_string(), &text) == 1)
    }
}

/// Yields the target of every action and portal of a room, with its path in the room's file.
fn exits_with_paths(room: &Room) -> impl Iterator<Item = (&RoomRef, ValuePath)> {
    let action = |index| ValuePath::ROOT.then_value("actions").then_item(index).then_value("room");
    let actions = room.actions.iter().enumerate();
    let actions = actions.filter_map(move |(index, it)| Some((it.target_room()?, action(index))));
    let portal = |index| ValuePath::ROOT.then_value("portals").then_item(index);
    actions.chain(room.portals.iter().enumerate().map(move |(index, it)| (it, portal(index))))
}
