//! Reads the files of a palace: all of them at first, then those that have changed.
//!
//! A file that cannot be parsed, or that is missing, may be in the middle of a save. Its last
//! content stays, without a finding, until the file was left alone for a moment.

use crate::palace::file_states::{
    entity_digest, files_changed_between_listings, needs_unique_name, text_digest,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use crate::Refusal;
use crate::palace::entity_cache;
use crate::palace::entity_cache::EntityCache;
use crate::palace::file_states::{FileRecord, FileState, FileStates, ListedParts};
use crate::palace::open_palace::{OpenPalace, WatchConfig};
use palazzo_core::format::{self, PalacePath, ParsedFile};
use palazzo_core::model::{Code, Diagnostic, Settings, side_file};
use palazzo_store::watch::{Callbacks, ChangedPath, PalaceWatcher, QUIET_PERIOD, WatchedFolders};
use palazzo_store::{FileStamp, FileStamps, ReadResult, Store};

/// Files that may have changed: the stamp of each, and whether it is quiet, so that a broken or
/// missing file is applied without delay.
type SuspectFiles = BTreeMap<String, (Option<FileStamp>, bool)>;

/// The result of reading one file.
struct FileReading {
    digest: Option<u64>,
    outcome: ReadOutcome,
}

enum ReadOutcome {
    /// The same content as before.
    Unchanged,
    /// New content.
    Parsed(ParsedFile),
    /// The file cannot be read.
    Unreadable(Diagnostic),
    /// There is no file.
    Deleted,
}

impl OpenPalace {
    /// Reads all files: those on disk, or those of a commit or a branch.
    pub(crate) fn read_all(&mut self) -> Result<(), Refusal> {
        if !self.store.reads_disk() {
            return self.read_all_committed();
        }
        let list_files = || {
            // The read that follows includes all changes up to now.
            drop(take_touched_files(&mut self.watch, &self.loaded.store));
            self.loaded.store.list_files_with_temporaries()
        };
        let load_cache = || {
            EntityCache::from_bytes(
                &self.loaded.store.read_cache(entity_cache::CACHE_NAME).unwrap_or_default(),
            )
        };
        let (listing, cache) = rayon::join(list_files, load_cache);
        let (stamps, unreadable, temporary_files) = listing?;
        self.temporary_files = temporary_files;
        self.file_states_mut().set_unreadable_path_diagnostics("", unreadable);
        let all = stamps.into_iter().map(|(path, stamp)| (path, (Some(stamp), true)));
        let cached = cache.len();
        let uncached = self.read_files(all.collect(), cache);
        self.fall_back_to_committed();
        self.should_write_entity_cache = entity_cache::is_worth_writing(cached, uncached);
        Ok(())
    }

    /// Reads all files of a commit or a branch.
    fn read_all_committed(&mut self) -> Result<(), Refusal> {
        let settings = self.store.read_file(PalacePath::SETTINGS_FILE).ok().flatten();
        let settings = settings.and_then(|it| format::parse_settings(&it));
        let settings = settings.unwrap_or_else(|| self.palace.settings.clone());
        self.store.set_note_folders(&settings.note_folders);
        let Some((files, unreadable)) = self.store.read_all_unless_on_disk()? else {
            return Ok(());
        };
        self.file_states_mut().set_unreadable_path_diagnostics("", unreadable);
        let read = |(path, text): (String, String)| {
            let reading = FileReading::from_read_result(None, &path, &Ok(Some(text)), &settings);
            (path, reading)
        };
        let readings: Vec<_> = files.into_par_iter().map(read).collect();
        for (path, reading) in readings {
            self.apply_or_defer_reading(&path, None, true, reading);
        }
        Ok(())
    }

    /// Writes the entity cache, if many entities were parsed.
    pub(crate) fn write_entity_cache(&mut self) {
        if std::mem::take(&mut self.should_write_entity_cache) {
            // A failure only makes the next start slower.
            drop(
                self.store.write_cache(entity_cache::CACHE_NAME, &entity_cache::encode_cache(self)),
            );
        }
    }

    /// Starts to watch the files for changes by others. A store without files is looked at when a
    /// call begins.
    pub(crate) fn start_watching(&mut self, config: &WatchConfig) {
        if !self.store.reads_disk() {
            return;
        }
        let WatchConfig { mode, wake, warn } = config.clone();
        let (store, mut before) = (self.store.clone_for_thread(), None::<FileStamps>);
        let poll = Box::new(move || {
            let Ok((now, _)) = store.list_files("") else { return Vec::new() };
            let changed = match &before {
                Some(before) => files_changed_between_listings(before, &now),
                // Anything may have changed before the first listing.
                None => vec![String::new()],
            };
            before = Some(now);
            changed
        });
        let network_file_system = self.store.network_file_system();
        self.watch = PalaceWatcher::start(
            self.store.palace_folder(),
            mode,
            Callbacks { poll, wake, warn, network_file_system },
        );
    }

    /// Applies the saves since the last call that the watcher reports.
    pub(crate) fn apply_saved_changes(&mut self) -> Result<(), Refusal> {
        let touched = take_touched_files(&mut self.watch, &self.loaded.store);
        let result = self.refresh_touched_files(touched);
        if let (Err(_), Some(watch)) = (&result, &self.watch) {
            watch.mark_all_changed();
        }
        result
    }

    /// Returns the time until a deferred file can be applied.
    pub(crate) fn time_until_deferred_file(&self) -> Option<Duration> {
        self.watch.as_ref()?.time_until_deferred_ready()
    }

    /// Applies the files at `paths`, which others have committed.
    pub(crate) fn apply_committed_changes(&mut self, paths: Vec<String>) -> Result<(), Refusal> {
        // Git moves `HEAD` after it has written the files, so they are complete.
        self.refresh_touched_files(
            paths.into_iter().map(|path| ChangedPath { path, is_quiet: true }).collect(),
        )
    }

    /// Reads a file again if its stamp has changed.
    pub(crate) fn refresh_file(&mut self, path: &str) {
        if self.is_snapshot() {
            return;
        }
        let is_quiet = self.watch.is_none();
        // A file whose stamp cannot be read counts as unchanged.
        drop(self.refresh_touched_files(vec![ChangedPath { path: path.to_owned(), is_quiet }]));
    }

    /// Reads a file as it is now, also if it is broken.
    pub(crate) fn reread_file(&mut self, path: &str) -> Option<String> {
        let stamp = self.store.file_stamp(path);
        let read = self.store.read_file(path);
        let reading = self.to_reading(self.file_states.digest(path), path, &read);
        self.apply_or_defer_reading(path, stamp, true, reading);
        self.retry_name_conflicts();
        read.ok().flatten()
    }

    /// Applies a file that this process wrote; [`OpenPalace::retry_name_conflicts`] must follow the
    /// last one.
    pub(crate) fn apply_own_write(&mut self, path: &str, text: Option<&str>) {
        let read = Ok(text.map(str::to_owned));
        let reading = self.to_reading(self.file_states.digest(path), path, &read);
        // Another program may have changed the file since.
        self.apply_or_defer_reading(path, None, true, reading);
    }

    fn refresh_touched_files(&mut self, touched: Vec<ChangedPath>) -> Result<(), Refusal> {
        let mut suspects = SuspectFiles::new();
        let mut listed = String::new();
        for ChangedPath { path, is_quiet } in touched {
            // The folder above it was reported, too, and listed before it.
            if !is_quiet && !listed.is_empty() && path.starts_with(&listed) {
                continue;
            }
            listed = format!("{path}/");
            let (stamps, unreadable) = self.store.list_files(&path)?;
            self.file_states_mut().set_unreadable_path_diagnostics(&path, unreadable);
            for (file, stamp) in self.file_states.files_changed_since_read(&path, stamps) {
                let suspect = suspects.entry(file).or_insert((stamp, is_quiet));
                *suspect = (stamp, suspect.1 || is_quiet);
            }
        }
        self.read_files(suspects, EntityCache::default());
        Ok(())
    }

    /// Reads files, from the cache if it has them; returns the number of parsed entity files.
    fn read_files(&mut self, suspects: SuspectFiles, mut cache: EntityCache) -> usize {
        let suspects = self.read_settings_first(suspects);
        let (mut readings, mut uncached) = (Vec::with_capacity(suspects.len()), Vec::new());
        for (path, (stamp, is_quiet)) in suspects {
            match cache.take_if_unchanged(&path, stamp) {
                Some(it) => readings.push((path, stamp, is_quiet, FileReading::from_cache(it))),
                None => uncached.push((path, stamp, is_quiet)),
            }
        }
        let parsed_entities = uncached
            .iter()
            .filter(|(it, ..)| PalacePath::parse(it) == Ok(PalacePath::Entity))
            .count();
        let (store, file_states) = (&self.store, &self.file_states);
        let settings = &self.palace.settings;
        let progress = store.start_progress(uncached.len());
        let read = |(path, stamp, is_quiet): (String, Option<FileStamp>, bool)| {
            let read = store.read_file(&path);
            // A path that is not a file has a finding of its own.
            let is_gone = read.is_err() && stamp.is_none();
            let read = if is_gone { Ok(None) } else { read };
            let reading =
                FileReading::from_read_result(file_states.digest(&path), &path, &read, settings);
            progress.count_step();
            (path, stamp, is_quiet, reading)
        };
        // Slow disks answer several reads at once faster than one after the other.
        readings.par_extend(uncached.into_par_iter().map(read));
        // A name that moves to another file must be freed first, and a copy is recognized when its
        // original is there.
        readings.sort_by_cached_key(|(path, .., it)| {
            (!matches!(it.outcome, ReadOutcome::Deleted), side_file(path).is_some())
        });
        for (path, stamp, is_quiet, reading) in readings {
            self.apply_or_defer_reading(&path, stamp, is_quiet, reading);
        }
        self.retry_name_conflicts();
        parsed_entities
    }

    /// Reads `palace.toml`, if it is among the files, and returns the others. If it gives the
    /// palace another time zone, files that contain times are read again.
    fn read_settings_first(&mut self, mut suspects: SuspectFiles) -> SuspectFiles {
        let path = PalacePath::SETTINGS_FILE;
        let Some((stamp, is_quiet)) = suspects.remove(path) else { return suspects };
        let old = self.palace.settings.clone();
        let read = self.store.read_file(path);
        let is_gone = read.is_err() && stamp.is_none();
        let read = if is_gone { Ok(None) } else { read };
        let reading = self.to_reading(self.file_states.digest(path), path, &read);
        self.apply_or_defer_reading(path, stamp, is_quiet, reading);
        if self.palace.settings.note_folders != old.note_folders {
            self.add_notes_of_new_folders(&mut suspects);
        }
        if self.palace.settings.time_zone == old.time_zone {
            return suspects;
        }
        // Files that cannot be listed keep the zone with which they were read.
        let (stamps, _) = self.store.list_files("").unwrap_or_default();
        for (file, stamp) in stamps.into_iter().filter(|(file, _)| contains_times(file)) {
            self.file_states_mut().invalidate(&file);
            suspects.entry(file).or_insert((Some(stamp), true));
        }
        suspects
    }

    /// Takes over the folders of notes from the settings: adds their notes to the files to be read, and
    /// forgets those of other folders.
    fn add_notes_of_new_folders(&mut self, suspects: &mut SuspectFiles) {
        let folders = self.palace.settings.note_folders.clone();
        self.store.set_note_folders(&folders);
        let is_note = |it: &&str| PalacePath::parse(it) == Ok(PalacePath::Other);
        let known: Vec<_> =
            self.file_states.known_files().filter(is_note).map(str::to_owned).collect();
        for file in known {
            suspects.remove(&file);
            let gone = FileReading { digest: None, outcome: ReadOutcome::Deleted };
            self.apply_or_defer_reading(&file, None, true, gone);
        }
        // If they cannot be listed, there are none.
        let (stamps, findings) = self.store.list_notes().unwrap_or_default();
        self.file_states_mut().set_note_diagnostics(findings);
        suspects.extend(stamps.into_iter().map(|(file, stamp)| (file, (Some(stamp), true))));
        if let Some(watch) = &self.watch {
            // The folders are watched from the next call on.
            watch.mark_all_changed();
        }
    }

    fn to_reading(&self, known: Option<u64>, path: &str, read: &ReadResult) -> FileReading {
        FileReading::from_read_result(known, path, read, &self.palace.settings)
    }

    /// Uses the committed content of files that cannot be parsed. A server that has read them
    /// before they broke shows the same content.
    fn fall_back_to_committed(&mut self) {
        let is_lost = |path: &&String| self.file_states.state(path) == FileState::Absent;
        let lost: Vec<_> = self.findings.keys().filter(is_lost).cloned().collect();
        for (path, text) in self.store.read_files_at_head(&lost) {
            let parsed = format::parse_file_with_settings(&path, &text, &self.palace.settings);
            if parsed.is_valid_and_unique_in(&self.palace, &path) && !parsed.has_no_item() {
                format::insert_parsed_file(
                    Arc::make_mut(&mut self.loaded.palace),
                    &path,
                    parsed,
                    || text,
                );
                let now = self.listed_parts(&path);
                self.file_states_mut().mark_stale(&path, &now);
            }
        }
    }

    /// Applies the content of a file, or defers it.
    fn apply_or_defer_reading(
        &mut self,
        path: &str,
        stamp: Option<FileStamp>,
        is_quiet: bool,
        reading: FileReading,
    ) {
        let FileReading { digest, outcome } = reading;
        if matches!(outcome, ReadOutcome::Unchanged) {
            return self.file_states_mut().mark_unchanged(path, stamp);
        }
        match &self.watch {
            Some(watch) if !is_quiet && self.may_be_unfinished(path, stamp, &outcome) => {
                return watch.defer_path(path);
            }
            _ => {}
        }
        let outranked = self.outranked_file(path, &outcome);
        if let Some(file) = &outranked {
            self.apply_or_defer_reading(
                file,
                None,
                true,
                FileReading { digest: None, outcome: ReadOutcome::Deleted },
            );
        }
        let (before, old_state) = (self.listed_parts(path), self.file_states.state(path));
        self.name_freed |= needs_unique_name(path) && old_state != FileState::Absent;
        let state = self.update_palace_from_reading(path, old_state, outcome);
        let now = self.listed_parts(path);
        self.file_states_mut().record_read(
            path,
            FileRecord { stamp, digest, state },
            &before,
            &now,
        );
        if let Some(file) = outranked {
            self.reread_file(&file);
        }
        if old_state == FileState::Absent && state != FileState::Absent {
            for copy in self.file_states.files_named_as_copies_of(path) {
                self.reparse_unchanged_file(&copy);
            }
        }
    }

    /// Returns the file of the same item that the one at `path` replaces.
    fn outranked_file(&self, path: &str, outcome: &ReadOutcome) -> Option<String> {
        let ReadOutcome::Parsed(parsed) = outcome else { return None };
        let is_committed = |file: &str| self.store.read_file_at_head(file).is_some();
        parsed.outranked_file(&self.palace, path, is_committed).map(str::to_owned)
    }

    /// Returns whether somebody may still be writing what is not valid yet. The quiet time counts
    /// from the save, not from the look that finds it.
    fn may_be_unfinished(
        &self,
        path: &str,
        stamp: Option<FileStamp>,
        outcome: &ReadOutcome,
    ) -> bool {
        let is_saved = || stamp.is_some_and(|it| it.is_saved_for(QUIET_PERIOD));
        match outcome {
            // Another format counts at once.
            ReadOutcome::Parsed(parsed) if parsed.has_other_format() => false,
            ReadOutcome::Parsed(parsed) if parsed.has_errors() => !is_saved(),
            // A renamed file keeps its time, and its old name may still be there.
            ReadOutcome::Parsed(parsed) => !parsed.is_valid_and_unique_in(&self.palace, path),
            ReadOutcome::Unreadable(_) => !is_saved(),
            ReadOutcome::Deleted => true,
            ReadOutcome::Unchanged => false,
        }
    }

    fn update_palace_from_reading(
        &mut self,
        path: &str,
        before: FileState,
        outcome: ReadOutcome,
    ) -> FileState {
        self.withdraw_snapshot();
        let entity = self.name_and_genus_if_faults_known(path);
        self.loaded.unindex_file(path);
        self.loaded.text_warnings.mark_changed(path);
        self.loaded.page_cache.forget_maps_after_change_of(path);
        let text = || self.loaded.store.read_file(path).ok().flatten().unwrap_or_default();
        let (state, findings) = match outcome {
            ReadOutcome::Unchanged => (before, Vec::new()),
            ReadOutcome::Parsed(parsed) => {
                let stale = parsed.has_no_item().then(|| before.after_read_error());
                let findings = format::insert_parsed_file(
                    Arc::make_mut(&mut self.loaded.palace),
                    path,
                    parsed,
                    text,
                );
                (stale.unwrap_or(FileState::Present), findings)
            }
            ReadOutcome::Unreadable(finding) => (before.after_read_error(), vec![finding]),
            ReadOutcome::Deleted => {
                format::remove_item_of_file(Arc::make_mut(&mut self.loaded.palace), path);
                (FileState::Absent, Vec::new())
            }
        };
        self.loaded.update_faults(path, entity.as_ref());
        self.loaded.index_file(path);
        self.loaded.update_note_links(path);
        match findings.is_empty() {
            true if !self.findings.contains_key(path) => {}
            true => drop(Arc::make_mut(&mut self.loaded.findings).remove(path)),
            false => {
                drop(Arc::make_mut(&mut self.loaded.findings).insert(path.to_owned(), findings));
            }
        }
        state
    }

    /// Reads the files with name conflicts again, if a file has freed a name.
    pub(crate) fn retry_name_conflicts(&mut self) {
        if !std::mem::take(&mut self.name_freed) {
            return;
        }
        let findings = self.findings.values().flatten();
        let is_conflict = |it: &&Diagnostic| matches!(it.code, Code::NameTaken | Code::IdTaken);
        let conflicting: Vec<_> = findings.filter(is_conflict).map(|it| it.file.clone()).collect();
        for path in conflicting {
            self.reparse_unchanged_file(&path);
        }
        self.name_freed = false;
    }

    /// Reads a file whose content has not changed, but what the palace takes of it.
    fn reparse_unchanged_file(&mut self, path: &str) {
        self.file_states_mut().invalidate(path);
        let (stamp, read) = (self.store.file_stamp(path), self.store.read_file(path));
        let reading = match &read {
            Ok(None) => FileReading { digest: None, outcome: ReadOutcome::Deleted },
            read => self.to_reading(None, path, read),
        };
        self.apply_or_defer_reading(path, stamp, true, reading);
    }

    fn file_states_mut(&mut self) -> &mut FileStates {
        self.withdraw_snapshot();
        Arc::make_mut(&mut self.loaded.file_states)
    }

    fn listed_parts(&self, path: &str) -> ListedParts {
        let entity = self.palace.graph.entity_in_file(path);
        ListedParts {
            title: self.title_in_file(path),
            entity_digest: entity.map(entity_digest).unwrap_or_default(),
        }
    }

    /// Returns the title of the room or scroll in a file.
    fn title_in_file(&self, path: &str) -> Option<String> {
        match PalacePath::parse(path).ok()? {
            PalacePath::Room(id) => Some(self.palace.room(&id)?.name.clone()),
            PalacePath::Scroll(_) => {
                let which = self.palace.scroll_in_file(path)?;
                Some(self.palace.scroll(which)?.title.clone())
            }
            _ => None,
        }
    }
}

impl FileReading {
    /// Creates the reading of a cached file.
    fn from_cache((digest, parsed): (u64, ParsedFile)) -> Self {
        Self { digest: Some(digest), outcome: ReadOutcome::Parsed(parsed) }
    }

    /// Creates the reading of a file; `known` is the digest of its last content.
    fn from_read_result(
        known: Option<u64>,
        path: &str,
        read: &ReadResult,
        settings: &Settings,
    ) -> Self {
        let digest = match read {
            Ok(None) => None,
            Ok(Some(text)) => Some(text_digest(text)),
            Err(finding) => Some(text_digest(&finding.message)),
        };
        let outcome = match read {
            _ if digest == known => ReadOutcome::Unchanged,
            Ok(None) => ReadOutcome::Deleted,
            Ok(Some(text)) => {
                ReadOutcome::Parsed(format::parse_file_with_settings(path, text, settings))
            }
            Err(finding) => ReadOutcome::Unreadable(finding.clone()),
        };
        Self { digest, outcome }
    }
}

/// Returns whether a file of this kind contains times, in its text or its name.
fn contains_times(path: &str) -> bool {
    use PalacePath::{Conflict, Diary, Drawer, Process, Scroll, Task};
    matches!(
        PalacePath::parse(path),
        Ok(Scroll(_) | Drawer(_) | Diary(_) | Task | Process | Conflict)
    )
}

/// Takes the paths that may have been saved since the last call.
fn take_touched_files(watch: &mut Option<PalaceWatcher>, store: &Store) -> Vec<ChangedPath> {
    let Some(watch) = watch else { return Vec::new() };
    let folders = || WatchedFolders {
        palace: store.existing_folders().collect(),
        notes: store.existing_note_folders(),
    };
    watch.take_changes(store.palace_folder_inode(), folders)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use palazzo_core::model::WatchMode;
    use palazzo_core::search::Query;
    use palazzo_store::Store;
    use palazzo_store::watch::WakeCallback;

    /// The time after which a missing event counts as a failure.
    const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

    /// A watched palace and its folder.
    struct WatchedPalace {
        dir: tempfile::TempDir,
        open: OpenPalace,
        wakeups: Receiver<()>,
    }

    impl WatchedPalace {
        fn new() -> Self {
            Self::with_watching(WatchMode::Auto)
        }

        fn with_watching(mode: WatchMode) -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("home/keep/rooms")).unwrap();
            let mut open = open_again(dir.path());
            let (sender, wakeups) = channel();
            let wake: WakeCallback = Arc::new(move || sender.send(()).unwrap_or_default());
            open.start_watching(&WatchConfig { mode, wake, warn: |why| panic!("{why}") });
            open.catch_up().unwrap();
            // The index is kept up to date only after its first use.
            open.index();
            Self { dir, open, wakeups }
        }

        fn path_of(&self, path: &str) -> PathBuf {
            self.dir.path().join("home/keep").join(path)
        }

        /// Writes a file in place, as most programs do.
        fn save_file(&self, path: &str, text: &str) {
            let place = self.path_of(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }

        /// Saves a file with a modification time of some seconds after now, or before.
        fn save_file_at(&self, path: &str, text: &str, seconds: i64) {
            self.save_file(path, text);
            self.set_saved(path, seconds);
        }

        fn set_saved(&self, path: &str, seconds: i64) {
            let span = Duration::from_secs(seconds.unsigned_abs());
            let now = std::time::SystemTime::now();
            let at = if seconds < 0 { now - span } else { now + span };
            let file = fs::File::options().write(true).open(self.path_of(path)).unwrap();
            file.set_modified(at).unwrap();
        }

        /// Applies all saves and describes the palace.
        fn catch_up_and_describe(&mut self) -> String {
            self.open.catch_up().unwrap();
            describe_palace(&self.open)
        }

        /// Applies all saves, also the deferred ones, and describes the palace.
        fn settle_and_describe(&mut self) -> String {
            self.open.catch_up().unwrap();
            while let Some(wait) = self.open.watch.as_ref().unwrap().time_until_deferred_ready() {
                // Waits for an event, or until the deferred file can be applied.
                self.wakeups.recv_timeout(wait).unwrap_or_default();
                self.open.catch_up().unwrap();
            }
            describe_palace(&self.open)
        }

        /// Waits until the description of the palace is `expected`.
        #[track_caller]
        fn wait_until(&mut self, expected: &str) {
            let begun = std::time::Instant::now();
            while self.settle_and_describe() != expected {
                assert!(begun.elapsed() < EVENT_TIMEOUT, "{}", describe_palace(&self.open));
                self.wakeups.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            }
        }

        #[track_caller]
        fn assert_equals_reopened(&mut self) {
            let seen = self.settle_and_describe();
            let reopened = open_again(self.dir.path());
            assert_eq!(seen, describe_palace(&reopened));
            assert_eq!(self.open.palace, reopened.palace);
            let graph = |it: &OpenPalace| it.file_states.change_counters().graph_digest;
            assert_eq!(graph(&self.open), graph(&reopened));
            assert_eq!(
                graph(&reopened) == 0,
                reopened.palace.graph.entities_and_loose_ends().next().is_none()
            );
            for word in ["stone", "moss", "dust", "new"] {
                let query = Query { text: word, limit: 100, ..Query::default() };
                let found = |it: &OpenPalace| it.index().find(&query, |_| true).total;
                assert_eq!(found(&self.open), found(&reopened), "{word}");
            }
        }
    }

    fn open_again(dir: &Path) -> OpenPalace {
        let home = dir.join("home");
        OpenPalace::open(Store::new(home.join("keep"), home), "Keep", &WatchConfig::default())
            .unwrap()
    }

    fn describe_palace(open: &OpenPalace) -> String {
        let palace = &open.palace;
        let mut lines = vec![palace.settings.name.clone()];
        lines.extend(palace.rooms().map(|(id, it)| format!("{id}: {}", it.description)));
        lines.extend(palace.scrolls().map(|(room, it)| format!("{room}/ {}", it.title)));
        lines.extend(palace.graph.iter().map(|it| format!("{}: {}", it.genus, it.name)));
        let mut wrong: Vec<_> = open.findings().map(|it| format!("! {it}")).collect();
        wrong.sort();
        lines.extend(wrong);
        lines.join("\n")
    }

    fn room_yaml(description: &str) -> String {
        format!("name: Hall\ndescription: {description}\n")
    }

    fn scroll_markdown(title: &str) -> String {
        format!("---\ntitle: {title}\nwritten: 2026-03-01\nby: ada\n---\n\nDust.\n")
    }

    const HALL: &str = "rooms/hall.yaml";

    /// A way in which programs save: its name, and its operations on the file and beside it.
    /// So many seconds after now: how long ago such a file was saved is not known.
    const TIME_TO_COME: i64 = 3_600;

    type SaveMethod = (&'static str, fn(&Path, &str));

    const SAVE_METHODS: [SaveMethod; 7] = [
        ("in place", write),
        ("renamed over", |file, text| {
            write(&sibling(file, "hall.yaml.new"), text);
            rename(&sibling(file, "hall.yaml.new"), file);
        }),
        ("deleted and created", |file, text| {
            fs::remove_file(file).unwrap();
            write(file, text);
        }),
        ("vim, moving the old file away", |file, text| {
            write(&sibling(file, "4913"), "");
            fs::remove_file(sibling(file, "4913")).unwrap();
            rename(file, &sibling(file, "hall.yaml~"));
            write(file, text);
            fs::remove_file(sibling(file, "hall.yaml~")).unwrap();
        }),
        ("vim, copying the old file", |file, text| {
            write(&sibling(file, ".hall.yaml.swp"), "b0VIM");
            fs::copy(file, sibling(file, "hall.yaml~")).unwrap();
            write(file, text);
            fs::remove_file(sibling(file, "hall.yaml~")).unwrap();
            fs::remove_file(sibling(file, ".hall.yaml.swp")).unwrap();
        }),
        ("emacs, with a link for a lock", |file, text| {
            #[cfg(unix)]
            std::os::unix::fs::symlink("ada@host.1", sibling(file, ".#hall.yaml")).unwrap();
            rename(file, &sibling(file, "hall.yaml~"));
            write(file, text);
            drop(fs::remove_file(sibling(file, ".#hall.yaml")));
        }),
        ("by an older file moved in", |file, text| {
            write(&sibling(file, "old"), text);
            let old = fs::File::options().append(true).open(sibling(file, "old")).unwrap();
            old.set_modified(std::time::UNIX_EPOCH).unwrap();
            rename(&sibling(file, "old"), file);
        }),
    ];

    fn write(place: &Path, text: &str) {
        fs::write(place, text).unwrap();
    }

    fn rename(from: &Path, to: &Path) {
        fs::rename(from, to).unwrap();
    }

    fn sibling(file: &Path, name: &str) -> PathBuf {
        file.with_file_name(name)
    }

    #[test]
    fn every_way_of_saving_is_seen_at_the_next_catch_up() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.catch_up_and_describe();
        for (round, (way, save)) in
            SAVE_METHODS.iter().cycle().take(SAVE_METHODS.len() * 30).enumerate()
        {
            // All texts have the same length, so that the size does not change.
            let text = format!("Stone {round:03}.");
            save(&scene.path_of(HALL), &room_yaml(&text));
            assert_eq!(scene.catch_up_and_describe(), format!("Keep\nhall: {text}"), "{way}");
        }
    }

    #[test]
    fn a_half_written_file_is_neither_applied_nor_reported() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.save_file("scrolls/hall/a.md", &scroll_markdown("First"));
        let whole = scene.catch_up_and_describe();
        for half in ["", "nam", "name: Hall\ndescription: \"St", "\u{0}"] {
            scene.save_file_at(HALL, half, TIME_TO_COME);
            assert_eq!(scene.catch_up_and_describe(), whole, "{half}");
        }
        fs::write(scene.path_of(HALL), b"name: Hall\ndescription: \xc3").unwrap();
        scene.set_saved(HALL, TIME_TO_COME);
        assert_eq!(scene.catch_up_and_describe(), whole);
        fs::remove_file(scene.path_of(HALL)).unwrap();
        assert_eq!(scene.catch_up_and_describe(), whole);
        scene.save_file_at("scrolls/hall/a.md", "---\ntitle: Fi", TIME_TO_COME);
        assert_eq!(scene.catch_up_and_describe(), whole);
        scene.save_file(HALL, &room_yaml("Stone, and moss."));
        scene.save_file("scrolls/hall/a.md", &scroll_markdown("Second"));
        assert_eq!(scene.catch_up_and_describe(), "Keep\nhall: Stone, and moss.\nhall/ Second");
        scene.assert_equals_reopened();
    }

    #[test]
    fn a_broken_file_is_reported_at_the_first_look_after_the_quiet_time() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.save_file("scrolls/hall/a.md", &scroll_markdown("First"));
        scene.catch_up_and_describe();
        scene.save_file_at(HALL, "name: [\n", -1);
        scene.save_file_at("scrolls/hall/a.md", "---\ntitle: Fi", -3600);
        scene.save_file_at("entities/a/b.yaml", "name: B\ngenus: [\n", -1);
        let findings = scene.catch_up_and_describe();
        let reported = findings.lines().filter(|it| it.starts_with('!')).count();
        assert_eq!(reported, 3, "{findings}");
        assert!(findings.contains("hall: Stone.") && findings.contains("hall/ First"));
    }

    #[test]
    fn a_name_conflict_has_the_same_winner_in_any_order() {
        let entity = |genus: &str| format!("name: Grey\ngenus: {genus}\n");
        let claims = [
            ("entities/moss/aaa.yaml", entity("Stone")),
            ("entities/moss/bbb.yaml", entity("Moss")),
            ("entities/moss/grey.yaml", entity("Moss")),
            ("entities/stone/grey.yaml", entity("Stone")),
            ("scrolls/hall/01K8ZC6V8A4S6C2E3N1R5T7W90-a.md", scroll_markdown("First")),
            ("scrolls/hall/01K8ZC6V8A4S6C2E3N1R5T7W90-b.md", scroll_markdown("Second")),
        ];
        for turn in 0..claims.len() {
            for is_backwards in [false, true] {
                let mut scene = WatchedPalace::new();
                let mut order: Vec<_> =
                    claims.iter().cycle().skip(turn).take(claims.len()).collect();
                if is_backwards {
                    order.reverse();
                }
                for (path, text) in order {
                    scene.save_file(path, text);
                    scene.assert_equals_reopened();
                }
                let file = |scene: &WatchedPalace| {
                    scene.open.palace.graph.file_of_entity("Grey").map(str::to_owned)
                };
                // A file with the name of the entity wins; otherwise the first file by name.
                for place in [2, 3, 0] {
                    let (path, _) = claims[place];
                    assert_eq!(file(&scene).as_deref(), Some(path));
                    fs::remove_file(scene.path_of(path)).unwrap();
                    scene.assert_equals_reopened();
                }
            }
        }
    }

    #[test]
    fn a_name_conflict_ends_when_the_other_file_is_deleted() {
        let mut scene = WatchedPalace::new();
        let entity = |name: &str| format!("name: {name}\ngenus: Moss\n");
        scene.save_file("entities/moss/grey.yaml", &entity("Grey"));
        scene.save_file("entities/moss/other.yaml", &entity("Grey"));
        scene.settle_and_describe();
        assert!(scene.open.findings().next().is_some());
        fs::remove_file(scene.path_of("entities/moss/other.yaml")).unwrap();
        // Another file is read before the deletion is noticed.
        scene.save_file("entities/moss/grey.yaml", &entity("Green"));
        scene.open.reread_file("entities/moss/grey.yaml");
        scene.assert_equals_reopened();
    }

    #[test]
    fn a_file_that_stays_broken_is_reported_and_its_last_content_stays() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.catch_up_and_describe();
        scene.save_file(HALL, "name: [\n");
        insta::assert_snapshot!(scene.settle_and_describe(), @"
        Keep
        hall: Stone.
        ! rooms/hall.yaml:1:7: error[syntax]: this is not YAML: unclosed bracket '[' (close the bracket, or quote the text)
        ");
        assert_eq!(scene.open.file_states.state(HALL), FileState::Stale);
        scene.save_file("rooms/attic.yaml", "name: [\n");
        scene.settle_and_describe();
        assert_eq!(scene.open.file_states.state("rooms/attic.yaml"), FileState::Absent);
        fs::remove_file(scene.path_of("rooms/attic.yaml")).unwrap();
        scene.save_file(HALL, &room_yaml("Moss."));
        assert_eq!(scene.settle_and_describe(), "Keep\nhall: Moss.");
        assert_eq!(scene.open.file_states.state(HALL), FileState::Present);
    }

    #[test]
    fn a_deleted_file_is_removed_from_the_palace() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.save_file("rooms/crypt.yaml", &room_yaml("Dust."));
        scene.catch_up_and_describe();
        fs::remove_file(scene.path_of(HALL)).unwrap();
        assert_eq!(scene.settle_and_describe(), "Keep\ncrypt: Dust.");
    }

    #[test]
    fn a_renamed_file_keeps_its_content() {
        let mut scene = WatchedPalace::new();
        for (path, text) in [
            ("entities/a/z.yaml", "name: Rhubarb\ngenus: Plant\n".to_owned()),
            (
                "scrolls/hall/z.md",
                scroll_markdown("First").replace("title", "id: 01KJMPXF9069S44V81ASY1KY37\ntitle"),
            ),
            ("rooms/z.yaml", room_yaml("Stone.")),
        ] {
            scene.save_file(path, &text);
        }
        let before = scene.catch_up_and_describe();
        for (from, to) in [("z", "a"), ("a", "m"), ("m", "z")] {
            for path in ["entities/a/#.yaml", "scrolls/hall/#.md", "rooms/#.yaml"] {
                let place = |name| scene.path_of(&path.replace('#', name));
                fs::rename(place(from), place(to)).unwrap();
            }
            assert!(!scene.catch_up_and_describe().contains('!'));
            assert_eq!(scene.settle_and_describe(), before.replace("z:", &format!("{to}:")));
            scene.assert_equals_reopened();
        }
    }

    #[test]
    fn a_conflicting_file_is_read_again_when_the_winner_is_deleted() {
        let mut scene = WatchedPalace::new();
        scene.save_file("entities/a/a.yaml", "name: Rhubarb\ngenus: Plant\n");
        scene.save_file("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md", &scroll_markdown("First"));
        scene.catch_up_and_describe();
        scene.save_file("entities/a/b.yaml", "name: Rhubarb\ngenus: Dish\n");
        scene.save_file("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-b.md", &scroll_markdown("Second"));
        insta::assert_snapshot!(scene.settle_and_describe(), @"
        Keep
        hall/ First
        Plant: Rhubarb
        ! entities/a/b.yaml:1:7: error[name-taken]: the name `Rhubarb` is already used in entities/a/a.yaml (give it another name, or merge the two files)
        ! scrolls/hall/01KJMPXF9069S44V81ASY1KY37-b.md:2:1: error[id-taken]: scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md is a scroll of this room with the same id (remove the id from the file name and front matter of the newer one)
        ");
        fs::remove_file(scene.path_of("entities/a/a.yaml")).unwrap();
        fs::remove_file(scene.path_of("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md")).unwrap();
        insta::assert_snapshot!(scene.settle_and_describe(), @"
        Keep
        hall/ Second
        Dish: Rhubarb
        ");
        scene.assert_equals_reopened();
    }

    #[expect(clippy::too_many_lines, reason = "its steps follow each other")]
    #[test]
    fn folders_can_be_added_removed_and_restored() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        let rename = |scene: &WatchedPalace, from: &str, to: &str| {
            rename(&scene.path_of(from), &scene.path_of(to));
        };
        scene.catch_up_and_describe();
        // A new wing with two rooms.
        scene.save_file("rooms/code/auth.yaml", &room_yaml("Moss."));
        assert_eq!(scene.catch_up_and_describe(), "Keep\nhall: Stone.\ncode/auth: Moss.");
        scene.save_file("rooms/code/parser.yaml", &room_yaml("Dust."));
        assert_eq!(
            scene.catch_up_and_describe(),
            "Keep\nhall: Stone.\ncode/auth: Moss.\ncode/parser: Dust."
        );
        // A renamed wing, and a save in it.
        rename(&scene, "rooms/code", "rooms/life");
        assert_eq!(
            scene.settle_and_describe(),
            "Keep\nhall: Stone.\nlife/auth: Moss.\nlife/parser: Dust."
        );
        scene.save_file("rooms/life/auth.yaml", &room_yaml("Roots."));
        assert_eq!(
            scene.catch_up_and_describe(),
            "Keep\nhall: Stone.\nlife/auth: Roots.\nlife/parser: Dust."
        );
        // A folder of the palace is moved away and back.
        rename(&scene, "rooms", "rooms.old");
        assert_eq!(scene.settle_and_describe(), "Keep");
        rename(&scene, "rooms.old", "rooms");
        assert_eq!(
            scene.catch_up_and_describe(),
            "Keep\nhall: Stone.\nlife/auth: Roots.\nlife/parser: Dust."
        );
        scene.save_file("rooms/life/auth.yaml", &room_yaml("Leaves."));
        assert_eq!(
            scene.catch_up_and_describe(),
            "Keep\nhall: Stone.\nlife/auth: Leaves.\nlife/parser: Dust."
        );
        // A folder is deleted and created again, and a new one is created.
        fs::remove_dir_all(scene.path_of("rooms")).unwrap();
        scene.save_file(HALL, &room_yaml("New."));
        scene.save_file("entities/plant/rhubarb.yaml", "name: Rhubarb\ngenus: Plant\n");
        assert_eq!(scene.settle_and_describe(), "Keep\nhall: New.\nPlant: Rhubarb");
        scene.save_file("entities/plant/rhubarb.yaml", "name: Sorrel\ngenus: Plant\n");
        assert_eq!(scene.catch_up_and_describe(), "Keep\nhall: New.\nPlant: Sorrel");
        scene.assert_equals_reopened();
    }

    #[test]
    fn the_palace_folder_can_be_removed_and_restored() {
        let mut scene = WatchedPalace::new();
        scene.save_file("palace.toml", "format = 1\nname = \"The Keep\"\n");
        scene.save_file(HALL, &room_yaml("Stone."));
        let whole = scene.catch_up_and_describe();
        let (here, away) = (scene.path_of(""), scene.dir.path().join("home/away"));
        fs::rename(&here, &away).unwrap();
        assert_eq!(scene.settle_and_describe(), "The Keep");
        fs::rename(&away, &here).unwrap();
        assert_eq!(scene.catch_up_and_describe(), whole);
        scene.save_file(HALL, &room_yaml("Moss."));
        assert_eq!(scene.catch_up_and_describe(), "The Keep\nhall: Moss.");
        fs::remove_dir_all(&here).unwrap();
        assert_eq!(scene.settle_and_describe(), "The Keep");
        scene.save_file("palace.toml", "format = 1\nname = \"The New Keep\"\n");
        scene.save_file(HALL, &room_yaml("New."));
        assert_eq!(scene.catch_up_and_describe(), "The New Keep\nhall: New.");
        scene.save_file(HALL, &room_yaml("Dust."));
        assert_eq!(scene.catch_up_and_describe(), "The New Keep\nhall: Dust.");
        fs::remove_dir_all(scene.dir.path().join("home")).unwrap();
        assert_eq!(scene.settle_and_describe(), "The New Keep");
        scene.save_file(HALL, &room_yaml("Back."));
        scene.save_file("palace.toml", "format = 1\nname = \"Once More\"\n");
        assert_eq!(scene.catch_up_and_describe(), "Once More\nhall: Back.");
        scene.assert_equals_reopened();
    }

    #[test]
    #[cfg(unix)]
    fn a_symlinked_palace_is_refused_until_the_link_is_removed() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        let whole = scene.catch_up_and_describe();
        let (here, away) = (scene.dir.path().join("home/keep"), scene.dir.path().join("away"));
        fs::rename(&here, &away).unwrap();
        std::os::unix::fs::symlink(&away, &here).unwrap();
        for _ in 0..2 {
            let refused = scene.open.catch_up().unwrap_err().to_string();
            assert!(refused.ends_with("is a symbolic link; Palazzo follows none below the home"));
        }
        fs::write(away.join(HALL), room_yaml("Moss.")).unwrap();
        assert!(scene.open.catch_up().is_err());
        assert_eq!(describe_palace(&scene.open), whole);
        fs::remove_file(&here).unwrap();
        fs::rename(&away, &here).unwrap();
        assert_eq!(scene.catch_up_and_describe(), "Keep\nhall: Moss.");
    }

    #[test]
    #[cfg(unix)]
    fn symlinks_inside_a_palace_are_reported_and_not_followed() {
        let mut scene = WatchedPalace::new();
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.catch_up_and_describe();
        let outside = scene.dir.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        for from in ["rooms/wing", "rooms/link.yaml", "scrolls"] {
            std::os::unix::fs::symlink(&outside, scene.path_of(from)).unwrap();
        }
        fs::write(outside.join("hall.yaml"), room_yaml("Elsewhere.")).unwrap();
        insta::assert_snapshot!(scene.catch_up_and_describe(), @"
        Keep
        hall: Stone.
        ! rooms/link.yaml:1:1: error[link]: symbolic links are not followed
        ! rooms/wing:1:1: error[link]: symbolic links are not followed
        ! scrolls:1:1: error[link]: symbolic links are not followed
        ");
        for from in ["rooms/wing", "rooms/link.yaml", "scrolls"] {
            fs::remove_file(scene.path_of(from)).unwrap();
        }
        assert_eq!(scene.catch_up_and_describe(), "Keep\nhall: Stone.");
    }

    #[test]
    fn polling_finds_changes() {
        let mut scene = WatchedPalace::with_watching(WatchMode::Poll);
        scene.save_file(HALL, &room_yaml("Stone."));
        scene.wait_until("Keep\nhall: Stone.");
        scene.save_file(HALL, &room_yaml("Moss."));
        scene.save_file("rooms/crypt.yaml", &room_yaml("Dust."));
        scene.wait_until("Keep\ncrypt: Dust.\nhall: Moss.");
        fs::remove_file(scene.path_of(HALL)).unwrap();
        scene.wait_until("Keep\ncrypt: Dust.");
    }

    /// A random event.
    #[derive(Clone, Debug)]
    enum FileEvent {
        SaveFile(&'static str, String),
        Remove(&'static str),
        Rename(&'static str, &'static str),
        CatchUp,
    }

    const PATHS: [&str; 13] = [
        "palace.toml",
        "rooms",
        "rooms/hall.yaml",
        "rooms/code",
        "rooms/code/auth.yaml",
        "rooms/life/auth.yaml",
        "scrolls/hall",
        "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md",
        "scrolls/hall/01KJMPXF9069S44V81ASY1KY38-b.md",
        "entities/a",
        "entities/a/a.yaml",
        "entities/b/a.yaml",
        "entities/b/b.yaml",
    ];

    /// Removes a file or a folder, if there is one.
    fn remove(place: &Path) {
        drop(fs::remove_file(place));
        drop(fs::remove_dir_all(place));
    }

    fn any_file_event() -> impl Strategy<Value = FileEvent> {
        let place = || proptest::sample::select(&PATHS[..]);
        let texts = [
            room_yaml("Stone."),
            room_yaml("Moss."),
            scroll_markdown("First"),
            scroll_markdown("Second"),
            "name: A\ngenus: New\n".to_owned(),
            "name: B\ngenus: New\n".to_owned(),
            "name: A\ngenus: A\n".to_owned(),
            "name: A\ngenus: B\n".to_owned(),
            "format = 1\nname = \"Keep\"\n".to_owned(),
            "name: [".to_owned(),
            String::new(),
        ];
        prop_oneof![
            6 => (place(), proptest::sample::select(texts.to_vec())).prop_map(|(path, text)| FileEvent::SaveFile(path, text)),
            2 => place().prop_map(FileEvent::Remove),
            2 => (place(), place()).prop_map(|(from, to)| FileEvent::Rename(from, to)),
            2 => Just(FileEvent::CatchUp),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn an_updated_palace_equals_a_reopened_one(events in proptest::collection::vec(any_file_event(), 1..60)) {
            let mut scene = WatchedPalace::new();
            for event in events {
                // An event that is impossible in this state is skipped.
                let place = |path: &str| scene.path_of(path);
                match event {
                    FileEvent::SaveFile(path, text) => {
                        drop(fs::create_dir_all(place(path).parent().unwrap()));
                        drop(fs::write(place(path), text));
                    }
                    FileEvent::Remove(path) => remove(&place(path)),
                    FileEvent::Rename(from, to) => drop(fs::rename(place(from), place(to))),
                    FileEvent::CatchUp => scene.open.catch_up().unwrap(),
                }
            }
            // A broken file shows its earlier content, so broken files are removed first.
            let mut as_read = open_again(scene.dir.path());
            let wrong = |it: &OpenPalace| it.findings().next().map(|it| it.file.clone());
            while let Some(file) = wrong(&as_read) {
                scene.open.catch_up().unwrap();
                remove(&scene.path_of(&file));
                as_read = open_again(scene.dir.path());
            }
            // The system may report the last saves later, on a busy machine.
            scene.wait_until(&describe_palace(&as_read));
        }
    }
}
