//! `palazzo mine`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chrono::{DateTime, Utc};

use crate::cli::bar::Bar;
use crate::cli::home::Home;
use crate::cli::{Failure, Outcome, page, person};
use crate::keeper::{Caller, Keeper, Lode, Mining};
use crate::model::printable;

/// The room of documents that lie in no folder of their own.
const ROOM: &str = "notes";

/// The file that makes a folder a palace: what lies in it is filed already.
const PALACE: &str = "palace.toml";

/// What exports are called, up to a number.
const EXPORT: &str = "conversations";

/// File documents and conversations in drawers, word for word
///
/// Takes Markdown and text (the room is the folder, long ones are cut at their
/// headings), transcripts of Claude Code and Codex (`.jsonl`), and exports of
/// Claude.ai and ChatGPT (`conversations.json`): one drawer an exchange, one
/// commit a file. What is filed already is passed over, so that one may mine
/// again. Exits with 1 if some files could not be understood; they are named.
#[derive(clap::Args)]
pub(super) struct Args {
    /// A file, or a folder with all that is in it but hidden files and palaces
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// The wing to file in; else the project a conversation was about, the
    /// service it was held with, or the folder that is mined
    #[arg(long, value_name = "NAME")]
    wing: Option<String>,

    /// The room to file in
    #[arg(long, value_name = "NAME")]
    room: Option<String>,

    /// Only say what would be filed
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    home: Home,
}

/// A file to be mined: where it is, what it is called in the drawers, and in
/// which room and wing it would be filed.
struct Source {
    path: PathBuf,
    name: String,
    room: String,
    wing: String,
    lode: Lode,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut sources = Vec::new();
    for path in &args.paths {
        find(path, &mut sources)?;
    }
    let mut keeper = args.home.keeper();
    let (by, bar) = (person("mine"), Bar::default());
    let (mut total, mut mined, mut odd) = (Mining::default(), 0, 0);
    for (place, source) in sources.iter().enumerate() {
        bar.show(place, sources.len());
        match mine(&mut keeper, &by, args, source)? {
            Ok(it) => {
                mined += 1;
                total.new += it.new;
                total.grown += it.grown;
                total.known += it.known;
            }
            Err(why) => {
                odd += 1;
                let said = format!("{}: {why}", source.path.display());
                anstream::eprintln!("{}", printable(&said));
            }
        }
    }
    bar.show(sources.len(), sources.len());
    let verb = if args.dry_run { "Would file" } else { "Filed" };
    let Mining { new, grown, known } = total;
    page::print(&format!(
        "{verb} texts of {mined} sources: {new} new, {grown} grown; {known} were there already."
    ))?;
    Ok(ExitCode::from(u8::from(odd > 0)))
}

/// Mines one file; the inner error says why it could not be understood.
fn mine(
    keeper: &mut Keeper,
    by: &Caller,
    args: &Args,
    source: &Source,
) -> Result<Result<Mining, String>, Failure> {
    let bytes = match std::fs::read(&source.path) {
        Ok(bytes) => bytes,
        Err(err) => return Ok(Err(format!("it cannot be read: {err}"))),
    };
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(Err("it is not UTF-8 text".to_owned()));
    };
    let Some(mut mined) = source.lode.mine(&text, &source.room) else {
        return Ok(Err("it holds no conversation of a known kind".to_owned()));
    };
    let written = std::fs::metadata(&source.path).and_then(|it| it.modified());
    let written: Option<DateTime<Utc>> = written.ok().map(Into::into);
    for it in &mut mined {
        it.at = it.at.or(written);
        it.wing = args.wing.clone().or(it.wing.take());
        it.room = args.room.clone().unwrap_or_else(|| std::mem::take(&mut it.room));
    }
    Ok(Ok(keeper.file_mined(by, &source.name, &source.wing, &mined, args.dry_run)?))
}

/// Finds what can be mined at a path, in the order of names.
fn find(path: &Path, found: &mut Vec<Source>) -> Result<(), Failure> {
    let path = std::fs::canonicalize(path).map_err(|err| unread(path, &err))?;
    if path.is_dir() {
        let wing = called(&path);
        return walk(&path, &path, &wing, found);
    }
    let name = called(&path);
    let wing = path.parent().map(called).unwrap_or_default();
    let lode = Lode::of(&name).ok_or_else(|| {
        let known = "what can be mined ends in .md, .markdown, .txt, .jsonl or .json";
        Failure::Said(format!("{}: {known}", path.display()))
    })?;
    found.push(Source { path, name, room: ROOM.to_owned(), wing, lode });
    Ok(())
}

fn walk(root: &Path, folder: &Path, wing: &str, found: &mut Vec<Source>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = entries.map_err(|err| unread(folder, &err))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(|err| unread(folder, &err))?);
        if called(&path).starts_with('.') || path.join(PALACE).is_file() {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, wing, found)?;
        }
        let Some(lode) = Lode::of(&called(&path)).filter(|_| kind.is_file()) else { continue };
        // Folders are full of JSON that nobody has said.
        if lode == Lode::Export && !called(&path).starts_with(EXPORT) {
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let room = if folder == root { ROOM.to_owned() } else { called(folder) };
        found.push(Source { path, name, room, wing: wing.to_owned(), lode });
    }
    Ok(())
}

fn called(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

fn unread(path: &Path, err: &std::io::Error) -> Failure {
    Failure::Said(format!("cannot read {}: {err}", path.display()))
}
