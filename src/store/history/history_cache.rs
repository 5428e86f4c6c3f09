//! Stores the counted file histories between two processes.
//!
//! The table names the commit up to which it was counted. A reader counts the commits after it; if
//! that commit is no longer an ancestor of `HEAD`, or the table is missing, everything is counted
//! again.
//!
//! ```text
//! palazzo versions 1↵
//! text    commit id, 40 digits
//! text    hash of the shallow clone's boundary, 40 digits; empty if complete
//! then for each file, sorted by path
//! number  length of the prefix shared with the previous path, in bytes
//! text    rest of the path
//! number  number of commits that changed the file
//! number  time of the first, in seconds since 1970
//! number  seconds from the first to the last
//! ```
//!
//! A number is a varint: seven bits per byte, lowest first, the eighth bit set if more follow;
//! negative values wrap around. A text is its length in bytes as a number, followed by the bytes.

use std::iter::zip;

use gix::ObjectId;

use crate::model::{CommitId, FileHistories, FileHistory};

use crate::store::Error;
use crate::store::history::commits::utc_time;
use crate::store::repo::cache;
use crate::store::repo::repository::Repository;

/// The counted file histories, and the commit up to which they were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryCache {
    /// The commit up to which `history` is counted; `None`: nothing was counted yet.
    pub head: Option<CommitId>,
    /// The history of each file.
    pub history: FileHistories,
    /// A hash of the boundary of a shallow clone; `None`: the clone is complete.
    pub(crate) shallow_boundary: Option<ObjectId>,
    /// The number of commits counted since the cache was last saved.
    pub(crate) unsaved_commits: usize,
}

/// The name of the cache file.
const CACHE_NAME: &str = "versions";
/// The first bytes of the file; another format must begin with another number.
const MAGIC: &[u8] = b"palazzo versions 1\n";

/// Loads the saved cache; `None`: there is none, or it cannot be parsed.
pub(crate) fn load(repository: &Repository) -> Option<HistoryCache> {
    decode(&cache::read_cache_file(repository, CACHE_NAME)?)
}

/// Saves `history`.
pub(crate) fn save(repository: &Repository, history: &HistoryCache) -> Result<(), Error> {
    cache::write_cache_file(repository, CACHE_NAME, &encode(history))
}

fn encode(cache: &HistoryCache) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    let text = |out: &mut Vec<u8>, text: &str| {
        write_varint(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    };
    text(&mut out, cache.head.as_ref().map_or("", |it| it.0.as_str()));
    text(&mut out, &cache.shallow_boundary.map(|it| it.to_string()).unwrap_or_default());
    let mut before = "";
    for (path, versions) in &cache.history {
        let shared = common_prefix_len(before, path);
        write_varint(&mut out, shared as u64);
        text(&mut out, &path[shared..]);
        let FileHistory { count, created, updated } = versions;
        let (created, updated) = (created.timestamp(), updated.timestamp());
        write_varint(&mut out, u64::from(*count));
        write_varint(&mut out, created.cast_unsigned());
        write_varint(&mut out, updated.wrapping_sub(created).cast_unsigned());
        before = path;
    }
    out
}

fn decode(bytes: &[u8]) -> Option<HistoryCache> {
    let mut rest = Decoder(bytes.strip_prefix(MAGIC)?);
    let head = CommitId(rest.read_text()?.to_owned());
    let boundary = match rest.read_text()? {
        "" => None,
        boundary => Some(ObjectId::from_hex(boundary.as_bytes()).ok()?),
    };
    let (mut files, mut before) = (Vec::new(), String::new());
    while !rest.0.is_empty() {
        let shared = usize::try_from(rest.read_varint()?).ok()?;
        let path = before.get(..shared)?.to_owned() + rest.read_text()?;
        let count = rest.read_varint()?.try_into().ok()?;
        let created = rest.read_varint()?.cast_signed();
        let updated = created.wrapping_add(rest.read_varint()?.cast_signed());
        before.clone_from(&path);
        files.push((
            path,
            FileHistory { count, created: utc_time(created), updated: utc_time(updated) },
        ));
    }
    // They are already sorted, so collecting them is linear.
    let history: FileHistories = files.into_iter().collect();
    Some(HistoryCache {
        head: Some(head),
        history,
        shallow_boundary: boundary,
        ..HistoryCache::default()
    })
}

/// Returns the length in bytes of the common prefix of two paths, in whole characters.
fn common_prefix_len(before: &str, path: &str) -> usize {
    let same = zip(before.bytes(), path.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|it| path.is_char_boundary(*it)).unwrap_or_default()
}

fn write_varint(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [lowest, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(lowest & 0x7f);
        }
        out.push(lowest | 0x80);
    }
}

/// The bytes not read yet.
struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn read_varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn read_text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.read_varint()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{TestHome, change_of_one_file, commit_ok};

    fn history_cache(files: &[(&str, u32, i64, i64)]) -> HistoryCache {
        let versions = |&(path, count, created, updated): &(&str, u32, i64, i64)| {
            (
                path.to_owned(),
                FileHistory { count, created: utc_time(created), updated: utc_time(updated) },
            )
        };
        let head = CommitId("0123456789012345678901234567890123456789".to_owned());
        let history = files.iter().map(versions).collect();
        HistoryCache { head: Some(head), history, ..HistoryCache::default() }
    }

    #[test]
    fn a_written_history_cache_is_read_back() {
        let mut many = history_cache(&[
            ("palace.toml", 1, 1_700_000_000, 1_700_000_000),
            ("rooms/caf\u{e9}.yaml", 3, 1_700_000_000, 1_900_000_000),
            ("rooms/caf\u{e8}.yaml", 1, -5, 0),
            ("rooms/odd\nname.yaml", u32::MAX, 5, -5),
            ("rooms/odd\nname.yaml.more", 2, 5, 5),
        ]);
        assert_eq!(decode(&encode(&many)).as_ref(), Some(&many));
        many.shallow_boundary = Some(ObjectId::null(gix::hash::Kind::Sha1));
        assert_eq!(decode(&encode(&many)).as_ref(), Some(&many));
        let none = history_cache(&[]);
        assert_eq!(decode(&encode(&none)), Some(none));
    }

    #[test]
    fn a_damaged_history_cache_causes_no_panic_and_no_wrong_counts() {
        let bytes =
            encode(&history_cache(&[("rooms/a.yaml", 300, 1, 2), ("rooms/b.yaml", 1, 2, 3)]));
        for end in 0..bytes.len() {
            let read = decode(&bytes[..end]);
            assert!(read.is_none_or(|it| it.history.len() < 2), "{end}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bent = bytes.clone();
                bent[at] ^= 1 << bit;
                drop(decode(&bent));
            }
        }
    }

    #[test]
    fn the_next_process_reuses_cached_counts() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file("rooms/hall.yaml", None, Some("0\n")));
        scene.git(&["checkout", "-q", "--detach"]);
        let mut script = String::new();
        for it in 1..300 {
            script.push_str(&format!(
                "commit refs/heads/long\ncommitter Ada <a@b> {} +0000\ndata 1\nx\n{}M 100644 inline keep/rooms/hall.yaml\ndata {}\n{it}\n\n",
                1_900_000_000 + it,
                if it == 1 { "from refs/heads/main\n" } else { "" },
                it.to_string().len() + 1,
            ));
        }
        scene.fast_import(&script);
        scene.git(&["checkout", "-q", "long"]);
        let mut counted = HistoryCache::default();
        store.update_history(&mut counted).unwrap();
        assert_eq!(counted.history["rooms/hall.yaml"].count, 300);
        // The loaded counts are trusted.
        let mut table = load(&store.repository().unwrap().unwrap()).unwrap();
        assert_eq!(table, counted);
        table.history.get_mut("rooms/hall.yaml").unwrap().count = 1_000;
        save(&store.repository().unwrap().unwrap(), &table).unwrap();
        let mut warm = HistoryCache::default();
        scene.palace("keep").update_history(&mut warm).unwrap();
        assert_eq!(warm.history["rooms/hall.yaml"].count, 1_000);
        // The table does not apply to another branch.
        scene.git(&["checkout", "-q", "main"]);
        let mut back = HistoryCache::default();
        scene.palace("keep").update_history(&mut back).unwrap();
        assert_eq!(back.history["rooms/hall.yaml"].count, 1);
        // Deleting the table only costs time.
        std::fs::remove_dir_all(scene.home.join(".git/palazzo/aside")).unwrap();
        scene.git(&["checkout", "-q", "long"]);
        let mut cold = HistoryCache::default();
        scene.palace("keep").update_history(&mut cold).unwrap();
        assert_eq!(cold.history, counted.history);
    }
}
