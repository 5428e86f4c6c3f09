//! `palazzo doctor`.

mod client_configs;
mod report;

use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::doctor::client_configs::{read_client_configs, read_hooks};
use crate::cli::doctor::report::Report;
use crate::cli::home::{self, PalacesArgs, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::path_text;
use palazzo_keeper::{self as keeper, GitLock, Keeper};

/// Report how Palazzo is set up here, or remove a git lock file
///
/// Lists the versions of palazzo, its format of palaces, and git, how to update palazzo, the home,
/// the MCP clients whose configuration starts Palazzo, and for each palace its repository, its
/// branch, the names in its commits, the lock files that git has left there, and what slows down
/// its server. Changes nothing.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    /// Remove this git lock file, after a question; a lock file that a running process
    /// holds is kept
    #[arg(long, value_name = "PATH")]
    remove_lock: Option<PathBuf>,

    /// Remove the lock file without a question
    #[arg(long, requires = "remove_lock")]
    yes: bool,

    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.remove_lock {
        Some(path) => remove_lock(args, path)?,
        None => print_report(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_report(args: &Args) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let (home, home_source) = home::find_home_and_source(args.home.given());
    if args.home.given().is_some() && !home.is_dir() {
        return Err(Failure::Message(format!("there is no folder {}", path_text(&home))));
    }
    let home = args.home.choose(home)?;
    let user = terminal_user("doctor").name;
    // A link, such as that of Homebrew, does not show which package manager installed the program.
    let program = std::env::current_exe().and_then(|it| it.canonicalize()).unwrap_or_default();
    let clients = read_client_configs(&here);
    let report = Report {
        update_advice: update_advice(&program),
        git: keeper::git_version(),
        palaces: keeper::examine_palaces(&args.home.keeper()?, &user)?,
        max_watched_folders: keeper::max_watched_folders(),
        hooks: read_hooks(&clients.servers),
        clients,
        home,
        home_source,
    };
    match args.format.is_json() {
        false => terminal::print_page(&report.to_text())?,
        true => terminal::print_text(&report.to_json())?,
    }
    Ok(())
}

fn remove_lock(args: &Args, path: &Path) -> Result<(), Failure> {
    let (keeper, lock) = find_lock(&args.home, path)?;
    if !args.yes && lock.is_removable() {
        confirm_lock_removal(&lock)?;
    }
    if keeper::remove_git_lock(&keeper, path)? {
        terminal::print_page(&format!("removed {}", path_text(&lock.path)))?;
    }
    Ok(())
}

/// Finds the lock file in the given or default home, else in the folder that contains its
/// `.git`.
fn find_lock(args: &PalacesArgs, path: &Path) -> Result<(Keeper, GitLock), Failure> {
    let above = if args.given().is_none() { folder_above_git(path) } else { None };
    for home in [Some(args.find()?), above].into_iter().flatten() {
        let keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs::default());
        if let Some(lock) = keeper::find_git_lock(&keeper, path)? {
            return Ok((keeper, lock));
        }
    }
    Err(Failure::Message(format!(
        "`{}` is not a git lock file in the repository of a palace here; name the palace: palazzo \
         doctor DIR --remove-lock PATH",
        path_text(path)
    )))
}

fn folder_above_git(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let git = path.ancestors().find(|it| it.file_name().is_some_and(|it| it == ".git"))?;
    git.parent().map(Path::to_owned)
}

fn confirm_lock_removal(lock: &GitLock) -> Result<(), Failure> {
    let kept = |why: &str| Failure::Message(format!("`{}` is kept: {why}", path_text(&lock.path)));
    if !stdin().is_terminal() {
        return Err(kept("without a terminal it is removed only with --yes"));
    }
    anstream::eprint!(
        "{} ({})\nRemove it? Only if no git is running there. [y/N] ",
        path_text(&lock.path),
        lock.description()
    );
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(kept("not confirmed")),
    }
}

/// Returns how to update the program at `program`, from the folder in which a package manager has
/// put it.
pub(super) fn update_advice(program: &Path) -> &'static str {
    let is_below = |folder: &str| program.iter().any(|it| it == folder);
    match () {
        () if is_below("node_modules") => {
            "npm install --global palazzo@latest (clients that run npx: npx palazzo@latest)"
        }
        () if is_below("Cellar") => "brew upgrade palazzo",
        () if program.starts_with("/nix/store") => "nix profile upgrade palazzo",
        // A place for the owner stands in the address until the repository is public.
        () if env!("CARGO_PKG_REPOSITORY").contains("/OWNER/") => {
            "git pull && cargo install --locked --path . (in a checkout of Palazzo)"
        }
        () => concat!(
            "git pull && cargo install --locked --path . (in a checkout of Palazzo), or the newest \
             release: ",
            env!("CARGO_PKG_REPOSITORY"),
            "/releases"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_lock_is_the_one_that_contains_git() {
        let above = |path: &str| folder_above_git(Path::new(path));
        let here = std::path::absolute("a").unwrap();
        assert_eq!(above("a/.git/index.lock"), Some(here.clone()));
        assert_eq!(above("a/.git/refs/heads/main.lock"), Some(here));
        assert_eq!(above("/a/.github/index.lock"), None);
    }

    #[test]
    fn the_advice_fits_the_package_manager_that_installed_the_program() {
        let advice = |program: &str| {
            let advice = update_advice(Path::new(program));
            advice.split(' ').next().unwrap()
        };
        assert_eq!(advice("/usr/lib/node_modules/palazzo-linux-x64/palazzo"), "npm");
        assert_eq!(advice("/opt/homebrew/Cellar/palazzo/0.1.0/bin/palazzo"), "brew");
        assert_eq!(advice("/nix/store/abc-palazzo-0.1.0/bin/palazzo"), "nix");
        assert_eq!(advice("/home/me/.cargo/bin/palazzo"), "git");
        let whole = update_advice(Path::new("/home/me/.cargo/bin/palazzo"));
        assert!(!whole.contains("OWNER"), "{whole}");
    }
}
