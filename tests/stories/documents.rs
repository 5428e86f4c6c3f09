//! README and the book: they stay short, the commands in all pages run, and the links lead somewhere.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Home, MARCH_1};

/// The largest number of pages of the book.
const MAX_PAGES: usize = 16;

/// The largest number of words of the book: it says nothing that a help text says.
const MAX_WORDS: usize = 30_000;

#[test]
fn the_book_stays_short() {
    let pages: Vec<_> = book_pages().collect();
    let texts = pages.iter().map(|it| fs::read_to_string(it).unwrap());
    let words: usize = texts.map(|it| it.split_whitespace().count()).sum();
    let count = pages.len();
    assert!(count <= MAX_PAGES, "{count} pages in docs, at most {MAX_PAGES}");
    assert!(words <= MAX_WORDS, "{words} words in docs, at most {MAX_WORDS}");
}

#[test]
fn the_summary_lists_every_page() {
    let summary = fs::read_to_string("docs/SUMMARY.md").unwrap();
    let mut listed: Vec<_> = links(&summary).map(|it| PathBuf::from("docs").join(it)).collect();
    listed.push("docs/SUMMARY.md".into());
    listed.sort();
    let mut pages: Vec<_> = book_pages().collect();
    pages.sort();
    assert_eq!(listed, pages);
}

#[test]
fn the_commands_in_every_page_run() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let mut script = String::new();
        for (language, block) in code_blocks(&text) {
            match language.split_once("no-run") {
                Some((_, reason)) => {
                    let reason = reason.trim_start_matches(':').trim();
                    assert!(!reason.is_empty(), "{}: `no-run` needs a reason", page.display());
                }
                None if language == "sh" => script += &format!("{block}\n"),
                None => {}
            }
        }
        if !script.is_empty() {
            run_script(&page, &script);
        }
    }
}

#[test]
fn every_link_between_pages_leads_to_a_heading() {
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            assert!(target.exists(), "{}: no file for `{link}`", page.display());
            if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap();
                let found = headings(&text).any(|it| it == anchor);
                assert!(found, "{}: no heading for `{link}`", page.display());
            }
        }
    }
}

#[test]
fn man_writes_a_page_for_every_command() {
    let home = Home::new();
    let folder = home.path().join("man");
    let output = home.run_palazzo(&["man", folder.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
    for page in ["palazzo.1", "palazzo-serve.1", "palazzo-import-memory.1"] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
}

/// README, CONTRIBUTING and every page of the book.
fn pages() -> Vec<PathBuf> {
    let others = ["README.md", "CONTRIBUTING.md", "editors/README.md"].map(PathBuf::from);
    let mut pages: Vec<_> = book_pages().chain(others).collect();
    pages.sort();
    pages
}

fn book_pages() -> impl Iterator<Item = PathBuf> {
    let files = fs::read_dir("docs").unwrap().map(|it| it.unwrap().path());
    files.filter(|it| it.extension().is_some_and(|it| it == "md"))
}

/// Yields the info string and the text of every fenced block.
fn code_blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("\n```").skip(1).step_by(2).filter_map(|it| it.split_once('\n'))
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    let outside_code = text.split("\n```").step_by(2);
    let links = outside_code.flat_map(|it| it.split("](").skip(1));
    links.filter_map(|it| it.split_once(')')).map(|(link, _)| link).filter(|it| !it.contains("://"))
}

/// Yields the anchors of the headings, as `GitHub` and `mdBook` make them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let outside_code = text.split("\n```").step_by(2);
    let lines = outside_code.flat_map(str::lines).filter(|it| it.starts_with('#'));
    lines.map(|it| {
        let kept = it.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|it| it.is_alphanumeric() || "-_".contains(*it)).collect()
    })
}

/// Runs the commands of a page in a fresh home directory, with the program on `PATH`.
fn run_script(page: &Path, script: &str) {
    let folder = tempfile::tempdir().unwrap();
    let config = "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n\
                  [maintenance]\nauto = false\n";
    fs::write(folder.path().join(".gitconfig"), config).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_palazzo")).parent().unwrap();
    let paths = std::env::var("PATH").unwrap();
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", script])
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .env("USER", "ada")
        .env("PALAZZO_NOW", MARCH_1)
        .env("PATH", format!("{}:{paths}", program.display()))
        .output()
        .unwrap();
    let page = page.display();
    assert!(output.status.success(), "{page}: {output:?}\n{script}");
}
