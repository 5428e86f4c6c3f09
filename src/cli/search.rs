//! `palazzo search`.

use std::path::Path;
use std::process::ExitCode;

use chrono::SecondsFormat;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::embed;
use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::terminal;
use palazzo_core::model::ItemKind;
use palazzo_core::render::{self, display_path};
use palazzo_keeper::{self as keeper, SearchQuery, SearchResults};

/// Search a palace, best results first
///
/// Searches rooms, scrolls, drawers, diaries, tasks, processes, genera and entities,
/// like the search of agents. Exits with 0 if something was found, with 1 if nothing
/// was, with 2 if the search could not run.
///
/// With --index, computes all missing embeddings for semantic search at once; `palazzo serve`
/// computes them in the background, one passage at a time. `[search] model` in palace.toml names
/// the model.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A question, or some words; without them, --since and --until list what is of that
    /// time, newest first
    #[arg(value_name = "QUERY", required_unless_present_any = ["index", "since", "until"])]
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

    /// Only items written before this date; the date of --since once more is all of it
    #[arg(long, value_name = "DATE")]
    until: Option<String>,

    /// The largest number of results
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    limit: usize,

    /// The output format: human-readable or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Search nothing; compute the missing embeddings
    #[arg(long, conflicts_with_all = ["words", "wing", "room", "kind", "since", "until", "limit", "format"])]
    index: bool,

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
    if args.index {
        return embed::embed_passages(&mut keeper);
    }
    let query = SearchQuery {
        words: args.words.join(" "),
        wing: args.wing,
        room: args.room,
        kinds: args.kind,
        since: args.since,
        until: args.until,
    };
    query.reject_without_words_and_time()?;
    let caller = terminal_user("search");
    let found = keeper::search_palace(&mut keeper.session(&caller)?, &query, args.limit)?;
    let here = std::env::current_dir().unwrap_or_default();
    match args.format {
        Format::Human => terminal::print_page(&results_to_text(&found, &here))?,
        Format::Json => terminal::print_text(&results_to_json(&found, &here))?,
    }
    if found.total == 0 {
        anstream::eprintln!("nothing found");
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}

/// Renders hits as a page, with paths relative to `here`.
fn results_to_text(results: &SearchResults, here: &Path) -> String {
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
fn results_to_json(results: &SearchResults, here: &Path) -> String {
    let hits = results.best.iter().map(|it| {
        json!({
            "kind": it.kind.to_string(),
            "title": it.display.title,
            "wing": it.wing_and_room.0,
            "room": it.wing_and_room.1,
            "written": it.written.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true)),
            "provenance": render::provenance_json(&it.provenance),
            "passage": it.display.snippet,
            "similarity": (f64::from(it.similarity) * 1000.0).round() / 1000.0,
            "file": it.file.as_ref().map(|it| display_path(here, &results.root, it)),
        })
    });
    let hits: Vec<Value> = hits.collect();
    let mut value = json!({ "results": hits, "total": results.total });
    if let Some(ranker) = &results.ranker {
        value["ranker"] = ranker.name().into();
        if let Some(remark) = ranker.error_or_pending_text() {
            value["remark"] = remark.into();
        }
    }
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::Provenance;
    use palazzo_core::render::HitView;
    use palazzo_keeper::{RankingReport, SearchHit};

    fn results(total: usize) -> SearchResults {
        let (title, note) = ("Stasis".to_owned(), "entity, 3 days ago".to_owned());
        let hit = SearchHit {
            kind: ItemKind::Entity,
            file: Some("entities/claim/stasis.yaml".to_owned()),
            wing_and_room: (None, None),
            written: Some("2026-03-01T12:00:00Z".parse().unwrap()),
            provenance: Provenance::default(),
            similarity: 0.123_46,
            display: HitView { title, note, snippet: "It <lasts>.".to_owned() },
        };
        let best = if total == 0 { Vec::new() } else { vec![hit] };
        SearchResults { best, total, ranker: None, root: "/a/keep".into() }
    }

    #[test]
    fn the_page_shows_where_each_hit_is_and_how_many_more_there_are() {
        insta::assert_snapshot!(results_to_text(&results(3), Path::new("/a")).replace('\\', "/"), @"
        Stasis (entity, 3 days ago)
          keep/entities/claim/stasis.yaml
          It <lasts>.
        and 2 more: see --limit
        ");
        assert_eq!(results_to_text(&results(0), Path::new("/a")), "");
    }

    #[test]
    fn json_has_null_for_what_is_unknown_and_three_decimals_of_the_similarity() {
        let json: Value =
            serde_json::from_str(&results_to_json(&results(1), Path::new("/a"))).unwrap();
        let hit = &json["results"][0];
        assert_eq!((&hit["wing"], &hit["room"]), (&Value::Null, &Value::Null));
        assert_eq!(
            (&hit["similarity"], &hit["written"]),
            (&json!(0.123), &json!("2026-03-01T12:00:00Z"))
        );
        assert_eq!((&json["total"], json.get("ranker")), (&json!(1), None));
    }

    #[test]
    fn json_names_the_ranker_and_how_much_is_pending() {
        let ranker = RankingReport { is_semantic: true, pending_passages: 2, model_error: None };
        let found = SearchResults { ranker: Some(ranker), ..results(0) };
        let json: Value = serde_json::from_str(&results_to_json(&found, Path::new("/a"))).unwrap();
        let expected = json!({ "results": [], "total": 0, "ranker": "words and meaning", "remark": "2 passages not embedded yet" });
        assert_eq!(json, expected);
    }
}
