//! Writes a tree as text in canonical form, and rewrites a whole file with its comments.

use crate::format::yaml::output_node::OutputNode;
use serde_json::Value;
use serde_saphyr::{FlowSeq, SerializerOptions, ser_options};
use unicode_width::UnicodeWidthStr as _;

use crate::format::yaml::attached_comments::{AttachedComments, CommentsAndDashes};
use crate::format::yaml::parse::{Node, parse_yaml};

/// The line width from which formatters of YAML break lines.
const MAX_LINE_WIDTH: usize = 80;

/// Writes a file.
pub(in crate::format) fn serialize_yaml(out: &OutputNode) -> String {
    serialize_yaml_with_comments(out, AttachedComments::NONE)
}

/// Writes a file with its comments, which must have been fitted to the output.
fn serialize_yaml_with_comments(out: &OutputNode, notes: &AttachedComments) -> String {
    let mut text = String::new();
    write_comment_lines(&notes.above, 0, &mut text);
    out.write_lines(0, notes, &mut text);
    text
}

/// Writes a text on one line, in quotes if needed.
pub(in crate::format) fn one_line_scalar(text: &str) -> String {
    quote_scalar_if_needed(text, true)
}

/// Writes a value on one line, as it stands in brackets or braces.
pub(in crate::format) fn inline_yaml(value: &OutputNode) -> String {
    match value {
        OutputNode::Plain(it) if it.is_empty() => "null".to_owned(),
        OutputNode::Plain(it) => it.clone(),
        OutputNode::Text(it) | OutputNode::BlockText(it) => quote_scalar_if_needed(it, true),
        OutputNode::List(items) => {
            format!("[{}]", items.iter().map(inline_yaml).collect::<Vec<_>>().join(", "))
        }
        OutputNode::Map(_) | OutputNode::DynamicMap(_) => {
            let pairs = value.pairs().into_iter().flatten();
            let pairs = pairs.map(|(key, it)| {
                format!("{}: {}", quote_scalar_if_needed(key, true), inline_yaml(it))
            });
            join_in_braces(&pairs.collect::<Vec<_>>())
        }
    }
}

impl OutputNode {
    /// Writes the lines of a map or a list.
    fn write_lines(&self, indent: usize, notes: &AttachedComments, text: &mut String) {
        match self {
            Self::Map(pairs) => {
                for (key, value) in pairs {
                    value.write_pair(key, key, indent, notes, text);
                }
            }
            Self::DynamicMap(pairs) => {
                for (key, value) in pairs {
                    value.write_pair(key, &quote_scalar_if_needed(key, false), indent, notes, text);
                }
            }
            Self::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.write_item(indent, notes.for_item(index), text);
                }
            }
            Self::Plain(_) | Self::Text(_) | Self::BlockText(_) => {}
        }
        write_comment_lines(&notes.below, indent, text);
    }

    /// Writes a key with this value.
    fn write_pair(
        &self,
        key: &str,
        quoted_key: &str,
        indent: usize,
        notes: &AttachedComments,
        text: &mut String,
    ) {
        let notes = notes.for_key(key);
        begin_line(indent, notes, text);
        text.push_str(quoted_key);
        text.push(':');
        self.write_after_key(indent, notes, text);
    }

    /// Writes a dash with this value, whose first line follows the dash.
    fn write_item(&self, indent: usize, notes: &AttachedComments, text: &mut String) {
        begin_line(indent, notes, text);
        text.push('-');
        if self.has_children() {
            text.push(' ');
            self.write_lines(indent + 2, notes, text);
        } else {
            self.write_after_key(indent, notes, text);
        }
    }

    fn write_after_key(&self, indent: usize, notes: &AttachedComments, text: &mut String) {
        let beside = notes.trailing.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        let line = match self {
            _ if self.has_children() => {
                text.push_str(&beside);
                text.push('\n');
                let start = text.len();
                self.write_lines(indent + 2, notes, text);
                // No blank line stands between a key and what belongs to it.
                if text[start..].starts_with('\n') {
                    text.remove(start);
                }
                return;
            }
            Self::Text(it)
                if it.contains('\n') && can_be_block_literal(it) && fits_on_line(text, " |2-") =>
            {
                return write_block_literal(it, indent + 2, &beside, text);
            }
            Self::BlockText(it) if can_be_block_literal(it) => {
                let it = format!("{}\n", it.trim_end());
                return write_block_literal(&it, indent + 2, &beside, text);
            }
            Self::Plain(it) if it.is_empty() => String::new(),
            Self::List(_) | Self::Map(_) | Self::DynamicMap(_) if !fits_on_line(text, " []") => {
                format!("\n{}{}", " ".repeat(indent + 2), inline_yaml(self))
            }
            Self::Text(it) | Self::BlockText(it) => {
                format!(" {}", quote_scalar_if_needed(it, false))
            }
            _ => format!(" {}", inline_yaml(self)),
        };
        text.push_str(&format!("{line}{beside}\n"));
    }
}

/// Returns whether the last line has room for `more`. If not, formatters of YAML move the header of
/// a block literal, and empty brackets, from a long key to the next line.
fn fits_on_line(text: &str, more: &str) -> bool {
    let line = text.rsplit('\n').next().unwrap_or_default();
    line.width() + more.len() <= MAX_LINE_WIDTH
}

fn join_in_braces(pairs: &[String]) -> String {
    if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
}

/// Begins a line with the comments above it; what follows a dash has none.
fn begin_line(indent: usize, notes: &AttachedComments, text: &mut String) {
    if text.is_empty() || text.ends_with('\n') {
        write_comment_lines(&notes.above, indent, text);
        text.push_str(&" ".repeat(indent));
    }
}

/// Writes a text on one line as a scalar, in quotes where a YAML 1.1 or 1.2 parser would otherwise
/// read something else.
fn quote_scalar_if_needed(text: &str, flow: bool) -> String {
    let options: SerializerOptions = ser_options! { prefer_block_scalars: false };
    let written = if flow {
        serde_saphyr::to_string_with_options(&FlowSeq([text]), options)
    } else {
        serde_saphyr::to_string_with_options(&text, options)
    };
    let line = written.unwrap_or_else(|_| Value::from(text).to_string());
    let line = line.trim_end_matches('\n');
    let bare = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    choose_quotes(text, bare.filter(|_| flow).unwrap_or(line))
}

/// Chooses the quotes that formatters of YAML choose: double quotes, or single quotes around a text
/// with double quotes; a text with escapes keeps what it has.
fn choose_quotes(text: &str, written: &str) -> String {
    let is_quoted = written.starts_with(['"', '\'']);
    let is_escaped = written.replace("\\\"", "").contains('\\');
    match text.contains('"') {
        _ if !is_quoted || is_escaped => written.to_owned(),
        true => format!("'{}'", text.replace('\'', "''")),
        false => format!("\"{text}\""),
    }
}

/// Returns whether a block literal preserves the text: characters that YAML must escape, breaks
/// that it would fold, and blanks at the end of the text need quotes.
fn can_be_block_literal(text: &str) -> bool {
    let odd = |it: char| {
        it.is_control() && !matches!(it, '\n' | '\t')
            || matches!(it, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    };
    let last = text.trim_end_matches('\n').rsplit('\n').next().unwrap_or_default();
    !text.contains(odd) && !last.trim_matches([' ', '\t']).is_empty()
}

/// Writes comments and blank lines: at most one blank line at a time, and none after a text that
/// would include it.
fn write_comment_lines(lines: &[String], indent: usize, text: &mut String) {
    for line in lines {
        if !line.is_empty() {
            text.push_str(&" ".repeat(indent));
            text.push_str(line);
        } else if text.is_empty() || text.ends_with("\n\n") {
            continue;
        }
        text.push('\n');
    }
}

fn write_block_literal(it: &str, indent: usize, beside: &str, text: &mut String) {
    let body = it.trim_end_matches('\n');
    let breaks = it.len() - body.len();
    let leads_with_space = body.trim_start_matches('\n').starts_with([' ', '\t']);
    text.push_str(" |");
    if leads_with_space || body.starts_with('\n') {
        text.push('2');
    }
    text.push_str(["-", ""].get(breaks).copied().unwrap_or("+"));
    text.push_str(beside);
    text.push('\n');
    for line in body.split('\n') {
        if !line.is_empty() {
            text.push_str(&" ".repeat(indent));
            text.push_str(line);
        }
        text.push('\n');
    }
    text.push_str(&"\n".repeat(breaks.saturating_sub(1)));
}

/// Writes the node that `out` makes of the parsed `text`, with the comments of `text`; `None` if
/// `text` cannot be parsed.
pub(in crate::format) fn rewrite_yaml(
    text: &str,
    out: impl Fn(&Node) -> OutputNode,
) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let out = out(&root);
    let mut notes =
        AttachedComments::attach_all_comments(text, &root, &CommentsAndDashes::scan(text));
    notes.fit_to_output(&out);
    Some(serialize_yaml_with_comments(&out, &notes))
}

/// Writes the node `now` with the comments of `text`, whose content is `was`; `None` if `text`
/// cannot be parsed.
pub(in crate::format) fn rewrite_edited_yaml(
    text: &str,
    was: &OutputNode,
    now: &OutputNode,
) -> Option<String> {
    let root = parse_yaml(text).ok()?;
    let mut notes =
        AttachedComments::attach_all_comments(text, &root, &CommentsAndDashes::scan(text));
    notes.follow_items(was, now);
    notes.fit_to_output(now);
    Some(serialize_yaml_with_comments(now, &notes))
}
