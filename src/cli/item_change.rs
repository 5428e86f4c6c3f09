//! The options and the answer of the commands that change items: `mv` and `rm`.

use std::io;

use crate::cli::terminal;
use palazzo_core::model::FileEdit;
use palazzo_core::render::count_with_noun;
use palazzo_keeper::{ChangeMode, ItemChangeReport, ItemChangeVerb};

/// Whether a change is committed.
#[derive(clap::Args)]
pub(super) struct ChangeModeArgs {
    /// Only list what would be changed
    #[arg(long)]
    dry_run: bool,

    /// Write the files, and leave the commit to you
    #[arg(long, conflicts_with = "dry_run")]
    no_commit: bool,
}

impl ChangeModeArgs {
    /// Returns the mode that the options choose.
    pub(super) fn mode(&self) -> ChangeMode {
        match (self.dry_run, self.no_commit) {
            (true, _) => ChangeMode::DryRun,
            (false, true) => ChangeMode::WithoutCommit,
            (false, false) => ChangeMode::Commit,
        }
    }
}

/// Prints what was done or would be done, with the files of a change that is not committed.
pub(super) fn print_item_change(change: &ItemChangeReport) -> io::Result<()> {
    terminal::print_page(&render_item_change(change))
}

fn render_item_change(
    ItemChangeReport { verb, description, mode, edits }: &ItemChangeReport,
) -> String {
    let verb = match (mode, verb) {
        (ChangeMode::DryRun, ItemChangeVerb::Rename) => "Would rename",
        (ChangeMode::DryRun, ItemChangeVerb::Move) => "Would move",
        (ChangeMode::DryRun, ItemChangeVerb::Delete) => "Would delete",
        (_, ItemChangeVerb::Rename) => "Renamed",
        (_, ItemChangeVerb::Move) => "Moved",
        (_, ItemChangeVerb::Delete) => "Deleted",
    };
    let files = count_with_noun(edits.len(), "file");
    match mode {
        ChangeMode::Commit => format!("{verb} {description}.\n"),
        ChangeMode::WithoutCommit => {
            format!("{verb} {description}. {files} changed, not committed:\n{}", list_files(edits))
        }
        ChangeMode::DryRun => format!("{verb} {description}. {files}:\n{}", list_files(edits)),
    }
}

/// Lists the changed files, one per line.
fn list_files(edits: &[FileEdit]) -> String {
    let mut lines: Vec<_> = edits
        .iter()
        .map(|it| {
            let what = match (&it.was, &it.now) {
                (None, _) => "new",
                (_, None) => "deleted",
                _ => "changed",
            };
            (it.path.as_str(), what)
        })
        .collect();
    lines.sort_unstable();
    let lines = lines.into_iter().map(|(path, what)| format!("  {what:<8}{path}\n"));
    lines.collect::<Vec<_>>().concat()
}
