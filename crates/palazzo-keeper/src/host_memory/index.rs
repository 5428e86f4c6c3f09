//! Completes the index of a host's memory: a pointer for each memory that no line names. Pure
//! functions.
//!
//! A line that is not exactly what Palazzo writes belongs to the host or a person, and stays.

use palazzo_core::model::{
    DocumentProperties, document_title, encode_link_target, linked_memory_files, mark_hidden_chars,
    names_memory_file, redact_secrets,
};
use palazzo_core::render;

/// The limits of the index; the host loads no more than 200 lines and 25,000 characters.
const MAX_LINES: usize = 180;
const MAX_BYTES: usize = 22_000;
const MAX_LINE_CHARS: usize = 180;

/// Maximum number of characters of a title in a pointer.
const MAX_TITLE_CHARS: usize = 80;

/// The line for the memories that have no place in the index.
const MORE_BEFORE: &str = "- ";
const MORE_AFTER: &str = " more: palazzo search";

/// A memory, and the pointer that Palazzo writes for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// The path below the folder.
    pub(super) file: String,
    pub(super) pointer: String,
}

impl Memory {
    pub(super) fn new(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), pointer: render_pointer(file, text) }
    }
}

/// Returns the title and the description of a memory, each in one line and without secrets.
pub(super) fn title_and_description(file: &str, text: &str) -> (String, String) {
    let properties = DocumentProperties::parse(text);
    let stem = file.rsplit('/').next().unwrap_or(file);
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let title = properties.value("name").map(str::to_owned).or_else(|| document_title(text));
    // A host reads the line as its own: nothing in it may be hidden, or begin a tag or a comment.
    let line = |it: &str| {
        let line = render::storable_line(&redact_secrets(it).text);
        let shown = mark_hidden_chars(&line).filter(|(_, is_hidden)| !is_hidden);
        shown.map(|(it, _)| if it == '<' { '‹' } else { it }).collect::<String>()
    };
    let title = line(title.as_deref().unwrap_or(stem));
    (title, line(properties.value("description").unwrap_or_default()))
}

/// Renders the pointer of a memory, in the form that the host asks its model for.
fn render_pointer(file: &str, text: &str) -> String {
    let (title, description) = title_and_description(file, text);
    let title = title.replace('[', "(").replace(']', ")");
    let title = render::truncate(&title, MAX_TITLE_CHARS);
    let pointer = format!("- [{title}]({})", encode_link_target(file));
    let described = match description.as_str() {
        "" => pointer,
        _ => format!("{pointer} — {description}"),
    };
    render::truncate(&described, MAX_LINE_CHARS - 1)
}

/// Adds the missing pointers to an index, in the order of `memories`, and removes those that Palazzo
/// wrote to files that are gone; `was_written` tells whether a line is what Palazzo wrote for such a
/// file. All other lines stay. `None`: nothing is to be changed.
pub(super) fn complete_index(
    index: &str,
    memories: &[Memory],
    was_written: impl Fn(&str, &str) -> bool,
) -> Option<String> {
    let line_end = if index.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<&str> = index.split_inclusive('\n').collect();
    lines.retain(|line| !is_stale_pointer(line, memories, &was_written));
    let more_at = lines.iter().position(|it| more_count(it).is_some());
    lines.retain(|it| more_count(it).is_none());
    let written = |line: &str| memories.iter().position(|it| it.pointer == content(line));
    let foreign: Vec<_> = lines.iter().filter(|it| written(it).is_none()).copied().collect();
    let is_named = |it: &Memory| foreign.iter().any(|line| names_memory_file(line, &it.file));
    let own: Vec<_> = memories.iter().filter(|it| !is_named(it)).collect();
    let kept = &own[..count_that_fit(&foreign, &own, line_end)];
    // The second pointer to one file would be of no use, and neither is one beside the host's.
    let mut seen = Vec::new();
    let mut is_kept = |line: &str| match written(line).map(|at| &memories[at]) {
        None => true,
        Some(it) => {
            let is_wanted = is_named(it) || kept.contains(&it) && !seen.contains(&&it.file);
            seen.push(&it.file);
            is_wanted
        }
    };
    let is_kept: Vec<_> = lines.iter().map(|it| is_kept(it)).collect();
    let more_at = more_at.map(|at| is_kept[..at].iter().filter(|it| **it).count());
    let mut is_kept = is_kept.into_iter();
    lines.retain(|_| is_kept.next().unwrap_or(true));
    let missing = kept.iter().filter(|it| !seen.contains(&&it.file));
    let missing: Vec<_> = missing.map(|it| format!("{}{line_end}", it.pointer)).collect();
    let left = own.len() - kept.len();
    let more = (left > 0).then(|| format!("{MORE_BEFORE}{left}{MORE_AFTER}{line_end}"));
    let new = insert_lines(&lines, missing, more, more_at, line_end);
    (new != index).then_some(new)
}

/// Returns whether a line is a pointer that Palazzo wrote to a file that is gone.
fn is_stale_pointer(
    line: &str,
    memories: &[Memory],
    was_written: impl Fn(&str, &str) -> bool,
) -> bool {
    match linked_memory_files(line).as_slice() {
        [(_, file)] => {
            let is_gone = memories.iter().all(|it| it.file != *file);
            is_gone && was_written(file, content(line))
        }
        _ => false,
    }
}

/// Returns how many of the pointers fit beside the other lines; a line for the rest fits too.
fn count_that_fit(foreign: &[&str], own: &[&Memory], line_end: &str) -> usize {
    let bytes: usize = foreign.iter().map(|it| it.len()).sum();
    let pointer_bytes = |it: &&Memory| it.pointer.len() + line_end.len();
    let all: usize = own.iter().map(pointer_bytes).sum();
    if foreign.len() + own.len() <= MAX_LINES && bytes + all <= MAX_BYTES {
        return own.len();
    }
    let lines = MAX_LINES.saturating_sub(foreign.len() + 1);
    let mut left = MAX_BYTES.saturating_sub(bytes + MORE_AFTER.len() + 30);
    let fits = |it: &&&Memory| {
        let size = pointer_bytes(it);
        let is_room = size <= left;
        left = left.saturating_sub(size);
        is_room
    };
    own.iter().take(lines).take_while(fits).count()
}

/// Inserts lines above the first pointer, else at the end; `more` where it was at `more_at`, else
/// below them.
fn insert_lines(
    lines: &[&str],
    missing: Vec<String>,
    more: Option<String>,
    more_at: Option<usize>,
    line_end: &str,
) -> String {
    let is_pointer = |it: &&str| it.trim_start().starts_with("- [");
    let first = lines.iter().position(is_pointer).unwrap_or(lines.len());
    let mut new: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
    let more_at = match more_at {
        Some(at) if at > first => at + missing.len(),
        Some(at) if at < first => at,
        _ => first + missing.len(),
    };
    let is_added = !missing.is_empty() || more.is_some();
    if let Some(last) = new.last_mut().filter(|it| is_added && !it.ends_with('\n')) {
        last.push_str(line_end);
    }
    new.splice(first..first, missing);
    if let Some(more) = more {
        new.insert(more_at.min(new.len()), more);
    }
    new.concat()
}

/// Returns a line without its end.
fn content(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// Parses the line for the memories that have no place.
fn more_count(line: &str) -> Option<usize> {
    content(line).strip_prefix(MORE_BEFORE)?.strip_suffix(MORE_AFTER)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    fn memory(file: &str, name: &str, description: &str) -> Memory {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\nText.\n");
        Memory::new(file, &text)
    }

    fn complete(index: &str, memories: &[Memory]) -> Option<String> {
        complete_index(index, memories, |_, _| false)
    }

    fn three() -> [Memory; 3] {
        [
            memory("new.md", "Newest", "written today"),
            memory("mid dle.md", "Mid [x]", ""),
            memory("old.md", "Old", "it's old"),
        ]
    }

    #[test]
    fn missing_pointers_are_added_above_the_others_newest_first() {
        assert_snapshot!(complete("", &three()).unwrap(), @"
        - [Newest](new.md) — written today
        - [Mid (x)](mid%20dle.md)
        - [Old](old.md) — it's old
        ");
        let index = "# My memory\n\nRead this.\n- [Older](old.md) - by the host\nno end";
        assert_snapshot!(complete(index, &three()).unwrap(), @"
        # My memory

        Read this.
        - [Newest](new.md) — written today
        - [Mid (x)](mid%20dle.md)
        - [Older](old.md) - by the host
        no end
        ");
        let windows = complete("# Mine\r\n", &three()[..1]).unwrap();
        assert_eq!(windows, "# Mine\r\n- [Newest](new.md) — written today\r\n");
    }

    #[test]
    fn nothing_is_rewritten_if_nothing_is_missing() {
        let complete_once = complete("", &three()).unwrap();
        assert_eq!(complete(&complete_once, &three()), None);
        assert_eq!(complete("see new.md, old.md and mid dle.md", &three()), None);
        assert_eq!(complete("", &[]), None);
    }

    #[test]
    fn only_a_pointer_that_palazzo_wrote_is_dropped_when_its_file_is_gone() {
        let index = "- [Gone](gone.md) — x\n- [Gone too](gone.md) by hand\n- [A](a.md) [B](b.md)\n";
        let written = |file: &str, line: &str| file == "gone.md" && line.ends_with("— x");
        let new = complete_index(index, &[], written).unwrap();
        assert_eq!(new, "- [Gone too](gone.md) by hand\n- [A](a.md) [B](b.md)\n");
    }

    #[test]
    fn the_rest_is_one_line_within_the_limits_of_the_host() {
        let many: Vec<_> =
            (0..300).map(|it| memory(&format!("m{it}.md"), &format!("M{it}"), "x")).collect();
        let index = "# Mine\n- [Mine](mine.md)\n";
        let new = complete(index, &many).unwrap();
        assert_eq!(new.lines().count(), MAX_LINES);
        assert_eq!(new.lines().nth(1), Some("- [M0](m0.md) — x"));
        assert!(
            new.ends_with("- [M176](m176.md) — x\n- 123 more: palazzo search\n- [Mine](mine.md)\n")
        );
        assert_eq!(complete(&new, &many), None);
        // A newer one takes the place of the oldest.
        let newer = [vec![memory("newer.md", "Newer", "")], many].concat();
        let newest = complete(&new, &newer).unwrap();
        assert_eq!(newest.lines().nth(1), Some("- [Newer](newer.md)"));
        assert!(newest.contains("- [M175](m175.md) — x\n- 124 more") && !newest.contains("[M176]"));
        assert_eq!(newest.lines().count(), MAX_LINES);
        assert_eq!(complete(&newest, &newer), None);
        let long: Vec<_> =
            (0..170).map(|it| memory(&format!("long{it}.md"), "Long", &"é".repeat(300))).collect();
        let new = complete("", &long).unwrap();
        assert!(
            new.len() <= MAX_BYTES && new.lines().all(|it| it.chars().count() <= MAX_LINE_CHARS)
        );
        assert!(new.contains(" more: palazzo search\n"), "{new}");
        assert_eq!(complete(&new, &long), None);
    }

    #[test]
    fn a_pointer_contains_no_secret_and_no_line_break() {
        let token = format!("ghp_{}", "q7Zk39vRtw2LmX8bN4cY6dF1gH5jK0pS3aE9");
        let memory = memory("a.md", "Push", &format!("with {token}"));
        assert_eq!(memory.pointer, "- [Push](a.md) — with [redacted: GitHub token]");
        let heading = Memory::new("b.md", "# A\u{7}b\n\nText.\n");
        assert_eq!(heading.pointer, "- [A b](b.md)");
        assert_eq!(Memory::new("sub/c-d.md", "Text.\n").pointer, "- [c-d](sub/c-d.md)");
    }

    proptest! {
        #[test]
        fn foreign_lines_stay_in_their_order(
            index in "([#a ]{0,3}(\\[x\\]\\((a|b|m0)\\.md\\))?(\n|\r\n)){0,8}(end)?",
            count in 0_usize..200,
        ) {
            let memories: Vec<_> =
                (0..count).map(|it| memory(&format!("m{it}.md"), "M", "x")).collect();
            let new = complete(&index, &memories).unwrap_or_else(|| index.clone());
            let is_ours = |it: &&str| memories.iter().any(|m| m.pointer == *it) || more_count(it).is_some();
            let foreign = |it: &str| {
                it.lines().filter(|it| !is_ours(it)).map(str::to_owned).collect::<Vec<_>>()
            };
            prop_assert_eq!(foreign(&new), foreign(&index));
            prop_assert_eq!(complete(&new, &memories), None);
        }
    }
}
