//! Palazzo as a replacement of the reference memory server: random calls to both must
//! give equal answers.
//!
//! The reference is the npm package `@modelcontextprotocol/server-memory`, version
//! 2026.8.31. The tests search it at `$PALAZZO_REFERENCE`, the path of its
//! `dist/index.js`, and in `target/tmp/reference`, where this command installs it:
//!
//! ```sh
//! npm install --prefix target/tmp/reference @modelcontextprotocol/server-memory@2026.8.31
//! ```
//!
//! Without it or node, the tests print a notice and pass. Only these differences are
//! allowed:
//!
//! - Palazzo keeps duplicates within one call once; the reference gets each item once,
//!   so that its answer is the same (`without_duplicates`).
//! - The order of relations differs: Palazzo orders them by their start, the reference
//!   by creation.
//! - Deletions that did not find everything report it; all of them succeed.
//! - Errors for wrong arguments have other texts; both refuse them.
//! - Palazzo removes terminal control characters from refusals.

mod random_calls;
mod server;
mod servers;

use std::cell::RefCell;
use std::io::Write as _;

use palazzo_core::model::escape_unprintable_in_lines;
use proptest::collection::vec;
use proptest::prop_assert_eq;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use random_calls::{Step, step, without_duplicates};
use server::TempHome;
use servers::{ReferenceServer, call, list_and_read_resource, start_palazzo};

/// How many sessions are run, and with how many steps.
const CASES: u32 = 40;
const STEPS_PER_CASE: usize = 80;

#[test]
fn random_calls_get_the_same_answers_as_the_reference_server() {
    let Some(reference) = ReferenceServer::start() else {
        let why =
            "skipped: node or the reference memory server is not there; see tests/reference\n";
        assert!(std::env::var_os("CI").is_none(), "{why}");
        // Written directly to stderr, because the test harness captures prints.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return;
    };
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { CASES };
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let reference = RefCell::new(reference);
    let talk = |steps: Vec<Step>| run_steps_on_both(&mut reference.borrow_mut(), &steps);
    if let Err(err) = TestRunner::new(config).run(&vec(step(), STEPS_PER_CASE), talk) {
        panic!("{err}");
    }
}

/// Runs one session with both, from an empty graph.
fn run_steps_on_both(reference: &mut ReferenceServer, steps: &[Step]) -> Result<(), TestCaseError> {
    let home = TempHome::new();
    let mut ours = start_palazzo(&home);
    reference.clear_graph();
    for step in steps {
        match step {
            Step::Restart => ours = start_palazzo(&home),
            Step::Call(tool, arguments) => {
                let said = call(&mut ours, tool, arguments);
                let arguments_once = without_duplicates(tool, arguments.clone());
                let expected = call(&mut reference.server, tool, &arguments_once);
                compare_answers(tool, arguments, &said, &expected)?;
            }
        }
    }
    let [said, expected] =
        [&mut ours, &mut reference.server].map(|it| call(it, "read_graph", &json!({})));
    compare_answers("read_graph", &json!({}), &said, &expected)?;
    let ((list, graph), (their_list, their_graph)) =
        (list_and_read_resource(&mut ours), list_and_read_resource(&mut reference.server));
    prop_assert_eq!(list, their_list);
    prop_assert_eq!(parse_resource_graph(graph), parse_resource_graph(their_graph));
    Ok(())
}

/// Returns the content of a resource with parsed text and sorted relations.
fn parse_resource_graph(mut contents: Value) -> Value {
    let text = contents[0]["text"].as_str().unwrap_or_default();
    let graph = json!({ "structuredContent": serde_json::from_str::<Value>(text).unwrap() });
    contents[0]["text"] = sorted_structured_content(&graph);
    contents
}

fn compare_answers(
    tool: &str,
    arguments: &Value,
    ours: &Value,
    theirs: &Value,
) -> Result<(), TestCaseError> {
    let differ = || {
        let why = format!("{tool} {arguments}\n  ours: {ours}\ntheirs: {theirs}");
        Err(TestCaseError::fail(why))
    };
    if ours["isError"] == true || theirs["isError"] == true {
        let text = |it: &Value| {
            escape_unprintable_in_lines(it["content"][0]["text"].as_str().unwrap_or_default())
        };
        let same = text(ours) == text(theirs) || text(theirs).starts_with("MCP error -32602");
        return if same && ours["isError"] == theirs["isError"] { Ok(()) } else { differ() };
    }
    let (ours, theirs) = (sorted_structured_content(ours), sorted_structured_content(theirs));
    let same = match tool.strip_prefix("delete_") {
        Some(_) => ours["success"] == theirs["success"],
        None => ours == theirs,
    };
    if same { Ok(()) } else { differ() }
}

/// Returns the result of an answer, with sorted relations.
fn sorted_structured_content(answer: &Value) -> Value {
    let mut told = answer["structuredContent"].clone();
    if let Some(relations) = told.get_mut("relations").and_then(Value::as_array_mut) {
        relations.sort_by_key(Value::to_string);
    }
    told
}
