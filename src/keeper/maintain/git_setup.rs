//! Makes git show and merge palace files by meaning: `palazzo git-setup`.

use std::path::PathBuf;

use crate::format::PalacePath;
use crate::keeper::palace::findings::other_format_finding;
use crate::keeper::{Keeper, Refusal};
use crate::model::{Diagnostic, quote_for_shell};
use crate::store::{DriverFileChange, DriverSection, GitDrivers, Store};

/// The attributes of files that git shows and merges by meaning.
const ATTRIBUTES: &str = "diff=palazzo merge=palazzo";

/// The attributes of files that git only merges by meaning: they are short, and stay text.
const MERGE_ATTRIBUTES: &str = "merge=palazzo";

/// The files of a palace.
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

/// The files of a palace that git merges by meaning and shows as text.
const MERGED_PATTERNS: [&str; 2] = ["/palace.toml", "/conflicts/**/*.yaml"];

/// The name of the merge driver, for people.
const MERGE_DRIVER_NAME: &str = "palazzo: field by field";

/// The result of `palazzo git-setup` for one palace.
#[derive(Clone, Debug)]
pub struct GitSetupReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The files of the palace and the repository that it changed.
    pub changed_files: Vec<DriverFileChange>,
}

/// Installs the diff and the merge driver in all palaces of the home; git runs it as `program`.
pub fn set_up_git(keeper: &Keeper, program: &str) -> Result<Vec<GitSetupReport>, Refusal> {
    let drivers = git_drivers(program);
    for store in stores_of_home(keeper)? {
        if let Some(finding) = other_format_finding(&store) {
            let file = store.palace_folder().join(PalacePath::SETTINGS_FILE).display().to_string();
            let diagnostic = Diagnostic { file, ..finding.diagnostic };
            return Err(Refusal::OtherFormat(diagnostic.into()));
        }
    }
    for_each_palace(keeper, |store| Ok(store.install_git_drivers(&drivers)?))
}

/// Removes both drivers from all palaces of the home.
pub fn remove_git_setup(keeper: &Keeper) -> Result<Vec<GitSetupReport>, Refusal> {
    let drivers = git_drivers("");
    for_each_palace(keeper, |store| Ok(store.remove_git_drivers(&drivers)?))
}

fn stores_of_home(keeper: &Keeper) -> Result<Vec<Store>, Refusal> {
    Ok(keeper.workspaces()?.iter().map(|it| keeper.store_of(it)).collect())
}

fn for_each_palace(
    keeper: &Keeper,
    edit: impl Fn(&Store) -> Result<Vec<DriverFileChange>, Refusal>,
) -> Result<Vec<GitSetupReport>, Refusal> {
    let stores = stores_of_home(keeper)?;
    for store in &stores {
        store.check_git_driver_files()?;
    }
    let report = |store: &Store| {
        let changed_files = edit(store)?;
        Ok(GitSetupReport { root: store.palace_folder().to_owned(), changed_files })
    };
    stores.iter().map(report).collect()
}

/// Returns the attributes, and the drivers that run `program`.
fn git_drivers(program: &str) -> GitDrivers {
    let program = quote_for_shell(program);
    let command = |name: &str| format!("{program} {name}");
    GitDrivers {
        comment: "# Written by `palazzo git-setup`; `palazzo git-setup --remove` removes it."
            .to_owned(),
        patterns: list_attribute_patterns(),
        sections: vec![
            DriverSection {
                header: "[diff \"palazzo\"]".to_owned(),
                settings: vec![
                    ("command", command("git-diff")),
                    ("textconv", command("git-textconv")),
                ],
                marks: vec![("command", " git-diff"), ("textconv", " git-textconv")],
            },
            DriverSection {
                header: "[merge \"palazzo\"]".to_owned(),
                settings: vec![
                    ("name", MERGE_DRIVER_NAME.to_owned()),
                    ("driver", command("merge-file %O %A %B %P")),
                ],
                marks: vec![("name", MERGE_DRIVER_NAME), ("driver", " merge-file ")],
            },
        ],
    }
}

fn list_attribute_patterns() -> Vec<(String, String)> {
    let shown = PATTERNS.map(|it| (it, ATTRIBUTES)).into_iter();
    let all = shown.chain(MERGED_PATTERNS.map(|it| (it, MERGE_ATTRIBUTES)));
    all.map(|(pattern, attributes)| (pattern.to_owned(), attributes.to_owned())).collect()
}
