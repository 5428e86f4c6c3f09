//! The knowledge graph as facts with their time: five tools.

use serde_json::{Value, json};

use crate::keeper::{AddedFact, Caller, FactRecord, FactsAbout, Keeper, NewFact};
use crate::mcp::arguments::{KgAdd, KgInvalidate, KgQuery, KgTimeline, Nothing};
use crate::mcp::mempalace_tools::{fitting, found, mind, reply, told};
use crate::mcp::reply::Answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};
use crate::model::{Relation, folded};

pub(crate) fn all() -> [Handle; 5] {
    [kg_query(), kg_add(), kg_invalidate(), kg_timeline(), kg_stats()]
}

fn kg_query() -> Handle {
    let about = (
        "Query the knowledge graph",
        "What is known of a person, a project or anything else, and since when; what holds comes \
         first. With as_of only what held then.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: KgQuery| query(keeper, by, &it);
    Handle::new(ToolSet::Mempalace, "mempalace_kg_query", about, Effect::Reads, run)
}

fn query(keeper: &mut Keeper, by: &Caller, it: &KgQuery) -> Answer {
    if it.entity.trim().is_empty() {
        return Err("the `entity` is empty: say whom to ask about".to_owned());
    }
    let as_of = it.as_of();
    let known = told(keeper.facts_about(by, &it.entity, as_of.as_deref(), it.direction()))?;
    let FactsAbout { outgoing, incoming, entity, undated, other_facts: besides, suggestion: meant } =
        known;
    let facts = outgoing.iter().map(|it| with_direction("outgoing", it));
    let facts = facts.chain(incoming.iter().map(|it| with_direction("incoming", it)));
    let facts: Vec<_> = facts.collect();
    let count = facts.len();
    let (facts, left_out) = fitting(facts);
    let mut value = json!({ "entity": it.entity, "as_of": as_of, "facts": facts, "count": count });
    mind(&mut value, left_out, "ask for one direction, or for a date");
    if undated > 0 {
        value["left_out_undated"] = undated.into();
    }
    if count == 0 && besides > 0 {
        let when = as_of.map(|it| format!(" at {it}")).unwrap_or_default();
        let facts = if besides == 1 { "1 fact is" } else { &format!("{besides} facts are") };
        let hint =
            format!("No such fact holds{when}: {facts} known without `as_of` and `direction`");
        value["hint"] = hint.into();
    }
    if let Some(entity) = entity {
        value["genus"] = entity.genus.into();
        if let Some(status) = entity.status {
            value["status"] = status.into();
        }
        if !entity.observations.is_empty() {
            let all = entity.observations.into_iter().map(Value::from).collect();
            value["observations"] = fitting(all).0.into();
        }
    } else if count + besides == 0 {
        let meant = meant.map(|it| format!("; did you mean `{it}`?"));
        let hint = "Nothing is known of that name".to_owned() + &meant.unwrap_or_default();
        value["hint"] = hint.into();
    }
    found(keeper, by, value)
}

fn kg_add() -> Handle {
    let about = (
        "Add a fact",
        "State a fact: subject, predicate, object, and since when it holds. What is known already \
         stays as it is.",
    );
    Handle::new(ToolSet::Mempalace, "mempalace_kg_add", about, Effect::AddsOnce, add)
}

fn add(_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: KgAdd) -> Answer {
    let said = |it: &FactRecord| json!({ "success": true, "triple_id": triple_id(it), "fact": it.to_line() });
    let new = NewFact::from(it);
    Ok(reply(match told(keeper.add_fact(by, &new))? {
        AddedFact::AlreadyKnown(it) => {
            let mut value = said(&it);
            value["reason"] = "already_known".into();
            if let Some(hint) = stands(&it, &new.relation) {
                value["hint"] = hint.into();
            }
            value["valid_from"] = it.relation.since.into();
            value
        }
        AddedFact::Added(it, also) => {
            let mut value = said(&it);
            if !also.is_empty() {
                value["also_true"] = also.iter().map(FactRecord::to_line).collect();
                value["hint"] = "These hold too. If they no longer do, end them with \
                                 mempalace_kg_invalidate."
                    .into();
            }
            value
        }
    }))
}

/// Says what stands of a fact that was known already, where something else was said
/// of when it began, and how to correct it.
fn stands(known: &FactRecord, said: &Relation) -> Option<String> {
    let (since, asked) = (known.relation.since.as_ref()?, said.since.as_ref()?);
    let (begin, new) = (known.relation.begin()?, said.begin()?);
    let stays = format!("Nothing was changed: it stands as true from {since} on.");
    let before =
        || format!(" If it held from {asked} on, state that with `valid_to` {since} beside it.");
    let before = if begin.has_begun(new) { String::new() } else { before() };
    let wrong = " If that date is wrong, it is corrected in the file of the subject.";
    (begin != new).then(|| format!("{stays}{before}{wrong}"))
}

fn kg_invalidate() -> Handle {
    let about = (
        "End a fact",
        "Say that a fact holds no longer, from a date on. It is not deleted: it stays true of its \
         time.",
    );
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: KgInvalidate| {
        let (triple, ended) = it.told();
        let it = told(keeper.end_fact(by, &triple, ended.as_deref()))?;
        let value = json!({ "success": true, "fact": it.to_line(), "ended": it.relation.until });
        Ok(reply(value))
    };
    Handle::new(ToolSet::Mempalace, "mempalace_kg_invalidate", about, Effect::AddsOnce, run)
}

fn kg_timeline() -> Handle {
    let about =
        ("Timeline of facts", "The facts about a name, or all, in the order in which they began.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: KgTimeline| {
        let (entity, (offset, limit)) = (it.entity(), it.page());
        let facts = told(keeper.fact_timeline(by, entity.as_deref()))?;
        let page = facts.iter().skip(offset).take(limit).map(fact).collect();
        let (timeline, _) = fitting(page);
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
        mind(&mut value, total.saturating_sub(next), &format!("offset {next} goes on"));
        found(keeper, by, value)
    };
    Handle::new(ToolSet::Mempalace, "mempalace_kg_timeline", about, Effect::Reads, run)
}

fn kg_stats() -> Handle {
    let about = ("Count facts", "How many facts there are, how many hold, and what they say.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, Nothing {}| {
        let counts = told(keeper.count_facts(by))?;
        let (kinds, left_out) = fitting(counts.kinds.into_iter().map(Value::from).collect());
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
        mind(&mut value, left_out, "they are relationship types");
        found(keeper, by, value)
    };
    Handle::new(ToolSet::Mempalace, "mempalace_kg_stats", about, Effect::Reads, run)
}

fn with_direction(direction: &str, it: &FactRecord) -> Value {
    let Relation { kind, to, since, until, source } = &it.relation;
    json!({
        "direction": direction,
        "subject": it.subject,
        "predicate": kind,
        "object": to,
        "valid_from": since,
        "valid_to": until,
        // A relation here holds no doubt; MemPalace takes none either.
        "confidence": 1.0,
        "source_closet": source,
        "current": it.current,
    })
}

fn fact(it: &FactRecord) -> Value {
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

/// Names a fact by what it says, and since when.
fn triple_id(it: &FactRecord) -> String {
    let Relation { kind, to, since, .. } = &it.relation;
    let parts = [Some(&it.subject), Some(kind), Some(to), since.as_ref()];
    let parts = parts.into_iter().flatten().map(|it| folded(it).replace(' ', "_"));
    format!("t_{}", parts.collect::<Vec<_>>().join("_"))
}
