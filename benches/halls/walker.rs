//! Somebody who walks, turns pages and searches, and counts what it costs.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::Duration;

use palazzo::model::Entity;
use serde_json::{Value, json};
use tiktoken_rs::{CoreBPE, cl100k_base, o200k_base};

use crate::client::Client;

/// After so many pages of results nobody goes on.
const PATIENCE: usize = 10;

/// What one page costs who reads it, or several.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Its tokens, by `cl100k` and by `o200k`.
    pub(crate) tokens: [usize; 2],
    /// How long it took to come.
    pub(crate) time: Duration,
}

/// A client who reads.
pub(crate) struct Walker {
    pub(crate) client: Client,
    encodings: [CoreBPE; 2],
    lists: HashMap<Value, List>,
}

/// All pages of a list, and on which page each name is.
struct List {
    pages: Vec<Cost>,
    page_of: HashMap<String, usize>,
}

/// A door of a hall: its number, and how many entities are behind it.
struct Door {
    number: usize,
    behind: usize,
}

impl Walker {
    /// Makes somebody who speaks through `client`.
    pub(crate) fn new(client: Client) -> Self {
        let encodings =
            [cl100k_base(), o200k_base()].map(|it| it.expect("it comes with the crate"));
        Self { client, encodings, lists: HashMap::new() }
    }

    /// Calls a tool, and counts what comes back.
    pub(crate) fn ask(&mut self, tool: &str, arguments: &Value) -> (String, Cost) {
        let (page, time) = self.client.ask(tool, arguments);
        let tokens = self.encodings.each_ref().map(|it| it.encode_ordinary(&page).len());
        (page, Cost { tokens, time })
    }

    /// Comes in at the entry.
    pub(crate) fn enter(&mut self) -> (String, Cost) {
        self.ask("set_workspace", &json!({ "workspace": "museum" }))
    }

    /// Walks from the entry to the entity that has `place` in the order of all,
    /// and returns what each page on the way costs, the entity's last.
    pub(crate) fn walk(&mut self, mut place: usize, name: &str) -> Vec<Cost> {
        let (mut page, cost) = self.enter();
        let mut costs = vec![cost];
        loop {
            let mut number = 31 + place;
            for door in doors(&page) {
                if place < door.behind {
                    number = door.number;
                    break;
                }
                place -= door.behind;
            }
            let cost;
            (page, cost) = self.ask("palace_action", &json!({ "action": number }));
            costs.push(cost);
            if number > 30 {
                assert!(page.starts_with(&format!("── {name} ──\n")), "{name} is not:\n{page}");
                return costs;
            }
        }
    }

    /// Goes through every hall below the page one has, depth first; returns how
    /// many doors lead to the farthest.
    pub(crate) fn tour(&mut self, page: &str, costs: &mut Vec<Cost>) -> usize {
        let mut farthest = 0;
        for Door { number, .. } in doors(page) {
            let (page, cost) = self.ask("palace_action", &json!({ "action": number }));
            costs.push(cost);
            farthest = farthest.max(1 + self.tour(&page, costs));
            self.client.choose(15);
        }
        farthest
    }

    /// Turns the pages of a list of what shares genus and status with an entity
    /// until it is there; returns how many pages that takes, and what they cost.
    pub(crate) fn turn_pages(&mut self, entity: &Entity) -> (usize, Cost) {
        let mut which = json!({ "genus": entity.genus });
        if let Some(status) = &entity.status {
            which["status"] = status.clone().into();
        }
        if !self.lists.contains_key(&which) {
            let list = self.list(&which);
            self.lists.insert(which.clone(), list);
        }
        let list = &self.lists[&which];
        let pages = &list.pages[..=list.page_of[&entity.name]];
        (pages.len(), pages.iter().copied().fold(Cost::default(), Cost::and))
    }

    /// Searches until an entity is among the results.
    pub(crate) fn search(&mut self, words: &str, name: &str) -> Option<(usize, Cost)> {
        let mut cost = Cost::default();
        for page in 1..=PATIENCE {
            let (found, more) =
                self.ask("search_entities", &json!({ "query": words, "page": page }));
            cost += more;
            if names(&found).any(|it| it == name) {
                return Some((page, cost));
            }
        }
        None
    }

    fn list(&mut self, which: &Value) -> List {
        let mut list = List { pages: Vec::new(), page_of: HashMap::new() };
        loop {
            let mut asked = which.clone();
            asked["page"] = (list.pages.len() + 1).into();
            let (page, cost) = self.ask("list_entities", &asked);
            list.page_of.extend(names(&page).map(|it| (it.to_owned(), list.pages.len())));
            list.pages.push(cost);
            if !page.contains(" shows the next\n") {
                return list;
            }
        }
    }
}

impl Cost {
    /// Adds the cost of another page.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.tokens = [self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1]];
        self.time += other.time;
    }
}

/// Reads the doors of a page: the actions that end in a count.
fn doors(page: &str) -> Vec<Door> {
    let menu = page.split_once("Actions:\n").map_or("", |(_, menu)| menu);
    let door = |line: &str| {
        let (number, label) = line.trim_start().split_once(". ")?;
        let count = label.strip_suffix(')')?.rsplit_once('(')?.1.replace(',', "");
        Some(Door { number: number.parse().ok()?, behind: count.parse().ok()? })
    };
    menu.lines().filter_map(door).collect()
}

/// Reads the names of a list of entities.
fn names(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.split_once(". ")?.1.split(" · ").next())
}
