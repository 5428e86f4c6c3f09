//! The five tools for the knowledge graph as facts with dates.

use palazzo_core::model::Entity;
use serde_json::{Value, json};

use crate::mcp::arguments::{KgAdd, KgInvalidate, KgQuery, KgTimeline, NoArguments};
use crate::mcp::mempalace_tools::reply::{
    json_reply, read_palace_or_default, refusal_to_text, reply_with_palace_hint, report_left_out,
    truncate_items,
};
use crate::mcp::reply::ToolResult;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::{Relation, fold_name, quoted};
use palazzo_keeper::{
    self as keeper, AddFactOutcome, Caller, FactRecord, FactsAbout, Keeper, NewFact,
};

pub(crate) fn fact_tools() -> [RegisteredTool; 5] {
    [kg_query(), kg_add(), kg_invalidate(), kg_timeline(), kg_stats()]
}

fn kg_query() -> RegisteredTool {
    let about = (
        "Query the knowledge graph",
        "List the facts about a person, a project or anything else, with their dates; current \
         facts first. With as_of, only the facts that held then.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: KgQuery| {
        run_kg_query(keeper, caller, &it)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_kg_query", about, EffectHint::Reads, run)
}

fn run_kg_query(keeper: &mut Keeper, caller: &Caller, it: &KgQuery) -> ToolResult {
    if it.entity.trim().is_empty() {
        return Err("the `entity` is empty: give a name".to_owned());
    }
    let as_of = it.as_of();
    let date = |it: &String| keeper::parse_date_argument("as_of", it, caller.today());
    let date = refusal_to_text(as_of.as_ref().map(date).transpose())?;
    let FactsAbout { outgoing, incoming, entity, with_invalid_dates, other_facts, suggestion } =
        read_palace_or_default(keeper, caller, |session| {
            keeper::facts_about(session, &it.entity, date, it.direction())
        })?;
    let facts = outgoing.iter().map(|it| directed_fact_json("outgoing", it));
    let facts = facts.chain(incoming.iter().map(|it| directed_fact_json("incoming", it)));
    let facts: Vec<_> = facts.collect();
    let count = facts.len();
    let (facts, left_out) = truncate_items(facts);
    let mut value = json!({ "entity": it.entity, "as_of": as_of, "facts": facts, "count": count });
    report_left_out(&mut value, left_out, "give a `direction` or `as_of`");
    if with_invalid_dates > 0 {
        value["left_out_undated"] = with_invalid_dates.into();
    }
    if count == 0 && other_facts > 0 {
        let when = as_of.map(|it| format!(" at {it}")).unwrap_or_default();
        let facts =
            if other_facts == 1 { "1 fact is" } else { &format!("{other_facts} facts are") };
        let hint = format!("No fact matches{when}; {facts} found without `as_of` and `direction`");
        value["hint"] = hint.into();
    }
    if let Some(entity) = entity {
        add_entity_fields(&mut value, entity);
    } else if count + other_facts == 0 {
        let suggestion = suggestion.map(|it| format!("; did you mean {}?", quoted(&it)));
        let hint = "Nothing is known about that name".to_owned() + &suggestion.unwrap_or_default();
        value["hint"] = hint.into();
    }
    reply_with_palace_hint(keeper, caller, value)
}

fn add_entity_fields(value: &mut Value, entity: Entity) {
    value["genus"] = entity.genus.into();
    if let Some(status) = entity.status {
        value["status"] = status.into();
    }
    if !entity.observations.is_empty() {
        let all = entity.observations.into_iter().map(Value::from).collect();
        value["observations"] = truncate_items(all).0.into();
    }
}

fn kg_add() -> RegisteredTool {
    let about = (
        "Add a fact",
        "Add a fact: subject, predicate, object, and the date from which it holds. A fact that \
         exists already is not changed.",
    );
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_kg_add",
        about,
        EffectHint::AddsOnce,
        run_kg_add,
    )
}

fn run_kg_add(_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: KgAdd) -> ToolResult {
    let reply = |it: &FactRecord| json!({ "success": true, "triple_id": triple_id(it), "fact": it.to_line() });
    let new = NewFact::from(it);
    Ok(json_reply(match refusal_to_text(keeper::add_fact(keeper, caller, &new))? {
        AddFactOutcome::AlreadyKnown(it) => {
            let mut value = reply(&it);
            value["reason"] = "already_known".into();
            if let Some(hint) = kept_start_date_hint(&it, &new.relation) {
                value["hint"] = hint.into();
            }
            value["valid_from"] = it.relation.since.into();
            value
        }
        AddFactOutcome::Added(it, also) => {
            let mut value = reply(&it);
            if !also.is_empty() {
                value["also_true"] = also.iter().map(FactRecord::to_line).collect();
                value["hint"] = "The facts in `also_true` hold too. End those that no longer hold \
                                 with mempalace_kg_invalidate."
                    .into();
            }
            value
        }
    }))
}

/// Explains that an existing fact keeps its start date although the call gave another one, and
/// how to correct it.
fn kept_start_date_hint(old: &FactRecord, new: &Relation) -> Option<String> {
    let (since, asked) = (old.relation.since.as_ref()?, new.since.as_ref()?);
    let (begin, new) = (old.relation.since_date()?, new.since_date()?);
    let stays = format!("Nothing changed: this fact is stored as valid from {since}.");
    let before =
        || format!(" If it also held from {asked} on, add that fact with `valid_to` {since}.");
    let before = if begin.has_begun_by(new) { String::new() } else { before() };
    let wrong = " If that date is wrong, correct it in the file of the subject.";
    (begin != new).then(|| format!("{stays}{before}{wrong}"))
}

fn kg_invalidate() -> RegisteredTool {
    let about = (
        "End a fact",
        "End a fact on a date. The fact is not deleted: it stays valid for the time before that \
         date.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: KgInvalidate| {
        let (triple, ended) = it.into_fact_and_end();
        let it = refusal_to_text(keeper::end_fact(keeper, caller, &triple, ended.as_deref()))?;
        let value = json!({ "success": true, "fact": it.to_line(), "ended": it.relation.until });
        Ok(json_reply(value))
    };
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_kg_invalidate",
        about,
        EffectHint::AddsOnce,
        run,
    )
}

fn kg_timeline() -> RegisteredTool {
    let about = (
        "Timeline of facts",
        "List the facts about one name, or all facts, ordered by start date.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: KgTimeline| {
        let (entity, (offset, limit)) = (it.entity(), it.offset_and_limit());
        let facts = read_palace_or_default(keeper, caller, |it| {
            keeper::fact_timeline(it, entity.as_deref())
        })?;
        let page = facts.iter().skip(offset).take(limit).map(fact_json).collect();
        let (timeline, _) = truncate_items(page);
        let (count, total) = (timeline.len(), facts.len());
        let mut value = json!({
            "entity": entity.as_deref().unwrap_or("all"),
            "timeline": timeline,
            "count": count,
            "total": total,
            "offset": offset,
            "limit": limit,
        });
        let next = offset.saturating_add(count);
        report_left_out(
            &mut value,
            total.saturating_sub(next),
            &format!("continue with offset {next}"),
        );
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_kg_timeline", about, EffectHint::Reads, run)
}

fn kg_stats() -> RegisteredTool {
    let about = (
        "Count facts",
        "Count entities, facts, current and ended facts; list the relationship types.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, NoArguments {}| {
        let counts = read_palace_or_default(keeper, caller, keeper::count_facts)?;
        let (kinds, left_out) = truncate_items(counts.kinds.into_iter().map(Value::from).collect());
        let mut value = json!({
            "entities": counts.names,
            "triples": counts.facts,
            "current_facts": counts.current,
            "expired_facts": counts.ended,
            "relationship_types": kinds,
        });
        let future = counts.facts.saturating_sub(counts.current + counts.ended);
        if future > 0 {
            value["future_facts"] = future.into();
        }
        report_left_out(&mut value, left_out, "relationship types");
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_kg_stats", about, EffectHint::Reads, run)
}

fn directed_fact_json(direction: &str, it: &FactRecord) -> Value {
    let Relation { kind, to, since, until, source } = &it.relation;
    json!({
        "direction": direction,
        "subject": it.subject,
        "predicate": kind,
        "object": to,
        "valid_from": since,
        "valid_to": until,
        // Relations have no confidence, and `mempalace_kg_add` accepts none.
        "confidence": 1.0,
        "source_closet": source,
        "current": it.current,
    })
}

fn fact_json(it: &FactRecord) -> Value {
    let Relation { kind, to, since, until, .. } = &it.relation;
    json!({
        "subject": it.subject,
        "predicate": kind,
        "object": to,
        "valid_from": since,
        "valid_to": until,
        "current": it.current,
    })
}

/// Builds an id from the subject, kind, object and start date of a fact.
fn triple_id(it: &FactRecord) -> String {
    let Relation { kind, to, since, .. } = &it.relation;
    let parts = [Some(&it.subject), Some(kind), Some(to), since.as_ref()];
    let parts = parts.into_iter().flatten().map(|it| fold_name(it).replace(' ', "_"));
    format!("t_{}", parts.collect::<Vec<_>>().join("_"))
}
