//! Resolves the `as_of` argument: a time, an age or a git revision.
//!
//! Times take precedence, so that a text means the same in every repository: a branch called
//! `yesterday` must be written as `heads/yesterday`.

use std::borrow::Cow;
use std::collections::{BinaryHeap, HashSet};

use chrono::{DateTime, Days, Months, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use gix::ObjectId;
use gix::revision::Spec;
use gix::revision::spec::parse::{Error as Unfit, ObjectKindHint, Options};

use palazzo_core::model::{Author, CommitId, TimeZone};

use crate::history::commits::{HistoryReader, utc_time};
use crate::history::past_files::format_time;
use crate::{Error, Store};

/// The maximum length of a revision in characters.
const MAX_REVISION_CHARS: usize = 200;
/// How far the clocks of two machines may differ.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::days(1);
/// The accepted forms, quoted in error messages.
const ACCEPTED_FORMS: &str = "use a day (2026-03-01), a time (2026-03-01T12:00:00Z), an age (3 weeks) or \
                     a git revision (HEAD~3, a branch, a tag, a commit)";

impl Store {
    /// Returns the commit that `text` stands for at the time `now`:
    ///
    /// - a time (RFC 3339, or without an offset, which is in `zone`): the last commit made by then;
    /// - a day: the last commit of that day in `zone`, or before;
    /// - an age (`3 weeks`, `3.weeks.ago`, `2h`, `yesterday`): the last commit at least that old;
    /// - any git revision that names a commit.
    ///
    /// Times refer to `HEAD` and its first parents, and to their commit times: a merged commit
    /// counts from the time of the merge. The parents of a merge by `palazzo sync` have no order,
    /// so there all parents count. A commit that is dated more than a day ahead of `now` counts as
    /// made now, because a clock was wrong.
    pub fn resolve_revision(
        &self,
        text: &str,
        now: DateTime<Utc>,
        zone: &TimeZone,
    ) -> Result<CommitId, Error> {
        let text = text.trim();
        let repository = self.require_repository()?;
        let past = HistoryReader::new(&repository);
        let found = match parse_time_or_age(text, now, zone) {
            Some(time) => {
                last_commit_until(&past, self.history_tip(&repository)?, text, time, now)?
            }
            None => resolve_git_revision(&past, &self.revision_on_branch(text))?,
        };
        Ok(CommitId(found.to_string()))
    }
}

impl Store {
    /// Returns a revision with the branch of the proposal instead of `HEAD`, which stands for the
    /// newest commit that is read.
    fn revision_on_branch<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(branch) = self.branch() else { return text.into() };
        let rest = text.strip_prefix("HEAD").or_else(|| text.strip_prefix('@'));
        match rest.filter(|it| it.is_empty() || it.starts_with(['~', '^', '@', '{'])) {
            Some(rest) if rest.starts_with('{') => format!("{}@{rest}", branch.full_name).into(),
            Some(rest) => format!("{}{rest}", branch.full_name).into(),
            None => text.into(),
        }
    }
}

/// Parses the time from which on something counts: a time, a day in `zone` (its first second; also
/// `today` and `yesterday`), or an age before `now`.
pub fn parse_start_time(text: &str, now: DateTime<Utc>, zone: &TimeZone) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let today = zone.day_at(now);
    let day = match text.to_lowercase().as_str() {
        "today" => Some(today),
        "yesterday" => today.pred_opt(),
        _ => parse_day(text),
    };
    let start_of_day = || day.map(|it| zone.start_of_day(it));
    parse_timestamp(text, zone).or_else(start_of_day).or_else(|| parse_age(text, now))
}

/// Finds the last ancestor of `head` made at or before `time`, among the first parents and all
/// parents of merges by `palazzo sync`.
fn last_commit_until(
    past: &HistoryReader<'_>,
    head: Option<ObjectId>,
    text: &str,
    time: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<ObjectId, Error> {
    let failed = |err| past.repository.git_error("read the history", err);
    let unfit = |why: String| Error::InvalidRevision { said: text.to_owned(), why };
    let head = head.ok_or_else(|| unfit("cannot be reached: nothing is committed yet".into()))?;
    let (mut first, mut seen) = (None, HashSet::from([head]));
    let start = past.read_commit_node(head).map_err(failed)?;
    let present = |seconds| match is_far_ahead(utc_time(seconds), now) {
        true => now.timestamp(),
        false => seconds,
    };
    let mut newest_first = BinaryHeap::from([(present(start.seconds), head)]);
    while let Some((seconds, id)) = newest_first.pop() {
        if utc_time(seconds) <= time {
            return Ok(id);
        }
        first = Some(utc_time(seconds));
        let parents = past.read_commit_node(id).map_err(failed)?.parents;
        let is_unordered = parents.len() > 1 && is_sync_merge(past, id).map_err(failed)?;
        let count = if is_unordered { parents.len() } else { 1 };
        for parent in parents.into_iter().take(count).filter(|it| seen.insert(*it)) {
            let seconds = past.read_commit_node(parent).map_err(failed)?.seconds;
            newest_first.push((present(seconds), parent));
        }
    }
    let begins = first.map(|it| format!(", of {}", format_time(it))).unwrap_or_default();
    Err(unfit(format!("is before the first commit{begins}")))
}

/// Returns whether a commit is dated so far ahead that a clock must have been wrong.
pub fn is_far_ahead(at: DateTime<Utc>, now: DateTime<Utc>) -> bool {
    at - now > MAX_CLOCK_DIFFERENCE
}

/// Returns whether a merge was made by `palazzo sync`.
fn is_sync_merge(past: &HistoryReader<'_>, commit: ObjectId) -> gix::Result<bool> {
    let found = past.git.find_commit(commit)?;
    Ok(found.committer()?.email == Author::SYNC_EMAIL)
}

/// Resolves a git revision.
fn resolve_git_revision(past: &HistoryReader<'_>, text: &str) -> Result<ObjectId, Error> {
    let unfit = |why: String| {
        let said = text.chars().take(MAX_REVISION_CHARS).filter(|it| !it.is_control()).collect();
        Error::InvalidRevision { said, why }
    };
    if text.is_empty()
        || text.chars().count() > MAX_REVISION_CHARS
        || text.starts_with('-')
        || text.contains([':', '\\', '*', '?'])
        || text.contains(char::is_control)
        || text.contains("..")
    {
        return Err(unfit(format!("is not a time or a git revision; {ACCEPTED_FORMS}")));
    }
    let hint = Options { object_kind_hint: Some(ObjectKindHint::Committish), ..Default::default() };
    let found = Spec::from_bstr(text, &past.git, hint);
    let found = found.map_err(|err| match err.downcast_any_ref::<Unfit>() {
        Some(Unfit::AmbiguousPrefix { .. } | Unfit::AmbiguousRefAndObject { .. }) => {
            unfit("matches several commits; give more characters of the id".to_owned())
        }
        _ if past.repository.is_shallow() => {
            let command = past.repository.git_command("fetch --unshallow");
            unfit(format!(
                "is not a revision in this repository, a shallow clone: `{command}` fetches the older \
                 commits; {ACCEPTED_FORMS}"
            ))
        }
        _ => unfit(format!("is not a revision in this repository; {ACCEPTED_FORMS}")),
    })?;
    let object = found.single().and_then(|it| it.try_object().ok().flatten());
    let commit = object.and_then(|it| it.peel_to_commit().ok());
    commit.map(|it| it.id).ok_or_else(|| unfit("is not the name of a commit".to_owned()))
}

/// Parses a time, a day or an age.
fn parse_time_or_age(text: &str, now: DateTime<Utc>, zone: &TimeZone) -> Option<DateTime<Utc>> {
    let end_of_day = || parse_end_of_day(text, zone);
    parse_timestamp(text, zone).or_else(end_of_day).or_else(|| parse_age(text, now))
}

fn parse_timestamp(text: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Some(time.to_utc());
    }
    let text = text.replacen('T', " ", 1);
    let read = |form| NaiveDateTime::parse_from_str(&text, form).ok();
    let time = read("%Y-%m-%d %H:%M:%S").or_else(|| read("%Y-%m-%d %H:%M"));
    time.map(|it| zone.to_utc(it))
}

fn parse_day(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()
}

/// Parses a day and returns its last second.
fn parse_end_of_day(text: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    let end = zone.start_of_day(parse_day(text)?.checked_add_days(Days::new(1))?);
    end.checked_sub_signed(TimeDelta::seconds(1))
}

/// Parses an age and returns the time that long before `now`.
fn parse_age(text: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let text = text.to_lowercase();
    match text.as_str() {
        "now" => return Some(now),
        "yesterday" => return now.checked_sub_days(Days::new(1)),
        _ => {}
    }
    let (words, is_ago) = split_age(&text);
    let (count, unit) = match words.as_slice() {
        [word] => {
            let (count, unit) = word.split_at(word.find(|it: char| !it.is_ascii_digit())?);
            // A larger number is more likely the beginning of a commit id.
            (count.parse().ok().filter(|it| *it < 1_000 || is_ago)?, unit)
        }
        ["a" | "an" | "one", unit] => (1, *unit),
        [count, unit] => (count.parse::<u64>().ok()?, *unit),
        _ => return None,
    };
    let unit = AgeUnit::from_name(unit)?;
    // An age before the earliest representable time means the earliest.
    Some(unit.subtract_from(now, count).unwrap_or(DateTime::<Utc>::MIN_UTC))
}

/// Splits `3 weeks`, `3.weeks.ago` or `3w` into words, without a final `ago`.
fn split_age(text: &str) -> (Vec<&str>, bool) {
    let mut words: Vec<_> = text.split([' ', '.', '_', '-']).filter(|it| !it.is_empty()).collect();
    let is_ago = words.last() == Some(&"ago");
    words.truncate(words.len() - usize::from(is_ago));
    (words, is_ago)
}

/// The unit of an age.
enum AgeUnit {
    Seconds(i64),
    Days(u64),
    Months(u32),
}

impl AgeUnit {
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "s" | "sec" | "secs" | "second" | "seconds" => Self::Seconds(1),
            "m" | "min" | "mins" | "minute" | "minutes" => Self::Seconds(60),
            "h" | "hour" | "hours" => Self::Seconds(3_600),
            "d" | "day" | "days" => Self::Days(1),
            "w" | "week" | "weeks" => Self::Days(7),
            "mo" | "month" | "months" => Self::Months(1),
            "y" | "year" | "years" => Self::Months(12),
            _ => return None,
        })
    }

    /// Returns the time `count` units before `now`; `None`: that is not representable.
    fn subtract_from(&self, now: DateTime<Utc>, count: u64) -> Option<DateTime<Utc>> {
        match self {
            Self::Seconds(each) => {
                let seconds = i64::try_from(count).ok()?.checked_mul(*each)?;
                now.checked_sub_signed(TimeDelta::try_seconds(seconds)?)
            }
            Self::Days(each) => now.checked_sub_days(Days::new(count.checked_mul(*each)?)),
            Self::Months(each) => {
                let months = u32::try_from(count).ok()?.checked_mul(*each)?;
                now.checked_sub_months(Months::new(months))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    fn parsed_time(text: &str) -> String {
        parsed_time_in_zone(text, &TimeZone::UTC)
    }

    fn parsed_time_in_zone(text: &str, zone: &TimeZone) -> String {
        let now = "2026-03-31T12:00:00Z".parse().unwrap();
        parse_time_or_age(text, now, zone).map_or("no time".to_owned(), |it| it.to_rfc3339())
    }

    #[test]
    fn times_days_and_ages_are_parsed() {
        for (text, expected) in [
            ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"),
            ("2026-03-01T12:00:00+02:00", "2026-03-01T10:00:00+00:00"),
            ("2026-03-01 12:00", "2026-03-01T12:00:00+00:00"),
            ("2026-03-01T12:00:05", "2026-03-01T12:00:05+00:00"),
            ("2026-03-01", "2026-03-01T23:59:59+00:00"),
            ("now", "2026-03-31T12:00:00+00:00"),
            ("Yesterday", "2026-03-30T12:00:00+00:00"),
            ("3 weeks", "2026-03-10T12:00:00+00:00"),
            ("3.weeks", "2026-03-10T12:00:00+00:00"),
            ("3.weeks.ago", "2026-03-10T12:00:00+00:00"),
            ("3 weeks ago", "2026-03-10T12:00:00+00:00"),
            ("3w", "2026-03-10T12:00:00+00:00"),
            ("a month ago", "2026-02-28T12:00:00+00:00"),
            ("2h", "2026-03-31T10:00:00+00:00"),
            ("90 min", "2026-03-31T10:30:00+00:00"),
            ("1 year", "2025-03-31T12:00:00+00:00"),
            ("5000 days", "2012-07-22T12:00:00+00:00"),
            ("99999999999 years ago", "-262143-01-01T00:00:00+00:00"),
        ] {
            assert_eq!(parsed_time(text), expected, "{text}");
        }
    }

    #[test]
    fn days_and_times_without_an_offset_are_those_of_the_zone() {
        let zone = "Asia/Tokyo".parse().unwrap();
        for (text, expected) in [
            ("2026-03-01", "2026-03-01T14:59:59+00:00"),
            ("2026-03-01 12:00", "2026-03-01T03:00:00+00:00"),
            ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00+00:00"),
            ("2 hours", "2026-03-31T10:00:00+00:00"),
        ] {
            assert_eq!(parsed_time_in_zone(text, &zone), expected, "{text}");
        }
        let now = zone.start_of_day("2026-03-02".parse().unwrap()) + TimeDelta::hours(9);
        let start_at = |text: &str| parse_start_time(text, now, &zone);
        assert_eq!(start_at("today"), start_at("2026-03-02"));
        assert_eq!(start_at("Yesterday"), start_at("2026-03-01"));
        let start = parse_start_time("2026-03-01", DateTime::UNIX_EPOCH, &zone);
        assert_eq!(start, "2026-02-28T15:00:00Z".parse().ok());
    }

    #[test]
    fn revision_names_are_not_parsed_as_times() {
        for text in
            ["HEAD~3", "main", "2026", "123456d", "1000d", "d", "3", "3 stones", "weeks", "", "ago"]
        {
            assert_eq!(parsed_time(text), "no time", "{text}");
        }
    }

    /// Creates a palace with three versions, one hour apart, the last of them at `now`.
    fn scene_with_three_versions() -> (TestHome, Store, DateTime<Utc>) {
        let scene = TestHome::new();
        scene.init_repository();
        let mut store = scene.palace("keep");
        let now = DateTime::from_timestamp(1_900_000_000, 0).unwrap();
        for (hour, text) in [(2, "1\n"), (1, "2\n"), (0, "3\n")] {
            let was = store.read_file("rooms/hall.yaml").unwrap();
            let mut change = change_of_one_file("rooms/hall.yaml", was.as_deref(), Some(text));
            change.at = now - TimeDelta::hours(hour);
            commit_ok(&mut store, &change);
        }
        (scene, store, now)
    }

    #[test]
    fn a_commit_dated_more_than_a_day_ahead_counts_as_made_now() {
        let (scene, store, now) = scene_with_three_versions();
        for (ahead, as_of_now) in [(TimeDelta::hours(23), "3\n"), (TimeDelta::days(30_000), "4\n")]
        {
            scene.write_file("keep/rooms/hall.yaml", "4\n");
            scene.git(&["add", "."]);
            let date = format!("{} +0000", (now + ahead).timestamp());
            let tree = scene.git(&["write-tree"]);
            let text = format!(
                "tree {}\nparent {}\nauthor A <a@b> {date}\ncommitter A <a@b> {date}\n\nahead\n",
                tree.trim(),
                scene.git(&["rev-parse", "HEAD"]).trim()
            );
            let id = scene.git_with_input(&["hash-object", "-t", "commit", "-w", "--stdin"], &text);
            scene.git(&["reset", "-q", "--hard", id.trim()]);
            assert_eq!(text_as_of(&store, "now", now), as_of_now);
            assert_eq!(text_as_of(&store, "30 minutes", now), "2\n");
            scene.git(&["reset", "-q", "--hard", "HEAD~1"]);
        }
    }

    fn text_as_of(store: &Store, text: &str, now: DateTime<Utc>) -> String {
        let then =
            store.resolve_revision(text, now, &TimeZone::UTC).and_then(|it| store.as_of(&it));
        match then.map(|it| it.read_file("rooms/hall.yaml")) {
            Ok(Ok(text)) => text.unwrap_or_else(|| "missing".to_owned()),
            Ok(Err(finding)) => finding.to_string(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn a_commit_is_found_by_time_and_by_any_git_revision() {
        let (scene, store, now) = scene_with_three_versions();
        scene.git(&["tag", "-m", "annotated", "first", "HEAD~2"]);
        scene.git(&["branch", "side/line", "HEAD~1"]);
        let short = scene.git(&["rev-parse", "--short", "HEAD~1"]);
        for (text, expected) in [
            ("now", "3\n"),
            ("1 hour ago", "2\n"),
            ("61 minutes", "1\n"),
            ("HEAD", "3\n"),
            ("@", "3\n"),
            ("HEAD~2", "1\n"),
            ("main^", "2\n"),
            ("first", "1\n"),
            ("refs/tags/first", "1\n"),
            ("side/line", "2\n"),
            (&short, "2\n"),
        ] {
            assert_eq!(text_as_of(&store, text, now), expected, "{text}");
        }
    }

    #[test]
    fn a_time_finds_the_newest_commit_of_all_parents_of_a_merge_by_sync() {
        let (scene, store, now) = scene_with_three_versions();
        let tree = scene.git(&["rev-parse", "HEAD^{tree}"]);
        let [new, old] = ["HEAD", "HEAD~2"].map(|it| scene.git(&["rev-parse", it]));
        for (email, expected) in [("sync@palazzo.invalid", "2\n"), ("ada@example.org", "1\n")] {
            let commit = format!(
                "commit refs/heads/main\ncommitter palazzo <{email}> 1900000000 +0000\ndata 5\nmerge\n\
                 from {}\nmerge {}\nM 040000 {} \"\"\n\n",
                old.trim(),
                new.trim(),
                tree.trim()
            );
            scene.git(&["update-ref", "refs/heads/main", new.trim()]);
            scene.git_with_input(&["fast-import", "--quiet", "--force"], &commit);
            assert_eq!(text_as_of(&store, "1 hour ago", now), expected, "{email}");
        }
    }

    #[test]
    fn an_unknown_revision_is_refused_with_a_reason() {
        let (scene, store, now) = scene_with_three_versions();
        scene.git(&["tag", "blob", "HEAD:keep/rooms/hall.yaml"]);
        assert_eq!(
            text_as_of(&store, "1 day", now),
            "`1 day` is before the first commit, of 2030-03-17 15:46 UTC"
        );
        assert_eq!(text_as_of(&store, "blob", now), "`blob` is not the name of a commit");
        for text in
            ["--upload-pack=touch x", "-1", "HEAD:keep", ":/room", "HEAD..main", "", "a\nb", "*"]
        {
            let refused = text_as_of(&store, text, now);
            assert!(
                refused.contains("is not a time or a git revision; use a day (2026-03-01)"),
                "{refused}"
            );
        }
        for text in [
            "nowhere",
            "HEAD~9",
            "HEAD^9",
            "@{9}",
            "@{u}",
            "@{-1}",
            "@{push}",
            "HEAD^{tree}x",
            "HEAD@{99999999999999999999}",
            "HEAD~99999999999999999999",
            "HEAD^{/(((}",
            "deadbeef",
            "g-deadbeef",
        ] {
            let refused = text_as_of(&store, text, now);
            assert!(refused.contains("is not a revision in this repository"), "{text}: {refused}");
        }
    }

    #[test]
    fn without_a_commit_every_revision_is_refused() {
        let scene = TestHome::new();
        let store = scene.palace("keep");
        let now = DateTime::UNIX_EPOCH;
        let refused = store.resolve_revision("now", now, &TimeZone::UTC).unwrap_err().to_string();
        assert!(refused.starts_with("no git repository can be used for"), "{refused}");
        scene.init_repository();
        assert_eq!(
            text_as_of(&store, "now", now),
            "`now` cannot be reached: nothing is committed yet"
        );
        assert!(text_as_of(&store, "HEAD", now).contains("is not a revision in this repository"));
    }

    #[test]
    fn an_ambiguous_commit_abbreviation_is_refused() {
        let (scene, store, now) = scene_with_three_versions();
        // Enough commits that two ids share their first four digits.
        let mut script = String::new();
        for it in 0..700 {
            let from = if it == 0 { "from refs/heads/main\n" } else { "" };
            script.push_str(&format!(
                "commit refs/heads/long\ncommitter A <a@b> {it} +0000\ndata 1\nx\n{from}\n"
            ));
        }
        scene.fast_import(&script);
        let all = scene.git(&["rev-list", "--all"]);
        let mut names: Vec<_> = all.lines().map(|it| &it[..4]).collect();
        names.sort_unstable();
        let twin = names.windows(2).find(|it| it[0] == it[1]).unwrap()[0];
        assert_eq!(
            text_as_of(&store, twin, now),
            format!("`{twin}` matches several commits; give more characters of the id")
        );
    }
}
