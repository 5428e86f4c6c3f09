//! What was understood of entity files when the palace was last opened: whatever
//! stands as it stood then need not be read again.
//!
//! It is kept beside git's own files and in no commit, and may be deleted at any
//! time. Only entities are kept, for only they are many and small: reading a file
//! and parsing it takes ten times as long as recalling it.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::format::{self, Understood};
use crate::keeper::palace::Held;
use crate::keeper::palace::reload::digest;
use crate::model::{Entity, FileKind};
use crate::store::Stamp;

/// What it is kept under.
pub(crate) const NAME: &str = "recollection";

/// What was understood of one file.
#[derive(Serialize, Deserialize)]
struct Memory<'a> {
    path: &'a str,
    stamp: Stamp,
    digest: u64,
    entity: &'a [u8],
}

/// What was understood of files, by path.
#[derive(Default)]
pub(crate) struct Recollection(HashMap<String, (Stamp, u64, Entity)>);

impl Recollection {
    /// Finds what `bytes` hold; nothing where another release wrote them.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut memories = HashMap::new();
        let mut rest = bytes.strip_prefix(maker().as_slice()).unwrap_or_default();
        while let Ok((memory, after)) = postcard::take_from_bytes::<Memory<'_>>(rest) {
            let Memory { path, stamp, digest, entity } = memory;
            if let Ok(entity) = postcard::from_bytes(entity) {
                memories.insert(path.to_owned(), (stamp, digest, entity));
            }
            rest = after;
        }
        Self(memories)
    }

    /// Recalls what a file says that stands so, and the digest of its text.
    pub(crate) fn recall(&mut self, path: &str, stamp: Option<Stamp>) -> Option<(u64, Understood)> {
        let (then, digest, entity) = self.0.remove(path)?;
        (Some(then) == stamp).then(|| (digest, entity.into()))
    }

    /// Returns of how many files it knows.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Tells whether `unknown` files beside so many that are `known` make it worth to
/// keep them anew.
pub(crate) fn is_outgrown(known: usize, unknown: usize) -> bool {
    /// So many files are read in the time that a person calls at once.
    const FEW: usize = 200;
    unknown > FEW + known / 10
}

/// Writes down what is held of entity files, for the next time.
pub(crate) fn written(held: &Held) -> Vec<u8> {
    let mut bytes = maker();
    for (path, stamp, digest) in held.ledger.settled() {
        let entity = held.palace.graph.in_file(path).filter(|_| !held.findings.contains_key(path));
        let Some(entity) = entity.and_then(faithful) else { continue };
        let memory = Memory { path, stamp, digest, entity: &entity };
        bytes.extend(postcard::to_stdvec(&memory).unwrap_or_default());
    }
    bytes
}

/// Returns an entity in bytes, if it comes back from them as it was.
fn faithful(entity: &Entity) -> Option<Vec<u8>> {
    let bytes = postcard::to_stdvec(entity).ok()?;
    (postcard::from_bytes::<Entity>(&bytes).as_ref() == Ok(entity)).then_some(bytes)
}

/// What a recollection begins with: the release that wrote it, and what it takes
/// entity files to be. Another one may understand the same file differently.
fn maker() -> Vec<u8> {
    let about = (env!("CARGO_PKG_VERSION"), digest(&format::schema(FileKind::Entity)));
    postcard::to_stdvec(&about).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::keeper::palace::reload::Vigil;
    use crate::store::Store;

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

    struct Scene {
        dir: tempfile::TempDir,
    }

    impl Scene {
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

        fn open(&self) -> Held {
            let store = Store::new(self.palace(), self.dir.path().to_owned());
            Held::open(store, "Keep", &Vigil::default()).unwrap()
        }

        /// Writes down what is held when no file is too young to be known again.
        fn written(&self) -> (Held, Vec<u8>) {
            loop {
                let held = self.open();
                if held.ledger.settled().count() == FILES.len() {
                    let bytes = written(&held);
                    return (held, bytes);
                }
            }
        }
    }

    fn stamp(held: &Held, path: &str) -> Option<Stamp> {
        held.store().stamp(path)
    }

    #[test]
    fn what_stands_as_it_stood_is_recalled_as_it_would_be_read() {
        let scene = Scene::new();
        let (held, bytes) = scene.written();
        let mut remembered = Recollection::of(&bytes);
        for (path, text) in &FILES[..2] {
            let (digest, recalled) = remembered.recall(path, stamp(&held, path)).unwrap();
            assert_eq!(recalled, format::understand(path, text));
            assert_eq!(Some(digest), held.ledger.digest(path));
        }
    }

    #[test]
    fn what_is_faulty_or_was_saved_since_is_read() {
        let scene = Scene::new();
        let (held, bytes) = scene.written();
        let mut remembered = Recollection::of(&bytes);
        let [(drift, text), _, (faulty, _)] = FILES;
        assert!(remembered.recall(faulty, stamp(&held, faulty)).is_none());
        let place = scene.palace().join(drift);
        let before = place.metadata().unwrap().modified().unwrap();
        fs::write(&place, text.replace("moves", "rests")).unwrap();
        fs::File::options().write(true).open(&place).unwrap().set_modified(before).unwrap();
        assert!(remembered.recall(drift, stamp(&held, drift)).is_none());
        assert!(remembered.recall("entities/claim/new.yaml", None).is_none());
    }

    #[test]
    fn nothing_is_recalled_from_what_is_torn_or_of_another_release() {
        let scene = Scene::new();
        let (held, bytes) = scene.written();
        let path = FILES[0].0;
        let recalled = |bytes: &[u8]| {
            Recollection::of(bytes).recall(path, stamp(&held, path)).map(|(_, words)| words)
        };
        let whole = recalled(&bytes);
        assert!(whole.is_some());
        for end in 0..bytes.len() {
            assert!(recalled(&bytes[..end]).is_none_or(|it| Some(it) == whole));
        }
        assert!(recalled(&[b"x", &bytes[1..]].concat()).is_none());
    }
}
