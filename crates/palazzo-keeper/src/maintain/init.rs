//! Creates palaces from templates, and repositories for palaces without one: `palazzo init`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::workspaces::create::available_directory_name;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::{README_PATH, schema_path};
use palazzo_core::model::{Changeset, FileEdit, FileKind, Files, has_secret_of_memory};
use palazzo_store::{CommitOutcome, Store};

/// Refuses a name that no new palace of the home can have, before a template is fetched for it.
pub fn check_new_palace_name(keeper: &Keeper, name: &str) -> Result<(), Refusal> {
    available_directory_name(&keeper.home, name.trim()).map(drop)
}

/// The repository in which a new palace of a home is committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPalaceRepository {
    /// Its working directory.
    pub work: PathBuf,
    /// Whether there is none yet, so that one is created there.
    pub is_new: bool,
    /// Files that others have committed there, if it has no palace yet.
    pub other_content: Vec<String>,
}

/// Finds the repository in which a new palace of the home will be committed. Creates nothing.
pub fn repository_of_new_palace(
    keeper: &Keeper,
    name: &str,
) -> Result<NewPalaceRepository, Refusal> {
    let folder = keeper.home.join(available_directory_name(&keeper.home, name.trim())?);
    let store = Store::new(folder, keeper.home.clone()).with_consents(keeper.consents.clone());
    Ok(match store.for_whole_repository()? {
        None => {
            let (work, other_content) = (keeper.home.clone(), Vec::new());
            NewPalaceRepository { work, is_new: true, other_content }
        }
        Some(whole) => {
            let work = whole.palace_folder().to_owned();
            let other_content = store.content_beside_palaces()?;
            NewPalaceRepository { work, is_new: false, other_content }
        }
    })
}

/// Creates a palace from the files of a template, with the name `name` and in one commit; returns
/// its directory.
pub fn create_palace(
    keeper: &mut Keeper,
    caller: &Caller,
    name: &str,
    template: &Files,
) -> Result<PathBuf, Refusal> {
    let key = keeper.create_workspace(caller, name, template)?;
    Ok(keeper.open_palace(&key)?.store().palace_folder().to_owned())
}

/// Creates a repository for each palace of the home that has none, and commits the palace as it is.
/// Returns the directories of those palaces.
pub fn create_repositories(keeper: &mut Keeper, caller: &Caller) -> Result<Vec<PathBuf>, Refusal> {
    let mut created = Vec::new();
    let stores = keeper.workspaces()?.into_iter().map(|it| keeper.store_of(&it));
    // Collect first: the first repository may be created at the home and contain all palaces.
    let stores = stores.filter(|it| !it.has_repository().unwrap_or(true)).collect::<Vec<_>>();
    for mut store in stores {
        let change = Changeset {
            edits: unchanged_edits(&store)?,
            executable: BTreeMap::new(),
            subject: String::new(),
            body: String::new(),
            trailers: caller.trailers(),
            author: caller.author.clone(),
            at: caller.now,
            commit: true,
        };
        if let CommitOutcome::Done(report) = store.start_new_history(&change)? {
            report.warnings.iter().for_each(|it| (keeper.watch_config.warn)(&it.to_string()));
        }
        created.push(store.palace_folder().to_owned());
    }
    keeper.close_all_palaces();
    Ok(created)
}

/// Lists the files of a palace as edits that change nothing, without secrets of a host's memory.
fn unchanged_edits(store: &Store) -> Result<Vec<FileEdit>, Refusal> {
    let (stamps, _) = store.list_files("")?;
    let paths = stamps.into_keys().chain(FileKind::ALL.map(schema_path));
    let paths = paths.chain([README_PATH.to_owned()]);
    let read = store.read_files(paths.collect()).into_iter();
    let read = read.filter_map(|(path, text)| Some((path, text.ok().flatten()?)));
    let read = read.filter(|(path, text)| !has_secret_of_memory(path, text));
    Ok(read
        .map(|(path, text)| FileEdit { path, was: Some(text.clone()), now: Some(text) })
        .collect())
}
