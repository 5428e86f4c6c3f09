//! The palaces of the home: finding, opening and creating them, now or as of a past commit; and
//! their names.

pub(crate) mod as_of_key;
pub(crate) mod create;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::keeper::BackgroundOpen;
use crate::palace::OpenPalace;
use crate::palace::open_palace::WatchConfig;
use crate::workspaces::as_of_key::{as_of_key, is_as_of_key, present_key, split_as_of_key};
use crate::workspaces::create::{available_directory_name, create_palace};
use crate::{Caller, ChangeCounters, Keeper, Refusal};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{
    CommitId, Files, Palace, WatchMode, did_you_mean, escape_unprintable_in_lines, path_text,
    quoted,
};
use palazzo_core::render;
use palazzo_core::visit::VisitKey;
use palazzo_store::{self as store, HomeEntryKind, Store};

/// How many palaces as of a past commit are open at once.
const MAX_OPEN_AS_OF: usize = 4;

/// The name of the workspace that the first write creates in an empty home.
const DEFAULT_WORKSPACE: &str = "palace";

/// A palace of the home, open or not.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    /// The name of its directory.
    pub(super) key: String,
    /// The name in its settings.
    pub(super) name: String,
    root: PathBuf,
}

/// The commits of a call, and the errors that came after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCommits {
    /// The commits, in order.
    pub commits: Vec<CommitId>,
    /// The errors that came after the commits, each once.
    pub warnings: Vec<String>,
}

impl Keeper {
    /// Lists the palaces of the home.
    pub(super) fn workspaces(&self) -> Result<Vec<Workspace>, Refusal> {
        let roots = self.list_palace_folders()?;
        Ok(roots.into_iter().map(|root| self.workspace_at(root)).collect())
    }

    /// Lists the folders of the palaces of the home, as they are on disk or on the branch of the
    /// proposal.
    fn list_palace_folders(&self) -> Result<Vec<PathBuf>, Refusal> {
        Ok(match &self.proposal {
            Some(proposal) => proposal.list_palaces()?,
            None => store::list_palaces(&self.home)?,
        })
    }

    /// Returns whether the home has a palace.
    pub fn has_palaces(&self) -> bool {
        self.list_palace_folders().is_ok_and(|it| !it.is_empty())
    }

    /// Fails if the home has palaces, but none with this name.
    pub fn reject_unknown_workspace(&self, name: &str) -> Result<(), Refusal> {
        if self.has_palaces() {
            self.find_workspace(name)?;
        }
        Ok(())
    }

    /// Returns the directory of the palace with this name. Opens nothing.
    pub fn palace_folder(&self, name: &str) -> Result<PathBuf, Refusal> {
        Ok(self.find_workspace(name)?.root)
    }

    /// Returns the directory of the palace for callers who have entered none. Opens nothing.
    pub fn default_palace_folder(&self) -> Result<PathBuf, Refusal> {
        self.find_workspace(&self.default_workspace()?).map(|it| it.root)
    }

    /// Finds a palace by the name of its directory or the name in its settings, ignoring case.
    pub(super) fn find_workspace(&self, name: &str) -> Result<Workspace, Refusal> {
        let all = self.workspaces()?;
        let same = |it: &str| it.to_lowercase() == name.trim().to_lowercase();
        let by_key = all.iter().find(|it| same(&it.key));
        let mut by_name = all.iter().filter(|it| same(&it.name));
        match (by_key, by_name.next(), by_name.next()) {
            (Some(workspace), ..) | (None, Some(workspace), None) => Ok(workspace.clone()),
            (None, Some(a), Some(b)) => Err(Refusal::Invalid(format!(
                "several workspaces are called {}; use the directory name: {} or {}",
                quoted(name),
                quoted(&a.key),
                quoted(&b.key)
            ))),
            (None, None, _) => Err(self.no_such_workspace_refusal(name, &all)?),
        }
    }

    /// Opens a palace, unless it is open.
    pub(super) fn open_workspace(
        &mut self,
        workspace: &Workspace,
    ) -> Result<&mut OpenPalace, Refusal> {
        if !self.open_palaces.contains_key(&workspace.key) {
            self.check_not_snapshot()?;
            let wait = self.publish_and_begin_wait();
            let opening = self.background_open.take_if(|it| it.key == workspace.key);
            let mut store = self.store_of(workspace);
            store.set_progress_listener(self.progress.clone());
            let mut palace = match opening.and_then(|it| it.wait(self.progress.clone())) {
                Some(palace) => palace,
                None => OpenPalace::open(store, &workspace.name, &self.watch_config)?,
            };
            if self.models.in_background {
                palace.start_semantic_indexer(&self.models);
            }
            drop(wait);
            self.add_open_palace(&workspace.key, palace);
        }
        self.open_palace(&workspace.key)
    }

    /// Adds a palace to the open ones.
    fn add_open_palace(&mut self, key: &str, mut palace: OpenPalace) {
        palace.publication = Some(self.snapshot_slot(key));
        // All palaces of a home have the same user.
        let is_known = self
            .open_palaces
            .values()
            .any(|it| it.store().unreadable_user_file_warning().is_some());
        if let Some(warning) = palace.store().unreadable_user_file_warning().filter(|_| !is_known) {
            (self.watch_config.warn)(&warning);
        }
        if let Some(warning) = palace.store().sparse_checkout_warning() {
            (self.watch_config.warn)(&warning);
        }
        if !is_as_of_key(key) {
            self.add_to_background_sync(palace.store());
        }
        self.open_palaces.insert(key.to_owned(), palace);
    }

    /// Begins to open the default palace in the background. Nothing is written to disk before the
    /// palace is used.
    pub fn start_background_open(&mut self) {
        // Without a watch, changes made meanwhile would be missed.
        if self.watch_config.mode == WatchMode::Off {
            return;
        }
        let Ok(Some(workspace)) =
            self.default_workspace().map(|key| self.find_workspace(&key).ok())
        else {
            return;
        };
        if !self.open_palaces.contains_key(&workspace.key) {
            let store = self.store_of(&workspace);
            self.add_to_background_sync(&store);
            let Workspace { key, name, .. } = workspace;
            let opening = BackgroundOpen::start(store, key, name, &self.watch_config);
            self.background_open = Some(opening);
        }
    }

    /// Returns the store of a palace that need not be open.
    pub(super) fn store_of(&self, workspace: &Workspace) -> Store {
        self.store_at(workspace.root.clone())
    }

    pub(super) fn store_at(&self, root: PathBuf) -> Store {
        let store = Store::new(root, self.home.clone()).with_consents(self.consents.clone());
        let store = store.with_read_only(self.read_only);
        match &self.proposal {
            Some(proposal) => proposal.store_on_branch(store),
            None => store,
        }
    }

    /// Returns the palace with the directory name `key`, and opens it unless it is open.
    pub(super) fn open_palace(&mut self, key: &str) -> Result<&mut OpenPalace, Refusal> {
        let not_found = self.no_workspace_refusal(Vec::new());
        if !self.open_palaces.contains_key(key) {
            if is_as_of_key(key) {
                return self.open_palace_as_of_commit(key)?.ok_or(not_found);
            }
            let workspace = self.find_workspace(key)?;
            return self.open_workspace(&workspace);
        }
        self.open_palaces.get_mut(key).ok_or(not_found)
    }

    /// Opens the palace as of a past commit that has the key `key`, and closes the one that was
    /// opened longest ago if there are too many; `None` for the key of a present palace.
    fn open_palace_as_of_commit(&mut self, key: &str) -> Result<Option<&mut OpenPalace>, Refusal> {
        let Some((directory, commit)) = split_as_of_key(key) else { return Ok(None) };
        self.check_not_snapshot()?;
        let present = self.open_palace(directory)?;
        let past = present.store().as_of(&commit)?;
        let name = present.palace.settings.name.clone();
        let palace = OpenPalace::open(past, &name, &WatchConfig::default())?;
        self.as_of_keys.retain(|it| it != key);
        self.as_of_keys.push(key.to_owned());
        while self.as_of_keys.len() > MAX_OPEN_AS_OF {
            let oldest = self.as_of_keys.remove(0);
            self.open_palaces.remove(&oldest);
            self.snapshot_slot(&oldest).withdraw();
        }
        self.add_open_palace(key, palace);
        Ok(self.open_palaces.get_mut(key))
    }

    /// Returns the key of the palace that the caller acts on: the one they entered, else the
    /// default one.
    pub(super) fn current_workspace(&mut self, caller: &Caller) -> Result<String, Refusal> {
        match self.visit_of_caller(caller).workspace.clone() {
            Some(key) => Ok(key),
            None => self.default_workspace(),
        }
    }

    /// Returns the key of the palace for callers who have entered none: the preferred one, else the
    /// only one, else the one called `palace`.
    pub(super) fn default_workspace(&self) -> Result<String, Refusal> {
        if let Some(preferred) = self.preferred_workspace.clone() {
            return self.find_workspace(&preferred).map(|it| it.key);
        }
        let all = self.workspaces()?;
        match all.as_slice() {
            [only] => Ok(only.key.clone()),
            _ => match all.iter().find(|it| it.key == DEFAULT_WORKSPACE) {
                Some(default) => Ok(default.key.clone()),
                None => Err(self.no_workspace_refusal(workspace_names(&all))),
            },
        }
    }

    /// Returns the refusal of a call that names no palace if there is no default one. `names` are
    /// the names of the palaces.
    pub(super) fn no_workspace_refusal(&self, names: Vec<String>) -> Refusal {
        Refusal::NoWorkspaceSet {
            known: names,
            home: self.home.clone(),
            choose: self.can_choose_workspace,
        }
    }

    /// Returns the key that [`Keeper::current_workspace`] returns; `None` where the first write
    /// would create the palace.
    pub(super) fn current_workspace_if_any(
        &mut self,
        caller: &Caller,
    ) -> Result<Option<String>, Refusal> {
        match self.current_workspace(caller) {
            Err(refusal) if name_of_workspace_to_create(&refusal).is_some() => Ok(None),
            current => current.map(Some),
        }
    }

    /// Returns the directory of the palace that the caller acts on; `None` where the first write
    /// would create it.
    pub fn palace_root(&mut self, caller: &Caller) -> Result<Option<PathBuf>, Refusal> {
        let Some(key) = self.current_workspace_if_any(caller)? else { return Ok(None) };
        Ok(Some(self.open_palace(&key)?.store().palace_folder().to_owned()))
    }

    /// Returns the key of the palace that the caller writes to, and creates that palace if it does
    /// not exist: the preferred one, or the first of a home. Warns if the preferred one was
    /// missing.
    pub(super) fn current_or_new_workspace(&mut self, caller: &Caller) -> Result<String, Refusal> {
        let refusal = match self.current_workspace(caller) {
            Err(refusal) => refusal,
            current => return current,
        };
        let Some(name) = name_of_workspace_to_create(&refusal) else { return Err(refusal) };
        let key = self.create_workspace(caller, name, &Files::new())?;
        if let Refusal::NoSuchWorkspace { asked, meant, .. } = &refusal {
            let root = self.home.join(&key);
            let hint = meant.as_ref().map(|it| format!("; did you mean {}?", quoted(it)));
            let warning =
                format!("there was no workspace {}: created {}", quoted(asked), path_text(&root));
            (self.watch_config.warn)(&escape_unprintable_in_lines(
                &(warning + &hint.unwrap_or_default()),
            ));
        }
        Ok(key)
    }

    /// Makes a palace the one that the caller acts on, unless they entered one.
    fn remember_workspace(&mut self, caller: &Caller, key: &str) {
        self.visit_of_caller(caller).workspace.get_or_insert_with(|| key.to_owned());
    }

    /// Creates a palace with the name `name` and the files of `template`; returns its key.
    pub(super) fn create_workspace(
        &mut self,
        caller: &Caller,
        name: &str,
        template: &Files,
    ) -> Result<String, Refusal> {
        self.check_not_snapshot()?;
        if self.read_only {
            return Err(Refusal::ReadOnly);
        }
        let name = name.trim();
        let key = available_directory_name(&self.home, name)?;
        let warn = self.watch_config.warn;
        let mut palace =
            create_palace(self.store_at(self.home.join(&key)), caller, name, template, warn)?;
        palace.start_watching(&self.watch_config);
        self.add_open_palace(&key, palace);
        Ok(key)
    }

    /// Brings the open palaces up to date. Returns the time to wait before the next attempt, if a
    /// file may have been half written.
    pub fn catch_up(&mut self) -> Option<Duration> {
        let palaces = self.open_palaces.iter_mut().filter(|(key, _)| !is_as_of_key(key));
        // A palace that cannot be read now reports its error at the next call.
        let deferrals = palaces.filter_map(|(_, palace)| {
            palace.catch_up().ok().and_then(|()| palace.time_until_deferred_file())
        });
        deferrals.min()
    }

    /// Returns the generation of each open palace in memory, by key.
    pub fn change_counters_by_palace(&self) -> BTreeMap<String, ChangeCounters> {
        let palaces = self.open_palaces.iter().filter(|(key, _)| !is_as_of_key(key));
        palaces.map(|(key, palace)| (key.clone(), palace.file_states.change_counters())).collect()
    }

    fn workspace_at(&self, root: PathBuf) -> Workspace {
        let key = root
            .file_name()
            .map_or(DEFAULT_WORKSPACE.into(), |it| it.to_string_lossy().into_owned());
        let name = match self.open_palaces.get(&key) {
            Some(palace) => palace.palace.settings.name.clone(),
            None => {
                let store = self.store_at(root.clone());
                let text =
                    store.read_file(PalacePath::SETTINGS_FILE).ok().flatten().unwrap_or_default();
                format::parse_settings(&text).map_or_else(|| key.clone(), |it| it.name)
            }
        };
        Workspace { key, name, root }
    }

    fn no_such_workspace_refusal(&self, name: &str, all: &[Workspace]) -> Result<Refusal, Refusal> {
        let entries = store::list_home_entries(&self.home)?;
        let is_link =
            entries.iter().any(|(entry, it)| entry == name && *it == HomeEntryKind::Symlink);
        if is_link {
            let why = "it is a symbolic link, and Palazzo does not follow links out of the home; \
                       move the palace into the home";
            return Ok(Refusal::InvalidName {
                what: "a workspace".to_owned(),
                name: name.to_owned(),
                why: why.to_owned(),
            });
        }
        let names = workspace_names(all);
        let candidates = all.iter().flat_map(|it| [it.key.as_str(), it.name.as_str()]);
        let meant = did_you_mean(name, candidates).map(str::to_owned);
        Ok(Refusal::NoSuchWorkspace {
            asked: name.to_owned(),
            meant,
            known: names,
            choose: self.can_choose_workspace,
        })
    }

    /// Returns the names by which doors can lead to the palaces of the home: those of their
    /// directories, and those in their settings.
    pub(crate) fn workspace_keys_and_names(&self) -> Result<Vec<String>, Refusal> {
        Ok(self.workspaces()?.into_iter().flat_map(|it| [it.key, it.name]).collect())
    }

    /// Refuses if a caller who has entered no palace would have to choose one, or if the preferred
    /// one does not exist.
    pub fn require_default_workspace(&self) -> Result<(), Refusal> {
        self.default_workspace().map(drop)
    }

    /// Adds the name of the palace to the answer of a tool that was called before the caller
    /// entered one; from now on the caller acts on that palace. Where a process serves many visits,
    /// every answer names the palace in another place.
    pub fn with_workspace_note(&mut self, caller: &Caller, answer: String) -> String {
        if self.visit_of_caller(caller).workspace.is_some() {
            return answer;
        }
        let Ok(key) = self.current_workspace(caller) else { return answer };
        let name = quoted(&self.workspace_name(&key));
        self.remember_workspace(caller, &key);
        match caller.visit {
            VisitKey::Client(_) => {
                format!("{answer}No workspace was set: the call used {name}.\n")
            }
            VisitKey::Handle(_) => answer,
        }
    }

    /// Returns the name of the palace that the caller acts on, in one line; `None` if there is
    /// none.
    pub fn current_workspace_name(&mut self, caller: &Caller) -> Option<String> {
        let key = self.current_workspace(caller).ok()?;
        let past = if is_as_of_key(&key) { " as it was" } else { "" };
        Some(self.workspace_name(&key) + past)
    }

    /// Returns the commits made since the last call of this method; the background synchronization
    /// pushes them soon.
    pub fn take_commits(&mut self) -> CallCommits {
        let mut committed = CallCommits::default();
        for report in self.open_palaces.values_mut().flat_map(OpenPalace::take_commit_reports) {
            committed.commits.extend(report.commit);
            for warning in report.warnings.iter().map(ToString::to_string) {
                if !committed.warnings.contains(&warning) {
                    committed.warnings.push(warning);
                }
            }
        }
        if let Some(sync) = self.background_sync.as_ref().filter(|_| !committed.commits.is_empty())
        {
            sync.note_commits();
        }
        committed
    }

    fn workspace_name(&self, key: &str) -> String {
        let open = self.open_palaces.get(key);
        render::one_line(open.map_or(present_key(key), |it| &it.palace.settings.name))
    }
}

/// Returns the name of the palace that the first write would create; `None` where there are
/// palaces to choose from.
fn name_of_workspace_to_create(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::NoWorkspaceSet { known, .. } if known.is_empty() => Some(DEFAULT_WORKSPACE),
        Refusal::NoSuchWorkspace { asked, .. } => Some(asked),
        _ => None,
    }
}

pub(super) fn workspace_names(all: &[Workspace]) -> Vec<String> {
    all.iter().map(|it| it.name.clone()).collect()
}

/// Opens the palace with the key `key` as of `revision`, and returns the key of the opened one.
pub(crate) fn open_as_of(
    keeper: &mut Keeper,
    caller: &Caller,
    key: &str,
    revision: &str,
) -> Result<String, Refusal> {
    let directory = present_key(key);
    let store = keeper.open_palace(directory)?.store();
    let key = as_of_key(directory, &store.resolve_revision(revision, caller.now, &caller.zone)?);
    keeper.open_palace(&key)?;
    Ok(key)
}

/// Returns a palace of the home as it is in memory.
pub fn palace_by_name<'k>(keeper: &'k mut Keeper, name: &str) -> Result<&'k Palace, Refusal> {
    let workspace = keeper.find_workspace(name)?;
    keeper.open_workspace(&workspace).map(|open| &*open.palace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    fn find(home: &TestHome, name: &str) -> Result<String, Refusal> {
        home.keeper.find_workspace(name).map(|it| it.key)
    }

    /// A home of palaces, each a directory name and a name, beside `keep`.
    fn home_with(palaces: &[(&str, &str)]) -> TestHome {
        let home = TestHome::new(&[]);
        for (key, name) in palaces {
            home.write(&format!("../{key}/palace.toml"), &format!("name = \"{name}\"\n"));
        }
        home
    }

    #[test]
    fn a_palace_is_found_by_directory_and_by_name_in_any_case() {
        let home = home_with(&[("kueche", "Große Küche")]);
        for name in ["kueche", "KUECHE", "große küche", " GROßE KÜCHE\n"] {
            assert_eq!(find(&home, name).unwrap(), "kueche", "{name}");
        }
    }

    #[test]
    fn a_palace_in_memory_is_found_by_name_in_any_case() {
        let mut home = home_with(&[]);
        let palace = palace_by_name(&mut home.keeper, "KEEP").unwrap();
        assert_eq!(palace.settings.name, "Keep");
    }

    #[test]
    fn a_directory_name_takes_precedence_over_a_name() {
        let home = home_with(&[("attic", "Cellar"), ("cellar", "Attic")]);
        assert_eq!(find(&home, "attic").unwrap(), "attic");
        assert_eq!(find(&home, "Cellar").unwrap(), "cellar");
    }

    #[test]
    fn a_name_that_several_palaces_have_is_refused_with_their_directories() {
        let home = home_with(&[("a", "Garden"), ("b", "garden")]);
        let why = "several workspaces are called `Garden`; use the directory name: `a` or `b`";
        assert_eq!(find(&home, "Garden").unwrap_err().to_string(), why);
    }

    #[test]
    fn an_unknown_palace_is_refused_with_the_most_similar_name() {
        let refusal = find(&home_with(&[("attic", "Speicher")]), "Speichr").unwrap_err();
        let Refusal::NoSuchWorkspace { meant, known, .. } = refusal else { panic!("{refusal}") };
        assert_eq!(meant.as_deref(), Some("Speicher"));
        assert_eq!(known, ["Speicher", "Keep"]);
    }

    #[test]
    fn a_palace_whose_settings_cannot_be_read_is_called_like_its_directory() {
        let home = TestHome::new(&[("../attic/palace.toml", "name = [\n")]);
        let names = workspace_names(&home.keeper.workspaces().unwrap());
        assert_eq!(names, ["attic", "Keep"]);
    }

    #[test]
    fn the_default_is_the_only_palace_or_the_one_called_palace() {
        let default = |home: &TestHome| home.keeper.default_workspace().ok();
        assert_eq!(default(&home_with(&[])).as_deref(), Some("keep"));
        assert_eq!(default(&home_with(&[("attic", "Attic")])), None);
        let home = home_with(&[("attic", "Attic"), ("palace", "Main")]);
        assert_eq!(default(&home).as_deref(), Some("palace"));
    }

    #[test]
    fn the_preferred_palace_is_the_default_and_the_entered_one_is_current() {
        let mut home = home_with(&[("attic", "Attic")]);
        home.keeper.preferred_workspace = Some("ATTIC".to_owned());
        assert_eq!(home.keeper.current_workspace(&ada()).unwrap(), "attic");
        home.enter().unwrap();
        assert_eq!(home.keeper.current_workspace(&ada()).unwrap(), "keep");
    }

    #[test]
    fn the_first_write_creates_a_palace_and_reading_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        assert!(keeper.session_if_any(&ada()).unwrap().is_none());
        assert_eq!(keeper.palace_root(&ada()).unwrap(), None);
        assert!(!keeper.has_palaces());
        assert_eq!(keeper.session_for_writing(&ada()).unwrap().key, "palace");
        assert!(dir.path().join("home/palace/palace.toml").exists());
    }

    #[test]
    fn the_first_write_creates_the_preferred_palace() {
        let mut home = home_with(&[]);
        home.keeper.preferred_workspace = Some("Großer Garten".to_owned());
        assert_eq!(home.keeper.current_or_new_workspace(&ada()).unwrap(), "grosser-garten");
        let settings = home.read("../grosser-garten/palace.toml").unwrap();
        assert!(settings.contains("name = \"Großer Garten\""), "{settings}");
    }

    #[test]
    fn a_write_to_one_of_several_palaces_needs_a_choice() {
        let mut home = home_with(&[("attic", "Attic")]);
        let refusal = home.keeper.current_or_new_workspace(&ada()).unwrap_err();
        let Refusal::NoWorkspaceSet { known, .. } = refusal else { panic!("{refusal}") };
        assert_eq!(known, ["Attic", "Keep"]);
    }

    #[test]
    fn an_answer_names_the_palace_once_unless_the_caller_entered_it() {
        let mut home = home_with(&[]);
        let mut answer = || home.keeper.with_workspace_note(&ada(), "Done.\n".to_owned());
        assert_eq!(answer(), "Done.\nNo workspace was set: the call used `keep`.\n");
        assert_eq!(answer(), "Done.\n");
    }

    #[test]
    fn only_a_home_without_a_palace_to_choose_gets_a_new_one() {
        let keeper = &home_with(&[]).keeper;
        let none = keeper.no_workspace_refusal(Vec::new());
        assert_eq!(name_of_workspace_to_create(&none), Some("palace"));
        let several = keeper.no_workspace_refusal(vec!["A".to_owned(), "B".to_owned()]);
        assert_eq!(name_of_workspace_to_create(&several), None);
        let missing = keeper.find_workspace("Attic").unwrap_err();
        assert_eq!(name_of_workspace_to_create(&missing), Some("Attic"));
    }
}
