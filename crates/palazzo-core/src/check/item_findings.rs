//! Checks one item of a palace, for editors: the cost depends on the item and not on the palace.

use crate::check::duplicates::duplicate_items_of_entity;
use crate::check::limit_findings;
use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Entity, ItemId, RoomId, ScrollId, ValuePath};

impl PalaceCheck<'_> {
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
        findings.extend(self.check_doors_and_content_of_room(id, room, file));
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

#[cfg(test)]
mod tests {
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
