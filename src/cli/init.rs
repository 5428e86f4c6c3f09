//! `palazzo init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::{Failure, Outcome, templates, terminal, terminal_user};
use crate::keeper;
use crate::model::{Files, did_you_mean};

/// Make a new palace, empty or from a template
///
/// With --repository, make a new git repository for a palace that has lost its own,
/// and commit the palace as it is: a new history begins, and the old one is not looked for.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Its name; its directory is called after it
    #[arg(required_unless_present = "repository")]
    name: Option<String>,

    /// The template to start from; `palazzo templates` lists them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// Begin a new history for the palaces in DIR, or in the home, that have no repository
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["name", "template"])]
    #[expect(clippy::option_option, reason = "it may be given with and without a folder")]
    repository: Option<Option<PathBuf>>,

    /// The home
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(dir) = &args.repository {
        return init_repository(dir.as_deref().or(args.home.as_deref()));
    }
    let name = args.name.as_deref().unwrap_or_default();
    let files = match &args.template {
        None => Files::new(),
        Some(name) => {
            templates::template_files(name).ok_or_else(|| unknown_template_error(name))?
        }
    };
    let mut keeper =
        home::keeper_for_home(args.home.as_deref(), &WorkspaceArgs { workspace: None });
    let root = keeper::create_palace(&mut keeper, &terminal_user("init"), name, &files)?;
    terminal::print_page(&root.display().to_string())?;
    anstream::eprintln!("Founded {name}. Walk it with: palazzo walk {}", root.display());
    Ok(ExitCode::SUCCESS)
}

fn init_repository(dir: Option<&Path>) -> Outcome {
    let mut keeper = home::keeper_for_home(dir, &WorkspaceArgs { workspace: None });
    home::require_palace(&keeper, &home::find_home(dir))?;
    let begun = keeper::create_repositories(&mut keeper, &terminal_user("init"))?;
    for palace in &begun {
        terminal::print_page(&palace.display().to_string())?;
    }
    match begun.len() {
        0 => anstream::eprintln!(
            "Every palace in {} has a repository.",
            home::find_home(dir).display()
        ),
        _ => anstream::eprintln!("A new history begins with each palace as it is."),
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_template_error(name: &str) -> Failure {
    let known: Vec<_> = templates::template_names();
    let hint = did_you_mean(name, known.iter().map(String::as_str));
    let hint = hint.map_or(".".to_owned(), |it| format!("; did you mean `{it}`?"));
    let known = known.join(", ");
    Failure::Message(format!("there is no template `{name}`{hint} There are: {known}"))
}
