//! A palace with a name of almost a megabyte, and with texts as long: answers stay short, nothing is
//! out of reach.

use serde_json::json;

use crate::harness::{Home, MARCH_1};

const MAX_ANSWER_CHARS: usize = 24_000;

/// A palace whose hall has an endless name, and whose cellar has an endless description.
fn home_with_long_texts() -> Home {
    let home = Home::new();
    home.run_palazzo(&["init", "w"]);
    home.write("w/palace.toml", "name = \"W\"\nentry = \"hall\"\n");
    let name = "Nave".repeat(250_000);
    home.write("w/rooms/hall.yaml", &format!("name: {name}\ndescription: Bare.\nportals: [pit]\n"));
    let lines: Vec<_> = (0..60_000).map(|it| format!("  Stone {it:05}\n")).collect();
    let lines = lines.concat();
    home.write("w/rooms/pit.yaml", &format!("name: Pit\ndescription: |\n{lines}"));
    home.write("w/entities/ore/a.yaml", &format!("name: {name}\ngenus: Ore\n"));
    home.write("w/entities/ore/b.yaml", &format!("name: Tin\ngenus: {name}\n"));
    home
}

#[tokio::test]
async fn no_answer_is_long_and_every_line_can_be_read() {
    let home = home_with_long_texts();
    let mut agent = home.agent_with(MARCH_1, &["--tools", "palace,graph,sync"]).await;
    let mut answers = vec![agent.enter("w").await];
    for number in [0, 17, 18, 19] {
        answers.push(agent.choose_with(number, "Nave").await);
    }
    answers.push(agent.call("list_entities", json!({})).await);
    answers.push(agent.call("search_entities", json!({ "query": "Nave" })).await);
    answers.push(agent.call("get_entity", json!({ "name": "Tin" })).await);
    answers.push(agent.call("get_entity", json!({ "name": "Nave".repeat(1_000) })).await);
    answers.push(agent.call("describe_workspace", json!({})).await);
    assert!(answers.iter().all(|it| !it.contains(&"Nave".repeat(51))));
    answers.push(agent.choose_with(16, "pit").await);
    let mut read = answers.last().unwrap().clone();
    while answers.last().unwrap().contains("; palace_action 13 continues.") {
        answers.push(agent.choose(13).await);
        read.push_str(answers.last().unwrap());
    }
    for (number, answer) in answers.iter().enumerate() {
        assert!(answer.chars().count() <= MAX_ANSWER_CHARS, "answer {number}");
    }
    let stones =
        read.lines().filter_map(|it| it.trim().strip_prefix("Stone ")?.parse::<usize>().ok());
    assert!(stones.eq(0..60_000));
}

#[test]
fn pages_of_rooms_as_resources_and_prompts_are_cut_too() {
    let home = home_with_long_texts();
    let mut wire = home.initialized_client();
    for room in ["hall", "pit"] {
        let uri = format!("palace://w/rooms/{room}");
        let read = wire.request("resources/read", json!({ "uri": uri }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.chars().count() <= MAX_ANSWER_CHARS && !text.contains(&"Nave".repeat(51)));
        assert_eq!(text.contains("; `palazzo show` prints everything."), room == "pit");
    }
    let prompt = json!({ "name": "wake-up", "arguments": { "workspace": "w" } });
    let prompt = wire.request("prompts/get", prompt);
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.chars().count() <= MAX_ANSWER_CHARS);
}

#[test]
fn the_terminal_shows_long_texts_whole_and_check_notes_them() {
    let home = home_with_long_texts();
    let shown = home.run_palazzo(&["show", "rooms/pit.yaml"]).stdout;
    assert!(String::from_utf8(shown).unwrap().contains("Stone 59999"));
    let checked = String::from_utf8(home.run_palazzo(&["check"]).stdout).unwrap();
    let notes: Vec<_> = checked.lines().filter(|it| it.contains("info[long-text]")).collect();
    let name = "this name has 1000000 characters; 200 of them are shown";
    assert_eq!(
        notes,
        [
            format!("home/w/entities/ore/a.yaml:1:7: info[long-text]: {name}"),
            format!("home/w/entities/ore/b.yaml:2:8: info[long-text]: {name}"),
            format!("home/w/rooms/hall.yaml:1:7: info[long-text]: {name}"),
            "home/w/rooms/pit.yaml:3:3: info[long-text]: this text has 719999 characters; an answer of a \
             tool has 24000 at most"
                .to_owned(),
        ]
    );
}

#[tokio::test]
async fn the_reference_tools_return_everything() {
    let home = home_with_long_texts();
    let mut agent = home.agent_with(MARCH_1, &["--tools", "memory", "--unbounded"]).await;
    let graph = agent.call("read_graph", json!({})).await;
    assert!(graph.contains(&"Nave".repeat(250_000)));
}
