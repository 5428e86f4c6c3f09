//! The memory of a host in a palace: commits what the host writes there, and completes its index.
//!
//! The host has written its files already. They are committed byte for byte, except those with
//! secrets. Nothing here opens the palace, so the cost depends on the memory alone: a host waits for
//! its hooks.

mod index;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Timelike as _, Utc};
use ulid::Ulid;

use crate::host_memory::index::{Memory, complete_index, title_and_description};
use crate::palace::findings::other_format_finding;
use crate::{Caller, Keeper, Refusal, RepositoryWithPalaces};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    Changeset, CommitDetails, CommitMode, FileEdit, HOST_MEMORY_FOLDER, HOST_MEMORY_INDEX,
    Settings, commit_trailers, find_secrets, has_secret_of_memory, path_below_host_memory,
    redact_secrets,
};
use palazzo_core::render;
use palazzo_store::{CommitOutcome, FolderDiff, Store};

/// How often a commit is planned again because a file has changed meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// From this number of files on, more than half of them are not deleted at once.
const MIN_FILES_OF_A_LOSS: usize = 10;

/// How many file names a commit message lists.
const MAX_LISTED_FILES: usize = 10;

/// How many commits are searched for an earlier one of the same conversation.
const MAX_SEARCHED_COMMITS: usize = 100;

/// The result of a commit of a host's memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostMemoryReport {
    /// The number of files that were committed.
    pub committed: usize,
    /// The files that are not committed because they contain a secret.
    pub with_secret: Vec<String>,
    /// The files that are not committed because they cannot be read.
    pub unreadable: Vec<String>,
    /// The number of files that are gone, more than half: that is not committed.
    pub lost: usize,
}

impl HostMemoryReport {
    /// Describes what is not committed, one line each.
    pub fn notes(&self) -> Vec<String> {
        let not_committed = |files: &[String], why: &str| {
            let names: Vec<_> = files.iter().map(|it| shown_name(it)).collect();
            (!files.is_empty()).then(|| {
                let count = render::count_with_noun(files.len(), "memory file");
                format!("Palazzo has not committed {count}, {why}: {}", render::join_names(&names))
            })
        };
        let lost = (self.lost > 0).then(|| {
            let count = render::count_with_noun(self.lost, "memory file");
            format!(
                "Palazzo has not committed that {count}, more than half, are gone from \
                 {HOST_MEMORY_FOLDER}: `git checkout` brings them back, `git commit` confirms it"
            )
        });
        let secret = not_committed(&self.with_secret, "because of a secret in it");
        let unreadable = not_committed(&self.unreadable, "because it cannot be read");
        [secret, unreadable, lost].into_iter().flatten().collect()
    }
}

/// Returns the name of a file, without the secret that may be in it.
fn shown_name(file: &str) -> String {
    let name = path_below_host_memory(file).unwrap_or(file);
    redact_secrets(name).text
}

/// Commits the files of the host's memory that are not as in the last commit, as the caller's; only
/// one of them, if `only` is the path of one. All commits of a `session` of the host, which is a UUID,
/// are one visit. Files with a secret stay as they are.
pub fn commit_host_memory(
    keeper: &Keeper,
    caller: &Caller,
    session: Option<&str>,
    only: Option<&str>,
) -> Result<HostMemoryReport, Refusal> {
    let mut store = keeper.default_store()?;
    let settings = settings_for_commit(&store)?;
    if settings.commit == CommitMode::Manual {
        return Ok(HostMemoryReport::default());
    }
    store.set_signing_mode(settings.sign);
    store.recover_from_crash()?;
    for _ in 0..MAX_ATTEMPTS {
        store.begin_call();
        let Some(diff) = store.diff_folder_with_head(HOST_MEMORY_FOLDER)? else {
            return Ok(HostMemoryReport::default());
        };
        let (edits, mut report) = plan_commit(&store, diff, only);
        if edits.is_empty() {
            return Ok(report);
        }
        report.committed = edits.len();
        let caller = with_visit_of_session(&store, caller, session);
        let change = changeset(edits, &caller, true);
        if let CommitOutcome::Done(_) = store.commit_written_files(&change)? {
            return Ok(report);
        }
    }
    Err(Refusal::Contended)
}

/// Adds the missing pointers to the index of the host's memory, and removes those that Palazzo wrote
/// to files that are gone. Returns whether the index has changed. It is not committed yet: the host
/// reads it soon after it has started the hook, and does not wait for a commit.
pub fn complete_memory_index(keeper: &Keeper, caller: &Caller) -> Result<bool, Refusal> {
    let mut store = keeper.default_store()?;
    settings_for_commit(&store)?;
    for _ in 0..MAX_ATTEMPTS {
        store.begin_call();
        let Some(edit) = plan_index(&store)? else { return Ok(false) };
        let change = changeset(vec![edit], caller, false);
        if let CommitOutcome::Done(_) = store.commit(&change)? {
            return Ok(true);
        }
    }
    Err(Refusal::Contended)
}

/// Lists the folders of the palaces of a repository that hold a memory of a host, on disk or in the
/// last commit.
pub fn palaces_with_host_memory(repository: &RepositoryWithPalaces) -> Vec<PathBuf> {
    let has_memory = |it: &&Store| {
        let on_disk = it.list_files(HOST_MEMORY_FOLDER).is_ok_and(|(files, _)| !files.is_empty());
        on_disk || it.read_file_at_head(HOST_MEMORY_INDEX).is_some()
    };
    let palaces = repository.palaces().filter(has_memory);
    palaces.map(|it| it.palace_folder().to_owned()).collect()
}

/// Returns whether a text was committed as that of a file of the host's memory, at any time.
pub fn is_past_memory(keeper: &Keeper, path: &str, text: &str) -> bool {
    let store = keeper.default_store();
    store.is_ok_and(|it| it.find_past_text(path, |past| past == text).is_some())
}

/// A memory of a host, in words for a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostMemory {
    /// The path below the folder.
    pub file: String,
    /// The title, in one line.
    pub title: String,
    /// The description, in one line; may be empty.
    pub description: String,
}

/// Lists the memories of a palace, newest first: that with the name `workspace`, else the default one.
pub fn list_host_memories(
    keeper: &Keeper,
    workspace: Option<&str>,
) -> Result<Vec<HostMemory>, Refusal> {
    let store = match workspace {
        Some(name) => keeper.store_of(&keeper.find_workspace(name)?),
        None => keeper.default_store()?,
    };
    let texts = read_memories(&store)?.into_iter();
    let texts = texts.filter(|(file, _)| find_secrets(file).is_empty());
    let memory = |(file, text): (String, String)| {
        let (title, description) = title_and_description(&file, &text);
        HostMemory { file, title, description }
    };
    Ok(texts.map(memory).collect())
}

/// Lists the remotes of the repository of the palace, each as `origin (https://…)`.
pub fn list_remotes_of_palace(keeper: &Keeper) -> Result<Vec<String>, Refusal> {
    Ok(keeper.default_store()?.list_remotes()?)
}

/// Returns the folder of the palace.
pub fn default_palace_folder(keeper: &Keeper) -> Result<PathBuf, Refusal> {
    Ok(keeper.default_store()?.palace_folder().to_owned())
}

impl Keeper {
    /// Returns the store of the default palace, which need not be open.
    fn default_store(&self) -> Result<Store, Refusal> {
        let key = self.default_workspace()?;
        Ok(self.store_of(&self.find_workspace(&key)?))
    }
}

/// Returns the settings of a palace that may be changed.
fn settings_for_commit(store: &Store) -> Result<Settings, Refusal> {
    if store.is_read_only() {
        return Err(Refusal::ReadOnly);
    }
    if let Some(finding) = other_format_finding(store) {
        return Err(Refusal::BrokenFile(finding.diagnostic.into()));
    }
    if let Some(lost) = store.error_if_history_lost() {
        return Err(lost.into());
    }
    let text = store.read_file(PalacePath::SETTINGS_FILE);
    let text = text.map_err(|it| Refusal::BrokenFile(it.into()))?.unwrap_or_default();
    match (format::find_settings_error(&text), format::parse_settings(&text)) {
        (None, Some(settings)) => Ok(settings),
        (Some(error), _) => Err(Refusal::BrokenFile(error.into())),
        (None, None) => Err(Refusal::Invalid("palace.toml cannot be read".to_owned())),
    }
}

/// Plans to commit the files as they are on disk.
fn plan_commit(
    store: &Store,
    diff: FolderDiff,
    only: Option<&str>,
) -> (Vec<FileEdit>, HostMemoryReport) {
    let is_wanted = |it: &String| only.is_none_or(|only| it == only);
    let FolderDiff { committed, changed, missing, unreadable } = diff;
    let mut report = HostMemoryReport { unreadable, ..HostMemoryReport::default() };
    let is_loss = committed >= MIN_FILES_OF_A_LOSS && missing.len() * 2 > committed;
    report.lost = if is_loss { missing.len() } else { 0 };
    let mut edits = Vec::new();
    for (path, read) in store.read_files(changed.into_iter().filter(is_wanted).collect()) {
        match read {
            Ok(Some(text)) if has_secret_of_memory(&path, &text) => report.with_secret.push(path),
            Ok(text) => edits.push(FileEdit { path, was: text.clone(), now: text }),
            Err(_) => report.unreadable.push(path),
        }
    }
    let gone = missing.into_iter().filter(|it| !is_loss && is_wanted(it));
    edits.extend(gone.map(|path| FileEdit { path, was: None, now: None }));
    (edits, report)
}

/// Plans the completion of the index; `None`: nothing is missing, or the index cannot be read.
fn plan_index(store: &Store) -> Result<Option<FileEdit>, Refusal> {
    let Ok(was) = store.read_file(HOST_MEMORY_INDEX) else { return Ok(None) };
    let texts = read_memories(store)?;
    // A link would repeat a secret in the name of a file.
    let texts = texts.iter().filter(|(file, _)| find_secrets(file).is_empty());
    let memories: Vec<_> = texts.map(|(file, text)| Memory::new(file, text)).collect();
    let was_written = |file: &str, line: &str| {
        let path = format!("{HOST_MEMORY_FOLDER}/{file}");
        let is_source = |text: &str| Memory::new(file, text).pointer == line;
        // What cannot be read now is not gone.
        matches!(store.read_file(&path), Ok(None))
            && store.find_past_text(&path, is_source).is_some()
    };
    let now = complete_index(was.as_deref().unwrap_or_default(), &memories, was_written);
    let path = HOST_MEMORY_INDEX.to_owned();
    Ok(now.map(|now| FileEdit { path, was, now: Some(now) }))
}

/// Reads the memories, newest first, each with its path below the folder; without the index, and
/// without what cannot be read.
fn read_memories(store: &Store) -> Result<Vec<(String, String)>, Refusal> {
    let (stamps, _) = store.list_files(HOST_MEMORY_FOLDER)?;
    let texts = store.read_files(stamps.keys().cloned().collect());
    let texts: BTreeMap<_, _> =
        texts.into_iter().filter_map(|(path, text)| Some((path, text.ok()??))).collect();
    let mut files: Vec<_> =
        stamps.into_iter().filter(|(path, _)| path != HOST_MEMORY_INDEX).collect();
    files.sort_by_key(|(path, stamp)| (Reverse(stamp.last_changed()), path.clone()));
    let memory = |(path, _): (String, _)| {
        let file = path_below_host_memory(&path)?.to_owned();
        Some((file, texts.get(&path)?.clone()))
    };
    Ok(files.into_iter().filter_map(memory).collect())
}

fn changeset(edits: Vec<FileEdit>, caller: &Caller, commit: bool) -> Changeset {
    let verb = match edits.iter().all(|it| it.now.is_none()) {
        true => "delete",
        false => "write",
    };
    let name = |it: &FileEdit| path_below_host_memory(&it.path).unwrap_or(&it.path).to_owned();
    let (subject, body) = match edits.as_slice() {
        [it] => (format!("memory {}: {verb}", render::truncate(&name(it), 50)), String::new()),
        edits => {
            let names: Vec<_> = edits.iter().take(MAX_LISTED_FILES).map(name).collect();
            let more = if edits.len() > MAX_LISTED_FILES { ", …" } else { "" };
            let count = render::count_with_noun(edits.len(), "file");
            (format!("memory: {verb} {count}"), names.join(", ") + more)
        }
    };
    Changeset {
        edits,
        executable: BTreeMap::new(),
        subject,
        body,
        trailers: caller.trailers(),
        author: caller.author.clone(),
        at: caller.now,
        commit,
    }
}

/// Returns the caller with the visit of a session of the host, if it is one.
fn with_visit_of_session(store: &Store, caller: &Caller, session: Option<&str>) -> Caller {
    let Some(session) = session.and_then(parse_uuid) else { return caller.clone() };
    let random = session & ((1 << Ulid::RAND_BITS) - 1);
    let visit_id = find_visit(store, random).unwrap_or_else(|| visit_of_day(caller.now, random));
    Caller { visit_id, ..caller.clone() }
}

fn parse_uuid(text: &str) -> Option<u128> {
    let digits: String = text.chars().filter(|it| *it != '-').collect();
    (digits.len() == 32).then(|| u128::from_str_radix(&digits, 16).ok()).flatten()
}

/// Returns the id of a visit that begins on the day of `now`: several hooks of one conversation may
/// run before one of them has committed.
fn visit_of_day(now: DateTime<Utc>, random: u128) -> Ulid {
    let day = now.with_hour(0).and_then(|it| it.with_minute(0)?.with_second(0)?.with_nanosecond(0));
    let millis = day.unwrap_or(now).timestamp_millis();
    Ulid::from_parts(u64::try_from(millis).unwrap_or_default(), random)
}

/// Finds the visit with these random bits in the newest commits.
fn find_visit(store: &Store, random: u128) -> Option<Ulid> {
    let (mut found, mut left) = (None, MAX_SEARCHED_COMMITS);
    let read = |commit: CommitDetails| {
        let visit = commit.trailer(commit_trailers::VISIT).and_then(|it| it.parse::<Ulid>().ok());
        found = visit.filter(|it| it.random() == random);
        left -= 1;
        found.is_none() && left > 0
    };
    store.log(&[], read).ok()?;
    found
}
