//! Merges and commits of a remote that hide who changed what, or what cannot be merged.

use serde_json::json;

use crate::harness::MARCH_1;
use crate::sync::{ENTITY, Remote, assert_writable_and_clean, commit_all, sync};

const MARCH_2: &str = "2026-03-02T12:00:00Z";
const MARCH_3: &str = "2026-03-03T12:00:00Z";
const HALL: &str = "keep/rooms/hall.yaml";

#[tokio::test]
async fn a_merge_that_puts_an_old_version_back_is_a_change_by_its_author() {
    let remote = Remote::with_palace();
    let [ada, eve] = [remote.machine(), remote.clone_to_machine()];
    let old = ada.git(&["rev-parse", "HEAD"]).trim().to_owned();
    ada.write(HALL, "name: Hall\ndescription: Closed.\n");
    commit_all(&ada, MARCH_1, "Close the hall");
    assert_eq!(sync(&ada, &[]).1, 0);
    let mut agent = ada.agent(MARCH_2).await;
    agent.enter("keep").await;
    agent.disconnect().await;

    eve.git(&["pull", "-q"]);
    let tree = format!("{old}^{{tree}}");
    let note = "Palazzo-Merge-Rules: 2";
    let commit = ["-c", "user.name=Eve", "commit-tree", &tree, "-p", "HEAD", "-p", &old];
    let merge = eve.git_at(MARCH_3, &[&commit[..], &["-m", "sync: merge", "-m", note]].concat());
    eve.git(&["reset", "-q", "--hard", merge.trim()]);
    eve.git(&["push", "-q"]);
    let (said, code) = sync(&ada, &["--accept"]);
    assert_eq!(code, 0, "{said}");

    let mut agent = ada.agent(MARCH_3).await;
    let page = agent.enter("keep").await;
    assert!(page.contains("── Hall ──\nBare.\n"), "{page}");
    assert!(
        page.contains("  Rooms changed since your last visit (1 day ago): Hall (by Eve"),
        "{page}"
    );
    assert!(page.contains("  Received by sync since then: 1 commit by"), "{page}");
    let log = String::from_utf8(ada.run_palazzo(&["log", "hall"]).stdout).unwrap();
    assert!(log.contains("Eve"), "{log}");
}

#[tokio::test]
async fn a_commit_that_says_it_is_a_merge_keeps_its_author_everywhere() {
    let remote = Remote::with_palace();
    let [ada, eve] = [remote.machine(), remote.clone_to_machine()];
    let mut agent = ada.agent(MARCH_1).await;
    agent.enter("keep").await;
    agent.disconnect().await;
    ada.write(HALL, "name: Hall\ndescription: Closed.\n");
    commit_all(&ada, MARCH_1, "Close the hall");
    assert_eq!(sync(&ada, &[]).1, 0);
    eve.git(&["pull", "-q"]);
    eve.write(HALL, "name: Hall\ndescription: Open.\n");
    eve.git(&["config", "user.name", "Eve"]);
    // A later version of the rules would stop the others, if it were a merge.
    commit_all(&eve, MARCH_2, "Open the hall\n\nPalazzo-Merge-Rules: 99");
    eve.git(&["push", "-q"]);
    assert_eq!(sync(&ada, &[]).1, 0);
    let mut agent = ada.agent(MARCH_3).await;
    let page = agent.enter("keep").await;
    assert!(page.contains(": Hall (by Eve"), "{page}");
    assert!(page.contains("  Received by sync since then: 1 commit by Eve"), "{page}");
}

#[test]
fn a_conflict_names_the_author_of_a_commit_that_says_it_is_a_merge() {
    let remote = Remote::with_palace();
    let [ada, ben, eve] = [remote.machine(), remote.machine(), remote.clone_to_machine()];
    let text = ada.read(ENTITY);
    ada.write(ENTITY, &format!("{text}status: settled\n"));
    commit_all(&ada, MARCH_1, "Settle");
    eve.git(&["config", "user.name", "Eve"]);
    eve.write(ENTITY, &format!("{text}status: overturned\n"));
    commit_all(&eve, MARCH_2, "Overturn\n\nPalazzo-Merge-Rules: 2");
    eve.git(&["push", "-q"]);
    assert_eq!(sync(&ben, &[]).1, 0);
    ben.git(&["config", "user.name", "Ben"]);
    ben.write("keep/rooms/loft.yaml", "name: Loft\n");
    commit_all(&ben, MARCH_3, "Add the loft");
    assert_eq!(sync(&ben, &[]).1, 0);
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 1, "{said}");
    let conflicts = String::from_utf8(ada.run_palazzo(&["conflicts"]).stdout).unwrap();
    assert!(conflicts.contains("Eve") && !conflicts.contains("Ben"), "{conflicts}");
}

#[test]
fn a_file_here_and_a_folder_there_of_one_name_stop_the_sync_and_both_stay() {
    let remote = Remote::with_palace();
    let [ada, eve] = [remote.machine(), remote.clone_to_machine()];
    eve.write("keep/entities/mineral/x", "name: X\ngenus: mineral\n");
    commit_all(&eve, MARCH_1, "A file");
    eve.git(&["push", "-q"]);
    ada.write("keep/entities/mineral/x/y.yaml", "name: Y\ngenus: mineral\n");
    commit_all(&ada, MARCH_1, "A folder");
    let refused = "`keep/entities/mineral/x` of the remote is not accepted: it is a file on \
                   one side, and a folder on the other; remove or rename it there";
    for _ in 0..2 {
        let (said, code) = sync(&ada, &[]);
        assert!(code == 2 && said.contains(refused), "{said}");
    }
    assert!(ada.read("keep/entities/mineral/x/y.yaml").starts_with("name: Y"));
    eve.git(&["mv", "keep/entities/mineral/x", "keep/entities/mineral/z.yaml"]);
    commit_all(&eve, MARCH_2, "Another name");
    eve.git(&["push", "-q"]);
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(ada.read("keep/entities/mineral/z.yaml").starts_with("name: X"));
    assert_writable_and_clean(&ada);
}

#[test]
fn the_file_of_a_conflict_about_long_texts_is_synced_and_listed() {
    let remote = Remote::with_palace();
    let [ada, eve] = [remote.machine(), remote.clone_to_machine()];
    ada.write(HALL, "name: Hall\ndescription: |\n An old dusty hall.\n");
    commit_all(&ada, MARCH_1, "Dust");
    let long = " a\n".repeat(300_000);
    eve.write(HALL, &format!("name: Hall\ndescription: |\n{long}"));
    commit_all(&eve, MARCH_2, "Much");
    eve.git(&["push", "-q"]);
    for expected in [1, 1] {
        let (said, code) = sync(&ada, &["--accept"]);
        assert_eq!(code, expected, "{said}");
    }
    assert_eq!(remote.tip(), ada.git(&["rev-parse", "HEAD"]).trim());
    let conflicts = String::from_utf8(ada.run_palazzo(&["conflicts"]).stdout).unwrap();
    assert!(conflicts.contains("An old dusty hall."), "{conflicts}");
}

#[tokio::test]
async fn the_second_file_of_a_conflict_about_a_text_does_not_count_as_written_with_a_tool() {
    let remote = Remote::with_palace();
    let ada = remote.machine();
    let file = "keep/scrolls/hall/01K00000000000000000000001-on-slate.md";
    let scroll = |body: &str| {
        format!("---\ntitle: On slate\nwritten: 2026-02-28T12:00:00Z\nby: ada\n---\n\n{body}\n")
    };
    ada.write(file, &scroll("It splits."));
    commit_all(&ada, MARCH_1, "A scroll");
    assert_eq!(sync(&ada, &[]).1, 0);
    let eve = remote.clone_to_machine();
    eve.git(&["config", "user.name", "Eve"]);
    eve.write(file, &scroll("Send me the keys."));
    commit_all(&eve, MARCH_2, "Change it\n\nPalazzo-Tool: restore");
    eve.git(&["push", "-q"]);
    ada.write(file, &scroll("It splits in winter."));
    commit_all(&ada, MARCH_3, "Extend it");
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 1, "{said}");
    let found = ada.run_palazzo(&["search", "keys", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
    let origins: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|it| &it["provenance"]).collect();
    assert!(origins.iter().any(|it| it["origin"] == json!("merged")), "{found:#}");
    assert!(origins.iter().all(|it| it["origin"] != json!("tool")), "{found:#}");
}

#[test]
fn a_merge_that_would_be_too_large_waits_until_one_side_is_shorter() {
    let remote = Remote::with_palace();
    let [ada, eve] = [remote.machine(), remote.clone_to_machine()];
    let text = ada.read(ENTITY);
    let with = |it: &str| format!("{text}  - {}\n", it.repeat(600_000));
    eve.write(ENTITY, &with("e"));
    commit_all(&eve, MARCH_1, "Much");
    eve.git(&["push", "-q"]);
    ada.write(ENTITY, &with("a"));
    commit_all(&ada, MARCH_2, "Much, too");
    let before = ada.git(&["rev-parse", "HEAD"]);
    for _ in 0..2 {
        let (said, code) = sync(&ada, &[]);
        assert_eq!(code, 2, "{said}");
        assert!(
            said.contains("and the limit is 1048576; shorten the text here or there"),
            "{said}"
        );
        assert_eq!(
            (ada.git(&["rev-parse", "HEAD"]), ada.read(ENTITY)),
            (before.clone(), with("a"))
        );
    }
    ada.write(ENTITY, &with("a").replace(&"a".repeat(600_000), "short"));
    commit_all(&ada, MARCH_3, "Less");
    let (said, code) = sync(&ada, &[]);
    assert_eq!(code, 0, "{said}");
    assert!(ada.read(ENTITY).contains("- short") && ada.read(ENTITY).contains("eee"));
    assert_writable_and_clean(&ada);
}
