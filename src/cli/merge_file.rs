//! `palazzo merge-file`: the merge driver that git runs after `palazzo git-setup`.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cli::outcome::{Failure, Outcome};
use crate::cli::terminal;
use palazzo_core::model::{escape_unprintable_in_lines, path_text};
use palazzo_keeper::{self as keeper, FileMergeResult};

/// The file that makes a folder a palace.
const SETTINGS_FILE: &str = "palace.toml";

/// The exit code for a file that git should not merge further: it stays unmerged.
const UNMERGED: u8 = 1;

/// Merge two versions of a palace file, field by field, as a merge driver of git
///
/// Writes the merged file to OURS. If both sides have changed one field, one value stands, the
/// other is kept in `conflicts/` of the palace and printed, and the exit code is 1, so that git
/// lists the file as unmerged. It merges line by line, as git does, in a palace of another format,
/// a file of no palace, and a file in which the sides have different things. `palazzo git-setup`
/// installs the driver.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The file of the common base; empty if both sides have added the file
    #[arg(value_name = "BASE")]
    base: PathBuf,

    /// The file of the current branch, and for the result
    #[arg(value_name = "OURS")]
    ours: PathBuf,

    /// The file of the other branch
    #[arg(value_name = "THEIRS")]
    theirs: PathBuf,

    /// The path in the repository, whose root is the current directory
    #[arg(value_name = "PATH")]
    path: PathBuf,
}

pub(super) fn run(args: &Args) -> Outcome {
    let candidates = args.path.to_str().map(keeper::paths_in_palaces).unwrap_or_default();
    let is_palace = |folder: &str| Path::new(folder).join(SETTINGS_FILE).is_file();
    let known = candidates.iter().rev().find(|(folder, _)| is_palace(folder));
    let Some((folder, path)) = known.or(candidates.first()).copied() else {
        return merge_lines(args, "this is no file of a palace");
    };
    let [base, ours, theirs] = [&args.base, &args.ours, &args.theirs].map(fs::read);
    let [base, ours, theirs] = [base?, ours?, theirs?];
    let mut versions = known.map_or_else(Vec::new, |_| versions_of_settings(folder));
    if path == SETTINGS_FILE {
        versions.extend([&base, &ours, &theirs].map(Clone::clone));
    }
    let mut settings = versions.iter().map(|it| String::from_utf8_lossy(it));
    if let Some(reason) = settings.find_map(|it| keeper::describe_other_format(&it)) {
        return merge_lines(args, &reason);
    }
    let Some(merged) = keeper::merge_file_versions(path, &base, [&ours, &theirs]) else {
        return merge_lines(args, "the two sides have different things in this file");
    };
    fs::write(&args.ours, &merged.bytes)?;
    if merged.conflicts.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let palace = known.map(|_| Path::new(folder));
    report_conflicts(&path_text(&args.path), &merged, palace);
    Ok(ExitCode::from(UNMERGED))
}

/// Returns the settings of the palace in `folder`: those that are checked out, and those of the
/// commits that `git merge` merges into it. Git names them in its environment.
fn versions_of_settings(folder: &str) -> Vec<Vec<u8>> {
    let path = match folder {
        "" => SETTINGS_FILE.to_owned(),
        _ => format!("{folder}/{SETTINGS_FILE}"),
    };
    let commits = env::vars_os().filter_map(|(name, _)| {
        let commit = name.to_str()?.strip_prefix("GITHEAD_")?;
        commit.bytes().all(|it| it.is_ascii_hexdigit()).then(|| commit.to_owned())
    });
    let merged = commits.filter_map(|commit| {
        let mut git = Command::new("git");
        let output = git.args(["cat-file", "blob", &format!("{commit}:{path}")]).output().ok()?;
        output.status.success().then_some(output.stdout)
    });
    fs::read(&path).ok().into_iter().chain(merged).collect()
}

/// Lets git merge the file line by line, as without a merge driver.
fn merge_lines(args: &Args, reason: &str) -> Outcome {
    let mut git = Command::new("git");
    git.args(["merge-file", "-L", "ours", "-L", "base", "-L", "theirs", "--"]);
    let status = git.args([&args.ours, &args.base, &args.theirs]).status()?;
    // The exit code is the number of conflicts, at most 127; others report an error.
    let Some(conflicts @ 0..=127) = status.code() else {
        let path = path_text(&args.path);
        return Err(Failure::Message(format!("`git merge-file` failed on `{path}`")));
    };
    let (code, result) = match conflicts {
        0 => (ExitCode::SUCCESS, "git merged it line by line"),
        _ => (ExitCode::from(UNMERGED), "git merged it line by line, with conflicts"),
    };
    anstream::eprintln!("palazzo: {}: {reason}; {result}", path_text(&args.path));
    Ok(code)
}

/// Prints both values of each conflict, and keeps them in the palace.
fn report_conflicts(path: &str, merged: &FileMergeResult, palace: Option<&Path>) {
    for (conflict_path, text) in &merged.conflicts {
        let kept = palace.map(|it| keep_conflict(it, conflict_path, text));
        let kept = match kept {
            Some(Ok(())) => format!("; kept in {conflict_path}"),
            Some(Err(err)) => format!("; not kept in {conflict_path}: {err}"),
            None => String::new(),
        };
        anstream::eprintln!("palazzo: {path}: two values for one field{kept}");
        for line in escape_unprintable_in_lines(text).lines() {
            anstream::eprintln!("  {line}");
        }
    }
    let next = "one value stands in the file: edit it if the other is right, then `git add` the \
                file and `conflicts/`";
    terminal::eprint_failure(&format!("{path}: {next}"));
}

/// Writes the file of a conflict into a palace, unless it exists.
fn keep_conflict(palace: &Path, path: &str, text: &str) -> io::Result<()> {
    let place = palace.join(path);
    let folder = place.parent().unwrap_or(palace);
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(io::Error::other("`conflicts` is no folder")),
        Err(_) => fs::create_dir(folder)?,
    }
    match OpenOptions::new().write(true).create_new(true).open(&place) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(err) => Err(err),
    }
}
