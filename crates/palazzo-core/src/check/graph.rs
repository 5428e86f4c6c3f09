//! Checks generated halls and entities.

use std::collections::BTreeSet;

use crate::check::palace_check::{CheckFinding, FindingSubject, PalaceCheck};
use crate::model::{
    Code, EntityFault, GroupBy, Grouping, Room, RoomId, ValuePath, did_you_mean, quoted,
    quoted_unless_plain,
};

/// Limit for unknown genera and attributes that are compared with the existing ones.
pub(crate) const MAX_SUGGESTIONS: usize = 20;

impl PalaceCheck<'_> {
    /// Reports rooms that generate halls of unknown genera or attributes, entities that break the
    /// rules of their genus, and observations and relations that an entity has twice.
    pub(crate) fn check_halls_and_entities(&self) -> Vec<CheckFinding> {
        self.check_generated_halls()
            .chain(self.check_entity_faults())
            .chain(self.check_duplicate_list_items())
            .collect()
    }

    /// Reports rooms that generate a hall of an unknown genus, or group by an attribute that
    /// no entity has.
    fn check_generated_halls(&self) -> impl Iterator<Item = CheckFinding> {
        let mut compared = 0;
        self.palace
            .rooms()
            .filter_map(move |(id, room)| self.check_generated_hall(id, room, &mut compared))
    }

    /// Checks the hall of one room; `compared` counts the unknown names that were compared
    /// with the existing ones.
    pub(crate) fn check_generated_hall(
        &self,
        id: &RoomId,
        room: &Room,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        let Grouping::Genus { genus, by } = room.generate.as_ref()? else { return None };
        // An unreadable file may define the missing name.
        if self.has_unreadable_files("entities/") || self.has_unreadable_files("genera/") {
            return None;
        }
        let (graph, file) = (&self.palace.graph, (self.room_file)(id));
        let about = |key: &str| ValuePath::ROOT.then_value("generate").then_value(key);
        match (graph.find_genus_ignoring_case(genus), by) {
            (None, _) => Some(self.unknown_genus_finding(&file, about("genus"), genus, compared)),
            (Some(genus), GroupBy::Attribute(key)) => {
                if graph.count_in_genus(genus) == 0
                    || graph.attribute_names(genus).any(|it| it == key)
                {
                    return None;
                }
                let known = graph.attribute_names(genus).filter(|_| *compared < MAX_SUGGESTIONS);
                let known: BTreeSet<_> = known.collect();
                *compared += 1;
                let message = format!(
                    "no {} has an attribute {}, and its genus file does not define it",
                    quoted_unless_plain(genus),
                    quoted(key)
                );
                let code = Code::UndefinedAttribute;
                let finding = CheckFinding::new(code, &file, about("by"), message);
                Some(finding.with_suggestion(did_you_mean(key, known)))
            }
            _ => None,
        }
    }

    /// Returns the finding for a genus that does not exist; `compared` is as for
    /// [`Self::check_generated_hall`].
    pub(crate) fn unknown_genus_finding(
        &self,
        file: &str,
        about: ValuePath,
        genus: &str,
        compared: &mut usize,
    ) -> CheckFinding {
        let known = self.palace.graph.all_genus_names().filter(|_| *compared < MAX_SUGGESTIONS);
        let meant = did_you_mean(genus, known);
        *compared += 1;
        let message =
            format!("no entity has the genus {}, and no genus file defines it", quoted(genus));
        CheckFinding::new(Code::UndefinedGenus, file, about, message).with_suggestion(meant)
    }

    /// Reports entities that break the rules of their genus or name undefined entities.
    fn check_entity_faults(&self) -> impl Iterator<Item = CheckFinding> {
        let graph = &self.palace.graph;
        let faults = graph.entities_with_files().flat_map(|(file, entity)| {
            graph.entity_faults(entity).into_iter().map(move |fault| (file, fault))
        });
        let faults = faults.filter(|(_, fault)| !fault.is_invalid_date());
        faults.filter_map(|(file, fault)| self.fault_finding(file, fault))
    }

    /// Returns the finding for one fault of an entity.
    pub(crate) fn fault_finding(&self, file: &str, fault: EntityFault) -> Option<CheckFinding> {
        let EntityFault { code, path: about, message, hint, suggestion, undefined_name: lost } =
            fault;
        // An unreadable file may define the entity.
        if code == Code::UndefinedEntity && self.has_unreadable_files("entities/") {
            return None;
        }
        let graph = &self.palace.graph;
        let former = |it: &String| graph.entities_formerly_named(it).next().map(|it| &*it.name);
        let meant =
            lost.as_ref().and_then(|it| graph.names_ignoring_case(it).next().or(former(it)));
        let mut finding = CheckFinding::new(code, file, about, message);
        finding.diagnostic.hint = hint;
        let mut finding = finding.with_suggestion(meant.or(suggestion.as_deref()));
        finding.subject = lost.map(FindingSubject::MissingEntity);
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::check::tests::findings_of;

    const STASIS: (&str, &str) =
        ("entities/claim/stasis.yaml", "name: Stasis\ngenus: Claim\nattributes: { place: reef }\n");

    /// Checks a palace with `STASIS` and a room that generates a hall.
    fn findings_of_hall(generate: &str, more: &[(&str, &str)]) -> String {
        let hall = format!("name: Hall\ngenerate: {{ {generate} }}\n");
        findings_of(&[&[STASIS, ("rooms/hall.yaml", hall.as_str())], more].concat())
    }

    #[test]
    fn a_hall_of_a_genus_in_other_case_is_accepted() {
        assert_eq!(findings_of_hall("genus: CLAIM, by: place", &[]), "");
        assert_snapshot!(
            findings_of_hall("genus: Clam", &[]),
            @"rooms/hall.yaml generate genus: undefined-genus: no entity has the genus `Clam`, and no genus file defines it (did you mean `Claim`?)"
        );
    }

    #[test]
    fn a_hall_by_an_attribute_that_no_entity_has_is_reported() {
        assert_snapshot!(
            findings_of_hall("genus: Claim, by: plaec", &[]),
            @"rooms/hall.yaml generate by: undefined-attribute: no Claim has an attribute `plaec`, and its genus file does not define it (did you mean `place`?)"
        );
    }

    #[test]
    fn a_defined_genus_without_entities_can_have_any_attribute() {
        let lead = ("genera/lead.yaml", "name: Lead\n");
        assert_eq!(findings_of_hall("genus: Lead, by: weather", &[lead]), "");
    }

    #[test]
    fn an_unreadable_genus_file_may_define_the_missing_genus() {
        let unreadable = ("genera/x.yaml", "name: [Weather\n");
        assert_eq!(findings_of_hall("genus: Weather", &[unreadable]), "");
    }

    #[test]
    fn only_twenty_unknown_genera_are_compared_with_the_known_ones() {
        let rooms: Vec<_> = (0..=MAX_SUGGESTIONS)
            .map(|it| {
                (format!("rooms/r{it}.yaml"), format!("name: R{it}\ngenerate: {{ genus: Clam }}\n"))
            })
            .collect();
        let rooms = rooms.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        let found = findings_of(&rooms.chain([STASIS]).collect::<Vec<_>>());
        assert_eq!(found.matches("undefined-genus").count(), 21);
        assert_eq!(found.matches("did you mean `Claim`?").count(), 20);
    }

    #[test]
    fn a_relation_to_an_undefined_entity_names_the_one_in_other_case() {
        let relations = "relations:\n  - { type: about, to: stasis }\n  - { type: by, to: Lyell }\n  - { type: like, to: Rest }\n";
        let rest = format!("name: Rest\ngenus: Claim\n{relations}");
        assert_snapshot!(findings_of(&[STASIS, ("entities/claim/rest.yaml", &rest)]), @"
        entities/claim/rest.yaml relations 0 to: undefined-entity: there is no entity `stasis` yet (did you mean `Stasis`?)
        entities/claim/rest.yaml relations 1 to: undefined-entity: there is no entity `Lyell` yet
        ");
        let unreadable = ("entities/claim/lyell.yaml", "name: [Lyell\n");
        assert_eq!(findings_of(&[STASIS, ("entities/claim/rest.yaml", &rest), unreadable]), "");
    }
}
