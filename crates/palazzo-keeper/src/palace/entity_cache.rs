//! A cache of parsed entity files: a file with an unchanged stamp need not be read again.
//!
//! It is stored beside git's own files, is in no commit, and may be deleted at any time. Only
//! entities are cached, because only they are many and small: reading and parsing a file takes
//! ten times as long as decoding it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::palace::file_states::text_digest;
use crate::palace::loaded_palace::LoadedPalace;
use palazzo_core::format::{self, ParsedFile};
use palazzo_core::model::{Entity, FileKind, Rule};
use palazzo_store::FileStamp;

/// The name of the cache file.
pub(crate) const CACHE_NAME: &str = "entities";

/// One parsed file.
#[derive(Serialize, Deserialize)]
struct CachedEntity<'a> {
    path: &'a str,
    stamp: FileStamp,
    digest: u64,
    entity: &'a [u8],
}

/// The parsed files, by path.
#[derive(Default)]
pub(crate) struct EntityCache(HashMap<String, (FileStamp, u64, Entity)>);

impl EntityCache {
    /// Decodes a cache; it is empty if another release wrote it.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut entities = HashMap::new();
        let mut rest = bytes.strip_prefix(cache_header().as_slice()).unwrap_or_default();
        while let Ok((cached, after)) = postcard::take_from_bytes::<CachedEntity<'_>>(rest) {
            let CachedEntity { path, stamp, digest, entity } = cached;
            if let Ok(entity) = postcard::from_bytes(entity) {
                entities.insert(path.to_owned(), (stamp, digest, entity));
            }
            rest = after;
        }
        Self(entities)
    }

    /// Returns the parsed content of a file with this stamp, and the digest of its text.
    pub(crate) fn take_if_unchanged(
        &mut self,
        path: &str,
        stamp: Option<FileStamp>,
    ) -> Option<(u64, ParsedFile)> {
        let (cached_stamp, digest, entity) = self.0.remove(path)?;
        (Some(cached_stamp) == stamp).then(|| (digest, entity.into()))
    }

    /// Returns the number of cached files.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Returns true if enough files were parsed (`uncached`), compared with those from the cache
/// (`cached`), to write a new cache.
pub(crate) fn is_worth_writing(cached: usize, uncached: usize) -> bool {
    /// Parsing this many files takes no noticeable time.
    const MIN_UNCACHED_FILES: usize = 200;
    uncached > MIN_UNCACHED_FILES + cached / 10
}

/// Encodes the entity files of a palace.
pub(crate) fn encode_cache(palace: &LoadedPalace) -> Vec<u8> {
    let mut bytes = cache_header();
    for (path, stamp, digest) in palace.file_states.present_files() {
        let entity = palace
            .palace
            .graph
            .entity_in_file(path)
            .filter(|_| !palace.findings.contains_key(path));
        let Some(entity) = entity.and_then(encode_if_lossless) else { continue };
        let cached = CachedEntity { path, stamp, digest, entity: &entity };
        bytes.extend(postcard::to_stdvec(&cached).unwrap_or_default());
    }
    bytes
}

/// Encodes an entity, if decoding gives the same entity.
fn encode_if_lossless(entity: &Entity) -> Option<Vec<u8>> {
    let bytes = postcard::to_stdvec(entity).ok()?;
    (postcard::from_bytes::<Entity>(&bytes).as_ref() == Ok(entity)).then_some(bytes)
}

/// The first bytes of a cache: the release that wrote it, its format, and what it was checked for.
fn cache_header() -> Vec<u8> {
    let about = (
        env!("CARGO_PKG_VERSION"),
        text_digest(format::json_schema_of_file_kind(FileKind::Entity)),
        // A file in the cache is not checked again for the findings of a newer release.
        Rule::ALL.len(),
    );
    postcard::to_stdvec(&about).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::palace::OpenPalace;
    use crate::palace::open_palace::WatchConfig;
    use palazzo_store::Store;

    const FILES: [(&str, &str); 3] = [
        (
            "entities/claim/drift.yaml",
            "name: Drift\ngenus: Claim\nstatus: contested\n\
             attributes:\n  fraction: 0.1\n  born: -0246\n  seen: [1, {a: null}]\n\
             observations:\n- It moves.\nrelations:\n- {type: disputed_by, to: Étude}\n",
        ),
        ("entities/claim/etude.yaml", "name: Étude\ngenus: Claim\n"),
        ("entities/claim/faulty.yaml", "name: Faulty\ngenus: Claim\nstatus: [1]\n"),
    ];

    struct TestPalace {
        dir: tempfile::TempDir,
    }

    impl TestPalace {
        fn new() -> Self {
            let scene = Self { dir: tempfile::tempdir().unwrap() };
            for (path, text) in FILES {
                let place = scene.palace().join(path);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(place, text).unwrap();
            }
            scene
        }

        fn palace(&self) -> PathBuf {
            self.dir.path().join("keep")
        }

        fn open(&self) -> OpenPalace {
            let store = Store::new(self.palace(), self.dir.path().to_owned());
            OpenPalace::open(store, "Keep", &WatchConfig::default()).unwrap()
        }

        /// Encodes the palace as soon as no file is too recent to have a reliable stamp.
        fn encode_when_settled(&self) -> (OpenPalace, Vec<u8>) {
            loop {
                let palace = self.open();
                if palace.file_states.present_files().count() == FILES.len() {
                    let bytes = encode_cache(&palace);
                    return (palace, bytes);
                }
            }
        }
    }

    fn stamp(palace: &OpenPalace, path: &str) -> Option<FileStamp> {
        palace.store().file_stamp(path)
    }

    #[test]
    fn an_unchanged_file_is_taken_from_the_cache() {
        let scene = TestPalace::new();
        let (palace, bytes) = scene.encode_when_settled();
        let mut cache = EntityCache::from_bytes(&bytes);
        for (path, text) in &FILES[..2] {
            let (digest, parsed) = cache.take_if_unchanged(path, stamp(&palace, path)).unwrap();
            assert_eq!(parsed, format::parse_file(path, text));
            assert_eq!(Some(digest), palace.file_states.digest(path));
        }
    }

    #[test]
    fn a_faulty_or_changed_file_is_not_taken_from_the_cache() {
        let scene = TestPalace::new();
        let (palace, bytes) = scene.encode_when_settled();
        let mut cache = EntityCache::from_bytes(&bytes);
        let [(drift, text), _, (faulty, _)] = FILES;
        assert!(cache.take_if_unchanged(faulty, stamp(&palace, faulty)).is_none());
        assert!(cache.take_if_unchanged("entities/claim/new.yaml", None).is_none());
        let place = scene.palace().join(drift);
        let before = place.metadata().unwrap().modified().unwrap();
        fs::write(&place, text.replace("moves", "rests")).unwrap();
        fs::File::options().write(true).open(&place).unwrap().set_modified(before).unwrap();
        // Windows shows no time of the change besides the one that was set back.
        let is_noticed = cache.take_if_unchanged(drift, stamp(&palace, drift)).is_none();
        assert_eq!(is_noticed, cfg!(unix));
    }

    #[test]
    fn a_truncated_or_foreign_cache_is_ignored() {
        let scene = TestPalace::new();
        let (palace, bytes) = scene.encode_when_settled();
        let path = FILES[0].0;
        let decoded = |bytes: &[u8]| {
            EntityCache::from_bytes(bytes)
                .take_if_unchanged(path, stamp(&palace, path))
                .map(|(_, parsed)| parsed)
        };
        let whole = decoded(&bytes);
        assert!(whole.is_some());
        for end in 0..bytes.len() {
            assert!(decoded(&bytes[..end]).is_none_or(|it| Some(it) == whole));
        }
        assert!(decoded(&[b"x", &bytes[1..]].concat()).is_none());
    }
}
