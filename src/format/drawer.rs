//! Drawer files: `drawers/<wing>/<room>/<ULID>-<words>.md`, a text after front matter. Any Markdown
//! file is allowed: without front matter all of it is text, filed under the names of its folders.

use ulid::Ulid;

use crate::format::file_parser::{FileParser, MappingFields};
use crate::format::front_matter::{self, TimeInFile};
use crate::format::yaml::OutputNode;
use crate::model::{Drawer, FrontMatterWingRoom, TimeZone};

const DRAWER_KEYS: &[&str] = &["id", "wing", "room", "source", "by", "filed"];

pub(super) fn parse_drawer(reader: &mut FileParser<'_>, file: &str, whole: &str) -> Option<Drawer> {
    let Some((matter, text)) = front_matter::split_front_matter(whole) else {
        return Some(drawer_without_front_matter(file, whole, reader.zone()).0);
    };
    let mut fields =
        front_matter::parse_front_matter(reader, matter, "a drawer's front matter", DRAWER_KEYS)?;
    let wing = take_wing_or_room_name(reader, &mut fields, "wing");
    let room = take_wing_or_room_name(reader, &mut fields, "room");
    let source = fields.take_text(reader, "source");
    let by = fields.take_text(reader, "by");
    let said = fields.take_value("filed");
    let said = said.and_then(|it| front_matter::parse_time(reader, it, "filed"));
    let id = front_matter::id_from_filename_or_front_matter(reader, &mut fields, file);
    let (drawer, named) = drawer_without_front_matter(file, text, reader.zone());
    let filed = said.or(named);
    let id = id.unwrap_or_else(|| derive_drawer_id(filed, file));
    let filed_under = FrontMatterWingRoom { wing, room };
    Some(Drawer { id, source, by, filed_under, filed: filed.map(|it| it.at), ..drawer })
}

/// Changes the names of wing and room in the front matter of a drawer file, which is added if there
/// is none; `is_meant` checks the new text.
pub(super) fn edit_drawer(
    text: &str,
    was: &Drawer,
    now: &Drawer,
    edit: impl FnOnce(&str, &OutputNode, &OutputNode) -> Option<String>,
) -> Option<String> {
    if was.filed_under == now.filed_under {
        return Some(text.to_owned());
    }
    let names = |it: &Drawer| {
        let FrontMatterWingRoom { wing, room } = &it.filed_under;
        let names = [("wing", wing), ("room", room)].into_iter();
        let texts = names.filter_map(|(key, it)| Some((key, OutputNode::Text(it.clone()?))));
        texts.collect::<Vec<_>>()
    };
    let Some((matter, _)) = front_matter::split_front_matter(text) else {
        return Some(front_matter::join_front_matter(&names(now), text));
    };
    let start = matter.as_ptr() as usize - text.as_ptr() as usize;
    let (before, after) = (&text[..start], &text[start + matter.len()..]);
    let [was, now] = [was, now].map(|it| OutputNode::Map(drawer_front_matter(it)));
    Some(format!("{before}{}{after}", edit(matter, &was, &now)?))
}

pub(super) fn serialize_drawer(it: &Drawer) -> String {
    front_matter::join_front_matter(&drawer_front_matter(it), &it.text)
}

/// Returns the front matter of a drawer.
pub(super) fn drawer_front_matter(it: &Drawer) -> Vec<(&'static str, OutputNode)> {
    let mut matter = vec![("id", OutputNode::Plain(it.id.to_string()))];
    let texts = [
        ("wing", &it.filed_under.wing),
        ("room", &it.filed_under.room),
        ("source", &it.source),
        ("by", &it.by),
    ];
    matter.extend(
        texts.into_iter().filter_map(|(key, it)| Some((key, OutputNode::Text(it.clone()?)))),
    );
    matter.extend(it.filed.map(|it| ("filed", front_matter::time_to_yaml(it))));
    matter
}

/// Returns a drawer from a file that is only text, and the time of filing in its name.
fn drawer_without_front_matter(
    file: &str,
    text: &str,
    zone: &TimeZone,
) -> (Drawer, Option<TimeInFile>) {
    let id = front_matter::id_from_filename(file);
    let filed = front_matter::time_from_id_or_filename(id, file, zone);
    let drawer = Drawer {
        id: id.unwrap_or_else(|| derive_drawer_id(filed, file)),
        filed_under: FrontMatterWingRoom::default(),
        source: None,
        by: None,
        filed: filed.map(|it| it.at),
        text: text.to_owned(),
    };
    (drawer, filed)
}

fn derive_drawer_id(filed: Option<TimeInFile>, file: &str) -> Ulid {
    let at = filed.map(|it| it.at_in_utc).unwrap_or_default();
    front_matter::derive_id_from_time_and_path(at, file)
}

fn take_wing_or_room_name(
    reader: &mut FileParser<'_>,
    fields: &mut MappingFields,
    key: &str,
) -> Option<String> {
    fields
        .take_text(reader, key)
        .map(|it| front_matter::collapse_whitespace(&it))
        .filter(|it| !it.is_empty())
}
