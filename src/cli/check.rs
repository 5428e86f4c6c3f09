//! `palazzo check`, and `--explain`, which explains finding codes.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::home::PalacesArgs;
use crate::cli::outcome::{Failure, Outcome, no_palace_message, terminal_user};
use crate::cli::terminal;
use crate::mcp::{ToolSet, Toolbox};
use palazzo_core::model::{Code, Rule, Severity, Tool, WatchMode, escape_unprintable_in_lines};
use palazzo_keeper::{self as keeper, CheckReport, Keeper};

/// Check the files of a palace, or of all palaces of a home
///
/// Prints each finding as `file:line:column: severity[code]: message`, then the
/// line with a caret and a hint. Exits with 0 if no errors were found, with 1 if
/// some were, with 2 if the check could not run.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    /// The output format: human-readable, JSON, GitHub workflow annotations, or SARIF 2.1.0
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// Show only findings of this severity and above; the last line counts all
    #[arg(long, value_enum, default_value_t)]
    level: Level,

    /// First fix what has only one possible fix: misspelt keys, missing quotes,
    /// file names, references to what was renamed by hand, what a text merge wrote twice, settled
    /// conflicts. Nothing is committed; git diff shows the changes
    #[arg(long)]
    fix: bool,

    /// Keep running, and print all findings again when a saved file changes them.
    /// Ctrl-C ends it
    #[arg(long)]
    watch: bool,

    /// Explain a finding code and what to do about it; without CODE, list all codes
    #[arg(long, value_name = "CODE")]
    #[expect(clippy::option_option, reason = "it may be given with and without a code")]
    explain: Option<Option<Code>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
    Github,
    Sarif,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Level {
    Error,
    Warning,
    #[default]
    Info,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warning => Self::Warning,
            Level::Info => Self::Info,
        }
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(code) = args.explain {
        print_explanation(code, args.format == Format::Json)?;
        return Ok(ExitCode::SUCCESS);
    }
    // The findings report what the palaces would warn of.
    let mut keeper = args.home.keeper()?.with_watch_mode(WatchMode::Off, |_| {});
    if args.fix {
        fix(&mut keeper)?;
        // They are opened again, and watched if asked for.
        keeper.close_all_palaces();
    }
    let tools = Toolbox::new(ToolSet::ALL.to_vec()).action_tools();
    if args.watch {
        keeper = keeper.with_watch_mode(WatchMode::Auto, |it| anstream::eprintln!("palazzo: {it}"));
    }
    let (sender, wakes) = mpsc::channel();
    keeper.set_wake_callback(Arc::new(move || sender.send(()).unwrap_or_default()));
    if args.watch {
        keeper.watch_home();
    }
    let checked = keeper::check_palaces(&mut keeper, &tools)?;
    if checked.palaces.is_empty() {
        return Err(Failure::Message(no_palace_message(&args.home.find()?)));
    }
    if args.watch {
        return watch_and_report(args, &mut keeper, &tools, &wakes);
    }
    print_check_report(args, &checked)?;
    Ok(ExitCode::from(u8::from(checked.count_with_severity(Severity::Error) > 0)))
}

/// Prints the findings, and again whenever they change, until the process is stopped.
/// `wakes` receives a message when files may have changed.
fn watch_and_report(
    args: &Args,
    keeper: &mut Keeper,
    tools: &[Tool],
    wakes: &mpsc::Receiver<()>,
) -> Outcome {
    let mut last = None;
    loop {
        // A message that arrives after this line is handled in the next round.
        wakes.try_iter().for_each(drop);
        let recheck_after = keeper.catch_up();
        let checked = keeper::check_palaces(keeper, tools)?;
        let output = (checked.json(Path::new("")), checked.summary());
        if last.as_ref() != Some(&output) {
            print_check_report(args, &checked)?;
            last = Some(output);
        }
        let _ = match recheck_after {
            Some(delay) => wakes.recv_timeout(delay),
            None => wakes.recv().map_err(mpsc::RecvTimeoutError::from),
        };
    }
}

fn print_check_report(args: &Args, checked: &CheckReport) -> io::Result<()> {
    checked.warnings.iter().for_each(|it| terminal::eprint_failure(it));
    let here = std::env::current_dir().unwrap_or_default();
    let shown = checked.shown_from(args.level.into());
    match args.format {
        Format::Human => print_findings(&shown, &here)?,
        Format::Json => terminal::print_text(&shown.json(&here))?,
        Format::Github => terminal::print_text(&shown.github_annotations(&here))?,
        Format::Sarif => terminal::print_text(&shown.sarif(&here))?,
    }
    anstream::eprintln!("{}", checked.summary());
    Ok(())
}

/// Fixes the files that have one possible fix, and lists the fixes on the error stream.
fn fix(keeper: &mut Keeper) -> Result<(), Failure> {
    let (here, user) = (std::env::current_dir().unwrap_or_default(), terminal_user("check"));
    let mut reports = keeper::fix_files(keeper, &user)?;
    reports.extend(keeper::fix_renames_and_copies(keeper, &user)?);
    let settled = keeper::fix_settled_conflicts(keeper, &user, &reports)?;
    reports.extend(settled);
    for fixed in reports {
        for line in fixed.report_lines(&here) {
            anstream::eprintln!("{}", escape_unprintable_in_lines(&line));
        }
    }
    Ok(())
}

fn print_findings(checked: &CheckReport, here: &Path) -> io::Result<()> {
    for palace in &checked.palaces {
        for finding in &palace.findings {
            terminal::print_finding(&palace.finding_path(finding, here), finding)?;
        }
    }
    Ok(())
}

/// Prints the explanation of one code, or the table of all codes.
fn print_explanation(code: Option<Code>, is_json: bool) -> io::Result<()> {
    match code.map(Code::rule) {
        rule if is_json => {
            let rules = rule.map_or(Rule::ALL, std::slice::from_ref);
            let codes: Vec<_> = rules.iter().map(rule_json).collect();
            terminal::print_text(&format!("{:#}\n", json!({ "codes": codes })))
        }
        Some(Rule { name, severity, meaning, advice, .. }) => {
            terminal::print_page(&format!("── {name} ({severity}) ──\n{meaning}.\n\n{advice}"))
        }
        None => terminal::print_page(&code_table()),
    }
}

fn rule_json(Rule { name, severity, meaning, advice, .. }: &Rule) -> Value {
    let severity = severity.to_string();
    json!({ "code": name, "severity": severity, "meaning": meaning, "advice": advice })
}

fn code_table() -> String {
    let line =
        |it: &Rule| format!("{:<17} {:<8} {}\n", it.name, it.severity.to_string(), it.meaning);
    let lines: String = Rule::ALL.iter().map(line).collect();
    format!("{lines}\n`palazzo check --explain CODE` explains one code in more detail.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_line_of_at_most_100_columns_for_each_code() {
        let table = code_table();
        let is_listed =
            |it: &Rule| table.lines().any(|line| line.starts_with(&format!("{} ", it.name)));
        assert_eq!(Rule::ALL.iter().find(|it| !is_listed(it)).map(|it| it.name), None);
        assert_eq!(table.lines().find(|it| it.chars().count() > 100), None);
        assert_eq!(table.lines().count(), Rule::ALL.len() + 2);
    }
}
