//! What a walk through a palace costs in tokens.

use std::fmt::Write;

use insta::assert_snapshot;
use serde_json::json;
use tiktoken_rs::cl100k_base;

use crate::mcp_protocol::home_with_survey;

/// Maximum number of tokens of this walk, the hand-over at the door included.
const MAX_TOKENS: usize = 4_200;

#[test]
fn a_walk_of_twelve_steps_costs_few_tokens_and_shows_the_menu_at_every_step() {
    let home = home_with_survey();
    let mut wire = home.initialized_client();
    let action = |number: i64| ("palace_action", json!({ "action": number }));
    let with_params = |number: i64, params: &str| {
        ("palace_action", json!({ "action": number, "params": params }))
    };
    let scroll = json!({ "title": "On the notch", "body": "Heezen asked for it twice." });
    let steps = [
        ("enter the palace", ("set_workspace", json!({ "workspace": "Paradigm Survey" }))),
        ("go through a door", action(1)),
        ("run a query", action(1)),
        ("read a text", action(3)),
        ("write a scroll", ("write_scroll", scroll)),
        ("read a scroll", action(21)),
        ("look at the map", action(0)),
        ("check the inventory", action(18)),
        ("search", with_params(17, "continents kind:scroll")),
        ("go back", action(15)),
        ("go to a room", with_params(16, "cuviers-study")),
        ("choose a number that does nothing", action(12)),
    ];
    let encoding = cl100k_base().unwrap();
    let (mut table, mut total) = (String::new(), 0);
    for (step, (tool, arguments)) in steps {
        let page = wire.call(tool, arguments);
        let has_menu = page.contains("Actions:") && page.contains("0 map");
        assert!(has_menu || tool == "write_scroll", "{step}: {page}");
        let tokens = encoding.encode_ordinary(&page).len();
        writeln!(table, "{step:34} {tokens:5}").unwrap();
        total += tokens;
    }
    writeln!(table, "{:34} {total:5}", "all").unwrap();
    assert_snapshot!(table);
    assert!(total <= MAX_TOKENS, "{total} tokens\n{table}");
}
