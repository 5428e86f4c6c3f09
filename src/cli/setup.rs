//! `palazzo setup`.

mod change;
mod description;
mod plan;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::client::Client;
use crate::cli::client::places::UserFolders;
use crate::cli::client::server::ServerCommand;
use crate::cli::client_config::{self, PrintOptions};
use crate::cli::home::{self, HomeArgs};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::serve::reject_duplicate_tools;
use crate::cli::setup::change::apply_change;
use crate::cli::setup::plan::{Plan, Step, plan_insertion, plan_removals};
use crate::cli::terminal;
use crate::keeper;
use crate::mcp::{ToolSet, Toolbox};

/// Make the MCP clients on this machine use Palazzo, or undo that
///
/// Finds the clients by their configuration, their folder or their program, shows what it would
/// change in the configuration of each, and asks once. It adds one entry and changes nothing else:
/// comments and layout stay. A file that it cannot read, and an entry of another server with the
/// same name, are left alone. In an entry of Palazzo it updates the program, and the home and the
/// options that you give.
///
/// With --print, prints the configuration of one client, or the command that makes it use Palazzo,
/// and writes nothing.
#[derive(clap::Args)]
#[command(
    mut_arg("propose", needs_print),
    mut_arg("http", needs_print),
    mut_arg("link", needs_print)
)]
pub(super) struct Args {
    /// Only these clients, separated by commas; can be repeated
    #[arg(long = "client", value_name = "NAME", value_delimiter = ',', value_parser = client_parser())]
    clients: Vec<Client>,

    #[command(flatten)]
    home: HomeArgs,

    /// The tool sets to offer, as for `palazzo serve`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Vec<ToolSet>,

    /// Write without asking
    #[arg(long)]
    yes: bool,

    /// Show the changes and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Remove the entries of Palazzo. The rest of each file is as it was before, with what others
    /// have added meanwhile
    #[arg(long, conflicts_with_all = ["home", "workspace", "tools"])]
    remove: bool,

    /// Print the configuration of this client, and write nothing
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, default_missing_value = "claude-code", conflicts_with_all = ["clients", "yes", "dry_run", "remove"])]
    print: Option<Client>,

    #[command(flatten)]
    printing: PrintOptions,
}

/// Makes an argument one of `--print`.
fn needs_print(argument: clap::Arg) -> clap::Arg {
    argument.requires("print").conflicts_with_all(["clients", "yes", "dry_run", "remove"])
}

/// Parses the name of a client. The help lists only clients whose configuration can be written; the
/// others are accepted, and answered with what to do by hand.
fn client_parser() -> impl TypedValueParser<Value = Client> {
    let name = |it: &Client| it.to_possible_value().map(|name| name.hide(!it.has_user_file()));
    PossibleValuesParser::new(Client::value_variants().iter().filter_map(name))
        .try_map(|it| Client::from_str(&it, false))
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(client) = args.print {
        return client_config::print_config(client, &args.home, &args.tools, &args.printing);
    }
    reject_duplicate_tools(Toolbox::new(args.tools.clone()))?;
    let unknown = "the folder of the user is not known: set HOME";
    let folders = UserFolders::from_env().ok_or_else(|| Failure::Message(unknown.to_owned()))?;
    let plans = match args.remove {
        true => plan_all_removals(args, &folders)?,
        false => plan_insertions(args, &folders)?,
    };
    if plans.is_empty() {
        anstream::eprintln!("{}", nothing_found(args.remove));
        return Ok(ExitCode::from(u8::from(!args.remove)));
    }
    let page: Vec<_> = plans.iter().map(Plan::to_text).collect();
    terminal::print_text(&page.join("\n"))?;
    let is_refused = plans.iter().any(|it| matches!(it.step, Step::Refused(_)));
    let is_changed = plans.iter().any(|it| matches!(it.step, Step::Change(_)));
    if !is_changed || args.dry_run {
        return Ok(ExitCode::from(u8::from(is_refused)));
    }
    if !is_confirmed(args)? {
        return Ok(ExitCode::from(1));
    }
    let is_written = apply_plans(plans)?;
    if !args.remove && is_written {
        home::remember_home(args.home.given());
        anstream::eprintln!(
            "Restart the clients that are running. `palazzo setup --remove` removes the entries again."
        );
    }
    Ok(ExitCode::from(u8::from(is_refused || !is_written)))
}

fn plan_insertions(args: &Args, folders: &UserFolders) -> Result<Vec<Plan>, Failure> {
    let server = ServerCommand::new(&args.home, &args.tools, None)?;
    let installed =
        || Client::value_variants().iter().filter(|it| it.is_installed(folders)).copied();
    let clients: Vec<_> =
        if args.clients.is_empty() { installed().collect() } else { args.clients.clone() };
    let plans = clients.into_iter().map(|it| plan_insertion(it, it.user_file(folders), &server));
    Ok(one_plan_for_each_file(plans))
}

fn plan_all_removals(args: &Args, folders: &UserFolders) -> Result<Vec<Plan>, Failure> {
    let records = match home::state_dir() {
        Some(folder) => keeper::client_setups(&folder)?,
        None => Vec::new(),
    };
    let clients = if args.clients.is_empty() { Client::value_variants() } else { &args.clients };
    let plans = clients.iter().flat_map(|it| plan_removals(*it, it.user_file(folders), &records));
    let mut plans: Vec<_> = plans.collect();
    // What was added last is removed first, because a folder that several clients share was created
    // with the first of them.
    let added_at = |it: &Plan| {
        it.removed_records().filter_map(|it| records.iter().position(|a| a == it)).max()
    };
    plans.sort_by_key(|it| std::cmp::Reverse(added_at(it)));
    Ok(one_plan_for_each_file(plans))
}

/// Removes the later plans for a file that has one: a client was named twice, or the files of two
/// clients are linked.
fn one_plan_for_each_file(plans: impl IntoIterator<Item = Plan>) -> Vec<Plan> {
    let mut files = BTreeSet::new();
    let is_first = |it: &Plan| match &it.step {
        Step::Change(change) => files.insert(change.target.clone()),
        Step::Nothing(_) | Step::Refused(_) => true,
    };
    plans.into_iter().filter(is_first).collect()
}

fn nothing_found(is_removal: bool) -> &'static str {
    match is_removal {
        true => "No client on this machine has an entry of Palazzo.",
        false => {
            "No client was found on this machine. `palazzo setup --client NAME` writes the \
             configuration of one, `palazzo setup --print NAME` prints it."
        }
    }
}

fn is_confirmed(args: &Args) -> io::Result<bool> {
    if args.yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        anstream::eprintln!("Nothing is written yet. Run this in a terminal, or with --yes.");
        return Ok(false);
    }
    anstream::eprint!("Write this? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    let is_confirmed = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_confirmed {
        anstream::eprintln!("Nothing is written.");
    }
    Ok(is_confirmed)
}

/// Writes the changes. Returns false if one could not be written.
fn apply_plans(plans: Vec<Plan>) -> Result<bool, Failure> {
    let mut is_written = true;
    for plan in plans {
        let Step::Change(change) = plan.step else { continue };
        let (file, done) = (plan.file.display(), change.done());
        match apply_change(*change) {
            Ok(()) => terminal::print_text(&format!("{done}: {file}"))?,
            Err(why) => {
                terminal::eprint_failure(&format!("`{file}`: {why}"));
                is_written = false;
            }
        }
    }
    Ok(is_written)
}
