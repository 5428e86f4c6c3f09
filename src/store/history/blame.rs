//! Which commit each line of a file came with.
//!
//! A line is handed from a commit to a parent that has it too, until one is
//! reached of whose parents none has it: that one brought it. Commits are
//! taken newest first, so that a line is never handed to one already asked.

use std::collections::{BTreeMap, HashMap};

use gix::ObjectId;
use gix_imara_diff::{Algorithm, Diff, InternedInput};

use crate::model::{BlamedLine, Moment};

use crate::store::history::commits::{Past, Step};
use crate::store::history::path_lookup::Glass;
use crate::store::history::rename_detection;
use crate::store::repo::line_endings::to_git;
use crate::store::write::index;
use crate::store::{Error, Store};

impl Store {
    /// Tells of each line of `text`, which the file at `path` holds, which commit it came with. The
    /// file may have been called otherwise then.
    pub fn blame(&self, path: &str, text: &str) -> Result<Vec<BlamedLine>, Error> {
        let moments = match self.repository()? {
            Some(repository) => {
                let tip = self.tip(&repository)?;
                blame(&Past::new(&repository), tip, path, text)
                    .map_err(|err| repository.error("read the history", err))?
            }
            None => HashMap::new(),
        };
        let lines = text.lines().enumerate();
        let line = |(at, text): (usize, &str)| {
            let (text, moment) = (text.to_owned(), moments.get(&at).cloned());
            BlamedLine { text, moment }
        };
        Ok(lines.map(line).collect())
    }
}

/// Returns with which commit each line of `text` came, by its number; of those that nobody has
/// committed yet nothing.
fn blame(
    past: &Past<'_>,
    tip: Option<ObjectId>,
    path: &str,
    text: &str,
) -> gix::Result<HashMap<usize, Moment>> {
    let Some(tip) = tip else { return Ok(HashMap::new()) };
    let (tracked, index) = (format!("{}{path}", past.repository.prefix), index::load(&past.git)?);
    let text = to_git(&past.git, &index, &tracked, text)?;
    let mut search = Search::new(past);
    search.begin(tip, path, &text)?;
    for step in past.steps(tip, None)? {
        if search.open.is_empty() {
            break;
        }
        search.ask(&step?)?;
    }
    let mut moments = HashMap::new();
    for (commit, lines) in search.found {
        let moment = past.moment(commit)?;
        moments.extend(lines.into_values().map(|line| (line, moment.clone())));
    }
    Ok(moments)
}

/// Lines of the file asked about, by where they are in a file of some commit.
type Lines = BTreeMap<usize, usize>;

/// Lines under way to the commit they came with.
struct Search<'p> {
    past: &'p Past<'p>,
    glasses: HashMap<String, Glass<'p>>,
    /// By commit and path, the lines that the file there has too.
    open: HashMap<ObjectId, HashMap<String, Lines>>,
    /// Commits with the lines they brought.
    found: Vec<(ObjectId, Lines)>,
}

impl<'p> Search<'p> {
    fn new(past: &'p Past<'p>) -> Self {
        Self { past, glasses: HashMap::new(), open: HashMap::new(), found: Vec::new() }
    }

    /// Hands `tip` the lines of `text` that it has.
    fn begin(&mut self, tip: ObjectId, path: &str, text: &[u8]) -> gix::Result<()> {
        let Some(held) = self.held(tip, path)? else { return Ok(()) };
        let all = (0..count(text)).map(|at| (at, at)).collect();
        let (handed, _) = shared(&self.content(held)?, text, &all);
        self.hand(tip, path, handed);
        Ok(())
    }

    /// Lets a commit hand on the lines it has to its parents, and keep what none of them has.
    fn ask(&mut self, step: &Step) -> gix::Result<()> {
        for (path, lines) in self.open.remove(&step.id).unwrap_or_default() {
            let mut before = path.clone();
            let mut parents = self.parents(step, &before)?;
            if parents.is_empty()
                && let Some(older) = rename_detection::of(self.past, step, &path)?
            {
                parents = self.parents(step, &older)?;
                before = older;
            }
            let Some(here) = self.held(step.id, &path)? else { continue };
            if let Some((same, _)) = parents.iter().find(|(_, held)| *held == here) {
                self.hand(*same, &before, lines);
                continue;
            }
            let (text, mut left) = (self.content(here)?, lines);
            for (parent, held) in parents {
                let (handed, kept) = shared(&self.content(held)?, &text, &left);
                self.hand(parent, &before, handed);
                left = kept;
            }
            if !left.is_empty() {
                self.found.push((step.id, left));
            }
        }
        Ok(())
    }

    /// Lists the parents of a commit that have a file at `path`, with what it holds.
    fn parents(&mut self, step: &Step, path: &str) -> gix::Result<Vec<(ObjectId, ObjectId)>> {
        let mut parents = Vec::new();
        for parent in &step.parents {
            parents.extend(self.held(*parent, path)?.map(|held| (*parent, held)));
        }
        Ok(parents)
    }

    fn hand(&mut self, commit: ObjectId, path: &str, lines: Lines) {
        if !lines.is_empty() {
            let there = self.open.entry(commit).or_default().entry(path.to_owned()).or_default();
            there.extend(lines);
        }
    }

    /// Returns what a commit holds at `path`.
    fn held(&mut self, commit: ObjectId, path: &str) -> gix::Result<Option<ObjectId>> {
        let root = self.past.root_at(commit)?;
        let past = self.past;
        let glass =
            self.glasses.entry(path.to_owned()).or_insert_with(|| Glass::on_file(past, path));
        glass.look(root)
    }

    fn content(&self, id: ObjectId) -> gix::Result<Vec<u8>> {
        Ok(self.past.git.find_blob(id)?.take_data())
    }
}

/// Splits `lines` of `now` into those that `was` has too, by where it has them, and the others.
fn shared(was: &[u8], now: &[u8], lines: &Lines) -> (Lines, Lines) {
    let input = InternedInput::new(was, now);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let (mut common, mut other) = (Lines::new(), lines.clone());
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

fn count(text: &[u8]) -> usize {
    text.split_inclusive(|it| *it == b'\n').count()
}

#[cfg(test)]
mod tests {
    use crate::store::test_repository::{Scene, change, done};

    const HALL: &str = "rooms/hall.yaml";

    /// The commits of the lines as git tells them, and as we do.
    fn both(scene: &Scene, path: &str) -> (Vec<String>, Vec<String>) {
        let tracked = format!("keep/{path}");
        let gits = scene.git(&["blame", "--porcelain", "--abbrev=40", &tracked]);
        let is_head =
            |it: &&str| it.len() > 41 && it[..40].chars().all(|it| it.is_ascii_hexdigit());
        let gits = gits.lines().filter(is_head).map(|it| it[..40].to_owned());
        let none = || "0".repeat(40);
        let ours = scene.palace("keep").blame(path, &scene.text(&tracked)).unwrap();
        let ours = ours.into_iter().map(|it| it.moment.map_or_else(none, |it| it.commit.0));
        (gits.collect(), ours.collect())
    }

    #[track_caller]
    fn assert_same(scene: &Scene, path: &str) {
        let (gits, ours) = both(scene, path);
        assert_eq!(ours, gits);
    }

    #[test]
    fn each_line_came_with_the_commit_that_git_names() {
        let scene = Scene::of_a_person();
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
            done(&mut store, &change(HALL, was.as_deref(), Some(&now)));
            done(&mut store, &change("rooms/other.yaml", None, Some("x\n")));
            done(&mut store, &change("rooms/other.yaml", Some("x\n"), None));
            was = Some(now);
        }
        assert_same(&scene, HALL);
        // What nobody has committed yet is nobody's.
        let text = scene.text("keep/rooms/hall.yaml");
        scene.put("keep/rooms/hall.yaml", &format!("mine\n{text}and mine"));
        assert_same(&scene, HALL);
        assert!(both(&scene, HALL).1.starts_with(&["0".repeat(40)]));
    }

    #[test]
    fn lines_of_two_branches_are_told_apart_after_a_merge() {
        let scene = Scene::of_a_person();
        let put = |first: &str, last: &str| {
            let text = format!("{first}\n{}{last}\n", "between\n".repeat(9));
            scene.put("keep/rooms/hall.yaml", &text);
            scene.git(&["add", "."]);
            scene.git(&["commit", "-qm", first]);
        };
        put("1", "1");
        scene.git(&["checkout", "-qb", "side"]);
        put("1", "side");
        scene.git(&["checkout", "-q", "main"]);
        put("main", "1");
        scene.git(&["merge", "-q", "--no-edit", "side"]);
        assert_same(&scene, HALL);
        put("main", "after");
        assert_same(&scene, HALL);
    }

    #[test]
    fn a_renamed_file_keeps_the_past_of_its_lines() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        let text = |it: &str| format!("{it}\n{}", "stays\n".repeat(5));
        done(&mut store, &change(HALL, None, Some(&text("1"))));
        scene.git(&["mv", "keep/rooms/hall.yaml", "keep/rooms/new.yaml"]);
        scene.put("keep/rooms/new.yaml", &text("2"));
        scene.git(&["commit", "-qam", "move"]);
        assert_same(&scene, "rooms/new.yaml");
    }

    #[test]
    fn where_a_shallow_clone_is_cut_off_all_lines_began() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        done(&mut store, &change(HALL, Some("1\n"), Some("1\n2\n")));
        done(&mut store, &change(HALL, Some("1\n2\n"), Some("1\n2\n3\n")));
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "2", &origin, "../shallow"]);
        let shallow = scene.store(&scene.home.with_file_name("shallow").join("keep"));
        let lines = shallow.blame(HALL, "1\n2\n3\n").unwrap();
        let commits: Vec<_> = lines.into_iter().map(|it| it.moment.unwrap().commit.0).collect();
        let commit = |it| scene.git(&["rev-parse", it]).trim().to_owned();
        assert_eq!(commits, [commit("HEAD~1"), commit("HEAD~1"), commit("HEAD")]);
    }
}
