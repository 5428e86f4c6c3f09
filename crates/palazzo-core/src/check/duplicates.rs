//! Finds duplicate ids, and names that look alike or differ in case only.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use ulid::Ulid;

use crate::check::palace_check::{CheckFinding, FindingSubject, PalaceCheck};
use crate::model::{Code, Entity, ValuePath, fold_look_alikes, quoted, quoted_unless_plain};

impl PalaceCheck<'_> {
    /// Reports duplicate ids and names that differ in case only.
    pub(crate) fn check_duplicates(&self) -> Vec<CheckFinding> {
        let mut findings = self.check_duplicate_ids();
        findings.extend(self.check_case_variant_files());
        findings.extend(self.check_case_variant_entity_names());
        findings.extend(self.check_case_variant_genera());
        findings
    }

    /// Reports observations and relations that an entity has twice.
    pub(crate) fn check_duplicate_list_items(&self) -> impl Iterator<Item = CheckFinding> {
        let entities = self.palace.graph.entities_with_files();
        entities.flat_map(|(file, entity)| duplicate_items_of_entity(file, entity))
    }

    fn check_duplicate_ids(&self) -> Vec<CheckFinding> {
        let rooms = self.palace.rooms();
        let rooms = rooms.filter_map(|(id, it)| Some((it.id?, Cow::Owned((self.room_file)(id)))));
        let entities = self.palace.graph.entities_with_files();
        let entities = entities.filter_map(|(file, it)| Some((it.id?, Cow::Borrowed(file))));
        let scrolls = self.palace.scroll_files().map(|(file, it)| (it.id, Cow::Borrowed(file)));
        let drawers = &self.palace.drawers;
        let drawers = drawers.rooms().flat_map(|it| drawers.drawers_in_room(it));
        let drawers = drawers.map(|(file, it)| (it.id, Cow::Borrowed(file)));
        let mut holders: HashMap<Ulid, Cow<'_, str>> = HashMap::new();
        let mut findings = Vec::new();
        for (id, file) in rooms.chain(entities).chain(scrolls).chain(drawers) {
            if let Some(first) = holders.get(&id) {
                let message = format!("{} has the same id", quoted_unless_plain(first));
                let finding = CheckFinding::new(
                    Code::SameId,
                    &file,
                    ValuePath::ROOT.then_value("id"),
                    message,
                );
                let finding = finding.with_hint("remove the id from the one that is a copy");
                let other = first.clone().into_owned();
                findings.push(finding.with_subject(FindingSubject::SameId { other }));
            } else {
                holders.insert(id, file);
            }
        }
        findings
    }

    /// Reports files whose paths differ in case only; some file systems cannot hold both.
    fn check_case_variant_files(&self) -> Vec<CheckFinding> {
        let twins = case_variants(self.files_with_free_names());
        let finding = |(first, file): (&str, &str)| {
            let first = quoted_unless_plain(first);
            let message = format!("the name of {first} differs from this file's in case only");
            let finding = CheckFinding::new(Code::CaseTwins, file, ValuePath::ROOT, message);
            finding.with_hint("rename one: some file systems cannot hold both")
        };
        twins.into_iter().map(finding).collect()
    }

    fn check_case_variant_entity_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let twins = case_variants(graph.iter().map(|it| it.name.as_str()));
        let finding = |(first, name): (&str, &str)| {
            let file = graph.file_of_entity(name).unwrap_or_default();
            let message = format!("{} differs from this name in case only", quoted(first));
            CheckFinding::new(Code::CaseTwins, file, ValuePath::ROOT.then_value("name"), message)
        };
        twins.into_iter().map(finding).collect()
    }

    /// Reports genera whose names differ in case only: the rules in the file of one do not
    /// apply to the other.
    fn check_case_variant_genera(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let defined = graph.genus_definitions().map(|it| it.name.as_str());
        let twins = case_variants(defined.chain(graph.genus_counts().map(|(it, _)| it)));
        let finding = |(first, genus): (&str, &str)| {
            let file = graph.file_of_entity(&graph.entities_of_genus(genus, None).next()?.name)?;
            let message = format!("the genus {} differs from this one in case only", quoted(first));
            let finding = CheckFinding::new(
                Code::CaseTwins,
                file,
                ValuePath::ROOT.then_value("genus"),
                message,
            );
            Some(finding.with_hint(match graph.genus_definition(first) {
                Some(_) => format!("write {}", quoted(first)),
                None => "use one spelling if both mean the same genus".to_owned(),
            }))
        };
        twins.into_iter().filter_map(finding).collect()
    }

    /// Reports names of rooms, entities, genera, scrolls, tasks, processes and wings that look like the name
    /// of another one. Names that differ in case only have a finding of their own.
    pub(crate) fn check_look_alike_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let rooms = self.palace.rooms().map(|(id, it)| (it.name.as_str(), (self.room_file)(id)));
        let entities =
            graph.entities_with_files().map(|(file, it)| (it.name.as_str(), file.to_owned()));
        let genera = graph.genus_definitions().filter_map(|it| {
            Some((it.name.as_str(), graph.file_of_genus_definition(&it.name)?.to_owned()))
        });
        let scrolls = self.palace.scroll_files().filter_map(|(file, id)| {
            Some((self.palace.scroll(id)?.title.as_str(), file.to_owned()))
        });
        let tasks = self.palace.tasks.iter().map(|(file, it)| (it.title.as_str(), file.clone()));
        let processes =
            self.palace.processes.iter().map(|(file, it)| (it.name.as_str(), file.clone()));
        let kinds = [
            find_look_alikes(rooms, "name"),
            find_look_alikes(entities, "name"),
            find_look_alikes(genera, "name"),
            find_look_alikes(scrolls, "title"),
            find_look_alikes(tasks, "title"),
            find_look_alikes(processes, "name"),
            find_look_alikes(self.wing_names(), "wing"),
        ];
        kinds.concat()
    }

    /// Yields the names of the wings, each with a file that has it.
    fn wing_names(&self) -> impl Iterator<Item = (&str, String)> {
        let names = self
            .palace
            .drawers
            .iter()
            .filter_map(|(file, _, it)| Some((it.filed_under.wing.as_deref()?, file)));
        let mut first_files: BTreeMap<&str, &str> = BTreeMap::new();
        for (name, file) in names {
            let first = first_files.entry(name).or_insert(file);
            *first = file.min(first);
        }
        first_files.into_iter().map(|(name, file)| (name, file.to_owned()))
    }
}

/// Reports observations and relations that one entity has twice.
pub(crate) fn duplicate_items_of_entity(file: &str, entity: &Entity) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut report = |list: &str, index: usize, what: String| {
        let about = ValuePath::ROOT.then_value(list).then_item(index);
        let message = format!("{what} occurs twice");
        let finding = CheckFinding::new(Code::DuplicateItem, file, about, message);
        findings.push(finding.with_hint("`palazzo check --fix` removes the second one"));
    };
    let mut seen = HashSet::new();
    for (index, it) in entity.observations.iter().enumerate() {
        if !seen.insert(it) {
            report("observations", index, "the observation".to_owned());
        }
    }
    for (index, it) in entity.relations.iter().enumerate() {
        if entity.relations[..index].contains(it) {
            let to = quoted(&it.to);
            report("relations", index, format!("the relation to {to}"));
        }
    }
    findings
}

/// Pairs each text with the first one that differs from it in case only.
fn case_variants<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<(&'a str, &'a str)> {
    let mut first: HashMap<Cow<'_, str>, &str> = HashMap::new();
    let mut twins = Vec::new();
    for text in texts {
        let is_lower = text.bytes().all(|it| it.is_ascii() && !it.is_ascii_uppercase());
        let lower = if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_lowercase()) };
        let earlier = *first.entry(lower).or_insert(text);
        if earlier != text {
            twins.push((earlier, text));
        }
    }
    twins
}

/// Returns a finding for each name that looks like an earlier one; the names come with their files,
/// and stand there as values of `key`.
fn find_look_alikes<'a>(
    names: impl Iterator<Item = (&'a str, String)>,
    key: &str,
) -> Vec<CheckFinding> {
    let mut names: Vec<_> = names.collect();
    names.sort_by(|a, b| a.1.cmp(&b.1));
    let mut firsts: HashMap<String, &str> = HashMap::new();
    let mut findings = Vec::new();
    for (name, file) in &names {
        match firsts.get(&fold_look_alikes(name)) {
            Some(first) if first.to_lowercase() != name.to_lowercase() => {
                findings.push(look_alike_finding(first, name, file, key));
            }
            Some(_) => {}
            None => drop(firsts.insert(fold_look_alikes(name), name)),
        }
    }
    findings
}

fn look_alike_finding(first: &str, name: &str, file: &str, key: &str) -> CheckFinding {
    let message = format!("{} looks like this name", quoted(first));
    let about = ValuePath::ROOT.then_value(key);
    let finding = CheckFinding::new(Code::LookAlikeName, file, about, message);
    let code_point =
        |it: Option<char>| it.map_or("nothing".to_owned(), |it| format!("U+{:04X}", u32::from(it)));
    let at = first.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let [there, here] = [first, name].map(|it| code_point(it.chars().nth(at)));
    finding.with_hint(format!("it has {there} where this one has {here}; rename one of them"))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    const ID: &str = "id: 01KGSRV28ADXPQGT6T6QX25YS8\n";

    #[test]
    fn every_later_file_with_the_id_of_another_is_reported() {
        let scroll = "scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md";
        let found = findings_of(&[
            ("rooms/hall.yaml", &format!("{ID}name: Hall\ndescription: Stone.\n")),
            ("entities/claim/stasis.yaml", &format!("{ID}name: Stasis\ngenus: Claim\n")),
            (scroll, "---\ntitle: A\n---\n"),
        ]);
        assert_snapshot!(found, @"
        entities/claim/stasis.yaml id: same-id: rooms/hall.yaml has the same id (remove the id from the one that is a copy)
        scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md id: same-id: rooms/hall.yaml has the same id (remove the id from the one that is a copy)
        ");
    }

    #[test]
    fn files_without_an_id_share_none() {
        let found = findings_of(&[
            ("entities/claim/a.yaml", "name: Actualism\ngenus: Claim\n"),
            ("entities/claim/b.yaml", "name: Baraminology\ngenus: Claim\n"),
        ]);
        assert_eq!(found, "");
    }

    #[test]
    fn files_whose_paths_differ_in_case_only_are_reported() {
        let found = findings_of(&[
            ("entities/claim/STASIS.yaml", "name: Saltation\ngenus: Claim\n"),
            ("entities/claim/stasis.yaml", "name: Actualism\ngenus: Claim\n"),
            ("tasks/Sweep.yaml", "title: Sweep\n"),
            ("tasks/sweep.yaml", "title: Sweep again\n"),
        ]);
        assert_snapshot!(found, @"
        entities/claim/STASIS.yaml: case-twins: the name of entities/claim/stasis.yaml differs from this file's in case only (rename one: some file systems cannot hold both)
        tasks/sweep.yaml: case-twins: the name of tasks/Sweep.yaml differs from this file's in case only (rename one: some file systems cannot hold both)
        ");
    }

    #[test]
    fn entity_names_are_compared_in_every_script() {
        let found = findings_of(&[
            ("entities/mood/a.yaml", "name: Ärger\ngenus: Mood\n"),
            ("entities/mood/b.yaml", "name: ärger\ngenus: Mood\n"),
            ("entities/mood/c.yaml", "name: Arger\ngenus: Mood\n"),
        ]);
        assert_snapshot!(
            found,
            @"entities/mood/b.yaml name: case-twins: `Ärger` differs from this name in case only"
        );
    }

    #[test]
    fn a_genus_is_corrected_to_the_defined_spelling() {
        let found = findings_of(&[
            ("genera/claim.yaml", "name: claim\n"),
            ("entities/claim/a.yaml", "name: Actualism\ngenus: Claim\n"),
        ]);
        assert_snapshot!(
            found,
            @"entities/claim/a.yaml genus: case-twins: the genus `claim` differs from this one in case only (write `claim`)"
        );
    }

    #[test]
    fn without_a_definition_no_spelling_of_a_genus_is_preferred() {
        let found = findings_of(&[
            ("entities/claim/a.yaml", "name: Actualism\ngenus: Claim\n"),
            ("entities/claim/b.yaml", "name: Baraminology\ngenus: claim\n"),
        ]);
        assert_snapshot!(
            found,
            @"entities/claim/b.yaml genus: case-twins: the genus `Claim` differs from this one in case only (use one spelling if both mean the same genus)"
        );
    }

    #[test]
    fn wings_that_look_alike_are_reported_once() {
        let drawer = |wing: &str| format!("---\nwing: {wing}\nroom: Hall\n---\n\nWords.\n");
        assert_snapshot!(
            findings_of(&[
                ("drawers/code/hall/a.md", &drawer("Code")),
                ("drawers/sode/hall/a.md", &drawer("Сode")),
                ("drawers/sode/hall/b.md", &drawer("Сode")),
            ]),
            @"drawers/sode/hall/a.md wing: look-alike-name: `Code` looks like this name (it has U+0043 where this one has U+0421; rename one of them)"
        );
    }
}
