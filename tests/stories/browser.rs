//! The pages in a real browser. Each story is a script in `tests/browser` that node runs.
//!
//! They need Chromium, which is searched at `$PALAZZO_CHROMIUM`, `/usr/bin/chromium-headless-shell`
//! and `/usr/bin/chromium`, and two npm packages in `target/tmp/browser`, where
//!
//! ```sh
//! npm install --prefix target/tmp/browser --ignore-scripts playwright-core@1.65.1 axe-core@4.14.1
//! ```
//!
//! Without them, the tests print a notice and pass.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// Where the packages are.
const PACKAGES: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/browser/node_modules");

const FEBRUARY_20: &str = "2026-02-20T10:00:00Z";
const FEBRUARY_28: &str = "2026-02-28T09:12:00Z";

/// Returns the browser; without it and its packages, prints a notice.
fn find_browser() -> Option<PathBuf> {
    let named = std::env::var_os("PALAZZO_CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].map(PathBuf::from);
    let browser = named.into_iter().chain(usual).find(|it| it.is_file());
    let packages = ["playwright-core", "axe-core"].map(|it| Path::new(PACKAGES).join(it));
    let browser = browser.filter(|_| packages.iter().all(|it| it.is_dir()));
    if browser.is_none() {
        let why = "skipped: the browser is not there; see tests/stories/browser.rs\n";
        assert!(std::env::var_os("CI").is_none(), "{why}");
        // Written directly to stderr, because the test harness captures prints.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
    }
    browser
}

/// Returns the command that runs a script with its arguments.
fn script(browser: &Path, name: &str, arguments: &Value) -> Command {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser");
    let mut command = Command::new("node");
    command.arg(folder.join(name)).arg(arguments.to_string());
    command.env("BROWSER_PACKAGES", PACKAGES).env("BROWSER_PROGRAM", browser);
    command
}

/// Lets one browser run at a time: several slow each other down to the limits of the scripts.
static ONE_BROWSER: Mutex<()> = Mutex::new(());

/// Runs a script to its end, and returns what it prints.
#[track_caller]
fn run_script(browser: &Path, name: &str, arguments: &Value) -> String {
    let _alone = ONE_BROWSER.lock().unwrap_or_else(PoisonError::into_inner);
    let output = script(browser, name, arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a one-time link to the page.
fn page_link(home: &Home) -> String {
    let mut command = home.palazzo_command(MARCH_1);
    command.args(["view", "--no-open"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut view = command.spawn().unwrap();
    let said: Vec<_> =
        BufReader::new(view.stderr.take().unwrap()).lines().take(2).map(Result::unwrap).collect();
    if said.len() > 1 {
        // It did not find the server, and serves the page itself until it is stopped.
        view.kill().unwrap();
    }
    let output = view.wait_with_output().unwrap();
    assert!(output.status.success(), "{said:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Writes the palace as one file; returns its address.
fn palace_file(home: &Home) -> String {
    let file = home.path().join("survey.html");
    let out = file.to_str().unwrap();
    let survey = home.path().join("survey");
    let arguments = ["--against", "HEAD~1", "--home", survey.to_str().unwrap()];
    let output = home.run_palazzo(&[&["view", "--out", out], &arguments[..]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    format!("file://{out}")
}

fn git_in_survey(home: &Home, now: &str, arguments: &[&str]) -> String {
    home.git_at(now, &[&["-C", "survey"], arguments].concat())
}

/// Commits the files of the palace as Ada.
fn commit_survey(home: &Home, subject: &str) {
    git_in_survey(home, FEBRUARY_20, &["init", "-q"]);
    git_in_survey(home, FEBRUARY_20, &["add", "-A"]);
    let ada = ["-c", "user.name=ada", "-c", "user.email=ada@x", "commit", "-qm", subject];
    git_in_survey(home, FEBRUARY_20, &ada);
}

/// Returns a home with the example `paradigm-survey`, in which an agent wrote a scroll and renamed
/// a room yesterday.
async fn survey() -> Home {
    let home = Home::new();
    copy_files(Path::new("example-palaces/paradigm-survey"), &home.path().join("survey"));
    commit_survey(&home, "Begin the survey");
    let mut agent = home.agent_of_client("claude-code", FEBRUARY_28, &[]).await;
    agent.enter("survey").await;
    let body = "The beds are numbered; [[Continents drift]] is not mentioned.\n\n| a | b |\n|---|---|\n| 1 | 2 |";
    let scroll = json!({ "room": "hall-of-geology", "title": "On the grey beds", "body": body });
    agent.call("write_scroll", scroll).await;
    let name = json!({ "slug": "hall-of-geology", "name": "Hall of Deep Time", "merge": true });
    let page = agent.call("build_room", name).await;
    assert!(page.contains("── Hall of Deep Time ──"), "{page}");
    agent.disconnect().await;
    home
}

fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let copy = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_files(&entry.path(), &copy),
            false => drop(std::fs::copy(entry.path(), copy).unwrap()),
        }
    }
}

/// Returns the ids of the rooms.
fn rooms(home: &Home) -> Vec<String> {
    let files = std::fs::read_dir(home.path().join("survey/rooms")).unwrap();
    let names = files.map(|it| it.unwrap().file_name().into_string().unwrap());
    names.filter_map(|it| Some(it.strip_suffix(".yaml")?.to_owned())).collect()
}

fn newest_commit(home: &Home) -> String {
    git_in_survey(home, MARCH_1, &["rev-parse", "--short=7", "HEAD"]).trim().to_owned()
}

fn show_room(home: &Home, room: &str) -> String {
    let survey = home.path().join("survey");
    let output = home.run_palazzo(&["show", room, "--home", survey.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn every_room_is_reached_by_keys_alone() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&[]);
    run_script(&browser, "keys.mjs", &json!({ "link": page_link(&home), "rooms": rooms(&home) }));
}

#[tokio::test]
async fn the_pages_are_usable_without_script() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&[]);
    run_script(&browser, "no_script.mjs", &json!({ "link": page_link(&home) }));
}

#[tokio::test]
async fn what_an_agent_does_appears_on_the_page_within_a_second() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let server = home.http_server(&[]);
    let mut agent = server.agent("claude-code").await;
    agent.enter("survey").await;
    let mut command = script(&browser, "live.mjs", &json!({ "link": page_link(&home) }));
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut page = command.spawn().unwrap();
    let (mut orders, said) = (page.stdin.take().unwrap(), page.stdout.take().unwrap());
    for order in BufReader::new(said).lines().map(Result::unwrap) {
        let done = match order.as_str() {
            "write a scroll" => {
                let title = "On the tide";
                let scroll =
                    json!({ "room": "hall-of-geology", "title": title, "body": "It turns." });
                agent.call("write_scroll", scroll).await
            }
            _ => {
                let doors = json!(["hall-of-geology"]);
                let room = json!({ "slug": "tide-room", "name": "Tide Room", "description": "Salt.", "portals": doors });
                agent.call("build_room", room).await
            }
        };
        assert!(!done.starts_with("refused"), "{done}");
        orders.write_all(b"done\n").unwrap();
    }
    assert!(page.wait().unwrap().success());
}

#[tokio::test]
async fn no_page_has_an_error_or_scrolls_sideways_or_asks_another_website() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&["--rate", "0"]);
    let arguments = json!({ "link": page_link(&home), "commit": newest_commit(&home) });
    run_script(&browser, "quiet.mjs", &arguments);
}

#[tokio::test]
async fn the_text_of_a_room_is_what_show_prints() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let shown: serde_json::Map<_, _> =
        rooms(&home).into_iter().map(|it| (it.clone(), show_room(&home, &it).into())).collect();
    let _server = home.http_server(&[]);
    run_script(&browser, "same_text.mjs", &json!({ "link": page_link(&home), "rooms": shown }));
}

/// Returns a name and a text that attack the page.
fn attacks() -> (String, String) {
    let word = "w".repeat(300);
    let attack = format!(
        "</title><script>window.harmed=1</script><img src=x onerror=\"window.harmed=1\">\u{202e}{word}"
    );
    let text = format!(
        "{attack}\n\n[run](javascript:window.harmed=1) [data](data:text/html,<script>1</script>)\n\n\
         ![load](http://evil.invalid/x.png) <iframe src=\"javascript:parent.harmed=1\"></iframe>\n\n\
         <style>body {{ background: url(http://evil.invalid/y.png) }}</style>\n\n\
         | {word} | b |\n|---|---|\n| {word} | 2 |\n\n    {word}\n"
    );
    (attack, text)
}

/// Returns a home with a palace in which every text is an attack.
fn hostile_survey() -> Home {
    let home = Home::new();
    let (attack, text) = attacks();
    let name = serde_json::to_string(&attack).unwrap();
    let description = serde_json::to_string(&text).unwrap();
    home.write("survey/palace.toml", &format!("format = 1\nname = {name}\nentry = \"hall\"\n"));
    home.write(
        "survey/rooms/hall.yaml",
        &format!(
            "name: {name}\ndescription: {description}\nportals: [attic, crypt]\nactions:\n\
             - {{label: {name}, type: text, content: {description}}}\n\
             - {{label: {name}, type: navigate, room: hall, workspace: {name}}}\n\
             - {{label: {name}, type: query, tool: {name}, tool_params: {{name: {name}}}}}\n\
             - {{label: Eve, type: query, tool: get_entity, tool_params: {{name: Eve <b>}}}}\n"
        ),
    );
    home.write("survey/rooms/attic.yaml", &format!("name: {name}\nportals: [hall]\n"));
    home.write(
        "survey/entities/e/eve.yaml",
        &format!(
            "name: Eve <b>\ngenus: {name}\nstatus: {name}\nobservations: [{description}]\n\
             attributes: {{{name}: {name}}}\nrelations: [{{type: {name}, to: Eve <b>}}, {{type: {name}, to: {name}}}]\n"
        ),
    );
    home.write(
        "survey/scrolls/hall/01JQ8M0000000000000000000C-x.md",
        &format!("---\ntitle: {name}\nwritten: 2026-02-27T12:00:00Z\nby: {name}\n---\n{text}"),
    );
    let task = format!("title: {name}\nroom: hall\nnote: {description}\n");
    home.write("survey/tasks/01JQ8M0000000000000000000B.yaml", &task);
    commit_survey(&home, "Begin");
    home.write("survey/rooms/attic.yaml", &format!("name: Attic\ndescription: {description}\n"));
    commit_survey(&home, &attack);
    home
}

#[test]
fn a_hostile_palace_is_harmless() {
    let Some(browser) = find_browser() else { return };
    let home = hostile_survey();
    let _server = home.http_server(&["--rate", "0"]);
    let file = palace_file(&home);
    let arguments = json!({ "link": page_link(&home), "file": file, "least": 12 });
    run_script(&browser, "hostile.mjs", &arguments);
}

#[tokio::test]
async fn axe_finds_no_fault_in_light_and_in_dark() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let file = palace_file(&home);
    let _server = home.http_server(&["--rate", "0"]);
    let commit = newest_commit(&home);
    let arguments = json!({ "link": page_link(&home), "commit": commit, "file": file });
    run_script(&browser, "axe.mjs", &arguments);
}

#[tokio::test]
async fn only_the_browser_that_opened_the_link_sees_the_palace() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&[]);
    run_script(&browser, "access.mjs", &json!({ "link": page_link(&home) }));
}

#[tokio::test]
async fn a_palace_in_one_file_is_walked_without_script_and_without_a_server() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    run_script(&browser, "file.mjs", &json!({ "file": palace_file(&home) }));
}

#[tokio::test]
async fn the_slider_leads_to_the_past_and_back() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&[]);
    run_script(&browser, "time.mjs", &json!({ "link": page_link(&home) }));
}

#[tokio::test]
async fn a_newcomer_finds_what_the_agent_did_yesterday_and_reverts_it() {
    let Some(browser) = find_browser() else { return };
    let home = survey().await;
    let _server = home.http_server(&[]);
    let found = run_script(&browser, "revert.mjs", &json!({ "link": page_link(&home) }));
    let commands: Vec<_> = found.lines().map(|it| it.split_whitespace()).collect();
    let [change, day] = <[_; 2]>::try_from(commands).unwrap();
    let run = |mut words: std::str::SplitWhitespace<'_>| {
        assert_eq!(words.next(), Some("palazzo"), "{found}");
        let output = home.run_palazzo(&words.collect::<Vec<_>>());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        show_room(&home, "hall-of-geology")
    };
    let reverted = run(change);
    assert!(reverted.contains("── Hall of Geology ──"), "{reverted}");
    assert!(reverted.contains("On the grey beds"), "{reverted}");
    let reverted = run(day);
    assert!(!reverted.contains("On the grey beds"), "{reverted}");
    let begin = git_in_survey(&home, MARCH_1, &["rev-list", "--max-parents=0", "HEAD"]);
    let files = ["diff", "--stat", begin.trim(), "HEAD", "--", "rooms", "scrolls"];
    assert_eq!(git_in_survey(&home, MARCH_1, &files), "");
}

#[test]
fn the_map_in_a_conversation_walks_by_reading_rooms() {
    let Some(browser) = find_browser() else { return };
    let home = Home::new();
    home.write("survey/palace.toml", "name = \"Survey\"\nentry = \"hall\"\n");
    home.write("survey/rooms/hall.yaml", "name: <b>Hall\nportals: [attic]\n");
    home.write("survey/rooms/attic.yaml", "name: Attic\nportals: [hall]\n");
    let mut client = home.initialized_client();
    client.call("set_workspace", json!({ "workspace": "Survey" }));
    let view = client.request("resources/read", json!({ "uri": "ui://palazzo/map" }));
    let view = &view["result"]["contents"][0]["text"];
    run_script(&browser, "map_app.mjs", &json!({ "view": view }));
}
