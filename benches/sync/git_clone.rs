//! A clone in which git pushes every commit.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::remote::Remote;
use crate::report::Pushes;

/// A clone without Palazzo.
pub(crate) struct GitClone<'a> {
    remote: &'a Remote,
    number: usize,
    repository: PathBuf,
}

impl<'a> GitClone<'a> {
    pub(crate) fn create(remote: &'a Remote, number: usize) -> Self {
        let repository = remote.clone_for_machine(number).join("home");
        Self { remote, number, repository }
    }

    /// Returns the work tree of the clone.
    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    /// Commits once a second, or as soon as the push before has ended; each commit is pushed until
    /// that succeeds. No two clones change the same file.
    pub(crate) fn push_commits_until(&self, end: Instant) -> Pushes {
        let mut pushes = Pushes { accepted: 0, rejected: 0 };
        let mut next = Instant::now() + Duration::from_millis(self.number as u64 * 61 % 1000);
        while next < end {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            self.commit_a_file(pushes.accepted);
            while Instant::now() < end {
                self.run_git(&["fetch", "-q"]);
                self.run_git(&["merge", "-q", "--no-edit", "origin/main"]);
                if self.push() {
                    pushes.accepted += 1;
                    break;
                }
                pushes.rejected += 1;
            }
            next = Instant::now().max(next + Duration::from_secs(1));
        }
        pushes
    }

    fn commit_a_file(&self, count: usize) {
        let path = format!("survey/notes/{}/{count}.md", self.number);
        let file = self.repository.join(&path);
        fs::create_dir_all(file.parent().expect("the path has folders")).expect("it is writable");
        fs::write(file, "Rain.\n").expect("the folder is writable");
        self.run_git(&["add", &path]);
        self.run_git(&["commit", "-q", "-m", &path]);
    }

    fn push(&self) -> bool {
        let mut push = self.remote.command("git", &self.repository);
        let output = push.args(["push", "-q", "origin", "main"]).output();
        output.expect("git starts").status.success()
    }

    fn run_git(&self, arguments: &[&str]) {
        self.remote.run("git", &self.repository, arguments);
    }
}
