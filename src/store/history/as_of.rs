//! The palace as a commit holds it: the same files by the same rules as on the disk.
//!
//! What a commit holds may have been made by anybody, and costs its maker
//! nothing: a tree may hold another a thousand times over. So there is an end
//! to how much is looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chrono::{DateTime, Utc};
use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryMode;
use rayon::prelude::*;

use crate::model::{Code, CommitId, Diagnostic, Files, LARGEST_FILE, Moment};

use crate::store::history::commits;
use crate::store::history::commits::Past;
use crate::store::repo::disk::Unread;
use crate::store::repo::repository::Repository;
use crate::store::repo::{disk, paths};
use crate::store::{Error, Store};

/// How many files and folders are looked at.
const MOST_ENTRIES: usize = 500_000;
/// How many bytes all files may have.
const MOST_BYTES: u64 = 1 << 30;
/// How many files are read at a time by one thread.
const SHARE: usize = 256;

impl Store {
    /// Returns the palace as it was at `commit`: it can be read in every way, and never written.
    pub fn as_of(&self, commit: &CommitId) -> Result<Self, Error> {
        let repository = self.repository_there()?;
        let past = Past::new(&repository);
        let failed = |err| repository.error("read an old commit", err);
        let id = commits::id(commit).map_err(failed)?;
        let moment = past.moment(id).map_err(failed)?;
        if past.palace_at(id).map_err(failed)?.is_none() {
            let first = self.head()?.and_then(|it| first(&past, commits::id(&it).ok()?));
            let (short, at) = (moment.short, day(moment.at));
            return Err(Error::NotYet { short, at, first });
        }
        let mut store = Self::new(self.root().to_owned(), self.home.clone());
        (store.isolated, store.moment) = (self.isolated, Some(moment));
        Ok(store)
    }

    /// Returns the moment the palace is seen at; `None`: as it is now.
    pub fn moment(&self) -> Option<&Moment> {
        self.moment.as_ref()
    }

    /// Returns the commit whose past is asked for; `None`: there is none yet.
    pub(crate) fn tip(&self, repository: &Repository) -> Result<Option<ObjectId>, Error> {
        match &self.moment {
            Some(moment) => commits::id(&moment.commit)
                .map(Some)
                .map_err(|err| repository.error("read an old commit", err)),
            None => repository.head(),
        }
    }

    /// Reads every file of the palace as it was at `moment`.
    pub(crate) fn read_all_at(&self, moment: &Moment) -> Result<(Files, Vec<Diagnostic>), Error> {
        let repository = self.repository_there()?;
        let read = || -> gix::Result<_> {
            let past = Past::new(&repository);
            let mut list = List::new(&past);
            if let Some(tree) = past.palace_at(commits::id(&moment.commit)?)? {
                list.palace(tree)?;
            }
            let List { files, mut findings, left, .. } = list;
            if left == 0 {
                return Ok(None);
            }
            let Some((texts, unreadable)) = read_files(&repository, &files)? else {
                return Ok(None);
            };
            findings.extend(unreadable);
            findings.sort_by(|a, b| a.file.cmp(&b.file));
            Ok(Some((texts, findings)))
        };
        let read = read().map_err(|err| repository.error("read an old commit", err))?;
        read.ok_or_else(|| Error::Immense { short: moment.short.clone() })
    }

    /// Reads one file as it was last committed; `None`: it was not, or cannot be read.
    pub fn committed(&self, path: &str) -> Option<String> {
        let head = self.head().ok()??;
        self.read_at(&head, path).ok()?.ok()?
    }

    /// Reads one file as `commit` holds it; `None`: it does not.
    pub(crate) fn read_at(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Result<Option<String>, Diagnostic>, Error> {
        if let Err(err) = paths::check(path) {
            return Ok(Err(disk::unfit(Code::FileName, path, &err)));
        }
        let repository = self.repository_there()?;
        let read = || -> gix::Result<_> {
            let past = Past::new(&repository);
            let Some(tree) = past.palace_at(commits::id(commit)?)? else { return Ok(Ok(None)) };
            let found = past.git.find_tree(tree)?.lookup_entry(path.split('/'))?;
            match found {
                None => Ok(Ok(None)),
                Some(it) => Ok(text(&past, path, it.mode(), it.object_id())?.map(Some)),
            }
        };
        read().map_err(|err| repository.error("read an old commit", err))
    }

    /// Returns the repository, without which there is no past.
    pub(crate) fn repository_there(&self) -> Result<Arc<Repository>, Error> {
        self.repository()?.ok_or_else(|| Error::NoRepository { palace: self.root().to_owned() })
    }
}

/// Says on which day something was, and when on it.
pub(crate) fn day(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// Reads what a tree holds at `path` as a text, or says why it cannot be taken for one.
pub(crate) fn text(
    past: &Past<'_>,
    path: &str,
    mode: EntryMode,
    id: ObjectId,
) -> gix::Result<Result<String, Diagnostic>> {
    if mode.is_link() {
        let (code, why) = disk::LINK;
        return Ok(Err(Diagnostic::of_file(code, path, why)));
    }
    if !mode.is_blob() {
        return Ok(Err(Unread::NoFile.about(path)));
    }
    // Its size is known without unpacking it.
    let size = past.git.find_header(id)?.size();
    let most = LARGEST_FILE as u64;
    if size > most {
        return Ok(Err(Unread::Large { size, most }.about(path)));
    }
    Ok(disk::text(path, past.git.find_blob(id)?.take_data()))
}

/// Tells with which commit the palace begins.
fn first(past: &Past<'_>, head: ObjectId) -> Option<String> {
    let steps = past.steps(head, None).ok()?.filter_map(Result::ok);
    let with = steps.filter(|it| past.palace_at(it.id).is_ok_and(|it| it.is_some()));
    let first = past.moment(with.last()?.id).ok()?;
    Some(format!("{} of {}", first.short, day(first.at)))
}

/// A file that a tree holds.
struct Listed {
    path: String,
    mode: EntryMode,
    id: ObjectId,
}

/// The files a tree holds, by the rules of [`disk`].
struct List<'p> {
    past: &'p Past<'p>,
    files: Vec<Listed>,
    findings: Vec<Diagnostic>,
    /// How many more entries are looked at.
    left: usize,
}

impl<'p> List<'p> {
    fn new(past: &'p Past<'p>) -> Self {
        Self { past, files: Vec::new(), findings: Vec::new(), left: MOST_ENTRIES }
    }

    /// Lists the files of a whole palace.
    fn palace(&mut self, tree: ObjectId) -> gix::Result<()> {
        let tree = self.past.git.find_tree(tree)?;
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()) {
            let entry = entry?;
            let Ok(name) = entry.filename.to_str() else { continue };
            let (mode, id) = (entry.mode, entry.oid.to_owned());
            match name {
                "palace.toml" if !mode.is_tree() => {
                    self.files.push(Listed { path: name.to_owned(), mode, id });
                }
                folder if disk::FOLDERS.contains(&folder) && mode.is_tree() => {
                    self.folder(name, id, 1)?;
                }
                folder if disk::FOLDERS.contains(&folder) && mode.is_link() => {
                    self.wrong(name, disk::LINK);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn folder(&mut self, path: &str, tree: ObjectId, depth: usize) -> gix::Result<()> {
        let tree = self.past.git.find_tree(tree)?;
        for entry in TreeRefIter::from_bytes(&tree.data, tree.id.kind()) {
            let entry = entry?;
            self.left = self.left.saturating_sub(1);
            if self.left == 0 {
                return Ok(());
            }
            let name = entry.filename.to_str_lossy();
            let (mode, is_text) = (entry.mode, disk::is_text(&name));
            let path = format!("{path}/{name}");
            if name.starts_with('.') || !(mode.is_tree() || is_text) {
                continue;
            }
            match paths::check(&path) {
                _ if entry.filename.to_str().is_err() => self.wrong(&path, disk::NO_UNICODE),
                Err(Error::Path { why, .. }) => self.wrong(&path, (Code::FileName, why)),
                _ if !mode.is_tree() => {
                    self.files.push(Listed { path, mode, id: entry.oid.to_owned() });
                }
                _ if depth >= disk::DEEPEST => self.wrong(&path, disk::TOO_DEEP),
                _ => self.folder(&path, entry.oid.to_owned(), depth + 1)?,
            }
        }
        Ok(())
    }

    fn wrong(&mut self, path: &str, (code, why): (Code, &str)) {
        self.findings.push(Diagnostic::of_file(code, path, why));
    }
}

/// Reads `files`, and tells what is wrong with others; `None`: they are too much.
fn read_files(
    repository: &Repository,
    files: &[Listed],
) -> gix::Result<Option<(Files, Vec<Diagnostic>)>> {
    let bytes = AtomicU64::new(0);
    let read = files.par_chunks(SHARE).map(|share| read_share(repository, share, &bytes));
    let (mut texts, mut findings) = (Files::new(), Vec::new());
    for (path, text) in read.collect::<gix::Result<Vec<_>>>()?.into_iter().flatten() {
        match text {
            Ok(text) => drop(texts.insert(path.clone(), text)),
            Err(finding) => findings.push(finding),
        }
    }
    Ok((bytes.into_inner() <= MOST_BYTES).then_some((texts, findings)))
}

fn read_share<'f>(
    repository: &Repository,
    share: &'f [Listed],
    bytes: &AtomicU64,
) -> gix::Result<Vec<(&'f String, Result<String, Diagnostic>)>> {
    let past = Past::new(repository);
    let mut read = Vec::with_capacity(share.len());
    for Listed { path, mode, id } in share {
        let text = text(&past, path, *mode, *id)?;
        let size = text.as_ref().map_or(0, String::len) as u64;
        read.push((path, text));
        if bytes.fetch_add(size, Ordering::Relaxed) > MOST_BYTES {
            break;
        }
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::test_repository::{Scene, all, change, done};

    const HALL: &str = "rooms/hall.yaml";

    fn at(scene: &Scene, store: &Store, named: &str) -> Result<Store, Error> {
        store.as_of(&CommitId(scene.git(&["rev-parse", named]).trim().to_owned()))
    }

    #[test]
    fn a_commit_gives_the_same_files_as_the_disk_did() {
        for prefix in ["keep/", "deep/in/there/", ""] {
            let scene = Scene::of_a_person();
            let place = scene.home.join(prefix);
            let store = scene.store(&place);
            for path in [
                "palace.toml",
                "rooms/a.yaml",
                "rooms/w/b.yaml",
                "rooms/1/2/3/4/5/six.yaml",
                "rooms/1/2/3/4/5/6/seven.yaml",
                "scrolls/a/1.md",
                "rooms/.hidden.yaml",
                "rooms/.hidden/a.yaml",
                "rooms/a.yaml~",
                "rooms/a.txt",
                "other/a.yaml",
            ] {
                scene.put(&format!("{prefix}{path}"), path);
            }
            std::fs::write(place.join("rooms/latin.yaml"), b"one\ntw\xf6\n").unwrap();
            std::fs::write(place.join("rooms/large.yaml"), vec![b'x'; LARGEST_FILE + 1]).unwrap();
            scene.git(&["add", "-f", "."]);
            scene.git(&["commit", "-qm", "all"]);
            let now = all(&store);
            assert_eq!((now.0.len(), now.1.len()), (5, 3));
            let then = at(&scene, &store, "HEAD").unwrap();
            assert_eq!(then.read_past().unwrap(), Some(now.clone()));
            for path in ["rooms/a.yaml", "rooms/latin.yaml", "rooms/none.yaml", "../x"] {
                assert_eq!(then.read(path), store.read(path), "{path}");
            }
        }
    }

    #[test]
    fn the_past_is_read_and_never_written() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        let mut then = at(&scene, &store, "HEAD~1").unwrap();
        scene.put("keep/rooms/hall.yaml", "by hand\n");
        assert_eq!(then.read(HALL).unwrap().as_deref(), Some("1\n"));
        assert_eq!(then.stamp(HALL), None);
        assert_eq!(then.head().unwrap(), then.moment().map(|it| it.commit.clone()));
        assert_eq!(then.recent(9).unwrap().len(), 1);
        let mut known = crate::store::Known::default();
        then.history(&mut known).unwrap();
        assert_eq!(known.history[HALL].count, 1);
        assert!(matches!(then.make(&change(HALL, Some("1\n"), None)), Err(Error::Past { .. })));
        then.recover().unwrap();
        // It stays what it was when `HEAD` moves on.
        scene.git(&["commit", "-qam", "by hand"]);
        assert_eq!(then.read(HALL).unwrap().as_deref(), Some("1\n"));
    }

    #[test]
    fn before_there_was_a_palace_there_is_none() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let first = done(&mut store, &change(HALL, None, Some("1\n"))).unwrap();
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        let refused = at(&scene, &store, "HEAD~2").unwrap_err().to_string();
        assert!(refused.starts_with("there was no palace here at "), "{refused}");
        let begins = format!("; it begins with {} of 2030-03-17 17:46 UTC", &first.0[..7]);
        assert!(refused.ends_with(&begins), "{refused}");
    }

    #[test]
    fn links_and_other_repositories_are_refused_as_on_the_disk() {
        let scene = Scene::of_a_person();
        let blob = scene.git_with(&["hash-object", "-w", "--stdin"], "x").trim().to_owned();
        let commit = scene.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let tree =
            |entries: &str| scene.git_with(&["mktree", "--missing"], entries).trim().to_owned();
        let rooms = tree(&format!(
            "100755 blob {blob}\tgood.yaml\n120000 blob {blob}\tlink.yaml\n160000 commit {commit}\tother.yaml\n100644 blob {blob}\tback\\slash.yaml\n"
        ));
        let keep = tree(&format!(
            "040000 tree {rooms}\trooms\n120000 blob {blob}\tscrolls\n120000 blob {blob}\tpalace.toml\n"
        ));
        let root = tree(&format!("040000 tree {keep}\tkeep\n"));
        let commit = scene.git(&["commit-tree", "-m", "odd", &root]).trim().to_owned();
        let store = scene.palace("keep").as_of(&CommitId(commit)).unwrap();
        let (files, findings) = store.read_past().unwrap().unwrap();
        assert_eq!(files.into_keys().collect::<Vec<_>>(), ["rooms/good.yaml"]);
        let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
        insta::assert_snapshot!(told.join("\n"), @r"
        palace.toml:1:1: error[link]: symbolic links are not followed
        rooms/back\slash.yaml:1:1: error[file-name]: it holds a backslash or a control character
        rooms/link.yaml:1:1: error[link]: symbolic links are not followed
        rooms/other.yaml:1:1: error[unreadable]: this is not an ordinary file
        scrolls:1:1: error[link]: symbolic links are not followed
        ");
        assert!(store.read("palace.toml").is_err());
    }

    #[test]
    fn a_commit_that_holds_more_than_any_palace_is_refused() {
        let scene = Scene::of_a_person();
        let blob = scene.git_with(&["hash-object", "-w", "--stdin"], "x");
        let mut entries = format!("100644 blob {}\tx.yaml\n", blob.trim());
        let mut tree = String::new();
        for _ in 0..6 {
            tree = scene.git_with(&["mktree"], &entries).trim().to_owned();
            let twins: Vec<_> = (0..40).map(|it| format!("040000 tree {tree}\t{it}\n")).collect();
            entries = twins.concat();
        }
        let keep = scene.git_with(&["mktree"], &format!("040000 tree {tree}\trooms\n"));
        let root = scene.git_with(&["mktree"], &format!("040000 tree {}\tkeep\n", keep.trim()));
        let commit = scene.git(&["commit-tree", "-m", "bomb", root.trim()]);
        let store = scene.palace("keep").as_of(&CommitId(commit.trim().to_owned())).unwrap();
        let refused = store.read_past().unwrap_err().to_string();
        assert!(refused.ends_with("is too large to be read"), "{refused}");
    }
}
