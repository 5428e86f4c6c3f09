//! `palazzo init`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::{templates, terminal};
use crate::keeper;
use crate::model::{Files, did_you_mean};

/// Create a new palace, empty or from a template
///
/// With --repository, create a new git repository for a palace that has lost its own,
/// and commit the palace as it is. This starts a new history; the old one is not recovered.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The name of the palace; the name of its directory is derived from it
    #[arg(required_unless_present = "repository")]
    name: Option<String>,

    /// The template to start from; `palazzo templates` lists them
    #[arg(long, value_name = "NAME")]
    template: Option<String>,

    /// Start a new history for the palaces in DIR, or in the home, that have no repository
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["name", "template"])]
    #[expect(clippy::option_option, reason = "it may be given with and without a folder")]
    repository: Option<Option<PathBuf>>,

    /// The home
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(dir) = &args.repository {
        return create_missing_repositories(dir.as_deref().or(args.home.as_deref()));
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
    anstream::eprintln!("Created {name}. Explore it with: palazzo walk {}", root.display());
    Ok(ExitCode::SUCCESS)
}

fn create_missing_repositories(dir: Option<&Path>) -> Outcome {
    let mut keeper = home::keeper_for_home(dir, &WorkspaceArgs { workspace: None });
    home::require_palace(&keeper, &home::find_home(dir))?;
    let created = keeper::create_repositories(&mut keeper, &terminal_user("init"))?;
    for palace in &created {
        terminal::print_page(&palace.display().to_string())?;
    }
    match created.len() {
        0 => anstream::eprintln!(
            "Every palace in {} has a repository.",
            home::find_home(dir).display()
        ),
        _ => anstream::eprintln!("A new history starts with the present state of each palace."),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_template_is_refused_with_the_most_similar_one_and_all() {
        let all = "There are: codebase, paradigm-survey, personal-assistant, research-project, team-runbook";
        assert_eq!(
            unknown_template_error("codebse").to_string(),
            format!("there is no template `codebse`; did you mean `codebase`? {all}")
        );
        assert_eq!(
            unknown_template_error("xyz").to_string(),
            format!("there is no template `xyz`. {all}")
        );
    }
}
