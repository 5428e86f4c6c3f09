//! Which commits are undone by others, and which were made by a tool or by an undo, as their
//! messages say.

use std::collections::{BTreeMap, BTreeSet};

use ulid::Ulid;

use crate::palace::OpenPalace;
use palazzo_core::format;
use palazzo_core::model::{CommitDetails, CommitId, commit_trailers};
use palazzo_core::render;

/// The name of the command that undoes, in the trailer of its commits.
const UNDO_COMMAND: &str = "undo";
/// How the subject of an undoing commit begins.
pub(in crate::history) const UNDO_SUBJECT_PREFIX: &str = "undo: ";
/// How the body of an undoing commit begins, and how it names a visit.
const UNDONE_PREFIX: &str = "Undid ";
const OF_VISIT: &str = " of visit ";
/// The words in that body before the number of files that it kept.
const BUT_FOR: &str = ", but for ";

/// The commits that are undone already.
#[derive(Default)]
pub(crate) struct UndoneCommitSet {
    commits: BTreeSet<String>,
    /// The subjects and files of undone commits that are not in the history: a rebase gave them
    /// new ids.
    rebased: Vec<(String, Vec<String>)>,
    /// The visits whose undone commits are not in the history for the same reason.
    rebased_visits: BTreeSet<Ulid>,
    /// The undone files of commits that are undone in part.
    files: BTreeMap<String, BTreeSet<String>>,
    /// The undone files of visits that are undone in part, whose commits a rebase gave new ids.
    rebased_files: BTreeMap<Ulid, BTreeSet<String>>,
}

impl UndoneCommitSet {
    /// Returns whether a commit, which is older than those before, is undone. If it is not, adds
    /// the commits that it undoes: what `git revert` has undone undoes nothing.
    pub(crate) fn add_commit(&mut self, palace: &OpenPalace, commit: &CommitDetails) -> bool {
        let is_undone = self.take_if_undone(commit);
        if !is_undone {
            self.add_commits_undone_by(palace, commit);
            self.add_files_undone_by(palace, commit);
        }
        is_undone
    }

    /// Returns a commit with only those of its files that are not undone.
    pub(crate) fn without_undone_files(&self, mut commit: CommitDetails) -> CommitDetails {
        let by_id = self.files.get(&commit.summary.id.0);
        let by_visit = visit_of_commit(&commit).and_then(|it| self.rebased_files.get(&it));
        let is_undone =
            |path: &String| [by_id, by_visit].into_iter().flatten().any(|it| it.contains(path));
        commit.changed_files.retain(|it| !is_undone(it));
        commit
    }

    /// Adds the files that `commit` undoes of commits that it undoes in part.
    fn add_files_undone_by(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
        for id in commit.trailers_with_key(commit_trailers::UNDOES_PART) {
            let is_there = palace.store().is_in_history(&CommitId(id.to_owned()));
            let files = match parse_undone_visit(&commit.body) {
                Some(visit) if !is_there.unwrap_or_default() => {
                    self.rebased_files.entry(visit).or_default()
                }
                _ => self.files.entry(id.to_owned()).or_default(),
            };
            files.extend(commit.changed_files.iter().cloned());
        }
    }

    /// Adds the commits that `commit` undoes, if it was made by `palazzo undo` or `git revert`.
    fn add_commits_undone_by(&mut self, palace: &OpenPalace, commit: &CommitDetails) {
        let CommitDetails { summary, body, changed_files, .. } = commit;
        let reverted = body.split("This reverts commit ").nth(1);
        let reverted = reverted.map(|it| it.split(|it: char| !it.is_ascii_hexdigit()));
        let reverted = reverted.and_then(|mut it| it.next());
        let by_trailer: Vec<_> = commit.trailers_with_key(commit_trailers::UNDOES).collect();
        let undone = if by_trailer.is_empty() { Vec::from_iter(reverted) } else { by_trailer };
        for undone in undone {
            if palace.store().is_in_history(&CommitId(undone.to_owned())).unwrap_or_default() {
                self.commits.insert(undone.to_owned());
                continue;
            }
            let subject = &summary.subject;
            let quoted = || subject.strip_prefix("Revert \"")?.strip_suffix('"');
            let undone = subject.strip_prefix(UNDO_SUBJECT_PREFIX);
            let visit = undone.and_then(parse_visit_subject).or_else(|| parse_undone_visit(body));
            if let Some(visit) = visit.filter(|_| keeps_files(body)) {
                self.rebased_files.entry(visit).or_default().extend(changed_files.iter().cloned());
            } else if let Some(visit) = visit {
                self.rebased_visits.insert(visit);
            } else if let Some(subject) = undone.or_else(quoted) {
                self.rebased.push((subject.to_owned(), changed_files.clone()));
            }
        }
    }

    /// Returns true if a commit is undone. A match by subject and files is used once.
    pub(crate) fn take_if_undone(&mut self, commit: &CommitDetails) -> bool {
        let is_same = |it: &(String, Vec<String>)| {
            it.0 == commit.summary.subject && it.1 == commit.changed_files
        };
        if let Some(at) = self.rebased.iter().position(is_same) {
            self.rebased.remove(at);
            return true;
        }
        let left = self.without_undone_files(commit.clone()).changed_files;
        let is_undone_in_parts = left.len() < commit.changed_files.len()
            // Palazzo's own files stay while any item needs them.
            && left.iter().all(|it| format::is_schema_or_readme_path(it));
        self.commits.contains(&commit.summary.id.0)
            || visit_of_commit(commit).is_some_and(|it| self.rebased_visits.contains(&it))
            || is_undone_in_parts
    }
}

/// Returns the body of the message of a commit that undoes `commits`, of a visit if there is one, and
/// keeps `files` as they are.
pub(crate) fn undone_body(commits: usize, visit: Option<Ulid>, files: usize) -> String {
    let mut body = format!("{UNDONE_PREFIX}{}", render::count_with_noun(commits, "commit"));
    body.extend(visit.map(|it| format!("{OF_VISIT}{it}")));
    match files {
        0 => body,
        _ => format!("{body}{BUT_FOR}{}", render::count_with_noun(files, "file")),
    }
}

/// Returns whether an undoing commit with this body has kept files as they were.
fn keeps_files(body: &str) -> bool {
    body.lines().any(|it| it.starts_with(UNDONE_PREFIX) && it.contains(BUT_FOR))
}

/// Parses the visit in the body of an undoing commit.
fn parse_undone_visit(body: &str) -> Option<Ulid> {
    let line = body.lines().find(|it| it.starts_with(UNDONE_PREFIX))?;
    line.split_once(OF_VISIT)?.1.get(..ulid::ULID_LEN)?.parse().ok()
}

/// Parses the visit in the subject of an undoing commit of an earlier version of Palazzo.
fn parse_visit_subject(subject: &str) -> Option<Ulid> {
    subject.strip_prefix("visit ")?.parse().ok()
}

/// Returns the visit in which a commit was made.
pub(crate) fn visit_of_commit(commit: &CommitDetails) -> Option<Ulid> {
    commit.trailer(commit_trailers::VISIT)?.parse().ok()
}

/// Returns whether a commit was made by a tool, changed files, and does not undo another: one that
/// undoes a part of others names none.
pub(crate) fn is_change_of_tool(commit: &CommitDetails) -> bool {
    commit.trailer(commit_trailers::TOOL).is_some_and(|it| it != UNDO_COMMAND)
        && commit.trailer(commit_trailers::UNDOES).is_none()
        && !commit.changed_files.is_empty()
}

/// Returns whether a commit was made by `palazzo undo`, and changed files.
pub(crate) fn is_undo(commit: &CommitDetails) -> bool {
    commit.trailer(commit_trailers::TOOL) == Some(UNDO_COMMAND) && !commit.changed_files.is_empty()
}

/// Returns the subject of an undo without its prefix: what it undid.
pub(crate) fn subject_of_undo(commit: &CommitDetails) -> &str {
    let subject = commit.summary.subject.as_str();
    subject.strip_prefix(UNDO_SUBJECT_PREFIX).unwrap_or(subject)
}
