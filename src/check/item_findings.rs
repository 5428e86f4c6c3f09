//! Checks one item of a palace, for editors: the cost depends on the item and not on the palace.

use crate::check::duplicates::duplicate_items_of_entity;
use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Entity, ItemId, RoomId, ScrollId, ValuePath};

impl PalaceCheck<'_> {
    /// Returns the findings about the settings.
    pub fn settings_findings(&self) -> Vec<CheckFinding> {
        let mut findings = self.check_allowed_tools(&self.tools_by_name());
        findings.extend(self.check_entry());
        findings
    }

    /// Returns the findings about the item in a file, except those that compare it with all other
    /// items: duplicate ids, names that differ in case only, files with the name of another item.
    pub fn item_findings(&self, file: &str, item: &ItemId) -> Vec<CheckFinding> {
        match item {
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
        }
    }

    fn whole_room_findings(&self, id: &RoomId, file: &str) -> Vec<CheckFinding> {
        let Some(room) = self.palace.room(id) else { return Vec::new() };
        let mut findings = self.room_findings(id);
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

    #[test]
    fn the_findings_of_all_items_are_those_of_the_palace() {
        let files = [
            (
                "palace.toml",
                "format = 1\nname = \"P\"\nentry = \"gone\"\n[actions]\nallow = [\"nope\"]\n",
            ),
            (
                "rooms/hall.yaml",
                "name: Hall\ndescription: See [[Nobody]].\nactions:\n- {label: Go, type: navigate, room: attic}\n- {label: Look, type: query, tool: gett_entity}\nportals: [cellar]\n",
            ),
            ("rooms/attic.yaml", "name: Attic\nportals: []\n"),
            (
                "entities/rock/a.yaml",
                "name: Granite\ngenus: Rock\nobservations: [a, a]\nrelations:\n- {type: near, to: Basalt}\n",
            ),
            (
                "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md",
                "---\ntitle: A\n---\n\n[[Somebody]]\n",
            ),
            ("tasks/a.yaml", "title: A\nroom: nowhere\nentity: Quartz\n"),
        ];
        with_palace_check(&files, |check| {
            let items = [
                ("rooms/hall.yaml", ItemId::Room("hall".parse().unwrap())),
                ("rooms/attic.yaml", ItemId::Room("attic".parse().unwrap())),
                ("entities/rock/a.yaml", ItemId::Entity("Granite".to_owned())),
                ("tasks/a.yaml", ItemId::Task("tasks/a.yaml".to_owned())),
                (
                    files[4].0,
                    ItemId::Scroll(check.palace.scroll_in_file(files[4].0).unwrap().clone()),
                ),
            ];
            let mut of_items = check.settings_findings();
            of_items.extend(items.iter().flat_map(|(file, it)| check.item_findings(file, it)));
            let lines =
                |text: String| -> BTreeSet<String> { text.lines().map(str::to_owned).collect() };
            let of_palace = lines(list_findings(&check.findings()));
            assert_eq!(lines(list_findings(&of_items)), of_palace);
            assert!(of_palace.len() >= 9, "{of_palace:?}");
        });
    }
}
