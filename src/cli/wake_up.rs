//! `palazzo wake-up`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::token_estimate::estimate_token_count;
use palazzo_keeper::{self as keeper, DEFAULT_WAKE_UP_TOKENS};

/// Print what an agent should know when a conversation begins
///
/// Open tasks, the latest texts, the current facts, and the contents of the rooms:
/// as much as fits into the budget. The MCP prompt `wake-up` returns the same text.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The same as --workspace NAME
    #[arg(value_name = "NAME", conflicts_with = "workspace")]
    name: Option<String>,

    /// The largest number of tokens to print, as estimated for the tokenizer `cl100k_base`
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_WAKE_UP_TOKENS)]
    budget: usize,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    let page = keeper::wake_up(
        &mut keeper,
        &terminal_user("wake-up"),
        args.name.as_deref().or(args.home.workspace()),
        args.budget,
    )?;
    terminal::print_page(&match args.format.is_json() {
        true => {
            let tokens = estimate_token_count(&page);
            format!("{:#}\n", json!({ "text": page, "tokens": tokens, "budget": args.budget }))
        }
        false => page,
    })?;
    Ok(ExitCode::SUCCESS)
}
