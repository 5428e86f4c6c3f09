//! Finds the commit that introduced each line of a file.
//!
//! A line is passed from a commit to a parent that also has it, until a commit is reached whose
//! parents all lack it: that commit introduced it. Commits are processed newest first, so that a
//! line is never passed to a commit that was already processed.

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;
use gix_imara_diff::{Algorithm, Diff, InternedInput};

use palazzo_core::model::{BlamedLine, CommitSummary};

use crate::history::commits::{CommitNode, HistoryReader};
use crate::history::path_history;
use crate::history::path_history::PathLookup;
use crate::repo::index_file;
use crate::repo::line_endings::convert_to_git;
use crate::{Error, Store};

impl Store {
    /// Returns the lines of `text`, the content of the file at `path`, each with the commit that
    /// introduced it. Follows renames.
    pub fn blame(&self, path: &str, text: &str) -> Result<Vec<BlamedLine>, Error> {
        let commits = match self.repository()? {
            Some(repository) => {
                let tip = self.history_tip(&repository)?;
                repository.read_history("read the history", |past| blame(past, tip, path, text))?
            }
            None => HashMap::new(),
        };
        let lines = text.lines().enumerate();
        let line = |(at, text): (usize, &str)| {
            let (text, commit) = (text.to_owned(), commits.get(&at).cloned());
            BlamedLine { text, commit }
        };
        Ok(lines.map(line).collect())
    }
}

/// Maps each line number to the commit that introduced it; uncommitted lines are absent.
fn blame(
    past: &HistoryReader<'_>,
    tip: Option<ObjectId>,
    path: &str,
    text: &str,
) -> gix::Result<HashMap<usize, CommitSummary>> {
    let Some(tip) = tip else { return Ok(HashMap::new()) };
    let (tracked, index) =
        (past.repository.path_in_repository(path), index_file::load_or_rebuild_index(&past.git)?);
    let text = convert_to_git(&past.git, &index, &tracked, text)?;
    let mut search = BlameWalk::new(past);
    search.start(tip, path, &text)?;
    for step in past.walk_commits([tip], None)? {
        if search.pending.is_empty() {
            break;
        }
        search.pass_lines_to_parents(&step?)?;
    }
    let mut commits = HashMap::new();
    for (commit, lines) in search.results {
        let info = past.read_commit_summary(commit)?;
        commits.extend(lines.into_values().map(|line| (line, info.clone())));
    }
    Ok(commits)
}

/// Line numbers in the blamed file, by line number in the file of some commit.
type LineMap = BTreeMap<usize, usize>;

/// A file in a parent of a commit.
struct FileOfParent {
    commit: ObjectId,
    path: String,
    blob: ObjectId,
}

/// The state of a blame: the lines not yet assigned to a commit, and those assigned.
struct BlameWalk<'p> {
    history: &'p HistoryReader<'p>,
    lookups: HashMap<String, PathLookup<'p>>,
    /// By commit and path, the lines that the file has there.
    pending: HashMap<ObjectId, HashMap<String, LineMap>>,
    /// The commits with the lines they introduced.
    results: Vec<(ObjectId, LineMap)>,
}

impl<'p> BlameWalk<'p> {
    fn new(past: &'p HistoryReader<'p>) -> Self {
        Self {
            history: past,
            lookups: HashMap::new(),
            pending: HashMap::new(),
            results: Vec::new(),
        }
    }

    /// Assigns to `tip` those lines of `text` that it has.
    fn start(&mut self, tip: ObjectId, path: &str, text: &[u8]) -> gix::Result<()> {
        let Some(blob) = self.blob_at(tip, path)? else { return Ok(()) };
        let all = (0..count_lines(text)).map(|at| (at, at)).collect();
        let (common, _) = split_common_lines(&self.read_blob(blob)?, text, &all);
        self.add_pending(tip, path, common);
        Ok(())
    }

    /// Passes the lines of a commit on to those parents that have them; the rest were introduced by
    /// it.
    fn pass_lines_to_parents(&mut self, step: &CommitNode) -> gix::Result<()> {
        for (path, lines) in self.pending.remove(&step.id).unwrap_or_default() {
            let parents = self.files_of_parents(step, &path)?;
            let Some(here) = self.blob_at(step.id, &path)? else { continue };
            if let Some(same) = parents.iter().find(|it| it.blob == here) {
                self.add_pending(same.commit, &same.path, lines);
                continue;
            }
            let (text, mut left) = (self.read_blob(here)?, lines);
            for parent in parents {
                let before = self.read_blob(parent.blob)?;
                let (common, other) = split_common_lines(&before, &text, &left);
                self.add_pending(parent.commit, &parent.path, common);
                left = other;
            }
            if !left.is_empty() {
                self.results.push((step.id, left));
            }
        }
        Ok(())
    }

    /// Lists the file at `path` of a commit in those parents that have it, perhaps at another path.
    fn files_of_parents(
        &mut self,
        step: &CommitNode,
        path: &str,
    ) -> gix::Result<Vec<FileOfParent>> {
        let mut files = Vec::new();
        for &commit in &step.parents {
            let mut path = path.to_owned();
            let mut blob = self.blob_at(commit, &path)?;
            if blob.is_none()
                && let Some(older) =
                    path_history::path_before_rename(self.history, step, commit, &path)?
            {
                blob = self.blob_at(commit, &older)?;
                path = older;
            }
            files.extend(blob.map(|blob| FileOfParent { commit, path, blob }));
        }
        Ok(files)
    }

    fn add_pending(&mut self, commit: ObjectId, path: &str, lines: LineMap) {
        if !lines.is_empty() {
            let there = self.pending.entry(commit).or_default().entry(path.to_owned()).or_default();
            there.extend(lines);
        }
    }

    /// Returns the id of the blob at `path` in a commit.
    fn blob_at(&mut self, commit: ObjectId, path: &str) -> gix::Result<Option<ObjectId>> {
        let root = self.history.root_tree(commit)?;
        let past = self.history;
        let lookup =
            self.lookups.entry(path.to_owned()).or_insert_with(|| PathLookup::for_file(past, path));
        lookup.find_in_tree(root)
    }

    fn read_blob(&self, id: ObjectId) -> gix::Result<Vec<u8>> {
        Ok(self.history.git.find_blob(id)?.take_data())
    }
}

/// Splits `lines` of `now` into those also in `was`, by their line number there, and the others.
fn split_common_lines(was: &[u8], now: &[u8], lines: &LineMap) -> (LineMap, LineMap) {
    let input = InternedInput::new(was, now);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (mut common, mut other) = (LineMap::new(), lines.clone());
    let (mut before, mut after) = (0, 0);
    let mut keep = |before: usize, after: usize| {
        if let Some(line) = other.remove(&after) {
            common.insert(before, line);
        }
    };
    for hunk in diff.hunks() {
        while after < hunk.after.start as usize {
            keep(before, after);
            (before, after) = (before + 1, after + 1);
        }
        (before, after) = (hunk.before.end as usize, hunk.after.end as usize);
    }
    while after < input.after.len() {
        keep(before, after);
        (before, after) = (before + 1, after + 1);
    }
    (common, other)
}

fn count_lines(text: &[u8]) -> usize {
    text.split_inclusive(|it| *it == b'\n').count()
}

#[cfg(test)]
mod tests {
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok};

    const HALL: &str = "rooms/hall.yaml";

    /// Returns the commit of each line as git reports it, and as [`Store::blame`] does.
    fn blame_by_git_and_us(scene: &TestHome, path: &str) -> (Vec<String>, Vec<String>) {
        let tracked = format!("keep/{path}");
        let gits = scene.git(&["blame", "--porcelain", "--abbrev=40", &tracked]);
        let is_head =
            |it: &&str| it.len() > 41 && it[..40].chars().all(|it| it.is_ascii_hexdigit());
        let gits = gits.lines().filter(is_head).map(|it| it[..40].to_owned());
        let none = || "0".repeat(40);
        let ours = scene.palace("keep").blame(path, &scene.read_file(&tracked)).unwrap();
        let ours = ours.into_iter().map(|it| it.commit.map_or_else(none, |it| it.id.0));
        (gits.collect(), ours.collect())
    }

    #[track_caller]
    fn assert_same_blame(scene: &TestHome, path: &str) {
        let (gits, ours) = blame_by_git_and_us(scene, path);
        assert_eq!(ours, gits);
    }

    #[test]
    fn blame_names_the_same_commits_as_git() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let mut was: Option<String> = None;
        for it in 0..30 {
            let mut lines: Vec<String> =
                was.iter().flat_map(|it| it.lines().map(str::to_owned)).collect();
            lines.insert(lines.len() / 2, format!("line {it}"));
            if it % 3 == 0 {
                lines.remove(lines.len() / 3);
                lines.push("the same at the end".to_owned());
            }
            let now = lines.join("\n") + "\n";
            commit_ok(&mut store, &change_of_one_file(HALL, was.as_deref(), Some(&now)));
            commit_ok(&mut store, &change_of_one_file("rooms/other.yaml", None, Some("x\n")));
            commit_ok(&mut store, &change_of_one_file("rooms/other.yaml", Some("x\n"), None));
            was = Some(now);
        }
        assert_same_blame(&scene, HALL);
        // Uncommitted lines have no commit.
        let text = scene.read_file("keep/rooms/hall.yaml");
        scene.write_file("keep/rooms/hall.yaml", &format!("mine\n{text}and mine"));
        assert_same_blame(&scene, HALL);
        assert!(blame_by_git_and_us(&scene, HALL).1.starts_with(&["0".repeat(40)]));
    }

    #[test]
    fn blame_distinguishes_the_lines_of_merged_branches() {
        let scene = TestHome::with_repository();
        let put = |first: &str, last: &str| {
            let text = format!("{first}\n{}{last}\n", "between\n".repeat(9));
            scene.write_file("keep/rooms/hall.yaml", &text);
            scene.git(&["add", "."]);
            scene.git(&["commit", "-qm", first]);
        };
        put("1", "1");
        scene.git(&["checkout", "-qb", "side"]);
        put("1", "side");
        scene.git(&["checkout", "-q", "main"]);
        put("main", "1");
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        assert_same_blame(&scene, HALL);
        put("main", "after");
        assert_same_blame(&scene, HALL);
    }

    #[test]
    fn blame_follows_a_file_that_one_branch_renamed_and_the_other_edited() {
        let scene = TestHome::with_merged_rename();
        let (gits, ours) = blame_by_git_and_us(&scene, "rooms/new.yaml");
        assert_eq!(ours, gits);
        let commit = |it| scene.git(&["rev-parse", it]).trim().to_owned();
        assert_eq!((ours[0].clone(), ours[10].clone()), (commit("HEAD^1"), commit("side")));
    }

    #[test]
    fn blame_follows_a_renamed_file() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        let text = |it: &str| format!("{it}\n{}", "stays\n".repeat(5));
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some(&text("1"))));
        scene.git(&["mv", "keep/rooms/hall.yaml", "keep/rooms/new.yaml"]);
        scene.write_file("keep/rooms/new.yaml", &text("2"));
        scene.git(&["commit", "-qam", "move"]);
        assert_same_blame(&scene, "rooms/new.yaml");
    }

    #[test]
    fn blame_assigns_older_lines_to_the_shallow_boundary() {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n"), Some("1\n2\n")));
        commit_ok(&mut store, &change_of_one_file(HALL, Some("1\n2\n"), Some("1\n2\n3\n")));
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "2", &origin, "../shallow"]);
        let shallow = scene.store(&scene.home.with_file_name("shallow").join("keep"));
        let lines = shallow.blame(HALL, "1\n2\n3\n").unwrap();
        let commits: Vec<_> = lines.into_iter().map(|it| it.commit.unwrap().id.0).collect();
        let commit = |it| scene.git(&["rev-parse", it]).trim().to_owned();
        assert_eq!(commits, [commit("HEAD~1"), commit("HEAD~1"), commit("HEAD")]);
    }
}
