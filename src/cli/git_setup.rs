//! `palazzo git-setup`.

use std::process::ExitCode;

use crate::cli::home::{self, PalacesArgs};
use crate::cli::outcome::Outcome;
use crate::cli::program::program_path;
use crate::cli::terminal;
use palazzo_core::model::path_text;
use palazzo_keeper::{self as keeper, DriverFileChange, GitSetupReport};

/// Make git show palace files by meaning, and merge them field by field
///
/// Adds attributes to the file `.gitattributes` of each palace, and a diff and a merge driver to
/// the configuration of its repository. Commit `.gitattributes`; other clones then need only
/// this command. `git diff --no-ext-diff --no-textconv` shows the plain text.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Remove all of it again
    #[arg(long)]
    remove: bool,

    #[command(flatten)]
    home: PalacesArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let keeper = args.home.keeper()?;
    home::require_palace(&keeper, &args.home.find()?)?;
    let reports = match args.remove {
        true => keeper::remove_git_setup(&keeper)?,
        false => keeper::set_up_git(&keeper, &program_path()?)?,
    };
    terminal::print_page(&reports_to_text(&reports))?;
    let is_complete = reports.iter().all(|it| it.other_format.is_none());
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn reports_to_text(reports: &[GitSetupReport]) -> String {
    let mut page = String::new();
    for GitSetupReport { root, changed_files, other_format } in reports {
        page.push_str(&format!("{}\n", path_text(root)));
        match other_format {
            Some(reason) => page.push_str(&format!("  left alone: {reason}\n")),
            None if changed_files.is_empty() => page.push_str("  nothing to change\n"),
            None => {}
        }
        for DriverFileChange { file, existed, exists } in changed_files {
            let verb = match (existed, exists) {
                (false, _) => "created",
                (true, false) => "deleted",
                (true, true) => "changed",
            };
            page.push_str(&format!("  {verb} {}\n", path_text(file)));
        }
    }
    page
}
