//! Reads the configuration of a repository, which may come from a stranger.
//!
//! Settings that name programs are respected only in the user's or the system's configuration:
//! those of the repository, and of the files that it includes, are removed from the configuration
//! that gix sees. Files are checked before they are read. A `git` subprocess reads the files
//! itself; [`scan_config`] reports what could not be disabled for it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::{BString, ByteSlice as _};
use gix::config::Source;

use crate::Error;
use crate::repo::regular_file;
use crate::repo::regular_file::{SizeLimit, is_missing_file_error};
use palazzo_core::model::path_text;

/// Sections that name programs, whatever their keys.
const PROGRAM_SECTIONS: [&str; 12] = [
    "alias",
    "browser",
    "credential",
    "difftool",
    "filter",
    "gpg",
    "guitool",
    "hook",
    "man",
    "mergetool",
    "pager",
    "trace2",
];
/// Other settings that name programs, or decide whether one is run.
const PROGRAM_KEYS: [(&str, &str); 24] = [
    ("commit", "gpgSign"),
    ("core", "alternateRefsCommand"),
    ("core", "askPass"),
    ("core", "editor"),
    ("core", "fsmonitor"),
    ("core", "gitProxy"),
    ("core", "hooksPath"),
    ("core", "pager"),
    ("core", "sshCommand"),
    ("diff", "command"),
    ("diff", "external"),
    ("diff", "textconv"),
    ("gc", "recentObjectsHook"),
    ("interactive", "diffFilter"),
    ("merge", "driver"),
    ("remote", "receivepack"),
    ("remote", "uploadpack"),
    ("remote", "vcs"),
    ("sequence", "editor"),
    ("ssh", "variant"),
    ("tag", "gpgSign"),
    ("tar", "command"),
    ("uploadpack", "packObjectsHook"),
    ("user", "signingKey"),
];
/// The extensions that git defines; the values that Palazzo cannot read are refused elsewhere.
const KNOWN_EXTENSIONS: [&str; 8] = [
    "compatobjectformat",
    "noop",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];
/// The version of the format of repositories in which extensions count.
const FORMAT_WITH_EXTENSIONS: i64 = 1;
/// The maximum number of files that a configuration may include.
const MAX_INCLUDED_FILES: usize = 100;

/// Checks the configuration files of a repository and all files that they include under any
/// condition; returns whether they may configure hooks that no option of a `git` subprocess disables.
pub(crate) fn scan_config(git_dir: &Path, common_dir: &Path) -> Result<bool, Error> {
    let mut may_have_hooks = false;
    let mut left = vec![common_dir.join("config"), git_dir.join("config.worktree")];
    let mut seen = 0;
    while let Some(file) = left.pop() {
        regular_file::check_regular_file(&file, SizeLimit::Bounded)?;
        seen += 1;
        if seen > MAX_INCLUDED_FILES {
            return Err(Error::NotRegularFile { file, what: "one of too many included files" });
        }
        if !file.exists() {
            continue;
        }
        match gix::config::File::from_path_no_includes(file.clone(), Source::Local) {
            Ok(config) => {
                let included = included_files(&config, &file);
                // Git evaluates includes by its own directory, user and prefix, and may find
                // another file.
                may_have_hooks |= has_hooks(&config) || !included.is_empty();
                left.extend(included);
            }
            // Git may be able to parse what gix cannot.
            Err(_) => may_have_hooks = true,
        }
    }
    Ok(may_have_hooks)
}

/// The settings of ordinary repositories: no program can be named by them.
const ORDINARY_SETTINGS: [(&str, &[&str]); 9] = [
    ("branch", &["description", "merge", "rebase", "remote"]),
    (
        "core",
        &[
            "autocrlf",
            "bare",
            "eol",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "symlinks",
        ],
    ),
    ("extensions", &["objectformat", "refstorage", "worktreeconfig"]),
    ("gc", &["auto", "autodetach", "pruneexpire"]),
    ("init", &["defaultbranch"]),
    ("maintenance", &["auto", "autodetach"]),
    ("pull", &["ff", "rebase"]),
    ("remote", &["fetch", "pushurl", "tagopt", "url"]),
    ("user", &["email", "name"]),
];

/// Returns whether a repository's own configuration has a setting by which git might run a program:
/// any that is not known to be ordinary.
pub(crate) fn may_name_programs(git_dir: &Path, common_dir: &Path) -> bool {
    let is_ordinary = |name: &str, key: &str| {
        let known = ORDINARY_SETTINGS.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        known.is_some_and(|(_, keys)| keys.iter().any(|it| it.eq_ignore_ascii_case(key)))
    };
    let is_suspicious =
        |file: PathBuf| match regular_file::check_regular_file(&file, SizeLimit::Bounded) {
            Ok(false) => false,
            Ok(true) => match gix::config::File::from_path_no_includes(file, Source::Local) {
                Ok(config) => config.sections().any(|section| {
                    let name = section.header().name().to_str_lossy().into_owned();
                    let mut keys = section.value_names();
                    keys.any(|it| !is_ordinary(&name, it.as_ref()))
                }),
                Err(_) => true,
            },
            Err(_) => true,
        };
    is_suspicious(common_dir.join("config")) || is_suspicious(git_dir.join("config.worktree"))
}

/// Removes the program settings of a repository's own configuration.
pub(crate) fn drop_program_settings(
    git: &gix::ThreadSafeRepository,
) -> gix::Result<gix::ThreadSafeRepository> {
    let mut git = git.to_thread_local();
    let mut config = git.config_snapshot_mut();
    let own = |it: &gix::config::file::SectionRef<'_>| {
        matches!(it.meta().source, Source::Local | Source::Worktree)
    };
    let sections = config.sections_and_ids().filter(|(it, _)| own(it));
    let sections: Vec<_> =
        sections.map(|(it, id)| (it.header().name().to_str_lossy().to_lowercase(), id)).collect();
    for (name, id) in sections {
        if PROGRAM_SECTIONS.contains(&name.as_str()) {
            config.remove_section_by_id(id);
            continue;
        }
        let Some(mut section) = config.section_mut_by_id(id) else { continue };
        for (_, key) in PROGRAM_KEYS.iter().filter(|(it, _)| *it == name) {
            while section.remove(key).is_some() {}
        }
    }
    config.commit()?;
    Ok(git.into_sync())
}

/// Returns true if a file configures hooks that no command line option disables.
fn has_hooks(config: &gix::config::File) -> bool {
    config.sections().any(|it| {
        let name = it.header().name().to_str_lossy().to_lowercase();
        name == "hook" || (name == "gc" && it.contains_value_name("recentObjectsHook"))
    })
}

/// Lists the files that `file` includes, under any condition.
fn included_files(config: &gix::config::File, file: &Path) -> Vec<PathBuf> {
    let is_include = |name: &[u8]| {
        name.eq_ignore_ascii_case(b"include") || name.eq_ignore_ascii_case(b"includeIf")
    };
    let sections = config.sections().filter(|it| is_include(it.header().name()));
    let paths = sections.flat_map(|it| it.values("path"));
    paths.map(|it| resolve_include(it, file).unwrap_or_default()).collect()
}

/// Resolves an include path in the configuration file `file`.
fn resolve_include(path: BString, file: &Path) -> Option<PathBuf> {
    let path = gix::path::from_bstring(path).ok()?;
    match path.strip_prefix("~") {
        Ok(rest) => Some(gix::path::env::home_dir()?.join(rest)),
        Err(_) => Some(file.parent()?.join(path)),
    }
}

/// Fails if the repository has a format that gix cannot read, before it is misread.
pub(crate) fn reject_unsupported_format(work: &Path, common_dir: &Path) -> Result<(), Error> {
    let path = common_dir.join("config");
    regular_file::check_regular_file(&path, SizeLimit::Bounded)?;
    let config = gix::config::File::from_path_no_includes(path, Source::Local);
    // An unreadable configuration is reported when the repository is opened.
    let Ok(config) = config else { return Ok(()) };
    let extension = |name: &str, value: &str| {
        config.string(name).is_some_and(|it| it.eq_ignore_ascii_case(value.as_bytes()))
    };
    let place = work.to_owned();
    if extension("extensions.refStorage", "reftable") {
        let remedy = "`git refs migrate --ref-format=files` converts it";
        return Err(Error::UnsupportedFormat { place, format: "reftable", remedy });
    }
    if extension("extensions.objectFormat", "sha256") {
        let remedy =
            "git cannot convert one: copy the files into a repository made with `git init`";
        return Err(Error::UnsupportedFormat { place, format: "SHA-256 object names", remedy });
    }
    Ok(())
}

/// Returns whether git has left objects on the other side, to fetch them when it needs them.
pub(crate) fn is_partial_clone(git: &gix::Repository) -> bool {
    let config = git.config_snapshot();
    let is_promised = |it: gix::config::file::SectionRef<'_>| {
        it.value("promisor").is_some_and(|it| it.eq_ignore_ascii_case(b"true"))
    };
    config.string("extensions.partialClone").is_some()
        || config.sections_by_name("remote").is_some_and(|mut it| it.any(is_promised))
}

/// Finds an extension that git does not define. Git ignores those of version 0 of the format.
pub(crate) fn find_unknown_extension(git: &gix::Repository) -> Option<String> {
    let config = git.config_snapshot();
    let version = config.integer("core.repositoryFormatVersion").unwrap_or_default();
    let sections = config.sections_by_name("extensions").into_iter().flatten();
    let is_unknown = |it: &str| !KNOWN_EXTENSIONS.contains(&it.to_lowercase().as_str());
    let mut unknown = sections.filter_map(|it| it.value_names().find(|name| is_unknown(name)));
    if version >= FORMAT_WITH_EXTENSIONS { unknown.next() } else { None }
}

/// The files of the user that rules for paths are read from: their settings, and their names in the
/// folder for git's configuration.
const RULE_FILES: [(&str, &str); 2] =
    [("core.excludesFile", "ignore"), ("core.attributesFile", "attributes")];
/// A file that does not exist: in a file that always does.
const MISSING_FILE: &str = "HEAD/none";

/// Lets `git` read no file of the user that cannot be read; returns a warning if there is one.
///
/// A service, a container or `sudo -u` often runs as one user with the home of another. Git goes on
/// without the settings, the ignored files and the attributes of that home; so does Palazzo.
pub(crate) fn leave_out_unreadable_files(
    git: &gix::ThreadSafeRepository,
) -> gix::Result<(gix::ThreadSafeRepository, Option<String>)> {
    let mut git = git.to_thread_local();
    let mut env = gix::path::env::var;
    let settings = [Source::Git, Source::User].map(|it| it.storage_location(&mut env));
    let mut unreadable = settings.into_iter().flatten().find_map(|it| read_error(&it));
    let missing = gix::path::into_bstr(git.git_dir().join(MISSING_FILE))?.into_owned();
    for (key, name) in RULE_FILES {
        let chosen = git.config_snapshot().trusted_path(key).ok().flatten();
        let file = chosen.or_else(|| gix::path::env::xdg_config(name, &mut env));
        if let Some(error) = file.as_deref().and_then(read_error) {
            unreadable = unreadable.or(Some(error));
            let mut config = git.config_snapshot_mut();
            config.set_raw_value(key, missing.as_bstr())?;
            config.commit()?;
        }
    }
    let warning = unreadable.map(|(file, error)| {
        format!(
            "git's settings, ignored files and attributes of the user are left out as far as they \
             cannot be read: `{}` ({error}); set HOME to the home of the user who runs Palazzo, or \
             make the file readable",
            path_text(file)
        )
    });
    Ok((git.into_sync(), warning))
}

/// Returns the file with the reason why it cannot be read; `None`: it can be, or does not exist.
fn read_error(file: &Path) -> Option<(PathBuf, io::Error)> {
    // A FIFO would not answer; it is refused where the file is used.
    if std::fs::metadata(file).is_ok_and(|it| !it.is_file()) {
        return None;
    }
    match File::open(file) {
        Err(err) if !is_missing_file_error(&err) => Some((file.to_owned(), err)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use crate::test_repository::{TestHome, change_of_files, change_of_one_file, commit_ok};
    use crate::{CommitOutcome, CommitWarning, Error, Store};
    use palazzo_core::model::SigningMode;

    const HALL: &str = "rooms/hall.yaml";

    /// Runs the test `name` in a process whose user configuration is `config`.
    fn run_as_user_with(name: &str, config: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("gitconfig");
        fs::write(&file, config).unwrap();
        let mut run = Command::new(std::env::current_exe().unwrap());
        run.env("GIT_CONFIG_GLOBAL", file).env("GIT_CONFIG_NOSYSTEM", "1").env("PALAZZO_RUN", "1");
        let name = format!("store::repo::config::tests::{name}");
        let output = run.args(["--exact", &name]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }

    fn store_with_user_config(scene: &TestHome) -> Store {
        let mut store = scene.palace("keep");
        store.repository.isolated = false;
        store
    }

    /// Creates a signing key and returns its path.
    fn create_signing_key(folder: &std::path::Path) -> String {
        let key = folder.join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "ada@example.org", "-f"])
            .arg(&key)
            .status();
        let Ok(made) = made else {
            panic!("this test needs ssh-keygen, which comes with git's ssh");
        };
        assert!(made.success());
        key.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_user_who_signs_commits_gets_them_signed() {
        let folder = tempfile::tempdir().unwrap();
        let name = "a_user_who_signs_commits_gets_them_signed";
        if std::env::var_os("PALAZZO_RUN").is_none() {
            let key = create_signing_key(folder.path());
            let config = format!(
                "[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n"
            );
            return run_as_user_with(name, &config);
        }
        let scene = TestHome::with_repository();
        // A stranger's repository can neither select another program nor turn signing off.
        scene.git(&["config", "gpg.ssh.program", "/nonexistent/program"]);
        scene.git(&["config", "commit.gpgSign", "false"]);
        commit_ok(
            &mut store_with_user_config(&scene),
            &change_of_one_file(HALL, None, Some("x\n")),
        );
        let commit = scene.git(&["cat-file", "commit", "HEAD"]);
        assert!(commit.contains("-----BEGIN SSH SIGNATURE-----"), "{commit}");
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[test]
    fn when_git_cannot_commit_the_files_are_as_before() {
        if std::env::var_os("PALAZZO_RUN").is_none() {
            let config = "[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n\
                          [user]\n\tsigningKey = /nonexistent/key\n";
            return run_as_user_with("when_git_cannot_commit_the_files_are_as_before", config);
        }
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        commit_ok(&mut store, &change_of_one_file(HALL, None, Some("1\n")));
        let mut store = store_with_user_config(&scene);
        store.set_signing_mode(SigningMode::Required);
        let both = [(HALL, Some("1\n"), Some("2\n")), ("scrolls/x/new.md", None, Some("new\n"))];
        let refused = store.commit(&change_of_files(&both)).unwrap_err();
        assert!(matches!(refused, Error::NotSigned { .. }), "{refused}");
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "1\n");
        assert!(!scene.home.join("keep/scrolls").exists());
        assert_eq!(scene.status(), "");
        assert!(!scene.home.join(".git/index.lock").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_signing_program_that_was_stopped_is_started_again_only_if_it_must_sign() {
        use std::os::unix::fs::PermissionsExt as _;

        let name = "a_signing_program_that_was_stopped_is_started_again_only_if_it_must_sign";
        if std::env::var_os("PALAZZO_RUN").is_none() {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("program");
            fs::write(&program, "#!/bin/sh\necho run >> $0.runs\nexec sleep 600\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let program = program.display();
            let config = format!("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {program}\n");
            return run_as_user_with(name, &config);
        }
        let scene = TestHome::with_repository();
        let mut store = store_with_user_config(&scene);
        store.writer.signing.time_limit = std::time::Duration::from_secs(1);
        let git = store.repository().unwrap().unwrap().git();
        let runs = format!("{}.runs", git.config_snapshot().string("gpg.program").unwrap());
        let count_runs = || fs::read_to_string(&runs).unwrap_or_default().lines().count();
        let mut write = |mode, was: Option<&str>, now| {
            store.set_signing_mode(mode);
            match store.commit(&change_of_one_file(HALL, was, Some(now))) {
                Ok(CommitOutcome::Done(report)) => Ok(report.warnings),
                other => Err(other.unwrap_err().to_string()),
            }
        };
        let first = write(SigningMode::Auto, None, "1\n").unwrap();
        assert!(matches!(&first[..], [CommitWarning::NotSigned(_)]), "{first:?}");
        assert_eq!(write(SigningMode::Auto, Some("1\n"), "2\n"), Ok(Vec::new()));
        assert_eq!(count_runs(), 1);
        let refused = write(SigningMode::Required, Some("2\n"), "3\n").unwrap_err();
        let why = "had not finished after 1 seconds and was stopped; unlock the key";
        assert!(refused.contains(why), "{refused}");
        assert_eq!(count_runs(), 2);
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "2\n");
        assert_eq!(write(SigningMode::Never, Some("2\n"), "3\n"), Ok(Vec::new()));
        assert_eq!(scene.status(), "");
        scene.assert_fsck_clean();
    }

    #[cfg(unix)]
    #[test]
    fn signing_ends_in_time_although_head_keeps_moving() {
        use std::os::unix::fs::PermissionsExt as _;

        if std::env::var_os("PALAZZO_RUN").is_none() {
            let folder = tempfile::tempdir().unwrap();
            let program = folder.path().join("program");
            // Each signature takes a part of the time, and `HEAD` moves meanwhile.
            let script = "#!/bin/sh\necho run >> $0.runs\n\
                git -C \"$(cat $0.home)\" -c commit.gpgSign=false commit -q --allow-empty -m x || exit 1\n\
                sleep 0.5\necho '[GNUPG:] SIG_CREATED ' >&2\n\
                printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nAA\\n-----END PGP SIGNATURE-----\\n'\n";
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let program = program.display();
            let config = format!("[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = {program}\n");
            return run_as_user_with("signing_ends_in_time_although_head_keeps_moving", &config);
        }
        let scene = TestHome::with_repository();
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("1\n")));
        let mut store = store_with_user_config(&scene);
        store.writer.signing.time_limit = std::time::Duration::from_secs(2);
        let git = store.repository().unwrap().unwrap().git();
        let program = git.config_snapshot().string("gpg.program").unwrap().to_string();
        fs::write(format!("{program}.home"), scene.home.to_str().unwrap()).unwrap();
        let count_runs =
            || fs::read_to_string(format!("{program}.runs")).unwrap_or_default().lines().count();
        let CommitOutcome::Done(report) =
            store.commit(&change_of_one_file(HALL, Some("1\n"), Some("2\n"))).unwrap()
        else {
            panic!()
        };
        assert!(matches!(&report.warnings[..], [CommitWarning::NotSigned(_)]), "{report:?}");
        assert!((1..=5).contains(&count_runs()), "{}", count_runs());
        assert_eq!(scene.read_file("keep/rooms/hall.yaml"), "2\n");
        store.set_signing_mode(SigningMode::Required);
        let refused = store.commit(&change_of_one_file(HALL, Some("2\n"), Some("3\n")));
        assert!(matches!(refused, Err(Error::NotSigned { .. })), "{refused:?}");
        assert!((2..=10).contains(&count_runs()), "{}", count_runs());
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn signing_settings_of_a_repository_are_ignored() {
        let scene = TestHome::with_repository();
        let ran = scene.home.with_file_name("ran");
        let program = scene.home.with_file_name("program");
        fs::write(&program, format!("#!/bin/sh\ntouch {}\n", ran.display())).unwrap();
        scene.git(&["config", "commit.gpgSign", "true"]);
        scene.git(&["config", "gpg.program", program.to_str().unwrap()]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, None, Some("x\n")));
        assert!(!scene.git(&["cat-file", "commit", "HEAD"]).contains("SIGNATURE"));
        assert!(!ran.exists());
    }

    #[test]
    fn only_ordinary_settings_are_known_to_name_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let may_name_programs = |config: &str| {
            fs::write(folder.path().join("config"), config).unwrap();
            super::may_name_programs(folder.path(), folder.path())
        };
        let ordinary = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = u\n\tfetch = f\n\
                        [branch \"main\"]\n\tremote = origin\n";
        assert!(!may_name_programs(ordinary));
        for setting in [
            "[filter \"x\"]\n\tclean = run\n",
            "[pager]\n\tfsck = run\n",
            "[core]\n\tsshCommand = run\n",
            "[remote \"origin\"]\n\tuploadpack = run\n",
            "[include]\n\tpath = more\n",
            "[alias]\n\tx = !run\n",
            "[unclosed",
        ] {
            assert!(may_name_programs(&format!("{ordinary}{setting}")), "{setting}");
        }
    }
}
