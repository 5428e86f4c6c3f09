//! Checks that modules use only modules of lower layers.

mod circles;
mod sources;

use std::collections::BTreeSet;
use std::path::PathBuf;

use circles::Modules;
use sources::{SourceFile, read_sources};

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
    ("hyper::", &["web"]),
    ("hyper_util", &["web"]),
    ("governor", &["web"]),
    ("subtle", &["web"]),
    ("pulldown_cmark", &["format", "render", "view"]),
    ("maud", &["keeper", "view"]),
    ("::now()", &["cli", "store", "watch"]),
    ("Utc::now", &["cli"]),
    ("println!", &["cli"]),
    // How git runs ssh depends on the variables of the user.
    ("std::env::", &["cli", "store"]),
    ("stdout()", &["cli"]),
];

/// The limit for the lines of code in one file, tests aside.
const MAX_LINES: usize = 700;

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
    for file in read_sources() {
        let (path, module) = (file.path.display(), file.module[0].clone());
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let (_, may_use) =
            LAYERS.iter().find(|(name, _)| *name == module).expect("add the module to LAYERS");
        for line in file.lines() {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| is_word(*c)).collect();
                if used != module && !may_use.contains(&used.as_str()) {
                    wrong.push(format!("{path}: `{module}` may not use `{used}`"));
                }
            }
            if line.contains("super::super") {
                wrong.push(format!("{path}: name the module from `crate`, not `super::super`"));
            }
            for (word, speakers) in USED_ONLY_IN {
                if has_word(line, word) && !speakers.contains(&module.as_str()) {
                    wrong.push(format!("{path}: `{module}` may not use `{word}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn there_is_no_import_circle() {
    let sources = read_sources().into_iter().filter(|it| it.module != ["main"]);
    let circles = circles::find_circles(&modules(sources));
    assert!(circles.is_empty(), "break these circles: {circles:#?}");
}

#[test]
fn no_two_folders_of_the_store_import_each_other() {
    let mut imports = BTreeSet::new();
    for file in read_sources() {
        let Ok([store, folder, _]) = <[String; 3]>::try_from(file.module.clone()) else { continue };
        if store != "store" {
            continue;
        }
        for line in file.lines() {
            for used in line.split("crate::store::").skip(1) {
                let used: String = used.chars().take_while(|c| is_word(*c)).collect();
                imports.insert((folder.clone(), used));
            }
        }
    }
    let is_mutual = |(one, other): &&(String, String)| {
        one != other && imports.contains(&(other.clone(), one.clone()))
    };
    assert!(imports.len() > 20, "{imports:?}");
    assert_eq!(imports.iter().filter(is_mutual).collect::<Vec<_>>(), Vec::<&_>::new());
}

#[test]
fn a_circle_behind_a_module_of_tests_is_found() {
    let file = |path: &str, text: &str| SourceFile {
        path: PathBuf::from(path),
        module: vec![path[4..5].to_owned()],
        code: sources::split_tests(text).0,
    };
    let sources = [
        file("src/a.rs", "#[cfg(test)]\nmod fixture;\n\nuse crate::b::B;\n\npub struct A;\n"),
        file("src/b.rs", "use crate::a::A;\n\npub struct B;\n"),
    ];
    assert_eq!(circles::find_circles(&modules(sources)), [["a", "b"]]);
    let sources = [
        file("src/a.rs", "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n\npub struct A;\n"),
        file("src/b.rs", "use crate::a::A;\n\npub struct B;\n"),
    ];
    assert!(circles::find_circles(&modules(sources)).is_empty());
}

#[test]
fn no_source_file_is_too_long() {
    for file in read_sources() {
        let (path, lines) = (file.path.display(), file.code.lines().count());
        assert!(lines <= MAX_LINES, "{path} has {lines} lines of code; the limit is {MAX_LINES}");
    }
}

fn modules(sources: impl IntoIterator<Item = SourceFile>) -> Modules {
    let code = |file: &SourceFile| file.lines().fold("\n".to_owned(), |code, it| code + it + "\n");
    sources.into_iter().map(|file| (file.module.clone(), code(&file))).collect()
}
