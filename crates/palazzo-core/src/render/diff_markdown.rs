//! Renders the differences between two states of a palace as Markdown, for a pull request.

use crate::model::{ChangeKind, ItemDiff, escape_unprintable_in_lines};
use crate::render::item_json::item_kind_and_name;
use crate::render::palace_diff::{ContentLine, change_summary, content_lines, item_label};
use crate::render::text::count_with_noun;

/// Limit for the bytes of a summary; a comment on `GitHub` may have 65,536 characters.
const MAX_BYTES: usize = 60_000;
/// Limit for the lines of content of one item.
const MAX_LINES: usize = 60;

/// Renders a summary of differences: their number by kind, then a list of items, each with its
/// content in a part that can be opened. `title` names what is compared.
pub fn palace_diff_markdown(title: &str, differences: &[ItemDiff]) -> String {
    let mut page = format!("### {}\n\n", escape_markdown(title));
    if differences.is_empty() {
        return page + "Nothing differs.\n";
    }
    page.push_str(&format!("{}\n\n", count_by_kind(differences)));
    for (at, it) in differences.iter().enumerate() {
        let item = render_item(it);
        if page.len() + item.len() > MAX_BYTES {
            let left = count_with_noun(differences.len() - at, "item");
            page.push_str(&format!("\nThe summary is too long: {left} left out.\n"));
            break;
        }
        page.push_str(&item);
    }
    page
}

/// Counts the items by kind and change: `2 rooms changed, 1 scroll added`.
fn count_by_kind(differences: &[ItemDiff]) -> String {
    let mut counts: Vec<((&str, &str), usize)> = Vec::new();
    for it in differences {
        let change = match it.change {
            ChangeKind::Added(_) => "added",
            ChangeKind::Removed(_) => "removed",
            ChangeKind::Changed(_) => "changed",
        };
        let key = (item_kind_and_name(&it.item).0, change);
        match counts.iter_mut().find(|(it, _)| *it == key) {
            Some((_, count)) => *count += 1,
            None => counts.push((key, 1)),
        }
    }
    let counts = counts.into_iter().map(|((kind, change), count)| match kind {
        "settings" => format!("settings {change}"),
        "genus" if count > 1 => format!("{count} genera {change}"),
        "diary" => format!("{} {change}", count_with_noun(count, "diary entry")),
        kind => format!("{} {change}", count_with_noun(count, kind)),
    });
    counts.collect::<Vec<_>>().join(", ")
}

fn render_item(it: &ItemDiff) -> String {
    let (label, summary) = (item_label(&it.item), change_summary(&it.change));
    let head = format!("- **{}**: {}\n", escape_markdown(&label), escape_markdown(&summary));
    let lines = content_lines(&it.change);
    if lines.is_empty() {
        return head;
    }
    let shown = lines.iter().take(MAX_LINES).flat_map(patch_lines).collect::<Vec<_>>().join("\n");
    let more = match lines.len().saturating_sub(MAX_LINES) {
        0 => String::new(),
        more => format!("\n  … {} more", count_with_noun(more, "line")),
    };
    let fence = "`".repeat(longest_run_of_backticks(&shown).max(2) + 1);
    let block = format!("{fence}diff\n{shown}{more}\n{fence}");
    let block = block.lines().map(|it| format!("  {it}").trim_end().to_owned() + "\n");
    let block = block.collect::<String>();
    format!("{head}  <details><summary>content</summary>\n\n{block}\n  </details>\n")
}

/// Renders a line as in a patch, which `GitHub` colours by the first character.
fn patch_lines(line: &ContentLine) -> Vec<String> {
    let sign = if line.sign == '~' { '!' } else { line.sign };
    vec![escape_unprintable_in_lines(&format!("{sign} {}", line.text)).replace('\n', " ")]
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|it| it != '`').map(str::len).max().unwrap_or_default()
}

/// Escapes what Markdown and `GitHub` would interpret: names come from agents.
fn escape_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for it in escape_unprintable_in_lines(text).chars() {
        match it {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A name after `@` would be notified, and a number after `#` linked.
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => escaped.extend(['\\', it]),
            it => escaped.push(it),
        }
    }
    escaped.replace("://", "&#58;//")
}
