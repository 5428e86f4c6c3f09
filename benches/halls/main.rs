//! Measures how many actions, tokens and how much time a client needs to find one entity in a
//! graph of 100,000 entities.
//!
//! `cargo bench --bench halls` builds palaces with 1,000, 10,000 and 100,000 entities of twenty
//! genera, and calls the program over standard input and output. It walks from the entry, a room
//! that shows the whole graph, to 200 entities, in turn in each palace. In the largest palace it
//! also finds the same entities by `list_entities`, page by page, with known genus and status, and
//! by `search_entities`; then it visits every hall. `-- --smoke` measures only the smallest
//! palace, with few entities.
//!
//! How to read the tables:
//!
//! - Tokens are counted in the returned page, with two common encodings, `cl100k` and `o200k`.
//!   Requests are not counted: they need ten to twenty tokens for each action.
//! - The walker knows the position of an entity in the sort order, like a user who knows its
//!   genus, its status and the first letters of its name, and chooses the action by the counts in
//!   the labels. With the whole name no walk is necessary: `get_entity` finds the entity in one
//!   action, and the table shows its cost.
//! - The first visit of a room sorts the entities of the room once and takes longer, so the tables
//!   of halls list these pages separately.
//! - The last column shows the claim, and whether this run confirms it.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
#[path = "../common/mcp_client.rs"]
mod mcp_client;
mod report;
mod walker;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use palazzo_core::format;
use palazzo_core::model::{Entity, Grouping, Palace};
use serde_json::json;

use fixture::HallFixture;
use mcp_client::McpClient;
use report::GrowthRow;
use walker::{PageCost, Walker};

/// The number of entities to find.
const LOOKUPS: usize = 200;

/// The sizes of the palaces, as divisors of 100,000 entities.
const SIZE_DIVISORS: [usize; 3] = [100, 10, 1];

/// The number of entities to find in a smoke run.
const SMOKE_LOOKUPS: usize = 5;

/// A palace and its walker.
struct MeasuredPalace {
    fixture: HallFixture,
    palace: Palace,
    walker: Walker,
}

fn main() {
    if common::positional_arguments().is_none() {
        return;
    }
    let divisors = if common::is_smoke_run() { &SIZE_DIVISORS[..1] } else { &SIZE_DIVISORS };
    let mut palaces: Vec<_> = divisors.iter().copied().map(MeasuredPalace::open).collect();
    println!("{}", report::growth_table(&measure_growth(&mut palaces)));
    let Some(MeasuredPalace { fixture, palace, mut walker }) = palaces.pop() else { return };
    let ping = (0..100).map(|_| walker.client.ping()).min().unwrap_or_default();
    println!("ping, included in every time: {:.3} ms\n", ping.as_secs_f64() * 1e3);

    measure_lookups(&mut walker, &palace);
    let rooms = HallFixture::ROOMS.map(|(room, generate)| {
        let page = walker.call_tool("palace_action", &json!({ "action": 16, "params": room }));
        measure_halls(&mut walker, &format!("{room} {generate}"), page)
    });
    println!("{}", report::pages_table("halls below each room", &rooms.concat()));

    fixture.remove_rooms();
    let mut walker = Walker::new(McpClient::start(fixture.serve_command()));
    let tutorial = walker.enter_palace().1.tokens[0];
    let page = walker.enter_palace();
    println!("without rooms: {tutorial} tokens with the tutorial, then {}", page.1.tokens[0]);
    let pages = measure_halls(&mut walker, "the entrance", page);
    println!("{}", report::pages_table("halls below the entrance", &pages));
}

impl MeasuredPalace {
    /// Creates a palace with 100,000 entities divided by `divisor`, and starts a walker in it.
    fn open(divisor: usize) -> Self {
        let fixture = HallFixture::new(divisor);
        let (palace, findings) = format::parse_palace("museum", &fixture.files);
        assert_eq!(findings, [], "the palace has no findings");
        let start = Instant::now();
        let mut walker = Walker::new(McpClient::start(fixture.serve_command()));
        let (initialize_time, enter_time) = (start.elapsed(), walker.client.enter_palace());
        println!(
            "{:>7} entities in {} genera: initialize, from spawn, {:.0} ms; first set_workspace, \
             which reads every file, {:.0} ms",
            palace.graph.len(),
            palace.graph.genus_counts().count(),
            initialize_time.as_secs_f64() * 1e3,
            enter_time.as_secs_f64() * 1e3
        );
        Self { fixture, palace, walker }
    }
}

/// Walks to entities, in turn in each palace. Returns for each palace its number of entities, the
/// maximum number of actions of a walk, and the costs of the steps.
fn measure_growth(palaces: &mut [MeasuredPalace]) -> Vec<GrowthRow> {
    let mut rows: Vec<_> =
        palaces.iter().map(|it| (it.palace.graph.len(), 0, Vec::new())).collect();
    let positions: Vec<_> = palaces.iter().map(|it| entity_positions(&it.palace)).collect();
    for round in 0..lookup_count() {
        for ((measured, positions), row) in palaces.iter_mut().zip(&positions).zip(&mut rows) {
            let Some(entity) = sample_entities(&measured.palace).nth(round) else { continue };
            let walk = measured.walker.walk_to_entity(positions[&*entity.name], &entity.name);
            row.1 = row.1.max(walk.len() - 1);
            row.2.extend(&walk[1..]);
        }
    }
    rows
}

/// Maps the name of each entity to its position in the sort order.
fn entity_positions(palace: &Palace) -> HashMap<Arc<str>, usize> {
    let entities = palace.graph.grouped_entities(&Grouping::Everything);
    let entry = |position: usize| Some((entities.entity_at(position)?.name.clone(), position));
    (0..).map_while(entry).collect()
}

/// Finds entities by each method: walk, list, search and `get_entity`.
fn measure_lookups(walker: &mut Walker, palace: &Palace) {
    let positions = entity_positions(palace);
    let methods = [
        "walk from the entry",
        "list_entities, by genus and status",
        "search_entities, by the whole name",
        "search_entities, by the longest word",
        "get_entity, by the whole name",
    ];
    let mut methods = methods.map(|it| (it, Vec::new()));
    let mut steps: Vec<(String, Vec<PageCost>)> = Vec::new();
    for entity in sample_entities(palace) {
        let walk = walker.walk_to_entity(positions[entity.name.as_str()], &entity.name);
        let actions = walk.len() - 1;
        for (step, cost) in walk.iter().enumerate() {
            let name = match step {
                0 => "the entry".to_owned(),
                _ if step == actions => "the entity".to_owned(),
                _ => format!("hall {step}"),
            };
            match steps.iter_mut().find(|(it, _)| *it == name) {
                Some((_, costs)) => costs.push(*cost),
                None => steps.push((name, vec![*cost])),
            }
        }
        let entity_page = walk[actions];
        let list_cost = walker.page_through_list(entity);
        let longest_word = entity.name.split(' ').max_by_key(|it| it.len()).unwrap_or_default();
        let search_costs =
            [&entity.name, longest_word].map(|words| walker.search_for_entity(words, &entity.name));
        let get_cost = walker.call_tool("get_entity", &json!({ "name": entity.name })).1;
        let add_entity_page =
            |(pages, cost): (usize, PageCost)| (pages + 1, cost.plus(entity_page));
        methods[0].1.push((actions, walk.into_iter().fold(PageCost::default(), PageCost::plus)));
        methods[1].1.push(add_entity_page(list_cost));
        methods[2].1.extend(search_costs[0].map(add_entity_page));
        methods[3].1.extend(search_costs[1].map(add_entity_page));
        methods[4].1.push((1, get_cost));
    }
    println!("{}", report::pages_table("a walk, page by page", &steps));
    println!("{}", report::lookup_table(lookup_count(), &methods));
}

/// Visits every hall below a page and returns the costs of the page and of the halls.
fn measure_halls(
    walker: &mut Walker,
    name: &str,
    (page, cost): (String, PageCost),
) -> Vec<(String, Vec<PageCost>)> {
    let mut costs = Vec::new();
    let depth = walker.visit_halls(&page, &mut costs);
    let halls = format!("  its halls, at most {} actions", depth + 1);
    vec![(name.to_owned(), vec![cost]), (halls, costs)]
}

/// Returns the number of entities to find.
fn lookup_count() -> usize {
    if common::is_smoke_run() { SMOKE_LOOKUPS } else { LOOKUPS }
}

/// Returns [`lookup_count`] entities, chosen pseudo-randomly.
fn sample_entities(palace: &Palace) -> impl Iterator<Item = &Entity> {
    let all: Vec<_> = palace.graph.iter().collect();
    let mut state = 1_u64;
    (0..lookup_count()).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all[usize::try_from(state >> 33).expect("31 bits fit into usize") % all.len()]
    })
}
