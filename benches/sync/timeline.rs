//! When each repository had which commit.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The time between two looks at all repositories.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(20);

/// The newest commits of a repository, with the time when each was first seen.
type Tips = Vec<(Instant, String)>;

/// Observes the branch `main` of several repositories.
pub(crate) struct Sampler {
    repositories: Vec<PathBuf>,
    tips: Arc<Mutex<Vec<Tips>>>,
    is_finished: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// When each commit was first seen in each repository.
pub(crate) struct Timeline {
    pub(crate) begin: Instant,
    /// For each commit that is no merge: by repository, the time when it was first seen there.
    pub(crate) commits: HashMap<String, Vec<Option<Instant>>>,
}

impl Sampler {
    pub(crate) fn start(repositories: Vec<PathBuf>) -> Self {
        let tips = repositories.iter().map(|it| vec![(Instant::now(), read_tip(it))]);
        let tips: Vec<Tips> = tips.collect();
        let tips = Arc::new(Mutex::new(tips));
        let is_finished = Arc::new(AtomicBool::new(false));
        let (shared, stop, paths) = (tips.clone(), is_finished.clone(), repositories.clone());
        let thread = thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                sample(&paths, &mut shared.lock().expect("no other thread panics"));
                thread::sleep(SAMPLE_INTERVAL);
            }
        });
        Self { repositories, tips, is_finished, thread }
    }

    /// Waits until all repositories have the same commit after `end`; returns the time since `end`.
    pub(crate) fn wait_until_equal(&self, end: Instant, limit: Duration) -> Option<Duration> {
        thread::sleep(end.saturating_duration_since(Instant::now()));
        while end.elapsed() < limit {
            let are_equal = {
                let tips = self.tips.lock().expect("no other thread panics");
                let mut newest = tips.iter().filter_map(|it| it.last()).map(|(_, tip)| tip);
                let first = newest.next();
                newest.all(|it| Some(it) == first)
            };
            if are_equal {
                return Some(end.elapsed());
            }
            thread::sleep(SAMPLE_INTERVAL);
        }
        None
    }

    /// Ends the observation, and reads which commits came with which tips.
    pub(crate) fn finish(self) -> Timeline {
        self.is_finished.store(true, Ordering::Relaxed);
        self.thread.join().expect("the thread does not panic");
        let tips = self.tips.lock().expect("no other thread panics");
        let mut commits = HashMap::new();
        for (index, (repository, tips)) in self.repositories.iter().zip(tips.iter()).enumerate() {
            for pair in tips.windows(2) {
                let [(_, old), (seen, new)] = pair else { continue };
                for commit in commits_between(repository, old, new) {
                    let seen_by = commits
                        .entry(commit)
                        .or_insert_with(|| vec![None; self.repositories.len()]);
                    seen_by[index].get_or_insert(*seen);
                }
            }
        }
        let begin = tips.iter().filter_map(|it| it.first()).map(|(at, _)| *at).min();
        Timeline { begin: begin.expect("there is a repository"), commits }
    }
}

fn sample(repositories: &[PathBuf], tips: &mut [Tips]) {
    for (repository, tips) in repositories.iter().zip(tips) {
        let tip = read_tip(repository);
        if !tip.is_empty() && tips.last().is_none_or(|(_, it)| *it != tip) {
            tips.push((Instant::now(), tip));
        }
    }
}

/// Reads the branch. It is empty while git packs the references.
fn read_tip(repository: &Path) -> String {
    let tip = fs::read_to_string(repository.join(".git/refs/heads/main"));
    tip.unwrap_or_default().trim().to_owned()
}

fn commits_between(repository: &Path, old: &str, new: &str) -> Vec<String> {
    let mut git = Command::new("git");
    git.current_dir(repository).args(["rev-list", "--no-merges", new]);
    if !old.is_empty() {
        git.arg(format!("^{old}"));
    }
    let output = git.output().expect("git starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
