//! Homes that nobody filled in, and files of the user's home that cannot be read.

use std::fs;
use std::process::Command;

use crate::harness::{Home, MARCH_1};

/// Runs a command of the program; returns its exit code and what it prints.
fn run(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// Lists the names in the folder in which the commands of a home run.
fn names_beside(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path().parent().unwrap()).unwrap().flatten();
    entries.map(|it| it.file_name().into_string().unwrap()).collect()
}

#[test]
fn a_home_that_was_not_filled_in_is_refused_by_name() {
    let home = Home::new();
    for (value, fault) in [
        ("$HOME", "has a variable that was not filled in"),
        ("${workspaceFolder}/palaces", "has a variable that was not filled in"),
        ("%USERPROFILE%", "has a variable that was not filled in"),
        ("~ada/palaces", "has a `~` that no shell has expanded"),
        ("/", "is the root of the file system"),
        ("/..", "is the root of the file system"),
    ] {
        let as_option = ["init", "keep", "--home", value];
        let (code, said) = run(home.palazzo_command(MARCH_1).args(as_option));
        assert_eq!(code, Some(2), "{said}");
        let expected =
            format!("palazzo: the home is `{value}`, which {fault}: give the whole path");
        assert!(said.starts_with(&expected), "{said}");
        let (code, said) = run(home.palazzo_command(MARCH_1).args(["serve", value]));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with(&expected), "{said}");
        let mut from_env = home.palazzo_command(MARCH_1);
        let (code, said) = run(from_env.env("PALAZZO_HOME", value).args(["init", "keep"]));
        assert_eq!(code, Some(2), "{said}");
        let expected = format!("palazzo: PALAZZO_HOME is `{value}`, which {fault}: give");
        assert!(said.starts_with(&expected), "{said}");
    }
    let mut empty = home.palazzo_command(MARCH_1);
    let (code, said) = run(empty.env("PALAZZO_HOME", "").args(["init", "keep"]));
    assert_eq!(code, Some(2), "{said}");
    assert!(said.starts_with("palazzo: PALAZZO_HOME is ``, which is empty: give"), "{said}");
    assert_eq!(names_beside(&home), [""; 0]);
}

#[test]
fn variables_of_the_user_that_were_not_filled_in_are_refused_by_name() {
    let home = Home::new();
    for name in ["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        for value in ["$HOME", "${env:HOME}", "%USERPROFILE%", "~", "~/data"] {
            let mut command = home.palazzo_command(MARCH_1);
            let (code, said) = run(command.env(name, value).args(["init", "keep"]));
            assert_eq!(code, Some(2), "{name} {value}: {said}");
            assert!(said.starts_with(&format!("palazzo: {name} is `{value}`, which ")), "{said}");
        }
    }
    assert_eq!(names_beside(&home), [""; 0]);
}

#[test]
fn a_user_without_a_home_needs_one_only_if_none_is_given() {
    for (value, fault) in [
        (Some("/"), "HOME is `/`, which is the root of the file system"),
        (Some(""), "HOME is ``, which is empty"),
        (None, "there is no place for palaces, because HOME is not set"),
    ] {
        let home = Home::new();
        let command = || {
            let mut command = home.palazzo_command(MARCH_1);
            command.env_remove("PALAZZO_HOME").env_remove("HOME");
            command.envs(value.map(|it| ("HOME", it)));
            command
        };
        let (code, said) = run(command().args(["init", "keep"]));
        assert_eq!(code, Some(2), "{said}");
        let expected = format!("palazzo: {fault}: give the whole path");
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(names_beside(&home), [""; 0]);
        let given = home.path();
        let (code, said) = run(command().args(["init", "keep", "--home"]).arg(given));
        assert_eq!(code, Some(0), "{said}");
        // Around the current folder there is a palace.
        let (code, said) = run(command().arg("check").current_dir(home.path()));
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn a_hook_reports_an_unusable_home_and_succeeds() {
    let home = Home::new();
    let start = ["hook", "session-start", "--home", "${workspaceFolder}"];
    let (code, said) = run(home.palazzo_command(MARCH_1).args(start));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("has a variable that was not filled in"), "{said}");
}

#[cfg(unix)]
#[test]
fn files_of_the_user_that_cannot_be_read_are_left_out_with_one_warning() {
    for files in
        [&["ignore"][..], &["attributes"], &["config"], &["ignore", "attributes", "config"]]
    {
        let home = Home::new();
        let folder = home.path().with_file_name(".config").join("git");
        fs::create_dir_all(&folder).unwrap();
        for file in files {
            // Nobody can open a link to itself, not even root.
            std::os::unix::fs::symlink(file, folder.join(file)).unwrap();
        }
        // Without the variable, git reads the files of the home.
        let command = || {
            let mut command = home.palazzo_command(MARCH_1);
            command.env_remove("GIT_CONFIG_GLOBAL");
            command
        };
        for name in ["keep", "cellar"] {
            let (code, said) = run(command().args(["init", name]));
            assert_eq!(code, Some(0), "{files:?}: {said}");
        }
        let (code, said) = run(command().arg("check"));
        assert_eq!(code, Some(0), "{files:?}: {said}");
        let warnings: Vec<_> = said.lines().filter(|it| it.contains("are left out")).collect();
        assert_eq!(warnings.len(), 1, "{files:?}: {said}");
        let place = folder.to_str().unwrap();
        assert!(warnings[0].contains(place) && warnings[0].contains("set HOME"), "{said}");
        assert_eq!(home.git(&["status", "--porcelain"]), "");
    }
}
