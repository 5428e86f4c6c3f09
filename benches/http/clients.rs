//! Many clients of one server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::LocalSet;
use tokio::time::{MissedTickBehavior, interval_at, sleep};

use crate::common::BenchDir;
use crate::fixture;
use crate::http_server::HttpServer;
use crate::mcp_connection::McpConnection;
use crate::percentile;

/// The number of clients, and for each the number of reads a second.
const CLIENTS: u32 = 200;
const READS_PER_SECOND: u32 = 10;

/// The clients that also write, once a second.
const WRITERS: u32 = 10;

/// What a client measured.
#[derive(Default)]
struct Times {
    reads: Vec<Duration>,
    writes: Vec<Duration>,
    errors: Vec<String>,
}

/// Measures the calls of all clients, for a minute.
pub(crate) async fn measure(is_smoke: bool) {
    let (clients, duration) = match is_smoke {
        true => (10, Duration::from_secs(1)),
        false => (CLIENTS, Duration::from_secs(60)),
    };
    let dir = BenchDir::new();
    fixture::write_palace(&dir, 100, 1_000);
    let server = HttpServer::start(&dir);
    let memory_before = server.memory_in_mb();
    let tasks = LocalSet::new();
    let handles: Vec<_> = (0..clients)
        .map(|number| tasks.spawn_local(run_client(server.address().to_owned(), number, duration)))
        .collect();
    tasks.await;
    let mut all = Times::default();
    for handle in handles {
        let times = handle.await.expect("no client panics");
        all.reads.extend(times.reads);
        all.writes.extend(times.writes);
        all.errors.extend(times.errors);
    }
    let seconds = usize::try_from(duration.as_secs()).unwrap_or(1);
    for (what, times) in [("reads", all.reads), ("writes", all.writes)] {
        let rate = times.len() / seconds;
        let [median, p99] = [50, 99].map(|it| percentile(times.clone(), it));
        println!("{what}: {rate} a second, p50 {median:.1?}, p99 {p99:.1?}");
    }
    let memory = server.memory_in_mb();
    println!("{} errors, memory {memory_before} MB, then {memory} MB", all.errors.len());
    assert!(all.errors.is_empty(), "{}", all.errors[0]);
}

/// Walks and writes until `duration` has passed, at the rate of one client.
async fn run_client(address: String, number: u32, duration: Duration) -> Times {
    let mut times = Times::default();
    let mut server = McpConnection::open(&address).await;
    // The clients do not begin at the same moment.
    sleep(Duration::from_millis(u64::from(number) * 5)).await;
    let entered = server.call("set_workspace", &json!({ "workspace": "Museum" })).await;
    let visit = match entered.map(|it| visit_in(&it)) {
        Ok(visit) => visit,
        Err(error) => return Times { errors: vec![error], ..times },
    };
    let start = Instant::now();
    let mut ticks =
        interval_at(tokio::time::Instant::now(), Duration::from_secs(1) / READS_PER_SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut count = 0;
    while start.elapsed() < duration {
        ticks.tick().await;
        let is_write = number < WRITERS && count % READS_PER_SECOND == 0;
        count += 1;
        if is_write {
            let scroll =
                json!({ "title": format!("Note {count}"), "body": "Rain.", "visit": visit });
            time_call(&mut server, "write_scroll", &scroll, &mut times.writes, &mut times.errors)
                .await;
        }
        let step = json!({ "action": 1, "visit": visit });
        time_call(&mut server, "palace_action", &step, &mut times.reads, &mut times.errors).await;
    }
    times
}

async fn time_call(
    server: &mut McpConnection,
    tool: &str,
    arguments: &Value,
    times: &mut Vec<Duration>,
    errors: &mut Vec<String>,
) {
    let start = Instant::now();
    match server.call(tool, arguments).await {
        Ok(_) => times.push(start.elapsed()),
        Err(error) => errors.push(error),
    }
}

/// Returns the handle of the visit that `set_workspace` has begun.
fn visit_in(answer: &str) -> String {
    let note = answer.split("Visit: ").nth(1).and_then(|it| it.split('.').next());
    note.expect("the answer names the visit").to_owned()
}
