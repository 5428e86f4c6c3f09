//! Front matter: what a Markdown file says of itself before its text.
//!
//! It is split off by hand, so that the text is given back byte for byte: line
//! breaks, blanks at line ends and `---` in the text included.

use chrono::{DateTime, NaiveDate, NaiveTime, SecondsFormat, SubsecRound, Utc};
use ulid::Ulid;

use crate::format::file_parser::{FileParser, MappingFields, parse_text};
use crate::format::yaml::{Node, OutputNode, write_yaml};
use crate::model::{Code, Slug};

/// How much of a title is in a file's name.
const MAX_TITLE_CHARS: usize = 40;

/// Splits front matter from text; the blank line between them is neither's.
pub(crate) fn split_front_matter(file: &str) -> Option<(&str, &str)> {
    let rest = text_after_opening_fence(file)?;
    let mut start = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" && line.starts_with("---") {
            let body = &rest[start + line.len()..];
            let blank = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n'));
            return Some((&rest[..start], blank.unwrap_or(body)));
        }
        start += line.len();
    }
    None
}

/// Returns what follows the fence that front matter begins with.
pub(crate) fn text_after_opening_fence(file: &str) -> Option<&str> {
    let file = file.strip_prefix('\u{feff}').unwrap_or(file);
    file.strip_prefix("---\n").or_else(|| file.strip_prefix("---\r\n"))
}

/// Writes a text behind its front matter.
pub(crate) fn join_front_matter(matter: &[(&'static str, OutputNode)], text: &str) -> String {
    format!("---\n{}---\n\n{text}", write_yaml(&OutputNode::Map(matter.to_vec())))
}

/// Reads the keys of front matter, which are among `known`.
pub(crate) fn parse_front_matter(
    reader: &mut FileParser<'_>,
    matter: &str,
    what: &'static str,
    known: &[&str],
) -> Option<MappingFields> {
    reader.parse_mapping_file(&align_to_file_lines(matter), what, known)
}

/// Returns front matter with each line at its number in the file: a line break
/// stands in place of the opening fence.
pub(crate) fn align_to_file_lines(matter: &str) -> String {
    format!("\n{matter}")
}

/// Takes the id that the file's name says, else the one its front matter says.
pub(crate) fn id_from_name_or_fields(
    reader: &mut FileParser<'_>,
    fields: &mut MappingFields,
    file: &str,
) -> Option<Ulid> {
    let at = fields.value_position("id");
    let said = fields.take_ulid(reader, "id");
    let named = id_from_filename(file);
    if let (Some(said), Some(named)) = (said, named)
        && said != named
    {
        let message = format!("the `id` is {said}, but the file's name says {named}");
        reader.report(Code::IdMismatch, at, message).replacement = Some(named.to_string().into());
    }
    named.or(said)
}

/// Returns the id that a file's name begins with.
pub(crate) fn id_from_filename(file: &str) -> Option<Ulid> {
    let name = file.rsplit('/').next()?.trim_end_matches(".md");
    name.get(..26)?.parse().ok()
}

/// Reads a time in full, or a day: its first moment in UTC.
pub(crate) fn parse_time(
    reader: &mut FileParser<'_>,
    node: Node,
    key: &str,
) -> Option<DateTime<Utc>> {
    let at = node.at;
    let said = parse_text(reader, node, key)?;
    let time = said.parse::<DateTime<Utc>>().ok().or_else(|| parse_day(&said));
    if time.is_none() {
        let message = format!("`{}` is no time", said.escape_debug());
        let hint = "write 2026-03-01T12:00:00Z, or only the day: 2026-03-01".to_owned();
        reader.report(Code::BadTime, at, message).hint = Some(hint);
    }
    Some(time?.trunc_subsecs(0))
}

fn parse_day(text: &str) -> Option<DateTime<Utc>> {
    Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN).and_utc())
}

/// Returns when a file was written that does not say so itself: at the time in
/// its id, or on the day its name begins with.
pub(crate) fn time_from_id_or_filename(id: Option<Ulid>, file: &str) -> Option<DateTime<Utc>> {
    let at = id.map(|it| DateTime::<Utc>::from(it.datetime()).trunc_subsecs(0));
    at.or_else(|| parse_day(file.rsplit('/').next()?.get(..10)?))
}

/// Spells a time.
pub(crate) fn time_to_yaml(at: DateTime<Utc>) -> OutputNode {
    OutputNode::Plain(at.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// Gives what has no id one that is always the same: its time, and its file's
/// name in place of chance.
pub(crate) fn derive_id(at: DateTime<Utc>, file: &str) -> Ulid {
    // FNV-1a: no secret is kept by it, it only has to be the same tomorrow.
    let hash = file.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ulid::from_parts(u64::try_from(at.timestamp_millis()).unwrap_or_default(), hash.into())
}

/// Names a file: by id, and by a title that people can read, if it has any.
pub(crate) fn filename_from_id_and_title(id: Ulid, title: &str) -> String {
    let start: String = title.chars().take(4 * MAX_TITLE_CHARS).collect();
    let title: String = match Slug::from_text(&start) {
        Some(slug) => slug.as_str().chars().take(MAX_TITLE_CHARS).collect(),
        None => return format!("{id}.md"),
    };
    format!("{id}-{}.md", title.trim_end_matches('-'))
}

/// Makes one line of a text.
pub(crate) fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_after_front_matter_is_kept_byte_for_byte() {
        for text in ["", "a", "a\n", "\n\na  \r\n---\nb\n\n", "---\n", "\r\n", "\u{feff}a"] {
            let matter = vec![("title", OutputNode::Text("T".to_owned()))];
            assert_eq!(
                split_front_matter(&join_front_matter(&matter, text)),
                Some(("title: T\n", text)),
                "{text:?}"
            );
        }
        assert_eq!(
            split_front_matter("---\r\ntitle: T\r\n---\r\nbody"),
            Some(("title: T\r\n", "body"))
        );
        assert_eq!(split_front_matter("no fence"), None);
        assert_eq!(split_front_matter("---\ntitle: never closed\n"), None);
    }
}
