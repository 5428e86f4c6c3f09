//! One palace in memory, as true to its files as the last look at them.

pub(crate) mod entity_cache;
pub(crate) mod entity_faults;
pub(crate) mod file_states;
pub(crate) mod reload;
pub(crate) mod repository;
pub(crate) mod search_documents;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::format::{self, Place};
use crate::keeper::palace::entity_faults::{Health, Patient};
use crate::keeper::palace::file_states::Ledger;
use crate::keeper::palace::reload::Vigil;
use crate::keeper::semantic::indexer::Sense;
use crate::keeper::snapshot::{Limits, Publication};
use crate::keeper::{Caller, Refusal};
use crate::model::{
    Change, Commit, CommitId, Diagnostic, Edit, History, LARGEST_FILE, Opening, Palace, Settings,
    Severity,
};
use crate::search::{Index, to_read};
use crate::store::{Done, Known, Listener, Outcome, Store};
use crate::watch::Watch;

/// How often a change is thought out anew when somebody else was faster.
const ATTEMPTS: usize = 8;

/// A palace that is open: its files' meaning, and everything made from it.
pub(crate) struct Held {
    pub(crate) palace: Arc<Palace>,
    /// Made when something is first looked for.
    pub(crate) index: Arc<OnceLock<Index>>,
    pub(crate) health: Arc<OnceLock<Health>>,
    /// What its passages mean, if it names a model and somebody searches.
    pub(crate) sense: Option<Arc<Sense>>,
    pub(crate) store: Store,
    pub(crate) findings: Arc<BTreeMap<String, Vec<Diagnostic>>>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) watch: Option<Watch>,
    /// Whether a file has given up something that another may claim.
    pub(crate) shaken: bool,
    /// The temporary files that lay there when it was read.
    pub(crate) leftovers: Vec<PathBuf>,
    /// Whether much was read that could have been remembered.
    pub(crate) is_worth_remembering: bool,
    pub(crate) head: Option<CommitId>,
    pub(crate) known: Arc<Known>,
    /// Where it is published for readers while a call waits.
    pub(crate) publication: Option<Publication>,
    /// What cannot be done because this is a snapshot; `None`: it is none.
    pub(crate) limits: Option<Limits>,
    /// Why the history cannot be read.
    pub(crate) repository_fault: Option<Diagnostic>,
    /// The changes made since this was asked last.
    pub(crate) done: Vec<Done>,
    /// Reports what went wrong after a change was made.
    pub(crate) say: fn(&str),
}

/// What a tool wants done to the files, and what to say of it in history.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) edits: Vec<Edit>,
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// Returns the schemas that files, as (path, text), lead to and that nobody has put
/// there.
pub(crate) fn schemas_missing<'a>(
    store: &Store,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Vec<Edit> {
    let kinds: BTreeSet<_> =
        files.filter_map(|(path, text)| format::announced(path, text)).collect();
    let files = kinds.into_iter().map(|kind| (kind, format::schema_file(kind)));
    let missing = files.filter(|(_, path)| matches!(store.read(path), Ok(None)));
    let edit = |(kind, path)| Edit { path, was: None, now: Some(format::schema(kind)) };
    missing.map(edit).collect()
}

impl Held {
    /// Opens a palace: clears away what a writer left who died, reads all files,
    /// and notices from then on what others change.
    pub(crate) fn open(store: Store, name: &str, vigil: &Vigil) -> Result<Self, Refusal> {
        let mut held = Self::look_into(store, name, vigil)?;
        held.settle_in();
        Ok(held)
    }

    /// Opens a palace as [`Held::open`] does, but leaves the disk as it is;
    /// [`Held::settle_in`] must follow before anything is asked.
    pub(crate) fn look_into(store: Store, name: &str, vigil: &Vigil) -> Result<Self, Refusal> {
        let mut held = Self {
            palace: Arc::new(Palace::new(Settings::named(name))),
            index: Arc::default(),
            health: Arc::default(),
            sense: None,
            head: None,
            store,
            findings: Arc::default(),
            ledger: Arc::default(),
            watch: None,
            shaken: false,
            leftovers: Vec::new(),
            is_worth_remembering: false,
            known: Arc::default(),
            publication: None,
            limits: None,
            repository_fault: None,
            done: Vec::new(),
            say: vigil.say,
        };
        held.head = held.read_head()?;
        held.begin_watching(vigil);
        held.read_all()?;
        held.check_history();
        Ok(held)
    }

    /// Keeps what was read, so that the next start is quicker.
    pub(crate) fn settle_in(&mut self) {
        self.remember();
    }

    /// Takes in what others have saved and committed since the last look. What
    /// nobody watches and nobody has committed yet is seen when its file is
    /// looked at.
    pub(crate) fn catch_up(&mut self) -> Result<(), Refusal> {
        if self.is_snapshot() {
            return Ok(());
        }
        self.take_in_saved()?;
        let head = self.read_head()?;
        if head != self.head && self.repository_fault.is_none() {
            let paths = self.changed_until(head.as_ref());
            self.take_in_committed(paths)?;
            self.head = head;
        }
        self.glance(Place::SETTINGS);
        Ok(())
    }

    /// Returns the index of everything that can be found.
    pub(crate) fn index(&self) -> &Index {
        self.index.get_or_init(|| search_documents::index(&self.palace))
    }

    /// Makes what is otherwise made when it is first asked for.
    pub(crate) fn prepare(&self) {
        self.health();
        self.index();
    }

    /// Yields what is wrong with the palace's files, by file.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.values().flatten().chain(self.ledger.obstacles());
        findings.chain(&self.repository_fault)
    }

    /// Returns what is so wrong with a file that not all of it could be read.
    pub(crate) fn broken(&self, path: &str) -> Option<&Diagnostic> {
        self.findings_in(path).find(|it| it.severity() == Severity::Error)
    }

    /// Yields what is wrong with one file.
    pub(crate) fn findings_in(&self, path: &str) -> impl Iterator<Item = &Diagnostic> {
        let findings = self.findings.get(path).into_iter().flatten();
        findings.chain(self.ledger.obstacle(path))
    }

    /// Reads a file that is about to be changed; refuses if it cannot be
    /// understood whole, for then a change could lose what was not understood.
    pub(crate) fn text(&mut self, path: &str) -> Result<Option<String>, Refusal> {
        if let Some(limits) = &self.limits {
            return Err(limits.refuse());
        }
        let text = self.reread(path);
        match self.broken(path) {
            Some(finding) => Err(Refusal::Broken(finding.clone().into())),
            None => Ok(text),
        }
    }

    /// Tells whether a file at `path` is known. One that another has just made is
    /// not: it may be the very thing, and the change is thought out anew for it.
    pub(crate) fn is_taken(&self, path: &str) -> bool {
        self.ledger.digest(path).is_some()
    }

    /// Makes a change: `plan` says what is to be done to the files as they are,
    /// and is asked again if they have changed meanwhile. Returns whether
    /// anything was changed.
    pub(crate) fn change(
        &mut self,
        by: &Caller,
        plan: impl FnMut(&mut Self) -> Result<Plan, Refusal>,
    ) -> Result<bool, Refusal> {
        self.change_noting(by, None, plan)
    }

    /// Makes a change as [`Held::change`] does, while nobody else makes one of this
    /// kind: one that is made because something is not there.
    pub(crate) fn change_alone(
        &mut self,
        by: &Caller,
        plan: impl FnMut(&mut Self) -> Result<Plan, Refusal>,
    ) -> Result<bool, Refusal> {
        self.check_can_change(by)?;
        let wait = self.begin_wait();
        let _alone = self.store.alone()?;
        drop(wait);
        self.change(by, plan)
    }

    /// Makes a change as [`Held::change`] does, with one more trailer for the commit.
    pub(crate) fn change_noting(
        &mut self,
        by: &Caller,
        note: Option<&(&'static str, String)>,
        mut plan: impl FnMut(&mut Self) -> Result<Plan, Refusal>,
    ) -> Result<bool, Refusal> {
        if let Some(moment) = self.store.moment() {
            return Err(Refusal::Past(moment.clone()));
        }
        self.check_can_change(by)?;
        self.recover()?;
        for _ in 0..ATTEMPTS {
            self.catch_up()?;
            // Settings that cannot be read could say that nothing is to be committed.
            if let Some(finding) = self.broken(Place::SETTINGS) {
                return Err(Refusal::Broken(finding.clone().into()));
            }
            let mut plan = plan(self)?;
            if plan.edits.iter().all(|it| it.was == it.now) {
                return Ok(false);
            }
            let new = plan.edits.iter().filter(|it| it.was.is_none());
            let new = new.filter_map(|it| Some((it.path.as_str(), it.now.as_deref()?)));
            plan.edits.extend(schemas_missing(&self.store, new));
            if self.carry_out(by, plan, note)? {
                return Ok(true);
            }
        }
        Err(Refusal::Contended)
    }

    /// Returns what is said once of each change that was made since this was asked last: the commit,
    /// and what went wrong after it.
    pub(crate) fn take_done(&mut self) -> Vec<Done> {
        std::mem::take(&mut self.done)
    }

    /// Returns the files' past, as far as it was recalled.
    pub(crate) fn history(&self) -> &History {
        &self.known.history
    }

    /// Tells which entities have something wrong with them.
    pub(crate) fn health(&self) -> &Health {
        self.health.get_or_init(|| Health::of(&self.palace.graph))
    }

    /// Tells `listener` from now on how far each change has come.
    pub(crate) fn tell(&mut self, listener: Listener) {
        self.store.tell(listener);
    }

    /// Returns the store, to be asked only.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    fn carry_out(
        &mut self,
        by: &Caller,
        plan: Plan,
        note: Option<&(&'static str, String)>,
    ) -> Result<bool, Refusal> {
        for edit in &plan.edits {
            if let Some(size) = edit.now.as_ref().map(String::len).filter(|it| *it > LARGEST_FILE) {
                return Err(Refusal::TooLarge { file: edit.path.clone(), size });
            }
        }
        let mut trailers =
            vec![("Palazzo-Tool", by.tool.to_owned()), ("Palazzo-Client", by.name.clone())];
        trailers.extend(note.cloned());
        let change = Change {
            edits: plan.edits,
            subject: plan.subject,
            body: plan.body,
            trailers,
            author: by.author.clone(),
            at: by.now,
            commit: self.palace.settings.commit == Commit::Auto,
        };
        if by.is_cancelled() {
            return Err(Refusal::Cancelled);
        }
        let wait = self.begin_wait();
        let made = self.store.make(&change);
        drop(wait);
        match made? {
            Outcome::Stale(paths) => {
                for path in paths {
                    self.reread(&path);
                }
                Ok(false)
            }
            Outcome::Done(done) => self.take_in(done, &change.edits).map(|()| true),
        }
    }

    /// Takes in a change that is made.
    fn take_in(&mut self, done: Done, edits: &[Edit]) -> Result<(), Refusal> {
        for edit in edits {
            self.absorb(&edit.path, edit.now.as_deref());
        }
        self.hear_rivals();
        done.warnings.iter().for_each(|it| (self.say)(&it.to_string()));
        let commit = done.commit.clone();
        self.done.push(done);
        self.advance(commit, edits)
    }

    /// Looks again at the entities that a change of a file may have made well or
    /// ill; at all of them if it says what is laid down for their genus.
    pub(crate) fn see_to_health(&mut self, path: &str, before: Option<&Patient>) {
        let after = self.patient_in(path);
        if self.health.get().is_none() {
            return;
        }
        let health = Arc::make_mut(&mut self.health);
        match (Place::of(path), health.get_mut()) {
            (Ok(Place::Genus), _) => drop(health.take()),
            (Ok(Place::Entity), Some(it)) => {
                it.changed(&self.palace.graph, before, after.as_ref());
            }
            _ => {}
        }
    }

    /// Returns the entity in a file, if anybody has looked yet at who is well.
    pub(crate) fn patient_in(&self, path: &str) -> Option<Patient> {
        self.health.get()?;
        let entity = self.palace.graph.in_file(path).filter(|it| it.is_defined);
        entity.map(|it| (it.name.clone(), it.genus.clone()))
    }

    pub(crate) fn opening(&self, path: &str) -> Option<Opening> {
        match Place::of(path).ok()? {
            Place::Room(id) => Some(Opening::Room(id)),
            Place::Scroll(_) => self.palace.scroll_in_file(path).cloned().map(Opening::Scroll),
            Place::Entity => {
                let entity = self.palace.graph.in_file(path).filter(|it| it.is_defined)?;
                Some(Opening::Entity(entity.name.clone()))
            }
            Place::Drawer(_) => {
                self.palace.drawers.get(path).map(|_| Opening::Drawer(path.to_owned()))
            }
            Place::Task => self.palace.tasks.get(path).map(|_| Opening::Task(path.to_owned())),
            Place::Process => {
                self.palace.processes.get(path).map(|_| Opening::Process(path.to_owned()))
            }
            Place::Diary(_) => {
                self.palace.diaries.get(path).map(|_| Opening::Diary(path.to_owned()))
            }
            Place::Genus => {
                let genus = self.palace.graph.genus_in_file(path)?;
                Some(Opening::Genus(genus.name.clone()))
            }
            Place::Settings | Place::Other => None,
        }
    }

    pub(crate) fn unindex_file(&mut self, path: &str) {
        if self.index.get().is_none() {
            return;
        }
        let opening = self.opening(path);
        if let (Some(index), Some(opening)) = (Arc::make_mut(&mut self.index).get_mut(), opening) {
            index.take(&opening);
        }
    }

    pub(crate) fn index_file(&mut self, path: &str) {
        if self.index.get().is_none() && self.sense.is_none() {
            return;
        }
        let document =
            self.opening(path).and_then(|it| search_documents::document(&self.palace, &it));
        if let (Some(sense), Some(document)) = (&self.sense, &document) {
            sense.hand(to_read(document));
        }
        if let (Some(index), Some(document)) = (Arc::make_mut(&mut self.index).get_mut(), document)
        {
            index.put(&document);
        }
    }
}
