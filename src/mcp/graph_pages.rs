//! Renders the answers of the graph tools.

use chrono::{DateTime, Utc};

use palazzo_core::model::{Audience, Reader, quoted};
use palazzo_core::render::{self, join_names};
use palazzo_keeper::{
    EntityCreationOutcome, EntityDeletionOutcome, EntityPage, EntityUpdateOutcome, ExtendedEntity,
    RelationPage, TimelinePage, WorkspaceDescription,
};

/// The maximum number of listed conflicts of a merge.
const MAX_LISTED_CONFLICTS: usize = 10;

/// The maximum number of new entities that are listed by name: the others of a call are named.
const MAX_LISTED_NEW: usize = 10;

pub(super) fn render_workspace(it: &WorkspaceDescription, now: DateTime<Utc>) -> String {
    let reader = Reader { audience: Audience::Agent, now };
    let notice = it.as_of.as_ref().map(|commit| render::as_of_notice(&it.name, commit, now));
    notice.unwrap_or_default() + &render::workspace_summary(&it.name, &it.summary, reader)
}

pub(super) fn render_entity_list(it: &EntityPage<'_>) -> String {
    let (lines, place) = (&it.matching_lines, (it.page, it.total));
    let mut text = render::entity_list(&it.filters, &it.entities, lines, &it.facts, place);
    text.extend(it.ranker.iter().map(|it| format!("{it}.\n")));
    text + &it.suggestions
}

pub(super) fn render_relations(it: &RelationPage<'_>, now: DateTime<Utc>) -> String {
    let name = render::mark_imitations(&render::name_in_sentence(&it.name));
    let as_of = it.as_of.map(|date| format!(" as of {date}")).unwrap_or_default();
    let skipped = render::skipped_relations_note(it.undated);
    if it.total == 0 {
        return format!("{name} has no such relations{as_of}.{}\n{skipped}", it.kinds_hint);
    }
    let count = render::count_with_noun(it.total, "relation");
    if it.outgoing.is_empty() && it.incoming.is_empty() {
        return format!("{name}, {count}{as_of}: there is no such page.\n{skipped}");
    }
    let relations = render::relations(&it.outgoing, &it.incoming, now);
    let more = it.next_page.map(|page| format!("  page: {page} shows the next\n"));
    format!("{name}, {count}{as_of}\nRelations:\n{relations}{}{skipped}", more.unwrap_or_default())
}

pub(super) fn render_timeline(it: &TimelinePage<'_>, now: DateTime<Utc>) -> String {
    let text = render::timeline(&it.filters, &it.facts, it.page, it.has_more, now);
    text + &it.empty_genus + &render::skipped_relations_note(it.skipped)
}

pub(super) fn describe_created_entities(it: &EntityCreationOutcome) -> String {
    let mut text = match it.created.len() {
        0 => String::new(),
        count if count > MAX_LISTED_NEW => {
            format!("Created {}.\n", render::count_with_noun(count, "entity"))
        }
        _ => format!("Created {}.\n", join_names(&it.created)),
    };
    for ExtendedEntity { name, change } in &it.extended {
        let change = render::counted_change_summary(change);
        let name = render::name_in_sentence(name);
        text.push_str(&format!("Changed {name}: {change}.\n"));
    }
    if !it.unchanged.is_empty() {
        text.push_str(&format!("Nothing to add to {}.\n", join_all_names(&it.unchanged)));
    }
    text.push_str(&format!("{}{}", render_notes(&it.notes), it.faults));
    if !it.unshown_genera.is_empty() {
        let genera = join_all_names(&it.unshown_genera);
        text.push_str(&format!("Note: no action or `generate` of a room shows {genera}.\n"));
    }
    text
}

pub(super) fn describe_updated_entity(it: &EntityUpdateOutcome) -> String {
    let mut text = match it.is_changed {
        true => format!("{}.\n", it.summary),
        false => {
            let name = render::mark_imitations(&render::name_in_sentence(&it.name));
            format!("{name} is already in that state: nothing changed.\n")
        }
    };
    let listed = it.conflicts.len().min(MAX_LISTED_CONFLICTS);
    text.push_str(&render_notes(&it.conflicts[..listed]));
    if it.conflicts.len() > listed {
        text.push_str(&format!("And {} more.\n", it.conflicts.len() - listed));
    }
    text + &render_notes(&it.notes) + &it.faults
}

pub(super) fn describe_deleted_entities(it: &EntityDeletionOutcome) -> String {
    let deleted = &it.deleted;
    let relations = render::count_with_noun(deleted.relations, "relation");
    let mut text = match deleted.entities.len() {
        0 => format!("Deleted {relations}"),
        _ if deleted.relations == 0 => format!("Deleted {}", join_names(&deleted.entities)),
        _ => format!(
            "Deleted {}, with {relations} from other entities",
            join_names(&deleted.entities)
        ),
    };
    if !it.references.is_empty() {
        text.push_str(&format!("; still named by {}", it.references.join(", ")));
    }
    if !deleted.missing.is_empty() {
        let missing = deleted.missing.iter().zip(&it.meant);
        let missing: Vec<_> =
            missing.map(|(it, meant)| missing_name(it, meant.as_deref())).collect();
        text.push_str(&format!(
            "; no entity is called {}",
            render::join_items(&missing, str::to_owned)
        ));
    }
    text + ".\n"
}

/// Renders a name that no entity has, with the one that may be meant.
fn missing_name(name: &str, meant: Option<&str>) -> String {
    let name = render::name_in_sentence(&render::truncate(name, 60));
    let hint = meant.map(|it| format!(" (did you mean {}?)", quoted(it)));
    name + &hint.unwrap_or_default()
}

fn join_all_names(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|it| render::name_in_sentence(it)).collect();
    names.join(", ")
}

/// Renders notes, one per line.
fn render_notes(notes: &[String]) -> String {
    notes.iter().fold(String::new(), |page, it| page + &format!("Note: {it}.\n"))
}
