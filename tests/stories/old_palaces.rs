//! Palaces as the version of 26 November 2026 wrote them: this version reads them without a write,
//! shows what they hold, and fixes what `check --fix` promises.
//!
//! `tests/old-palaces/2026-11-26/README.md` describes the streams.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::{Value, json};
use walkdir::{DirEntry, WalkDir};

use crate::harness::{Home, MARCH_1};
use crate::sync::{Remote, head, sync};

const FOLDER: &str = "tests/old-palaces/2026-11-26";
const USER_CONFIG: &str =
    "[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@example.org\n";

/// The content of a file and the time of its last change; nothing for a folder.
type FileState = Option<(Vec<u8>, SystemTime)>;

/// Returns the home whose repository is in the stream `name`, with its files checked out.
fn home_from_stream(name: &str) -> Home {
    let home = Home::new();
    home.write_git_config(USER_CONFIG);
    fs::create_dir_all(home.path()).unwrap();
    home.git(&["init", "-q", "-b", "main"]);
    home.git_fast_import(&read_fixture(&format!("{name}.stream")));
    home
}

fn read_fixture(path: &str) -> String {
    fs::read_to_string(Path::new(FOLDER).join(path)).unwrap()
}

/// Copies the files of a folder of the fixtures to the home.
fn copy_fixtures(home: &Home, from: &str, to: &str) {
    let from = Path::new(FOLDER).join(from);
    let files = WalkDir::new(&from).into_iter().map(Result::unwrap);
    for file in files.filter(|it| it.file_type().is_file()) {
        let path = file.path().strip_prefix(&from).unwrap().display().to_string();
        home.write(&format!("{to}{path}"), &fs::read_to_string(file.path()).unwrap());
    }
}

/// Returns the home with all kinds of items, with an uncommitted edit, and with the proposal as
/// `.git/palazzo` knows it.
fn home_of_lighthouse() -> Home {
    let home = home_from_stream("home");
    copy_fixtures(&home, "home.uncommitted", "");
    copy_fixtures(&home, "home.git-palazzo", ".git/palazzo/");
    home
}

/// Runs a command, and returns both output streams and the exit code.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let [out, err] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    let text = (out + &err).replace(&home.path().display().to_string(), "HOME");
    format!("{text}exit {}", output.status.code().unwrap())
}

/// Runs commands, and returns each with its output.
fn story(home: &Home, commands: &[&[&str]]) -> String {
    let runs = commands.iter().map(|it| format!("$ {}\n{}\n", it.join(" "), run(home, it)));
    runs.collect::<Vec<_>>().join("\n")
}

/// Returns the lines of an output that begin with a path or a count, without excerpts and hints.
fn without_excerpts(output: &str) -> String {
    let lines = output.lines().filter(|it| !it.starts_with(' '));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the state of every file and folder below the home, that of git included. Only the caches
/// are left out, which anybody may delete.
fn file_states(home: &Home) -> BTreeMap<PathBuf, FileState> {
    let is_cache = |it: &DirEntry| it.path().ends_with(".git/palazzo/cache");
    let entries = WalkDir::new(home.path()).into_iter().filter_entry(move |it| !is_cache(it));
    let state = |it: DirEntry| {
        let changed_at = || it.metadata().unwrap().modified().unwrap();
        let state = it.file_type().is_file().then(|| (fs::read(it.path()).unwrap(), changed_at()));
        (it.into_path(), state)
    };
    // The folder of the caches is made with the first of them.
    let entries = entries.map(Result::unwrap).filter(|it| !it.path().ends_with(".git/palazzo"));
    entries.map(state).collect()
}

/// Runs `read`, and fails if a file below the home is another one afterwards.
#[track_caller]
fn assert_unchanged_by<T>(home: &Home, what: &str, read: impl FnOnce() -> T) -> T {
    let before = file_states(home);
    let result = read();
    let after = file_states(home);
    let paths = before.keys().chain(after.keys());
    let changed: Vec<_> = paths.filter(|it| before.get(*it) != after.get(*it)).collect();
    assert!(changed.is_empty(), "{what} has changed {changed:?}");
    result
}

/// Commands that only read, in any palace.
const READ_COMMANDS: [&[&str]; 36] = [
    &["blame", "ENTRY"],
    &["blame", "ENTITY", "--format", "json"],
    &["check"],
    &["check", "--format", "github"],
    &["check", "--format", "json"],
    &["check", "--format", "sarif"],
    &["conflicts"],
    &["conflicts", "--format", "json"],
    &["diff"],
    &["diff", "--text"],
    &["diff", "2026-02-20", "--format", "json"],
    &["diff", "HEAD~1..HEAD", "--format", "markdown"],
    &["doctor"],
    &["doctor", "--format", "json"],
    &["export", "memory"],
    &["fmt", "--check"],
    &["fmt", "--diff"],
    &["locate", "wind"],
    &["log"],
    &["log", "ENTRY", "--format", "json"],
    &["map"],
    &["map", "--format", "json"],
    &["map", "--svg", "-"],
    &["mv", "ENTITY", "Another name", "--dry-run"],
    &["proposals"],
    &["restore", "ENTRY", "--to", "HEAD~1", "--dry-run"],
    &["rm", "ENTITY", "--dry-run"],
    &["search", "the", "old", "crack"],
    &["search", "door", "--kind", "room", "--format", "json"],
    &["show"],
    &["show", "ENTRY", "--at", "HEAD~1"],
    &["show", "ENTITY", "--format", "json"],
    &["undo", "--dry-run"],
    &["view", "--out", "-"],
    &["wake-up"],
    &["wake-up", "--format", "json"],
];

/// Commands that have no option `--workspace`.
const OF_HOME: [&str; 5] = ["check", "doctor", "fmt", "locate", "proposals"];

/// Runs all commands that read, and each command that lists what a write would do.
fn run_reading_commands(home: &Home, palace: &str, entry: &str, entity: &str) {
    for command in READ_COMMANDS {
        let name = |it: &&str| match *it {
            "ENTRY" => entry.to_owned(),
            "ENTITY" => entity.to_owned(),
            it => it.to_owned(),
        };
        let mut words: Vec<_> = command.iter().map(name).collect();
        if !OF_HOME.contains(&command[0]) {
            words.extend(["--workspace".to_owned(), palace.to_owned()]);
        }
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let what = words.join(" ");
        let output = assert_unchanged_by(home, &what, || home.run_palazzo(&words));
        // 1: there are errors, or nothing was found. 2: the command could not run, or the last change
        // of a tool cannot be undone.
        assert!(command[0] == "undo" || output.status.code() < Some(2), "{what}: {output:?}");
    }
}

/// The tool sets, each with calls of its tools that only read.
fn read_calls(palace: &str, entity: &str) -> [(&'static str, Vec<(&'static str, Value)>); 3] {
    let act = |action: i64| ("palace_action", json!({ "action": action }));
    let mut graph = vec![("set_workspace", json!({ "workspace": palace }))];
    graph.extend([0, 14, 18, 20, 30, 21, 31].map(act));
    graph.push(("palace_action", json!({ "action": 17, "params": "crack" })));
    graph.push(("palace_action", json!({ "action": 16, "params": "hall" })));
    graph.extend([31, 15, 1, 15].map(act));
    graph.extend(graph_calls(entity));
    graph.push(("set_workspace", json!({ "workspace": palace, "as_of": "HEAD~1" })));
    graph.push(act(0));
    let memory = vec![
        ("read_graph", json!({})),
        ("search_nodes", json!({ "query": "the" })),
        ("open_nodes", json!({ "names": [entity] })),
    ];
    let mempalace = mempalace_calls(entity).into();
    [("palace,graph,sync", graph), ("memory", memory), ("mempalace", mempalace)]
}

fn graph_calls(entity: &str) -> [(&'static str, Value); 11] {
    [
        ("describe_workspace", json!({})),
        ("describe_workspace", json!({ "findings": true })),
        ("list_genera", json!({})),
        ("list_entities", json!({})),
        ("search_entities", json!({ "query": "crack" })),
        ("get_entity", json!({ "name": entity })),
        ("get_relationships", json!({ "name": entity, "direction": "both" })),
        ("get_timeline", json!({})),
        ("list_tasks", json!({})),
        ("list_tasks", json!({ "done": true })),
        ("resolve", json!({})),
    ]
}

fn mempalace_calls(entity: &str) -> [(&'static str, Value); 14] {
    [
        ("mempalace_status", json!({})),
        ("mempalace_list_wings", json!({})),
        ("mempalace_list_rooms", json!({})),
        ("mempalace_get_taxonomy", json!({})),
        ("mempalace_get_aaak_spec", json!({})),
        ("mempalace_check_duplicate", json!({ "content": "Another text." })),
        ("mempalace_search", json!({ "query": "mortar" })),
        ("mempalace_kg_query", json!({ "entity": entity })),
        ("mempalace_kg_timeline", json!({})),
        ("mempalace_kg_stats", json!({})),
        ("mempalace_traverse", json!({ "start_room": "decisions" })),
        ("mempalace_find_tunnels", json!({})),
        ("mempalace_graph_stats", json!({})),
        ("mempalace_diary_read", json!({ "agent_name": "claude" })),
    ]
}

/// Calls all tools that read, and reads the resources and the prompt.
fn call_reading_tools(home: &Home, palace: &str, entity: &str) {
    for (set, calls) in read_calls(palace, entity) {
        assert_unchanged_by(home, set, || {
            let mut client = home.initialized_client_with(&["--tools", set, "--workspace", palace]);
            for (tool, arguments) in calls {
                let answer = client.call(tool, arguments.clone());
                // A number or a room that this palace does not have is refused.
                let may_refuse = ["palace_action", "mempalace_traverse"].contains(&tool);
                let is_answered = may_refuse || !answer.starts_with("refused");
                assert!(is_answered, "{tool} {arguments}: {answer}");
                assert!(!answer.starts_with("-32"), "{tool}: {answer}");
            }
            let listed = client.request("resources/list", json!({}));
            for resource in listed["result"]["resources"].as_array().unwrap() {
                client.request("resources/read", json!({ "uri": resource["uri"] }));
            }
            client.request("prompts/get", json!({ "name": "wake-up" }));
            client.close();
        });
    }
}

/// Returns the remote and the two machines of the pair, which have exchanged commits before.
fn pair_of_machines() -> (Remote, [Home; 2]) {
    let remote = Remote::empty();
    let url = remote.path().display().to_string();
    home_from_stream("pair-remote").git(&["push", "-q", &url, "main"]);
    let machines = ["pair-ada", "pair-ben"].map(|name| {
        let machine = home_from_stream(name);
        machine.git(&["remote", "add", "origin", &url]);
        machine.git(&["branch", "-q", "--set-upstream-to=origin/main"]);
        machine
    });
    (remote, machines)
}

#[test]
fn importing_a_stream_gives_the_commits_of_then() {
    let all = [
        ("home", "main", "e4d3301eb865596742ae1cc9349e969699e281bc"),
        ("home", "ideas", "10df407040a6b925d35f3df545ed94570373127a"),
        ("conflicts", "main", "1fc85cd14ab1b2538aa4146a462f1a6d9c1a82bd"),
        ("pair-remote", "main", "da83d3f681a5ad0e7967a6b368a529fcbb709a30"),
        ("pair-ada", "main", "6b4de23c249992fd7ff9ad7b08fd7bbe78460e45"),
        ("pair-ben", "main", "579fd2bfb3acc7248347c1d033f67a85509f9fbb"),
    ];
    for (stream, branch, id) in all {
        let home = home_from_stream(stream);
        assert_eq!(home.git(&["rev-parse", branch]).trim(), id, "{stream}");
        home.assert_clean_repository();
    }
}

#[test]
fn commands_that_read_change_no_file_of_an_old_home() {
    let home = home_of_lighthouse();
    run_reading_commands(&home, "lighthouse", "gallery", "Fresnel lens");
    run_reading_commands(&home, "workshop", "bench", "Chisel");
    let diff: &[&str] = &["diff", "--proposal", "ideas", "--workspace", "lighthouse"];
    assert_unchanged_by(&home, "diff --proposal", || run(&home, diff));
}

#[test]
fn tools_that_read_change_no_file_of_an_old_home() {
    let home = home_of_lighthouse();
    call_reading_tools(&home, "lighthouse", "Fresnel lens");
    call_reading_tools(&home, "workshop", "Chisel");
}

#[test]
fn reading_damaged_conflict_files_changes_no_file() {
    let home = home_from_stream("conflicts");
    run_reading_commands(&home, "keep", "hall", "Tower");
    call_reading_tools(&home, "keep", "Tower");
}

#[test]
fn reading_a_clone_that_was_synced_changes_no_file() {
    let (_remote, [ada, ben]) = pair_of_machines();
    for machine in [&ada, &ben] {
        assert_unchanged_by(machine, "sync --status", || run(machine, &["sync", "--status"]));
        run_reading_commands(machine, "shared", "hall", "Clock");
        call_reading_tools(machine, "shared", "Clock");
    }
}

/// macOS takes the two file names for one.
#[cfg(not(target_os = "macos"))]
#[test]
fn reading_names_in_two_unicode_forms_changes_no_file() {
    let home = home_from_stream("twins");
    run_reading_commands(&home, "names", "hall", "\u{c4}lvsborg");
    call_reading_tools(&home, "names", "Zo\u{eb}");
}

#[tokio::test]
async fn the_rooms_of_an_old_home_are_shown() {
    let home = home_of_lighthouse();
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("lighthouse").await;
    agent.choose(0).await;
    agent.choose_with(16, "logbook room").await;
    agent.choose_with(16, "machine hall").await;
    agent.choose_with(16, "gallery").await;
    agent.choose(4).await;
    // The classic menu.
    agent.enter("hut").await;
    assert_snapshot!(agent.take_transcript());
    agent.disconnect().await;
}

#[test]
fn the_items_of_an_old_palace_are_shown() {
    let home = home_of_lighthouse();
    let things = [
        "Fresnel lens",
        "The crack is old",
        "Claim",
        "Repair panel 7",
        "Order putty for panel 7",
        "Spare parts",
    ];
    let show = things.map(|it| ["show", it, "--workspace", "lighthouse"]);
    let mut commands: Vec<&[&str]> = show.iter().map(<[&str; 4]>::as_slice).collect();
    commands.push(&["log", "gallery", "Fresnel lens", "--workspace", "lighthouse"]);
    assert_snapshot!(story(&home, &commands));
}

#[test]
fn a_mined_drawer_and_a_diary_of_an_old_palace_are_found() {
    let home = home_of_lighthouse();
    let search = |words: &[&str]| {
        let words = [&["search", "--workspace", "lighthouse", "--limit", "1"], words].concat();
        run(&home, &words)
    };
    assert_snapshot!(search(&["slip", "ring", "lamp", "flickers"]), @"
    Why does the lamp flicker? (drawer in light/conversations, 2026-01-15, by ada, mined)
      home/lighthouse/drawers/light/conversations/01KF30GVM07WE27TT81ZFTSZAV-user-why-does-the-lamp-flicker-assistant.md
      User: Why does the lamp flicker? Assistant: The slip ring of the rotation motor is worn.
    and 4 more: see --limit
    exit 0
    ");
    assert_snapshot!(search(&["soft", "mortar"]), @"
    Tower survey (drawer in field/surveys, 2025-12-02, by ada, mined)
      home/lighthouse/drawers/field/surveys/01KF30GVM07WE27TT81ZFTSZAW-date-2025-12-02-tower-survey-the-mortar.md
      --- date: 2025-12-02 --- # Tower survey The mortar between courses 12 and 15 is soft. Repoint it before the frost.
    exit 0
    ");
    assert_snapshot!(search(&["the", "insurer", "--kind", "diary"]), @"
    crack (diary of claude, 2026-01-13, with a tool)
      home/lighthouse/diary/claude/01KEVTG0R0DZP2R6ENPA20N40V-crack.md
      The log confirms the crack. Tell the insurer.
    exit 0
    ");
}

#[test]
fn a_proposal_of_then_is_listed_and_compared() {
    let home = home_of_lighthouse();
    assert_snapshot!(run(&home, &["proposals"]), @"
    ideas: 3 commits by codex, the newest 19 days ago, in Lighthouse
      review  palazzo diff --proposal ideas --home HOME/lighthouse
      merge   git -C HOME/lighthouse merge ideas &&
              git -C HOME/lighthouse branch -d ideas
      drop    git -C HOME/lighthouse branch -D ideas
    exit 0
    ");
    let diff = ["diff", "--proposal", "ideas", "--workspace", "lighthouse"];
    assert_snapshot!(run(&home, &diff), @"
    room signal-station: added
      + name: Signal Station
      + description:
      +   Flags in pigeonholes, from A to Z.
      + portal to gallery

    scroll 'Why a station' in signal-station: added
      + name: Why a station
      + by: codex
      + written: 2026-02-10T09:00:00Z
      + text:
      +   Two doors led nowhere.

    entity Fresnel lens: status cracked → in repair; observation 'Panel 7 is on the bench.' added
    exit 0
    ");
    assert_snapshot!(run(&home, &["diff", "--workspace", "lighthouse"]), @"
    room cellar-stairs: added
      + name: Cellar Stairs
      + description:
      +   Nine steps, the third is loose.
      + portal to gallery

    A proposal is open: palazzo diff --proposal ideas
    exit 0
    ");
}

#[test]
fn check_reports_the_faults_of_an_old_home_and_fixes_them() {
    let home = home_from_stream("home");
    let mut seen = vec![without_excerpts(&run(&home, &["check"]))];
    seen.push(without_excerpts(&run(&home, &["check", "--fix"])));
    seen.push(home.git(&["status", "--porcelain", "-uall"]));
    let texts = [
        "workshop/rooms/bench.yaml",
        "workshop/rooms/yard.yaml",
        "workshop/entities/tool/chisel.yaml",
        "workshop/entities/tool/drill.yaml",
        "workshop/entities/tool/plane.yaml",
    ];
    seen.extend(texts.map(|it| home.read(it)));
    assert_snapshot!(seen.join("\n~~~\n"));
    assert!(!run(&home, &["check", "--fix"]).contains("fixed["), "one run fixes everything");
}

/// Merges of then took two files about one item for one file. Of the conflicts about Tower, Bridge
/// and Nave, they left mixed files, and conflicts about files of conflicts. Well has two healthy
/// conflicts.
#[test]
fn damaged_conflict_files_are_reported_and_split() {
    let home = home_from_stream("conflicts");
    let damaged = ["e3ba4e88da7d999a", "9a2bd25bbf865978", "887831cbbda7cf1e"];
    let mut seen = damaged.map(|it| home.read(&format!("keep/conflicts/{it}.yaml"))).to_vec();
    seen.push(story(&home, &[&["conflicts"], &["show", "Well"]]));
    seen.push(without_excerpts(&run(&home, &["check"])));
    assert_snapshot!(seen.join("\n~~~\n"));
    run(&home, &["check", "--fix"]);
    assert_snapshot!(run(&home, &["conflicts"]), @r#"
    31d1  entities/building/bridge.yaml
          status: "gone" stands (Ben, 25 days ago), "shut" was written meanwhile by "Ada, cleo-agent"
    034c  entities/building/tower.yaml
          attributes.height: 99 stands (Cleo, 26 days ago), 12 was written meanwhile by Ben
    e3ba  entities/building/tower.yaml
          status: "restored" stands (Cleo, 26 days ago), "ruined" was written meanwhile by Ada
    b671  entities/building/well.yaml
          attributes.depth: 31 stands (ben-agent, 27 days ago), 25 was written meanwhile by ada-agent
    b83b  entities/building/well.yaml
          status: "frozen" stands (ben-agent, 27 days ago), "dry" was written meanwhile by ada-agent
    36c8  rooms/nave.yaml
          name: "Nave of Cables" stands (Ada, 24 days ago), "Choir" was written meanwhile by Ben
    exit 0
    "#);
    // Both machines had settled this one; the next run deletes it.
    let settled = home.read("keep/conflicts/887831cbbda7cf1e.yaml");
    assert!(settled.contains("stands: Nave of Ropes") && settled.contains("other: Aula"));
    let again = run(&home, &["check", "--fix", "--level", "warning"]);
    let again = again.lines().filter(|it| it.contains(": fixed[")).collect::<Vec<_>>();
    assert_snapshot!(again.join("\n"), @"home/keep/conflicts/887831cbbda7cf1e.yaml:1:1: fixed[settled-conflict]: the conflict is settled: its field has another value now, or its item is gone");
    let files = fs::read_dir(home.path().join("keep/conflicts")).unwrap();
    let mut files: Vec<_> = files.map(|it| it.unwrap().file_name()).collect();
    files.sort();
    assert_snapshot!(files.join(OsStr::new("\n")).display(), @"
    034c58e8dccc8cb7.yaml
    31d1e78504b07e8a.yaml
    36c8ed363cbc5776.yaml
    b671204f46450090.yaml
    b83bffd72cb5be86.yaml
    e3ba4e88da7d999a.yaml
    ");
}

/// macOS takes the two file names for one.
#[cfg(not(target_os = "macos"))]
#[test]
fn names_that_differ_in_unicode_form_are_shown() {
    let home = home_from_stream("twins");
    assert_eq!(head(&home), "f237aae83a768c1131dfabff17a9c936a090c686");
    let mut seen = vec![run(&home, &["check"])];
    for name in ["Zo\u{eb}", "Zoe\u{308}"] {
        let mut client = home.initialized_client_with(&["--workspace", "names"]);
        seen.push(client.call("get_entity", json!({ "name": name })));
    }
    seen.push(run(&home, &["search", "letter", "caf\u{e9}", "--kind", "drawer"]));
    // The two forms look the same.
    let seen = seen.join("\n~~~\n").replace('\u{301}', "\\u{301}");
    assert_snapshot!(seen.replace('\u{308}', "\\u{308}"));
}

#[test]
fn the_machines_of_an_old_pair_sync_to_one_commit() {
    let (remote, [ada, ben]) = pair_of_machines();
    let mut seen = Vec::new();
    for machine in [&ada, &ben] {
        let (said, code) = sync(machine, &["--setup"]);
        assert_eq!(code, 0, "{said}");
        seen.push(sync(machine, &["--status"]).0);
    }
    for machine in [&ada, &ben, &ada] {
        let (said, code) = sync(machine, &[]);
        assert_eq!(code, 0, "{said}");
    }
    assert_eq!(head(&ada), head(&ben));
    assert_eq!(head(&ada), remote.tip());
    let files = ["shared/entities/thing/clock.yaml", "shared/rooms/hall.yaml"];
    seen.extend(files.map(|it| ada.read(it)));
    assert_snapshot!(seen.join("\n~~~\n"));
    for machine in [&ada, &ben] {
        machine.assert_clean_repository();
        assert!(files.iter().all(|it| machine.read(it) == ada.read(it)));
    }
}
