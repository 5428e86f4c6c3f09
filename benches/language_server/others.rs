//! Other language servers, for comparison: the time from a change to the findings.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::json;

use crate::editor::Editor;
use crate::fixture::Fixture;
use crate::print_times;

/// The default path of yaml-language-server.
const YAML_LANGUAGE_SERVER: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/editor/node_modules/yaml-language-server/bin/yaml-language-server"
);

/// Measures the other servers that are there.
pub(crate) fn measure(fixture: &Fixture, rounds: usize) {
    let ruff = env::var_os("PALAZZO_RUFF").map_or_else(|| PathBuf::from("ruff"), PathBuf::from);
    match Command::new(&ruff).arg("--version").stdout(Stdio::null()).status() {
        Ok(status) if status.success() => {
            let mut command = fixture.command(&ruff);
            command.arg("server");
            let file = fixture.root().with_file_name("module.py");
            let text = "import os\n\n\ndef f(x):\n    y = x\n    return x\n".repeat(500);
            measure_changes("change in ruff, 3,000 lines", command, &file, &text, rounds);
        }
        _ => println!("ruff is not there"),
    }
    let server = env::var_os("PALAZZO_LANGUAGE_SERVER");
    let server = server.map_or_else(|| PathBuf::from(YAML_LANGUAGE_SERVER), PathBuf::from);
    if server.is_file() {
        let mut command = fixture.command(Path::new("node"));
        command.arg(server).arg("--stdio");
        let (file, text) = (fixture.room_file(1), fixture.room_text(1));
        measure_changes("change in yaml-language-server", command, &file, &text, rounds.min(20));
    } else {
        println!("yaml-language-server is not there");
    }
}

fn measure_changes(name: &str, command: Command, file: &Path, text: &str, rounds: usize) {
    fs::write(file, text).expect("the folder is writable");
    let mut editor = Editor::start(command);
    editor.initialize(file.parent().expect("the file is in a folder"));
    editor.open(file, text);
    editor.wait_for_findings();
    let times = (0..rounds).map(|round| {
        let change = json!({ "text": format!("{text}# {round}\n") });
        let start = Instant::now();
        editor.change(file, &change);
        editor.wait_for_findings();
        start.elapsed()
    });
    print_times(name, times.collect(), None);
}
