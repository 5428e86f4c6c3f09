//! Reads the SQLite tables of MemPalace. SQLite itself reads them, so that a concurrent
//! write of another process is seen completely or not at all. Nothing is written, not even
//! the files that SQLite would create beside a database.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params};
use serde_json::{Map, Value};

use crate::cli::outcome::Failure;
use palazzo_core::model::path_text;
use palazzo_keeper::{MempalaceRow, MempalaceTables};

/// How long to wait for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// The characters with a special meaning in a `file:` URI.
const URI_ESCAPES: &AsciiSet = &CONTROLS.add(b' ').add(b'%').add(b'?').add(b'#').add(b'\\');

/// The columns of an entity.
const ENTITY_COLUMNS: [&str; 4] = ["id", "name", "type", "properties"];

/// The columns of a fact.
const TRIPLE_COLUMNS: [&str; 9] = [
    "id",
    "subject",
    "predicate",
    "object",
    "valid_from",
    "valid_to",
    "source_file",
    "source_closet",
    "source_drawer_id",
];

/// An SQLite database, opened read-only, or a copy of it.
struct OpenDatabase {
    db: Connection,
    /// The folder of the copy; it is removed on drop.
    _copy: Option<tempfile::TempDir>,
}

/// The error of a database that could not be read.
#[derive(Debug, thiserror::Error)]
enum ReadError {
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

/// Reads the texts of a Chroma collection.
pub(crate) fn read_chroma(
    file: &Path,
    collection: &str,
    into: &mut MempalaceTables,
) -> Result<(), Failure> {
    with_database(file, |db| {
        if !has_collection(db, collection)? {
            into.faults.push(format!("{}: it has no collection `{collection}`", path_text(file)));
            return Ok(());
        }
        let mut texts: HashMap<i64, MempalaceRow> = HashMap::new();
        let query = "SELECT id, embedding_id FROM embeddings NOT INDEXED WHERE segment_id IN (
            SELECT segments.id FROM segments JOIN collections ON collections.id = collection
            WHERE name = ?1 AND scope = 'METADATA')";
        let mut query = db.prepare(query)?;
        let mut found = query.query([collection])?;
        while let Some(row) = found.next()? {
            let id = String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?).into_owned();
            texts.insert(row.get(0)?, MempalaceRow { table: "embeddings", id, fields: Map::new() });
        }
        let mut query = db.prepare(
            "SELECT id, key, string_value, int_value, float_value, bool_value
            FROM embedding_metadata NOT INDEXED",
        )?;
        let mut found = query.query([])?;
        while let Some(row) = found.next()? {
            let text_id: i64 = row.get(0)?;
            let Some(text) = texts.get_mut(&text_id) else { continue };
            let key = String::from_utf8_lossy(row.get_ref(1)?.as_bytes()?).into_owned();
            let is_true = row.get::<_, Option<bool>>(5)?.map(Value::Bool);
            let values = [2, 3, 4].into_iter().map(|it| Ok(sqlite_value_to_json(row.get_ref(it)?)));
            let values = values.collect::<Result<Vec<_>, rusqlite::Error>>()?;
            if values.iter().any(Result::is_err) {
                into.faults.push(format!("embeddings {}: its `{key}` is not text", text.id));
                texts.remove(&text_id);
                continue;
            }
            let value = values.into_iter().flatten().flatten().next();
            text.fields.extend(value.or(is_true).map(|it| (key, it)));
        }
        into.texts.extend(texts.into_values());
        into.faults.extend(queued_rows_warning(db, collection)?);
        Ok(())
    })
}

/// Reads the texts of a collection that MemPalace stores without Chroma.
pub(crate) fn read_sqlite_exact(
    file: &Path,
    collection: &str,
    into: &mut MempalaceTables,
) -> Result<(), Failure> {
    with_database(file, |db| {
        let columns = ["id", "document", "metadata_json"];
        let which = "WHERE collection_id IN (SELECT id FROM collections WHERE name = ?1)";
        for MempalaceRow { table, id, mut fields } in
            read_rows(db, "documents", &columns, which, [collection], into)?
        {
            let metadata = fields.get("metadata_json").and_then(Value::as_str).unwrap_or("{}");
            match serde_json::from_str::<Map<String, Value>>(metadata) {
                Ok(mut metadata) => {
                    metadata.extend(
                        fields
                            .remove("document")
                            .map(|it| (MempalaceTables::TEXT_KEY.to_owned(), it)),
                    );
                    into.texts.push(MempalaceRow { table, id, fields: metadata });
                }
                Err(_) => {
                    let why = "its `metadata_json` is not a JSON object";
                    into.faults.push(format!("documents {id}: {why}"));
                }
            }
        }
        Ok(())
    })
}

/// Reads the facts and their entities.
pub(crate) fn read_facts(file: &Path, into: &mut MempalaceTables) -> Result<(), Failure> {
    with_database(file, |db| {
        let entities = read_rows(db, "entities", &ENTITY_COLUMNS, "", [], into)?;
        let triples = read_rows(db, "triples", &TRIPLE_COLUMNS, "ORDER BY rowid", [], into)?;
        into.entities.extend(entities);
        into.triples.extend(triples);
        Ok(())
    })
}

fn with_database(
    file: &Path,
    with: impl FnOnce(&Connection) -> Result<(), rusqlite::Error>,
) -> Result<(), Failure> {
    let tried = open_database(file).and_then(|it| {
        // One transaction, so that all tables are read in the same state.
        let transaction = it.db.unchecked_transaction()?;
        with(&transaction)?;
        Ok(())
    });
    tried.map_err(|err| {
        let code = match &err {
            ReadError::Sqlite(err) => err.sqlite_error_code(),
            ReadError::Io(_) => None,
        };
        let why = match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                "another process is writing to it: try again when that is done"
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                "it is damaged, and nothing was imported: `sqlite3 FILE .recover` may save the rest"
            }
            _ => return Failure::Message(format!("cannot read {}: {err}", path_text(file))),
        };
        Failure::Message(format!("cannot read {}: {why} ({err})", path_text(file)))
    })
}

/// Opens a database read-only. If the last writer left a log that must be applied first,
/// opens a copy.
fn open_database(file: &Path) -> Result<OpenDatabase, ReadError> {
    let in_use = || with_suffix(file, "-shm").is_file();
    if is_wal_mode(file)? && !in_use() {
        let copy = open_database_copy(file)?;
        if !in_use() {
            return Ok(copy);
        }
    }
    let path = std::path::absolute(file)?;
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), URI_ESCAPES).to_string();
    let root = if path.starts_with('/') { "" } else { "/" };
    let address = format!("file://{root}{path}?mode=ro&readonly_shm=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(address, flags)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    match db.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())) {
        Ok(()) => Ok(OpenDatabase { db, _copy: None }),
        Err(err) if err.sqlite_error_code() == Some(ErrorCode::ReadOnly) => {
            open_database_copy(file)
        }
        Err(err) => Err(err.into()),
    }
}

/// Returns true if the database uses a write-ahead log (byte 18 of the
/// [format](https://sqlite.org/fileformat2.html)).
fn is_wal_mode(file: &Path) -> Result<bool, std::io::Error> {
    let mut head = Vec::new();
    File::open(file)?.take(19).read_to_end(&mut head)?;
    Ok(head.get(18) == Some(&2))
}

fn open_database_copy(file: &Path) -> Result<OpenDatabase, ReadError> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("copy");
    for end in ["", "-wal", "-journal"] {
        let from = with_suffix(file, end);
        if from.is_file() {
            std::fs::copy(from, with_suffix(&copy, end))?;
        }
    }
    Ok(OpenDatabase { db: Connection::open(copy)?, _copy: Some(folder) })
}

fn with_suffix(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn has_collection(db: &Connection, name: &str) -> Result<bool, rusqlite::Error> {
    db.prepare("SELECT 1 FROM collections WHERE name = ?1")?.exists([name])
}

/// Returns a warning if Chroma's queue holds rows that are not in its tables yet.
fn queued_rows_warning(
    db: &Connection,
    collection: &str,
) -> Result<Option<String>, rusqlite::Error> {
    let query = "SELECT count(*) FROM embeddings_queue WHERE
        topic LIKE '%/' || (SELECT id FROM collections WHERE name = ?1) AND
        seq_id > (SELECT max_seq_id.seq_id FROM max_seq_id
            JOIN segments ON segments.id = segment_id JOIN collections ON collections.id = collection
            WHERE name = ?1 AND scope = 'METADATA')";
    let waiting: i64 = db.query_row(query, [collection], |row| row.get(0))?;
    let why = "not processed by Chroma yet: open the palace with MemPalace, then import again";
    Ok((waiting > 0).then(|| format!("embeddings_queue: {waiting} {why}")))
}

/// Reads the `columns` that a table has; tables of older versions have fewer.
fn read_rows(
    db: &Connection,
    table: &'static str,
    columns: &[&str],
    which: &str,
    parameters: impl Params,
    into: &mut MempalaceTables,
) -> Result<Vec<MempalaceRow>, rusqlite::Error> {
    let mut has_column = db.prepare("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?;
    let mut present = Vec::new();
    for column in columns {
        if *column == "id" || has_column.exists([table, column])? {
            present.push(*column);
        }
    }
    let mut query = db.prepare(&format!("SELECT {} FROM {table} {which}", present.join(", ")))?;
    let mut found = query.query(parameters)?;
    let mut rows = Vec::new();
    while let Some(it) = found.next()? {
        let (mut row, mut odd) = (MempalaceRow { table, ..MempalaceRow::default() }, None);
        for (index, column) in present.iter().enumerate() {
            match sqlite_value_to_json(it.get_ref(index)?) {
                Ok(value) => row.fields.extend(value.map(|it| ((*column).to_owned(), it))),
                Err(NotUtf8) => odd = Some(column),
            }
        }
        row.id = row.fields.get("id").map_or_else(String::new, |it| match it {
            Value::String(id) => id.clone(),
            id => id.to_string(),
        });
        match odd {
            Some(column) => {
                into.faults.push(format!("{table} {}: its `{column}` is not text", row.id));
            }
            None => rows.push(row),
        }
    }
    Ok(rows)
}

/// The error of a value that is not UTF-8 text.
struct NotUtf8;

fn sqlite_value_to_json(it: ValueRef<'_>) -> Result<Option<Value>, NotUtf8> {
    Ok(match it {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.into()),
        ValueRef::Real(number) => Some(number.into()),
        ValueRef::Text(text) => Some(str::from_utf8(text).map_err(|_| NotUtf8)?.into()),
        ValueRef::Blob(_) => return Err(NotUtf8),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Creates a database and reads its facts.
    fn read_facts_of(sql: &str) -> (Vec<Value>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("facts #1.sqlite3");
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let mut tables = MempalaceTables::default();
        read_facts(&file, &mut tables).unwrap();
        let rows = tables.triples.into_iter().map(|it| Value::from(it.fields));
        (rows.collect(), tables.faults)
    }

    #[test]
    fn a_table_of_an_older_version_has_fewer_columns() {
        let (rows, faults) = read_facts_of(
            "CREATE TABLE entities (id TEXT, name TEXT);
            CREATE TABLE triples (id INTEGER, subject TEXT, object TEXT, unknown TEXT);
            INSERT INTO triples VALUES (7, 'größe', NULL, 'x');",
        );
        assert_eq!(rows, [json!({ "id": 7, "subject": "größe" })]);
        assert_eq!(faults, Vec::<String>::new());
    }

    #[test]
    fn a_row_with_a_value_that_is_not_text_is_left_out_and_named() {
        let (rows, faults) = read_facts_of(
            "CREATE TABLE entities (id TEXT);
            CREATE TABLE triples (id TEXT, subject TEXT);
            INSERT INTO triples VALUES ('a', x'ff'), ('b', CAST(x'ff' AS TEXT)), ('c', 'ok');",
        );
        assert_eq!(rows, [json!({ "id": "c", "subject": "ok" })]);
        assert_eq!(
            faults,
            ["triples a: its `subject` is not text", "triples b: its `subject` is not text"]
        );
    }

    #[test]
    fn a_damaged_database_is_refused_with_a_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("facts.sqlite3");
        std::fs::write(&file, "This is not a database. ".repeat(100)).unwrap();
        let refused = read_facts(&file, &mut MempalaceTables::default()).unwrap_err().to_string();
        let why =
            "it is damaged, and nothing was imported: `sqlite3 FILE .recover` may save the rest";
        assert!(
            refused.starts_with(&format!("cannot read {}: {why}", file.display())),
            "{refused}"
        );
    }

    #[test]
    fn a_missing_collection_is_reported_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chroma.sqlite3");
        let sql = "CREATE TABLE collections (id TEXT, name TEXT);";
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let mut tables = MempalaceTables::default();
        read_chroma(&file, "mine", &mut tables).unwrap();
        assert_eq!(tables.faults, [format!("{}: it has no collection `mine`", file.display())]);
        assert!(tables.texts.is_empty());
    }

    #[test]
    fn metadata_that_is_not_an_object_is_reported_by_row() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sqlite_exact.sqlite3");
        let sql = "CREATE TABLE collections (id INTEGER, name TEXT);
            CREATE TABLE documents (id TEXT, collection_id INTEGER, document TEXT, metadata_json TEXT);
            INSERT INTO collections VALUES (1, 'mine'), (2, 'other');
            INSERT INTO documents VALUES ('a', 1, 'Words.', '{\"wing\": \"W\"}'), ('b', 1, 'x', '[]'),
                ('c', 2, 'y', NULL), ('d', 1, 'z', NULL);";
        Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        let mut tables = MempalaceTables::default();
        read_sqlite_exact(&file, "mine", &mut tables).unwrap();
        let texts: Vec<_> = tables.texts.into_iter().map(|it| Value::from(it.fields)).collect();
        let key = MempalaceTables::TEXT_KEY;
        assert_eq!(texts, [json!({ "wing": "W", key: "Words." }), json!({ key: "z" })]);
        assert_eq!(tables.faults, ["documents b: its `metadata_json` is not a JSON object"]);
    }
}
