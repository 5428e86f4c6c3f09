//! Stating facts, and ending them. None is ever deleted: what was true once
//! stays true of its time.

use chrono::{DateTime, Utc};
use serde_json::Map;
use ulid::Ulid;

use crate::keeper::graph::dates::{parse_date_argument, resolve_relative_date};
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::mempalace::facts::{FactRecord, fact_line, fact_record};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Date, Entity, Graph, Relation, Triple, fold_name};
use crate::render;

/// The genus of something of which no more is known than a fact.
const DEFAULT_GENUS: &str = "Thing";

/// The most characters a name in a fact may have.
const MAX_NAME_CHARS: usize = 500;

/// How many facts a refusal names.
const MAX_LISTED_FACTS: usize = 5;

/// A fact to be stated.
#[derive(Clone, Debug)]
pub struct NewFact {
    /// What it is said of, by name.
    pub subject: String,
    /// What is said, of which object, and when it holds.
    pub relation: Relation,
}

/// What became of a fact that was stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddedFact {
    /// It is new, or more of it is known than before. Other facts that say the
    /// same of the same subject hold too; perhaps they should not.
    Added(FactRecord, Vec<FactRecord>),
    /// It was known already; nothing was changed.
    AlreadyKnown(FactRecord),
}

impl Keeper {
    /// States a fact. Its subject becomes an entity, if it is none yet; names
    /// are taken for those that are there, however they are spelled.
    pub fn add_fact(&mut self, by: &Caller, new: &NewFact) -> Result<AddedFact, Refusal> {
        let relation = validate_fact(&new.relation, by.now)?;
        let subject = validate_name("subject", &new.subject)?;
        let key = self.current_or_new_workspace(by)?;
        let id = new_id(&mut self.id_generator, by.now);
        let now = Date::from(by.now);
        let mut stated = None;
        self.open_palace(&key)?.change_exclusively(by, |held| {
            let (plan, became) = plan_add_fact(held, &subject, relation.clone(), id, now)?;
            stated = Some(became);
            Ok(plan)
        })?;
        self.remember_workspace(by, &key);
        stated.ok_or(Refusal::Contended)
    }

    /// Ends the fact of that subject, kind and object that has no end, at a
    /// date; else today.
    pub fn end_fact(
        &mut self,
        by: &Caller,
        triple: &Triple,
        ended: Option<&str>,
    ) -> Result<FactRecord, Refusal> {
        let ended = resolve_relative_date(ended.unwrap_or("today"), by.now);
        parse_date_argument("ended", &ended, by.now)?;
        let now = Date::from(by.now);
        let unknown =
            || Refusal::Invalid(format!("no such fact is known: {}", describe_triple(triple)));
        let key = self.current_workspace_if_any(by)?.ok_or_else(unknown)?;
        let mut gone = None;
        self.open_palace(&key)?.change(by, |held| {
            let (plan, statement) = plan_end_fact(held, triple, &ended, now)?;
            gone = Some(statement);
            Ok(plan)
        })?;
        gone.ok_or_else(unknown)
    }
}

/// Checks a fact before anything is read or made for it.
fn validate_fact(new: &Relation, now: DateTime<Utc>) -> Result<Relation, Refusal> {
    let text = |it: &Option<String>| {
        it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let day = |it: &Option<String>| text(it).map(|it| resolve_relative_date(&it, now));
    let (since, until) = (day(&new.since), day(&new.until));
    let begin =
        since.as_deref().map(|it| parse_date_argument("valid_from", it, now)).transpose()?;
    let end = until.as_deref().map(|it| parse_date_argument("valid_to", it, now)).transpose()?;
    if let (Some(begin), Some(end)) = (begin, end)
        && end.has_begun_by(begin)
    {
        let why = "`valid_to` must be later than `valid_from`: it is the date from which the fact \
                   no longer holds";
        return Err(Refusal::Invalid(why.to_owned()));
    }
    Ok(Relation {
        kind: fold_name(&validate_name("predicate", &new.kind)?).replace(' ', "_"),
        to: validate_name("object", &new.to)?,
        since,
        until,
        source: text(&new.source),
    })
}

fn plan_add_fact(
    held: &mut OpenPalace,
    subject: &str,
    new: Relation,
    id: Ulid,
    now: Date,
) -> Result<(ChangePlan, AddedFact), Refusal> {
    let graph = &held.palace.graph;
    let subject = resolve_spelling(graph, subject)?;
    let new = Relation { to: resolve_spelling(graph, &new.to)?, ..new };
    let also = other_current_facts(graph, &subject, &new, now);
    let mut revision = GraphEdit::default();
    let is_defined = revision.entity_mut(held, &subject)?.is_some();
    if !is_defined && revision.loose_end_mut(held, &subject)?.is_none() {
        revision.add_entity(held, placeholder_entity(&subject, id))?;
    }
    let Some(entity) = revision.get_or_add_source(held, &subject)? else {
        return Err(Refusal::Contended);
    };
    let same = |it: &&mut Relation| is_same_fact(it, &new);
    let known: Vec<_> = entity.relations.iter_mut().filter(same).collect();
    let fact = match match_fact(known, &new)? {
        FactMatch::Duplicate(known) => {
            return Ok((
                ChangePlan::default(),
                AddedFact::AlreadyKnown(fact_record(&subject, &known, now)),
            ));
        }
        FactMatch::Extended(fuller) => fuller,
        FactMatch::New => {
            entity.relations.push(new.clone());
            new
        }
    };
    let fact = fact_record(&subject, &fact, now);
    let short = render::truncate(&fact.to_line(), 50);
    let (subject, body) = (format!("fact {short}: add"), fact.to_line());
    Ok((ChangePlan { edits: revision.into_edits()?, subject, body }, AddedFact::Added(fact, also)))
}

/// Where a new fact belongs among those that say the same.
enum FactMatch {
    /// There already.
    Duplicate(Relation),
    /// There already, and now more of it is known.
    Extended(Relation),
    /// Beside them.
    New,
}

fn match_fact(known: Vec<&mut Relation>, new: &Relation) -> Result<FactMatch, Refusal> {
    for old in known {
        if old.since == new.since && old.until == new.until {
            return Ok(FactMatch::Duplicate(old.clone()));
        }
        match (&old.until, &new.until) {
            (None, None) => {
                if old.since.is_some() || new.since.is_none() {
                    return Ok(FactMatch::Duplicate(old.clone()));
                }
                old.since.clone_from(&new.since);
                old.source = old.source.take().or_else(|| new.source.clone());
                return Ok(FactMatch::Extended(old.clone()));
            }
            (None, Some(_)) if old.overlaps_in_time(new) => {
                let why = "that fact is known and has no end: mempalace_kg_invalidate ends it";
                return Err(Refusal::Invalid(why.to_owned()));
            }
            (Some(until), _) if old.overlaps_in_time(new) => {
                let since = old.since.as_ref().map(|it| format!("from {} ", render::one_line(it)));
                let (since, until) = (since.unwrap_or_default(), render::one_line(until));
                return Err(Refusal::Invalid(format!(
                    "that fact is known, {since}until {until}, and both cannot be at once: if it \
                     holds again, `valid_from` is {until} or later"
                )));
            }
            _ => {}
        }
    }
    Ok(FactMatch::New)
}

fn plan_end_fact(
    held: &mut OpenPalace,
    triple: &Triple,
    ended: &str,
    now: Date,
) -> Result<(ChangePlan, FactRecord), Refusal> {
    let names: Vec<String> =
        held.palace.graph.spellings_of_name(&triple.from).into_iter().map(str::to_owned).collect();
    let wanted = Relation::from(triple.clone());
    let (mut revision, mut gone, mut over) = (GraphEdit::default(), None, None);
    let mut early = None;
    for name in &names {
        let entity = match revision.entity_mut(held, name)? {
            Some(_) => revision.entity_mut(held, name)?,
            None => revision.loose_end_mut(held, name)?,
        };
        let same = |it: &&mut Relation| is_same_fact(it, &wanted);
        for it in entity.into_iter().flat_map(|it| &mut it.relations).filter(same) {
            if it.until.is_some() {
                over.clone_from(&it.until);
                continue;
            }
            // One that begins later may hold beside one that ends.
            match check_end_date(it, ended) {
                Err(refusal) => early = early.or(Some(refusal)),
                Ok(()) => {
                    it.until = Some(ended.to_owned());
                    gone = Some(fact_record(name, it, now));
                }
            }
        }
    }
    match (gone, early, over) {
        (Some(statement), ..) => {
            let subject = format!("fact {}: end", render::truncate(&statement.to_line(), 50));
            let body = format!("{} until {ended}", statement.to_line());
            Ok((ChangePlan { edits: revision.into_edits()?, subject, body }, statement))
        }
        (None, Some(refusal), _) => Err(refusal),
        (None, None, Some(over)) => Err(Refusal::Invalid(format!(
            "that fact has ended already, on {}: {}",
            render::one_line(&over),
            describe_triple(triple)
        ))),
        (None, None, None) => {
            Err(Refusal::Invalid(unknown_fact_message(&held.palace.graph, triple, &names)))
        }
    }
}

fn check_end_date(fact: &Relation, ended: &str) -> Result<(), Refusal> {
    let until = ended.parse::<Date>().ok();
    if fact.since_date().zip(until).is_none_or(|(since, until)| since.has_begun_by(until)) {
        return Ok(());
    }
    let since = fact.since.as_deref().unwrap_or_default();
    Err(Refusal::Invalid(format!(
        "that fact holds from {} on: it cannot have ended on {ended}, before it began",
        render::one_line(since)
    )))
}

/// Says that a fact is not known, and what is known of its subject.
fn unknown_fact_message(graph: &Graph, triple: &Triple, names: &[String]) -> String {
    let open = |it: &&Relation| it.until.is_none();
    let starts = names.iter().flat_map(|it| [graph.get(it), graph.loose_end(it)]).flatten();
    let facts: Vec<_> = starts
        .flat_map(|from| from.relations.iter().filter(open).map(move |it| (from, it)))
        .take(MAX_LISTED_FACTS)
        .map(|(from, it)| fact_line(&from.name, &it.kind, &it.to))
        .collect();
    let known = match (facts.as_slice(), graph.closest_name(&triple.from)) {
        ([], Some(meant)) if names.is_empty() => {
            format!("did you mean `{}`?", render::one_line(meant))
        }
        ([], _) => format!("`{}` has no facts that hold", render::one_line(&triple.from)),
        _ => format!("what holds is {}", facts.join(", ")),
    };
    format!("no such fact is known: {}; {known}", describe_triple(triple))
}

/// Returns the facts that say the same of the same subject as a new one does,
/// of something else, and hold.
fn other_current_facts(graph: &Graph, subject: &str, new: &Relation, now: Date) -> Vec<FactRecord> {
    let starts = [graph.get(subject), graph.loose_end(subject)].into_iter().flatten();
    let facts = starts.flat_map(|it| &it.relations);
    let same = facts.filter(|it| {
        fold_name(&it.kind) == fold_name(&new.kind) && fold_name(&it.to) != fold_name(&new.to)
    });
    same.map(|it| fact_record(subject, it, now))
        .filter(|it| it.current)
        .take(MAX_LISTED_FACTS)
        .collect()
}

/// Returns an entity of which no more is known than a fact.
pub(crate) fn placeholder_entity(name: &str, id: Ulid) -> Entity {
    Entity {
        id: Some(id),
        name: name.to_owned(),
        is_defined: true,
        genus: DEFAULT_GENUS.to_owned(),
        status: None,
        attributes: Map::new(),
        observations: Vec::new(),
        relations: Vec::new(),
    }
}

/// Returns the name that is meant by `asked`: as it is spelled in the graph, if
/// it is there.
pub(crate) fn resolve_spelling(graph: &Graph, asked: &str) -> Result<String, Refusal> {
    let names = graph.spellings_of_name(asked);
    if names.contains(asked) || names.is_empty() {
        return Ok(asked.to_owned());
    }
    let defined: Vec<_> = names.iter().filter(|it| graph.get(it).is_some()).collect();
    let all: Vec<_> = names.iter().collect();
    match (defined.as_slice(), all.as_slice()) {
        ([only], _) | ([], [only]) => Ok((***only).to_owned()),
        _ => {
            let names: Vec<_> =
                names.iter().map(|it| format!("`{}`", render::one_line(it))).collect();
            let asked = render::one_line(asked);
            let why = format!("`{asked}` could be any of {}: spell it exactly", names.join(", "));
            Err(Refusal::Invalid(why))
        }
    }
}

fn describe_triple(Triple { from, kind, to }: &Triple) -> String {
    fact_line(from, kind, to)
}

/// Tells whether two relations of one subject say the same, at whatever time.
pub(crate) fn is_same_fact(a: &Relation, b: &Relation) -> bool {
    fold_name(&a.kind) == fold_name(&b.kind) && fold_name(&a.to) == fold_name(&b.to)
}

fn validate_name(what: &str, text: &str) -> Result<String, Refusal> {
    let text = render::one_line(text);
    let length = text.chars().count();
    if text.is_empty() {
        return Err(Refusal::Invalid(format!("the `{what}` is empty")));
    }
    if length > MAX_NAME_CHARS {
        let why =
            format!("the `{what}` has {length} characters, and {MAX_NAME_CHARS} are the most");
        return Err(Refusal::Invalid(why));
    }
    Ok(text)
}
