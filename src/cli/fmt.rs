//! `palazzo fmt`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::{Failure, Outcome, terminal, terminal_user};
use crate::keeper::{self, FmtReport, Keeper};

/// Bring files into the form in which Palazzo writes them
///
/// Keys in their order, one style, comments where they were: what a file says
/// stays the same. A file with something wrong is told and left alone. Copies of
/// schemas become those of this version, and are put there if a file's first line
/// leads to one that is missing. Nothing is committed. Exits with 1 if
/// something was wrong, or with --check if a file is not in form.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Homes, palaces, folders in them, or files
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// Write nothing; list the files that are not in form
    #[arg(long)]
    check: bool,

    /// Write nothing; show what would change as a patch for `git apply`, with paths
    /// from the root of the repository, or from the palace where there is none
    #[arg(long)]
    diff: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let write = !(args.check || args.diff);
    let here = std::env::current_dir().unwrap_or_default();
    let paths =
        if args.paths.is_empty() { vec![home::find_home(None)] } else { args.paths.clone() };
    let mut all = Vec::new();
    for path in paths {
        let (keeper, within) = keeper_for_path(&path)?;
        let tidied = keeper::fmt_files(&keeper, &terminal_user("fmt"), within.as_deref(), write)?;
        if tidied.iter().all(|it| it.file_count == 0 && it.findings.is_empty()) {
            return Err(no_files_error(&path));
        }
        all.extend(tidied);
    }
    for tidying in &all {
        print_result(tidying, &here, args.diff)?;
    }
    let count = |of: fn(&FmtReport) -> usize| all.iter().map(of).sum::<usize>();
    let changed = count(|it| it.edits.len());
    let left = count(|it| it.findings.len() + it.unformattable.len());
    print_summary(count(|it| it.file_count), changed, write);
    Ok(ExitCode::from(u8::from(left > 0 || args.check && changed > 0)))
}

/// Finds the palace around a path, and the path inside it; or the home there.
fn keeper_for_path(path: &Path) -> Result<(Keeper, Option<String>), Failure> {
    let place = std::path::absolute(path)?;
    let palace = place.ancestors().find(|it| it.join("palace.toml").is_file());
    let home = match palace {
        Some(palace) => palace,
        None if place.is_file() => return Err(no_files_error(path)),
        None => &place,
    };
    let keeper = home::keeper_for_home(Some(home), &WorkspaceArgs { workspace: None });
    let within = place.strip_prefix(home).unwrap_or(Path::new(""));
    let within: Vec<_> = within.iter().map(|it| it.to_string_lossy()).collect();
    Ok((keeper, (!within.is_empty()).then(|| within.join("/"))))
}

fn no_files_error(path: &Path) -> Failure {
    Failure::Message(format!("there is no file of a palace at {}", path.display()))
}

fn print_result(tidying: &FmtReport, here: &Path, diff: bool) -> std::io::Result<()> {
    for finding in &tidying.findings {
        terminal::eprint_finding(&tidying.path_from(&finding.diagnostic.file, here), finding);
    }
    for file in &tidying.unformattable {
        let file = tidying.path_from(file, here);
        terminal::eprint_failure(&format!("{file} is left alone: it would no longer say the same"));
    }
    if diff {
        return terminal::print_patch(&tidying.diff());
    }
    let paths = tidying.edits.iter().map(|it| tidying.path_from(&it.path, here));
    terminal::print_page(&paths.collect::<Vec<_>>().join("\n"))
}

fn print_summary(seen: usize, changed: usize, written: bool) {
    let files = |number| if number == 1 { "1 file".to_owned() } else { format!("{number} files") };
    let verb = if written { "brought into form" } else { "not in form" };
    anstream::eprintln!("{} of {} {verb}", changed, files(seen));
}
