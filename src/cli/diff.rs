//! `palazzo diff`.

use std::process::ExitCode;

use chrono::SecondsFormat;
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::pager::{self, PagerArgs};
use crate::cli::terminal;
use palazzo_core::model::{CommitSummary, quote_for_shell};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, PalaceDiff, RevisionQuery, Session};

/// Show the differences between two states of a palace: rooms, scrolls, entities
///
/// Without a revision: uncommitted changes. `A`: changes since A. `A B` or `A..B`:
/// changes from A to B. `A...B`: changes of B since it left A. A revision is a day
/// (its end, in your time zone), a time, an age like `3.weeks`, or a git revision. With things,
/// only these: as in `palazzo log`, after `--` if they could be revisions.
///
/// After a `+` comes what was added, after a `-` what was removed, after a `~` a line
/// of which some words were changed: [-before-]{+after+}.
#[derive(clap::Args)]
#[command(override_usage = "palazzo diff [OPTIONS] [THING]... [A [B] | A..B | A...B]\n       \
                            palazzo diff [OPTIONS] [A [B] | A..B | A...B] -- THING...\n       \
                            palazzo diff [OPTIONS] --proposal BRANCH [THING]...\n       \
                            palazzo diff [OPTIONS] --visit ID")]
pub(super) struct Args {
    /// Things, then revisions
    #[arg(value_name = "THING|REVISION", allow_hyphen_values = true)]
    first: Option<String>,

    /// More of them
    #[arg(value_name = "THING|REVISION", hide = true)]
    more: Vec<String>,

    /// Things; everything before `--` is a revision then
    #[arg(value_name = "THING", last = true)]
    things: Vec<String>,

    /// Show the changes of the proposal BRANCH since it left the checked-out branch
    #[arg(long, value_name = "BRANCH")]
    proposal: Option<String>,

    /// Show the changes of a visit, one conversation of an MCP client, by its id in
    /// `palazzo log --visits`, or of an undo by its id in `palazzo log`; `last` is the newest visit
    /// that is not undone
    #[arg(long, value_name = "ID", conflicts_with_all = ["first", "things", "proposal"])]
    visit: Option<String>,

    /// Print a patch for `git apply`, with paths relative to the root of the repository
    #[arg(long, conflicts_with = "format")]
    text: bool,

    /// The output format: human-readable, JSON, or Markdown for a pull request
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    pager: PagerArgs,

    #[command(flatten)]
    home: HomeArgs,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
    Markdown,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("diff"));
    let mut session = keeper.session(&user)?;
    let mut words: Vec<_> = args.first.iter().chain(&args.more).cloned().collect();
    let is_plain = words.is_empty()
        && args.things.is_empty()
        && args.proposal.is_none()
        && args.visit.is_none();
    if let Some(branch) = &args.proposal {
        words.push(keeper::proposal_range(&session, branch)?);
    }
    let (title, diff) = match &args.visit {
        Some(id) => {
            let (visit, diff) = keeper::diff_visit(&session, id)?;
            let client = render::client_name(&visit);
            (format!("Palace changes of visit {} of {client}", visit.short_id()), diff)
        }
        None => {
            let query = RevisionQuery { words, items: args.things.clone() };
            let diff = keeper::diff_palace(&mut session, &query)?;
            (title(&diff), diff)
        }
    };
    match args.format {
        Format::Human if args.text => {
            pager::print_paged(&terminal::style_patch(&diff.patch), &args.pager)?;
        }
        Format::Human => {
            let page = match diff.patch.is_empty() {
                true => "Nothing differs.\n".to_owned(),
                false => render::palace_diff_with_content(&diff.items),
            };
            let hint = if is_plain { proposal_hint(&session)? } else { String::new() };
            pager::print_paged(&terminal::style_diff(&(page + &hint)), &args.pager)?;
        }
        Format::Json => terminal::print_page(&diff_to_json(&diff))?,
        Format::Markdown => {
            terminal::print_page(&render::palace_diff_markdown(&title, &diff.items))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a line about the open proposals; empty if there is none.
fn proposal_hint(session: &Session<'_>) -> Result<String, Failure> {
    let proposals = keeper::list_proposals(session)?;
    Ok(match proposals.as_slice() {
        [] => String::new(),
        [only] => {
            let branch = quote_for_shell(&only.branch);
            format!("\nA proposal is open: palazzo diff --proposal {branch}\n")
        }
        all => format!("\n{} proposals are open: palazzo proposals lists them\n", all.len()),
    })
}

/// Names the two states that are compared.
fn title(diff: &PalaceDiff) -> String {
    let name = |it: &Option<CommitSummary>| it.as_ref().map(|it| it.short.clone());
    let from = name(&diff.from).unwrap_or_else(|| "nothing".to_owned());
    let to = name(&diff.to).unwrap_or_else(|| "the files on disk".to_owned());
    format!("Palace changes from {from} to {to}")
}

fn diff_to_json(diff: &PalaceDiff) -> String {
    let items: Vec<_> = diff.items.iter().map(render::item_diff_json).collect();
    let value = json!({
        "from": diff.from.as_ref().map(commit_json),
        "to": diff.to.as_ref().map(commit_json),
        "items": items,
    });
    format!("{value:#}\n")
}

/// Renders a commit as JSON.
pub(super) fn commit_json(it: &CommitSummary) -> Value {
    json!({
        "id": it.id.to_string(),
        "short": it.short,
        "subject": it.subject,
        "by": it.by,
        "at": it.at.to_rfc3339_opts(SecondsFormat::Secs, true),
    })
}
