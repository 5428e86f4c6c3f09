//! Drawers: texts filed by wing and room, opened during a walk, or put into their
//! folders by hand.

use std::process::Output;

use insta::assert_snapshot;

use crate::harness::{Home, MARCH_1};

const AUTH_FOLDER: &str = "w/drawers/wing_code/auth";

/// A palace with one built room, and drawers that a person has added.
fn write_drawers_by_hand(home: &Home) {
    home.run_palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    home.write(
        &format!("{AUTH_FOLDER}/01KJHSAPE0PJMA0HCKESTE6VY6-clerk.md"),
        "---\nwing: wing_code\nroom: auth\nsource: meeting.md\nby: ada\nfiled: 2026-02-26T12:00:00Z\n---\n\nWe chose Clerk. Auth0 had become dear.\n",
    );
    home.write(&format!("{AUTH_FOLDER}/2026-02-14-costs.md"), "Auth0 now costs 40 % more.\r\nSo.");
    home.write(&format!("{AUTH_FOLDER}/undated.md"), "Somebody's note.\n");
    home.write("w/drawers/team/auth/a.md", "---\nwing: Das Team\nfiled: 2026-01-01\n---\n\nUs.");
}

#[tokio::test]
async fn a_room_that_has_only_drawers_can_be_entered() {
    let home = Home::new();
    write_drawers_by_hand(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.choose(0).await;
    agent.take_transcript();
    agent.choose_with(16, "wing_code/auth").await;
    agent.choose(30).await;
    agent.choose(32).await;
    agent.choose(1).await;
    agent.choose(30).await;
    agent.choose(15).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn drawers_are_reached_by_map_search_and_a_room_of_the_same_name() {
    let home = Home::new();
    write_drawers_by_hand(&home);
    home.write("w/rooms/auth.yaml", "name: The Gatehouse\ndescription: Keys.\n");
    home.write("w/rooms/team/auth.yaml", "name: Guards\ndescription: Spears.\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    agent.choose(0).await;
    agent.choose_with(17, "became dear").await;
    agent.choose(31).await;
    agent.choose_with(16, "gatehouse").await;
    agent.choose_with(16, "the gatehouse").await;
    agent.choose(30).await;
    agent.choose_with(16, "das team/AUTH").await;
    let transcript = agent.take_transcript();
    let globals = |it: &&str| !it.starts_with("  0 map");
    assert_snapshot!(transcript.lines().filter(globals).collect::<Vec<_>>().join("\n"));
    let shown = home.run_palazzo(&["show", "wing_code/auth"]).stdout;
    assert!(String::from_utf8(shown).unwrap().starts_with("── auth ──\nA bare room"));
}

#[tokio::test]
async fn a_long_drawer_is_read_in_parts() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    let lines: Vec<_> = (0..2_000).map(|it| format!("Zeile {it}: schön lang\n")).collect();
    let lines = lines.concat();
    home.write("w/drawers/wing/hall/a.md", &lines);
    home.write("w/drawers/wing/hall/b.md", &"ü".repeat(30_000));
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.choose(30).await;
    for (number, whole) in [(32, lines), (31, "ü".repeat(30_000))] {
        let mut page = agent.choose(number).await;
        page = page.split_once(".\n\n").unwrap().1.to_owned();
        let mut read = String::new();
        while let Some((text, left)) = page.split_once("\nLeft to read: ") {
            assert!(left.contains(" characters; palace_action 13 continues.\n"), "{left}");
            read.push_str(text.trim_matches(['…', '\n']));
            read.push_str(if number == 32 { "\n" } else { "" });
            page = agent.choose(13).await;
        }
        let (text, _menu) = page.split_once("\nActions:").unwrap();
        read.push_str(text.trim_matches(['…', '\n']));
        assert!(read == whole.trim_end(), "{} of {} bytes", read.len(), whole.len());
        assert!(agent.choose(13).await.contains("no action 13"), "it has ended");
    }
}

#[tokio::test]
async fn choosing_again_lists_the_next_page_of_drawers() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    for it in 10..75 {
        home.write(&format!("w/drawers/a/hall/2025-12/20{it}-01-01.md"), &format!("Year {it}"));
    }
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let ends = |page: String| {
        let lines: Vec<_> =
            page.lines().take_while(|it| !it.is_empty()).map(str::to_owned).collect();
        [lines[1].clone(), lines[lines.len() - 1].clone()].join(" … ")
    };
    let mut pages = Vec::new();
    for _ in 0..4 {
        pages.push(ends(agent.choose(30).await));
    }
    assert_snapshot!(pages.join("\n"));
}

#[tokio::test]
async fn drawers_changed_by_git_appear_at_the_next_action() {
    let home = Home::new();
    write_drawers_by_hand(&home);
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "Texts"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    assert!(agent.choose(0).await.contains("4 drawers"));
    home.git(&["mv", &format!("{AUTH_FOLDER}/undated.md"), "w/drawers/team/auth/b.md"]);
    home.write(&format!("{AUTH_FOLDER}/2026-02-14-costs.md"), "Forty per cent.");
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qam", "Move"]);
    let map = agent.choose(0).await;
    assert!(
        map.contains("wing_code/auth) [2 drawers") && map.contains("team/auth) [2 drawers"),
        "{map}"
    );
    assert!(agent.choose_with(17, "forty").await.contains("31. costs (drawer"));
}

#[test]
fn check_reports_a_drawer_whose_room_differs_from_its_folder() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    home.write("w/drawers/code/new/2026-02-01.md", "---\nwing: code\nroom: auth\n---\nIt broke.\n");
    home.write("w/drawers/code/plain/2026-02-01.md", "It held.\n");
    let mut check = home.palazzo_command(MARCH_1);
    let told = check.current_dir(home.path()).args(["check", "w"]).output().unwrap();
    assert_snapshot!(String::from_utf8(told.stdout).unwrap(), @"
    w/drawers/code/new/2026-02-01.md:3:7: info[path-mismatch]: the folder is named `new`, but the room of this drawer is `auth`
      3 | room: auth
        |       ^
        = the front matter decides: to move the drawer, change its `room`, or remove that key
    ");
}

/// Notes of other programs, by path in a wing.
const FOREIGN_NOTES: &[(&str, &str)] = &[
    (
        "ideas/Coal seams.md",
        "---\nid: 202603011030\ntags:\n  - black\naliases: [Kohle]\ncssclasses: wide\n---\nThe obsidian one.\n",
    ),
    (
        "memory/iron.md",
        "---\ntitle: Iron\ntype: note\npermalink: memory/iron\ntags: [red]\n---\n\n# Iron\n\n- [fact] The basic one #ore\n- part_of [[Metals]]\n",
    ),
    (
        "pages/copper.md",
        "title:: Copper\nalias:: Kupfer\ndate:: [[Mar 1st, 2026]]\n\n- The logseq one\n",
    ),
    (
        "posts/2026-03-01-zinc-mine.md",
        "---\nlayout: post\ndate: 2026-03-01 10:00:00 +0100\ncategories: metal\n---\nThe jekyll one.\n",
    ),
    (
        "posts/tin.md",
        "+++\ntitle = \"Tin\"\ndate = 2026-03-01\n[taxonomies]\ntags = [\"soft\"]\n+++\nThe hugo one.\n",
    ),
    ("odd/lead.md", "---\ntitle: Lead: a {{life}}\n\tbad: [unclosed\n---\nThe broken one.\n"),
    (
        "odd/gold.md",
        "---\nwing: [a, b]\nsource: {x: y}\nfiled: never\nmood: fine\n---\nThe strange one.\n",
    ),
];

/// Words in the notes, their tags and aliases, and the titles of the notes.
const FOREIGN_WORDS: &[(&str, &str)] = &[
    ("obsidian", "Coal seams"),
    ("Kohle", "Coal seams"),
    ("basic", "Iron"),
    ("logseq", "Copper"),
    ("Kupfer", "Copper"),
    ("jekyll", "zinc mine"),
    ("hugo", "Tin"),
    ("broken", "Lead: a {{life}}"),
    ("strange", "gold"),
];

#[test]
fn notes_of_other_programs_are_drawers_and_stay_as_they_are() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    for (name, text) in FOREIGN_NOTES {
        home.write(&format!("w/drawers/vault/{name}"), text);
    }
    let run = |arguments: &[&str]| {
        let output =
            home.palazzo_command(MARCH_1).current_dir(home.path()).args(arguments).output();
        let output = output.unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (code, said) = run(&["check", "w"]);
    assert_eq!(
        (code, said.trim_end()),
        (Some(0), "1 palace, 0 rooms, 0 scrolls, 0 entities, 7 drawers: 0 errors")
    );
    for (words, title) in FOREIGN_WORDS {
        let (code, said) = run(&["search", words]);
        assert!(code == Some(0) && said.contains(title), "{words}: {said}");
    }
    run(&["fmt", "w"]);
    run(&["check", "--fix", "w"]);
    for (name, text) in FOREIGN_NOTES {
        assert_eq!(home.read(&format!("w/drawers/vault/{name}")), *text);
    }
}

/// Notes of a vault: paths below `drawers/`, and texts.
const VAULT: [(&str, &str); 9] = [
    ("My Vault/Daily Notes/2026-03-01.md", "Greywacke below the shaft.\n"),
    ("my-vault/daily-notes/2026-03-01.md", "Basalt beside the shaft.\n"),
    ("My Vault/Daily Notes/old/2019/Tin.md", "---\ntags: [ore]\n---\nCassiterite.\n"),
    ("My Vault/Reading list.md", "Lyell's Principles.\n"),
    ("Inbox.md", "Ask for the lamp oil.\n"),
    ("地質/Dach & Fach/a.md", "---\ntitle: Slate\n---\nRoofs.\n"),
    ("Deep/1/2/3/4/5/6/7/8/9/Shaft.md", "Pumps.\n"),
    ("Old/Notes/Ropes.markdown", "Hemp.\n"),
    ("Old/Notes/LADDERS.MD", "Rungs.\n"),
];

#[test]
fn the_notes_of_a_vault_are_drawers_whatever_its_folders_are_called() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    for (path, text) in VAULT {
        home.write(&format!("w/drawers/{path}"), text);
    }
    let run = |arguments: &[&str]| {
        let mut command = home.palazzo_command(MARCH_1);
        let output = command.current_dir(home.path()).args(arguments).output();
        let Output { status, stdout, stderr } = output.unwrap();
        (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
    };
    let clean = "1 palace, 0 rooms, 0 scrolls, 0 entities, 9 drawers: 0 errors\n";
    assert_eq!(run(&["check", "w"]), (Some(0), clean.to_owned()));
    for (word, place) in [
        ("greywacke", "my-vault/daily-notes"),
        ("basalt", "my-vault/daily-notes"),
        ("cassiterite", "my-vault/daily-notes"),
        ("lyell", "my-vault/notes"),
        ("lamp", "notes/notes"),
        ("roofs", "di-zhi/dach-fach"),
        ("pumps", "deep/1"),
        ("hemp", "old/notes"),
        ("rungs", "old/notes"),
    ] {
        let (code, said) = run(&["search", word]);
        assert!(code == Some(0) && said.contains(&format!("drawer in {place}")), "{word}: {said}");
    }
    run(&["fmt", "w"]);
    assert_eq!(run(&["check", "--fix", "w"]).0, Some(0));
    for (path, text) in VAULT {
        assert_eq!(home.read(&format!("w/drawers/{path}")), text);
    }
    home.run_palazzo(&["mv", "old/", "former"]);
    assert_eq!(home.read("w/drawers/former/notes/Ropes.markdown"), "Hemp.\n");
    let shown = run(&["show", "drawers/Deep/1/2/3/4/5/6/7/8/9/Shaft.md"]);
    assert!(shown.1.contains("Pumps."), "{shown:?}");
}

#[test]
fn the_wing_and_room_in_a_note_are_those_of_no_other_note() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    home.write("w/drawers/vault/ideas/a.md", "---\nwing: Other\nroom: Elsewhere\n---\nBlack.\n");
    home.write("w/drawers/vault/ideas/b.md", "Grey.\n");
    home.write("w/drawers/vault/log/c.md", "Red.\n");
    for (word, place) in
        [("black", "Other/Elsewhere"), ("grey", "vault/ideas"), ("red", "vault/log")]
    {
        let found = String::from_utf8(home.run_palazzo(&["search", word]).stdout).unwrap();
        assert!(found.contains(&format!("drawer in {place}")), "{found}");
    }
}

#[test]
fn the_notes_of_a_vault_move_with_their_wing_and_none_is_lost() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    for (path, text) in &VAULT[..4] {
        home.write(&format!("w/drawers/{path}"), text);
    }
    let refused = home.run_palazzo(&["mv", "my-vault/", "journal"]);
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("there is a file `drawers/journal/daily-notes/2026-03-01.md`"), "{why}");
    for (path, text) in &VAULT[..4] {
        assert_eq!(home.read(&format!("w/drawers/{path}")), *text);
    }
    let drawers = home.path().join("w/drawers");
    let other = drawers.join("my-vault/daily-notes/2026-03-01.md");
    std::fs::rename(other, drawers.join("other.md")).unwrap();
    let moved = home.run_palazzo(&["mv", "my-vault/", "journal"]);
    assert!(moved.status.success(), "{moved:?}");
    let new = ["daily-notes/2026-03-01.md", "daily-notes/old/2019/Tin.md", "notes/Reading list.md"];
    for (path, (_, text)) in new.iter().zip([VAULT[0], VAULT[2], VAULT[3]]) {
        assert_eq!(home.read(&format!("w/drawers/journal/{path}")), text);
    }
    assert_eq!(home.read("w/drawers/other.md"), VAULT[1].1);
}

#[test]
fn a_note_of_another_program_keeps_its_front_matter_when_it_is_moved() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    let note = "---\ntags: [black]\ncreated: 2026-02-01\n---\nCoal.\n";
    home.write("w/drawers/vault/ideas/Coal seams.md", note);
    let moved = home.run_palazzo(&["mv", "drawers/vault/ideas/Coal seams.md", "vault/mine"]);
    assert!(moved.status.success(), "{moved:?}");
    assert_eq!(home.read("w/drawers/vault/mine/Coal seams.md"), note);
    let moved = home.run_palazzo(&["mv", "drawers/vault/mine/Coal seams.md", "vault/Große Grube"]);
    assert!(moved.status.success(), "{moved:?}");
    let text = home.read("w/drawers/vault/grosse-grube/Coal seams.md");
    assert!(text.starts_with("---\n") && text.ends_with(note), "{text}");
}
