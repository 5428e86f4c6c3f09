//! `palazzo search`.

use std::process::ExitCode;

use clap::ValueEnum;

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};
use crate::keeper::SearchQuery;
use crate::model::ItemKind;

/// Find what is kept in a palace by what it is about, best first
///
/// Finds rooms, scrolls, drawers, diaries, tasks, processes, genera and entities,
/// as agents do. Exits with 0 if something was found, with 1 if nothing was, with
/// 2 if it could not look.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A question, or some words
    #[arg(value_name = "QUERY", required = true)]
    words: Vec<String>,

    /// Only what stands in this wing, by slug or name
    #[arg(long, value_name = "WING")]
    wing: Option<String>,

    /// Only this room, by slug or name, and what hangs or is filed in it
    #[arg(long, value_name = "ROOM")]
    room: Option<String>,

    /// Only rooms, scrolls, drawers …: room, scroll, drawer, diary, task, process,
    /// genus or entity; may be given several times
    #[arg(long, value_name = "KIND")]
    kind: Vec<ItemKind>,

    /// Only what was written on this date or later: 2026, 2026-03, 2026-03-01
    #[arg(long, value_name = "DATE")]
    since: Option<String>,

    /// Only what was written before this date
    #[arg(long, value_name = "DATE")]
    until: Option<String>,

    /// How many results at most
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,

    /// How to say it: to people, or as JSON
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
    let sought = SearchQuery {
        words: args.words.join(" "),
        wing: args.wing,
        room: args.room,
        kinds: args.kind,
        since: args.since,
        until: args.until,
    };
    let found = keeper.search_palace(&terminal_user("search"), &sought, args.limit)?;
    let here = std::env::current_dir().unwrap_or_default();
    terminal::print_page(&match args.format {
        Format::Human => found.to_text(&here),
        Format::Json => found.to_json(&here),
    })?;
    if found.total == 0 {
        anstream::eprintln!("nothing fits");
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}
