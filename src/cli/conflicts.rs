//! `palazzo conflicts`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::keeper;
use crate::render;

/// List the fields for which a merge found two values
///
/// One value stands, the other is kept in `conflicts/` until somebody settles the conflict:
/// by writing the field, or with `palazzo resolve`.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.palace.keeper(), terminal_user("conflicts"));
    let session = keeper.session(&user)?;
    let conflicts = keeper::list_conflicts(&session);
    terminal::print_page(&match args.format.is_json() {
        true => {
            let conflicts: Vec<Value> = conflicts.iter().map(render::conflict_json).collect();
            format!("{:#}\n", json!({ "conflicts": conflicts }))
        }
        false => render::conflict_list(&conflicts, user.now),
    })?;
    Ok(ExitCode::SUCCESS)
}
