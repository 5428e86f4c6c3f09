//! Writes a tree as text in canonical form.

use crate::format::yaml::output_node::OutputNode;
use serde_json::{Map, Value};
use serde_saphyr::{FlowSeq, SerializerOptions, ser_options};

use crate::format::yaml::attached_comments::AttachedComments;

/// Writes a file.
pub(in crate::format) fn serialize_yaml(out: &OutputNode) -> String {
    serialize_yaml_with_comments(out, AttachedComments::NONE)
}

/// Writes a file with its comments, which must have been fitted to the output.
pub(in crate::format) fn serialize_yaml_with_comments(
    out: &OutputNode,
    notes: &AttachedComments,
) -> String {
    let mut text = String::new();
    write_comment_lines(&notes.above, 0, &mut text);
    out.write_block(0, notes, &mut text);
    text
}

/// Writes a text on one line, in quotes if needed.
pub(in crate::format) fn one_line_scalar(text: &str) -> String {
    quote_scalar_if_needed(text, true)
}

impl OutputNode {
    /// Writes the lines of a map or a list, or what follows `key:` for anything else.
    fn write_block(&self, indent: usize, notes: &AttachedComments, text: &mut String) {
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
                    let notes = notes.for_item(index);
                    write_comment_lines(&notes.above, indent, text);
                    text.push_str(&" ".repeat(indent));
                    text.push('-');
                    if item.is_block_map() {
                        text.push(' ');
                        item.write_block(indent + 2, notes, text);
                    } else {
                        item.write_after_key(indent, notes, text);
                    }
                }
            }
            _ => return self.write_after_key(indent, notes, text),
        }
        write_comment_lines(&notes.below, indent, text);
    }

    /// Writes a key with this value on lines of their own; the first key of a list item follows the
    /// dash.
    fn write_pair(
        &self,
        key: &str,
        quoted_key: &str,
        indent: usize,
        notes: &AttachedComments,
        text: &mut String,
    ) {
        let notes = notes.for_key(key);
        if text.is_empty() || text.ends_with('\n') {
            write_comment_lines(&notes.above, indent, text);
            text.push_str(&" ".repeat(indent));
        }
        text.push_str(quoted_key);
        text.push(':');
        self.write_after_key(indent, notes, text);
    }

    fn write_after_key(&self, indent: usize, notes: &AttachedComments, text: &mut String) {
        let beside = notes.trailing.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        match self {
            Self::Map(_) | Self::List(_) | Self::DynamicMap(_) => {
                text.push_str(&beside);
                text.push('\n');
                self.write_block(indent + 2, notes, text);
            }
            Self::Text(it) if it.contains('\n') && can_be_block_literal(it) => {
                write_block_literal(it, indent + 2, &beside, text);
            }
            Self::BlockText(it) if can_be_block_literal(it) => {
                write_block_literal(&format!("{}\n", it.trim_end()), indent + 2, &beside, text);
            }
            Self::Plain(it) if it.is_empty() => text.push_str(&format!("{beside}\n")),
            _ => {
                text.push(' ');
                text.push_str(&self.to_inline_text(false));
                text.push_str(&beside);
                text.push('\n');
            }
        }
    }

    /// Writes the value on one line; inside `{}` or `[]` if `flow`.
    fn to_inline_text(&self, flow: bool) -> String {
        match self {
            Self::Plain(it) => it.clone(),
            Self::Text(it) | Self::BlockText(it) => quote_scalar_if_needed(it, flow),
            Self::Json(it) => json_to_inline_text(it, flow),
            Self::FlowMap(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| format!("{key}: {}", value.to_inline_text(true)));
                join_in_braces(&pairs.collect::<Vec<_>>())
            }
            Self::FlowList(items) | Self::List(items) => {
                let items: Vec<_> = items.iter().map(|it| it.to_inline_text(true)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Map(pairs) => Self::FlowMap(pairs.clone()).to_inline_text(flow),
            Self::DynamicMap(pairs) | Self::DynamicFlowMap(pairs) => {
                let pairs = pairs.iter().map(|(key, it)| {
                    format!("{}: {}", quote_scalar_if_needed(key, true), it.to_inline_text(true))
                });
                join_in_braces(&pairs.collect::<Vec<_>>())
            }
        }
    }
}

fn json_to_inline_text(value: &Value, flow: bool) -> String {
    match value {
        Value::String(it) => quote_scalar_if_needed(it, flow),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|it| json_to_inline_text(it, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => join_in_braces(&inline_json_pairs(map)),
        _ => value.to_string(),
    }
}

fn inline_json_pairs(map: &Map<String, Value>) -> Vec<String> {
    map.iter()
        .map(|(key, value)| {
            format!("{}: {}", quote_scalar_if_needed(key, true), json_to_inline_text(value, true))
        })
        .collect()
}

fn join_in_braces(pairs: &[String]) -> String {
    if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
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
    bare.filter(|_| flow).unwrap_or(line).to_owned()
}

/// Returns whether a block literal preserves the text: characters that YAML must escape, and breaks
/// that it would fold, need quotes.
fn can_be_block_literal(text: &str) -> bool {
    let odd = |it: char| {
        it.is_control() && !matches!(it, '\n' | '\t')
            || matches!(it, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    };
    !text.contains(odd) && !text.trim_matches(['\n', ' ', '\t']).is_empty()
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
