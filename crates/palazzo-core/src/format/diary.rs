//! Diary files: `diary/<agent>/<ULID>-<topic>.md`, an entry after front matter.

use crate::format::file_parser::FileParser;
use crate::format::front_matter;
use crate::format::yaml::OutputNode;
use crate::model::DiaryEntry;

const ENTRY_KEYS: &[&str] = &["id", "agent", "topic", "written"];

pub(super) fn parse_diary_entry(
    reader: &mut FileParser<'_>,
    file: &str,
    whole: &str,
) -> Option<DiaryEntry> {
    let (mut agent, mut topic, mut said, mut id) =
        (None, None, None, front_matter::id_from_filename(file));
    let split = front_matter::split_front_matter(whole);
    if let Some((matter, _)) = split {
        let mut fields = front_matter::parse_front_matter(
            reader,
            matter,
            "an entry's front matter",
            ENTRY_KEYS,
        )?;
        agent = fields.take_text(reader, "agent").map(|it| front_matter::collapse_whitespace(&it));
        topic = fields.take_text(reader, "topic").map(|it| front_matter::collapse_whitespace(&it));
        said = fields
            .take_value("written")
            .and_then(|it| front_matter::parse_time(reader, it, "written"));
        id = front_matter::id_from_filename_or_front_matter(reader, &mut fields, file);
    }
    let named = || front_matter::time_from_id_or_filename(id, file, reader.zone());
    let written = said.or_else(named);
    Some(DiaryEntry {
        id: id.unwrap_or_else(|| {
            let at = written.map(|it| it.at_in_utc).unwrap_or_default();
            front_matter::derive_id_from_time_and_path(at, file)
        }),
        agent: agent.filter(|it| !it.is_empty()),
        topic: topic
            .filter(|it| !it.is_empty())
            .unwrap_or_else(|| DiaryEntry::DEFAULT_TOPIC.to_owned()),
        written: written.map(|it| it.at),
        text: split.map_or(whole, |(_, text)| text).to_owned(),
    })
}

pub(super) fn serialize_diary_entry(it: &DiaryEntry) -> String {
    front_matter::join_front_matter(&diary_front_matter(it), &it.text)
}

/// Returns the front matter of an entry.
pub(super) fn diary_front_matter(it: &DiaryEntry) -> Vec<(&'static str, OutputNode)> {
    let mut matter = vec![("id", OutputNode::Plain(it.id.to_string()))];
    matter.extend(it.agent.iter().map(|it| ("agent", OutputNode::Text(it.clone()))));
    matter.push(("topic", OutputNode::Text(it.topic.clone())));
    matter.extend(it.written.map(|it| ("written", front_matter::time_to_yaml(it))));
    matter
}
