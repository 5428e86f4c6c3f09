//! `palazzo doctor`.

use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, HomeOrDirArgs, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::terminal;
use crate::keeper::{self, DoctorReport, GitLock, Keeper};

/// Show what may block writing to palaces, or remove a git lock file
///
/// Lists the versions of palazzo and git, and for each palace its repository, its
/// branch, and the lock files that git has left there.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeOrDirArgs,

    /// Remove this git lock file, after a question; a lock file that a running process
    /// holds is kept
    #[arg(long, value_name = "PATH")]
    remove_lock: Option<PathBuf>,

    /// Remove the lock file without a question
    #[arg(long, requires = "remove_lock")]
    yes: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.remove_lock {
        Some(path) => remove_lock(args, path)?,
        None => print_report(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_report(args: &Args) -> Result<(), Failure> {
    let home = args.home.find();
    let git = keeper::git_version().unwrap_or_else(|| "git: not installed".to_owned());
    let mut page =
        format!("palazzo {}\n{git}\nhome {}\n", env!("CARGO_PKG_VERSION"), home.display());
    for examination in keeper::examine_repositories(&args.home.keeper())? {
        page += &render_doctor_report(&examination);
    }
    Ok(terminal::print_page(&page)?)
}

fn render_doctor_report(examination: &DoctorReport) -> String {
    let mut shown = format!("\n{}\n", examination.root.display());
    match &examination.repository {
        Ok(Some(it)) => {
            shown += &format!("  repository {} ({})\n", it.git_dir.display(), it.format);
            shown += &format!("  HEAD       {}\n", it.head);
            let operation = it.operation.map(|it| (it.name(), it.remedy()));
            if let Some((name, remedy)) = operation {
                shown += &format!("  under way  git {name}; end it with {remedy}\n");
            }
        }
        Ok(None) if examination.has_lost_history => {
            shown += "  repository lost; nothing is written until there is one (palazzo check)\n";
        }
        Ok(None) => shown += "  repository none yet; the first write creates one\n",
        Err(err) => shown += &format!("  repository {err}\n"),
    }
    for lock in &examination.locks {
        shown += &format!("  lock file  {}: {}\n", lock.path.display(), lock.description());
        if !lock.is_held_by_process() {
            shown += &format!("             {}\n", lock.removal_command());
        }
    }
    shown
}

fn remove_lock(args: &Args, path: &Path) -> Result<(), Failure> {
    let (keeper, lock) = find_lock(&args.home, path)?;
    if !args.yes && !lock.is_held_by_process() {
        confirm_lock_removal(&lock)?;
    }
    if keeper::remove_git_lock(&keeper, path)? {
        terminal::print_page(&format!("removed {}", lock.path.display()))?;
    }
    Ok(())
}

/// Finds the lock file in the given or default home, else in the folder that contains its
/// `.git`.
fn find_lock(args: &HomeOrDirArgs, path: &Path) -> Result<(Keeper, GitLock), Failure> {
    let above = if args.given().is_none() { folder_above_git(path) } else { None };
    for home in [Some(args.find()), above].into_iter().flatten() {
        let keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs::default());
        if let Some(lock) = keeper::find_git_lock(&keeper, path)? {
            return Ok((keeper, lock));
        }
    }
    Err(Failure::Message(format!(
        "`{}` is not a git lock file in the repository of a palace here; name the palace: palazzo \
         doctor DIR --remove-lock PATH",
        path.display()
    )))
}

fn folder_above_git(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let git = path.ancestors().find(|it| it.file_name().is_some_and(|it| it == ".git"))?;
    git.parent().map(Path::to_owned)
}

fn confirm_lock_removal(lock: &GitLock) -> Result<(), Failure> {
    let kept = |why: &str| Failure::Message(format!("`{}` is kept: {why}", lock.path.display()));
    if !stdin().is_terminal() {
        return Err(kept("without a terminal it is removed only with --yes"));
    }
    anstream::eprint!(
        "{} ({})\nRemove it? Only if no git is running there. [y/N] ",
        crate::model::strip_unprintable(&lock.path.display().to_string()),
        lock.description()
    );
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(kept("not confirmed")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::{BlockingGitOperation, LockOwner, RepositoryState};

    fn report(state: Option<RepositoryState>, has_lost_history: bool) -> DoctorReport {
        let (root, repository) = (PathBuf::from("/a/keep"), Ok(state));
        DoctorReport { root, repository, locks: Vec::new(), has_lost_history }
    }

    #[test]
    fn a_palace_without_a_repository_has_none_yet_or_has_lost_it() {
        insta::assert_snapshot!(render_doctor_report(&report(None, false)), @"

        /a/keep
          repository none yet; the first write creates one
        ");
        insta::assert_snapshot!(render_doctor_report(&report(None, true)), @"

        /a/keep
          repository lost; nothing is written until there is one (palazzo check)
        ");
    }

    #[test]
    fn a_lock_has_a_command_that_removes_it_unless_a_process_holds_it() {
        let lock = |path: &str, owner| GitLock {
            path: PathBuf::from(path),
            age: Some(Duration::from_secs(90)),
            owner,
        };
        let held = LockOwner::Process { id: 7, name: "git".to_owned() };
        let locks =
            vec![lock("/a/.git/index.lock", held), lock("/a b/HEAD.lock", LockOwner::Unknown)];
        let shown = render_doctor_report(&DoctorReport { locks, ..report(None, false) });
        let (_, shown) = shown.split_once("creates one\n").unwrap();
        insta::assert_snapshot!(shown, @"
        lock file  /a/.git/index.lock: 90 s old, held by process 7 (git)
        lock file  /a b/HEAD.lock: 90 s old, no process is known to hold it
                   palazzo doctor --remove-lock '/a b/HEAD.lock'
        ");
    }

    #[test]
    fn an_operation_under_way_is_shown_with_its_remedy() {
        let operation = BlockingGitOperation::Rebase;
        let (work, git_dir) = (PathBuf::from("/a"), PathBuf::from("/a/.git"));
        let (format, head) = ("sha1, files".to_owned(), "main".to_owned());
        let state = RepositoryState { work, git_dir, format, head, operation: Some(operation) };
        let shown = render_doctor_report(&report(Some(state), false));
        let line = format!("  under way  git rebase; end it with {}\n", operation.remedy());
        assert!(shown.ends_with(&line), "{shown}");
        assert!(
            shown.contains("  repository /a/.git (sha1, files)\n  HEAD       main\n"),
            "{shown}"
        );
    }

    #[test]
    fn the_folder_of_a_lock_is_the_one_that_contains_git() {
        let above = |path: &str| folder_above_git(Path::new(path));
        let here = std::path::absolute("a").unwrap();
        assert_eq!(above("a/.git/index.lock"), Some(here.clone()));
        assert_eq!(above("a/.git/refs/heads/main.lock"), Some(here));
        assert_eq!(above("/a/.github/index.lock"), None);
    }
}
