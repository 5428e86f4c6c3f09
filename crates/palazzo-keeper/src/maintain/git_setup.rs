//! Makes git show and merge palace files by meaning: `palazzo git-setup`.

use std::path::PathBuf;

use crate::palace::findings::other_format_finding;
use crate::{Keeper, Refusal};
use palazzo_core::model::{escape_unprintable, quote_for_shell};
use palazzo_store::{DriverFileChange, DriverSection, GitDrivers, Store};

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

/// What git runs if the program is no longer there: its own merge, line by line.
const MERGE_LINES: &str = "git merge-file -L ours -L base -L theirs %A %O %B";

/// What git runs if the program is no longer there: its own comparison of the old and the new file.
const DIFF_LINES: &str = "git diff --no-index --no-ext-diff -- \"$2\" \"$5\" || :";

/// The result of `palazzo git-setup` for one palace.
#[derive(Clone, Debug)]
pub struct GitSetupReport {
    /// The directory of the palace.
    pub root: PathBuf,
    /// The files of the palace and the repository that it changed.
    pub changed_files: Vec<DriverFileChange>,
    /// Why the palace was left alone: its files have another format than this program reads.
    pub other_format: Option<String>,
}

/// Installs the diff and the merge driver in all palaces of the home; git runs it as `program`.
/// Leaves palaces of another format alone. Fails if git's configuration cannot contain `program`.
pub fn set_up_git(keeper: &Keeper, program: &str) -> Result<Vec<GitSetupReport>, Refusal> {
    if program.contains(char::is_control) {
        return Err(Refusal::Invalid(format!(
            "the path of this program, `{}`, has control characters, which git cannot store: move \
             the program, or start it by a link",
            escape_unprintable(program)
        )));
    }
    let drivers = git_drivers(program);
    for_each_palace(keeper, |store| match other_format_finding(store) {
        Some(finding) => Ok(GitSetupReport::left_alone(store, finding.diagnostic.message)),
        None => Ok(GitSetupReport::changed(store, store.install_git_drivers(&drivers)?)),
    })
}

/// Removes both drivers from all palaces of the home.
pub fn remove_git_setup(keeper: &Keeper) -> Result<Vec<GitSetupReport>, Refusal> {
    let drivers = git_drivers("");
    for_each_palace(keeper, |store| {
        Ok(GitSetupReport::changed(store, store.remove_git_drivers(&drivers)?))
    })
}

fn for_each_palace(
    keeper: &Keeper,
    edit: impl Fn(&Store) -> Result<GitSetupReport, Refusal>,
) -> Result<Vec<GitSetupReport>, Refusal> {
    let workspaces = keeper.workspaces()?;
    let stores: Vec<_> = workspaces.iter().map(|it| keeper.store_of(it)).collect();
    for store in &stores {
        store.check_git_driver_files()?;
    }
    stores.iter().map(edit).collect()
}

impl GitSetupReport {
    fn changed(store: &Store, changed_files: Vec<DriverFileChange>) -> Self {
        Self { root: store.palace_folder().to_owned(), changed_files, other_format: None }
    }

    fn left_alone(store: &Store, other_format: String) -> Self {
        let other_format = Some(other_format);
        Self { root: store.palace_folder().to_owned(), changed_files: Vec::new(), other_format }
    }
}

/// Returns the attributes, and the drivers that run `program`.
fn git_drivers(program: &str) -> GitDrivers {
    let program = quote_for_shell(program);
    // Without the program, git would take OURS of each file for the result of the merge.
    let run = |program: &str, command: &str, otherwise: &str| {
        format!(
            "if command -v {program} >/dev/null; then {program} {command}; else {otherwise}; fi"
        )
    };
    // Git adds the arguments of these commands at their end.
    let call = |command: &str, otherwise: &str| {
        format!("f() {{ {}; }}; f", run(&program, command, otherwise))
    };
    // In a merge driver, git replaces `%` and a letter.
    let merge = run(&program.replace('%', "%%"), "merge-file -- %O %A %B %P", MERGE_LINES);
    GitDrivers {
        comment: "# Written by `palazzo git-setup`; `palazzo git-setup --remove` removes it."
            .to_owned(),
        patterns: list_attribute_patterns(),
        sections: vec![
            DriverSection {
                header: "[diff \"palazzo\"]".to_owned(),
                settings: vec![
                    ("command", call("git-diff \"$@\"", DIFF_LINES)),
                    ("textconv", call("git-textconv \"$@\"", "cat \"$1\"")),
                ],
                marks: vec![("command", " git-diff"), ("textconv", " git-textconv")],
            },
            DriverSection {
                header: "[merge \"palazzo\"]".to_owned(),
                settings: vec![
                    ("name", MERGE_DRIVER_NAME.to_owned()),
                    // The bases of a criss-cross merge must not be merged with one value standing.
                    ("recursive", "text".to_owned()),
                    ("driver", merge),
                ],
                marks: vec![
                    ("name", MERGE_DRIVER_NAME),
                    ("recursive", "\"text\""),
                    ("driver", " merge-file "),
                ],
            },
        ],
    }
}

fn list_attribute_patterns() -> Vec<(String, String)> {
    let shown = PATTERNS.map(|it| (it, ATTRIBUTES)).into_iter();
    let all = shown.chain(MERGED_PATTERNS.map(|it| (it, MERGE_ATTRIBUTES)));
    all.map(|(pattern, attributes)| (pattern.to_owned(), attributes.to_owned())).collect()
}
