//! Proposals: `palazzo serve --propose BRANCH` writes to a branch, and a person reviews and merges
//! it. The checked-out branch and its files stay as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};
use crate::http_server::status_and_text;

const MARCH_2: &str = "2026-03-02T12:00:00Z";

/// Runs a command at the second of March, and returns its output, including refusals.
fn run(home: &Home, arguments: &[&str]) -> String {
    let output = home.palazzo_command(MARCH_2).args(arguments).output().unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    said.replace(&home.path().display().to_string(), "HOME")
}

fn room(slug: &str, description: &str) -> Value {
    json!({ "slug": slug, "name": slug, "description": description, "actions": [], "quiet": true })
}

/// A home whose user can commit with git.
fn home_of_ada() -> Home {
    let home = Home::new();
    let user = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
    home.write_git_config(&format!("[maintenance]\nauto = false\n{user}"));
    home
}

/// A home with a hall in the palace `w`, committed on `main`.
async fn home_with_hall() -> Home {
    let home = home_of_ada();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    agent.call("build_room", room("hall", "A long hall.\nThe windows face north.")).await;
    agent.disconnect().await;
    home
}

/// Starts a session whose changes go to the branch `ideas`, and enters the palace `w`.
async fn proposing_agent(home: &Home) -> (Agent, String) {
    let mut agent = home.agent_with(MARCH_1, &["--propose", "ideas"]).await;
    let said = agent.enter("w").await;
    (agent, notice(&said))
}

/// Returns the line of a page that says where changes go.
fn notice(page: &str) -> String {
    let line = page.lines().find(|it| it.starts_with("Changes go to"));
    line.unwrap_or_else(|| panic!("{page}")).to_owned()
}

/// Returns the contents of all files of a folder, with those in `.git` that a person or git sees:
/// not its objects, and not what proposals add.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    let own = [".git/objects", ".git/palazzo"].map(|it| folder.join(it));
    while let Some(place) = left.pop() {
        if own.contains(&place) || place.ends_with("heads/ideas") || place.ends_with("heads/more") {
            continue;
        }
        match place.is_dir() {
            true => left.extend(fs::read_dir(&place).unwrap().map(|it| it.unwrap().path())),
            false => drop(files.insert(place.clone(), fs::read(&place).unwrap())),
        }
    }
    assert!(files.contains_key(&folder.join(".git/HEAD")));
    assert!(files.contains_key(&folder.join(".git/index")));
    assert!(files.contains_key(&folder.join(".git/refs/heads/main")));
    files
}

/// Changes the hall, builds an attic, and writes a scroll in it.
async fn propose_three_changes(agent: &mut Agent) {
    agent.call("build_room", room("hall", "A long hall of stone.\nThe windows face north.")).await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    agent.call("write_scroll", json!({ "title": "Why", "body": "Dust.", "room": "attic" })).await;
}

#[tokio::test]
async fn changes_of_an_agent_wait_on_a_branch_until_a_person_merges_them() {
    let home = home_with_hall().await;
    let before = contents(&home.path());
    let (mut agent, said) = proposing_agent(&home).await;
    assert_snapshot!(said, @"Changes go to the branch `ideas` as a proposal (0 commits ahead of `main`); a person merges it.");
    propose_three_changes(&mut agent).await;
    assert_snapshot!(notice(&agent.enter("w").await), @"Changes go to the branch `ideas` as a proposal (3 commits ahead of `main`); a person merges it.");
    agent.disconnect().await;

    assert_eq!(contents(&home.path()), before);
    home.assert_clean_repository();
    home.git(&["merge", "--quiet", "ideas"]);
    home.git(&["branch", "-d", "ideas"]);
    assert_eq!(run(&home, &["proposals"]), "There is no open proposal.\n");
    assert!(home.agent(MARCH_2).await.enter("w").await.contains("A long hall of stone."));
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_person_reviews_a_proposal_from_the_checked_out_branch() {
    let home = home_with_hall().await;
    let (mut agent, _) = proposing_agent(&home).await;
    propose_three_changes(&mut agent).await;
    agent.disconnect().await;
    assert_snapshot!(run(&home, &["diff"]), @"
    Nothing differs.

    A proposal is open: palazzo diff --proposal ideas
    ");
    assert_snapshot!(run(&home, &["diff", "--proposal", "ideas"]), @"
    room attic: added
      + name: attic
      + description:
      +   It is dusty.

    room hall: description changed (1 line)
        description:
      ~   A long hall{+ of stone+}.
          The windows face north.

    scroll 'Why' in attic: added
      + name: Why
      + by: claude
      + written: 2026-03-01T12:00:00Z
      + text:
      +   Dust.
    ");
    assert_snapshot!(run(&home, &["proposals"]), @"
    ideas: 3 commits by claude, the newest 1 day ago, in w
      review  palazzo diff --proposal ideas --home HOME/w
      merge   git -C HOME/w merge ideas &&
              git -C HOME/w branch -d ideas
      drop    git -C HOME/w branch -D ideas
    ");
    assert!(run(&home, &["doctor"]).contains("\n  proposal   ideas: 3 commits ("));

    let listed: Value =
        serde_json::from_str(&run(&home, &["proposals", "--format", "json"])).unwrap();
    let steps = listed["proposals"][0]["merge"].as_array().unwrap();
    assert_eq!(steps.len(), 2, "{listed}");
}

#[tokio::test]
async fn a_proposal_is_continued_and_starts_again_after_it_was_merged() {
    let home = home_with_hall().await;
    let (mut agent, _) = proposing_agent(&home).await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    agent.disconnect().await;

    let (mut agent, said) = proposing_agent(&home).await;
    assert_snapshot!(said, @"Changes go to the branch `ideas` as a proposal (1 commit ahead of `main`); a person merges it.");
    agent.call("build_room", room("cellar", "It is wet.")).await;
    agent.disconnect().await;

    // Somebody goes on in the checked-out branch meanwhile: the proposal stays as it is.
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.call("build_room", room("tower", "It is high.")).await;
    agent.disconnect().await;
    let (mut agent, said) = proposing_agent(&home).await;
    assert_snapshot!(said, @"Changes go to the branch `ideas` as a proposal (2 commits ahead of `main`, 1 behind); a person merges it.");
    assert!(!agent.choose_with(16, "tower").await.contains("It is high."));
    agent.disconnect().await;

    home.git(&["merge", "--quiet", "--no-edit", "ideas"]);
    let (mut agent, said) = proposing_agent(&home).await;
    assert_snapshot!(said, @"Changes go to the branch `ideas` as a proposal (0 commits ahead of `main`); a person merges it.");
    assert!(agent.choose_with(16, "tower").await.contains("It is high."));
    agent.call("build_room", room("roof", "It is steep.")).await;
    agent.disconnect().await;
    assert_eq!(home.git(&["log", "--format=%s", "main..ideas"]), "room roof: build\n");
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_server_over_http_proposes_and_the_page_of_the_home_shows_it() {
    let home = home_with_hall().await;
    let before = contents(&home.path());
    let server = home.http_server(&["--propose", "team/ideas"]);
    let mut agent = server.agent("codex").await;
    agent.enter("w").await;
    agent.call("build_room", room("attic", "It is <b>dusty</b>.")).await;
    agent.disconnect().await;
    drop(server);
    let mut after = contents(&home.path());
    after.retain(|it, _| !it.ends_with("team/ideas"));
    assert_eq!(after, before);

    let server = home.http_server(&["--no-token"]);
    let page = async |path: &str| {
        status_and_text(server.client.get(server.url(path)).send().await.unwrap()).await
    };
    let (_, entry) = page("/w").await;
    assert!(entry.contains("<a href=\"/w/proposals\">Proposals (1)</a>"), "{entry}");
    let (_, list) = page("/w/proposals").await;
    assert!(list.contains("<a href=\"/w/proposals/team%2Fideas\">team/ideas</a>"), "{list}");
    assert!(list.contains("1 commit by codex, the newest just now"), "{list}");
    let (status, proposal) = page("/w/proposals/team%2Fideas").await;
    assert_eq!(status, 200);
    for part in [
        "room attic",
        "It is &lt;b&gt;dusty&lt;/b&gt;.",
        " merge team/ideas",
        "branch -D team/ideas",
    ] {
        assert!(proposal.contains(part), "{part}: {proposal}");
    }
    let link = proposal.split("rooms/attic?at=").nth(1).unwrap().split('"').next().unwrap();
    assert!(page(&format!("/w/rooms/attic?at={link}")).await.1.contains("It is &lt;b&gt;dusty"));
    assert_eq!(page("/w/proposals/nowhere").await.0, 404);
    assert!(page("/w/proposals/nowhere").await.1.contains("there is no open proposal `nowhere`"));

    home.git(&["merge", "--quiet", "team/ideas"]);
    assert!(!page("/w").await.1.contains("Proposals"));
}

#[tokio::test]
async fn a_killed_server_loses_nothing_and_a_new_palace_is_proposed_too() {
    let home = home_with_hall().await;
    let before = contents(&home.path());
    let server = home.http_server(&["--propose", "ideas"]);
    let mut agent = server.agent("claude").await;
    agent.enter("w").await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    agent.call("set_workspace", json!({ "workspace": "v", "create": true })).await;
    agent.call("build_room", room("garden", "It is green.")).await;
    // It is killed.
    drop(server);
    let (mut agent, _) = proposing_agent(&home).await;
    assert!(agent.choose_with(16, "attic").await.contains("It is dusty."));
    agent.enter("v").await;
    assert!(agent.choose_with(16, "garden").await.contains("It is green."));
    agent.disconnect().await;
    assert_eq!(contents(&home.path()), before);
    assert!(!home.path().join("v").exists());
    home.git(&["merge", "--quiet", "ideas"]);
    assert!(home.read("v/rooms/garden.yaml").contains("It is green."));
    home.assert_clean_repository();
}

#[tokio::test]
async fn a_branch_that_is_checked_out_or_deleted_under_a_server_is_not_written_to() {
    let home = home_with_hall().await;
    let (mut agent, _) = proposing_agent(&home).await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    home.git(&["checkout", "-q", "ideas"]);
    let said = agent.call("build_room", room("cellar", "It is wet.")).await;
    assert!(said.starts_with("refused: the branch `ideas` is checked out at "), "{said}");
    home.git(&["checkout", "-q", "main"]);
    let last = home.git(&["rev-parse", "ideas"]);
    home.git(&["branch", "-q", "-D", "ideas"]);
    let said = agent.call("build_room", room("cellar", "It is wet.")).await;
    assert!(said.starts_with("refused: the branch `ideas` of this proposal is gone: "), "{said}");
    assert_eq!(home.git(&["branch", "--list", "ideas"]), "");
    let command = said.split('`').find(|it| it.starts_with("git -C ")).unwrap();
    assert!(run_shell(&home, command), "{command}");
    assert_eq!(home.git(&["rev-parse", "ideas"]), last);
    agent.call("build_room", room("cellar", "It is wet.")).await;
    agent.disconnect().await;
    let subjects = home.git(&["log", "--format=%s", "main..ideas"]);
    assert_eq!(subjects, "room cellar: build\nroom attic: build\n");
    home.assert_clean_repository();
}

#[tokio::test]
async fn what_a_person_commits_on_the_branch_is_seen_by_the_next_call() {
    let home = home_with_hall().await;
    let (mut agent, _) = proposing_agent(&home).await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    let other = home.path().parent().unwrap().join("other");
    let place = other.to_str().unwrap();
    home.git(&["worktree", "add", "-q", "--detach", place, "ideas"]);
    let attic = other.join("w/rooms/attic.yaml");
    let text = fs::read_to_string(&attic).unwrap().replace("dusty", "clean");
    fs::write(&attic, text).unwrap();
    home.git(&["-C", place, "commit", "-qam", "attic: clean up"]);
    let new = home.git(&["-C", place, "rev-parse", "HEAD"]);
    home.git(&["update-ref", "refs/heads/ideas", new.trim()]);
    assert!(agent.choose_with(16, "attic").await.contains("It is clean."));
    agent.call("write_scroll", json!({ "title": "Why", "body": "Dust." })).await;
    agent.disconnect().await;
    assert!(home.git(&["show", "ideas:w/rooms/attic.yaml"]).contains("It is clean."));
}

/// Runs the printed command with a shell; returns whether it succeeded.
#[cfg(unix)]
fn run_shell(home: &Home, command: &str) -> bool {
    let mut shell = std::process::Command::new("sh");
    home.isolate_environment(&mut shell);
    shell.args(["-c", command]).output().unwrap().status.success()
}

#[cfg(unix)]
#[tokio::test]
async fn the_printed_commands_merge_the_branch_and_not_a_tag_of_its_name() {
    let home = home_with_hall().await;
    home.git(&["tag", "ideas"]);
    let (mut agent, _) = proposing_agent(&home).await;
    agent.call("build_room", room("attic", "It is dusty.")).await;
    let first =
        "\n  first   end the servers that write to it: without the branch they cannot go on\n";
    assert!(run(&home, &["proposals"]).contains(first));
    agent.disconnect().await;
    assert!(!run(&home, &["proposals"]).contains(first));
    let page = home.palazzo_command(MARCH_2).arg("proposals").output().unwrap();
    let page = String::from_utf8(page.stdout).unwrap();
    let merge = page.split("  merge   ").nth(1).unwrap().split("\n  drop").next().unwrap();
    assert!(merge.contains(" merge refs/heads/ideas &&"), "{merge}");

    // A merge that fails leaves the proposal.
    home.write("w/rooms/attic.yaml", "in the way\n");
    assert!(!run_shell(&home, merge));
    assert!(home.git(&["branch", "--list", "ideas"]).contains("ideas"));
    fs::remove_file(home.path().join("w/rooms/attic.yaml")).unwrap();
    assert!(run_shell(&home, merge));
    assert!(home.read("w/rooms/attic.yaml").contains("It is dusty."));
    assert_eq!(home.git(&["branch", "--list", "ideas"]), "");
}

#[tokio::test]
async fn several_servers_share_a_proposal_and_others_are_beside_it() {
    let home = home_with_hall().await;
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "v", "create": true })).await;
    agent.call("build_room", room("garden", "It is green.")).await;
    agent.disconnect().await;
    let before = contents(&home.path());

    let (mut one, _) = proposing_agent(&home).await;
    let (mut two, _) = proposing_agent(&home).await;
    let mut other = home.agent_with(MARCH_1, &["--propose", "more"]).await;
    one.call("build_room", room("attic", "It is dusty.")).await;
    assert!(two.choose_with(16, "attic").await.contains("It is dusty."));
    two.call("build_room", room("cellar", "It is wet.")).await;
    two.enter("v").await;
    two.call("build_room", room("pond", "It is deep.")).await;
    other.enter("w").await;
    assert!(!other.choose_with(16, "attic").await.contains("It is dusty."));
    other.call("build_room", room("tower", "It is high.")).await;
    for agent in [one, two, other] {
        agent.disconnect().await;
    }
    assert_eq!(contents(&home.path()), before);
    let subjects = |range| home.git(&["log", "--format=%s", "--reverse", range]);
    assert_eq!(
        subjects("main..ideas"),
        "room attic: build\nroom cellar: build\nroom pond: build\n"
    );
    assert_eq!(subjects("main..more"), "room tower: build\n");
    let listed = run(&home, &["proposals"]);
    let listed: Vec<_> = listed.lines().filter(|it| !it.starts_with(' ')).collect();
    assert_snapshot!(listed.join("\n"), @"
    ideas: 1 commit by claude, the newest 1 day ago, in v
    ideas: 2 commits by claude, the newest 1 day ago, in w
    more: 1 commit by claude, the newest 1 day ago, in w
    ");
    home.assert_clean_repository();
}

/// A script that leaves a file with its name when it runs.
#[cfg(unix)]
fn write_script(folder: &Path, place: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let name = place.file_name().unwrap().to_str().unwrap();
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::write(place, format!("#!/bin/sh\ntouch '{}/ran-{name}'\ncat\n", folder.display())).unwrap();
    fs::set_permissions(place, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A repository of code with the palace `w` in `docs`, whose hooks and settings name scripts.
/// Returns the folder in which a script leaves a file when it runs.
#[cfg(unix)]
async fn home_with_code_and_scripts(docs: &str) -> (Home, PathBuf) {
    let home = home_of_ada();
    home.write("src/main.rs", "fn main() {}\n");
    home.write(".gitattributes", "*.rs filter=evil\n*.yaml text eol=crlf\n");
    home.git(&["init", "-q", "-b", "main"]);
    home.git(&["add", "."]);
    home.git(&["commit", "-qm", "code"]);
    let mut agent = home.agent_with(MARCH_1, &["--home", docs]).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    agent.call("build_room", room("hall", "A long hall.")).await;
    agent.disconnect().await;
    let ran = home.path().parent().unwrap().join("ran");
    let hooks = ["post-checkout", "post-index-change", "reference-transaction", "pre-commit"];
    let script = |name: &str| home.path().join(".git/hooks").join(name).display().to_string();
    for hook in hooks.iter().chain(&["post-commit", "prepare-commit-msg", "smudge", "fsmonitor"]) {
        write_script(&ran, Path::new(&script(hook)));
    }
    home.git(&["config", "filter.evil.smudge", &script("smudge")]);
    home.git(&["config", "filter.evil.required", "true"]);
    home.git(&["config", "core.fsmonitor", &script("fsmonitor")]);
    // What git has run until now.
    if ran.exists() {
        fs::remove_dir_all(&ran).unwrap();
    }
    fs::create_dir(&ran).unwrap();
    (home, ran)
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_that_a_repository_of_code_names_is_run_or_checked_out() {
    let (home, ran) = home_with_code_and_scripts("home/docs").await;
    let docs = "home/docs";
    let before = contents(&home.path());

    let mut agent = home.agent_with(MARCH_1, &["--home", docs, "--propose", "ideas"]).await;
    agent.enter("w").await;
    let said = agent.call("build_room", room("attic", "It is dusty.")).await;
    assert!(!said.starts_with("refused"), "{said}");
    agent.disconnect().await;
    run(&home, &["proposals", docs]);
    run(&home, &["diff", "--home", docs, "--proposal", "ideas"]);
    assert_eq!(fs::read_dir(&ran).unwrap().count(), 0);
    assert_eq!(contents(&home.path()), before);

    fs::remove_dir_all(home.path().join(".git/hooks")).unwrap();
    home.git(&["config", "--unset", "core.fsmonitor"]);
    let attic = home.git(&["show", "ideas:docs/w/rooms/attic.yaml"]);
    assert!(attic.contains("It is dusty.") && !attic.contains('\r'), "{attic}");
    assert_snapshot!(home.git(&["diff", "--stat", "main..ideas"]), @"
    docs/w/rooms/attic.yaml | 5 +++++
    1 file changed, 5 insertions(+)
    ");
    home.git(&["-c", "filter.evil.required=false", "merge", "--quiet", "ideas"]);
    assert!(home.read("docs/w/rooms/attic.yaml").contains("It is dusty."));
}

#[tokio::test]
async fn what_cannot_be_proposed_is_refused_with_what_to_do() {
    let home = home_with_hall().await;
    home.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    home.git(&["branch", "deep/er"]);
    let propose = |branch: &str| {
        let said = run(&home, &["serve", "--propose", branch]);
        said.replace(&home.path().parent().unwrap().display().to_string(), "ABOVE")
    };
    let before = contents(&home.path());
    assert_snapshot!(propose("main"), @"palazzo: the branch `main` is checked out at `HOME`, so nothing is written to it as a proposal: check out another branch there (`git switch`), or start the server with another name");
    assert_snapshot!(propose("side"), @"palazzo: the branch `side` is checked out at `ABOVE/side`, so nothing is written to it as a proposal: check out another branch there (`git switch`), or start the server with another name");
    assert_snapshot!(propose("a..b"), @"palazzo: `a..b` cannot be the name of a branch: reference name cannot contain repeated dots");
    assert_snapshot!(propose("HEAD"), @"palazzo: `HEAD` cannot be the name of a branch: git reserves it");
    assert_snapshot!(propose("deep"), @"palazzo: `deep` cannot be the name of a branch: there is a branch `deep/er`, and git cannot have both");
    assert_snapshot!(propose("deep/er/still"), @"palazzo: `deep/er/still` cannot be the name of a branch: there is a branch `deep/er`, and git cannot have both");
    assert_snapshot!(propose("FETCH_HEAD"), @"palazzo: `FETCH_HEAD` cannot be the name of a branch: git takes it for something else than a branch");
    assert!(
        run(&home, &["serve", "--propose", "x", "--read-only"]).contains("cannot be used with")
    );
    assert_eq!(contents(&home.path()), before);

    home.write("w/palace.toml", "format = 1\nname = \"w\"\n\n[git]\ncommit = \"manual\"\n");
    assert_snapshot!(propose("ideas"), @r#"palazzo: a proposal consists of commits, and `HOME/w` leaves them to you: remove `commit = "manual"` from its palace.toml first"#);
    assert_eq!(home.git(&["branch", "--list", "ideas"]), "");
    assert_snapshot!(run(&home, &["diff", "--proposal", "ideas"]), @"palazzo: there is no branch `ideas`; there is no open proposal");
}

#[tokio::test]
async fn a_home_without_a_commit_or_with_several_repositories_has_no_proposals() {
    let home = home_of_ada();
    assert_snapshot!(run(&home, &["serve", "--propose", "ideas"]), @"palazzo: there is no palace in HOME; `palazzo init` makes one");
    home.write("w/palace.toml", "format = 1\nname = \"w\"\n");
    assert_snapshot!(run(&home, &["serve", "--propose", "ideas"]), @"palazzo: `HOME/w` is in no git repository yet, so there is no branch to propose changes to: `palazzo init --repository HOME/w` makes one");
    home.git(&["init", "-q", "-b", "main"]);
    assert_snapshot!(run(&home, &["serve", "--propose", "ideas"]), @"palazzo: nothing is committed in the repository at `HOME` yet, so there is nothing to propose changes to: commit the palace first (`git add`, `git commit`)");
    home.git(&["commit", "-q", "--allow-empty", "-m", "begin"]);
    assert_snapshot!(run(&home, &["serve", "--propose", "ideas"]), @"palazzo: no palace of this home is committed in `HEAD`: commit it first (`git add`, `git commit`)");
    assert_eq!(home.git(&["branch", "--list", "ideas"]), "");

    home.write("v/palace.toml", "format = 1\nname = \"v\"\n");
    home.git(&["init", "-q", "-b", "main", "v"]);
    assert_snapshot!(run(&home, &["serve", "--propose", "ideas"]), @"palazzo: the palaces of this home are in several git repositories, `HOME/v` and `HOME`, and a proposal is a branch of one: name one palace instead of the home");
    assert_eq!(run(&home, &["proposals"]), "There is no open proposal.\n");
}

#[test]
fn a_client_is_configured_to_propose() {
    let home = Home::new();
    let said = run(&home, &["client-config", "--propose", "ideas"]);
    assert!(said.contains(" serve HOME --propose ideas\n"), "{said}");
}
