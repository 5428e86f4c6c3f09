//! Adds facts and ends them. Facts are never deleted: an ended fact stays, with its dates.

use chrono::NaiveDate;
use serde_json::Map;
use ulid::Ulid;

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::graph::{parse_date_argument, resolve_relative_date};
use crate::mempalace::facts::{FactRecord, fact_line, fact_record};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{Date, Entity, Graph, PointInTime, Relation, Triple, fold_name, quoted};
use palazzo_core::render;

/// The genus of an entity that was created for a fact.
const DEFAULT_GENUS: &str = "Thing";

/// Maximum number of characters of a name in a fact.
const MAX_NAME_CHARS: usize = 500;

/// Maximum number of facts that a refusal lists.
const MAX_LISTED_FACTS: usize = 5;

/// A fact to add.
#[derive(Clone, Debug)]
pub struct NewFact {
    /// The name of its subject.
    pub subject: String,
    /// Its kind, its object and its dates.
    pub relation: Relation,
}

/// What [`add_fact`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddFactOutcome {
    /// It added the fact, or a date to the same fact. The second part lists the other current facts
    /// with the same subject and kind: perhaps they should end.
    Added(FactRecord, Vec<FactRecord>),
    /// The same fact exists already; nothing changed.
    AlreadyKnown(FactRecord),
}

/// Adds a fact, and its subject as an entity if there is none. Names are matched with those in the
/// graph in any spelling. Creates the first palace if there is none.
pub fn add_fact(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewFact,
) -> Result<AddFactOutcome, Refusal> {
    let relation = validate_fact(&new.relation, caller.today())?;
    let subject = validate_fact_name("subject", &new.subject)?;
    let mut session = keeper.session_for_writing(caller)?;
    let (id, now) = (session.new_id(), caller.point_in_time());
    let mut added = None;
    session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let (plan, outcome) = plan_add_fact(open, &subject, relation.clone(), id, now)?;
        added = Some(outcome);
        Ok(plan)
    })?;
    session.set_current_workspace_if_none();
    added.ok_or(Refusal::Contended)
}

/// Ends the current fact with that subject, kind and object: at the date `ended`, by default today.
pub fn end_fact(
    keeper: &mut Keeper,
    caller: &Caller,
    triple: &Triple,
    ended: Option<&str>,
) -> Result<FactRecord, Refusal> {
    let ended = resolve_relative_date(ended.unwrap_or("today"), caller.today());
    parse_date_argument("ended", &ended, caller.today())?;
    let now = caller.point_in_time();
    let missing =
        || Refusal::Invalid(format!("there is no such fact: {}", describe_triple(triple)));
    let session = keeper.session_if_any(caller)?.ok_or_else(missing)?;
    let mut ended_fact = None;
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let (plan, fact) = plan_end_fact(open, triple, &ended, now)?;
        ended_fact = Some(fact);
        Ok(plan)
    })?;
    ended_fact.ok_or_else(missing)
}

/// Checks a fact before a palace is opened or created for it.
fn validate_fact(new: &Relation, today: NaiveDate) -> Result<Relation, Refusal> {
    let text = |it: &Option<String>| {
        it.as_deref().map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned)
    };
    let day = |it: &Option<String>| text(it).map(|it| resolve_relative_date(&it, today));
    let (since, until) = (day(&new.since), day(&new.until));
    let begin =
        since.as_deref().map(|it| parse_date_argument("valid_from", it, today)).transpose()?;
    let end = until.as_deref().map(|it| parse_date_argument("valid_to", it, today)).transpose()?;
    if let (Some(begin), Some(end)) = (begin, end)
        && end.has_begun_by(begin)
    {
        let why = "`valid_to` must be later than `valid_from`: it is the date from which the fact \
                   no longer holds";
        return Err(Refusal::Invalid(why.to_owned()));
    }
    Ok(Relation {
        kind: fold_name(&validate_fact_name("predicate", &new.kind)?).replace(' ', "_"),
        to: validate_fact_name("object", &new.to)?,
        since,
        until,
        source: text(&new.source),
    })
}

fn plan_add_fact(
    open: &mut OpenPalace,
    subject: &str,
    new: Relation,
    id: Ulid,
    now: PointInTime,
) -> Result<(ChangePlan, AddFactOutcome), Refusal> {
    let graph = &open.palace.graph;
    let subject = resolve_spelling(graph, subject)?;
    let new = Relation { to: resolve_spelling(graph, &new.to)?, ..new };
    let others = current_facts_with_other_object(graph, &subject, &new, now);
    let mut edit = EntityFileEdits::default();
    let is_defined = edit.entity_mut(open, &subject)?.is_some();
    if !is_defined && edit.loose_end_mut(open, &subject)?.is_none() {
        edit.add_entity(open, placeholder_entity(&subject, id))?;
    }
    let Some(entity) = edit.entity_or_new_loose_end_mut(open, &subject)? else {
        return Err(Refusal::Contended);
    };
    let is_same = |it: &&mut Relation| has_same_kind_and_object(it, &new);
    let same: Vec<_> = entity.relations.iter_mut().filter(is_same).collect();
    let fact = match merge_into_existing_fact(same, &new)? {
        FactMatch::Duplicate(old) => {
            return Ok((
                ChangePlan::default(),
                AddFactOutcome::AlreadyKnown(fact_record(&subject, &old, now)),
            ));
        }
        FactMatch::Extended(extended) => extended,
        FactMatch::New => {
            entity.relations.push(new.clone());
            new
        }
    };
    let fact = fact_record(&subject, &fact, now);
    let short = render::truncate(&fact.to_line(), 50);
    let (subject, body) = (format!("fact {short}: add"), fact.to_line());
    Ok((
        ChangePlan { edits: edit.into_edits()?, subject, body },
        AddFactOutcome::Added(fact, others),
    ))
}

/// How a new fact relates to those with the same subject, kind and object.
enum FactMatch {
    /// It equals one of them.
    Duplicate(Relation),
    /// It adds a date to one of them.
    Extended(Relation),
    /// It is another fact.
    New,
}

fn merge_into_existing_fact(
    same: Vec<&mut Relation>,
    new: &Relation,
) -> Result<FactMatch, Refusal> {
    for old in same {
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
                let why = "that fact exists already and has no end: call mempalace_kg_invalidate \
                           to end it";
                return Err(Refusal::Invalid(why.to_owned()));
            }
            (Some(until), _) if old.overlaps_in_time(new) => {
                let since = old.since.as_ref().map(|it| format!("from {} ", render::one_line(it)));
                let (since, until) = (since.unwrap_or_default(), render::one_line(until));
                return Err(Refusal::Invalid(format!(
                    "that fact exists already, {since}until {until}, and the two overlap in time: \
                     if it holds again, set `valid_from` to {until} or later"
                )));
            }
            _ => {}
        }
    }
    Ok(FactMatch::New)
}

fn already_ended_refusal(triple: &Triple, past_end: &str) -> Refusal {
    Refusal::Invalid(format!(
        "that fact ended already, on {}: {}",
        render::one_line(past_end),
        describe_triple(triple)
    ))
}

fn plan_end_fact(
    open: &mut OpenPalace,
    triple: &Triple,
    ended: &str,
    now: PointInTime,
) -> Result<(ChangePlan, FactRecord), Refusal> {
    let names: Vec<String> =
        open.palace.graph.spellings_of_name(&triple.from).into_iter().map(str::to_owned).collect();
    let relation = Relation::from(triple.clone());
    let (mut edit, mut ended_fact) = (EntityFileEdits::default(), None);
    let (mut past_end, mut invalid_date) = (None, None);
    for name in &names {
        let entity = match edit.entity_mut(open, name)? {
            Some(_) => edit.entity_mut(open, name)?,
            None => edit.loose_end_mut(open, name)?,
        };
        let same = |it: &&mut Relation| has_same_kind_and_object(it, &relation);
        for it in entity.into_iter().flat_map(|it| &mut it.relations).filter(same) {
            if it.until.is_some() {
                past_end.clone_from(&it.until);
                continue;
            }
            // A fact that begins after `ended` is no error if another one ends.
            match check_end_date(it, ended) {
                Err(refusal) => invalid_date = invalid_date.or(Some(refusal)),
                Ok(()) => {
                    it.until = Some(ended.to_owned());
                    ended_fact = Some(fact_record(name, it, now));
                }
            }
        }
    }
    match (ended_fact, invalid_date, past_end) {
        (Some(fact), ..) => {
            let subject = format!("fact {}: end", render::truncate(&fact.to_line(), 50));
            let body = format!("{} until {ended}", fact.to_line());
            Ok((ChangePlan { edits: edit.into_edits()?, subject, body }, fact))
        }
        (None, Some(refusal), _) => Err(refusal),
        (None, None, Some(past_end)) => Err(already_ended_refusal(triple, &past_end)),
        (None, None, None) => {
            Err(Refusal::Invalid(unknown_fact_message(&open.palace.graph, triple, &names)))
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
        "that fact begins on {}: it cannot end on {ended}, which is earlier; give a later date",
        render::one_line(since)
    )))
}

/// Reports that a fact does not exist, and lists the current facts of its subject.
fn unknown_fact_message(graph: &Graph, triple: &Triple, names: &[String]) -> String {
    let is_current = |it: &&Relation| it.until.is_none();
    let sources = names.iter().flat_map(|it| [graph.get(it), graph.get_loose_end(it)]).flatten();
    let facts: Vec<_> = sources
        .flat_map(|from| from.relations.iter().filter(is_current).map(move |it| (from, it)))
        .take(MAX_LISTED_FACTS)
        .map(|(from, it)| fact_line(&from.name, &it.kind, &it.to))
        .collect();
    let hint = match (facts.as_slice(), graph.closest_name(&triple.from)) {
        ([], Some(meant)) if names.is_empty() => {
            format!("did you mean {}?", quoted(meant))
        }
        ([], _) => format!("{} has no current facts", quoted(&triple.from)),
        _ => format!("the current facts of the subject are {}", facts.join(", ")),
    };
    format!("there is no such fact: {}; {hint}", describe_triple(triple))
}

/// Returns the current facts with the subject and kind of a new fact and another object.
fn current_facts_with_other_object(
    graph: &Graph,
    subject: &str,
    new: &Relation,
    now: PointInTime,
) -> Vec<FactRecord> {
    let sources = [graph.get(subject), graph.get_loose_end(subject)].into_iter().flatten();
    let facts = sources.flat_map(|it| &it.relations);
    let others = facts.filter(|it| {
        fold_name(&it.kind) == fold_name(&new.kind) && fold_name(&it.to) != fold_name(&new.to)
    });
    others
        .map(|it| fact_record(subject, it, now))
        .filter(|it| it.current)
        .take(MAX_LISTED_FACTS)
        .collect()
}

/// Returns an entity that has only a name, for a fact.
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
        former_names: Vec::new(),
    }
}

/// Returns `name` as the graph spells it, or as it is if the graph does not have it.
pub(crate) fn resolve_spelling(graph: &Graph, name: &str) -> Result<String, Refusal> {
    let names = graph.spellings_of_name(name);
    if names.contains(name) || names.is_empty() {
        return Ok(name.to_owned());
    }
    let defined: Vec<_> = names.iter().filter(|it| graph.get(it).is_some()).collect();
    let all: Vec<_> = names.iter().collect();
    match (defined.as_slice(), all.as_slice()) {
        ([only], _) | ([], [only]) => Ok((***only).to_owned()),
        _ => {
            let names: Vec<_> = names.iter().map(|it| quoted(it)).collect();
            let name = quoted(name);
            let why =
                format!("{name} could be any of {}: use the exact spelling", names.join(", "));
            Err(Refusal::Invalid(why))
        }
    }
}

fn describe_triple(Triple { from, kind, to }: &Triple) -> String {
    fact_line(from, kind, to)
}

/// Returns true if two relations of one subject have the same kind and object, whatever their
/// dates.
pub(crate) fn has_same_kind_and_object(a: &Relation, b: &Relation) -> bool {
    fold_name(&a.kind) == fold_name(&b.kind) && fold_name(&a.to) == fold_name(&b.to)
}

/// Returns a name in one line; refuses one that is empty or too long. `what` is the argument.
fn validate_fact_name(what: &str, text: &str) -> Result<String, Refusal> {
    let text = render::storable_line(text);
    let length = text.chars().count();
    if text.is_empty() {
        return Err(Refusal::EmptyText { argument: what.to_owned(), advice: "" });
    }
    if length > MAX_NAME_CHARS {
        let why =
            format!("the `{what}` has {length} characters, and the limit is {MAX_NAME_CHARS}");
        return Err(Refusal::Invalid(why));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    fn relation(kind: &str, to: &str, since: Option<&str>, until: Option<&str>) -> Relation {
        let [since, until] = [since, until].map(|it| it.map(str::to_owned));
        Relation { kind: kind.to_owned(), to: to.to_owned(), since, until, source: None }
    }

    fn add(
        home: &mut TestHome,
        subject: &str,
        relation: Relation,
    ) -> Result<AddFactOutcome, Refusal> {
        let new = NewFact { subject: subject.to_owned(), relation };
        add_fact(&mut home.keeper, &ada(), &new)
    }

    fn end(
        home: &mut TestHome,
        fact: [&str; 3],
        ended: Option<&str>,
    ) -> Result<FactRecord, Refusal> {
        let [from, kind, to] = fact.map(str::to_owned);
        end_fact(&mut home.keeper, &ada(), &Triple { from, kind, to }, ended)
    }

    /// A home in which Max has done chess since 2020.
    fn home() -> TestHome {
        let text =
            "name: Max\ngenus: Person\nrelations:\n- { type: does, to: chess, since: 2020 }\n";
        TestHome::new(&[("entities/person/max.yaml", text)])
    }

    /// Merges a fact of these dates into one that holds from 2015 to 2018; describes the outcome.
    fn merge_dates(since: Option<&str>, until: Option<&str>) -> String {
        let mut old = relation("does", "chess", Some("2015"), Some("2018"));
        match merge_into_existing_fact(vec![&mut old], &relation("does", "chess", since, until)) {
            Ok(FactMatch::New) => "new".to_owned(),
            Ok(FactMatch::Duplicate(_)) => "duplicate".to_owned(),
            Ok(FactMatch::Extended(_)) => "extended".to_owned(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_fact_is_added_once_in_any_spelling() {
        let mut home = home();
        let outcome = add(&mut home, "MAX", relation("Does", "CHESS", None, None)).unwrap();
        let AddFactOutcome::AlreadyKnown(fact) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fact.to_line(), "Max → does → chess");
        assert_eq!(fact.relation.since.as_deref(), Some("2020"));
    }

    #[test]
    fn an_added_fact_reports_the_other_current_facts_of_its_kind() {
        let mut home = home();
        let outcome = add(&mut home, "max", relation("does", "judo", Some("2026"), None)).unwrap();
        let AddFactOutcome::Added(fact, others) = outcome else { panic!("{outcome:?}") };
        assert_eq!(fact.to_line(), "Max → does → judo");
        let others: Vec<_> = others.iter().map(FactRecord::to_line).collect();
        assert_eq!(others, ["Max → does → chess"]);
    }

    #[test]
    fn a_new_subject_becomes_an_entity_of_the_genus_thing() {
        let mut home = home();
        add(&mut home, "Große Küche", relation("is in", "Haus", None, None)).unwrap();
        let (genus, kind) = home.run(|session| {
            let entity = session.palace.palace.graph.get("Große Küche").unwrap();
            (entity.genus.clone(), entity.relations[0].kind.clone())
        });
        assert_eq!((genus.as_str(), kind.as_str()), ("Thing", "is_in"));
    }

    #[test]
    fn a_start_date_is_added_to_a_fact_without_dates() {
        let mut old = relation("does", "chess", None, None);
        let new = relation("does", "chess", Some("2020"), None);
        let merged = merge_into_existing_fact(vec![&mut old], &new).unwrap();
        assert!(matches!(merged, FactMatch::Extended(_)));
        assert_eq!(old, new);
    }

    #[test]
    fn a_fact_that_overlaps_an_ended_one_is_refused() {
        let why = "that fact exists already, from 2015 until 2018, and the two overlap in time: if \
                   it holds again, set `valid_from` to 2018 or later";
        assert_eq!(merge_dates(Some("2017"), None), why);
        assert_eq!(merge_dates(None, Some("2016")), why);
        assert_eq!(merge_dates(Some("2015"), Some("2018")), "duplicate");
        assert_eq!(merge_dates(Some("2018"), None), "new");
        assert_eq!(merge_dates(None, Some("2015")), "new");
    }

    #[test]
    fn an_end_date_is_not_added_to_a_current_fact() {
        let mut old = relation("does", "chess", Some("2020"), None);
        let new = relation("does", "chess", Some("2020"), Some("2024"));
        let refusal = merge_into_existing_fact(vec![&mut old], &new).err().unwrap();
        assert!(
            refusal.to_string().contains("call mempalace_kg_invalidate to end it"),
            "{refusal}"
        );
    }

    #[test]
    fn a_fact_must_end_after_it_begins() {
        let today = ada().today();
        let valid = validate_fact(&relation("Works At", " A\nB ", Some("yesterday"), None), today);
        assert_eq!(valid.unwrap(), relation("works_at", "A B", Some("2026-02-28"), None));
        for until in ["2020", "2019", "44 BC"] {
            let fact = relation("does", "chess", Some("2020"), Some(until));
            let refusal = validate_fact(&fact, today).unwrap_err().to_string();
            assert!(refusal.starts_with("`valid_to` must be later than `valid_from`"), "{refusal}");
        }
    }

    #[test]
    fn a_name_in_a_fact_has_1_to_500_characters() {
        assert!(validate_fact_name("subject", &"é".repeat(500)).is_ok());
        let long = validate_fact_name("subject", &"é".repeat(501)).unwrap_err().to_string();
        assert_eq!(long, "the `subject` has 501 characters, and the limit is 500");
        let empty = validate_fact_name("object", " \n").unwrap_err().to_string();
        assert_eq!(empty, "the `object` is empty");
    }

    #[test]
    fn a_fact_ends_today_unless_a_date_is_given() {
        let ended = end(&mut home(), ["MAX", "DOES", "Chess"], None).unwrap();
        assert_eq!(ended.relation.until.as_deref(), Some("2026-03-01"));
        assert!(!ended.current);
    }

    #[test]
    fn a_fact_that_has_ended_cannot_end_again() {
        let mut home = home();
        end(&mut home, ["Max", "does", "chess"], Some("2025")).unwrap();
        let refusal = end(&mut home, ["Max", "does", "chess"], Some("2026")).unwrap_err();
        assert_eq!(refusal.to_string(), "that fact ended already, on 2025: Max → does → chess");
    }

    #[test]
    fn a_fact_cannot_end_before_it_begins() {
        let refusal = end(&mut home(), ["Max", "does", "chess"], Some("2019")).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "that fact begins on 2020: it cannot end on 2019, which is earlier; give a later date"
        );
    }

    #[test]
    fn of_two_periods_only_the_one_that_has_begun_ends() {
        let text = "name: Ann\ngenus: Person\nrelations:\n\
                    - { type: lives_in, to: Bern, since: 2020 }\n\
                    - { type: lives_in, to: Bern, since: 2022 }\n";
        let mut home = TestHome::new(&[("entities/person/ann.yaml", text)]);
        let ended = end(&mut home, ["ann", "lives in", "bern"], Some("2021-06-01")).unwrap();
        assert_eq!(ended.relation.since.as_deref(), Some("2020"));
        let expected = text.replace("since: 2020 }", "since: 2020, until: 2021-06-01 }");
        assert_eq!(home.read("entities/person/ann.yaml").unwrap(), expected);
    }

    #[test]
    fn a_fact_ends_only_at_a_date() {
        let mut home = home();
        let refusal = end(&mut home, ["Max", "does", "chess"], Some("some day")).unwrap_err();
        assert!(refusal.to_string().starts_with("`ended`: `some day` is no date"), "{refusal}");
        let ended = end(&mut home, ["Max", "does", "chess"], Some(" Yesterday ")).unwrap();
        assert_eq!(ended.relation.until.as_deref(), Some("2026-02-28"));
    }

    #[test]
    fn ending_an_unknown_fact_lists_the_current_facts_or_a_similar_name() {
        let refusal = |fact: [&str; 3]| end(&mut home(), fact, None).unwrap_err().to_string();
        assert_eq!(
            refusal(["Max", "does", "judo"]),
            "there is no such fact: Max → does → judo; the current facts of the subject are Max → \
             does → chess"
        );
        assert_eq!(
            refusal(["Maxx", "does", "chess"]),
            "there is no such fact: Maxx → does → chess; did you mean `Max`?"
        );
    }

    #[test]
    fn a_name_with_several_spellings_must_be_exact() {
        let mut home = TestHome::new(&[
            ("entities/thing/a.yaml", "name: My Project\ngenus: Thing\n"),
            ("entities/thing/b.yaml", "name: my_project\ngenus: Thing\n"),
            ("entities/thing/c.yaml", "name: Ärger\ngenus: Thing\n"),
        ]);
        let spell = |home: &mut TestHome, name: &str| {
            home.run(|session| resolve_spelling(&session.palace.palace.graph, name))
        };
        assert_eq!(spell(&mut home, "my_project").unwrap(), "my_project");
        assert_eq!(spell(&mut home, "ÄRGER").unwrap(), "Ärger");
        assert_eq!(spell(&mut home, "Unknown").unwrap(), "Unknown");
        assert_eq!(
            spell(&mut home, "MY PROJECT").unwrap_err().to_string(),
            "`MY PROJECT` could be any of `My Project`, `my_project`: use the exact spelling"
        );
    }
}
