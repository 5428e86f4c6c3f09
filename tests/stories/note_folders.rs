//! Folders of Markdown files that are read in place: vaults of Obsidian, Logseq and others. Their
//! notes are drawers of a wing, and no program of ours changes them.

use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};
use crate::sync::{Remote, commit_all, head, sync};

const FEBRUARY: &str = "2026-02-01T12:00:00Z";

/// A vault with the notations of several programs, and a palace in the same repository.
fn write_vault(home: &Home) {
    for (path, text) in [
        (
            "notes/Ideas/Coal.md",
            "---\ntags: [fuel]\naliases: [Kohle]\n---\n# Coal\n\nMakes [[Iron|the metal]] on \
             [[Daily Notes/2026-03-01]]. See [[Great Hall]], [[Tin]], [[Nobody]].\n\n![[Iron#Ore]]\n",
        ),
        ("notes/Ideas/Iron.md", "# Iron\n\nFrom [coal](./Coal.md#use), not [gone](Gone.md).\n"),
        ("notes/Old/Iron.md", "# Old iron\n\nRusty. [[Iron]]\n"),
        ("notes/Daily Notes/2026-03-01.md", "Read on [[Kohle]].\n"),
        ("notes/pages/Metal___Zinc.md", "alias:: Zn\n\n- Zinc is in [[Ideas/Iron]].\n"),
        ("notes/index.md", "Begin with [[Coal]].\n"),
        ("notes/.obsidian/plugins/readme.md", "Not a note.\n"),
        ("notes/node_modules/x/README.md", "Ignored by git.\n"),
        ("notes/picture.png", "no text"),
        (".gitignore", "node_modules/\n"),
        ("w/palace.toml", "name = \"W\"\n\n[[folder]]\npath = \"../notes\"\nwing = \"vault\"\n"),
        ("w/rooms/hall.yaml", "name: Great Hall\ndescription: Stone.\n"),
        ("w/entities/metal/tin.yaml", "name: Tin\ngenus: Metal\n"),
    ] {
        home.write(path, text);
    }
    home.git(&["init", "-q", "-b", "main"]);
    home.write_git_config(
        "[user]\nname = Ada\nemail = ada@example.org\n[maintenance]\nauto = false\n",
    );
    commit_all(home, FEBRUARY, "vault");
}

/// Returns what a command prints, and its exit code.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    let code = output.status.code().unwrap();
    let text = (out + &err).replace(&home.path().display().to_string(), "HOME");
    if code == 0 { text } else { format!("{text}exit code {code}\n") }
}

/// Returns the files below a folder with their contents.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let place = entry.unwrap().path();
        match place.is_dir() {
            true => files.extend(contents(&place)),
            false => files.push((place.clone(), fs::read(&place).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn a_vault_is_a_wing_of_the_palace_and_nothing_in_it_changes() {
    let home = Home::new();
    write_vault(&home);
    let before = contents(&home.path().join("notes"));
    assert_snapshot!(run(&home, &["check"]));
    assert_snapshot!(run(&home, &["map"]));
    assert_snapshot!(run(&home, &["search", "rusty"]));
    assert_snapshot!(run(&home, &["show", "Coal"]));
    assert_snapshot!(run(&home, &["show", "Tin"]));
    assert_snapshot!(run(&home, &["log", "notes/Ideas/Coal.md"]));
    assert_eq!(run(&home, &["show", "../notes/index.md"]), run(&home, &["show", "notes/index.md"]));
    assert_eq!(contents(&home.path().join("notes")), before);
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_visitor_walks_along_the_links_of_notes() {
    let home = Home::new();
    write_vault(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.choose(31).await;
    agent.choose(34).await;
    agent.choose_with(16, "vault/ideas").await;
    agent.choose(30).await;
    agent.choose_with(17, "rusty").await;
    agent.choose(31).await;
    assert_snapshot!(agent.take_transcript());
    home.assert_clean_repository();
}

async fn search(agent: &mut Agent, words: &str) -> String {
    agent.choose_with(17, words).await
}

#[tokio::test]
async fn what_another_program_saves_is_seen_at_the_next_call() {
    let home = Home::new();
    write_vault(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    for round in 0..10 {
        home.write("notes/Ideas/Iron.md", &format!("Zebra {round}.\n"));
        assert!(search(&mut agent, &format!("zebra {round}")).await.contains("vault/ideas"));
        home.write(&format!("notes/New {round}/deep/a.md"), &format!("Heron {round}.\n"));
        let seen = search(&mut agent, &format!("heron {round}")).await;
        assert!(seen.contains(&format!("vault/new-{round}")), "{seen}");
        home.write(&format!("notes/New {round}/deep/b.md"), &format!("Ibis {round}.\n"));
        assert!(search(&mut agent, &format!("ibis {round}")).await.contains("Ibis"));
    }
    fs::remove_dir_all(home.path().join("notes/Old")).unwrap();
    agent.enter_until("w", "25 drawers").await;
    // Another folder, and then none.
    home.write("wiki/a.md", "Gannet.\n");
    home.write("w/palace.toml", "name = \"W\"\n[[folder]]\npath = \"../wiki\"\nwing = \"wiki\"\n");
    assert!(search(&mut agent, "gannet").await.contains("wiki/wiki"));
    assert!(!search(&mut agent, "zebra").await.contains("Zebra"));
    home.write("wiki/b.md", "Puffin.\n");
    assert!(search(&mut agent, "puffin").await.contains("wiki/wiki"));
    home.write("w/palace.toml", "name = \"W\"\n");
    assert!(!search(&mut agent, "gannet").await.contains("Gannet"));
}

#[tokio::test]
async fn no_tool_or_command_changes_a_note() {
    let home = Home::new();
    write_vault(&home);
    let before = contents(&home.path().join("notes"));
    let commits = home.commit_count();
    for arguments in [
        &["mv", "Coal", "vault/attic"][..],
        &["rm", "Coal"],
        &["rm", "notes/Ideas/Coal.md"],
        &["mv", "vault", "safe"],
        &["fmt"],
        &["check", "--fix"],
        &["mv", "Tin", "Pewter"],
        &["mv", "hall", "lobby"],
    ] {
        run(&home, arguments);
    }
    assert_snapshot!(run(&home, &["rm", "Coal"]));
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let room = json!({ "slug": "vault/ideas", "name": "Ideas", "description": "Papers." });
    agent.call("build_room", room).await;
    agent.call("build_room", json!({ "slug": "vault/ideas", "delete": true })).await;
    assert_eq!(contents(&home.path().join("notes")), before);
    let changed = home.git(&["log", "--format=", "--name-only", "main"]);
    let notes = changed.lines().filter(|it| it.starts_with("notes/")).count();
    assert_eq!(notes, 8, "only the first commit has notes: {changed}");
    assert!(home.commit_count() > commits, "what is no note was changed");
}

#[test]
fn the_past_of_notes_is_that_of_git() {
    let home = Home::new();
    write_vault(&home);
    home.write("notes/Ideas/Coal.md", "# Coal\n\nWhite.\n");
    fs::remove_file(home.path().join("notes/Old/Iron.md")).unwrap();
    commit_all(&home, "2026-02-10T12:00:00Z", "bleach");
    home.write("notes/Ideas/Coal.md", "# Coal\n\nGrey.\n");
    assert_snapshot!(run(&home, &["diff"]));
    assert_snapshot!(run(&home, &["diff", "HEAD~1", "HEAD"]));
    assert!(run(&home, &["show", "Coal", "--at", "HEAD"]).contains("White."));
    assert!(run(&home, &["show", "Coal", "--at", "HEAD~1"]).contains("fuel"));
    assert!(run(&home, &["show", "Old iron", "--at", "HEAD~1"]).contains("Rusty."));
    assert_snapshot!(run(&home, &["log"]));
    assert_snapshot!(run(&home, &["blame", "notes/Ideas/Coal.md"]));
}

#[test]
fn a_folder_that_cannot_be_read_is_reported() {
    let home = Home::new();
    write_vault(&home);
    let outside = home.path().join("../outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.md"), "Secret.\n").unwrap();
    home.write("nested/.git/HEAD", "ref: refs/heads/main\n");
    home.write("nested/a.md", "Nested.\n");
    home.write("nested/docs/a.md", "Secret.\n");
    home.write("other/palace.toml", "name = \"Other\"\n");
    home.write("other/docs/a.md", "Secret.\n");
    home.write("notes/large.md", &"x".repeat(1024 * 1024 + 1));
    fs::write(home.path().join("notes/latin.md"), b"gr\xfcn\n").unwrap();
    let folders = [
        "../../outside",
        "../missing",
        "../nested",
        "../nested/docs",
        "../notes",
        "../other/docs",
        "../w/rooms",
    ];
    let folders: Vec<_> = folders
        .iter()
        .zip('a'..)
        .map(|(path, wing)| format!("[[folder]]\npath = \"{path}\"\nwing = \"{wing}\"\n"))
        .collect();
    home.write("w/palace.toml", &format!("name = \"W\"\n{}", folders.concat()));
    assert_snapshot!(run(&home, &["check", "--level", "warning"]));
    assert!(!run(&home, &["search", "secret"]).contains("Secret."));
}

#[cfg(unix)]
#[test]
fn no_link_leads_out_of_a_folder() {
    let home = Home::new();
    write_vault(&home);
    let outside = home.path().join("../outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("secret.md"), "Secret.\n").unwrap();
    let link = |to: &Path, at: &str| std::os::unix::fs::symlink(to, home.path().join(at)).unwrap();
    link(&outside, "notes/out");
    link(&outside.join("secret.md"), "notes/secret.md");
    link(&home.path().join("notes"), "linked");
    home.write("w/palace.toml", "name = \"W\"\n[[folder]]\npath = \"../linked\"\nwing = \"l\"\n");
    assert_snapshot!(run(&home, &["check", "--level", "warning"]));
    home.write("w/palace.toml", "name = \"W\"\n[[folder]]\npath = \"../notes\"\nwing = \"l\"\n");
    assert_snapshot!(run(&home, &["check", "--level", "warning"]));
    assert!(!run(&home, &["search", "secret"]).contains("Secret."));
    // A note that becomes a link is not read either.
    fs::remove_file(home.path().join("notes/index.md")).unwrap();
    link(&outside.join("secret.md"), "notes/index.md");
    assert!(!run(&home, &["show", "notes/index.md"]).contains("Secret."));
}

#[test]
fn a_palace_may_lie_in_the_vault_and_a_vault_in_the_palace() {
    let home = Home::new();
    home.write("palace.toml", "name = \"W\"\n[[folder]]\npath = \".\"\nwing = \"vault\"\n");
    home.git(&["init", "-q", "-b", "main"]);
    home.write("rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    home.write("scrolls/hall/a.md", "---\ntitle: A\nwritten: 2026-01-01\n---\n\nNo note.\n");
    home.write("a.md", "Heron.\n");
    home.write("Log/b.md", "Ibis.\n");
    home.write("other/palace.toml", "name = \"Other\"\n");
    home.write("other/scrolls/x/c.md", "Of another palace.\n");
    let map = run(&home, &["map"]);
    assert!(map.contains("2 drawers") && map.contains("vault/log"), "{map}");
    let patterns = "patterns = [\"!Log\"]\n";
    let settings = home.read("palace.toml") + patterns;
    home.write("palace.toml", &settings);
    assert!(run(&home, &["map"]).contains("1 drawer"));
}

#[test]
fn a_template_takes_over_no_folders() {
    let home = Home::new();
    write_vault(&home);
    let template = home.path().join("w").display().to_string();
    let said = run(&home, &["init", "new", "--template", &template]);
    assert!(home.read("new/palace.toml").contains("name = \"new\""), "{said}");
    assert!(!home.read("new/palace.toml").contains("folder"));
    assert!(run(&home, &["show", "hall", "--workspace", "new"]).contains("Stone."));
}

#[test]
fn a_sync_carries_notes_and_stops_where_both_sides_changed_one() {
    let remote = Remote::with_palace();
    let first = remote.clone_to_machine();
    first.write("notes/a.md", "One.\n");
    first.write("notes/b.md", "Two.\n");
    let settings = "name = \"Keep\"\n[[folder]]\npath = \"../notes\"\nwing = \"vault\"\n";
    first.write("keep/palace.toml", settings);
    commit_all(&first, FEBRUARY, "notes");
    first.git(&["push", "-q"]);
    let [ada, ben] = [remote.machine(), remote.machine()];
    ada.write("notes/a.md", "One of Ada.\n");
    commit_all(&ada, "2026-02-02T12:00:00Z", "a");
    ben.write("notes/b.md", "Two of Ben.\n");
    commit_all(&ben, "2026-02-03T12:00:00Z", "b");
    assert_eq!(sync(&ada, &[]).1, 0);
    assert_eq!(sync(&ben, &[]).1, 0);
    assert_eq!(sync(&ada, &[]).1, 0);
    assert_eq!((ada.read("notes/b.md"), head(&ada)), ("Two of Ben.\n".to_owned(), head(&ben)));
    ada.write("notes/a.md", "Again of Ada.\n");
    commit_all(&ada, "2026-02-04T12:00:00Z", "a");
    ben.write("notes/a.md", "Again of Ben.\n");
    commit_all(&ben, "2026-02-05T12:00:00Z", "a");
    assert_eq!(sync(&ada, &[]).1, 0);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 2, "{said}");
    assert_snapshot!(said);
    assert_eq!(ben.read("notes/a.md"), "Again of Ben.\n");
}

#[test]
fn a_folder_that_a_remote_adds_needs_a_person() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let settings = "name = \"Keep\"\n[[folder]]\npath = \"..\"\nwing = \"all\"\n";
    ada.write("keep/palace.toml", settings);
    commit_all(&ada, FEBRUARY, "widen");
    ada.git(&["push", "-q"]);
    let (said, code) = sync(&ben, &[]);
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("a folder of notes that is not set here, `..` in keep/palace.toml"),
        "{said}"
    );
    ben.git(&["pull", "-q"]);
    assert_eq!(sync(&ben, &[]).1, 0);
}
