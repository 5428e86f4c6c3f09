//! `palazzo view`.

use std::path::PathBuf;

use crate::cli::home::HomeArgs;
use crate::cli::map::write_page;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::keeper::{self, PalaceFileRequest};

/// Write a palace as one HTML file: rooms, map, entities, and what changed
///
/// The file needs no server and no script, and loads nothing: send it, or attach it to a pull
/// request. With `--against` it begins with the changes since a revision, and marks changed rooms
/// on the map.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The file, or `-` for standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// The palace as it was at this moment: a day, a time, an age like `3.weeks`, or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,

    /// Begin with what changed since this moment or revision
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    against: Option<String>,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("view"));
    let request = PalaceFileRequest { at: args.at.clone(), against: args.against.clone() };
    write_page(&args.out, &keeper::view_as_file(&mut keeper, &user, &request)?)
}
