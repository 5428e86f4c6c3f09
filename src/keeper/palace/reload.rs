//! Reading the files of a palace: all of them at first, then whichever has
//! changed since.
//!
//! A file that cannot be taken as it is, or that is gone, may be in the middle
//! of being saved. What it held stands until it has been left alone for a
//! moment, and nothing is said of it before.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use rayon::prelude::*;

use crate::format::{self, Place, Understood};
use crate::keeper::Refusal;
use crate::keeper::palace::Held;
use crate::keeper::palace::entity_cache;
use crate::keeper::palace::entity_cache::Recollection;
use crate::keeper::palace::file_states::{Entry, Face, Ledger, Standing};
use crate::model::{Code, Diagnostic, Entity, Watching};
use crate::store::{Read, Stamp, Stamps, Store};
use crate::watch::{Eyes, Touched, Wake, Watch};

/// Files that may have changed: how they stand now, and whether that counts
/// even if they cannot be taken as they are.
type Suspects = BTreeMap<String, (Option<Stamp>, bool)>;

/// How changes made by others are noticed.
#[derive(Clone)]
pub(crate) struct Vigil {
    pub(crate) manner: Watching,
    pub(crate) wake: Wake,
    pub(crate) say: fn(&str),
}

/// What one file says now.
struct Reading {
    digest: Option<u64>,
    says: Says,
}

enum Says {
    /// What it said before.
    Nothing,
    /// Something new.
    Words(Understood),
    /// It cannot be read at all.
    Fault(Diagnostic),
    /// It is gone.
    Gone,
}

impl Held {
    /// Reads everything, as it is, or as it was.
    pub(crate) fn read_all(&mut self) -> Result<(), Refusal> {
        if let Some((files, obstacles)) = self.store.read_past()? {
            self.ledger_mut().meet("", obstacles);
            let read = |(path, text): (String, String)| {
                let reading = Reading::new(None, &path, &Ok(Some(text)));
                (path, reading)
            };
            let readings: Vec<_> = files.into_par_iter().map(read).collect();
            for (path, reading) in readings {
                self.take_up(&path, None, true, reading);
            }
            return Ok(());
        }
        let look = || {
            // Whatever was touched until now is about to be read.
            drop(touched(&mut self.watch, &self.store));
            self.store.survey()
        };
        let recall = || Recollection::of(&self.store.aside(entity_cache::NAME).unwrap_or_default());
        let (seen, remembered) = rayon::join(look, recall);
        let (stamps, obstacles, leftovers) = seen?;
        self.leftovers = leftovers;
        self.ledger_mut().meet("", obstacles);
        let all = stamps.into_iter().map(|(path, stamp)| (path, (Some(stamp), true)));
        let known = remembered.len();
        let unknown = self.read_anew(all.collect(), remembered);
        self.fall_back();
        self.is_worth_remembering = entity_cache::is_outgrown(known, unknown);
        Ok(())
    }

    /// Keeps in mind what was understood, if that is worth it.
    pub(crate) fn remember(&mut self) {
        if std::mem::take(&mut self.is_worth_remembering) {
            // What cannot be kept costs time at the next start, and nothing else.
            drop(self.store.set_aside(entity_cache::NAME, &entity_cache::written(self)));
        }
    }

    /// Notices from now on what others change.
    pub(crate) fn begin_watching(&mut self, vigil: &Vigil) {
        let Vigil { manner, wake, say } = vigil.clone();
        let (store, mut before) = (self.store.once_more(), Stamps::new());
        let look = Box::new(move || {
            let Ok((now, _)) = store.look("") else { return Vec::new() };
            let changed = differing(&before, &now);
            before = now;
            changed
        });
        let silent = self.store.silent_file_system();
        self.watch = Watch::begin(self.store.root(), manner, Eyes { look, wake, say, silent });
    }

    /// Takes in what has been saved since the last look, as far as anybody
    /// watches.
    pub(crate) fn take_in_saved(&mut self) -> Result<(), Refusal> {
        let touched = touched(&mut self.watch, &self.store);
        let taken = self.look_at(touched);
        if let (Err(_), Some(watch)) = (&taken, &self.watch) {
            watch.start_over();
        }
        taken
    }

    /// Returns after how long something that may have been half written can be
    /// taken in.
    pub(crate) fn next_doubt(&self) -> Option<Duration> {
        self.watch.as_ref()?.next_doubt()
    }

    /// Takes in what somebody has committed.
    pub(crate) fn take_in_committed(&mut self, paths: Vec<String>) -> Result<(), Refusal> {
        // Git moves `HEAD` when it has written the files.
        self.look_at(paths.into_iter().map(|path| Touched { path, settled: true }).collect())
    }

    /// Looks whether a file has changed since the last look, and reads it if so.
    pub(crate) fn glance(&mut self, path: &str) {
        if self.is_snapshot() {
            return;
        }
        let settled = self.watch.is_none();
        // What could not be looked at is as it was.
        drop(self.look_at(vec![Touched { path: path.to_owned(), settled }]));
    }

    /// Reads a file as it is now, whatever state it is in.
    pub(crate) fn reread(&mut self, path: &str) -> Option<String> {
        let stamp = self.store.stamp(path);
        let read = self.store.read(path);
        let reading = Reading::new(self.ledger.digest(path), path, &read);
        self.take_up(path, stamp, true, reading);
        self.hear_rivals();
        read.ok().flatten()
    }

    /// Takes in what we have written ourselves; when that was all,
    /// [`Held::hear_rivals`] is due.
    pub(crate) fn absorb(&mut self, path: &str, text: Option<&str>) {
        let read = Ok(text.map(str::to_owned));
        let reading = Reading::new(self.ledger.digest(path), path, &read);
        // Somebody may have changed the file since: it is looked at again.
        self.take_up(path, None, true, reading);
    }

    fn look_at(&mut self, touched: Vec<Touched>) -> Result<(), Refusal> {
        let mut suspects = Suspects::new();
        for Touched { path, settled } in touched {
            let (stamps, obstacles) = self.store.look(&path)?;
            self.ledger_mut().meet(&path, obstacles);
            for (file, stamp) in self.ledger.differing(&path, stamps) {
                let suspect = suspects.entry(file).or_insert((stamp, settled));
                *suspect = (stamp, suspect.1 || settled);
            }
        }
        self.read_anew(suspects, Recollection::default());
        Ok(())
    }

    /// Reads files, but for those that stand as they are remembered; returns how
    /// many entities were not.
    fn read_anew(&mut self, suspects: Suspects, mut remembered: Recollection) -> usize {
        let (mut readings, mut strange) = (Vec::with_capacity(suspects.len()), Vec::new());
        for (path, (stamp, settled)) in suspects {
            match remembered.recall(&path, stamp) {
                Some(it) => readings.push((path, stamp, settled, Reading::recalled(it))),
                None => strange.push((path, stamp, settled)),
            }
        }
        let unknown = strange.iter().filter(|(it, ..)| Place::of(it) == Ok(Place::Entity)).count();
        let (store, ledger) = (&self.store, &self.ledger);
        let read = |(path, stamp, settled): (String, Option<Stamp>, bool)| {
            let read = store.read(&path);
            // What has taken a file's place and is none is told of as what it is.
            let is_gone = read.is_err() && stamp.is_none();
            let read = if is_gone { Ok(None) } else { read };
            let reading = Reading::new(ledger.digest(&path), &path, &read);
            (path, stamp, settled, reading)
        };
        // Cold disks answer many at once faster than one after the other.
        readings.par_extend(strange.into_par_iter().map(read));
        // A file that takes over what another held finds it free.
        readings.sort_by_key(|(.., it)| !matches!(it.says, Says::Gone));
        for (path, stamp, settled, reading) in readings {
            self.take_up(&path, stamp, settled, reading);
        }
        self.hear_rivals();
        unknown
    }

    /// Lets files of which nothing can be understood stand as they were last
    /// committed: whoever was there when they broke sees them so too.
    fn fall_back(&mut self) {
        let is_lost = |path: &&String| self.ledger.standing(path) == Standing::Absent;
        let lost: Vec<_> = self.findings.keys().filter(is_lost).cloned().collect();
        for path in lost {
            let Some(text) = self.store.committed(&path) else { continue };
            let words = format::understand(&path, &text);
            if words.fits(&self.palace, &path) && !words.is_nothing() {
                format::put(Arc::make_mut(&mut self.palace), &path, words, || text);
                let face = self.face(&path);
                self.ledger_mut().fall_back(&path, &face);
            }
        }
    }

    /// Believes what a file says, or doubts it for the time being.
    fn take_up(&mut self, path: &str, stamp: Option<Stamp>, settled: bool, reading: Reading) {
        let Reading { digest, says } = reading;
        let is_fit = match &says {
            Says::Nothing => return self.ledger_mut().confirm(path, stamp),
            Says::Words(words) => words.fits(&self.palace, path),
            Says::Fault(_) | Says::Gone => false,
        };
        match &self.watch {
            Some(watch) if !is_fit && !settled => return watch.doubt(path),
            _ => {}
        }
        let outranked = match &says {
            Says::Words(words) => words.outranks(&self.palace, path).map(str::to_owned),
            _ => None,
        };
        if let Some(file) = &outranked {
            self.take_up(file, None, true, Reading { digest: None, says: Says::Gone });
        }
        let (before, stood) = (self.face(path), self.ledger.standing(path));
        self.shaken |= may_give_up_a_name(path) && stood != Standing::Absent;
        let standing = self.believe(path, stood, says);
        let now = self.face(path);
        self.ledger_mut().write(path, Entry { stamp, digest, standing }, &before, &now);
        if let Some(file) = outranked {
            self.reread(&file);
        }
    }

    fn believe(&mut self, path: &str, before: Standing, says: Says) -> Standing {
        self.withdraw();
        let entity = self.patient_in(path);
        self.unindex_file(path);
        let text = || self.store.read(path).ok().flatten().unwrap_or_default();
        let (standing, findings) = match says {
            Says::Nothing => (before, Vec::new()),
            Says::Words(words) => {
                let outlived = words.is_nothing().then(|| before.outlived());
                let findings = format::put(Arc::make_mut(&mut self.palace), path, words, text);
                (outlived.unwrap_or(Standing::Present), findings)
            }
            Says::Fault(finding) => (before.outlived(), vec![finding]),
            Says::Gone => {
                format::take(Arc::make_mut(&mut self.palace), path);
                (Standing::Absent, Vec::new())
            }
        };
        self.see_to_health(path, entity.as_ref());
        self.index_file(path);
        match findings.is_empty() {
            true if !self.findings.contains_key(path) => {}
            true => drop(Arc::make_mut(&mut self.findings).remove(path)),
            false => drop(Arc::make_mut(&mut self.findings).insert(path.to_owned(), findings)),
        }
        standing
    }

    /// When a file has given up what it held, reads those again that claimed
    /// the same and were not heard.
    pub(crate) fn hear_rivals(&mut self) {
        if !std::mem::take(&mut self.shaken) {
            return;
        }
        let findings = self.findings.values().flatten();
        let is_unheard = |it: &&Diagnostic| matches!(it.code, Code::NameTaken | Code::IdTaken);
        let unheard: Vec<_> = findings.filter(is_unheard).map(|it| it.file.clone()).collect();
        for path in unheard {
            self.ledger_mut().forget(&path);
            let (stamp, read) = (self.store.stamp(&path), self.store.read(&path));
            let reading = match &read {
                Ok(None) => Reading { digest: None, says: Says::Gone },
                read => Reading::new(None, &path, read),
            };
            self.take_up(&path, stamp, true, reading);
        }
        self.shaken = false;
    }

    fn ledger_mut(&mut self) -> &mut Ledger {
        self.withdraw();
        Arc::make_mut(&mut self.ledger)
    }

    fn face(&self, path: &str) -> Face {
        let node = self.palace.graph.in_file(path).map(node).unwrap_or_default();
        Face { title: self.title(path), node }
    }

    /// Returns the title of the room or scroll that a file holds.
    fn title(&self, path: &str) -> Option<String> {
        match Place::of(path).ok()? {
            Place::Room(id) => Some(self.palace.room(&id)?.name.clone()),
            Place::Scroll(_) => {
                let which = self.palace.scroll_in_file(path)?;
                Some(self.palace.scroll(which)?.title.clone())
            }
            _ => None,
        }
    }
}

/// Nothing is noticed.
impl Default for Vigil {
    fn default() -> Self {
        Self { manner: Watching::Off, wake: Arc::new(|| {}), say: |_| {} }
    }
}

impl Reading {
    /// Takes a file for read.
    fn recalled((digest, words): (u64, Understood)) -> Self {
        Self { digest: Some(digest), says: Says::Words(words) }
    }

    /// Reads a file; `known` is the digest of what it said before.
    fn new(known: Option<u64>, path: &str, read: &Read) -> Self {
        let digest = match read {
            Ok(None) => None,
            Ok(Some(text)) => Some(digest(text)),
            Err(finding) => Some(digest(&finding.message)),
        };
        let says = match read {
            _ if digest == known => Says::Nothing,
            Ok(None) => Says::Gone,
            Ok(Some(text)) => Says::Words(format::understand(path, text)),
            Err(finding) => Says::Fault(finding.clone()),
        };
        Self { digest, says }
    }
}

/// Returns what may have been saved since the last time.
fn touched(watch: &mut Option<Watch>, store: &Store) -> Vec<Touched> {
    let Some(watch) = watch else { return Vec::new() };
    watch.take(store.ground(), || store.folders().collect())
}

/// Tells whether what the file holds has a name that others may claim.
fn may_give_up_a_name(path: &str) -> bool {
    matches!(Place::of(path), Ok(Place::Scroll(_) | Place::Entity | Place::Genus))
}

/// Lists the files that do not stand as they stood, or may not.
fn differing(before: &Stamps, now: &Stamps) -> Vec<String> {
    let gone = before.keys().filter(|path| !now.contains_key(*path));
    let stands = |path: &str, it: &Stamp| !it.is_young() && before.get(path) == Some(it);
    let changed = now.iter().filter(|(path, it)| !stands(path, it)).map(|(path, _)| path);
    gone.chain(changed).cloned().collect()
}

/// Returns a number that an entity hardly has of which an [`Excerpt`] tells
/// something else.
///
/// [`Excerpt`]: crate::keeper::Excerpt
fn node(it: &Entity) -> u64 {
    let mut hasher = DefaultHasher::new();
    (it.id, &it.name, it.is_defined, &it.genus, &it.observations).hash(&mut hasher);
    for relation in &it.relations {
        (&relation.kind, &relation.to).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns a number that another text hardly has.
pub(crate) fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;
    use crate::search::Query;
    use crate::store::Store;

    /// Who waits so long for an event has found a fault.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// A palace that is watched, and the folder it lies in.
    struct Scene {
        dir: tempfile::TempDir,
        held: Held,
        woken: Receiver<()>,
    }

    impl Scene {
        fn new() -> Self {
            Self::watched(Watching::Auto)
        }

        fn watched(manner: Watching) -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("home/keep/rooms")).unwrap();
            let mut held = anew(dir.path());
            let (tell, woken) = channel();
            let wake: Wake = Arc::new(move || tell.send(()).unwrap_or_default());
            held.begin_watching(&Vigil { manner, wake, say: |why| panic!("{why}") });
            held.catch_up().unwrap();
            // An index is kept up to date only once somebody has asked for it.
            held.index();
            Self { dir, held, woken }
        }

        fn place(&self, path: &str) -> PathBuf {
            self.dir.path().join("home/keep").join(path)
        }

        /// Writes a file in place, as most programs do.
        fn save(&self, path: &str, text: &str) {
            let place = self.place(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, text).unwrap();
        }

        /// Tells what is seen of the palace by whoever asks now.
        fn seen(&mut self) -> String {
            self.held.catch_up().unwrap();
            picture(&self.held)
        }

        /// Waits for what is doubted, and tells what is seen then.
        fn seen_when_quiet(&mut self) -> String {
            self.held.catch_up().unwrap();
            while let Some(wait) = self.held.watch.as_ref().unwrap().next_doubt() {
                // Waits for an event, or for the moment the doubt is over.
                self.woken.recv_timeout(wait).unwrap_or_default();
                self.held.catch_up().unwrap();
            }
            picture(&self.held)
        }

        /// Waits until the palace looks like that to whoever asks.
        #[track_caller]
        fn comes_to(&mut self, expected: &str) {
            let begun = std::time::Instant::now();
            while self.seen_when_quiet() != expected {
                assert!(begun.elapsed() < PATIENCE, "{}", picture(&self.held));
                self.woken.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
            }
        }

        #[track_caller]
        fn is_as_if_read_anew(&mut self) {
            let seen = self.seen_when_quiet();
            let anew = anew(self.dir.path());
            assert_eq!(seen, picture(&anew));
            assert_eq!(self.held.palace, anew.palace);
            let graph = |it: &Held| it.ledger.edition().graph;
            assert_eq!(graph(&self.held), graph(&anew));
            assert_eq!(graph(&anew) == 0, anew.palace.graph.starts().next().is_none());
            for word in ["stone", "moss", "dust", "new"] {
                let query = Query { words: word, most: 100, ..Query::default() };
                let found = |it: &Held| it.index().find(&query, |_| true).total;
                assert_eq!(found(&self.held), found(&anew), "{word}");
            }
        }
    }

    fn anew(dir: &Path) -> Held {
        let home = dir.join("home");
        Held::open(Store::new(home.join("keep"), home), "Keep", &Vigil::default()).unwrap()
    }

    fn picture(held: &Held) -> String {
        let palace = &held.palace;
        let mut lines = vec![palace.settings.name.clone()];
        lines.extend(palace.rooms().map(|(id, it)| format!("{id}: {}", it.description)));
        lines.extend(palace.scrolls().map(|(room, it)| format!("{room}/ {}", it.title)));
        lines.extend(palace.graph.iter().map(|it| format!("{}: {}", it.genus, it.name)));
        let mut wrong: Vec<_> = held.findings().map(|it| format!("! {it}")).collect();
        wrong.sort();
        lines.extend(wrong);
        lines.join("\n")
    }

    fn room(description: &str) -> String {
        format!("name: Hall\ndescription: {description}\n")
    }

    fn scroll(title: &str) -> String {
        format!("---\ntitle: {title}\nwritten: 2026-03-01\nby: ada\n---\n\nDust.\n")
    }

    const HALL: &str = "rooms/hall.yaml";

    /// How programs save: what they do to the file, and to others beside it.
    type Way = (&'static str, fn(&Path, &str));

    const WAYS: [Way; 7] = [
        ("in place", write),
        ("renamed over", |file, text| {
            write(&beside(file, "hall.yaml.new"), text);
            rename(&beside(file, "hall.yaml.new"), file);
        }),
        ("deleted and created", |file, text| {
            fs::remove_file(file).unwrap();
            write(file, text);
        }),
        ("vim, moving the old file away", |file, text| {
            write(&beside(file, "4913"), "");
            fs::remove_file(beside(file, "4913")).unwrap();
            rename(file, &beside(file, "hall.yaml~"));
            write(file, text);
            fs::remove_file(beside(file, "hall.yaml~")).unwrap();
        }),
        ("vim, copying the old file", |file, text| {
            write(&beside(file, ".hall.yaml.swp"), "b0VIM");
            fs::copy(file, beside(file, "hall.yaml~")).unwrap();
            write(file, text);
            fs::remove_file(beside(file, "hall.yaml~")).unwrap();
            fs::remove_file(beside(file, ".hall.yaml.swp")).unwrap();
        }),
        ("emacs, with a link for a lock", |file, text| {
            #[cfg(unix)]
            std::os::unix::fs::symlink("ada@host.1", beside(file, ".#hall.yaml")).unwrap();
            rename(file, &beside(file, "hall.yaml~"));
            write(file, text);
            drop(fs::remove_file(beside(file, ".#hall.yaml")));
        }),
        ("by an older file moved in", |file, text| {
            write(&beside(file, "old"), text);
            let old = fs::File::options().append(true).open(beside(file, "old")).unwrap();
            old.set_modified(std::time::UNIX_EPOCH).unwrap();
            rename(&beside(file, "old"), file);
        }),
    ];

    fn write(place: &Path, text: &str) {
        fs::write(place, text).unwrap();
    }

    fn rename(from: &Path, to: &Path) {
        fs::rename(from, to).unwrap();
    }

    fn beside(file: &Path, name: &str) -> PathBuf {
        file.with_file_name(name)
    }

    #[test]
    fn a_save_is_seen_at_the_next_look_however_it_is_made() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        scene.seen();
        for (round, (way, save)) in WAYS.iter().cycle().take(WAYS.len() * 30).enumerate() {
            // All of the same length: neither size nor time need tell them apart.
            let text = format!("Stone {round:03}.");
            save(&scene.place(HALL), &room(&text));
            assert_eq!(scene.seen(), format!("Keep\nhall: {text}"), "{way}");
        }
    }

    #[test]
    fn a_file_that_is_half_written_is_not_believed_and_not_spoken_of() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        scene.save("scrolls/hall/a.md", &scroll("First"));
        let whole = scene.seen();
        for half in ["", "nam", "name: Hall\ndescription: \"St", "\u{0}"] {
            scene.save(HALL, half);
            assert_eq!(scene.seen(), whole, "{half}");
        }
        fs::write(scene.place(HALL), b"name: Hall\ndescription: \xc3").unwrap();
        assert_eq!(scene.seen(), whole);
        fs::remove_file(scene.place(HALL)).unwrap();
        assert_eq!(scene.seen(), whole);
        scene.save("scrolls/hall/a.md", "---\ntitle: Fi");
        assert_eq!(scene.seen(), whole);
        scene.save(HALL, &room("Stone, and moss."));
        scene.save("scrolls/hall/a.md", &scroll("Second"));
        assert_eq!(scene.seen(), "Keep\nhall: Stone, and moss.\nhall/ Second");
        scene.is_as_if_read_anew();
    }

    #[test]
    fn of_two_files_that_claim_the_same_everybody_believes_the_same() {
        let entity = |genus: &str| format!("name: Grey\ngenus: {genus}\n");
        let claims = [
            ("entities/moss/aaa.yaml", entity("Stone")),
            ("entities/moss/bbb.yaml", entity("Moss")),
            ("entities/moss/grey.yaml", entity("Moss")),
            ("entities/stone/grey.yaml", entity("Stone")),
            ("scrolls/hall/01K8ZC6V8A4S6C2E3N1R5T7W90-a.md", scroll("First")),
            ("scrolls/hall/01K8ZC6V8A4S6C2E3N1R5T7W90-b.md", scroll("Second")),
        ];
        for turn in 0..claims.len() {
            for is_backwards in [false, true] {
                let mut scene = Scene::new();
                let mut order: Vec<_> =
                    claims.iter().cycle().skip(turn).take(claims.len()).collect();
                if is_backwards {
                    order.reverse();
                }
                for (path, text) in order {
                    scene.save(path, text);
                    scene.is_as_if_read_anew();
                }
                let file =
                    |scene: &Scene| scene.held.palace.graph.file_of("Grey").map(str::to_owned);
                // Those named for it go first, and of equals the first by name.
                for place in [2, 3, 0] {
                    let (path, _) = claims[place];
                    assert_eq!(file(&scene).as_deref(), Some(path));
                    fs::remove_file(scene.place(path)).unwrap();
                    scene.is_as_if_read_anew();
                }
            }
        }
    }

    #[test]
    fn of_a_rival_that_is_gone_nothing_is_said_whoever_was_heard_first() {
        let mut scene = Scene::new();
        let entity = |name: &str| format!("name: {name}\ngenus: Moss\n");
        scene.save("entities/moss/grey.yaml", &entity("Grey"));
        scene.save("entities/moss/other.yaml", &entity("Grey"));
        scene.seen_when_quiet();
        assert!(scene.held.findings().next().is_some());
        fs::remove_file(scene.place("entities/moss/other.yaml")).unwrap();
        // Another change is taken in before anybody has heard that the file is gone.
        scene.save("entities/moss/grey.yaml", &entity("Green"));
        scene.held.reread("entities/moss/grey.yaml");
        scene.is_as_if_read_anew();
    }

    #[test]
    fn a_file_that_stays_broken_is_spoken_of_and_what_it_held_stands() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        scene.seen();
        scene.save(HALL, "name: [\n");
        insta::assert_snapshot!(scene.seen_when_quiet(), @"
        Keep
        hall: Stone.
        ! rooms/hall.yaml:1:7: error[syntax]: this is not YAML: unclosed bracket '[' (close the bracket, or quote the text)
        ");
        assert_eq!(scene.held.ledger.standing(HALL), Standing::Outlived);
        scene.save("rooms/attic.yaml", "name: [\n");
        scene.seen_when_quiet();
        assert_eq!(scene.held.ledger.standing("rooms/attic.yaml"), Standing::Absent);
        fs::remove_file(scene.place("rooms/attic.yaml")).unwrap();
        scene.save(HALL, &room("Moss."));
        assert_eq!(scene.seen_when_quiet(), "Keep\nhall: Moss.");
        assert_eq!(scene.held.ledger.standing(HALL), Standing::Present);
    }

    #[test]
    fn a_file_that_is_gone_for_good_is_gone_soon() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        scene.save("rooms/crypt.yaml", &room("Dust."));
        scene.seen();
        fs::remove_file(scene.place(HALL)).unwrap();
        assert_eq!(scene.seen_when_quiet(), "Keep\ncrypt: Dust.");
    }

    #[test]
    fn a_file_under_a_new_name_holds_what_it_held() {
        let mut scene = Scene::new();
        for (path, text) in [
            ("entities/a/z.yaml", "name: Rhubarb\ngenus: Plant\n".to_owned()),
            (
                "scrolls/hall/z.md",
                scroll("First").replace("title", "id: 01KJMPXF9069S44V81ASY1KY37\ntitle"),
            ),
            ("rooms/z.yaml", room("Stone.")),
        ] {
            scene.save(path, &text);
        }
        let before = scene.seen();
        for (from, to) in [("z", "a"), ("a", "m"), ("m", "z")] {
            for path in ["entities/a/#.yaml", "scrolls/hall/#.md", "rooms/#.yaml"] {
                let place = |name| scene.place(&path.replace('#', name));
                fs::rename(place(from), place(to)).unwrap();
            }
            assert!(!scene.seen().contains('!'));
            assert_eq!(scene.seen_when_quiet(), before.replace("z:", &format!("{to}:")));
            scene.is_as_if_read_anew();
        }
    }

    #[test]
    fn whoever_claimed_the_same_is_heard_when_the_first_is_gone() {
        let mut scene = Scene::new();
        scene.save("entities/a/a.yaml", "name: Rhubarb\ngenus: Plant\n");
        scene.save("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md", &scroll("First"));
        scene.seen();
        scene.save("entities/a/b.yaml", "name: Rhubarb\ngenus: Dish\n");
        scene.save("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-b.md", &scroll("Second"));
        insta::assert_snapshot!(scene.seen_when_quiet(), @"
        Keep
        hall/ First
        Plant: Rhubarb
        ! entities/a/b.yaml:1:7: error[name-taken]: `Rhubarb` is in entities/a/a.yaml already (give it another name, or join the two files)
        ! scrolls/hall/01KJMPXF9069S44V81ASY1KY37-b.md:2:1: error[id-taken]: scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md is a scroll of this room with the same id (take the id out of the younger one's name and front matter)
        ");
        fs::remove_file(scene.place("entities/a/a.yaml")).unwrap();
        fs::remove_file(scene.place("scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md")).unwrap();
        insta::assert_snapshot!(scene.seen_when_quiet(), @"
        Keep
        hall/ Second
        Dish: Rhubarb
        ");
        scene.is_as_if_read_anew();
    }

    #[test]
    fn folders_may_come_go_and_come_back() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        let rename = |scene: &Scene, from: &str, to: &str| {
            rename(&scene.place(from), &scene.place(to));
        };
        scene.seen();
        // A wing that is made, filled and left.
        scene.save("rooms/code/auth.yaml", &room("Moss."));
        assert_eq!(scene.seen(), "Keep\nhall: Stone.\ncode/auth: Moss.");
        scene.save("rooms/code/parser.yaml", &room("Dust."));
        assert_eq!(scene.seen(), "Keep\nhall: Stone.\ncode/auth: Moss.\ncode/parser: Dust.");
        // A wing under another name, and what is written in it then.
        rename(&scene, "rooms/code", "rooms/life");
        assert_eq!(
            scene.seen_when_quiet(),
            "Keep\nhall: Stone.\nlife/auth: Moss.\nlife/parser: Dust."
        );
        scene.save("rooms/life/auth.yaml", &room("Roots."));
        assert_eq!(scene.seen(), "Keep\nhall: Stone.\nlife/auth: Roots.\nlife/parser: Dust.");
        // A folder of the palace, away and back.
        rename(&scene, "rooms", "rooms.old");
        assert_eq!(scene.seen_when_quiet(), "Keep");
        rename(&scene, "rooms.old", "rooms");
        assert_eq!(scene.seen(), "Keep\nhall: Stone.\nlife/auth: Roots.\nlife/parser: Dust.");
        scene.save("rooms/life/auth.yaml", &room("Leaves."));
        assert_eq!(scene.seen(), "Keep\nhall: Stone.\nlife/auth: Leaves.\nlife/parser: Dust.");
        // Deleted and made again, and others made anew.
        fs::remove_dir_all(scene.place("rooms")).unwrap();
        scene.save(HALL, &room("New."));
        scene.save("entities/plant/rhubarb.yaml", "name: Rhubarb\ngenus: Plant\n");
        assert_eq!(scene.seen_when_quiet(), "Keep\nhall: New.\nPlant: Rhubarb");
        scene.save("entities/plant/rhubarb.yaml", "name: Sorrel\ngenus: Plant\n");
        assert_eq!(scene.seen(), "Keep\nhall: New.\nPlant: Sorrel");
        scene.is_as_if_read_anew();
    }

    #[test]
    fn the_palace_itself_may_go_and_come_back() {
        let mut scene = Scene::new();
        scene.save("palace.toml", "format = 1\nname = \"The Keep\"\n");
        scene.save(HALL, &room("Stone."));
        let whole = scene.seen();
        let (here, away) = (scene.place(""), scene.dir.path().join("home/away"));
        fs::rename(&here, &away).unwrap();
        assert_eq!(scene.seen_when_quiet(), "The Keep");
        fs::rename(&away, &here).unwrap();
        assert_eq!(scene.seen(), whole);
        scene.save(HALL, &room("Moss."));
        assert_eq!(scene.seen(), "The Keep\nhall: Moss.");
        fs::remove_dir_all(&here).unwrap();
        assert_eq!(scene.seen_when_quiet(), "The Keep");
        scene.save("palace.toml", "format = 1\nname = \"The New Keep\"\n");
        scene.save(HALL, &room("New."));
        assert_eq!(scene.seen(), "The New Keep\nhall: New.");
        scene.save(HALL, &room("Dust."));
        assert_eq!(scene.seen(), "The New Keep\nhall: Dust.");
        fs::remove_dir_all(scene.dir.path().join("home")).unwrap();
        assert_eq!(scene.seen_when_quiet(), "The New Keep");
        scene.save(HALL, &room("Back."));
        scene.save("palace.toml", "format = 1\nname = \"Once More\"\n");
        assert_eq!(scene.seen(), "Once More\nhall: Back.");
        scene.is_as_if_read_anew();
    }

    #[test]
    #[cfg(unix)]
    fn a_link_in_the_place_of_a_palace_is_refused_until_it_is_gone() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        let whole = scene.seen();
        let (here, away) = (scene.dir.path().join("home/keep"), scene.dir.path().join("away"));
        fs::rename(&here, &away).unwrap();
        std::os::unix::fs::symlink(&away, &here).unwrap();
        for _ in 0..2 {
            let refused = scene.held.catch_up().unwrap_err().to_string();
            assert!(refused.ends_with("is a symbolic link, and none is followed below the home"));
        }
        fs::write(away.join(HALL), room("Moss.")).unwrap();
        assert!(scene.held.catch_up().is_err());
        assert_eq!(picture(&scene.held), whole);
        fs::remove_file(&here).unwrap();
        fs::rename(&away, &here).unwrap();
        assert_eq!(scene.seen(), "Keep\nhall: Moss.");
    }

    #[test]
    #[cfg(unix)]
    fn links_inside_a_palace_are_told_of_and_lead_nowhere() {
        let mut scene = Scene::new();
        scene.save(HALL, &room("Stone."));
        scene.seen();
        let outside = scene.dir.path().join("outside");
        fs::create_dir_all(&outside).unwrap();
        for from in ["rooms/wing", "rooms/link.yaml", "scrolls"] {
            std::os::unix::fs::symlink(&outside, scene.place(from)).unwrap();
        }
        fs::write(outside.join("hall.yaml"), room("Elsewhere.")).unwrap();
        insta::assert_snapshot!(scene.seen(), @"
        Keep
        hall: Stone.
        ! rooms/link.yaml:1:1: error[link]: symbolic links are not followed
        ! rooms/wing:1:1: error[link]: symbolic links are not followed
        ! scrolls:1:1: error[link]: symbolic links are not followed
        ");
        for from in ["rooms/wing", "rooms/link.yaml", "scrolls"] {
            fs::remove_file(scene.place(from)).unwrap();
        }
        assert_eq!(scene.seen(), "Keep\nhall: Stone.");
    }

    #[test]
    fn where_nobody_tells_of_changes_they_are_found() {
        let mut scene = Scene::watched(Watching::Poll);
        scene.save(HALL, &room("Stone."));
        scene.comes_to("Keep\nhall: Stone.");
        scene.save(HALL, &room("Moss."));
        scene.save("rooms/crypt.yaml", &room("Dust."));
        scene.comes_to("Keep\ncrypt: Dust.\nhall: Moss.");
        fs::remove_file(scene.place(HALL)).unwrap();
        scene.comes_to("Keep\ncrypt: Dust.");
    }

    /// Something that may happen to the files of a palace.
    #[derive(Clone, Debug)]
    enum Event {
        Save(&'static str, String),
        Remove(&'static str),
        Rename(&'static str, &'static str),
        Look,
    }

    const PLACES: [&str; 13] = [
        "palace.toml",
        "rooms",
        "rooms/hall.yaml",
        "rooms/code",
        "rooms/code/auth.yaml",
        "rooms/life/auth.yaml",
        "scrolls/hall",
        "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-a.md",
        "scrolls/hall/01KJMPXF9069S44V81ASY1KY38-b.md",
        "entities/a",
        "entities/a/a.yaml",
        "entities/b/a.yaml",
        "entities/b/b.yaml",
    ];

    /// Removes a file or a folder, if there is one.
    fn remove(place: &Path) {
        drop(fs::remove_file(place));
        drop(fs::remove_dir_all(place));
    }

    fn event() -> impl Strategy<Value = Event> {
        let place = || proptest::sample::select(&PLACES[..]);
        let texts = [
            room("Stone."),
            room("Moss."),
            scroll("First"),
            scroll("Second"),
            "name: A\ngenus: New\n".to_owned(),
            "name: B\ngenus: New\n".to_owned(),
            "name: A\ngenus: A\n".to_owned(),
            "name: A\ngenus: B\n".to_owned(),
            "format = 1\nname = \"Keep\"\n".to_owned(),
            "name: [".to_owned(),
            String::new(),
        ];
        prop_oneof![
            6 => (place(), proptest::sample::select(texts.to_vec())).prop_map(|(path, text)| Event::Save(path, text)),
            2 => place().prop_map(Event::Remove),
            2 => (place(), place()).prop_map(|(from, to)| Event::Rename(from, to)),
            2 => Just(Event::Look),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, ..ProptestConfig::default() })]

        #[test]
        fn a_palace_kept_up_to_date_is_the_palace_read_anew(events in proptest::collection::vec(event(), 1..60)) {
            let mut scene = Scene::new();
            for event in events {
                // What makes no sense as things stand does not happen.
                let place = |path: &str| scene.place(path);
                match event {
                    Event::Save(path, text) => {
                        drop(fs::create_dir_all(place(path).parent().unwrap()));
                        drop(fs::write(place(path), text));
                    }
                    Event::Remove(path) => remove(&place(path)),
                    Event::Rename(from, to) => drop(fs::rename(place(from), place(to))),
                    Event::Look => scene.held.catch_up().unwrap(),
                }
            }
            // Of a file that is broken what it held before is seen: those are taken away.
            let mut as_read = anew(scene.dir.path());
            let wrong = |it: &Held| it.findings().next().map(|it| it.file.clone());
            while let Some(file) = wrong(&as_read) {
                scene.held.catch_up().unwrap();
                remove(&scene.place(&file));
                as_read = anew(scene.dir.path());
            }
            prop_assert_eq!(scene.seen_when_quiet(), picture(&as_read));
        }
    }
}
