//! Invariants that hold after any calls in any order.

use palazzo::mcp::{ToolSet, Toolbox};
use palazzo_keeper::{self as keeper, Caller, Keeper};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::harness::{Home, MARCH_1};

type ToolCall = (&'static str, Value);

fn slug() -> impl Strategy<Value = &'static str> {
    select(&["hall", "crypt", "attic", "east/hall", "east/well", "west/hall", "No Slug", ".."][..])
}

fn text() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "Stone",
            "A: b",
            "two\nlines\n",
            "no",
            "",
            "  indented\ntext",
            "日本",
            "# x",
            "\u{7}bell",
        ][..],
    )
}

fn name() -> impl Strategy<Value = &'static str> {
    select(&["Alice", "alice", "../x", "日本", "A: b", "", "no", "Very long name of a thing"][..])
}

fn action() -> impl Strategy<Value = Value> {
    prop_oneof![
        (text(), slug()).prop_map(|(label, room)| json!({ "label": label, "type": "navigate", "room": room })),
        (text(), slug()).prop_map(|(label, room)| {
            json!({ "label": label, "type": "navigate", "room": room, "workspace": "two" })
        }),
        (text(), text()).prop_map(|(label, it)| json!({ "label": label, "type": "text", "content": it })),
        (text(), name()).prop_map(|(label, it)| {
            json!({ "label": label, "type": "query", "tool": "get_entity", "tool_params": { "name": it } })
        }),
    ]
}

fn build_room_call() -> impl Strategy<Value = ToolCall> {
    let given = (option::of(text()), option::of(text()), option::of(vec(action(), 0..4)));
    let more =
        (option::of(vec(slug(), 0..3)), option::of(any::<bool>()), any::<bool>(), any::<bool>());
    (slug(), given, more).prop_map(|(slug, given, more)| {
        let (name, description, actions) = given;
        let (portals, entry, merge, quiet) = more;
        let room = json!({
            "slug": slug, "name": name, "description": description, "actions": actions,
            "portals": portals, "entry": entry, "merge": merge, "quiet": quiet,
        });
        ("build_room", room)
    })
}

fn graph_call() -> impl Strategy<Value = ToolCall> {
    let relations = || {
        let relation = (text(), name()).prop_map(|(kind, to)| json!({ "type": kind, "to": to }));
        vec(relation, 0..3)
    };
    let create = (name(), text(), vec(text(), 0..3), relations()).prop_map(|it| {
        let (name, genus, observations, relations) = it;
        let entity = json!({ "name": name, "genus": genus, "observations": observations, "relations": relations });
        ("create_entities", json!({ "entities": [entity] }))
    });
    let update = (name(), option::of(text()), vec(text(), 0..2), relations(), vec(text(), 0..2)).prop_map(|it| {
        let (name, status, added, relations, removed) = it;
        let change = json!({ "name": name, "status": status, "add_observations": added,
            "remove_observations": removed, "add_relations": relations, "attributes": { "k": status } });
        ("update_entity", change)
    });
    prop_oneof![create, update]
}

fn random_call() -> impl Strategy<Value = ToolCall> {
    let walk = (0_i64..62, option::of(select(&["hall", "stone", "attic"][..]))).prop_map(
        |(action, params)| ("palace_action", json!({ "action": action, "params": params })),
    );
    let scroll = (text(), text(), option::of(slug())).prop_map(|(title, body, room)| {
        ("write_scroll", json!({ "title": title, "body": body, "room": room }))
    });
    let enter = select(&["one", "two"][..])
        .prop_map(|it| ("set_workspace", json!({ "workspace": it, "create": true })));
    let ask = select(&["list_entities", "list_genera", "describe_workspace"][..])
        .prop_map(|it| (it, json!({})));
    prop_oneof![4 => build_room_call(), 2 => graph_call(), 4 => walk, 2 => scroll, 1 => enter, 1 => ask]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn five_hundred_random_calls_keep_the_repository_consistent(calls in vec(random_call(), 500)) {
        let home = Home::new();
        home.run_palazzo(&["init", "one"]);
        let mut keeper = Keeper::new(home.path(), None);
        let tools = Toolbox::new(ToolSet::FOR_ACTIONS.to_vec());
        let now = MARCH_1.parse().unwrap();
        let state = || (home.commit_count(), home.git(&["rev-parse", "HEAD^{tree}"]));
        let mut before = state();
        for (tool, arguments) in calls {
            let told = arguments.to_string();
            let given = arguments.as_object().cloned().unwrap();
            let answer = tools.call_tool(&mut keeper, &Caller::for_client("claude", now), tool, given).unwrap();
            prop_assert!(!answer.as_ref().is_err_and(|it| it.contains("fault in Palazzo")), "{} {}", tool, told);
            let after = state();
            let expected = before.0 + usize::from(after.1 != before.1);
            prop_assert_eq!(after.0, expected, "{} {}: {:?}", tool, told, answer);
            before = after;
        }
        home.assert_clean_repository();
        let mut fresh = Keeper::new(home.path(), None);
        for workspace in ["one", "two"] {
            if let Ok(read) = keeper::palace_by_name(&mut fresh, workspace) {
                prop_assert_eq!(keeper::palace_by_name(&mut keeper, workspace).unwrap(), read);
            }
        }
    }
}
