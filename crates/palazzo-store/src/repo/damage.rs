//! Explains why the last commit of a repository cannot be read, with the git commands that repair
//! it.
//!
//! Nothing here changes anything: only the user knows whether a disk is not mounted, a permission
//! is missing, or an object is lost.

use crate::repo::config;
use crate::repo::repository_location;
use palazzo_core::model::{foreign_message, quote_for_shell, quoted};
use std::path::Path;

use gix::ObjectId;
use gix::refs::Target;

use crate::Error;
use crate::repo::references::{git_dir_of_ref, read_reflog};
use crate::repo::regular_file;
use crate::repo::repository::Repository;
use crate::repo::tree_diff;
use crate::repo::tree_lookup;

/// The maximum number of files of a commit that are read to check it.
const MAX_CHECKED_FILES: usize = 200;
/// The maximum number of reflog commits that are checked.
const MAX_CHECKED_COMMITS: usize = 1000;

/// Checks that `head` can be read with everything that it changed; without `head`, checks that
/// there never was a commit.
pub(crate) fn check_head_commit(
    repository: &Repository,
    head: Option<ObjectId>,
) -> Result<(), Error> {
    let Some(head) = head else { return check_unborn_branch(repository) };
    let git = repository.git();
    // In a partial clone, a missing object is no damage.
    if git.config_snapshot().string("extensions.partialClone").is_some() {
        return Ok(());
    }
    check_commit_is_readable(&git, head).map_err(|err| {
        let short = short_id(head);
        damaged_error(
            repository,
            format!(
                "its last commit, {short}, is incomplete: {}",
                foreign_message(&err.to_string())
            ),
        )
    })
}

/// Checks that a branch without a commit never had one: git deletes a branch's log with the branch.
pub(crate) fn check_unborn_branch(repository: &Repository) -> Result<(), Error> {
    let name = head_ref_name(repository);
    let log = git_dir_of_ref(repository, &name).join("logs").join(&name);
    match read_reflog(&log).is_empty() {
        true => Ok(()),
        false => Err(damaged_error(
            repository,
            format!("{} is missing, but its reflog exists", quoted(&name)),
        )),
    }
}

/// Explains an error of reading `HEAD`, with the repair commands.
pub(crate) fn explain_head_error(repository: &Repository, err: Error) -> Error {
    match err {
        Error::Git { .. } if repository.git().refs.try_find("HEAD").is_err() => {
            repository_location::unreadable_repository_error(&repository.work, &repository.git_dir)
        }
        Error::Git { source, .. } => damaged_error(
            repository,
            format!(
                "`HEAD` points to no readable commit: {}",
                foreign_message(&source.to_string())
            ),
        ),
        other => other,
    }
}

/// Reads a commit and all files that differ from its first parent.
fn check_commit_is_readable(git: &gix::Repository, id: ObjectId) -> gix::Result<()> {
    let found = git.find_commit(id)?;
    let parent = found.parent_ids().next().map(gix::Id::detach);
    // Beyond the boundary of a shallow clone there is nothing to compare with.
    let parent = parent.filter(|it| git.has_object(it));
    let was = parent.map(|it| tree_lookup::tree_of_commit(git, Some(it))).transpose()?;
    let now = Some(found.tree_id()?.detach());
    // Damage in the parent alone does not affect this commit.
    let changes =
        tree_diff::compare(git, was, now).or_else(|_| tree_diff::compare(git, None, now))?;
    let blobs = changes.iter().filter_map(|it| it.now).filter(|it| it.mode.is_blob());
    blobs.take(MAX_CHECKED_FILES).try_for_each(|it| git.find_blob(it.id).map(drop))
}

fn damaged_error(repository: &Repository, what: String) -> Error {
    let remedy = repair_advice(repository);
    Error::DamagedRepository { place: repository.work.clone(), what, remedy }
}

/// The options with which git runs no program that a repository names: somebody may have damaged it
/// to have these commands run.
const WITHOUT_PROGRAMS: &str = "-c core.fsmonitor=false -c core.hooksPath=/dev/null";

/// Returns repair advice: how to restore everything, and otherwise the newest readable commit.
fn repair_advice(repository: &Repository) -> String {
    let mut advice = missing_alternates_advice(&repository.common_dir);
    if config::may_name_programs(&repository.git_dir, &repository.common_dir) {
        advice.push(
            "read `.git/config` before you run git there: its settings may name programs, which \
             git runs"
                .to_owned(),
        );
    }
    let work = quote_for_shell(&repository.work.display().to_string());
    let git_there = format!("git -C {work} {WITHOUT_PROGRAMS}");
    advice.push(format!("`{git_there} fsck` lists what is missing; a fetch may restore it"));
    let (name, ids) = head_ref_and_reflog_commits(repository);
    let (git, file) = (repository.git(), git_dir_of_ref(repository, &name).join(&name));
    // Git does not replace an unreadable reference.
    let remove = match git.refs.try_find(name.as_str()) {
        Err(_) if name != "HEAD" => {
            format!("`rm {}`, ", quote_for_shell(&file.display().to_string()))
        }
        _ => String::new(),
    };
    match ids
        .into_iter()
        .take(MAX_CHECKED_COMMITS)
        .find(|it| check_commit_is_readable(&git, *it).is_ok())
    {
        Some(id) => advice.push(format!(
            "the newest readable commit in the reflog is {id}; if nothing else helps, {remove}`{git_there} \
             update-ref {} {id}` and `{git_there} reset` return to it and do not \
             change the files",
            quote_for_shell(&name)
        )),
        None => advice.push("the reflog has no readable commit".to_owned()),
    }
    advice.join("; ")
}

/// Lists the missing folders from which the repository borrows objects.
fn missing_alternates_advice(common_dir: &Path) -> Vec<String> {
    let list =
        regular_file::read_regular_file(&common_dir.join("objects/info/alternates")).ok().flatten();
    let list = String::from_utf8_lossy(&list.unwrap_or_default()).into_owned();
    let missing = |it: &&str| !it.is_empty() && !common_dir.join("objects").join(it).exists();
    let missing = list.lines().filter(missing);
    missing
        .map(|it| format!("objects are borrowed from {}, which is missing: mount it", quoted(it)))
        .collect()
}

/// Returns the reference of the last commit, and the commits in its reflog, newest first.
fn head_ref_and_reflog_commits(repository: &Repository) -> (String, Vec<ObjectId>) {
    let name = head_ref_name(repository);
    let folder = git_dir_of_ref(repository, &name);
    let logs = [folder.join("logs").join(&name), repository.git_dir.join("logs/HEAD")];
    (name, logs.iter().flat_map(|it| read_reflog(it)).collect())
}

/// Returns the branch that `HEAD` points to; `HEAD` if it points to a commit or is invalid.
fn head_ref_name(repository: &Repository) -> String {
    let head = repository.git().refs.try_find("HEAD").ok().flatten().map(|it| it.target);
    match head {
        Some(Target::Symbolic(name)) => name.as_bstr().to_string(),
        _ => "HEAD".to_owned(),
    }
}

fn short_id(id: ObjectId) -> String {
    id.to_hex_with_len(10).to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::test_repository::{TestHome, change_of_one_file, commit_ok, git_in};
    use crate::{Error, Store};

    const HALL: &str = "rooms/hall.yaml";

    /// Creates a palace with three commits of one room.
    fn scene_with_three_commits() -> TestHome {
        let scene = TestHome::with_repository();
        let mut store = scene.palace("keep");
        for (was, now) in [(None, "1\n"), (Some("1\n"), "2\n"), (Some("2\n"), "3\n")] {
            commit_ok(&mut store, &change_of_one_file(HALL, was, Some(now)));
        }
        scene
    }

    fn loose_object_path(scene: &TestHome, spec: &str) -> PathBuf {
        let id = scene.git(&["rev-parse", spec]);
        let (folder, name) = id.trim().split_at(2);
        scene.home.join(".git/objects").join(folder).join(name)
    }

    /// Reads all git files, by path.
    fn read_git_files(git_dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = walkdir::WalkDir::new(git_dir).into_iter().flatten();
        let files = files.filter(|it| it.file_type().is_file());
        let files = files.filter(|it| !it.path().starts_with(git_dir.join("palazzo")));
        files.map(|it| (it.path().to_owned(), fs::read(it.path()).unwrap())).collect()
    }

    /// Reads and tries to write; returns the reported error, and checks that nothing changed.
    #[track_caller]
    fn check_and_commit_error(store: &mut Store, git_dir: &Path) -> String {
        let before = read_git_files(git_dir);
        let text = store.read_file(HALL).unwrap();
        assert_eq!(text.as_deref(), Some("3\n"));
        let found = store.check_last_commit_readable().unwrap_err().to_string();
        let refused =
            store.commit(&change_of_one_file(HALL, Some("3\n"), Some("4\n"))).unwrap_err();
        assert!(matches!(refused, Error::DamagedRepository { .. }), "{refused:?}");
        assert_eq!(store.read_file(HALL).unwrap().as_deref(), Some("3\n"));
        assert_eq!(read_git_files(git_dir), before);
        found
    }

    #[test]
    fn a_damaged_last_commit_is_reported_with_the_newest_intact_one() {
        for spec in ["HEAD", "HEAD^{tree}", "HEAD:keep/rooms/hall.yaml"] {
            let scene = scene_with_three_commits();
            let (intact, object) =
                (scene.git(&["rev-parse", "HEAD~1"]), loose_object_path(&scene, spec));
            fs::remove_file(&object).unwrap();
            fs::write(&object, "torn").unwrap();
            let found = check_and_commit_error(&mut scene.palace("keep"), &scene.home.join(".git"));
            let remedy = format!("update-ref refs/heads/main {}`", intact.trim());
            assert!(found.contains(&remedy), "{spec}: {found}");
        }
    }

    #[test]
    fn an_empty_branch_file_is_reported() {
        let scene = scene_with_three_commits();
        let head = scene.git(&["rev-parse", "HEAD"]);
        fs::write(scene.home.join(".git/refs/heads/main"), "").unwrap();
        let found = check_and_commit_error(&mut scene.palace("keep"), &scene.home.join(".git"));
        assert!(found.contains(&format!("refs/heads/main {}`", head.trim())), "{found}");
        let remove = format!("`rm {}`", scene.home.join(".git/refs/heads/main").display());
        assert!(found.contains(&remove), "{found}");
    }

    #[test]
    fn a_missing_branch_is_reported_and_not_recreated() {
        let scene = scene_with_three_commits();
        let head = scene.git(&["rev-parse", "HEAD"]);
        fs::remove_file(scene.home.join(".git/refs/heads/main")).unwrap();
        let found = check_and_commit_error(&mut scene.palace("keep"), &scene.home.join(".git"));
        assert!(found.contains(&format!("update-ref refs/heads/main {}`", head.trim())), "{found}");
        assert!(scene.palace("keep").head().is_err());
        scene.git(&["update-ref", "refs/heads/main", head.trim()]);
        commit_ok(&mut scene.palace("keep"), &change_of_one_file(HALL, Some("3\n"), Some("4\n")));
    }

    #[test]
    fn an_empty_head_file_is_reported() {
        let scene = scene_with_three_commits();
        fs::write(scene.home.join(".git/HEAD"), "").unwrap();
        let found = check_and_commit_error(&mut scene.palace("keep"), &scene.home.join(".git"));
        assert!(found.contains("printf 'ref: refs/heads/main"), "{found}");
    }

    #[test]
    fn objects_on_an_unmounted_disk_are_reported_until_it_is_mounted() {
        let scene = scene_with_three_commits();
        scene.git(&["clone", "-q", "--shared", ".", "../shared"]);
        let shared = scene.home.with_file_name("shared");
        let (objects, away) = (scene.home.join(".git/objects"), scene.home.join("away"));
        fs::rename(&objects, &away).unwrap();
        let mut store = scene.store(&shared.join("keep"));
        let found = check_and_commit_error(&mut store, &shared.join(".git"));
        assert!(found.contains("which is missing: mount it"), "{found}");
        fs::rename(&away, &objects).unwrap();
        commit_ok(&mut store, &change_of_one_file(HALL, Some("3\n"), Some("4\n")));
        assert_eq!(git_in(&shared, &["show", "HEAD:keep/rooms/hall.yaml"]), "4\n");
    }

    #[test]
    fn unborn_shallow_and_partial_histories_are_not_damage() {
        let fresh = TestHome::new();
        fresh.init_repository();
        fresh.palace("keep").check_last_commit_readable().unwrap();
        let scene = scene_with_three_commits();
        scene.git(&["checkout", "-q", "--orphan", "new"]);
        scene.palace("keep").check_last_commit_readable().unwrap();
        scene.git(&["checkout", "-qf", "main"]);
        let origin = format!("file://{}", scene.home.display());
        scene.git(&["clone", "-q", "--depth", "1", &origin, "../shallow"]);
        scene.git(&["config", "uploadpack.allowFilter", "true"]);
        scene.git(&["clone", "-q", "--filter=tree:0", &origin, "../partial"]);
        for clone in ["shallow", "partial"] {
            let place = scene.home.with_file_name(clone);
            scene.store(&place.join("keep")).check_last_commit_readable().unwrap();
        }
    }

    #[test]
    fn unsupported_repository_formats_are_refused_by_name() {
        for (option, name) in
            [("--ref-format=reftable", "reftable"), ("--object-format=sha256", "SHA-256")]
        {
            let scene = TestHome::new();
            fs::create_dir_all(&scene.home).unwrap();
            scene.git(&["init", "-q", option]);
            let refused = scene
                .palace("keep")
                .commit(&change_of_one_file(HALL, None, Some("1\n")))
                .unwrap_err();
            assert!(refused.to_string().contains(name), "{refused}");
            assert!(scene.palace("keep").head().is_err());
        }
    }
}
