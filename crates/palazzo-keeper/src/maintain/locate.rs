//! Finds everything that still contains a text: `palazzo locate`.

use std::path::Path;

use crate::{Keeper, Refusal};
use palazzo_core::model::{SoughtText, TextInCommit, TextInRepository, TextLocations};
use palazzo_store::{self as store, OLD_PROPOSALS_FOLDER, Store};

/// Finds a text in the palaces of the home, in their repositories and proposals, and in the folder
/// with Palazzo's own files. Changes nothing.
pub fn locate_text(
    keeper: &Keeper,
    state_folder: Option<&Path>,
    text: &str,
) -> Result<TextLocations, Refusal> {
    let (mut locations, text) = (TextLocations::default(), &SoughtText::new(text));
    for palace in keeper.workspaces()? {
        add_palace(&keeper.store_of(&palace), text, &mut locations)?;
    }
    locations.repositories.retain(|it| !it.is_empty());
    if let Some(folder) = state_folder.filter(|it| it.is_dir()) {
        // Those of this home are in its repositories.
        let is_searched = |it: &Path| *it != folder.join(OLD_PROPOSALS_FOLDER);
        let unread_count = &mut locations.unread_count;
        locations.state_files = store::find_text_in_folder(folder, text, is_searched, unread_count);
    }
    Ok(locations)
}

/// Adds the places in a palace, and in its repository unless that was searched for another palace.
fn add_palace(
    store: &Store,
    text: &SoughtText,
    locations: &mut TextLocations,
) -> Result<(), Refusal> {
    let (folder, unread_count) = (store.palace_folder(), &mut locations.unread_count);
    let is_searched = |it: &Path| it.file_name().is_none_or(|it| it != ".git");
    let mut files = store::find_text_in_folder(folder, text, is_searched, unread_count);
    let work = store.repository_state()?.map_or_else(|| folder.to_owned(), |it| it.work);
    if let Some(known) = locations.repositories.iter_mut().find(|it| it.work == work) {
        known.files.append(&mut files);
        return Ok(());
    }
    let found = store.find_text_in_repository(text, unread_count)?;
    let mut found =
        found.unwrap_or_else(|| TextInRepository { work, ..TextInRepository::default() });
    for proposal in store.list_proposals()? {
        let is_proposed = |it: &&mut TextInCommit| {
            proposal.commits.iter().any(|proposed| proposed.summary.id == it.commit.id)
        };
        for commit in found.commits.iter_mut().filter(is_proposed) {
            commit.proposals.push(proposal.branch.clone());
        }
    }
    for worktree in store.old_proposal_worktrees()? {
        files.extend(store::find_text_in_folder(&worktree, text, is_searched, unread_count));
    }
    locations.repositories.push(TextInRepository { files, ..found });
    Ok(())
}
