//! The cost of finding one entity in a hundred thousand: in actions, in tokens of the
//! pages read, and in time.
//!
//! `cargo bench --bench halls` builds a museum of twenty genera, the largest with forty
//! thousand entities, and two with a tenth and a hundredth of it, and calls the real
//! program over standard input and output. It walks from the entry, a room that shows
//! the whole graph, to two hundred entities, alternating between the three museums. In
//! the largest it also finds the same entities by paging through `list_entities`, with
//! genus and status known, and by `search_entities`; then it visits every hall. `--
//! --smoke` measures only the smallest museum, with few entities.
//!
//! How to read the tables:
//!
//! - Tokens are those of the returned page, in two common encodings, `cl100k` and
//!   `o200k`. Requests are not counted: ten to twenty tokens per action, on every way.
//! - The walker knows the position of an entity in the order, like a user who knows its
//!   genus, its status and the beginning of its name, and chooses by the counts on the
//!   doors. With the whole name no walk is needed: `get_entity` takes one action; the
//!   table includes its cost.
//! - The first look at a room sorts what it shows, once, and takes longer; the tables
//!   of halls list these pages separately.
//! - The last column names the claim and whether this run meets it.

#![expect(clippy::print_stdout, reason = "a benchmark prints its tables")]

#[path = "../palace/client.rs"]
mod client;
#[path = "../ground/mod.rs"]
mod ground;
mod scene;
mod table;
mod walker;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use palazzo::format;
use palazzo::model::{Entity, Grouping, Palace};
use serde_json::json;

use client::McpClient;
use scene::MuseumFixture;
use table::GrowthRow;
use walker::{PageCost, Walker};

/// How many entities are looked for.
const LOOKUPS: usize = 200;

/// The sizes of the compared museums, as divisors of a hundred thousand.
const SIZE_DIVISORS: [usize; 3] = [100, 10, 1];

/// How many entities are looked for in a smoke run.
const SMOKE_LOOKUPS: usize = 5;

/// A museum and its walker.
struct Museum {
    fixture: MuseumFixture,
    palace: Palace,
    walker: Walker,
}

fn main() {
    if ground::requested_parts().is_none() {
        return;
    }
    let parts = if ground::is_smoke_run() { &SIZE_DIVISORS[..1] } else { &SIZE_DIVISORS };
    let mut museums: Vec<_> = parts.iter().copied().map(Museum::open).collect();
    println!("{}", table::growth_table(&measure_growth(&mut museums)));
    let Some(Museum { fixture: scene, palace, mut walker }) = museums.pop() else { return };
    let ping = (0..100).map(|_| walker.client.ping()).min().unwrap_or_default();
    println!("ping, included in every time: {:.3} ms\n", ping.as_secs_f64() * 1e3);

    measure_lookups(&mut walker, &palace);
    let rooms = MuseumFixture::ROOMS.map(|(room, generate)| {
        let page = walker.call_tool("palace_action", &json!({ "action": 16, "params": room }));
        measure_tour(&mut walker, &format!("{room} {generate}"), page)
    });
    println!("{}", table::pages_table("every hall below", &rooms.concat()));

    scene.remove_rooms();
    let mut walker = Walker::new(McpClient::start(scene.serve_command()));
    let tutorial = walker.enter_palace().1.tokens[0];
    let page = walker.enter_palace();
    println!("without rooms: {tutorial} tokens with the tutorial, then {}", page.1.tokens[0]);
    println!(
        "{}",
        table::pages_table("every hall below", &measure_tour(&mut walker, "the entrance", page))
    );
}

impl Museum {
    /// Builds a museum with one `part` of a hundred thousand entities, and starts a
    /// walker in it.
    fn open(part: usize) -> Self {
        let scene = MuseumFixture::new(part);
        let (palace, findings) = format::parse_palace("museum", &scene.files);
        assert_eq!(findings, [], "the museum has no fault");
        let begun = Instant::now();
        let mut walker = Walker::new(McpClient::start(scene.serve_command()));
        let (greeted, first) = (begun.elapsed(), walker.client.enter_palace());
        println!(
            "{:>7} entities in {} genera: initialize, from spawn, {:.0} ms; first set_workspace, \
             which reads every file, {:.0} ms",
            palace.graph.len(),
            palace.graph.genus_counts().count(),
            greeted.as_secs_f64() * 1e3,
            first.as_secs_f64() * 1e3
        );
        Self { fixture: scene, palace, walker }
    }
}

/// Walks to entities of several museums in turn. Returns for each museum its number of
/// entities, the most actions needed, and the costs of the steps.
fn measure_growth(museums: &mut [Museum]) -> Vec<GrowthRow> {
    let mut rows: Vec<_> =
        museums.iter().map(|it| (it.palace.graph.len(), 0, Vec::new())).collect();
    let places: Vec<_> = museums.iter().map(|it| entity_positions(&it.palace)).collect();
    for turn in 0..lookup_count() {
        for ((museum, places), row) in museums.iter_mut().zip(&places).zip(&mut rows) {
            let Some(entity) = sample_entities(&museum.palace).nth(turn) else { continue };
            let walk = museum.walker.walk_to_entity(places[&*entity.name], &entity.name);
            row.1 = row.1.max(walk.len() - 1);
            row.2.extend(&walk[1..]);
        }
    }
    rows
}

/// Maps each entity to its position in the order of all.
fn entity_positions(palace: &Palace) -> HashMap<Arc<str>, usize> {
    let register = palace.graph.grouped_entities(&Grouping::Everything);
    (0..).map_while(|place| Some((register.entity_at(place)?.name.clone(), place))).collect()
}

/// Finds entities in every possible way.
fn measure_lookups(walker: &mut Walker, palace: &Palace) {
    let places = entity_positions(palace);
    let ways = [
        "walk from the entry",
        "list_entities, genus and status known",
        "search_entities, by the whole name",
        "search_entities, by its longest word",
        "get_entity, by the whole name",
    ];
    let mut ways = ways.map(|it| (it, Vec::new()));
    let mut steps: Vec<(String, Vec<PageCost>)> = Vec::new();
    for entity in sample_entities(palace) {
        let walk = walker.walk_to_entity(places[entity.name.as_str()], &entity.name);
        let actions = walk.len() - 1;
        for (step, cost) in walk.iter().enumerate() {
            let what = match step {
                0 => "the entry".to_owned(),
                _ if step == actions => "the entity".to_owned(),
                _ => format!("behind door {step}"),
            };
            match steps.iter_mut().find(|(it, _)| *it == what) {
                Some((_, costs)) => costs.push(*cost),
                None => steps.push((what, vec![*cost])),
            }
        }
        let opened = walk[actions];
        let listed = walker.page_through_list(entity);
        let longest = entity.name.split(' ').max_by_key(|it| it.len()).unwrap_or_default();
        let found =
            [&entity.name, longest].map(|words| walker.search_for_entity(words, &entity.name));
        let got = walker.call_tool("get_entity", &json!({ "name": entity.name })).1;
        let opened = |(pages, cost): (usize, PageCost)| (pages + 1, cost.plus(opened));
        ways[0].1.push((actions, walk.into_iter().fold(PageCost::default(), PageCost::plus)));
        ways[1].1.push(opened(listed));
        ways[2].1.extend(found[0].map(opened));
        ways[3].1.extend(found[1].map(opened));
        ways[4].1.push((1, got));
    }
    println!("{}", table::pages_table("walking, page by page", &steps));
    println!("{}", table::lookup_table(lookup_count(), &ways));
}

/// Visits every hall below a page.
fn measure_tour(
    walker: &mut Walker,
    what: &str,
    (page, cost): (String, PageCost),
) -> Vec<(String, Vec<PageCost>)> {
    let mut costs = Vec::new();
    let doors = walker.tour_halls(&page, &mut costs);
    let farthest = format!("  its halls, {} actions at most", doors + 1);
    vec![(what.to_owned(), vec![cost]), (farthest, costs)]
}

/// Returns how many entities are looked for.
fn lookup_count() -> usize {
    if ground::is_smoke_run() { SMOKE_LOOKUPS } else { LOOKUPS }
}

/// Returns this many entities, chosen pseudo-randomly.
fn sample_entities(palace: &Palace) -> impl Iterator<Item = &Entity> {
    let all: Vec<_> = palace.graph.iter().collect();
    let mut state = 1_u64;
    (0..lookup_count()).map(move |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all[usize::try_from(state >> 33).expect("it is small") % all.len()]
    })
}
