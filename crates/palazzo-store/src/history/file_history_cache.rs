//! Stores the counted file histories between two processes.
//!
//! The table names the commit up to which it was counted. A reader counts the commits after it; if
//! that commit is no longer an ancestor of `HEAD`, or the table is missing, everything is counted
//! again.
//!
//! The file is encoded by postcard, behind a line that names its format.

use gix::ObjectId;

use palazzo_core::model::{CommitId, FileHistories, FileHistory};

use crate::Error;
use crate::repo::cache;
use crate::repo::repository::Repository;

/// The counted file histories, and the commit up to which they were counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHistoryCache {
    /// The commit up to which `history` is counted; `None`: nothing was counted yet.
    pub head: Option<CommitId>,
    /// The history of each file.
    pub history: FileHistories,
    /// The commits that the histories name by their number.
    pub(crate) commits: Vec<ObjectId>,
    /// A hash of the boundary of a shallow clone; `None`: the clone is complete.
    pub(crate) shallow_boundary: Option<ObjectId>,
    /// The folders of notes that were counted; empty: none.
    pub(crate) note_folders: String,
    /// The number of commits counted since the cache was last saved.
    pub(crate) unsaved_commits: usize,
    /// Whether more commits were new than the last update was allowed to read.
    pub(crate) is_too_far_behind: bool,
}

/// The cache file behind its first line: the commit up to which the histories are counted; the hash of
/// the boundary of a shallow clone, if it is one; the folders of notes; the history of each file, sorted
/// by path; and the commits that the histories name.
type CacheFile = (String, Option<String>, String, Vec<(String, FileHistory)>, Vec<[u8; 20]>);

/// The name of the cache file.
const CACHE_NAME: &str = "file-histories";
/// The first bytes of the file; another format must begin with another number.
const MAGIC: &[u8] = b"palazzo file histories 4\n";

/// Loads the saved cache; `None`: there is none, or it cannot be parsed.
pub(crate) fn load(repository: &Repository) -> Option<FileHistoryCache> {
    decode(&cache::read_cache_file(repository, &repository.prefix, CACHE_NAME)?)
}

/// Saves `history`.
pub(crate) fn save(repository: &Repository, history: &FileHistoryCache) -> Result<(), Error> {
    cache::write_cache_file(repository, &repository.prefix, CACHE_NAME, &encode(history))
}

fn encode(cache: &FileHistoryCache) -> Vec<u8> {
    let head = cache.head.as_ref().map_or("", |it| it.0.as_str());
    let boundary = cache.shallow_boundary.map(|it| it.to_string());
    let hash = |it: &ObjectId| -> [u8; 20] { it.as_slice().try_into().unwrap_or_default() };
    let commits: Vec<_> = cache.commits.iter().map(hash).collect();
    // The map has the bytes of a list of pairs. An empty file is decoded as none.
    let file = (head, boundary, &cache.note_folders, &cache.history, commits);
    postcard::to_extend(&file, MAGIC.to_vec()).unwrap_or_default()
}

fn decode(bytes: &[u8]) -> Option<FileHistoryCache> {
    let file: CacheFile = postcard::from_bytes(bytes.strip_prefix(MAGIC)?).ok()?;
    let (head, boundary, note_folders, histories, commits) = file;
    let boundary = boundary.map(|it| ObjectId::from_hex(it.as_bytes()));
    Some(FileHistoryCache {
        head: Some(CommitId(head)),
        // The paths are already sorted, so collecting them is linear.
        history: histories.into_iter().collect(),
        commits: commits.into_iter().map(ObjectId::Sha1).collect(),
        shallow_boundary: boundary.transpose().ok()?,
        note_folders,
        ..FileHistoryCache::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::commits::utc_time;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};
    use palazzo_core::model::RecentCommits;

    fn history_cache(files: &[(&str, u32, i64, i64)]) -> FileHistoryCache {
        let versions = |&(path, count, created, updated): &(&str, u32, i64, i64)| {
            (
                path.to_owned(),
                FileHistory {
                    count,
                    created: utc_time(created),
                    updated: utc_time(updated),
                    first_commit: count % 3,
                    last_commit: count % 2,
                    recent: RecentCommits::from_newest([count % 2, 7]),
                },
            )
        };
        let head = CommitId("0123456789012345678901234567890123456789".to_owned());
        let history = files.iter().map(versions).collect();
        FileHistoryCache { head: Some(head), history, ..FileHistoryCache::default() }
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
        many.commits = vec![ObjectId::null(gix::hash::Kind::Sha1); 3];
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
        let mut counted = FileHistoryCache::default();
        store.update_file_history_cache(&mut counted).unwrap();
        assert_eq!(counted.history["rooms/hall.yaml"].count, 300);
        // The loaded counts are trusted.
        let mut table = load(&store.repository().unwrap().unwrap()).unwrap();
        assert_eq!(table, counted);
        table.history.get_mut("rooms/hall.yaml").unwrap().count = 1_000;
        save(&store.repository().unwrap().unwrap(), &table).unwrap();
        let mut warm = FileHistoryCache::default();
        scene.palace("keep").update_file_history_cache(&mut warm).unwrap();
        assert_eq!(warm.history["rooms/hall.yaml"].count, 1_000);
        // The table does not apply to another branch.
        scene.git(&["checkout", "-q", "main"]);
        let mut back = FileHistoryCache::default();
        scene.palace("keep").update_file_history_cache(&mut back).unwrap();
        assert_eq!(back.history["rooms/hall.yaml"].count, 1);
        // Deleting the table only costs time.
        std::fs::remove_dir_all(scene.home.join(".git/palazzo/cache")).unwrap();
        scene.git(&["checkout", "-q", "long"]);
        let mut cold = FileHistoryCache::default();
        scene.palace("keep").update_file_history_cache(&mut cold).unwrap();
        assert_eq!(cold.history, counted.history);
    }
}
