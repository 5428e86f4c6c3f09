//! One of the two programs, with a home of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use crate::observation::Normalizer;
use crate::server::{Server, TempHome};
use crate::steps::{Edit, PALACE, Start, Step};

/// The time of the first step. Each new process starts a minute later.
const FIRST_MINUTE: &str = "2026-12-01T12:00:00Z";
/// A person, and a repository that nothing changes in the background.
const GIT_CONFIG: &str = "[user]\nname = Ada\nemail = ada@example.org\n[maintenance]\nauto = false\n\
                          [init]\ndefaultBranch = main\n[gc]\nauto = 0\n";

/// How long ago edits by hand seem to be.
const EDIT_AGE: Duration = Duration::from_secs(60);

/// A program and what its steps have done.
pub(crate) struct Program {
    path: PathBuf,
    palace: &'static str,
    dir: TempHome,
    normalizer: Normalizer,
    now: DateTime<Utc>,
    servers: BTreeMap<&'static str, Server>,
    files: BTreeMap<PathBuf, SeenFile>,
    commits: BTreeSet<String>,
}

/// A file as it was after the last step.
struct SeenFile {
    changed: SystemTime,
    content: Vec<u8>,
}

impl Program {
    /// Makes a new home for a program.
    pub(crate) fn start(path: &Path, start: Start) -> Self {
        let dir = TempHome::new();
        fs::write(dir.path().join("gitconfig"), GIT_CONFIG).unwrap();
        let folder = dir.path().to_str().unwrap().to_owned();
        let mut program = Self {
            path: path.to_owned(),
            palace: start.palace,
            dir,
            normalizer: Normalizer::new(folder),
            now: FIRST_MINUTE.parse().unwrap(),
            servers: BTreeMap::new(),
            files: BTreeMap::new(),
            commits: BTreeSet::new(),
        };
        if let Some(stream) = start.stream {
            program.import(Path::new(stream));
        }
        program
    }

    /// Runs a step, and returns all that it did, as text.
    pub(crate) fn run_step(&mut self, step: &Step) -> String {
        let seen = match step {
            Step::Call { set, tool, arguments } => {
                let arguments = arguments.to_string().replace(PALACE, self.palace);
                let arguments: Value = serde_json::from_str(&arguments).unwrap();
                let params = json!({ "name": tool, "arguments": arguments });
                let answer = self.server(set).request("tools/call", &params);
                readable_answer(&answer)
            }
            Step::Command { arguments, input } => self.run_command(arguments, input),
            Step::Edit { file, edit } => self.edit_file(*file, edit),
            Step::CommitByHand => {
                let commit = ["commit", "--quiet", "--all", "--message", "Edit by hand"];
                let output = self.git(&commit);
                format!("exit {}", output.is_ok())
            }
            Step::Restart => {
                self.servers.clear();
                "restarted".to_owned()
            }
        };
        let seen = format!("{seen}\n{}{}", self.list_changed_files(), self.list_new_commits());
        self.normalizer.normalize(&seen)
    }

    /// Runs a command to its end; returns its exit code and output.
    fn run_command(&mut self, arguments: &[&str], input: &str) -> String {
        let mut command = self.command();
        command
            .args(arguments.iter().map(|it| it.replace(PALACE, self.palace)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that reads no input may have ended already.
        drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
        let output = child.wait_with_output().unwrap();
        let [said, errors] =
            [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it).into_owned());
        format!("exit {:?}\n{said}\nstandard error:\n{errors}", output.status.code())
    }

    fn server(&mut self, set: &'static str) -> &mut Server {
        if !self.servers.contains_key(set) {
            let mut command = self.command();
            command.args(["serve", "--tools", set]).stderr(Stdio::null());
            self.servers.insert(set, Server::start(command));
        }
        self.servers.get_mut(set).unwrap()
    }

    /// Returns the program, isolated from this machine, a minute after the last process.
    fn command(&mut self) -> Command {
        self.now += TimeDelta::minutes(1);
        let mut command = self.isolated(&self.path);
        // The texts of usage name the program as it was called.
        #[cfg(unix)]
        command.arg0("palazzo");
        command.env("PALAZZO_HOME", self.home()).env("PALAZZO_NOW", self.now.to_rfc3339());
        command
    }

    fn isolated(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
            .env("HOME", self.dir.path())
            .env("USER", "ada")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", self.dir.path().join("gitconfig"))
            .current_dir(self.dir.path());
        command
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Changes one of the files of the palaces, as a person with an editor.
    fn edit_file(&mut self, number: usize, edit: &Edit) -> String {
        // A running server may show an edit some milliseconds later, a new one shows it at once.
        self.servers.clear();
        let files: Vec<_> = self.files.keys().collect();
        let Some(file) = number.checked_rem(files.len()).map(|it| files[it]) else {
            return "no file".to_owned();
        };
        let path = self.home().join(file);
        let text = String::from_utf8_lossy(&self.files[file].content).into_owned();
        let new_text = match edit {
            Edit::Append(line) => Some(text + line),
            Edit::Replace(older, newer) => Some(text.replace(older, newer)),
            Edit::Delete => None,
        };
        match new_text {
            Some(text) => {
                fs::write(&path, text).unwrap();
                // A broken file that was written just now may be half of one, and is read later.
                let file = fs::File::options().write(true).open(&path).unwrap();
                file.set_modified(SystemTime::now() - EDIT_AGE).unwrap();
            }
            None => fs::remove_file(&path).unwrap(),
        }
        format!("edited {}", file.display())
    }

    /// Lists the files that the last step has changed, with their content.
    fn list_changed_files(&mut self) -> String {
        let (mut listing, mut files) = (String::new(), BTreeMap::new());
        for path in files_below(&self.home(), &self.home()) {
            let metadata = fs::metadata(self.home().join(&path)).unwrap();
            let changed = metadata.modified().unwrap();
            let content = match self.files.remove(&path) {
                Some(seen) if seen.changed == changed => seen.content,
                seen => {
                    let content = fs::read(self.home().join(&path)).unwrap();
                    if seen.is_none_or(|it| it.content != content) {
                        let text = String::from_utf8_lossy(&content);
                        listing += &format!("file {}\n{text}\n", path.display());
                    }
                    content
                }
            };
            files.insert(path, SeenFile { changed, content });
        }
        let deleted = std::mem::replace(&mut self.files, files);
        for path in deleted.keys() {
            listing += &format!("deleted {}\n", path.display());
        }
        listing
    }

    /// Lists the commits of the last step on all branches, with authors and messages.
    fn list_new_commits(&mut self) -> String {
        let log = self.git(&["rev-list", "--all", "--reverse", "--topo-order"]).unwrap_or_default();
        let mut listing = String::new();
        for commit in log.lines() {
            if self.commits.insert(commit.to_owned()) {
                self.normalizer.add_commit(commit);
                let show = ["show", "--no-patch", "--format=commit by %an <%ae>%n%B", commit];
                listing += &self.git(&show).unwrap();
            }
        }
        listing + &self.git(&["for-each-ref"]).unwrap_or_default()
    }

    /// Makes the home from a stream of `git fast-export`.
    fn import(&mut self, stream: &Path) {
        fs::create_dir(self.home()).unwrap();
        self.git(&["init", "--quiet"]).unwrap();
        let mut command = self.isolated(Path::new("git"));
        command.arg("-C").arg(self.home()).args(["fast-import", "--quiet"]);
        let imported = command.stdin(fs::File::open(stream).unwrap()).status().unwrap();
        assert!(imported.success(), "{}", stream.display());
        self.git(&["reset", "--quiet", "--hard"]).unwrap();
        self.list_changed_files();
        self.list_new_commits();
    }

    /// Runs git in the home; returns its output, or its errors if it fails.
    fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = self.isolated(Path::new("git"));
        let now = self.now.to_rfc3339();
        command.env("GIT_AUTHOR_DATE", &now).env("GIT_COMMITTER_DATE", &now);
        let output = command.arg("-C").arg(self.home()).args(arguments).output().unwrap();
        let text = |it: Vec<u8>| String::from_utf8_lossy(&it).into_owned();
        if output.status.success() { Ok(text(output.stdout)) } else { Err(text(output.stderr)) }
    }
}

/// Returns the texts of an answer line by line, and everything else as JSON.
fn readable_answer(answer: &Value) -> String {
    let mut answer = answer.clone();
    let mut texts = String::new();
    for content in answer["result"]["content"].as_array_mut().into_iter().flatten() {
        if let Some(Value::String(text)) = content.get_mut("text").map(Value::take) {
            texts += &format!("{text}\n");
        }
    }
    texts + &serde_json::to_string_pretty(&answer).unwrap()
}

/// Lists the files below a folder without those of git, as paths from `root`.
fn files_below(folder: &Path, root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with(".git") {
            found.extend(files_below(&path, root));
        } else if path.is_file() {
            found.push(path.strip_prefix(root).unwrap().to_owned());
        }
    }
    found.sort();
    found
}
