//! `palazzo fmt`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, PalacesOptions, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::terminal;
use palazzo_core::model::path_text;
use palazzo_keeper::{self as keeper, ChangeMode, FmtReport, Keeper};

/// Format files the way Palazzo writes them
///
/// Orders keys, applies one style and keeps comments in place; the content of a file
/// does not change. A file with errors is reported and not changed. Schema copies are
/// updated to this version, and created if a file's first line refers to a missing
/// one. Nothing is committed. Exits with 1 if a file had errors, or with --check if a
/// file is not formatted.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Homes, palaces, folders in them, or files
    #[arg(value_name = "PATH", conflicts_with_all = ["home", "workspace"])]
    paths: Vec<PathBuf>,

    /// Write nothing; list the files that are not formatted
    #[arg(long)]
    check: bool,

    /// Write nothing; print the changes as a patch for `git apply`, with paths relative
    /// to the root of the repository, or to the palace if it has none
    #[arg(long)]
    diff: bool,

    #[command(flatten)]
    home: PalacesOptions,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mode = match args.check || args.diff {
        true => ChangeMode::DryRun,
        false => ChangeMode::WithoutCommit,
    };
    let here = std::env::current_dir().unwrap_or_default();
    let paths = match args.paths.is_empty() {
        true => vec![find_home_with_palaces(&args.home)?],
        false => args.paths.clone(),
    };
    let mut all = Vec::new();
    for path in paths {
        let (keeper, within) = keeper_for_path(&path)?;
        let reports = keeper::fmt_files(&keeper, &terminal_user("fmt"), within.as_deref(), mode)?;
        if reports.iter().all(|it| it.file_count == 0 && it.findings.is_empty()) {
            return Err(no_files_error(&path));
        }
        all.extend(reports);
    }
    for report in &all {
        print_fmt_report(report, &here, args.diff)?;
    }
    let count = |of: fn(&FmtReport) -> usize| all.iter().map(of).sum::<usize>();
    let changed = count(|it| it.edits.len());
    let left = count(|it| it.findings.len() + it.unformattable.len());
    print_summary(count(|it| it.file_count), changed, !mode.is_dry_run());
    Ok(ExitCode::from(u8::from(left > 0 || args.check && changed > 0)))
}

fn find_home_with_palaces(home: &PalacesOptions) -> Result<PathBuf, Failure> {
    let home = home.find()?;
    let keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs::default());
    home::require_palace(&keeper, &home)?;
    Ok(home)
}

/// Finds the palace that contains a path, and the path inside it; without one, the path
/// is the home.
fn keeper_for_path(path: &Path) -> Result<(Keeper, Option<String>), Failure> {
    let absolute = std::path::absolute(path)?;
    let palace = absolute.ancestors().find(|it| it.join("palace.toml").is_file());
    let home = match palace {
        Some(palace) => palace,
        None if absolute.is_file() => return Err(no_files_error(path)),
        None => &absolute,
    };
    let keeper = home::keeper_for_home(Some(home), &WorkspaceArgs::default());
    let within = absolute.strip_prefix(home).unwrap_or(Path::new(""));
    let within: Vec<_> = within.iter().map(|it| it.to_string_lossy()).collect();
    Ok((keeper, (!within.is_empty()).then(|| within.join("/"))))
}

fn no_files_error(path: &Path) -> Failure {
    Failure::Message(format!("there is no palace file at {}", path_text(path)))
}

fn print_fmt_report(report: &FmtReport, here: &Path, diff: bool) -> std::io::Result<()> {
    for finding in &report.findings {
        terminal::eprint_finding(&report.path_relative_to(&finding.diagnostic.file, here), finding);
    }
    for file in &report.unformattable {
        let file = report.path_relative_to(file, here);
        let why = "formatting would change its content";
        terminal::eprint_failure(&format!("{file} is not changed: {why}"));
    }
    if diff {
        return terminal::print_patch(&report.diff());
    }
    let paths = report.edits.iter().map(|it| report.path_relative_to(&it.path, here));
    terminal::print_text(&paths.collect::<Vec<_>>().join("\n"))
}

fn print_summary(seen: usize, changed: usize, written: bool) {
    let files = |number| if number == 1 { "1 file".to_owned() } else { format!("{number} files") };
    let verb = if written { "formatted" } else { "not formatted" };
    anstream::eprintln!("{} of {} {verb}", changed, files(seen));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_palace_is_relative_to_that_palace() {
        let home = tempfile::tempdir().unwrap();
        let palace = home.path().join("keep");
        std::fs::create_dir_all(palace.join("rooms")).unwrap();
        std::fs::write(palace.join("palace.toml"), "format = 1\nname = \"Keep\"\n").unwrap();
        let within = |path: &str| keeper_for_path(&home.path().join(path)).unwrap().1;
        assert_eq!(within("keep/rooms/missing.yaml").as_deref(), Some("rooms/missing.yaml"));
        assert_eq!(within("keep"), None);
        assert_eq!(within(""), None);
    }

    #[test]
    fn a_file_outside_of_every_palace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.yaml");
        std::fs::write(&file, "a: 1\n").unwrap();
        let refused = keeper_for_path(&file).err().unwrap().to_string();
        assert_eq!(refused, format!("there is no palace file at {}", file.display()));
    }
}
