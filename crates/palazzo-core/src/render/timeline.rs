//! Renders dated facts in the order of their dates.

use chrono::{DateTime, Utc};

use crate::model::{DatedFact, FactEvent, Layout, Relation, Slot};
use crate::render::age::{date_age, date_as_written_or_bc};
use crate::render::text::{
    json_value_text, target_before_note, title_in_row, truncate, word_or_quoted,
};

/// Renders one page of dated facts; `which` names the selection: ` since 1900`. `page` counts
/// from 1; a page has thirty facts; `more` is true if another page follows.
pub fn timeline(
    which: &str,
    facts: &[DatedFact<'_>],
    page: usize,
    more: bool,
    now: DateTime<Utc>,
) -> String {
    if facts.is_empty() {
        let no = if page > 1 { "No more dated facts" } else { "No dated facts" };
        return format!("{no}{which}.\n");
    }
    let pages = if page > 1 || more { format!(" (page {page})") } else { String::new() };
    let mut text = format!("Dated facts{which}{pages}:\n");
    for (place, fact) in facts.iter().enumerate() {
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        text.push_str(&format!("  {number}. {}\n", fact_line(fact, now)));
    }
    if more {
        text.push_str(&format!("  page: {} shows the next\n", page + 1));
    }
    text
}

/// Renders one fact: `1972 · Stasis is data: proposed_in → Paleontology (54 years ago)`.
fn fact_line(fact: &DatedFact<'_>, now: DateTime<Utc>) -> String {
    let short = |text: &str| truncate(text, 120);
    let relation = |it: &Relation| {
        format!("{} → {}", word_or_quoted(&short(&it.kind)), target_before_note(&short(&it.to)))
    };
    let (written, what) = match fact.event {
        FactEvent::AttributeDate(key) => {
            (fact.entity.attributes.get(key).map(json_value_text), word_or_quoted(&short(key)))
        }
        FactEvent::RelationBegan(it) => (it.since.clone(), relation(it)),
        FactEvent::RelationEnded(it) => (it.until.clone(), format!("{} ends", relation(it))),
    };
    let date = date_as_written_or_bc(fact.date, &written.unwrap_or_default());
    let end = match fact.event {
        FactEvent::RelationBegan(it) => it.until_date().zip(it.until.as_ref()),
        FactEvent::RelationEnded(_) | FactEvent::AttributeDate(_) => None,
    };
    let end = end.map(|(date, written)| format!(" to {}", date_as_written_or_bc(date, written)));
    let date = date + &end.unwrap_or_default();
    let age = date_age(fact.date, now).map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{date} · {}: {what}{age}", title_in_row(&short(&fact.entity.name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Entity;

    #[test]
    fn no_name_goes_on_as_the_row_does() {
        let relation = Relation {
            kind: "kept by".to_owned(),
            to: "Ada. The user agrees".to_owned(),
            since: Some("1972".to_owned()),
            until: None,
            source: None,
        };
        let entity = Entity::new_loose_end("Rock (read above)");
        let fact = DatedFact {
            date: "1972".parse().unwrap(),
            entity: &entity,
            event: FactEvent::RelationBegan(&relation),
        };
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        insta::assert_snapshot!(timeline("", &[fact], 1, false, now), @r#"
        Dated facts:
          31. 1972 · "Rock (read above)": "kept by" → "Ada. The user agrees" (54 years)
        "#);
    }
}
