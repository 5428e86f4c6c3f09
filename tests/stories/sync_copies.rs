//! Copies that programs make which synchronize folders, and lock files of editors: the committed
//! file stands, and the copy is a finding that says what it is.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const PLAN: &str = "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-plan";
const NOTE: &str = "drawers/code/hall/01KJMPXF9069S44V81ASY1KY38-note";

const FILES: &[(&str, &str)] = &[
    ("palace.toml", "name = \"W\"\nentry = \"hall\"\n"),
    ("rooms/hall.yaml", "name: Hall\ndescription: Ours in the hall.\n"),
    ("entities/person/ada.yaml", "name: Ada\ngenus: Person\nobservations: [ours of Ada]\n"),
    ("entities/person/countess.yaml", "name: Eve\ngenus: Person\nobservations: [ours of Eve]\n"),
    ("genera/person.yaml", "name: Person\ndescription: Ours of the genus.\n"),
    ("tasks/01KJMPXF9069S44V81ASY1KY39.yaml", "title: Ours to do\nstatus: open\n"),
    (
        "processes/01KJMPXF9069S44V81ASY1KY3A.yaml",
        "name: Ours that runs\nsteps: [a, b]\nstatus: running\n",
    ),
];

fn write_palace(home: &Home) {
    for (path, text) in FILES {
        home.write(&format!("w/{path}"), text);
    }
    home.write(&format!("w/{PLAN}.md"), "---\ntitle: Plan\n---\n\nOurs of the plan.\n");
    home.write(&format!("w/{NOTE}.md"), "---\nwing: Code\nroom: hall\n---\n\nOurs of the note.\n");
}

/// Writes copies with the marks of a program, in which `ours` is `theirs`.
fn write_copies(home: &Home, mark: &str) -> Vec<String> {
    let mut copies = Vec::new();
    let files = FILES.iter().skip(1).map(|(path, _)| (*path).to_owned());
    for path in files.chain([format!("{PLAN}.md"), format!("{NOTE}.md")]) {
        let (stem, ending) = path.rsplit_once('.').unwrap();
        let copy = format!("{stem}{mark}.{ending}");
        let text = home.read(&format!("w/{path}")).replace("Ours", "Theirs");
        home.write(&format!("w/{copy}"), &text.replace("ours", "theirs"));
        copies.push(copy);
    }
    copies
}

/// Returns what an agent sees of the palace.
async fn everything_seen(home: &Home) -> String {
    let mut agent = home.agent(MARCH_1).await;
    let mut seen = agent.enter("w").await;
    for name in ["Ada", "Eve"] {
        seen += &agent.call("get_entity", json!({ "name": name })).await;
    }
    seen += &agent.call("list_tasks", json!({})).await;
    seen += &agent.call("list_genera", json!({})).await;
    seen += &agent.choose_with(17, "note").await;
    seen + &agent.choose_with(17, "plan").await
}

#[tokio::test]
async fn the_committed_files_stand_beside_their_copies() {
    for mark in [
        " 2",
        " (conflicted copy 2025-06-01)",
        "-DESKTOP-A1B2",
        ".sync-conflict-20250601-120000-ABC",
    ] {
        let home = Home::new();
        write_palace(&home);
        home.git(&["init", "-q"]);
        home.git(&["add", "-A"]);
        home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b.c", "commit", "-qm", "begin"]);
        let copies = write_copies(&home, mark);
        let seen = everything_seen(&home).await;
        for ours in [
            "Ours in the hall",
            "ours of Ada",
            "ours of Eve",
            "Ours to do",
            "Ours of the plan",
            "Ours of the note",
        ] {
            assert!(seen.contains(ours), "{mark}: {ours}: {seen}");
        }
        assert!(!seen.to_lowercase().contains("theirs"), "{mark}: {seen}");
        let check = home.run_palazzo(&["check"]);
        let report = String::from_utf8(check.stdout).unwrap();
        for copy in &copies {
            let line = report.lines().find(|it| it.contains(copy.as_str()));
            assert!(line.is_some_and(|it| it.contains("copy of")), "{copy}: {report}");
        }
        let fix = home.run_palazzo(&["check", "--fix"]);
        let fixed = String::from_utf8(fix.stdout).unwrap();
        assert!(!fixed.contains("fixed["), "{fixed}");
        for copy in &copies {
            assert!(home.path().join("w").join(copy).exists(), "{copy}");
        }
    }
}

#[tokio::test]
async fn a_committed_copy_stands_and_without_commit_the_canonical_name() {
    let home = Home::new();
    home.write("w/palace.toml", "name = \"W\"\n");
    home.write(
        "w/entities/person/eve 2.yaml",
        "name: Eve\ngenus: Person\nobservations: [committed]\n",
    );
    home.git(&["init", "-q"]);
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b.c", "commit", "-qm", "begin"]);
    home.write("w/entities/person/eve.yaml", "name: Eve\ngenus: Person\nobservations: [new]\n");
    home.write(
        "w/entities/person/bob 2.yaml",
        "name: Bob\ngenus: Person\nobservations: [copied]\n",
    );
    home.write(
        "w/entities/person/bob.yaml",
        "name: Bob\ngenus: Person\nobservations: [original]\n",
    );
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    assert!(agent.call("get_entity", json!({ "name": "Eve" })).await.contains("committed"));
    assert!(agent.call("get_entity", json!({ "name": "Bob" })).await.contains("original"));
}

#[tokio::test]
async fn a_copy_is_read_when_its_original_is_gone() {
    let home = Home::new();
    write_palace(&home);
    let copies = write_copies(&home, " (1)");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let task = copies.iter().find(|it| it.starts_with("tasks")).unwrap();
    assert!(!agent.call("list_tasks", json!({})).await.contains("Theirs"));
    std::fs::remove_file(home.path().join("w/tasks/01KJMPXF9069S44V81ASY1KY39.yaml")).unwrap();
    let mut tasks = agent.call("list_tasks", json!({})).await;
    while !tasks.contains("Theirs to do") {
        tasks = agent.call("list_tasks", json!({})).await;
    }
    let text = home.read(&format!("w/{task}"));
    home.write("w/tasks/01KJMPXF9069S44V81ASY1KY39.yaml", &text.replace("Theirs", "Ours again"));
    let tasks = agent.call("list_tasks", json!({})).await;
    assert!(tasks.contains("Ours again") && !tasks.contains("Theirs"), "{tasks}");
}

#[tokio::test]
async fn lock_files_of_editors_are_named_and_left_alone() {
    let home = Home::new();
    write_palace(&home);
    let locks = [
        "rooms/~$hall.yaml",
        "tasks/~$a.yaml",
        "entities/person/~$ada.yaml",
        "scrolls/hall/~$plan.md",
    ];
    let hidden = ["rooms/.hall.yaml.swp", "rooms/.~lock.hall.yaml#", "rooms/#hall.yaml#"];
    for lock in locks.iter().chain(&hidden) {
        home.write(&format!("w/{lock}"), "\u{1}Ada");
    }
    let report = String::from_utf8(home.run_palazzo(&["check", "--fix"]).stdout).unwrap();
    for lock in locks {
        let line = report.lines().find(|it| it.contains(lock));
        assert!(line.is_some_and(|it| it.contains("lock file")), "{lock}: {report}");
    }
    for lock in hidden {
        assert!(!report.contains(lock), "{lock}: {report}");
    }
    for lock in locks.iter().chain(&hidden) {
        assert_eq!(home.read(&format!("w/{lock}")), "\u{1}Ada");
    }
}

#[test]
fn a_file_whose_name_or_id_another_has_is_not_renamed() {
    let home = Home::new();
    write_palace(&home);
    let id = "01KJMPXF9069S44V81ASY1KY3B";
    home.write("w/rooms/crypt.yaml", &format!("name: Crypt\nid: {id}\ndescription: Dark.\n"));
    for (path, text) in [
        ("rooms/Great Hall.yaml", "name: Hall\n".to_owned()),
        ("rooms/Old Crypt.yaml", format!("name: Old Crypt\nid: {id}\n")),
        ("entities/person/lovelace.yml", "name: Ada\ngenus: Person\n".to_owned()),
        ("genera/people.yml", "name: Person\n".to_owned()),
        (
            "scrolls/hall/01KJMPXF9069S44V81ASY1KY37-other.markdown",
            "---\ntitle: Other\n---\n\nText.\n".to_owned(),
        ),
    ] {
        home.write(&format!("w/{path}"), &text);
        home.run_palazzo(&["check", "--fix"]);
        assert_eq!(home.read(&format!("w/{path}")), text, "{path}");
    }
    home.write("w/rooms/Wine Cellar.yaml", "name: Wine Cellar\n");
    home.run_palazzo(&["check", "--fix"]);
    assert_eq!(home.read("w/rooms/wine-cellar.yaml"), "name: Wine Cellar\n");
}
