//! Checks that modules use only modules of lower layers.

mod circles;

use std::fs;
use std::path::Path;

use circles::Modules;

/// The modules that each module may use, lowest layer first. All others are forbidden.
const LAYERS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("aaak", &["model"]),
    ("check", &["model"]),
    ("config_edit", &["model"]),
    ("embedding", &[]),
    ("exchange", &["model"]),
    ("format", &["model"]),
    ("halls", &["model"]),
    ("merge", &["model"]),
    ("render", &["model"]),
    ("search", &["model"]),
    ("view", &["model", "render"]),
    ("visit", &["model"]),
    ("store", &["model"]),
    ("diff", &["model"]),
    ("token_estimate", &["model"]),
    ("watch", &["model"]),
    (
        "keeper",
        &[
            "model",
            "check",
            "embedding",
            "exchange",
            "format",
            "halls",
            "merge",
            "render",
            "search",
            "visit",
            "store",
            "diff",
            "token_estimate",
            "view",
            "watch",
        ],
    ),
    ("mcp", &["model", "aaak", "keeper", "render", "token_estimate"]),
    ("lsp", &["model", "keeper"]),
    ("web", &["model", "keeper", "mcp", "view"]),
    (
        "cli",
        &[
            "model",
            "aaak",
            "config_edit",
            "keeper",
            "lsp",
            "mcp",
            "render",
            "token_estimate",
            "web",
        ],
    ),
];

/// Words that only some modules may use.
const USED_ONLY_IN: &[(&str, &[&str])] = &[
    ("gix::", &["store"]),
    ("notify::", &["watch"]),
    ("rustix::", &["store"]),
    ("rusqlite::", &["cli"]),
    // The command line reads the files that it imports, and writes those that it exports.
    ("std::fs", &["store", "cli", "watch"]),
    ("fs::", &["store", "cli", "watch"]),
    ("ndarray", &["embedding"]),
    ("yaml_edit", &["format"]),
    // The configuration of a client may be any YAML, not only the subset that palaces use.
    ("granit_parser", &["format", "config_edit"]),
    ("jsonc_parser", &["config_edit"]),
    ("serde_saphyr", &["format"]),
    ("toml_edit", &["format", "config_edit"]),
    ("rmcp::", &["mcp"]),
    ("lsp_server", &["lsp"]),
    ("gen_lsp_types", &["lsp"]),
    ("schemars", &["format", "mcp"]),
    ("tokio", &["cli", "mcp", "web"]),
    ("axum", &["mcp", "web"]),
    ("governor", &["web"]),
    ("subtle", &["web"]),
    ("pulldown_cmark", &["view"]),
    ("maud", &["keeper", "view"]),
    ("::now()", &["cli", "store", "watch"]),
    ("Utc::now", &["cli"]),
    ("println!", &["cli"]),
    // How git runs ssh depends on the variables of the user.
    ("std::env::", &["cli", "store"]),
    ("stdout()", &["cli"]),
];

/// Files that only tests use; the rules do not apply to them.
const TEST_ONLY_FILES: [&str; 14] = [
    "src/keeper/merge/fixture.rs",
    "src/keeper/merge/pair_tests.rs",
    "src/keeper/merge/pair_tests/fields.rs",
    "src/keeper/merge/pair_tests/items.rs",
    "src/keeper/merge/pair_tests/lists.rs",
    "src/keeper/merge/property_tests.rs",
    "src/keeper/test_home.rs",
    "src/lsp/edit_tests.rs",
    "src/lsp/test_editor.rs",
    "src/lsp/transcript_tests.rs",
    "src/store/proposal/crash_tests.rs",
    "src/store/sync/crash_tests.rs",
    "src/store/write/crash_tests.rs",
    "src/store/write/failpoint.rs",
];

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether `line` contains `word`, and not only as the end of a longer word.
fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(is_word))
}

#[test]
fn modules_use_only_what_their_layer_allows() {
    let mut wrong = Vec::new();
    for (module, file, line) in lines_of_code(Path::new("src")) {
        let (_, may_use) =
            LAYERS.iter().find(|(name, _)| *name == module).expect("add the module to LAYERS");
        for used in line.split("crate::").skip(1) {
            let used: String = used.chars().take_while(|c| is_word(*c)).collect();
            if used != module && !may_use.contains(&used.as_str()) {
                wrong.push(format!("{file}: `{module}` may not use `{used}`"));
            }
        }
        if line.contains("super::super") {
            wrong.push(format!("{file}: name the module from `crate`, not from `super::super`"));
        }
        for (word, speakers) in USED_ONLY_IN {
            let may_speak =
                speakers.contains(&module.as_str()) || TEST_ONLY_FILES.contains(&file.as_str());
            if has_word(&line, word) && !may_speak {
                wrong.push(format!("{file}: `{module}` may not use `{word}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn there_is_no_import_circle() {
    let mut modules = Modules::new();
    for path in source_files(Path::new("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let code = without_tests(&text).lines();
        let code = code.filter(|it| !it.trim_start().starts_with("//"));
        let code = code.fold("\n".to_owned(), |code, line| code + line + "\n");
        let inside = path.strip_prefix("src").unwrap().with_extension("");
        let module = inside.iter().map(|it| it.to_str().unwrap().to_owned()).collect::<Vec<_>>();
        if !TEST_ONLY_FILES.iter().any(|it| Path::new(it) == path) && module != ["main"] {
            modules.insert(module, code);
        }
    }
    let circles = circles::find_circles(&modules);
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn no_source_file_exceeds_400_lines() {
    for file in source_files(Path::new("src")) {
        let text = fs::read_to_string(&file).unwrap();
        let lines = without_tests(&text).lines().count();
        assert!(lines <= 400, "{} has {lines} lines of code; the limit is 400", file.display());
    }
}

/// Yields (top module, file, line) for the code of every module, tests left out.
fn lines_of_code(dir: &Path) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for path in source_files(dir) {
        let module = path.iter().nth(1).unwrap().to_str().unwrap().trim_end_matches(".rs");
        let text = fs::read_to_string(&path).unwrap();
        for line in without_tests(&text).lines().filter(|it| !it.trim_start().starts_with("//")) {
            if !matches!(module, "lib" | "main") {
                found.push((module.to_owned(), path.display().to_string(), line.to_owned()));
            }
        }
    }
    assert!(found.len() > 1_000, "the sources were not found");
    found
}

fn source_files(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(source_files(&path)),
            false => found.push(path),
        }
    }
    found
}

fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
}
