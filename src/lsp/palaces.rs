//! The palaces that the editor works in, and the events that they and the editor send.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

use chrono::{DateTime, Utc};
use lsp_server::{Message, Request};

use palazzo_core::model::Tool;
use palazzo_keeper::{EditorFinding, EditorPalace, Refusal, is_palace, list_palaces};

/// The palaces of all roots.
pub(super) struct Palaces {
    settings: LspSettings,
    events: Sender<Event>,
    slots: BTreeMap<PathBuf, PalaceSlot>,
}

/// A palace, open or not.
enum PalaceSlot {
    /// A thread opens it. These requests wait for it.
    Opening(Vec<Request>),
    Open(Box<EditorPalace>),
    /// It could not be opened.
    Failed,
}

impl Palaces {
    pub(super) fn new(settings: LspSettings, events: Sender<Event>) -> Self {
        Self { settings, events, slots: BTreeMap::new() }
    }

    /// Returns the palaces in a folder that are not open yet: the folder itself, or those in it.
    pub(super) fn unopened_in_folder(&self, folder: &Path) -> Vec<PathBuf> {
        let palaces = list_palaces(folder).into_iter();
        palaces.filter(|it| !self.slots.contains_key(it)).collect()
    }

    /// Returns the palace around a file, if it is not open yet.
    pub(super) fn unopened_around(&self, file: &Path) -> Option<PathBuf> {
        palace_root(file).filter(|it| !self.slots.contains_key(it))
    }

    /// Starts to open a palace.
    pub(super) fn start_opening(&mut self, root: &Path) {
        self.slots.insert(root.to_owned(), PalaceSlot::Opening(Vec::new()));
        let LspSettings { tools, consent_folder, .. } = self.settings.clone();
        let (root, events) = (root.to_owned(), self.events.clone());
        thread::spawn(move || {
            let wakes = events.clone();
            let wake = Arc::new(move || drop(wakes.send(Event::FilesChanged)));
            let open = || {
                let mut palace = EditorPalace::open(&root, tools, consent_folder, wake)?;
                let findings = palace.findings()?;
                Ok(Box::new(OpenedPalace { palace, findings }))
            };
            let opened = open();
            // The server has ended if nobody receives it.
            drop(events.send(Event::PalaceOpened(root, opened)));
        });
    }

    /// Stores a palace that was opened; returns the requests that waited for it.
    pub(super) fn set_opened(&mut self, root: &Path, palace: Option<EditorPalace>) -> Vec<Request> {
        let slot = palace.map_or(PalaceSlot::Failed, |it| PalaceSlot::Open(Box::new(it)));
        match self.slots.insert(root.to_owned(), slot) {
            Some(PalaceSlot::Opening(waiting)) => waiting,
            _ => Vec::new(),
        }
    }

    /// Returns the open palace of a file or folder, and the path in the palace.
    pub(super) fn find(&mut self, file: &Path) -> Option<(&mut EditorPalace, String)> {
        let root = file.ancestors().find(|it| self.slots.contains_key(*it))?.to_owned();
        let path = path_in_palace(&root, file)?;
        Some((self.get_open_palace(&root)?, path))
    }

    /// Keeps a request until the palace of its file is open, or any palace if it is about all;
    /// returns it if no such palace is opening.
    pub(super) fn defer(
        &mut self,
        file: Option<&Path>,
        is_about_all: bool,
        request: Request,
    ) -> Option<Request> {
        let root = file.and_then(|it| it.ancestors().find(|it| self.slots.contains_key(*it)));
        let root = root.map(Path::to_owned);
        let is_meant = |it: &PathBuf| is_about_all || root.as_ref() == Some(it);
        let waiting = self.slots.iter_mut().find_map(|(it, slot)| match slot {
            PalaceSlot::Opening(waiting) if is_meant(it) => Some(waiting),
            _ => None,
        });
        match waiting {
            Some(waiting) => {
                waiting.push(request);
                None
            }
            None => Some(request),
        }
    }

    /// Takes a request that waits for a palace.
    pub(super) fn take_deferred(&mut self, id: &lsp_server::RequestId) -> Option<Request> {
        self.slots.values_mut().find_map(|slot| {
            let PalaceSlot::Opening(waiting) = slot else { return None };
            let at = waiting.iter().position(|it| it.id == *id)?;
            Some(waiting.remove(at))
        })
    }

    /// Returns the open palace in a folder.
    pub(super) fn get_open_palace(&mut self, root: &Path) -> Option<&mut EditorPalace> {
        match self.slots.get_mut(root)? {
            PalaceSlot::Open(palace) => Some(palace),
            _ => None,
        }
    }

    /// Yields the palaces that are open.
    pub(super) fn open_palaces(&mut self) -> impl Iterator<Item = &mut EditorPalace> {
        self.slots.values_mut().filter_map(|slot| match slot {
            PalaceSlot::Open(palace) => Some(&mut **palace),
            _ => None,
        })
    }
}

/// The settings of a language server.
#[derive(Clone, Debug)]
pub struct LspSettings {
    /// The tools that actions can call.
    pub tools: Vec<Tool>,
    /// The folder with the consents of the user; without one, nothing is allowed.
    pub consent_folder: Option<PathBuf>,
    /// Returns the current time.
    pub clock: fn() -> DateTime<Utc>,
}

/// A palace that was opened, with its findings by file.
pub(super) struct OpenedPalace {
    pub(super) palace: EditorPalace,
    pub(super) findings: BTreeMap<String, Vec<EditorFinding>>,
}

/// An event that the loop of the server handles.
pub(super) enum Event {
    /// A message of the client.
    Message(Message),
    /// The client has closed the connection.
    Disconnected,
    /// A palace was opened, or could not be.
    PalaceOpened(PathBuf, Result<Box<OpenedPalace>, Refusal>),
    /// Files of a palace may have changed.
    FilesChanged,
}

/// Returns the folder of the palace that contains a file.
fn palace_root(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|it| is_palace(it)).map(Path::to_owned)
}

/// Returns the path of a file in its palace, with slashes.
fn path_in_palace(root: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(root).ok()?;
    let names = inside.components().map(|it| it.as_os_str().to_str());
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}
