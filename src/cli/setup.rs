//! `palazzo setup`.

pub(super) mod change;
mod description;
mod new_memory;
mod new_palace;
mod plan;
mod question;
mod start_hook;
mod state_folder;
mod text_addition;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::cli::client::Client;
use crate::cli::client::places::UserFolders;
use crate::cli::client::server::ServerCommand;
use crate::cli::client_config::{self, PrintOptions};
use crate::cli::home::{self, HomeArgs};
use crate::cli::hook::memory_setup::remove_memory_setup;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::serve::reject_duplicate_tools;
use crate::cli::setup::change::apply_change;
use crate::cli::setup::plan::{
    Plan, SetupStep, plan_insertion, plan_memory, plan_palace, plan_removals,
};
use crate::cli::setup::question::ChosenParts;
use crate::cli::setup::start_hook::{StartHook, has_start_hook};
use crate::cli::setup::text_addition::{TextAddition, plan_text_removals};
use crate::cli::terminal;
use crate::cli::user_folders::{expand_tilde, state_dir};
use crate::mcp::{ToolSet, Toolbox};
use palazzo_core::model::quote_for_shell;
use palazzo_keeper as keeper;

/// Set up Palazzo on this machine, or take that back
///
/// Shows one plan, and asks once. At a terminal, the plan has the first palace, an entry for each
/// MCP client that is found by its configuration, its folder or its program, and for Claude Code a
/// hook that begins each conversation with a summary, and the permission to call the tools without
/// asking each time; leave out what you do not want by its number. By its letter you add the line for
/// agents to your CLAUDE.md or AGENTS.md, and the memory that Claude Code has of the project in this
/// directory. Without a terminal, --yes writes the entries of the clients, and what other options
/// name.
///
/// Comments and layout of files stay. A file that it cannot read, and an entry of another server
/// with the same name, are left alone. In an entry and a hook of Palazzo it updates the program, and
/// the home and the options that you give. --remove takes back what was written, byte for byte;
/// palaces stay.
///
/// With --print, prints the configuration of one client, or the command that makes it use Palazzo,
/// and writes nothing.
#[derive(clap::Args)]
#[command(mut_args(only_with_print))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Args {
    /// Only these clients, separated by commas; can be repeated
    #[arg(long = "client", value_name = "NAME", value_delimiter = ',', value_parser = client_parser())]
    clients: Vec<Client>,

    #[command(flatten)]
    home: HomeArgs,

    /// The tool sets to offer, as for `palazzo serve`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Vec<ToolSet>,

    /// Create a palace with this name, unless it is there
    #[arg(long, value_name = "NAME")]
    palace: Option<String>,

    /// The template of the new palace, as for `palazzo init`
    #[arg(long, value_name = "DIR|URL|NAME", requires = "palace")]
    template: Option<String>,

    /// Begin each conversation in Claude Code with a summary of the palace
    #[arg(long)]
    hooks: bool,

    /// Put the memory that Claude Code has of the project in this directory into the palace
    #[arg(long)]
    memory: bool,

    /// Allow Claude Code to call the tools of the server without asking each time
    #[arg(long)]
    allow_tools: bool,

    /// Add a line for agents to this file, such as CLAUDE.md or AGENTS.md; can be repeated
    #[arg(long, value_name = "FILE")]
    instructions: Vec<PathBuf>,

    /// Everything that is offered at a terminal, without the memory
    #[arg(long)]
    all: bool,

    /// Write without asking
    #[arg(long)]
    yes: bool,

    /// Show the changes and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Take back what was written. The rest of each file is as it was before, with what others have
    /// added meanwhile
    #[arg(long, conflicts_with_all = ["home", "workspace", "tools", "palace", "template", "hooks", "memory", "allow_tools", "instructions", "all"])]
    remove: bool,

    /// Print the configuration of this client, and write nothing
    #[arg(long, value_name = "CLIENT", num_args = 0..=1, default_missing_value = "claude-code", conflicts_with_all = ["clients", "yes", "dry_run", "remove", "palace", "template", "hooks", "memory", "allow_tools", "instructions", "all"])]
    print: Option<Client>,

    #[command(flatten)]
    printing: PrintOptions,
}

/// Refuses the options for what is printed without `--print`.
fn only_with_print(argument: clap::Arg) -> clap::Arg {
    match argument.get_id().as_str() {
        "propose" | "http" | "link" => {
            argument.requires("print").conflicts_with_all(["clients", "yes", "dry_run", "remove"])
        }
        _ => argument,
    }
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
    let proposal = match args.remove {
        true => SetupProposal { plans: plan_all_removals(args, &folders)?, offers: Vec::new() },
        false => plan_set_up(args, &folders)?,
    };
    if proposal.plans.is_empty() {
        if args.remove && !args.dry_run {
            state_folder::remove_unused_state(&[]);
        }
        anstream::eprintln!("{}", nothing_found(args.remove));
        return Ok(ExitCode::from(u8::from(!args.remove)));
    }
    terminal::print_text(&proposal.to_text())?;
    let is_refused = proposal.plans.iter().any(|it| matches!(it.step, SetupStep::Refused(_)));
    if proposal.count() == 0 || args.dry_run {
        return Ok(ExitCode::from(u8::from(is_refused)));
    }
    let choice = match args.yes {
        true => Some(ChosenParts::default()),
        false => question::ask_what_to_write(proposal.count(), proposal.offers.len())?,
    };
    let Some(choice) = choice else { return Ok(ExitCode::from(1)) };
    let removed = proposal.plans.iter().flat_map(Plan::removed_records);
    let created = state_folder::created_state_folders(removed);
    let is_written = apply_plans(proposal.chosen(&choice))?;
    match args.remove {
        true => {
            state_folder::remove_unused_state(&created);
            report_what_stays(&args.home);
        }
        false => remember_set_up(args, is_written),
    }
    Ok(ExitCode::from(u8::from(is_refused || !is_written)))
}

fn remember_set_up(args: &Args, is_written: bool) {
    if !is_written {
        return;
    }
    home::remember_home(args.home.given());
    if args.yes && !args.names_parts() {
        anstream::eprintln!(
            "Only the entries of clients were wanted. `--all` adds a first palace, the hook, the \
             permission and the lines of instructions."
        );
    }
    let home = args.home.find();
    if let Some((used, source)) = home::other_home_in_use(&home) {
        let [used, home] = [used, home].map(|it| quote_for_shell(&it.display().to_string()));
        anstream::eprintln!(
            "Commands without `--home {home}` use {used}, {source}. Its palaces stay there: to have \
             them in the new home, move their folders."
        );
    }
    anstream::eprintln!(
        "Restart the clients that are running. `palazzo setup --remove` takes all of it back, \
         except palaces."
    );
}

impl Args {
    /// Returns whether parts besides the entries of clients are named.
    fn names_parts(&self) -> bool {
        let is_flagged = self.all || self.hooks || self.allow_tools || self.memory;
        is_flagged || self.palace.is_some() || !self.instructions.is_empty()
    }
}

/// The plan that the person is asked to confirm.
struct SetupProposal {
    /// The plans; each change among them is written unless the person leaves it out.
    plans: Vec<Plan>,
    /// The plans with letters; each is written only if the person adds it.
    offers: Vec<Plan>,
}

impl SetupProposal {
    /// Returns the number of plans that change something.
    fn count(&self) -> usize {
        self.plans.iter().filter(|it| it.is_change()).count()
    }

    /// Renders the plans, and the offers below them. Plans that change something have a number,
    /// offers a letter.
    fn to_text(&self) -> String {
        let mut number = 0;
        let plans = self.plans.iter().map(|it| {
            number += usize::from(it.is_change());
            let number = if it.is_change() { format!("{number}. ") } else { String::new() };
            number + &it.to_text()
        });
        let mut page = plans.collect::<Vec<_>>();
        if !self.offers.is_empty() && self.count() > 0 {
            let offers = self.offers.iter().enumerate();
            let offers = offers.map(|(index, it)| {
                format!("{}. {}", question::letter_of_offer(index), it.to_text())
            });
            let offers = offers.collect::<Vec<_>>().join("\n");
            page.push(format!("Written only if you add it by its letter:\n\n{offers}"));
        }
        page.join("\n")
    }

    /// Returns the plans that the person has chosen.
    fn chosen(self, choice: &ChosenParts) -> impl Iterator<Item = Plan> {
        let changes = self.plans.into_iter().filter(Plan::is_change).zip(1..);
        let changes = changes.filter(|(_, number)| !choice.left_out.contains(number));
        let offers = self.offers.into_iter().enumerate();
        let offers = offers.filter(|(index, _)| choice.added.contains(index));
        changes.map(|(plan, _)| plan).chain(offers.map(|(_, plan)| plan))
    }
}

/// How many palaces that stay are named.
const MAX_NAMED: usize = 4;

/// Names the palaces of the home, which a removal keeps, and the command that deletes them.
fn report_what_stays(home: &HomeArgs) {
    if let Some(state) = state_dir().filter(|it| it.exists()) {
        let state = quote_for_shell(&state.display().to_string());
        anstream::eprintln!(
            "What other commands keep for themselves stays too: `rm -r {state}` deletes it."
        );
    }
    let palaces = keeper::list_palaces(&home.find());
    let folders = palaces.iter().map(|it| quote_for_shell(&it.display().to_string()));
    let folders = folders.collect::<Vec<_>>().join(" ");
    match palaces.len() {
        0 => {}
        1 => anstream::eprintln!(
            "The palace stays. `rm -r {folders}` deletes it, but not its history in git."
        ),
        2..=MAX_NAMED => anstream::eprintln!(
            "The palaces stay. `rm -r {folders}` deletes them, but not their history in git."
        ),
        count => anstream::eprintln!("{count} palaces stay in {}.", home.find().display()),
    }
}

/// Plans the first palace, the entries of clients, and what is added beside them.
fn plan_set_up(args: &Args, folders: &UserFolders) -> Result<SetupProposal, Failure> {
    let offers_all = args.all || !args.yes && io::stdin().is_terminal();
    let entries = plan_insertions(args, folders)?;
    let mut plans = Vec::new();
    if args.palace.is_some() || offers_all && !entries.is_empty() {
        plans.extend(plan_palace(&args.home, args.palace.as_deref(), args.template.as_deref())?);
    }
    let clients: Vec<_> = Client::value_variants()
        .iter()
        .filter(|it| entries.iter().any(|entry| entry.title == it.title()))
        .collect();
    plans.extend(entries);
    let is_wanted = |flag: bool| flag || offers_all && clients.contains(&&Client::ClaudeCode);
    plans.extend(plan_hook(args, folders, is_wanted(args.hooks), &clients)?);
    if is_wanted(args.allow_tools) {
        let server = ServerCommand::new(&args.home, &args.tools, None)?;
        let permission = TextAddition::permission_for(server.name);
        plans.push(permission.plan_insertion(folders.claude_settings()));
    }
    plans.extend(plan_instructions(&args.instructions)?);
    let mut offers = Vec::new();
    // --all with a file means that file.
    if offers_all && (!args.all || args.instructions.is_empty()) {
        let files = clients.iter().filter_map(|it| it.instructions_file(folders));
        let mut lines = plan_instructions(&files.collect::<Vec<_>>())?;
        lines.retain(|it| plans.iter().all(|plan| !plan.has_file_of(it)));
        if args.all { &mut plans } else { &mut offers }.extend(lines);
    }
    // A memory is private: nobody gets it there without being asked for it alone.
    let is_memory_offered = !args.all && is_wanted(false);
    if args.memory {
        plans.extend(plan_memory(&args.home, !args.yes));
    } else if is_memory_offered {
        offers.extend(plan_memory(&args.home, true));
    }
    offers.retain(Plan::is_change);
    Ok(SetupProposal { plans, offers })
}

fn plan_instructions(files: &[PathBuf]) -> Result<Vec<Plan>, Failure> {
    let plan = |file: &PathBuf| {
        let file = std::path::absolute(expand_tilde(file))?;
        Ok(TextAddition::Instructions.plan_insertion(file))
    };
    files.iter().map(plan).collect()
}

/// Plans the hook of Claude Code: to add it, if it is wanted, or to update one that is there with the
/// entry of the client.
fn plan_hook(
    args: &Args,
    folders: &UserFolders,
    is_wanted: bool,
    clients: &[&Client],
) -> Result<Option<Plan>, Failure> {
    let file = folders.claude_settings();
    let is_there = clients.contains(&&Client::ClaudeCode) && has_start_hook(&file);
    if !is_wanted && !is_there {
        return Ok(None);
    }
    let plan = TextAddition::Hook(StartHook::new(&args.home)?).plan_insertion(file);
    Ok(Some(plan).filter(|it| is_wanted || !matches!(it.step, SetupStep::Nothing(_))))
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
    let records = match state_dir() {
        Some(folder) => keeper::client_setups(&folder)?,
        None => Vec::new(),
    };
    let clients = if args.clients.is_empty() { Client::value_variants() } else { &args.clients };
    let entries = clients.iter().flat_map(|it| plan_removals(*it, it.user_file(folders), &records));
    let mut plans = one_plan_for_each_file(entries);
    plans.extend(plan_text_removals(&records, &args.clients));
    // What was added last is removed first, because a file or a folder that several share was created
    // with the first of them.
    let added_at = |it: &Plan| {
        it.removed_records().filter_map(|it| records.iter().position(|a| a == it)).max()
    };
    plans.sort_by_key(|it| std::cmp::Reverse(added_at(it)));
    Ok(plans)
}

/// Removes the later plans for a file that has one: a client was named twice, or the files of two
/// clients are linked.
fn one_plan_for_each_file(plans: impl IntoIterator<Item = Plan>) -> Vec<Plan> {
    let mut files = BTreeSet::new();
    let is_first = |it: &Plan| match &it.step {
        SetupStep::Change(change) => files.insert(change.target.clone()),
        _ => true,
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

/// Takes the memory of Claude Code out of settings.
fn remove_memory(settings: &Path) -> Result<Option<&'static str>, String> {
    let lines = remove_memory_setup(settings).map_err(|it| it.to_string())?;
    lines.map_or(Ok(()), |it| terminal::print_page(&it.join("\n"))).map_err(|it| it.to_string())?;
    Ok(Some("written"))
}

/// Writes the changes. Returns false if one could not be written.
fn apply_plans(plans: impl Iterator<Item = Plan>) -> Result<bool, Failure> {
    let mut is_written = true;
    for plan in plans {
        let file = plan.file.display();
        let step = match plan.replanner {
            Some(replanner) => replanner().unwrap_or_else(SetupStep::Refused),
            None => plan.step,
        };
        let done = match step {
            SetupStep::Create(palace) => {
                palace.create().map(|()| None).map_err(|it| it.to_string())
            }
            SetupStep::AddMemory(memory) => {
                memory.install().map(|()| None).map_err(|it| it.to_string())
            }
            SetupStep::RemoveMemory(record) => remove_memory(&record.file),
            SetupStep::Change(change) => {
                let done = change.done();
                apply_change(*change).map(|()| Some(done))
            }
            SetupStep::Nothing(why) | SetupStep::Refused(why) => Err(why),
        };
        match done {
            Ok(Some(done)) => terminal::print_text(&format!("{done}: {file}"))?,
            Ok(None) => {}
            Err(why) => {
                terminal::eprint_failure(&format!("`{file}`: {why}"));
                is_written = false;
            }
        }
    }
    Ok(is_written)
}
