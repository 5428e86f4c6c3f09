//! A new history for palaces that have lost their repository.

use std::path::PathBuf;

use crate::format::schema_path;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Change, Edit, FileKind};
use crate::store::Store;

impl Keeper {
    /// Makes a repository for each palace of the home that has none, and commits the palace as it
    /// is. Returns where those palaces are.
    pub fn create_repositories(&mut self, by: &Caller) -> Result<Vec<PathBuf>, Refusal> {
        let mut begun = Vec::new();
        let stores = self.workspaces()?.into_iter().map(|it| self.store_of(&it));
        // The first repository may be made at the home, around all of them.
        let lost = stores.filter(|it| !it.has_repository().unwrap_or(true)).collect::<Vec<_>>();
        for mut store in lost {
            let change = Change {
                edits: unchanged_edits(&store)?,
                subject: String::new(),
                body: String::new(),
                trailers: vec![("Palazzo-Tool", by.tool.to_owned())],
                author: by.author.clone(),
                at: by.now,
                commit: true,
            };
            store.start_new_history(&change)?;
            begun.push(store.root().to_owned());
        }
        self.close_all_palaces();
        Ok(begun)
    }
}

/// Lists every file of a palace as an edit that changes nothing.
fn unchanged_edits(store: &Store) -> Result<Vec<Edit>, Refusal> {
    let (stamps, _) = store.list_files("")?;
    let paths = stamps.into_keys().chain(FileKind::ALL.map(schema_path));
    let read = store.read_files(paths.collect()).into_iter();
    let read = read.filter_map(|(path, text)| Some((path, text.ok().flatten()?)));
    Ok(read.map(|(path, text)| Edit { path, was: Some(text.clone()), now: Some(text) }).collect())
}
