//! `palazzo blame`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::diff::commit_json;
use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::BlamedLine;
use palazzo_core::render;
use palazzo_keeper as keeper;

/// Show who wrote each line of a room, a scroll, an entity or a file, and when
#[derive(clap::Args)]
pub(super) struct Args {
    /// A room by slug or name, a scroll by id or title, an entity by name, or a file
    #[arg(value_name = "THING")]
    thing: String,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let (mut keeper, user) = (args.home.keeper(), terminal_user("blame"));
    let lines = keeper::blame_item(&mut keeper.session(&user)?, &args.thing)?;
    terminal::print_page(&match args.format.is_json() {
        true => lines_to_json(&lines),
        false => render::blame(&lines, user.now),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn lines_to_json(lines: &[BlamedLine]) -> String {
    let line = |(number, it): (usize, &BlamedLine)| json!({ "line": number, "text": it.text, "commit": it.commit.as_ref().map(commit_json) });
    let lines: Vec<_> = (1..).zip(lines).map(line).collect();
    format!("{:#}\n", json!({ "lines": lines }))
}
