//! Makes git show palace files by meaning: `palazzo git-setup`.

use std::path::PathBuf;

use crate::keeper::{Keeper, Refusal};
use crate::model::quote_for_shell;
use crate::store::{DriverFileChange, DriverSection, GitDrivers, Store};

/// The files of a palace that git shows by meaning. `palace.toml` is short and stays text.
const PATTERNS: [&str; 8] = [
    "/rooms/**/*.yaml",
    "/scrolls/**/*.md",
    "/drawers/**/*.md",
    "/diary/**/*.md",
    "/genera/**/*.yaml",
    "/entities/**/*.yaml",
    "/tasks/**/*.yaml",
    "/processes/**/*.yaml",
];

/// The result of `palazzo git-setup` for one palace.
#[derive(Clone, Debug)]
pub struct GitSetupReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The files of the palace and the repository that it changed.
    pub changed_files: Vec<DriverFileChange>,
}

/// Installs the diff driver in all palaces of the home; git runs it as `program`.
pub fn set_up_git(keeper: &Keeper, program: &str) -> Result<Vec<GitSetupReport>, Refusal> {
    let drivers = git_drivers(program);
    for_each_palace(keeper, |store| Ok(store.install_git_drivers(&drivers)?))
}

/// Removes the diff driver from all palaces of the home.
pub fn remove_git_setup(keeper: &Keeper) -> Result<Vec<GitSetupReport>, Refusal> {
    let drivers = git_drivers("");
    for_each_palace(keeper, |store| Ok(store.remove_git_drivers(&drivers)?))
}

fn for_each_palace(
    keeper: &Keeper,
    edit: impl Fn(&Store) -> Result<Vec<DriverFileChange>, Refusal>,
) -> Result<Vec<GitSetupReport>, Refusal> {
    let stores = keeper.workspaces()?.iter().map(|it| keeper.store_of(it)).collect::<Vec<_>>();
    for store in &stores {
        store.check_git_driver_files()?;
    }
    let report = |store: &Store| {
        let changed_files = edit(store)?;
        Ok(GitSetupReport { root: store.palace_folder().to_owned(), changed_files })
    };
    stores.iter().map(report).collect()
}

/// Returns the attributes, and the driver that runs `program`.
fn git_drivers(program: &str) -> GitDrivers {
    let program = quote_for_shell(program);
    let command = |name: &str| format!("{program} {name}");
    GitDrivers {
        comment: "# Written by `palazzo git-setup`; `palazzo git-setup --remove` removes it."
            .to_owned(),
        patterns: PATTERNS.map(str::to_owned).to_vec(),
        attributes: vec!["diff=palazzo".to_owned()],
        sections: vec![DriverSection {
            header: "[diff \"palazzo\"]".to_owned(),
            settings: vec![("command", command("git-diff")), ("textconv", command("git-textconv"))],
            marks: vec![("command", " git-diff"), ("textconv", " git-textconv")],
        }],
    }
}
