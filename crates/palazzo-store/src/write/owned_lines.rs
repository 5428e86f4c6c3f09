//! Adds lines to a text that belongs to somebody else, and removes them again.
//!
//! Bytes are kept as they are: a text to which lines were added, and from which they were removed,
//! is the same as before, also if others added lines meanwhile.

/// The line behind our lines if the text before them did not end with a line break.
const NO_LINE_BREAK_MARK: &[u8] = b"# palazzo: no line break before these lines";

/// Appends lines to a text. A mark remembers if the text did not end with a line break.
pub(crate) fn append_lines(text: &[u8], lines: &[String]) -> Vec<u8> {
    let lines = lines.join("\n");
    let is_ended = text.is_empty() || text.ends_with(b"\n");
    match is_ended {
        true => [text, lines.as_bytes(), b"\n"].concat(),
        false => [text, b"\n", lines.as_bytes(), b"\n", NO_LINE_BREAK_MARK, b"\n"].concat(),
    }
}

/// Removes the lines for which `is_own` is true, and the mark of [`append_lines`]; `is_own` receives
/// each line without its line break.
pub(crate) fn remove_lines(text: &[u8], mut is_own: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut is_marked_at_end = false;
    for line in text.split_inclusive(|it| *it == b'\n') {
        let content = without_line_break(line);
        if content == NO_LINE_BREAK_MARK {
            is_marked_at_end = true;
            is_own(content);
        } else if !is_own(content) {
            is_marked_at_end = false;
            kept.push(line);
        }
    }
    let mut text_left = kept.concat();
    // The line break before our lines was ours.
    if is_marked_at_end && text_left.ends_with(b"\n") {
        text_left.pop();
    }
    text_left
}

/// Removes `lines` from the sections of a git configuration that are called `header`, and the
/// headers of sections that become empty by this. A line is recognised by `is_own`.
pub(crate) fn remove_section_lines(
    text: &[u8],
    header: &str,
    is_own: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    let lines: Vec<_> = text.split(|it| *it == b'\n').map(without_line_break).collect();
    let is_header = |line: &[u8]| line.trim_ascii_start().starts_with(b"[");
    let mut owned = vec![false; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let end = (at + 1..lines.len()).find(|it| is_header(lines[*it])).unwrap_or(lines.len());
        if lines[at].trim_ascii() == header.as_bytes() {
            let is_own = |it: &usize| is_own(lines[*it]) || lines[*it] == NO_LINE_BREAK_MARK;
            let own: Vec<_> = (at + 1..end).filter(is_own).collect();
            let is_rest_blank =
                (at + 1..end).all(|it| own.contains(&it) || lines[it].trim_ascii().is_empty());
            owned[at] = !own.is_empty() && is_rest_blank;
            for it in own {
                owned[it] = true;
            }
        }
        at = end;
    }
    let mut flags = owned.into_iter();
    remove_lines(text, |_| flags.next().unwrap_or_default())
}

fn without_line_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> Vec<String> {
        ["[diff \"palazzo\"]", "\ttextconv = a", "\tcommand = b"].map(str::to_owned).to_vec()
    }

    fn is_own(line: &[u8]) -> bool {
        [&b"\ttextconv = a"[..], b"\tcommand = b"].contains(&line)
    }

    fn remove(text: &[u8]) -> Vec<u8> {
        remove_section_lines(text, "[diff \"palazzo\"]", is_own)
    }

    #[test]
    fn a_text_is_the_same_after_lines_were_added_and_removed() {
        for text in ["", "a", "a\n", "[core]\n\tbare = false\n", "a\r\nb\r\n", "a\n\n", "\n"] {
            let added = append_lines(text.as_bytes(), &lines());
            assert_ne!(added, text.as_bytes());
            assert_eq!(remove(&added), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn lines_of_others_stay() {
        let text = append_lines(b"[core]\n\tbare = false", &lines());
        let text = [&text[..], b"\tbinary = true\n[user]\n\tname = Ada\n"].concat();
        let left = String::from_utf8(remove(&text)).unwrap();
        let expected =
            "[core]\n\tbare = false\n[diff \"palazzo\"]\n\tbinary = true\n[user]\n\tname = Ada\n";
        assert_eq!(left, expected);
        let other = b"[diff \"other\"]\n\ttextconv = a\n[diff \"palazzo\"]\n";
        assert_eq!(remove(other), other);
    }
}
