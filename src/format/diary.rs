//! Diary files: `diary/<agent>/<ULID>-<topic>.md`, an entry behind front matter.

use crate::format::file_parser::Reader;
use crate::format::front_matter;
use crate::format::yaml::Out;
use crate::model::Entry;

const ENTRY: &[&str] = &["id", "agent", "topic", "written"];

pub(super) fn read(reader: &mut Reader<'_>, file: &str, whole: &str) -> Option<Entry> {
    let (mut agent, mut topic, mut said, mut id) =
        (None, None, None, front_matter::id_in_name(file));
    let split = front_matter::split(whole);
    if let Some((matter, _)) = split {
        let mut fields = front_matter::fields(reader, matter, "an entry's front matter", ENTRY)?;
        agent = fields.text(reader, "agent").map(|it| front_matter::one_line(&it));
        topic = fields.text(reader, "topic").map(|it| front_matter::one_line(&it));
        said = fields.take("written").and_then(|it| front_matter::moment(reader, it, "written"));
        id = front_matter::id(reader, &mut fields, file);
    }
    let written = said.or_else(|| front_matter::dated(id, file));
    Some(Entry {
        id: id.unwrap_or_else(|| front_matter::made_up(written.unwrap_or_default(), file)),
        agent: agent.filter(|it| !it.is_empty()),
        topic: topic.filter(|it| !it.is_empty()).unwrap_or_else(|| Entry::GENERAL.to_owned()),
        written,
        text: split.map_or(whole, |(_, text)| text).to_owned(),
    })
}

pub(super) fn write(it: &Entry) -> String {
    front_matter::join(&matter(it), &it.text)
}

/// Returns the front matter of an entry.
pub(super) fn matter(it: &Entry) -> Vec<(&'static str, Out)> {
    let mut matter = vec![("id", Out::Plain(it.id.to_string()))];
    matter.extend(it.agent.iter().map(|it| ("agent", Out::Text(it.clone()))));
    matter.push(("topic", Out::Text(it.topic.clone())));
    matter.extend(it.written.map(|it| ("written", front_matter::moment_out(it))));
    matter
}
