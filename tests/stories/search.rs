//! Search: one query finds every kind of content, and opens it.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::{Agent, Home, MARCH_1};

/// A palace with the word heron in files of every kind.
fn write_heron_files(home: &Home) {
    home.run_palazzo(&["init", "w"]);
    for (path, text) in [
        ("rooms/hall.yaml", "name: Hall\ndescription: Reeds, and a heron in them.\n"),
        (
            "scrolls/hall/01KGCM2P00QQ8E0TGM4GK4YWPA-at-dawn.md",
            "---\ntitle: At dawn\nwritten: 2026-02-01T06:00:00Z\nby: ada\n---\n\nTwo herons, one eel.",
        ),
        ("drawers/marsh/birds/2026-02-02.md", "Heron counts were down again."),
        (
            "diary/ada/2026-02-03-luck.md",
            "---\nagent: Ada\ntopic: luck\n---\n\nI missed the heron.",
        ),
        ("tasks/count.yaml", "title: Count the nests\nnote: Every heron twice.\n"),
        ("processes/census.yaml", "name: Census\nsteps:\n  - Ring a heron\n  - Rest\n"),
        ("genera/bird.yaml", "name: Bird\ndescription: Whatever a heron is.\n"),
        ("entities/bird/grey.yaml", "name: Grey heron\ngenus: Bird\n"),
    ] {
        home.write(&format!("w/{path}"), text);
    }
}

/// Commits all files as a person.
fn commit_all(home: &Home) {
    home.git(&["add", "."]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "By hand"]);
}

/// Returns the answers, without the menus.
fn transcript_without_menus(agent: &mut Agent) -> String {
    let said = agent.take_transcript();
    let pages = said.split("\n\n> ").map(|it| it.split("\n\nActions:\n").next().unwrap());
    pages.collect::<Vec<_>>().join("\n\n> ")
}

#[tokio::test]
async fn items_of_every_kind_are_found_and_opened() {
    let home = Home::new();
    write_heron_files(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    agent.choose_with(17, "herons").await;
    let found = transcript_without_menus(&mut agent);
    assert_snapshot!(found);
    let number = |sort: &str| {
        let line = found.lines().find(|it| it.contains(sort)).unwrap();
        line.trim().split('.').next().unwrap().parse::<i64>().unwrap()
    };
    let (page, bird) = (number("(diary of"), number("(genus"));
    agent.choose(page).await;
    agent.choose(bird).await;
    assert_snapshot!(transcript_without_menus(&mut agent));
}

#[tokio::test]
async fn search_reflects_changed_files() {
    let home = Home::new();
    write_heron_files(&home);
    commit_all(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let found = agent.choose_with(17, "herons").await;
    assert!(found.starts_with("8 results"), "{found}");
    home.write("w/diary/ada/2026-02-03-luck.md", "A bittern.");
    home.write("w/drawers/marsh/birds/new.md", "The bittern booms.");
    home.git(&["rm", "-q", "w/genera/bird.yaml"]);
    home.git(&["mv", "w/tasks/count.yaml", "w/tasks/recount.yaml"]);
    commit_all(&home);
    agent.take_transcript();
    agent.choose_with(17, "bittern").await;
    agent.choose_with(17, "herons").await;
    assert_snapshot!(transcript_without_menus(&mut agent));
}

/// Runs `palazzo search`; returns both output streams and the exit status.
fn run_search(home: &Home, arguments: &[&str]) -> String {
    let ended = home.run_palazzo(&[&["search"], arguments].concat());
    let place = home.path().display().to_string();
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&place, "HOME");
    let [said, aside] = [ended.stdout, ended.stderr].map(text);
    format!(
        "$ palazzo search {}\n{said}{aside}[{}]\n",
        arguments.join(" "),
        ended.status.code().unwrap()
    )
}

#[test]
fn the_search_command_filters_and_prints_results() {
    let home = Home::new();
    write_heron_files(&home);
    let pages = [
        run_search(&home, &["herons"]),
        run_search(&home, &["two", "herons", "--limit", "1", "--format", "json"]),
        run_search(&home, &["herons", "--kind", "drawer", "--kind", "entity"]),
        run_search(&home, &["herons", "--wing", "Marsh"]),
        run_search(&home, &["herons", "--room", "hall"]),
        run_search(&home, &["herons", "--since", "2026-02-02", "--until", "2026-02-03"]),
        run_search(&home, &["bittern"]),
        run_search(&home, &["bittern", "--format", "json"]),
    ];
    assert_snapshot!(pages.join("\n"));
}

#[test]
fn the_search_command_refuses_invalid_filters() {
    let home = Home::new();
    let nowhere = run_search(&home, &["herons"]);
    write_heron_files(&home);
    let pages = [
        nowhere,
        run_search(&home, &["herons", "--kind", "drawr"]),
        run_search(&home, &["herons", "--kind", "fish"]),
        run_search(&home, &["herons", "--wing", "marhs"]),
        run_search(&home, &["herons", "--wing", "marsh", "--room", "hall"]),
        run_search(&home, &["herons", "--since", "spring"]),
        run_search(&home, &["herons", "--since", "2026-03-01", "--until", "2026-02-01"]),
        run_search(&home, &[" "]),
    ];
    assert_snapshot!(pages.join("\n"));
}

#[test]
fn a_search_without_words_lists_what_is_of_a_time() {
    let home = Home::new();
    home.write("w/palace.toml", "format = 1\nname = \"Survey\"\n");
    for (file, text) in [
        ("log/2026-02-28.md", "Late in February."),
        ("log/2026-03-01.md", "Early in March."),
        ("plans/2026-03-31.md", "Late in March."),
        ("log/2026-04-01.md", "Early in April."),
        ("log/undated.md", "At some time."),
    ] {
        home.write(&format!("w/drawers/field/{file}"), text);
    }
    let listed = |arguments: &[&str]| {
        let found = home.run_palazzo(&[&["search", "--format", "json"], arguments].concat());
        let found: Value = serde_json::from_slice(&found.stdout).unwrap();
        let passages = found["results"].as_array().unwrap().iter().map(|it| it["passage"].clone());
        (passages.collect::<Vec<_>>(), found["total"].clone())
    };
    let march = ["--since", "2026-03", "--until", "2026-03"];
    assert_eq!(listed(&march), (vec!["Late in March.".into(), "Early in March.".into()], 2.into()));
    let first = [&march[..], &["--limit", "1"]].concat();
    assert_eq!(listed(&first), (vec!["Late in March.".into()], 2.into()));
    let in_log = [&march[..], &["--room", "log"]].concat();
    assert_eq!(listed(&in_log), (vec!["Early in March.".into()], 1.into()));
    assert_eq!(listed(&["--until", "2026-03"]), (vec!["Late in February.".into()], 1.into()));
    assert_eq!(listed(&["march", "--since", "2026-03", "--until", "2026-03"]).1, 2);
}

#[tokio::test]
async fn search_words_may_contain_filters() {
    let home = Home::new();
    write_heron_files(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    for said in [
        "kind:scroll herons",
        "herons kind:entity kind:genus",
        "herons room:birds",
        "herons since:2026-02-02 until:2026-02-03",
        "herons kind:drawr",
        "herons wing:marhs",
        "herons since:spring",
        "kind:drawer",
    ] {
        agent.choose_with(17, said).await;
    }
    assert_snapshot!(transcript_without_menus(&mut agent));
}

#[tokio::test]
async fn entities_are_found_by_their_attributes() {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    for (name, attributes) in [
        ("Cedar", "{ height: 195, planted: 1999, native: false }"),
        ("Larch", "{ height: 31, planted: 1950-02-01, native: true }"),
        ("Gauge", "{ price: 19.99, serial: SN-888, spares: [nozzle, 7] }"),
        ("Note", "{}"),
    ] {
        let text = format!("name: {name}\ngenus: Thing\nattributes: {attributes}\n");
        home.write(&format!("w/entities/thing/{}.yaml", name.to_lowercase()), &text);
    }
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.take_transcript();
    for query in ["height 195", "1999", "19.99", "sn-888", "serial", "nozzle", "native yes"] {
        agent.call("search_entities", json!({ "query": query })).await;
    }
    assert_snapshot!(agent.take_transcript());
    assert_snapshot!(run_search(&home, &["19.99"]));
}

#[tokio::test]
async fn search_entities_filters_by_current_genus_and_status() {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let entity = |name: &str, genus: &str, status: &str| json!({ "name": name, "genus": genus, "status": status });
    let grey = [
        ("Grey bed", "Claim", "open"),
        ("Grey owl", "Claim", "Settled"),
        ("Grey Book", "Book", "open"),
    ];
    let grey = grey.map(|(name, genus, status)| entity(name, genus, status));
    agent.call("create_entities", json!({ "entities": grey })).await;
    // Results listed before any room exists can be opened.
    agent.call("list_entities", json!({})).await;
    let bed = agent.choose(32).await;
    assert!(bed.starts_with("── Grey bed ──"), "{bed}");
    agent.take_transcript();
    for _ in 0..2 {
        agent.call("search_entities", json!({ "query": "grey", "genus": "claim" })).await;
        agent.call("search_entities", json!({ "query": "grey", "status": "settled" })).await;
        agent
            .call("search_entities", json!({ "query": "grey", "genus": "Claim", "status": "open" }))
            .await;
        agent.call("update_entity", json!({ "name": "Grey bed", "status": "settled" })).await;
    }
    assert_snapshot!(agent.take_transcript());
}

/// Builds a palace with one scroll that answers the question, and twenty that only share a word with it.
async fn home_with_many_reports() -> (Home, Agent) {
    let home = Home::new();
    let mut agent = home.agent(MARCH_1).await;
    agent.call("set_workspace", json!({ "workspace": "w", "create": true })).await;
    let room = json!({ "slug": "hall", "name": "Hall", "description": "Bare.", "quiet": true });
    agent.call("build_room", room).await;
    let body = "The pump stalls because the valve of the boiler sticks in frost.\n\n\
                Remedy: warm the valve before the pump starts.";
    agent.call("write_scroll", json!({ "title": "Why the pump stalls", "body": body })).await;
    for number in 0..20 {
        let body = format!("The pump of hall {number} was looked at. All is well, nothing leaks.");
        let title = format!("Report {number}");
        agent.call("write_scroll", json!({ "title": title, "body": body })).await;
    }
    // A new visit, which was not shown the scroll that it wrote.
    agent.enter("w").await;
    (home, agent)
}

#[tokio::test]
async fn a_search_shows_the_best_passage_whole_and_counts_the_weaker_results() {
    let (_home, mut agent) = home_with_many_reports().await;
    let found = agent.choose_with(17, "why does the pump valve stick in frost").await;
    assert!(found.contains("31. Why the pump stalls"), "{found}");
    assert!(found.contains("Remedy: warm the valve before the pump starts."), "{found}");
    let shown = found.matches("(scroll in Hall").count();
    assert!((1..=8).contains(&shown), "{found}");
    assert!(found.contains(&format!("  13 shows {} weaker results\n", 21 - shown)), "{found}");
    let weaker = agent.choose(13).await;
    assert!(weaker.starts_with(&format!("Weaker results:\n  {}. Report", 31 + shown)), "{weaker}");
    assert!(weaker.contains("  51. Report"), "{weaker}");
    assert!(agent.choose(51).await.contains("nothing leaks"));
    assert!(!agent.choose(13).await.starts_with("Weaker"));
}

#[tokio::test]
async fn a_query_in_quotes_is_exact_and_common_words_alone_find_nothing() {
    let (_home, mut agent) = home_with_many_reports().await;
    let found = agent.choose_with(17, "\"valve of the boiler sticks\"").await;
    assert!(found.starts_with("1 result for "), "{found}");
    let none = agent.choose_with(17, "\"valve of the pump sticks\"").await;
    assert!(
        none.starts_with(
            "\"valve of the pump sticks\" stands nowhere in what was searched: room, "
        ),
        "{none}"
    );
    let none = agent.choose_with(17, "what is the").await;
    assert!(none.starts_with("Nothing in the palace mentions"), "{none}");
    agent
        .call(
            "create_entities",
            json!({ "entities": [
        { "name": "Boiler", "genus": "Machine", "observations": ["Its valve sticks in frost."] },
        { "name": "Pump", "genus": "Machine", "observations": ["Frost makes it stick; a valve."] }
    ] }),
        )
        .await;
    let found = agent.call("search_entities", json!({ "query": "\"valve sticks\"" })).await;
    assert!(found.contains("Boiler") && !found.contains("Pump"), "{found}");
}
