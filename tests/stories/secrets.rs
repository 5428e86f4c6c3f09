//! Secrets: what is mined, imported and kept is redacted, `check` warns of the others, and
//! `palazzo locate` finds what still contains one.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use insta::assert_snapshot;
use notify::{RecursiveMode, Watcher as _};
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};
use crate::import_mempalace::MempalaceStore;

/// Tokens and keys in the form of real ones. They are put together here, so that no program that
/// searches this repository for secrets finds them.
struct Secrets {
    github: String,
    aws: String,
    jwt: String,
    pem: String,
    password: String,
}

impl Secrets {
    fn new() -> Self {
        let random = "q7Zk39vRtw2LmX8bN4cY6dF1gH5jK0pS3aE9";
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        let header = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
        Self {
            github: format!("ghp_{random}"),
            aws: format!("AKIA{}", "Q3EGRZ5JX2WTM4BC"),
            jwt: format!("{header}.eyJzdWIiOiJhZGEifQ.{random}hG2kV7q"),
            pem: format!("-----BEGIN {0}-----\n{line}\n{line}\n-----END {0}-----", "PRIVATE KEY"),
            password: "Tr0ub4dor-and-3".to_owned(),
        }
    }

    /// A text with all of them.
    fn text(&self) -> String {
        let Self { github, aws, jwt, pem, password } = self;
        format!(
            "The seam is black.\nToken: {github}\nid {aws}, {jwt}\n{pem}\n\
             export DB_PASSWORD={password}\nIt is coal.\n"
        )
    }

    /// The parts that must not occur anywhere.
    fn parts(&self) -> [&str; 5] {
        let body = self.pem.lines().nth(1).unwrap();
        [&self.github, &self.aws, &self.jwt, body, &self.password]
    }

    /// Lists the secrets that any object of the repository, or any file of the home, contains.
    fn found_in(&self, home: &Home) -> Vec<&str> {
        let objects = all_objects(home);
        let patches = home.git(&["log", "-p", "--all"]);
        let is_in =
            |bytes: &[u8], part: &str| bytes.windows(part.len()).any(|it| it == part.as_bytes());
        let files = all_files(&home.path());
        let is_found = |part: &&str| {
            is_in(&objects, part)
                || patches.contains(*part)
                || files.iter().any(|it| is_in(it, part))
        };
        self.parts().into_iter().filter(is_found).collect()
    }
}

/// Returns the content of all objects of the repository, also of those that nothing refers to.
fn all_objects(home: &Home) -> Vec<u8> {
    let mut git = Command::new("git");
    home.isolate_environment(&mut git);
    git.arg("-C").arg(home.path()).args(["cat-file", "--batch-all-objects", "--batch"]);
    let output = git.output().unwrap();
    assert!(output.status.success());
    output.stdout
}

/// Returns the content of all files below a folder: of palaces, of Palazzo's caches, of git.
fn all_files(folder: &Path) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(all_files(&path)),
            false => files.push(std::fs::read(path).unwrap()),
        }
    }
    files
}

/// Runs a command; returns its output, its errors and its exit code, with the folders replaced.
fn run(home: &Home, arguments: &[&str]) -> String {
    let Output { stdout, stderr, status } = home.run_palazzo(arguments);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let said = format!("{}{}[exit {}]", text(stdout), text(stderr), status.code().unwrap());
    said.replace(&home.path().display().to_string(), "HOME")
}

fn transcript(secrets: &Secrets) -> String {
    let said = |who: &str, text: &str, at: &str| {
        json!({ "type": who, "sessionId": "s", "cwd": "/home/ada/seams", "timestamp": at,
            "message": { "role": who, "content": text } })
    };
    let lines = [
        said("user", &secrets.text(), "2026-02-01T10:00:00Z"),
        said("assistant", &format!("Use {}.", secrets.github), "2026-02-01T10:00:02Z"),
    ];
    lines.map(|it| format!("{it}\n")).concat()
}

/// Writes sources with secrets beside the home: a document, a transcript and an export, whose
/// names and titles contain some too.
fn write_sources(home: &Home, secrets: &Secrets) {
    let Secrets { github, aws, .. } = secrets;
    home.write("../notes/coal.md", &format!("# Coal\r\n\r\n{}", secrets.text()));
    home.write(&format!("../notes/{aws}/{github}.md"), "A name is a text too.\n");
    home.write("../notes/talk.jsonl", &transcript(secrets));
    let export = json!([{ "name": format!("Push with {github}"), "chat_messages": [
        { "sender": "human", "text": secrets.text(), "created_at": "2026-02-01T10:00:00Z" },
        { "sender": "assistant", "text": "Done." } ] }]);
    home.write("../notes/conversations.json", &export.to_string());
}

#[test]
fn mining_redacts_secrets_before_anything_is_written() {
    let (home, secrets) = (Home::new(), Secrets::new());
    write_sources(&home, &secrets);
    assert_snapshot!(run(&home, &["mine", "notes", "--dry-run"]), @"
    [redacted: AWS access key]/[redacted: GitHub token].md: name: redacted AWS access key (2 times)
    [redacted: AWS access key]/[redacted: GitHub token].md: name: redacted GitHub token
    coal.md: line 4: redacted GitHub token
    coal.md: line 5: redacted AWS access key
    coal.md: line 5: redacted JWT
    coal.md: line 6: redacted private key
    coal.md: line 10: redacted password
    conversations.json: name: redacted GitHub token
    conversations.json: 2026-02-01T10:00:00Z: redacted GitHub token
    conversations.json: 2026-02-01T10:00:00Z: redacted AWS access key
    conversations.json: 2026-02-01T10:00:00Z: redacted JWT
    conversations.json: 2026-02-01T10:00:00Z: redacted private key
    conversations.json: 2026-02-01T10:00:00Z: redacted password
    talk.jsonl: 2026-02-01T10:00:00Z: redacted GitHub token (2 times)
    talk.jsonl: 2026-02-01T10:00:00Z: redacted AWS access key
    talk.jsonl: 2026-02-01T10:00:00Z: redacted JWT
    talk.jsonl: 2026-02-01T10:00:00Z: redacted private key
    talk.jsonl: 2026-02-01T10:00:00Z: redacted password
    [redacted: AWS access key]/[redacted: GitHub token].md: 1 new
    coal.md: 1 new
    conversations.json: 1 new
    talk.jsonl: 1 new
    Would file texts of 4 sources: 4 new, 0 extended; 0 were filed already; 20 secrets redacted.
    [exit 0]
    ");
    assert!(!home.path().join("palace").exists());
    let said = run(&home, &["mine", "notes"]);
    assert!(
        said.contains("4 new, 0 extended; 0 were filed already; 20 secrets redacted."),
        "{said}"
    );
    assert_eq!(secrets.found_in(&home), [""; 0]);
    assert_snapshot!(run(&home, &["mine", "notes"]), @"
    Filed texts of 4 sources: 0 new, 0 extended; 4 were filed already.
    [exit 0]
    ");
    home.assert_clean_repository();
}

#[test]
fn the_text_around_redacted_secrets_is_kept() {
    let (home, secrets) = (Home::new(), Secrets::new());
    write_sources(&home, &secrets);
    run(&home, &["mine", "notes"]);
    let drawer = home.git(&["grep", "-l", "source: coal.md", "--", "palace/drawers"]);
    let drawer = home.read(drawer.trim());
    let (_, drawer) = drawer.split_once("# Coal\r\n\r\n").unwrap();
    assert_snapshot!(drawer, @"
    The seam is black.
    Token: [redacted: GitHub token]
    id [redacted: AWS access key], [redacted: JWT]
    [redacted: private key]
    export DB_PASSWORD=[redacted: password]
    It is coal.
    ");
}

#[test]
fn redacted_secrets_are_reported_as_json() {
    let (home, secrets) = (Home::new(), Secrets::new());
    home.write("../coal.md", &format!("Coal.\nToken: {0}, {0}\n", secrets.github));
    let report = |options: &[&str]| -> Value {
        let arguments = [&["mine", "coal.md", "--dry-run", "--format", "json"], options].concat();
        serde_json::from_slice(&home.run_palazzo(&arguments).stdout).unwrap()
    };
    let expected =
        json!([{ "source": "coal.md", "place": "line 2", "kind": "GitHub token", "count": 2 }]);
    assert_eq!(report(&[])["redacted"], expected);
    assert_eq!(report(&["--keep-secrets"])["redacted"], json!([]));
}

#[test]
fn mining_can_keep_secrets() {
    let (home, secrets) = (Home::new(), Secrets::new());
    write_sources(&home, &secrets);
    assert!(!run(&home, &["mine", "notes", "--keep-secrets"]).contains("redacted"));
    assert_eq!(secrets.found_in(&home), secrets.parts());
    // What was filed with its secrets is not filed again without them.
    let again = run(&home, &["mine", "notes/coal.md", "notes/talk.jsonl"]);
    assert!(again.contains("0 new, 0 extended; 2 were filed already."), "{again}");
    let found = run(&home, &["check"]);
    assert!(found.contains("warning[secret]: the file contains a secret: GitHub token"), "{found}");
    assert!(secrets.parts().iter().all(|it| !found.contains(it)), "{found}");
}

#[test]
fn a_redacted_conversation_goes_on_in_its_drawer() {
    let (home, secrets) = (Home::new(), Secrets::new());
    let whole = transcript(&secrets);
    let (first, _) = whole.split_once('\n').unwrap();
    home.write("../talk.jsonl", &format!("{first}\n"));
    assert!(run(&home, &["mine", "talk.jsonl"]).contains("1 new, 0 extended"));
    home.write("../talk.jsonl", &whole);
    let said = run(&home, &["mine", "talk.jsonl"]);
    assert!(
        said.contains("0 new, 1 extended; 0 were filed already; 6 secrets redacted."),
        "{said}"
    );
    assert!(
        run(&home, &["mine", "talk.jsonl"]).contains("0 new, 0 extended; 1 were filed already.")
    );
    assert_eq!(secrets.found_in(&home), [""; 0]);
}

/// Returns a file of the memory server with secrets in all places.
fn memory_file(secrets: &Secrets) -> String {
    let Secrets { github, aws, .. } = secrets;
    let lines = [
        json!({ "type": "entity", "name": "Ada", "entityType": "person",
            "observations": ["Likes tea", secrets.text()] }),
        json!({ "type": "entity", "name": format!("Token {github}"), "entityType": "thing",
            "observations": [] }),
        json!({ "type": "relation", "from": "Ada", "to": format!("Token {github}"),
            "relationType": format!("uses {aws}") }),
        json!({ "type": "relation", "from": "Ada", "to": format!("key {aws}"),
            "relationType": "has" }),
    ];
    lines.map(|it| format!("{it}\n")).concat()
}

#[test]
fn importing_the_memory_server_redacts_names_observations_and_relations() {
    let (home, secrets) = (Home::new(), Secrets::new());
    let file = memory_file(&secrets);
    home.write("../memory.jsonl", &file);
    assert_snapshot!(run(&home, &["import", "memory", "memory.jsonl", "--dry-run"]), @"
    memory.jsonl: entity `Ada`: redacted GitHub token
    memory.jsonl: entity `Ada`: redacted AWS access key
    memory.jsonl: entity `Ada`: redacted JWT
    memory.jsonl: entity `Ada`: redacted private key
    memory.jsonl: entity `Ada`: redacted password
    memory.jsonl: name of an entity: redacted GitHub token
    memory.jsonl: relation: redacted AWS access key (2 times)
    memory.jsonl: relation: redacted GitHub token
    Would add to a new workspace: entities 2, observations of others 0, relations 2; 9 secrets redacted.
    [exit 0]
    ");
    let said = run(&home, &["import", "memory", "memory.jsonl"]);
    assert!(said.contains("secrets redacted."), "{said}");
    assert_eq!(secrets.found_in(&home), [""; 0]);
    assert_snapshot!(run(&home, &["import", "memory", "memory.jsonl"]), @"
    Added to `palace` in HOME/palace: entities 0, observations of others 0, relations 0.
    [exit 0]
    ");
}

#[test]
fn importing_the_memory_server_can_keep_secrets() {
    let (kept, secrets) = (Home::new(), Secrets::new());
    let file = memory_file(&secrets);
    kept.write("../memory.jsonl", &file);
    run(&kept, &["import", "memory", "memory.jsonl", "--keep-secrets"]);
    assert!(secrets.found_in(&kept).contains(&secrets.github.as_str()));
    // An observation with its secrets counts as present.
    let again = run(&kept, &["import", "memory", "memory.jsonl"]);
    assert!(again.contains("observations of others 0"), "{again}");
}

/// Writes a store of MemPalace with secrets in all places.
fn write_store(home: &Home, secrets: &Secrets) {
    let theirs = MempalaceStore::new(home, "theirs");
    let about =
        |wing: &str| json!({ "wing": wing, "room": "coal", "filed_at": "2026-02-01T10:00:00" });
    theirs.insert_drawer("drawer_1", &secrets.text(), &about(&secrets.github));
    let mut diary = about("wing_claude");
    for (key, value) in [("type", "diary_entry"), ("agent", "claude"), ("topic", "coal")] {
        diary[key] = value.into();
    }
    theirs.insert_drawer("diary_1", &secrets.text(), &diary);
    theirs.insert_fact("t_1", &format!("ada|uses|{}", secrets.github), None, None);
    theirs.insert_fact("t_2", &format!("key {}|belongs_to|ada", secrets.aws), None, None);
}

#[test]
fn importing_mempalace_redacts_drawers_diaries_and_facts() {
    let (home, secrets) = (Home::new(), Secrets::new());
    write_store(&home, &secrets);
    assert_snapshot!(run(&home, &["import", "mempalace", "theirs", "--dry-run"]), @"
    embeddings drawer_1: line 1: redacted GitHub token
    embeddings drawer_1: line 2: redacted GitHub token
    embeddings drawer_1: line 3: redacted AWS access key
    embeddings drawer_1: line 3: redacted JWT
    embeddings drawer_1: line 4: redacted private key
    embeddings drawer_1: line 8: redacted password
    embeddings diary_1: line 2: redacted GitHub token
    embeddings diary_1: line 3: redacted AWS access key
    embeddings diary_1: line 3: redacted JWT
    embeddings diary_1: line 4: redacted private key
    embeddings diary_1: line 8: redacted password
    triples t_1: line 1: redacted GitHub token
    triples t_2: line 1: redacted AWS access key
    Would add to a new workspace: drawers 1, diary entries 1, facts 2; 0 existed already; 13 secrets redacted.
    [exit 0]
    ");
    let said = run(&home, &["import", "mempalace", "theirs"]);
    assert!(said.contains("secrets redacted."), "{said}");
    assert_eq!(secrets.found_in(&home), [""; 0]);
    assert_snapshot!(run(&home, &["import", "mempalace", "theirs"]), @"
    Added to `palace` in HOME/palace: drawers 0, diary entries 0, facts 0; 4 existed already.
    [exit 0]
    ");
}

#[test]
fn importing_mempalace_can_keep_secrets() {
    let (kept, secrets) = (Home::new(), Secrets::new());
    write_store(&kept, &secrets);
    run(&kept, &["import", "mempalace", "theirs", "--keep-secrets"]);
    assert_eq!(secrets.found_in(&kept), secrets.parts());
    let again = run(&kept, &["import", "mempalace", "theirs"]);
    assert!(again.contains("diary entries 0"), "{again}");
}

/// Installs the hook with `options`, ends a conversation with secrets, and waits for the commit.
fn keep_conversation(options: &[&str]) -> (Home, Secrets) {
    let (home, secrets) = (Home::new(), Secrets::new());
    home.run_palazzo(&["init", "Notes"]);
    let settings = home.path().join("user/settings.json");
    let install = ["hook", "install", "--keep", "--settings", settings.to_str().unwrap()];
    let home_path = home.path().display().to_string();
    let installed = home.run_palazzo(&[&install, options, &["--home", &home_path]].concat());
    assert!(installed.status.success(), "{installed:?}");
    let installed: Value = serde_json::from_str(&home.read("user/settings.json")).unwrap();
    home.write("../talk.jsonl", &transcript(&secrets));
    let (sender, commits) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(sender).unwrap();
    watcher.watch(&home.path().join(".git/logs"), RecursiveMode::Recursive).unwrap();
    let before = home.commit_count();
    let command = &installed["hooks"]["SessionEnd"][0]["hooks"][0]["command"];
    let mut shell = Command::new("sh");
    home.isolate_environment(&mut shell);
    shell.args(["-c", command.as_str().unwrap()]).env("PALAZZO_NOW", MARCH_1);
    home.write("../told.json", &json!({ "transcript_path": "talk.jsonl" }).to_string());
    let told = std::fs::File::open(home.path().join("../told.json")).unwrap();
    let output = shell.stdin(Stdio::from(told)).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    while home.commit_count() == before {
        commits.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
    }
    (home, secrets)
}

#[test]
fn the_hook_redacts_secrets_in_the_conversations_it_keeps() {
    let (home, secrets) = keep_conversation(&[]);
    assert_eq!(secrets.found_in(&home), [""; 0]);
    let drawers = home.git(&["grep", "-h", "Token:", "HEAD", "--", "notes/drawers"]);
    assert_eq!(drawers, "Token: [redacted: GitHub token]\n");
}

#[test]
fn the_hook_can_keep_secrets() {
    let (home, secrets) = keep_conversation(&["--keep-secrets"]);
    assert_eq!(secrets.found_in(&home), secrets.parts());
}

/// Writes secrets into files of every kind, and commits them.
fn home_with_secrets(secrets: &Secrets) -> Home {
    let home = Home::new();
    home.write_git_config("[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@seams\n");
    home.run_palazzo(&["init", "Keep"]);
    let token = &secrets.github;
    home.write("keep/rooms/hall.yaml", &format!("name: Hall\ndescription: |\n  Use {token}.\n"));
    home.write(
        "keep/entities/person/ada.yaml",
        &format!("name: Ada\ngenus: person\nobservations:\n- Uses {token}\n"),
    );
    home.write("keep/drawers/code/auth/01.md", &secrets.text());
    home.write("keep/other.txt", &format!("{token}\n"));
    home.git(&["add", "-A"]);
    home.git_at(MARCH_1, &["commit", "-qm", &format!("Push {token}")]);
    home
}

#[test]
fn check_warns_of_secrets_in_files_and_does_not_print_them() {
    let secrets = Secrets::new();
    let home = home_with_secrets(&secrets);
    let found = run(&home, &["check", "--level", "warning"]);
    assert_snapshot!(found, @"
    home/keep/drawers/code/auth/01.md:2:8: warning[secret]: the file contains a secret: GitHub token
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/drawers/code/auth/01.md:3:4: warning[secret]: the file contains a secret: AWS access key
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/drawers/code/auth/01.md:3:26: warning[secret]: the file contains a secret: JWT
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/drawers/code/auth/01.md:4:1: warning[secret]: the file contains a secret: private key
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/drawers/code/auth/01.md:8:20: warning[secret]: the file contains a secret: password
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/entities/person/ada.yaml:4:8: warning[secret]: the file contains a secret: GitHub token
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    home/keep/rooms/hall.yaml:3:7: warning[secret]: the file contains a secret: GitHub token
        = withdraw it where it was issued and remove it here; `palazzo locate -` finds it in the history
    1 palace, 1 room, 0 scrolls, 1 entity, 1 drawer: 0 errors, 7 warnings
    [exit 0]
    ");
    assert!(secrets.parts().iter().all(|it| !found.contains(it)), "{found}");
    let settings = home.read("keep/palace.toml");
    home.write("keep/palace.toml", &format!("{settings}\n[check]\nsilence = [\"secret\"]\n"));
    assert!(!run(&home, &["check"]).contains("[secret]"));
}

/// Adds a commit that is left only in the reflog, a text that is left only in the index, and a
/// cache.
fn home_with_lost_texts(secrets: &Secrets) -> Home {
    let home = home_with_secrets(secrets);
    home.git_at(MARCH_1, &["rm", "-q", "keep/other.txt"]);
    home.git_at(MARCH_1, &["commit", "-qm", "Remove a file"]);
    home.write("keep/lost.txt", &format!("again {}\n", secrets.github));
    home.git(&["add", "keep/lost.txt"]);
    home.git_at("2026-03-02T12:00:00Z", &["commit", "-qm", "Lose this"]);
    home.git(&["reset", "-q", "--hard", "HEAD^"]);
    home.write("keep/staged.txt", &format!("staged {}\n", secrets.github));
    home.git(&["add", "keep/staged.txt"]);
    std::fs::remove_file(home.path().join("keep/staged.txt")).unwrap();
    home.write(".git/palazzo/cache/keep/entities", &format!("cached {}", secrets.github));
    home
}

#[test]
fn locate_finds_what_still_contains_a_text_and_changes_nothing() {
    let secrets = Secrets::new();
    let home = home_with_lost_texts(&secrets);
    let before = all_files(&home.path());
    let mut locate = home.palazzo_command(MARCH_1);
    home.write("../text", &format!("{}\n", secrets.github));
    locate.args(["locate", "-"]).stdin(std::fs::File::open(home.path().join("../text")).unwrap());
    let output = locate.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let page = String::from_utf8(output.stdout).unwrap();
    let short = |it: &str| home.git(&["rev-parse", "--short", it]).trim().to_owned();
    let (lost, added) = (short("HEAD@{1}"), short("HEAD~1"));
    let blob = home.git(&["rev-parse", ":keep/staged.txt"]);
    let page = page.replace(&home.path().display().to_string(), "HOME");
    let page = page.replace(&lost, "LOST").replace(&added, "ADDED").replace(blob.trim(), "BLOB");
    let (places, rest) = page.split_once("Not searched").unwrap();
    assert_snapshot!(places, @"
    ── HOME ──

    Files:
      HOME/keep/drawers/code/auth/01.md:2
      HOME/keep/entities/person/ada.yaml:4
      HOME/keep/rooms/hall.yaml:3

    Commits that added it:
      LOST 2026-03-02 Lose this (no branch leads to it)
        keep/lost.txt
      ADDED 2026-03-01 Push […]
        in its message
        keep/drawers/code/auth/01.md
        keep/entities/person/ada.yaml
        keep/other.txt
        keep/rooms/hall.yaml

    Objects that are in no commit:
      blob BLOB

    Caches, logs and settings:
      HOME/.git/logs/HEAD:2
      HOME/.git/logs/refs/heads/main:2
      HOME/.git/palazzo/cache/keep/entities:1
    ");
    assert!(rest.contains("When a secret was committed") && !page.contains(&secrets.github));
    assert!(before == all_files(&home.path()));
}

#[test]
fn locate_exits_with_1_if_nothing_is_found_and_prints_json() {
    let secrets = Secrets::new();
    let home = home_with_secrets(&secrets);
    assert!(run(&home, &["locate", "nowhere-to-be-found"]).ends_with("[exit 1]"));
    assert!(run(&home, &["locate", "abc"]).ends_with("[exit 2]"));
    let json = home.run_palazzo(&["locate", &secrets.aws, "--format", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["repositories"][0]["commits"][0]["referenced"], true);
}

/// Runs the commands of the book that remove a text from a history, and gives them the text.
fn run_commands_of_the_book(home: &Home, text: &str) {
    let page = std::fs::read_to_string("docs/security.md").unwrap();
    let block = |reason: &str| {
        let block = page.split(&format!("```sh no-run: {reason}\n")).nth(1).unwrap();
        block.split("```").next().unwrap().to_owned()
    };
    let commands = &(block("reads a text") + &block("rewrites a history"));
    // The text comes from the terminal; the commands come from a file.
    home.write("../remove.sh", commands);
    home.write("../text", &format!("{text}\n"));
    let mut shell = Command::new("sh");
    home.isolate_environment(&mut shell);
    shell.args(["-e", "../remove.sh"]).current_dir(home.path());
    let text = std::fs::File::open(home.path().join("../text")).unwrap();
    let output = shell.stdin(Stdio::from(text)).output().unwrap();
    assert!(output.status.success(), "{commands}\n{output:?}");
}

fn locate(home: &Home, text: &str) -> (Option<i32>, String) {
    let output = home.run_palazzo(&["locate", text]);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_commands_of_the_book_remove_a_text_from_the_history() {
    let secrets = Secrets::new();
    let home = home_with_secrets(&secrets);
    home.git(&["tag", "-am", "the first", "v1"]);
    home.git(&["branch", "side"]);
    for file in
        ["rooms/hall.yaml", "entities/person/ada.yaml", "drawers/code/auth/01.md", "other.txt"]
    {
        let text = home.read(&format!("keep/{file}")).replace(&secrets.github, "REDACTED");
        home.write(&format!("keep/{file}"), &text);
    }
    home.git_at(MARCH_1, &["commit", "-qam", "Redact"]);
    run_commands_of_the_book(&home, &secrets.github);
    let token = secrets.github.as_bytes();
    assert!(!all_objects(&home).windows(token.len()).any(|it| it == token));
    let (code, again) = locate(&home, &secrets.github);
    assert_eq!(code, Some(1), "{again}");
    assert_eq!(home.git(&["log", "--all", "--format=%s", "-2"]).lines().next(), Some("Redact"));
    assert_eq!(home.read("keep/other.txt"), "REDACTED\n");
    assert!(run(&home, &["check"]).contains("0 errors"));
}

#[tokio::test]
async fn a_text_is_found_and_removed_in_proposals_too() {
    let secrets = Secrets::new();
    let home = home_with_secrets(&secrets);
    let mut agent = home.agent_with(MARCH_1, &["--propose", "ideas"]).await;
    agent.enter("keep").await;
    let scroll = json!({ "title": "Token", "body": format!("Keep {}.", secrets.github) });
    let written = agent.call("write_scroll", scroll).await;
    assert!(written.contains("Wrote the scroll"), "{written}");
    agent.disconnect().await;
    let (_, page) = locate(&home, &secrets.github);
    assert!(page.contains("(proposed on `ideas`)\n") && page.contains("-token.md\n"), "{page}");
    for file in ["rooms/hall.yaml", "entities/person/ada.yaml", "drawers/code/auth/01.md"] {
        let text = home.read(&format!("keep/{file}")).replace(&secrets.github, "REDACTED");
        home.write(&format!("keep/{file}"), &text);
    }
    home.git_at(MARCH_1, &["commit", "-qam", "Redact"]);
    run_commands_of_the_book(&home, &secrets.github);
    let (code, again) = locate(&home, &secrets.github);
    assert_eq!(code, Some(1), "{again}");
    let mut agent = home.agent_with(MARCH_1, &["--propose", "ideas"]).await;
    let entered = agent.enter("keep").await;
    assert!(entered.contains("Token"), "{entered}");
    agent.disconnect().await;
    assert!(home.git(&["log", "-1", "-p", "ideas"]).contains("Keep REDACTED."));
}

#[test]
fn locate_finds_texts_in_a_folder_whose_path_cannot_be_printed() {
    let secrets = Secrets::new();
    let home = home_with_secrets(&secrets);
    let odd = home.path().with_file_name("odd\u{1b}[31m");
    std::fs::rename(home.path(), &odd).unwrap();
    let output = home
        .palazzo_command(MARCH_1)
        .args(["locate", &secrets.github, "--home"])
        .arg(&odd)
        .current_dir(&odd)
        .output()
        .unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert!(page.contains("rooms/hall.yaml:3") && !page.contains('\u{1b}'), "{page}");
    let missing = home
        .palazzo_command(MARCH_1)
        .args(["locate", "Tr0ub4dor", "--home", "nowhere"])
        .current_dir(&odd)
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(2));
}
