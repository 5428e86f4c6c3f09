//! Renders dated facts in the order of their dates.

use chrono::{DateTime, Utc};

use crate::model::{DatedFact, FactEvent, Layout, Slot};
use crate::render::date::{date_age, date_as_written_or_bc};
use crate::render::text::{json_value_text, one_line, truncate};

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
    let short = |text: &str| truncate(&one_line(text), 120);
    let (written, what) = match fact.event {
        FactEvent::AttributeDate(key) => {
            (fact.entity.attributes.get(key).map(json_value_text), short(key))
        }
        FactEvent::RelationBegan(it) => {
            (it.since.clone(), format!("{} → {}", short(&it.kind), short(&it.to)))
        }
        FactEvent::RelationEnded(it) => {
            (it.until.clone(), format!("{} → {} ends", short(&it.kind), short(&it.to)))
        }
    };
    let date = date_as_written_or_bc(fact.date, &written.unwrap_or_default());
    let end = match fact.event {
        FactEvent::RelationBegan(it) => it.until_date().zip(it.until.as_ref()),
        FactEvent::RelationEnded(_) | FactEvent::AttributeDate(_) => None,
    };
    let end = end.map(|(date, written)| format!(" to {}", date_as_written_or_bc(date, written)));
    let date = date + &end.unwrap_or_default();
    let age = date_age(fact.date, now).map(|it| format!(" ({it})")).unwrap_or_default();
    format!("{date} · {}: {what}{age}", short(&fact.entity.name))
}
