//! Redacts secrets in the data of a palace of MemPalace.

use std::collections::BTreeSet;

use crate::import::redactions::Redactions;
use palazzo_core::exchange::{ImportedFact, MempalaceData};
use palazzo_core::model::Relation;

/// Returns the name of a row of an entity, for reports.
pub(crate) fn entity_row(name: &str) -> String {
    format!("entities {name}")
}

/// Returns the name of a row of a fact, for reports.
pub(crate) fn fact_row(id: &str) -> String {
    format!("triples {id}")
}

/// Redacts all texts and names; returns the names of drawers and diaries.
pub(crate) fn redact_data(
    redactions: &mut Redactions,
    data: &mut MempalaceData,
) -> BTreeSet<String> {
    let mut all_names = BTreeSet::new();
    let mut redact = |texts: &mut dyn Iterator<Item = &mut String>, row: &str| {
        for text in texts {
            *text = redactions.redact(text, row, |line| format!("line {}", line + 1));
        }
    };
    for it in &mut data.drawers {
        let names = it.source.iter_mut().chain(&mut it.by).chain([&mut it.wing, &mut it.room]);
        redact(&mut names.chain([&mut it.text]), &it.row);
        all_names.extend(it.source.iter().chain(&it.by).chain([&it.wing, &it.room]).cloned());
    }
    for it in &mut data.diary_entries {
        redact(&mut it.topic.iter_mut().chain([&mut it.agent, &mut it.text]), &it.row);
        all_names.extend(it.topic.iter().chain([&it.agent]).cloned());
    }
    for ImportedFact { subject, relation, id } in &mut data.facts {
        let Relation { kind, to, since, until, source } = relation;
        let names = [subject, kind, to].into_iter();
        redact(&mut names.chain(since).chain(until).chain(source), &fact_row(id));
    }
    for it in &mut data.entities {
        let row = entity_row(&it.name);
        redact(&mut [&mut it.name, &mut it.genus].into_iter(), &row);
    }
    for it in &mut data.entities {
        let attributes = std::mem::take(&mut it.attributes);
        it.attributes =
            redactions.redact_json_object(&attributes, &entity_row(&it.name), "attributes");
    }
    all_names
}
