//! Front matter: the YAML block before the text of a Markdown file.
//!
//! It is split off by hand, so that the text is preserved byte for byte, including line breaks,
//! trailing spaces and `---`.

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, SecondsFormat, SubsecRound, Utc};
use ulid::Ulid;

use crate::format::file_parser::{FileParser, MappingFields, parse_text};
use crate::format::yaml::{Node, OutputNode, serialize_yaml};
use crate::model::{Code, Slug, TimeZone, quoted};

/// Maximum number of characters of a title in a file name.
const MAX_TITLE_CHARS: usize = 40;

/// Splits front matter from text; the blank line between them belongs to neither.
pub(crate) fn split_front_matter(whole: &str) -> Option<(&str, &str)> {
    let rest = text_after_opening_fence(whole)?;
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

/// Returns the text after the opening fence of front matter.
pub(crate) fn text_after_opening_fence(whole: &str) -> Option<&str> {
    let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
    whole.strip_prefix("---\n").or_else(|| whole.strip_prefix("---\r\n"))
}

/// Writes a text after its front matter.
pub(crate) fn join_front_matter(matter: &[(&'static str, OutputNode)], text: &str) -> String {
    format!("---\n{}---\n\n{text}", serialize_yaml(&OutputNode::Map(matter.to_vec())))
}

/// Parses the keys of front matter, which are among `known`.
pub(crate) fn parse_front_matter(
    reader: &mut FileParser<'_>,
    matter: &str,
    what: &'static str,
    known: &[&str],
) -> Option<MappingFields> {
    reader.parse_file_as_mapping(&pad_to_file_line_numbers(matter), what, known)
}

/// Returns front matter with the line numbers of the file: a line break replaces the opening fence.
pub(crate) fn pad_to_file_line_numbers(matter: &str) -> String {
    format!("\n{matter}")
}

/// Returns the id from the file name, else the one from the front matter.
pub(crate) fn id_from_filename_or_front_matter(
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
        let message = format!("the `id` is {said}, but the file name has {named}");
        reader.report(Code::IdMismatch, at, message).set_certain_word(Some(&named.to_string()));
    }
    named.or(said)
}

/// Returns the id at the beginning of a file name.
pub(crate) fn id_from_filename(file: &str) -> Option<Ulid> {
    let name = file.rsplit('/').next()?.trim_end_matches(".md");
    name.get(..26)?.parse().ok()
}

/// A time that a file contains.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeInFile {
    /// The time; without a zone it is one of the zone of the palace.
    pub(crate) at: DateTime<Utc>,
    /// The time, read in UTC if it has no zone. Ids are derived from it, so that they stay when
    /// the palace gets a zone.
    pub(crate) at_in_utc: DateTime<Utc>,
}

/// Parses a time with or without a zone, or a day: its first second.
pub(crate) fn parse_time(reader: &mut FileParser<'_>, node: Node, key: &str) -> Option<TimeInFile> {
    let at = node.at;
    let said = parse_text(reader, node, key)?;
    let full = said.parse::<DateTime<Utc>>().ok().map(|it| it.trunc_subsecs(0));
    let full = full.map(|it| TimeInFile { at: it, at_in_utc: it });
    let local = || parse_local_time(&said).or_else(|| parse_day(&said));
    let time = full.or_else(|| Some(TimeInFile::in_zone(local()?, reader.zone())));
    if time.is_none() {
        let message = format!("{} is no time", quoted(&said));
        let hint = "write 2026-03-01T12:00:00Z, or only the day: 2026-03-01".to_owned();
        reader.report(Code::BadTime, at, message).hint = Some(hint);
    }
    time
}

impl TimeInFile {
    fn in_zone(local: NaiveDateTime, zone: &TimeZone) -> Self {
        Self { at: zone.to_utc(local), at_in_utc: local.trunc_subsecs(0).and_utc() }
    }
}

/// Parses a time without a zone, as many programs write it: `2026-03-01 12:00`.
fn parse_local_time(text: &str) -> Option<NaiveDateTime> {
    let text = text.replacen(' ', "T", 1);
    let minutes = || NaiveDateTime::parse_from_str(&text, "%Y-%m-%dT%H:%M").ok();
    text.parse().ok().or_else(minutes)
}

fn parse_day(text: &str) -> Option<NaiveDateTime> {
    Some(text.parse::<NaiveDate>().ok()?.and_time(NaiveTime::MIN))
}

/// Returns the time of writing of a file that does not contain it: the time in its id, or the day
/// at the beginning of its name, in `zone`.
pub(crate) fn time_from_id_or_filename(
    id: Option<Ulid>,
    file: &str,
    zone: &TimeZone,
) -> Option<TimeInFile> {
    let at = id.map(|it| DateTime::<Utc>::from(it.datetime()).trunc_subsecs(0));
    let day = || parse_day(file.rsplit('/').next()?.get(..10)?);
    let at = at.map(|it| TimeInFile { at: it, at_in_utc: it });
    at.or_else(|| Some(TimeInFile::in_zone(day()?, zone)))
}

/// Formats a time.
pub(crate) fn time_to_yaml(at: DateTime<Utc>) -> OutputNode {
    OutputNode::Plain(time_to_text(at))
}

/// Formats a time as text.
pub(crate) fn time_to_text(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Returns a stable id for a file without one: from its time, with a hash of its name in place of
/// the random part.
pub(crate) fn derive_id_from_time_and_path(at: DateTime<Utc>, file: &str) -> Ulid {
    // FNV-1a is enough: the hash protects no secret and only has to be stable.
    let hash = file.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ulid::from_parts(u64::try_from(at.timestamp_millis()).unwrap_or_default(), hash.into())
}

/// Returns a file name: the id, and a readable title, if there is one.
pub(crate) fn filename_from_id_and_title(id: Ulid, title: &str) -> String {
    let start: String = title.chars().take(4 * MAX_TITLE_CHARS).collect();
    let title: String = match Slug::from_text(&start) {
        Some(slug) => slug.as_str().chars().take(MAX_TITLE_CHARS).collect(),
        None => return format!("{id}.md"),
    };
    format!("{id}-{}.md", title.trim_end_matches('-'))
}

/// Joins the words of a text on one line.
pub(crate) fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse_palace;
    use crate::model::Files;

    #[test]
    fn a_zone_moves_times_and_keeps_ids() {
        let matter =
            |written: &str| format!("---\ntitle: T\nwritten: {written}\nby: ada\n---\n\nText");
        let palace = |zone: &str| {
            let files = Files::from([
                ("palace.toml".to_owned(), format!("name = \"P\"\n[time]\nzone = \"{zone}\"\n")),
                ("scrolls/hall/a.md".to_owned(), matter("2026-03-01")),
                ("scrolls/hall/b.md".to_owned(), matter("2026-03-01 12:30")),
                ("scrolls/hall/c.md".to_owned(), matter("2026-03-01T12:30:00+01:00")),
                ("drawers/hall/notes/2026-03-01-plan.md".to_owned(), "The plan.".to_owned()),
            ]);
            let (palace, findings) = parse_palace("P", &files);
            assert_eq!(findings, []);
            let scrolls = palace.scrolls().map(|(_, it)| (it.id.to_string(), it.written));
            let drawers =
                palace.drawers.iter().map(|(.., it)| (it.id.to_string(), it.filed.unwrap()));
            scrolls.chain(drawers).collect::<std::collections::BTreeMap<_, _>>()
        };
        let (utc, tokyo) = (palace("UTC"), palace("Asia/Tokyo"));
        assert!(utc.keys().eq(tokyo.keys()), "{utc:?} {tokyo:?}");
        let hours =
            utc.values().zip(tokyo.values()).map(|(utc, tokyo)| (*utc - *tokyo).num_hours());
        let mut hours: Vec<_> = hours.collect();
        hours.sort_unstable();
        assert_eq!(hours, [0, 9, 9, 9], "only a time with an offset stays");
    }

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
