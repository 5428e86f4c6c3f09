//! Undoes the last change of a tool, all changes of a visit, or those of a client since a moment.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use ulid::Ulid;

use crate::history::item_diffs::item_diffs_from_file_diffs;
use crate::history::log::{is_made_by, parse_since};
use crate::history::revert::{
    KeepReason, KeptFile, RevertCommit, UndoOutcome, changes_file, creates_palace, describe_commit,
    reverse_diffs, revert_diffs_of_file,
};
use crate::history::undone_commits::{
    UndoneCommitSet, is_change_of_tool, is_undo, undone_body, visit_of_commit,
};
use crate::history::visits::{client_visit_of_commit, combine_diffs, find_visit_or_undo};
use crate::palace::OpenPalace;
use crate::palace::change_plan::ChangeMode;
use crate::{Caller, Refusal, Session};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    CommitDetails, CommitId, FileContent, FileDiff, Files, ItemDiff, RecordedVisit, commit_trailers,
};
use palazzo_core::render;

/// How many visits a refusal lists.
const MAX_LISTED_VISITS: usize = 5;

/// The commits to undo together.
#[derive(Clone, Debug)]
pub enum UndoSelection {
    /// The commits of a visit: its id, the last characters of it, or `last`. Or an undo, by the
    /// same of its id.
    Visit(String),
    /// The commits of a client since a moment.
    Client {
        /// The name of the client, or of the author, in any case.
        name: String,
        /// The moment: a day, a time or an age.
        since: String,
    },
}

/// Undoes all commits of a selection that are not undone yet, in one new commit. The commit that
/// created the palace stays. What others have changed meanwhile stays too: it is merged with the
/// content before, or if they changed the same, the file stays with the other files of its item.
/// Refuses if no file is left. In a dry run it changes nothing.
pub fn undo_commits(
    session: &mut Session<'_>,
    selection: &UndoSelection,
    mode: ChangeMode,
) -> Result<UndoOutcome, Refusal> {
    let (palace, caller) = (&mut *session.palace, session.caller);
    let filter = ParsedUndoSelection::parse(selection, palace, caller)?;
    let history = read_history(palace, &filter, caller.now)?;
    let title = filter.title(&history, caller);
    if history.selected.is_empty() {
        return Err(nothing_to_undo_refusal(&history, &title, caller));
    }
    let (diffs, kept) = divide_diffs(palace, caller, &history)?;
    if diffs.is_empty() && !kept.is_empty() {
        let why = kept.iter().map(KeptFile::to_sentence).collect::<Vec<_>>().join("; ");
        return Err(Refusal::Invalid(format!("cannot undo {title}: {why}")));
    }
    if diffs.is_empty() {
        return Err(Refusal::NothingToUndo { why: format!("nothing is left of {title}") });
    }
    let changes = item_diffs_from_file_diffs(&reverse_diffs(&diffs), &palace.palace.settings);
    let description = match kept.len() {
        0 => title,
        files => format!("{title}, but for {}", render::count_with_noun(files, "file")),
    };
    let undone =
        UndoOutcome { description, changes, kept, broken_links: Vec::new(), undo_id: None };
    let later_commit = |path: &str| history.last_commit_of_others(path);
    let (wholly, in_part) = divide_commits(&history, &diffs, &undone.kept);
    let parents = history.selected.iter().rev().filter_map(|(_, it)| it.parent.as_ref());
    let revert = RevertCommit {
        diffs: &diffs,
        undone: wholly,
        undone_in_part: in_part,
        parents: parents.collect(),
        subject: filter.name(),
        body: undone_body(history.selected.len(), filter.visit(), undone.kept.len()),
    };
    revert.make(palace, caller, undone, later_commit, mode)
}

/// Undoes the last tool call that is not undone yet: a new commit restores its files, and keeps what
/// others have changed since. Refuses if they have changed the same. In a dry run it changes
/// nothing.
pub fn undo_last_call(session: &mut Session<'_>, mode: ChangeMode) -> Result<UndoOutcome, Refusal> {
    let (palace, caller) = (&mut *session.palace, session.caller);
    let Some((commit, later)) = last_undoable_commit(palace)? else {
        let why = "no commit of a tool is left that is not undone".to_owned();
        return Err(Refusal::NothingToUndo { why });
    };
    let diffs = palace.store().diff_of_commit(&commit)?;
    let description = describe_commit(&commit.summary, caller);
    if creates_palace(&diffs) {
        return Err(Refusal::UndoOfCreation { title: description });
    }
    let diffs = keep_later_changes(palace, diffs)?;
    let changes = item_diffs_from_file_diffs(&reverse_diffs(&diffs), &palace.palace.settings);
    let undone = UndoOutcome {
        description,
        changes,
        kept: Vec::new(),
        broken_links: Vec::new(),
        undo_id: None,
    };
    let later_commit = |path: &str| later.iter().find(|it| changes_file(it, path));
    let revert = RevertCommit {
        diffs: &diffs,
        undone: vec![commit.summary.id.clone()],
        undone_in_part: Vec::new(),
        parents: commit.parent.iter().collect(),
        subject: commit.summary.subject.clone(),
        body: format!("Undid {}", commit.summary.short),
    };
    revert.make(palace, caller, undone, later_commit, mode)
}

/// A selection whose texts are parsed.
enum ParsedUndoSelection {
    Visit(Ulid),
    Client { name: String, since: DateTime<Utc> },
}

impl ParsedUndoSelection {
    fn parse(
        selection: &UndoSelection,
        palace: &OpenPalace,
        caller: &Caller,
    ) -> Result<Self, Refusal> {
        match selection {
            // A command has an id too, but is no visit in the log.
            UndoSelection::Visit(name) => match name.trim().parse() {
                Ok(id) => Ok(Self::Visit(id)),
                Err(_) => Ok(Self::Visit(find_visit_or_undo(palace, caller, name)?.id)),
            },
            UndoSelection::Client { name, .. } if name.trim().is_empty() => {
                Err(Refusal::Invalid("the name of the client is empty".to_owned()))
            }
            UndoSelection::Client { name, since } => {
                let since = parse_since(since, caller)?;
                Ok(Self::Client { name: name.trim().to_owned(), since })
            }
        }
    }

    /// Returns whether a commit was made by the visit or client, or is the undo.
    fn selects(&self, commit: &CommitDetails) -> bool {
        match self {
            Self::Visit(id) => {
                visit_of_commit(commit) == Some(*id)
                    && (is_change_of_tool(commit) || is_undo(commit))
            }
            Self::Client { name, since } => {
                is_made_by(commit, name) && commit.summary.at >= *since && is_change_of_tool(commit)
            }
        }
    }

    /// Returns the time before which nothing is selected; leaves a day for clocks that differ.
    fn earliest_time(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        let start = match self {
            Self::Visit(id) => id.datetime().into(),
            Self::Client { since, .. } => *since,
        };
        start.min(now).checked_sub_signed(TimeDelta::days(1)).unwrap_or(DateTime::<Utc>::MIN_UTC)
    }

    fn name(&self) -> String {
        match self {
            Self::Visit(id) => format!("visit {}", RecordedVisit::shorten_id(*id)),
            Self::Client { name, since } => format!(
                "{} since {}",
                render::one_line(name),
                since.to_rfc3339_opts(chrono::SecondsFormat::Secs, true)
            ),
        }
    }

    fn visit(&self) -> Option<Ulid> {
        match self {
            Self::Visit(id) => Some(*id),
            Self::Client { .. } => None,
        }
    }

    /// Describes the selected commits in one line.
    fn title(&self, history: &VisitHistory, caller: &Caller) -> String {
        let Some((_, newest)) = history.selected.first() else { return self.name() };
        let by = render::one_line(&newest.summary.by);
        let age = render::ago(newest.summary.at, caller.now);
        let count = render::count_with_noun(history.selected.len(), "commit");
        format!("{count} of {} ({by}, {age})", self.name())
    }
}

/// The newest commits of a palace, divided into those to undo and the others. Each has its place in
/// the history, from the newest.
#[derive(Default)]
struct VisitHistory {
    /// The commits of the visit that are not undone.
    selected: Vec<(usize, CommitDetails)>,
    others: Vec<(usize, CommitDetails)>,
    /// Those to undo of which some files are undone already.
    undone_in_part: BTreeSet<CommitId>,
    /// Whether commits of the visit are undone already.
    has_undone: bool,
    /// Whether the visit created the palace; that commit is not undone.
    has_created_palace: bool,
}

impl VisitHistory {
    /// Returns the newest commit of others that changed a file after the first selected one that
    /// did; `None` if there is none.
    fn last_commit_of_others(&self, path: &str) -> Option<&CommitDetails> {
        let first_selected = self.selected.iter().rfind(|(_, it)| changes_file(it, path));
        let end = first_selected.map_or(usize::MAX, |it| it.0);
        let later = self.others.iter().take_while(|(place, _)| *place < end);
        later.map(|it| &it.1).find(|it| changes_file(it, path))
    }

    /// Describes the newest change of others in a file.
    fn last_change_of_others(&self, path: &str, caller: &Caller) -> String {
        match self.last_commit_of_others(path) {
            Some(it) => describe_commit(&it.summary, caller),
            None => "a hand edit that is not committed".to_owned(),
        }
    }
}

fn read_history(
    palace: &OpenPalace,
    filter: &ParsedUndoSelection,
    now: DateTime<Utc>,
) -> Result<VisitHistory, Refusal> {
    let (mut history, mut undone) = (VisitHistory::default(), UndoneCommitSet::default());
    let (mut place, start) = (0, filter.earliest_time(now));
    palace.store().log(&[], |commit| {
        if commit.summary.at < start {
            return false;
        }
        let is_undone = undone.add_commit(palace, &commit);
        place += 1;
        let is_selected = filter.selects(&commit);
        match is_selected && !is_undone {
            true => {
                let files = commit.changed_files.len();
                let commit = undone.without_undone_files(commit);
                if commit.changed_files.len() < files {
                    history.undone_in_part.insert(commit.summary.id.clone());
                }
                history.selected.push((place, commit));
            }
            false => {
                history.has_undone |= is_selected;
                history.others.push((place, commit));
            }
        }
        true
    })?;
    for (place, commit) in std::mem::take(&mut history.selected) {
        let is_creation = changes_file(&commit, PalacePath::SETTINGS_FILE)
            && creates_palace(&palace.store().diff_of_commit(&commit)?);
        history.has_created_palace |= is_creation;
        if !is_creation {
            history.selected.push((place, commit));
        }
    }
    Ok(history)
}

/// Divides the selected commits: those that these diffs undo, and those of which they undo some files
/// of those that were left. A commit of which a file stays can be undone later.
fn divide_commits(
    history: &VisitHistory,
    diffs: &[FileDiff],
    kept: &[KeptFile],
) -> (Vec<CommitId>, Vec<CommitId>) {
    let (mut wholly, mut in_part) = (Vec::new(), Vec::new());
    for (_, commit) in &history.selected {
        let id = commit.summary.id.clone();
        if !history.undone_in_part.contains(&id)
            && !kept.iter().any(|it| changes_file(commit, &it.path))
        {
            wholly.push(id);
        } else if diffs.iter().any(|it| changes_file(commit, &it.path)) {
            in_part.push(id);
        }
    }
    (wholly, in_part)
}

/// Divides what the selected commits changed: the diffs that revert it, reversed, and the files in
/// which others have changed the same since. If one file of an item stays, all its files stay.
fn divide_diffs(
    palace: &OpenPalace,
    caller: &Caller,
    history: &VisitHistory,
) -> Result<(Vec<FileDiff>, Vec<KeptFile>), Refusal> {
    let selected: Vec<_> = history.selected.iter().map(|(_, it)| it.clone()).collect();
    let mut by_file = BTreeMap::<_, Vec<_>>::new();
    for diff in combine_diffs(palace, &selected)?.into_iter().flatten() {
        by_file.entry(diff.path.clone()).or_default().push(diff);
    }
    let paths: Vec<_> = by_file.keys().map(String::as_str).collect();
    let contents = palace.store().contents_with_git_line_endings(&paths)?;
    let (mut diffs, mut kept) = (Vec::new(), BTreeMap::new());
    for ((path, mut of_file), now) in by_file.into_iter().zip(contents) {
        let reverted = revert_diffs_of_file(&now, &of_file);
        let is_new = of_file.last().is_some_and(|it| it.was == FileContent::Missing);
        let missing = (now == FileContent::Missing).then(|| why_missing(palace, history, &path));
        let missing = missing.transpose()?.flatten();
        let reason = match (missing, reverted) {
            (Some(reason), _) => reason,
            // Somebody may have reverted it already.
            (None, Some(was)) if was == now => continue,
            (None, Some(was)) => {
                diffs.push(FileDiff { path, was, now });
                continue;
            }
            (None, None) if is_new => KeepReason::Creation,
            (None, None) => KeepReason::SameChange,
        };
        kept.insert(path, reason);
        diffs.push(of_file.swap_remove(0));
    }
    keep_whole_items(palace, &mut kept, &diffs);
    // Palazzo's own files are needed while an item is left.
    diffs.retain(|it| {
        !kept.contains_key(&it.path)
            && (kept.is_empty() || !format::is_schema_or_readme_path(&it.path))
    });
    let describe =
        |(path, reason)| describe_kept_file(palace, caller, history, &diffs, path, reason);
    let kept = kept.into_iter().map(describe).collect::<Result<_, Refusal>>()?;
    Ok((diffs, kept))
}

fn describe_kept_file(
    palace: &OpenPalace,
    caller: &Caller,
    history: &VisitHistory,
    diffs: &[FileDiff],
    path: String,
    reason: KeepReason,
) -> Result<KeptFile, Refusal> {
    let entry = (reason == KeepReason::Entry).then(|| file_of_entry(palace)).flatten();
    let changed = entry.unwrap_or_else(|| path.clone());
    let has_scrolls = matches!(reason, KeepReason::Scrolls | KeepReason::Entry);
    let scroll = has_scrolls.then(|| scroll_left_in_room(palace, &changed, diffs));
    let changed = scroll.flatten().unwrap_or(changed);
    let changed_by = history.last_change_of_others(&changed, caller);
    let moved_to = match reason {
        KeepReason::Moved => find_moved_file(palace, history, &path)?,
        _ => None,
    };
    Ok(KeptFile { path, changed_by, reason, moved_to })
}

/// Returns why a missing file counts as changed: others have given its item another path, or it was
/// deleted by hand, and that is not committed. `None` if others have removed the item.
fn why_missing(
    palace: &OpenPalace,
    history: &VisitHistory,
    path: &str,
) -> Result<Option<KeepReason>, Refusal> {
    if palace.store().read_file_at_head(path).is_some() {
        return Ok(Some(KeepReason::SameChange));
    }
    Ok(path_after_move(palace, history, path)?.map(|_| KeepReason::Moved))
}

/// Returns the path that others gave the item of a missing file; `None` if they have removed it.
fn path_after_move(
    palace: &OpenPalace,
    history: &VisitHistory,
    path: &str,
) -> Result<Option<String>, Refusal> {
    let Some(commit) = history.last_commit_of_others(path) else { return Ok(None) };
    let items = item_diffs_from_file_diffs(
        &palace.store().diff_of_commit(commit)?,
        &palace.palace.settings,
    );
    let item = items.into_iter().find(|it: &ItemDiff| it.files.iter().any(|file| file == path));
    Ok(item.and_then(|it| it.files.into_iter().find(|file| file != path)))
}

/// Returns the present path of an item that others have renamed or moved, perhaps several times.
fn find_moved_file(
    palace: &OpenPalace,
    history: &VisitHistory,
    path: &str,
) -> Result<Option<String>, Refusal> {
    let mut seen = BTreeSet::from([path.to_owned()]);
    let mut next = path_after_move(palace, history, path)?;
    while let Some(path) = next.filter(|it| seen.insert(it.clone())) {
        let found = palace.store().read_file(&path);
        if found.map_err(|it| Refusal::UnreadableFile(it.into()))?.is_some() {
            return Ok(Some(path));
        }
        next = path_after_move(palace, history, &path)?;
    }
    Ok(None)
}

/// Keeps the rooms that would be removed and have scrolls of others, the settings that name such a room
/// as the entry, and all files of an item of which one is kept.
fn keep_whole_items(
    palace: &OpenPalace,
    kept: &mut BTreeMap<String, KeepReason>,
    diffs: &[FileDiff],
) {
    for diff in diffs.iter().filter(|it| it.was == FileContent::Missing) {
        if scroll_left_in_room(palace, &diff.path, diffs).is_some() {
            kept.entry(diff.path.clone()).or_insert(KeepReason::Scrolls);
        }
    }
    if file_of_entry(palace).is_some_and(|it| kept.contains_key(&it))
        && diffs.iter().any(changes_entry)
    {
        kept.entry(PalacePath::SETTINGS_FILE.to_owned()).or_insert(KeepReason::Entry);
    }
    for item in item_diffs_from_file_diffs(diffs, &palace.palace.settings) {
        if item.files.iter().any(|it| kept.contains_key(it)) {
            for file in item.files {
                kept.entry(file).or_insert(KeepReason::SameChange);
            }
        }
    }
}

/// Returns the file of the room that the settings name as the entry.
fn file_of_entry(palace: &OpenPalace) -> Option<String> {
    palace.palace.settings.entry.as_ref()?;
    palace.palace.entry_room().map(format::room_path)
}

/// Returns whether a diff changes which room the settings name as the entry.
fn changes_entry(diff: &FileDiff) -> bool {
    let entry = |it: &FileContent| {
        let files = Files::from([(diff.path.clone(), it.text()?.to_owned())]);
        format::parse_palace("", &files).0.settings.entry
    };
    diff.path == PalacePath::SETTINGS_FILE && entry(&diff.was) != entry(&diff.now)
}

/// Returns the file of a scroll in the room of a file that the diffs do not remove.
fn scroll_left_in_room(palace: &OpenPalace, path: &str, diffs: &[FileDiff]) -> Option<String> {
    let Ok(PalacePath::Room(room)) = PalacePath::parse(path) else { return None };
    let is_removed =
        |file: &str| diffs.iter().any(|it| it.path == file && it.was == FileContent::Missing);
    let scrolls = palace.palace.scroll_files().filter(|(_, scroll)| scroll.room == room);
    scrolls.map(|(file, _)| file).find(|it| !is_removed(it)).map(str::to_owned)
}

/// Refuses to undo a selection without commits, and lists the last visits.
fn nothing_to_undo_refusal(history: &VisitHistory, title: &str, caller: &Caller) -> Refusal {
    if history.has_undone && !history.has_created_palace {
        let why = format!("all commits of {title} are undone already");
        return Refusal::NothingToUndo { why };
    }
    if history.has_created_palace {
        return Refusal::UndoOfCreation { title: title.to_owned() };
    }
    let (mut seen, mut visits) = (BTreeSet::new(), Vec::new());
    for (_, commit) in &history.others {
        let Some(id) = client_visit_of_commit(commit).filter(|it| seen.insert(*it)) else {
            continue;
        };
        let client = commit.trailer(commit_trailers::CLIENT).unwrap_or_default();
        let client = render::name_in_sentence(client);
        let age = render::ago(commit.summary.at, caller.now);
        visits.push(format!("{} ({client}, {age})", RecordedVisit::shorten_id(id)));
    }
    visits.truncate(MAX_LISTED_VISITS);
    let hint = match visits.is_empty() {
        true => String::new(),
        false => format!("; the last visits are {}", visits.join(", ")),
    };
    Refusal::NothingToUndo { why: format!("no commit of {title}{hint}") }
}

/// Replaces the diff of each file that others have changed since by one that keeps their changes, if
/// these can be told apart.
fn keep_later_changes(palace: &OpenPalace, diffs: Vec<FileDiff>) -> Result<Vec<FileDiff>, Refusal> {
    let paths: Vec<_> = diffs.iter().map(|it| it.path.as_str()).collect();
    let contents = palace.store().contents_with_git_line_endings(&paths)?;
    let keep = |(diff, now): (FileDiff, FileContent)| match revert_diffs_of_file(
        &now,
        std::slice::from_ref(&diff),
    ) {
        Some(was) if was != now => FileDiff { was, now, ..diff },
        _ => diff,
    };
    Ok(diffs.into_iter().zip(contents).map(keep).collect())
}

/// Finds the last commit of a tool that is neither undone nor undoes another, and the commits
/// after it.
fn last_undoable_commit(
    palace: &OpenPalace,
) -> Result<Option<(CommitDetails, Vec<CommitDetails>)>, Refusal> {
    let (mut later, mut undone) = (Vec::new(), UndoneCommitSet::default());
    let mut last_call = None;
    palace.store().log(&[], |commit| {
        if !undone.add_commit(palace, &commit) && is_change_of_tool(&commit) {
            last_call = Some(commit);
            return false;
        }
        later.push(commit);
        true
    })?;
    Ok(last_call.map(|it| (it, later)))
}

#[cfg(test)]
mod tests {
    use crate::history::undo::*;
    use crate::palace::change_plan::{ChangeOptions, ChangePlan};
    use crate::rooms::scrolls::{NewScroll, current_scroll_ids, write_scroll};
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::FileEdit;

    const ROCK: &str = "entities/rock/granite.yaml";
    const MOSS: &str = "entities/plant/moss.yaml";

    /// Returns a caller of another visit.
    fn caller(name: &str) -> Caller {
        Caller { tool: "test", ..Caller::for_client(name, ada().now) }
    }

    fn entity_text(path: &str, observation: &str) -> String {
        format!("name: {path}\ngenus: Thing\nobservations: [{observation}]\n")
    }

    /// Writes an entity with one observation as the tool of a caller.
    fn write(home: &mut TestHome, by: &Caller, path: &str, observation: &str) {
        let text = entity_text(path, observation);
        let change = |palace: &mut OpenPalace| {
            let was = palace.read_file_for_change(path)?;
            let edit = FileEdit { path: path.to_owned(), was, now: Some(text.clone()) };
            Ok(ChangePlan {
                edits: vec![edit],
                subject: observation.to_owned(),
                body: String::new(),
            })
        };
        home.keeper
            .session(by)
            .unwrap()
            .palace
            .change_files(by, &ChangeOptions::default(), change)
            .unwrap();
    }

    fn undo(
        home: &mut TestHome,
        selection: &UndoSelection,
        mode: ChangeMode,
    ) -> Result<String, String> {
        let undone = home.run(|session| undo_commits(session, selection, mode));
        undone.map(|it| it.description).map_err(|it| it.to_string())
    }

    fn visit(by: &Caller) -> UndoSelection {
        UndoSelection::Visit(by.visit_id.to_string())
    }

    fn short_id(by: &Caller) -> String {
        RecordedVisit::shorten_id(by.visit_id)
    }

    #[test]
    fn all_changes_of_a_visit_are_undone_and_those_of_others_stay() {
        let (mut home, claude, bob) = (TestHome::new(&[]), caller("claude"), caller("bob"));
        write(&mut home, &bob, ROCK, "old");
        write(&mut home, &claude, ROCK, "new");
        write(&mut home, &bob, "entities/rock/slate.yaml", "grey");
        write(&mut home, &claude, ROCK, "newer");
        write(&mut home, &claude, MOSS, "green");
        let title = format!("3 commits of visit {} (claude, just now)", short_id(&claude));
        assert_eq!(undo(&mut home, &visit(&claude), ChangeMode::DryRun), Ok(title.clone()));
        assert!(home.read(MOSS).is_some());
        assert_eq!(undo(&mut home, &visit(&claude), ChangeMode::Commit), Ok(title));
        assert_eq!(home.read(MOSS), None);
        assert!(home.read(ROCK).unwrap().contains("[old]"));
        assert!(home.read("entities/rock/slate.yaml").is_some());
        let again = undo(&mut home, &visit(&claude), ChangeMode::Commit).unwrap_err();
        assert!(again.ends_with("are undone already"), "{again}");
    }

    #[test]
    fn a_file_that_others_changed_stays_and_blocks_no_other() {
        let (mut home, claude, bob) = (TestHome::new(&[]), caller("claude"), caller("bob"));
        write(&mut home, &claude, ROCK, "one");
        write(&mut home, &bob, ROCK, "two");
        let only = undo(&mut home, &visit(&claude), ChangeMode::DryRun).unwrap_err();
        let why = ": entities/rock/granite.yaml would be removed, and was changed by ";
        assert!(only.contains(why), "{only}");
        assert!(only.contains("\"two\" (bob, just now)"), "{only}");
        write(&mut home, &claude, ROCK, "three");
        write(&mut home, &claude, MOSS, "green");
        let undone = home.run(|it| undo_commits(it, &visit(&claude), ChangeMode::Commit)).unwrap();
        assert!(undone.description.ends_with(", just now), but for 1 file"), "{undone:?}");
        let [kept] = undone.kept.as_slice() else { panic!("{undone:?}") };
        assert_eq!(kept.path, ROCK);
        assert!(kept.changed_by.ends_with("\"two\" (bob, just now)"), "{kept:?}");
        assert!(home.read(ROCK).unwrap().contains("[three]"));
        assert_eq!(home.read(MOSS), None);
        let again = undo(&mut home, &visit(&claude), ChangeMode::Commit).unwrap_err();
        assert!(again.contains(why), "{again}");
    }

    #[test]
    fn a_hand_edit_that_is_not_committed_blocks_its_file_only() {
        let (mut home, claude) = (TestHome::new(&[]), caller("claude"));
        write(&mut home, &claude, ROCK, "one");
        write(&mut home, &claude, MOSS, "green");
        write(&mut home, &claude, "entities/rock/slate.yaml", "grey");
        home.write(ROCK, "name: Granite\ngenus: Thing\n");
        home.rename("entities/rock/slate.yaml", "notes.txt");
        let undone = home.run(|it| undo_commits(it, &visit(&claude), ChangeMode::Commit)).unwrap();
        let kept = undone.kept.iter().map(KeptFile::to_sentence).collect::<Vec<_>>();
        let why = "would be removed, and was changed by a hand edit that is not committed";
        let slate = "entities/rock/slate.yaml was changed in the same place by a hand edit that is \
                     not committed";
        assert_eq!(kept, [format!("{ROCK} {why}"), slate.to_owned()]);
        assert_eq!(home.read(MOSS), None);
        assert!(home.read(ROCK).unwrap().contains("Granite"));
        // Somebody drops the edit, and undoes the rest.
        home.write(ROCK, &entity_text(ROCK, "one"));
        home.rename("notes.txt", "entities/rock/slate.yaml");
        let rest = home.run(|it| undo_commits(it, &visit(&claude), ChangeMode::Commit)).unwrap();
        assert_eq!(rest.kept, []);
        assert_eq!(home.read(ROCK), None);
        let again = undo(&mut home, &visit(&claude), ChangeMode::Commit).unwrap_err();
        assert!(again.ends_with("are undone already"), "{again}");
    }

    #[test]
    fn the_changes_of_a_client_since_a_moment_are_undone() {
        let (mut home, bob) = (TestHome::new(&[]), caller("bob"));
        write(
            &mut home,
            &Caller { now: bob.now - TimeDelta::days(2), ..caller("claude") },
            MOSS,
            "old",
        );
        write(&mut home, &caller("claude"), MOSS, "new");
        write(&mut home, &caller("Claude"), ROCK, "hard");
        write(&mut home, &bob, "entities/rock/slate.yaml", "grey");
        let since = |since: &str| UndoSelection::Client {
            name: "CLAUDE".to_owned(),
            since: since.to_owned(),
        };
        let refusal = undo(&mut home, &since("some day"), ChangeMode::Commit).unwrap_err();
        assert!(refusal.starts_with("`some day` is not a time: use "), "{refusal}");
        let title = "2 commits of CLAUDE since 2026-03-01T00:00:00Z (Claude, just now)".to_owned();
        assert_eq!(undo(&mut home, &since("2026-03-01"), ChangeMode::Commit), Ok(title));
        assert!(home.read(MOSS).unwrap().contains("[old]"));
        assert_eq!(home.read(ROCK), None);
    }

    #[test]
    fn what_an_undone_scroll_replaced_stays_replaced_by_its_successor() {
        let mut home = TestHome::new(&[("rooms/hall.yaml", "name: Hall\ndescription: x\n")]);
        let (mut now, minute) = (ada().now - TimeDelta::hours(1), TimeDelta::minutes(1));
        let [one, two, three, four] = ["one", "two", "three", "four"].map(|name| {
            now += minute;
            let by = Caller { tool: "test", ..Caller::for_client(name, now) };
            let new = NewScroll {
                room: Some("hall".to_owned()),
                title: "Hand-over".to_owned(),
                body: name.to_owned(),
            };
            write_scroll(&mut home.keeper, &by, &new).unwrap();
            by
        });
        let current = |home: &mut TestHome| {
            home.run(|session| {
                let palace = &session.palace.palace;
                let ids = current_scroll_ids(palace, &"hall".parse().unwrap());
                ids.iter().map(|it| palace.scroll(it).unwrap().body.clone()).collect::<Vec<_>>()
            })
        };
        undo(&mut home, &visit(&two), ChangeMode::Commit).unwrap();
        undo(&mut home, &visit(&three), ChangeMode::Commit).unwrap();
        assert_eq!(current(&mut home), ["four\n"]);
        undo(&mut home, &visit(&four), ChangeMode::Commit).unwrap();
        assert_eq!(current(&mut home), ["one\n"]);
        undo(&mut home, &visit(&one), ChangeMode::Commit).unwrap();
        assert_eq!(current(&mut home), [""; 0]);
    }

    #[test]
    fn an_unknown_visit_is_refused_with_the_last_visits() {
        let (mut home, claude, bob) = (TestHome::new(&[]), caller("claude"), caller("bob"));
        write(&mut home, &claude, ROCK, "hard");
        let refusal = undo(&mut home, &visit(&bob), ChangeMode::Commit).unwrap_err();
        let expected = format!(
            "there is nothing to undo: no commit of visit {}; the last visits are {} (claude, \
             just now)",
            short_id(&bob),
            short_id(&claude)
        );
        assert_eq!(refusal, expected);
        let refusal =
            undo(&mut home, &UndoSelection::Visit("x".to_owned()), ChangeMode::Commit).unwrap_err();
        assert!(refusal.starts_with("`x` is not the id of a visit: "), "{refusal}");
    }
}
