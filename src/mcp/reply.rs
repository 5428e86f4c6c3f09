//! The results of tools.

use serde_json::Value;

use palazzo_core::model::{CommitId, escape_unprintable_in_lines, escape_unprintable_json};
use palazzo_core::render;
use palazzo_keeper::Refusal;

/// The result of a tool: `Err` is a refusal that the caller can read, not a protocol
/// error.
pub type ToolResult = Result<ToolReply, String>;

/// The answer of a tool. Some clients show a model the text and others only the value,
/// so each must be complete.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// The answer as text.
    pub text: String,
    /// The same as a value, from tools that declare an output schema.
    pub structured: Option<Value>,
}

/// The part of a call that runs without the keeper, so that other calls are answered meanwhile.
pub(super) type WorkWithoutKeeper = Box<dyn FnOnce() -> ToolResult + Send>;

impl From<String> for ToolReply {
    fn from(text: String) -> Self {
        Self { text, structured: None }
    }
}

/// Converts a result of the keeper.
pub(super) fn to_tool_result(result: Result<String, Refusal>) -> ToolResult {
    result.map(ToolReply::from).map_err(|refusal| refusal.to_string())
}

/// Shortens the lines of a refusal that quotes a long text: a line keeps its beginning,
/// and its end, where the advice is. A name in backticks that is cut stays in backticks.
pub(super) fn shorten_long_lines(refusal: &str) -> String {
    const KEPT_CHARS: usize = 1000;
    let shorten = |line: &str| {
        let beginning = line.char_indices().nth(KEPT_CHARS).map(|(at, _)| at);
        let end = line.char_indices().nth_back(KEPT_CHARS).map(|(at, _)| at);
        match (beginning, end) {
            (Some(beginning), Some(end)) if beginning < end => {
                let (begin, end) = (&line[..beginning], &line[end..]);
                let backtick = |part| if render::has_open_backtick(part) { "`" } else { "" };
                format!("{begin}{} … {}{end}", backtick(begin), backtick(end))
            }
            _ => line.to_owned(),
        }
    };
    refusal.split('\n').map(shorten).collect::<Vec<_>>().join("\n")
}

/// Escapes unprintable characters, which files and arguments may contain, and shortens refusals.
pub(super) fn make_printable(answer: ToolResult) -> ToolResult {
    match answer {
        Ok(it) => Ok(ToolReply { text: escape_unprintable_in_lines(&it.text), ..it }),
        Err(refusal) => Err(shorten_long_lines(&escape_unprintable_in_lines(&refusal))),
    }
}

/// How many digits of a commit id are shown.
const SHORT_ID_DIGITS: usize = 10;

/// Renders the warnings of a change that was made, one per line.
pub(super) fn render_warnings(warnings: &[String]) -> String {
    warnings.iter().flat_map(|it| ["Warning: ", it, "\n"]).collect()
}

/// Renders an error that occurred after `commits` were made; they are not undone.
pub(super) fn error_after_commits(commits: &[CommitId], error: &str) -> String {
    match commits.last() {
        None => error.to_owned(),
        Some(last) => {
            let short: String = last.0.chars().take(SHORT_ID_DIGITS).collect();
            format!("the change was made (commit {short}), but then this failed: {error}")
        }
    }
}

/// Writes a value as JSON with one item of a list on each line: a third shorter than indented
/// JSON, and still readable.
pub(super) fn format_json_item_per_line(value: &Value) -> String {
    let text = match value {
        Value::Object(map) => {
            let pairs = map.iter().map(|(key, it)| format!("\"{key}\":{}", format_json_list(it)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(",\n"))
        }
        list => format_json_list(list),
    };
    escape_unprintable_json(&text)
}

fn format_json_list(value: &Value) -> String {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<_> = items.iter().map(Value::to_string).collect();
            format!("[\n{}\n]", items.join(",\n"))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_refusal_is_shortened_in_the_middle() {
        let refusal = format!("no room is called `{}`; try another\nActions:", "ü".repeat(5000));
        let shortened = shorten_long_lines(&refusal);
        assert!(shortened.starts_with("no room is called `üü"), "{shortened}");
        assert!(shortened.contains("ü` … `ü"), "{shortened}");
        assert!(shortened.ends_with("üü`; try another\nActions:"), "{shortened}");
        assert!(shortened.chars().count() < 2100, "{shortened}");
        assert_eq!(super::shorten_long_lines("a short one\n"), "a short one\n");
    }

    #[test]
    fn an_error_after_a_commit_says_that_the_change_was_made() {
        assert_eq!(error_after_commits(&[], "no room"), "no room");
        let commits = ["1111111111aaaa", "2222222222bbbb"].map(|it| CommitId(it.to_owned()));
        let expected = "the change was made (commit 2222222222), but then this failed: no room";
        assert_eq!(error_after_commits(&commits, "no room"), expected);
    }
}
