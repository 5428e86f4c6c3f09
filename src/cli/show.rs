//! `palazzo show`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::diff::commit_json;
use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::render;
use palazzo_keeper::{self as keeper, ItemDescription};

/// Show a room as a visitor sees it, or any other thing
///
/// A THING is a room by slug or name, a scroll by id or title, an entity, a process or a
/// genus by name, a task by title, a drawer by id, or anything by its file.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The thing; without it, the entry room
    #[arg(value_name = "THING")]
    thing: Option<String>,

    /// The thing as it was at this moment, by its name then: a day, a time, an age like `3.weeks`,
    /// or a git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,

    /// A visit instead, one conversation of an MCP client, by its id in `palazzo log --visits`, or an
    /// undo by its id in `palazzo log`; `last` is the newest visit that is not undone
    #[arg(long, value_name = "ID", conflicts_with_all = ["thing", "at"])]
    visit: Option<String>,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("show"));
    if let Some(id) = &args.visit {
        let visit = keeper::show_visit(&keeper.session(&user)?, id)?;
        terminal::print_page(&match args.format.is_json() {
            true => format!("{:#}\n", render::visit_page_json(&visit)),
            false => render::visit_page(&visit, user.now),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let (thing, at) = (args.thing.as_deref(), args.at.as_deref());
    terminal::print_page(&match args.format.is_json() {
        true => item_to_json(&keeper::describe_item(&mut keeper, &user, thing, at)?),
        false => keeper::show_item(&mut keeper, &user, thing, at)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

fn item_to_json(description: &ItemDescription) -> String {
    let ItemDescription { item, file, content, versions, provenance, as_of } = description;
    let (kind, name) = render::item_kind_and_name(item);
    let value = json!({
        "kind": kind,
        "name": name,
        "file": file,
        "content": render::item_content_json(content),
        "versions": render::file_history_json(*versions),
        "provenance": render::provenance_json(provenance),
        "as_of": as_of.as_ref().map(commit_json),
    });
    format!("{value:#}\n")
}
