//! `palazzo import PATH…`, and its older name `palazzo mine`.

mod source_files;

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cli::home::HomeArgs;
use crate::cli::import_args::ImportArgs;
use crate::cli::mine::source_files::{
    LeftOut, MineInput, MineInputs, PALACE_FILE, file_name, find_mine_inputs,
};
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::redacted_secrets::{
    print_redacted_secrets, redacted_secrets_json, redacted_secrets_suffix,
};
use crate::cli::signal;
use crate::cli::terminal::{self, ProgressBar};
use palazzo_core::model::{escape_unprintable_in_lines, path_text};
use palazzo_keeper::{
    self as keeper, ExtractionResult, ImportOptions, MineSummary, MinedCounts, MinedFile,
    SourceKind, is_palace_file,
};

/// The fault of a path without files to mine.
const NOTHING_TO_MINE: &str = "there is nothing to mine here: expected documents (.md, .markdown, \
    .txt), transcripts of Claude Code or Codex (.jsonl) or exports of Claude.ai or ChatGPT \
    (conversations.json)";

/// File documents and conversations in drawers, word for word: `palazzo import PATH…`
#[derive(clap::Args)]
pub(super) struct Args {
    /// A file, or a folder with everything in it that is not left out
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The wing to file in; else the project of a conversation, the service it was
    /// held with, or the mined folder (the one around it, if that is `docs` or hidden)
    #[arg(long, value_name = "NAME")]
    wing: Option<String>,

    /// The room to file in
    #[arg(long, value_name = "NAME")]
    room: Option<String>,

    /// Give texts that are filed already the dates and titles that are found now
    #[arg(long)]
    update: bool,

    #[command(flatten)]
    import: ImportArgs,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

/// The messages and counts of reading input files: all results but the texts.
#[derive(Default)]
struct Unfiled {
    /// Messages about what could not be parsed.
    faults: Vec<String>,
    /// Messages about what is left out on purpose.
    notes: Vec<String>,
    /// How many parts of messages have no text, by kind.
    parts: BTreeMap<String, usize>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut inputs = MineInputs::default();
    for path in &args.paths {
        let before = inputs.files.len() + inputs.faults.len();
        find_mine_inputs(path, &mut inputs)?;
        if inputs.files.len() + inputs.faults.len() == before {
            inputs.faults.push(format!("{}: {NOTHING_TO_MINE}", path_text(path)));
        }
    }
    inputs.files.retain(|it| !belongs_to_palace(&it.path));
    let mut keeper = args.home.keeper();
    signal::finish_writes_on_signal(&mut keeper);
    let bar = ProgressBar::default();
    let caller = terminal_user("mine").with_progress(move |done, all| bar.show(done, all));
    let faults = std::mem::take(&mut inputs.faults);
    let mut unfiled = Unfiled { faults, ..Unfiled::default() };
    let files: Vec<_> = inputs.files.iter().map(|it| read_file(args, it, &mut unfiled)).collect();
    for message in unfiled.faults.iter().chain(&unfiled.notes) {
        anstream::eprintln!("{}", escape_unprintable_in_lines(message));
    }
    let options = ImportOptions { update_filed: args.update, ..args.import.options() };
    let summary = keeper::file_mined_texts(&mut keeper, &caller, &files, options)?;
    for (name, file) in &summary.superseded {
        let what = "was filed before and has changed; its older text is kept";
        anstream::eprintln!("{}", escape_unprintable_in_lines(&format!("{name} {what}: {file}")));
    }
    let is_dry_run = args.import.is_dry_run();
    if args.format.is_json() {
        let summary = summary_json(&summary, is_dry_run, &inputs.left_out, &unfiled);
        terminal::print_text(&format!("{summary:#}\n"))?;
    } else {
        print_redacted_secrets(&summary.redacted, is_dry_run);
        let left_out = left_out_parts_summary(&unfiled.parts) + &left_out_summary(&inputs.left_out);
        terminal::print_page(&(mining_summary(&summary, is_dry_run) + &left_out))?;
    }
    Ok(ExitCode::from(u8::from(!unfiled.faults.is_empty())))
}

fn summary_json(
    summary: &MineSummary,
    is_dry_run: bool,
    left_out: &[(PathBuf, LeftOut)],
    unfiled: &Unfiled,
) -> Value {
    let superseded = summary.superseded.iter();
    let superseded: Vec<_> =
        superseded.map(|(name, file)| json!({ "source": name, "file": file })).collect();
    let counts = |it: &MinedCounts| json!({ "source": it.name, "new": it.new, "extended": it.extended, "updated": it.updated, "already_filed": it.already_filed });
    let left_out: Map<String, Value> = LeftOut::ALL
        .into_iter()
        .map(|why| {
            let paths = left_out.iter().filter(|(_, it)| *it == why);
            let paths: Value = paths.map(|(path, _)| path.display().to_string()).collect();
            (why.key().to_owned(), paths)
        })
        .collect();
    let MinedCounts { new, extended, updated, already_filed, .. } = summary.totals();
    json!({
        "dry_run": is_dry_run,
        "sources": summary.sources.len(),
        "new": new,
        "extended": extended,
        "updated": updated,
        "already_filed": already_filed,
        "files": summary.sources.iter().map(counts).collect::<Vec<_>>(),
        "left_out": left_out,
        "left_out_parts": unfiled.parts,
        "superseded": superseded,
        "redacted": redacted_secrets_json(&summary.redacted),
        "faults": unfiled.faults,
        "notes": unfiled.notes,
    })
}

/// Returns the counts; before them, in a dry run, the files with something to file.
fn mining_summary(summary: &MineSummary, dry: bool) -> String {
    let verb = if dry { "Would file" } else { "Filed" };
    let MinedCounts { new, extended, updated, already_filed, .. } = summary.totals();
    let updated = if updated > 0 { format!(", {updated} updated") } else { String::new() };
    let changed = summary.sources.iter().filter(|it| dry && it.new + it.extended + it.updated > 0);
    let lines = changed.map(|it| match (it.new, it.extended) {
        (new, 0) if it.updated == 0 => format!("{}: {new} new\n", it.name),
        (new, extended) => {
            format!("{}: {new} new, {extended} extended, {} updated\n", it.name, it.updated)
        }
    });
    format!(
        "{}{verb} texts of {} sources: {new} new, {extended} extended{updated}; {already_filed} were filed \
         already{}.",
        lines.collect::<String>(),
        summary.sources.len(),
        redacted_secrets_suffix(&summary.redacted)
    )
}

/// Returns how many parts of messages have no text, by kind; nothing if there are none.
fn left_out_parts_summary(parts: &BTreeMap<String, usize>) -> String {
    let counts: Vec<_> = parts.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    match counts.is_empty() {
        true => String::new(),
        false => format!("\nLeft out of messages, without text: {}.", counts.join(", ")),
    }
}

/// Returns how many files and folders are left out, by reason; nothing if there are none.
fn left_out_summary(left_out: &[(PathBuf, LeftOut)]) -> String {
    const MAX_NAMED: usize = 3;
    let reasons = LeftOut::ALL.into_iter().filter_map(|why| {
        let paths = left_out.iter().filter(|(_, it)| *it == why);
        let paths: Vec<_> = paths.map(|(path, _)| path_text(path)).collect();
        let more = if paths.len() > MAX_NAMED { ", …" } else { "" };
        let named = paths.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let reason = format!("{} {} ({named}{more})", paths.len(), why.description());
        (!paths.is_empty()).then_some(reason)
    });
    let reasons: Vec<_> = reasons.collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(
            "\nLeft out: {}. To take a file or a folder all the same, give its path.",
            reasons.join("; ")
        ),
    }
}

/// Reads a file and extracts its texts; adds what else is in it to `unfiled`.
fn read_file(args: &Args, input: &MineInput, unfiled: &mut Unfiled) -> MinedFile {
    let extracted = extract_texts(input);
    let ExtractionResult { mut texts, faults, notes, left_out } = extracted
        .unwrap_or_else(|why| ExtractionResult { faults: vec![why], ..Default::default() });
    for (kind, count) in left_out {
        *unfiled.parts.entry(kind).or_default() += count;
    }
    for it in &mut texts {
        it.wing = args.wing.clone().or(it.wing.take());
        it.room = args.room.clone().unwrap_or_else(|| std::mem::take(&mut it.room));
    }
    for (all, new) in [(&mut unfiled.faults, faults), (&mut unfiled.notes, notes)] {
        let new = keeper::redact_faults_and_notes(new, args.import.options()).into_iter();
        all.extend(new.map(|it| format!("{}: {it}", path_text(&input.path))));
    }
    MinedFile { source: input.source.clone(), texts }
}

/// Extracts the texts to file from a file; the error says why there are none.
fn extract_texts(source: &MineInput) -> Result<ExtractionResult, String> {
    let unread = |err: std::io::Error| format!("it cannot be read: {err}");
    // Opening a pipe would block until another process writes to it.
    if !std::fs::metadata(&source.path).map_err(unread)?.is_file() {
        return Err("it is not an ordinary file".to_owned());
    }
    let (text, warning) =
        decode_text(std::fs::read(&source.path).map_err(unread)?, source.source.kind)?;
    let name = file_name(&source.path);
    let extracted = source.source.kind.extract_texts_of_file(&text, &name, &source.room);
    let mut extracted = extracted.ok_or_else(|| {
        let expected = match source.source.kind {
            SourceKind::Export => "an export of Claude.ai or ChatGPT",
            _ => "a transcript of Claude Code or Codex",
        };
        format!("it contains no conversation in a known format: expected {expected}")
    })?;
    extracted.faults.extend(warning);
    Ok(extracted)
}

/// Decodes the bytes of a file as UTF-8. In a transcript, which another program may be
/// writing, invalid bytes are replaced, and a warning is returned with the text.
fn decode_text(bytes: Vec<u8>, kind: SourceKind) -> Result<(String, Option<String>), String> {
    let err = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, None)),
        Err(_) if kind != SourceKind::Transcript => return Err("it is not UTF-8 text".to_owned()),
        Err(err) => err,
    };
    let (good, bad) = err.as_bytes().split_at(err.utf8_error().valid_up_to());
    let whole = String::from_utf8_lossy(good);
    if !bad.contains(&b'\n') {
        return Ok((whole.into_owned(), None));
    }
    let line = whole.matches('\n').count() + 1;
    let warning = format!("line {line} is not UTF-8: the invalid bytes become \u{fffd}");
    Ok((String::from_utf8_lossy(err.as_bytes()).into_owned(), Some(warning)))
}

/// Returns true if a palace itself uses the file, so that its text is filed already.
fn belongs_to_palace(file: &Path) -> bool {
    let palace = file.ancestors().skip(1).find(|it| it.join(PALACE_FILE).is_file());
    let path = palace.and_then(|it| file.strip_prefix(it).ok()?.to_str());
    path.is_some_and(|it| is_palace_file(&it.replace(MAIN_SEPARATOR, "/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_bytes_are_replaced_only_in_a_transcript() {
        let bytes = b"{}\n\xff{}\n".to_vec();
        assert_eq!(
            decode_text(bytes.clone(), SourceKind::Document),
            Err("it is not UTF-8 text".to_owned())
        );
        let warning = "line 2 is not UTF-8: the invalid bytes become \u{fffd}".to_owned();
        assert_eq!(
            decode_text(bytes, SourceKind::Transcript),
            Ok(("{}\n\u{fffd}{}\n".to_owned(), Some(warning)))
        );
    }

    #[test]
    fn an_unfinished_last_line_of_a_transcript_is_left_out_without_a_warning() {
        let half = "{}\n{\"a\": \"gr\u{f6}".as_bytes();
        let (text, warning) =
            decode_text(half[..half.len() - 1].to_vec(), SourceKind::Transcript).unwrap();
        assert_eq!((text.as_str(), warning), ("{}\n{\"a\": \"gr", None));
    }
}
