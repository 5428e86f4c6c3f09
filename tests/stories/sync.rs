//! Several machines that synchronize a palace through a git remote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::harness::{Home, MARCH_1};

pub(crate) const ENTITY: &str = "keep/entities/mineral/basalt.yaml";
const ENTITY_TEXT: &str = "name: Basalt\ngenus: mineral\nobservations:\n  - It is dark.\n";
const USER_CONFIG: &str =
    "[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@example.org\n";

/// A repository on a server, with a palace in `keep`.
pub(crate) struct Remote {
    folder: tempfile::TempDir,
}

impl Remote {
    /// Creates an empty repository.
    pub(crate) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let remote = Self { folder };
        git_in(remote.folder.path(), &["init", "-q", "--bare", "-b", "main", "remote.git"]);
        remote
    }

    /// Creates a repository with a palace and an entity.
    pub(crate) fn with_palace() -> Self {
        let remote = Self::empty();
        let first = remote.clone_to_machine();
        first.write("keep/palace.toml", "name = \"Keep\"\n");
        first.write("keep/rooms/hall.yaml", "name: Hall\ndescription: Bare.\n");
        first.write("keep/genera/mineral.yaml", "name: mineral\n");
        first.write(ENTITY, ENTITY_TEXT);
        commit_all(&first, "2026-02-01T12:00:00Z", "begin");
        first.git(&["push", "-q", "-u", "origin", "main"]);
        remote
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("remote.git")
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.path(), arguments).trim().to_owned()
    }

    /// Returns the commit that the remote has.
    pub(crate) fn tip(&self) -> String {
        self.git(&["rev-parse", "main"])
    }

    pub(crate) fn clone_to_machine(&self) -> Home {
        let home = Home::new();
        home.write_git_config(USER_CONFIG);
        let [from, to] = [self.path(), home.path()].map(|it| it.display().to_string());
        git_in(self.folder.path(), &["clone", "-q", &from, &to]);
        home.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        home
    }

    /// Clones the repository, and allows the new machine to synchronize.
    pub(crate) fn machine(&self) -> Home {
        let home = self.clone_to_machine();
        assert_eq!(sync(&home, &["--setup"]).1, 0);
        home
    }

    /// Installs a hook of the server.
    pub(crate) fn install_hook(&self, name: &str, script: &str) {
        write_script(&self.path().join("hooks").join(name), script);
    }
}

/// Runs git in a folder, without settings of the machine.
fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git.env_remove("GIT_DIR").args(["-c", "maintenance.auto=false"]);
    let output = git.arg("-C").arg(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn write_script(file: &Path, script: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, format!("#!/bin/sh\n{script}\n")).unwrap();
    make_executable(file);
}

#[cfg(unix)]
fn make_executable(script: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Does nothing: Git for Windows runs every script that begins with `#!`.
#[cfg(windows)]
fn make_executable(_: &Path) {}

/// Runs `palazzo sync`; returns what it printed, without paths, and the exit code.
pub(crate) fn sync(home: &Home, arguments: &[&str]) -> (String, i32) {
    let mut command = home.palazzo_command(MARCH_1);
    readable_output(home, command.arg("sync").args(arguments).output().unwrap())
}

fn readable_output(home: &Home, output: Output) -> (String, i32) {
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    let text = (out + &err).replace(&home.path().display().to_string(), "HOME");
    let words = text.split_inclusive([' ', '\n', ')']).map(|word| match word.find("file://") {
        Some(at) => format!("{}URL{}", &word[..at], if word.contains(')') { ")" } else { " " }),
        None => word.to_owned(),
    });
    (words.collect(), output.status.code().unwrap())
}

pub(crate) fn commit_all(home: &Home, at: &str, message: &str) {
    home.git(&["add", "-A"]);
    home.git_at(at, &["commit", "-q", "-m", message]);
}

pub(crate) fn head(home: &Home) -> String {
    home.git(&["rev-parse", "HEAD"]).trim().to_owned()
}

/// Adds an observation to the entity, and commits it.
pub(crate) fn observe(home: &Home, at: &str, observation: &str) {
    let text = home.read(ENTITY) + &format!("  - {observation}\n");
    home.write(ENTITY, &text);
    commit_all(home, at, observation);
}

/// Asserts that a tool can write, and that git finds no fault.
#[track_caller]
pub(crate) fn assert_writable_and_clean(home: &Home) {
    home.assert_clean_repository();
    let moved = home.run_palazzo(&["mv", "hall", "lobby"]);
    assert!(moved.status.success(), "{moved:?}");
    home.assert_clean_repository();
}

#[test]
fn two_machines_that_extend_the_same_entity_make_the_same_merge() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    observe(&ben, "2026-02-03T12:00:00Z", "It is heavy.");
    let ada_before = head(&ada);
    ben.git(&["push", "-q"]);
    // The server takes no merges for now, so both machines merge the same two commits.
    remote.install_hook("pre-receive", "echo 'closed today' >&2; exit 1");
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("rejected the push: `closed today ("), "{said}");
    fs::remove_file(remote.path().join("hooks/pre-receive")).unwrap();
    ada.git(&["push", "-q", "--force", "origin", &format!("{ada_before}:main")]);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(head(&ada), head(&ben));
    assert_eq!(remote.tip(), head(&ben));
    let merged = ben.read(ENTITY);
    assert_eq!(merged, ada.read(ENTITY));
    for observation in ["It is dark.", "It is hard.", "It is heavy."] {
        assert_eq!(merged.matches(observation).count(), 1, "{merged}");
    }
    let shown = ben.git(&["log", "-1", "--date=iso", "--format=%an <%ae> %cd%n%B"]);
    insta::assert_snapshot!(shown.trim(), @"
    palazzo <sync@palazzo.invalid> 2026-02-03 12:00:00 +0000
    sync: merge

    Palazzo-Merge-Rules: 3
    ");
    assert_eq!(sync(&ada, &[]).1, 0);
    for machine in [&ada, &ben] {
        assert_writable_and_clean(machine);
    }
}

#[test]
fn a_sync_pushes_and_another_machine_fast_forwards() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    ada.write("keep/rooms/loft.yaml", "name: Loft\n");
    fs::remove_file(ada.path().join("keep/rooms/hall.yaml")).unwrap();
    commit_all(&ada, MARCH_1, "loft");
    insta::assert_snapshot!(sync(&ada, &[]).0, @"
    HOME
      in sync with `main` of origin (URL)
      pushed 1 commit
    ");
    insta::assert_snapshot!(sync(&ben, &["--dry-run"]).0, @"
    HOME
      would sync with `main` of origin (URL)
      would receive 1 commit: 1 added, 0 changed, 1 deleted files
    ");
    assert!(!ben.path().join("keep/rooms/loft.yaml").exists());
    insta::assert_snapshot!(sync(&ben, &["--status"]).0, @"
    HOME
      `main` of origin (URL): set up on this machine
      last reached just now
      0 commits to push, 1 commit to merge
      0 conflicts
    ");
    insta::assert_snapshot!(sync(&ben, &[]).0, @"
    HOME
      in sync with `main` of origin (URL)
      received 1 commit: 1 added, 0 changed, 1 deleted files
    ");
    assert_eq!(head(&ben), head(&ada));
    assert!(!ben.path().join("keep/rooms/hall.yaml").exists());
    assert_eq!(sync(&ben, &[]).1, 0);
    ben.assert_clean_repository();
}

#[test]
fn nothing_is_fetched_before_the_setup_and_only_from_the_url_of_the_setup() {
    let remote = Remote::with_palace();
    let home = remote.clone_to_machine();
    let (said, code) = sync(&home, &[]);
    assert_eq!(code, 2);
    assert!(said.contains("is not set up on this machine; run `palazzo sync --setup`"), "{said}");
    assert_eq!(sync(&home, &["--setup"]).1, 0);
    assert_eq!(sync(&home, &[]).1, 0);
    let other = Remote::with_palace();
    home.git(&["remote", "set-url", "origin", &other.path().display().to_string()]);
    assert_eq!(sync(&home, &[]).1, 2);
    let status = sync(&home, &["--status", "--format", "json"]).0;
    assert!(status.contains("\"set_up\": false"), "{status}");
    home.run_palazzo(&["trust", "--remove", &home.path().display().to_string()]);
    home.git(&["remote", "set-url", "origin", &remote.path().display().to_string()]);
    assert_eq!(sync(&home, &[]).1, 2);
}

#[test]
fn the_setup_adds_a_remote_to_a_palace_without_one() {
    let remote = Remote::empty();
    let home = Home::new();
    home.write_git_config(USER_CONFIG);
    let init = home.run_palazzo(&["init", "keep"]);
    assert!(init.status.success(), "{init:?}");
    let (said, code) = sync(&home, &[]);
    assert_eq!(code, 2);
    assert!(said.contains("has no upstream; `palazzo sync --setup URL` adds one"), "{said}");
    let url = format!("file://{}", remote.path().display());
    let (said, code) = sync(&home, &["--setup", &url]);
    assert_eq!(code, 0, "{said}");
    let (said, code) = sync(&home, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(remote.tip(), head(&home));
    assert_eq!(home.git(&["rev-parse", "@{u}"]).trim(), head(&home));
}

#[test]
fn the_setup_understands_a_folder_in_the_place_of_the_url() {
    let remote = Remote::with_palace();
    for folder in [".", "keep"] {
        let home = remote.clone_to_machine();
        let folder = home.path().join(folder).display().to_string();
        let run = |arguments: &[&str]| {
            let mut command = home.palazzo_command(MARCH_1);
            command.env_remove("PALAZZO_HOME").arg("sync").args(arguments).output().unwrap()
        };
        let set_up = run(&["--setup", &folder]);
        assert!(set_up.status.success(), "{set_up:?}");
        assert!(run(&[&folder]).status.success());
        assert_eq!(home.git(&["remote"]), "origin\n", "the folder became no remote");
    }
    let (empty, home) = (Remote::empty(), Home::new());
    home.write_git_config(USER_CONFIG);
    assert!(home.run_palazzo(&["init", "keep"]).status.success());
    let [folder, url] = [home.path(), empty.path()].map(|it| it.display().to_string());
    let (said, code) = sync(&home, &["--setup", &folder, &url]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(home.git(&["remote", "get-url", "origin"]).trim(), format!("file://{url}"));
}

#[cfg(unix)]
#[test]
fn sync_waits_while_another_process_synchronizes() {
    use std::io::{BufRead as _, BufReader};

    let remote = Remote::with_palace();
    let home = remote.machine();
    assert_eq!(sync(&home, &[]).1, 0);
    let start = |arguments: &[&str]| {
        let lock = fs::File::options().write(true).open(home.path().join(".git/palazzo/sync"));
        let lock = lock.unwrap();
        lock.lock().unwrap();
        let mut command = home.palazzo_command(MARCH_1);
        command.arg("sync").args(arguments).stderr(std::process::Stdio::piped());
        let mut waiting = command.spawn().unwrap();
        let mut stderr = BufReader::new(waiting.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("waiting for another palazzo"), "{line}");
        (waiting, lock, stderr)
    };
    let (mut waiting, lock, _stderr) = start(&["--time-limit", "600"]);
    drop(lock);
    assert!(waiting.wait().unwrap().success());
    let (mut waiting, _lock, mut stderr) = start(&["--time-limit", "1"]);
    assert_eq!(waiting.wait().unwrap().code(), Some(2));
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("another palazzo is synchronizing this repository"), "{line}");
}

#[test]
fn a_push_race_is_merged_and_tried_again() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ben, "2026-02-03T12:00:00Z", "It is heavy.");
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    // A hook of the user is run: here it pushes for the other machine, once.
    let hooks = ada.path().with_file_name("hooks");
    let script = format!(
        "cd {} && unset GIT_DIR && test -e done || (touch done && git push -q)",
        ben.path().display()
    );
    write_script(&hooks.join("pre-push"), &script);
    ada.write_git_config(&format!("{USER_CONFIG}[core]\nhooksPath = {}\n", hooks.display()));
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(ben.path().join("done").exists());
    assert_eq!(remote.tip(), head(&ada));
    assert!(ada.read(ENTITY).contains("heavy") && ada.read(ENTITY).contains("hard"));
    assert_writable_and_clean(&ada);
}

#[test]
fn a_conflict_is_recorded_and_the_exit_code_is_1() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    for (machine, at, text) in
        [(&ada, "2026-02-02T12:00:00Z", "Wide."), (&ben, "2026-02-03T12:00:00Z", "Narrow.")]
    {
        machine.write("keep/rooms/hall.yaml", &format!("name: Hall\ndescription: {text}\n"));
        commit_all(machine, at, text);
    }
    assert_eq!(sync(&ada, &[]).1, 0);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("1 conflict"), "{said}");
    assert!(ben.read("keep/rooms/hall.yaml").contains("Narrow."));
    assert_eq!(fs::read_dir(ben.path().join("keep/conflicts")).unwrap().count(), 1);
    assert_eq!(sync(&ada, &[]).1, 1);
    assert_eq!(head(&ada), head(&ben));
}

#[test]
fn an_uncommitted_edit_postpones_the_merge_of_its_file() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    assert_eq!(sync(&ada, &[]).1, 0);
    let before = head(&ben);
    ben.write(ENTITY, "name: Basalt\n");
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 2);
    assert!(said.contains(&format!("waits for your edit of {ENTITY}")), "{said}");
    assert_eq!((head(&ben), ben.read(ENTITY).as_str()), (before, "name: Basalt\n"));
    ben.git(&["checkout", "-q", "--", ENTITY]);
    ben.write("keep/rooms/hall.yaml", "name: Hall\ndescription: Not committed.\n");
    assert_eq!(sync(&ben, &[]).1, 0);
    assert_eq!(ben.git(&["status", "--porcelain"]), " M keep/rooms/hall.yaml\n");
}

/// Sets the time of the last change of a file.
fn set_modified(home: &Home, path: &str, at: &str) {
    let at: chrono::DateTime<chrono::Utc> = at.parse().unwrap();
    let file = fs::File::options().write(true).open(home.path().join(path)).unwrap();
    file.set_modified(at.into()).unwrap();
}

#[test]
fn an_edit_that_has_rested_is_merged_and_stays_uncommitted() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    assert_eq!(sync(&ada, &[]).1, 0);
    let edited = ENTITY_TEXT.replace("genus: mineral\n", "genus: mineral\nstatus: known\n");
    ben.write(ENTITY, &edited);
    set_modified(&ben, ENTITY, "2026-03-01T11:50:00Z");
    assert_eq!(sync(&ben, &[]).1, 2, "ten minutes are not enough");
    assert_eq!(ben.read(ENTITY), edited);
    set_modified(&ben, ENTITY, "2026-03-01T11:44:00Z");
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(head(&ben), head(&ada));
    let merged = ben.read(ENTITY);
    assert!(merged.contains("status: known") && merged.contains("It is hard."), "{merged}");
    assert_eq!(ben.git(&["status", "--porcelain"]), format!(" M {ENTITY}\n"));
    assert_eq!(ben.git(&["show", &format!("HEAD:{ENTITY}")]), ada.read(ENTITY));
    let diff = ben.git(&["diff", "--", ENTITY]);
    assert!(diff.contains("+status: known") && !diff.contains("+  - It is hard."), "{diff}");
    commit_all(&ben, "2026-02-05T12:00:00Z", "known");
    assert_eq!(sync(&ben, &[]).1, 0);
    assert_writable_and_clean(&ben);
}

#[test]
fn a_rested_edit_waits_if_it_conflicts_is_broken_or_is_staged() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let hall = "keep/rooms/hall.yaml";
    ada.write(hall, "name: Hall\ndescription: Wide.\n");
    commit_all(&ada, "2026-02-02T12:00:00Z", "wide");
    assert_eq!(sync(&ada, &[]).1, 0);
    let before = head(&ben);
    let cases = [
        ("name: Hall\ndescription: Narrow.\n", false),
        ("name: [\n", false),
        ("name: Hall\ndescription: Bare.\nlook: Grey.\n", true),
    ];
    for (text, is_staged) in cases {
        ben.write(hall, text);
        if is_staged {
            ben.git(&["add", hall]);
        }
        set_modified(&ben, hall, "2026-02-02T12:00:00Z");
        let (said, code) = sync(&ben, &[]);
        assert_eq!(code, 2, "{text}");
        assert!(said.contains(&format!("waits for your edit of {hall}")), "{said}");
        assert_eq!((head(&ben).as_str(), ben.read(hall).as_str()), (before.as_str(), text));
    }
}

#[test]
fn a_pushed_merge_is_reverted_for_everybody_and_nothing_else() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    ada.write("keep/rooms/loft.yaml", "name: Loft\n");
    commit_all(&ada, "2026-02-02T13:00:00Z", "loft");
    assert_eq!(sync(&ada, &[]).1, 0);
    observe(&ben, "2026-02-03T12:00:00Z", "It is heavy.");
    assert_eq!(sync(&ben, &[]).1, 0);
    let merge = head(&ben);
    let (said, code) = sync(&ben, &["--undo"]);
    assert_eq!((code, head(&ben)), (2, merge));
    assert!(said.contains("was pushed to `main` of origin"), "{said}");
    assert!(said.contains("it brought these commits: 2 by Ada."), "{said}");
    assert!(said.contains("takes them back for everybody"), "{said}");
    // What was committed since stays.
    observe(&ben, "2026-02-04T12:00:00Z", "It is old.");
    let (said, code) = sync(&ben, &["--undo", "--push-revert"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("reverted the merge ") && said.contains("pushed 2 commits"), "{said}");
    let (said, code) = sync(&ben, &["--undo", "--push-revert"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no merge to undo"), "{said}");
    // The other machine works on meanwhile, and keeps what it adds.
    observe(&ada, "2026-02-05T12:00:00Z", "It is common.");
    for machine in [&ada, &ben, &ada] {
        assert_eq!(sync(machine, &[]).1, 0);
    }
    assert_eq!(head(&ada), head(&ben));
    let text = ada.read(ENTITY);
    for (observation, is_there) in [
        ("It is dark.", true),
        ("It is hard.", false),
        ("It is heavy.", true),
        ("It is old.", true),
        ("It is common.", true),
    ] {
        assert_eq!(text.contains(observation), is_there, "{observation} {text}");
    }
    assert!(!ada.path().join("keep/rooms/loft.yaml").exists());
    for machine in [&ada, &ben] {
        machine.assert_clean_repository();
    }
}

#[test]
fn a_rewritten_remote_is_merged_and_reported() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    for machine in [&ada, &ben] {
        assert_eq!(sync(machine, &[]).1, 0);
    }
    ada.git(&["reset", "-q", "--hard", "HEAD~1"]);
    observe(&ada, "2026-02-04T12:00:00Z", "It is heavy.");
    ada.git(&["push", "-q", "--force"]);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("the history of the remote was rewritten"), "{said}");
    assert!(ben.read(ENTITY).contains("hard") && ben.read(ENTITY).contains("heavy"));
}

#[test]
fn a_shallow_clone_is_completed_if_its_commits_do_not_reach_back_to_a_common_one() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    for day in 2..5 {
        observe(&ada, &format!("2026-02-0{day}T12:00:00Z"), &format!("Day {day}."));
    }
    assert_eq!(sync(&ada, &[]).1, 0);
    let ben = Home::new();
    ben.write_git_config(USER_CONFIG);
    let (url, folder) = (format!("file://{}", remote.path().display()), ben.path());
    let to = folder.display().to_string();
    git_in(remote.folder.path(), &["clone", "-q", "--depth", "1", &url, &to]);
    assert_eq!(sync(&ben, &["--setup"]).1, 0);
    ada.git(&["reset", "-q", "--hard", "HEAD~2"]);
    observe(&ada, "2026-02-06T12:00:00Z", "Day 6.");
    ada.git(&["push", "-q", "--force"]);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(!ben.path().join(".git/shallow").exists());
    for day in 2..7 {
        assert_eq!(ben.read(ENTITY).contains(&format!("Day {day}.")), day != 5, "{day}");
    }
    ben.assert_clean_repository();
}

#[test]
fn a_palace_whose_commits_are_left_to_the_user_is_only_fetched() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    assert_eq!(sync(&ada, &[]).1, 0);
    ben.write("keep/palace.toml", "name = \"Keep\"\n[git]\ncommit = \"manual\"\n");
    let before = head(&ben);
    let (said, code) = sync(&ben, &[]);
    assert_eq!((code, head(&ben)), (2, before));
    assert!(said.contains("sets `commit = \"manual\"`; merge them with `git merge`"), "{said}");
    assert_eq!(ben.git(&["rev-parse", "@{u}"]).trim(), head(&ada));
}

#[test]
fn an_unrelated_history_is_refused_with_both_commits() {
    let [remote, other] = [Remote::with_palace(), Remote::empty()];
    let ada = remote.machine();
    let stranger = other.clone_to_machine();
    stranger.write("keep/palace.toml", "name = \"Other\"\n");
    commit_all(&stranger, MARCH_1, "other");
    stranger.git(&["push", "-q", &remote.path().display().to_string(), "+main:main"]);
    let before = head(&ada);
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 2);
    assert!(said.contains("the histories are unrelated"), "{said}");
    assert!(said.contains(&before[..12]) && said.contains(&head(&stranger)[..12]), "{said}");
    assert_eq!(head(&ada), before);
}

#[test]
fn links_and_large_files_of_the_remote_are_refused_before_anything_changes() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    let before = (head(&ada), ada.git(&["count-objects", "-v"]));
    let stranger = remote.clone_to_machine();
    let file = stranger.path().join("keep/rooms/bad.yaml");
    let cases: [(&str, &dyn Fn()); 4] = [
        // Git can commit a link also where users may not create one.
        ("symbolic link", &|| {
            stranger.git(&["config", "core.symlinks", "false"]);
            stranger.write("keep/rooms/bad.yaml", "/etc/passwd");
            let id = stranger.git(&["hash-object", "-w", "keep/rooms/bad.yaml"]);
            let entry = format!("120000,{},keep/rooms/bad.yaml", id.trim());
            stranger.git(&["update-index", "--add", "--cacheinfo", &entry]);
        }),
        ("and the limit is 1048576", &|| {
            fs::File::create(&file).unwrap().set_len(100 << 20).unwrap();
        }),
        ("not UTF-8", &|| fs::write(&file, [0xff, 0xfe]).unwrap()),
        ("differs only in case", &|| {
            stranger.write("keep/rooms/bad.yaml", "name: a\n");
            stranger.write("keep/rooms/Bad.yaml", "name: b\n");
        }),
    ];
    for (reason, make) in cases {
        make();
        commit_all(&stranger, MARCH_1, reason);
        stranger.git(&["push", "-q", "--force"]);
        let (said, code) = sync(&ada, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(reason) && said.contains("of the remote is not accepted"), "{said}");
        assert_eq!((head(&ada), ada.git(&["count-objects", "-v"])), before, "{reason}");
        stranger.git(&["reset", "-q", "--hard", "HEAD~1"]);
    }
    assert_writable_and_clean(&ada);
}

#[test]
fn a_mass_deletion_waits_for_a_person() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    for number in 0..30 {
        ada.write(&format!("keep/rooms/r{number}.yaml"), &format!("name: R{number}\n"));
    }
    commit_all(&ada, "2026-02-02T12:00:00Z", "rooms");
    for machine in [&ada, &ben] {
        assert_eq!(sync(machine, &[]).1, 0);
    }
    for number in 0..25 {
        fs::remove_file(ada.path().join(format!("keep/rooms/r{number}.yaml"))).unwrap();
    }
    commit_all(&ada, "2026-02-03T12:00:00Z", "fewer");
    assert_eq!(sync(&ada, &[]).1, 0);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 2);
    assert!(said.contains("the remote takes away 25 of 34 files"), "{said}");
    assert!(ben.path().join("keep/rooms/r0.yaml").exists());
    assert_eq!(sync(&ben, &["--accept"]).1, 0);
    assert!(!ben.path().join("keep/rooms/r0.yaml").exists());
}

#[test]
fn a_hanging_remote_is_given_up_after_the_time_limit() {
    let remote = Remote::with_palace();
    let home = remote.clone_to_machine();
    home.git(&["remote", "set-url", "origin", "ssh://git@example.org/keep.git"]);
    assert_eq!(sync(&home, &["--setup"]).1, 0);
    let mut command = home.palazzo_command(MARCH_1);
    command.env("GIT_SSH_COMMAND", "sleep 600 #").args(["sync", "--time-limit", "1"]);
    let started = Instant::now();
    let (said, code) = readable_output(&home, command.output().unwrap());
    assert_eq!(code, 2);
    assert!(said.contains("git had not finished after 1 seconds"), "{said}");
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_writable_and_clean(&home);
}

/// Lets the configuration and the hooks of a repository name `program`, and its URLs lead from
/// `remote` to `elsewhere`.
fn make_hostile(home: &Home, program: &Path, remote: &Remote, elsewhere: &Remote) {
    let program = program.display().to_string();
    let included = home.path().join(".git/included");
    fs::write(
        &included,
        format!("[core]\naskPass = {program}\n[credential]\nhelper = {program}\n"),
    )
    .unwrap();
    let [included, from, to] =
        [&included, &elsewhere.path(), &remote.path()].map(|it| it.display().to_string());
    for (key, value) in [
        ("core.fsmonitor", program.as_str()),
        ("core.sshCommand", &program),
        ("core.gitProxy", &program),
        ("core.alternateRefsCommand", &program),
        ("credential.helper", &program),
        ("remote.origin.uploadpack", &program),
        ("remote.origin.receivepack", &program),
        ("gpg.program", &program),
        ("commit.gpgSign", "true"),
        ("push.gpgSign", "true"),
        ("core.hooksPath", ".git/evil"),
        ("protocol.ext.allow", "always"),
        ("include.path", &included),
        (&format!("url.{from}.insteadOf"), &to),
    ] {
        home.git(&["config", key, value]);
    }
    for hook in ["pre-push", "reference-transaction", "post-merge", "pre-auto-gc"] {
        for folder in [".git/evil", ".git/hooks"] {
            write_script(&home.path().join(folder).join(hook), &program);
        }
    }
}

#[test]
fn a_hostile_configuration_starts_no_program() {
    let [remote, elsewhere] = [Remote::with_palace(), Remote::with_palace()];
    let home = remote.machine();
    let (program, ran) = (home.path().with_file_name("program"), home.path().with_file_name("ran"));
    write_script(&program, &format!("echo \"$0 $*\" >> '{}'; exit 1", ran.display()));
    home.write("keep/rooms/loft.yaml", "name: Loft\n");
    commit_all(&home, MARCH_1, "loft");
    make_hostile(&home, &program, &remote, &elsewhere);
    let before = elsewhere.tip();
    let (said, code) = sync(&home, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(!ran.exists(), "{}", fs::read_to_string(&ran).unwrap());
    assert_eq!((remote.tip(), elsewhere.tip()), (head_without_programs(&home), before));
    // Git itself would run them.
    let mut git = Command::new("git");
    home.isolate_environment(&mut git);
    git.arg("-C").arg(home.path()).args(["fetch", "-q"]).output().unwrap();
    assert!(ran.exists());
}

fn head_without_programs(home: &Home) -> String {
    let safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
    home.git(&[&safe[..], &["rev-parse", "HEAD"]].concat()).trim().to_owned()
}

#[test]
fn a_killed_sync_leaves_a_palace_that_accepts_the_next_write() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    assert_eq!(sync(&ada, &[]).1, 0);
    // A git that kills Palazzo when it has fetched.
    let bin = ben.path().with_file_name("bin");
    let git = String::from_utf8(Command::new("which").arg("git").output().unwrap().stdout).unwrap();
    let script = format!(
        "{} \"$@\"; code=$?; case \" $* \" in *' fetch '*) kill -9 $PPID;; esac; exit $code",
        git.trim()
    );
    write_script(&bin.join("git"), &script);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = ben.palazzo_command(MARCH_1);
    let killed = command.env("PATH", path).arg("sync").output().unwrap();
    assert_eq!(killed.status.code(), None);
    assert_writable_and_clean(&ben);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(ben.read(ENTITY).contains("hard") && ben.path().join("keep/rooms/lobby.yaml").exists());
    assert!(!ben.path().join(".git/palazzo/transport").exists());
}

#[test]
fn a_merge_that_was_not_pushed_can_be_undone() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    observe(&ben, "2026-02-03T12:00:00Z", "It is heavy.");
    assert_eq!(sync(&ada, &[]).1, 0);
    remote.install_hook("pre-receive", "exit 1");
    let (before, text) = (head(&ben), ben.read(ENTITY));
    assert_eq!(sync(&ben, &[]).1, 2);
    assert_ne!(head(&ben), before);
    let (said, code) = sync(&ben, &["--undo"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!((head(&ben), ben.read(ENTITY)), (before, text));
    ben.assert_clean_repository();
    fs::remove_file(remote.path().join("hooks/pre-receive")).unwrap();
    assert_eq!(sync(&ben, &[]).1, 0);
    let (said, code) = sync(&ben, &["--undo"]);
    assert_eq!(code, 2);
    assert!(said.contains(") was pushed to `main` of origin"), "{said}");
}

#[test]
fn commits_that_touch_other_files_are_neither_merged_nor_pushed() {
    let remote = Remote::with_palace();
    let home = remote.clone_to_machine();
    home.write("src/main.rs", "fn main() {}\n");
    commit_all(&home, "2026-02-02T12:00:00Z", "code");
    let (said, code) = sync(&home, &["--setup"]);
    assert_eq!(code, 2);
    assert!(said.contains("changes `src/main.rs`, which is no file of a palace"), "{said}");
    home.git(&["push", "-q"]);
    assert_eq!(sync(&home, &["--setup"]).1, 0);
    observe(&home, "2026-02-03T12:00:00Z", "It is hard.");
    assert_eq!(sync(&home, &[]).1, 0);
    home.write("src/main.rs", "fn main() { }\n");
    commit_all(&home, "2026-02-04T12:00:00Z", "more code");
    let before = remote.tip();
    assert_eq!(sync(&home, &[]).1, 2);
    assert_eq!(remote.tip(), before);
}

#[test]
fn a_merge_by_newer_rules_waits_for_an_update() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.\n");
    let merge = ["commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", "HEAD~1", "-m", "sync: merge"];
    let merge = ada.git(&[&merge[..], &["-m", "Palazzo-Merge-Rules: 9"]].concat());
    ada.git(&["reset", "-q", "--hard", merge.trim()]);
    ada.git(&["push", "-q"]);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 2);
    assert!(said.contains("was merged by a newer Palazzo (merge rules 9)"), "{said}");
}

#[test]
fn a_file_that_others_would_refuse_is_not_pushed_and_its_removal_is() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let refused = [
        ("keep/scrolls/hall/big.md", "x".repeat(2 << 20), "bytes, and the limit is"),
        ("keep/.gitattributes", "* filter=lfs\n".to_owned(), "sets the git attribute `filter`"),
    ];
    for (path, text, reason) in refused {
        ada.write(path, &text);
        commit_all(&ada, "2026-02-02T12:00:00Z", "add");
        let (said, code) = sync(&ada, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(reason) && said.contains("was not pushed"), "{said}");
        ada.git(&["rm", "-q", path]);
        commit_all(&ada, "2026-02-03T12:00:00Z", "remove");
        assert_eq!(sync(&ada, &[]).1, 0);
        assert_eq!(sync(&ben, &[]).1, 0);
    }
    // Somebody without Palazzo has pushed one, and mends it.
    ada.write("keep/.gitattributes", "* filter=lfs\n");
    commit_all(&ada, "2026-02-04T12:00:00Z", "add");
    ada.git(&["push", "-q"]);
    let (said, code) = sync(&ben, &[]);
    assert!(code == 2 && said.contains("of the remote is not accepted"), "{said}");
    ada.git(&["rm", "-q", "keep/.gitattributes"]);
    commit_all(&ada, "2026-02-05T12:00:00Z", "remove");
    assert_eq!(sync(&ada, &[]).1, 0);
    assert_eq!(sync(&ben, &[]).1, 0);
    assert_eq!(head(&ada), head(&ben));
    assert_writable_and_clean(&ben);
}

#[test]
fn a_palace_of_a_newer_format_is_not_taken_from_the_remote_until_it_is_mended() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let settings = ada.read("keep/palace.toml");
    ada.write("keep/palace.toml", &format!("format = 99\n{settings}"));
    commit_all(&ada, "2026-02-02T12:00:00Z", "newer");
    ada.git(&["push", "-q"]);
    let (said, code) = sync(&ben, &[]);
    assert!(code == 2 && said.contains("newer Palazzo"), "{said}");
    assert_eq!(ben.read("keep/palace.toml"), settings);
    ada.write("keep/palace.toml", &settings);
    commit_all(&ada, "2026-02-03T12:00:00Z", "mend");
    ada.git(&["push", "-q"]);
    assert_eq!(sync(&ben, &[]).1, 0);
    assert_writable_and_clean(&ben);
}

#[test]
fn a_new_palace_of_the_remote_does_not_open_one_of_a_newer_format() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let settings = ben.read("keep/palace.toml");
    ben.write("keep/palace.toml", &format!("format = 99\n{settings}"));
    commit_all(&ben, "2026-02-02T12:00:00Z", "newer");
    ada.write("keep/rooms/den.yaml", "name: Den\n");
    ada.write("other/palace.toml", "format = 1\nname = \"Other\"\n");
    commit_all(&ada, "2026-02-03T12:00:00Z", "a new palace");
    ada.git(&["push", "-q"]);
    let (said, code) = sync(&ben, &[]);
    assert!(code == 2 && said.contains("keep/palace.toml: this palace has format 99"), "{said}");
    assert!(!ben.path().join("keep/rooms/den.yaml").exists());
}

#[test]
fn a_remote_that_is_missing_or_the_palace_itself_is_refused() {
    let home = Home::new();
    home.write_git_config(USER_CONFIG);
    assert!(home.run_palazzo(&["init", "keep"]).status.success());
    for (url, reason) in [
        ("missing.git", "there is no git repository at"),
        (".", "is the repository of this palace itself"),
    ] {
        let (said, code) = sync(&home, &["--setup", url]);
        assert!(code == 2 && said.contains(reason), "{said}");
        assert!(!home.read(".git/config").contains("remote"));
    }
}
