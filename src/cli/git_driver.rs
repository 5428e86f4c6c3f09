//! The commands that git runs after `palazzo git-setup`: an external diff, a `textconv` and a
//! merge driver.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ulid::Ulid;

use crate::cli::merge_file;
use crate::cli::outcome::Outcome;
use crate::cli::terminal;
use palazzo_core::render;
use palazzo_keeper as keeper;

/// The commands that git runs.
#[derive(clap::Subcommand)]
pub(super) enum DriverCommand {
    #[command(hide = true)]
    GitDiff(DiffArgs),
    #[command(hide = true)]
    GitTextconv(TextconvArgs),
    MergeFile(merge_file::Args),
}

/// Print the differences of one file of a palace, for the setting `diff.palazzo.command` of git
#[derive(clap::Args)]
pub(super) struct DiffArgs {
    /// As git gives them: the path, then file, id and mode of the old and of the new version, and
    /// the new path of a renamed file
    #[arg(value_name = "ARGUMENT", required = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Print the meaning of one file of a palace, for the setting `diff.palazzo.textconv` of git
#[derive(clap::Args)]
pub(super) struct TextconvArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(command: &DriverCommand) -> Outcome {
    match command {
        DriverCommand::GitDiff(args) => run_diff(args),
        DriverCommand::GitTextconv(args) => run_textconv(args),
        DriverCommand::MergeFile(args) => merge_file::run(args),
    }
}

fn run_diff(args: &DiffArgs) -> Outcome {
    let page = match args.arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [path, old, _, _, new, _, _, ref renamed @ ..] => {
            let new_path = renamed.first().copied().unwrap_or(path);
            compare((path, old), (new_path, new))?
        }
        [path, ..] => format!("* Unmerged path {path}\n"),
        [] => String::new(),
    };
    terminal::print_for_git(&terminal::style_diff(&page))?;
    Ok(ExitCode::SUCCESS)
}

fn run_textconv(args: &TextconvArgs) -> Outcome {
    let bytes = read_file(&args.file)?;
    let mut out = io::stdout().lock();
    match String::from_utf8(bytes) {
        Ok(text) => {
            let name = args.file.to_string_lossy();
            out.write_all(keeper::textconv_file(&name, &text).as_bytes())?;
        }
        Err(not_text) => out.write_all(not_text.as_bytes())?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Compares two versions of a file, each with its path in the repository and its temporary file.
fn compare(was: (&str, &str), now: (&str, &str)) -> io::Result<String> {
    let text = |file: &str| -> io::Result<Option<String>> {
        match file {
            "/dev/null" | "nul" => Ok(None),
            file => Ok(Some(String::from_utf8_lossy(&read_file(Path::new(file))?).into_owned())),
        }
    };
    let (old, new) = (text(was.1)?, text(now.1)?);
    let (old, new) = ((was.0, old.as_deref()), (now.0, new.as_deref()));
    let items = keeper::compare_file_versions(old, new, |id| find_scroll_beside(now.0, id));
    Ok(render::palace_diff_with_content(&items))
}

/// Returns the name and the text of the scroll with an id in the folder of the file at `path`. Git runs this
/// command at the top of the working copy.
fn find_scroll_beside(path: &str, id: Ulid) -> Option<(String, String)> {
    let folder = Path::new(path).parent()?;
    let names =
        fs::read_dir(folder).ok()?.flatten().filter_map(|it| it.file_name().into_string().ok());
    let name = names.filter(|it| it.starts_with(&id.to_string())).min()?;
    let text = String::from_utf8(read_file(&folder.join(&name)).ok()?).ok()?;
    Some((name, text))
}

/// Reads a regular file.
fn read_file(file: &Path) -> io::Result<Vec<u8>> {
    match fs::symlink_metadata(file)?.is_file() {
        true => fs::read(file),
        false => Err(io::Error::other(format!("`{}` is not a regular file", file.display()))),
    }
}
