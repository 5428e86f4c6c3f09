//! Drawer files: `drawers/<wing>/<room>/<ULID>-<words>.md`, a text behind front
//! matter. A person may drop any Markdown file there: without front matter it
//! is all text, filed as its folders are called.

use crate::format::file_parser::{Fields, Reader};
use crate::format::front_matter;
use crate::format::yaml::Out;
use crate::model::{Drawer, Said};

const DRAWER: &[&str] = &["id", "wing", "room", "source", "by", "filed"];

pub(super) fn read(reader: &mut Reader<'_>, file: &str, whole: &str) -> Option<Drawer> {
    let Some((matter, text)) = front_matter::split(whole) else {
        return Some(plain(file, whole));
    };
    let mut fields = front_matter::fields(reader, matter, "a drawer's front matter", DRAWER)?;
    let wing = name(reader, &mut fields, "wing");
    let room = name(reader, &mut fields, "room");
    let source = fields.text(reader, "source");
    let by = fields.text(reader, "by");
    let filed = fields.take("filed").and_then(|it| front_matter::moment(reader, it, "filed"));
    let id = front_matter::id(reader, &mut fields, file);
    let drawer = Drawer { source, by, said: Said { wing, room }, ..plain(file, text) };
    let filed = filed.or(drawer.filed);
    let id = id.unwrap_or_else(|| front_matter::made_up(filed.unwrap_or_default(), file));
    Some(Drawer { id, filed, ..drawer })
}

pub(super) fn write(it: &Drawer) -> String {
    front_matter::join(&matter(it), &it.text)
}

/// Returns the front matter of a drawer.
pub(super) fn matter(it: &Drawer) -> Vec<(&'static str, Out)> {
    let mut matter = vec![("id", Out::Plain(it.id.to_string()))];
    let texts =
        [("wing", &it.said.wing), ("room", &it.said.room), ("source", &it.source), ("by", &it.by)];
    matter.extend(texts.into_iter().filter_map(|(key, it)| Some((key, Out::Text(it.clone()?)))));
    matter.extend(it.filed.map(|it| ("filed", front_matter::moment_out(it))));
    matter
}

/// Takes a file for a text and nothing else; its name may say when it was filed.
fn plain(file: &str, text: &str) -> Drawer {
    let id = front_matter::id_in_name(file);
    let filed = front_matter::dated(id, file);
    Drawer {
        id: id.unwrap_or_else(|| front_matter::made_up(filed.unwrap_or_default(), file)),
        said: Said::default(),
        source: None,
        by: None,
        filed,
        text: text.to_owned(),
    }
}

fn name(reader: &mut Reader<'_>, fields: &mut Fields, key: &str) -> Option<String> {
    fields.text(reader, key).map(|it| front_matter::one_line(&it)).filter(|it| !it.is_empty())
}
