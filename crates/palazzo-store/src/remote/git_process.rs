//! Runs the `git` command for what needs the network.
//!
//! Each child process follows these rules, so that it can neither ask, nor hang, nor run what a
//! repository names:
//!
//! - **It asks nobody.** Standard input is closed and there is no terminal; git, ssh and the
//!   credential helpers are told that there is no dialog. Credentials that need no question are used: ssh agents,
//!   keys, credential helpers, and what the user has set in the environment (`GIT_SSH_COMMAND`,
//!   `GIT_ASKPASS`, `GIT_SSL_*`).
//! - **It ends.** It has a time limit, and can have a size limit for what it writes. It is in a
//!   session of its own, whose process group is killed with everything that git has started; on Windows,
//!   its tree of processes is.
//! - **It works on the given repository.** The variables by which a git hook, or another git, would
//!   lead it elsewhere are removed ([`LOCAL_VARIABLES`]), and the git directory is given.
//! - **It uses https and ssh only**, also after a redirection; `file` for a URL on this machine.
//!   `ext::` and other helper programs are never used.
//! - **It fetches no submodules, no tags on its own, and checks each object** (`fetch.fsckObjects`).
//! - **It speaks English**, so that its messages can be understood in a report. Its output is
//!   read up to a limit.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use walkdir::WalkDir;

use crate::remote::child_process::{
    OutputReader, forbid_questions, kill_process_group, put_in_own_session,
};
use palazzo_core::model::quoted;

/// The variables that make git work on another repository, as `git rev-parse --local-env-vars`
/// lists them, and those that restrict what it finds.
pub(crate) const LOCAL_VARIABLES: [&str; 17] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Settings of every child process.
const SETTINGS: [&str; 6] = [
    "core.fsmonitor=false",
    "credential.interactive=false",
    "fetch.fsckObjects=true",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "transfer.fsckObjects=true",
];

/// The oldest version of git that is used.
const OLDEST_VERSION: (u32, u32) = (2, 41);
/// The time between two looks at a running process.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// The time between two measurements of what it has written.
const SIZE_INTERVAL: Duration = Duration::from_millis(250);

/// A run of `git` that has not begun.
pub(crate) struct GitProcess {
    command: Command,
    /// What it does, for errors: "fetch `https://…`".
    operation: String,
    time_limit: Duration,
    size_limit: Option<(PathBuf, u64)>,
}

/// A run of `git` that has ended.
#[derive(Debug)]
pub(crate) struct EndedGit {
    pub(crate) status: ExitStatus,
    /// What it wrote to standard output.
    pub(crate) output: String,
    /// What it wrote to standard error.
    pub(crate) messages: String,
}

impl EndedGit {
    /// Returns git's first error with the line before it, else its exit status.
    pub(crate) fn error_message(&self) -> String {
        error_lines(&self.messages).unwrap_or_else(|| format!("git ended with {}", self.status))
    }
}

/// The error of a `git` process.
#[derive(Debug, thiserror::Error)]
pub enum GitProcessError {
    /// There is no `git`.
    #[error(
        "cannot {operation}: git is not installed, or not in the PATH; install git 2.41 or newer"
    )]
    NotInstalled {
        /// What was attempted.
        operation: String,
    },
    /// The installed git is too old.
    #[error("cannot {operation}: it needs git 2.41 or newer, and {found} is installed")]
    TooOld {
        /// What was attempted.
        operation: String,
        /// The installed version.
        found: String,
    },
    /// The system could not run it.
    #[error("cannot {operation}: git could not be run")]
    NotRun {
        /// What was attempted.
        operation: String,
        /// The system's error.
        source: io::Error,
    },
    /// Git reported an error.
    #[error("cannot {operation}: {}{}", quoted_lines(why), credentials_hint(why))]
    Failed {
        /// What was attempted.
        operation: String,
        /// The last lines of git's messages.
        why: String,
    },
    /// It did not end in time.
    #[error(
        "cannot {operation}: git had not finished after {seconds} seconds and was stopped; try again"
    )]
    TimedOut {
        /// What was attempted.
        operation: String,
        /// The time limit.
        seconds: u64,
    },
    /// It wrote too much.
    #[error("cannot {operation}: it is larger than {mebibytes} MiB")]
    TooLarge {
        /// What was attempted.
        operation: String,
        /// The limit.
        mebibytes: u64,
    },
    /// The caller no longer waits.
    #[error("cannot {operation}: it was cancelled")]
    Cancelled {
        /// What was attempted.
        operation: String,
    },
}

impl GitProcess {
    /// Prepares a run in the repository at `git_dir`. `operation` completes the sentence "cannot …".
    pub(crate) fn new(git_dir: &Path, operation: String, time_limit: Duration) -> Self {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(git_dir);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        remove_local_variables(&mut command);
        forbid_questions(&mut command);
        command.env_remove("LC_ALL").env_remove("LANGUAGE").env("LC_MESSAGES", "C");
        command.env("GCM_INTERACTIVE", "never").env("GIT_ALLOW_PROTOCOL", "https:ssh");
        if !has_own_ssh_command() {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        put_in_own_session(&mut command);
        Self { command, operation, time_limit, size_limit: None }
    }

    /// Adds arguments.
    pub(crate) fn args<'a>(mut self, arguments: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Runs no hooks, also none of the user.
    pub(crate) fn without_hooks(self) -> Self {
        self.args(["-c", "core.hooksPath=/dev/null"])
    }

    /// Allows repositories on this machine, for a `file://` URL.
    pub(crate) fn with_local_repositories(mut self) -> Self {
        self.command.env("GIT_ALLOW_PROTOCOL", "https:ssh:file");
        self
    }

    /// Stops the run when the files below `folder` have more than `bytes`.
    pub(crate) fn with_size_limit(self, folder: &Path, bytes: u64) -> Self {
        Self { size_limit: Some((folder.to_owned(), bytes)), ..self }
    }

    /// Runs git and returns its output. Stops it when `is_cancelled` returns true.
    pub(crate) fn run(self, is_cancelled: &dyn Fn() -> bool) -> Result<String, GitProcessError> {
        let operation = self.operation.clone();
        let ended = self.run_to_end(is_cancelled)?;
        match ended.status.success() {
            true => Ok(ended.output),
            false => Err(GitProcessError::Failed { operation, why: ended.error_message() }),
        }
    }

    /// Runs git as [`GitProcess::run`] does, and returns what it wrote also if it failed.
    pub(crate) fn run_to_end(
        mut self,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<EndedGit, GitProcessError> {
        require_git_version(&self.operation)?;
        let mut child = match self.command.spawn() {
            // It was removed since it was asked for its version.
            Err(_) if git_version().is_none() => {
                return Err(GitProcessError::NotInstalled { operation: self.operation });
            }
            started => started.map_err(|source| self.not_run(source))?,
        };
        let output = child.stdout.take().map(OutputReader::start);
        let messages = child.stderr.take().map(OutputReader::start);
        let ended = self.wait(&mut child, is_cancelled);
        if ended.is_err() {
            kill_process_group(&mut child);
        }
        let status = ended?;
        let [output, messages] =
            [output, messages].map(|it| it.map_or_else(String::new, OutputReader::finish));
        Ok(EndedGit { status, output, messages })
    }

    /// Waits until the process ends, or has to be stopped.
    fn wait(
        &self,
        child: &mut Child,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<ExitStatus, GitProcessError> {
        let operation = || self.operation.clone();
        let (start, mut measured) = (Instant::now(), Instant::now());
        loop {
            if let Some(status) = child.try_wait().map_err(|source| self.not_run(source))? {
                return self.check_size().map(|()| status);
            }
            if is_cancelled() {
                return Err(GitProcessError::Cancelled { operation: operation() });
            }
            if start.elapsed() > self.time_limit {
                let seconds = self.time_limit.as_secs();
                return Err(GitProcessError::TimedOut { operation: operation(), seconds });
            }
            if measured.elapsed() > SIZE_INTERVAL {
                self.check_size()?;
                measured = Instant::now();
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn check_size(&self) -> Result<(), GitProcessError> {
        let Some((folder, most)) = &self.size_limit else { return Ok(()) };
        let files = WalkDir::new(folder).into_iter().flatten();
        let sizes = files.filter_map(|it| it.metadata().ok()).filter(std::fs::Metadata::is_file);
        match sizes.map(|it| it.len()).sum::<u64>() > *most {
            true => {
                let (operation, mebibytes) = (self.operation.clone(), most >> 20);
                Err(GitProcessError::TooLarge { operation, mebibytes })
            }
            false => Ok(()),
        }
    }

    fn not_run(&self, source: io::Error) -> GitProcessError {
        GitProcessError::NotRun { operation: self.operation.clone(), source }
    }
}

/// Removes the variables that would make git work on another repository.
pub(crate) fn remove_local_variables(git: &mut Command) {
    for name in LOCAL_VARIABLES {
        git.env_remove(name);
    }
}

/// Returns the version of the installed git; `None`: git is not installed.
pub fn git_version() -> Option<String> {
    let mut git = Command::new("git");
    put_in_own_session(&mut git);
    let output = git.arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

/// Fails if git is not installed, or too old. One that was new enough is not asked again.
fn require_git_version(operation: &str) -> Result<(), GitProcessError> {
    static IS_NEW_ENOUGH: OnceLock<()> = OnceLock::new();
    if IS_NEW_ENOUGH.get().is_some() {
        return Ok(());
    }
    let operation = operation.to_owned();
    match git_version() {
        None => Err(GitProcessError::NotInstalled { operation }),
        Some(found) if parse_version(&found) < Some(OLDEST_VERSION) => {
            Err(GitProcessError::TooOld { operation, found })
        }
        Some(_) => {
            IS_NEW_ENOUGH.get_or_init(|| ());
            Ok(())
        }
    }
}

/// Parses `git version 2.47.3 (Apple Git-154)`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let number = text.split_whitespace().find(|it| it.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = number.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Returns whether the user has chosen how git runs ssh. A repository may not choose it.
fn has_own_ssh_command() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    let config = gix::config::File::from_globals().ok();
    is_set("GIT_SSH_COMMAND")
        || is_set("GIT_SSH")
        || config.is_some_and(|it| it.string("core.sshCommand").is_some())
}

/// Returns the first error among git's messages, with the line before it: git says there what ssh,
/// a remote helper or the other side reported. `None`: there is no message.
fn error_lines(messages: &str) -> Option<String> {
    let lines: Vec<_> = messages.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    let is_error = |it: &&str| it.starts_with("fatal: ") || it.starts_with("error: ");
    let at = lines.iter().position(is_error).unwrap_or(lines.len().checked_sub(1)?);
    let shown = lines[at.saturating_sub(1)..=at].iter();
    let shown: Vec<_> = shown
        .map(|it| it.trim_start_matches("fatal: ").trim_start_matches("error: "))
        .map(|it| it.trim_end_matches('.'))
        .collect();
    Some(shown.join("; ").chars().take(500).collect())
}

/// Quotes each of the lines that git printed: the other machine may have written them.
fn quoted_lines(why: &str) -> String {
    why.split("; ").map(quoted).collect::<Vec<_>>().join("; ")
}

fn credentials_hint(why: &str) -> &'static str {
    let signs = ["prompts disabled", "Permission denied", "Host key verification failed"];
    match signs.iter().any(|it| why.contains(it)) {
        true => {
            ". Palazzo asks for no password or key: set up a credential helper or an ssh agent, and \
             try `git ls-remote URL`"
        }
        false => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_repository::TestHome;

    const MINUTE: Duration = Duration::from_secs(60);

    fn process(scene: &TestHome, time_limit: Duration) -> GitProcess {
        GitProcess::new(&scene.home.join(".git"), "try it".to_owned(), time_limit)
    }

    #[test]
    fn the_output_of_git_is_returned_and_its_error_is_reported() {
        let scene = TestHome::with_repository();
        let run = |arguments: &[&str]| {
            process(&scene, MINUTE).args(arguments.iter().copied()).run(&|| false)
        };
        assert_eq!(run(&["log", "--format=%s"]).unwrap(), "begin\n");
        let refused = run(&["rev-parse", "--verify", "nope"]).unwrap_err().to_string();
        assert_eq!(refused, "cannot try it: `Needed a single revision`");
    }

    #[test]
    fn a_process_is_stopped_with_its_children() {
        let scene = TestHome::with_repository();
        let slow = ["-c", "alias.wait=!sleep 600 & wait", "wait"];
        let run = |limit, is_cancelled: &dyn Fn() -> bool| {
            process(&scene, limit).args(slow).run(is_cancelled).unwrap_err().to_string()
        };
        let late = run(Duration::ZERO, &|| false);
        assert_eq!(
            late,
            "cannot try it: git had not finished after 0 seconds and was stopped; try again"
        );
        assert_eq!(run(MINUTE, &|| true), "cannot try it: it was cancelled");
    }

    #[test]
    fn a_process_that_writes_too_much_fails() {
        let scene = TestHome::with_repository();
        scene.write_file("big", &"x".repeat(1 << 20));
        let limited = process(&scene, MINUTE).args(["rev-parse", "HEAD"]);
        let refused = limited.with_size_limit(&scene.home, 1 << 20).run(&|| false).unwrap_err();
        assert_eq!(refused.to_string(), "cannot try it: it is larger than 1 MiB");
    }

    #[test]
    fn the_variables_that_git_calls_local_are_removed() {
        let scene = TestHome::with_repository();
        let local = scene.git(&["rev-parse", "--local-env-vars"]);
        let missing = local.lines().find(|it| !LOCAL_VARIABLES.contains(it));
        assert_eq!(missing, None);
    }

    #[test]
    fn a_version_is_read_from_the_words_of_git() {
        assert_eq!(parse_version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(parse_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(parse_version("git version 2.50.1.windows.1"), Some((2, 50)));
        assert!(parse_version("git") < Some(OLDEST_VERSION));
    }

    #[test]
    fn an_error_is_reported_with_the_line_before_it() {
        let ssh = "Warning: a\ngit@a: Permission denied (publickey).\nfatal: Could not read from \
                   remote repository.\n\nPlease make sure you have the correct access rights\n";
        let why = error_lines(ssh).unwrap();
        assert_eq!(
            why,
            "git@a: Permission denied (publickey); Could not read from remote repository"
        );
        assert!(credentials_hint(&why).contains("ssh agent"));
        assert_eq!(error_lines("fatal: no such ref\n").as_deref(), Some("no such ref"));
        assert_eq!(error_lines(" \n"), None);
    }
}
