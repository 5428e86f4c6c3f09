//! Scroll files: `scrolls/<room>/<ULID>-<title>.md`, Markdown after front matter.

use ulid::Ulid;

use crate::format::file_parser::{FileParser, MappingFields, parse_item_text};
use crate::format::front_matter::{self, derive_id_from_time_and_path, time_from_id_or_filename};
use crate::format::yaml::OutputNode;
use crate::model::{Code, Position, Scroll, quoted};

const SCROLL_KEYS: &[&str] = &["id", "title", "written", "by", "replaces"];

pub(super) fn parse_scroll(reader: &mut FileParser<'_>, file: &str, whole: &str) -> Option<Scroll> {
    let Some((matter, body)) = front_matter::split_front_matter(whole) else {
        let (message, hint) = match front_matter::text_after_opening_fence(whole) {
            Some(_) => ("the front matter is not closed", "write `---` on the line below it"),
            None => (
                "a scroll begins with `---`, its title and so on, and `---` again",
                "front matter: `title`, `written`, `by`",
            ),
        };
        reader.report(Code::FrontMatter, Position::START, message).hint = Some(hint.to_owned());
        return None;
    };
    let mut fields =
        front_matter::parse_front_matter(reader, matter, "a scroll's front matter", SCROLL_KEYS)?;
    let at = fields.mapping_start();
    let title = fields.take_required_text(reader, "title");
    let by = fields.take_text(reader, "by").unwrap_or_else(|| "unknown".to_owned());
    let replaces = take_replaced_ids(reader, &mut fields);
    let dated =
        fields.take_value("written").map(|it| front_matter::parse_time(reader, it, "written"));
    let written = dated.flatten();
    let id = front_matter::id_from_filename_or_front_matter(reader, &mut fields, file);
    let derive_id = || Some(derive_id_from_time_and_path(written?.at_in_utc, file));
    let Some(id) = id.or_else(derive_id) else {
        if dated.is_none() {
            let hint = "`written: 2026-03-01T12:00:00Z`, or only the day".to_owned();
            let message = "a scroll needs `written`: the time of writing";
            reader.report(Code::MissingKey, at, message).hint = Some(hint);
        }
        return None;
    };
    let written = written.or_else(|| time_from_id_or_filename(Some(id), file, reader.zone()))?.at;
    Some(Scroll {
        id,
        title: front_matter::collapse_whitespace(&title?),
        written,
        by,
        replaces,
        body: body.to_owned(),
    })
}

/// Takes the ids of the scrolls that a scroll replaces; reports and skips texts that are none.
fn take_replaced_ids(reader: &mut FileParser<'_>, fields: &mut MappingFields) -> Vec<Ulid> {
    const KEY: &str = "replaces";
    let mut ids: Vec<Ulid> = Vec::new();
    for item in fields.take_list(reader, KEY) {
        let at = item.at;
        let Some(text) = parse_item_text(reader, item, KEY) else { continue };
        match text.parse() {
            Ok(id) if !ids.contains(&id) => ids.push(id),
            Ok(_) => {}
            Err(_) => {
                let message = format!("{} is not the id of a scroll", quoted(&text));
                reader.report(Code::BadId, at, message).hint =
                    Some("a list of ids: `replaces: [01KGSRV28ADXPQGT6T6QX25YS8]`".to_owned());
            }
        }
    }
    ids
}

pub(super) fn serialize_scroll(scroll: &Scroll) -> String {
    front_matter::join_front_matter(&scroll_front_matter(scroll), &scroll.body)
}

/// Returns the front matter of a scroll.
pub(super) fn scroll_front_matter(scroll: &Scroll) -> Vec<(&'static str, OutputNode)> {
    let mut pairs = vec![
        ("id", OutputNode::Plain(scroll.id.to_string())),
        ("title", OutputNode::Text(scroll.title.clone())),
        ("written", front_matter::time_to_yaml(scroll.written)),
        ("by", OutputNode::Text(scroll.by.clone())),
    ];
    if !scroll.replaces.is_empty() {
        let ids = scroll.replaces.iter().map(|it| OutputNode::Plain(it.to_string()));
        pairs.push(("replaces", OutputNode::List(ids.collect())));
    }
    pairs
}
