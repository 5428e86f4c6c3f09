//! Memories of a host, such as Claude Code, and their triggers: at which actions of an agent a memory is
//! shown.

use std::fmt;

use chrono::{DateTime, Utc};
use globset::GlobBuilder;
use memchr::memmem;
use regex::RegexBuilder;
use regex_syntax::hir::literal::Extractor;

use crate::model::foreign_message;
use crate::model::host_memory::HOST_MEMORY_FOLDER;

/// The index of the memories, which is no memory.
const INDEX_FILE: &str = "MEMORY.md";

/// The largest number of bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 500;
/// The largest size in bytes of a compiled regular expression, and of its cache.
const MAX_REGEX_BYTES: usize = 1 << 18;
/// How deep groups of a regular expression may be nested.
const MAX_REGEX_DEPTH: u32 = 50;

/// A memory of a host, as far as it is shown at an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriggeredMemory {
    /// When it is shown: at an action that one of these fits.
    pub triggers: Vec<Trigger>,
    /// The text below the front matter, without blank lines at both ends.
    pub text: String,
    /// The time that its front matter gives for the last change.
    pub modified: Option<DateTime<Utc>>,
}

/// A condition under which a memory is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Trigger {
    /// Which text the pattern is compared with.
    pub kind: TriggerKind,
    /// The pattern as written.
    pub pattern: String,
}

/// The kinds of triggers, the most important first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerKind {
    /// A text in the error of a tool.
    Error,
    /// A regular expression in a command.
    Run,
    /// A glob of the path of a file that was changed.
    Edit,
}

/// A tool call of an agent, as far as triggers are compared with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// The command that was run.
    pub command: Option<String>,
    /// The files that were changed: relative to the repository of the session, else absolute, with `/`.
    pub files: Vec<String>,
    /// The error, if the tool failed.
    pub error: Option<String>,
}

impl TriggeredMemory {
    /// Returns the most important kind of trigger that fits.
    pub fn matching_kind(&self, done: &ToolUse) -> Option<TriggerKind> {
        self.triggers.iter().filter(|it| it.is_match(done)).map(|it| it.kind).min()
    }

    /// Returns what a consent to show this memory covers, as one text: its triggers and its text. Other
    /// front matter is not shown, and the host rewrites it with each change of the file.
    pub fn content(&self) -> String {
        let triggers = self.triggers.iter().map(|Trigger { kind, pattern }| {
            format!("{} {} {pattern}\n", kind.key(), pattern.len())
        });
        triggers.collect::<String>() + "\n" + &self.text
    }
}

impl Trigger {
    /// Returns whether it fits. A pattern that is not valid fits nothing.
    pub fn is_match(&self, done: &ToolUse) -> bool {
        match self.kind {
            TriggerKind::Error => done
                .error
                .as_ref()
                .is_some_and(|it| !self.pattern.trim().is_empty() && it.contains(&self.pattern)),
            TriggerKind::Run => done.command.as_ref().is_some_and(|it| {
                self.may_be_in(it) && self.to_regex().is_ok_and(|regex| regex.is_match(it))
            }),
            TriggerKind::Edit => {
                let is_edited =
                    |glob: globset::GlobMatcher| done.files.iter().any(|file| glob.is_match(file));
                !done.files.is_empty() && self.to_glob().is_ok_and(is_edited)
            }
        }
    }

    /// Returns whether a text has one of the beginnings that everything which a regular expression matches
    /// must have. That is much faster than to compile the expression.
    fn may_be_in(&self, text: &str) -> bool {
        let mut parser = regex_syntax::ParserBuilder::new();
        let parsed = parser.nest_limit(MAX_REGEX_DEPTH).build().parse(&self.pattern);
        let beginnings = parsed.ok().map(|it| Extractor::new().extract(&it));
        let beginnings = beginnings.as_ref().and_then(|it| it.literals());
        beginnings.is_none_or(|it| {
            it.iter().any(|it| memmem::find(text.as_bytes(), it.as_bytes()).is_some())
        })
    }

    /// Checks the pattern. The error says what is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        match self.kind {
            TriggerKind::Error => self.check_length(),
            TriggerKind::Run => self.to_regex().map(drop),
            TriggerKind::Edit => self.to_glob().map(drop),
        }
    }

    fn check_length(&self) -> Result<(), String> {
        match self.pattern.len() {
            _ if self.pattern.trim().is_empty() => Err("it is empty".to_owned()),
            it if it > MAX_PATTERN_BYTES => {
                Err(format!("it has {it} bytes, and at most {MAX_PATTERN_BYTES} are allowed"))
            }
            _ => Ok(()),
        }
    }

    /// Compiles the pattern as a regular expression, whose search takes linear time.
    fn to_regex(&self) -> Result<regex::Regex, String> {
        self.check_length()?;
        let mut builder = RegexBuilder::new(&self.pattern);
        builder.size_limit(MAX_REGEX_BYTES).dfa_size_limit(MAX_REGEX_BYTES);
        builder.nest_limit(MAX_REGEX_DEPTH).build().map_err(|err| match err {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The message repeats the expression in several lines before the reason.
            err => {
                let message = err.to_string();
                let reason = message.lines().next_back().unwrap_or_default();
                foreign_message(reason.trim_start_matches("error: "))
            }
        })
    }

    /// Compiles the pattern as a glob, in which only `**` crosses folders.
    fn to_glob(&self) -> Result<globset::GlobMatcher, String> {
        self.check_length()?;
        let mut builder = GlobBuilder::new(&self.pattern);
        let glob = builder.literal_separator(true).build();
        let glob = glob.map_err(|err| foreign_message(&err.kind().to_string()))?;
        Ok(glob.compile_matcher())
    }
}

impl TriggerKind {
    /// All kinds, in the order in which messages list them.
    pub const ALL: [Self; 3] = [Self::Run, Self::Edit, Self::Error];

    /// Returns the key of a trigger of this kind.
    pub fn key(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Run => "run",
            Self::Edit => "edit",
        }
    }

    /// Returns the kind that has a key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.key() == key)
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.key(), self.pattern)
    }
}

/// Returns the name of the memory of a host in the file at `path`; `None`: it is none.
pub fn host_memory_name(path: &str) -> Option<&str> {
    let file = path.strip_prefix(HOST_MEMORY_FOLDER)?.strip_prefix('/')?;
    host_memory_name_in_folder(file)
}

/// Returns the name of the memory in a file of the folder of memories; `None`: it is none.
pub fn host_memory_name_in_folder(file: &str) -> Option<&str> {
    let is_memory = !file.contains('/') && !file.starts_with('.') && file != INDEX_FILE;
    file.strip_suffix(".md").filter(|it| is_memory && !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(kind: TriggerKind, pattern: &str) -> Trigger {
        Trigger { kind, pattern: pattern.to_owned() }
    }

    fn edit_matches(glob: &str, file: &str) -> bool {
        let done = ToolUse { files: vec![file.to_owned()], ..ToolUse::default() };
        trigger(TriggerKind::Edit, glob).is_match(&done)
    }

    #[test]
    fn a_regular_expression_is_searched_in_the_command() {
        let done =
            ToolUse { command: Some("cd a && cargo build".to_owned()), ..ToolUse::default() };
        let is_match = |it| trigger(TriggerKind::Run, it).is_match(&done);
        assert!(is_match("cargo +build") && is_match(r"\bcargo\b") && is_match("(?i)CARGO"));
        assert!(is_match("^(cd|ls) a .*build$") && is_match(".*build") && is_match("b(ui)?ld|x"));
        assert!(!is_match("^cargo") && !is_match("(") && !is_match(" ") && !is_match("(ls|rm) a"));
    }

    #[test]
    fn a_glob_crosses_folders_only_with_two_stars() {
        assert!(edit_matches("src/**/*.rs", "src/cli/hook.rs"));
        assert!(edit_matches("src/**/*.rs", "src/main.rs"));
        assert!(edit_matches("*.{toml,lock}", "Cargo.lock"));
        assert!(!edit_matches("src/*.rs", "src/cli/hook.rs"));
        assert!(!edit_matches("*.rs", "src/main.rs"));
        assert!(edit_matches("**/*.rs", "/elsewhere/src/main.rs"));
    }

    #[test]
    fn an_error_is_a_text_and_only_compared_with_errors() {
        let error = trigger(TriggerKind::Error, "E0433");
        let failed = ToolUse { error: Some("error[E0433]: x".to_owned()), ..ToolUse::default() };
        let ran =
            ToolUse { command: Some("rustc --explain E0433".to_owned()), ..ToolUse::default() };
        assert!(error.is_match(&failed) && !error.is_match(&ran));
    }

    #[test]
    fn the_most_important_trigger_that_fits_counts() {
        let triggers = vec![
            trigger(TriggerKind::Edit, "**"),
            trigger(TriggerKind::Run, "cargo"),
            trigger(TriggerKind::Error, "E0433"),
        ];
        let memory = TriggeredMemory { triggers, ..TriggeredMemory::default() };
        let mut done = ToolUse {
            command: Some("cargo check".to_owned()),
            files: vec!["a".to_owned()],
            error: Some("E0433".to_owned()),
        };
        assert_eq!(memory.matching_kind(&done), Some(TriggerKind::Error));
        done.error = None;
        assert_eq!(memory.matching_kind(&done), Some(TriggerKind::Run));
        done.command = None;
        assert_eq!(memory.matching_kind(&done), Some(TriggerKind::Edit));
        done.files.clear();
        assert_eq!(memory.matching_kind(&done), None);
    }

    #[test]
    fn a_wrong_pattern_is_refused_with_a_reason() {
        let reason = |kind, pattern: &str| trigger(kind, pattern).check().unwrap_err();
        insta::assert_snapshot!([
            reason(TriggerKind::Run, "a(b"),
            reason(TriggerKind::Run, "a{1000}{1000}"),
            reason(TriggerKind::Run, &"x".repeat(501)),
            reason(TriggerKind::Edit, "src/[a"),
            reason(TriggerKind::Edit, "{a,b"),
            reason(TriggerKind::Error, "\n"),
        ].join("\n"), @"
        unclosed group
        it is too large
        it has 501 bytes, and at most 500 are allowed
        `unclosed character class; missing ']'`
        `unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)`
        it is empty
        ");
    }

    #[test]
    fn content_of_different_memories_differs() {
        let memory = |patterns: &[&str], text: &str| TriggeredMemory {
            triggers: patterns.iter().map(|it| trigger(TriggerKind::Run, it)).collect(),
            text: text.to_owned(),
            modified: None,
        };
        let all = [
            memory(&["a", "b"], "c"),
            memory(&["a"], "c"),
            memory(&["a\nrun 1 b"], "c"),
            memory(&[], "run 1 a\nrun 1 b\n\nc"),
            memory(&["a", "b"], "d"),
        ];
        let contents: std::collections::BTreeSet<_> =
            all.iter().map(TriggeredMemory::content).collect();
        assert_eq!(contents.len(), all.len());
    }

    #[test]
    fn memories_are_the_markdown_files_of_one_folder_but_the_index() {
        assert_eq!(host_memory_name("drawers/claude/memory/a-b.md"), Some("a-b"));
        for path in ["MEMORY.md", "a/b.md", ".a.md", "a.txt", ".md"] {
            assert_eq!(host_memory_name(&format!("drawers/claude/memory/{path}")), None, "{path}");
        }
        assert_eq!(host_memory_name("drawers/claude/memory2/a.md"), None);
    }
}
