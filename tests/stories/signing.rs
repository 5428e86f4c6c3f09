//! Commits of a person who signs them, with keys that nobody can unlock, and with programs that ask.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};
use crate::mcp_protocol::stateless_params;
use crate::raw_client::answer_text;

/// A home whose user signs commits with an ssh key and a program.
struct SigningHome {
    home: Home,
    folder: tempfile::TempDir,
}

impl SigningHome {
    fn new(passphrase: &str) -> Self {
        let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-C", "ada@example.org", "-N", passphrase, "-f"])
            .arg(folder.path().join("key"))
            .status();
        assert!(made.expect("this test needs ssh-keygen").success());
        let home = Self { home, folder };
        home.sign_with("ssh-keygen");
        home
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes the configuration of a user who signs with `program`.
    fn sign_with(&self, program: &str) {
        let key = self.file("key");
        let public = fs::read_to_string(self.file("key.pub")).unwrap();
        fs::write(self.file("signers"), format!("* {public}")).unwrap();
        self.home.write_git_config(&format!(
            "[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@example.org\n\
             signingKey = {}\n[commit]\ngpgSign = true\n[gpg]\nformat = ssh\n[gpg \"ssh\"]\n\
             program = {program}\nallowedSignersFile = {}\n",
            key.display(),
            self.file("signers").display()
        ));
    }

    /// Signs with a shell script.
    fn sign_with_script(&self, text: &str) {
        let program = self.file("program");
        fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        self.sign_with(program.to_str().unwrap());
    }

    /// Runs the program; returns its exit code and what it prints, without this machine's folders.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.home.run_palazzo(arguments);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let said = said.replace(self.folder.path().to_str().unwrap(), "FOLDER");
        (output.status.code(), said.replace(self.home.path().to_str().unwrap(), "HOME"))
    }

    async fn agent(&self) -> Agent {
        let mut agent = self.home.agent(MARCH_1).await;
        agent.enter("keep").await;
        agent
    }

    fn is_head_signed(&self) -> bool {
        self.home.git(&["cat-file", "commit", "HEAD"]).contains("BEGIN SSH SIGNATURE")
    }
}

async fn create_task(agent: &mut Agent, title: &str) -> String {
    agent.call("create_task", json!({ "title": title })).await
}

#[tokio::test]
async fn a_commit_is_signed_before_any_lock_and_again_if_head_moved() {
    let it = SigningHome::new("");
    assert_eq!(it.run(&["init", "keep"]).0, Some(0));
    // While it signs for the first time, git and another Palazzo commit in the same repository.
    it.sign_with_script(&format!(
        "cd {0} || exit 1\n\
         test -e moved || {{\n: > moved\n\
         git -C {1} -c commit.gpgSign=false commit -q --allow-empty -m between || exit 1\n\
         GIT_CONFIG_GLOBAL=/dev/null PALAZZO_HOME={1} {2} init other >&2 || exit 1\n}}\n\
         echo signed >> count\nexec ssh-keygen \"$@\"",
        it.folder.path().display(),
        it.home.path().display(),
        env!("CARGO_BIN_EXE_palazzo"),
    ));
    let mut agent = it.agent().await;
    let said = create_task(&mut agent, "On signing").await;
    assert!(!said.contains("signature"), "{said}");
    assert_eq!(fs::read_to_string(it.file("count")).unwrap(), "signed\nsigned\n");
    let log = it.home.git(&["log", "-4", "--format=%G? %s"]);
    assert_snapshot!(log, @"
    G task On signing: create
    N palace other: create
    N between
    G palace keep: create
    ");
    it.home.assert_clean_repository();
}

#[tokio::test]
async fn no_lock_is_held_while_a_commit_is_signed_that_excludes_others() {
    let it = SigningHome::new("");
    assert_eq!(it.run(&["init", "keep"]).0, Some(0));
    fs::write(it.file("moss.md"), "Moss grows on the old stones of the garden.\n").unwrap();
    // While it signs for the first time, another Palazzo files a text, under the same lock.
    it.sign_with_script(&format!(
        "cd {0} || exit 1\n\
         test -e moved || {{\n: > moved\n\
         GIT_CONFIG_GLOBAL=/dev/null PALAZZO_HOME={1} {2} mine moss.md >&2 || exit 1\n}}\n\
         echo signed >> count\nexec ssh-keygen \"$@\"",
        it.folder.path().display(),
        it.home.path().display(),
        env!("CARGO_BIN_EXE_palazzo"),
    ));
    let mut agent = it.agent().await;
    let said = create_task(&mut agent, "On locks").await;
    assert!(!said.contains("signature"), "{said}");
    assert_eq!(fs::read_to_string(it.file("count")).unwrap(), "signed\nsigned\n");
    let log = it.home.git(&["log", "-2", "--format=%G? %s"]);
    assert_snapshot!(log, @"
    G task On locks: create
    N source moss.md: mine
    ");
    it.home.assert_clean_repository();
}

#[test]
fn other_clients_read_while_a_commit_is_signed() {
    let it = SigningHome::new("");
    assert_eq!(it.run(&["init", "keep"]).0, Some(0));
    let gate = it.file("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
    it.sign_with_script(&format!("read open < {}\nexec ssh-keygen \"$@\"", gate.display()));
    let mut wire = it.home.initialized_client();
    wire.call("set_workspace", json!({ "workspace": "keep" }));
    let task = json!({ "name": "create_task", "arguments": { "title": "On waiting" } });
    let write = wire.send_request("tools/call", task);
    // The signing program opens the other end.
    let mut gate = fs::File::options().write(true).open(gate).unwrap();
    let enter = json!({ "name": "set_workspace", "arguments": { "workspace": "keep" } });
    let entered = wire.request("tools/call", stateless_params("codex", enter));
    assert!(!answer_text(&entered).contains("On waiting"), "{entered}");
    gate.write_all(b"open\n").unwrap();
    assert_eq!(wire.next_response()["id"], write);
    assert!(it.is_head_signed());
}

#[tokio::test]
async fn a_key_with_a_passphrase_leaves_commits_unsigned() {
    let it = SigningHome::new("secret");
    let (code, said) = it.run(&["init", "keep"]);
    assert_eq!(code, Some(0), "{said}");
    assert_snapshot!(said, @r#"
    HOME/keep
    palazzo: commits are made without a signature, although `commit.gpgSign` asks for one: ssh-keygen: `Enter passphrase: Load key "FOLDER/key": incorrect passphrase supplied to decrypt private key`; unlock the key (`ssh-add`, or sign once with `gpg`), or set `sign = false` below `[git]` in palace.toml
    Created keep in the git repository HOME. Explore it with: palazzo walk HOME/keep
    "#);
    let mut agent = it.agent().await;
    let said = create_task(&mut agent, "One").await;
    assert!(said.contains("commits are made without a signature"), "{said}");
    let said = create_task(&mut agent, "Two").await;
    assert!(!said.contains("signature"), "{said}");
    assert!(!it.is_head_signed());
    it.home.assert_clean_repository();
    let (_, doctor) = it.run(&["doctor"]);
    let lines: Vec<_> = doctor.lines().skip_while(|it| !it.contains("signing")).take(2).collect();
    assert_snapshot!(lines.join("\n"), @r#"
    signing    fails: ssh-keygen: `Enter passphrase: Load key "FOLDER/key": incorrect passphrase supplied to decrypt private key`
               unlock the key: ssh-add, or sign once with gpg
    "#);
}

#[tokio::test]
async fn the_palace_decides_what_a_failing_signature_means() {
    let it = SigningHome::new("");
    it.sign_with_script("echo 'no key today' >&2; exit 1");
    assert_eq!(it.run(&["init", "keep"]).0, Some(0));
    let settings = it.home.read("keep/palace.toml");
    let commit_settings = |sign: &str| {
        it.home.write("keep/palace.toml", &format!("{settings}\n[git]\nsign = {sign}\n"));
        it.home.git(&["-c", "commit.gpgSign=false", "commit", "-qam", "Settings"]);
        it.home.commit_count()
    };

    let count = commit_settings("true");
    let mut agent = it.agent().await;
    let refused = create_task(&mut agent, "One").await;
    assert_snapshot!(refused.replace(it.folder.path().to_str().unwrap(), "FOLDER"), @"refused: nothing was changed: palace.toml has `sign = true`, and the commit cannot be signed: FOLDER/program: no key today; unlock the key (`ssh-add`, or sign once with `gpg`) and try again");
    assert_eq!(it.home.commit_count(), count);
    it.home.assert_clean_repository();
    agent.disconnect().await;

    let count = commit_settings("false");
    let mut agent = it.agent().await;
    let said = create_task(&mut agent, "Two").await;
    assert!(!said.contains("signature"), "{said}");
    assert_eq!(it.home.commit_count(), count + 1);
    assert!(!it.run(&["doctor"]).1.contains("signing"));
    agent.disconnect().await;

    // Once the key can be used, the same palace signs.
    commit_settings("true");
    it.sign_with("ssh-keygen");
    let mut agent = it.agent().await;
    create_task(&mut agent, "Three").await;
    assert!(it.is_head_signed());
    assert!(it.run(&["doctor"]).1.contains("signing    works: commits are signed"));
    it.home.assert_clean_repository();
}

#[test]
fn no_program_of_the_repository_signs() {
    let it = SigningHome::new("");
    assert_eq!(it.run(&["init", "keep"]).0, Some(0));
    let ran = it.file("ran");
    it.sign_with_script(&format!("touch {}; exit 1", ran.display()));
    let program = it.file("program");
    it.sign_with("ssh-keygen");
    for key in ["gpg.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand"] {
        it.home.git(&["config", key, program.to_str().unwrap()]);
    }
    let (code, said) = it.run(&["init", "other"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(it.is_head_signed() && !ran.exists());
}
