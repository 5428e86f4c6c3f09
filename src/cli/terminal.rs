//! Prints pages: with bold, colour and wrapped lines on a terminal, plain in pipes; without bold
//! and colour if `NO_COLOR` is set.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal as _, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use terminal_size::{Width, terminal_size_of};
use textwrap::{Options, WordSeparator, WordSplitter};

use palazzo_core::model::{
    Code, Diagnostic, Severity, escape_unprintable_in_lines, escape_unprintable_json,
};
use palazzo_keeper::Finding;

/// The longest lines on a wide terminal: longer ones are hard to read.
const MAX_WIDTH: usize = 100;

/// Lines are not wrapped on a terminal that is narrower than this.
const MIN_WIDTH: usize = 20;

/// A progress bar, shown only on a terminal.
#[derive(Default)]
pub(crate) struct ProgressBar {
    percent: AtomicUsize,
}

impl ProgressBar {
    const WIDTH: usize = 40;

    /// Redraws the bar when the percentage changes; removes it at the end.
    pub(crate) fn show(&self, done: usize, all: usize) {
        let percent = done * 100 / all.max(1);
        if self.percent.swap(percent, Ordering::Relaxed) == percent
            || !std::io::stderr().is_terminal()
        {
            return;
        }
        if done == all {
            anstream::eprint!("\r{:1$}\r", "", Self::WIDTH + 8);
            return;
        }
        let full = percent * Self::WIDTH / 100;
        anstream::eprint!(
            "\r[{:#<full$}{:rest$}] {percent:>3} %",
            "",
            "",
            rest = Self::WIDTH - full
        );
    }
}

/// Returns the text in bold.
fn bold(text: &str) -> String {
    apply_style(Style::new().bold(), text)
}

/// Prints a page for people, its headings in bold. On a terminal, its lines are wrapped. A closed
/// pipe (`| head`) ends the program without a message.
pub(crate) fn print_page(page: &str) -> io::Result<()> {
    let width = page_width();
    let mut out = anstream::stdout().lock();
    for line in escape_output(page).lines() {
        let is_heading = line.starts_with("── ") && line.ends_with(" ──");
        for line in wrap_line(line, width) {
            writeln!(out, "{}", if is_heading { bold(&line) } else { line.into_owned() })?;
        }
    }
    out.flush()
}

/// Prints a text for programs, such as JSON, a script or paths. Its lines are never wrapped.
pub(crate) fn print_text(text: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    for line in escape_output(text).lines() {
        writeln!(out, "{line}")?;
    }
    out.flush()
}

/// Makes a text safe for a terminal. JSON, which no page for people looks like, keeps its values.
fn escape_output(text: &str) -> String {
    match text.starts_with('{') {
        true => escape_unprintable_json(text),
        false => escape_unprintable_in_lines(text),
    }
}

/// Returns the width of pages; `None` if standard output is no terminal, or a very narrow one.
fn page_width() -> Option<usize> {
    let out = io::stdout();
    let (Width(width), _) = terminal_size_of(&out).filter(|_| out.is_terminal())?;
    Some(usize::from(width).min(MAX_WIDTH)).filter(|it| *it >= MIN_WIDTH)
}

/// Wraps a line between words. The lines after the first are indented like the text of the first:
/// below the text of a list item, not below its number.
fn wrap_line(line: &str, width: Option<usize>) -> Vec<Cow<'_, str>> {
    let Some(width) = width else { return vec![line.into()] };
    let indent = " ".repeat(hanging_indent(line).min(width / 2));
    let options = Options::new(width)
        .subsequent_indent(&indent)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false);
    textwrap::wrap(line, options)
}

/// Returns the number of columns before the text of a line: its indentation, and the number or
/// bullet of a list item.
fn hanging_indent(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let indent = line.len() - text.len();
    let marker = text.split_inclusive(' ').next().unwrap_or_default();
    let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let is_marker = match marker.trim_end() {
        "-" | "*" | ">" => true,
        word => word.strip_suffix('.').is_some_and(is_number),
    };
    indent + if is_marker { marker.len() } else { 0 }
}

/// Prints a coloured page to git, which shows it in its own pager.
pub(crate) fn print_for_git(page: &str) -> io::Result<()> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let mut out = match is_set("GIT_PAGER_IN_USE") && !is_set("NO_COLOR") {
        true => AutoStream::always_ansi(io::stdout().lock()),
        false => anstream::stdout().lock(),
    };
    out.write_all(page.as_bytes())?;
    out.flush()
}

/// Prints a patch with colours.
pub(crate) fn print_patch(patch: &str) -> io::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(style_patch(patch).as_bytes())?;
    out.flush()
}

/// Colours a patch as git does, and keeps the line endings of the files.
pub(crate) fn style_patch(patch: &str) -> String {
    let style_line = |line: &str| {
        let text = line.trim_end_matches(['\r', '\n']);
        let end = &line[text.len()..];
        let text = escape_unprintable_in_lines(text);
        let styled = match text.as_str() {
            it if ["diff ", "--- ", "+++ ", "new file", "deleted file"]
                .iter()
                .any(|start| it.starts_with(start)) =>
            {
                bold(it)
            }
            it if it.starts_with("@@") => coloured(AnsiColor::Cyan, it),
            it => coloured_by_sign(it.chars().next(), it),
        };
        styled + end
    };
    patch.split_inclusive('\n').map(style_line).collect()
}

/// Colours a page of differences: the names of items bold, lines by their sign.
pub(crate) fn style_diff(page: &str) -> String {
    let style_line = |line: &str| match (line.strip_prefix("  "), line.split_once(": ")) {
        (Some(content), _) if content.starts_with("~ ") => style_changed_words(line),
        (Some(content), _) => coloured_by_sign(content.chars().next(), line),
        (None, Some((label, change))) => format!("{}: {change}", bold(label)),
        (None, None) => line.to_owned(),
    };
    escape_unprintable_in_lines(page).lines().map(|it| style_line(it) + "\n").collect()
}

/// Colours a log: the ids of commits.
pub(crate) fn style_log(page: &str) -> String {
    let style_line = |line: &str| match line.split_once(' ') {
        Some((id, rest)) if !id.is_empty() && id.chars().all(|it| it.is_ascii_hexdigit()) => {
            format!("{} {rest}", coloured(AnsiColor::Yellow, id))
        }
        _ => line.to_owned(),
    };
    escape_unprintable_in_lines(page).lines().map(|it| style_line(it) + "\n").collect()
}

fn coloured_by_sign(sign: Option<char>, text: &str) -> String {
    match sign {
        Some('+') => coloured(AnsiColor::Green, text),
        Some('-') => coloured(AnsiColor::Red, text),
        _ => text.to_owned(),
    }
}

/// Colours the words that a line marks as removed or added: `[-removed-]{+added+}`.
fn style_changed_words(line: &str) -> String {
    let (mut styled, mut rest) = (String::new(), line);
    let marks = [("[-", "-]", AnsiColor::Red), ("{+", "+}", AnsiColor::Green)];
    let first_mark = |rest: &str| {
        let found = marks.iter().filter_map(|(open, close, colour)| {
            let start = rest.find(open)?;
            let length = rest[start..].find(close)? + close.len();
            Some((start, start + length, *colour))
        });
        found.min_by_key(|it| it.0)
    };
    while let Some((start, end, colour)) = first_mark(rest) {
        styled.push_str(&rest[..start]);
        styled.push_str(&coloured(colour, &rest[start..end]));
        rest = &rest[end..];
    }
    styled + rest
}

fn coloured(colour: AnsiColor, text: &str) -> String {
    apply_style(colour.on_default(), text)
}

/// Prints a finding in a form that editors can jump to, with its source line and its hint.
pub(crate) fn print_finding(path: &str, it: &Finding) -> io::Result<()> {
    write!(anstream::stdout().lock(), "{}", format_finding(path, it))
}

/// Prints a finding on the error stream.
pub(crate) fn eprint_finding(path: &str, it: &Finding) {
    anstream::eprint!("{}", format_finding(path, it));
}

fn format_finding(path: &str, Finding { diagnostic, source_excerpt: excerpt }: &Finding) -> String {
    let Diagnostic { code, at, message, .. } = diagnostic;
    let (path, message) = (escape_unprintable_in_lines(path), escape_unprintable_in_lines(message));
    let path = path.replace('\n', "\u{fffd}");
    format!(
        "{path}:{}:{}: {}: {message}\n{excerpt}",
        at.line,
        at.column,
        colored_severity_and_code(*code)
    )
}

/// Prints an error message, or a warning, on the error stream; the same message only once: what a
/// palace warns of while it is opened may also be why the command fails.
pub(crate) fn eprint_failure(message: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    if printed.insert(message.to_owned()) {
        anstream::eprintln!("{}: {}", bold("palazzo"), escape_unprintable_in_lines(message));
    }
}

fn colored_severity_and_code(code: Code) -> String {
    let severity = code.severity();
    let colour = match severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info => AnsiColor::Cyan,
    };
    apply_style(colour.on_default().bold(), &format!("{severity}[{code}]"))
}

fn apply_style(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::Position;

    fn finding(code: Code, path: &str, message: &str) -> String {
        let mut diagnostic = Diagnostic::for_file(code, path, message);
        diagnostic.at = Position { line: 3, column: 7 };
        let finding = Finding { diagnostic, source_excerpt: "  3 | name: x\n".to_owned() };
        format_finding(path, &finding)
    }

    #[test]
    fn hidden_characters_are_escaped_so_that_json_keeps_its_values() {
        let json = "{\n  \"name\": \"A\u{202e}b\"\n}\n";
        assert_eq!(escape_output(json), "{\n  \"name\": \"A\\u202eb\"\n}\n");
        assert_eq!(escape_output("A\u{202e}b\u{1b}[2J\n"), "A\\u{202e}b\\u{1b}[2J\n");
    }

    #[test]
    fn a_line_is_wrapped_between_words_below_its_text() {
        let wrap = |line| wrap_line(line, Some(24)).join("\n");
        insta::assert_snapshot!(wrap("  12. Take the gravel path for newcomers"), @"
          12. Take the gravel
              path for newcomers
        ");
        insta::assert_snapshot!(wrap("- one two three four five six"), @"
        - one two three four
          five six
        ");
        insta::assert_snapshot!(wrap("    indented text that is long"), @"
            indented text that
            is long
        ");
        assert_eq!(
            wrap("1990 was a year. It ended in snow."),
            "1990 was a year. It\nended in snow."
        );
        assert_eq!(wrap(""), "");
    }

    #[test]
    fn no_word_is_broken_and_no_style_counts_as_columns() {
        let url = "https://example.org/a/very/long/address";
        assert_eq!(wrap_line(&format!("see {url} there"), Some(24)), ["see", url, "there"]);
        let styled = "\u{1b}[1mone two three four\u{1b}[0m five";
        assert_eq!(wrap_line(styled, Some(24)), [styled]);
        let line = "a line that is not for a terminal stays as it is";
        assert_eq!(wrap_line(line, None), [line]);
    }

    #[test]
    fn a_finding_begins_with_the_place_that_editors_jump_to() {
        let text = finding(Code::EmptyRoom, "rooms/hall.yaml", "the room is empty");
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            plain,
            "rooms/hall.yaml:3:7: info[empty-room]: the room is empty\n  3 | name: x\n"
        );
    }

    #[test]
    fn a_line_break_in_a_file_name_begins_no_line() {
        let text = finding(Code::EmptyRoom, "rooms/a\nrooms/b.yaml:1:1: error", "x");
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(plain.lines().count(), 2);
    }

    fn visible_codes(styled: &str) -> String {
        styled.replace('\u{1b}', "")
    }

    #[test]
    fn a_difference_has_bold_names_and_coloured_content() {
        let page = "room hall: renamed\n  + name: Hall\n  ~ a [-b-]{+c+} d\n    same\n";
        insta::assert_snapshot!(visible_codes(&style_diff(page)), @"
        [1mroom hall[0m: renamed
        [32m  + name: Hall[0m
          ~ a [31m[-b-][0m[32m{+c+}[0m d
            same
        ");
        let patch = "diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n-one\r\n+two\r\n same\n";
        insta::assert_snapshot!(visible_codes(&style_patch(patch)), @"
        [1mdiff --git a/x b/x[0m
        [1m--- a/x[0m
        [36m@@ -1 +1 @@[0m
        [31m-one[0m
        [32m+two[0m
         same
        ");
        assert!(style_patch(patch).contains("\r\n"));
        insta::assert_snapshot!(visible_codes(&style_log("1a2b3c4  now  ada  x\n    added\n")), @"
        [33m1a2b3c4[0m  now  ada  x
            added
        ");
    }

    #[test]
    fn each_severity_has_a_colour() {
        let colour = |code| colored_severity_and_code(code).replace('\u{1b}', "");
        assert_eq!(colour(Code::BadSlug), "[1m[31merror[bad-slug][0m");
        assert_eq!(colour(Code::SameId), "[1m[33mwarning[same-id][0m");
        assert_eq!(colour(Code::EmptyRoom), "[1m[36minfo[empty-room][0m");
    }

    #[test]
    fn a_finding_never_contains_control_characters_of_a_file() {
        let text = finding(Code::Syntax, "rooms/b\u{1b}[2Jad.yaml", "a\u{7}b\u{202e}c");
        let begin = "rooms/b\\u{1b}[2Jad.yaml:3:7: ";
        assert!(text.starts_with(begin) && text.contains(": a\\u{7}b\\u{202e}c\n"), "{text:?}");
    }
}
