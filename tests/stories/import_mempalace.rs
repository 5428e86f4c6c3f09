//! Import from MemPalace: a store in the format of MemPalace 3.11 and Chroma 1.5.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use insta::assert_snapshot;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::harness::Home;

/// The tables of Chroma that are imported, without its search indexes.
const CHROMA_TABLES: &str = "
    PRAGMA foreign_keys = off;
    CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL, dimension INTEGER,
        database_id TEXT NOT NULL, config_json_str TEXT, schema_str TEXT, UNIQUE (name, database_id));
    CREATE TABLE segments (id TEXT PRIMARY KEY, type TEXT NOT NULL, scope TEXT NOT NULL,
        collection TEXT REFERENCES collection(id) NOT NULL);
    CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL,
        embedding_id TEXT NOT NULL, seq_id BLOB NOT NULL,
        created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, UNIQUE (segment_id, embedding_id));
    CREATE TABLE embedding_metadata (id INTEGER REFERENCES embeddings(id), key TEXT NOT NULL,
        string_value TEXT, int_value INTEGER, float_value REAL, bool_value INTEGER,
        PRIMARY KEY (id, key));
    CREATE TABLE max_seq_id (segment_id TEXT PRIMARY KEY, seq_id INTEGER);
    CREATE TABLE embeddings_queue (seq_id INTEGER PRIMARY KEY,
        created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, operation INTEGER NOT NULL,
        topic TEXT NOT NULL, id TEXT NOT NULL, vector BLOB, encoding TEXT, metadata TEXT);
    INSERT INTO collections (id, name, database_id) VALUES
        ('c1', 'mempalace_drawers', 'd'), ('c2', 'mempalace_closets', 'd');
    INSERT INTO segments VALUES ('s1', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'c1'),
        ('v1', 'urn:chroma:segment/vector/hnsw-local-persisted', 'VECTOR', 'c1'),
        ('s2', 'urn:chroma:segment/metadata/sqlite', 'METADATA', 'c2');
    INSERT INTO max_seq_id VALUES ('s1', 0);";

const FACT_TABLES: &str = "
    CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL, type TEXT DEFAULT 'unknown',
        properties TEXT DEFAULT '{}', created_at TEXT DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT NOT NULL, predicate TEXT NOT NULL,
        object TEXT NOT NULL, valid_from TEXT, valid_to TEXT, confidence REAL DEFAULT 1.0,
        source_closet TEXT, source_file TEXT, source_drawer_id TEXT, adapter_name TEXT,
        extracted_at TEXT DEFAULT CURRENT_TIMESTAMP);";

/// A store of MemPalace that another process has open, or could have.
pub(crate) struct MempalaceStore {
    texts: Connection,
    facts: Connection,
}

impl MempalaceStore {
    /// A store in `folder` next to the home.
    pub(crate) fn new(home: &Home, folder: &str) -> Self {
        let palace = path_beside(home, folder);
        std::fs::create_dir_all(&palace).unwrap();
        let texts = Connection::open(palace.join("chroma.sqlite3")).unwrap();
        let facts = Connection::open(palace.join("knowledge_graph.sqlite3")).unwrap();
        texts.execute_batch(CHROMA_TABLES).unwrap();
        facts.execute_batch(FACT_TABLES).unwrap();
        Self { texts, facts }
    }

    /// A store with data of every kind.
    fn create_with_samples(home: &Home, folder: &str) -> Self {
        let theirs = Self::new(home, folder);
        let about = |wing: &str, room: &str, at: &str| json!({ "wing": wing, "room": room, "filed_at": at, "added_by": "mcp", "chunk_index": 0 });
        let mut meeting = about("wing_my-app", "auth", "2026-02-12T09:30:00.123456");
        meeting["source_file"] = "/home/ada/notes/meeting.md".into();
        theirs.insert_drawer("drawer_1", "We chose Clerk over Auth0.\n", &meeting);
        let mut long = about("Große Küche", "O'Brien/../x", "2026-03-01T12:00:00");
        long["parent_drawer_id"] = "drawer_2".into();
        for (piece, text) in [(1, "eins, "), (0, "null, "), (2, "zwei  \n")] {
            long["chunk_index"] = piece.into();
            theirs.insert_drawer(&format!("drawer_2_chunk_{piece:06}"), text, &long);
        }
        theirs.insert_drawer(
            "drawer_3",
            "Nobody knows whence.",
            &json!({ "score": 1.5, "ok": true }),
        );
        let looked_at = json!({ "room": "_registry", "wing": "w", "ingest_mode": "registry" });
        theirs.insert_drawer("_reg_1", "[registry] /a.md", &looked_at);
        let mut diary = about("wing_claude", "diary", "2026-03-02T08:00:00.5");
        for (key, value) in [("type", "diary_entry"), ("agent", "claude"), ("topic", "build")] {
            diary[key] = value.into();
        }
        theirs.insert_drawer("diary_1", "SESSION:2026-03-02|built.palace|★★★", &diary);
        diary["filed_at"] = "2026-03-03T08:00:00".into();
        theirs.insert_drawer("diary_2", "SESSION:2026-03-02|built.palace|★★★", &diary);
        theirs.insert_entity("max", "Max", "person");
        theirs.insert_entity("acme_corp.", "Acme Corp.", "unknown");
        theirs.insert_fact("t_1", "max|loves|chess", Some("2025-10-01"), Some("2026-01-01"));
        theirs.insert_fact("t_2", "max|loves|chess", Some("2026-02-01"), None);
        theirs.insert_fact("t_3", "max|works_for|acme_corp.", None, None);
        theirs
    }

    /// A store in which MemPalace has filed a document and a conversation.
    fn create_with_mined_texts(home: &Home, folder: &str) -> Self {
        let theirs = Self::new(home, folder);
        let text = "Grey beds stand on end here like books, sawn off level, and red sandstone lies across them, as James Hutton saw at Siccar Point.";
        for (piece, part) in [&text[..60], &text[35..95], &text[70..]].into_iter().enumerate() {
            let about = json!({ "wing": "wing_w", "room": "big", "source_file": "/n/big.md",
                "filed_at": format!("2026-01-02T03:04:0{piece}"), "chunk_index": piece });
            theirs.insert_drawer(&format!("drawer_w_big_{piece}"), part, &about);
        }
        for (piece, part) in
            ["> Why black?\nIt is coal.", "> Why grey?\nIt is slate."].iter().enumerate()
        {
            let about = json!({ "wing": "wing_w", "room": "talk", "source_file": "/n/talk.jsonl",
                "filed_at": "2026-01-02T03:04:05", "chunk_index": piece });
            theirs.insert_drawer(&format!("drawer_w_talk_{piece}"), part, &about);
        }
        theirs.insert_drawer("drawer_w_lost", "Nobody knows where.", &json!({ "room": "x" }));
        theirs.insert_fact("t_when", "max|loves|chess", Some("2025-10-01T12:00:00"), None);
        theirs
    }

    /// A store with some invalid rows.
    fn create_with_invalid_rows(home: &Home, folder: &str) {
        let theirs = Self::new(home, folder);
        let about = json!({ "wing": "w", "room": "r", "filed_at": "yesterday" });
        theirs.insert_drawer("good", "a text", &about);
        theirs.insert_drawer("blank", " \n", &about);
        theirs.insert_drawer("bytes", "not for long", &about);
        theirs.insert_drawer("huge", &"x".repeat(1_000_000), &about);
        for (id, piece) in [("p_0", 0), ("p_2", 2)] {
            let about =
                json!({ "wing": "w", "room": "r", "parent_drawer_id": "p", "chunk_index": piece });
            theirs.insert_drawer(id, &format!("<{piece}>"), &about);
        }
        theirs
            .texts
            .execute_batch(
                "UPDATE embedding_metadata SET string_value = CAST(x'ff' AS TEXT)
                    WHERE key = 'chroma:document' AND string_value = 'not for long';
                INSERT INTO embeddings (segment_id, embedding_id, seq_id) VALUES ('s1', 'textless', 0);
                INSERT INTO embeddings_queue (operation, topic, id)
                    VALUES (0, 'persistent://default/default/c1', 'late');",
            )
            .unwrap();
        theirs.insert_fact("t_good", "a|knows|b", Some("last spring"), None);
        theirs.insert_fact("t_empty", "a||b", None, None);
        theirs.insert_fact("t_long", &format!("a|knows|{}", "b".repeat(501)), None, None);
        theirs
            .facts
            .execute_batch("INSERT INTO entities VALUES ('odd', 'Odd', 'thing', '[1]', NULL)")
            .unwrap();
    }

    pub(crate) fn insert_drawer(&self, id: &str, text: &str, about: &Value) {
        let add = "INSERT INTO embeddings (segment_id, embedding_id, seq_id) VALUES ('s1', ?1, 0)";
        self.texts.execute(add, [id]).unwrap();
        let place = self.texts.last_insert_rowid();
        let mut about = about.clone();
        about["chroma:document"] = text.into();
        for (key, value) in about.as_object().unwrap() {
            let column = match value {
                Value::String(_) => "string_value",
                Value::Bool(_) => "bool_value",
                value if value.is_f64() => "float_value",
                _ => "int_value",
            };
            let said = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let said = if column == "bool_value" { "1".to_owned() } else { said };
            let add =
                format!("INSERT INTO embedding_metadata (id, key, {column}) VALUES (?1, ?2, ?3)");
            self.texts.execute(&add, (place, key, said)).unwrap();
        }
    }

    fn insert_entity(&self, id: &str, name: &str, kind: &str) {
        let add = "INSERT INTO entities (id, name, type) VALUES (?1, ?2, ?3)";
        self.facts.execute(add, [id, name, kind]).unwrap();
    }

    pub(crate) fn insert_fact(
        &self,
        id: &str,
        fact: &str,
        since: Option<&str>,
        until: Option<&str>,
    ) {
        let [subject, predicate, object] = fact.split('|').collect::<Vec<_>>().try_into().unwrap();
        let add = "INSERT INTO triples (id, subject, predicate, object, valid_from, valid_to)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        self.facts.execute(add, (id, subject, predicate, object, since, until)).unwrap();
    }
}

fn path_beside(home: &Home, path: &str) -> PathBuf {
    home.path().parent().unwrap().join(path)
}

/// Lists the content of a folder.
fn folder_contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    files.map(|it| (it.clone(), std::fs::read(it).unwrap())).collect()
}

/// Runs the import in a time zone one hour east of Greenwich, and returns its output
/// and exit status.
fn run_import(home: &Home, arguments: &str) -> String {
    let mut command = home.palazzo_command(crate::harness::MARCH_1);
    command.env("TZ", "CET-1").args(["import", "mempalace"]).args(arguments.split_whitespace());
    for name in ["MEMPALACE_CONFIG_DIR", "MEMPALACE_PALACE_PATH", "MEMPALACE_PALACE"] {
        command.env_remove(name);
    }
    let Output { stdout, stderr, status } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let folder = path_beside(home, "").display().to_string();
    let said = format!("{}[err] {}[exit {}]\n", text(stdout), text(stderr), status.code().unwrap());
    format!("$ palazzo import mempalace {arguments}\n{}", said.replace(&folder, "~/"))
}

/// Returns all drawers, entries and entities, without ids.
fn imported_texts(home: &Home) -> String {
    let paths = home.git(&["ls-files", "--", "palace/drawers", "palace/diary", "palace/entities"]);
    let texts = paths.lines().map(|it| {
        let text = home.read(it);
        let is_said = |it: &&str| !it.starts_with("id:") && !it.starts_with('#') && *it != "---";
        let folder = it.rsplit_once('/').unwrap().0;
        format!("── {folder}\n{}", text.lines().filter(is_said).collect::<Vec<_>>().join("\n"))
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_import_adds_everything_once_and_leaves_the_source_unchanged() {
    let home = Home::new();
    drop(MempalaceStore::create_with_samples(&home, "theirs"));
    let before = folder_contents(&path_beside(&home, "theirs"));
    let story = ["theirs --dry-run", "theirs", "theirs", "theirs --dry-run"];
    assert_snapshot!(story.map(|it| run_import(&home, it)).concat(), @"
    $ palazzo import mempalace theirs --dry-run
    Would add to a new workspace: drawers 3, diary entries 2, facts 3; 0 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 3, diary entries 2, facts 3; 0 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 0; 8 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    $ palazzo import mempalace theirs --dry-run
    Would add to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 0; 8 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    ");
    assert_snapshot!(home.git(&["log", "-1", "--format=%s: %b"]), @"
    mempalace: import: 3 drawers, 2 diary entries, 3 facts

    Palazzo-Tool: import
    Palazzo-Client: ada
    Palazzo-Visit: ID
    ");
    assert_eq!(folder_contents(&path_beside(&home, "theirs")), before);
    assert_eq!(home.commit_count(), 2);
    home.assert_clean_repository();
}

#[test]
fn imported_drawers_and_facts_keep_their_names_and_times() {
    let home = Home::new();
    drop(MempalaceStore::create_with_samples(&home, "theirs"));
    run_import(&home, "theirs");
    assert_snapshot!(imported_texts(&home));
}

#[test]
fn the_default_mempalace_locations_are_searched() {
    let home = Home::new();
    let empty = run_import(&home, "");
    let theirs = MempalaceStore::create_with_samples(&home, ".config/mempalace/palace");
    theirs.facts.execute_batch("DELETE FROM triples").unwrap();
    let new = run_import(&home, "");
    let old = MempalaceStore::new(&home, ".mempalace/palace");
    old.insert_drawer("d", "of old", &json!({ "wing": "w", "room": "r" }));
    std::fs::remove_file(path_beside(&home, ".mempalace/palace/knowledge_graph.sqlite3")).unwrap();
    let graph = Connection::open(path_beside(&home, ".mempalace/knowledge_graph.sqlite3")).unwrap();
    graph.execute_batch(FACT_TABLES).unwrap();
    // The schema of older versions, with fewer columns.
    graph.execute_batch("ALTER TABLE triples DROP COLUMN source_drawer_id").unwrap();
    MempalaceStore { facts: graph, ..old }.insert_fact("t", "rain|follows|sun", None, None);
    let old = [run_import(&home, ""), run_import(&home, ".mempalace --dry-run")].concat();
    drop(MempalaceStore::create_with_samples(&home, "elsewhere"));
    home.write("../.mempalace/config.json", r#"{ "palace_path": "~/elsewhere" }"#);
    let told = run_import(&home, "");
    assert_snapshot!([empty, new, old, told].concat(), @"
    $ palazzo import mempalace 
    [err] palazzo: ~/.config/mempalace/palace is not a MemPalace palace: it has no chroma.sqlite3, sqlite_exact.sqlite3 or knowledge_graph.sqlite3; name its folder
    [exit 2]
    $ palazzo import mempalace 
    Added to `palace` in ~/home/palace: drawers 3, diary entries 2, facts 0; 0 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    $ palazzo import mempalace 
    Added to `palace` in ~/home/palace: drawers 1, diary entries 0, facts 1; 0 existed already.
    [err] [exit 0]
    $ palazzo import mempalace .mempalace --dry-run
    Would add to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 0; 2 existed already.
    [err] [exit 0]
    $ palazzo import mempalace 
    Added to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 3; 6 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    ");
}

#[test]
fn rows_only_in_the_sqlite_wal_are_imported() {
    let home = Home::new();
    let theirs = MempalaceStore::create_with_samples(&home, "theirs");
    for it in [&theirs.texts, &theirs.facts] {
        it.pragma_update(None, "journal_mode", "wal").unwrap();
        it.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    }
    theirs.insert_drawer("late", "Only in the log.", &json!({ "wing": "w", "room": "r" }));
    theirs.insert_fact("t_late", "max|knows|sql", None, None);
    let live = folder_contents(&path_beside(&home, "theirs"));
    // The state that two machines leave after a power failure.
    for (folder, lost) in [("with", "-none"), ("without", "-shm")] {
        std::fs::create_dir(path_beside(&home, folder)).unwrap();
        for (path, bytes) in &live {
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.ends_with(lost) {
                std::fs::write(path_beside(&home, folder).join(name), bytes).unwrap();
            }
        }
    }
    for folder in ["theirs", "with", "without"] {
        let before: Vec<_> = folder_contents(&path_beside(&home, folder)).into_keys().collect();
        let told = run_import(&home, &format!("{folder} --home new-{folder}"));
        assert!(told.contains("drawers 4, diary entries 2, facts 4;"), "{told}");
        assert_eq!(
            folder_contents(&path_beside(&home, folder)).into_keys().collect::<Vec<_>>(),
            before
        );
        let drawer = path_beside(&home, &format!("new-{folder}/palace/drawers/w/r"));
        let (_, text) = folder_contents(&drawer).pop_first().unwrap();
        assert!(String::from_utf8(text).unwrap().ends_with("Only in the log."));
    }
}

#[test]
fn an_unfinished_sqlite_transaction_is_ignored() {
    let home = Home::new();
    let theirs = MempalaceStore::create_with_samples(&home, "theirs");
    let whole = std::fs::read(path_beside(&home, "theirs/chroma.sqlite3")).unwrap();
    let halfway = "PRAGMA cache_size = 1; BEGIN; DELETE FROM embedding_metadata;
        UPDATE embeddings SET embedding_id = hex(zeroblob(50000)) || id";
    theirs.texts.execute_batch(halfway).unwrap();
    // The state that a machine leaves after a power failure.
    std::fs::create_dir(path_beside(&home, "halfway")).unwrap();
    for name in ["chroma.sqlite3", "chroma.sqlite3-journal"] {
        let from = path_beside(&home, "theirs").join(name);
        std::fs::copy(from, path_beside(&home, "halfway").join(name)).unwrap();
    }
    let before = folder_contents(&path_beside(&home, "halfway"));
    assert!(before[&path_beside(&home, "halfway/chroma.sqlite3")] != whole);
    assert_snapshot!(run_import(&home, "halfway"), @"
    $ palazzo import mempalace halfway
    Added to `palace` in ~/home/palace: drawers 3, diary entries 2, facts 0; 0 existed already.
    [err] embeddings drawer_3: the wing or room is missing; filed in `unknown`
    [exit 0]
    ");
    assert_eq!(folder_contents(&path_beside(&home, "halfway")), before);
}

#[test]
fn an_unreadable_database_is_refused_as_a_whole() {
    let home = Home::new();
    let theirs = MempalaceStore::create_with_samples(&home, "theirs");
    theirs.texts.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut story = vec![run_import(&home, "theirs")];
    drop(theirs);
    let file = path_beside(&home, "theirs/chroma.sqlite3");
    let whole = std::fs::read(&file).unwrap();
    for length in [whole.len() / 2 + 100, 40, 0] {
        std::fs::write(&file, &whole[..length]).unwrap();
        story.push(run_import(&home, "theirs"));
    }
    story.push(run_import(&home, "nowhere"));
    assert!(!home.path().exists());
    assert_snapshot!(story.concat(), @"
    $ palazzo import mempalace theirs
    [err] palazzo: cannot read ~/theirs/chroma.sqlite3: another process is writing to it: try again when that is done (database is locked)
    [exit 2]
    $ palazzo import mempalace theirs
    [err] palazzo: cannot read ~/theirs/chroma.sqlite3: it is damaged, and nothing was imported: `sqlite3 FILE .recover` may save the rest (database disk image is malformed)
    [exit 2]
    $ palazzo import mempalace theirs
    [err] palazzo: cannot read ~/theirs/chroma.sqlite3: it is damaged, and nothing was imported: `sqlite3 FILE .recover` may save the rest (database disk image is malformed)
    [exit 2]
    $ palazzo import mempalace theirs
    [err] palazzo: cannot read ~/theirs/chroma.sqlite3: no such table: collections
    [exit 2]
    $ palazzo import mempalace nowhere
    [err] palazzo: ~/nowhere is not a MemPalace palace: it has no chroma.sqlite3, sqlite_exact.sqlite3 or knowledge_graph.sqlite3; name its folder
    [exit 2]
    ");
}

#[test]
fn invalid_rows_are_reported_and_the_others_imported() {
    let home = Home::new();
    MempalaceStore::create_with_invalid_rows(&home, "theirs");
    home.write("../theirs/qdrant_backend.json", "{}");
    assert_snapshot!(run_import(&home, "theirs"), @"
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 2, diary entries 0, facts 1; 0 existed already; not understood: 11.
    [err] embeddings bytes: its `chroma:document` is not text
    embeddings_queue: 1 not processed by Chroma yet: open the palace with MemPalace, then import again
    qdrant_backend.json: the texts stored in Qdrant cannot be read from here
    embeddings textless: it has no text
    embeddings p: piece 1 is missing; the others were joined
    embeddings blank: it has no text
    embeddings huge: it has 1000000 bytes; the limit is 917504
    entities odd: its `properties` are not a JSON object
    triples t_good: its `valid_from` is not a date, and is kept as text: last spring
    triples t_empty: its `predicate` is empty
    triples t_long: its `object` has 501 characters; the limit is 500
    [exit 1]
    ");
    assert_snapshot!(imported_texts(&home));
    home.assert_clean_repository();
}

#[test]
fn a_second_import_adds_new_facts_and_keeps_local_changes() {
    let home = Home::new();
    let theirs = MempalaceStore::new(&home, "theirs");
    theirs.insert_entity("max", "Max", "unknown");
    theirs.insert_fact("t_1", "max|loves|chess", Some("2025-10-01"), None);
    theirs.insert_fact("t_2", "max|loves|tea", Some("2025-10-01"), None);
    theirs.insert_fact("t_3", "max|knows|ada", None, None);
    run_import(&home, "theirs");
    let max = home.read("palace/entities/thing/max.yaml");
    let tea = "to: tea\n    since: 2025-10-01\n";
    assert!(max.contains(tea));
    let ended = max.replace(tea, &format!("{tea}    until: 2026\n"));
    home.write("palace/entities/thing/max.yaml", &ended);
    let end = "UPDATE triples SET valid_to = '2026-02-01' WHERE id = 't_1';
        UPDATE triples SET valid_from = '2020-01-01' WHERE id = 't_3'";
    theirs.facts.execute_batch(end).unwrap();
    theirs.insert_fact("t_4", "MAX|loves|chess", Some("2026-03-01"), None);
    let story = [run_import(&home, "theirs"), run_import(&home, "theirs")];
    assert_snapshot!(story.concat(), @"
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 3; 1 existed already.
    [err] [exit 0]
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 0, diary entries 0, facts 0; 4 existed already.
    [err] [exit 0]
    ");
    let max = home.read("palace/entities/thing/max.yaml");
    assert_snapshot!(max.lines().skip(2).collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_chunks_of_a_mined_document_are_joined() {
    let home = Home::new();
    drop(MempalaceStore::create_with_mined_texts(&home, "theirs"));
    assert_snapshot!(run_import(&home, "theirs"), @"
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 4, diary entries 0, facts 1; 0 existed already.
    [err] embeddings drawer_w_lost: the wing or room is missing; filed in `unknown`
    [exit 0]
    ");
    assert_snapshot!(imported_texts(&home));
}

#[test]
fn a_palace_without_chroma_is_imported() {
    let home = Home::new();
    std::fs::create_dir_all(path_beside(&home, "theirs")).unwrap();
    let theirs = Connection::open(path_beside(&home, "theirs/sqlite_exact.sqlite3")).unwrap();
    theirs
        .execute_batch(
            r#"CREATE TABLE collections (id INTEGER PRIMARY KEY AUTOINCREMENT,
                name TEXT NOT NULL UNIQUE, dimension INTEGER, created_at TEXT NOT NULL);
            CREATE TABLE documents (collection_id INTEGER NOT NULL, id TEXT NOT NULL,
                document TEXT NOT NULL, metadata_json TEXT NOT NULL, embedding BLOB NOT NULL,
                dim INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL,
                PRIMARY KEY (collection_id, id));
            INSERT INTO collections VALUES (1, 'mempalace_drawers', 2, ''), (2, 'mempalace_closets', 2, '');
            INSERT INTO documents VALUES
                (1, 'd_1', 'a text', '{"wing":"w","room":"r","added_by":"ada"}', x'00', 2, '', ''),
                (1, 'd_2', 'another', '{', x'00', 2, '', ''),
                (2, 'c_1', 'topic|ADA|→d_1', '{"wing":"w","room":"r"}', x'00', 2, '', '');"#,
        )
        .unwrap();
    let told = run_import(&home, "theirs");
    assert_snapshot!([told, imported_texts(&home)].concat(), @"
    $ palazzo import mempalace theirs
    Added to `palace` in ~/home/palace: drawers 1, diary entries 0, facts 0; 0 existed already; not understood: 1.
    [err] documents d_2: its `metadata_json` is not a JSON object
    [exit 1]
    ── palace/drawers/w/r
    wing: w
    room: r
    by: ada
    filed: 2026-03-01T12:00:00Z

    a text
    ");
}

#[test]
fn an_unused_column_may_have_any_name() {
    let home = Home::new();
    drop(MempalaceStore::create_with_samples(&home, "theirs"));
    let file = path_beside(&home, "theirs/knowledge_graph.sqlite3");
    let mut bytes = std::fs::read(&file).unwrap();
    let place = bytes.windows(10).position(|it| it == b"confidence").unwrap();
    bytes[place] = 0xff;
    std::fs::write(&file, bytes).unwrap();
    let told = run_import(&home, "theirs");
    assert!(told.contains("facts 3; 0 existed already.\n") && told.contains("[exit 0]"), "{told}");
}
