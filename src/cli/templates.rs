//! `palazzo init --list`, and its older name `palazzo templates`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::outcome::Outcome;
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::path_text;
use palazzo_core::render;
use palazzo_keeper::{self as keeper, Template};

/// List the templates that `palazzo init` can start from: `palazzo init --list`
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    format: FormatArgs,

    /// The home, as for other commands; all homes have the same templates
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    list_templates(args.home.as_deref(), &args.format)
}

/// Prints the templates in the program and in the folder of the user.
pub(super) fn list_templates(home: Option<&Path>, format: &FormatArgs) -> Outcome {
    // The home is not used, so its choice is not worth a message.
    let (home, _) = home::find_home_and_source(home);
    let keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs { workspace: None });
    let list = keeper::list_templates(&keeper)?;
    for error in &list.errors {
        terminal::eprint_failure(&error.to_string());
    }
    match format.is_json() {
        false => {
            let page: String = list.templates.iter().map(template_to_text).collect();
            terminal::print_page(&page)?;
        }
        true => {
            let templates: Vec<_> = list.templates.iter().map(template_to_json).collect();
            terminal::print_text(&format!("{:#}\n", json!({ "templates": templates })))?;
        }
    }
    Ok(ExitCode::from(u8::from(!list.errors.is_empty())))
}

/// Renders a template: its name and counts, its description, its folder and its variables.
fn template_to_text(it: &Template) -> String {
    let rooms = render::count_with_noun(it.room_count(), "room");
    let entities = render::count_with_noun(it.entity_count(), "entity");
    let mut lines = vec![format!("{:<18} {rooms}, {entities}", it.name)];
    let description = Some(render::whole_line(&it.settings.description));
    let description = description.filter(|it| !it.is_empty());
    lines.extend(description);
    lines.extend(it.folder.as_ref().map(|it| format!("in {}", path_text(it))));
    lines.extend(it.settings.variables.iter().map(|variable| {
        let default = variable.default.as_ref();
        let default = default.map(|it| format!(" (default: {})", render::title_after_label(it)));
        let (name, description) = (&variable.name, render::whole_line(&variable.description));
        format!("--set {name}=…: {description}{}", default.unwrap_or_default())
    }));
    lines.join("\n  ") + "\n"
}

fn template_to_json(it: &Template) -> Value {
    let variables =
        it.settings.variables.iter().map(
            |it| json!({ "name": it.name, "description": it.description, "default": it.default }),
        );
    json!({
        "name": it.name,
        "description": it.settings.description,
        "folder": it.folder,
        "rooms": it.room_count(),
        "entities": it.entity_count(),
        "variables": variables.collect::<Vec<_>>(),
    })
}
