//! Repositories as git makes them on request: without some objects, commits or files; kept by
//! another program; with an extension of tomorrow.

use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;

use crate::harness::Home;

/// A repository with a palace of two rooms and three versions, which others are cloned from.
struct Origin {
    home: Home,
    folder: tempfile::TempDir,
}

impl Origin {
    fn new() -> Self {
        let it = Self { home: Home::new(), folder: tempfile::tempdir().unwrap() };
        it.home.write_git_config(
            "[maintenance]\nauto = false\n[user]\nname = Ada\nemail = ada@example.org\n\
             [protocol \"file\"]\nallow = always\n",
        );
        std::fs::create_dir_all(it.home.path()).unwrap();
        it.home.git(&["init", "-q", "-b", "main"]);
        assert!(it.home.run_palazzo(&["init", "keep"]).status.success());
        it.home.write("keep/rooms/attic.yaml", "name: Attic\ndescription: Dust.\n");
        it.home.write("other/notes.md", "notes\n");
        for (minute, text) in ["Stone.", "Moss.", "Ivy."].into_iter().enumerate() {
            it.home.write("keep/rooms/hall.yaml", &format!("name: Hall\ndescription: {text}\n"));
            it.home.git(&["add", "."]);
            let now = format!("2026-03-01T12:0{minute}:00Z");
            it.home.git_at(&now, &["commit", "-qm", text]);
        }
        for setting in ["uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"] {
            it.home.git(&["config", setting, "true"]);
        }
        it.home.git(&["config", "receive.denyCurrentBranch", "ignore"]);
        it
    }

    /// Clones the repository.
    fn clone(&self, options: &[&str]) -> Clone<'_> {
        let place = self.folder.path().join("clone");
        let url = format!("file://{}", self.home.path().display());
        let clone = Clone { origin: self, place };
        let arguments =
            [&["clone", "-q"], options, &[&url, clone.place.to_str().unwrap()]].concat();
        clone.git_in(self.folder.path(), &arguments);
        clone
    }
}

/// A clone.
struct Clone<'a> {
    origin: &'a Origin,
    place: PathBuf,
}

impl Clone<'_> {
    fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.place, arguments)
    }

    fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut git = Command::new("git");
        self.origin.home.isolate_environment(&mut git);
        let output = git.current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program in the clone; returns its exit code and what it prints.
    fn run(&self, line: &str) -> (Option<i32>, String) {
        let mut command = self.origin.home.palazzo_command("2026-03-01T13:00:00Z");
        command.env("PALAZZO_HOME", &self.place).args(line.split(' '));
        let output = command.output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), said.replace(self.place.to_str().unwrap(), "CLONE"))
    }

    #[track_caller]
    fn assert_runs(&self, line: &str, expected: &str) {
        let (code, said) = self.run(line);
        assert_eq!(code, Some(0), "{line}: {said}");
        assert!(said.contains(expected), "{line}: {said}");
    }

    /// The line of `palazzo doctor` on what is special.
    fn peculiarity(&self) -> String {
        let (_, said) = self.run("doctor");
        let lines = said.lines().skip_while(|it| !it.contains("HEAD       ")).skip(1);
        lines
            .take_while(|it| !it.contains("commits "))
            .map(str::trim)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Runs a command that git or Palazzo has printed.
fn run_printed(clone: &Clone<'_>, command: &str) {
    let words: Vec<_> = command.split(' ').collect();
    assert_eq!(words[..3], ["git", "-C", "CLONE"], "{command}");
    clone.git(&words[3..]);
}

#[test]
fn a_partial_clone_is_read_and_written_and_names_what_fetches_its_history() {
    for filter in ["--filter=blob:none", "--filter=tree:0"] {
        let origin = Origin::new();
        let clone = origin.clone(&[filter]);
        clone.assert_runs("check", "1 palace, 2 rooms");
        clone.assert_runs("show hall", "Ivy.");
        clone.assert_runs("search ivy", "Hall (room hall");
        clone.assert_runs("mv attic loft", "Renamed room `attic` to `loft`.");
        clone.assert_runs("mv loft garret", "Renamed room `loft` to `garret`.");
        assert_eq!(clone.git(&["status", "--porcelain"]), "", "{filter}");
        let command = "git -C CLONE fetch --refetch --no-filter";
        for line in ["show hall --at HEAD~3", "blame hall", "diff hall HEAD~4 HEAD~3"] {
            let (code, said) = clone.run(line);
            assert_eq!(code, Some(2), "{filter} {line}: {said}");
            let why = format!(
                "in the repository at `CLONE`: it is a partial clone, which has not fetched this \
                 part of the history; `{command}` fetches all of it"
            );
            assert!(said.contains(&why), "{filter} {line}: {said}");
        }
        let what = "partial clone: older versions may not be here; ";
        assert_eq!(clone.peculiarity(), format!("{what}{command} fetches them"));
        run_printed(&clone, command);
        clone.assert_runs("show hall --at HEAD~3", "Moss.");
        clone.assert_runs("blame hall", "Ada");
        clone.assert_runs("sync --setup", "may sync");
        clone.assert_runs("sync", "pushed 2 commits");
    }
}

#[test]
fn a_shallow_clone_says_where_its_history_is() {
    let origin = Origin::new();
    let clone = origin.clone(&["--depth=1"]);
    clone.assert_runs("check", "1 palace, 2 rooms");
    clone.assert_runs("log", "Ivy.");
    clone.assert_runs("mv attic loft", "Renamed room `attic` to `loft`.");
    let (code, said) = clone.run("show hall --at HEAD~2");
    assert_eq!(code, Some(2), "{said}");
    let command = "git -C CLONE fetch --unshallow";
    assert!(
        said.contains(&format!("a shallow clone: `{command}` fetches the older commits")),
        "{said}"
    );
    let what = "shallow clone: the history begins late; ";
    assert_eq!(clone.peculiarity(), format!("{what}{command} fetches the rest"));
    run_printed(&clone, command);
    clone.assert_runs("show hall --at HEAD~2", "Moss.");
    assert_eq!(clone.peculiarity(), "");
    clone.assert_runs("sync --setup", "may sync");
    clone.assert_runs("sync", "pushed 1 commit");
}

#[test]
fn a_sparse_checkout_names_what_it_leaves_out() {
    // With folders (cone) and with patterns.
    for (kind, patterns) in [("--cone", "keep/.palazzo"), ("--no-cone", "/keep/palace.toml")] {
        let origin = Origin::new();
        let clone = origin.clone(&[]);
        clone.git(&["sparse-checkout", "set", kind, patterns]);
        let command = "git -C CLONE sparse-checkout add keep";
        let (code, said) = clone.run("check");
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("1 palace, 0 rooms"), "{kind}: {said}");
        assert!(said.contains("this is a sparse checkout without "), "{kind}: {said}");
        assert!(said.contains(&format!("`{command}` checks them out")), "{kind}: {said}");
        assert!(clone.peculiarity().starts_with("sparse checkout: without "), "{kind}");
        run_printed(&clone, command);
        clone.assert_runs("check", "1 palace, 2 rooms");
        assert_eq!(clone.peculiarity(), "sparse checkout: with all files of this palace");
        clone.assert_runs("mv attic loft", "Renamed room `attic` to `loft`.");
        clone.assert_runs("log", "Moss.");
        clone.assert_runs("sync --setup", "may sync");
        clone.assert_runs("sync", "pushed 1 commit");
        assert!(!clone.place.join("other").exists(), "{kind}");
        assert_eq!(clone.git(&["status", "--porcelain"]), "", "{kind}");
    }
}

#[test]
fn a_palace_outside_of_the_sparse_checkout_is_named() {
    for kind in [&["--cone"][..], &["--no-cone"], &["--cone", "--sparse-index"]] {
        let origin = Origin::new();
        let clone = origin.clone(&[]);
        clone.git(&[&["sparse-checkout", "set"], kind, &["other"]].concat());
        for line in ["check", "show hall"] {
            let (code, said) = clone.run(line);
            assert_eq!(code, Some(2), "{said}");
            let why = "palazzo: the sparse checkout in CLONE leaves out keep; `git -C CLONE \
                       sparse-checkout add keep` checks it out\n";
            assert_eq!(said, why);
        }
        run_printed(&clone, "git -C CLONE sparse-checkout add keep");
        clone.assert_runs("check", "1 palace, 2 rooms");
    }
}

#[test]
fn the_head_of_a_jj_repository_is_always_detached() {
    let origin = Origin::new();
    let clone = origin.clone(&[]);
    clone.git(&["checkout", "-q", "--detach"]);
    let (_, said) = clone.run("mv attic loft");
    assert!(said.contains("`HEAD` is detached"), "{said}");
    std::fs::create_dir_all(clone.place.join(".jj/repo")).unwrap();
    std::fs::write(clone.place.join(".jj/.gitignore"), "/*\n").unwrap();
    let (code, said) = clone.run("mv loft garret");
    assert_eq!((code, said.as_str()), (Some(0), "Renamed room `loft` to `garret`.\n"));
    assert_snapshot!(clone.peculiarity(), @"jj repository: HEAD is always detached; jj bookmark set NAME -r @- names the commits, jj git push shares them");
    let (code, said) = clone.run("sync --setup");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("`jj git fetch` and `jj git push` synchronize it"), "{said}");
}

#[test]
fn a_repository_with_an_unknown_extension_is_only_read() {
    let origin = Origin::new();
    for name in ["fancyThing", "worktreeConfigs", "submodulePathConfig"] {
        let clone = origin.clone(&[]);
        clone.git(&["config", &format!("extensions.{name}"), "true"]);
        // Git ignores unknown extensions of version 0.
        clone.assert_runs("mv hall cave", "Renamed room `hall` to `cave`.");
        clone.assert_runs("undo", "room hall: moved from cave");
        clone.git(&["config", "core.repositoryFormatVersion", "1"]);
        let before = std::fs::read(clone.place.join(".git/index")).unwrap();
        clone.assert_runs("check", "1 palace, 2 rooms");
        clone.assert_runs("log", "Moss.");
        clone.assert_runs("show hall --at HEAD~3", "Moss.");
        let (code, said) = clone.run("mv attic loft");
        assert_eq!(code, Some(2), "{said}");
        let why = "which this version of Palazzo does not know: it is only read; `git -C CLONE config \
                   --get-regexp ^extensions` shows what it is";
        let name = name.to_lowercase();
        let uses = format!("the repository at `CLONE` uses the extension `{name}`, {why}");
        assert!(said.to_lowercase().contains(&uses.to_lowercase()), "{said}");
        assert!(clone.peculiarity().starts_with("read-only: "), "{}", clone.peculiarity());
        assert!(clone.place.join("keep/rooms/attic.yaml").exists());
        assert_eq!(std::fs::read(clone.place.join(".git/index")).unwrap(), before);
        std::fs::remove_dir_all(&clone.place).unwrap();
    }
}

#[test]
fn a_lone_name_is_used_for_commits() {
    for (config, expected) in [
        ("name = Grace", "Grace <grace@localhost>"),
        ("email = grace@example.org", "grace <grace@example.org>"),
        ("name = Grace\nemail = g@example.org", "Grace <g@example.org>"),
    ] {
        let home = Home::new();
        home.write_git_config(&format!("[maintenance]\nauto = false\n[user]\n{config}\n"));
        assert!(home.run_palazzo(&["init", "keep"]).status.success());
        let log = home.git(&["log", "-1", "--format=%an <%ae>%n%cn <%ce>"]);
        assert_eq!(log, format!("{expected}\n{expected}\n"));
    }
}
