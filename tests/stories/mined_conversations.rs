//! `palazzo mine` of conversations: what a person and a model have said is filed whole, what programs
//! wrote is not, and nothing is left out silently.

use std::process::Output;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;

/// Mines a path next to the home; returns what is printed, and the exit code.
fn run_mine(home: &Home, path: &str) -> String {
    let place = home.path().display().to_string();
    let Output { stdout, stderr, status } = home.run_palazzo(&["mine", &format!("{place}/{path}")]);
    let text = |bytes| String::from_utf8(bytes).unwrap().replace(&place, "HOME");
    format!("{}{}[exit {}]", text(stderr), text(stdout), status.code().unwrap())
}

/// Returns the texts of all drawers, sorted.
fn drawer_texts(home: &Home) -> Vec<String> {
    let paths = home.git(&["ls-files", "-z", "--", "palace/drawers"]);
    let text = |it: &str| home.read(it).split_once("\n---\n\n").unwrap().1.to_owned();
    let mut texts: Vec<_> = paths.split_terminator('\0').map(text).collect();
    texts.sort();
    texts
}

fn json_lines(all: &[Value]) -> String {
    all.iter().map(|it| format!("{it}\n")).collect::<Vec<_>>().concat()
}

/// A line of Claude Code at a minute of an hour.
fn line(who: &str, content: impl Into<Value>, minute: u8) -> Value {
    let content = content.into();
    json!({ "type": who, "sessionId": "s", "cwd": "/home/ada/seams",
        "timestamp": format!("2026-02-01T10:{minute:02}:00Z"),
        "message": { "role": who, "content": content } })
}

/// A conversation of ChatGPT with one part of a message per item, by the user and the model in turn.
fn chatgpt(title: &str, parts: &[Value]) -> Value {
    let node = |(at, part): (usize, &Value)| {
        let parent = at.checked_sub(1).map(|it| it.to_string());
        let role = ["user", "assistant"][at % 2];
        let content = json!({ "content_type": "multimodal_text", "parts": [part] });
        let message = json!({ "author": { "role": role }, "content": content });
        (at.to_string(), json!({ "message": message, "parent": parent }))
    };
    let mapping: serde_json::Map<_, _> = parts.iter().enumerate().map(node).collect();
    json!({ "title": title, "mapping": mapping, "current_node": (parts.len() - 1).to_string() })
}

#[test]
fn spoken_turns_are_filed_and_what_has_no_text_is_named() {
    let home = Home::new();
    let spoken = |text: &str| json!({ "content_type": "audio_transcription", "text": text });
    let image = json!({ "content_type": "image_asset_pointer", "asset_pointer": "a" });
    let export = json!([
        chatgpt("Beds", &[spoken("Why is it black?"), spoken("It is coal."), image.clone()]),
        chatgpt("Pictures", &[image]),
        chatgpt("Odd", &["And this?".into(), json!({ "content_type": "hologram" })]),
    ]);
    home.write("conversations.json", &export.to_string());
    assert_snapshot!(run_mine(&home, "conversations.json"), @r#"
    HOME/conversations.json: [1] "Pictures": none of its messages has a text: 1
    HOME/conversations.json: parts of the unknown kind `hologram` are left out: 1
    Filed texts of 1 sources: 2 new, 0 extended; 0 were filed already.
    Left out of messages, without text: image_asset_pointer 2.
    [exit 1]
    "#);
    let texts = drawer_texts(&home);
    assert_eq!(
        texts,
        ["User:\nAnd this?\n", "User:\nWhy is it black?\n\nAssistant:\nIt is coal.\n"]
    );
}

#[test]
fn texts_of_programs_are_not_filed_as_words_of_a_person() {
    let home = Home::new();
    let mut error = line("assistant", json!("API Error: 500"), 3);
    error["isApiErrorMessage"] = json!(true);
    let mut summary = line("user", json!("This session is being continued: coal."), 4);
    summary["isCompactSummary"] = json!(true);
    let opened = "<ide_opened_file>The user opened coal.rs.</ide_opened_file>";
    let text = |it: &str| json!({ "type": "text", "text": it });
    let said = [
        line("user", json!([text(opened), text("Dig here.")]), 0),
        line("user", json!("<bash-input>ls coal</bash-input>"), 1),
        line("assistant", json!([text("I dig.")]), 2),
        error,
        summary,
        line("user", json!("[Request interrupted by user]"), 5),
        line("user", json!("Why do I see <bash-input>ls</bash-input> here?"), 6),
    ];
    home.write("seams/s.jsonl", &json_lines(&said));
    home.write("seams/s/tool-results/a.txt", "coal.rs");
    home.write("seams/memory/MEMORY.md", "Ada digs for coal.");
    assert_snapshot!(run_mine(&home, "seams"), @"
    Filed texts of 1 sources: 2 new, 0 extended; 0 were filed already.
    Left out: 2 that a client keeps for itself (HOME/seams/memory, HOME/seams/s/tool-results). To take a file or a folder all the same, give its path.
    [exit 0]
    ");
    assert_eq!(
        drawer_texts(&home),
        [
            "User:\nDig here.\n\nAssistant:\nI dig.\n",
            "User:\nWhy do I see <bash-input>ls</bash-input> here?\n"
        ]
    );
}

/// Writes a drawer as an older version filed it.
fn write_older_drawer(home: &Home, id: char, minute: u8, text: &str) {
    let id = format!("01M8FSJ422CVEF14K098X4V9P{id}");
    let matter = format!(
        "id: {id}\nwing: seams\nroom: conversations\nsource: s.jsonl\nby: ada\n\
         filed: 2026-02-01T10:{minute:02}:00Z"
    );
    let path = format!("palace/drawers/seams/conversations/{id}-user.md");
    home.write(&path, &format!("---\n{matter}\n---\n\n{text}"));
}

#[test]
fn a_conversation_that_an_older_version_filed_is_not_filed_twice_and_goes_on() {
    let home = Home::new();
    home.write("palace/palace.toml", "name = \"Palace\"\n");
    let opened = "<ide_opened_file>The user opened a.rs.</ide_opened_file>";
    let (notification, stop) =
        ("<task-notification>done</task-notification>", "[Request interrupted by user]");
    let older = [
        format!("User:\n{opened}\n\nDig here.\n\nAssistant:\nI dig.\n"),
        format!("User:\n{notification}\n\nAssistant:\nCoal.\n"),
        format!("User:\n{stop}\n\nAnd the grey?\n"),
    ];
    for ((id, minute), text) in [('A', 0), ('B', 2), ('C', 4)].into_iter().zip(&older) {
        write_older_drawer(&home, id, minute, text);
    }
    let text = |it: &str| json!({ "type": "text", "text": it });
    let mut said = vec![
        line("user", json!([text(opened), text("Dig here.")]), 0),
        line("assistant", json!("I dig."), 1),
        line("user", json!(notification), 2),
        line("assistant", json!("Coal."), 3),
        line("user", json!([text(stop)]), 4),
        line("user", json!("And the grey?"), 5),
    ];
    home.write("s.jsonl", &json_lines(&said));
    let counted = "Filed texts of 1 sources: 0 new, 0 extended; 3 were filed already.\n[exit 0]";
    assert_eq!(run_mine(&home, "s.jsonl"), counted);
    said.push(line("assistant", json!("Greywacke."), 6));
    said.push(line("user", json!([text(opened), text("Thanks.")]), 7));
    home.write("s.jsonl", &json_lines(&said));
    let counted = "Filed texts of 1 sources: 1 new, 1 extended; 2 were filed already.\n[exit 0]";
    assert_eq!(run_mine(&home, "s.jsonl"), counted);
    let grown = format!("{}\nAssistant:\nGreywacke.\n", older[2]);
    home.git(&["add", "palace"]);
    let mut expected = [&older[0], &older[1], &grown, "User:\nThanks.\n"];
    expected.sort_unstable();
    assert_eq!(drawer_texts(&home), expected);
}

#[test]
fn a_spoken_answer_that_an_older_version_left_out_is_added_to_its_drawer() {
    let spoken = |text: &str| json!({ "content_type": "audio_transcription", "text": text });
    let conversations = [
        (
            chatgpt("conversations", &["Why is it black?".into(), spoken("It is coal.")]),
            "User:\nWhy is it black?\n",
            "User:\nWhy is it black?\n\nAssistant:\nIt is coal.\n",
        ),
        (
            chatgpt("conversations", &[spoken("Why?"), "It is coal.".into()]),
            "Assistant:\nIt is coal.\n",
            "User:\nWhy?\n\nAssistant:\nIt is coal.\n",
        ),
    ];
    for (conversation, older, whole) in conversations {
        let home = Home::new();
        home.write("palace/palace.toml", "name = \"Palace\"\n");
        write_older_drawer(&home, 'A', 0, older);
        home.write("s.jsonl.json", &json!([conversation]).to_string());
        let drawer = "palace/drawers/seams/conversations/01M8FSJ422CVEF14K098X4V9PA-user.md";
        home.write(drawer, &home.read(drawer).replace("s.jsonl", "s.jsonl.json"));
        let place = home.path().join("s.jsonl.json").display().to_string();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_769_940_000);
        let file = std::fs::File::options().write(true).open(&place).unwrap();
        file.set_modified(time).unwrap();
        let output = home.run_palazzo(&["mine", "--wing", "seams", &place]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told, "Filed texts of 1 sources: 0 new, 1 extended; 0 were filed already.\n");
        home.git(&["add", "palace"]);
        assert_eq!(drawer_texts(&home), [whole]);
    }
}

/// A conversation of ChatGPT called "New chat", of a day in February: by whom, to whom or hidden, and
/// what, a minute each.
fn new_chat(day: u8, messages: &[(&str, &str, Value)]) -> Value {
    let start = 1_769_940_000 + u64::from(day - 1) * 86_400;
    let node = |(at, (role, to, part)): (usize, &(&str, &str, Value))| {
        let parent = at.checked_sub(1).map(|it| it.to_string());
        let message = json!({
            "author": { "role": role }, "recipient": if *to == "hidden" { "all" } else { to },
            "metadata": { "is_visually_hidden_from_conversation": *to == "hidden" },
            "create_time": start + 60 * u64::try_from(at).unwrap(),
            "content": { "content_type": "multimodal_text", "parts": [part] },
        });
        (at.to_string(), json!({ "message": message, "parent": parent }))
    };
    let mapping: serde_json::Map<_, _> = messages.iter().enumerate().map(node).collect();
    let last = (messages.len() - 1).to_string();
    json!({ "title": "New chat", "mapping": mapping, "current_node": last })
}

/// Writes the drawers of "New chat" as an older version filed them, all in one room: the time and
/// the text of each.
fn write_older_chat(home: &Home, drawers: &[(&str, &str)]) {
    home.write("palace/palace.toml", "name = \"Palace\"\n");
    for ((time, text), id) in drawers.iter().zip('A'..) {
        let matter = "wing: chatgpt\nroom: New chat\nsource: conversations.json\nby: ada";
        let path = format!("palace/drawers/chatgpt/new-chat/01M8FSJ422CVEF14K098X4V9P{id}-user.md");
        home.write(&path, &format!("---\n{matter}\nfiled: 2026-02-{time}:00Z\n---\n\n{text}"));
    }
}

/// Mines these conversations; returns what is counted.
fn mine_chats(home: &Home, conversations: &[&Value]) -> String {
    home.write("conversations.json", &json!(conversations).to_string());
    let said = run_mine(home, "conversations.json");
    let start = "Filed texts of 1 sources: ";
    let counted = said.lines().find_map(|it| it.strip_prefix(start));
    counted.unwrap_or(&said).to_owned()
}

#[test]
fn conversations_that_an_older_version_filed_in_one_room_are_not_filed_twice_and_go_on() {
    let home = Home::new();
    let older = [
        ("01T10:00", "User:\nWhy is it black?\n\nAssistant:\nIt is coal.\n"),
        ("02T10:00", "User:\nAnd the grey?\n\nAssistant:\nGreywacke.\n"),
        ("02T10:02", "User:\nThe person is in a mine.\n\nAssistant:\nFrom the beds.\n"),
        ("02T10:04", "User:\nHow deep?\n\nAssistant:\nprint(depth)\n"),
    ];
    write_older_chat(&home, &older);
    let first = new_chat(
        1,
        &[("user", "all", "Why is it black?".into()), ("assistant", "all", "It is coal.".into())],
    );
    let mut said = vec![
        ("user", "all", "And the grey?".into()),
        ("assistant", "all", "Greywacke.".into()),
        ("user", "hidden", "The person is in a mine.".into()),
        ("assistant", "all", "From the beds.".into()),
        ("user", "all", "How deep?".into()),
        ("assistant", "python", "print(depth)".into()),
    ];
    let second = new_chat(2, &said);
    let counted = "0 new, 0 extended; 4 were filed already.";
    assert_eq!(mine_chats(&home, &[&second, &first]), counted);
    said.push(("assistant", "all", "Forty metres.".into()));
    let counted = "0 new, 1 extended; 3 were filed already.";
    assert_eq!(mine_chats(&home, &[&new_chat(2, &said), &first]), counted);
    let grown = format!("{}\nForty metres.\n", older[3].1);
    home.git(&["add", "palace"]);
    let mut expected = [older[0].1, older[1].1, older[2].1, &grown];
    expected.sort_unstable();
    assert_eq!(drawer_texts(&home), expected);
    said.push(("user", "all", "Thanks.".into()));
    let counted = "1 new, 0 extended; 4 were filed already.";
    assert_eq!(mine_chats(&home, &[&new_chat(2, &said), &first]), counted);
}

#[test]
fn spoken_turns_and_secrets_of_a_conversation_in_the_room_of_another_are_found_again() {
    let home = Home::new();
    let secret = format!("export DB_{}=hunter2", "PASSWORD");
    let kept = format!("User:\nWhat does this do?\n\n{secret}\n");
    let older = [
        ("01T10:00", "User:\nWhy?\n\nAssistant:\nIt is coal.\n"),
        ("02T10:01", "Assistant:\nIt is coal.\n"),
        ("03T10:00", &kept),
    ];
    write_older_chat(&home, &older);
    let spoken = json!({ "content_type": "audio_transcription", "text": "Why black?" });
    let answer = || ("assistant", "all", Value::from("It is coal."));
    let all = [
        new_chat(1, &[("user", "all", "Why?".into()), answer()]),
        new_chat(2, &[("user", "all", spoken), answer()]),
        new_chat(3, &[("user", "all", format!("What does this do?\n\n{secret}").into())]),
    ];
    let all: Vec<_> = all.iter().collect();
    assert_eq!(mine_chats(&home, &all), "0 new, 1 extended; 2 were filed already.");
    home.git(&["add", "palace"]);
    let grown = "User:\nWhy black?\n\nAssistant:\nIt is coal.\n";
    assert_eq!(drawer_texts(&home), [&kept, grown, older[0].1]);
    assert_eq!(mine_chats(&home, &all), "0 new, 0 extended; 3 were filed already.");
}

#[test]
fn a_text_too_large_for_a_drawer_is_cut_without_loss() {
    let home = Home::new();
    let paragraphs = |name: &str| {
        let one = |it| format!("{name} {it}: the seam is black, the bed is grey.\n\n");
        (0..20_000).map(one).collect::<Vec<_>>().concat()
    };
    let sections = format!("# Beds\n### One\n{0}### Two\n{0}", "Grey. ".repeat(100_000));
    home.write("large/plain.txt", &paragraphs("Day"));
    home.write("large/beds.md", &sections);
    home.write("large/line.txt", &"Coal and grey.".repeat(80_000));
    let answer = paragraphs("Answer");
    let said = [line("user", json!("Why?"), 0), line("assistant", json!(answer.clone()), 1)];
    home.write("large/s.jsonl", &json_lines(&said));
    let counted = "8 new, 0 extended; 0 were filed already.\n[exit 0]";
    assert_eq!(run_mine(&home, "large"), format!("Filed texts of 4 sources: {counted}"));
    // Sorted, the pieces of a document are in its order, and those of the exchange in the reverse.
    let joined = |start: &str| -> String {
        drawer_texts(&home).into_iter().filter(|it| it.contains(start)).collect()
    };
    // The assertions do not print the texts.
    assert!(joined("Day ").trim_end() == paragraphs("Day").trim_end());
    assert!(joined("Coal and") == "Coal and grey.".repeat(80_000));
    assert!(joined("Grey. ") == sections);
    let exchange = format!("User:\nWhy?\n\nAssistant:\n{answer}");
    let pieces = drawer_texts(&home).into_iter().filter(|it| it.contains("Answer "));
    let pieces: Vec<_> = pieces.collect();
    assert!(pieces.iter().rev().cloned().collect::<String>().trim_end() == exchange.trim_end());
    assert!(run_mine(&home, "large").contains(": 0 new, 0 extended; 8 were filed already.\n"));
}

#[test]
fn what_only_looks_like_a_source_is_named_with_what_is_expected() {
    let home = Home::new();
    home.write("log.jsonl", "{\"sessionId\":\"s\",\"event\":\"click\"}\n");
    home.write("data.json", "{\"name\":\"left-pad\"}");
    home.write("pictures/a.png", "x");
    std::fs::create_dir_all(home.path().join("empty")).unwrap();
    let all = ["log.jsonl", "data.json", "pictures", "empty"].map(|it| run_mine(&home, it));
    assert_snapshot!(all.join("\n"), @"
    HOME/log.jsonl: it contains no conversation in a known format: expected a transcript of Claude Code or Codex
    Filed texts of 0 sources: 0 new, 0 extended; 0 were filed already.
    [exit 1]
    HOME/data.json: it contains no conversation in a known format: expected an export of Claude.ai or ChatGPT
    Filed texts of 0 sources: 0 new, 0 extended; 0 were filed already.
    [exit 1]
    HOME/pictures: there is nothing to mine here: expected documents (.md, .markdown, .txt), transcripts of Claude Code or Codex (.jsonl) or exports of Claude.ai or ChatGPT (conversations.json)
    Filed texts of 0 sources: 0 new, 0 extended; 0 were filed already.
    [exit 1]
    HOME/empty: there is nothing to mine here: expected documents (.md, .markdown, .txt), transcripts of Claude Code or Codex (.jsonl) or exports of Claude.ai or ChatGPT (conversations.json)
    Filed texts of 0 sources: 0 new, 0 extended; 0 were filed already.
    [exit 1]
    ");
}
