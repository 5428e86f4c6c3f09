//! MCP over HTTP: access, visits, and the end of the server.

use std::time::Duration;

use insta::assert_snapshot;
use reqwest::Method;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN, WWW_AUTHENTICATE,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::Home;
use crate::http_server::{HttpServer, status_and_text};

/// A home with two palaces of one room each.
fn home_with_two_palaces() -> Home {
    let home = Home::new();
    for (folder, name) in [("survey", "Survey"), ("garden", "Garden")] {
        home.write(
            &format!("{folder}/palace.toml"),
            &format!("name = \"{name}\"\nentry = \"hall\"\n"),
        );
        let hall = format!("name: Hall of {name}\nportals: [attic]\n");
        home.write(&format!("{folder}/rooms/hall.yaml"), &hall);
        let attic = format!("name: Attic of {name}\nportals: [hall]\n");
        home.write(&format!("{folder}/rooms/attic.yaml"), &attic);
    }
    home
}

fn initialize() -> Value {
    let about = json!({ "name": "curl", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

/// Returns the handle in the last text of an answer.
fn handle_in(texts: &[String]) -> String {
    let note = texts.last().unwrap();
    let handle = note.split("Visit: ").nth(1).unwrap_or_else(|| panic!("{note}"));
    handle.split('.').next().unwrap().to_owned()
}

#[tokio::test]
async fn only_clients_with_the_token_of_this_user_use_the_server() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    assert_eq!(server.token.len(), 26);
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    assert_eq!(status(server.mcp_request(&initialize())).await, 200);
    let without = server.client.post(server.url("/mcp")).body(initialize().to_string());
    let (code, text) = status_and_text(without.send().await.unwrap()).await;
    assert_eq!(code, 401);
    assert_snapshot!(text, @"`palazzo setup --print --http` prints the token for the header `Authorization: Bearer TOKEN`");
    let wrong = server.mcp_request(&initialize());
    let wrong = wrong.header(AUTHORIZATION, "Bearer 00000000000000000000000000");
    // Two tokens: the first one counts, so only one is sent here.
    let wrong = wrong.build().map(|mut it| {
        it.headers_mut().remove(AUTHORIZATION);
        it.headers_mut().insert(AUTHORIZATION, "Bearer 0000000000".parse().unwrap());
        it
    });
    assert_eq!(server.client.execute(wrong.unwrap()).await.unwrap().status(), 401);
    // A connection goes on only after a request that was allowed.
    let connection = |it: &reqwest::Response| it.headers().get("connection").cloned();
    let allowed = server.mcp_request(&initialize()).send().await.unwrap();
    assert_eq!((allowed.status().as_u16(), connection(&allowed)), (200, None));
    for path in ["/healthz", "/mcp", "/nothing"] {
        let answer = server.client.get(server.url(path)).send().await.unwrap();
        assert_eq!(connection(&answer).unwrap(), "close", "{path}");
    }
    let health = server.client.get(server.url("/healthz"));
    let (code, text) = status_and_text(health.send().await.unwrap()).await;
    assert_eq!((code, text.contains(r#""status":"ok""#)), (200, true), "{text}");
    let config = home.run_palazzo(&["client-config", "--http"]);
    let config = String::from_utf8(config.stdout).unwrap();
    assert!(config.contains(&server.token), "{config}");
}

#[tokio::test]
async fn clients_that_look_for_oauth_get_json() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    for (method, path) in [
        (Method::GET, "/.well-known/oauth-protected-resource"),
        (Method::GET, "/.well-known/oauth-authorization-server/mcp"),
        (Method::OPTIONS, "/.well-known/openid-configuration"),
        (Method::GET, "/mcp/.well-known/openid-configuration"),
        (Method::POST, "/register"),
    ] {
        let answer = server.client.request(method, server.url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(answer.headers()[CONTENT_TYPE], "application/json", "{path}");
        assert_eq!(answer.json::<Value>().await.unwrap()["error"], "not_found", "{path}");
    }
    for token in [None, Some("Bearer 0"), Some("Basic 0")] {
        let request = server.client.post(server.url("/mcp")).body(initialize().to_string());
        let request = token.into_iter().fold(request, |it, token| it.header(AUTHORIZATION, token));
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 401);
        assert_eq!(answer.headers()[WWW_AUTHENTICATE], r#"Bearer error="invalid_token""#);
    }
}

#[tokio::test]
async fn clients_may_accept_anything_and_end_the_path_with_a_slash() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    let status = async |path: &str, accept: Option<&str>| {
        let request = server.client.post(server.url(path)).header(CONTENT_TYPE, "application/json");
        let request = request.header(AUTHORIZATION, format!("Bearer {}", server.token));
        let request = accept.into_iter().fold(request, |it, accept| it.header(ACCEPT, accept));
        request.body(initialize().to_string()).send().await.unwrap().status().as_u16()
    };
    let both = "application/json, text/event-stream";
    for accept in [None, Some("*/*"), Some("text/html, */*;q=0.8"), Some(both)] {
        for path in ["/mcp", "/mcp/"] {
            assert_eq!(status(path, accept).await, 200, "{path} {accept:?}");
        }
    }
    for accept in ["text/html", "text/html, */*;q=0"] {
        assert_eq!(status("/mcp", Some(accept)).await, 406, "{accept}");
    }
}

#[tokio::test]
async fn requests_for_other_hosts_and_from_other_websites_are_refused() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--allow-host", "keep.example"]);
    let status = async |name, value: &str| {
        let request = server.mcp_request(&initialize()).header(name, value);
        request.send().await.unwrap().status().as_u16()
    };
    let own = format!("http://{}", server.address);
    assert_eq!(status(ORIGIN, &own).await, 200);
    assert_eq!(status(HOST, "keep.example").await, 200);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1"] {
        assert_eq!(status(ORIGIN, origin).await, 403, "{origin}");
    }
    assert_eq!(status(HOST, "evil.example").await, 403);
    for path in ["/", "/healthz", "/open/x", "/mcp", "/nothing"] {
        let request = server.client.get(server.url(path)).header(HOST, "evil.example");
        assert_eq!(request.send().await.unwrap().status(), 403, "{path}");
    }
}

#[test]
fn addresses_that_others_reach_need_a_name_and_a_token() {
    let home = home_with_two_palaces();
    let refused = |arguments: &[&str]| {
        let output = home.run_palazzo(&[&["serve", "--http"], arguments].concat());
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let all = ["--listen", "0.0.0.0:0"];
    let named = ["--allow-host", "keep.example", "--no-token"];
    let open = [&all[..], &["--no-token"]].concat();
    assert_snapshot!(refused(&all), @"palazzo: other machines reach this address: name the hosts for which it answers with --allow-host NAME");
    assert_snapshot!(refused(&open), @"palazzo: --no-token is only for loopback: other machines reach this address");
    assert_snapshot!(refused(&named), @"palazzo: --no-token is only for this machine, and --allow-host for others");
}

#[tokio::test]
async fn two_windows_of_the_same_client_never_share_a_visit() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--rate", "0"]);
    let walk = async |name: &str| {
        let mut window = server.agent("claude-code").await;
        window.enter(name).await;
        for step in 0..250 {
            let room = if step % 2 == 0 { "Attic" } else { "Hall" };
            let page = window.choose(1).await;
            assert!(page.starts_with(&format!("── {room} of {name} ──")), "{page}");
        }
        window.disconnect().await;
    };
    let walk_stateless = async |name: &str| {
        let entered = server.call_stateless("set_workspace", json!({ "workspace": name })).await;
        let visit = handle_in(&entered);
        for step in 0..250 {
            let room = if step % 2 == 0 { "Attic" } else { "Hall" };
            let arguments = json!({ "action": 1, "visit": visit });
            let texts = server.call_stateless("palace_action", arguments).await;
            assert!(texts[0].starts_with(&format!("── {room} of {name} ──")), "{texts:?}");
            assert_eq!(texts[1..], [format!("Palace: {name}.")]);
        }
    };
    tokio::join!(
        walk("Survey"),
        walk("Garden"),
        walk_stateless("Survey"),
        walk_stateless("Garden")
    );
}

#[tokio::test]
async fn a_call_without_a_visit_begins_one_at_the_entry() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--workspace", "Survey"]);
    let act = async |arguments: Value| server.call_stateless("palace_action", arguments).await;
    let first = act(json!({ "action": 1 })).await;
    let second = act(json!({ "action": 1 })).await;
    let [one, other] = [&first, &second].map(|it| handle_in(it));
    assert_ne!(one, other);
    assert!(first[0].contains("── Hall of Survey ──"), "{first:?}");
    let step = act(json!({ "action": 1, "visit": one.to_uppercase() })).await;
    assert!(step[0].starts_with("── Attic of Survey ──"), "{step:?}");
    let step = act(json!({ "action": 0, "visit": other })).await;
    assert!(step[0].contains("Hall of Survey (hall) entry ← You are here"), "{step:?}");
    for wrong in [json!("00000000000000000000000000"), json!("hall"), json!(7)] {
        let refused = act(json!({ "action": 1, "visit": wrong })).await;
        insta::allow_duplicates! {
            assert_snapshot!(refused.join("\n"), @"there is no such `visit`: it ended after a day without a call, or the server was restarted. Call set_workspace without `visit`, and use the handle that it returns");
        }
    }
    let genera = server.call_stateless("list_genera", json!({})).await;
    assert_eq!(genera[1..], ["Palace: Survey."]);
}

#[tokio::test]
async fn a_session_has_a_visit_of_its_own_and_tells_its_handle_once() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--workspace", "Survey"]);
    let mut session = server.agent("claude-code").await;
    let first = session.choose(1).await;
    assert!(first.contains("Palace: Survey. Visit: "), "{first}");
    let second = session.choose(1).await;
    assert!(second.ends_with("Palace: Survey."), "{second}");
    // A client that opens a session for each call gives the handle back.
    let handle = handle_in(&[first]);
    let mut other = server.agent("claude-code").await;
    let page = other.call("palace_action", json!({ "action": 0, "visit": handle })).await;
    assert!(page.contains("Attic of Survey (attic) ← You are here"), "{page}");
    let page = other.choose(0).await;
    assert!(page.contains("── Hall of Survey ──"), "{page}");
}

#[tokio::test]
async fn the_commits_of_a_visit_have_its_id() {
    let home = home_with_two_palaces();
    home.git(&["init", "-q", "survey"]);
    let server = home.http_server(&["--workspace", "Survey"]);
    let entered = server.call_stateless("set_workspace", json!({ "workspace": "Survey" })).await;
    let visit = handle_in(&entered);
    for title in ["One", "Two"] {
        let scroll = json!({ "title": title, "body": "Text.", "visit": visit });
        server.call_stateless("write_scroll", scroll).await;
    }
    let scroll = json!({ "title": "Three", "body": "Text.", "room": "hall" });
    server.call_stateless("write_scroll", scroll).await;
    let mut log = std::process::Command::new("git");
    home.isolate_environment(&mut log);
    log.arg("-C").arg(home.path().join("survey"));
    log.args(["log", "-3", "--format=%(trailers:key=Palazzo-Visit,valueonly,separator=)"]);
    let ids = String::from_utf8(log.output().unwrap().stdout).unwrap();
    let ids: Vec<_> = ids.lines().collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    assert_eq!(ids[1], ids[2]);
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn a_server_that_only_reads_offers_no_tool_that_writes() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--read-only", "--tools", "palace,graph,sync,mempalace"]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    let opened = server.mcp_request(&initialize()).send().await.unwrap();
    let session = opened.headers()["mcp-session-id"].clone();
    let listed = server.mcp_request(&list).header("Mcp-Session-Id", session).send().await.unwrap();
    let (_, listed) = status_and_text(listed).await;
    for tool in ["build_room", "write_scroll", "create_entities", "sync_palace", "mempalace_add"] {
        assert!(!listed.contains(&format!(r#""name":"{tool}"#)), "{tool}");
    }
    assert!(listed.contains(r#""name":"palace_action""#), "{listed}");
    let new = json!({ "workspace": "New", "create": true });
    let refused = server.call_stateless("set_workspace", new).await;
    assert_snapshot!(refused[0], @"this server only reads: it was started with --read-only");
    assert!(!home.path().join("new").exists());
    let entered = server.call_stateless("set_workspace", json!({ "workspace": "Survey" })).await;
    assert!(entered[0].contains("── Hall of Survey ──"), "{entered:?}");
    assert!(!home.path().join("survey/.git").exists());
}

#[tokio::test]
async fn too_many_requests_are_refused() {
    let home = home_with_two_palaces();
    let server = home.http_server(&["--rate", "2"]);
    let status = async |token: &str| {
        let request = server.client.get(server.url("/")).header(AUTHORIZATION, token);
        request.send().await.unwrap().status().as_u16()
    };
    // Those who may not be here use nothing up.
    for _ in 0..8 {
        assert_eq!(status("Bearer x").await, 401);
    }
    let own = format!("Bearer {}", server.token);
    assert_eq!(status(&own).await, 200);
    // A busy machine may need many requests until there are two in a second.
    let mut sent = 0;
    while status(&own).await != 429 {
        sent += 1;
        assert!(sent < 1000, "no request was refused");
    }
    let health = server.client.get(server.url("/healthz")).send().await.unwrap();
    assert_eq!(health.status(), 200);
}

#[tokio::test]
async fn a_request_of_over_four_mebibytes_is_refused() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    let large = server.mcp_request(&json!({ "text": "x".repeat(5 << 20) })).send().await;
    assert!(large.is_err() || large.unwrap().status() == 413);
    let health = reqwest::get(server.url("/healthz")).await.unwrap();
    assert_eq!(health.status(), 200);
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_ends_the_server_and_its_streams() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    let mut session = server.agent("claude-code").await;
    session.enter("Survey").await;
    let listed = home.path().parent().unwrap().join(".local/state/palazzo/http-servers.json");
    assert!(std::fs::read_to_string(&listed).unwrap().contains(&server.address));
    let ended = tokio::task::spawn_blocking(|| server.terminate()).await.unwrap();
    assert_eq!(ended, (Some(0), String::new()));
    assert_eq!(std::fs::read_to_string(&listed).unwrap(), "[]");
}

#[cfg(unix)]
#[tokio::test]
async fn calls_that_have_begun_are_answered_before_the_server_ends() {
    let home = home_with_two_palaces();
    home.git(&["init", "-q", "survey"]);
    let server = home.http_server(&["--workspace", "Survey"]);
    let mut sessions = Vec::new();
    for _ in 0..4 {
        let mut session = server.agent("claude-code").await;
        session.enter("Survey").await;
        sessions.push(session);
    }
    let entity = |number: usize| json!({ "name": format!("E{number}"), "genus": "Rock" });
    let entities = json!({ "entities": (0..2_000).map(entity).collect::<Vec<_>>() });
    let [first, ..] = &mut sessions[..] else { unreachable!() };
    let call = first.call("create_entities", entities);
    tokio::pin!(call);
    // The call is under way when it has written its first file.
    let written = home.path().join("survey/entities");
    while !written.exists() {
        let step = timeout(Duration::from_millis(1), &mut call).await;
        assert!(step.is_err(), "the call was too quick for this story");
    }
    let ended = tokio::task::spawn_blocking(|| server.terminate());
    let answer = call.await;
    assert!(answer.starts_with("Created 2000 entities."), "{answer:.300}");
    assert_eq!(ended.await.unwrap().0, Some(0));
}

#[tokio::test]
async fn a_port_in_use_is_named() {
    let home = home_with_two_palaces();
    let server: HttpServer = home.http_server(&[]);
    let output = home.run_palazzo(&["serve", "--http", "--listen", &server.address]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("another server may run already"), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

/// Opens the page as a browser does that follows a link of `palazzo view`; returns its cookie.
async fn open_page(home: &Home, server: &HttpServer) -> String {
    let link = home.run_palazzo(&["view", "--no-open"]);
    let link = String::from_utf8(link.stdout).unwrap();
    let opened = server.client.get(link.trim()).send().await.unwrap();
    assert_eq!(opened.status(), 303);
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert_eq!(server.client.get(link.trim()).send().await.unwrap().status(), 401);
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_link_opens_the_page_once_and_the_cookie_is_no_token() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    let get = async |path: &str, cookie: &str| {
        let request = server.client.get(server.url(path)).header(COOKIE, cookie);
        status_and_text(request.send().await.unwrap()).await
    };
    for path in ["/", "/survey", "/events?workspace=survey", "/nothing"] {
        assert_eq!(get(path, "palazzo=x").await.0, 401, "{path}");
    }
    let cookie = open_page(&home, &server).await;
    let (status, page) = get("/survey", &cookie).await;
    assert_eq!(status, 200);
    assert!(page.contains("Hall of Survey"), "{page}");
    assert_eq!(get("/survey/rooms/cellar", &cookie).await.0, 404);
    assert_eq!(get("/survey/rooms/%2e%2e%2fgarden", &cookie).await.0, 404);
    let policy = server.client.get(server.url("/")).header(COOKIE, &cookie).send().await.unwrap();
    let policy = policy.headers()["content-security-policy"].to_str().unwrap().to_owned();
    for part in
        ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"]
    {
        assert!(policy.contains(part), "{policy}");
    }
    let with_cookie = server.client.post(server.url("/mcp")).header(COOKIE, &cookie);
    let answer = with_cookie.body(initialize().to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 401, "the cookie is only for the page");
    let post = server.client.post(server.url("/survey")).header(COOKIE, &cookie);
    assert_eq!(post.send().await.unwrap().status(), 405);
}

#[tokio::test]
async fn events_report_what_tools_and_people_change() {
    let home = home_with_two_palaces();
    home.git(&["init", "-q", "survey"]);
    let server = home.http_server(&["--workspace", "Survey"]);
    let cookie = open_page(&home, &server).await;
    let mut session = server.agent("claude-code").await;
    session.enter("Survey").await;
    let scroll = |title: &str| json!({ "title": title, "body": "Text." });
    session.call("write_scroll", scroll("Before")).await;
    let events = server.client.get(server.url("/events?workspace=survey"));
    let mut events = events.header(COOKIE, &cookie).send().await.unwrap();
    // What happened before the stream begins to look is no event.
    let mut seen = String::new();
    for count in 0..100 {
        session.call("write_scroll", scroll(&format!("Note {count}"))).await;
        if let Ok(part) = timeout(Duration::from_millis(500), events.chunk()).await {
            seen += &String::from_utf8_lossy(&part.unwrap().unwrap());
            break;
        }
    }
    home.write("survey/rooms/attic.yaml", "name: Loft\nportals: [hall]\n");
    while !seen.contains("saved files") {
        let part = timeout(Duration::from_secs(10), events.chunk()).await.unwrap();
        seen += &String::from_utf8_lossy(&part.unwrap().unwrap());
    }
    assert!(seen.contains(r#""by":"claude-code""#), "{seen}");
    assert!(seen.contains(r#""changed":["scrolls/hall/"#), "{seen}");
}

#[test]
fn clients_that_show_views_get_the_map_as_a_picture() {
    let home = home_with_two_palaces();
    let mut others = home.initialized_client_with(&["--workspace", "Survey"]);
    let tools = others.request("tools/list", json!({}))["result"]["tools"].to_string();
    assert!(!tools.contains("ui://"), "{tools}");
    let mut client = home.raw_client_with(&["--workspace", "Survey"]);
    let ui = json!({ "mimeTypes": ["text/html;profile=mcp-app"] });
    let mut params = initialize();
    params["params"]["capabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/ui": ui } });
    client.request("initialize", params["params"].clone());
    client.send_notification("notifications/initialized");
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let action = tools.iter().find(|it| it["name"] == "palace_action").unwrap();
    assert_eq!(action["_meta"]["ui"]["resourceUri"], "ui://palazzo/map");
    let text = client.call("set_workspace", json!({ "workspace": "Survey" }));
    assert!(text.contains("── Hall of Survey ──"), "{text}");
    let map = client.call("palace_action", json!({ "action": 0 }));
    assert!(map.contains("Attic of Survey (attic)"), "the text stays complete: {map}");
    let view = client.request("resources/read", json!({ "uri": "ui://palazzo/map" }));
    let content = &view["result"]["contents"][0];
    assert_eq!(content["mimeType"], "text/html;profile=mcp-app");
    let page = content["text"].as_str().unwrap();
    assert!(page.contains("href=\"palace://survey/rooms/attic\""), "{page}");
    assert!(page.contains("room here"), "{page}");
}

#[tokio::test]
async fn guessing_codes_of_links_keeps_no_reader_out() {
    let home = home_with_two_palaces();
    let server = home.http_server(&[]);
    let status = async |url: &str| server.client.get(url).send().await.unwrap().status().as_u16();
    let wrong = server.url("/open/00000000000000000000000000");
    while status(&wrong).await != 429 {}
    for _ in 0..3 {
        let link = home.run_palazzo(&["view", "--no-open"]);
        let link = String::from_utf8(link.stdout).unwrap();
        assert_eq!(status(link.trim()).await, 303);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn clients_that_do_not_end_their_requests_keep_no_other_out() {
    use tokio::io::AsyncWriteExt as _;

    let home = home_with_two_palaces();
    let server = home.http_server_with_open_files(128);
    let mut half_requests = Vec::new();
    for _ in 0..100 {
        let mut stream = tokio::net::TcpStream::connect(&server.address).await.unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nX-Slow: ").await.unwrap();
        half_requests.push(stream);
    }
    // It is accepted when the time for the header of the others is over.
    let texts = server.call_stateless("set_workspace", json!({ "workspace": "survey" })).await;
    assert!(texts.concat().contains("── Hall of Survey ──"), "{texts:?}");
    drop(half_requests);
}
