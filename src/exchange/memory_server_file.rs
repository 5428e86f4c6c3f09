//! Reads and writes the file of the reference memory server: JSON Lines with one entity or
//! relation per line, all entities first. Also reads the older format, one JSON object.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use serde_json::{Map, Value, json};

use crate::model::{Entity, MAX_FILE_BYTES, Triple};

/// The contents of a memory file, without the parts that could not be parsed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemoryServerFile {
    /// The entities; each name once, in the order of the file.
    pub entities: Vec<Entity>,
    /// The relations, in the order of the file.
    pub relations: Vec<Triple>,
    /// Messages with their positions, in the order of the file: parts that could not be
    /// parsed and were left out, and entities that were merged.
    pub messages: Vec<String>,
    /// The number of messages about parts that could not be parsed.
    pub fault_count: usize,
}

/// Parses a memory file.
pub fn parse_memory_server_file(file: &[u8]) -> MemoryServerFile {
    let mut reader = MemoryServerFileParser::default();
    let file = file.strip_prefix("\u{feff}".as_bytes()).unwrap_or(file);
    match serde_json::from_slice(file) {
        _ if file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff") => {
            let hint = "convert it with `iconv -f UTF-16 -t UTF-8`";
            reader.add_fault("the file", format!("this is UTF-16 and not UTF-8: {hint}"));
        }
        Ok(Value::Object(map)) if !map.contains_key("type") => reader.parse_old_format_object(map),
        Ok(Value::Array(items)) => reader.parse_record_list(items),
        _ => {
            for (line, number) in file.split(|it| *it == b'\n').zip(1..) {
                if !line.trim_ascii().is_empty() {
                    reader.parse_line(line, number);
                }
            }
        }
    }
    reader.file
}

/// Writes a memory file as npm 2026.8.31 does: without a line break at its end.
pub fn serialize_memory_server_file(entities: &[Entity], relations: &[Triple]) -> String {
    let entities = entities.iter().map(|Entity { name, genus, observations, .. }| {
        json!({ "type": "entity", "name": name, "entityType": genus, "observations": observations })
    });
    let relations = relations.iter().map(|Triple { from, kind, to }| {
        json!({ "type": "relation", "from": from, "to": to, "relationType": kind })
    });
    let lines: Vec<_> = entities.chain(relations).map(|it| it.to_string()).collect();
    lines.join("\n")
}

#[derive(Default)]
struct MemoryServerFileParser {
    file: MemoryServerFile,
    /// The index in `file.entities` of each entity, by name.
    entity_positions: HashMap<String, usize>,
    /// Unknown keys that were reported already.
    unknown_keys: HashSet<String>,
}

impl MemoryServerFileParser {
    fn parse_line(&mut self, line: &[u8], number: usize) {
        let place = format!("line {number}");
        match serde_json::from_slice(line) {
            Ok(item) => self.parse_entity_or_relation(item, &place, None),
            Err(err) => {
                let why = err.to_string();
                let why = why.split(" at line ").next().unwrap_or_default();
                self.add_fault(
                    &place,
                    format!("this is not JSON (column {}): {why}", err.column()),
                );
            }
        }
    }

    /// Parses a JSON list of the records; the type of a record without `type` is inferred
    /// from its keys.
    fn parse_record_list(&mut self, items: Vec<Value>) {
        for (index, item) in items.into_iter().enumerate() {
            let kind = if item.get("from").is_some() { "relation" } else { "entity" };
            self.parse_entity_or_relation(item, &format!("[{index}]"), Some(kind));
        }
    }

    /// Parses the older format: `{"entities": […], "relations": […]}`.
    fn parse_old_format_object(&mut self, mut map: Map<String, Value>) {
        for (key, kind) in [("entities", "entity"), ("relations", "relation")] {
            match map.shift_remove(key) {
                Some(Value::Array(items)) => {
                    for (index, item) in items.into_iter().enumerate() {
                        self.parse_entity_or_relation(item, &format!("{key}[{index}]"), Some(kind));
                    }
                }
                Some(_) => self.add_fault(key, "this is not a list"),
                None => {}
            }
        }
        self.report_unknown_keys(&map, "the file");
    }

    fn parse_entity_or_relation(&mut self, item: Value, place: &str, kind: Option<&str>) {
        let Value::Object(mut map) = item else {
            return self.add_fault(place, "this is not a JSON object");
        };
        let given = map.shift_remove("type");
        let kind = given.as_ref().and_then(Value::as_str).or(kind).unwrap_or_default().to_owned();
        let parsed = match kind.as_str() {
            "entity" => parse_entity(&mut map).map(|(it, odd)| {
                for why in odd {
                    self.add_fault(place, why);
                }
                self.add_or_merge_entity(it, place);
            }),
            "relation" => parse_relation(&mut map).map(|it| self.file.relations.push(it)),
            _ => Err("its `type` is neither `entity` nor `relation`".to_owned()),
        };
        match parsed {
            Ok(()) => self.report_unknown_keys(&map, place),
            Err(why) => self.add_fault(place, why),
        }
    }

    /// Adds an entity. If one with the same name was added before, adds its new observations
    /// to that one.
    fn add_or_merge_entity(&mut self, entity: Entity, place: &str) {
        let new = self.file.entities.len();
        let at = *self.entity_positions.entry(entity.name.clone()).or_insert(new);
        let Some(first) = self.file.entities.get_mut(at) else {
            return self.file.entities.push(entity);
        };
        let joined = match first.genus == entity.genus || entity.genus.is_empty() {
            true => "its observations were merged".to_owned(),
            false => {
                let genus = Value::from(entity.genus);
                format!("its observations were merged, its type {genus} left out")
            }
        };
        for observation in entity.observations {
            if !first.observations.contains(&observation) {
                first.observations.push(observation);
            }
        }
        let name = Value::from(entity.name);
        self.add_message(place, format!("{name} occurs twice; {joined}"));
    }

    /// Reports unknown keys, each once.
    fn report_unknown_keys(&mut self, map: &Map<String, Value>, place: &str) {
        for key in map.keys() {
            if self.unknown_keys.insert(key.clone()) {
                let what = format!("the key {} is unknown and left out", json!(key));
                self.add_message(place, what);
            }
        }
    }

    fn add_fault(&mut self, place: &str, why: impl Display) {
        self.file.fault_count += 1;
        self.add_message(place, why);
    }

    fn add_message(&mut self, place: &str, what: impl Display) {
        self.file.messages.push(format!("{place}: {what}"));
    }
}

/// Parses an entity, and returns messages about observations that are not texts.
fn parse_entity(map: &mut Map<String, Value>) -> Result<(Entity, Vec<String>), String> {
    let name = take_text_field(map, "name")?;
    // Older files lack one or the other.
    let genus = if map.contains_key("entityType") {
        take_text_field(map, "entityType")?
    } else {
        String::new()
    };
    let items = match map.shift_remove("observations") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(_) => return Err("its `observations` are not a list".to_owned()),
    };
    let (mut observations, mut odd) = (Vec::new(), Vec::new());
    for item in items {
        match item {
            Value::String(text) => observations.push(text),
            other => odd.push(format!("one of its observations is not a text: {other}")),
        }
    }
    let size = name.len() + observations.iter().map(|it: &String| it.len()).sum::<usize>();
    if size > MAX_FILE_BYTES {
        return Err(format!("it has {size} bytes; the limit for one entity is {MAX_FILE_BYTES}"));
    }
    Ok((Entity { is_defined: true, genus, observations, ..Entity::new_loose_end(&name) }, odd))
}

fn parse_relation(map: &mut Map<String, Value>) -> Result<Triple, String> {
    let (from, to) = (take_text_field(map, "from")?, take_text_field(map, "to")?);
    Ok(Triple { from, kind: take_text_field(map, "relationType")?, to })
}

fn take_text_field(map: &mut Map<String, Value>, key: &str) -> Result<String, String> {
    match map.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(format!("its `{key}` is not a text")),
        None => Err(format!("it has no `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_memory_file_is_read_back_unchanged() {
        let entity = |name: &str| Entity {
            is_defined: true,
            genus: "t\"".to_owned(),
            observations: vec!["two\nlines".to_owned(), "\u{7f}\u{2028}é".to_owned()],
            ..Entity::new_loose_end(name)
        };
        let triple =
            Triple { from: "a".to_owned(), kind: "\u{1}".to_owned(), to: "nobody".to_owned() };
        let (entities, relations) = (vec![entity("a"), entity("")], vec![triple]);
        let text = serialize_memory_server_file(&entities, &relations);
        insta::assert_snapshot!(text.escape_debug().to_string().replace("\\n{", "\n{"), @r#"
        {\"type\":\"entity\",\"name\":\"a\",\"entityType\":\"t\\\"\",\"observations\":[\"two\\nlines\",\"\u{7f}\u{2028}é\"]}
        {\"type\":\"entity\",\"name\":\"\",\"entityType\":\"t\\\"\",\"observations\":[\"two\\nlines\",\"\u{7f}\u{2028}é\"]}
        {\"type\":\"relation\",\"from\":\"a\",\"to\":\"nobody\",\"relationType\":\"\\u0001\"}
        "#);
        let memory = MemoryServerFile { entities, relations, ..MemoryServerFile::default() };
        assert_eq!(parse_memory_server_file(text.as_bytes()), memory);
        let crlf = text.replace("}\n", "}\r\n\r\n") + "\n";
        assert_eq!(parse_memory_server_file(crlf.as_bytes()), memory);
        assert_eq!(parse_memory_server_file(b"").entities, []);
    }

    #[test]
    fn a_wrong_encoding_is_reported_once() {
        let text = "{\"type\":\"entity\"}\n".repeat(3);
        let bytes: Vec<_> =
            ["\u{feff}", &text].concat().encode_utf16().flat_map(u16::to_le_bytes).collect();
        let MemoryServerFile { messages, fault_count: faults, .. } =
            parse_memory_server_file(&bytes);
        assert_eq!(faults, 1);
        insta::assert_snapshot!(messages.join("\n"), @"the file: this is UTF-16 and not UTF-8: convert it with `iconv -f UTF-16 -t UTF-8`");
    }

    #[test]
    fn invalid_lines_are_reported_by_number_and_skipped() {
        let file = b"\n{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"t\",\"observations\":[\"x\"]}\n\
            {\"type\":\"entity\",\"name\":\"B\",\"since\":1}\n\
            {\"type\":\"entity\",\"name\":\n\
            {\"type\":\"entity\",\"name\":7}\n\
            {\"type\":\"entity\",\"name\":\"C\",\"observations\":[\"x\",5]}\n\
            {\"type\":\"fact\",\"name\":\"C\"}\n\
            [\"C\"]\n\
            \xff\xfe\n\
            {\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\"}\n\
            {\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\",\"relationType\":\"r\",\"since\":2}\n\
            {\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"u\",\"observations\":[\"x\",\"y\"]}";
        let MemoryServerFile { entities, relations, messages, fault_count: faults } =
            parse_memory_server_file(file);
        let shown: Vec<_> =
            entities.iter().map(|it| format!("{} {:?}", it.name, it.observations)).collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        A ["x", "y"]
        B []
        C ["x"]
        "#);
        assert_eq!(relations.len(), 1);
        insta::assert_snapshot!(messages.join("\n"), @r#"
        line 3: the key "since" is unknown and left out
        line 4: this is not JSON (column 24): EOF while parsing a value
        line 5: its `name` is not a text
        line 6: one of its observations is not a text: 5
        line 7: its `type` is neither `entity` nor `relation`
        line 8: this is not a JSON object
        line 9: this is not JSON (column 1): expected value
        line 10: it has no `relationType`
        line 12: "A" occurs twice; its observations were merged, its type "u" left out
        "#);
        assert_eq!(faults, 7);
    }

    #[test]
    fn the_older_single_object_format_is_read() {
        let file = json!({
            "entities": [{ "name": "A", "entityType": "t", "observations": [] }, { "name": 1 }],
            "relations": [{ "from": "A", "to": "B", "relationType": "r" }],
        });
        let MemoryServerFile { entities, relations, messages, fault_count: faults } =
            parse_memory_server_file(format!("{file:#}").as_bytes());
        assert_eq!((entities.len(), relations.len(), faults), (1, 1, 1));
        assert_eq!(messages, ["entities[1]: its `name` is not a text"]);
    }

    #[test]
    fn a_json_array_of_the_lines_is_read() {
        let file = json!([
            { "type": "entity", "name": "A", "entityType": "t" },
            { "name": "B", "entityType": "t", "observations": ["x"] },
            { "from": "A", "to": "B", "relationType": "r" },
            7,
        ]);
        let MemoryServerFile { entities, relations, messages, fault_count: faults } =
            parse_memory_server_file(file.to_string().as_bytes());
        assert_eq!((entities.len(), relations.len(), faults), (2, 1, 1));
        assert_eq!(messages, ["[3]: this is not a JSON object"]);
    }
}
