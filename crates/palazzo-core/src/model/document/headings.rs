//! Finds the headings of Markdown, as `CommonMark` defines them: not those in fenced code.

use crate::model::document::properties::DocumentProperties;

/// A heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heading<'t> {
    /// The byte at which its line begins.
    pub at: usize,
    /// Its level, from 1 to 6.
    pub level: usize,
    /// Its text, without the marks.
    pub text: &'t str,
}

/// The headings of a text, in order.
#[derive(Clone, Debug)]
pub struct Headings<'t> {
    text: &'t str,
    at: usize,
    fence: Option<Fence>,
    line_before: LineBefore<'t>,
}

/// The line before the current one.
#[derive(Clone, Copy, Debug, Default)]
enum LineBefore<'t> {
    #[default]
    Blank,
    /// A paragraph of one line, which an underline makes a heading.
    Paragraph(Heading<'t>),
    Other,
}

/// The line that opened a block of fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
}

impl<'t> Headings<'t> {
    /// Returns the headings of a text. Front matter has none.
    pub fn of(text: &'t str) -> Self {
        let at = text.len() - DocumentProperties::parse(text).body.len();
        Self { text, at, fence: None, line_before: LineBefore::Blank }
    }

    /// Reads the next line, and returns its heading.
    fn read_line(&mut self, line: &'t str) -> Option<Heading<'t>> {
        let at = self.at;
        self.at += line.len();
        let before = std::mem::take(&mut self.line_before);
        let line = line.trim_end();
        let inner = line.trim_start_matches(' ');
        // Four spaces begin a block of code.
        if line.len() - inner.len() > 3 {
            return None;
        }
        if let Some(fence) = self.fence {
            self.fence = Some(fence).filter(|it| !it.is_closed_by(inner));
            return None;
        }
        self.fence = Fence::opened_by(inner);
        if self.fence.is_some() {
            return None;
        }
        if let Some((level, text)) = parse_heading(inner) {
            return Some(Heading { at, level, text });
        }
        if let (LineBefore::Paragraph(heading), Some(level)) = (before, underline_level(inner)) {
            return Some(Heading { level, ..heading });
        }
        // A line after a list, a quotation or a table may belong to it.
        let is_paragraph = matches!(before, LineBefore::Blank)
            && !inner.starts_with(['-', '>', '*', '+', '|', '<']);
        self.line_before = match is_paragraph {
            _ if inner.is_empty() => LineBefore::Blank,
            true => LineBefore::Paragraph(Heading { at, level: 1, text: inner }),
            false => LineBefore::Other,
        };
        None
    }
}

impl<'t> Iterator for Headings<'t> {
    type Item = Heading<'t>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.text[self.at..].split_inclusive('\n').next()?;
            if let Some(heading) = self.read_line(line) {
                return Some(heading);
            }
        }
    }
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let mark = line.chars().next().filter(|it| matches!(it, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        line.len() >= self.length && line.chars().all(|it| it == self.mark)
    }
}

fn parse_heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    if !(1..=6).contains(&level) || !text.is_empty() && !text.starts_with([' ', '\t']) {
        return None;
    }
    let text = text.trim();
    let open = text.trim_end_matches('#');
    let is_closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some((level, if is_closed { open.trim_end() } else { text }))
}

/// Returns the level of the heading that a line of `=` or `-` makes of the line before.
fn underline_level(line: &str) -> Option<usize> {
    let is_line_of = |mark: char| !line.is_empty() && line.chars().all(|it| it == mark);
    match line {
        _ if is_line_of('=') => Some(1),
        _ if is_line_of('-') => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<(usize, &str)> {
        Headings::of(text).map(|it| (it.level, it.text)).collect()
    }

    #[test]
    fn headings_have_marks_or_an_underline() {
        let text =
            "# One #\n   ## Two\nThree\n=====\nFour\n---\n#\n####### seven\n#five\n    # code\n";
        assert_eq!(headings(text), [(1, "One"), (2, "Two"), (1, "Three"), (2, "Four"), (1, "")]);
        for text in ["a\nb\nc\n---\n", "- a\nb\n---\n", "> a\n---\n", "\n---\n"] {
            assert_eq!(headings(text), [], "{text}");
        }
        assert_eq!(
            Headings::of("ä\n\nC#\n==\n").next(),
            Some(Heading { at: 4, level: 1, text: "C#" })
        );
    }

    #[test]
    fn front_matter_has_no_headings() {
        for matter in ["---\n# x: y\ntitle: Coal\n---\n", "+++\ntitle = 'Coal'\n+++\n"] {
            assert_eq!(headings(&format!("{matter}# Yes\n")), [(1, "Yes")]);
            assert_eq!(
                Headings::of(&format!("{matter}# Yes\n")).next().map(|it| it.at),
                Some(matter.len())
            );
        }
    }

    #[test]
    fn a_mark_in_fenced_code_is_no_heading() {
        for fenced in [
            "```sh\n# no\n```\n",
            "~~~ a `b`\n# no\n```\n# no\n~~~\n",
            "`````\n# no\n```\n# no\n``````\n",
            "   ```\n# no\n  ```\n",
            "```\n# no\n    ```\n# no\n```\n",
            "```\n# no\n``` sh\n# no\n```\n",
        ] {
            assert_eq!(headings(&format!("{fenced}# Yes\n")), [(1, "Yes")], "{fenced}");
        }
        assert_eq!(headings("```\n# no\n# not to the end"), []);
        assert_eq!(headings("``` a`b\n# Yes\n"), [(1, "Yes")], "this is code in a line");
        assert_eq!(headings("    ```\n# Yes\n"), [(1, "Yes")], "this is indented code");
    }
}
