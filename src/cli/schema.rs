//! `palazzo schema`.

use std::process::ExitCode;

use crate::cli::outcome::Outcome;
use crate::cli::terminal;
use palazzo_core::model::FileKind;
use palazzo_keeper as keeper;

/// Print the JSON Schema of a kind of file; without KIND, list the kinds
///
/// The first line of a new file points editors to a copy of the schema in
/// `.palazzo/schema` of the palace. The copy is created with the first such file, and
/// `palazzo fmt` updates it.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The kind of file: room, entity …
    #[arg(value_name = "KIND")]
    kind: Option<FileKind>,
}

pub(super) fn run(args: &Args) -> Outcome {
    match args.kind {
        Some(kind) => terminal::print_text(keeper::json_schema(kind))?,
        None => terminal::print_page(&FileKind::ALL.map(file_kind_line).concat())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn file_kind_line(kind: FileKind) -> String {
    format!("{:<9} {}\n", kind.name(), kind.path_pattern())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_kinds_has_the_path_pattern_of_each_in_one_column() {
        let lines = FileKind::ALL.map(file_kind_line);
        for (kind, line) in FileKind::ALL.into_iter().zip(lines) {
            assert_eq!(
                (line[..10].trim_end(), line[10..].trim_end()),
                (kind.name(), kind.path_pattern())
            );
        }
    }
}
