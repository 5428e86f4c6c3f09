//! Faulty palaces: each fault is reported with its place, in the requested format, and
//! affects nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::process::Stdio;

use insta::assert_snapshot;
use palazzo_core::model::Rule;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// The folder of broken palaces: by theme, mostly one fault per file.
const CORPUS: &str = "tests/broken-palaces";

/// Runs `palazzo check` in the folder above the palace or home at `place`, so that paths
/// are relative to it.
fn run_check(home: &Home, place: &Path, arguments: &[&str]) -> (String, i32) {
    let mut command = home.palazzo_command(MARCH_1);
    command.current_dir(place).args(["check", "."]).args(arguments);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8(said).unwrap(), output.status.code().unwrap())
}

fn corpus_themes() -> Vec<PathBuf> {
    let themes = fs::read_dir(CORPUS).unwrap().map(|it| it.unwrap().path());
    let themes: BTreeSet<_> = themes.map(|it| fs::canonicalize(it).unwrap()).collect();
    themes.into_iter().collect()
}

fn theme_name(theme: &Path) -> &str {
    theme.file_name().unwrap().to_str().unwrap()
}

#[test]
fn check_reports_the_findings_of_every_broken_palace() {
    let home = Home::new();
    for theme in corpus_themes() {
        let (said, code) = run_check(&home, &theme, &[]);
        assert_snapshot!(
            format!("broken-palaces-{}", theme_name(&theme)),
            format!("{said}exit {code}")
        );
    }
}

/// The codes without a broken file, because git or Windows cannot store it or because they need a
/// history. `hostile_files_are_reported_without_hanging`, `repository_problems.rs`, `moving_items.rs`,
/// `doctor.rs`, `note_folders.rs`, `stale_files.rs`, `stale_facts.rs` and `host_memory.rs` create them.
const NOT_CARRIED: [&str; 12] = [
    "too-large",
    "link",
    "unreadable",
    "repository",
    "reserved-name",
    "old-name",
    "git-lock",
    "note-not-read",
    "stale-file",
    "stale-fact",
    "memory-without-pointer",
    "pointer-without-memory",
];

#[test]
fn each_broken_file_has_one_finding() {
    let home = Home::new();
    let (mut broken, mut codes) = (0, BTreeSet::new());
    for theme in corpus_themes() {
        let (said, _) = run_check(&home, &theme, &["--format", "json"]);
        let (report, _) = said.split_once("\n}\n").unwrap();
        let report: Value = serde_json::from_str(&format!("{report}}}")).unwrap();
        let mut findings = BTreeMap::<&str, usize>::new();
        for finding in report["findings"].as_array().unwrap() {
            codes.insert(finding["code"].as_str().unwrap().to_owned());
            *findings.entry(finding["path"].as_str().unwrap()).or_default() += 1;
        }
        if [
            "yaml",
            "conflicts",
            "rooms",
            "entities",
            "genera",
            "scrolls",
            "work",
            "names",
            "settings",
        ]
        .contains(&theme_name(&theme))
        {
            broken += findings.len();
            assert!(findings.values().all(|it| *it == 1), "{findings:?}");
        }
    }
    assert!(broken >= 60, "only {broken} broken files");
    let words = Rule::ALL.iter().map(|it| it.name);
    let untold = words.filter(|it| !codes.contains(*it));
    assert_eq!(untold.collect::<Vec<_>>(), NOT_CARRIED);
}

/// Fills a palace with files that would make a careless reader hang, crash or leak secrets.
#[cfg(unix)]
fn write_hostile_files(home: &Home, palace: &Path, secret: &Path) {
    let write = |path: &str, text: String| home.write(&format!("p/{path}"), &text);
    write("palace.toml", "name = \"P\"\n".to_owned());
    let bomb = (1..9).map(|it| format!("a{it}: &a{it} [{}]\n", "*a0,".repeat(9)));
    write("rooms/alias-bomb.yaml", format!("a0: &a0 [x]\n{}", bomb.collect::<String>()));
    let (list, aliases) = ("x,".repeat(20_000), "*a,".repeat(2_000));
    write("rooms/aliases.yaml", format!("a: &a [{list}]\nb: [{aliases}]\n"));
    write("rooms/brackets.yaml", format!("name: {}", "[".repeat(100_000)));
    write("rooms/steps.yaml", (0..5_000).map(|it| " ".repeat(it % 90) + "- \n").collect());
    write("rooms/nothing-but-nul.yaml", "\0".repeat(1_000));
    write("rooms/one-line.yaml", format!("name: {}\nx: 1\n", "y".repeat(1_000_000)));
    write("entities/a/colons.yaml", "a: b: ".repeat(100_000));
    write("scrolls/hall/fences.md", "---\n".repeat(100_000));
    fs::File::create(palace.join("rooms/sparse.yaml")).unwrap().set_len(1 << 30).unwrap();
    let made = Command::new("mkfifo").arg(palace.join("rooms/pipe.yaml")).status();
    assert!(made.unwrap().success());
    let link = |to: &Path, from| std::os::unix::fs::symlink(to, palace.join(from)).unwrap();
    link(Path::new("/dev/zero"), "rooms/device.yaml");
    link(secret, "rooms/outside.yaml");
    link(secret.parent().unwrap(), "scrolls/outside");
}

#[test]
#[cfg(unix)]
fn hostile_files_are_reported_without_hanging() {
    let home = Home::new();
    let palace = home.path().join("p");
    let secret = home.path().with_file_name("secret.yaml");
    fs::write(&secret, "name: [secret\n").unwrap();
    write_hostile_files(&home, &palace, &secret);
    let (said, code) = run_check(&home, &palace, &[]);
    assert_snapshot!("hostile-files", format!("{said}exit {code}"));
    for command in [&["fmt", "--check", "."][..], &["check", "--fix", "."]] {
        let output =
            home.palazzo_command(MARCH_1).current_dir(&palace).args(command).output().unwrap();
        let said = String::from_utf8([said.as_bytes(), &output.stdout, &output.stderr].concat());
        assert!(output.status.code() == Some(1) && !said.unwrap().contains("secret"));
    }
}

#[test]
fn findings_can_be_printed_for_github_and_as_sarif() {
    let home = Home::new();
    let theme = fs::canonicalize(CORPUS).unwrap().join("islands");
    let (said, _) = run_check(&home, &theme, &["--format", "github"]);
    assert_snapshot!(said, @"
    ::warning file=rooms/island.yaml,line=1,col=1,title=unreachable::this room cannot be reached from the entry (add an action or a portal to this room in another room)
    ::warning file=rooms/reef.yaml,line=1,col=1,title=unreachable::this room cannot be reached from the entry (add an action or a portal to this room in another room)
    ::warning file=rooms/reef.yaml,line=1,col=5,title=same-id::rooms/island.yaml has the same id (remove the id from the one that is a copy)
    ::warning file=scrolls/atlantis/01KJMPXF9069S44V81ASY1KY37-a.md,line=1,col=1,title=lost-scroll::the room `atlantis` of 2 scrolls does not exist (build the room, or move the scrolls into the folder of another room)
    1 palace, 3 rooms, 2 scrolls, 0 entities: 0 errors, 4 warnings
    ");
    let (said, code) = run_check(&home, &theme, &["--format", "sarif"]);
    assert_eq!(code, 0);
    let (report, _) = said.split_once("\n}\n").unwrap();
    let report: Value = serde_json::from_str(&format!("{report}}}")).unwrap();
    assert_eq!(report["version"], "2.1.0");
    let run = &report["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Rule::ALL.len());
    let levels = ["error", "warning", "note"];
    for rule in rules {
        let level = rule["defaultConfiguration"]["level"].as_str().unwrap();
        assert!(levels.contains(&level) && rule["shortDescription"]["text"].is_string(), "{rule}");
    }
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert_eq!(rule["defaultConfiguration"]["level"], result["level"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(theme.join(uri).is_file(), "{uri}");
        assert!(place["region"]["startLine"].as_u64() >= Some(1), "{place}");
        assert!(place["region"]["startColumn"].as_u64() >= Some(1), "{place}");
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
    }
}

#[test]
fn explain_describes_every_finding_code() {
    let home = Home::new();
    let explain = |arguments: &[&str]| {
        let output = home.run_palazzo(&[&["check", "--explain"], arguments].concat());
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_snapshot!(explain(&["bad-slug"]), @"
    ── bad-slug (error) ──
    The name of a room is not a slug.

    A slug is the name of the room's file: `a-z`, `0-9`, `_` and `-`, beginning with a letter or digit, at most 80 characters. `wing/slug` names a room in a wing.
    ");
    assert_snapshot!(explain(&["bad-slig"]), @"
    error: invalid value 'bad-slig' for '--explain [<CODE>]': there is no code `bad-slig`; did you mean `bad-slug`?

    For more information, try '--help'.
    ");
    let table = explain(&[]);
    assert!(Rule::ALL.iter().all(|it| table.contains(it.name)), "{table}");
    assert!(table.lines().all(|it| it.chars().count() <= 100), "{table}");
}

#[test]
fn check_watch_reports_again_after_a_save() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    home.write("code/rooms/hall.yaml", "nam: Hall\n");
    let mut command = home.palazzo_command(MARCH_1);
    command.args(["check", "--watch"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut palazzo = command.spawn().unwrap();
    let mut told = BufReader::new(palazzo.stderr.take().unwrap()).lines();
    let mut next = || told.next().unwrap().unwrap();
    assert_eq!(next(), "1 palace, 0 rooms, 0 scrolls, 0 entities: 2 errors");
    home.write("code/rooms/hall.yaml", "name: Hall\ndescription: Stone.\n");
    assert_eq!(next(), "1 palace, 1 room, 0 scrolls, 0 entities: 0 errors");
    home.write("code/rooms/crypt.yaml", "name: Crypt\ndescription: Damp.\n");
    assert_eq!(next(), "1 palace, 2 rooms, 0 scrolls, 0 entities: 0 errors, 1 warning");
    home.run_palazzo(&["init", "Art"]);
    assert_eq!(next(), "2 palaces, 2 rooms, 0 scrolls, 0 entities: 0 errors, 1 warning");
    home.write("art/rooms/attic.yaml", "name: Attic\ndescription: Dust.\n");
    assert_eq!(next(), "2 palaces, 3 rooms, 0 scrolls, 0 entities: 0 errors, 1 warning");
    palazzo.kill().unwrap();
    palazzo.wait().unwrap();
}

/// Returns the example files in `docs/files.md`, in its order.
fn file_examples() -> Vec<String> {
    let page = include_str!("../../docs/files.md").replace("\r\n", "\n");
    let (_, files) = page.split_once("\n## The kinds of files\n").unwrap();
    let (files, _) = files.split_once("\n## Dates\n").unwrap();
    let blocks = files.split("\n```").skip(1).step_by(2).filter_map(|it| it.split_once('\n'));
    blocks.filter(|(kind, _)| *kind != "text").map(|(_, text)| text.to_owned()).collect()
}

#[test]
fn the_examples_of_the_file_reference_have_no_errors() {
    let home = Home::new();
    let places = [
        "palace.toml",
        "rooms/hall-of-geology.yaml",
        "scrolls/hall-of-geology/ibis.md",
        "drawers/code/auth/clerk.md",
        "diaries/clerk/2026-03-04.md",
        "entities/claim/stasis-is-data.yaml",
        "genera/claim.yaml",
        "tasks/compare.yaml",
        "processes/review.yaml",
        "conflicts/3f2a1b4c5d6e7f80.yaml",
    ];
    let examples = file_examples();
    assert_eq!(examples.len(), places.len(), "{examples:#?}");
    for (place, text) in places.into_iter().zip(examples) {
        home.write(&format!("survey/{place}"), &format!("{text}\n"));
    }
    let entry = "name: Great Hall\ndescription: Marble.\nportals: [hall-of-geology]\n";
    home.write("survey/rooms/great-hall.yaml", entry);
    let output = home.run_palazzo(&["check"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_snapshot!(told, @"1 palace, 2 rooms, 1 scroll, 1 entity, 1 drawer: 0 errors, 3 notes");
}

#[test]
fn a_palace_whose_format_cannot_be_read_is_not_changed() {
    let conflict = "<<<<<<< ours\nformat = 1\n=======\nformat = 2\n>>>>>>> theirs\nname = \"K\"\n";
    for settings in [
        "format = 2\nname = = \"K\"\n",
        "format = \"2\"\nname = \"K\"\n",
        "format = 99999999999999999999\nname = \"K\"\n",
        "format.major = 2\nname = \"K\"\n",
        conflict,
    ] {
        let home = Home::new();
        let hall = "description: hi\nname:   Hall\nportals: [ a, b ]\n";
        home.write("k/palace.toml", settings);
        home.write("k/rooms/hall.yaml", hall);
        for words in [&["fmt"][..], &["check", "--fix"], &["git-setup"], &["show", "hall"]] {
            let ran = home.run_palazzo(words);
            assert!(!ran.status.success(), "{settings}: {words:?}: {ran:?}");
        }
        assert_eq!(home.read("k/palace.toml"), settings);
        assert_eq!(home.read("k/rooms/hall.yaml"), hall);
        assert!(!home.path().join("k/.gitattributes").exists());
    }
}

#[test]
fn nothing_is_restored_from_or_compared_with_a_newer_format() {
    let home = Home::new();
    home.run_palazzo(&["init", "keep", "--template", "paradigm-survey"]);
    let settings = home.read("keep/palace.toml");
    let commit = |message| {
        let identity = ["-c", "user.name=ada", "-c", "user.email=ada@x"];
        home.git(&[&identity[..], &["commit", "-qam", message]].concat());
    };
    home.write("keep/palace.toml", &settings.replace("format = 1", "format = 2"));
    commit("newer");
    home.write("keep/palace.toml", &settings);
    commit("back");
    for words in [
        &["restore", "great-hall", "--to", "HEAD~1"][..],
        &["restore", "palace.toml", "--to", "HEAD~1"],
        &["diff", "HEAD~1"],
        &["show", "great-hall", "--at", "HEAD~1"],
    ] {
        let ran = home.run_palazzo(words);
        let refused = String::from_utf8(ran.stderr).unwrap();
        assert!(refused.contains("format 2, which needs a newer Palazzo"), "{words:?}: {refused}");
    }
    assert_eq!(home.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_palace_with_a_newer_format_is_neither_read_nor_changed() {
    let home = Home::new();
    let (settings, hall) =
        ("format = 2\nname = \"New\"\n", "name:   Hall\nportals: [Great Hall]\n");
    home.write("new/palace.toml", settings);
    home.write("new/rooms/hall.yaml", hall);
    home.write("old/palace.toml", "format = 1\nname = \"Old\"\n");
    home.write("old/rooms/hall.yaml", "name: Old Hall\n");
    let mut agent = home.agent(MARCH_1).await;
    let refused = agent.call("set_workspace", json!({ "workspace": "new" })).await;
    assert_snapshot!(refused, @"refused: palace.toml: this palace has format 2, which needs a newer Palazzo; this one reads format 1. Nothing was read or changed: update Palazzo; `palazzo doctor` prints the command");
    assert!(agent.enter("old").await.contains("── Old Hall ──"));
    let run = |arguments: &[&str]| {
        let ran = home.run_palazzo(arguments);
        let text = String::from_utf8(ran.stdout).unwrap() + &String::from_utf8(ran.stderr).unwrap();
        format!("$ {}\n{text}", arguments.join(" "))
    };
    let seen = [
        run(&["show", "hall", "--workspace", "new"]),
        run(&["show", "--workspace", "new"]),
        run(&["mv", "hall", "den", "--workspace", "new"]),
        run(&["fmt"]),
        run(&["check", "--fix"]),
    ];
    assert_snapshot!(seen.concat());
    assert_eq!(home.read("new/palace.toml"), settings);
    assert_eq!(home.read("new/rooms/hall.yaml"), hall);
    assert!(!home.path().join("new/.palazzo").exists());
}
