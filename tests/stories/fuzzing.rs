//! Parsers with random input: files of the corpus and of the examples, cut, doubled and
//! joined at random.
//!
//! Each run is different. Its length is configurable:
//! `PROPTEST_CASES=500000 cargo test --test stories fuzzing`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use palazzo_core::check::PalaceCheck;
use palazzo_core::format::{self, FmtOutcome, RoomNameIndex, ValuePositions};
use palazzo_core::model::{Code, Date, Diagnostic, Files, Palace, RoomRef, Tool, ValuePath};
use palazzo_core::{diff, exchange};
use palazzo_keeper::Finding;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Texts with a meaning to some parser.
const SYNTAX_FRAGMENTS: &[&str] = &[
    ": ",
    ":",
    "- ",
    "-",
    "? ",
    "#",
    " # x\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "  ",
    "&a ",
    "*a",
    "!!str ",
    "! ",
    "|",
    "|2+\n",
    ">-\n",
    "\"",
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "<<: ",
    "~",
    "null",
    "true",
    ".inf",
    "0x1F",
    "1e999",
    "\u{feff}",
    "\u{0}",
    "\u{7}",
    "\u{85}",
    "\u{2028}",
    "\u{1f3db}",
    "e\u{301}",
    "= ",
    "\"\"\"",
    "[menu]\n",
    "name: x\n",
    "id: 01KJMPXF9069S44V81ASY1KY37\n",
    "written: 9999-12-31\n",
    "{name}",
    "{\"type\":\"entity\"}\n",
];

/// One file of every kind.
const PATH_OF_EACH_KIND: &[&str] = &[
    "palace.toml",
    "rooms/a.yaml",
    "entities/a/a.yaml",
    "genera/a.yaml",
    "tasks/a.yaml",
    "processes/a.yaml",
    "scrolls/a/a.md",
    "drawers/a/b/a.md",
    "diary/a/a.md",
];

static SEED_FILES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut seeds = Vec::new();
    for root in ["tests/broken-palaces", "example-palaces"] {
        collect_seed_files(Path::new(root), &mut seeds);
    }
    assert!(seeds.len() > 200, "only {} files", seeds.len());
    seeds
});

/// Collects the files below a folder, with the kind of each.
fn collect_seed_files(folder: &Path, seeds: &mut Vec<(String, String)>) {
    let mut places: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    places.sort();
    for place in places {
        if place.is_dir() {
            collect_seed_files(&place, seeds);
            continue;
        }
        let bytes = fs::read(&place).unwrap();
        let names: Vec<_> = place.iter().map(|it| it.to_str().unwrap()).collect();
        let kind = |path: &&&str| names.contains(&path.split('/').next().unwrap());
        if let Some(path) = PATH_OF_EACH_KIND.iter().find(kind) {
            seeds.push(((*path).to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
}

/// A single corruption of a file.
#[derive(Clone, Debug)]
enum Mutation {
    Insert(Index, &'static str),
    Write(Index, char),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Join(Index, Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    prop_oneof![
        4 => (place(), select(SYNTAX_FRAGMENTS)).prop_map(|(at, word)| Mutation::Insert(at, word)),
        2 => (place(), any::<char>()).prop_map(|(at, it)| Mutation::Write(at, it)),
        3 => (place(), 1..30_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        1 => (place(), 1..60_usize, 1..40_usize)
            .prop_map(|(at, length, times)| Mutation::Repeat(at, length, times)),
        1 => (place(), place(), place()).prop_map(|(at, seed, from)| Mutation::Join(at, seed, from)),
    ]
}

impl Mutation {
    fn apply(&self, text: &mut Vec<char>) {
        let size = text.len() + 1;
        match self {
            Self::Insert(at, word) => {
                let at = at.index(size);
                text.splice(at..at, word.chars());
            }
            Self::Write(at, it) => {
                let at = at.index(size);
                text.splice(at..(at + 1).min(text.len()), [*it]);
            }
            Self::Remove(at, length) => {
                let at = at.index(size);
                text.drain(at..(at + length).min(text.len()));
            }
            Self::Repeat(at, length, times) => {
                let at = at.index(size);
                let part = text[at..(at + length).min(text.len())].repeat(*times);
                text.splice(at..at, part);
            }
            Self::Join(at, seed, from) => {
                let other: Vec<_> = seed.get(&SEED_FILES).1.chars().collect();
                text.splice(at.index(size).., other[from.index(other.len() + 1)..].iter().copied());
            }
        }
    }
}

/// A corrupted file and its kind.
fn mutated_file() -> impl Strategy<Value = (String, String)> {
    let path = prop_oneof![4 => Just(None), 1 => select(PATH_OF_EACH_KIND).prop_map(Some)];
    (any::<Index>(), path, vec(mutation(), 0..8)).prop_map(|(seed, path, slips)| {
        let (own, text) = seed.get(&SEED_FILES);
        let mut text: Vec<_> = text.chars().collect();
        for slip in &slips {
            slip.apply(&mut text);
        }
        (path.unwrap_or(own).to_owned(), text.into_iter().collect())
    })
}

fn read_palace(path: &str, text: &str) -> (Palace, Vec<Diagnostic>) {
    format::parse_palace("test", &Files::from([(path.to_owned(), text.to_owned())]))
}

/// Asserts that a finding points into the file, contains no terminal control characters,
/// and shows its line.
fn check_finding_is_printable(finding: &Diagnostic, text: &str) -> Result<(), TestCaseError> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let lines: Vec<_> = text.split('\n').collect();
    let line = lines.get(finding.at.line - 1);
    let columns = line.map(|it| it.chars().count() + 1);
    prop_assert!(columns >= Some(finding.at.column), "{finding}\n{text}");
    let shown = Finding::from_diagnostic(finding.clone(), &text).source_excerpt;
    prop_assert!(!shown.contains(|it: char| it.is_control() && it != '\n'), "{shown:?}");
    Ok(())
}

/// Returns the subject of a finding, without its place.
fn codes_and_messages(findings: Vec<Diagnostic>) -> Vec<String> {
    let mut heads: Vec<_> =
        findings.into_iter().map(|it| format!("{} {}", it.code, it.message)).collect();
    heads.sort();
    heads
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reading_a_mutated_file_gives_printable_findings((path, text) in mutated_file()) {
        let (palace, findings) = read_palace(&path, &text);
        for finding in &findings {
            check_finding_is_printable(finding, &text)?;
            let said = format!("{}{:?}", finding.message, finding.hint);
            prop_assert!(!said.contains(char::is_control), "{said:?}\n{text}");
        }
        let tools: &[Tool] = &[];
        let survey = PalaceCheck { palace: &palace, tools, workspaces: &[], unreadable_files: [].into(), room_file: format::room_path };
        let spots = ValuePositions::parse(&path, &text);
        for mut remark in survey.findings() {
            if remark.diagnostic.file == path {
                remark.diagnostic.at = spots.position_of(&remark.value_path);
                check_finding_is_printable(&remark.diagnostic, &text)?;
            }
        }
        prop_assert_eq!(spots.position_of(&ValuePath::ROOT).line, 1);
    }

    #[test]
    fn formatting_a_mutated_file_keeps_its_content_and_findings((path, text) in mutated_file()) {
        match format::fmt_file(&path, &text) {
            Some(FmtOutcome::Formatted(anew)) => {
                let (was, now) = (read_palace(&path, &text), read_palace(&path, &anew));
                prop_assert_eq!(&was.0, &now.0, "{}\n-- became --\n{}", text, anew);
                // Formatting writes some of these characters as escapes, which are visible.
                let is_kept = |it: &Diagnostic| it.code != Code::InvisibleCharacter;
                let [was, now] = [was.1, now.1].map(|it| codes_and_messages(it.into_iter().filter(is_kept).collect()));
                prop_assert_eq!(was, now, "{}\n-- became --\n{}", text, anew);
                prop_assert_eq!(format::fmt_file(&path, &anew), Some(FmtOutcome::Unchanged), "{}", anew);
                diff::unified_diff(&path, Some(&text), Some(&anew));
            }
            Some(FmtOutcome::HasErrors(findings)) => prop_assert!(!findings.is_empty(), "{}", text),
            Some(FmtOutcome::Unchanged | FmtOutcome::CannotFormat) | None => {}
        }
    }

    #[test]
    fn fixing_a_mutated_file_changes_only_faulty_lines((path, text) in mutated_file()) {
        let hall = Files::from([("rooms/hall.yaml".to_owned(), "name: A\n".to_owned())]);
        let rooms = RoomNameIndex::from_files(&hall);
        if let Some(mended) = format::fix_file(&path, &text, &rooms) {
            let differing = text.lines().zip(mended.text.lines()).filter(|(was, now)| was != now).count();
            prop_assert!(differing <= mended.fixed.len(), "{}\n-- became --\n{}", text, mended.text);
            prop_assert_eq!(text.lines().count(), mended.text.lines().count());
            let is_read = |text: &str| !codes_and_messages(read_palace(&path, text).1).iter().any(|it| it.starts_with("syntax"));
            prop_assert!(!is_read(&text) || is_read(&mended.text), "{}", mended.text);
            prop_assert_eq!(format::fix_file(&path, &mended.text, &rooms), None);
        }
    }

    #[test]
    fn other_readers_accept_mutated_text((_, text) in mutated_file()) {
        exchange::parse_memory_server_file(text.as_bytes());
        for line in text.lines().take(20) {
            let (_, _) = (line.parse::<Date>(), line.parse::<RoomRef>());
        }
    }
}
