//! `palazzo init`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::cli::home::{self, Workspace};
use crate::cli::{Failure, Outcome, page, person, templates};
use crate::model::{Files, did_you_mean};

/// Make a new palace, empty or from a template
#[derive(clap::Args)]
pub(super) struct Args {
    /// Its name; its directory is called after it
    name: String,

    /// The template to start from; `palazzo templates` lists them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// The home
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let files = match &args.template {
        None => Files::new(),
        Some(name) => templates::files(name).ok_or_else(|| no_such_template(name))?,
    };
    let mut keeper = home::keeper(args.home.as_deref(), &Workspace { workspace: None });
    let root = keeper.found_from(&person("init"), &args.name, &files)?;
    page::print(&root.display().to_string())?;
    anstream::eprintln!("Founded {}. Walk it with: palazzo walk {}", args.name, root.display());
    Ok(ExitCode::SUCCESS)
}

fn no_such_template(name: &str) -> Failure {
    let known: Vec<_> = templates::names();
    let hint = did_you_mean(name, known.iter().map(String::as_str));
    let hint = hint.map_or(".".to_owned(), |it| format!("; did you mean `{it}`?"));
    let known = known.join(", ");
    Failure::Said(format!("there is no template `{name}`{hint} There are: {known}"))
}
