//! `palazzo check`.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, mpsc};

use clap::ValueEnum;

use crate::cli::home::{self, WorkspaceArgs};
use crate::cli::{Failure, Outcome, explain, terminal, terminal_user};
use crate::keeper::{self, CheckReport, Keeper};
use crate::mcp::{ToolSet, Toolbox};
use crate::model::{Code, Severity, Tool, WatchMode, strip_unprintable};

/// Check the files of a palace, or of all palaces of a home
///
/// Prints what is wrong as `file:line:column: severity[code]: message`, the
/// line with a caret, and what to do. Exits with 0 if no errors were found, with
/// 1 if some were, with 2 if it could not look.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The home, or one palace
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// How to say it: to people, as JSON, to a workflow of GitHub, as SARIF 2.1.0
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    /// First mend what can only be meant one way: misspelt keys, missing quotes,
    /// names of files. Nothing is committed; git diff shows it
    #[arg(long)]
    fix: bool,

    /// Go on, and tell it all again when a file is saved and something else is to
    /// be said. Ctrl-C ends it
    #[arg(long)]
    watch: bool,

    /// Say what a code stands for and what to do about it; without CODE, list all
    #[arg(long, value_name = "CODE")]
    #[expect(clippy::option_option, reason = "it may be given with and without a code")]
    explain: Option<Option<Code>>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
    Github,
    Sarif,
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(code) = args.explain {
        explain::print_explanation(code)?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = home::find_home(args.dir.as_deref());
    let mut keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs { workspace: None });
    if args.fix {
        fix(&keeper)?;
    }
    let tools = Toolbox::new(ToolSet::ALL.to_vec()).action_tools();
    if args.watch {
        keeper = keeper.with_watching(WatchMode::Auto, |it| anstream::eprintln!("palazzo: {it}"));
    }
    let (tell, told) = mpsc::channel();
    keeper.set_wake_callback(Arc::new(move || tell.send(()).unwrap_or_default()));
    if args.watch {
        keeper.watch_home();
    }
    let inspection = keeper::check_palaces(&mut keeper, &tools)?;
    if inspection.palaces.is_empty() {
        return Err(Failure::Message(format!("there is no palace in {}", home.display())));
    }
    if args.watch {
        return watch_and_report(args.format, &mut keeper, &tools, &told);
    }
    report(args.format, &inspection)?;
    Ok(ExitCode::from(u8::from(inspection.count_with_severity(Severity::Error) > 0)))
}

/// Reports, and again whenever something else is to be said, until it is stopped;
/// of files that may have changed it is `told`.
fn watch_and_report(
    format: Format,
    keeper: &mut Keeper,
    tools: &[Tool],
    told: &mpsc::Receiver<()>,
) -> Outcome {
    let mut last = None;
    loop {
        // What comes from now on is looked at in the next round.
        told.try_iter().for_each(drop);
        let doubt = keeper.catch_up();
        let inspection = keeper::check_palaces(keeper, tools)?;
        let said = (inspection.json(Path::new("")), inspection.summary());
        if last.as_ref() != Some(&said) {
            report(format, &inspection)?;
            last = Some(said);
        }
        let _ = match doubt {
            Some(doubt) => told.recv_timeout(doubt),
            None => told.recv().map_err(mpsc::RecvTimeoutError::from),
        };
    }
}

fn report(format: Format, inspection: &CheckReport) -> io::Result<()> {
    let here = std::env::current_dir().unwrap_or_default();
    match format {
        Format::Human => print_findings(inspection, &here)?,
        Format::Json => terminal::print_page(&inspection.json(&here))?,
        Format::Github => terminal::print_page(&inspection.github_annotations(&here))?,
        Format::Sarif => terminal::print_page(&inspection.sarif(&here))?,
    }
    anstream::eprintln!("{}", inspection.summary());
    Ok(())
}

/// Mends what can be, and says so beside the report.
fn fix(keeper: &Keeper) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    for mending in keeper::fix_files(keeper, &terminal_user("check"))? {
        for told in mending.report_lines(&here) {
            anstream::eprintln!("{}", strip_unprintable(&told));
        }
    }
    Ok(())
}

fn print_findings(inspection: &CheckReport, here: &Path) -> io::Result<()> {
    for palace in &inspection.palaces {
        for finding in &palace.findings {
            terminal::print_finding(&palace.finding_path(finding, here), finding)?;
        }
    }
    Ok(())
}
