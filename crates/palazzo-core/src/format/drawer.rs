//! Drawer files: `drawers/<wing>/<room>/<ULID>-<words>.md`, a text after front matter. Any Markdown
//! file is allowed: without front matter all of it is text, filed under the names of its folders.

use crate::format::file_parser::{FileParser, MappingFields};
use crate::format::front_matter::{self, TimeInFile, derive_id_from_time_and_path};
use crate::format::host_memory;
use crate::format::yaml::{MapKey, Node, NodeValue, OutputNode, YamlError, parse_yaml};
use crate::model::{
    DocumentProperties, Drawer, FrontMatterWingRoom, TimeZone, document_date, document_title,
    time_in_file_name, title_from_file_name, typo_corrections,
};

const DRAWER_KEYS: &[&str] = &["id", "wing", "room", "title", "source", "by", "filed"];

/// Parses a drawer. Front matter of another program is a part of its text.
pub(super) fn parse_drawer(reader: &mut FileParser<'_>, file: &str, whole: &str) -> Drawer {
    host_memory::report_trigger_faults(reader, whole);
    let Some((matter, text)) = split_own_front_matter(file, whole) else {
        return drawer_without_front_matter(file, whole, reader.zone());
    };
    let labels = DocumentProperties::parse(whole).tags_and_aliases().map(str::to_owned).collect();
    // The text is read even if the front matter is not, so that it is found.
    let parsed = parse_own_front_matter(reader, matter);
    let Some(mut fields) = parsed else {
        return drawer_without_front_matter(file, text, reader.zone());
    };
    let wing = take_wing_or_room_name(reader, &mut fields, "wing");
    let room = take_wing_or_room_name(reader, &mut fields, "room");
    let title = fields.take_text(reader, "title");
    let source = fields.take_text(reader, "source");
    let by = fields.take_text(reader, "by");
    let said = fields.take_value("filed");
    let said = said.and_then(|it| front_matter::parse_time(reader, it, "filed"));
    let id = front_matter::id_from_filename_or_front_matter(reader, &mut fields, file);
    let drawer = drawer_without_front_matter(file, text, reader.zone());
    let derived = || {
        let of = |it: TimeInFile| derive_id_from_time_and_path(it.at_in_utc, file);
        said.map_or(drawer.id, of)
    };
    let (id, filed) = (id.unwrap_or_else(derived), said.map(|it| it.at).or(drawer.filed));
    let filed_under = FrontMatterWingRoom { wing, room };
    let title = title.or(drawer.title);
    Drawer { id, filed_under, title, labels, source, by, filed, text: drawer.text }
}

/// Parses a note, a Markdown file of another program: all of it is text, whatever its keys are called.
pub(super) fn parse_note(file: &str, whole: &str, zone: &TimeZone) -> Drawer {
    drawer_without_front_matter(file, whole, zone)
}

/// Returns whether a drawer file has front matter that Palazzo may write in its own form: no key of
/// it belongs to another program.
pub(super) fn has_only_own_keys(file: &str, whole: &str) -> bool {
    let own = split_own_front_matter(file, whole).and_then(|(matter, _)| parse_yaml(matter).ok());
    own.is_some_and(|it| {
        pairs_of(&it).iter().all(|(key, _)| DRAWER_KEYS.contains(&key.text.as_str()))
    })
}

/// Splits the front matter of Palazzo from a text. That of another program is `None`: it has the id
/// of no drawer, and other keys than those of a drawer, or is no YAML.
fn split_own_front_matter<'a>(file: &str, whole: &'a str) -> Option<(&'a str, &'a str)> {
    let (matter, text) = front_matter::split_front_matter(whole)?;
    let is_own = || {
        let root = parse_yaml(matter).ok();
        let pairs = root.as_ref().map_or(&[][..], pairs_of);
        let has_id = pairs.iter().any(|(key, node)| match &node.value {
            NodeValue::Scalar { text, .. } => {
                key.text == "id" && text.parse::<ulid::Ulid>().is_ok()
            }
            _ => false,
        });
        // Front matter that is no YAML has the keys that a person sees in it.
        let properties = DocumentProperties::parse(whole);
        let keys: Vec<&str> = match root {
            Some(_) => pairs.iter().map(|(key, _)| key.text.as_str()).collect(),
            None => properties.keys().collect(),
        };
        let is_known = keys.iter().all(|it| DRAWER_KEYS.contains(it));
        let is_drawer = ["wing", "room", "by", "filed"].iter().any(|it| keys.contains(it));
        let is_named = keys.contains(&"wing") && keys.contains(&"room");
        has_id || is_known && is_drawer || root.is_some() && is_named
    };
    let is_own = front_matter::id_from_filename(file).is_some() || is_own();
    is_own.then_some((matter, text))
}

fn pairs_of(root: &Node) -> &[(MapKey, Node)] {
    match &root.value {
        NodeValue::Map(pairs) => pairs,
        _ => &[],
    }
}

/// Parses the keys of Palazzo. Those of other programs have no findings, unless they are slips.
fn parse_own_front_matter(reader: &mut FileParser<'_>, matter: &str) -> Option<MappingFields> {
    const WHAT: &str = "a drawer's front matter";
    let mut root = match parse_yaml(&front_matter::pad_to_file_line_numbers(matter)) {
        Ok(root) => root,
        Err(YamlError { code, at, message, hint }) => {
            reader.report(code, at, message).hint = hint.map(str::to_owned);
            return None;
        }
    };
    if let NodeValue::Map(pairs) = &mut root.value {
        let all: Vec<_> = pairs.iter().map(|(key, _)| key.text.clone()).collect();
        let unknown: Vec<_> =
            all.iter().map(String::as_str).filter(|it| !DRAWER_KEYS.contains(it)).collect();
        let slips = unknown.iter().zip(typo_corrections(&unknown, DRAWER_KEYS));
        let foreign: Vec<_> =
            slips.filter(|(_, slip)| slip.is_none()).map(|(it, _)| (*it).to_owned()).collect();
        pairs.retain(|(key, _)| !foreign.contains(&key.text));
    }
    reader.parse_mapping(root, WHAT, DRAWER_KEYS)
}

/// Changes the front matter of a drawer file and its text. Front matter is added if there is none of
/// Palazzo; `edit` changes it and checks the new text.
pub(super) fn edit_drawer(
    path: &str,
    text: &str,
    was: &Drawer,
    now: &Drawer,
    edit: impl FnOnce(&str, &OutputNode, &OutputNode) -> Option<String>,
) -> Option<String> {
    let Some((matter, body)) = split_own_front_matter(path, text) else {
        if was.filed_under == now.filed_under && was.text == now.text {
            return Some(text.to_owned());
        }
        let FrontMatterWingRoom { wing, room } = &now.filed_under;
        let names = [("wing", wing), ("room", room)].into_iter();
        let names = names.filter_map(|(key, it)| Some((key, OutputNode::Text(it.clone()?))));
        return Some(front_matter::join_front_matter(&names.collect::<Vec<_>>(), &now.text));
    };
    let start = matter.as_ptr() as usize - text.as_ptr() as usize;
    let body_start = body.as_ptr() as usize - text.as_ptr() as usize;
    let (before, between) = (&text[..start], &text[start + matter.len()..body_start]);
    let [old, new] = [was, now].map(drawer_front_matter);
    let matter = match old == new {
        true => matter.to_owned(),
        false => edit(matter, &OutputNode::Map(old), &OutputNode::Map(new))?,
    };
    Some(format!("{before}{matter}{between}{}", now.text))
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
        ("title", &it.title),
        ("source", &it.source),
        ("by", &it.by),
    ];
    matter.extend(
        texts.into_iter().filter_map(|(key, it)| Some((key, OutputNode::Text(it.clone()?)))),
    );
    matter.extend(it.filed.map(|it| ("filed", front_matter::time_to_yaml(it))));
    matter
}

/// Returns a drawer from a file that is only text. Its time may be in its id, in the text or in its
/// name; a time without zone is one of `zone`. A file that Palazzo has not named has the title of its
/// document, or its name.
fn drawer_without_front_matter(file: &str, text: &str, zone: &TimeZone) -> Drawer {
    let id = front_matter::id_from_filename(file);
    let named = front_matter::time_from_id_or_filename(id, file, zone);
    let named_at = named.map(|it| it.at);
    let name = file.rsplit('/').next().unwrap_or(file);
    let in_text =
        || document_date(text, zone).or_else(|| time_in_file_name(name, zone)).or(named_at);
    let title = || document_title(text).or_else(|| title_from_file_name(name));
    Drawer {
        // An id stays the same when more dates are understood.
        id: id.unwrap_or_else(|| {
            let at = named.map(|it| it.at_in_utc).unwrap_or_default();
            derive_id_from_time_and_path(at, file)
        }),
        filed: if id.is_some() { named_at } else { in_text() },
        filed_under: FrontMatterWingRoom::default(),
        title: if id.is_none() { title() } else { None },
        labels: Vec::new(),
        source: None,
        by: None,
        text: text.to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a file, and returns it with the codes of its findings.
    fn parse(name: &str, text: &str) -> (Drawer, Vec<String>) {
        let file = format!("drawers/vault/ideas/{name}");
        let mut reader = FileParser::new(&file);
        let drawer = parse_drawer(&mut reader, &file, text);
        let codes = reader.into_findings().into_iter().map(|it| it.code.to_string());
        (drawer, codes.collect())
    }

    #[test]
    fn notes_of_other_programs_are_drawers_without_findings() {
        let day = "2026-03-01 00:00:00 UTC";
        for (name, text, title, filed) in [
            (
                "Coal.md",
                "---\nid: 202603011030\ntags: [a]\ncreated: 2026-03-01\n---\nBlack.\n",
                "Coal",
                day,
            ),
            (
                "a.md",
                "---\ntitle: Coal\ntype: note\npermalink: x/coal\ndate: 2026/03/01\n---\n# Other\n",
                "Coal",
                day,
            ),
            ("2026_03_01.md", "title:: Coal\ntags:: a\n\n- Black.\n", "Coal", day),
            (
                "2026-03-01-coal-mine.md",
                "---\nlayout: post\ntags: a\n---\nBlack.\n",
                "coal mine",
                day,
            ),
            ("b.md", "+++\ntitle = \"Coal\"\ndate = 2026-03-01\n+++\nBlack.\n", "Coal", day),
            (
                "2026-03-01 c.md",
                "---\ntitle: Coal: {{x}}\nbad: [\n---\nBlack.\n",
                "Coal: {{x}}",
                day,
            ),
            ("d.md", "---\nsource: [https://a, b]\ndate: 2026-03-01\n---\n# Coal\n", "Coal", day),
        ] {
            let (drawer, findings) = parse(name, text);
            assert_eq!(findings, [""; 0], "{text}");
            assert_eq!(drawer.title.as_deref(), Some(title), "{text}");
            assert_eq!(
                drawer.filed.map(|it| it.to_string()).as_deref(),
                Some(day).or(Some(filed)),
                "{text}"
            );
            assert_eq!(drawer.text, text, "nothing of it is lost");
        }
    }

    #[test]
    fn a_drawer_keeps_what_another_program_adds_to_its_front_matter() {
        let name = "01KJMM4N00F2JXHH4DQ7YF03TN-coal.md";
        let text = "---\nwing: Vault\ntags:\n- black\naliases: [Kohle]\n---\n\nCoal.\n";
        let (drawer, findings) = parse(name, text);
        assert_eq!((drawer.text.as_str(), findings), ("Coal.\n", vec![]));
        assert_eq!(drawer.labels, ["black", "Kohle"]);
        assert!(!has_only_own_keys("drawers/vault/ideas/a.md", text));
        let (_, findings) = parse(name, "---\nwnig: Vault\n---\n\nCoal.\n");
        assert_eq!(findings, ["unknown-key"]);
        let (drawer, findings) = parse(name, "---\nwing: [\n---\n\nCoal.\n");
        assert_eq!(
            (drawer.text.as_str(), findings.len()),
            ("Coal.\n", 1),
            "it is found all the same"
        );
    }
}
