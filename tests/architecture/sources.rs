//! The source files, without what only tests compile.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The crates of the program: the folder of each, and the module that it stands for.
const CRATES: [(&str, Option<&str>); 4] = [
    ("src", None),
    ("crates/palazzo-core/src", None),
    ("crates/palazzo-store/src", Some("store")),
    ("crates/palazzo-keeper/src", Some("keeper")),
];

/// A source file of the program. The crates are seen as modules of one crate.
pub(crate) struct SourceFile {
    /// The path from the root of the repository, such as `crates/palazzo-keeper/src/walk.rs`.
    pub(crate) path: PathBuf,
    /// The path of the module: `["keeper", "walk", "enter"]`.
    pub(crate) module: Vec<String>,
    /// Its code, with paths from the one crate: all lines except those of items that only tests
    /// compile.
    pub(crate) code: String,
}

impl SourceFile {
    /// Creates a source file from the code in `path`, and writes its paths as if all crates were one.
    /// `folder` is the source folder of its crate.
    fn new(folder: &str, crate_module: Option<&str>, path: PathBuf, code: &str) -> Self {
        let inside = path.strip_prefix(folder).unwrap().with_extension("");
        let mut module: Vec<_> = inside.iter().map(|it| it.to_str().unwrap().to_owned()).collect();
        let mut code = code.to_owned();
        if let Some(name) = crate_module {
            match module[0].as_str() {
                "lib" => name.clone_into(&mut module[0]),
                "watch" => {}
                _ => module.insert(0, name.to_owned()),
            }
            code = replace_start(&code, "crate::", &format!("crate::{name}::"));
            code = replace_start(&code, "crate as", &format!("crate::{name} as"));
        }
        code = replace_start(&code, "palazzo_core", "crate");
        code = replace_start(&code, "palazzo_store", "crate::store");
        code = replace_start(&code, "palazzo_keeper", "crate::keeper");
        let code = code.replace("crate::store::watch", "crate::watch");
        Self { path, module, code }
    }

    /// Returns the lines of code that are no comments.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.code.lines().filter(|it| !it.trim_start().starts_with("//"))
    }
}

/// Reads all source files, except those of modules that only tests compile.
pub(crate) fn read_sources() -> Vec<SourceFile> {
    CRATES.into_iter().flat_map(|(folder, module)| read_crate(folder, module)).collect()
}

fn read_crate(folder: &str, crate_module: Option<&str>) -> Vec<SourceFile> {
    let (mut files, mut test_modules) = (Vec::new(), Vec::new());
    for path in files_below(Path::new(folder)) {
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_none_or(|it| it != "rs") {
            files.push(SourceFile::new(folder, crate_module, path, &text));
            continue;
        }
        let (code, declared) = split_tests(&text);
        let children = if path.ends_with("lib.rs") || path.ends_with("main.rs") {
            path.parent().unwrap().to_owned()
        } else {
            path.with_extension("")
        };
        test_modules.extend(declared.iter().map(|it| children.join(it)));
        files.push(SourceFile::new(folder, crate_module, path, &code));
    }
    files.retain(|file| {
        let module = file.path.with_extension("");
        !test_modules.iter().any(|it| module.starts_with(it))
    });
    assert!(files.len() > 50, "the sources were not found");
    files
}

/// Replaces `start` where it is the start of a path.
fn replace_start(code: &str, start: &str, by: &str) -> String {
    let mut parts = code.split(start);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_inside = replaced.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        replaced.push_str(if is_inside { start } else { by });
        replaced.push_str(part);
    }
    replaced
}

/// Returns the code without the items that only tests compile, and the modules among these items
/// that have files of their own.
pub(crate) fn split_tests(text: &str) -> (String, Vec<String>) {
    let tokens: TokenStream = text.parse().expect("the sources are valid Rust");
    let (mut test_lines, mut modules) = (BTreeSet::new(), Vec::new());
    find_test_items(tokens, &mut test_lines, &mut modules);
    let lines = text.split_inclusive('\n').enumerate();
    let code = lines.filter(|(at, _)| !test_lines.contains(&(at + 1))).map(|(_, line)| line);
    (code.collect(), modules)
}

/// Finds the items behind `#[cfg(test)]`: they end with `;` or with a block.
fn find_test_items(tokens: TokenStream, lines: &mut BTreeSet<usize>, modules: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let first_line = token.span().start().line;
        let attribute = match &token {
            TokenTree::Punct(it) if it.as_char() == '#' => tokens.peek(),
            _ => None,
        };
        let Some(TokenTree::Group(attribute)) = attribute else {
            if let TokenTree::Group(group) = token {
                find_test_items(group.stream(), lines, modules);
            }
            continue;
        };
        if !is_test_condition(&attribute.stream()) {
            continue;
        }
        let mut previous = String::new();
        for token in tokens.by_ref().skip(1) {
            lines.extend(first_line..=token.span().end().line);
            match &token {
                TokenTree::Group(it) if it.delimiter() == Delimiter::Brace => break,
                TokenTree::Punct(it) if it.as_char() == ';' => break,
                TokenTree::Ident(name) if previous == "mod" => modules.push(name.to_string()),
                _ => {}
            }
            previous = token.to_string();
        }
    }
}

/// Returns whether an attribute is `cfg(test)`, or a condition that contains it, such as
/// `cfg(all(test, unix))`.
fn is_test_condition(attribute: &TokenStream) -> bool {
    let text = attribute.to_string();
    let Some(condition) = text.strip_prefix("cfg") else { return false };
    let mut words = condition.split(|it: char| !it.is_alphanumeric() && it != '_');
    !condition.contains("not") && words.any(|it| it == "test")
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files_below(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn only_the_items_that_tests_compile_are_removed() {
    let text = "\
mod a;
#[cfg(test)]
mod fixture;
use b::C;

impl C {
    #[cfg(test)]
    #[must_use]
    pub fn for_tests() -> Self {
        Self
    }

    #[cfg(not(test))]
    fn kept() {}
}

#[cfg(all(test, unix))]
mod tests {
    const TEXT: &str = \"
}
\";
}

#[cfg(unix)]
fn last() {}
";
    let code = "\
mod a;
use b::C;

impl C {

    #[cfg(not(test))]
    fn kept() {}
}


#[cfg(unix)]
fn last() {}
";
    assert_eq!(split_tests(text), (code.to_owned(), vec!["fixture".into(), "tests".into()]));
}
