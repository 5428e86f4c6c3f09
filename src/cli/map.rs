//! `palazzo map`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::path_text;
use palazzo_keeper as keeper;

/// Show the map of a palace: rooms, doors, scrolls, versions and ages
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: FormatArgs,

    /// Draw the map as a picture, and write it to this file, or to standard output for `-`
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    svg: Option<PathBuf>,

    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.palace.keeper(), terminal_user("map"));
    let mut session = keeper.session(&user)?;
    if let Some(file) = &args.svg {
        return write_page(file, &keeper::show_map_as_svg(&mut session)?);
    }
    terminal::print_page(&match args.format.is_json() {
        true => keeper::show_map_as_json(&mut session)?,
        false => keeper::show_map(&mut session)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page or a picture to a file, or to standard output for `-`.
pub(super) fn write_page(file: &Path, page: &str) -> Outcome {
    if file == Path::new("-") {
        terminal::print_page(page)?;
        return Ok(ExitCode::SUCCESS);
    }
    let written = fs::write(file, page);
    written
        .map_err(|err| Failure::Message(format!("{} cannot be written: {err}", path_text(file))))?;
    Ok(ExitCode::SUCCESS)
}
