//! The memory of a host, such as Claude Code: a folder of a palace in which the host writes Markdown
//! files, and an index of them that it loads at the start of a conversation.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::model::{find_secrets, is_markdown_file, is_printable, may_be_hidden};

/// The folder.
pub const HOST_MEMORY_FOLDER: &str = "drawers/claude/memory";

/// The index.
pub const HOST_MEMORY_INDEX: &str = "drawers/claude/memory/MEMORY.md";

/// Returns whether a path of a palace is one of a file in the memory of a host.
pub fn is_host_memory_path(path: &str) -> bool {
    path_below_host_memory(path).is_some()
}

/// Returns the path below the folder of the memory of a host; `None`: the file is not in it.
pub fn path_below_host_memory(path: &str) -> Option<&str> {
    path.strip_prefix(HOST_MEMORY_FOLDER)?.strip_prefix('/')
}

/// Returns whether a file of the memory of a host contains a secret, in its text or in its name.
pub fn has_secret_of_memory(path: &str, text: &str) -> bool {
    is_host_memory_path(path) && [text, path].iter().any(|it| !find_secrets(it).is_empty())
}

/// Encodes the path of a file, below the folder, as the target of a Markdown link.
pub fn encode_link_target(file: &str) -> String {
    let has_meaning = |it: char| r#" %()<>[]#?:\""#.contains(it);
    let encode = |it: char| {
        let text = it.to_string();
        match has_meaning(it) || !is_printable(it) || may_be_hidden(it) {
            true => utf8_percent_encode(&text, NON_ALPHANUMERIC).to_string(),
            false => text,
        }
    };
    file.chars().map(encode).collect()
}

/// Returns whether a line of the index names a file, by its path below the folder: as a link or not.
pub fn names_memory_file(line: &str, file: &str) -> bool {
    [file.to_owned(), encode_link_target(file)].iter().any(|it| contains_path(line, it))
}

/// Returns whether a line contains a path, and not only the end or the beginning of a longer one.
fn contains_path(line: &str, path: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '_' | '-' | '/' | '.' | '%');
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].strip_suffix("./").unwrap_or(&line[..at]);
        let after = &line[at + path.len()..];
        // A full stop may end a sentence.
        let goes_on = after.strip_prefix('.').unwrap_or(after).starts_with(is_part);
        !before.ends_with(is_part) && !goes_on
    })
}

/// Lists the Markdown files to which links of the index lead, each with the number of its line.
pub fn linked_memory_files(index: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(index.lines()) {
        for rest in line.split("](").skip(1) {
            let target = match rest.strip_prefix('<') {
                Some(rest) => rest.split('>').next(),
                None => rest.split([')', ' ']).next(),
            };
            found.extend(target.and_then(decode_link_target).map(|it| (number, it)));
        }
    }
    found
}

/// Decodes the target of a link to a Markdown file below the folder; `None`: it leads elsewhere.
fn decode_link_target(target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default();
    let file = percent_decode_str(target).decode_utf8().ok()?;
    let file = file.strip_prefix("./").unwrap_or(&file);
    let is_inside = !file.contains(':') && file.split('/').all(|it| !matches!(it, "" | "." | ".."));
    (is_inside && is_markdown_file(file)).then(|| file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_in_the_folder_are_memories() {
        assert!(is_host_memory_path(HOST_MEMORY_INDEX));
        assert!(is_host_memory_path("drawers/claude/memory/a/b.md"));
        for other in [HOST_MEMORY_FOLDER, "drawers/claude/memory-2/a.md", "drawers/claude/a.md"] {
            assert!(!is_host_memory_path(other), "{other}");
        }
    }

    #[test]
    fn a_line_names_a_file_by_its_whole_path() {
        for line in [
            "- [Build](build.md) — how",
            "- see build.md.",
            "[a](./build.md#top)",
            "`build.md`",
            "- [B](<build.md>)",
        ] {
            assert!(names_memory_file(line, "build.md"), "{line}");
        }
        for line in ["- [B](old/build.md)", "- [B](re-build.md)", "build.mdx", "a_build.md", ""] {
            assert!(!names_memory_file(line, "build.md"), "{line}");
        }
        assert!(names_memory_file("[x](a%20b.md)", "a b.md"));
        assert!(names_memory_file("[x](größe/b.md)", "größe/b.md"));
    }

    #[test]
    fn links_lead_to_files_below_the_folder() {
        let index = "# Index\n- [A](a.md) — x\n- [B](./b/c%20d.md#x) and [C](<e f.md>)\n\
                     [D](https://example.org/x.md) [E](../x.md) [F](/x.md) [G](x.txt)\n[é](gr%C3%B6.md \"t\")\n";
        let expected = [(2, "a.md"), (3, "b/c d.md"), (3, "e f.md"), (5, "grö.md")];
        let expected = expected.map(|(line, file)| (line, file.to_owned()));
        assert_eq!(linked_memory_files(index), expected);
        for file in ["a.md", "a b(1).md", "grö ße.md", "100%.md"] {
            let line = format!("- [x]({})", encode_link_target(file));
            assert_eq!(linked_memory_files(&line), [(1, file.to_owned())]);
        }
    }
}
