//! `palazzo doctor`: lock files that a killed git leaves behind.

use std::fs;

use crate::harness::Home;

/// Locks of every kind: of references, the index, objects, maintenance, and a worktree.
const LOCK_NAMES: [&str; 16] = [
    "HEAD.lock",
    "config.lock",
    "gc.pid",
    "gc.pid.lock",
    "index.lock",
    "logs/HEAD.lock",
    "logs/refs/heads/master.lock",
    "objects/info/commit-graph.lock",
    "objects/info/commit-graphs/commit-graph-chain.lock",
    "objects/maintenance.lock",
    "objects/pack/multi-pack-index.lock",
    "packed-refs.lock",
    "packed-refs.new",
    "refs/heads/master.lock",
    "shallow.lock",
    "worktrees/other/index.lock",
];

/// A home with a palace and a history.
fn home_with_palace() -> Home {
    let home = Home::new();
    assert!(home.run_palazzo(&["init", "keep"]).status.success());
    home
}

fn create_lock(home: &Home, lock: &str) -> String {
    let path = home.path().join(".git").join(lock);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "").unwrap();
    path.to_str().unwrap().to_owned()
}

fn run(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home.run_palazzo(arguments);
    let both = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(both).unwrap())
}

#[test]
fn check_reports_every_git_lock_with_the_command_that_removes_it() {
    let home = home_with_palace();
    for name in LOCK_NAMES {
        let path = create_lock(&home, name);
        let (code, checked) = run(&home, &["check"]);
        assert_eq!(code, Some(0), "{name}: {checked}");
        assert!(checked.contains("warning[git-lock]: a lock file of git: "), "{name}: {checked}");
        let command = format!("palazzo doctor --remove-lock {path}");
        assert!(checked.contains(&command), "{name}: {checked}");

        let (code, refused) = run(&home, &["doctor", "--remove-lock", &path]);
        assert_eq!(code, Some(2), "{name}: {refused}");
        assert!(refused.contains("--yes") && fs::exists(&path).unwrap(), "{name}: {refused}");
        let removed = run(&home, &["doctor", "--remove-lock", &path, "--yes"]);
        assert_eq!(removed, (Some(0), format!("removed {path}\n")), "{name}");
        assert!(!fs::exists(&path).unwrap(), "{name}");
        assert!(!run(&home, &["check"]).1.contains("git-lock"), "{name}");
    }
    home.assert_clean_repository();
}

#[test]
fn doctor_finds_the_palace_of_a_lock_from_any_folder() {
    let home = home_with_palace();
    let path = create_lock(&home, "index.lock");
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = home.palazzo_command("2026-03-01T12:00:00Z");
    let command = command.env_remove("PALAZZO_HOME").current_dir(elsewhere.path());
    let output = command.args(["doctor", "--remove-lock", &path, "--yes"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(!fs::exists(&path).unwrap());
}

#[test]
fn doctor_removes_only_git_locks() {
    let home = home_with_palace();
    create_lock(&home, "palazzo/lock");
    let outside = tempfile::NamedTempFile::with_suffix(".lock").unwrap();
    let inside = |it: &str| home.path().join(it).to_str().unwrap().to_owned();
    for path in [
        inside("keep/palace.toml"),
        inside(".git/HEAD"),
        inside(".git/index"),
        inside(".git/palazzo/lock"),
        outside.path().to_str().unwrap().to_owned(),
    ] {
        let (code, refused) = run(&home, &["doctor", "--remove-lock", &path, "--yes"]);
        assert_eq!(code, Some(2), "{refused}");
        assert!(refused.contains("is not a git lock file"), "{refused}");
        assert!(fs::exists(&path).unwrap());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_lock_held_by_a_running_process_is_shown_and_kept() {
    let home = home_with_palace();
    let path = create_lock(&home, "index.lock");
    let open = fs::File::open(&path).unwrap();
    let holder = format!("held by process {}", std::process::id());
    assert!(!run(&home, &["check"]).1.contains("git-lock"));
    assert!(run(&home, &["doctor"]).1.contains(&holder));
    let (code, refused) = run(&home, &["doctor", "--remove-lock", &path, "--yes"]);
    assert!(code == Some(2) && refused.contains(&holder), "{refused}");
    drop(open);
    assert!(run(&home, &["check"]).1.contains("git-lock"));
}

#[test]
fn doctor_shows_versions_repository_and_branch() {
    let home = home_with_palace();
    let (code, shown) = run(&home, &["doctor"]);
    assert_eq!(code, Some(0), "{shown}");
    let git_dir = dunce::canonicalize(home.path()).unwrap().join(".git");
    for part in [
        format!("palazzo {}", env!("CARGO_PKG_VERSION")),
        ", for palaces of format 1\n       to update: ".to_owned(),
        "\ngit version ".to_owned(),
        format!("repository {} (sha1, files)", git_dir.display()),
        "HEAD       branch ".to_owned(),
    ] {
        assert!(shown.contains(&part), "{part}: {shown}");
    }
    assert!(!shown.contains("lock file"), "{shown}");
    home.git(&["bisect", "start"]);
    assert!(run(&home, &["doctor"]).1.contains("under way  git bisect; end it with "));
    home.write("keep/palace.toml", "format = 2\nname = \"Keep\"\n");
    let shown = run(&home, &["doctor"]).1;
    assert!(
        shown.contains("  format     this palace has format 2, which needs a newer"),
        "{shown}"
    );
}
