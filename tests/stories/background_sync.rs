//! Servers that synchronize while a client is connected.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};
use crate::raw_client::{RawClient, initialize_params};
use crate::sync::{ENTITY, Remote, assert_writable_and_clean, head, observe, sync, write_script};

/// What takes longer has failed.
const DEADLINE: Duration = Duration::from_secs(60);
/// A call that waits for the network takes longer.
const QUICK: Duration = Duration::from_secs(10);
/// A server that pushes before it ends takes at most five seconds for that.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);
/// A server with short intervals.
const FAST: [&str; 2] = ["--sync-idle-ms", "50"];

/// Waits until a condition is true.
#[track_caller]
fn wait_until(what: &str, mut is_true: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_true() {
        assert!(started.elapsed() < DEADLINE, "waited for: {what}");
        std::thread::yield_now();
    }
}

/// Starts a server with the real time, and completes the handshake.
fn client(home: &Home, arguments: &[&str]) -> RawClient {
    client_for(home.palazzo_command(MARCH_1), arguments)
}

fn client_for(mut command: Command, arguments: &[&str]) -> RawClient {
    command.env_remove("PALAZZO_NOW").arg("serve").args(arguments);
    let mut client = Home::raw_client_for_command(command);
    client.request("initialize", initialize_params("2025-11-25"));
    client.send_notification("notifications/initialized");
    client
}

fn enter(client: &mut RawClient) -> String {
    client.call("set_workspace", json!({ "workspace": "keep" }))
}

fn new_mineral(name: &str) -> Value {
    json!({ "entities": [{ "name": name, "genus": "mineral" }] })
}

/// A git that logs each run, on the path of a command.
fn log_git(command: &mut Command, folder: &Path) -> std::path::PathBuf {
    let log = folder.join("git-runs");
    let real = Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let script = format!("echo \"$@\" >>'{}'; exec '{}' \"$@\"", log.display(), real.trim());
    write_script(&folder.join("bin/git"), &script);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", folder.join("bin").display()));
    log
}

/// A machine whose remote hangs; the script writes its process id to the returned file.
fn machine_with_hanging_remote(remote: &Remote) -> (Home, Command, std::path::PathBuf) {
    let home = remote.clone_to_machine();
    home.git(&["remote", "set-url", "origin", "ssh://git@example.org/keep.git"]);
    assert_eq!(sync(&home, &["--setup"]).1, 0);
    let (script, id_file) =
        (home.path().with_file_name("hang"), home.path().with_file_name("hanging"));
    write_script(&script, &format!("echo $$ >'{}'; exec sleep 600", id_file.display()));
    let mut command = home.palazzo_command(MARCH_1);
    command.env("GIT_SSH_COMMAND", script);
    (home, command, id_file)
}

/// Returns whether a process runs. A killed one may be listed until its new parent has noticed.
fn is_running(id_file: &Path) -> bool {
    let id = fs::read_to_string(id_file).unwrap();
    let state = Command::new("ps").args(["-o", "stat=", "-p", id.trim()]).output().unwrap();
    let state = String::from_utf8(state.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

#[tokio::test]
async fn two_servers_see_each_others_writes_without_a_command() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    let mut agents = [ada.agent_now(&FAST).await, ben.agent_now(&FAST).await];
    for agent in &mut agents {
        agent.enter("keep").await;
    }
    for (writer, name) in [(0, "Slate"), (1, "Chert")] {
        agents[writer].call("create_entities", new_mineral(name)).await;
        let started = Instant::now();
        loop {
            let seen = agents[1 - writer].call("get_entity", json!({ "name": name })).await;
            if !seen.starts_with("refused") {
                break;
            }
            assert!(started.elapsed() < DEADLINE, "{seen}");
        }
    }
    for agent in agents {
        agent.disconnect().await;
    }
    for home in [&ada, &ben] {
        assert_eq!(sync(home, &[]).1, 0);
        home.assert_clean_repository();
    }
    assert_eq!(sync(&ada, &[]).1, 0);
    assert_eq!(head(&ada), head(&ben));
    assert_eq!(remote.tip(), head(&ada));
}

#[test]
fn what_another_program_commits_is_pushed_and_described() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    let mut server = client(&ada, &FAST);
    enter(&mut server);
    observe(&ada, "2026-02-02T12:00:00Z", "It is hard.");
    wait_until("the push", || remote.tip() == head(&ada));
    let mut described = String::new();
    wait_until("the description", || {
        described = server.call("describe_workspace", json!({}));
        described.contains("Synced with origin/main just now.\n")
    });
    let exit = server.close_within(EXIT_TIMEOUT);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""), "{described}");
    assert_writable_and_clean(&ada);
}

#[test]
fn the_last_write_is_pushed_before_the_server_ends() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    let mut server = client(&ada, &[]);
    server.call("create_entities", new_mineral("Slate"));
    assert_eq!(server.close_within(EXIT_TIMEOUT).code, Some(0));
    assert_eq!(remote.tip(), head(&ada));
}

#[test]
fn no_call_waits_for_a_remote_that_hangs_and_git_ends_with_the_server() {
    let remote = Remote::with_palace();
    let (_home, command, id_file) = machine_with_hanging_remote(&remote);
    let mut server = client_for(command, &["--tools", "palace,graph,sync"]);
    enter(&mut server);
    wait_until("the fetch", || fs::read_to_string(&id_file).is_ok_and(|it| it.ends_with('\n')));
    let started = Instant::now();
    let sync = json!({ "name": "sync_palace", "arguments": {} });
    let waiting = server.send_request("tools/call", sync);
    for name in ["Slate", "Chert"] {
        assert!(server.call("create_entities", new_mineral(name)).contains(name));
        assert!(server.call("get_entity", json!({ "name": name })).contains(name));
    }
    assert!(started.elapsed() < QUICK);
    assert!(is_running(&id_file));
    server.terminate();
    let exit = server.close_within(EXIT_TIMEOUT);
    assert_eq!(exit.code, Some(0));
    assert!(exit.responses.iter().all(|it| it["id"] != waiting || it["result"]["isError"] == true));
    assert!(!is_running(&id_file));
}

#[test]
fn offline_is_told_once_in_a_visit() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    let away = remote.path().with_file_name("away");
    fs::rename(remote.path(), &away).unwrap();
    let mut server = client(&ada, &FAST);
    server.call("create_entities", new_mineral("Slate"));
    wait_until("the failure", || sync(&ada, &["--status"]).0.contains("failed since"));
    let first = enter(&mut server);
    assert!(first.contains("The remote was not reached since "), "{first}");
    assert!(first.contains("; 1 commit waits."), "{first}");
    let again = enter(&mut server);
    assert!(!again.contains("not reached"), "{again}");
    fs::rename(&away, remote.path()).unwrap();
    wait_until("the push", || remote.tip() == head(&ada));
    wait_until("the success", || !sync(&ada, &["--status"]).0.contains("failed since"));
    let exit = server.close_within(EXIT_TIMEOUT);
    assert_eq!((exit.code, exit.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_rejected_push_is_told_in_every_room_with_the_remedy() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    remote.install_hook("pre-receive", "echo 'GH006: protected branch update' >&2; exit 1");
    let mut server = client(&ada, &FAST);
    server.call("create_entities", new_mineral("Slate"));
    wait_until("the failure", || sync(&ada, &["--status"]).0.contains("failed since"));
    for _ in 0..2 {
        let page = enter(&mut server);
        assert!(page.contains("Sync is blocked since "), "{page}");
        assert!(page.contains("GH006: protected branch update"), "{page}");
        assert!(page.contains("git switch -c NAME"), "{page}");
    }
    let status = sync(&ada, &["--status", "--format", "json"]).0;
    assert!(status.contains("\"kind\": \"blocked\""), "{status}");
    assert_eq!(server.close_within(EXIT_TIMEOUT).code, Some(0));
}

#[test]
fn without_the_setup_no_git_process_is_started() {
    let remote = Remote::with_palace();
    let ada = remote.clone_to_machine();
    let mut runs = Vec::new();
    for is_set_up in [false, true] {
        if is_set_up {
            assert_eq!(sync(&ada, &["--setup"]).1, 0);
        }
        let mut command = ada.palazzo_command(MARCH_1);
        let log = log_git(&mut command, ada.path().parent().unwrap());
        let mut server = client_for(command, &FAST);
        let page = enter(&mut server);
        assert!(!page.contains("ync"), "{page}");
        server.call("create_entities", new_mineral(&format!("Slate {is_set_up}")));
        assert_eq!(server.close_within(EXIT_TIMEOUT).code, Some(0));
        runs.push(fs::read_to_string(log).unwrap_or_default().contains("fetch"));
    }
    assert_eq!(runs, [false, true]);
}

#[test]
fn the_tools_for_syncing_are_listed_while_sync_is_set_up() {
    let remote = Remote::with_palace();
    let ada = remote.clone_to_machine();
    let [mut server, mut explicit] =
        [&[][..], &["--tools", "palace,sync"]].map(|it| client(&ada, it));
    let count = |server: &mut RawClient| {
        let list = server.request("tools/list", json!({}));
        let tools = list["result"]["tools"].as_array().unwrap();
        tools.iter().filter(|it| it["name"] == "sync_palace" || it["name"] == "resolve").count()
    };
    assert_eq!([count(&mut server), count(&mut explicit)], [0, 2]);
    assert_eq!(sync(&ada, &["--setup"]).1, 0);
    assert_eq!([count(&mut server), count(&mut explicit)], [2, 2]);
    assert!(server.call("resolve", json!({})).contains("conflict"));
    let place = ada.path().display().to_string();
    assert!(ada.run_palazzo(&["trust", "--remove", &place]).status.success());
    assert_eq!([count(&mut server), count(&mut explicit)], [0, 2]);
}

#[test]
fn a_tool_syncs_now() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    observe(&ben, "2026-02-02T12:00:00Z", "It is hard.");
    let mut server = client(&ada, &["--tools", "palace,graph,sync"]);
    enter(&mut server);
    assert!(server.call("sync_palace", json!({})).starts_with("In sync with `main` of origin"));
    assert_eq!(sync(&ben, &[]).1, 0);
    server.call("create_entities", new_mineral("Slate"));
    let said = server.call("sync_palace", json!({}));
    assert!(said.contains("Merged 1 commit: 0 added, 1 changed, 0 deleted files.\n"), "{said}");
    assert!(said.contains("Pushed 2 commits.\n"), "{said}");
    assert!(ada.read(ENTITY).contains("It is hard."));
    assert_eq!(remote.tip(), head(&ada));
    assert_eq!(server.close_within(EXIT_TIMEOUT).code, Some(0));
}

#[test]
fn a_client_of_the_same_name_on_another_machine_is_somebody_else() {
    let remote = Remote::with_palace();
    let [ada, ben] = [remote.machine(), remote.machine()];
    ben.write_git_config(
        "[maintenance]\nauto = false\n[user]\nname = Ben\nemail = b@example.org\n",
    );
    let visit = |home: &Home, now: &str, name: &str| {
        let mut command = home.palazzo_command(now);
        command.env("PALAZZO_NOW", now).arg("serve");
        let mut client = Home::raw_client_for_command(command);
        client.request("initialize", initialize_params("2025-11-25"));
        client.send_notification("notifications/initialized");
        let page = enter(&mut client);
        client.call("create_entities", new_mineral(name));
        client.close_within(EXIT_TIMEOUT);
        page
    };
    visit(&ada, "2026-03-02T12:00:00Z", "Slate");
    assert_eq!(sync(&ben, &[]).1, 0);
    ada.write("keep/genera/mineral.yaml", "name: mineral\ndescription: Stones.\n");
    crate::sync::commit_all(&ada, "2026-03-02T13:00:00Z", "stones");
    // The other machine commits, and this one merges.
    visit(&ben, "2026-03-03T12:00:00Z", "Chert");
    assert_eq!(sync(&ada, &[]).1, 0);
    let page = visit(&ada, "2026-03-04T12:00:00Z", "Gneiss");
    assert!(page.contains("Changed since your last visit (2 days ago): 1 mineral\n"), "{page}");
    assert!(
        page.contains("Received by sync since then: 1 commit by \"claude of Ben\"\n"),
        "{page}"
    );
}
