//! Works out where an item comes from: from its file, and from the commit that created the file.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Refusal;
use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::open_palace::OpenPalace;
use palazzo_core::model::{CommitMode, FileCommit, Origin, Provenance, RoomId, Scroll, ScrollId};
use palazzo_core::render::ScrollView;

/// The maximum number of new commits that are read to show where items come from. In a longer
/// history, the origin is unknown until another page has counted the whole history.
const MAX_NEW_COMMITS: usize = 2_000;

/// The maximum number of commits of other machines that are remembered.
const MAX_SYNCED_COMMITS: usize = 200_000;

/// How many moves of a file are followed.
const MAX_MOVES: usize = 8;

/// The tools that move files, or change the name from which the name of a file is made.
const MOVING_TOOLS: [&str; 8] =
    ["build_room", "check", "mv", "rm", "undo", "restore", "update_entity", "resolve"];

/// An earlier path of a file that appeared in a commit.
enum EarlierPath {
    /// The file is new.
    None,
    /// The file had this path before.
    Known(String),
    /// The commit also removed other files of that kind, and one of them may be an earlier path.
    Unknown,
}

impl OpenPalace {
    /// Loads the history from which [`LoadedPalace::provenance`] reads, unless too many commits are
    /// new.
    pub(crate) fn load_provenance(&mut self) -> Result<(), Refusal> {
        if self.head.is_some() && self.history_cache.head == self.head {
            return Ok(());
        }
        self.update_file_history_cache_within(MAX_NEW_COMMITS)
    }
}

impl LoadedPalace {
    /// Returns a scroll of a room with its provenance.
    pub(crate) fn scroll_view<'a>(&self, room: &RoomId, scroll: &'a Scroll) -> ScrollView<'a> {
        let which = ScrollId { room: room.clone(), id: scroll.id };
        let file = self.palace.file_of_scroll(&which);
        let provenance = file.map(|it| self.provenance(it)).unwrap_or_default();
        let newer = self.palace.replacement_of_scroll(room, scroll);
        let replaced_by = newer.map(|it| (it.title.clone(), it.written));
        ScrollView { scroll, provenance, replaced_by }
    }

    /// Returns where the item in a file comes from, as far as the loaded history tells.
    pub(crate) fn provenance(&self, file: &str) -> Provenance {
        let (by, source) = self.author_and_source(file);
        let (appearances, creation) = self.appearances_and_creation(file);
        let has_unread_history = self.head.is_some() && self.history_cache.head != self.head;
        let same_author =
            |it: &FileCommit| by.as_ref().is_none_or(|by| by.eq_ignore_ascii_case(&it.by));
        let origin = match &creation {
            None => self.is_uncommitted(file).then_some(Origin::Hand),
            Some(FileCommit { is_merge_by_sync: true, .. }) => Some(Origin::Merged),
            Some(FileCommit { tool: Some(tool), .. }) => Some(Origin::of_tool(tool)),
            // A person may have committed what a tool wrote.
            Some(created) => same_author(created).then_some(Origin::Hand),
        };
        let synced = self.synced_commits();
        let is_received = |it: &FileCommit| synced.contains(&it.commit.0);
        let changes = appearances.into_iter().flat_map(|it| self.content_changes(it, is_received));
        let mut changes: Vec<_> = changes.collect();
        let is_synced = creation.iter().chain(&changes).any(is_received);
        let by = by.or_else(|| creation.as_ref().map(|it| it.by.clone()));
        let created = creation.map(|it| it.commit);
        changes.retain(|it| created.as_ref() != Some(&it.commit));
        // The author of a merge is the program; the merged changes of others are among the rest.
        let has_others = changes.iter().any(|it| !it.is_merge_by_sync && is_received(it));
        changes.retain(|it| !it.is_merge_by_sync || (is_received(it) && !has_others));
        let mut authors = changes.into_iter().map(|it| it.by);
        let is_other = |it: &String| by.as_ref().is_some_and(|by| !it.eq_ignore_ascii_case(by));
        let changed_by = authors.find(is_other);
        Provenance { by, origin, source, changed_by, is_synced, has_unread_history }
    }

    /// Returns the last commits that changed what a file said at one of its paths, the newest first; of
    /// those of others also the one in which it appeared there. Some tools of this machine only move files,
    /// or follow a name; what others say of a commit of theirs does not count.
    fn content_changes(
        &self,
        (path, appearance): (String, Option<FileCommit>),
        is_received: impl Fn(&FileCommit) -> bool,
    ) -> Vec<FileCommit> {
        let changes = self.store.last_changes_of_file(&self.history_cache, &path);
        let mut changes = changes.unwrap_or_default();
        let is_moving_tool = |it: &str| MOVING_TOOLS.contains(&it) || it == "fmt";
        changes.retain(|it| is_received(it) || !it.tool.as_deref().is_some_and(is_moving_tool));
        changes.extend(appearance.filter(is_received));
        changes
    }

    /// Returns the author and the source that a file itself names.
    fn author_and_source(&self, file: &str) -> (Option<String>, Option<String>) {
        let palace = &self.palace;
        let scroll = palace.scroll_in_file(file).and_then(|it| palace.scroll(it));
        if let Some(drawer) = palace.drawers.drawer_in_file(file) {
            return (drawer.by.clone(), drawer.source.clone());
        }
        let agent = palace.diaries.agent_of_file(file);
        (scroll.map(|it| it.by.clone()).or(agent.map(str::to_owned)), None)
    }

    /// Returns whether a file is in no commit, although tools commit what they write.
    fn is_uncommitted(&self, file: &str) -> bool {
        let is_history_known = self.history_cache.head.is_some()
            && self.history_cache.head == self.head
            && self.repository_fault.is_none()
            && self.store.reads_disk();
        is_history_known
            && self.palace.settings.commit == CommitMode::Auto
            && !self.file_histories().contains_key(file)
    }

    /// Returns the commit that created a file, before it was moved to its present path.
    pub(crate) fn creation(&self, file: &str) -> Option<FileCommit> {
        self.appearances_and_creation(file).1
    }

    /// Returns the path of a file and its earlier ones, the newest first, each with the commit in which the
    /// file appeared there; and the commit that created it, if all its paths are known.
    fn appearances_and_creation(
        &self,
        file: &str,
    ) -> (Vec<(String, Option<FileCommit>)>, Option<FileCommit>) {
        let (mut appearances, mut path) = (Vec::new(), file.to_owned());
        for _ in 0..MAX_MOVES {
            // A history that cannot be read is reported elsewhere.
            let appearance = self.store.file_creation(&self.history_cache, &path).ok().flatten();
            let earlier = appearance.as_ref().map(|it| self.earlier_path(&path, it));
            appearances.push((path, appearance.clone()));
            match earlier {
                Some(EarlierPath::None) => return (appearances, appearance),
                Some(EarlierPath::Known(earlier)) => path = earlier,
                Some(EarlierPath::Unknown) | None => break,
            }
        }
        (appearances, None)
    }

    /// Returns the path of a file before the commit in which `path` first appeared.
    fn earlier_path(&self, path: &str, creation: &FileCommit) -> EarlierPath {
        let may_move = |tool: &String| MOVING_TOOLS.contains(&tool.as_str());
        if !creation.tool.as_ref().is_none_or(may_move) {
            return EarlierPath::None;
        }
        let changed = self.store.files_changed_by(&creation.commit).unwrap_or_default();
        let histories = self.file_histories();
        let appeared = histories.get(path).map(|it| it.first_commit);
        let (kind, name) = (first_folder(path), file_name(path));
        let is_removed = |it: &&String| {
            let is_older = histories.get(*it).map(|it| it.first_commit) != appeared;
            is_older && first_folder(it) == kind && !self.has_file(it)
        };
        let mut removed = changed.iter().filter(is_removed).peekable();
        if removed.peek().is_none() {
            return EarlierPath::None;
        }
        match removed.find(|it| file_name(it) == name) {
            Some(earlier) => EarlierPath::Known(earlier.clone()),
            None => EarlierPath::Unknown,
        }
    }

    /// Returns the commits that came from other machines.
    fn synced_commits(&self) -> Arc<HashSet<String>> {
        let (known_head, known) = self.page_cache.synced_commits.get().unzip();
        let known = known.unwrap_or_default();
        let Some(head) = self.head.clone().filter(|it| known_head.as_ref() != Some(it)) else {
            return known;
        };
        let new = self.store.commits_from_remotes(known_head.as_ref(), MAX_SYNCED_COMMITS);
        let mut synced = known;
        Arc::make_mut(&mut synced).extend(new.unwrap_or_default());
        self.page_cache.synced_commits.set(head, synced.clone());
        synced
    }
}

fn first_folder(path: &str) -> &str {
    path.split_once('/').map_or("", |(folder, _)| folder)
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
