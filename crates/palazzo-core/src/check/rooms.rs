//! Checks rooms, their labels and descriptions, and the doors between them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use strsim::osa_distance;

use crate::check::palace_check::{CheckFinding, FindingSubject, PalaceCheck};
use crate::model::{Code, Room, RoomId, RoomRef, ValuePath, did_you_mean, quoted};

/// How many rooms a hint lists.
const MAX_LISTED_ROOMS: usize = 5;
/// Limit for missing rooms that are compared with the existing ones.
pub(crate) const MAX_SUGGESTIONS: usize = 20;
/// Limit for the rooms visited to find out whether a room is unreachable.
const MAX_ROOMS_WALKED: usize = 100;

/// The existing rooms that each room's own actions and portals lead to.
pub(crate) type ExistingExitsByRoom<'a> = BTreeMap<&'a RoomId, BTreeSet<RoomId>>;

impl PalaceCheck<'_> {
    pub(crate) fn existing_exits_by_room(&self) -> ExistingExitsByRoom<'_> {
        self.palace.rooms().map(|(id, it)| (id, self.existing_exits(id, it))).collect()
    }

    /// Reports faults of the entry, of rooms and of doors.
    pub(crate) fn check_rooms(&self, exits: &ExistingExitsByRoom<'_>) -> Vec<CheckFinding> {
        let mut findings: Vec<_> = self.check_entry().into_iter().collect();
        let mut compared = 0;
        for (id, room) in self.palace.rooms() {
            let file = (self.room_file)(id);
            findings.extend(self.check_exits(id, room, &file, &mut compared));
            findings.extend(self.check_workspace_doors(room, &file));
            findings.extend(check_labels_and_description(room, &file));
            findings.extend(self.check_one_way_doors(id, room, &file, exits));
            findings.extend(self.check_empty_room(room, &file));
        }
        findings
    }

    /// Reports the one-way doors and the emptiness of one room.
    pub(crate) fn check_one_way_or_empty(
        &self,
        id: &RoomId,
        room: &Room,
        file: &str,
    ) -> Vec<CheckFinding> {
        let targets = self.existing_exits(id, room);
        let exits = targets.iter().filter_map(|it| {
            let target = self.palace.room(it)?;
            Some((it, self.existing_exits(it, target)))
        });
        let mut findings = self.check_one_way_doors(id, room, file, &exits.collect());
        findings.extend(self.check_empty_room(room, file));
        findings
    }

    fn check_empty_room(&self, room: &Room, file: &str) -> Option<CheckFinding> {
        let is_bare =
            room.description.is_empty() && room.actions.is_empty() && room.generate.is_none();
        let message = "the room is empty: no description, no actions";
        (is_bare && !self.unreadable_files.contains(file))
            .then(|| CheckFinding::new(Code::EmptyRoom, file, ValuePath::ROOT, message))
    }

    /// Returns the existing rooms that a room's own actions and portals lead to.
    fn existing_exits(&self, id: &RoomId, room: &Room) -> BTreeSet<RoomId> {
        let present = |it| self.palace.resolve_present_room(it, Some(id)).ok();
        let out = room.linked_rooms().filter_map(present);
        out.filter(|it| self.palace.room(it).is_some()).collect()
    }

    pub(crate) fn check_entry(&self) -> Option<CheckFinding> {
        let entry = self.palace.settings.entry.as_ref()?;
        let target = self.palace.resolve_room(entry, None);
        if target.as_ref().is_ok_and(|it| self.has_room_file(it)) {
            return None;
        }
        let message = format!("the entry room `{entry}` does not exist");
        let about = ValuePath::ROOT.then_value("entry");
        let mut finding = CheckFinding::new(Code::LostEntry, "palace.toml", about, message);
        finding.subject = target.ok().map(FindingSubject::MissingRoom);
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
                let finding = finding.with_subject(FindingSubject::MissingRoom(to.clone()));
                *compared += 1;
                let meant = (*compared <= MAX_SUGGESTIONS).then(|| self.similar_room(&to));
                let meant = meant.flatten().map(ToString::to_string);
                Some(finding.with_suggestion(meant.as_deref()))
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

    /// Reports actions that lead to a workspace which the home does not have.
    pub(crate) fn check_workspace_doors(&self, room: &Room, file: &str) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        for (index, action) in room.actions.iter().enumerate() {
            let Some(workspace) = action.target_workspace() else { continue };
            let asked = workspace.trim().to_lowercase();
            if self.workspaces.iter().any(|it| it.to_lowercase() == asked) {
                continue;
            }
            let about =
                ValuePath::ROOT.then_value("actions").then_item(index).then_value("workspace");
            let message = format!("there is no workspace {}", quoted(workspace));
            let finding = CheckFinding::new(Code::UnknownWorkspace, file, about, message);
            let meant = did_you_mean(workspace, self.workspaces.iter().map(String::as_str));
            findings.push(finding.with_suggestion(meant));
        }
        findings
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
            let Ok(to) = self.palace.resolve_present_room(target, Some(id)) else { continue };
            let back = exits.get(&to).is_none_or(|it| it.contains(id));
            if !back && to != *id && seen.insert(to.clone()) {
                let back = self.palace.room_name(id);
                let message = format!(
                    "no action in `{to}` leads back here: visitors there see only {}",
                    quoted(&format!("Go to {back}"))
                );
                let about =
                    ValuePath::ROOT.then_value("actions").then_item(index).then_value("room");
                let finding = CheckFinding::new(Code::OneWayDoor, file, about, message);
                let hint = format!("if the way back needs more words, add an action to `{to}`");
                findings.push(finding.with_hint(hint));
            }
        }
        findings
    }

    /// Reports the rooms that cannot be reached from the entry. A door works in both
    /// directions, whichever room declares it.
    pub(crate) fn check_unreachable_rooms(
        &self,
        exits: &ExistingExitsByRoom<'_>,
    ) -> Vec<CheckFinding> {
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

/// Reports labels that occur twice in a room, and a description that contains its actions.
pub(crate) fn check_labels_and_description(room: &Room, file: &str) -> Vec<CheckFinding> {
    let mut seen = HashSet::new();
    let repeated =
        room.actions.iter().enumerate().filter(|(_, it)| !seen.insert(it.label.trim().to_owned()));
    let mut findings: Vec<_> = repeated
        .map(|(index, action)| {
            let label = quoted(action.label.trim());
            let message = format!("another action of this room has the label {label}");
            let about = ValuePath::ROOT.then_value("actions").then_item(index).then_value("label");
            CheckFinding::new(Code::DuplicateLabel, file, about, message)
        })
        .collect();
    if room.actions.is_empty() && contains_action_list(&room.description) {
        let message = "the description contains a list of actions";
        let about = ValuePath::ROOT.then_value("description");
        let finding = CheckFinding::new(Code::SwallowedActions, file, about, message);
        findings.push(finding.with_hint("remove the indentation in front of `actions:`"));
    }
    findings
}

/// Returns whether a text contains a line `actions:` and below it the first action.
fn contains_action_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    while let Some(line) = lines.next() {
        let first_keys = ["- label:", "- type:", "- {"];
        if line == "actions:"
            && lines.next().is_some_and(|it| first_keys.iter().any(|key| it.starts_with(key)))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::check::tests::{findings_of, with_palace_check};

    const HALL: (&str, &str) = ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    const ENTRY_IS_HALL: (&str, &str) =
        ("palace.toml", "format = 1\nname = \"Test\"\nentry = \"hall\"\n");

    /// Checks rooms, each a slug and the end of its file.
    fn findings_of_rooms(rooms: &[(&str, &str)]) -> String {
        let text =
            |slug: &str, rest: &str| format!("name: The {slug}\ndescription: Stone.\n{rest}\n");
        let rooms = rooms.iter().map(|(it, rest)| (format!("rooms/{it}.yaml"), text(it, rest)));
        let rooms: Vec<_> = rooms.collect();
        let rooms: Vec<_> = rooms.iter().map(|(path, it)| (path.as_str(), it.as_str())).collect();
        findings_of(&rooms)
    }

    #[test]
    fn a_missing_entry_room_is_reported_in_the_settings() {
        let other = ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n");
        assert_snapshot!(
            findings_of(&[ENTRY_IS_HALL, other]),
            @"palace.toml entry: lost-entry: the entry room `hall` does not exist (build it, or set `entry` to another room)"
        );
        assert_eq!(findings_of(&[ENTRY_IS_HALL, HALL]), "");
    }

    #[test]
    fn a_room_with_an_unreadable_file_is_neither_missing_nor_empty_nor_unreachable() {
        let crypt = ("rooms/crypt.yaml", "name: Crypt\nportals: [attic]\n");
        let found = findings_of(&[ENTRY_IS_HALL, ("rooms/hall.yaml", "name: [Hall\n"), crypt]);
        assert_snapshot!(found, @"
        rooms/crypt.yaml portals 0: unfinished-room: the room `attic` is not built yet
        rooms/crypt.yaml: empty-room: the room is empty: no description, no actions
        ");
    }

    #[test]
    fn a_missing_room_is_compared_with_rooms_at_one_typing_error() {
        let found =
            findings_of_rooms(&[("crypt", ""), ("hall", "portals: [crypt, cyrpt, cryptes]")]);
        assert_snapshot!(found, @"
        rooms/hall.yaml portals 1: unfinished-room: the room `cyrpt` is not built yet (did you mean `crypt`?)
        rooms/hall.yaml portals 2: unfinished-room: the room `cryptes` is not built yet
        ");
    }

    #[test]
    fn a_missing_room_is_reported_once_in_each_file() {
        let climb =
            "actions: [{ label: Climb, type: navigate, room: attic }]\nportals: [attic, hall]";
        let found = findings_of_rooms(&[("hall", "portals: [attic]"), ("crypt", climb)]);
        assert_snapshot!(found, @"
        rooms/crypt.yaml actions 0 room: unfinished-room: the room `attic` is not built yet
        rooms/hall.yaml portals 0: unfinished-room: the room `attic` is not built yet
        ");
    }

    #[test]
    fn an_ambiguous_portal_lists_five_rooms() {
        let annexes = ["a", "b", "c", "d", "e", "f"].map(|it| format!("{it}/annex"));
        let mut rooms: Vec<_> = annexes.iter().map(|it| (it.as_str(), "portals: [hall]")).collect();
        rooms.push(("hall", "portals: [annex]"));
        assert_snapshot!(
            findings_of_rooms(&rooms),
            @"rooms/hall.yaml portals 0: ambiguous-room: several rooms are called `annex` (write one of: `a/annex`, `b/annex`, `c/annex`, `d/annex`, `e/annex` …)"
        );
    }

    #[test]
    fn a_bare_slug_means_the_room_in_the_same_wing() {
        let rooms = [("a/annex", ""), ("a/hall", "portals: [annex, b/annex]"), ("b/annex", "")];
        assert_eq!(findings_of_rooms(&rooms), "");
    }

    #[test]
    fn an_action_to_a_room_without_a_door_back_is_reported_once() {
        let action = |label: &str| format!("{{ label: {label}, type: navigate, room: attic }}");
        let hall = format!("actions: [{}, {}]", action("Climb"), action("Leap"));
        assert_snapshot!(
            findings_of_rooms(&[("attic", ""), ("hall", &hall)]),
            @r#"rooms/hall.yaml actions 0 room: one-way-door: no action in `attic` leads back here: visitors there see only `Go to The hall` (if the way back needs more words, add an action to `attic`)"#
        );
        assert_eq!(findings_of_rooms(&[("attic", "portals: [hall]"), ("hall", &hall)]), "");
    }

    #[test]
    fn a_room_with_only_a_name_is_empty_and_a_generated_hall_is_not() {
        let hall = ("rooms/hall.yaml", "name: Hall\nportals: [library]\n");
        let library = ("rooms/library.yaml", "name: Library\ngenerate: { by: genus }\n");
        assert_snapshot!(
            findings_of(&[hall, library]),
            @"rooms/hall.yaml: empty-room: the room is empty: no description, no actions"
        );
    }

    #[test]
    fn a_door_to_a_workspace_that_does_not_exist_is_reported() {
        let door = |workspace: &str| {
            let door = format!(
                "actions:\n  - {{ label: Go, type: navigate, room: porch, workspace: {workspace} }}"
            );
            findings_of_rooms(&[("hall", &door)])
        };
        assert_snapshot!(door("' garden OF stones '"), @"");
        assert_snapshot!(
            door("Garden of Stone"),
            @"rooms/hall.yaml actions 0 workspace: unknown-workspace: there is no workspace `Garden of Stone` (did you mean `Garden of Stones`?)"
        );
        assert_snapshot!(
            door("nope"),
            @"rooms/hall.yaml actions 0 workspace: unknown-workspace: there is no workspace `nope`"
        );
    }

    #[test]
    fn a_door_connects_two_rooms_whichever_declares_it() {
        let rooms = [
            ("a-hall", ""),
            ("crypt", "portals: [a-hall]"),
            ("reef", "portals: [sea]"),
            ("sea", ""),
        ];
        assert_snapshot!(findings_of_rooms(&rooms), @"
        rooms/reef.yaml: unreachable: this room cannot be reached from the entry (add an action or a portal to this room in another room)
        rooms/sea.yaml: unreachable: this room cannot be reached from the entry (add an action or a portal to this room in another room)
        ");
    }

    #[test]
    fn the_check_of_one_room_gives_up_after_a_hundred_rooms() {
        let chain = |length: usize| {
            let room = |it| format!("name: R\nportals: [r{}]\n", (it + 1) % length);
            let rooms = (0..length).map(|it| (format!("rooms/r{it}.yaml"), room(it)));
            let rooms: Vec<_> = rooms.collect();
            let rooms = rooms.iter().map(|(path, it)| (path.as_str(), it.as_str()));
            let files: Vec<_> = rooms.chain([ENTRY_IS_HALL, HALL]).collect();
            with_palace_check(&files, |it| it.check_reachable(&"r0".parse().unwrap()))
        };
        let code = |it: CheckFinding| it.diagnostic.code;
        assert_eq!(chain(MAX_ROOMS_WALKED).map(code), Some(Code::Unreachable));
        assert_eq!(chain(MAX_ROOMS_WALKED + 1).map(code), None);
    }

    fn findings_of_hall(rest: &str) -> String {
        findings_of(&[("rooms/hall.yaml", &format!("name: Hall\n{rest}"))])
    }

    #[test]
    fn a_label_that_occurs_twice_is_reported_once() {
        let actions = "actions:
  - { label: Listen, type: text, content: Drip. }
  - { label: Look, type: text, content: Dust. }
  - { label: 'Listen ', type: text, content: Drop. }
";
        assert_snapshot!(
            findings_of_hall(actions),
            @"rooms/hall.yaml actions 2 label: duplicate-label: another action of this room has the label `Listen`"
        );
    }

    #[test]
    fn actions_inside_the_description_are_reported() {
        let swallowed = "description: |
  Stone.
  actions:
    - label: Listen
      type: text
      content: Drip.
";
        assert_snapshot!(
            findings_of_hall(swallowed),
            @"rooms/hall.yaml description: swallowed-actions: the description contains a list of actions (remove the indentation in front of `actions:`)"
        );
    }

    #[test]
    fn a_description_may_speak_of_actions() {
        let quoted = "description: |
  The key
  actions:
  lists what a visitor can do.
";
        assert_eq!(findings_of_hall(quoted), "");
        let with_actions = "description: |
  actions:
    - label: Listen
actions:
  - { label: Listen, type: text, content: Drip. }
";
        assert_eq!(findings_of_hall(with_actions), "");
    }
}
