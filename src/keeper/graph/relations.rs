//! Adding to the relations of an entity, and taking away: what is said of another
//! time stands beside what was said, what is said of the same time changes it.

use chrono::{DateTime, Utc};

use crate::keeper::graph::dates::resolve_relative_date;
use crate::model::{Date, Relation};
use crate::render::{relation_label, relation_validity};

/// Relations to take away.
#[derive(Clone, Debug)]
pub struct RelationRemoval {
    /// Their type.
    pub kind: String,
    /// Where they lead, by name.
    pub to: String,
    /// The date from which they hold, if only those are meant.
    pub since: Option<String>,
}

impl RelationRemoval {
    /// Tells whether a relation is one of them. A date is the same however it is
    /// written.
    pub(crate) fn matches(&self, it: &Relation) -> bool {
        let is_since = self.since.as_ref().is_none_or(|since| {
            let date = since.parse::<Date>().ok();
            it.since.as_ref() == Some(since) || date.is_some() && date == it.since_date()
        });
        self.kind == it.kind && self.to == it.to && is_since
    }

    /// Names them.
    pub(crate) fn describe(&self) -> String {
        let Self { kind, to, since } = self.clone();
        describe_relation(&Relation { kind, to, since, until: None, source: None })
    }
}

/// Says a relation in a line: `rules → Rome (since 2001)`.
pub(crate) fn describe_relation(it: &Relation) -> String {
    relation_validity(it)
        .map_or(relation_label(it), |terms| format!("{} ({terms})", relation_label(it)))
}

/// Writes the dates of a relation as they are to be kept.
pub(crate) fn resolve_dates(it: &mut Relation, now: DateTime<Utc>) {
    for told in [&mut it.since, &mut it.until].into_iter().flatten() {
        *told = resolve_relative_date(told, now);
    }
}

/// Adds a relation to those of an entity, of which those in `was` were there
/// before. If it touches the time of one that is like it, what it says is said of
/// that one, and what it does not say stays; else it stands beside. Returns what
/// is worth a note.
///
/// Refuses what would touch several, or one that is as new as itself: which is
/// meant, only the caller knows.
pub(crate) fn add_relation(
    relations: &mut Vec<Relation>,
    was: &[Relation],
    new: &Relation,
) -> Result<Option<String>, String> {
    if !new.date_errors().is_empty() {
        // That forbids it, and more may be wrong.
        relations.push(new.clone());
        return Ok(None);
    }
    let touched = relations
        .iter_mut()
        .filter(|it| it.has_same_kind_and_target(new) && it.overlaps_in_time(new));
    let mut touched: Vec<_> = touched.collect();
    if touched.iter().any(|it| **it == *new) {
        return Ok(None);
    }
    let says_nothing = relation_validity(new).is_none();
    match touched.as_mut_slice() {
        [] => relations.push(new.clone()),
        [first, ..] if says_nothing => {
            let over = first.until.is_some().then(|| describe_relation(first));
            return Ok(
                over.map(|it| format!("{it} is there already; say since when, if it holds again"))
            );
        }
        [old] if was.contains(old) => update_relation(old, new),
        [old] => {
            let (first, second) = (describe_relation(old), describe_relation(new));
            return Err(format!("{first} and {second} are of one time: say it once"));
        }
        several => {
            let said: Vec<_> = several.iter().map(|it| describe_relation(it)).collect();
            return Err(format!(
                "{} touches the time of several: {}; take away by `remove_relations` with \
                 `since` what it replaces",
                describe_relation(new),
                said.join(", ")
            ));
        }
    }
    Ok(None)
}

/// Says of a relation what is said anew.
fn update_relation(old: &mut Relation, new: &Relation) {
    for (field, said) in
        [(&mut old.since, &new.since), (&mut old.until, &new.until), (&mut old.source, &new.source)]
    {
        if said.is_some() {
            field.clone_from(said);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dated_relation(since: &str, until: &str) -> Relation {
        let said = |it: &str| Some(it.to_owned()).filter(|it| !it.is_empty());
        let (kind, to) = ("rules".to_owned(), "Rome".to_owned());
        Relation { kind, to, since: said(since), until: said(until), source: None }
    }

    /// Adds one relation after the other to what was there, and says what came of it.
    fn add_all(was: &[(&str, &str)], new: &[(&str, &str)]) -> String {
        let was: Vec<_> = was.iter().map(|(since, until)| dated_relation(since, until)).collect();
        let mut relations = was.clone();
        let mut told = Vec::new();
        for (since, until) in new {
            match add_relation(&mut relations, &was, &dated_relation(since, until)) {
                Ok(note) => told.extend(note),
                Err(why) => told.push(why),
            }
        }
        let mut all: Vec<_> =
            relations.iter().map(|it| relation_validity(it).unwrap_or_default()).collect();
        all.extend(told);
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
        rules → Rome (since 2001, until 2005) is there already; say since when, if it holds again
        ");
    }

    #[test]
    fn a_relation_that_overlaps_several_is_refused() {
        insta::assert_snapshot!(add_all(&[("2001", "2005"), ("2010", "")], &[("2003", "")]), @"
        since 2001, until 2005
        since 2010
        rules → Rome (since 2003) touches the time of several: rules → Rome (since 2001, until 2005), rules → Rome (since 2010); take away by `remove_relations` with `since` what it replaces
        ");
        insta::assert_snapshot!(add_all(&[], &[("2001", ""), ("2001", ""), ("2003", "")]), @"
        since 2001
        rules → Rome (since 2001) and rules → Rome (since 2003) are of one time: say it once
        ");
    }
}
