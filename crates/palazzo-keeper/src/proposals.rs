//! Proposals: branches that a server writes to, and that a person reviews and merges.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::workspaces::Workspace;
use crate::workspaces::as_of_key::is_as_of_key;
use crate::{Keeper, Refusal, Session};
use palazzo_core::format::{self, PalacePath};
use palazzo_core::model::{CommitMode, Proposal, path_text, quote_for_shell, quoted};
use palazzo_core::render;
use palazzo_store::{self as store, ServedProposal, Store};

impl Keeper {
    /// Returns the keeper of a server that writes to a proposal. Visits show its branch on entry.
    #[must_use]
    pub fn with_proposal(mut self, proposal: Option<ServedProposal>) -> Self {
        self.proposal = proposal.map(Arc::new);
        self
    }
}

/// Fails if no branch can have this name.
pub fn check_branch_name(name: &str) -> Result<(), Refusal> {
    store::parse_branch_name(name).map(drop).map_err(|it| store::Error::from(it).into())
}

/// Opens the proposal `branch` for the palaces of the home of `keeper`. The palaces on disk remain as
/// they are.
pub fn open_proposal(keeper: &Keeper, branch: &str) -> Result<ServedProposal, Refusal> {
    let workspaces = keeper.workspaces()?;
    let palaces: Vec<_> = workspaces.iter().map(|it| keeper.store_of(it)).collect();
    if let Some(palace) = palaces.iter().find(|it| leaves_commits_to_user(it)) {
        return Err(Refusal::Invalid(format!(
            "a proposal consists of commits, and `{}` leaves them to you: remove `commit = \
             \"manual\"` from its palace.toml first",
            path_text(palace.palace_folder())
        )));
    }
    Ok(store::open_proposal(&palaces, &keeper.home, branch)?)
}

fn leaves_commits_to_user(palace: &Store) -> bool {
    let text = palace.read_file(PalacePath::SETTINGS_FILE).ok().flatten();
    let settings = text.and_then(|it| format::parse_settings(&it));
    settings.is_some_and(|it| it.commit == CommitMode::Manual)
}

/// Returns the notice for visits of the palace with the key `key` that names the branch of the
/// proposal; empty without a proposal.
pub(crate) fn proposal_notice(keeper: &Keeper, key: &str) -> String {
    let Some(proposal) = keeper.proposal.as_ref().filter(|_| !is_as_of_key(key)) else {
        return String::new();
    };
    let palace = keeper.open_palaces.get(key);
    let distance = palace.and_then(|it| {
        it.store().branch_distance(&proposal.branch, &proposal.base_revision).ok().flatten()
    });
    let base = proposal.base_revision.strip_prefix("refs/heads/");
    render::proposal_notice(&proposal.branch, base, distance.map(|it| (it.ahead, it.behind)))
}

/// The proposals of a palace.
#[derive(Clone, Debug)]
pub struct PalaceProposals {
    /// The name of the palace.
    pub name: String,
    /// The folder of the palace.
    pub folder: PathBuf,
    /// The proposals with changes of the palace.
    pub proposals: Vec<Proposal>,
}

/// Lists the proposals of all palaces of the home.
pub fn list_proposals_of_home(keeper: &Keeper) -> Result<Vec<PalaceProposals>, Refusal> {
    let list = |it: Workspace| {
        let store = keeper.store_of(&it);
        let (name, folder) = (it.name, store.palace_folder().to_owned());
        Ok(PalaceProposals { name, folder, proposals: store.list_proposals()? })
    };
    keeper.workspaces()?.into_iter().map(list).collect()
}

/// Lists the proposals with changes of the palace that the checked-out branch lacks, the one that
/// changed last first.
pub fn list_proposals(session: &Session<'_>) -> Result<Vec<Proposal>, Refusal> {
    Ok(session.palace.store().list_proposals()?)
}

/// Returns the range of revisions that a proposal changes: `HEAD...refs/heads/ideas`.
pub fn proposal_range(session: &Session<'_>, branch: &str) -> Result<String, Refusal> {
    let branch_ref = format!("refs/heads/{branch}");
    let store = session.palace.store();
    if store.resolve_revision(&branch_ref, session.caller.now, &session.caller.zone).is_ok() {
        return Ok(format!("HEAD...{branch_ref}"));
    }
    let open = store.list_proposals()?;
    let names: Vec<_> = open.iter().map(|it| quoted(&it.branch)).collect();
    let known = match names.is_empty() {
        true => "; there is no open proposal".to_owned(),
        false => format!("; open proposals: {}", names.join(", ")),
    };
    Err(Refusal::NotFound { what: "branch", name: branch.to_owned(), hint: known })
}

/// Returns the commands that merge a proposal, and those that drop it. Each must only run if the
/// one before has succeeded. `folder` is that of the palace.
pub fn merge_and_drop_commands(folder: &Path, proposal: &Proposal) -> [Vec<String>; 2] {
    let quote = |it: &Path| quote_for_shell(&it.display().to_string());
    let git = format!("git -C {}", quote(folder));
    let branch = quote_for_shell(&proposal.branch);
    let remove = |option: &str| {
        let worktree = proposal.worktree.as_deref().map(quote);
        worktree.map(|it| format!("{git} worktree remove {option}{it}"))
    };
    let revision = quote_for_shell(&proposal.revision);
    let merge = [Some(format!("{git} merge {revision}")), remove("")];
    let merge = merge.into_iter().flatten().chain([format!("{git} branch -d {branch}")]);
    let drop = remove("--force ").into_iter().chain([format!("{git} branch -D {branch}")]);
    [merge.collect(), drop.collect()]
}
