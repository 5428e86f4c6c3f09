//! The real Claude Code with its memory in a palace, against a server on loopback that answers in
//! the place of a model with the calls of a script.
//!
//! It needs the npm package of `setup_real_clients.rs`, and no account. In CI, it fails without it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

/// The program of the package.
const PROGRAM: &str = "claude-code/node_modules/@anthropic-ai/claude-code-linux-x64/claude";

/// How long a conversation may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A server that speaks the Messages API: the first request with tools gets the first answer of the
/// script, and so on; when it is at its end, they get a text.
struct FakeApi {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl FakeApi {
    fn start(script: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<Value>>>::default();
        let (seen, script) = (requests.clone(), Arc::new(Mutex::new(script.into_iter())));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, script) = (seen.clone(), script.clone());
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let Some((path, body)) = read_request(&stream) else { return };
                    let reply = answer(&path, &body, &seen, || script.lock().unwrap().next());
                    // The client may be gone.
                    drop(stream.write_all(&reply));
                });
            }
        });
        Self { url, requests }
    }
}

/// Reads the path and the body of a request.
fn read_request(stream: &TcpStream) -> Option<(String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).ok()?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    Some((path, serde_json::from_slice(&body).unwrap_or_default()))
}

/// Returns the response to a request.
fn answer(
    path: &str,
    body: &Value,
    seen: &Mutex<Vec<Value>>,
    next: impl FnOnce() -> Option<Value>,
) -> Vec<u8> {
    if path.contains("count_tokens") {
        return response(
            "200 OK",
            "application/json",
            &json!({ "input_tokens": 1000 }).to_string(),
        );
    }
    if !path.contains("/v1/messages") {
        return response("404 Not Found", "application/json", "{}");
    }
    let is_main = body["tools"].as_array().is_some_and(|it| it.len() > 3);
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let content = match is_main {
        true => {
            seen.lock().unwrap().push(body.clone());
            next().unwrap_or_else(|| text("done"))
        }
        false => text("{}"),
    };
    let has_call = content.as_array().unwrap().iter().any(|it| it["type"] == "tool_use");
    let reason = if has_call { "tool_use" } else { "end_turn" };
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 5 },
    });
    let reason = json!({ "stop_reason": reason, "stop_sequence": null });
    if body["stream"] == true {
        return response("200 OK", "text/event-stream", &events(&message, &content, &reason));
    }
    let mut message = message;
    message["content"] = content;
    message["stop_reason"] = reason["stop_reason"].clone();
    response("200 OK", "application/json", &message.to_string())
}

/// Renders a message as events.
fn events(message: &Value, content: &Value, reason: &Value) -> String {
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    for (index, block) in content.as_array().unwrap().iter().enumerate() {
        let (start, delta) = match block["name"].as_str() {
            None => (
                json!({ "type": "text", "text": "" }),
                json!({ "type": "text_delta", "text": block["text"] }),
            ),
            Some(name) => (
                json!({ "type": "tool_use", "id": format!("toolu_{name}"), "name": name, "input": {} }),
                json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() }),
            ),
        };
        let begin =
            json!({ "type": "content_block_start", "index": index, "content_block": start });
        let rest = json!({ "type": "content_block_delta", "index": index, "delta": delta });
        events.extend([begin, rest, json!({ "type": "content_block_stop", "index": index })]);
    }
    events
        .push(json!({ "type": "message_delta", "delta": reason, "usage": { "output_tokens": 5 } }));
    events.push(json!({ "type": "message_stop" }));
    let event = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    events.iter().map(event).collect::<Vec<_>>().concat()
}

fn response(status: &str, kind: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns the program; `None`: it is not there, which fails in CI.
fn find_program() -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(PROGRAM);
    if program.is_file() {
        return Some(program);
    }
    let why = "skipped: Claude Code is not there; see tests/stories/setup_real_clients.rs\n";
    assert!(std::env::var_os("CI").is_none(), "{why}");
    // Written directly to stderr, because the test harness captures prints.
    std::io::stderr().write_all(why.as_bytes()).unwrap();
    None
}

/// Runs a command in the project, and waits for its end.
#[track_caller]
fn run(home: &Home, mut command: Command) -> String {
    let log = home.path().with_file_name("output");
    let output = fs::File::create(&log).unwrap();
    command.current_dir(home.path().with_file_name("project"));
    command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
    let mut running = command.spawn().unwrap();
    let (ended, end) = mpsc::channel();
    let id = running.id().to_string();
    std::thread::spawn(move || ended.send(running.wait()));
    let status = end.recv_timeout(TIME_LIMIT).unwrap_or_else(|_| {
        drop(Command::new("kill").arg(id).status());
        panic!("not done in time: {}", fs::read_to_string(&log).unwrap())
    });
    let shown = fs::read_to_string(&log).unwrap();
    assert!(status.unwrap().success(), "{shown}");
    shown
}

/// Returns a home with a palace that has the memory of a project beside it, and the folder of the
/// memory.
fn home_with_memory() -> (Home, PathBuf) {
    let home = Home::new();
    assert!(home.run_palazzo(&["init", "Notes"]).status.success());
    fs::create_dir_all(home.path().with_file_name("project")).unwrap();
    let mut git = Command::new("git");
    home.isolate_environment(&mut git);
    git.args(["init", "-q"]);
    run(&home, git);
    let mut install = home.palazzo_command(MARCH_1);
    install.args(["hook", "install", "--memory"]);
    run(&home, install);
    let folder = dunce::canonicalize(home.path()).unwrap().join("notes/drawers/claude/memory");
    (home, folder)
}

/// Runs a conversation with Claude Code.
fn converse(home: &Home, program: &Path, api: &FakeApi) -> String {
    let mut claude = Command::new(program);
    home.isolate_environment(&mut claude);
    claude.env("ANTHROPIC_BASE_URL", &api.url).env("ANTHROPIC_API_KEY", "not-a-key");
    claude.env("DISABLE_AUTOUPDATER", "1").env("DISABLE_TELEMETRY", "1");
    claude.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    claude.args(["-p", "go", "--permission-mode", "acceptEdits", "--allowedTools", "Bash"]);
    run(home, claude)
}

/// Returns the turn of a model that calls a tool.
fn tool_call(name: &str, input: &Value) -> Value {
    json!([{ "type": "tool_use", "name": name, "input": input }])
}

/// A memory that the host has not seen yet, and one that its model writes.
const EARLIER: &str = "---\nname: Seams\ndescription: where the coal lies\nmetadata:\n  type: project\n---\n\nBelow.\n";
const WRITTEN: &str = "---\nname: Build\ndescription: how to build\nmetadata:\n  type: feedback\n  \
    when:\n    - run: '^cargo build'\n      how: note\n    - error: \"it's: #E0433\"\n---\n\nUse make.\n";

#[test]
fn claude_code_loads_the_index_and_its_memories_are_committed() {
    let Some(program) = find_program() else { return };
    let (home, folder) = home_with_memory();
    fs::write(folder.join("seams.md"), EARLIER).unwrap();
    // Without an index, the host makes one by itself.
    fs::write(folder.join("MEMORY.md"), "# Mine\n").unwrap();
    let file = folder.join("build.md");
    let edit =
        json!({ "file_path": file, "old_string": "Use make.", "new_string": "Use make -j2." });
    let api = FakeApi::start(vec![
        tool_call("Write", &json!({ "file_path": file, "content": WRITTEN })),
        tool_call("Edit", &edit),
    ]);
    let shown = converse(&home, &program, &api);
    // The host does not wait for the hook before it reads the index: the next one surely has it.
    converse(&home, &program, &api);
    let requests = api.requests.lock().unwrap();
    assert!(requests.len() >= 4, "{shown}: {requests:#?}");
    let [first, last] =
        [&requests[0], &requests[requests.len() - 1]].map(|it| it["messages"].to_string());
    assert!(first.contains("persists across conversations):\\n\\n# Mine"), "{first}");
    assert!(last.contains("- [Seams](seams.md) — where the coal lies"), "{last}");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("Use make -j2."), "{text}");
    let metadata = text.split_once("metadata:").unwrap().1;
    for kept in ["when:", "^cargo build", "how: note", "it's: #E0433"] {
        assert!(metadata.contains(kept), "{text}");
    }
    home.assert_clean_repository();
    let path = "notes/drawers/claude/memory/build.md";
    assert_eq!(home.git(&["show", &format!("HEAD:{path}")]), text);
    let log = home.git(&["log", "--format=%an: %s", "--", path]);
    assert_eq!(log, "claude-code: memory build.md: write\n".repeat(2), "{shown}");
    let visits = home.run_palazzo(&["log", "--visits"]);
    let visits = String::from_utf8(visits.stdout).unwrap();
    assert_eq!(visits.matches("claude-code").count(), 1, "{visits}");
}

#[test]
fn a_memory_stands_beside_the_result_of_the_action_and_the_prompt_stays() {
    let Some(program) = find_program() else { return };
    let (home, folder) = home_with_memory();
    let written = WRITTEN.replace("^cargo build", "^echo built");
    let write = json!({ "file_path": folder.join("build.md"), "content": written });
    let build = || tool_call("Bash", &json!({ "command": "echo built", "description": "Build" }));
    let api = FakeApi::start(vec![tool_call("Write", &write), build(), build()]);
    let shown = converse(&home, &program, &api);
    let requests = api.requests.lock().unwrap();
    let notes = |it: &Value| it["messages"].to_string().matches("│ Use make.").count();
    let counts: Vec<_> = requests.iter().map(notes).collect();
    assert_eq!(counts, [0, 0, 1, 1], "{shown}: {requests:#?}");
    let texts = |it: &Value| {
        let content = it["messages"][0]["content"].as_array().unwrap().iter();
        content.map(|it| it["text"].to_string()).collect::<Vec<_>>()
    };
    assert!(requests.iter().all(|it| texts(it) == texts(&requests[0])), "{requests:#?}");
}
