//! `palazzo aaak`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::aaak;
use crate::cli::{Outcome, terminal};
use crate::keeper::{self, Finding};
use crate::model::Severity;
use crate::tokens;

/// Check notes in AAAK shorthand, or show its grammar
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Check(CheckArgs),
    /// Show what a model is told of AAAK, and the grammar
    Spec,
}

/// Say what is wrong with a note, as `file:line:column`
///
/// Exits with 0 if no errors were found, with 1 if some were, with 2 if it could
/// not look.
#[derive(clap::Args)]
struct CheckArgs {
    /// The note; `-` is standard input
    #[arg(value_name = "FILE")]
    note: PathBuf,

    /// Count its tokens, as the public tokenizer `cl100k_base` does
    #[arg(long)]
    tokens: bool,

    /// Count the tokens of the same in plain words too, and say which is shorter
    #[arg(long, value_name = "FILE")]
    beside: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.command {
        Command::Check(it) => check_note(it),
        Command::Spec => {
            terminal::print_page(&format!("{}\n\n{}", aaak::GUIDE, aaak::GRAMMAR))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check_note(args: &CheckArgs) -> Outcome {
    let text = read_note(&args.note)?;
    let findings = aaak::check(&args.note.display().to_string(), &text);
    for finding in &findings {
        terminal::print_finding(&finding.file, &Finding::from_diagnostic(finding.clone(), &text))?;
    }
    if let Some(plain) = &args.beside {
        terminal::print_page(&compare_token_counts(
            tokens::count_tokens(&text),
            tokens::count_tokens(&read_note(plain)?),
        ))?;
    } else if args.tokens {
        terminal::print_page(&format!(
            "{} tokens ({})",
            tokens::count_tokens(&text),
            tokens::TOKENIZER
        ))?;
    }
    let errors = findings.iter().filter(|it| it.severity() == Severity::Error).count();
    Ok(ExitCode::from(u8::from(errors > 0)))
}

/// Says how long a note is beside the same in plain words.
fn compare_token_counts(note: usize, plain: usize) -> String {
    let saved =
        i128::try_from(plain).unwrap_or_default() - i128::try_from(note).unwrap_or_default();
    let verdict = match saved {
        0 => "as long as the plain words".to_owned(),
        1.. => format!("{saved} fewer than the plain words"),
        _ => format!("{} more than the plain words", -saved),
    };
    format!("{note} tokens, and {plain} in plain words: {verdict} ({})", tokens::TOKENIZER)
}

fn read_note(place: &Path) -> Result<String, crate::cli::Failure> {
    if place != Path::new("-") {
        return Ok(keeper::read_text_file(place)?);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}
