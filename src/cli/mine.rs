//! `palazzo mine`.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::ExitCode;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::home::HomeArgs;
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::progress_bar::ProgressBar;
use crate::cli::redacted_secrets::{
    ImportArgs, print_redacted_secrets, redacted_count, redacted_secrets_json,
};
use crate::cli::signal;
use crate::cli::terminal;
use crate::keeper::{
    self, Caller, ExtractionResult, Keeper, MineSummary, SourceFile, SourceKind, is_palace_file,
};
use crate::model::{escape_unprintable_in_lines, path_text};

/// The room of documents at the top of the mined folder.
const DEFAULT_ROOM: &str = "notes";

/// The file that makes a folder a palace; files in it are filed already.
const PALACE_FILE: &str = "palace.toml";

/// The start of the file names of exports; a number may follow.
const EXPORT_PREFIX: &str = "conversations";

/// File documents and conversations in drawers, word for word
///
/// Reads Markdown and text (the room is the folder, `notes` at the top; long documents
/// are split at their headings), transcripts of Claude Code and Codex (`.jsonl`), and
/// exports of Claude.ai and ChatGPT (`conversations.json`). Each exchange becomes one
/// drawer, each file one commit. From a conversation, messages and the text of
/// attachments in Claude.ai are filed; thinking, tool calls, tool results and pictures
/// are not. A document has the `date` of its front matter, else the day in its name
/// (`2026-03-01`), else the time of its last change.
///
/// Secrets are redacted before anything is written: `[redacted: KIND]` replaces private keys,
/// tokens of services, and the values of variables named like `API_KEY` or `DB_PASSWORD`.
/// They are counted, and listed with their places. `--keep-secrets` files them as they are.
///
/// Texts that are filed already are skipped, so it is safe to mine again. New text at
/// the end of a conversation or document is added to its drawer. A document that
/// changed in another place is filed again; its older text is kept and listed.
///
/// Exits with 1 if a file, a line of a transcript or a conversation of an export could
/// not be parsed. It is listed, and the rest is filed.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A file, or a folder with everything in it except hidden files and palaces
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The wing to file in; else the project of a conversation, the service it was
    /// held with, or the mined folder
    #[arg(long, value_name = "NAME")]
    wing: Option<String>,

    /// The room to file in
    #[arg(long, value_name = "NAME")]
    room: Option<String>,

    #[command(flatten)]
    import: ImportArgs,

    #[command(flatten)]
    format: FormatArgs,

    #[command(flatten)]
    home: HomeArgs,
}

/// A file to mine, its path, and the room to file it in.
struct MineInput {
    path: PathBuf,
    room: String,
    source: SourceFile,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut sources = Vec::new();
    for path in &args.paths {
        find_mine_inputs(path, &mut sources)?;
    }
    sources.retain(|it| !belongs_to_palace(&it.path));
    let mut keeper = args.home.keeper();
    signal::finish_writes_on_signal(&mut keeper);
    let (caller, bar) = (terminal_user("mine"), ProgressBar::default());
    let (mut summary, mut faults) = (MineSummary::default(), Vec::new());
    for (done, source) in sources.iter().enumerate() {
        bar.show(done, sources.len());
        for why in mine_file(&mut keeper, &caller, args, source, &mut summary)? {
            let message = format!("{}: {why}", path_text(&source.path));
            anstream::eprintln!("{}", escape_unprintable_in_lines(&message));
            faults.push(message);
        }
    }
    bar.show(sources.len(), sources.len());
    for (name, file) in &summary.superseded {
        let what = "was filed before and has changed; its older text is kept";
        anstream::eprintln!("{}", escape_unprintable_in_lines(&format!("{name} {what}: {file}")));
    }
    let is_dry_run = args.import.is_dry_run();
    if args.format.is_json() {
        let summary = summary_json(&summary, is_dry_run, &faults);
        terminal::print_text(&format!("{summary:#}\n"))?;
    } else {
        print_redacted_secrets(&summary.redacted, is_dry_run);
        terminal::print_page(&mining_summary(&summary, is_dry_run))?;
    }
    Ok(ExitCode::from(u8::from(!faults.is_empty())))
}

fn summary_json(summary: &MineSummary, is_dry_run: bool, faults: &[String]) -> Value {
    let superseded = summary.superseded.iter();
    let superseded: Vec<_> =
        superseded.map(|(name, file)| json!({ "source": name, "file": file })).collect();
    json!({
        "dry_run": is_dry_run,
        "sources": summary.sources,
        "new": summary.new,
        "extended": summary.extended,
        "already_filed": summary.already_filed,
        "superseded": superseded,
        "redacted": redacted_secrets_json(&summary.redacted),
        "faults": faults,
    })
}

fn mining_summary(
    MineSummary { sources, new, extended, already_filed, redacted, .. }: &MineSummary,
    dry: bool,
) -> String {
    let verb = if dry { "Would file" } else { "Filed" };
    format!(
        "{verb} texts of {sources} sources: {new} new, {extended} extended; {already_filed} were \
         filed already{}.",
        redacted_count(redacted)
    )
}

/// Mines one file, and returns messages about the parts that could not be parsed.
fn mine_file(
    keeper: &mut Keeper,
    caller: &Caller,
    args: &Args,
    source: &MineInput,
    summary: &mut MineSummary,
) -> Result<Vec<String>, Failure> {
    let ExtractionResult { mut texts, faults } = match extract_texts(source) {
        Ok(extracted) => extracted,
        Err(why) => return Ok(vec![why]),
    };
    for it in &mut texts {
        it.wing = args.wing.clone().or(it.wing.take());
        it.room = args.room.clone().unwrap_or_else(|| std::mem::take(&mut it.room));
    }
    let options = args.import.options();
    keeper::file_mined_texts(keeper, caller, &source.source, &texts, summary, options)?;
    Ok(keeper::redact_messages(faults, options))
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
    let mut extracted =
        extracted.ok_or_else(|| "it contains no conversation in a known format".to_owned())?;
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

/// Finds the files to mine at a path, sorted by name.
fn find_mine_inputs(path: &Path, found: &mut Vec<MineInput>) -> Result<(), Failure> {
    let path = dunce::canonicalize(path).map_err(|err| read_error(path, &err))?;
    if path.is_dir() {
        let wing = file_name(&path);
        return find_mine_inputs_in_folder(&path, &path, &wing, found);
    }
    let name = file_name(&path);
    let wing = path.parent().map(file_name).unwrap_or_default();
    let kind = SourceKind::from_file_name(&name).ok_or_else(|| {
        let known = "only files ending in .md, .markdown, .txt, .jsonl or .json can be mined";
        Failure::Message(format!("{}: {known}", path_text(&path)))
    })?;
    let modified = modified_time(&path);
    found.push(MineInput {
        path,
        room: DEFAULT_ROOM.to_owned(),
        source: SourceFile { name, wing, kind, modified },
    });
    Ok(())
}

fn find_mine_inputs_in_folder(
    root: &Path,
    folder: &Path,
    wing: &str,
    found: &mut Vec<MineInput>,
) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|err| read_error(folder, &err))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, file_type) =
            (entry.path(), entry.file_type().map_err(|err| read_error(folder, &err))?);
        if file_name(&path).starts_with('.') || path.join(PALACE_FILE).is_file() {
            continue;
        }
        if file_type.is_dir() {
            find_mine_inputs_in_folder(root, &path, wing, found)?;
        }
        let kind = SourceKind::from_file_name(&file_name(&path));
        let Some(kind) = kind.filter(|_| file_type.is_file()) else {
            continue;
        };
        // Most JSON files in folders are not exports of conversations.
        if kind == SourceKind::Export && !file_name(&path).starts_with(EXPORT_PREFIX) {
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let room = if folder == root { DEFAULT_ROOM.to_owned() } else { file_name(folder) };
        let modified = modified_time(&path);
        found.push(MineInput {
            path,
            room,
            source: SourceFile { name, wing: wing.to_owned(), kind, modified },
        });
    }
    Ok(())
}

fn modified_time(path: &Path) -> Option<DateTime<Utc>> {
    Some(std::fs::metadata(path).ok()?.modified().ok()?.into())
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn read_error(path: &Path, err: &std::io::Error) -> Failure {
    Failure::Message(format!("cannot read {}: {err}", path_text(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates files; returns the names and rooms of those that are mined at `path`.
    fn inputs_at(files: &[&str], path: &str) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let file = folder.path().join("notes").join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "Words.\n").unwrap();
        }
        let mut found = Vec::new();
        find_mine_inputs(&folder.path().join(path), &mut found).unwrap();
        assert!(found.iter().all(|it| it.source.modified.is_some()));
        found.into_iter().map(|it| (it.source.name.replace('\\', "/"), it.room)).collect()
    }

    #[test]
    fn the_room_of_a_document_is_its_folder() {
        let found = inputs_at(&["b.md", "A.TXT", "sub/deep/c.markdown"], "notes");
        let expected = [("A.TXT", "notes"), ("b.md", "notes"), ("sub/deep/c.markdown", "deep")];
        assert_eq!(found, expected.map(|(name, room)| (name.to_owned(), room.to_owned())));
    }

    #[test]
    fn hidden_files_palaces_and_other_json_are_not_mined() {
        let files = [
            ".hidden/a.md",
            "keep/palace.toml",
            "keep/b.md",
            "package.json",
            "conversations-2.json",
            "x.png",
            "md",
        ];
        let names: Vec<_> = inputs_at(&files, "notes").into_iter().map(|it| it.0).collect();
        assert_eq!(names, ["conversations-2.json"]);
        assert_eq!(inputs_at(&files, "notes/package.json").len(), 1);
    }

    #[test]
    fn a_file_with_another_ending_is_refused_with_the_known_endings() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.pdf");
        std::fs::write(&file, "x").unwrap();
        let refused = find_mine_inputs(&file, &mut Vec::new()).unwrap_err().to_string();
        assert!(
            refused.ends_with(
                "a.pdf: only files ending in .md, .markdown, .txt, .jsonl or .json can be mined"
            ),
            "{refused}"
        );
        let missing = find_mine_inputs(&folder.path().join("b.md"), &mut Vec::new());
        assert!(missing.unwrap_err().to_string().starts_with("cannot read "));
    }

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
