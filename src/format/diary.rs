//! Diary files: `diary/<agent>/<ULID>-<topic>.md`, an entry behind front matter.

use crate::format::matter;
use crate::format::reader::Reader;
use crate::format::yaml::Out;
use crate::model::Entry;

const ENTRY: &[&str] = &["id", "agent", "topic", "written"];

pub(super) fn read(reader: &mut Reader<'_>, file: &str, whole: &str) -> Option<Entry> {
    let (mut agent, mut topic, mut said, mut id) = (None, None, None, matter::id_in_name(file));
    let split = matter::split(whole);
    if let Some((matter, _)) = split {
        let mut fields = matter::fields(reader, matter, "an entry's front matter", ENTRY)?;
        agent = fields.text(reader, "agent").map(|it| matter::one_line(&it));
        topic = fields.text(reader, "topic").map(|it| matter::one_line(&it));
        said = fields.take("written").and_then(|it| matter::moment(reader, it, "written"));
        id = matter::id(reader, &mut fields, file);
    }
    let written = said.or_else(|| matter::dated(id, file));
    Some(Entry {
        id: id.unwrap_or_else(|| matter::made_up(written.unwrap_or_default(), file)),
        agent: agent.filter(|it| !it.is_empty()),
        topic: topic.filter(|it| !it.is_empty()).unwrap_or_else(|| Entry::GENERAL.to_owned()),
        written,
        text: split.map_or(whole, |(_, text)| text).to_owned(),
    })
}

pub(super) fn write(it: &Entry) -> String {
    matter::join(&matter(it), &it.text)
}

/// Returns the front matter of an entry.
pub(super) fn matter(it: &Entry) -> Vec<(&'static str, Out)> {
    let mut matter = vec![("id", Out::Plain(it.id.to_string()))];
    matter.extend(it.agent.iter().map(|it| ("agent", Out::Text(it.clone()))));
    matter.push(("topic", Out::Text(it.topic.clone())));
    matter.extend(it.written.map(|it| ("written", matter::moment_out(it))));
    matter
}
