//! Checks a palace as a whole: doors to missing rooms, queries that no tool answers,
//! ambiguous names.
//!
//! Faults inside one file are found by its parser in `format`. This module reads no files,
//! and each check is one pass: the cost is linear in the palace's size. For editors, one item is
//! checked alone: the cost depends on the item and not on the palace.

mod duplicates;
mod entity_links;
mod file_paths;
mod graph;
mod host_memory;
mod long_texts;
mod palace_check;
mod rooms;
mod scrolls;
mod tool_actions;
mod work;

pub use palace_check::{CheckFinding, FindingSubject, PalaceCheck};

use std::collections::HashMap;

use crate::check::duplicates::duplicate_items_of_entity;
use crate::check::rooms::ExistingExitsByRoom;
use crate::model::{Code, Entity, ItemId, Room, RoomId, ScrollId, ValuePath};

/// Limit for findings of one code in one file.
const MAX_FINDINGS_PER_FILE: usize = 50;

impl PalaceCheck<'_> {
    /// Returns all findings, at most fifty per file and code.
    pub fn findings(&self) -> Vec<CheckFinding> {
        let exits = self.existing_exits_by_room();
        let mut findings = self.check_rooms(&exits);
        findings.extend(self.check_tool_actions());
        findings.extend(self.check_entity_links());
        findings.extend(self.check_halls_and_entities());
        findings.extend(self.check_task_and_process_subjects());
        findings.extend(self.compare_items(&exits));
        limit_findings(findings)
    }

    /// Returns the findings that depend on all items: unreachable rooms, scrolls of missing rooms,
    /// duplicate ids and titles, names that differ in case only or look alike, files with the name
    /// of another item. At most fifty per file and code.
    pub fn findings_between_items(&self) -> Vec<CheckFinding> {
        limit_findings(self.compare_items(&self.existing_exits_by_room()))
    }

    fn compare_items(&self, exits: &ExistingExitsByRoom<'_>) -> Vec<CheckFinding> {
        let mut findings = self.check_unreachable_rooms(exits);
        findings.extend(self.check_scrolls_in_missing_rooms());
        findings.extend(self.check_replaced_scrolls());
        findings.extend(self.check_task_titles());
        findings.extend(self.check_file_paths());
        findings.extend(self.check_duplicates());
        findings.extend(self.check_look_alike_names());
        findings.extend(self.check_texts_not_shown_whole());
        findings.extend(self.check_host_memory());
        findings
    }

    /// Returns the findings of one room that need no pass over the whole palace: the cost
    /// depends on the room's size.
    pub fn room_findings(&self, id: &RoomId) -> Vec<CheckFinding> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        // Searches for no rooms with a similar name, because that visits all rooms.
        let mut findings = self.check_room(id, room, &mut { rooms::MAX_SUGGESTIONS });
        findings.extend(self.check_reachable(id));
        findings
    }

    /// Checks one room; `compared` is as for [`Self::check_room_reference`].
    fn check_room(&self, id: &RoomId, room: &Room, compared: &mut usize) -> Vec<CheckFinding> {
        let file = (self.room_file)(id);
        let tools = self.tools_by_name();
        let mut findings = self.check_room_tool_actions(room, &file, &tools, &mut 0);
        findings.extend(self.check_exits(id, room, &file, compared));
        findings.extend(self.check_workspace_doors(room, &file));
        findings.extend(rooms::check_labels_and_description(room, &file));
        findings.extend(self.check_room_entity_links(room, &file, &mut 0));
        findings.extend(self.check_generated_hall(id, room, &mut 0));
        findings
    }

    /// Returns true if a file below `folder` could not be read; what seems to be missing may
    /// then exist.
    fn has_unreadable_files(&self, folder: &str) -> bool {
        self.unreadable_files.range(folder..).next().is_some_and(|it| it.starts_with(folder))
    }

    /// Returns the findings about the settings.
    pub fn settings_findings(&self) -> Vec<CheckFinding> {
        let mut findings = self.check_allowed_tools(&self.tools_by_name());
        findings.extend(self.check_entry());
        limit_findings(findings)
    }

    /// Returns the findings about the item in a file, except [`Self::findings_between_items`].
    pub fn item_findings(&self, file: &str, item: &ItemId) -> Vec<CheckFinding> {
        limit_findings(match item {
            ItemId::Room(id) => self.whole_room_findings(id, file),
            ItemId::Entity(name) => {
                let entity = self.palace.graph.get(name);
                entity.map(|it| self.entity_findings(it, file)).unwrap_or_default()
            }
            ItemId::Scroll(id) => self.scroll_findings(id, file),
            ItemId::Task(_) | ItemId::Process(_) => {
                let task = self.palace.tasks.get(file).map(|it| &it.subject);
                let process = self.palace.processes.get(file).map(|it| &it.subject);
                let subject = task.or(process);
                subject.map(|it| self.check_work_subject(file, it, &mut 0)).unwrap_or_default()
            }
            _ => Vec::new(),
        })
    }

    fn whole_room_findings(&self, id: &RoomId, file: &str) -> Vec<CheckFinding> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        let mut findings = self.check_room(id, room, &mut 0);
        findings.extend(self.check_one_way_or_empty(id, room, file));
        findings
    }

    fn entity_findings(&self, entity: &Entity, file: &str) -> Vec<CheckFinding> {
        let faults = self.palace.graph.entity_faults(entity).into_iter();
        let faults = faults.filter(|it| !it.is_invalid_date());
        let mut findings: Vec<_> = faults.filter_map(|it| self.fault_finding(file, it)).collect();
        findings.extend(duplicate_items_of_entity(file, entity));
        findings
    }

    fn scroll_findings(&self, id: &ScrollId, file: &str) -> Vec<CheckFinding> {
        let Some(scroll) = self.palace.scroll(id) else { return Vec::new() };
        self.check_text_links(file, (ValuePath::ROOT, &scroll.body), &mut 0)
    }
}

/// Keeps at most fifty findings per file and code.
fn limit_findings(mut findings: Vec<CheckFinding>) -> Vec<CheckFinding> {
    let mut counts = HashMap::<(String, Code), usize>::new();
    findings.retain(|it| {
        let count = counts.entry((it.diagnostic.file.clone(), it.diagnostic.code)).or_default();
        *count += 1;
        *count <= MAX_FINDINGS_PER_FILE
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{parse_palace, room_path};
    use crate::model::{Files, PathStep, Severity, Tool, ToolEffect, ToolParameter};

    /// Checks a palace of these files, each a path and a text; lists each finding with its file,
    /// value and hint.
    pub(super) fn findings_of(files: &[(&str, &str)]) -> String {
        with_palace_check(files, |it| list_findings(&it.findings()))
    }

    /// Runs `with` on the check of a palace of these files.
    pub(super) fn with_palace_check<T>(
        files: &[(&str, &str)],
        with: impl FnOnce(&PalaceCheck<'_>) -> T,
    ) -> T {
        let files: Files =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let (palace, faults) = parse_palace("Test", &files);
        let errors = faults.iter().filter(|it| it.severity() == Severity::Error);
        let unreadable_files = errors.map(|it| it.file.as_str()).collect();
        let tools = [
            tool("get_entity", ToolEffect::Reads, &[("name", true, "string")]),
            tool(
                "list_entities",
                ToolEffect::Reads,
                &[("genus", false, "string"), ("page", false, "integer")],
            ),
            tool("search_entities", ToolEffect::Reads, &[("query", true, "string")]),
            tool("update_entity", ToolEffect::Changes, &[("name", true, "string")]),
            tool("set_workspace", ToolEffect::Moves, &[]),
        ];
        with(&PalaceCheck {
            palace: &palace,
            tools: &tools,
            workspaces: &["test".to_owned(), "Test".to_owned(), "Garden of Stones".to_owned()],
            unreadable_files,
            room_file: room_path,
        })
    }

    pub(super) fn list_findings(findings: &[CheckFinding]) -> String {
        findings.iter().map(|it| finding_line(it) + "\n").collect()
    }

    fn finding_line(finding: &CheckFinding) -> String {
        let CheckFinding { diagnostic: it, value_path, .. } = finding;
        let steps = value_path.steps().iter().map(|it| match it {
            PathStep::Value(key) | PathStep::Key(key) | PathStep::Text(key) => key.clone(),
            PathStep::Item(index) => index.to_string(),
        });
        let place = [vec![it.file.clone()], steps.collect()].concat().join(" ");
        let hint = it.hint.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
        format!("{place}: {}: {}{hint}", it.code, it.message)
    }

    fn tool(name: &'static str, effect: ToolEffect, parameters: &[(&str, bool, &str)]) -> Tool {
        let parameters = parameters.iter().map(|(name, is_required, json_type)| ToolParameter {
            name: (*name).to_owned(),
            is_required: *is_required,
            json_type: Some((*json_type).to_owned()),
        });
        Tool { name, effect, parameters: parameters.collect() }
    }

    #[test]
    fn a_file_has_at_most_fifty_findings_of_one_code() {
        let portals: Vec<_> = (0..60).map(|it| format!("unbuilt-{it}")).collect();
        let hall = format!("name: Hall\nportals: [attic, {}]\n", portals.join(", "));
        let attic = "name: Attic\ndescription: Dust.\nportals: [unbuilt]\n";
        let findings = findings_of(&[("rooms/hall.yaml", &hall), ("rooms/attic.yaml", attic)]);
        let count = |start: &str| findings.lines().filter(|it| it.starts_with(start)).count();
        assert_eq!(count("rooms/hall.yaml portals"), 50);
        assert_eq!(count("rooms/hall.yaml: empty-room"), 1);
        assert_eq!(count("rooms/attic.yaml portals"), 1);
    }

    #[test]
    fn an_empty_palace_has_no_findings() {
        assert_eq!(findings_of(&[]), "");
        assert_eq!(findings_of(&[("palace.toml", "format = 1\nname = \"P\"\n")]), "");
    }

    #[test]
    fn the_findings_of_one_room_contain_no_suggestions() {
        let files = [
            ("rooms/crypt.yaml", "name: Crypt\nportals: [unbuilt]\n"),
            ("rooms/hall.yaml", "name: Hall\ndescription: Stone.\nportals: [cript, crypt]\n"),
        ];
        let of_room = |id: &str| {
            with_palace_check(&files, |it| list_findings(&it.room_findings(&id.parse().unwrap())))
        };
        insta::assert_snapshot!(
            of_room("hall"),
            @"rooms/hall.yaml portals 0: unfinished-room: the room `cript` is not built yet"
        );
        assert_eq!(of_room("attic"), "");
    }
}

#[cfg(test)]
mod item_findings_tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::tests::{list_findings, with_palace_check};
    use crate::format::PalacePath;
    use crate::model::Palace;

    const FILES: [(&str, &str); 9] = [
        (
            "rooms/hall.yaml",
            "name: Hall\ndescription: See [[Nobody]].\nactions:\n\
             - {label: Go, type: navigate, room: attic}\n\
             - {label: Look, type: query, tool: gett_entity}\nportals: [cellar]\n",
        ),
        ("rooms/attic.yaml", "name: Attic\nportals: []\n"),
        ("rooms/crypt.yaml", "name: Crypt\ndescription: Dark.\n"),
        (
            "entities/rock/a.yaml",
            "name: Granite\ngenus: Rock\nobservations: [a, a]\n\
             relations:\n- {type: near, to: Basalt}\n",
        ),
        ("entities/rock/b.yaml", "name: granite\ngenus: Rock\n"),
        ("tasks/a.yaml", "title: A\nroom: halll\nentity: Quartz\n"),
        ("tasks/b.yaml", "title: a\n"),
        ("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md", "---\ntitle: A\n---\n\n[[Somebody]]\n"),
        ("scrolls/gone/01KJMPXF9069S44V81ASY1KY38-b.md", "---\ntitle: B\n---\n"),
    ];

    /// Returns the item in each of the files.
    fn items(palace: &Palace) -> Vec<(&'static str, ItemId)> {
        let item = |path: &str| match PalacePath::parse(path).unwrap() {
            PalacePath::Room(id) => ItemId::Room(id),
            PalacePath::Entity => {
                ItemId::Entity(palace.graph.entity_in_file(path).unwrap().name.clone())
            }
            PalacePath::Task => ItemId::Task(path.to_owned()),
            _ => ItemId::Scroll(palace.scroll_in_file(path).unwrap().clone()),
        };
        FILES.iter().map(|(path, _)| (*path, item(path))).collect()
    }

    #[test]
    fn the_findings_of_settings_and_items_and_those_between_items_are_all_findings() {
        let settings = (
            "palace.toml",
            "format = 1\nname = \"P\"\nentry = \"gone\"\n[actions]\nallow = [\"nope\"]\n",
        );
        let files = [&[settings], FILES.as_slice()].concat();
        with_palace_check(&files, |check| {
            let between = check.findings_between_items();
            let codes: BTreeSet<_> =
                between.iter().map(|it| it.diagnostic.code.to_string()).collect();
            assert!(codes.into_iter().eq([
                "case-twins",
                "duplicate-title",
                "lost-scroll",
                "unreachable"
            ]));
            let items = items(check.palace).into_iter();
            let mut parts = check.settings_findings();
            parts.extend(items.flat_map(|(file, it)| check.item_findings(file, &it)));
            assert!(parts.len() >= 9, "{parts:?}");
            parts.extend(between);
            let sorted = |findings: &[CheckFinding]| {
                let lines = list_findings(findings);
                let mut lines: Vec<_> = lines.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            };
            assert_eq!(sorted(&parts), sorted(&check.findings()));
        });
    }
}
