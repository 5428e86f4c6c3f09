//! What is known of the files' past, as it is kept aside between two processes.
//!
//! The table names the commit it is valid for. Whoever takes it up looks at
//! what came after; where it is not part of the past any more, or was lost,
//! all is counted anew.
//!
//! ```text
//! palazzo versions 1↵
//! text    the commit, 40 digits
//! text    where a shallow clone was cut off, 40 digits; else empty
//! then for each file, by path
//! number  how many bytes of its path are those of the path before
//! text    the rest of its path
//! number  how many commits changed it
//! number  when the first of them was made, in seconds since 1970
//! number  how many seconds later the last was
//! ```
//!
//! A number has seven bits a byte, the lowest first, with the eighth where more
//! follow; below zero it wraps round. A text is its length in bytes, then the
//! bytes.

use std::iter::zip;

use gix::ObjectId;

use crate::model::{CommitId, History, Versions};

use crate::store::Error;
use crate::store::history::change_counts::Known;
use crate::store::history::commits::time;
use crate::store::repo::cache;
use crate::store::repo::repository::Repository;

/// The name it is kept under.
const NAME: &str = "versions";
/// What it begins with; another form of it would begin with another number.
const HEADING: &[u8] = b"palazzo versions 1\n";

/// Returns what was kept, if anything was that can be understood.
pub(crate) fn get(repository: &Repository) -> Option<Known> {
    read(&cache::get(repository, NAME)?)
}

/// Keeps `known`, if it has a commit.
pub(crate) fn put(repository: &Repository, known: &Known) -> Result<(), Error> {
    cache::put(repository, NAME, &write(known))
}

fn write(known: &Known) -> Vec<u8> {
    let mut out = HEADING.to_vec();
    let text = |out: &mut Vec<u8>, text: &str| {
        number(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    };
    text(&mut out, known.head.as_ref().map_or("", |it| it.0.as_str()));
    text(&mut out, &known.edge.map(|it| it.to_string()).unwrap_or_default());
    let mut before = "";
    for (path, versions) in &known.history {
        let shared = shared(before, path);
        number(&mut out, shared as u64);
        text(&mut out, &path[shared..]);
        let Versions { count, created, updated } = versions;
        let (created, updated) = (created.timestamp(), updated.timestamp());
        number(&mut out, u64::from(*count));
        number(&mut out, created.cast_unsigned());
        number(&mut out, updated.wrapping_sub(created).cast_unsigned());
        before = path;
    }
    out
}

fn read(bytes: &[u8]) -> Option<Known> {
    let mut rest = Rest(bytes.strip_prefix(HEADING)?);
    let head = CommitId(rest.text()?.to_owned());
    let edge = match rest.text()? {
        "" => None,
        edge => Some(ObjectId::from_hex(edge.as_bytes()).ok()?),
    };
    let (mut files, mut before) = (Vec::new(), String::new());
    while !rest.0.is_empty() {
        let shared = usize::try_from(rest.number()?).ok()?;
        let path = before.get(..shared)?.to_owned() + rest.text()?;
        let count = rest.number()?.try_into().ok()?;
        let created = rest.number()?.cast_signed();
        let updated = created.wrapping_add(rest.number()?.cast_signed());
        before.clone_from(&path);
        files.push((path, Versions { count, created: time(created), updated: time(updated) }));
    }
    // They are in order already, and so this costs one look at each.
    let history: History = files.into_iter().collect();
    Some(Known { head: Some(head), history, edge, ..Known::default() })
}

/// Returns how many bytes two paths begin with in common, in whole characters.
fn shared(before: &str, path: &str) -> usize {
    let same = zip(before.bytes(), path.bytes()).take_while(|(a, b)| a == b).count();
    (0..=same).rev().find(|it| path.is_char_boundary(*it)).unwrap_or_default()
}

fn number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let [lowest, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return out.push(lowest & 0x7f);
        }
        out.push(lowest | 0x80);
    }
}

/// What has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn number(&mut self) -> Option<u64> {
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

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{Scene, change, done};

    fn known(files: &[(&str, u32, i64, i64)]) -> Known {
        let versions = |&(path, count, created, updated): &(&str, u32, i64, i64)| {
            (path.to_owned(), Versions { count, created: time(created), updated: time(updated) })
        };
        let head = CommitId("0123456789012345678901234567890123456789".to_owned());
        let history = files.iter().map(versions).collect();
        Known { head: Some(head), history, ..Known::default() }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut many = known(&[
            ("palace.toml", 1, 1_700_000_000, 1_700_000_000),
            ("rooms/caf\u{e9}.yaml", 3, 1_700_000_000, 1_900_000_000),
            ("rooms/caf\u{e8}.yaml", 1, -5, 0),
            ("rooms/odd\nname.yaml", u32::MAX, 5, -5),
            ("rooms/odd\nname.yaml.more", 2, 5, 5),
        ]);
        assert_eq!(read(&write(&many)).as_ref(), Some(&many));
        many.edge = Some(ObjectId::null(gix::hash::Kind::Sha1));
        assert_eq!(read(&write(&many)).as_ref(), Some(&many));
        let none = known(&[]);
        assert_eq!(read(&write(&none)), Some(none));
    }

    #[test]
    fn nothing_that_is_cut_short_or_strange_is_believed_or_stumbled_over() {
        let bytes = write(&known(&[("rooms/a.yaml", 300, 1, 2), ("rooms/b.yaml", 1, 2, 3)]));
        for end in 0..bytes.len() {
            let read = read(&bytes[..end]);
            assert!(read.is_none_or(|it| it.history.len() < 2), "{end}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bent = bytes.clone();
                bent[at] ^= 1 << bit;
                drop(read(&bent));
            }
        }
    }

    #[test]
    fn what_was_counted_is_not_counted_again_by_the_next_process() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change("rooms/hall.yaml", None, Some("0\n")));
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
        scene.import(&script);
        scene.git(&["checkout", "-q", "long"]);
        let mut counted = Known::default();
        store.history(&mut counted).unwrap();
        assert_eq!(counted.history["rooms/hall.yaml"].count, 300);
        // Taken on trust: what the table says is what the next process knows.
        let mut table = get(&store.repository().unwrap().unwrap()).unwrap();
        assert_eq!(table, counted);
        table.history.get_mut("rooms/hall.yaml").unwrap().count = 1_000;
        put(&store.repository().unwrap().unwrap(), &table).unwrap();
        let mut warm = Known::default();
        scene.palace("keep").history(&mut warm).unwrap();
        assert_eq!(warm.history["rooms/hall.yaml"].count, 1_000);
        // On another line of commits it says nothing.
        scene.git(&["checkout", "-q", "main"]);
        let mut back = Known::default();
        scene.palace("keep").history(&mut back).unwrap();
        assert_eq!(back.history["rooms/hall.yaml"].count, 1);
        // Deleted, it costs time and nothing else.
        std::fs::remove_dir_all(scene.home.join(".git/palazzo/aside")).unwrap();
        scene.git(&["checkout", "-q", "long"]);
        let mut cold = Known::default();
        scene.palace("keep").history(&mut cold).unwrap();
        assert_eq!(cold.history, counted.history);
    }
}
