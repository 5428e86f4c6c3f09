//! `palazzo schema`.

use std::process::ExitCode;

use crate::cli::{Outcome, terminal};
use crate::keeper;
use crate::model::FileKind;

/// Print the JSON Schema of a kind of file; without KIND, list the kinds
///
/// New files begin with a line that leads editors to a copy in `.palazzo/schema`
/// of their palace, which is put there with the first of them and which `palazzo
/// fmt` renews.
#[derive(clap::Args)]
pub(super) struct Args {
    /// What the file is about: room, entity …
    #[arg(value_name = "KIND")]
    kind: Option<FileKind>,
}

pub(super) fn run(args: &Args) -> Outcome {
    match args.kind {
        Some(kind) => terminal::print_page(&keeper::json_schema(kind))?,
        None => terminal::print_page(&FileKind::ALL.map(kind_line).concat())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn kind_line(kind: FileKind) -> String {
    format!("{:<9} {}\n", kind.name(), kind.path_pattern())
}
