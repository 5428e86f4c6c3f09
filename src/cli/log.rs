//! `palazzo log`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::diff::commit_json;
use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::pager::{self, PagerArgs};
use crate::cli::terminal;
use palazzo_core::model::{RecordedVisit, UndoneAmount, commit_trailers};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, Caller, CommitLog, LogFilter, LoggedCommit, RevisionQuery, VisitLog,
};

/// List changes, newest first, or with --visits the conversations of agents
///
/// With things it lists only the commits that changed one of them, with these changes:
/// a room by slug or name, a wing by its slug and `/`, a scroll by id or title, an entity
/// or a process by name, a task by title, anything by its file. A thing may have been
/// deleted since. With a revision, or a range, it lists the commits of that.
#[derive(clap::Args)]
#[command(override_usage = "palazzo log [OPTIONS] [THING]... [A | A..B | A...B]\n       \
                            palazzo log [OPTIONS] [A | A..B | A...B] -- THING...")]
pub(super) struct Args {
    /// Things, then a revision or a range
    #[arg(value_name = "THING|REVISION")]
    words: Vec<String>,

    /// Things; everything before `--` is a revision then
    #[arg(value_name = "THING", last = true)]
    things: Vec<String>,

    /// List visits instead, one conversation of an MCP client each: who, when, for how long, what
    /// changed, and what it left for the next one. `show`, `diff` and `undo` take the id
    #[arg(long, conflicts_with_all = ["words", "things"])]
    visits: bool,

    /// Only changes of this client or author, as for `palazzo undo`
    #[arg(long, value_name = "NAME")]
    client: Option<String>,

    /// Only changes since this moment: a day (2026-03-01, today), a time (2026-03-01T12:00:00Z) or
    /// an age (3 hours)
    #[arg(long, value_name = "MOMENT")]
    since: Option<String>,

    /// The largest number of commits or visits to list
    #[arg(short = 'n', value_name = "NUMBER", default_value_t = 20)]
    most: usize,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    pager: PagerArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("log"));
    let filter = LogFilter { client: args.client.clone(), since: args.since.clone() };
    if args.visits {
        let log = keeper::list_visits(&keeper.session(&user)?, &filter, args.most)?;
        match args.format.is_json() {
            true => terminal::print_page(&visits_to_json(&log))?,
            false => {
                let page = terminal::style_log(&visits_to_text(&log, &user, args));
                pager::print_paged(&page, &args.pager)?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let query = RevisionQuery { words: args.words.clone(), items: args.things.clone() };
    let log = keeper::list_commits(&mut keeper, &user, &query, &filter, args.most)?;
    match args.format.is_json() {
        true => terminal::print_page(&log_to_json(&log))?,
        false => {
            let page = terminal::style_log(&log_to_text(&log, &user, args.most));
            pager::print_paged(&page, &args.pager)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn log_to_text(log: &CommitLog, user: &Caller, most: usize) -> String {
    let commits = log.commits.iter().map(|it| {
        let undone = it.undone.and_then(UndoneAmount::word).map(str::to_owned);
        let id = it.undo_id.map(|it| format!("id {}", RecordedVisit::shorten_id(it)));
        let marks: Vec<_> = undone.into_iter().chain(id).collect();
        let mark = (!marks.is_empty()).then(|| marks.join(", "));
        (&it.details.summary, mark, it.changes.clone())
    });
    let commits: Vec<_> = commits.collect();
    let mut page = render::log(&commits, user.now);
    if commits.is_empty() {
        page.push_str("There is no commit.\n");
    } else if log.is_truncated {
        page.push_str(&format!("(older ones: -n {})\n", most.saturating_mul(2)));
    }
    page
}

fn visits_to_text(log: &VisitLog, user: &Caller, args: &Args) -> String {
    let mut page = render::visit_log(&log.visits, user.now);
    if log.visits.is_empty() && (args.client.is_some() || args.since.is_some()) {
        page.push_str("There is no such visit.\n");
    } else if log.visits.is_empty() {
        page.push_str("No MCP client has changed anything. (palazzo log lists all commits.)\n");
    } else if log.is_truncated {
        page.push_str(&format!("(older ones: -n {})\n", args.most.saturating_mul(2)));
    }
    page
}

fn visits_to_json(log: &VisitLog) -> String {
    let visits: Vec<_> = log.visits.iter().map(render::visit_json).collect();
    format!("{:#}\n", json!({ "visits": visits, "truncated": log.is_truncated }))
}

fn log_to_json(log: &CommitLog) -> String {
    let commits = log.commits.iter().map(|LoggedCommit { details, changes, undone, .. }| {
        let mut commit = commit_json(&details.summary);
        commit["tool"] = json!(details.trailer(commit_trailers::TOOL));
        commit["client"] = json!(details.trailer(commit_trailers::CLIENT));
        commit["visit"] = json!(details.trailer(commit_trailers::VISIT));
        commit["undone"] = json!(undone.map(|it| it == UndoneAmount::Whole));
        commit["partly_undone"] = json!(undone.map(|it| it == UndoneAmount::Part));
        commit["files"] = json!(details.changed_files);
        commit["changes"] = json!(changes.lines().collect::<Vec<_>>());
        commit
    });
    let commits: Vec<_> = commits.collect();
    format!("{:#}\n", json!({ "commits": commits, "truncated": log.is_truncated }))
}
