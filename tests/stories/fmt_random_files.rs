//! Files in any style, converted to canonical form: the content is the same, and no
//! comment is lost.

use palazzo_core::format::{self, FmtOutcome};
use palazzo_core::model::{AttributeDef, AttributeKind, Files, Genus, RelationDef, StatusDef};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

use crate::file_round_trips::{
    entity, non_blank_text, parse_any_characters, process, read_entity, read_room,
    read_task_and_process, room, task, text,
};
use crate::random_yaml::{self, RandomYamlWriter, YamlTree};

/// Asserts that a file in any style becomes canonical at once, with the same content
/// and every comment.
fn check_formatting(
    path: &str,
    tree: &YamlTree,
    seed: u64,
    is_the_same: impl Fn(&str) -> bool,
) -> Result<(), TestCaseError> {
    let (text, marks) = RandomYamlWriter::new(seed).write_yaml(tree);
    prop_assert!(is_the_same(&text), "read otherwise:\n{}", text);
    let tidied = match format::fmt_file(path, &text) {
        Some(FmtOutcome::Formatted(tidied)) => tidied,
        Some(FmtOutcome::Unchanged) => text.clone(),
        other => return Err(TestCaseError::fail(format!("{other:?}:\n{text}"))),
    };
    prop_assert!(is_the_same(&tidied), "{}\n-- became --\n{}", text, tidied);
    prop_assert_eq!(format::fmt_file(path, &tidied), Some(FmtOutcome::Unchanged), "{}", tidied);
    for mark in marks {
        prop_assert_eq!(
            tidied.matches(&mark).count(),
            1,
            "{}: {}\n-- became --\n{}",
            mark,
            text,
            tidied
        );
    }
    Ok(())
}

fn genus() -> impl Strategy<Value = Genus> {
    let sentence =
        option::of(non_blank_text().prop_map(|it| format!("{it} {}", Genus::NAME_PLACEHOLDER)));
    let attributes = btree_map(text(), attribute(), 0..4);
    let relation = any::<bool>().prop_map(|single| RelationDef { single });
    let relations = btree_map(text(), relation, 0..4);
    let about = (non_blank_text(), option::of(text()), option::of(text()));
    (about, sentence, attributes, statuses(), relations).prop_map(
        |((name, plural, about), sentence, attributes, statuses, relations)| Genus {
            name,
            plural,
            description: about.map(|it| it.trim_end().to_owned()),
            sentence,
            attributes: attributes.into_iter().collect(),
            statuses,
            relations: relations.into_iter().collect(),
        },
    )
}

fn attribute() -> impl Strategy<Value = AttributeDef> {
    let kind = prop_oneof![
        prop::sample::select(vec![
            AttributeKind::Text,
            AttributeKind::Number,
            AttributeKind::Date,
            AttributeKind::YesNo
        ]),
        vec(text(), 1..4).prop_map(AttributeKind::OneOf),
        option::of("[A-Z][a-z]{1,9}").prop_map(AttributeKind::Link),
    ];
    (kind, any::<bool>()).prop_map(|(kind, required)| AttributeDef { kind, required })
}

/// Generates statuses, some with the statuses that may follow.
fn statuses() -> impl Strategy<Value = Vec<StatusDef>> {
    let next = option::of(vec(any::<prop::sample::Index>(), 0..3));
    btree_map(text(), next, 0..4).prop_map(|all| {
        let names: Vec<_> = all.keys().cloned().collect();
        let named = |it: &prop::sample::Index| it.get(&names).clone();
        let next = |it: Vec<_>| it.iter().map(named).collect();
        let status = |(name, it): (&String, &Option<Vec<_>>)| StatusDef {
            name: name.clone(),
            next: it.clone().map(next),
        };
        all.iter().map(status).collect()
    })
}

/// Reads the only genus, with its lists sorted by name: hand-written mappings have any
/// order.
fn read_genus(text: &str) -> Option<Genus> {
    let path = "genera/a.yaml";
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    let (palace, findings) = parse_any_characters(&files);
    assert_eq!(findings, [], "{text}");
    let mut genus = palace.graph.genus_definition_in_file(path)?.clone();
    genus.attributes.sort_by(|a, b| a.0.cmp(&b.0));
    genus.statuses.sort_by(|a, b| a.name.cmp(&b.name));
    genus.relations.sort_by(|a, b| a.0.cmp(&b.0));
    Some(genus)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn formatting_a_room_loses_nothing(it in room(), seed in any::<u64>()) {
        let is_the_same = |text: &str| read_room(text).0.as_ref() == Some(&it);
        check_formatting("rooms/hall.yaml", &random_yaml::room_tree(&it), seed, is_the_same)?;
    }

    #[test]
    fn formatting_an_entity_loses_nothing(it in entity(), seed in any::<u64>()) {
        let is_the_same = |text: &str| read_entity(text).as_ref() == Some(&it);
        check_formatting("entities/a/a.yaml", &random_yaml::entity_tree(&it), seed, is_the_same)?;
    }

    #[test]
    fn formatting_a_genus_loses_nothing(it in genus(), seed in any::<u64>()) {
        let is_the_same = |text: &str| read_genus(text).as_ref() == Some(&it);
        check_formatting("genera/a.yaml", &random_yaml::genus_tree(&it), seed, is_the_same)?;
    }

    #[test]
    fn formatting_a_task_loses_nothing(it in task(), seed in any::<u64>()) {
        let is_the_same = |text: &str| read_task_and_process("tasks/a.yaml", text).0.as_ref() == Some(&it);
        check_formatting("tasks/a.yaml", &random_yaml::task_tree(&it), seed, is_the_same)?;
    }

    #[test]
    fn formatting_a_process_loses_nothing(it in process(), seed in any::<u64>()) {
        let path = "processes/a.yaml";
        let is_the_same = |text: &str| read_task_and_process(path, text).1.as_ref() == Some(&it);
        check_formatting(path, &random_yaml::process_tree(&it), seed, is_the_same)?;
    }
}
