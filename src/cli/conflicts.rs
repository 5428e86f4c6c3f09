//! `palazzo conflicts`, the older name of `palazzo resolve` without a conflict.

use crate::cli::home::PalaceArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::resolve;

/// List the fields for which a merge found two values: `palazzo resolve`
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    palace: PalaceArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    resolve::list_conflicts(&mut args.palace.keeper(), &terminal_user("conflicts"), &args.format)
}
