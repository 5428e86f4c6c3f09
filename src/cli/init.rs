//! `palazzo init`.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::user_folders::expand_tilde;
use crate::cli::{signal, templates, terminal};
use palazzo_core::model::{
    Files, GitUrl, TemplateVariable, escape_unprintable_in_lines, path_text, quoted,
};
use palazzo_keeper::{self as keeper, Keeper, NewPalaceRepository, Template};

/// Create a new palace, empty or from a template
///
/// With --repository, create a new git repository for a palace that has lost its own,
/// and commit the palace as it is. This starts a new history; the old one is not recovered.
///
/// With --list, print the templates: those in the program, and the palaces in your template folder
/// `~/.config/palazzo/templates` (`$XDG_CONFIG_HOME/palazzo/templates`).
#[derive(clap::Args)]
#[command(mut_arg("format", |it| it.requires("list").conflicts_with_all(["name", "repository"])))]
pub(super) struct Args {
    /// The name of the palace; the name of its directory is derived from it
    #[arg(required_unless_present_any = ["repository", "list"])]
    name: Option<String>,

    /// The template to start from: the folder of any palace, a git repository
    /// (`https://…`, `ssh://…`, `git@host:path` or `file://…`, each with `#BRANCH` or
    /// `#BRANCH:FOLDER` if you want), or a name that --list prints
    #[arg(long, value_name = "DIR|URL|NAME")]
    template: Option<String>,

    /// The value of a variable of the template; at a terminal, the others are asked for
    #[arg(
        long,
        value_name = "NAME=VALUE",
        value_parser = parse_assignment,
        requires = "template",
        conflicts_with = "repository"
    )]
    set: Vec<(String, String)>,

    /// Start a new history for the palaces in DIR, or in the home, that have no repository
    #[arg(long, value_name = "DIR", num_args = 0..=1, conflicts_with_all = ["name", "template"])]
    #[expect(clippy::option_option, reason = "it may be given with and without a folder")]
    repository: Option<Option<PathBuf>>,

    /// Commit it without asking, also in a repository with files that are no palaces
    #[arg(long, conflicts_with_all = ["repository", "list"])]
    yes: bool,

    /// List the templates, with their variables
    #[arg(long, conflicts_with_all = ["name", "template", "set", "repository"])]
    list: bool,

    #[command(flatten)]
    format: FormatArgs,

    /// The home
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    if args.list {
        return templates::list_templates(args.home.as_deref(), &args.format);
    }
    if let Some(dir) = &args.repository {
        if dir.is_some() && args.home.is_some() {
            let why = "`--repository DIR` and `--home DIR` both name the home: give one of them";
            return Err(Failure::Message(why.to_owned()));
        }
        return create_missing_repositories(dir.as_deref().or(args.home.as_deref()));
    }
    let name = args.name.as_deref().unwrap_or_default();
    let keeper = home::keeper_for_home(args.home.as_deref(), &WorkspaceArgs { workspace: None });
    keeper::check_new_palace_name(&keeper, name)?;
    let repository = keeper::repository_of_new_palace(&keeper, name)?;
    if !args.yes {
        confirm_other_content(&repository)?;
    }
    let work = path_text(&repository.work);
    let root = create_palace(keeper, name, args.template.as_deref(), &args.set)?;
    home::remember_home(args.home.as_deref());
    anstream::eprintln!(
        "Created {name} in the git repository {work}. Explore it with: palazzo walk {}",
        root.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// Creates a palace, and prints its directory.
pub(super) fn create_palace(
    mut keeper: Keeper,
    name: &str,
    template: Option<&str>,
    set: &[(String, String)],
) -> Result<PathBuf, Failure> {
    let files = match template {
        None => Files::new(),
        Some(template) => template_files(&keeper, template, set)?,
    };
    let root = keeper::create_palace(&mut keeper, &terminal_user("init"), name, &files)?;
    terminal::print_text(&root.display().to_string())?;
    Ok(root)
}

/// Describes the repository of a new palace: `in the git repository /a, which has other content
/// (README.md, src/, …)`.
pub(super) fn describe_repository(repository: &NewPalaceRepository) -> String {
    const MAX_NAMED: usize = 3;
    let NewPalaceRepository { work, is_new, other_content } = repository;
    let new = if *is_new { "new " } else { "" };
    let mut text = format!("in the {new}git repository {}", path_text(work));
    if !other_content.is_empty() {
        let named = other_content.iter().take(MAX_NAMED).map(|it| path_text(Path::new(it)));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if other_content.len() > MAX_NAMED { ", …" } else { "" };
        text += &format!(", which has other content ({named}{more})");
    }
    text
}

/// Asks before a palace is committed beside what somebody else has committed.
fn confirm_other_content(repository: &NewPalaceRepository) -> Result<(), Failure> {
    if repository.other_content.is_empty() {
        return Ok(());
    }
    let place = describe_repository(repository);
    let refused = |why: &str| Failure::Message(format!("no palace is created {place}: {why}"));
    if !io::stdin().is_terminal() {
        return Err(refused("commit it there with --yes, or choose another --home"));
    }
    anstream::eprint!("The palace will be committed {place}. Commit it there? [y/N] ");
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(refused("not confirmed")),
    }
}

/// Returns the files of a new palace from a template.
fn template_files(
    keeper: &Keeper,
    template: &str,
    set: &[(String, String)],
) -> Result<Files, Failure> {
    let template = find_template(keeper, template)?;
    let mut values: BTreeMap<_, _> = set.iter().cloned().collect();
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let asked = template.settings.variables.iter().filter(|it| !values.contains_key(&it.name));
        let answers: io::Result<Vec<_>> = asked.map(ask_for_value).collect();
        values.extend(answers?.into_iter().flatten());
    }
    let files = template.new_palace_files(&values, &terminal_user("init"))?;
    if !template.allow.is_empty() {
        anstream::eprintln!(
            "The template allows its actions to call {}; the new palace does not. To allow it, \
             write `[actions] allow` into its palace.toml and run palazzo trust.",
            template.allow.iter().map(|it| quoted(it)).collect::<Vec<_>>().join(", ")
        );
    }
    Ok(files)
}

/// Finds a template: a URL is fetched, a path with a separator, or the folder of a palace, is read;
/// anything else is a name.
fn find_template(keeper: &Keeper, template: &str) -> Result<Template, Failure> {
    if GitUrl::looks_like_url(template) {
        return fetch_template(template);
    }
    let folder = expand_tilde(Path::new(template));
    let is_path = template.contains(['/', '\\']) || folder.join("palace.toml").is_file();
    Ok(match is_path {
        true => keeper::read_template(&folder, template)?,
        false => keeper::find_template(keeper, template)?,
    })
}

/// Fetches a template. A signal cancels that, so that git ends and its folder is removed.
fn fetch_template(url: &str) -> Result<Template, Failure> {
    let (url, user) = (url.parse()?, terminal_user("init"));
    let handler = signal::cancel_on_signal(user.cancelled.clone());
    anstream::eprintln!("Fetching the template with git");
    let template = keeper::fetch_template(&url, &user);
    handler.exit_if_cancelled();
    Ok(template?)
}

/// Asks for the value of a variable; `None`: the line is empty, so the default is used.
fn ask_for_value(variable: &TemplateVariable) -> io::Result<Option<(String, String)>> {
    let TemplateVariable { name, description, default } = variable;
    let hint = default.as_ref().map(|it| format!(" [{it}]")).unwrap_or_default();
    anstream::eprint!(
        "{name}: {}{}: ",
        escape_unprintable_in_lines(description),
        escape_unprintable_in_lines(&hint)
    );
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(Some((name.clone(), line.trim().to_owned())).filter(|it| !it.1.is_empty()))
}

/// Parses `project=Atlas`.
fn parse_assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.to_owned()))
}

fn create_missing_repositories(dir: Option<&Path>) -> Outcome {
    let mut keeper = home::keeper_for_home(dir, &WorkspaceArgs { workspace: None });
    home::require_palace(&keeper, &home::find_home(dir))?;
    let created = keeper::create_repositories(&mut keeper, &terminal_user("init"))?;
    for palace in &created {
        terminal::print_text(&palace.display().to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::built_in_templates::read_built_in_templates;

    #[test]
    fn a_value_is_everything_after_the_first_equals_sign() {
        let parsed = parse_assignment(" project=a=b ");
        assert_eq!(parsed, Ok(("project".to_owned(), "a=b ".to_owned())));
        assert_eq!(parse_assignment("project"), Err("write it as NAME=VALUE".to_owned()));
    }

    #[test]
    fn only_a_path_is_read_as_a_folder() {
        let keeper =
            Keeper::new("/nowhere".into(), None).with_built_in_templates(read_built_in_templates);
        assert_eq!(find_template(&keeper, "codebase").unwrap().folder, None);
        let refused = |template| find_template(&keeper, template).unwrap_err().to_string();
        assert!(refused("./codebase").contains("there is no such folder"));
        assert!(refused("src").starts_with("there is no template `src`."));
        assert!(refused("http://example.org/a.git").contains("only URLs with https://"));
        assert!(refused("https://example.org/a.git#:../b").contains("`../b`"));
    }
}
