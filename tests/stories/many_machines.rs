//! Four servers and a person with git who share a palace.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Home, MARCH_1};
use crate::raw_client::{RawClient, initialize_params};
use crate::sync::{ENTITY, Remote, assert_writable_and_clean, commit_all, head, sync};

/// The number of servers.
const SERVERS: usize = 4;
/// The number of changes.
const ROUNDS: usize = 200;
/// How often all machines are synchronized at the end, at most.
const MAX_PASSES: usize = 10;

/// A sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next_below(&mut self, limit: usize) -> usize {
        // The generator of Knuth's MMIX.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

fn start_server(home: &Home) -> RawClient {
    let mut command = home.palazzo_command(MARCH_1);
    command.env_remove("PALAZZO_NOW");
    command.args(["serve", "--tools", "palace,graph,sync", "--sync-idle-ms", "200"]);
    let mut client = Home::raw_client_for_command(command);
    client.request("initialize", initialize_params("2025-11-25"));
    client.send_notification("notifications/initialized");
    client.call("set_workspace", json!({ "workspace": "keep" }));
    client
}

/// Makes a change through a server; returns the text that it adds.
fn change(server: &mut RawClient, round: usize, kind: usize) -> String {
    let text = format!("Addition {round} by a server.");
    let answer = match kind {
        0 => {
            let scroll = json!({ "room": "hall", "title": format!("Note {round}"), "body": text });
            server.call("write_scroll", scroll)
        }
        1 => {
            let action =
                json!({ "label": format!("Look {round}"), "type": "text", "content": text });
            let room = json!({ "slug": "hall", "merge": true, "quiet": true, "actions": [action] });
            server.call("build_room", room)
        }
        2 => {
            let entity = json!({
                "name": format!("Mineral {round}"), "genus": "mineral", "observations": [text],
            });
            server.call("create_entities", json!({ "entities": [entity] }))
        }
        _ => {
            let change = json!({ "name": "Basalt", "add_observations": [text] });
            server.call("update_entity", change)
        }
    };
    assert!(!answer.starts_with("refused"), "{answer}");
    text
}

/// Makes a change by hand, commits it, and exchanges commits as far as git alone can; returns the
/// text that it adds.
fn change_by_hand(home: &Home, round: usize, kind: usize) -> String {
    let text = format!("Addition {round} by hand.");
    match kind {
        0 => {
            let id = format!("01KR{round:022}");
            let scroll = format!("---\nid: {id}\ntitle: By hand {round}\n---\n\n{text}\n");
            home.write(&format!("keep/scrolls/hall/{id}-by-hand.md"), &scroll);
        }
        _ => {
            let old = home.read(ENTITY);
            let new = old.replacen("observations:\n", &format!("observations:\n  - {text}\n"), 1);
            home.write(ENTITY, &new);
        }
    }
    home.git(&["add", "-A"]);
    home.git(&["commit", "-q", "-m", &text]);
    let merged = home.git_code_and_errors(&["pull", "-q", "--no-rebase", "--no-edit"]);
    if merged.0 != Some(0) {
        // What git cannot merge waits for `palazzo sync`.
        home.git_code_and_errors(&["merge", "--abort"]);
    }
    home.git_code_and_errors(&["push", "-q"]);
    text
}

/// Synchronizes all machines until they have the same commit.
fn sync_until_equal(homes: &[Home], remote: &Remote) {
    for _ in 0..MAX_PASSES {
        for home in homes {
            let (output, code) = sync(home, &[]);
            assert!(code < 2, "{output}");
        }
        let heads: BTreeSet<_> = homes.iter().map(head).chain([remote.tip()]).collect();
        if heads.len() == 1 {
            return;
        }
    }
    panic!("the machines have different commits after {MAX_PASSES} passes");
}

#[test]
fn after_two_hundred_changes_on_five_machines_all_have_everything() {
    let remote = Remote::with_palace();
    let homes: Vec<_> = (0..=SERVERS).map(|_| remote.machine()).collect();
    let (by_hand, with_servers) = homes.split_last().unwrap();
    let mut servers: Vec<_> = with_servers.iter().map(start_server).collect();
    let mut numbers = Numbers(14);
    let mut added = Vec::new();
    for round in 0..ROUNDS {
        let (who, kind) = (numbers.next_below(SERVERS + 1), numbers.next_below(4));
        match servers.get_mut(who) {
            Some(server) => added.push(change(server, round, kind)),
            None => added.push(change_by_hand(by_hand, round, kind)),
        }
        if let Some(server) = servers.get_mut(numbers.next_below(SERVERS * 4)) {
            let answer = server.call("sync_palace", json!({}));
            assert!(!answer.starts_with("refused"), "{answer}");
        }
    }
    for server in servers {
        // It may be merging on a busy machine.
        server.close_within(Duration::from_secs(20));
    }
    sync_until_equal(&homes, &remote);
    for home in &homes {
        assert_writable_and_clean(home);
    }
    assert_is_complete(by_hand, &added);
}

/// Fields, and how each value of a field begins.
#[cfg(unix)]
const FIELDS: [(&str, &str); 3] =
    [("status", "s"), ("attributes.height", "h"), ("attributes.depth", "d")];

/// Writes an entity with the values of `FIELDS`.
#[cfg(unix)]
fn write_values(home: &Home, values: &[String; 3]) {
    let [status, height, depth] = values;
    let text = format!(
        "name: Basalt\ngenus: mineral\nstatus: {status}\nattributes:\n  height: {height}\n  \
         depth: {depth}\nobservations:\n  - It is dark.\n"
    );
    home.write(ENTITY, &text);
}

/// Three machines change the same fields, and settle conflicts. Of their pushes, some are rejected
/// by a hook of the remote, and some find no remote: then a machine has merged what it could not
/// push, and others merge the same again.
#[cfg(unix)]
#[test]
fn conflicts_stay_whole_when_pushes_fail() {
    let remote = Remote::with_palace();
    let homes: Vec<_> = (0..3).map(|_| remote.machine()).collect();
    let mut numbers = Numbers(15);
    let away = remote.path().with_extension("away");
    for round in 0..40 {
        let home = &homes[numbers.next_below(3)];
        let values = FIELDS.map(|(_, letter)| format!("{letter}{}", numbers.next_below(4)));
        write_values(home, &values);
        commit_all(home, &format!("2026-02-02T12:{round:02}:00Z"), "change");
        match numbers.next_below(3) {
            0 => {
                remote.install_hook("pre-receive", "exit 1");
                sync(home, &[]);
                fs::remove_file(remote.path().join("hooks/pre-receive")).unwrap();
            }
            1 => {
                fs::rename(remote.path(), &away).unwrap();
                sync(home, &[]);
                fs::rename(&away, remote.path()).unwrap();
            }
            _ => {
                sync(home, &[]);
            }
        }
        assert_conflicts_are_whole(home);
    }
    sync_until_equal(&homes, &remote);
    for home in &homes {
        assert_conflicts_are_whole(home);
        assert_eq!(home.git_code_and_errors(&["fsck", "--strict"]).0, Some(0));
    }
}

/// Fails if a conflict is about the file of another, or has a value of another field.
#[cfg(unix)]
#[track_caller]
fn assert_conflicts_are_whole(home: &Home) {
    let folder = home.path().join("keep/conflicts");
    for file in fs::read_dir(folder).into_iter().flatten() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let value_of = |key: &str| text.lines().find_map(|it| it.strip_prefix(key));
        let field = value_of("field: ").unwrap();
        let (_, letter) = FIELDS.iter().find(|(name, _)| *name == field).expect(&text);
        for key in ["stands: ", "other: "] {
            assert!(value_of(key).is_none_or(|it| it.starts_with(letter)), "{text}");
        }
        assert!(
            text.contains(&format!("file: {}\n", ENTITY.trim_start_matches("keep/"))),
            "{text}"
        );
    }
    let output = home.run_palazzo(&["check", "--level", "error"]);
    assert!(output.status.success(), "{output:?}");
}

/// Fails if a text is missing in the palace of a machine, or git has complaints.
fn assert_is_complete(home: &Home, added: &[String]) {
    let mut grep = Command::new("grep");
    let found = grep.args(["-rh", "Addition"]).arg(home.path().join("keep")).output().unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    let missing: Vec<_> = added.iter().filter(|it| !found.contains(*it)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(home.git_code_and_errors(&["fsck", "--strict"]).0, Some(0));
}
