//! Renders what visits have changed: one conversation of an MCP client each.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::model::{
    ChangeKind, ChangeSteps, HandOver, ItemDiff, ItemElement, ItemOrFile, RecordedVisit,
    RepeatedChanges, VisitDetails,
};
use crate::render::item_json::item_kind_and_name;
use crate::render::palace_diff::{MAX_DETAILS, item_label, palace_diff, part_label, value_label};
use crate::render::text::{count_with_noun, in_quotes, one_line, truncate};
use crate::render::{ago, item_diff_json, time_of_day};

/// Limits for the characters of a name, and of the first line of a hand-over.
const MAX_NAME: usize = 30;
const MAX_FIRST_LINE: usize = 100;

/// Renders visits, two lines each: its id, age, client and changes; then when it was, for how long,
/// and what it left for the next one.
pub fn visit_log(visits: &[VisitDetails], now: DateTime<Utc>) -> String {
    visits.iter().map(|it| visit_row(it, now)).collect()
}

fn visit_row(details: &VisitDetails, now: DateTime<Utc>) -> String {
    let VisitDetails { visit, items, hand_over, .. } = details;
    let (id, age) = (visit.short_id(), ago(visit.ended(), now));
    let undone = visit.undone_amount().word().map(|it| format!("  ({it})")).unwrap_or_default();
    let (client, changes) = (client_name(visit), changes_in_words(items));
    let mut row = format!("{id}  {age:<14}  {client}  {changes}{undone}\n");
    let left = hand_over.as_ref().map(|it| format!("; left {}", hand_over_line(it)));
    let width = id.len() + 2;
    row.push_str(&format!(
        "{:width$}{}{}\n",
        "",
        visit_times(visit, now),
        left.unwrap_or_default()
    ));
    row
}

/// Renders a visit: when it was, its hand-over, its commits, and what it changed.
pub fn visit_page(details: &VisitDetails, now: DateTime<Utc>) -> String {
    let VisitDetails { visit, items, repeated, hand_over } = details;
    let mut page = visit_heading(visit, now);
    if let Some(HandOver { title, text }) = hand_over {
        page.push_str(&format!("\nIt left {}:\n\n{}\n", in_quotes(title), text.trim()));
    }
    page.push_str(&format!("\n{}:\n", count_with_noun(visit.commits.len(), "commit")));
    for commit in visit.commits.iter().rev() {
        let subject = truncate(&one_line(&commit.summary.subject), 120);
        page.push_str(&format!("  {}  {subject}\n", commit.summary.short));
    }
    page.push_str(&format!("\n{}:\n", changes_title(visit)));
    page.push_str(&if items.is_empty() {
        "nothing is left of it\n".to_owned()
    } else {
        palace_diff(items)
    });
    if !repeated.is_empty() {
        page.push_str("\nWhat it changed more than once, step by step:\n");
        for it in repeated {
            page.push_str(&format!("{}\n", repeated_changes(it)));
        }
    }
    let id = visit.short_id();
    page.push_str(&format!("\npalazzo diff --visit {id} shows every line"));
    if visit.undoable > 0 {
        page.push_str(&format!("; palazzo undo --visit {id} reverts "));
        page.push_str(match visit.is_partly_undone() {
            true => "the rest, unless others have changed it",
            false => "it",
        });
    }
    page.push_str(".\n");
    page
}

/// Renders who made a visit, or an undo, and when.
fn visit_heading(visit: &RecordedVisit, now: DateTime<Utc>) -> String {
    let (id, client) = (visit.short_id(), client_name(visit));
    let title = match &visit.undoes {
        Some(undone) => format!("Undo {id} of {} by {client}", in_quotes(undone)),
        None => format!("Visit {id} of {client}"),
    };
    let undone = visit.undone_amount().word().map(|it| format!(", {it}")).unwrap_or_default();
    format!("{title}, {} ({}{undone})\n", ago(visit.ended(), now), visit_times(visit, now))
}

/// Renders what a visit changed more than once in an item:
/// `entity Plan: status none → open → done; observation 'Old.', then removed`.
pub fn repeated_changes(repeated: &RepeatedChanges) -> String {
    let changes = repeated.changes.iter().take(MAX_DETAILS).map(repeated_change);
    let mut changes: Vec<_> = changes.collect();
    if repeated.changes.len() > MAX_DETAILS {
        changes.push(format!("and {} more", repeated.changes.len() - MAX_DETAILS));
    }
    format!("{}: {}", item_label(&repeated.item), changes.join("; "))
}

/// Returns the title of what a visit changed. If it is undone in part, only the rest is described.
pub fn changes_title(visit: &RecordedVisit) -> &'static str {
    match visit.is_partly_undone() {
        true => "What is left of what it changed",
        false => "What it changed",
    }
}

fn repeated_change(change: &ChangeSteps) -> String {
    match change {
        ChangeSteps::Presence(states) => {
            let words = states.iter().map(|it| if *it { "added" } else { "removed" });
            words.collect::<Vec<_>>().join(", then ")
        }
        ChangeSteps::Value { of, states } => {
            let state = |it: &Option<String>| match it {
                Some(value) => value_label(of, value),
                None => "none".to_owned(),
            };
            let states: Vec<_> = states.iter().map(state).collect();
            format!("{} {}", one_line(of), states.join(" → "))
        }
        ChangeSteps::Part(states) => steps_of_part(states).join(", then "),
        ChangeSteps::Text { of, versions } => {
            let of = if of.is_empty() { "the text" } else { of };
            format!("{versions} versions of {}", one_line(of))
        }
    }
}

fn steps_of_part(states: &[Option<ItemElement>]) -> Vec<String> {
    let (mut steps, mut last) = (Vec::new(), None);
    let is_new = states.first().is_some_and(Option::is_none);
    // A part that the visit has added was missing before.
    for state in states.iter().skip(usize::from(is_new)) {
        steps.push(match state {
            None => "removed".to_owned(),
            Some(part) if last == Some(part) => "added again".to_owned(),
            Some(part) if is_new && last.is_none() => format!("{} added", part_label(part)),
            Some(part) => part_label(part),
        });
        last = state.as_ref().or(last);
    }
    steps
}

/// Renders when a visit changed something: `09:12 UTC, 25 minutes`.
pub fn visit_times(visit: &RecordedVisit, now: DateTime<Utc>) -> String {
    format!("{}, {}", time_of_day(visit.began(), now), visit_duration(visit))
}

/// Renders the time between the first and the last change of a visit.
fn visit_duration(visit: &RecordedVisit) -> String {
    let minutes = (visit.ended() - visit.began()).num_minutes();
    let count = |it: i64, noun| count_with_noun(usize::try_from(it).unwrap_or_default(), noun);
    match minutes {
        ..1 => "less than a minute".to_owned(),
        1..120 => count(minutes, "minute"),
        120..2880 => count(minutes / 60, "hour"),
        _ => count(minutes / 1440, "day"),
    }
}

/// Renders the name of the client of a visit, as `palazzo undo --client` takes it.
pub fn client_name(visit: &RecordedVisit) -> String {
    truncate(&one_line(&visit.client), MAX_NAME)
}

/// Renders the title and the first line of a hand-over.
pub fn hand_over_line(hand_over: &HandOver) -> String {
    let (title, line) = (in_quotes(&hand_over.title), one_line(hand_over.first_line()));
    match line.is_empty() || line == one_line(&hand_over.title) {
        true => title,
        false => format!("{title}: {}", truncate(&line, MAX_FIRST_LINE)),
    }
}

/// Says in words what changed: `room hall added, 2 scrolls added, 3 entities changed`. A single item
/// of a kind has its name.
pub fn changes_in_words(items: &[ItemDiff]) -> String {
    let mut groups = BTreeMap::<(usize, &'static str), Vec<&ItemOrFile>>::new();
    for (item, verb) in verbs_by_item(items) {
        let (kind, _) = item_kind_and_name(item);
        groups.entry((verb, kind)).or_default().push(item);
    }
    let verbs = ["added", "changed", "removed"];
    let in_words = groups.iter().map(|((verb, kind), items)| match items.as_slice() {
        [only] => format!("{} {}", item_label(only), verbs[*verb]),
        all => format!("{} {}", count_with_noun(all.len(), kind), verbs[*verb]),
    });
    let in_words = in_words.collect::<Vec<_>>().join(", ");
    if in_words.is_empty() { "nothing is left of its changes".to_owned() } else { in_words }
}

/// Returns each item once, with what happened to it: 0 for added, 1 for changed, 2 for removed. If
/// others changed an item in between, it is several times in the list, the newest first.
fn verbs_by_item(items: &[ItemDiff]) -> BTreeMap<&ItemOrFile, usize> {
    let mut verbs = BTreeMap::new();
    for it in items {
        let verb = match it.change {
            ChangeKind::Added(_) => 0,
            ChangeKind::Changed(_) => 1,
            ChangeKind::Removed(_) => 2,
        };
        let known = verbs.entry(&it.item).or_insert(verb);
        if *known == 1 && verb == 0 {
            *known = 0;
        }
    }
    verbs
}

/// Renders a visit as JSON, with what it changed more than once, and if it is an undo, what it undid.
pub fn visit_page_json(details: &VisitDetails) -> Value {
    let mut value = visit_json(details);
    value["undoes"] = json!(details.visit.undoes);
    value["repeated"] = details.repeated.iter().map(repeated_changes).collect();
    value
}

/// Renders a visit of a list as JSON.
pub fn visit_json(details: &VisitDetails) -> Value {
    let VisitDetails { visit, items, hand_over, .. } = details;
    let time = |it: DateTime<Utc>| it.to_rfc3339_opts(SecondsFormat::Secs, true);
    let commits = visit.commits.iter().map(|it| it.summary.id.to_string());
    let hand_over = hand_over.as_ref().map(|it| json!({ "title": it.title, "text": it.text }));
    json!({
        "id": visit.id.to_string(),
        "short": visit.short_id(),
        "client": visit.client,
        "began": time(visit.began()),
        "ended": time(visit.ended()),
        "undone": visit.is_undone(),
        "partly_undone": visit.is_partly_undone(),
        "commits": commits.collect::<Vec<_>>(),
        "hand_over": hand_over,
        "items": items.iter().map(item_diff_json).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::model::ItemId;
    use crate::model::{CommitDetails, CommitId, CommitSummary};

    fn commit(at: &str, subject: &str) -> CommitDetails {
        let summary = CommitSummary {
            id: CommitId("1a2b3c4d".to_owned()),
            short: "1a2b3c4".to_owned(),
            subject: subject.to_owned(),
            by: "claude".to_owned(),
            at: at.parse().unwrap(),
        };
        CommitDetails {
            summary,
            parent: None,
            is_merge: false,
            body: String::new(),
            trailers: Vec::new(),
            changed_files: Vec::new(),
            is_by_client: true,
            path_at_commit: None,
        }
    }

    fn ids(count: usize) -> BTreeSet<CommitId> {
        (0..count).map(|it| CommitId(it.to_string())).collect()
    }

    fn details() -> VisitDetails {
        let visit = RecordedVisit {
            id: "01KJMM4N00F2JXHH4DQ7YF03TN".parse().unwrap(),
            client: "claude".to_owned(),
            commits: vec![
                commit("2026-03-01T10:25:00Z", "Leave a scroll"),
                commit("2026-03-01T10:00:00Z", "Record moss\nand more"),
            ],
            undoable: 2,
            undone: BTreeSet::new(),
            files_left: BTreeMap::new(),
            undoes: None,
        };
        let item = |name: &str, change| ItemDiff {
            item: ItemOrFile::Item { id: ItemId::Entity(name.to_owned()), title: None },
            files: Vec::new(),
            change,
        };
        let items = vec![
            item("Moss", ChangeKind::Added(Vec::new())),
            item("Fern", ChangeKind::Added(Vec::new())),
            item("Slate", ChangeKind::Removed(Vec::new())),
        ];
        let (title, text) = ("Hand-over".to_owned(), "# Done\n\nMoss is filed.".to_owned());
        let hand_over = Some(HandOver { title, text });
        VisitDetails { visit, items, repeated: Vec::new(), hand_over }
    }

    #[test]
    fn a_visit_has_its_changes_in_words_and_the_beginning_of_its_hand_over() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        let undone = VisitDetails {
            visit: RecordedVisit { undoable: 0, undone: ids(2), ..details().visit },
            items: Vec::new(),
            repeated: Vec::new(),
            hand_over: None,
        };
        insta::assert_snapshot!(visit_log(&[details(), undone], now), @r#"
        yf03tn  1 hour ago      claude  2 entities added, entity Slate removed
                10:00 UTC, 25 minutes; left "Hand-over": Done
        yf03tn  1 hour ago      claude  nothing is left of its changes  (undone)
                10:00 UTC, 25 minutes
        "#);
    }

    #[test]
    fn a_visit_of_which_some_commits_are_left_is_partly_undone() {
        let visit = details().visit;
        let mark = |undone, undoable| {
            let visit = RecordedVisit { undoable, undone: ids(undone), ..visit.clone() };
            visit.undone_amount().word()
        };
        assert_eq!(mark(0, 2), None);
        assert_eq!(mark(1, 1), Some("partly undone"));
        assert_eq!(mark(2, 0), Some("undone"));
    }

    #[test]
    fn an_item_with_changes_of_others_in_between_is_counted_once() {
        let moss = |change| ItemDiff {
            item: ItemOrFile::Item { id: ItemId::Entity("Moss".to_owned()), title: None },
            files: Vec::new(),
            change,
        };
        let words = |changes: &[ChangeKind]| {
            changes_in_words(&changes.iter().cloned().map(moss).collect::<Vec<_>>())
        };
        let [added, changed, removed] =
            [ChangeKind::Added, ChangeKind::Changed, ChangeKind::Removed].map(|it| it(Vec::new()));
        assert_eq!(words(&[changed.clone(), added.clone()]), "entity Moss added");
        assert_eq!(words(&[changed.clone(), changed]), "entity Moss changed");
        assert_eq!(words(&[removed, added]), "entity Moss removed");
    }

    #[test]
    fn repeated_changes_are_listed_step_by_step() {
        let part = |it: &str| Some(ItemElement::Observation(it.to_owned()));
        let changes = vec![
            ChangeSteps::Value { of: "status".to_owned(), states: vec![None, None, None] },
            ChangeSteps::Part(vec![None, part("A."), None]),
            ChangeSteps::Part(vec![part("B."), None, part("B."), part("C.")]),
            ChangeSteps::Text { of: String::new(), versions: 2 },
        ];
        let item = ItemOrFile::Item { id: ItemId::Entity("Plan".to_owned()), title: None };
        insta::assert_snapshot!(repeated_changes(&RepeatedChanges { item: item.clone(), changes }), @"entity Plan: status none → none → none; observation 'A.' added, then removed; observation 'B.', then removed, then added again, then observation 'C.'; 2 versions of the text");
        let changes = vec![ChangeSteps::Presence(vec![true, false])];
        assert_eq!(
            repeated_changes(&RepeatedChanges { item, changes }),
            "entity Plan: added, then removed"
        );
    }

    #[test]
    fn the_page_of_a_visit_has_its_hand_over_its_commits_and_the_commands() {
        let now = "2026-03-01T12:00:00Z".parse().unwrap();
        insta::assert_snapshot!(visit_page(&details(), now), @r#"
        Visit yf03tn of claude, 1 hour ago (10:00 UTC, 25 minutes)

        It left "Hand-over":

        # Done

        Moss is filed.

        2 commits:
          1a2b3c4  Record moss and more
          1a2b3c4  Leave a scroll

        What it changed:
        entity Moss: added
        entity Fern: added
        entity Slate: removed

        palazzo diff --visit yf03tn shows every line; palazzo undo --visit yf03tn reverts it.
        "#);
    }
}
