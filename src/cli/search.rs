//! `palazzo search`.

use std::path::Path;
use std::process::ExitCode;

use chrono::SecondsFormat;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::home::HomeArgs;
use crate::cli::{Outcome, terminal, terminal_user};
use crate::keeper::{self, SearchQuery, SearchResults};
use crate::model::ItemKind;
use crate::render::{self, display_path};

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
    let query = SearchQuery {
        words: args.words.join(" "),
        wing: args.wing,
        room: args.room,
        kinds: args.kind,
        since: args.since,
        until: args.until,
    };
    query.reject_without_words()?;
    let caller = terminal_user("search");
    let mut session = keeper.session(&caller)?;
    let found = keeper::search_palace(&mut session, &query, args.limit)?;
    let here = std::env::current_dir().unwrap_or_default();
    terminal::print_page(&match args.format {
        Format::Human => to_text(&found, &here),
        Format::Json => to_json(&found, &here),
    })?;
    if found.total == 0 {
        anstream::eprintln!("nothing fits");
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}

/// Renders hits as a page, with paths relative to `here`.
fn to_text(results: &SearchResults, here: &Path) -> String {
    let hits: Vec<_> = results
        .best
        .iter()
        .map(|it| {
            (it.display.clone(), it.file.as_ref().map(|it| display_path(here, &results.root, it)))
        })
        .collect();
    let ranker = results.ranker.as_ref().map(|it| format!("{it}\n"));
    render::cli_search_results(&hits, results.total) + &ranker.unwrap_or_default()
}

/// Renders hits as JSON, with paths relative to `here`.
fn to_json(results: &SearchResults, here: &Path) -> String {
    let hits = results.best.iter().map(|it| {
        json!({
            "kind": it.kind.to_string(),
            "title": it.display.title,
            "wing": it.wing_and_room.0,
            "room": it.wing_and_room.1,
            "written": it.written.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true)),
            "passage": it.display.snippet,
            "similarity": (f64::from(it.similarity) * 1000.0).round() / 1000.0,
            "file": it.file.as_ref().map(|it| display_path(here, &results.root, it)),
        })
    });
    let hits: Vec<Value> = hits.collect();
    let mut value = json!({ "results": hits, "total": results.total });
    if let Some(ranker) = &results.ranker {
        value["ranker"] = ranker.name().into();
        if let Some(remark) = ranker.remark() {
            value["remark"] = remark.into();
        }
    }
    format!("{value:#}\n")
}
