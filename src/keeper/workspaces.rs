//! Which palace is meant, and new ones.

pub(crate) mod as_of;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::format::{self, PalacePath};
use crate::keeper::palace::reload::WatchConfig;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::workspaces::as_of::is_as_of_key;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{Edit, Files, Settings, Slug, WatchMode, did_you_mean, strip_unprintable};
use crate::render;
use crate::store::{self, HomeEntryKind, Store};

/// The workspace that the first write makes where there is none at all.
const DEFAULT_WORKSPACE: &str = "palace";

/// A palace of the home, opened or not.
#[derive(Clone, Debug)]
pub(super) struct Workspace {
    /// The name of its directory: what it is known by inside.
    pub(super) key: String,
    /// The name it shows.
    pub(super) name: String,
    root: PathBuf,
}

/// A palace that is being opened while others go on.
pub(super) struct BackgroundOpen {
    key: String,
    is_awaited: Arc<AtomicBool>,
    thread: JoinHandle<Result<OpenPalace, Refusal>>,
}

impl BackgroundOpen {
    fn start(store: Store, workspace: Workspace, vigil: &WatchConfig) -> Self {
        let (Workspace { key, name, .. }, vigil) = (workspace, vigil.clone());
        let is_awaited = Arc::new(AtomicBool::new(false));
        let hurry = is_awaited.clone();
        let open = move || {
            let held = OpenPalace::open_without_writing(store, &name, &vigil)?;
            if !hurry.load(Ordering::Relaxed) {
                held.warm_caches();
            }
            Ok(held)
        };
        Self { key, is_awaited, thread: thread::spawn(open) }
    }

    /// Waits for the palace; `None`: it could not be opened.
    fn wait(self) -> Option<OpenPalace> {
        self.is_awaited.store(true, Ordering::Relaxed);
        let mut held = self.thread.join().ok()?.ok()?;
        held.finish_open();
        Some(held)
    }
}

impl Keeper {
    /// Lists the palaces of the home.
    pub(super) fn workspaces(&self) -> Result<Vec<Workspace>, Refusal> {
        let roots = store::list_palaces(&self.home)?;
        Ok(roots.into_iter().map(|root| self.workspace_at(root)).collect())
    }

    /// Tells whether there is a palace in the home.
    pub fn has_palaces(&self) -> bool {
        store::list_palaces(&self.home).is_ok_and(|it| !it.is_empty())
    }

    /// Finds the palace that is called `asked`, by the name of its directory or
    /// the name it shows, whatever the case.
    pub(super) fn find_workspace(&self, asked: &str) -> Result<Workspace, Refusal> {
        let all = self.workspaces()?;
        let same = |it: &str| it.to_lowercase() == asked.trim().to_lowercase();
        let by_key = all.iter().find(|it| same(&it.key));
        let mut by_name = all.iter().filter(|it| same(&it.name));
        match (by_key, by_name.next(), by_name.next()) {
            (Some(found), ..) | (None, Some(found), None) => Ok(found.clone()),
            (None, Some(a), Some(b)) => Err(Refusal::Invalid(format!(
                "several workspaces are called `{asked}`; say which directory: `{}`, `{}`",
                a.key, b.key
            ))),
            (None, None, _) => Err(self.no_such_workspace(asked, &all)?),
        }
    }

    /// Opens a palace, if it is not open.
    pub(super) fn open_workspace(
        &mut self,
        workspace: &Workspace,
    ) -> Result<&mut OpenPalace, Refusal> {
        if !self.open_palaces.contains_key(&workspace.key) {
            self.check_not_snapshot()?;
            let wait = self.begin_wait();
            let begun = self.background_open.take_if(|it| it.key == workspace.key);
            let mut held = match begun.and_then(BackgroundOpen::wait) {
                Some(held) => held,
                None => {
                    OpenPalace::open(self.store_of(workspace), &workspace.name, &self.watch_config)?
                }
            };
            if self.models.in_background {
                held.start_semantic_indexer(&self.models);
            }
            drop(wait);
            self.add_open_palace(&workspace.key, held);
        }
        self.open_palace(&workspace.key)
    }

    /// Takes in a palace that was opened.
    pub(super) fn add_open_palace(&mut self, key: &str, mut held: OpenPalace) {
        held.publication = Some(self.snapshot_slot(key));
        self.open_palaces.insert(key.to_owned(), held);
    }

    /// Begins to read the palace that a tool acts on that names none, while others
    /// go on. The disk stays as it is until somebody asks for the palace.
    pub fn start_background_open(&mut self) {
        // Who does not watch would not see what is put right then.
        if self.watch_config.mode == WatchMode::Off {
            return;
        }
        let Ok(Some(workspace)) =
            self.default_workspace().map(|key| self.find_workspace(&key).ok())
        else {
            return;
        };
        if !self.open_palaces.contains_key(&workspace.key) {
            self.background_open = Some(BackgroundOpen::start(
                self.store_of(&workspace),
                workspace,
                &self.watch_config,
            ));
        }
    }

    /// Returns the store of a palace that need not be open.
    pub(super) fn store_of(&self, workspace: &Workspace) -> Store {
        self.store_at(workspace.root.clone())
    }

    fn store_at(&self, root: PathBuf) -> Store {
        Store::new(root, self.home.clone()).with_consents(self.consents.clone())
    }

    /// Returns the palace of that directory name, opened if need be.
    pub(super) fn open_palace(&mut self, key: &str) -> Result<&mut OpenPalace, Refusal> {
        let lost = self.no_workspace_refusal(Vec::new());
        if !self.open_palaces.contains_key(key) {
            if is_as_of_key(key) {
                return self.reopen_as_of(key)?.ok_or(lost);
            }
            let workspace = self.find_workspace(key)?;
            return self.open_workspace(&workspace);
        }
        self.open_palaces.get_mut(key).ok_or(lost)
    }

    /// Returns the palace a tool acts on that names none: the one visited, else
    /// the preferred one, else the only one, else the one called `palace`.
    pub(super) fn current_workspace(&mut self, by: &Caller) -> Result<String, Refusal> {
        match self.visit(by).workspace.clone() {
            Some(key) => Ok(key),
            None => self.default_workspace(),
        }
    }

    /// Returns the palace that is meant by who has not visited any.
    fn default_workspace(&self) -> Result<String, Refusal> {
        if let Some(preferred) = self.preferred_workspace.clone() {
            return self.find_workspace(&preferred).map(|it| it.key);
        }
        let all = self.workspaces()?;
        match all.as_slice() {
            [only] => Ok(only.key.clone()),
            _ => match all.iter().find(|it| it.key == DEFAULT_WORKSPACE) {
                Some(first) => Ok(first.key.clone()),
                None => Err(self.no_workspace_refusal(workspace_names(&all))),
            },
        }
    }

    /// Refuses what nobody can know the palace of.
    pub(super) fn no_workspace_refusal(&self, known: Vec<String>) -> Refusal {
        Refusal::NoWorkspaceSet {
            known,
            home: self.home.clone(),
            choose: self.can_choose_workspace,
        }
    }

    /// Begins a session on the palace that the caller acts on, and brings it up to date.
    pub fn session<'k>(&'k mut self, caller: &'k Caller) -> Result<Session<'k>, Refusal> {
        let key = self.current_workspace(caller)?;
        self.session_in(key, caller)
    }

    /// Begins a session as [`Keeper::session`] does; `None` where the first write would create
    /// the palace.
    pub fn session_if_any<'k>(
        &'k mut self,
        caller: &'k Caller,
    ) -> Result<Option<Session<'k>>, Refusal> {
        match self.current_workspace_if_any(caller)? {
            Some(key) => self.session_in(key, caller).map(Some),
            None => Ok(None),
        }
    }

    /// Begins a session for a change, and creates the first palace if there is none.
    pub fn session_for_writing<'k>(
        &'k mut self,
        caller: &'k Caller,
    ) -> Result<Session<'k>, Refusal> {
        let key = self.current_or_new_workspace(caller)?;
        self.session_in(key, caller)
    }

    /// Begins a session on the palace with the directory name `key`.
    pub(super) fn session_in<'k>(
        &'k mut self,
        key: String,
        caller: &'k Caller,
    ) -> Result<Session<'k>, Refusal> {
        self.open_palace(&key)?.catch_up()?;
        self.visit(caller);
        let no_workspace = self.no_workspace_refusal(Vec::new());
        let palace = self.open_palaces.get_mut(&key);
        let visit = self.visits.get_mut(&caller.name);
        let (Some(palace), Some(visit)) = (palace, visit) else { return Err(no_workspace) };
        let (models, id_generator) = (&self.models, &mut self.id_generator);
        Ok(Session { key, palace, visit, caller, models, id_generator })
    }

    /// Returns the palace a tool acts on that names none; `None` where the first
    /// write would make it.
    pub(super) fn current_workspace_if_any(
        &mut self,
        by: &Caller,
    ) -> Result<Option<String>, Refusal> {
        match self.current_workspace(by) {
            Err(refusal) if name_to_create(&refusal).is_some() => Ok(None),
            current => current.map(Some),
        }
    }

    /// Returns where the palace lies that a tool acts on that names none; `None`
    /// where the first write would make it.
    pub fn palace_root(&mut self, by: &Caller) -> Result<Option<PathBuf>, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(None) };
        Ok(Some(self.open_palace(&key)?.store().root().to_owned()))
    }

    /// Returns the palace a tool writes to that names none, and makes it if it
    /// is not there: the preferred one, or, in a home without any, the first. That
    /// the preferred one was not there is told.
    pub(super) fn current_or_new_workspace(&mut self, by: &Caller) -> Result<String, Refusal> {
        let refusal = match self.current_workspace(by) {
            Err(refusal) => refusal,
            current => return current,
        };
        let Some(name) = name_to_create(&refusal) else { return Err(refusal) };
        let key = self.create_workspace(by, name, &Files::new())?;
        if let Refusal::NoSuchWorkspace { asked, meant, .. } = &refusal {
            let root = self.home.join(&key);
            let hint = meant.as_ref().map(|it| format!("; did you mean `{it}`?"));
            let told = format!("there was no workspace `{asked}`: made {}", root.display());
            (self.watch_config.warn)(&strip_unprintable(&(told + &hint.unwrap_or_default())));
        }
        Ok(key)
    }

    /// Lets the caller stay in the palace in which a tool acted that was called
    /// before any workspace was set.
    pub(super) fn remember_workspace(&mut self, by: &Caller, key: &str) {
        self.visit(by).workspace.get_or_insert_with(|| key.to_owned());
    }

    /// Adds to the answer of a tool that was called before any workspace was
    /// set in which one it acted; from now on that one is.
    pub fn with_workspace_note(&mut self, by: &Caller, answer: String) -> String {
        if self.visit(by).workspace.is_some() {
            return answer;
        }
        let Ok(key) = self.current_workspace(by) else { return answer };
        let name = self.open_palaces.get(&key).map_or(key.as_str(), |it| &it.palace.settings.name);
        let answer =
            format!("{answer}No workspace was set: this is in `{}`.\n", render::one_line(name));
        self.remember_workspace(by, &key);
        answer
    }

    /// Returns the palace of the home that changed last, or the only one, and the
    /// names of the others.
    pub(super) fn last_changed_workspace(&mut self) -> Result<(Workspace, Vec<String>), Refusal> {
        if let Some(preferred) = &self.preferred_workspace {
            return Ok((self.find_workspace(preferred)?, Vec::new()));
        }
        let mut all = self.workspaces()?;
        if all.len() == 1 {
            return Ok((all.remove(0), Vec::new()));
        }
        let changed = |it: &Workspace| {
            let store = self.store_at(it.root.clone());
            store.recent_commits(1).ok().and_then(|it| it.first().map(|it| it.at))
        };
        let dated = all.iter().enumerate().filter_map(|(place, it)| Some((changed(it)?, place)));
        match dated.max_by_key(|it| it.0) {
            Some((_, place)) => {
                let last = all.remove(place);
                Ok((last, workspace_names(&all)))
            }
            None => Err(self.no_workspace_refusal(workspace_names(&all))),
        }
    }

    /// Founds a workspace: a directory with a `palace.toml`, and the other files
    /// of a template if there are any.
    pub(super) fn create_workspace(
        &mut self,
        by: &Caller,
        name: &str,
        template: &Files,
    ) -> Result<String, Refusal> {
        self.check_not_snapshot()?;
        let name = name.trim();
        let key = self.free_directory_name(name)?;
        let store = self.store_at(self.home.join(&key));
        let mut held = OpenPalace::open(store, name, &WatchConfig::default())?;
        held.change(by, |held| {
            let mut edits = Vec::new();
            for (path, read_for_change) in new_palace_files(name, template) {
                let was = held.read_for_change(&path)?;
                let now = if was.is_none() {
                    format::ensure_modeline(&path, &read_for_change)
                } else {
                    read_for_change
                };
                edits.push(Edit { was, path, now: Some(now) });
            }
            Ok(ChangePlan {
                edits,
                subject: format!("palace {key}: found"),
                body: format!("Founded the workspace {name}"),
            })
        })?;
        held.start_watching(&self.watch_config);
        self.add_open_palace(&key, held);
        Ok(key)
    }

    /// Makes a directory name of a workspace's name, if none stands in its way.
    fn free_directory_name(&self, name: &str) -> Result<String, Refusal> {
        let refused = |why: &str| {
            Err(Refusal::InvalidWorkspaceName { name: name.to_owned(), why: why.to_owned() })
        };
        if name.is_empty() {
            return refused("it is empty");
        }
        if name.chars().count() > Slug::MAX_CHARS {
            return refused("80 characters are the most");
        }
        if name.starts_with('.') {
            return refused("it may not begin with a dot");
        }
        if name.contains(['/', '\\']) || name.contains(char::is_control) {
            return refused("it may not hold slashes or control characters");
        }
        let Some(slug) = Slug::from_text(name) else {
            return refused(
                "its directory would have no name; give it a letter or digit from a-z, 0-9, and none of the names some systems reserve",
            );
        };
        if self.home.join(PalacePath::SETTINGS_FILE).exists() {
            return refused("this home is itself a palace, and palaces do not lie in each other");
        }
        let taken = store::list_home_entries(&self.home)?;
        match taken.iter().find(|(it, _)| it.to_lowercase() == slug.as_str()) {
            None | Some((_, HomeEntryKind::Directory)) => Ok(slug.to_string()),
            Some((twin, _)) => refused(&format!("`{twin}` is there already")),
        }
    }

    fn workspace_at(&self, root: PathBuf) -> Workspace {
        let key = root
            .file_name()
            .map_or(DEFAULT_WORKSPACE.into(), |it| it.to_string_lossy().into_owned());
        let name = match self.open_palaces.get(&key) {
            Some(held) => held.palace.settings.name.clone(),
            None => {
                let store = self.store_at(root.clone());
                let text =
                    store.read_file(PalacePath::SETTINGS_FILE).ok().flatten().unwrap_or_default();
                format::parse_settings(&text).map_or_else(|| key.clone(), |it| it.name)
            }
        };
        Workspace { key, name, root }
    }

    fn no_such_workspace(&self, asked: &str, all: &[Workspace]) -> Result<Refusal, Refusal> {
        let taken = store::list_home_entries(&self.home)?;
        let linked = taken.iter().any(|(name, it)| name == asked && *it == HomeEntryKind::Symlink);
        if linked {
            let why = "it is a symbolic link, and links are not followed out of the home";
            return Ok(Refusal::InvalidWorkspaceName {
                name: asked.to_owned(),
                why: why.to_owned(),
            });
        }
        let known = workspace_names(all);
        let candidates = all.iter().flat_map(|it| [it.key.as_str(), it.name.as_str()]);
        let meant = did_you_mean(asked, candidates).map(str::to_owned);
        Ok(Refusal::NoSuchWorkspace {
            asked: asked.to_owned(),
            meant,
            known,
            choose: self.can_choose_workspace,
        })
    }
}

/// Returns what the first write would call the palace that was not found: none
/// is made beside others that nobody chose among.
fn name_to_create(refusal: &Refusal) -> Option<&str> {
    match refusal {
        Refusal::NoWorkspaceSet { known, .. } if known.is_empty() => Some(DEFAULT_WORKSPACE),
        Refusal::NoSuchWorkspace { asked, .. } => Some(asked),
        _ => None,
    }
}

fn workspace_names(all: &[Workspace]) -> Vec<String> {
    all.iter().map(|it| it.name.clone()).collect()
}

/// The files of a new palace: those of its template, with its own name.
fn new_palace_files(name: &str, template: &Files) -> Files {
    let mut files = template.clone();
    let mut settings = Settings::with_name(name);
    let text = files.get(PalacePath::SETTINGS_FILE).and_then(|text| {
        settings.entry = format::parse_settings(text)?.entry;
        format::edit_settings_text(text, &settings)
    });
    let text = text.unwrap_or_else(|| format::write_settings(&settings));
    files.insert(PalacePath::SETTINGS_FILE.to_owned(), text);
    files
}
