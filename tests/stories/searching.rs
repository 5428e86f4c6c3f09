//! Searching: everything that is kept is found by one search, and opened.

use insta::assert_snapshot;
use serde_json::json;

use crate::harness::{Agent, Home, MARCH_1};

/// A palace in whose files, of every sort, a heron is spoken of.
fn speaking_of_herons(home: &Home) {
    home.palazzo(&["init", "w"]);
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

/// Lets a person commit whatever there is.
fn commit(home: &Home) {
    home.git(&["add", "."]);
    home.git(&["-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-qm", "By hand"]);
}

/// Returns what was said, without the menus.
fn bare(agent: &mut Agent) -> String {
    let said = agent.transcript();
    let pages = said.split("\n\n> ").map(|it| it.split("\n\nActions:\n").next().unwrap());
    pages.collect::<Vec<_>>().join("\n\n> ")
}

#[tokio::test]
async fn whatever_is_kept_is_found_and_opened() {
    let home = Home::new();
    speaking_of_herons(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.transcript();
    agent.choose_with(17, "herons").await;
    let found = bare(&mut agent);
    assert_snapshot!(found);
    let number = |sort: &str| {
        let line = found.lines().find(|it| it.contains(sort)).unwrap();
        line.trim().split('.').next().unwrap().parse::<i64>().unwrap()
    };
    let (page, bird) = (number("(diary of"), number("(genus)"));
    agent.choose(page).await;
    agent.choose(bird).await;
    assert_snapshot!(bare(&mut agent));
}

#[tokio::test]
async fn what_changes_is_found_as_it_is_now() {
    let home = Home::new();
    speaking_of_herons(&home);
    commit(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    let found = agent.choose_with(17, "herons").await;
    assert!(found.starts_with("7 results"), "{found}");
    home.write("w/diary/ada/2026-02-03-luck.md", "A bittern.");
    home.write("w/drawers/marsh/birds/new.md", "The bittern booms.");
    home.git(&["rm", "-q", "w/genera/bird.yaml"]);
    home.git(&["mv", "w/tasks/count.yaml", "w/tasks/recount.yaml"]);
    commit(&home);
    agent.transcript();
    agent.choose_with(17, "bittern").await;
    agent.choose_with(17, "herons").await;
    assert_snapshot!(bare(&mut agent));
}

/// Asks at the terminal, and returns what is printed on both streams, and how it ends.
fn ask(home: &Home, arguments: &[&str]) -> String {
    let ended = home.palazzo(&[&["search"], arguments].concat());
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
fn a_person_searches_at_the_terminal() {
    let home = Home::new();
    speaking_of_herons(&home);
    let pages = [
        ask(&home, &["herons"]),
        ask(&home, &["two", "herons", "--limit", "1", "--format", "json"]),
        ask(&home, &["herons", "--kind", "drawer", "--kind", "entity"]),
        ask(&home, &["herons", "--wing", "Marsh"]),
        ask(&home, &["herons", "--room", "hall"]),
        ask(&home, &["herons", "--since", "2026-02-02", "--until", "2026-02-03"]),
        ask(&home, &["bittern"]),
        ask(&home, &["bittern", "--format", "json"]),
    ];
    assert_snapshot!(pages.join("\n"));
}

#[test]
fn a_search_that_cannot_be_meant_is_refused_at_the_terminal() {
    let home = Home::new();
    let nowhere = ask(&home, &["herons"]);
    speaking_of_herons(&home);
    let pages = [
        nowhere,
        ask(&home, &["herons", "--kind", "drawr"]),
        ask(&home, &["herons", "--kind", "fish"]),
        ask(&home, &["herons", "--wing", "marhs"]),
        ask(&home, &["herons", "--wing", "marsh", "--room", "hall"]),
        ask(&home, &["herons", "--since", "spring"]),
        ask(&home, &["herons", "--since", "2026-03-01", "--until", "2026-02-01"]),
        ask(&home, &[" "]),
    ];
    assert_snapshot!(pages.join("\n"));
}

#[tokio::test]
async fn a_visitor_says_among_the_words_where_to_look() {
    let home = Home::new();
    speaking_of_herons(&home);
    let mut agent = home.agent(MARCH_1).await;
    agent.enter("w").await;
    agent.transcript();
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
    assert_snapshot!(bare(&mut agent));
}

#[tokio::test]
async fn entities_are_found_by_their_attributes() {
    let home = Home::new();
    home.palazzo(&["init", "w"]);
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
    agent.transcript();
    for query in ["height 195", "1999", "19.99", "sn-888", "serial", "nozzle", "native yes"] {
        agent.call("search_entities", json!({ "query": query })).await;
    }
    assert_snapshot!(agent.transcript());
    assert_snapshot!(ask(&home, &["19.99"]));
}

#[tokio::test]
async fn a_search_among_entities_is_narrowed_to_what_they_are_now() {
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
    // What was listed before there was a place to stand in can be opened.
    agent.call("list_entities", json!({})).await;
    let bed = agent.choose(32).await;
    assert!(bed.starts_with("── Grey bed ──"), "{bed}");
    agent.transcript();
    for _ in 0..2 {
        agent.call("search_entities", json!({ "query": "grey", "genus": "claim" })).await;
        agent.call("search_entities", json!({ "query": "grey", "status": "settled" })).await;
        agent
            .call("search_entities", json!({ "query": "grey", "genus": "Claim", "status": "open" }))
            .await;
        agent.call("update_entity", json!({ "name": "Grey bed", "status": "settled" })).await;
    }
    assert_snapshot!(agent.transcript());
}
