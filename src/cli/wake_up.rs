//! `palazzo wake-up`.

mod agents_block;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::cli::wake_up::agents_block::{remove_block, write_block};
use palazzo_core::model::path_text;
use palazzo_core::token_estimate::estimate_token_count;
use palazzo_keeper::{self as keeper, DEFAULT_WAKE_UP_TOKENS, Keeper};

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

    /// Write a block into this file instead, such as AGENTS.md, or update the one that is there: how
    /// to ask the palace, and the memories of Claude Code in it. It stands between `<!-- palazzo -->`
    /// and `<!-- /palazzo -->`; all else stays
    #[arg(long, value_name = "FILE", conflicts_with_all = ["budget", "format"])]
    into: Option<PathBuf>,

    /// With --into: remove the block
    #[arg(long, requires = "into")]
    remove: bool,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut keeper = args.home.keeper();
    if let Some(file) = &args.into {
        return change_block(args, &keeper, file);
    }
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

/// Writes or removes the block in a file for agents.
fn change_block(args: &Args, keeper: &Keeper, file: &Path) -> Outcome {
    let done = match args.remove {
        true => remove_block(file)?,
        false => {
            let workspace = args.name.as_deref().or(args.home.workspace());
            write_block(file, &keeper::list_host_memories(keeper, workspace)?)?
        }
    };
    terminal::print_page(&format!("{}: {done}", path_text(file)))?;
    Ok(ExitCode::SUCCESS)
}
