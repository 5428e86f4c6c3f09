//! `palazzo mine`: filing documents, transcripts and exports as drawers.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::harness::Home;
use crate::mempalace::{MEMPALACE_TOOLS, call_structured};

/// Writes lines of JSON.
fn json_lines(all: &[Value]) -> String {
    all.iter().map(|it| format!("{it}\n")).collect::<Vec<_>>().concat()
}

/// Mines a path next to the home, and returns the output.
#[track_caller]
fn run_mine(home: &Home, arguments: &[&str]) -> String {
    let output = home.run_palazzo(&[&["mine"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns every drawer: its folder, date, source and text.
fn read_all_drawers(home: &Home) -> String {
    let paths = home.git(&["ls-files", "--", "palace/drawers"]);
    let texts = paths.lines().map(|it| {
        let text = home.read(it);
        let is_said = |it: &&str| !it.starts_with("by:") && !it.starts_with("id:") && *it != "---";
        let of = text.lines().filter(is_said);
        of.collect::<Vec<_>>().join("\n")
    });
    texts.collect::<Vec<_>>().join("\n~~~\n")
}

fn transcript_line(who: &str, text: &str, at: &str) -> Value {
    json!({ "type": who, "sessionId": "s", "cwd": "/home/ada/seams", "timestamp": at,
        "message": { "role": who, "content": [{ "type": "text", "text": text }] } })
}

#[test]
fn documents_are_filed_by_folder_once_and_byte_for_byte() {
    let home = Home::new();
    let long = format!("# Beds\n{}## Seams\r\nCoal.  \n", "Grey.\n".repeat(1_200));
    home.write("field/notes.txt", "Bring a hammer.");
    home.write("field/geology/beds.md", &long);
    home.write("field/.git/HEAD.md", "hidden");
    home.write("field/image.png", "no text");
    home.write("field/own/palace.toml", "format = 1\nname = \"Own\"\n");
    home.write("field/own/rooms.md", "a palace's own");
    let field = home.path().join("field");
    let field = field.to_str().unwrap();
    assert_eq!(
        run_mine(&home, &[field, "--dry-run"]),
        "geology/beds.md: 2 new\nnotes.txt: 1 new\n\
         Would file texts of 2 sources: 3 new, 0 extended; 0 were filed already.\n"
    );
    assert!(!home.path().join("palace").exists());
    assert_eq!(
        run_mine(&home, &[field]),
        "Filed texts of 2 sources: 3 new, 0 extended; 0 were filed already.\n"
    );
    assert_eq!(
        run_mine(&home, &[field]),
        "Filed texts of 2 sources: 0 new, 0 extended; 3 were filed already.\n"
    );
    let log = home.git(&["log", "--format=%s", "--reverse", "--", "palace/drawers"]);
    assert_eq!(log.trim_end(), "mine 2 sources");
    let mut wire = home.initialized_client_with(&MEMPALACE_TOOLS);
    let tree = call_structured(&mut wire, "get_taxonomy", json!({}))["taxonomy"].clone();
    assert_eq!(tree, json!({ "field": { "geology": 2, "notes": 1 } }));
    let found = call_structured(&mut wire, "search", json!({ "query": "coal" }));
    assert_eq!(found["results"][0]["text"], "## Seams\r\nCoal.  \n");
    assert_eq!(found["results"][0]["source_file"], "geology/beds.md");
}

#[test]
fn a_transcript_is_filed_by_exchange_and_extended_later() {
    let home = Home::new();
    let mut told = vec![
        json!({ "type": "summary", "summary": "On seams" }),
        json!({ "type": "user", "isMeta": true, "message": { "role": "user", "content": "Caveat" } }),
        transcript_line("user", "Why is the seam black?", "2026-02-01T10:00:00.5Z"),
        json!({ "type": "assistant", "timestamp": "2026-02-01T10:00:01Z", "message": { "content": [
            { "type": "thinking", "thinking": "secret" }, { "type": "tool_use", "name": "Read" }] } }),
        json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "content": "coal.md" }] } }),
        transcript_line("assistant", "It is coal.", "2026-02-01T10:00:02Z"),
        transcript_line("user", "<command-name>/clear</command-name>", "2026-02-01T10:01:00Z"),
        transcript_line("user", "And the grey?", "2026-02-01T10:02:00Z"),
    ];
    // Its last line is still being written.
    home.write("s.jsonl", &(json_lines(&told) + "{\"type\":\"assis"));
    let file = home.path().join("s.jsonl");
    let file = file.to_str().unwrap();
    assert!(run_mine(&home, &[file]).contains("2 new"));
    told.push(transcript_line("assistant", "Greywacke.", "2026-02-01T10:02:05Z"));
    home.write("s.jsonl", &json_lines(&told));
    assert!(run_mine(&home, &[file]).contains("0 new, 1 extended; 1 were filed already"));
    assert_snapshot!(read_all_drawers(&home), @"
    wing: seams
    room: conversations
    title: On seams › Why is the seam black?
    source: s.jsonl
    filed: 2026-02-01T10:00:00Z

    User:
    Why is the seam black?

    Assistant:
    It is coal.
    ~~~
    wing: seams
    room: conversations
    title: On seams › And the grey?
    source: s.jsonl
    filed: 2026-02-01T10:02:00Z

    User:
    And the grey?

    Assistant:
    Greywacke.
    ");
}

#[test]
fn a_codex_transcript_is_filed_like_any_other() {
    let home = Home::new();
    let item = |role: &str, kind: &str, text: &str| {
        json!({ "timestamp": "2026-02-01T10:00:00Z", "type": "response_item", "payload":
            { "type": "message", "role": role, "content": [{ "type": kind, "text": text }] } })
    };
    let told = json_lines(&[
        json!({ "type": "session_meta", "payload": { "id": "1", "cwd": "/home/ada/seams" } }),
        item("user", "input_text", "<environment_context>linux</environment_context>"),
        item("user", "input_text", "Sort the beds."),
        json!({ "type": "response_item", "payload": { "type": "reasoning", "summary": [] } }),
        item("assistant", "output_text", "Sorted."),
    ]);
    home.write("rollout.jsonl", &told);
    let file = home.path().join("rollout.jsonl");
    run_mine(&home, &[file.to_str().unwrap(), "--room", "beds"]);
    assert_snapshot!(read_all_drawers(&home), @"
    wing: seams
    room: beds
    source: rollout.jsonl
    filed: 2026-02-01T10:00:00Z

    User:
    Sort the beds.

    Assistant:
    Sorted.
    ");
}

#[test]
fn exports_are_filed_by_conversation() {
    let home = Home::new();
    let claude = json!([{ "name": "Coal/Grey", "chat_messages": [
        { "sender": "human", "text": "Why black?", "created_at": "2026-02-01T10:00:00Z",
            "attachments": [{ "file_name": "beds.txt", "extracted_content": "Black, grey.\n" }] },
        { "sender": "assistant", "text": "", "content": [{ "type": "text", "text": "Coal." }] },
    ] }]);
    let message = |role: &str, text: &str| json!({ "author": { "role": role }, "create_time": 1_769_940_000.5, "content": { "content_type": "text", "parts": [text] } });
    let chatgpt = json!([{ "title": "Beds", "current_node": "d", "mapping": {
        "a": { "message": null, "parent": null, "children": ["b", "c"] },
        "b": { "message": message("user", "Sort teh beds."), "parent": "a", "children": [] },
        "c": { "message": message("user", "Sort the beds."), "parent": "a", "children": ["d"] },
        "d": { "message": message("assistant", "Sorted."), "parent": "c", "children": [] },
    } }]);
    home.write("exports/claude/conversations.json", &claude.to_string());
    home.write("exports/gpt/conversations.json", &chatgpt.to_string());
    run_mine(&home, &[home.path().join("exports").to_str().unwrap()]);
    assert_snapshot!(read_all_drawers(&home), @"
    wing: chatgpt
    room: Beds
    source: gpt/conversations.json
    filed: 2026-02-01T10:00:00Z

    User:
    Sort the beds.

    Assistant:
    Sorted.
    ~~~
    wing: claude.ai
    room: Coal-Grey
    source: claude/conversations.json
    filed: 2026-02-01T10:00:00Z

    User:
    Why black?

    Attachment beds.txt:
    Black, grey.

    Assistant:
    Coal.
    ");
}

#[test]
fn an_invalid_conversation_does_not_stop_the_others() {
    let home = Home::new();
    let message =
        json!({ "author": { "role": "user" }, "content": { "parts": ["Sort the beds."] } });
    let good = json!({ "title": "Beds", "mapping": { "a": { "message": message } } });
    let odd = json!({ "title": "broken", "mapping": 5 });
    home.write("gpt/conversations.json", &json!([good, odd, { "uuid": "z" }]).to_string());
    let mut told: Vec<_> = ["Why black?", "Why grey?", "Why red?"]
        .map(|it| transcript_line("user", it, "2026-02-01T10:00:00Z").to_string())
        .into();
    told[1].truncate(60);
    home.write("code/s.jsonl", &(told.join("\n") + "\n"));
    let [gpt, code] = ["gpt", "code"].map(|it| home.path().join(it).display().to_string());
    let output = home.run_palazzo(&["mine", &gpt, &code]);
    assert_eq!(output.status.code(), Some(1));
    let faults = String::from_utf8(output.stderr).unwrap();
    let faults: Vec<_> = faults.lines().filter_map(|it| it.rsplit_once('/')).collect();
    assert_snapshot!(faults.iter().map(|it| it.1).collect::<Vec<_>>().join("\n"), @"
    conversations.json: [1]: it is not a conversation in a known format
    conversations.json: [2]: it is not a conversation in a known format
    s.jsonl: line 2: this is not JSON (column 60)
    ");
    assert_snapshot!(String::from_utf8(output.stdout).unwrap(), @"Filed texts of 2 sources: 2 new, 0 extended; 0 were filed already.");
}

#[test]
fn a_grown_document_is_updated_and_a_changed_one_reported() {
    let home = Home::new();
    let dated = |text: &str| format!("---\ndate: 2026-03-01\n---\n{text}");
    home.write("field/log.md", &dated("Coal.\n"));
    home.write("field/beds/twin.md", "Grey.\n");
    home.write("field/beds/also.md", "Grey.\n");
    home.write("field/beds/empty.md", "\n");
    home.write("field/beds/odd.md", "---\ndate: 2026-03-02\n---\nRed.\n");
    let field = home.path().join("field").display().to_string();
    let counted = "texts of 4 sources: 3 new, 0 extended; 1 were filed already.\n";
    let listed = run_mine(&home, &[&field, "--dry-run"]);
    let files = "beds/also.md: 1 new\nbeds/odd.md: 1 new\nlog.md: 1 new\n";
    assert_eq!(listed, format!("{files}Would file {counted}"));
    assert_eq!(run_mine(&home, &[&field]), format!("Filed {counted}"));
    home.write("field/log.md", &dated("Coal.\nGreywacke.\n"));
    home.write("field/beds/odd.md", "---\ndate: 2026-03-02\n---\nNot red: green.\n");
    let output = home.run_palazzo(&["mine", &field]);
    assert!(output.status.success(), "a finding is no failure");
    let told = String::from_utf8([output.stderr, output.stdout].concat()).unwrap();
    let (told, rest) = told.split_once(" drawers/field/beds/").unwrap();
    let (_, counted) = rest.split_once(".md\n").unwrap();
    assert_snapshot!(format!("{told} …\n{counted}"), @"
    beds/odd.md was filed before and has changed; its older text is kept: …
    Filed texts of 4 sources: 1 new, 1 extended; 2 were filed already.
    ");
    let filed = read_all_drawers(&home);
    let grown = "filed: 2026-03-01T00:00:00Z\n\ndate: 2026-03-01\nCoal.\nGreywacke.";
    for it in [grown, "date: 2026-03-02\nRed.", "date: 2026-03-02\nNot red: green."] {
        assert!(filed.contains(it), "{filed}");
    }
    assert!(!filed.contains("Coal.\n~~~"), "{filed}");
    let again = home.run_palazzo(&["mine", &field]);
    assert_eq!(String::from_utf8(again.stderr).unwrap(), "", "it is told once");
}

#[test]
fn files_that_cannot_be_mined_are_reported_and_the_rest_filed() {
    let home = Home::new();
    home.write("field/a.md", "Fine.");
    home.write("field/package.json", "{\"name\":\"left-pad\"}");
    home.write("field/conversations.json", "{\"name\":\"left-pad\"}");
    home.write("field/c.jsonl", "{\"level\":\"info\"}\n");
    std::fs::write(home.path().join("field/d.txt"), b"\xff\xfe").unwrap();
    let output = home.run_palazzo(&["mine", home.path().join("field").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    let told: Vec<_> = told.lines().filter_map(|it| it.rsplit_once('/')).map(|it| it.1).collect();
    assert_snapshot!(told.join("\n"), @"
    c.jsonl: it contains no conversation in a known format: expected a transcript of Claude Code or Codex
    conversations.json: it contains no conversation in a known format: expected an export of Claude.ai or ChatGPT
    d.txt: it is not UTF-8 text
    ");
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 new"));
    assert_eq!(home.run_palazzo(&["mine", "/nowhere"]).status.code(), Some(2));
    let odd = home.path().join("image.png");
    home.write("image.png", "x");
    assert_eq!(home.run_palazzo(&["mine", odd.to_str().unwrap()]).status.code(), Some(2));
}

#[test]
fn files_with_invalid_utf8_are_filed_as_far_as_possible() {
    let home = Home::new();
    let talk = json_lines(&[
        transcript_line("user", "Why is the seam black?", "2026-02-01T10:00:00Z"),
        transcript_line("assistant", "It is coal, küsschen.", "2026-02-01T10:00:02Z"),
    ]);
    let cut = [talk.as_bytes(), &"{\"type\":\"user\",\"message\":\"ü".as_bytes()[..26]].concat();
    let folder = home.path();
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("cut.jsonl"), cut).unwrap();
    std::fs::write(folder.join("marked.jsonl"), format!("\u{feff}{talk}")).unwrap();
    let broken = talk.replace("sagt", "").into_bytes();
    let broken: Vec<u8> = broken.into_iter().map(|it| if it == 0xc3 { 0xff } else { it }).collect();
    std::fs::write(folder.join("odd.jsonl"), broken).unwrap();
    let file = |name: &str| folder.join(name).display().to_string();
    assert!(run_mine(&home, &[&file("cut.jsonl"), "--wing", "cut"]).contains("1 new"));
    assert!(run_mine(&home, &[&file("marked.jsonl"), "--wing", "marked"]).contains("1 new"));
    let output = home.run_palazzo(&["mine", &file("odd.jsonl"), "--wing", "odd"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("line 2 is not UTF-8: the invalid bytes become \u{fffd}"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(home.git(&["grep", "-c", "It is coal", "--", "palace/drawers"]).lines().count(), 3);
}

#[test]
fn mining_a_palace_skips_its_own_drawers() {
    let home = Home::new();
    home.write("palace/docs/coal.md", "Coal is black.");
    home.write("palace/palace.toml", "name = \"Palace\"\n");
    let palace = home.path().join("palace").display().to_string();
    assert!(run_mine(&home, &[&palace]).starts_with("Filed texts of 1 sources: 1 new"));
    assert!(run_mine(&home, &[&palace]).contains("0 new, 0 extended; 1 were filed already"));
    let drawers = home.path().join("palace/drawers").display().to_string();
    assert!(run_mine(&home, &[&drawers]).starts_with("Filed texts of 0 sources"));
}

#[test]
fn an_exchange_without_a_timestamp_is_extended_too() {
    let home = Home::new();
    let said = |who: &str, text: &str| {
        json!({ "type": who, "sessionId": "s", "cwd": "/home/ada/seams",
        "message": { "role": who, "content": text } })
    };
    let mut told = vec![said("user", "ok"), said("assistant", "done"), said("user", "ok")];
    let file = home.path().join("s.jsonl").display().to_string();
    for (more, time) in [("", 1), ("It takes", 2), (" a while", 3)] {
        if !more.is_empty() {
            told.push(said("assistant", more));
        }
        home.write("s.jsonl", &json_lines(&told));
        let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_770_000_000 + time);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
        run_mine(&home, &[&file]);
    }
    let grown = read_all_drawers(&home);
    let texts: Vec<_> = grown.split("\n~~~\n").map(|it| it.split_once("\n\n").unwrap().1).collect();
    assert_eq!(
        texts,
        ["User:\nok\n\nAssistant:\ndone", "User:\nok\n\nAssistant:\nIt takes\n\na while"]
    );
}

#[test]
fn a_run_is_one_commit_and_is_undone_with_one_command() {
    let home = Home::new();
    home.write("first.md", "Before.");
    run_mine(&home, &[home.path().join("first.md").to_str().unwrap()]);
    for name in ["a.md", "beds/b.md", "c.txt"] {
        home.write(&format!("field/{name}"), &format!("The text of {name}."));
    }
    let before = home.git(&["ls-files", "--", "palace/drawers"]);
    let field = home.path().join("field").display().to_string();
    run_mine(&home, &[&field]);
    assert_eq!(home.git(&["log", "-1", "--format=%s"]), "mine 3 sources\n");
    assert_eq!(home.git(&["ls-files", "--", "palace/drawers"]).lines().count(), 4);
    let undone = home.run_palazzo(&["undo"]);
    assert!(undone.status.success(), "{undone:?}");
    assert_eq!(home.git(&["ls-files", "--", "palace/drawers"]), before);
    assert!(run_mine(&home, &[&field]).contains("3 new"), "it can be mined again");
}

#[test]
fn what_is_left_out_is_counted_by_reason_and_taken_when_named() {
    let home = Home::new();
    home.write("field/.gitignore", "drafts/\n*.log.txt\n");
    for path in [
        "a.md",
        ".obsidian/plugin.md",
        ".serena/memories/style.md",
        "drafts/b.md",
        "node_modules/left-pad/README.md",
        "run.log.txt",
    ] {
        home.write(&format!("field/{path}"), &format!("The text of {path}."));
    }
    let field = home.path().join("field").display().to_string();
    let said = run_mine(&home, &[&field, "--dry-run"]).replace(&field, "field");
    assert_snapshot!(said.replace('\\', "/"), @"
    .serena/memories/style.md: 1 new
    a.md: 1 new
    Would file texts of 2 sources: 2 new, 0 extended; 0 were filed already.
    Left out: 2 excluded by .gitignore (field/drafts, field/run.log.txt); 1 of dependencies or builds (field/node_modules); 1 hidden (field/.obsidian). To take a file or a folder all the same, give its path.
    ");
    let json: Value =
        serde_json::from_str(&run_mine(&home, &[&field, "--dry-run", "--format", "json"])).unwrap();
    assert_eq!(json["files"][1]["source"], "a.md");
    assert_eq!(json["left_out"]["generated"].as_array().unwrap().len(), 1);
    run_mine(&home, &[&field]);
    let drafts = home.path().join("field/drafts").display().to_string();
    let log = home.path().join("field/run.log.txt").display().to_string();
    let said = run_mine(&home, &[&drafts, &log]);
    assert_eq!(said, "Filed texts of 2 sources: 2 new, 0 extended; 0 were filed already.\n");
}

#[test]
fn memories_of_a_project_are_filed_in_its_wing_or_where_they_were_before() {
    let home = Home::new();
    home.write("seams/.serena/memories/style.md", "Short functions.");
    let folder = home.path().join("seams/.serena/memories").display().to_string();
    run_mine(&home, &[&folder]);
    assert!(read_all_drawers(&home).starts_with("wing: seams\nroom: notes\ntitle: style\n"));
    // An older version filed this folder under its own name.
    home.write("beds/docs/plan.md", "First this.");
    let folder = home.path().join("beds/docs").display().to_string();
    run_mine(&home, &[&folder, "--wing", "docs"]);
    home.write("beds/docs/more.md", "Then that.");
    assert!(run_mine(&home, &[&folder]).contains("1 new, 0 extended; 1 were filed already"));
    let filed = read_all_drawers(&home);
    for name in ["plan", "more"] {
        let matter = format!("wing: docs\nroom: notes\ntitle: {name}\nsource: {name}.md");
        assert!(filed.contains(&matter), "{filed}");
    }
}

/// Writes documents with titles and dates in different notations.
fn write_dated_notes(home: &Home) {
    let body = "Words.\n".repeat(500);
    let fenced = "````md\n```\n# no heading\n```\n````\n   ~~~ sh\n## none either\n   ~~~\n";
    home.write(
        "vault/a.md",
        "---\ntags: [x]\ntitle: \"Coal: a life\"\nCreated: 2025/06/01 10:30\n---\nBlack.\n",
    );
    home.write("vault/2025_06_02.md", "title:: Journal of June\n- Grey.\n");
    home.write(
        "vault/hugo.md",
        "+++\ntitle = 'Iron'\ndate = 2025-06-03T10:00:00+02:00\n+++\nRed.\n",
    );
    home.write("vault/20250605T1030-coal-seams.txt", "Black.\n");
    home.write(
        "vault/beds/long.md",
        &format!("---\ndate: 2025-06-04\n---\n# Beds\n{body}{fenced}## Seams\n{body}"),
    );
}

#[test]
fn documents_have_the_titles_and_dates_that_their_authors_wrote() {
    let home = Home::new();
    write_dated_notes(&home);
    run_mine(&home, &[home.path().join("vault").to_str().unwrap()]);
    let filed = read_all_drawers(&home);
    assert!(filed.contains("title: coal seams\nsource: 20250605T1030-coal-seams.txt"), "{filed}");
    let is_matter =
        |it: &&str| ["title: Beds", "source: ", "filed: "].iter().any(|key| it.starts_with(key));
    let matter: Vec<_> = filed.lines().filter(is_matter).collect();
    assert_snapshot!(matter.join("\n"), @"
    source: beds/long.md
    filed: 2025-06-04T00:00:00Z
    title: Beds › Seams
    source: beds/long.md
    filed: 2025-06-04T00:00:00Z
    source: 20250605T1030-coal-seams.txt
    filed: 2025-06-05T10:30:00Z
    source: 2025_06_02.md
    filed: 2025-06-02T00:00:00Z
    source: a.md
    filed: 2025-06-01T10:30:00Z
    source: hugo.md
    filed: 2025-06-03T08:00:00Z
    ");
}

#[test]
fn documents_and_their_pieces_are_found_by_their_titles() {
    let home = Home::new();
    write_dated_notes(&home);
    run_mine(&home, &[home.path().join("vault").to_str().unwrap()]);
    let titles = ["Coal: a life", "Journal of June", "Iron", "Beds › Seams"];
    for (words, title) in ["black", "grey", "red", "seams"].iter().zip(titles) {
        let found = home.run_palazzo(&["search", words]);
        let found = String::from_utf8(found.stdout).unwrap();
        assert!(found.contains(title), "{words}: {found}");
    }
    let found = home.run_palazzo(&["search", "beds seams", "--format", "json"]);
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    assert!(found.to_string().contains("Beds › Seams"), "{found}");
}

/// Two conversations of one title, and one of another, the newest first.
fn chatgpt_export() -> Value {
    let conversation = |title: &str, at: u32, question: &str| {
        let message = |role: &str, text: &str| json!({ "author": { "role": role }, "create_time": at, "content": { "parts": [text] } });
        json!({ "title": title, "current_node": "b", "mapping": {
            "a": { "message": message("user", question), "parent": null, "children": ["b"] },
            "b": { "message": message("assistant", "Sure."), "parent": "a", "children": [] },
        } })
    };
    json!([
        conversation("New chat", 1_748_858_400, "Why is coal black?"),
        conversation("New chat", 1_748_772_000, "How deep is the shaft?"),
        conversation("Beds", 1_748_772_000, "Sort the beds."),
    ])
}

#[test]
fn conversations_of_one_title_have_rooms_of_their_own_and_the_first_words_as_title() {
    let home = Home::new();
    home.write("gpt/conversations.json", &chatgpt_export().to_string());
    let gpt = home.path().join("gpt").display().to_string();
    run_mine(&home, &[&gpt]);
    let filed = read_all_drawers(&home);
    let mut rooms: Vec<_> = filed.lines().filter(|it| it.starts_with("room: ")).collect();
    rooms.sort_unstable();
    assert_eq!(rooms, ["room: Beds", "room: New chat", "room: New chat (2025-06-02)"]);
    let found = home.run_palazzo(&["search", "shaft"]);
    let found = String::from_utf8(found.stdout).unwrap();
    assert!(found.starts_with("How deep is the shaft? (drawer in chatgpt/New chat, "), "{found}");
    assert!(run_mine(&home, &[&gpt]).contains("0 new, 0 extended; 3 were filed already"));
}

/// Writes a drawer as older versions have filed it.
fn write_old_drawer(home: &Home, place: &str, number: usize, matter: &str, text: &str) {
    let name = format!("01KJMM4N00F2JXHH4DQ7YF03T{number}-x.md");
    let (wing, room) = place.split_once('/').unwrap();
    let matter = format!("wing: {wing}\nroom: {room}\n{matter}");
    let folder = place.replace(' ', "-").to_lowercase();
    home.write(&format!("palace/drawers/{folder}/{name}"), &format!("---\n{matter}---\n\n{text}"));
}

/// Writes sources, and drawers as older versions have filed them: two conversations in one room, a
/// document that was split in fenced code, and the time of a file instead of the date in it.
fn write_drawers_of_an_older_version(home: &Home) {
    let drawer = |place: &str, number: usize, matter: &str, text: &str| {
        write_old_drawer(home, place, number, matter, text);
    };
    let exchange = |question: &str| format!("User:\n{question}\n\nAssistant:\nSure.\n");
    let matter = |at: &str| format!("source: conversations.json\nby: ada\nfiled: {at}\n");
    drawer("chatgpt/New chat", 0, &matter("2025-06-02T10:00:00Z"), &exchange("Why is coal black?"));
    drawer(
        "chatgpt/New chat",
        1,
        &matter("2025-06-01T10:00:00Z"),
        &exchange("How deep is the shaft?"),
    );
    drawer(
        "chatgpt/Beds",
        2,
        &matter("2025-06-01T10:00:00Z"),
        &exchange("Sort the beds.\n<ide>beds.md</ide>"),
    );
    let body = "Words.\n".repeat(500);
    let pieces = [
        format!("---\nCreated: 2025-06-01\n---\n# Beds\n````\n```\n{body}"),
        format!("# no heading\n```\n````\n{body}"),
    ];
    for (number, text) in pieces.iter().enumerate() {
        drawer(
            "vault/notes",
            3 + number,
            "source: beds.md\nby: ada\nfiled: 2026-01-01T10:00:00Z\n",
            text,
        );
    }
    let note = "---\ncreated_at: 2025-06-05\n---\nBlack.\n";
    drawer("vault/notes", 5, "source: note.md\nby: ada\nfiled: 2026-01-01T10:00:00Z\n", note);
    home.write("conversations.json", &chatgpt_export().to_string());
    home.write("vault/beds.md", &pieces.concat());
    home.write("vault/note.md", note);
}

#[test]
fn what_an_older_version_has_mined_is_not_filed_again() {
    let home = Home::new();
    home.write("first.md", "First.");
    run_mine(&home, &[home.path().join("first.md").to_str().unwrap()]);
    write_drawers_of_an_older_version(&home);
    let paths =
        ["conversations.json", "vault"].map(|it| home.path().join(it).display().to_string());
    let said = run_mine(&home, &[&paths[0], &paths[1]]);
    assert!(said.contains("0 new, 0 extended; 5 were filed already"), "{said}");
    assert!(
        home.read("palace/drawers/vault/notes/01KJMM4N00F2JXHH4DQ7YF03T5-x.md")
            .contains("2026-01-01")
    );
    // Dates and titles are corrected on request, and what else was added to the file stays.
    let said = run_mine(&home, &[&paths[0], &paths[1], "--update"]);
    assert!(said.contains("0 new, 0 extended, 1 updated; 5 were filed already"), "{said}");
    assert!(
        home.read("palace/drawers/vault/notes/01KJMM4N00F2JXHH4DQ7YF03T5-x.md")
            .contains("filed: 2025-06-05T00:00:00Z")
    );
    assert!(
        run_mine(&home, &[&paths[0], &paths[1], "--update"]).contains("0 extended; 5 were filed")
    );
}
