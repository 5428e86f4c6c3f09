//! A client that walks to entities, lists them and searches for them, and records the costs.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::Duration;

use palazzo_core::model::Entity;
use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

use crate::mcp_client::McpClient;

/// The maximum number of result pages that the walker reads.
const MAX_RESULT_PAGES: usize = 10;

/// The cost of one page, or of several.
#[derive(Clone, Copy, Default)]
pub(crate) struct PageCost {
    /// The number of tokens in the encodings `cl100k` and `o200k`.
    pub(crate) tokens: [usize; 2],
    /// The response time.
    pub(crate) time: Duration,
}

/// A client that records the cost of each page.
pub(crate) struct Walker {
    pub(crate) client: McpClient,
    encodings: [CoreBPE; 2],
    /// The lists that were read, by the arguments of `list_entities`.
    lists: HashMap<Value, ListPages>,
}

/// The cost of each page of a list, and the page on which each name is.
struct ListPages {
    pages: Vec<PageCost>,
    page_of: HashMap<String, usize>,
}

/// An action that leads to a hall: its number, and the number of entities in that hall.
struct HallAction {
    number: usize,
    entity_count: usize,
}

impl Walker {
    /// Creates a walker that uses `client`.
    pub(crate) fn new(client: McpClient) -> Self {
        let encodings =
            [cl100k_base(), o200k_base()].map(|it| it.expect("the crate contains the encoding"));
        Self { client, encodings, lists: HashMap::new() }
    }

    /// Calls a tool and returns the page and its cost.
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> (String, PageCost) {
        let (page, time) = self.client.call_for_text(tool, arguments);
        let tokens = self.encodings.each_ref().map(|it| it.encode_ordinary(&page).len());
        (page, PageCost { tokens, time })
    }

    /// Enters the palace and returns the page and its cost.
    pub(crate) fn enter_palace(&mut self) -> (String, PageCost) {
        self.call_tool("set_workspace", &json!({ "workspace": "museum" }))
    }

    /// Walks from the entry to the entity at `position` in the sort order. Returns the cost of each
    /// page of the walk, including the page of the entity.
    pub(crate) fn walk_to_entity(&mut self, mut position: usize, name: &str) -> Vec<PageCost> {
        let (mut page, cost) = self.enter_palace();
        let mut costs = vec![cost];
        loop {
            let mut number = 31 + position;
            for action in parse_hall_actions(&page) {
                if position < action.entity_count {
                    number = action.number;
                    break;
                }
                position -= action.entity_count;
            }
            let cost;
            (page, cost) = self.call_tool("palace_action", &json!({ "action": number }));
            costs.push(cost);
            if number > 30 {
                assert!(
                    page.starts_with(&format!("── {name} ──\n")),
                    "expected the page of {name}:\n{page}"
                );
                return costs;
            }
        }
    }

    /// Visits every hall below the current page, depth first, and returns the maximum depth.
    pub(crate) fn visit_halls(&mut self, page: &str, costs: &mut Vec<PageCost>) -> usize {
        let mut depth = 0;
        for HallAction { number, .. } in parse_hall_actions(page) {
            let (page, cost) = self.call_tool("palace_action", &json!({ "action": number }));
            costs.push(cost);
            depth = depth.max(1 + self.visit_halls(&page, costs));
            self.client.choose_action(15);
        }
        depth
    }

    /// Reads the list of entities with the same genus and status, page by page, up to the entity.
    /// Returns the number of pages and their cost.
    pub(crate) fn page_through_list(&mut self, entity: &Entity) -> (usize, PageCost) {
        let mut arguments = json!({ "genus": entity.genus });
        if let Some(status) = &entity.status {
            arguments["status"] = status.clone().into();
        }
        if !self.lists.contains_key(&arguments) {
            let list = self.read_list(&arguments);
            self.lists.insert(arguments.clone(), list);
        }
        let list = &self.lists[&arguments];
        let pages = &list.pages[..=list.page_of[&entity.name]];
        (pages.len(), pages.iter().copied().fold(PageCost::default(), PageCost::plus))
    }

    /// Searches for the entity and reads result pages up to the one that contains it. Returns the
    /// number of pages and their cost.
    pub(crate) fn search_for_entity(
        &mut self,
        words: &str,
        name: &str,
    ) -> Option<(usize, PageCost)> {
        let mut cost = PageCost::default();
        for page in 1..=MAX_RESULT_PAGES {
            let (results, page_cost) =
                self.call_tool("search_entities", &json!({ "query": words, "page": page }));
            cost += page_cost;
            if parse_entity_names(&results).any(|it| it == name) {
                return Some((page, cost));
            }
        }
        None
    }

    fn read_list(&mut self, arguments: &Value) -> ListPages {
        let mut list = ListPages { pages: Vec::new(), page_of: HashMap::new() };
        loop {
            let mut arguments = arguments.clone();
            arguments["page"] = (list.pages.len() + 1).into();
            let (page, cost) = self.call_tool("list_entities", &arguments);
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

/// Parses the actions of a page whose labels end in a count: they lead to halls.
fn parse_hall_actions(page: &str) -> Vec<HallAction> {
    let menu = page.split_once("Actions:\n").map_or("", |(_, menu)| menu);
    let parse_line = |line: &str| {
        let (number, label) = line.trim_start().split_once(". ")?;
        let count = label.strip_suffix(')')?.rsplit_once('(')?.1.replace(',', "");
        Some(HallAction { number: number.parse().ok()?, entity_count: count.parse().ok()? })
    };
    menu.lines().filter_map(parse_line).collect()
}

/// Parses the names in a list of entities.
fn parse_entity_names(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.split_once(". ")?.1.split(" · ").next())
}
