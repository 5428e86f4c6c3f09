//! `palazzo trust`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::home::{self, PalacesArgs};
use crate::cli::outcome::Outcome;
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use crate::cli::user_folders::expand_tilde;
use palazzo_core::model::{
    Consent, ConsentScope, path_text, quote_for_shell, quoted, quoted_unless_plain,
};
use palazzo_core::render::{one_line, whole_line};
use palazzo_keeper::{self as keeper, Keeper};

/// Give your consent to what a palace from another person may do
///
/// Lists the writing tools that actions of the palace may call (`[actions] allow` in
/// palace.toml), the repository that a `.git` file points to, and the memories of a host
/// that are shown at actions (`when` below `metadata`), and asks. Consents are stored outside of every palace, in `$XDG_STATE_HOME/palazzo` (else
/// `~/.local/state/palazzo`); a change needs a new consent.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    /// Allow it without asking
    #[arg(long)]
    yes: bool,

    /// List what is allowed on this machine
    #[arg(long, conflicts_with_all = ["dir", "home", "workspace", "yes", "remove"])]
    list: bool,

    /// Withdraw the consents for a folder and everything below it
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dir", "home", "workspace", "yes"])]
    remove: Option<PathBuf>,

    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let keeper = args.home.keeper()?;
    if args.list {
        let allowed = keeper::list_consents(&keeper)?;
        if args.format.is_json() {
            return print_json("allowed", &allowed);
        }
        return print_consents(&allowed, "Nothing is allowed on this machine.");
    }
    if let Some(folder) = &args.remove {
        let removed = keeper::remove_consents(&keeper, &expand_tilde(folder))?;
        print_removed(&removed, &args.format)?;
        return Ok(ExitCode::from(u8::from(removed.is_empty())));
    }
    let missing = keeper::missing_consents(&keeper)?;
    let home = args.home.find()?;
    home::require_palace(&keeper, &home)?;
    let otherwise = format!("Nothing in {} needs your consent.", path_text(&home));
    match args.format.is_json() {
        true => print_json("missing", &missing)?,
        false => print_consents(&missing, &otherwise)?,
    };
    if missing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    ask_and_store_consents(&keeper, &home, &missing, args.yes)
}

/// Asks for consent, if there is a terminal, and stores it.
fn ask_and_store_consents(
    keeper: &Keeper,
    home: &Path,
    missing: &[Consent],
    is_given: bool,
) -> Outcome {
    if !is_given && !io::stdin().is_terminal() {
        let again = format!("palazzo trust --yes {}", quote_for_shell(&home.display().to_string()));
        anstream::eprintln!("Nothing is allowed yet. Run this in a terminal, or `{again}`.");
        return Ok(ExitCode::from(1));
    }
    if !is_given && !confirm()? {
        anstream::eprintln!("Nothing is allowed.");
        return Ok(ExitCode::from(1));
    }
    missing.iter().try_for_each(|it| keeper::give_consent(keeper, it))?;
    anstream::eprintln!("Allowed. `palazzo trust --remove DIR` withdraws the consent.");
    Ok(ExitCode::SUCCESS)
}

fn confirm() -> io::Result<bool> {
    anstream::eprint!("Allow this? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn print_removed(removed: &[Consent], format: &FormatArgs) -> Outcome {
    if format.is_json() {
        return print_json("removed", removed);
    }
    if !removed.is_empty() {
        terminal::print_page("No longer allowed:")?;
    }
    print_consents(removed, "Nothing was allowed there.")
}

/// Prints consents as the list `name` of a JSON object.
fn print_json(name: &str, consents: &[Consent]) -> Outcome {
    let consents: Vec<_> = consents.iter().map(consent_json).collect();
    terminal::print_text(&format!("{:#}\n", json!({ name: consents })))?;
    Ok(ExitCode::SUCCESS)
}

fn consent_json(consent: &Consent) -> Value {
    match &consent.scope {
        ConsentScope::Tools(tools) => json!({ "path": consent.path(), "tools": tools }),
        ConsentScope::Repository(folders) => {
            json!({ "path": consent.path(), "repository": folders })
        }
        ConsentScope::Sync(url) => json!({ "path": consent.path(), "sync": url }),
        ConsentScope::Memory(it) => {
            let (name, triggers, text) = (&it.name, &it.triggers, &it.first_line);
            let memory = json!({ "name": name, "triggers": triggers, "text": text });
            json!({ "path": consent.path(), "memory": memory })
        }
    }
}

fn print_consents(consents: &[Consent], otherwise: &str) -> Outcome {
    let lines: Vec<_> = consents.iter().map(describe_consent).collect();
    terminal::print_page(&if lines.is_empty() { otherwise.to_owned() } else { lines.join("\n") })?;
    Ok(ExitCode::SUCCESS)
}

fn join_quoted(names: &[String]) -> String {
    names.iter().map(|it| quoted_unless_plain(it)).collect::<Vec<_>>().join(", ")
}

fn describe_consent(consent: &Consent) -> String {
    let path = consent.path().map_or("(a path that is not Unicode)".to_owned(), path_text);
    match &consent.scope {
        ConsentScope::Tools(tools) => {
            format!("{path}\n  actions may change things with: {}", join_quoted(tools))
        }
        ConsentScope::Repository(folders) => {
            format!("{path}\n  its repository is in: {}", join_quoted(folders))
        }
        ConsentScope::Sync(url) => {
            format!("{path}\n  `palazzo sync` may fetch from and push to: {}", whole_line(url))
        }
        ConsentScope::Memory(it) => {
            let triggers: Vec<_> = it.triggers.iter().map(|it| quoted(it)).collect();
            let (name, triggers) = (quoted(&it.name), triggers.join(", "));
            let text = one_line(&it.first_line);
            format!("{path}\n  the memory {name} may be shown at {triggers}: {text}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_consent_is_described_with_its_folder_and_what_it_allows() {
        let tools = ["write_scroll".to_owned(), "palazzo:add_fact".to_owned()];
        insta::assert_snapshot!(describe_consent(&Consent::for_tools(Path::new("/a"), &tools)), @"
        /a
          actions may change things with: add_fact, write_scroll
        ");
        let elsewhere = [Path::new("/git"), Path::new("/git")];
        insta::assert_snapshot!(describe_consent(&Consent::for_repository(Path::new("/a"), elsewhere)), @"
        /a
          its repository is in: /git
        ");
        let consents = [
            Consent::for_tools(Path::new("/a"), &tools),
            Consent::for_repository(Path::new("/b"), elsewhere),
        ];
        let json: Vec<_> = consents.iter().map(consent_json).collect();
        let tools = json!({ "path": "/a", "tools": ["add_fact", "write_scroll"] });
        assert_eq!(json, [tools, json!({ "path": "/b", "repository": ["/git"] })]);
    }
}
