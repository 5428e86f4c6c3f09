//! A damaged repository around the palace, or git at work there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

/// Commands that only read.
const READ_COMMANDS: [&[&str]; 10] = [
    &["check"],
    &["show", "hall"],
    &["map"],
    &["log"],
    &["search", "stone"],
    &["blame", "hall"],
    &["diff"],
    &["fmt", "--check"],
    &["wake-up"],
    &["export", "memory"],
];

/// A palace with three commits of its own.
async fn create_palace(home: &Home) {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "keep", "create": true })).await;
    build_room(&mut agent, "hall", "Stone.").await;
    build_room(&mut agent, "attic", "Dust.").await;
    agent.disconnect().await;
}

async fn build_room(agent: &mut Agent, slug: &'static str, description: &str) -> String {
    let room = json!({ "slug": slug, "name": slug, "description": description, "actions": [] });
    agent.call("build_room", room).await
}

async fn write_scroll(agent: &mut Agent, title: &str) -> String {
    let scroll = json!({ "title": title, "body": "Text.", "room": "hall" });
    agent.call("write_scroll", scroll).await
}

/// All files of git, by path, without Palazzo's own.
fn git_files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if entry.file_name() == "palazzo" => {}
                true => collect(&path, found),
                false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(&home.path().join(".git"), &mut found);
    found
}

fn object_path(home: &Home, spec: &str) -> PathBuf {
    let id = home.git(&["rev-parse", spec]);
    home.path().join(".git/objects").join(&id[..2]).join(id[2..].trim())
}

/// A way to damage a repository.
type Damage = fn(&Home);

const DAMAGES: [(&str, Damage); 6] = [
    ("a torn commit", |home| truncate_object(&object_path(home, "HEAD"))),
    ("a torn tree", |home| truncate_object(&object_path(home, "HEAD^{tree}"))),
    ("a missing blob", |home| {
        fs::remove_file(object_path(home, "HEAD:keep/rooms/attic.yaml")).unwrap();
    }),
    ("an empty branch", |home| {
        fs::write(home.path().join(".git/refs/heads/main"), "").unwrap();
    }),
    ("an empty HEAD", |home| fs::write(home.path().join(".git/HEAD"), "").unwrap()),
    ("objects on a disk that is not mounted", |home| {
        let objects = home.path().join(".git/objects");
        fs::rename(&objects, home.path().join("../away")).unwrap();
        fs::create_dir_all(objects.join("info")).unwrap();
        fs::write(objects.join("info/alternates"), "/not/mounted/objects\n").unwrap();
    }),
];

fn truncate_object(object: &Path) {
    let half = fs::read(object).unwrap();
    fs::remove_file(object).unwrap();
    fs::write(object, &half[..half.len() / 2]).unwrap();
}

#[tokio::test]
async fn reading_a_damaged_repository_changes_nothing_and_reports_it_once() {
    for (name, damage) in DAMAGES {
        let home = Home::new();
        create_palace(&home).await;
        damage(&home);
        let before = git_files(&home);
        for command in READ_COMMANDS {
            let output = home.run_palazzo(command);
            assert!(output.status.code().is_some(), "{name}: {command:?}");
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            if command == ["check"] {
                assert_eq!(said.matches("error[repository]").count(), 1, "{name}: {said}");
                assert!(said.contains("is damaged"), "{name}: {said}");
            }
        }
        let mut agent = home.agent(MARCH_1).await;
        let page = agent.enter("keep").await;
        assert!(page.contains("Stone."), "{name}: {page}");
        for action in [0, 15, 18] {
            agent.choose(action).await;
        }
        agent.choose_with(17, "stone").await;
        assert!(git_files(&home) == before, "{name}");
        agent.disconnect().await;
    }
}

#[tokio::test]
async fn a_damaged_repository_is_not_written_to_until_it_is_repaired() {
    for (name, damage) in DAMAGES {
        let home = Home::new();
        create_palace(&home).await;
        let backup = home.path().join("../backup");
        let copy = |from: &Path, to: &Path| {
            let status = Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap();
            assert!(status.success());
        };
        copy(&home.path().join(".git"), &backup);
        damage(&home);
        let mut agent = home.agent(MARCH_1).await;
        agent.enter("keep").await;
        let before = git_files(&home);
        let said = write_scroll(&mut agent, "Lost").await;
        assert!(said.starts_with("refused: ") && said.contains("is damaged"), "{name}: {said}");
        assert!(git_files(&home) == before, "{name}");
        fs::remove_dir_all(home.path().join(".git")).unwrap();
        copy(&backup, &home.path().join(".git"));
        let said = write_scroll(&mut agent, "Found").await;
        assert!(!said.starts_with("refused: "), "{name}: {said}");
        agent.disconnect().await;
        home.assert_clean_repository();
    }
}

#[test]
fn git_gc_and_pack_refs_can_run_beside_a_writer() {
    let home = Home::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(create_palace(&home));
    let is_over = AtomicBool::new(false);
    let path = home.path();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for arguments in [&["gc", "-q", "--prune=now"][..], &["pack-refs", "--all"]] {
                    let mut git = Command::new("git");
                    home.isolate_environment(&mut git);
                    drop(git.arg("-C").arg(&path).args(arguments).output());
                }
            }
        });
        let write = async {
            let mut agent = home.agent(MARCH_1).await;
            agent.enter("keep").await;
            for number in 0..40 {
                let said = write_scroll(&mut agent, &format!("Number {number}")).await;
                assert!(!said.starts_with("refused: "), "{number}: {said}");
            }
            agent.disconnect().await;
        };
        let written =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.block_on(write)));
        is_over.store(true, Ordering::Relaxed);
        written.unwrap();
    });
    home.assert_clean_repository();
    assert_eq!(home.git(&["ls-files", "keep/scrolls"]).lines().count(), 40);
}

/// Git's locks that prevent a write, and others that do not.
const BLOCKING_LOCKS: [&str; 3] = ["index.lock", "HEAD.lock", "refs/heads/main.lock"];
const HARMLESS_LOCKS: [&str; 10] = [
    "packed-refs.lock",
    "packed-refs.new",
    "config.lock",
    "shallow.lock",
    "gc.pid",
    "gc.pid.lock",
    "logs/HEAD.lock",
    "objects/maintenance.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/pack/multi-pack-index.lock",
];

#[tokio::test]
async fn a_stale_git_lock_is_reported_and_removed_on_request() {
    for kind in ["fresh", "packed", "cloned"] {
        let home = Home::new();
        create_palace(&home).await;
        match kind {
            "packed" => drop(home.git(&["gc", "-q"])),
            "cloned" => {
                home.git(&["clone", "-q", ".", "../clone"]);
                fs::rename(home.path(), home.path().with_file_name("origin")).unwrap();
                fs::rename(home.path().with_file_name("clone"), home.path()).unwrap();
            }
            _ => {}
        }
        let mut agent = home.agent(MARCH_1).await;
        agent.enter("keep").await;
        for name in HARMLESS_LOCKS {
            leave_lock(&home, name);
        }
        let said = write_scroll(&mut agent, "Beside them").await;
        assert!(!said.starts_with("refused: "), "{kind}: {said}");
        for name in BLOCKING_LOCKS {
            let lock = leave_lock(&home, name);
            let said = write_scroll(&mut agent, "Lost").await;
            assert!(said.starts_with("refused: "), "{kind}, {name}: {said}");
            let removal = format!("palazzo doctor --remove-lock {}", lock.display());
            assert!(said.contains(&removal), "{kind}, {name}: {said}");
            assert!(lock.exists(), "{kind}, {name}");
            let check = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
            assert!(check.contains(&lock.display().to_string()), "{kind}, {name}: {check}");
            let doctor = ["doctor", "--remove-lock", lock.to_str().unwrap(), "--yes"];
            assert!(home.run_palazzo(&doctor).status.success(), "{kind}, {name}");
            let said = write_scroll(&mut agent, "Found").await;
            assert!(!said.starts_with("refused: "), "{kind}, {name}: {said}");
        }
        agent.disconnect().await;
        for name in HARMLESS_LOCKS {
            fs::remove_file(home.path().join(".git").join(name)).unwrap();
        }
        home.assert_clean_repository();
    }
}

/// Creates a lock file like a killed git.
fn leave_lock(home: &Home, name: &str) -> PathBuf {
    let lock = dunce::canonicalize(home.path()).unwrap().join(".git").join(name);
    fs::create_dir_all(lock.parent().unwrap()).unwrap();
    fs::write(&lock, "").unwrap();
    lock
}

const ADA_IDENTITY: [&str; 4] = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];

#[tokio::test]
async fn a_write_during_a_rebase_or_bisect_is_refused() {
    for (begin, end, operation) in [
        (&["bisect", "start"][..], &["bisect", "reset"][..], "git bisect"),
        (
            &["-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "-q", "-i", "HEAD~1"],
            &["rebase", "--abort"],
            "git rebase",
        ),
    ] {
        let home = Home::new();
        create_palace(&home).await;
        let mut agent = home.agent(MARCH_1).await;
        agent.enter("keep").await;
        home.git(&[&ADA_IDENTITY[..], begin].concat());
        let said = write_scroll(&mut agent, "Lost").await;
        let reason = format!("a {operation} is under way");
        assert!(said.starts_with("refused: ") && said.contains(&reason), "{said}");
        assert!(agent.enter("keep").await.contains(&reason));
        home.git(&[&ADA_IDENTITY[..], end].concat());
        assert!(!write_scroll(&mut agent, "Kept").await.starts_with("refused: "));
        assert!(!agent.enter("keep").await.contains("is under way"));
        agent.disconnect().await;
        home.assert_clean_repository();
    }
}

#[tokio::test]
async fn a_write_during_a_merge_survives_its_abort() {
    let home = Home::new();
    create_palace(&home).await;
    let git = |arguments: &[&str]| home.git(&[&ADA_IDENTITY[..], arguments].concat());
    git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    home.write("notes.md", "side\n");
    git(&["add", "notes.md"]);
    git(&["commit", "-qm", "side"]);
    git(&["checkout", "-q", "main"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("keep").await;
    git(&["merge", "-q", "--no-ff", "--no-commit", "side"]);
    let said = write_scroll(&mut agent, "Kept").await;
    assert!(!said.starts_with("refused: "), "{said}");
    git(&["merge", "--abort"]);
    agent.disconnect().await;
    home.assert_clean_repository();
    assert_eq!(home.git(&["ls-files", "keep/scrolls"]).lines().count(), 1);
}

#[tokio::test]
async fn a_write_on_a_detached_head_succeeds_with_a_warning() {
    let home = Home::new();
    create_palace(&home).await;
    home.git(&["checkout", "-q", "--detach"]);
    let mut agent = home.agent(MARCH_1).await;
    assert!(agent.enter("keep").await.contains("`HEAD` is detached"));
    let said = write_scroll(&mut agent, "Adrift").await;
    assert!(!said.starts_with("refused: "), "{said}");
    assert!(said.contains("Warning: `HEAD` is detached"), "{said}");
    agent.disconnect().await;
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_palace_that_lost_its_history_gets_a_new_one_only_on_request() {
    let home = Home::new();
    create_palace(&home).await;
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("keep").await;
    fs::remove_dir_all(home.path().join(".git")).unwrap();
    for _ in 0..2 {
        let said = write_scroll(&mut agent, "Alone").await;
        let remedy = format!("palazzo init --repository {}", home.path().display());
        assert!(said.starts_with("refused: ") && said.contains(&remedy), "{said}");
        assert!(!home.path().join(".git").exists());
        agent.disconnect().await;
        agent = home.agent(MARCH_1).await;
        assert!(agent.enter("keep").await.contains("Stone."));
    }
    let output = home.run_palazzo(&["init", "--repository"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(home.git(&["status", "--porcelain"]), "");
    assert!(!write_scroll(&mut agent, "Together").await.starts_with("refused: "));
    agent.disconnect().await;
    home.assert_clean_repository();
    assert_eq!(home.commit_count(), 2);
}

#[tokio::test]
async fn a_palace_that_lost_its_history_is_recognized_by_its_first_change() {
    let home = Home::new();
    home.run_palazzo(&["init", "keep"]);
    fs::remove_dir_all(home.path().join(".git")).unwrap();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("keep").await;
    let said = build_room(&mut agent, "hall", "Stone.").await;
    let remedy = format!("palazzo init --repository {}", home.path().display());
    assert!(said.starts_with("refused: ") && said.contains(&remedy), "{said}");
    agent.disconnect().await;
    assert_eq!(home.run_palazzo(&["init", "other"]).status.code(), Some(2));
    assert!(!home.path().join(".git").exists());
    // A palace that a person has written by hand never had a history.
    let by_hand = Home::new();
    by_hand.write("keep/palace.toml", "format = 1\nname = \"Keep\"\n");
    let mut agent = by_hand.agent(MARCH_1).await;
    agent.enter("keep").await;
    let entity = json!({ "entities": [{ "name": "Ivy", "genus": "Plant" }] });
    let said = agent.call("create_entities", entity).await;
    assert!(!said.starts_with("refused: "), "{said}");
    assert!(by_hand.path().join("keep/.palazzo").is_dir());
    agent.disconnect().await;
}

#[tokio::test]
async fn writing_to_a_moved_palace_creates_no_new_one() {
    let home = Home::new();
    create_palace(&home).await;
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("keep").await;
    fs::rename(home.path().join("keep"), home.path().join("moved")).unwrap();
    let said = write_scroll(&mut agent, "Nowhere").await;
    assert!(said.starts_with("refused: "), "{said}");
    assert!(!home.path().join("keep").exists());
    agent.disconnect().await;
}
