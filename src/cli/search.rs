//! `palazzo search`.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};
use crate::keeper::SearchQuery;
use crate::model::ItemKind;

/// Search a palace, best results first
///
/// Searches rooms, scrolls, drawers, diaries, tasks, processes, genera and entities,
/// like the search of agents. Exits with 0 if something was found, with 1 if nothing
/// was, with 2 if the search could not run.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A question, or some words
    #[arg(value_name = "QUERY", required = true)]
    words: Vec<String>,

    /// Only items in this wing, by slug or name
    #[arg(long, value_name = "WING")]
    wing: Option<String>,

    /// Only this room, by slug or name, and the items in it
    #[arg(long, value_name = "ROOM")]
    room: Option<String>,

    /// Only items of this kind: room, scroll, drawer, diary, task, process, genus or
    /// entity; may be given several times
    #[arg(long, value_name = "KIND")]
    kind: Vec<ItemKind>,

    /// Only items written on this date or later: 2026, 2026-03, 2026-03-01
    #[arg(long, value_name = "DATE")]
    since: Option<String>,

    /// Only items written before this date
    #[arg(long, value_name = "DATE")]
    until: Option<String>,

    /// The largest number of results
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,

    /// The output format: human-readable or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    home: HomeArgs,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
}

pub(super) fn run(args: Args) -> Outcome {
    let mut keeper = args.home.keeper();
    let query = SearchQuery {
        words: args.words.join(" "),
        wing: args.wing,
        room: args.room,
        kinds: args.kind,
        since: args.since,
        until: args.until,
    };
    let found = keeper.search_palace(&terminal_user("search"), &query, args.limit)?;
    let here = std::env::current_dir().unwrap_or_default();
    terminal::print_page(&match args.format {
        Format::Human => found.to_text(&here),
        Format::Json => found.to_json(&here),
    })?;
    if found.total == 0 {
        anstream::eprintln!("nothing found");
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}
