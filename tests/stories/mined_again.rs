//! Mining what was mined before and has changed since: nothing is filed twice.

use crate::harness::Home;

/// Mines a path next to the home, and returns the line with the counts.
#[track_caller]
fn run_mine(home: &Home, arguments: &[&str]) -> String {
    let path = home.path().join(arguments[0]).display().to_string();
    let output = home.run_palazzo(&[&["mine", &path], &arguments[1..]].concat());
    assert!(output.status.success(), "{output:?}");
    let said = [output.stderr, output.stdout].concat();
    String::from_utf8(said).unwrap().trim_end().to_owned()
}

/// Returns the files of all drawers.
fn drawer_files(home: &Home) -> Vec<String> {
    home.git(&["ls-files", "--", "palace/drawers"]).lines().map(str::to_owned).collect()
}

#[test]
fn a_note_whose_front_matter_changes_stays_one_drawer() {
    let home = Home::new();
    let body = format!("# Seams\n{}", "Coal.\n".repeat(1_100));
    let long = |matter: &str| format!("{matter}{body}## Iron\nRed.\n");
    let notes = [
        ("a.md", "Black.\n", "---\ntags: [coal]\n---\n\nBlack.\n"),
        (
            "b.md",
            "---\ntags: [a]\ndate: 2026-03-01\n---\nGrey.\n",
            "---\ntags: [a, b]\ndate: 2026-03-02\n---\nGrey.\n",
        ),
        ("c.md", "tags:: a\n\nRed.\n", "tags:: a, b\nalias:: c\n\nRed.\n"),
        ("d.md", "---\ntags: [a]\n---\n", "---\ntags: [b]\n---\n"),
        ("e.md", "---\ntags: [a]\n---\nGreen.\n", "---\ntags: [b]\n---\nGreen.\nBlue.\n"),
        ("f.md", &long("---\ntags: [a]\n---\n"), &long("---\ntags: [a, b]\n---\n")),
    ];
    for (name, text, _) in notes {
        home.write(&format!("vault/{name}"), text);
    }
    assert!(run_mine(&home, &["vault"]).contains("7 new, 0 extended"));
    let files = drawer_files(&home);
    for (name, _, text) in notes {
        home.write(&format!("vault/{name}"), text);
    }
    let said = run_mine(&home, &["vault"]);
    assert_eq!(
        said,
        "Filed texts of 6 sources: 0 new, 1 extended, 5 updated; 1 were filed already."
    );
    assert_eq!(drawer_files(&home), files);
    let texts: Vec<_> = files.iter().map(|it| home.read(it)).collect();
    for (_, _, text) in &notes[..5] {
        let drawer = texts.iter().find(|it| it.ends_with(text));
        let is_dated = !text.contains("date:") || drawer.unwrap().contains("filed: 2026-03-02T");
        assert!(drawer.is_some() && is_dated, "{text}: {texts:?}");
    }
    assert!(run_mine(&home, &["vault"]).contains("0 new, 0 extended; 7 were filed already"));
}

#[test]
fn two_versions_of_a_note_are_told_apart_by_the_times_of_filing() {
    let home = Home::new();
    let note = |color: &str| format!("---\ndate: 2026-02-01\n---\n# Seams\nThey are {color}.\n");
    for (color, now) in [("black", "2026-03-01T12:00:00Z"), ("grey", "2026-03-02T12:00:00Z")] {
        home.write("vault/seams.md", &note(color));
        let vault = home.path().join("vault");
        let mut command = home.palazzo_command(now);
        assert!(command.arg("mine").arg(vault).status().unwrap().success());
    }
    let found = home.run_palazzo(&["search", "seams"]);
    let found = String::from_utf8(found.stdout).unwrap();
    let heads: Vec<_> = found.lines().filter(|it| it.starts_with("Seams (")).collect();
    assert_eq!(heads.len(), 2, "{found}");
    for day in ["2026-03-01", "2026-03-02"] {
        let filed = format!(", filed {day}T12:00:00Z)");
        assert_eq!(heads.iter().filter(|it| it.ends_with(&filed)).count(), 1, "{found}");
    }
    let alone = home.run_palazzo(&["search", "seams", "--limit", "1"]);
    assert!(!String::from_utf8(alone.stdout).unwrap().contains(", filed "));
}

#[test]
fn a_moved_folder_and_a_part_of_a_folder_are_not_filed_again() {
    let home = Home::new();
    home.write("vault/ideas/coal.md", "Black.\n");
    home.write("vault/ideas/deep/iron.md", "---\ndate: 2026-02-01\n---\nRed.\n");
    home.write("vault/log.md", &format!("# One\n{}# Two\nGrey.\n", "Words.\n".repeat(900)));
    assert!(run_mine(&home, &["vault"]).contains("4 new, 0 extended"));
    let is_filed = |said: String, count: usize| {
        let expected = format!("0 new, 0 extended; {count} were filed already");
        assert!(said.contains(&expected), "{said}");
    };
    is_filed(run_mine(&home, &["vault/ideas"]), 2);
    is_filed(run_mine(&home, &["vault/ideas/coal.md"]), 1);
    let rename = |from: &str, to: &str| {
        std::fs::rename(home.path().join(from), home.path().join(to)).unwrap();
    };
    rename("vault/ideas", "vault/thoughts");
    is_filed(run_mine(&home, &["vault"]), 4);
    rename("vault", "notes");
    rename("notes/thoughts", "notes/ideas");
    is_filed(run_mine(&home, &["notes"]), 4);
    // The same text of another time, or in a wing that was asked for, is another one.
    home.write("other/iron.md", "---\ndate: 2026-02-02\n---\nRed.\n");
    assert!(run_mine(&home, &["other"]).contains("1 new, 0 extended"));
    let named = run_mine(&home, &["notes/ideas", "--wing", "elsewhere"]);
    assert!(named.contains("2 new, 0 extended"), "{named}");
}
