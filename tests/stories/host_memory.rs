//! The memory of Claude Code in a palace: installed, committed by hooks, completed at the start, and
//! taken out again.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Barrier;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// A session of the host.
const SESSION: &str = "ec9c83b7-f0ba-4d00-b252-98eb4dfd486a";
/// Where the memory lies in the home.
const MEMORY: &str = "notes/drawers/claude/memory";
const SETTINGS: &str = ".claude/settings.local.json";

/// A home with a palace, and a project beside it.
struct Project {
    home: Home,
}

impl Project {
    fn new() -> Self {
        let project = Self { home: Home::new() };
        assert!(project.home.run_palazzo(&["init", "Notes"]).status.success());
        fs::create_dir_all(project.path("src")).unwrap();
        let mut git = project.command(Path::new("git"));
        assert!(git.args(["init", "-q"]).status().unwrap().success());
        project
    }

    /// Returns a project whose memory is in the palace.
    fn with_memory() -> Self {
        let project = Self::new();
        let (code, shown) = project.hook(&["install", "--memory"]);
        assert_eq!(code, 0, "{shown}");
        project
    }

    fn path(&self, file: &str) -> PathBuf {
        self.home.path().parent().unwrap().join("project").join(file)
    }

    /// Returns the folder in which the host keeps its memory by itself.
    fn host_folder(&self) -> PathBuf {
        let project = dunce::canonicalize(self.path("")).unwrap().display().to_string();
        let slug = project.replace(|it: char| !it.is_ascii_alphanumeric(), "-");
        let user = self.home.path().parent().unwrap().to_owned();
        user.join(".claude/projects").join(slug).join("memory")
    }

    /// Returns a command in the folder of the project.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        self.home.isolate_environment(&mut command);
        command.env("PALAZZO_HOME", self.home.path()).env("PALAZZO_NOW", MARCH_1);
        command.env("USER", "ada").current_dir(self.path("")).stdin(Stdio::null());
        command
    }

    /// Runs `palazzo hook` in the project; returns the exit code and what it prints.
    fn hook(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_palazzo")));
        self.shown(command.arg("hook").args(arguments).output().unwrap())
    }

    fn palazzo(&self, arguments: &[&str]) -> (i32, String) {
        let mut command = self.command(Path::new(env!("CARGO_BIN_EXE_palazzo")));
        self.shown(command.args(arguments).output().unwrap())
    }

    fn shown(&self, output: Output) -> (i32, String) {
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let user = self.home.path().parent().unwrap().display().to_string();
        (output.status.code().unwrap(), text.replace(&user, "USER"))
    }

    fn read_settings(&self) -> String {
        fs::read_to_string(self.path(SETTINGS)).unwrap()
    }

    fn write_settings(&self, text: &str) {
        fs::create_dir_all(self.path(".claude")).unwrap();
        fs::write(self.path(SETTINGS), text).unwrap();
    }

    /// Runs the hooks of the memory that are installed for an event, as the host does.
    #[track_caller]
    fn run_hooks(&self, event: &str, more: &Value) -> String {
        let settings: Value = serde_json::from_str(&self.read_settings()).unwrap();
        let items = settings["hooks"][event].as_array().unwrap();
        let mut commands = items.iter().map(|it| it["hooks"][0]["command"].as_str().unwrap());
        let command = commands.find(|it| it.contains(" hook memory ")).unwrap();
        let mut input = json!({ "session_id": SESSION, "hook_event_name": event });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let output = self.run_with_input(command, &input.to_string());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn run_with_input(&self, command: &str, input: &str) -> Output {
        let mut shell = self.command(Path::new("sh"));
        shell.args(["-c", command]).stdin(Stdio::piped());
        let mut running = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The program may have ended before it has read everything.
        drop(running.stdin.take().unwrap().write_all(input.as_bytes()));
        running.wait_with_output().unwrap()
    }

    fn start(&self) -> String {
        self.run_hooks("SessionStart", &json!({ "source": "startup" }))
    }

    /// Writes a file of the memory, as a tool of the host, and runs the hook of the tool.
    #[track_caller]
    fn write_memory(&self, file: &str, text: &str) {
        self.home.write(&format!("{MEMORY}/{file}"), text);
        self.after_write(file, &json!({}));
    }

    #[track_caller]
    fn after_write(&self, file: &str, more: &Value) {
        let path = self.home.path().join(MEMORY).join(file);
        let mut input = json!({ "tool_name": "Write", "tool_input": { "file_path": path } });
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(self.run_hooks("PostToolUse", &input), "");
    }
}

/// A memory in the form of the host.
fn memory(name: &str, description: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\nmetadata: \n  node_type: memory\n  type: feedback\n  \
         originSessionId: {SESSION}\n---\n\nThe text.\n"
    )
}

/// A password, in parts.
fn secret() -> String {
    format!("export DB_PASSWORD={}\n", "Tr0ub4dor-and-3")
}

/// Returns whether an object of the repository, also one that nothing refers to, contains a text.
fn is_in_objects(home: &Home, part: &str) -> bool {
    let mut git = Command::new("git");
    home.isolate_environment(&mut git);
    git.arg("-C").arg(home.path()).args(["cat-file", "--batch-all-objects", "--batch"]);
    let objects = git.output().unwrap().stdout;
    objects.windows(part.len()).any(|it| it == part.as_bytes())
}

#[test]
fn removing_restores_the_settings_byte_for_byte() {
    for settings in [
        "{}",
        "{\"hooks\":{}}",
        "{ \"hooks\": { \"Stop\": [] } } // end\n",
        "{\r\n\t// mine\r\n\t\"permissions\": {\r\n\t\t\"allow\": [ \"Bash(ls)\", ],\r\n\t},\r\n\t\"hooks\": { },\r\n}\r\n",
        "\u{feff}{\"hooks\":{\"PostToolUse\":[{\"matcher\":\"Write\",\"hooks\":[{\"type\":\"command\",\"command\":\"make\"}]}]},\"model\":\"opus\"}",
        "{\n  \"model\": \"opus\"\n}",
    ] {
        let project = Project::new();
        project.write_settings(settings);
        for _ in 0..2 {
            let (code, shown) = project.hook(&["install", "--memory"]);
            assert_eq!(code, 0, "{shown}");
        }
        let text = project.read_settings();
        let folder = dunce::canonicalize(project.home.path()).unwrap().join(MEMORY);
        let key = format!("\"autoMemoryDirectory\": \"{}\"", folder.display());
        assert!(text.replace("\":\"", "\": \"").contains(&key), "{text}");
        assert_eq!(text.matches(" hook memory --home ").count(), 4, "{text}");
        assert_eq!(text.matches(" hook act --home ").count(), 2, "{text}");
        let (code, shown) = project.hook(&["remove", "--project"]);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(project.read_settings(), settings);
    }
}

#[test]
fn settings_that_did_not_exist_are_removed_and_what_others_added_stays() {
    let project = Project::with_memory();
    assert_eq!(project.hook(&["remove", "--project"]).0, 0);
    assert!(!project.path(".claude").exists());
    assert_eq!(project.hook(&["install", "--memory"]).0, 0);
    let mut settings: Value = serde_json::from_str(&project.read_settings()).unwrap();
    settings["model"] = "opus".into();
    settings["hooks"]["Stop"].as_array_mut().unwrap().push(json!({ "hooks": [] }));
    project.write_settings(&settings.to_string());
    assert_eq!(project.hook(&["remove", "--project"]).0, 0);
    let settings: Value = serde_json::from_str(&project.read_settings()).unwrap();
    assert_eq!(settings, json!({ "model": "opus", "hooks": { "Stop": [{ "hooks": [] }] } }));
    let (code, shown) = project.hook(&["remove", "--project"]);
    assert!(code == 0 && shown.starts_with("There is no hook of Palazzo in "), "{shown}");
}

#[test]
fn memories_of_the_host_are_copied_once_and_committed() {
    let project = Project::new();
    let host = project.host_folder();
    fs::create_dir_all(host.join("sub")).unwrap();
    let windows = "# Login\r\n\r\nBy card. \r\n";
    fs::write(host.join("login.md"), windows).unwrap();
    fs::write(host.join("sub/db.md"), secret()).unwrap();
    let (code, shown) = project.hook(&["install", "--memory"]);
    assert_eq!(code, 0, "{shown}");
    let slug = host.parent().unwrap().file_name().unwrap().to_str().unwrap();
    assert_snapshot!(shown.replace(slug, "SLUG"), @r#"
    Claude Code keeps its memory of this project in USER/home/notes/drawers/claude/memory: USER/project/.claude/settings.local.json
    Copied 2 files from USER/.claude/projects/SLUG/memory, where they stay
    Palazzo has not committed 1 memory file, because of a secret in it: "sub/db.md"
    "#);
    assert_eq!(project.home.read(&format!("{MEMORY}/login.md")), windows);
    assert_eq!(project.home.git(&["show", &format!("HEAD:{MEMORY}/login.md")]), windows);
    assert_eq!(
        project.home.git(&["log", "-1", "--format=%an: %s"]),
        "ada: memory login.md: write\n"
    );
    assert!(!is_in_objects(&project.home, "Tr0ub4dor"));
    // The second time nothing is overwritten.
    fs::write(host.join("login.md"), "Changed.").unwrap();
    let (code, shown) = project.hook(&["install", "--memory"]);
    assert!(code == 0 && shown.contains("another version: login.md"), "{shown}");
    assert_eq!(project.home.read(&format!("{MEMORY}/login.md")), windows);
    assert_eq!(fs::read_to_string(host.join("login.md")).unwrap(), "Changed.");
}

#[test]
fn a_memory_is_installed_only_where_it_harms_nobody() {
    let project = Project::new();
    let refusal = |arguments: &[&str]| {
        let (code, shown) = project.hook(&[&["install", "--memory"], arguments].concat());
        assert_eq!(code, 2, "{shown}");
        shown
    };
    assert!(refusal(&["--settings", "x.json"]).contains("cannot be used with"));
    project.write_settings("{\"autoMemoryDirectory\": \"/elsewhere\"}");
    let shown = refusal(&[]);
    let other = "settings.local.json` is not changed: it sets `autoMemoryDirectory` to \"/elsewhere\" \
                 already; a project has one memory: ";
    assert!(shown.contains(other), "{shown}");
    fs::remove_file(project.path(SETTINGS)).unwrap();
    fs::write(project.path(".claude/settings.json"), "{\"autoMemoryDirectory\": \"/a\"}").unwrap();
    assert!(refusal(&[]).contains(".claude/settings.json`: it sets `autoMemoryDirectory`"));
    fs::remove_file(project.path(".claude/settings.json")).unwrap();
    project.home.git(&["remote", "add", "origin", "https://example.org/notes.git"]);
    let shown = refusal(&[]);
    assert_snapshot!(shown, @"palazzo: The memory of Claude Code is private, and the repository of the palace has a remote: origin (https://example.org/notes.git). Put the memory there? Run this in a terminal, or with --accept");
    assert!(!project.path(SETTINGS).exists() && !project.home.path().join(MEMORY).exists());
    assert_eq!(project.hook(&["install", "--memory", "--accept"]).0, 0);
    // Another project has a palace of its own.
    let other = project.path("../other");
    fs::create_dir_all(&other).unwrap();
    let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_palazzo")));
    command.args(["hook", "install", "--memory", "--accept"]).current_dir(&other);
    let (code, shown) = project.shown(command.output().unwrap());
    let why =
        "notes/drawers/claude/memory has the memory of another project, by `USER/project/.claude";
    assert!(code == 2 && shown.contains(why), "{shown}");
    assert!(!other.join(".claude").exists());
}

#[test]
#[cfg(unix)]
fn no_part_of_the_folder_may_be_a_link() {
    let project = Project::new();
    fs::create_dir_all(project.home.path().join("notes/drawers")).unwrap();
    let link = project.home.path().join("notes/drawers/claude");
    std::os::unix::fs::symlink(project.path(""), &link).unwrap();
    let (code, shown) = project.hook(&["install", "--memory"]);
    assert!(code == 2 && shown.contains("notes/drawers/claude` is not a folder"), "{shown}");
    assert!(!project.path(SETTINGS).exists());
}

#[test]
fn what_the_host_writes_is_a_visit_that_can_be_reviewed_and_undone() {
    let project = Project::with_memory();
    let text = memory("Build with make", "cargo fails here").replace("text.", "text. \r");
    project.write_memory("build.md", &text);
    assert_eq!(project.home.git(&["show", &format!("HEAD:{MEMORY}/build.md")]), text);
    assert_snapshot!(project.home.git(&["log", "-1", "--format=%an <%ae>%n%B"]), @"
    claude-code <claude-code@palazzo.invalid>
    memory build.md: write

    Palazzo-Tool: hook memory
    Palazzo-Client: claude-code
    Palazzo-Visit: ID
    ");
    project.write_memory("MEMORY.md", "- [Build](build.md) — cargo fails here\n");
    // Written by a command of the shell: no tool names the file.
    project.home.write(&format!("{MEMORY}/sub/deploy.md"), &memory("Deploy", "on Fridays"));
    assert_eq!(project.run_hooks("Stop", &json!({ "stop_hook_active": false })), "");
    project.home.assert_clean_repository();
    let count = project.home.commit_count();
    for event in ["Stop", "SessionEnd"] {
        assert_eq!(project.run_hooks(event, &json!({})), "");
    }
    project.after_write("build.md", &json!({}));
    assert_eq!(project.start(), "");
    let (_, visits) = project.palazzo(&["log", "--visits"]);
    assert_eq!(visits.matches("claude-code").count(), 1, "{visits}");
    let (code, diff) = project.palazzo(&["diff", "--visit", "last"]);
    assert!(
        code <= 1 && diff.contains("drawer 'Deploy'") && diff.contains("'Build with make'"),
        "{diff}"
    );
    assert_eq!(project.home.commit_count(), count + 1, "the index got one pointer");
    // A later change of the index is kept.
    let (_, shown) = project.palazzo(&["undo", "--visit", "last"]);
    assert!(
        shown.contains("drawer 'Deploy': removed") && shown.contains("MEMORY.md would"),
        "{shown}"
    );
    assert!(!project.home.path().join(MEMORY).join("build.md").exists(), "{shown}");
    project.home.assert_clean_repository();
    let (code, shown) =
        project.palazzo(&["restore", &format!("{}/build.md", &MEMORY[6..]), "--to", "HEAD~1"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(project.home.read(&format!("{MEMORY}/build.md")), text);
}

#[test]
fn only_a_file_of_the_memory_is_committed_after_a_tool() {
    let project = Project::with_memory();
    project.home.write(&format!("{MEMORY}/other.md"), "Of another session.\n");
    let count = project.home.commit_count();
    for file in ["../../../../../project/src/new.rs", "../elsewhere.md"] {
        project.after_write(file, &json!({}));
    }
    let huge = format!("{{\"hook_event_name\": \"Stop\", \"x\": \"{}\"}}", "x".repeat(17 << 20));
    let wrong =
        ["", "{", "[]", "{\"hook_event_name\": 1}", "{\"hook_event_name\": \"PostToolUse\"}"];
    for input in wrong.into_iter().chain([huge.as_str()]) {
        let settings: Value = serde_json::from_str(&project.read_settings()).unwrap();
        let command = &settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"];
        let output = project.run_with_input(command.as_str().unwrap(), input);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
    assert_eq!(project.home.commit_count(), count);
    project.write_memory("mine.md", "Mine.\n");
    let names = project.home.git(&["show", "--format=", "--name-only"]);
    assert_eq!(names, format!("{MEMORY}/mine.md\n"));
    // A palace that is gone is silence.
    fs::rename(project.home.path(), project.home.path().with_file_name("moved")).unwrap();
    let settings: Value = serde_json::from_str(&project.read_settings()).unwrap();
    let command = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let output = project.run_with_input(command, "{\"hook_event_name\": \"Stop\"}");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
}

#[test]
fn a_deletion_is_committed_unless_the_folder_or_most_of_it_is_gone() {
    let project = Project::with_memory();
    for number in 0..12 {
        project.home.write(&format!("{MEMORY}/m{number}.md"), &memory("M", "x"));
    }
    project.run_hooks("Stop", &json!({}));
    let remove = |name: &str| fs::remove_file(project.home.path().join(MEMORY).join(name)).unwrap();
    remove("m0.md");
    project.run_hooks("Stop", &json!({}));
    assert_eq!(project.home.git(&["log", "-1", "--format=%s"]), "memory m0.md: delete\n");
    project.home.assert_clean_repository();
    (1..8).for_each(|it| remove(&format!("m{it}.md")));
    project.write_memory("new.md", "New.\n");
    project.run_hooks("Stop", &json!({}));
    assert_eq!(project.home.git(&["status", "--porcelain"]).lines().count(), 7);
    let said = project.start();
    assert!(
        said.contains("has not committed that 7 memory files, more than half, are gone"),
        "{said}"
    );
    project.home.git(&["checkout", "-q", "."]);
    let folder = project.home.path().join(MEMORY);
    fs::rename(&folder, folder.with_file_name("away")).unwrap();
    let count = project.home.commit_count();
    project.run_hooks("Stop", &json!({}));
    project.start();
    assert_eq!(project.home.commit_count(), count);
}

#[test]
fn secrets_reach_no_object_and_the_next_start_names_them() {
    let project = Project::with_memory();
    project.write_memory("good.md", &memory("Good", "no secret"));
    project.write_memory("db.md", &format!("{}{}", memory("DB", "the database"), secret()));
    let token = format!("ghp_{}", "q7Zk39vRtw2LmX8bN4cY6dF1gH5jK0pS3aE9");
    project.write_memory(&format!("{token}.md"), "The name is a secret.\n");
    let described = memory("Push", &format!("with {token}"));
    project.write_memory("push.md", &described);
    for event in ["Stop", "SessionEnd"] {
        project.run_hooks(event, &json!({}));
    }
    assert_snapshot!(project.start(), @r#"Palazzo has not committed 3 memory files, because of a secret in it: db.md, "[redacted: GitHub token].md", push.md"#);
    assert_eq!(project.home.read(&format!("{MEMORY}/push.md")), described);
    let index = project.home.read(&format!("{MEMORY}/MEMORY.md"));
    assert!(index.contains("- [Push](push.md) — with [redacted: GitHub token]\n"), "{index}");
    // Other commands would commit a hand edit of the file first.
    for arguments in [&["rm", "drawers/claude/memory/db.md"][..], &["fmt"], &["check", "--fix"]] {
        project.palazzo(arguments);
    }
    let (_, findings) = project.palazzo(&["check"]);
    assert!(findings.contains("db.md") && findings.contains("secret"), "{findings}");
    let is_found = |it: &str| is_in_objects(&project.home, it);
    assert!(!is_found("Tr0ub4dor") && !is_found(&token));
    // A palace that has it for a template gets no memory.
    let folder = project.home.path().join("notes").display().to_string();
    let (code, shown) = project.palazzo(&["init", "Other", "--template", &folder]);
    assert_eq!(code, 0, "{shown}");
    assert!(!project.home.path().join("other/drawers").exists());
    assert!(!is_found("Tr0ub4dor") && !is_found(&token));
    fs::remove_dir_all(project.home.path().join("other")).unwrap();
    // A new history takes the files as they are.
    fs::remove_dir_all(project.home.path().join(".git")).unwrap();
    let (code, shown) = project.palazzo(&["init", "--repository"]);
    assert_eq!(code, 0, "{shown}");
    assert!(is_found("no secret") && !is_found("Tr0ub4dor") && !is_found(&token));
    // Without the secret it is committed.
    project.write_memory("db.md", &memory("DB", "the database"));
    assert!(is_found("the database"));
}

#[test]
fn the_index_gets_missing_pointers_at_startup_only() {
    let project = Project::with_memory();
    let index = "# Memory\n\n- [Mine](mine.md) - by hand  \n";
    project.write_memory("MEMORY.md", index);
    project.write_memory("mine.md", &memory("Mine", "x"));
    project.write_memory("lost.md", &memory("Lost memory", "nobody links it"));
    let (_, findings) = project.palazzo(&["check"]);
    assert!(findings.contains("lost.md:1:1: info[memory-without-pointer]: no line"), "{findings}");
    let count = project.home.commit_count();
    for source in ["resume", "clear", "compact", "fork"] {
        project.run_hooks("SessionStart", &json!({ "source": source }));
    }
    assert_eq!(
        (project.home.commit_count(), project.home.read(&format!("{MEMORY}/MEMORY.md"))),
        (count, index.to_owned())
    );
    assert_eq!(project.start(), "");
    assert_snapshot!(project.home.read(&format!("{MEMORY}/MEMORY.md")), @"
    # Memory

    - [Lost memory](lost.md) — nobody links it
    - [Mine](mine.md) - by hand
    ");
    assert!(project.home.read(&format!("{MEMORY}/MEMORY.md")).ends_with("by hand  \n"));
    project.home.assert_clean_repository();
    for file in ["lost.md", "mine.md"] {
        fs::remove_file(project.home.path().join(MEMORY).join(file)).unwrap();
    }
    project.start();
    assert_eq!(project.home.read(&format!("{MEMORY}/MEMORY.md")), index);
    let (_, findings) = project.palazzo(&["check"]);
    assert!(
        findings.contains("info[pointer-without-memory]: line 3 leads to mine.md"),
        "{findings}"
    );
    let count = project.home.commit_count();
    project.start();
    assert_eq!(project.home.commit_count(), count);
}

#[test]
fn an_index_that_cannot_be_read_stays() {
    let project = Project::with_memory();
    let place = project.home.path().join(MEMORY).join("MEMORY.md");
    fs::write(&place, b"\xff\xfe").unwrap();
    project.write_memory("new.md", "New.\n");
    let said = project.start();
    assert!(said.contains("because it cannot be read: MEMORY.md"), "{said}");
    assert_eq!(fs::read(&place).unwrap(), b"\xff\xfe");
}

#[test]
fn removing_leaves_the_memories_where_the_host_finds_them() {
    let project = Project::new();
    let host = project.host_folder();
    fs::create_dir_all(&host).unwrap();
    for (file, text) in [("old.md", "Old.\n"), ("changed.md", "1\n"), ("both.md", "1\n")] {
        fs::write(host.join(file), text).unwrap();
    }
    assert_eq!(project.hook(&["install", "--memory"]).0, 0);
    project.write_memory("changed.md", "2\n");
    project.write_memory("both.md", "2\n");
    project.write_memory("new.md", &secret());
    fs::write(host.join("both.md"), "3\n").unwrap();
    let (code, shown) = project.hook(&["remove", "--project"]);
    assert_eq!(code, 0, "{shown}");
    let slug = host.parent().unwrap().file_name().unwrap().to_str().unwrap();
    assert_snapshot!(shown.replace(slug, "SLUG"), @"
    Claude Code reads its memory of this project from USER/.claude/projects/SLUG/memory again: 3 files copied; those in the palace stay
    both.md is another one there: the version of the palace is both-from-palace.md
    The memory is removed from USER/project/.claude/settings.local.json
    ");
    let read = |file: &str| fs::read_to_string(host.join(file)).unwrap();
    assert_eq!((read("old.md"), read("changed.md")), ("Old.\n".to_owned(), "2\n".to_owned()));
    assert_eq!(
        (read("both.md"), read("both-from-palace.md")),
        ("3\n".to_owned(), "2\n".to_owned())
    );
    assert_eq!(read("new.md"), secret());
    assert_eq!(project.home.read(&format!("{MEMORY}/changed.md")), "2\n");
}

#[test]
fn twenty_sessions_at_once_lose_no_line() {
    let project = &Project::with_memory();
    for number in 0..5 {
        project.home.write(&format!("{MEMORY}/before{number}.md"), &memory("Before", "x"));
    }
    let barrier = &Barrier::new(20);
    let session = |number: usize| {
        move || {
            let id = json!({ "session_id": format!("{number:08x}-f0ba-4d00-b252-98eb4dfd486a") });
            let mut start = id.clone();
            start["source"] = "startup".into();
            project.run_hooks("SessionStart", &start);
            barrier.wait();
            let file = format!("session{number}.md");
            project.home.write(&format!("{MEMORY}/{file}"), &memory("Session", "one"));
            project.after_write(&file, &id);
            let index = project.home.path().join(MEMORY).join("MEMORY.md");
            let mut index = fs::OpenOptions::new().append(true).create(true).open(index).unwrap();
            writeln!(index, "- [Session {number}]({file}) — line {number}").unwrap();
            drop(index);
            project.after_write("MEMORY.md", &id);
            project.home.write(&format!("{MEMORY}/{file}"), &memory("Session", "two"));
            project.after_write(&file, &id);
            project.run_hooks("Stop", &id);
            project.run_hooks("SessionEnd", &id);
        }
    };
    std::thread::scope(|scope| {
        let sessions: Vec<_> = (0..20).map(|number| scope.spawn(session(number))).collect();
        for session in sessions {
            session.join().unwrap();
        }
    });
    project.home.assert_clean_repository();
    let index = project.home.git(&["show", &format!("HEAD:{MEMORY}/MEMORY.md")]);
    for number in 0..20 {
        assert!(index.contains(&format!("(session{number}.md) — line {number}\n")), "{index}");
        let text = project.home.git(&["show", &format!("HEAD:{MEMORY}/session{number}.md")]);
        assert!(text.contains("description: two"), "{text}");
    }
    assert_eq!(index.matches("](before").count(), 5, "{index}");
}

#[test]
fn sync_asks_before_it_sends_a_memory() {
    let project = Project::with_memory();
    let remote = project.path("remote.git");
    project.home.git(&["init", "-q", "--bare", remote.to_str().unwrap()]);
    let url = format!("file://{}", remote.display());
    let set_up = |more: &[&str]| {
        let home = project.home.path().display().to_string();
        project.palazzo(&[&["sync", &home, "--setup", &url], more].concat())
    };
    // An empty folder is no memory.
    project.write_memory("login.md", "By card.\n");
    let (code, shown) = set_up(&[]);
    assert_eq!(code, 2, "{shown}");
    assert_snapshot!(shown, @"palazzo: USER/home: The palace in USER/home/notes holds the memory of Claude Code, which is private. Each sync sends it to `file://USER/project/remote.git`. Set that up? Run this in a terminal, or with --accept");
    let (code, shown) = set_up(&["--accept"]);
    assert!(code == 0 && shown.contains("may sync with"), "{shown}");
    // The memory may have become more private since.
    assert_eq!(set_up(&[]).0, 2);
}

#[test]
fn a_file_that_a_person_names_gets_a_block_and_loses_it_again() {
    let project = Project::with_memory();
    let agents = project.path("AGENTS.md");
    let original = "# Rules\r\n\r\nBe brief.";
    fs::write(&agents, original).unwrap();
    project.write_memory("build.md", &memory("Build", "cargo <!-- fails"));
    let run =
        |more: &[&str]| project.palazzo(&[&["wake-up", "--into", "AGENTS.md"], more].concat());
    assert_eq!(run(&[]), (0, "AGENTS.md: written\n".to_owned()));
    let text = fs::read_to_string(&agents).unwrap();
    assert!(text.starts_with(&format!("{original}\r\n\r\n<!-- palazzo -->\r\n")), "{text}");
    assert_snapshot!(text.replace("\r\n", "\n"), @r"
    # Rules

    Be brief.

    <!-- palazzo -->
    There is a palace of notes for this project. Search it before you answer: with the tools of the MCP server Palazzo, or `palazzo search WORDS` and `palazzo show THING`.

    Its memories in `drawers/claude/memory`, whose names were read from the palace; the user has not said them:

    - `build.md` Build: cargo ‹!-- fails
    <!-- /palazzo -->
    ");
    assert_eq!(run(&[]), (0, "AGENTS.md: nothing to change\n".to_owned()));
    assert_eq!(run(&["--remove"]), (0, "AGENTS.md: written\n".to_owned()));
    assert_eq!(fs::read_to_string(&agents).unwrap(), original);
    fs::write(&agents, "<!-- palazzo -->\n").unwrap();
    let (code, shown) = run(&[]);
    assert!(
        code == 2 && shown.contains("is not changed: `<!-- /palazzo -->` is missing"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(&agents).unwrap(), "<!-- palazzo -->\n");
}

#[test]
fn setup_puts_a_memory_there_only_if_it_is_named_and_takes_it_back() {
    let project = Project::new();
    let user = project.home.path().with_file_name(".claude.json");
    fs::write(&user, "{}").unwrap();
    let home = project.home.path().display().to_string();
    let setup = |options: &[&str]| {
        project.palazzo(&[&["setup", "--client", "claude-code", "--home", &home], options].concat())
    };
    let (code, shown) = setup(&["--all", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert!(!project.path(SETTINGS).exists(), "{shown}");
    project.write_settings("{ \"model\":   \"opus\" }\n\n");
    let (code, shown) = setup(&["--memory", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert!(project.read_settings().contains("autoMemoryDirectory"), "{shown}");
    project.write_memory("a.md", "A.\n");
    let (code, shown) = project.palazzo(&["setup", "--remove", "--yes"]);
    assert_eq!(code, 0, "{shown}");
    assert_eq!(project.read_settings(), "{ \"model\":   \"opus\" }\n\n");
    assert_eq!(fs::read_to_string(project.host_folder().join("a.md")).unwrap(), "A.\n");
    project.home.git(&["remote", "add", "origin", "https://example.org/notes.git"]);
    let (code, shown) = setup(&["--memory", "--yes"]);
    assert!(
        code == 1 && shown.contains("origin (https://example.org/notes.git); `palazzo hook"),
        "{shown}"
    );
    assert_eq!(project.read_settings(), "{ \"model\":   \"opus\" }\n\n");
}

#[test]
fn a_person_at_a_terminal_adds_the_memory_by_its_letter() {
    use crate::walk::Terminal;
    let project = Project::new();
    fs::write(project.home.path().with_file_name(".claude.json"), "{}").unwrap();
    project.home.git(&["remote", "add", "origin", "https://example.org/notes.git"]);
    let start = || {
        let mut command = project.command(Path::new(env!("CARGO_BIN_EXE_palazzo")));
        command.args(["setup", "--home", &project.home.path().display().to_string()]);
        Terminal::start_command(command, 200)
    };
    let mut terminal = start();
    let plan = terminal.read_until("to leave out: ");
    for part in ["b. Claude Code, memory: ", "has a remote: origin (https://example.org/notes.git)"]
    {
        assert!(plan.contains(part), "{part}: {plan}");
    }
    terminal.type_and_read("\n", "takes all of it back");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert!(!project.path(SETTINGS).exists());
    // What is written already is no change any more, so there is something else to write.
    fs::write(project.home.path().with_file_name(".claude.json"), "{}").unwrap();
    let mut terminal = start();
    terminal.read_until("to leave out: ");
    terminal.type_and_read("b\n", "takes all of it back");
    assert_eq!(terminal.read_to_end().1, Some(0));
    assert!(project.read_settings().contains("autoMemoryDirectory"));
}
