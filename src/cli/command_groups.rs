//! The groups of commands in `palazzo --help`. A command without a group is hidden there.

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// The groups with their commands, in the order in which the help lists them.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Use",
        &["setup", "init", "walk", "show", "map", "view", "search", "import", "export", "serve"],
    ),
    ("Review", &["log", "diff", "blame", "proposals", "undo", "restore"]),
    ("Share", &["sync", "resolve", "trust", "git-setup"]),
    ("Keep in order", &["check", "fmt", "mv", "rm", "locate", "doctor"]),
];

/// The commands that programs call: clients and their hooks, editors, git, shells and packages.
const CALLED_BY_PROGRAMS: [&str; 10] = [
    "wake-up",
    "hook",
    "lsp",
    "git-diff",
    "git-textconv",
    "merge-file",
    "schema",
    "aaak",
    "completions",
    "man",
];

/// The older names of commands, each with the command that has taken it in.
const OLDER_NAMES: [(&str, &str); 5] = [
    ("templates", "init"),
    ("embed", "search"),
    ("conflicts", "resolve"),
    ("mine", "import"),
    ("client-config", "setup"),
];

/// Hides the commands without a group, and sets the help of the program, in which the others are
/// grouped.
pub(super) fn with_command_groups(program: Command) -> Command {
    let mut program =
        program.mut_subcommands(|it| if is_grouped(&it) { it } else { it.hide(true) });
    let list = grouped_commands(&mut program);
    let options = heading(&program, "Options");
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{options}\n{{options}}\
         {{after-help}}"
    ))
}

/// Shows the commands that programs call, for manual pages; older names stay hidden.
pub(super) fn unhide_program_commands(program: Command) -> Command {
    program.mut_subcommands(|it| {
        let is_older_name = present_name(it.get_name()).is_some();
        it.hide(is_older_name)
    })
}

/// Returns the command that has taken in one with an older name.
fn present_name(name: &str) -> Option<&'static str> {
    OLDER_NAMES.iter().find(|it| it.0 == name).map(|it| it.1)
}

/// Suggests present commands in the error about an unknown one, and no older names.
pub(super) fn suggest_present_commands(mut error: clap::Error) -> clap::Error {
    let suggested = error.get(ContextKind::SuggestedSubcommand).cloned();
    let Some(ContextValue::Strings(names)) = suggested else { return error };
    let mut present: Vec<String> = Vec::new();
    for name in names {
        let name = present_name(&name).map_or(name, str::to_owned);
        if !present.contains(&name) {
            present.push(name);
        }
    }
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(present));
    error
}

fn is_grouped(command: &Command) -> bool {
    GROUPS.iter().any(|(_, names)| names.contains(&command.get_name()))
}

/// Renders the groups, each with its heading, and the names of what programs call.
fn grouped_commands(program: &mut Command) -> String {
    let list = program.clone().help_template("{subcommands}").render_help().ansi().to_string();
    let entries = split_list(&list);
    let mut page = String::new();
    for (title, names) in GROUPS {
        page += &heading(program, title);
        page.push('\n');
        let entries_of = |name: &&str| entries.iter().find(|it| it.0 == *name);
        page.extend(names.iter().filter_map(entries_of).map(|it| it.1.as_str()));
        page.push('\n');
    }
    let is_built = |name: &&str| program.find_subcommand(name).is_some();
    let called: Vec<_> = CALLED_BY_PROGRAMS.into_iter().filter(is_built).collect();
    page + &heading(program, "Called by programs") + &format!(" {}\n\n", called.join(", "))
}

fn heading(program: &Command, title: &str) -> String {
    let style = program.get_styles().get_header();
    format!("{style}{title}:{style:#}")
}

/// Splits a list of commands into the entries, which may have several lines; returns each with the
/// name of its command.
fn split_list(list: &str) -> Vec<(String, String)> {
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in list.lines().filter(|it| !it.trim().is_empty()) {
        let plain = anstream::adapter::strip_str(line).to_string();
        let name = plain.strip_prefix("  ").and_then(|it| it.split(' ').next());
        match (name.filter(|it| !it.is_empty()), entries.last_mut()) {
            (None, Some(entry)) => entry.1 += &format!("{line}\n"),
            (name, _) => entries.push((name.unwrap_or_default().to_owned(), format!("{line}\n"))),
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn every_command_is_in_one_group_or_hidden_for_one_reason() {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let grouped = GROUPS.iter().flat_map(|it| it.1);
        let older_names = OLDER_NAMES.iter().map(|it| &it.0);
        for name in grouped.chain(&CALLED_BY_PROGRAMS).chain(older_names) {
            *places.entry(name).or_default() += 1;
        }
        let program = crate::cli::program_definition();
        for command in program.get_subcommands() {
            let name = command.get_name();
            assert_eq!(places.get(name), Some(&1), "{name}");
            assert_eq!(command.is_hide_set(), !is_grouped(command), "{name}");
        }
        let is_missing = |name: &&&str| program.find_subcommand(name).is_none();
        let missing: Vec<_> = places.keys().filter(is_missing).collect();
        assert!(missing.is_empty(), "no command has these names: {missing:?}");
    }

    #[test]
    fn a_misspelt_older_name_suggests_the_present_command() {
        let suggestion = |word: &str| {
            let program = crate::cli::program_definition();
            let error = program.try_get_matches_from(["palazzo", word]).unwrap_err();
            let text = suggest_present_commands(error).to_string();
            let tip = text.lines().find(|it| it.contains("tip: "));
            tip.unwrap_or_default().trim().to_owned()
        };
        assert_eq!(suggestion("conflict"), "tip: a similar subcommand exists: 'resolve'");
        assert!(suggestion("serach").ends_with("'search'"));
    }

    #[test]
    fn an_entry_keeps_its_further_lines() {
        let entries =
            split_list("  \u{1b}[1mmap\u{1b}[0m   Print\n         a map\n  walk  Explore\n");
        let names: Vec<_> = entries.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(names, ["map", "walk"]);
        assert_eq!(entries[0].1, "  \u{1b}[1mmap\u{1b}[0m   Print\n         a map\n");
    }
}
