//! `palazzo locate`.

use std::io::Read as _;
use std::process::ExitCode;

use crate::cli::home::{PalacesOptions, WorkspaceArgs, keeper_for_home, require_palace};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::cli::user_folders::state_dir;
use palazzo_core::render;
use palazzo_keeper as keeper;

/// The least that can be searched for; less is found everywhere.
const MIN_CHARS: usize = 4;

/// Limit for the text on standard input.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// Find everything that still contains a text, such as a secret
///
/// Searches the files of the palaces of the home and of their proposals, all objects and
/// messages of their repositories, also those that only the reflog knows, the logs and
/// settings of git, and the caches of Palazzo. In names of files, it also searches for the
/// form that a title has there (`My Token` is `my-token`). Prints the files with their
/// lines, and the commits that added the text. It changes nothing, and does not print the
/// text, unless a path contains it.
///
/// Exits with 0 if something was found, with 1 if nothing was, with 2 if the search could
/// not run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The text, on one line; `-` reads it from standard input, so that it does not stand
    /// in the history of the shell
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: PalacesOptions,
}

pub(super) fn run(args: &Args) -> Outcome {
    let text = read_sought_text(&args.text)?;
    let home = args.home.find()?;
    let keeper = keeper_for_home(Some(&home), &WorkspaceArgs::default());
    require_palace(&keeper, &home)?;
    let found = keeper::locate_text(&keeper, state_dir().as_deref(), &text)?;
    terminal::print_text(&match args.format.is_json() {
        true => render::text_locations_json(&found),
        false => render::text_locations(&found),
    })?;
    let is_found = !found.repositories.is_empty() || !found.state_files.is_empty();
    Ok(ExitCode::from(u8::from(!is_found)))
}

/// Returns the text to search for; `-` stands for standard input.
fn read_sought_text(argument: &str) -> Result<String, Failure> {
    let mut text = argument.to_owned();
    if text == "-" {
        text.clear();
        std::io::stdin().take(MAX_INPUT_BYTES).read_to_string(&mut text)?;
    }
    let text = text.trim_end_matches(['\n', '\r']);
    if text.contains(['\n', '\r']) {
        let hint = "give the line of it that occurs nowhere else";
        return Err(Failure::Message(format!("the text has several lines: {hint}")));
    }
    if text.chars().count() < MIN_CHARS {
        return Err(Failure::Message(format!("give at least {MIN_CHARS} characters of the text")));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_line_and_some_characters() {
        assert_eq!(read_sought_text("hunter2\r\n").unwrap(), "hunter2");
        let refused = |text: &str| read_sought_text(text).unwrap_err().to_string();
        assert_eq!(refused("abc\n"), "give at least 4 characters of the text");
        let several = "the text has several lines: give the line of it that occurs nowhere else";
        assert_eq!(refused("first\nsecond"), several);
    }
}
