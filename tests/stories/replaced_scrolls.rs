//! Scrolls that replace older ones of the same title.

use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

async fn agent_in_hall(home: &Home) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let room = json!({ "slug": "hall", "name": "Hall", "description": "Bare.", "quiet": true });
    agent.call("build_room", room).await;
    agent
}

async fn write(agent: &mut Agent, title: &str, body: &str) -> String {
    agent.call("write_scroll", json!({ "title": title, "body": body })).await
}

fn scroll_files(home: &Home) -> Vec<String> {
    let files = home.git(&["ls-files", "w/scrolls"]);
    files.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_scroll_with_the_title_of_an_older_one_replaces_it() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    assert_eq!(
        write(&mut agent, "Hand-over", "The heron is grey.").await,
        "Wrote the scroll \"Hand-over\" in Hall (21 reads it).\n"
    );
    let first = home.read(&scroll_files(&home)[0]);
    for title in ["On rain", "On snow"] {
        write(&mut agent, title, "Wet.").await;
    }
    assert_eq!(
        write(&mut agent, "hand-OVER", "The heron is white.").await,
        "Wrote the scroll \"hand-OVER\" in Hall (21 reads it); it replaces the one of just now.\n"
    );
    let files = scroll_files(&home);
    assert_eq!(home.read(&files[0]), first, "the older file is not touched");
    let id = files[0].rsplit_once('/').unwrap().1.split('-').next().unwrap().to_owned();
    assert!(
        home.read(&files[3]).contains(&format!("replaces:\n  - {id}\n")),
        "{}",
        home.read(&files[3])
    );
    agent.disconnect().await;

    let mut reader = home.agent("2026-03-03T12:00:00Z").await;
    let page = reader.enter("w").await;
    assert!(page.contains("The heron is white.") && !page.contains("grey"), "{page}");
    let latest: Vec<_> = page.lines().filter(|it| it.starts_with("  2")).collect();
    assert!(latest[0].starts_with("  21. hand-OVER") && latest.len() == 3, "{page}");
    let older = reader.choose(14).await;
    assert!(older.contains("replaced by a newer one)"), "{older}");
    let read = reader.choose(21).await;
    assert!(read.contains("Replaced by \"hand-OVER\", 2 days ago."), "{read}");
    let found = reader.choose_with(17, "heron").await;
    let at = |part: &str| found.find(part).unwrap_or_else(|| panic!("{part}: {found}"));
    assert!(at("31. hand-OVER") < at("32. Hand-over"), "{found}");
    assert!(found.contains("replaced by a newer one"), "{found}");
    assert!(home.run_palazzo(&["check"]).status.success());
}

#[tokio::test]
async fn a_person_can_name_several_and_check_names_wrong_ones() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    for title in ["One", "Two", "Three"] {
        write(&mut agent, title, "Wet.").await;
    }
    let files = scroll_files(&home);
    let ids: Vec<_> =
        files.iter().map(|it| it["w/scrolls/hall/".len()..].split('-').next().unwrap()).collect();
    let replace = |file: &str, ids: &str| {
        let text = home.read(file);
        home.write(
            file,
            &text.replacen("by: claude\n", &format!("by: claude\nreplaces: [{ids}]\n"), 1),
        );
    };
    replace(&files[2], &format!("{}, {}", ids[0], ids[1]));
    agent.enter("w").await;
    let page = agent.call("palace_action", json!({ "action": 16, "params": "hall" })).await;
    assert!(page.contains("21. Three") && !page.contains("22. "), "{page}");
    let older = agent.choose(14).await;
    assert!(older.contains("21. Two (just now, by claude, replaced by"), "{older}");
    let everything = agent.choose(20).await;
    assert!(everything.contains("2 replaced scrolls: 14 lists older ones."), "{everything}");
    replace(&files[0], &format!("{}, 01KGSRV28ADXPQGT6T6QX25YS8, x", ids[2]));
    let told = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    for part in [
        "warning[unknown-scroll]: the scroll `Three` replaces this one, too",
        "warning[unknown-scroll]: no scroll has the id `01KGSRV28ADXPQGT6T6QX25YS8`",
        "error[bad-id]: `x` is not the id of a scroll",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[tokio::test]
async fn only_a_newer_scroll_of_the_same_room_replaces() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    write(&mut agent, "Hand-over", "Never push.").await;
    let file = scroll_files(&home).remove(0);
    let id = file["w/scrolls/hall/".len()..].split('-').next().unwrap().to_owned();
    let front = |written: &str| {
        format!(
            "---\ntitle: Dust\nwritten: {written}\nby: eve\nreplaces: [{id}]\n---\n\nNothing.\n"
        )
    };
    home.write("w/rooms/crypt.yaml", "name: Crypt\nportals: [hall]\n");
    home.write("w/scrolls/crypt/dust.md", &front("2026-03-02T12:00:00Z"));
    home.write("w/scrolls/hall/dust.md", &front("2020-01-01T12:00:00Z"));
    let page = agent.enter("w").await;
    assert!(page.contains("Never push.") && page.contains("21. Hand-over"), "{page}");
    let told = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    for part in ["the scroll `Hand-over` is in another room", "`Hand-over` was written later"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[tokio::test]
async fn a_new_scroll_is_compared_with_the_one_that_it_replaces() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home).await;
    write(&mut agent, "Hand-over", "The heron is grey.\n\nIt stands by the pond.").await;
    write(&mut agent, "Hand-over", "The heron is white.\n\nIt stands by the pond.").await;
    agent.disconnect().await;
    let output = |words: &[&str]| String::from_utf8(home.run_palazzo(words).stdout).unwrap();
    let expected = "scroll 'Hand-over' in hall: added; replaces 'Hand-over' of 2026-03-01 12:00; \
                    text changed (1 line)\n    text:\n  ~   The heron is [-grey-]{+white+}.\n      \
                    \n      It stands by the pond.\n";
    let expected = expected.replace("      \n", "\n");
    assert_eq!(output(&["diff", "--no-pager", "HEAD~1", "HEAD"]), expected);
    let newest = scroll_files(&home).pop().unwrap();
    assert!(output(&["show", &newest]).contains(&expected), "{}", output(&["show", &newest]));
    home.run_palazzo(&["git-setup"]);
    assert_eq!(home.git(&["diff", "HEAD~1", "HEAD"]), expected);
    let json = output(&["diff", "--no-pager", "--format", "json", "HEAD~1", "HEAD"]);
    assert!(json.contains("\"type\": \"replaces\""), "{json}");
}
