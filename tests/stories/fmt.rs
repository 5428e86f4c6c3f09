//! `palazzo fmt`: converting files to canonical form.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use walkdir::WalkDir;

use crate::harness::{Home, MARCH_1};

/// Runs a command, and returns both output streams and the exit status.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(arguments);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    format!("$ {}\n{out}{err}exit {}\n", arguments.join(" "), output.status.code().unwrap())
}

#[test]
fn fmt_formats_files_and_commits_nothing() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code"]);
    let hall = "# The first room.\r\nname:   'Hall'\r\ndescription: Stone.   # bare\r\n";
    home.write("code/rooms/hall.yaml", hall);
    home.write("code/rooms/crypt.yaml", "portals:\n- hall # up\nname: Crypt\n");
    home.write("code/rooms/broken.yaml", "name: [Broken\n");
    home.write("code/scrolls/hall/a.md", "---\nwritten: 2026-03-01\ntitle: A\n---\nAs it is.  \n");
    let before = home.git(&["rev-parse", "HEAD"]);
    let mut story = vec![
        run(&home, &["fmt", "--check"]),
        run(&home, &["fmt", "--diff", "home/code/rooms/crypt.yaml"]),
        run(&home, &["fmt", "home/code/rooms"]),
        run(&home, &["fmt"]),
        run(&home, &["fmt"]),
        run(&home, &["fmt", "home/code/rooms/attic.yaml"]),
    ];
    story.push(home.git(&["status", "--porcelain", "-uall"]));
    assert_snapshot!(story.join("\n"));
    assert_eq!(home.git(&["rev-parse", "HEAD"]), before);
    let hall = "# The first room.\r\nname: Hall\r\ndescription: | # bare\r\n  Stone.\r\n";
    assert_eq!(home.read("code/rooms/hall.yaml"), hall);
    let scroll = "---\ntitle: A\nwritten: 2026-03-01\n---\n\nAs it is.  \n";
    assert_eq!(home.read("code/scrolls/hall/a.md"), scroll);
}

/// A palace as the first version of Palazzo wrote it.
#[test]
fn fmt_converts_a_palace_of_the_first_version_without_changing_what_it_says() {
    let home = Home::new();
    let first = Path::new("tests/old-palaces/2026-11-20");
    let files = WalkDir::new(first).into_iter().map(Result::unwrap);
    for file in files.filter(|it| it.file_type().is_file()) {
        let name = file.path().strip_prefix(first).unwrap().display().to_string();
        home.write(&format!("code/{name}"), &fs::read_to_string(file.path()).unwrap());
    }
    home.git(&["init", "-q"]);
    home.git(&["add", "-A"]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Old"]);
    let content = "1 palace, 5 rooms, 1 scroll, 6 entities: 0 errors, 1 note\nexit 0\n";
    assert!(run(&home, &["check"]).ends_with(content));
    let formatted = run(&home, &["fmt"]);
    assert!(formatted.contains("10 of 13 files formatted"), "{formatted}");
    assert!(run(&home, &["fmt", "--check"]).ends_with("exit 0\n"));
    assert!(run(&home, &["check"]).ends_with(content));
    let changed = run(&home, &["diff"]);
    let is_same = |it: &&str| it.contains(": same content, other formatting ");
    assert_eq!(changed.lines().filter(is_same).count(), 10, "{changed}");
    assert_eq!(changed.lines().count(), 12, "{changed}");
}

#[test]
fn files_written_by_templates_are_already_formatted() {
    let home = Home::new();
    let others = ["personal-assistant", "research-project", "team-runbook"];
    for template in [&["codebase", "paradigm-survey"], &others[..]].concat() {
        home.run_palazzo(&["init", template, "--template", template]);
    }
    let said = run(&home, &["fmt", "--check"]);
    assert!(said.contains("\n0 of ") && said.ends_with("exit 0\n"), "{said}");
}

#[test]
fn git_applies_the_fmt_diff_from_any_folder() {
    // In a repository or without one, and from several working directories.
    for (repository, place) in
        [(Some("."), "."), (Some("."), "code"), (Some("code"), "code"), (None, "code")]
    {
        let home = Home::new();
        home.write("code/palace.toml", "name='Code'\n");
        home.write("code/rooms/hall.yaml", "description: |\r\n  Stone.\r\nname:  Hall\r\n");
        home.write("code/entities/rock/grüner Stein.yaml", "genus: Rock\nname: Grüner Stein");
        if let Some(repository) = repository {
            home.git(&["init", "-q", repository]);
        }
        let fmt = |how: &str| {
            let mut command = home.palazzo_command(MARCH_1);
            command.current_dir(home.path().join(place)).args(["fmt", how]);
            command.arg(home.path().join("code")).output().unwrap()
        };
        assert_eq!(fmt("--check").stderr, b"3 of 3 files not formatted\n");
        let patch = home.path().with_file_name("patch");
        std::fs::write(&patch, fmt("--diff").stdout).unwrap();
        home.git(&["-C", place, "apply", patch.to_str().unwrap()]);
        assert_eq!(fmt("--check").stderr, b"0 of 3 files not formatted\n", "{place}");
    }
}
