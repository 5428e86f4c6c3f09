//! Making a change: the one order of steps after which nothing is lost, whoever dies when.
//!
//! Our lock, git's index lock, compare, write the new files beside the old and
//! the objects, make both durable; put the files in place, write the new index
//! beside the old, move `HEAD`, make all that durable; put the index in place.
//! Until `HEAD` has moved, every failure undoes the files.

use std::path::Path;
use std::time::{Duration, Instant};

use gix::ObjectId;

use crate::model::{Change, CommitId, Edit, LARGEST_FILE};

use crate::store::repo::repository::Repository;
use crate::store::repo::{damage, disk, operation, paths};
use crate::store::write::commit::Draft;
use crate::store::write::commit_steps::CommitSteps;
use crate::store::write::index::Staging;
use crate::store::write::lock::Turn;
use crate::store::write::objects::ObjectWriter;
use crate::store::write::progress::Progress;
use crate::store::write::write_files::Writing;
use crate::store::write::{fsync, index_repair, overwritten};
use crate::store::{Done, Error, Outcome, Store, Warning};

/// In how many steps a file is written: as an object, beside the old, in its place.
const STEPS: usize = 3;
const CACHE: usize = 1024 * 1024;
/// For how long a commit is repeated that failed because git moved something at that moment.
pub(crate) const MOMENT: Duration = Duration::from_millis(500);
/// For how long while `git gc` runs.
pub(crate) const COLLECTION: Duration = Duration::from_secs(5);
/// How long to wait before it is repeated.
pub(crate) const PAUSE: Duration = Duration::from_millis(40);

/// Makes `change`, or finds that it is out of date.
pub(crate) fn make(store: &mut Store, change: &Change) -> Result<Outcome, Error> {
    for edit in &change.edits {
        check(edit)?;
    }
    let edits: Vec<&Edit> = change.edits.iter().filter(|it| it.was != it.now).collect();
    match edits.as_slice() {
        [] => Ok(Outcome::Done(Done::default())),
        edits if change.commit => commit_or_repeat(store, change, edits),
        edits => write_files(store, change, edits),
    }
}

/// Commits the files of `change` as they are, with nothing changed.
pub(crate) fn commit_as_they_are(store: &mut Store, change: &Change) -> Result<Outcome, Error> {
    commit_or_repeat(store, change, &change.edits.iter().collect::<Vec<_>>())
}

/// Checks that what is written can be read again.
fn check(edit: &Edit) -> Result<(), Error> {
    paths::check(&edit.path)?;
    if edit.path.matches('/').count() > disk::DEEPEST {
        return Err(Error::path(&edit.path, "it lies too deep"));
    }
    if edit.now.as_ref().is_some_and(|it| it.len() > LARGEST_FILE) {
        return Err(Error::path(&edit.path, "it would be larger than 1 MiB"));
    }
    Ok(())
}

fn write_files(store: &Store, change: &Change, edits: &[&Edit]) -> Result<Outcome, Error> {
    store.check_still_there()?;
    // Nothing is committed here, so a repository that cannot be opened is in nobody's way.
    let repository = store.repository().ok().flatten();
    let begin = |it: &Repository| Turn::begin(it, &paths_of(edits), &store.patience);
    let turn = repository.as_deref().map(begin).transpose()?;
    store.check_still_there()?;
    let writing = match Writing::compare(&store.palace, edits)? {
        Ok(writing) => writing,
        Err(stale) => return Ok(Outcome::Stale(stale)),
    };
    if let (Some(repository), Some(turn)) = (&repository, &turn) {
        overwritten::keep(repository, change, edits, turn, store.patience.head)?;
    }
    let settle = |folders| fsync::settle(&[&store.palace], || folders);
    let written = keep_or_undo(writing, turn.as_ref(), |writing| {
        let stale = writing.settle_and_put_in_place()?;
        if !stale.is_empty() {
            return Ok(Err(stale));
        }
        settle(writing.touched_folders()).map(|()| Ok(writing.touched_folders()))
    })?;
    let folders = match written {
        Ok(folders) => folders,
        Err(stale) => return Ok(Outcome::Stale(stale)),
    };
    // What was kept aside must be gone for good, for without a commit to tell otherwise it would
    // be put back.
    settle(folders)?;
    Ok(Outcome::Done(Done::default()))
}

/// Prepares the new files and keeps what `write` makes of them if all goes well; else undoes it,
/// or leaves that to be mended.
fn keep_or_undo<T>(
    mut writing: Writing<'_>,
    turn: Option<&Turn>,
    write: impl FnOnce(&mut Writing<'_>) -> Result<Result<T, Vec<String>>, Error>,
) -> Result<Result<T, Vec<String>>, Error> {
    let prepared = writing.prepare_all().and_then(|()| match turn {
        Some(turn) => turn.note_fresh(writing.fresh()),
        None => Ok(()),
    });
    let written = prepared.and_then(|()| write(&mut writing));
    let refusal = match &written {
        Ok(Ok(_)) => {
            writing.keep();
            return written;
        }
        Ok(Err(_)) => "somebody else was changing the same files".to_owned(),
        Err(err) => err.in_full(),
    };
    if let Err(err) = writing.undo(&refusal) {
        if let Some(turn) = turn {
            turn.leave_to_mend();
        }
        return Err(err);
    }
    written
}

/// Commits, and repeats what failed because git moved objects or references at that moment.
fn commit_or_repeat(store: &mut Store, change: &Change, edits: &[&Edit]) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let mut done = commit_files(store, change, edits);
    while let Err(Error::Git { .. } | Error::Damaged { .. }) = &done {
        // `git gc` packs what it removes, and `git pack-refs` too: a moment later it is there. What
        // it deletes of another writer's, that one writes again.
        let patience = if store.is_collected() { COLLECTION } else { MOMENT };
        if begun.elapsed() > patience {
            break;
        }
        store.restore_pruned();
        std::thread::sleep(PAUSE);
        done = commit_files(store, change, edits);
    }
    let repository = store.repository().ok().flatten();
    done.map_err(|err| match repository.filter(|it| it.head().is_err()) {
        Some(repository) => damage::explain(&repository, err),
        None => err,
    })
}

fn commit_files(store: &mut Store, change: &Change, edits: &[&Edit]) -> Result<Outcome, Error> {
    store.check_still_there()?;
    let repository = store.repository_or_new()?;
    let turn = Turn::begin(&repository, &paths_of(edits), &store.patience)?;
    store.check_still_there()?;
    operation::refuse_if_dropped(&repository.git_dir, &repository.work)?;
    check_whole(&mut store.whole, &repository, repository.head()?)?;
    let mut git = repository.git();
    // The same few trees are read again at each step.
    git.object_cache_size_if_unset(CACHE);
    let staging = index_of(store, &repository, &git, &turn)?;
    turn.note_index_lock(staging.lock_inode())?;
    let progress = Progress::begin(store.listener.as_ref(), edits.len() * STEPS);
    let (repository, git, turn) = (repository.as_ref(), &git, &turn);
    let patience = store.patience;
    let steps = CommitSteps { repository, git, change, edits, turn, patience, progress };
    steps.refuse(&staging)?;
    take_steps(store, &steps, staging)
}

/// Writes the files and the commit, with all locks held.
fn take_steps(
    store: &mut Store,
    steps: &CommitSteps<'_>,
    mut staging: Staging<'_>,
) -> Result<Outcome, Error> {
    let CommitSteps { repository, git, edits, turn, .. } = *steps;
    let palace = store.palace.clone();
    let writing = match Writing::compare(&palace, edits)? {
        Ok(writing) => writing.telling(steps.progress.clone()),
        Err(stale) => {
            store.index = Some(staging.release());
            return Ok(Outcome::Stale(stale));
        }
    };
    let head = repository.head()?;
    check_whole(&mut store.whole, repository, head)?;
    let mut writer = ObjectWriter::new(git, &repository.common_dir);
    let drafts = steps.drafts(&mut writer, &staging, head);
    let drafts = drafts.map_err(|err| repository.error("compare", err))?;
    let mut folders = None;
    let made = keep_or_undo(writing, Some(turn), |writing| {
        steps.record(&mut writer, &drafts, head, |writer| {
            // One wait for the new files and the objects together; only then may files take the
            // place of others, and only then may `HEAD` speak of the objects.
            steps.settle(writer, writing.temporaries())?;
            if folders.is_some() {
                return Ok(Vec::new()); // They are in place since the last attempt.
            }
            let stale = put_in_place(writing, &mut staging, &drafts);
            folders = Some(writing.touched_folders());
            stale
        })
    })?;
    let commit = match made {
        Ok(made) => made,
        Err(stale) => return Ok(Outcome::Stale(stale)),
    };
    store.whole = commit.or(store.whole);
    let mut warnings = steps.finish(folders.unwrap_or_default());
    warnings.extend(replace_index(store, staging, turn));
    if let Err(err) = store.keep_until_collected(writer.into_objects()) {
        warnings.push(Warning::Objects(err.in_full()));
    }
    let commit = commit.map(|id| CommitId(id.to_string()));
    Ok(Outcome::Done(Done { commit, warnings }))
}

/// Checks that the last commit can be read, unless that was found before.
fn check_whole(
    whole: &mut Option<ObjectId>,
    repository: &Repository,
    head: Option<ObjectId>,
) -> Result<(), Error> {
    if head.is_none() || head != *whole {
        damage::check(repository, head)?;
        *whole = head;
    }
    Ok(())
}

/// Takes the index, as true to the last commit as that left it.
fn index_of<'a>(
    store: &mut Store,
    repository: &'a Repository,
    git: &gix::Repository,
    turn: &Turn,
) -> Result<Staging<'a>, Error> {
    let mut note = |path: &Path, inode: u64| turn.note_lock_file(path, inode);
    let kept = store.index.take();
    let mut staging = Staging::open(repository, git, kept, &store.patience, &mut note)?;
    if staging.is_foreign() {
        index_repair::mend(repository, &mut staging)?;
    }
    Ok(staging)
}

/// Puts the new index in place of the old; the next writer repairs it if that fails.
fn replace_index(store: &mut Store, staging: Staging<'_>, turn: &Turn) -> Option<Warning> {
    match staging.commit() {
        Ok(kept) => {
            store.index = Some(kept);
            None
        }
        Err(err) => {
            turn.leave_to_mend();
            Some(Warning::Index(err.in_full()))
        }
    }
}

/// Puts the files in their places, and what git is to know of them into the new index.
fn put_in_place(
    writing: &mut Writing<'_>,
    staging: &mut Staging<'_>,
    drafts: &[Draft],
) -> Result<Vec<String>, Error> {
    let stale = writing.put_in_place()?;
    if stale.is_empty() {
        stage(staging, drafts, writing);
        staging.write()?;
    }
    Ok(stale)
}

/// Enters the files as they are now, by the last draft, into the index.
fn stage(staging: &mut Staging<'_>, drafts: &[Draft], writing: &Writing<'_>) {
    let files = drafts.last().map(|it| it.files.as_slice()).unwrap_or_default();
    let files = files.iter().zip(writing.stats());
    staging.put_all(files.map(|((path, held), stat)| (path.as_str().into(), *held, stat)));
}

fn paths_of(edits: &[&Edit]) -> Vec<String> {
    edits.iter().map(|it| it.path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::test_repository::{Scene, change, changes, done, git_in, try_git};

    const HALL: &str = "rooms/hall.yaml";

    #[test]
    fn the_first_change_makes_a_repository_at_the_home_and_commits() {
        let scene = Scene::new();
        let mut store = scene.palace("keep");
        let made = done(&mut store, &change(HALL, None, Some("name: Hall\n")));
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/hall.yaml"]), "name: Hall\n");
        assert_eq!(scene.git(&["branch", "--show-current"]), "main\n");
        assert_eq!(fs::read_dir(scene.home.join(".git/hooks")).unwrap().count(), 0);
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }

    #[test]
    fn a_commit_names_the_client_the_committer_and_the_moment() {
        let scene = Scene::new();
        done(&mut scene.palace("keep"), &change(HALL, None, Some("x\n")));
        let format = "%an <%ae> %ad%n%cn <%ce> %cd%n%B";
        let shown = scene.git(&["log", "-1", "--date=iso", &format!("--format={format}")]);
        insta::assert_snapshot!(shown.trim(), @"
        Claude Desktop <claude-desktop@palazzo.invalid> 2030-03-17 17:46:40 +0000
        palazzo <palazzo@localhost> 2030-03-17 17:46:40 +0000
        room hall: build

        The hall has two doors now.

        Palazzo-Tool: build_room
        ");
    }

    #[test]
    fn the_committer_is_whom_git_is_configured_for() {
        let scene = Scene::of_a_person();
        done(&mut scene.palace("keep"), &change(HALL, None, Some("x\n")));
        assert_eq!(
            scene.git(&["log", "-1", "--format=%an / %cn <%ce>"]),
            "Claude Desktop / Ada <ada@example.org>\n"
        );
    }

    #[test]
    fn writing_replacing_and_deleting_leave_git_clean_and_sound() {
        let scene = Scene::new();
        let mut store = scene.palace("keep");
        let deep = "scrolls/a/b/c/d/one.md";
        done(&mut store, &changes(&[(HALL, None, Some("1\n")), (deep, None, Some("one\n"))]));
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        done(&mut store, &change(deep, Some("one\n"), None));
        assert_eq!(scene.status(), "");
        assert!(!scene.home.join("keep/scrolls").exists());
        assert_eq!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "keep/rooms/hall.yaml\n");
        done(&mut store, &change(HALL, Some("2\n"), None));
        assert_eq!(scene.status(), "");
        assert!(scene.home.join("keep").is_dir());
        assert_eq!(scene.log().lines().count(), 4);
        scene.assert_sound();
    }

    #[test]
    fn what_a_person_has_staged_changed_or_left_untracked_stays_so() {
        let scene = Scene::of_a_person();
        scene.put("other/kept.md", "1\n");
        scene.put("sub/keep/rooms/old.yaml", "old\n");
        scene.git(&["add", "."]);
        scene.git(&["commit", "-qm", "more"]);
        scene.put("staged.md", "staged\n");
        scene.git(&["add", "staged.md"]);
        scene.put("notes.md", "changed\n");
        scene.put("untracked.md", "untracked\n");
        scene.put("sub/keep/rooms/mine.yaml", "mine\n");
        let before = scene.status();
        let mut store = scene.palace("sub/keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(scene.status(), before);
        let touched = scene.git(&["log", "-2", "--format=", "--name-only"]);
        assert_eq!(touched, "sub/keep/rooms/hall.yaml\nsub/keep/rooms/hall.yaml\n");
        // Git caches trees in the index; a stale one would bring the old file back here.
        scene.git(&["commit", "-qm", "by hand"]);
        assert_eq!(scene.git(&["show", "HEAD:sub/keep/rooms/hall.yaml"]), "2\n");
        assert_eq!(scene.git(&["show", "HEAD:staged.md"]), "staged\n");
        done(&mut store, &change(HALL, Some("2\n"), Some("3\n")));
        scene.put("staged.md", "again\n");
        scene.git(&["commit", "-qam", "by hand again"]);
        assert_eq!(scene.git(&["show", "HEAD:sub/keep/rooms/hall.yaml"]), "3\n");
        assert_eq!(scene.git(&["write-tree"]), scene.git(&["rev-parse", "HEAD^{tree}"]));
        scene.assert_sound();
    }

    #[test]
    fn a_branch_without_a_commit_gets_its_first() {
        let scene = Scene::new();
        scene.init();
        scene.put("staged.md", "staged\n");
        scene.git(&["add", "staged.md"]);
        done(&mut scene.palace("keep"), &change(HALL, None, Some("x\n")));
        assert_eq!(scene.status(), "A  staged.md\n");
        assert_eq!(scene.git(&["ls-tree", "-r", "--name-only", "HEAD"]), "keep/rooms/hall.yaml\n");
        scene.assert_sound();
    }

    #[test]
    fn a_detached_head_moves_alone() {
        let scene = Scene::of_a_person();
        scene.git(&["checkout", "-q", "--detach"]);
        let made = done(&mut scene.palace("keep"), &change(HALL, None, Some("x\n")));
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).trim(), made.unwrap().0);
        assert_eq!(scene.git(&["log", "--format=%s", "main"]), "begin\n");
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }

    #[test]
    fn a_linked_worktree_commits_to_its_own_branch() {
        let scene = Scene::of_a_person();
        scene.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
        let side = scene.home.with_file_name("side");
        let mut store = scene.store(&side.join("keep"));
        done(&mut store, &change(HALL, None, Some("1\n")));
        done(&mut store, &change(HALL, Some("1\n"), Some("2\n")));
        assert_eq!(git_in(&side, &["show", "side:keep/rooms/hall.yaml"]), "2\n");
        assert_eq!(git_in(&side, &["status", "--porcelain"]), "");
        assert_eq!(scene.log(), "Ada: begin\n");
        scene.assert_sound();
    }

    #[test]
    fn what_is_no_longer_as_believed_is_told_and_nothing_is_written() {
        let scene = Scene::new();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        let stale =
            changes(&[(HALL, Some("0\n"), Some("2\n")), ("rooms/b.yaml", None, Some("b\n"))]);
        assert_eq!(store.make(&stale).unwrap(), Outcome::Stale(vec![HALL.to_owned()]));
        let there = change(HALL, None, Some("2\n"));
        assert_eq!(store.make(&there).unwrap(), Outcome::Stale(vec![HALL.to_owned()]));
        let gone = change("rooms/c.yaml", Some("c\n"), None);
        assert_eq!(store.make(&gone).unwrap(), Outcome::Stale(vec!["rooms/c.yaml".to_owned()]));
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "1\n");
        assert!(!scene.home.join("keep/rooms/b.yaml").exists());
        assert_eq!(scene.log().lines().count(), 1);
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_hand_edit_is_committed_first_under_the_persons_name() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        scene.put("keep/rooms/hall.yaml", "by hand\n");
        done(&mut store, &change(HALL, Some("by hand\n"), Some("2\n")));
        assert_eq!(
            scene.log(),
            "Claude Desktop: room hall: build\nAda: hand edit: rooms/hall.yaml\n\
             Claude Desktop: room hall: build\nAda: begin\n"
        );
        assert_eq!(scene.git(&["show", "HEAD~1:keep/rooms/hall.yaml"]), "by hand\n");
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }

    #[test]
    fn files_git_has_never_seen_are_committed_first_too_in_one_commit() {
        let scene = Scene::new();
        scene.put("keep/rooms/a.yaml", "a\n");
        scene.put("keep/rooms/b.yaml", "b\n");
        let both = [
            ("rooms/a.yaml", Some("a\n"), Some("A\n")),
            ("rooms/b.yaml", Some("b\n"), None),
            ("rooms/c.yaml", None, Some("C\n")),
        ];
        done(&mut scene.palace("keep"), &changes(&both));
        assert_eq!(scene.log(), "Claude Desktop: room hall: build\nsomeone: hand edit: 2 files\n");
        let first = scene.git(&["ls-tree", "-r", "--name-only", "HEAD~1"]);
        assert_eq!(first, "keep/rooms/a.yaml\nkeep/rooms/b.yaml\n");
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }

    #[test]
    fn a_deletion_by_hand_is_committed_before_the_file_comes_back() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        fs::remove_file(scene.home.join("keep/rooms/hall.yaml")).unwrap();
        done(&mut store, &change(HALL, None, Some("2\n")));
        let log = scene.log();
        assert!(log.contains("Ada: hand edit: rooms/hall.yaml"), "{log}");
        assert!(!try_git(&scene.home, &["show", "HEAD~1:keep/rooms/hall.yaml"]).status.success());
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn what_was_staged_and_then_changed_is_kept_in_the_history() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        scene.put("keep/rooms/hall.yaml", "staged\n");
        scene.git(&["add", "keep"]);
        scene.put("keep/rooms/hall.yaml", "edited\n");
        done(&mut store, &change(HALL, Some("edited\n"), Some("2\n")));
        let held = |at: &str| scene.git(&["show", &format!("{at}:keep/rooms/hall.yaml")]);
        assert_eq!(held("HEAD~2"), "staged\n");
        assert_eq!(held("HEAD~1"), "edited\n");
        assert_eq!(held("HEAD"), "2\n");
        assert!(scene.log().contains("Ada: hand edit, as staged: rooms/hall.yaml"));
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }

    #[test]
    fn when_there_is_nothing_to_do_nothing_is_committed() {
        let scene = Scene::new();
        let mut store = scene.palace("keep");
        assert_eq!(done(&mut store, &change(HALL, Some("1\n"), Some("1\n"))), None);
        assert_eq!(done(&mut store, &changes(&[])), None);
        assert!(!scene.home.exists());
    }

    #[test]
    fn without_committing_files_are_written_and_git_is_left_alone() {
        let scene = Scene::new();
        let mut store = scene.palace("keep");
        let mut first = change(HALL, None, Some("1\n"));
        first.commit = false;
        assert_eq!(done(&mut store, &first), None);
        assert_eq!(scene.text("keep/rooms/hall.yaml"), "1\n");
        assert!(!scene.home.join(".git").exists());
        scene.init();
        let mut second = change(HALL, Some("1\n"), Some("2\n"));
        second.commit = false;
        assert_eq!(done(&mut store, &second), None);
        assert_eq!(scene.status(), "?? keep/rooms/hall.yaml\n");
        assert_eq!(store.head().unwrap(), None);
        assert_eq!(scene.text(".git/palazzo/writing"), "");
    }

    #[test]
    fn a_file_in_the_middle_of_a_merge_is_refused() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change(HALL, None, Some("1\n")));
        scene.git(&["checkout", "-qb", "side"]);
        scene.put("keep/rooms/hall.yaml", "side\n");
        scene.git(&["commit", "-qam", "side"]);
        scene.git(&["checkout", "-q", "main"]);
        scene.put("keep/rooms/hall.yaml", "main\n");
        scene.git(&["commit", "-qam", "main"]);
        assert!(!try_git(&scene.home, &["merge", "-q", "side"]).status.success());
        let before = scene.text("keep/rooms/hall.yaml");
        let refused = store.make(&change(HALL, Some(&before), Some("2\n"))).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "`rooms/hall.yaml` is in the middle of a merge; resolve it and `git add` it first"
        );
        assert_eq!(scene.text("keep/rooms/hall.yaml"), before);
        // Other files can be written meanwhile, and the merge be finished.
        done(&mut store, &change("rooms/b.yaml", None, Some("b\n")));
        scene.put("keep/rooms/hall.yaml", "merged\n");
        scene.git(&["commit", "-qam", "merged"]);
        assert_eq!(scene.git(&["show", "HEAD:keep/rooms/b.yaml"]), "b\n");
        scene.git(&["fsck", "--strict", "--no-dangling"]);
    }

    #[test]
    fn hostile_paths_and_links_are_refused() {
        let scene = Scene::new();
        scene.put("outside/x.yaml", "x\n");
        scene.put("keep/palace.toml", "");
        let mut store = scene.palace("keep");
        for path in ["../x", "/etc/x", "rooms/../../x", ".git/config", "rooms//x", ""] {
            assert!(matches!(store.make(&change(path, None, Some("x"))), Err(Error::Path { .. })));
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../outside", scene.home.join("keep/rooms")).unwrap();
            let through = change("rooms/x.yaml", Some("x\n"), Some("y\n"));
            assert!(matches!(store.make(&through), Err(Error::Path { .. })));
            assert_eq!(scene.text("outside/x.yaml"), "x\n");
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_executable_bit_stays() {
        use std::os::unix::fs::PermissionsExt as _;
        let scene = Scene::of_a_person();
        scene.put("keep/rooms/hall.yaml", "1\n");
        let place = scene.home.join("keep/rooms/hall.yaml");
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        done(&mut scene.palace("keep"), &change(HALL, Some("1\n"), Some("2\n")));
        assert!(scene.git(&["ls-tree", "-r", "HEAD", "keep"]).starts_with("100755"));
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o755);
        assert_eq!(scene.status(), "");
    }

    #[test]
    fn a_folder_takes_the_place_of_a_file_and_the_other_way_round() {
        let scene = Scene::of_a_person();
        let mut store = scene.palace("keep");
        done(&mut store, &change("rooms/a", None, Some("file\n")));
        fs::remove_file(scene.home.join("keep/rooms/a")).unwrap();
        done(&mut store, &change("rooms/a/b.yaml", None, Some("b\n")));
        assert_eq!(scene.status(), "");
        fs::remove_dir_all(scene.home.join("keep/rooms/a")).unwrap();
        done(&mut store, &change("rooms/a", None, Some("file\n")));
        assert_eq!(scene.status(), "");
        scene.assert_sound();
    }
}
