//! A walker that walks, reads pages and searches, and counts the costs.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::Duration;

use palazzo::model::Entity;
use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

use crate::client::McpClient;

/// The walker gives up after this many pages of results.
const MAX_RESULT_PAGES: usize = 10;

/// The cost of one page, or of several.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageCost {
    /// The number of tokens, in `cl100k` and in `o200k`.
    pub(crate) tokens: [usize; 2],
    /// The response time.
    pub(crate) time: Duration,
}

/// A client that reads pages.
pub(crate) struct Walker {
    pub(crate) client: McpClient,
    encodings: [CoreBPE; 2],
    lists: HashMap<Value, ListPages>,
}

/// All pages of a list, and the page of each name.
struct ListPages {
    pages: Vec<PageCost>,
    page_of: HashMap<String, usize>,
}

/// A door of a hall: its number, and how many entities are behind it.
struct HallDoor {
    number: usize,
    entities_behind: usize,
}

impl Walker {
    /// Creates a walker that uses `client`.
    pub(crate) fn new(client: McpClient) -> Self {
        let encodings =
            [cl100k_base(), o200k_base()].map(|it| it.expect("it comes with the crate"));
        Self { client, encodings, lists: HashMap::new() }
    }

    /// Calls a tool, and counts the cost of the page.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> (String, PageCost) {
        let (page, time) = self.client.call_for_text(tool, arguments);
        let tokens = self.encodings.each_ref().map(|it| it.encode_ordinary(&page).len());
        (page, PageCost { tokens, time })
    }

    /// Enters the palace.
    pub(crate) fn enter_palace(&mut self) -> (String, PageCost) {
        self.call_tool("set_workspace", &json!({ "workspace": "museum" }))
    }

    /// Walks from the entry to the entity at position `place` in the order of all.
    /// Returns the cost of each page on the way, including the entity's own.
    pub(crate) fn walk_to_entity(&mut self, mut place: usize, name: &str) -> Vec<PageCost> {
        let (mut page, cost) = self.enter_palace();
        let mut costs = vec![cost];
        loop {
            let mut number = 31 + place;
            for door in parse_doors(&page) {
                if place < door.entities_behind {
                    number = door.number;
                    break;
                }
                place -= door.entities_behind;
            }
            let cost;
            (page, cost) = self.call_tool("palace_action", &json!({ "action": number }));
            costs.push(cost);
            if number > 30 {
                assert!(page.starts_with(&format!("── {name} ──\n")), "{name} is not:\n{page}");
                return costs;
            }
        }
    }

    /// Visits every hall below the current page, depth first; returns the number of
    /// doors to the farthest.
    pub(crate) fn tour_halls(&mut self, page: &str, costs: &mut Vec<PageCost>) -> usize {
        let mut farthest = 0;
        for HallDoor { number, .. } in parse_doors(page) {
            let (page, cost) = self.call_tool("palace_action", &json!({ "action": number }));
            costs.push(cost);
            farthest = farthest.max(1 + self.tour_halls(&page, costs));
            self.client.choose_action(15);
        }
        farthest
    }

    /// Pages through the list of entities with the same genus and status until the
    /// entity is found; returns the number of pages and their cost.
    pub(crate) fn page_through_list(&mut self, entity: &Entity) -> (usize, PageCost) {
        let mut which = json!({ "genus": entity.genus });
        if let Some(status) = &entity.status {
            which["status"] = status.clone().into();
        }
        if !self.lists.contains_key(&which) {
            let list = self.read_list(&which);
            self.lists.insert(which.clone(), list);
        }
        let list = &self.lists[&which];
        let pages = &list.pages[..=list.page_of[&entity.name]];
        (pages.len(), pages.iter().copied().fold(PageCost::default(), PageCost::plus))
    }

    /// Searches until the entity is among the results.
    pub(crate) fn search_for_entity(
        &mut self,
        words: &str,
        name: &str,
    ) -> Option<(usize, PageCost)> {
        let mut cost = PageCost::default();
        for page in 1..=MAX_RESULT_PAGES {
            let (found, more) =
                self.call_tool("search_entities", &json!({ "query": words, "page": page }));
            cost += more;
            if parse_entity_names(&found).any(|it| it == name) {
                return Some((page, cost));
            }
        }
        None
    }

    fn read_list(&mut self, which: &Value) -> ListPages {
        let mut list = ListPages { pages: Vec::new(), page_of: HashMap::new() };
        loop {
            let mut asked = which.clone();
            asked["page"] = (list.pages.len() + 1).into();
            let (page, cost) = self.call_tool("list_entities", &asked);
            list.page_of
                .extend(parse_entity_names(&page).map(|it| (it.to_owned(), list.pages.len())));
            list.pages.push(cost);
            if !page.contains(" shows the next\n") {
                return list;
            }
        }
    }
}

impl PageCost {
    /// Adds the cost of another page.
    pub(crate) fn plus(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for PageCost {
    fn add_assign(&mut self, other: Self) {
        self.tokens = [self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1]];
        self.time += other.time;
    }
}

/// Parses the doors of a page: the actions that end in a count.
fn parse_doors(page: &str) -> Vec<HallDoor> {
    let menu = page.split_once("Actions:\n").map_or("", |(_, menu)| menu);
    let door = |line: &str| {
        let (number, label) = line.trim_start().split_once(". ")?;
        let count = label.strip_suffix(')')?.rsplit_once('(')?.1.replace(',', "");
        Some(HallDoor { number: number.parse().ok()?, entities_behind: count.parse().ok()? })
    };
    menu.lines().filter_map(door).collect()
}

/// Parses the names in a list of entities.
fn parse_entity_names(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.split_once(". ")?.1.split(" · ").next())
}
