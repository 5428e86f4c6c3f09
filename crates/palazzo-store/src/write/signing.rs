//! Signs the commits of one write, if the configuration of the user or the system asks for that.
//!
//! A signing program may take long, so none runs while a lock is held. A commit whose signature is
//! missing makes the write fail before anything is visible; the locks are released, the commit is
//! signed, and the write is planned and tried again. If `HEAD` has moved meanwhile, the commit is
//! another one, and is signed again. All signatures of one write share one time limit.

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

use gix::commit::sign::{Format, Options};
use tempfile::TempDir;

use crate::remote::child_process::{
    OutputReader, forbid_questions, kill_process_group, put_in_own_session,
};
use crate::repo::regular_file;
use crate::repo::repository::Repository;
use crate::{CommitWarning, Error};
use palazzo_core::model::{SigningMode, foreign_message};

/// How long signing may last for one write, in total.
pub(crate) const SIGNING_TIME_LIMIT: Duration = Duration::from_secs(10);
/// How many commits of one write are signed; `HEAD` may move while one is, and a program may be
/// fast.
const MAX_SIGNATURES: usize = 60;

/// Which commits of a store are signed, and how.
#[derive(Clone, Debug)]
pub(crate) struct SigningState {
    pub(crate) mode: SigningMode,
    pub(crate) time_limit: Duration,
    /// Why the last commit was not signed; each reason is reported once.
    reported: Option<String>,
    /// Why the signing program was stopped. It is not run again, because each write would wait for
    /// it.
    pub(crate) stopped: Option<String>,
}

/// The signatures of the commits of one write.
#[derive(Debug)]
pub(crate) struct Signer {
    mode: SigningMode,
    time_limit: Duration,
    /// How much of the time limit is left.
    time_left: Duration,
    /// By the content of the commit without its signature.
    signatures: HashMap<Vec<u8>, String>,
    /// The commit that has to be signed before the write can be tried again.
    waiting: Mutex<Option<Vec<u8>>>,
    /// Why commits stay without a signature.
    failure: Option<String>,
}

impl Default for SigningState {
    fn default() -> Self {
        let (mode, time_limit) = (SigningMode::default(), SIGNING_TIME_LIMIT);
        Self { mode, time_limit, reported: None, stopped: None }
    }
}

impl SigningState {
    /// Returns the signer of one write for its next attempt: the one of the last attempt, or a new one.
    pub(crate) fn signer(&self, last: Option<Signer>) -> Signer {
        let signer = last.unwrap_or_else(|| self.new_signer());
        // The settings may have changed since the last attempt.
        let failure = signer.failure.filter(|_| self.mode != SigningMode::Required);
        Signer { mode: self.mode, failure, waiting: Mutex::new(None), ..signer }
    }

    fn new_signer(&self) -> Signer {
        let stopped = self.stopped.clone();
        Signer {
            mode: self.mode,
            time_limit: self.time_limit,
            time_left: self.time_limit,
            signatures: HashMap::new(),
            waiting: Mutex::new(None),
            failure: stopped.filter(|_| self.mode != SigningMode::Required),
        }
    }

    /// Returns the warning that the commits of a write were not signed, once for each reason.
    pub(crate) fn report(&mut self, signer: &Signer) -> Option<CommitWarning> {
        let failure = signer.failure.clone()?;
        if self.reported.as_ref() == Some(&failure) {
            return None;
        }
        self.reported = Some(failure.clone());
        Some(CommitWarning::NotSigned(failure))
    }
}

impl Signer {
    /// Returns the signature of a commit with the content `payload`; `None`: it is written without
    /// one. Fails if it has to be signed first.
    pub(crate) fn find_signature(
        &self,
        git: &gix::Repository,
        payload: &[u8],
    ) -> gix::Result<Option<&str>> {
        let is_wanted = git.config_snapshot().boolean("commit.gpgSign") == Some(true);
        if !is_wanted || self.mode == SigningMode::Never {
            return Ok(None);
        }
        match self.signatures.get(payload) {
            Some(signature) => Ok(Some(signature)),
            None if self.failure.is_some() => Ok(None),
            None => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                *waiting = Some(payload.to_owned());
                let err = std::io::Error::other("the commit is not signed yet");
                Err(gix::Error::from_error(err))
            }
        }
    }

    /// Returns whether a commit has to be signed before the write can be tried again.
    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Signs the commit that waits for it, if one does. The caller holds no lock.
    pub(crate) fn sign_waiting_commit(
        &mut self,
        repository: &Repository,
        state: &mut SigningState,
    ) -> Result<(), Error> {
        let waiting = self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(payload) = waiting else { return Ok(()) };
        let started = Instant::now();
        let signed = self.sign_in_time(&repository.git(), &payload);
        let elapsed = started.elapsed();
        self.time_left = self.time_left.saturating_sub(elapsed);
        match signed {
            Ok(signature) => drop(self.signatures.insert(payload, signature)),
            Err(why) if self.mode == SigningMode::Required => {
                return Err(Error::NotSigned { why });
            }
            Err(why) => {
                if elapsed >= self.time_limit {
                    state.stopped = Some(why.clone());
                }
                self.failure = Some(why);
            }
        }
        Ok(())
    }

    /// Signs a commit within the time that is left; the error is the reason, in a few words.
    fn sign_in_time(&self, git: &gix::Repository, payload: &[u8]) -> Result<String, String> {
        if self.signatures.len() >= MAX_SIGNATURES {
            return Err(format!("`HEAD` has moved during each of {MAX_SIGNATURES} signatures"));
        }
        let (started, limit) = (Instant::now(), self.time_left);
        let options = read_signing_options(git, limit);
        let signed = options.and_then(|it| match it {
            Some(options) => {
                let left = limit.saturating_sub(started.elapsed());
                sign(&options, payload, left)
            }
            None => Err("the configuration has changed".to_owned()),
        });
        let is_late = limit < self.time_limit && started.elapsed() >= limit;
        signed.map_err(|why| if is_late { self.describe_lateness() } else { why })
    }

    fn describe_lateness(&self) -> String {
        let (seconds, count) = (self.time_limit.as_secs(), self.signatures.len() + 1);
        format!("{count} signatures for one change took more than {seconds} seconds in total")
    }
}

/// The time between two looks at a running program.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The line by which gpg and gpgsm report a signature.
const SIGNATURE_CREATED: &str = "[GNUPG:] SIG_CREATED ";
/// The maximum size of a signature. It may contain certificates.
const MAX_SIGNATURE_BYTES: usize = 64 * 1024;

/// Reads which program signs commits, and with which key; `None`: the user's configuration does not
/// ask for that. A repository's own settings have been removed from `git`. Runs the program that
/// names the key, if the user has set one.
pub(crate) fn read_signing_options(
    git: &gix::Repository,
    time_limit: Duration,
) -> Result<Option<Options>, String> {
    let failed = |err: gix::Error| foreign_message(&err.to_string());
    let mut git = git.clone();
    let config = git.config_snapshot();
    let text = |key: &str| config.string(key).map(|it| it.to_string());
    let is_ssh = text("gpg.format").is_some_and(|it| it.trim().eq_ignore_ascii_case("ssh"));
    let has_key = text("user.signingKey").is_some_and(|it| !it.is_empty());
    let key_command = text("gpg.ssh.defaultKeyCommand").filter(|_| is_ssh && !has_key);
    if config.boolean("commit.gpgSign") == Some(true)
        && let Some(line) = key_command
    {
        let mut command = Command::new("sh");
        command.args(["-c", &line]);
        let key = run_program(&mut command, Stdio::null(), time_limit)?.output;
        let key = key.lines().next().unwrap_or_default().trim().to_owned();
        let mut config = git.config_snapshot_mut();
        config.set_raw_value("user.signingKey", key.as_str()).map_err(failed)?;
        config.commit().map_err(failed)?;
    }
    git.commit_signing_options_if_enabled().map_err(failed)
}

/// Signs `payload`; the error is the reason, in a few words.
///
/// The program may want a passphrase, a finger on a key or a dialog, and nobody may be there. So it
/// has no terminal and no standard input, is told to ask nothing, and has a time limit, after which
/// it is killed with everything that it has started. Keys that an agent has unlocked need no
/// question.
pub(crate) fn sign(
    options: &Options,
    payload: &[u8],
    time_limit: Duration,
) -> Result<String, String> {
    let signature = match options.format {
        Format::OpenPgp | Format::X509 => sign_with_gpg(options, payload, time_limit),
        Format::Ssh => sign_with_ssh(options, payload, time_limit),
    };
    let signature = signature?.replace("\r\n", "\n");
    match find_signature_fault(options.format, &signature) {
        Some(fault) => Err(format!("{} has written {fault}", program_name(options))),
        None => Ok(signature),
    }
}

/// Returns why a text is not a signature that git accepts in a commit: it is committed as it is.
fn find_signature_fault(format: Format, text: &str) -> Option<&'static str> {
    let kinds: &[&str] = match format {
        Format::OpenPgp => &["PGP SIGNATURE", "PGP MESSAGE"],
        Format::X509 => &["SIGNED MESSAGE"],
        Format::Ssh => &["SSH SIGNATURE"],
    };
    let is_complete = |kind: &&str| {
        let begin = text.strip_prefix(&format!("-----BEGIN {kind}-----\n"));
        let content =
            begin.and_then(|it| it.trim_end().strip_suffix(&format!("-----END {kind}-----")));
        content.is_some_and(|it| it.ends_with('\n') && !it.trim().is_empty())
    };
    if text.len() > MAX_SIGNATURE_BYTES {
        Some("a signature of more than 64 KiB")
    } else if text.chars().any(|c| !matches!(c, '\n' | '\t' | ' '..='~')) {
        Some("a signature with characters that none has")
    } else if !kinds.iter().any(is_complete) {
        Some("no complete signature")
    } else {
        None
    }
}

fn sign_with_gpg(
    options: &Options,
    payload: &[u8],
    time_limit: Duration,
) -> Result<String, String> {
    let (_folder, file) = write_temporary_file(payload)?;
    let input = File::open(&file).map_err(|err| err.to_string())?;
    let mut command = Command::new(&options.program);
    if is_program(options, &["gpg", "gpg2", "gpgsm"]) {
        // Other programs may not know these, and get along with what the environment says.
        command.args(["--batch", "--no-tty", "--pinentry-mode=error"]);
    }
    command.args(["--status-fd=2", "-bsau"]).arg(&options.signing_key);
    let ended = run_program(&mut command, input.into(), time_limit)?;
    match ended.messages.lines().any(|it| it.starts_with(SIGNATURE_CREATED)) {
        true => Ok(ended.output),
        false => Err(format!("{} reports no signature", program_name(options))),
    }
}

fn sign_with_ssh(
    options: &Options,
    payload: &[u8],
    time_limit: Duration,
) -> Result<String, String> {
    let (folder, file) = write_temporary_file(payload)?;
    let mut command = Command::new(&options.program);
    command.args(["-Y", "sign", "-n", "git", "-f"]);
    match options.signing_key.to_str().and_then(literal_ssh_key) {
        Some(key) => {
            let key_file = folder.path().join("key");
            fs::write(&key_file, key).map_err(|err| err.to_string())?;
            // The private key is with the agent.
            command.arg(key_file).arg("-U");
        }
        None => drop(command.arg(&options.signing_key)),
    }
    command.arg(&file);
    run_program(&mut command, Stdio::null(), time_limit)?;
    match regular_file::read_regular_file(&file.with_extension("sig")) {
        Ok(Some(bytes)) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Ok(None) | Err(_) => Err(format!("{} has written no signature", program_name(options))),
    }
}

/// Writes the commit to a file in a folder of its own, which is removed with its handle.
fn write_temporary_file(payload: &[u8]) -> Result<(TempDir, PathBuf), String> {
    let folder = tempfile::tempdir().map_err(|err| err.to_string())?;
    let file = folder.path().join("commit");
    fs::write(&file, payload).map_err(|err| err.to_string())?;
    Ok((folder, file))
}

/// Returns the public key, if the configuration contains the key instead of its file.
fn literal_ssh_key(key: &str) -> Option<&str> {
    key.strip_prefix("key::").or_else(|| key.starts_with("ssh-").then_some(key))
}

fn is_program(options: &Options, names: &[&str]) -> bool {
    let stem = Path::new(&options.program).file_stem();
    stem.is_some_and(|it| names.iter().any(|name| it == *name))
}

fn program_name(options: &Options) -> String {
    foreign_message(&options.program.to_string_lossy())
}

/// What a program that succeeded has written.
struct EndedProgram {
    output: String,
    messages: String,
}

/// Runs a program to its end; a failure is an error with its last message.
fn run_program(
    command: &mut Command,
    input: Stdio,
    time_limit: Duration,
) -> Result<EndedProgram, String> {
    let name = foreign_message(&command.get_program().to_string_lossy());
    forbid_questions(command);
    // A dialog could open there.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    put_in_own_session(command);
    let not_run =
        |err: io::Error| format!("{name} cannot be run: {}", foreign_message(&err.to_string()));
    let mut child = command.spawn().map_err(not_run)?;
    let output = child.stdout.take().map(OutputReader::start);
    let messages = child.stderr.take().map(OutputReader::start);
    let status = wait(&mut child, time_limit).map_err(not_run)?;
    let [output, messages] =
        [output, messages].map(|it| it.map_or_else(String::new, OutputReader::finish));
    match status {
        None => {
            let seconds = time_limit.as_secs_f64().round();
            Err(format!("{name} had not finished after {seconds} seconds and was stopped"))
        }
        Some(status) if status.success() => Ok(EndedProgram { output, messages }),
        Some(status) => {
            let mut said = messages.lines().map(str::trim);
            let said = said.rfind(|it| !it.is_empty() && !it.starts_with("[GNUPG:]"));
            let why = said.map_or_else(|| format!("it ended with {status}"), foreign_message);
            Err(format!("{name}: {why}"))
        }
    }
}

/// Waits until the process ends; kills it with its group after the time limit and returns `None`.
fn wait(child: &mut Child, time_limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if start.elapsed() <= time_limit => thread::sleep(POLL_INTERVAL),
            ended => {
                kill_process_group(child);
                return ended;
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use super::*;

    /// Writes a shell script and returns the options for signing with it.
    fn script(folder: &Path, format: Format, text: &str) -> Options {
        let (source, program) = (folder.join("source"), folder.join("program"));
        fs::write(&source, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).unwrap();
        // A process that another test forks could inherit a handle with which this one writes the
        // program, and a program that is open for writing cannot be run.
        let copied = Command::new("cp").arg("-p").args([&source, &program]).status().unwrap();
        assert!(copied.success());
        options(format, program.as_os_str(), "key")
    }

    fn options(format: Format, program: &OsStr, key: &str) -> Options {
        Options {
            format,
            program: program.to_owned(),
            program_arguments: Vec::new(),
            signing_key: key.into(),
            environment: Vec::new(),
        }
    }

    /// Creates an ssh key and returns its file.
    fn create_ssh_key(folder: &Path, passphrase: &str) -> PathBuf {
        let key = folder.join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-C", "ada@example.org", "-N", passphrase, "-f"])
            .arg(&key)
            .status();
        assert!(made.expect("this test needs ssh-keygen").success());
        key
    }

    #[test]
    fn a_key_with_a_passphrase_is_not_asked_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let key = create_ssh_key(folder.path(), "secret");
        let ssh = options(Format::Ssh, OsStr::new("ssh-keygen"), key.to_str().unwrap());
        let refused = sign(&ssh, b"text", Duration::from_secs(60)).unwrap_err();
        assert!(refused.starts_with("ssh-keygen: "), "{refused}");
        assert!(refused.contains("passphrase"), "{refused}");
    }

    #[test]
    fn a_key_without_a_passphrase_signs() {
        let folder = tempfile::tempdir().unwrap();
        let key = create_ssh_key(folder.path(), "");
        let ssh = options(Format::Ssh, OsStr::new("ssh-keygen"), key.to_str().unwrap());
        let signature = sign(&ssh, b"text", Duration::from_secs(60)).unwrap();
        assert!(signature.starts_with("-----BEGIN SSH SIGNATURE-----\n"), "{signature}");
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "echo $$ > {0}/pid; sleep 600 & echo $! >> {0}/pid; wait",
            folder.path().display()
        );
        for format in [Format::OpenPgp, Format::X509, Format::Ssh] {
            let slow = script(folder.path(), format, &text);
            let refused =
                sign(&slow, &vec![b'x'; 1 << 20], Duration::from_millis(300)).unwrap_err();
            let late = "/program had not finished after 0 seconds and was stopped";
            assert!(refused.ends_with(late), "{refused}");
            let started = fs::read_to_string(folder.path().join("pid")).unwrap_or_default();
            for process in started.lines() {
                while is_running(process) {
                    thread::yield_now();
                }
            }
        }
    }

    /// Returns whether a process runs; one that was killed may still be in the list.
    fn is_running(process: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
        let state = String::from_utf8(state.stdout).unwrap();
        !state.trim().is_empty() && !state.trim().starts_with('Z')
    }

    #[test]
    fn a_program_has_no_terminal_no_input_and_no_dialog() {
        let folder = tempfile::tempdir().unwrap();
        let asks = "read answer && exit 0\n(read answer < /dev/tty) 2> /dev/null && exit 0\n\
                    echo \"[$GPG_TTY$DISPLAY$SSH_ASKPASS] $SSH_ASKPASS_REQUIRE\" >&2\nexit 3";
        let asks = script(folder.path(), Format::Ssh, asks);
        let refused = sign(&asks, b"text", Duration::from_secs(60)).unwrap_err();
        assert!(refused.ends_with("/program: [] never"), "{refused}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_leads_a_session_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let leads = "cut -d' ' -f6 /proc/$$/stat | grep -qx $$ && echo leader >&2\nexit 1";
        let leads = script(folder.path(), Format::OpenPgp, leads);
        let refused = sign(&leads, b"text", Duration::from_secs(60)).unwrap_err();
        assert!(refused.ends_with("/program: leader"), "{refused}");
    }

    #[test]
    fn a_program_that_fails_is_reported_with_its_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |format, text: &str| {
            let options = script(folder.path(), format, text);
            let refused = sign(&options, b"text", Duration::from_secs(60)).unwrap_err();
            refused.split_once("/program").unwrap().1.to_owned()
        };
        let gpg = "echo 'gpg: no key' >&2; echo '[GNUPG:] FAILURE sign 17' >&2; exit 2";
        assert_eq!(refused(Format::OpenPgp, gpg), ": gpg: no key");
        assert_eq!(refused(Format::X509, "cat; exit 0"), " reports no signature");
        assert_eq!(refused(Format::Ssh, "exit 0"), " has written no signature");
        let missing = options(Format::Ssh, OsStr::new("/nonexistent/program"), "key");
        let refused = sign(&missing, b"text", Duration::from_secs(60)).unwrap_err();
        assert!(refused.starts_with("/nonexistent/program cannot be run: "), "{refused}");
    }

    #[test]
    fn the_payload_is_the_input_of_gpg_and_the_output_is_the_signature() {
        let folder = tempfile::tempdir().unwrap();
        let signs = "echo '[GNUPG:] SIG_CREATED D' >&2; echo '-----BEGIN PGP SIGNATURE-----'\n\
                     printf '%s\\r\\n' \"$*\"; cat; echo '-----END PGP SIGNATURE-----'";
        let signs = script(folder.path(), Format::OpenPgp, signs);
        let signature = sign(&signs, b"text\n", Duration::from_secs(60)).unwrap();
        let content = "--status-fd=2 -bsau key\ntext\n";
        let expected =
            format!("-----BEGIN PGP SIGNATURE-----\n{content}-----END PGP SIGNATURE-----\n");
        assert_eq!(signature, expected);
    }

    #[test]
    fn a_signature_that_git_does_not_accept_is_refused_with_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |format, begin: &str, output: &str| {
            let write = match format {
                Format::Ssh => "for file; do :; done; exec > $file.sig",
                _ => "echo '[GNUPG:] SIG_CREATED D' >&2",
            };
            let text = format!("{write}\necho '-----BEGIN {begin}-----'\n{output}");
            let options = script(folder.path(), format, &text);
            let refused = sign(&options, b"text", Duration::from_secs(60)).unwrap_err();
            refused.split_once("/program has written ").unwrap().1.to_owned()
        };
        let formats = [
            (Format::OpenPgp, "PGP SIGNATURE"),
            (Format::OpenPgp, "PGP MESSAGE"),
            (Format::X509, "SIGNED MESSAGE"),
            (Format::Ssh, "SSH SIGNATURE"),
        ];
        for (format, kind) in formats {
            let end = format!("echo '-----END {kind}-----'");
            let refused = |output: &str| refused(format, kind, &format!("{output}\n{end}"));
            assert_eq!(refused("printf 'A\\000\\n'"), "a signature with characters that none has");
            assert_eq!(
                refused("head -c 70000 /dev/zero | tr '\\0' A; echo"),
                "a signature of more than 64 KiB"
            );
            assert_eq!(
                refused("head -c 3000000 /dev/zero | tr '\\0' A; echo"),
                "a signature of more than 64 KiB"
            );
            assert_eq!(refused(""), "no complete signature");
            assert_eq!(refused("echo A; exit 0"), "no complete signature");
        }
        assert_eq!(
            refused(Format::OpenPgp, "SSH SIGNATURE", "echo A; echo '-----END SSH SIGNATURE-----'"),
            "no complete signature"
        );
    }
}
