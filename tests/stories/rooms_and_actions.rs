//! Walking, building rooms and writing scrolls, in all possible ways.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// A client in a palace with one hall and the given actions.
async fn agent_in_hall(home: &Home, actions: Value) -> Agent {
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let entities = json!({ "entities": [
        { "name": "Granite", "genus": "Rock", "observations": ["Speckled, cooled slowly."] },
        { "name": "Basalt", "genus": "Rock", "status": "dark" },
        { "name": "Trilobite", "genus": "Fossil" },
    ] });
    agent.call("create_entities", entities).await;
    let room =
        json!({ "slug": "hall", "name": "Hall", "description": "Stone.", "actions": actions });
    agent.call("build_room", room).await;
    agent.take_transcript();
    agent
}

async fn build_room(agent: &mut Agent, slug: &str, more: Value) -> String {
    let mut room = json!({ "slug": slug, "name": slug, "description": "Bare.", "actions": [] });
    for (key, value) in more.as_object().unwrap() {
        room[key] = value.clone();
    }
    agent.call("build_room", room).await
}

fn first_line(page: &str) -> &str {
    page.lines().next().unwrap()
}

#[tokio::test]
async fn params_fill_the_placeholder_or_become_the_query() {
    let home = Home::new();
    let ask = |label: &str, tool: &str, params: Value| json!({ "label": label, "type": "query", "tool": tool, "tool_params": params });
    let mut agent = agent_in_hall(
        &home,
        json!([
            ask("Tap a stone", "get_entity", json!({ "name": "{params}" })),
            ask("Ask the warden", "search_entities", json!({ "query": "nothing" })),
            ask("List the rocks", "mcp__palazzo__list_entities", json!({ "genus": "Rock" })),
            ask("List the drawer", "palazzo:list_entities", json!({ "genus": "{params}" })),
        ]),
    )
    .await;
    assert!(agent.choose_with(1, "granite").await.starts_with("You tap a stone:\n── Granite ──"));
    assert!(agent.choose_with(2, "speckled").await.contains("31. Granite · Rock"));
    assert!(agent.choose(3).await.contains("2 entities of genus Rock"));
    assert!(agent.choose_with(4, "fossil").await.contains("31. Trilobite · Fossil"));
    assert_eq!(
        first_line(&agent.choose(1).await),
        "refused: this action needs words: give them in `params`"
    );
    let refused = agent.choose_with(3, "dark").await;
    assert_eq!(
        first_line(&refused),
        "refused: this action takes no `params`: choose it by number alone"
    );
    assert!(refused.contains("Actions: 1 Tap a stone · "), "{refused}");
}

#[tokio::test]
async fn an_action_that_would_multiply_the_words_of_a_visitor_is_refused() {
    let home = Home::new();
    let params = json!({ "query": "{params}".repeat(100_000) });
    let action = json!({ "label": "Ask", "type": "query", "tool": "search_entities", "tool_params": params });
    let mut agent = agent_in_hall(&home, json!([action])).await;
    let refused = agent.choose_with(1, &"w".repeat(10_000)).await;
    assert_snapshot!(first_line(&refused), @"refused: with these `params`, the parameters of the action would have 1000000000 bytes, and the limit is 65536: give shorter ones, or write `{params}` fewer times in the action");
}

#[tokio::test]
async fn an_action_changes_nothing_unless_the_palace_allows_it() {
    let home = Home::new();
    let ask = |tool: &str, params: Value| json!({ "label": tool, "type": "query", "tool": tool, "tool_params": params });
    let mut agent = agent_in_hall(
        &home,
        json!([
            ask("update_entity", json!({ "name": "Basalt", "status": "{params}" })),
            ask("set_workspace", json!({ "workspace": "w" })),
            ask("list_entitys", json!({})),
            ask("get_entity", json!({ "nam": "Basalt" })),
        ]),
    )
    .await;
    let commits = home.commit_count();
    for number in 1..=4 {
        agent.choose_with(number, "grey").await;
    }
    let transcript = agent.take_transcript();
    let answers: Vec<_> = transcript.lines().filter(|it| it.starts_with("refused")).collect();
    assert_snapshot!(answers.join("\n"), @"
    refused: this action runs `update_entity`, which changes things; an action may run only tools that read, and those listed in `[actions] allow` in palace.toml
    refused: this action runs `set_workspace`, which moves the visitor; an action may run only tools that read, and those listed in `[actions] allow` in palace.toml
    refused: this action runs `list_entitys`, but there is no such tool; did you mean `list_entities`?
    refused: this action takes no `params`: choose it by number alone
    ");
    let wrong = agent.choose(4).await;
    assert!(
        wrong.starts_with("refused: wrong arguments for get_entity at `nam`: unknown field `nam`"),
        "{wrong}"
    );
    assert_eq!(home.commit_count(), commits);

    let settings = home.read("w/palace.toml") + "\n[actions]\nallow = [\"update_entity\"]\n";
    home.write("w/palace.toml", &settings);
    home.run_palazzo(&["trust", "--yes"]);
    assert_eq!(
        agent.choose_with(1, "grey").await.lines().nth(1),
        Some("Changed Basalt: status dark → grey.")
    );
    assert!(home.read("w/entities/rock/basalt.yaml").contains("status: grey"));
}

#[tokio::test]
async fn older_scrolls_are_listed_in_pages() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    for it in 1..=14 {
        agent.call("write_scroll", json!({ "title": format!("Note {it}"), "body": "x" })).await;
    }
    agent.take_transcript();
    agent.enter("w").await;
    agent.choose(14).await;
    agent.choose(21).await;
    agent.choose(14).await;
    agent.choose(22).await;
    agent.choose(14).await;
    let menu = "\n\nActions:\n  ─────\n";
    let transcript = agent.take_transcript();
    let pages = transcript.split("\n\n> ").map(|it| it.split(menu).next().unwrap());
    assert_snapshot!(pages.collect::<Vec<_>>().join("\n\n> "));
}

#[tokio::test]
async fn a_room_is_built_renamed_and_deleted_in_three_commits() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    let door = json!([{ "label": "Leave", "type": "navigate", "room": "hall" }]);
    let built = build_room(&mut agent, "crypt", json!({ "actions": door })).await;
    assert!(built.contains("1. Leave"), "{built}");
    agent.call("write_scroll", json!({ "title": "Bones", "body": "White." })).await;
    let before = home.commit_count();
    let call = |fields: Value| {
        let mut room = fields;
        room["slug"] = json!(room["slug"].as_str().unwrap_or("crypt"));
        room
    };
    let moved = agent.call("build_room", call(json!({ "rename": "deep/vault" }))).await;
    assert!(
        moved.starts_with(
            "crypt is `deep/vault` now; what names it follows: 1 scroll.\n\n── crypt ──"
        ),
        "{moved}"
    );
    assert!(agent.choose(1).await.starts_with("── Hall ──"));
    let back = agent.choose(15).await;
    assert!(back.contains("21. Bones") && back.contains("1. Leave"), "{back}");
    let both = call(json!({ "slug": "deep/vault", "delete": true, "name": "Vault" }));
    let refused = agent.call("build_room", both).await;
    assert!(refused.contains("give only `slug` with them"), "{refused}");
    let delete = json!({ "slug": "deep/vault", "delete": true, "scrolls_to": "hall" });
    let gone = agent.call("build_room", delete).await;
    assert!(gone.starts_with("Deleted crypt (`deep/vault`); 1 scroll moved to `hall`"), "{gone}");
    assert_eq!(home.commit_count(), before + 2);
    home.assert_clean_repository();
    assert_eq!(home.git(&["ls-files", "w/rooms"]), "w/rooms/hall.yaml\n");
    assert_eq!(home.git(&["ls-files", "w/scrolls/hall"]).lines().count(), 1);
}

#[tokio::test]
async fn a_door_has_two_sides_and_is_removed_from_both() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    let built = build_room(&mut agent, "crypt", json!({ "portals": ["hall", "well"] })).await;
    assert!(built.starts_with("── crypt ──") && built.contains("15 back to Hall"), "{built}");
    assert!(home.read("w/rooms/crypt.yaml").contains("portals:\n  - hall\n  - well\n"));
    let back = agent.choose(1).await;
    assert!(back.starts_with("── Hall ──"), "{back}");
    let bare = build_room(&mut agent, "hall", json!({ "portals": [] })).await;
    assert!(!bare.contains("Go to crypt") && !bare.contains("Go back to crypt"), "{bare}");
    assert!(home.read("w/rooms/crypt.yaml").contains("portals:\n  - well\n"));
    assert_eq!(
        home.git(&["show", "--stat", "--format=%s"]).lines().count(),
        5,
        "one commit, two files"
    );
    home.assert_clean_repository();
}

#[tokio::test]
async fn rooms_with_the_same_name_are_distinguished_by_wing() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    build_room(&mut agent, "well", json!({ "wing": "east", "name": "East Well", "quiet": true }))
        .await;
    assert!(agent.choose_with(16, "well").await.starts_with("── East Well ──"));
    build_room(&mut agent, "west/well", json!({ "name": "West Well", "quiet": true })).await;
    agent.enter("w").await;
    let which = agent.choose_with(16, "well").await;
    assert_eq!(
        first_line(&which),
        "refused: several rooms are called `well`; use one of `east/well`, `west/well`"
    );
    assert!(agent.choose_with(16, "west well").await.starts_with("── West Well ──"));
    let odd = build_room(&mut agent, "west/well", json!({ "wing": "east" })).await;
    assert!(odd.starts_with("refused: the `slug` names the wing `west`"), "{odd}");
    let map = agent.choose(0).await;
    assert!(map.contains("\nWing west:\n  West Well (west/well)"), "{map}");
    home.assert_clean_repository();
}

#[tokio::test]
async fn an_unknown_number_is_refused_with_the_menu() {
    let home = Home::new();
    let mut agent =
        agent_in_hall(&home, json!([{ "label": "Listen", "type": "text", "content": "Drip." }]))
            .await;
    for number in [-1, 2, 13, 21, 30, 31, 61, i64::MAX] {
        let said = agent.choose(number).await;
        let why = match number {
            31 => ": the numbers of a list end with a move to another room",
            _ => "",
        };
        let expected =
            format!("refused: there is no action {number} here{why}\n\nActions: 1 Listen · ");
        assert!(said.starts_with(&expected), "{said}");
    }
    let lost = agent.choose_with(16, "hal").await;
    assert_eq!(first_line(&lost), "refused: no room is called `hal`; did you mean `hall`?");
}

#[tokio::test]
async fn several_numbers_of_one_menu_are_answered_together() {
    let home = Home::new();
    let text =
        |label: &str, content: &str| json!({ "label": label, "type": "text", "content": content });
    let rocks = json!({ "label": "List the rocks", "type": "query", "tool": "list_entities", "tool_params": { "genus": "Rock" } });
    let actions = json!([text("Listen", "Drip."), rocks, { "label": "Descend", "type": "navigate", "room": "crypt" }]);
    let mut agent = agent_in_hall(&home, actions).await;
    for title in ["On rain", "On snow"] {
        agent.call("write_scroll", json!({ "title": title, "body": "See [[Granite]]." })).await;
    }
    agent.take_transcript();
    for (action, also) in
        [(21, json!([22, 1, 2, 7])), (3, json!([1])), (1, json!([3])), (9, json!([10]))]
    {
        agent.call("palace_action", json!({ "action": action, "also": also })).await;
    }
    agent.call("palace_action", json!({ "action": "crypt" })).await;
    agent.call("get_entity", json!({ "names": ["Granite", "basalt", "Slate"] })).await;
    agent.call("get_entity", json!({})).await;
    agent.call("get_entity", json!({ "names": ["Slate"] })).await;
    assert_snapshot!(agent.take_transcript());
}

#[tokio::test]
async fn an_action_before_entering_leads_to_the_entry() {
    let home = Home::new();
    let mut none = home.agent(MARCH_1).await;
    let lost = none.choose(1).await;
    assert_eq!(
        lost,
        "refused: no workspace is set: call set_workspace first. There are no workspaces yet."
    );
    agent_in_hall(&home, json!([])).await.disconnect().await;
    let mut next = home.agent("2026-03-02T12:00:00Z").await;
    assert!(next.choose(7).await.contains("── Hall ──"));
    next.call("set_workspace", json!({ "workspace": "later", "create": true })).await;
    build_room(&mut next, "porch", json!({ "quiet": true })).await;
    next.disconnect().await;
    let mut last = home.agent("2026-03-03T12:00:00Z").await;
    assert!(last.choose(7).await.contains("── porch ──"));
}

#[tokio::test]
async fn refusals_say_what_to_do_instead() {
    let home = Home::new();
    let mut agent =
        agent_in_hall(&home, json!([{ "label": "Descend", "type": "navigate", "room": "pit" }]))
            .await;
    agent.choose(1).await;
    agent.take_transcript();
    agent.call("write_scroll", json!({ "title": "Deep", "body": "x" })).await;
    agent.call("write_scroll", json!({ "title": " ", "body": "x", "room": "hall" })).await;
    agent
        .call(
            "write_scroll",
            json!({ "title": "Long", "body": "x".repeat(1_100_000), "room": "hall" }),
        )
        .await;
    agent.call("build_room", json!({ "slug": "pit", "merge": true, "name": "Pit" })).await;
    agent.call("get_entity", json!({ "name": "Granit" })).await;
    agent.call("list_entities", json!({ "genus": "Rok" })).await;
    agent.call("list_entities", json!({ "genus": "rock", "status": "light" })).await;
    agent.call("create_entities", json!({ "entities": [] })).await;
    agent.call("update_entity", json!({ "name": "Basalt" })).await;
    let transcript = agent.take_transcript();
    let id = transcript.find("scrolls/hall/").unwrap() + "scrolls/hall/".len();
    let transcript = transcript.replace(&transcript[id..id + 26], "ID");
    let lines = transcript.lines().filter(|it| !it.starts_with('>') && !it.is_empty());
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[tokio::test]
async fn a_number_keeps_the_meaning_it_had_when_shown() {
    let home = Home::new();
    let text = |label: &str| json!({ "label": label, "type": "text", "content": label });
    let mut agent =
        agent_in_hall(&home, json!([text("Pull the lever"), text("Ring the bell")])).await;
    agent.call("write_scroll", json!({ "title": "First", "body": "x" })).await;
    agent.enter("w").await;

    let mut other = home.agent(MARCH_1).await;
    other.enter("w").await;
    build_room(&mut other, "hall", json!({ "actions": [text("Burn the bridge")] })).await;
    other.call("write_scroll", json!({ "title": "Second", "body": "x", "room": "hall" })).await;

    let pulled = agent.choose(1).await;
    assert!(pulled.starts_with("You pull the lever:"), "{pulled}");
    assert!(pulled.contains("Actions: 1 Burn the bridge · "), "{pulled}");
    assert!(agent.choose(1).await.starts_with("You choose \"Burn the bridge\":"));
    assert!(agent.choose(21).await.starts_with("── First ──"));
}

#[tokio::test]
async fn values_that_no_file_can_hold_are_refused_before_writing() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    let commits = home.commit_count();
    let long = json!({ "k".repeat(1_100): 1 });
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    for attributes in [long, json!({ "deep": deep })] {
        let entity = json!({ "name": "Odd", "genus": "G", "attributes": attributes });
        let said = agent.call("create_entities", json!({ "entities": [entity] })).await;
        assert!(
            said.starts_with("refused: `entities/g/odd.yaml` cannot store this exactly"),
            "{said}"
        );
        let ask = json!({ "label": "Ask", "type": "query", "tool": "get_entity", "tool_params": attributes });
        let said = build_room(&mut agent, "crypt", json!({ "actions": [ask] })).await;
        assert!(
            said.starts_with("refused: `rooms/crypt.yaml` cannot store this exactly"),
            "{said}"
        );
    }
    assert_eq!(home.commit_count(), commits);
    let large = json!({ "name": "Large", "genus": "G", "attributes": { "n": u64::MAX } });
    agent.call("create_entities", json!({ "entities": [large] })).await;
    let seen = agent.call("get_entity", json!({ "name": "Large" })).await;
    assert!(seen.contains(&format!("n: {}", u64::MAX)), "{seen}");
}

#[tokio::test]
async fn a_refused_room_creates_no_workspace() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    let said = agent.call("build_room", json!({ "slug": "hall", "merge": true })).await;
    assert!(said.starts_with("refused: a room needs a `name`"), "{said}");
    assert!(!home.path().exists());
    let built = build_room(&mut agent, "hall", json!({ "quiet": true })).await;
    assert_eq!(built, "Built hall (hall).\nNo workspace was set: the call used `palace`.\n");
    let said = agent.call("palace_action", json!({ "action": 0.0 })).await;
    assert!(said.starts_with("── Map of palace ──"), "{said}");
}

#[tokio::test]
async fn creating_an_entity_saved_by_hand_adds_only_what_it_lacks() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    home.write("w/entities/rock/gneiss.yaml", "name: Gneiss\ngenus: Rock # by hand\n");
    let entity = json!({ "name": "Gneiss", "genus": "Rock" });
    let said = agent.call("create_entities", json!({ "entities": [entity] })).await;
    assert_eq!(said, "Nothing to add to Gneiss.\n");
    let entity = json!({ "name": "Gneiss", "genus": "Rock", "observations": ["Banded."] });
    let said = agent.call("create_entities", json!({ "entities": [entity] })).await;
    assert_eq!(said, "Changed Gneiss: 1 observation added.\n");
    let text = home.read("w/entities/rock/gneiss.yaml");
    assert!(text.starts_with("name: Gneiss\ngenus: Rock # by hand\nobservations:"), "{text}");
}

#[tokio::test]
async fn without_a_named_workspace_the_only_one_is_used() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    let mut agent = home.agent(MARCH_1).await;
    agent.call("list_entities", json!({ "genus": "Component" })).await;
    agent
        .call("create_entities", json!({ "entities": [{ "name": "Gneiss", "genus": "Rock" }] }))
        .await;
    let mut writer = home.agent(MARCH_1).await;
    writer.call("write_scroll", json!({ "title": "On moss", "body": "It grows." })).await;
    assert_snapshot!(agent.take_transcript() + "\n" + &writer.take_transcript());
}

#[tokio::test]
async fn with_several_workspaces_one_must_be_chosen() {
    let home = Home::new();
    home.run_palazzo(&["init", "Code", "--template", "codebase"]);
    home.run_palazzo(&["init", "Survey"]);
    let before = home.commit_count();
    let mut agent = home.agent(MARCH_1).await;
    for tool in ["list_entities", "describe_workspace", "list_tasks"] {
        agent.call(tool, json!({})).await;
    }
    agent
        .call("create_entities", json!({ "entities": [{ "name": "Gneiss", "genus": "Rock" }] }))
        .await;
    agent.call("create_task", json!({ "title": "Sweep" })).await;
    agent.call("write_scroll", json!({ "title": "On moss", "body": "It grows." })).await;
    build_room(&mut agent, "hall", json!({ "quiet": true })).await;
    let mut remembering = home.agent_with(MARCH_1, &["--tools", "memory"]).await;
    remembering.call("read_graph", json!({})).await;
    let gneiss = json!({ "name": "Gneiss", "entityType": "Rock", "observations": [] });
    remembering.call("create_entities", json!({ "entities": [gneiss] })).await;
    assert_eq!(home.commit_count(), before);

    let led = home.agent(MARCH_1).await.choose(0).await;
    home.run_palazzo(&["init", "palace"]);
    let mut usual = home.agent(MARCH_1).await;
    usual
        .call("create_entities", json!({ "entities": [{ "name": "Gneiss", "genus": "Rock" }] }))
        .await;
    let story = [
        agent.take_transcript(),
        remembering.take_transcript(),
        first_line(&led).to_owned(),
        usual.take_transcript(),
    ];
    assert_snapshot!(story.join("\n"));
}

#[tokio::test]
async fn build_room_reports_findings_about_the_room() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    build_room(&mut agent, "hall", json!({ "portals": ["cellar", "tower"] })).await;
    build_room(&mut agent, "cellar", json!({ "portals": ["hall", "well"] })).await;
    build_room(&mut agent, "well", json!({})).await;
    let whole = agent.take_transcript();
    assert!(!whole.contains("Problems found"), "{whole}");

    let ask = |label: &str, tool: &str, params: Value| json!({ "label": label, "type": "query", "tool": tool, "tool_params": params });
    let actions = json!([
        ask("Sweep", "delete_entities", json!({ "names": ["Dust"] })),
        ask("Look", "list_entites", json!({})),
        ask("Listen", "list_entities", json!({ "foo": 1, "page": "two" })),
        ask("Ask", "get_entity", json!({})),
    ]);
    build_room(&mut agent, "bad", json!({ "actions": actions, "quiet": true })).await;
    // Removed doors leave their rooms behind; a door to a missing room is no error.
    build_room(&mut agent, "hall", json!({ "portals": ["bad", "tower"], "quiet": true })).await;
    let fixed = json!([ask("Ask", "get_entity", json!({ "name": "Dust" }))]);
    build_room(&mut agent, "bad", json!({ "actions": fixed, "quiet": true, "portals": ["hall"] }))
        .await;
    let merged =
        json!({ "slug": "bad", "merge": true, "actions": [ask("Sniff", "smell", json!({}))] });
    agent.call("build_room", merged).await;
    assert_snapshot!(agent.take_transcript());
    let checked = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    assert_snapshot!(
        "the_same_is_said_by_check",
        checked.replace(&home.path().display().to_string(), "HOME")
    );
}

#[tokio::test]
async fn a_missing_entry_room_is_reported_with_its_replacement() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"W\"\nentry = \"nowhere\"\n");
    home.write("w/rooms/hall.yaml", "name: Hall\ndescription: Stone.\nportals: [porch]\n");
    home.write("w/rooms/porch.yaml", "name: Porch\ndescription: Wood.\n");
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let seen = agent.take_transcript();
    let page = &seen[seen.find("── Hall").unwrap()..];
    let porch = agent.choose(1).await;
    assert!(porch.starts_with("── Porch ──") && !porch.contains("nowhere"), "{porch}");
    agent.take_transcript();
    build_room(&mut agent, "nowhere", json!({ "quiet": true, "portals": ["hall"] })).await;
    let again = agent.enter("w").await;
    assert!(again.contains("\n\n── nowhere ──") && !again.contains("not there"), "{again}");
    assert_snapshot!(page);
}

#[tokio::test]
async fn words_are_answered_with_the_numbers_or_tools_that_they_mean() {
    let home = Home::new();
    let mut agent = agent_in_hall(&home, json!([])).await;
    let said = agent.call("palace_action", json!({ "action": "Map" })).await;
    assert!(said.contains("an action is a number; `Map` is 0"), "{said}");
    let page = agent.call("palace_action", json!({ "action": 16, "params": "Entry" })).await;
    assert!(page.contains("── Hall ──"), "{page}");
    let said = agent.call("search_entities", json!({ "query": " " })).await;
    assert!(said.contains("list_entities lists entities without words"), "{said}");
    let none = agent.choose_with(17, "granite kind:drawer since:2020").await;
    assert!(
        none.starts_with(
            "Nothing within these filters mentions \"granite\". Entities and rooms have no date"
        ),
        "{none}"
    );
}

#[tokio::test]
async fn a_palace_with_the_name_of_another_is_noted() {
    let home = Home::new();
    agent_in_hall(&home, json!([])).await.disconnect().await;
    home.write("w/palace.toml", "name = \"Work\"\nentry = \"hall\"\n");
    let mut agent = home.agent(MARCH_1).await;
    assert!(!agent.enter("Work").await.contains("is also a name"));
    home.write("Work/palace.toml", "name = \"Z\"\n");
    home.write("Work/rooms/trap.yaml", "name: Trap\n");
    let page = agent.call("set_workspace", json!({ "workspace": "Work" })).await;
    let note = "Note: `Work` is also a name of the palace in the folder `w`; this is `Work`.\n";
    assert!(page.starts_with(note) && page.contains("── Trap ──"), "{page}");
}
