//! Adds relations to an entity, and removes them. A relation that overlaps in time with an existing
//! one changes that one; otherwise it is added.

use chrono::NaiveDate;

use crate::graph::resolve_relative_date;
use palazzo_core::model::{Date, Relation};
use palazzo_core::render::{relation_label, relation_validity};

/// The relations to remove from an entity.
#[derive(Clone, Debug)]
pub struct RelationRemoval {
    /// Their type.
    pub kind: String,
    /// The name of the entity they lead to.
    pub to: String,
    /// Only relations that hold since this date.
    pub since: Option<String>,
}

impl RelationRemoval {
    /// Returns true if a relation is to be removed. Two spellings of one date are equal.
    pub(crate) fn matches(&self, it: &Relation) -> bool {
        let is_since = self.since.as_ref().is_none_or(|since| {
            let date = since.parse::<Date>().ok();
            it.since.as_ref() == Some(since) || date.is_some() && date == it.since_date()
        });
        self.kind == it.kind && self.to == it.to && is_since
    }

    /// Describes the relations in a line.
    pub(crate) fn describe(&self) -> String {
        let Self { kind, to, since } = self.clone();
        describe_relation(&Relation { kind, to, since, until: None, source: None })
    }
}

/// Describes a relation in a line: `rules → Rome (since 2001)`.
pub(crate) fn describe_relation(it: &Relation) -> String {
    relation_validity(it)
        .map_or(relation_label(it), |validity| format!("{} ({validity})", relation_label(it)))
}

/// Replaces relative dates of a relation by calendar dates.
pub(crate) fn resolve_relative_dates(it: &mut Relation, today: NaiveDate) {
    for date in [&mut it.since, &mut it.until].into_iter().flatten() {
        *date = resolve_relative_date(date, today);
    }
}

/// Returns whether a given relation is a stored one but for its end.
fn keeps_end(old: &Relation, new: &Relation) -> bool {
    let is_ended = old.until.is_some() && new.until.is_none();
    is_ended && new.since.is_some() && (&old.since, &old.source) == (&new.since, &new.source)
}

/// Adds a relation to `relations`, of which those in `was` existed before the call. If it overlaps
/// in time with a relation of the same type to the same entity, it changes the fields of that
/// relation that it gives; otherwise it is added. May return a note for the caller.
///
/// Refuses a relation that overlaps with several, or with another new one: only the caller can
/// decide which one it replaces.
pub(crate) fn add_or_update_relation(
    relations: &mut Vec<Relation>,
    was: &[Relation],
    new: &Relation,
) -> Result<Option<String>, String> {
    if !new.date_errors().is_empty() {
        // The caller refuses it later, together with other violations.
        relations.push(new.clone());
        return Ok(None);
    }
    let overlaps =
        |it: &&mut Relation| it.has_same_kind_and_target(new) && it.overlaps_in_time(new);
    let mut overlapping: Vec<_> = relations.iter_mut().filter(overlaps).collect();
    if overlapping.iter().any(|it| **it == *new) {
        return Ok(None);
    }
    if overlapping.iter().any(|it| keeps_end(it, new)) {
        return Ok(Some(format!(
            "{} keeps its end; to take that away, remove the relation and add it without `until`",
            describe_relation(new)
        )));
    }
    let is_undated = relation_validity(new).is_none();
    match overlapping.as_mut_slice() {
        [] => relations.push(new.clone()),
        [first, ..] if is_undated => {
            let ended = first.until.is_some().then(|| describe_relation(first));
            return Ok(ended
                .map(|it| format!("{it} exists already; if it holds again, give `since` for it")));
        }
        [old] if was.contains(old) => update_relation(old, new),
        [old] => {
            let (first, second) = (describe_relation(old), describe_relation(new));
            return Err(format!("{first} and {second} overlap in time: give only one of them"));
        }
        several => {
            let several: Vec<_> = several.iter().map(|it| describe_relation(it)).collect();
            return Err(format!(
                "{} overlaps in time with several relations: {}; remove those that it replaces by \
                 `remove_relations` with `since`",
                describe_relation(new),
                several.join(", ")
            ));
        }
    }
    Ok(None)
}

/// Replaces the dates and the source of `old` by those that `new` gives.
fn update_relation(old: &mut Relation, new: &Relation) {
    for (field, value) in
        [(&mut old.since, &new.since), (&mut old.until, &new.until), (&mut old.source, &new.source)]
    {
        if value.is_some() {
            field.clone_from(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dated_relation(since: &str, until: &str) -> Relation {
        let date = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
        let (kind, to) = ("rules".to_owned(), "Rome".to_owned());
        Relation { kind, to, since: date(since), until: date(until), source: None }
    }

    /// Adds relations to existing ones. Returns the dates of all, then notes and refusals.
    fn add_all(was: &[(&str, &str)], new: &[(&str, &str)]) -> String {
        let was: Vec<_> = was.iter().map(|(since, until)| dated_relation(since, until)).collect();
        let mut relations = was.clone();
        let mut notes = Vec::new();
        for (since, until) in new {
            match add_or_update_relation(&mut relations, &was, &dated_relation(since, until)) {
                Ok(note) => notes.extend(note),
                Err(why) => notes.push(why),
            }
        }
        let mut all: Vec<_> =
            relations.iter().map(|it| relation_validity(it).unwrap_or_default()).collect();
        all.extend(notes);
        all.join("\n")
    }

    #[test]
    fn another_time_adds_a_relation_and_the_same_time_updates_it() {
        let term = [("2001", "2005")];
        insta::assert_snapshot!(add_all(&term, &[("2010", "")]), @"
        since 2001, until 2005
        since 2010
        ");
        insta::assert_snapshot!(add_all(&term, &[("2005", "")]), @"
        since 2001, until 2005
        since 2005
        ");
        insta::assert_snapshot!(add_all(&term, &[("2002", "")]), @"since 2002, until 2005");
        insta::assert_snapshot!(add_all(&[("2001", "")], &[("", "2005")]), @"since 2001, until 2005");
        insta::assert_snapshot!(add_all(&[("", "")], &[("44 BC", "")]), @"since 44 BC");
    }

    #[test]
    fn an_undated_relation_is_not_added_beside_a_dated_one() {
        insta::assert_snapshot!(add_all(&[("2001", "")], &[("", "")]), @"since 2001");
        insta::assert_snapshot!(add_all(&[("2001", "2005")], &[("", "")]), @"
        since 2001, until 2005
        rules → Rome (since 2001, until 2005) exists already; if it holds again, give `since` for it
        ");
    }

    #[test]
    fn a_relation_that_overlaps_several_is_refused() {
        insta::assert_snapshot!(add_all(&[("2001", "2005"), ("2010", "")], &[("2003", "")]), @"
        since 2001, until 2005
        since 2010
        rules → Rome (since 2003) overlaps in time with several relations: rules → Rome (since 2001, until 2005), rules → Rome (since 2010); remove those that it replaces by `remove_relations` with `since`
        ");
        insta::assert_snapshot!(add_all(&[], &[("2001", ""), ("2001", ""), ("2003", "")]), @"
        since 2001
        rules → Rome (since 2001) and rules → Rome (since 2003) overlap in time: give only one of them
        ");
    }
}
