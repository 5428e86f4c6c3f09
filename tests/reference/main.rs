//! Palazzo in the place of the reference memory server: random calls to both,
//! and equal answers.
//!
//! The reference is the npm package `@modelcontextprotocol/server-memory`,
//! version 2026.8.31. It is looked for at `$PALAZZO_REFERENCE`, the path of its
//! `dist/index.js`, and in `target/tmp/reference`, where
//!
//! ```sh
//! npm install --prefix target/tmp/reference @modelcontextprotocol/server-memory@2026.8.31
//! ```
//!
//! puts it. Where it or node is missing, the tests say so and pass. These
//! differences are allowed, and no others:
//!
//! - What stands twice in one call is kept once: the reference is told each
//!   thing once, which is what it would say then ([`once`]).
//! - Relations come in another order: ours by what they start from, the
//!   reference's by when they were made.
//! - Deletions that did not find everything say so; all of them succeed.
//! - Wrong arguments are told in other words; both refuse them.
//! - What a terminal would obey is left out of our refusals.

mod calls;
mod server;

use std::cell::RefCell;
use std::io::Write as _;

use palazzo::model::strip_unprintable;
use proptest::collection::vec;
use proptest::prop_assert_eq;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

use calls::{Step, once, step};
use server::{Reference, Server, Temporary};

/// How many conversations are held, and of how many steps.
const CASES: u32 = 40;
const STEPS: usize = 80;

#[test]
fn random_calls_have_the_answers_of_the_reference_server() {
    let Some(reference) = Reference::start() else {
        let why =
            "skipped: node or the reference memory server is not there; see tests/reference\n";
        // Past the test harness, which would swallow it.
        std::io::stderr().write_all(why.as_bytes()).unwrap();
        return;
    };
    let cases =
        if std::env::var_os("PROPTEST_CASES").is_some() { Config::default().cases } else { CASES };
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let reference = RefCell::new(reference);
    let talk = |steps: Vec<Step>| converse(&mut reference.borrow_mut(), &steps);
    if let Err(err) = TestRunner::new(config).run(&vec(step(), STEPS), talk) {
        panic!("{err}");
    }
}

/// Holds one conversation with both, from an empty graph.
fn converse(reference: &mut Reference, steps: &[Step]) -> Result<(), TestCaseError> {
    let home = Temporary::new();
    let mut ours = Server::palazzo(&home);
    reference.forget();
    for step in steps {
        match step {
            Step::Restart => ours = Server::palazzo(&home),
            Step::Call(tool, arguments) => {
                let said = ours.call(tool, arguments);
                let expected = reference.server.call(tool, &once(tool, arguments.clone()));
                compare(tool, arguments, &said, &expected)?;
            }
        }
    }
    let (said, expected) =
        (ours.call("read_graph", &json!({})), reference.server.call("read_graph", &json!({})));
    compare("read_graph", &json!({}), &said, &expected)?;
    let ((list, graph), (their_list, their_graph)) = (ours.resource(), reference.server.resource());
    prop_assert_eq!(list, their_list);
    prop_assert_eq!(parsed(graph), parsed(their_graph));
    Ok(())
}

/// Returns what can be read with its text parsed, relations in an order of
/// their own.
fn parsed(mut contents: Value) -> Value {
    let text = contents[0]["text"].as_str().unwrap_or_default();
    let graph = json!({ "structuredContent": serde_json::from_str::<Value>(text).unwrap() });
    contents[0]["text"] = told(&graph);
    contents
}

fn compare(
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
        let text =
            |it: &Value| strip_unprintable(it["content"][0]["text"].as_str().unwrap_or_default());
        let same = text(ours) == text(theirs) || text(theirs).starts_with("MCP error -32602");
        return if same && ours["isError"] == theirs["isError"] { Ok(()) } else { differ() };
    }
    let (ours, theirs) = (told(ours), told(theirs));
    let same = match tool.strip_prefix("delete_") {
        Some(_) => ours["success"] == theirs["success"],
        None => ours == theirs,
    };
    if same { Ok(()) } else { differ() }
}

/// Returns what an answer says, relations in an order of their own.
fn told(answer: &Value) -> Value {
    let mut told = answer["structuredContent"].clone();
    if let Some(relations) = told.get_mut("relations").and_then(Value::as_array_mut) {
        relations.sort_by_key(Value::to_string);
    }
    told
}
