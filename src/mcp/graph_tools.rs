//! The tools of the knowledge graph, and their answers.

use chrono::{DateTime, Utc};

use crate::mcp::arguments::{
    CreateEntities, DeleteGraphEntities, DescribeWorkspace, GetEntity, GetRelationships,
    GetTimeline, ListEntities, ListGenera, PageNumber, SearchEntities, UpdateEntity,
};
use crate::mcp::reply::{ToolResult, to_tool_result};
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{Audience, Entity, Reader, quoted};
use palazzo_core::render;
use palazzo_core::render::join_names;
use palazzo_keeper::{
    self as keeper, Caller, EntityChange, EntityCreationOutcome, EntityDeletionOutcome, EntityPage,
    EntityQuery, EntityUpdateOutcome, ExtendedEntity, Keeper, RelationPage, RelationQuery,
    TimelinePage, TimelineQuery, WorkspaceDescription,
};

/// How many entities `get_entity` shows in one answer.
const MAX_SHOWN_ENTITIES: usize = 50;

pub(super) fn graph_tools() -> [RegisteredTool; 10] {
    [
        describe_workspace(),
        list_genera(),
        list_entities(),
        search_entities(),
        get_entity(),
        get_relationships(),
        get_timeline(),
        create_entities(),
        update_entity(),
        delete_entities(),
    ]
}

fn describe_workspace() -> RegisteredTool {
    let about = (
        "Describe the workspace",
        "Summarize the workspace: rooms, scrolls, genera with counts, latest changes.",
    );
    let run = |tools: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DescribeWorkspace| {
        if it.findings == Some(true) {
            let findings = keeper::list_findings(keeper, caller, &tools.action_tools());
            return to_tool_result(findings.map(|it| render::palace_findings(&it)));
        }
        let description =
            keeper.session(caller).and_then(|session| keeper::describe_workspace(&session));
        to_tool_result(description.map(|it| render_workspace(&it, caller.now)))
    };
    RegisteredTool::new(ToolSet::Graph, "describe_workspace", about, EffectHint::Reads, run)
}

fn list_genera() -> RegisteredTool {
    let about = (
        "List genera",
        "List the genera (kinds of entities), with counts by status; or show the rules of one.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: ListGenera| {
        to_tool_result(keeper.session(caller).and_then(|session| match &it.genus {
            Some(name) => {
                let genus = keeper::describe_genus(&session, name)?;
                Ok(render::genus(genus.definition, &genus.count))
            }
            None => {
                let genera = keeper::list_genera(&session);
                Ok(render::genus_list(&genera.counts, &genera.defined))
            }
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "list_genera", about, EffectHint::Reads, run)
}

fn list_entities() -> RegisteredTool {
    let about = (
        "List entities",
        "List entities by name, 30 per page: name, genus, status. palace_action with the number \
         before a name opens it.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: ListEntities| {
        let (genus, status, page) = (it.genus, it.status, page_or_first(it.page));
        let attributes = it.attributes.unwrap_or_default();
        let query = EntityQuery { genus, status, attributes, query: None, page };
        list_matching_entities(keeper, caller, &query)
    };
    RegisteredTool::new(ToolSet::Graph, "list_entities", about, EffectHint::Reads, run)
}

fn search_entities() -> RegisteredTool {
    let about = (
        "Search entities",
        "Search entities by words, best match first, 30 per page: name, genus, status, and the \
         line that matched.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: SearchEntities| {
        if it.query.trim().is_empty() {
            return Err("give words in `query`; list_entities lists entities without words".into());
        }
        let (genus, status, page) = (it.genus, it.status, page_or_first(it.page));
        let (attributes, query) = (it.attributes.unwrap_or_default(), Some(it.query));
        let query = EntityQuery { genus, status, attributes, query, page };
        list_matching_entities(keeper, caller, &query)
    };
    RegisteredTool::new(ToolSet::Graph, "search_entities", about, EffectHint::Reads, run)
}

fn get_entity() -> RegisteredTool {
    let about = (
        "Get an entity",
        "Show entities: attributes, observations, relations from and to them, ages.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: GetEntity| {
        let names: Vec<_> = it.name.into_iter().chain(it.names.into_iter().flatten()).collect();
        show_entities(keeper, caller, &names, page_or_first(it.page))
    };
    RegisteredTool::new(ToolSet::Graph, "get_entity", about, EffectHint::Reads, run)
}

/// Shows one page of an entity, or several ones whole. Among several, an unknown one is named and does not stop the others.
fn show_entities(
    keeper: &mut Keeper,
    caller: &Caller,
    names: &[String],
    page: usize,
) -> ToolResult {
    if names.is_empty() || names.len() > MAX_SHOWN_ENTITIES {
        return Err(format!("give a `name`, or 1 to {MAX_SHOWN_ENTITIES} `names`"));
    }
    let mut session = keeper.session(caller).map_err(|it| it.to_string())?;
    let (mut pages, mut refusals) = (Vec::new(), Vec::new());
    for name in names {
        let shown = match (names, page) {
            ([_, _, ..], 1) => keeper::show_compact_entity(&mut session, name),
            _ => keeper::show_entity(&mut session, name, page),
        };
        match shown {
            Ok(text) => pages.push(text),
            Err(refusal) => refusals.push(refusal.to_string()),
        }
    }
    if pages.is_empty() {
        return Err(refusals.join("\n"));
    }
    pages.extend(refusals.into_iter().map(|it| format!("Note: {it}.\n")));
    Ok(pages.join("\n").into())
}

fn get_relationships() -> RegisteredTool {
    let about = (
        "Get relationships",
        "List the relations of one entity to others, with dates and sources.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: GetRelationships| {
        to_tool_result(keeper.session(caller).and_then(|session| {
            let page = keeper::get_relationships(&session, &RelationQuery::from(it))?;
            Ok(render_relations(&page, caller.now))
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "get_relationships", about, EffectHint::Reads, run)
}

fn get_timeline() -> RegisteredTool {
    let about = (
        "Get the timeline",
        "List dated facts, oldest first, 30 per page: starts and ends of relations, attributes \
         that are dates.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: GetTimeline| {
        to_tool_result(keeper.session(caller).and_then(|mut session| {
            let timeline = keeper::get_timeline(&mut session, &TimelineQuery::from(it))?;
            Ok(render_timeline(&timeline, caller.now))
        }))
    };
    RegisteredTool::new(ToolSet::Graph, "get_timeline", about, EffectHint::Reads, run)
}

fn create_entities() -> RegisteredTool {
    let about = ("Create entities", "Create entities, and add to those that exist what they lack.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: CreateEntities| {
        let new = it.entities.into_iter().map(Entity::from).collect();
        let created = keeper::create_entities(keeper, caller, new);
        to_tool_result(created.map(|it| describe_created_entities(&it)))
    };
    RegisteredTool::new(ToolSet::Graph, "create_entities", about, EffectHint::AddsOnce, run)
}

fn update_entity() -> RegisteredTool {
    let about = ("Update an entity", "Change one entity. What is not given stays unchanged.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: UpdateEntity| {
        let update = keeper::update_entity(keeper, caller, &EntityChange::from(it));
        to_tool_result(update.map(|it| describe_updated_entity(&it)))
    };
    RegisteredTool::new(ToolSet::Graph, "update_entity", about, EffectHint::Replaces, run)
}

fn delete_entities() -> RegisteredTool {
    let about = ("Delete entities", "Delete entities, and every relation from or to them.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DeleteGraphEntities| {
        let deletion = keeper::delete_entities(keeper, caller, &it.names);
        to_tool_result(deletion.map(|it| describe_deleted_entities(&it)))
    };
    RegisteredTool::new(ToolSet::Graph, "delete_entities", about, EffectHint::Replaces, run)
}

fn list_matching_entities(keeper: &mut Keeper, caller: &Caller, query: &EntityQuery) -> ToolResult {
    to_tool_result(keeper.session(caller).and_then(|mut session| {
        let page = keeper::list_entities(&mut session, query)?;
        Ok(render_entity_list(&page))
    }))
}

fn page_or_first(page: Option<PageNumber>) -> usize {
    page.map_or(1, |it| it.0)
}

/// The maximum number of listed conflicts of a merge.
const MAX_LISTED_CONFLICTS: usize = 10;

/// The maximum number of new entities that are listed by name: the others of a call are named.
const MAX_LISTED_NEW: usize = 10;

fn render_workspace(it: &WorkspaceDescription, now: DateTime<Utc>) -> String {
    let reader = Reader { audience: Audience::Agent, now };
    let notice = it.as_of.as_ref().map(|commit| render::as_of_notice(&it.name, commit, now));
    notice.unwrap_or_default() + &render::workspace_summary(&it.name, &it.summary, reader)
}

fn render_entity_list(it: &EntityPage<'_>) -> String {
    let (lines, place) = (&it.matching_lines, (it.page, it.total));
    let mut text = render::entity_list(&it.filters, &it.entities, lines, &it.facts, place);
    text.extend(it.ranker.iter().map(|it| format!("{it}.\n")));
    text + &it.suggestions
}

fn render_relations(it: &RelationPage<'_>, now: DateTime<Utc>) -> String {
    let name = render::mark_imitations(&render::name_in_sentence(&it.name));
    let as_of = it.as_of.map(|date| format!(" as of {date}")).unwrap_or_default();
    let skipped = render::unreadable_dates_note(it.with_invalid_dates);
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

fn render_timeline(it: &TimelinePage<'_>, now: DateTime<Utc>) -> String {
    let text = render::timeline(&it.filters, &it.facts, it.page, it.has_more, now);
    text + &it.empty_genus + &render::unreadable_dates_note(it.skipped)
}

fn describe_created_entities(it: &EntityCreationOutcome) -> String {
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

fn describe_updated_entity(it: &EntityUpdateOutcome) -> String {
    let mut text = match it.is_changed {
        true => format!("{}.\n", it.summary),
        false => {
            let name = render::mark_imitations(&render::name_in_sentence(&it.name));
            format!("{name} is already in that state: nothing changed.\n")
        }
    };
    let listed = it.merge_notes.len().min(MAX_LISTED_CONFLICTS);
    text.push_str(&render_notes(&it.merge_notes[..listed]));
    if it.merge_notes.len() > listed {
        text.push_str(&format!("And {} more.\n", it.merge_notes.len() - listed));
    }
    text + &render_notes(&it.notes) + &it.faults
}

fn describe_deleted_entities(it: &EntityDeletionOutcome) -> String {
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
            missing.map(|(it, meant)| unknown_name_line(it, meant.as_deref())).collect();
        text.push_str(&format!(
            "; no entity is called {}",
            render::join_items(&missing, str::to_owned)
        ));
    }
    text + ".\n"
}

/// Renders a name that no entity has, with the one that may be meant.
fn unknown_name_line(name: &str, meant: Option<&str>) -> String {
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
