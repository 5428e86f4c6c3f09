//! Halls generated from the graph: their contents, and the division of large ones into smaller
//! halls (v2 sections 4.1 and 4.2).
//!
//! A hall is a section of a grouping, between two boundaries. It is divided in the order of the
//! grouping: by genus, status or date while that keeps every entity within a few choices, else into
//! ranges of names. Nothing is stored: each visit shows the current state of the graph.

mod partition;

use crate::halls::partition::MAX_LISTED;
use std::ops::Range;
use std::sync::Arc;

use crate::model::{GroupedEntities, Grouping, Hall, HallBoundary, Layout};

use partition::{first_differing_heading, partition};

/// Maximum number of choices from a room to the hall that lists an entity, if possible; one more
/// choice opens the entity.
const MAX_CHOICES: usize = 4;

/// The contents of a hall, or of a room that shows one.
#[derive(Clone, Debug, PartialEq)]
pub struct HallContents {
    /// The number of entities.
    pub total: usize,
    /// Their names in order, if they are few.
    pub entity_names: Vec<Arc<str>>,
    /// The smaller halls, if they are many.
    pub sub_halls: Vec<SubHall>,
}

/// A choice that leads into a part of a hall.
#[derive(Clone, Debug, PartialEq)]
pub struct SubHall {
    /// The label of the part within the hall: `contested`, `A to Bel`.
    pub label: String,
    /// The number of entities.
    pub total: usize,
    /// The part itself.
    pub hall: Hall,
}

/// The number of choices that can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceCapacity {
    /// On the current page; at least two.
    pub this_page: usize,
    /// On the pages of halls.
    pub hall_page: usize,
}

/// Returns the names of the entities in a hall and in the halls below it, at most `limit`. `grouped`
/// must be its grouping.
pub fn entity_names_in_hall(grouped: &GroupedEntities, hall: &Hall, limit: usize) -> Vec<Arc<str>> {
    let all = grouped.range_between(hall.from.as_ref(), hall.until.as_ref()).take(limit);
    all.filter_map(|it| grouped.entity_at(it)).map(|it| it.name.clone()).collect()
}

/// Returns the contents of a hall. `grouped` must be its grouping.
pub fn hall_contents(
    grouped: &GroupedEntities,
    hall: &Hall,
    slots: ChoiceCapacity,
) -> HallContents {
    let all = grouped.range_between(hall.from.as_ref(), hall.until.as_ref());
    let total = all.len();
    let steps = slots.choices_needed(total).max(MAX_CHOICES.saturating_sub(hall.depth));
    // The first hall always shows the genera, even if the entities are few.
    let is_entrance = hall.grouping == Grouping::Everything && hall.depth == 0;
    if steps == 0
        || total <= MAX_LISTED
            && !(is_entrance && first_differing_heading(grouped, &all) == Some(0))
    {
        let entities = all.filter_map(|index| grouped.entity_at(index));
        let listed = entities.map(|it| it.name.clone()).collect();
        return HallContents { total, entity_names: listed, sub_halls: Vec::new() };
    }
    let parts =
        partition(grouped, &all, slots.this_page, slots.max_entities_within_choices(steps - 1));
    let sub_hall = |part: &Range<usize>| {
        let (label, title) =
            partition::label_and_title(grouped, &hall.grouping, &all, part).unwrap_or_default();
        let from = if part.start == all.start {
            hall.from.clone()
        } else {
            boundary_before(grouped, part.start)
        };
        let until = if part.end == all.end {
            hall.until.clone()
        } else {
            boundary_before(grouped, part.end)
        };
        let (grouping, depth) = (hall.grouping.clone(), hall.depth + 1);
        SubHall { label, total: part.len(), hall: Hall { grouping, from, until, depth, title } }
    };
    HallContents {
        total,
        entity_names: Vec::new(),
        sub_halls: parts.iter().map(sub_hall).collect(),
    }
}

impl ChoiceCapacity {
    /// Returns the number of entities that `choices` choices in halls can distinguish, if the last
    /// hall lists as many as there are numbers.
    fn max_entities_within_choices(self, choices: usize) -> usize {
        let choices = u32::try_from(choices).unwrap_or(u32::MAX);
        self.hall_page.saturating_pow(choices).saturating_mul(Layout::MAX_RESULTS)
    }

    /// Returns the minimum number of choices, including this one, that can distinguish `total`
    /// entities.
    fn choices_needed(self, total: usize) -> usize {
        if total <= Layout::MAX_RESULTS {
            return 0;
        }
        let suffices = |steps: &usize| {
            self.this_page.saturating_mul(self.max_entities_within_choices(steps - 1)) >= total
        };
        (1..).take(64).find(suffices).unwrap_or(64)
    }
}

/// Returns the shortest boundary between the entity at `index` and the one before.
fn boundary_before(grouped: &GroupedEntities, index: usize) -> Option<HallBoundary> {
    let (last, first) = (grouped.entity_at(index.checked_sub(1)?)?, grouped.entity_at(index)?);
    let headings = &first.headings;
    let apart = headings.iter().zip(last.headings.iter()).position(|(a, b)| a != b);
    Some(match apart {
        Some(level) => {
            HallBoundary { headings: headings[..=level].to_vec(), name_prefix: String::new() }
        }
        None => HallBoundary {
            headings: headings.to_vec(),
            name_prefix: partition::distinguishing_prefix(&first.name, &last.name),
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use insta::assert_snapshot;
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;
    use crate::model::{Entity, Graph, GroupBy};

    /// The capacities of a page of the wide and of the classic layout.
    const WIDE_CAPACITY: ChoiceCapacity = ChoiceCapacity { this_page: 12, hall_page: 12 };
    const CLASSIC_CAPACITY: ChoiceCapacity = ChoiceCapacity { this_page: 7, hall_page: 7 };

    fn entity(genus: &str, name: &str) -> Entity {
        Entity {
            id: None,
            name: name.to_owned(),
            is_defined: true,
            genus: genus.to_owned(),
            status: None,
            attributes: Map::new(),
            observations: Vec::new(),
            relations: Vec::new(),
            former_names: Vec::new(),
        }
    }

    fn claim(name: &str, status: &str) -> Entity {
        Entity { status: Some(status.to_owned()), ..entity("Claim", name) }
    }

    fn graph(entities: impl IntoIterator<Item = Entity>) -> Graph {
        let mut graph = Graph::default();
        for (number, entity) in entities.into_iter().enumerate() {
            graph.set_file_entity(&format!("entities/{number}.yaml"), Some(entity)).unwrap();
        }
        graph
    }

    fn claims_by(by: GroupBy) -> Grouping {
        Grouping::Genus { genus: "Claim".to_owned(), by }
    }

    /// Visits every hall below one, and returns the names listed there.
    fn list_below(
        grouped: &GroupedEntities,
        hall: &Hall,
        slots: ChoiceCapacity,
        steps: usize,
    ) -> Vec<Arc<str>> {
        let found = hall_contents(grouped, hall, slots);
        assert!(hall.depth <= steps, "{} is {} choices away", hall.title, hall.depth);
        assert!(
            found.entity_names.len() <= Layout::MAX_RESULTS
                && found.sub_halls.len() <= slots.this_page
        );
        assert!(found.entity_names.is_empty() || found.sub_halls.is_empty());
        let labels: BTreeSet<_> = found.sub_halls.iter().map(|it| &it.label).collect();
        // Names that differ only after hundreds of letters may have the same label.
        let are_cut = labels.iter().any(|it| it.contains('…'));
        assert!(labels.len() == found.sub_halls.len() || are_cut, "{}: {labels:?}", hall.title);
        let mut listed = found.entity_names;
        for SubHall { label, total, hall } in found.sub_halls {
            assert!(total > 0 && label.chars().count() < 140, "{label} ({total})");
            assert_eq!(grouped.range_between(hall.from.as_ref(), hall.until.as_ref()).len(), total);
            listed.extend(list_below(
                grouped,
                &hall,
                ChoiceCapacity { this_page: slots.hall_page, ..slots },
                steps,
            ));
        }
        assert_eq!(listed.len(), found.total, "{}", hall.title);
        listed
    }

    /// Asserts that every entity of a grouping is listed once, at most four choices away.
    #[track_caller]
    fn assert_all_within_four_choices(graph: &Graph, grouping: Grouping, slots: ChoiceCapacity) {
        let grouped = graph.grouped_entities(&grouping);
        let total = graph.iter().filter(|it| grouping.includes_genus(&it.genus)).count();
        let listed = list_below(&grouped, &Hall::for_grouping(grouping), slots, MAX_CHOICES);
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), total);
    }

    /// Renders the contents of a hall, of the first hall below it, and so on.
    fn rendered_halls(graph: &Graph, grouping: Grouping, which: &[usize]) -> String {
        let grouped = graph.grouped_entities(&grouping);
        let (mut hall, mut page) = (Hall::for_grouping(grouping), String::new());
        let mut which = which.iter();
        loop {
            let found = hall_contents(&grouped, &hall, WIDE_CAPACITY);
            page.push_str(&format!("── {} ({}) ──\n", hall.title, found.total));
            page.extend(found.entity_names.iter().map(|it| format!("  {it}\n")));
            page.extend(
                found.sub_halls.iter().map(|it| format!("  {} ({})\n", it.label, it.total)),
            );
            let Some(next) = which.next() else { return page };
            hall = found.sub_halls[*next].hall.clone();
        }
    }

    #[test]
    fn a_genus_is_split_by_status_and_then_by_name() {
        let statuses = ["open", "contested", "settled"];
        let words = ["basalt", "chalk", "Dolomite", "gneiss", "granite", "loess", "marble"];
        let graph = graph((0..700).map(|it| {
            let status = statuses[usize::from(it % 5 > 0) + usize::from(it % 10 == 7)];
            claim(&format!("{} {}", words[it % 7], it / 7), status)
        }));
        assert_snapshot!(rendered_halls(&graph, claims_by(GroupBy::Status), &[0, 2]), @"
        ── Claim (700) ──
          contested (490)
          open (140)
          settled (70)
        ── Claim · contested (490) ──
          basalt 12 to basalt 59 (38)
          basalt 6 to chalk 19 (41)
          chalk 20 to chalk 79 (46)
          chalk 80 to Dolomite 38 (40)
          Dolomite 40 to Dolomite 98 (45)
          gneiss 0 to gneiss 49 (31)
          gneiss 5 to gneiss 99 (39)
          granite 0 to granite 67 (48)
          granite 7 to loess 29 (38)
          loess 3 to loess 79 (38)
          loess 8 to marble 49 (47)
          marble 5 to marble 99 (39)
        ── Claim · contested · chalk 20 to chalk 79 (46) ──
          chalk 20 to chalk 39 (15)
          chalk 4 to chalk 59 (16)
          chalk 6 to chalk 79 (15)
        ");
    }

    #[test]
    fn small_adjacent_groups_share_a_door_if_there_are_too_many() {
        let graph = graph((0..400).map(|it| {
            let genus = if it < 300 { 9 } else { it % 20 };
            entity(&format!("Genus {genus:02}"), &format!("Entity {it}"))
        }));
        assert_snapshot!(rendered_halls(&graph, Grouping::Everything, &[0]), @"
        ── All that is known (400) ──
          Genus 00 to Genus 01 (10)
          Genus 02 to Genus 03 (10)
          Genus 04 to Genus 05 (10)
          Genus 06 to Genus 07 (10)
          Genus 08 (5)
          Genus 09 (305)
          Genus 10 to Genus 11 (10)
          Genus 12 to Genus 13 (10)
          Genus 14 to Genus 15 (10)
          Genus 16 to Genus 17 (10)
          Genus 18 (5)
          Genus 19 (5)
        ── Genus 00 to Genus 01 (10) ──
          Entity 300
          Entity 320
          Entity 340
          Entity 360
          Entity 380
          Entity 301
          Entity 321
          Entity 341
          Entity 361
          Entity 381
        ");
    }

    #[test]
    fn dates_are_split_into_years_then_months_then_days() {
        let graph = graph((0..1_000_u64).map(|it| {
            let moment = 1_750_000_000_000 + it * it * 60_000;
            let id = (it % 100 > 0).then(|| ulid::Ulid::from_parts(moment, it.into()));
            Entity { id, ..claim(&format!("Claim {it}"), "open") }
        }));
        assert_snapshot!(rendered_halls(&graph, claims_by(GroupBy::Date), &[0, 0, 0]), @"
        ── Claim (1000) ──
          2025 (530)
          2026 (362)
          2027 (98)
          without a date (10)
        ── Claim · 2025 (530) ──
          2025-06 (147)
          2025-07 (109)
          2025-08 (74)
          2025-09 (60)
          2025-10 (52)
          2025-11 (46)
          2025-12 (42)
        ── Claim · 2025-06 (147) ──
          2025-06-15 (23)
          2025-06-16 (21)
          2025-06-17 (14)
          2025-06-18 (11)
          2025-06-19 (10)
          2025-06-20 (8)
          2025-06-21 (8)
          2025-06-22 to 2025-06-23 (13)
          2025-06-24 (7)
          2025-06-25 to 2025-06-26 (11)
          2025-06-27 (6)
          2025-06-28 to 2025-06-30 (15)
        ── Claim · 2025-06-15 (23) ──
          Claim 1 to Claim 19 (11)
          Claim 2 to Claim 9 (12)
        ");
    }

    #[test]
    fn entities_are_split_by_the_values_of_an_attribute() {
        let graph = graph((0..90).map(|it| {
            let mut entity = claim(&format!("Claim {it}"), "open");
            let confidence = [json!("high"), json!("low"), json!(0.5)];
            if let Some(value) = confidence.get(it % 4) {
                entity.attributes.insert("confidence".to_owned(), value.clone());
            }
            entity
        }));
        let by = GroupBy::Attribute("confidence".to_owned());
        assert_snapshot!(rendered_halls(&graph, claims_by(by), &[3]), @"
        ── Claim (90) ──
          confidence: 0.5 (22)
          confidence: high (23)
          confidence: low (23)
          without confidence (22)
        ── Claim · without confidence (22) ──
          Claim 11 to Claim 47 (11)
          Claim 51 to Claim 87 (11)
        ");
    }

    #[test]
    fn numeric_attributes_are_split_by_value() {
        let graph = graph((0..120).map(|it| {
            let mut entity = claim(&format!("Claim {it}"), "open");
            if it % 8 > 0 {
                entity.attributes.insert("height".to_owned(), json!(it * 37 % 300));
            }
            entity
        }));
        let by = GroupBy::Attribute("height".to_owned());
        assert_snapshot!(rendered_halls(&graph, claims_by(by), &[]), @"
        ── Claim (120) ──
          height: 1 to 38 (16)
          height: 42 to 79 (16)
          height: 83 to 100 (8)
          height: 103 to 120 (8)
          height: 124 to 140 (8)
          height: 141 to 161 (8)
          height: 165 to 178 (8)
          height: 181 to 202 (8)
          height: 203 to 218 (8)
          height: 219 to 243 (8)
          height: 247 to 297 (9)
          without height (15)
        ");
    }

    #[test]
    fn date_attributes_are_split_by_value() {
        let graph = graph((0..120).map(|it| {
            let mut entity = claim(&format!("Claim {it}"), "open");
            let born = match it * 7 % 120 - 60 {
                year @ ..0 => format!("{} BC", -year),
                year => format!("{:04}-05-01", year + 1),
            };
            entity.attributes.insert("born".to_owned(), json!(born));
            entity
        }));
        let by = GroupBy::Attribute("born".to_owned());
        assert_snapshot!(rendered_halls(&graph, claims_by(by), &[]), @"
        ── Claim (120) ──
          born: 60 BC to 45 BC (16)
          born: 44 BC to 29 BC (16)
          born: 28 BC to 13 BC (16)
          born: 12 BC to 5 BC (8)
          born: 4 BC to 0004-05-01 (8)
          born: 0005-05-01 to 0012-05-01 (8)
          born: 0013-05-01 to 0020-05-01 (8)
          born: 0021-05-01 to 0028-05-01 (8)
          born: 0029-05-01 to 0036-05-01 (8)
          born: 0037-05-01 to 0044-05-01 (8)
          born: 0045-05-01 to 0052-05-01 (8)
          born: 0053-05-01 to 0060-05-01 (8)
        ");
    }

    #[test]
    fn a_common_name_prefix_is_left_out_of_the_labels() {
        let graph = graph((0..200).map(|it| claim(&format!("Specimen no. {it:05}"), "open")));
        assert_snapshot!(rendered_halls(&graph, claims_by(GroupBy::Name), &[3]), @"
        ── Claim (200) ──
          …00000 to …00019 (20)
          …00020 to …00039 (20)
          …00040 to …00059 (20)
          …00060 to …00079 (20)
          …00080 to …00099 (20)
          …00100 to …00119 (20)
          …00120 to …00139 (20)
          …00140 to …00159 (20)
          …00160 to …00179 (20)
          …00180 to …00199 (20)
        ── Claim · …00060 to …00079 (20) ──
          Specimen no. 00060
          Specimen no. 00061
          Specimen no. 00062
          Specimen no. 00063
          Specimen no. 00064
          Specimen no. 00065
          Specimen no. 00066
          Specimen no. 00067
          Specimen no. 00068
          Specimen no. 00069
          Specimen no. 00070
          Specimen no. 00071
          Specimen no. 00072
          Specimen no. 00073
          Specimen no. 00074
          Specimen no. 00075
          Specimen no. 00076
          Specimen no. 00077
          Specimen no. 00078
          Specimen no. 00079
        ");
    }

    #[test]
    fn a_hall_shows_the_current_graph() {
        let names =
            (0..100).map(|it| claim(&format!("{}{it}", char::from(b'a' + it % 26)), "open"));
        let mut graph = graph(names);
        let grouping = claims_by(GroupBy::Name);
        graph.cache_grouping(&grouping);
        let whole = hall_contents(
            &graph.grouped_entities(&grouping),
            &Hall::for_grouping(grouping.clone()),
            WIDE_CAPACITY,
        );
        let hall = whole.sub_halls[0].hall.clone();
        let count = |graph: &Graph| {
            hall_contents(&graph.grouped_entities(&grouping), &hall, WIDE_CAPACITY).total
        };
        let before = count(&graph);
        for (file, name) in [("new", "Aardvark"), ("other", "Zebra")] {
            graph
                .set_file_entity(&format!("entities/{file}.yaml"), Some(claim(name, "open")))
                .unwrap();
        }
        assert_eq!(count(&graph), before + 1);
        for number in 0..100 {
            graph.set_file_entity(&format!("entities/{number}.yaml"), None).unwrap();
        }
        graph.set_file_entity("entities/new.yaml", Some(claim("Mole", "open"))).unwrap();
        assert_eq!(count(&graph), 0);
        assert_eq!(rendered_halls(&graph, grouping, &[]), "── Claim (2) ──\n  Mole\n  Zebra\n");
    }

    /// Names that are hard to divide evenly: equal beginnings, each a prefix of the next, very many
    /// genera, one genus of nearly all, nearly all of one status.
    const HARD_TO_SPLIT: [fn(usize) -> Entity; 5] = [
        |it| entity("Claim", &format!("The very same beginning {it}")),
        |it| entity("Claim", &format!("{}{it}", "a".repeat(it % 30))),
        |it| entity(&format!("Genus {}", it % 200), &format!("Entity {it}")),
        |it| {
            let genus = if it % 500 > 0 { 100 } else { it / 500 };
            entity(&format!("Genus {genus:03}"), &format!("{:x}", it * 7_919))
        },
        |it| {
            let rare = usize::from(it % 50 == 0) + usize::from(it % 1_000 == 0);
            claim(&format!("Claim {it}"), ["settled", "open", "contested"][rare])
        },
    ];

    #[test]
    fn four_choices_reach_as_many_entities_as_the_slots_allow() {
        for (here, below) in [(2, 4), (3, 3), (4, 3)] {
            let slots = ChoiceCapacity { this_page: here, hall_page: below };
            let most = here * slots.max_entities_within_choices(MAX_CHOICES - 1);
            assert_eq!(
                (slots.choices_needed(most), slots.choices_needed(most + 1)),
                (MAX_CHOICES, MAX_CHOICES + 1)
            );
            for named in HARD_TO_SPLIT {
                assert_all_within_four_choices(
                    &graph((0..most).map(named)),
                    Grouping::Everything,
                    slots,
                );
            }
        }
        let reach = |slots: ChoiceCapacity| {
            slots.this_page * slots.max_entities_within_choices(MAX_CHOICES - 1)
        };
        assert_eq!([reach(WIDE_CAPACITY), reach(CLASSIC_CAPACITY)], [622_080, 72_030]);
        // Even if the author left only two numbers free.
        assert_eq!(reach(ChoiceCapacity { this_page: 2, hall_page: 12 }), 103_680);
    }

    #[test]
    fn a_hundred_thousand_entities_are_within_four_choices() {
        let graph = graph((0..100_000).map(HARD_TO_SPLIT[3]));
        assert_all_within_four_choices(&graph, Grouping::Everything, WIDE_CAPACITY);
    }

    /// Names and headings as users and programs write them: few or many of them similar.
    fn word() -> impl Strategy<Value = String> {
        prop_oneof![
            "[abAB]{0,6}",
            "[a-zA-Z]{1,12}",
            "[0-9a-f]{8}",
            "(the )?[a-c ]{1,9}",
            any::<String>()
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn every_entity_is_listed_exactly_once(
            genera in proptest::collection::vec(word(), 1..40),
            statuses in proptest::collection::vec(proptest::option::of(word()), 1..40),
            names in proptest::collection::btree_set(word(), 1..3_000),
            by in prop_oneof![Just(GroupBy::Status), Just(GroupBy::Name), Just(GroupBy::Date), Just(GroupBy::Attribute("k".into()))],
            here in 2..=12_usize,
        ) {
            let graph = graph(names.iter().enumerate().map(|(it, name)| Entity {
                id: (it % 3 > 0).then(|| ulid::Ulid::from_parts((it as u64) << 27, 0)),
                status: statuses[it * it % statuses.len()].clone(),
                attributes: std::iter::once(("k".to_owned(), json!(statuses[it % statuses.len()]))).collect(),
                ..entity(&genera[it * it % 17 % genera.len()], name)
            }));
            let slots = ChoiceCapacity { this_page: here, hall_page: 12 };
            assert_all_within_four_choices(&graph, Grouping::Everything, slots);
            assert_all_within_four_choices(&graph, Grouping::Genus { genus: genera[0].clone(), by }, slots);
        }
    }
}
