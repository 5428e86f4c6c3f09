//! Finds duplicate ids, and names that differ in case only.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use ulid::Ulid;

use crate::check::palace_check::{CheckFinding, FindingSubject, PalaceCheck};
use crate::model::{Code, Entity, ValuePath, quoted, quoted_unless_plain};

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
    pub(crate) fn check_duplicate_items(&self) -> impl Iterator<Item = CheckFinding> {
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
}
