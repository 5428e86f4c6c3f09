//! Reads and writes the file of the reference memory server: JSON Lines with one entity or
//! relation per line, all entities first. Also reads the older format, one JSON object, and files of
//! other memory servers, which lay out the records differently and have other names for their keys.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;

use serde_json::{Map, Value, json};

use crate::exchange::json_records::{JsonPart, JsonRecords, RecordKind, is_list_key};
use crate::model::{Entity, MAX_FILE_BYTES, Triple};

/// The keys of an entity's name; like below, first that of the reference server, then those of others.
const NAMES: &[&str] = &["name", "entityName", "entity_name"];

/// The keys of an entity's type.
const GENERA: &[&str] = &["entityType", "entity_type"];

/// The keys of an entity's observations.
const OBSERVATIONS: &[&str] = &["observations", "contents", "observation"];

/// The keys of the entity from which a relation starts.
const FROM: &[&str] = &["from", "from_entity", "fromEntity", "source", "source_entity", "subject"];

/// The keys of the entity to which a relation leads.
const TO: &[&str] = &["to", "to_entity", "toEntity", "target", "target_entity", "object"];

/// The keys of a relation's type.
const RELATION_TYPES: &[&str] =
    &["relationType", "relation_type", "relation", "relationship", "predicate", "type", "label"];

/// The fault of an object that is no record.
const NO_RECORD: &str = "this is neither an entity (`name`, `entityType`, `observations`) nor a \
    relation (`from`, `to`, `relationType`)";

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
    if file.starts_with(b"\xff\xfe") || file.starts_with(b"\xfe\xff") {
        let hint = "convert it with `iconv -f UTF-16 -t UTF-8`";
        reader.add_fault("the file", format!("this is UTF-16 and not UTF-8: {hint}"));
        return reader.file;
    }
    for (line, part) in JsonRecords::new(file) {
        let place = format!("line {line}");
        match part {
            JsonPart::Record(value, kind) => reader.parse_record(value, &place, kind),
            JsonPart::Field(key, _) if is_list_key(&key) => {
                reader.add_fault(&place, format!("the value of {} is not a list", json!(key)));
            }
            JsonPart::Field(key, value) => {
                reader.report_unknown_keys(&Map::from_iter([(key, value)]), &place);
            }
            JsonPart::Broken(why) => reader.add_fault(&place, why),
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
    /// Parses a record; `listed` is what the list says that it holds.
    fn parse_record(&mut self, value: Value, place: &str, listed: Option<RecordKind>) {
        let Value::Object(mut map) = value else {
            return self.add_fault(place, "this is not a JSON object");
        };
        if let Some(program) = marker_of_program(&map) {
            return self.add_message(place, format!("the marker of {program} is left out"));
        }
        map.retain(|_, value| !value.is_null());
        let parsed = match record_kind(&mut map).or(listed) {
            Some(RecordKind::Entity) => parse_entity(&mut map).map(|(it, odd)| {
                for why in odd {
                    self.add_fault(place, why);
                }
                self.add_or_merge_entity(it, place);
            }),
            Some(RecordKind::Relation) => {
                parse_relation(&mut map).map(|it| self.file.relations.push(it))
            }
            None => Err(NO_RECORD.to_owned()),
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

/// Returns what a record is by its `type`, which is removed if it only says that, and by its keys.
fn record_kind(map: &mut Map<String, Value>) -> Option<RecordKind> {
    let has = |keys: &[&str]| keys.iter().any(|it| map.contains_key(*it));
    let given = map.get("type").and_then(Value::as_str).map(str::to_lowercase);
    let is_entity_key =
        |it: &String| it == "type" || [NAMES, GENERA, OBSERVATIONS].concat().contains(&it.as_str());
    let kind = match given.as_deref() {
        Some("entity" | "node") => Some(RecordKind::Entity),
        Some("relation" | "relationship" | "edge") => Some(RecordKind::Relation),
        Some("observation" | "observations") if has(NAMES) => Some(RecordKind::Entity),
        _ if has(FROM) && has(TO) && !has(&["name"]) => return Some(RecordKind::Relation),
        // Many JSON files have a name and a type, but nothing else that an entity has.
        _ if has(NAMES) && (has(GENERA) || has(OBSERVATIONS) || map.keys().all(is_entity_key)) => {
            return Some(RecordKind::Entity);
        }
        _ => None,
    };
    if kind.is_some() {
        map.shift_remove("type");
    }
    kind
}

/// Returns the name of the program that marks its files with a record like this one.
fn marker_of_program(map: &Map<String, Value>) -> Option<String> {
    let kind = map.get("type")?.as_str()?;
    let is_marker = kind.starts_with('_') || matches!(kind, "meta" | "metadata" | "header");
    let has_ends =
        FROM.iter().any(|it| map.contains_key(*it)) && TO.iter().any(|it| map.contains_key(*it));
    let is_record = has_ends || NAMES.iter().any(|it| map.contains_key(*it));
    let program = map.get("source").and_then(Value::as_str).unwrap_or(kind);
    (is_marker && !is_record).then(|| program.to_owned())
}

/// Parses an entity, and returns messages about observations that are not texts.
fn parse_entity(map: &mut Map<String, Value>) -> Result<(Entity, Vec<String>), String> {
    let name = take_text_field(map, NAMES)?;
    // Older files lack one or the other.
    let genus = match GENERA.iter().chain(["type"].iter()).any(|it| map.contains_key(*it)) {
        true => take_text_field(map, &[GENERA, &["type"]].concat())?,
        false => String::new(),
    };
    let items = match OBSERVATIONS.iter().find_map(|it| map.shift_remove(*it)) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(text @ Value::String(_)) => vec![text],
        Some(_) => return Err("its `observations` are neither a list nor a text".to_owned()),
    };
    let (mut observations, mut odd) = (Vec::new(), Vec::new());
    for item in items {
        match observation_text(&item) {
            Some(text) => observations.push(text.to_owned()),
            None => odd.push(format!("one of its observations is not a text: {item}")),
        }
    }
    let size = name.len() + observations.iter().map(|it: &String| it.len()).sum::<usize>();
    if size > MAX_FILE_BYTES {
        return Err(format!("it has {size} bytes; the limit for one entity is {MAX_FILE_BYTES}"));
    }
    Ok((Entity { is_defined: true, genus, observations, ..Entity::new_loose_end(&name) }, odd))
}

/// Returns the text of an observation; some programs store it in an object, with a date.
fn observation_text(item: &Value) -> Option<&str> {
    let of_object =
        || ["content", "text", "observation"].iter().find_map(|it| item.get(*it)?.as_str());
    item.as_str().or_else(of_object)
}

fn parse_relation(map: &mut Map<String, Value>) -> Result<Triple, String> {
    let (from, to) = (take_text_field(map, FROM)?, take_text_field(map, TO)?);
    Ok(Triple { from, kind: take_text_field(map, RELATION_TYPES)?, to })
}

/// Takes the value of the first of some keys that a map has. The first key is that of the reference
/// server.
fn take_text_field(map: &mut Map<String, Value>, keys: &[&str]) -> Result<String, String> {
    let key = keys.iter().find(|it| map.contains_key(**it)).or(keys.first()).copied();
    let key = key.unwrap_or_default();
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

    /// Parses a file; returns its entities, relations and messages, one per line, and the number of faults.
    fn shown(file: &[u8]) -> String {
        let MemoryServerFile { entities, relations, messages, fault_count } =
            parse_memory_server_file(file);
        let entity = |it: &Entity| format!("{} ({}) {:?}", it.name, it.genus, it.observations);
        let relation = |it: &Triple| format!("{} {} {}", it.from, it.kind, it.to);
        let entities = entities.iter().map(entity);
        let lines = entities.chain(relations.iter().map(relation)).chain(messages);
        let lines: Vec<_> = lines.chain([format!("faults: {fault_count}")]).collect();
        lines.join("\n")
    }

    #[test]
    fn invalid_lines_are_reported_by_number_and_skipped() {
        let file = b"\n{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"t\",\"observations\":[\"x\"]}\n\
            {\"type\":\"entity\",\"name\":\"B\",\"since\":1}\n\
            {\"type\":\"entity\",\"name\":\n\
            {\"type\":\"entity\",\"name\":7}\n\
            {\"type\":\"entity\",\"name\":\"C\",\"observations\":[\"x\",5]}\n\
            {\"type\":\"fact\",\"label\":\"C\"}\n\
            [\"C\"]\n\
            \xff\xfe\n\
            {\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\"}\n\
            {\"type\":\"relation\",\"from\":\"A\",\"to\":\"B\",\"relationType\":\"r\",\"since\":2}\n\
            {\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"u\",\"observations\":[\"x\",\"y\"]}";
        insta::assert_snapshot!(shown(file), @r#"
        A (t) ["x", "y"]
        B () []
        C () ["x"]
        A r B
        line 3: the key "since" is unknown and left out
        line 4: this is not JSON (column 24): EOF while parsing a value
        line 5: its `name` is not a text
        line 6: one of its observations is not a text: 5
        line 7: this is neither an entity (`name`, `entityType`, `observations`) nor a relation (`from`, `to`, `relationType`)
        line 8: this is not a JSON object
        line 9: this is not JSON (column 1): expected value
        line 10: it has no `relationType`
        line 12: "A" occurs twice; its observations were merged, its type "u" left out
        faults: 7
        "#);
    }

    #[test]
    fn the_older_single_object_format_is_read() {
        let file = json!({
            "entities": [{ "name": "A", "entityType": "t", "observations": [] }, { "name": 1 }],
            "relations": [{ "from": "A", "to": "B", "relationType": "r" }],
        });
        insta::assert_snapshot!(shown(format!("{file:#}").as_bytes()), @"
        A (t) []
        A r B
        line 8: its `name` is not a text
        faults: 1
        ");
        let file = json!({ "version": 1, "graph": file });
        insta::assert_snapshot!(shown(file.to_string().as_bytes()), @r#"
        A (t) []
        A r B
        line 1: the key "version" is unknown and left out
        line 1: its `name` is not a text
        faults: 1
        "#);
    }

    #[test]
    fn records_are_read_however_they_are_laid_out() {
        let a = json!({ "name": "A", "entityType": "t", "observations": ["x {\"name\":\"Z\"}"] });
        let b = json!({ "type": "entity", "name": "B", "entityType": "t" });
        let r = json!({ "from": "A", "to": "B", "relationType": "r" });
        let layouts = [
            format!("{a}\n{b}\n{r}\n"),
            format!("{a} {b}{r}"),
            format!("{a:#}\n{b:#}\n\n{r:#}"),
            format!("{},", json!([a, b, r])),
            format!("{:#}", json!([a, b, r])),
            format!("{a},\r\n{b},\r\n{r},\r\n"),
            format!("\u{1e}{a}\n\u{1e}{b}\n\u{1e}{r}\n"),
            format!("{}\n{r}", json!({ "entities": [a, b] })),
            format!("[{a},\n{b}]\n[{r}]"),
        ];
        let expected = shown(layouts[0].as_bytes());
        insta::assert_snapshot!(expected, @r#"
        A (t) ["x {\"name\":\"Z\"}"]
        B (t) []
        A r B
        faults: 0
        "#);
        for it in layouts {
            assert_eq!(shown(it.as_bytes()), expected, "{it}");
        }
    }

    /// Files with the entities A and B, the relation A r B, and something broken.
    fn broken_files() -> [String; 10] {
        let [a, b] =
            ["A", "B"].map(|it| json!({ "type": "entity", "name": it, "entityType": "t" }));
        let r = json!({ "from": "A", "to": "B", "relationType": "r" });
        let broken = "{ \"type\": \"entity\",\n  \"name\": \"C\"\n  \"observations\": [\n    { \"text\": \"c\" } ] }";
        [
            format!("{a}\n{{\"type\":\"entity\",\"name\":\n{b}\n{r}\n"),
            format!("{a} {{\"name\":\"C\" oops}} {b} {r}"),
            format!("{a:#}\n{broken}\n{b:#}\n{r:#}"),
            format!("[{a},{{\"name\":\"C\",}},{b},{r}]"),
            format!("[\n  {a},\n  {{\"name\":\n  }},\n  {b},\n  {r}\n]\n"),
            format!("{{\"entities\":[{a},{{\"name\":\"C\",}},{b}],\"relations\":[{r}]}}"),
            format!(
                "{{\n\"entities\": [\n  {a},\n  {{\"name\":\n  }},\n  {b}\n],\n\"relations\": [{r}]\n}}"
            ),
            format!("INFO {a}\n{b}\n{r}"),
            format!("[{a},{b},{r}"),
            format!("{{\"entities\":[{a},{b}],\"relations\":[{r}],\"since\":"),
        ]
    }

    #[test]
    fn a_broken_record_does_not_hide_its_neighbours() {
        let good = "A (t) []\nB (t) []\nA r B\n";
        let mut faults = String::new();
        for it in broken_files() {
            let shown = shown(it.as_bytes());
            let rest = shown.strip_prefix(good).unwrap_or_else(|| panic!("{it}\n{shown}"));
            faults.push_str(&format!("{rest}\n"));
        }
        insta::assert_snapshot!(faults, @"
        line 2: this is not JSON (column 24): EOF while parsing a value
        faults: 1
        line 1: this is not JSON (column 59): expected `,` or `}`
        faults: 1
        line 6: this is not JSON (line 8, column 3): expected `,` or `}`
        faults: 1
        line 1: this is not JSON (column 60): trailing comma
        faults: 1
        line 3: this is not JSON (line 4, column 3): expected value
        faults: 1
        line 1: this is not JSON (column 72): trailing comma
        faults: 1
        line 4: this is not JSON (line 5, column 3): expected value
        faults: 1
        line 1: this is not JSON (column 1): expected value
        faults: 1
        line 1: the list that begins here has no end
        faults: 1
        line 1: this is not JSON (column 170): there is no value
        faults: 1
        ");
    }

    #[test]
    fn the_keys_of_other_memory_servers_are_known() {
        let file = r#"{"type":"_aim","source":"mcp-knowledge-graph"}
            {"name":"A","entity_type":"t","observations":"x"}
            {"name":"B","type":"person","observations":[{"content":"y","date":"2026-01-01"}]}
            {"type":"person","name":"C"}
            {"type":"observation","entityName":"A","contents":["z"]}
            {"type":"relation","from_entity":"A","to_entity":"B","relation_type":"r"}
            {"source":"A","target":"B","type":"s"}
            {"subject":"A","predicate":"p","object":"B"}
            {"type":"relationship","from":"A","to":"B","relationship":"q"}"#;
        insta::assert_snapshot!(shown(file.as_bytes()), @r#"
        A (t) ["x", "z"]
        B (person) ["y"]
        C (person) []
        A r B
        A s B
        A p B
        A q B
        line 1: the marker of mcp-knowledge-graph is left out
        line 5: "A" occurs twice; its observations were merged
        faults: 0
        "#);
    }

    #[test]
    fn a_file_of_something_else_is_a_fault() {
        for file in [
            "{\"name\":\"left-pad\",\"version\":\"1.0.0\",\"type\":\"module\"}",
            "{\"colour\":\"grey\"}",
            "[{\"id\":1,\"from\":\"ada@example.org\"}]",
            "{\"entities\":5}",
            "7",
            "Coal is black.",
        ] {
            let shown = shown(file.as_bytes());
            assert!(shown.ends_with("faults: 1"), "{file}\n{shown}");
        }
        for file in ["", "[]", "{\"entities\":[],\"relations\":[]}", "\n"] {
            assert_eq!(shown(file.as_bytes()), "faults: 0", "{file}");
        }
    }

    #[test]
    fn a_json_array_of_the_lines_is_read() {
        let file = json!([
            { "type": "entity", "name": "A", "entityType": "t" },
            { "name": "B", "entityType": "t", "observations": ["x"] },
            { "from": "A", "to": "B", "relationType": "r" },
            7,
        ]);
        insta::assert_snapshot!(shown(format!("{file:#}").as_bytes()), @r#"
        A (t) []
        B (t) ["x"]
        A r B
        line 19: this is not a JSON object
        faults: 1
        "#);
    }
}
