//! Finds words in a text that can be paths of files.

/// Yields the words of a text that can be paths of files, relative to some folder: `src/main.rs`,
/// `README.md:12`. None of them leads out of that folder. Most of them name no file.
pub fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "`'\"()[]{}<>,;|*=".contains(c);
    text.split(is_end).map(without_position).filter(|it| can_be_path(it))
}

/// Removes what is not the path: a leading `./`, the line after a colon or `#`, a full stop.
fn without_position(word: &str) -> &str {
    let word = word.split_once([':', '#']).map_or(word, |(path, _)| path);
    let word = word.trim_end_matches(['.', '!', '?', '…']);
    word.strip_prefix("./").unwrap_or(word)
}

fn can_be_path(word: &str) -> bool {
    let parts_are_names = word.split('/').all(|it| !matches!(it, "" | "." | ".."));
    let is_long = word.len() > 2 && word.contains(['.', '/']);
    is_long && parts_are_names && !word.contains('\\') && !word.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_without_lines_and_punctuation() {
        let text = "See `src/main.rs:12:3`, [the book](./docs/a-b.md#top) and README.md.";
        let found: Vec<_> = file_names(text).collect();
        assert_eq!(found, ["src/main.rs", "docs/a-b.md", "README.md"]);
    }

    #[test]
    fn no_path_leads_outside() {
        let text = "/etc/passwd ../a.rs a/../b.rs a//b.rs https://a.b/c.d C:\\a.b ... e.";
        assert_eq!(file_names(text).collect::<Vec<_>>(), [""; 0]);
    }
}
