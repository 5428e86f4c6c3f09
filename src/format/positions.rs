//! Where things stand in a file: asked only of files that something is said
//! about, so that nothing need be remembered of all the others.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike};

use crate::format::file_parser;
use crate::format::file_parser::Reader;
use crate::format::yaml::{Body, Node, parse};
use crate::format::{entity, front_matter, room, settings};
use crate::model::{Spot, Step, Trail};

/// A file, asked where its values stand.
pub struct Spots<'a> {
    text: &'a str,
    tree: Tree<'a>,
}

enum Tree<'a> {
    Yaml(Node),
    Toml(Document<&'a str>),
    Unreadable,
}

impl<'a> Spots<'a> {
    /// Reads a file for the places of its values.
    pub fn of(path: &'a str, text: &'a str) -> Self {
        let yaml = |text: &str| match parse(text) {
            Ok(root) => Tree::Yaml(as_counted(path, root)),
            Err(_) => Tree::Unreadable,
        };
        let tree = match path.rsplit('.').next() {
            Some("toml") => Document::parse(text).map_or(Tree::Unreadable, Tree::Toml),
            Some("md") => {
                let matter =
                    front_matter::split(text).map(|(matter, _)| front_matter::placed(matter));
                matter.map_or(Tree::Unreadable, |it| yaml(&it))
            }
            _ => yaml(text),
        };
        Self { text, tree }
    }

    /// Returns where the trail ends, or how far it can be followed.
    pub fn find(&self, trail: &Trail) -> Spot {
        match &self.tree {
            _ if *trail == Trail::TOP => Spot::START,
            Tree::Yaml(root) => in_yaml(root, trail.steps()),
            Tree::Toml(document) => {
                let span = in_toml(document.as_table(), trail.steps());
                span.map_or(Spot::START, |it| settings::spot(self.text, it.start))
            }
            Tree::Unreadable => Spot::START,
        }
    }
}

/// Leaves in the lists of a file only what the palace has, which counts nothing
/// else.
fn as_counted(path: &str, mut root: Node) -> Node {
    let Body::Map(pairs) = &mut root.body else { return root };
    for (key, value) in pairs {
        if let Body::List(items) = &mut value.body {
            items.retain(|it| is_readable(path, &key.text, it));
        }
    }
    root
}

/// Tells whether the palace has that item of a list.
fn is_readable(path: &str, list: &str, item: &Node) -> bool {
    let (mut unheard, item) = (Reader::new(path), item.clone());
    match list {
        "actions" => room::action(&mut unheard, item).is_some(),
        "portals" => file_parser::room(&mut unheard, item, list).is_some(),
        "relations" => entity::relation(&mut unheard, item).is_some(),
        _ => true,
    }
}

fn in_yaml(root: &Node, steps: &[Step]) -> Spot {
    let mut node = root;
    for step in steps {
        let next = match (step, &node.body) {
            (Step::Item(place), Body::List(items)) => items.get(*place),
            (Step::Value(name) | Step::Key(name), Body::Map(pairs)) => {
                let pair = pairs.iter().find(|(key, _)| key.text == *name);
                if let (Step::Key(_), Some((key, _))) = (step, pair) {
                    return key.at;
                }
                pair.map(|(_, value)| value)
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return node.at,
        }
    }
    node.at
}

fn in_toml(table: &dyn TableLike, steps: &[Step]) -> Option<Range<usize>> {
    let (Step::Value(name) | Step::Key(name), rest) = steps.split_first()? else { return None };
    let item = table.get(name)?;
    let here = item.span();
    match (item, rest) {
        (_, []) => here,
        (Item::Value(value), [Step::Item(place)]) => {
            value.as_array().and_then(|it| it.get(*place)?.span()).or(here)
        }
        (item, rest) => item.as_table_like().and_then(|it| in_toml(it, rest)).or(here),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what stands where the trail ends, to the end of its line.
    fn at(path: &str, text: &str, trail: &Trail) -> String {
        let spot = Spots::of(path, text).find(trail);
        let line = text.lines().nth(spot.line - 1).unwrap();
        line.chars().skip(spot.column - 1).collect()
    }

    #[test]
    fn items_are_counted_as_the_palace_counts_them() {
        let text = "name: Hall\nactions:\n  - no action\n  - { label: Go, type: navigate, room: crypt }\nportals: [No Slug, attic]\n";
        let room = Trail::TOP.value("actions").item(0).value("room");
        assert_eq!(at("rooms/hall.yaml", text, &room), "crypt }");
        let portal = Trail::TOP.value("portals").item(0);
        assert_eq!(at("rooms/hall.yaml", text, &portal), "attic]");
    }

    #[test]
    fn a_trail_that_ends_early_leads_as_far_as_it_can() {
        let text = "name: Hall\nactions:\n  - label: Ask\n    type: query\n    tool: t\n";
        let action = Trail::TOP.value("actions").item(0);
        let genus = action.clone().value("tool_params").key("genus");
        assert_eq!(at("rooms/hall.yaml", text, &genus), "label: Ask");
        assert_eq!(at("rooms/hall.yaml", text, &action.value("tool")), "t");
        assert_eq!(at("rooms/hall.yaml", "name: [", &Trail::TOP.value("name")), "name: [");
    }

    #[test]
    fn keys_are_found_in_front_matter_and_in_settings() {
        let scroll = "---\ntitle: T\nid: x\n---\n\nbody";
        assert_eq!(at("scrolls/hall/a.md", scroll, &Trail::TOP.value("id")), "x");
        let toml = "name = \"P\"\n\n[actions]\nallow = [\"a\", \"b\"]\n";
        let allow = Trail::TOP.value("actions").value("allow");
        assert_eq!(at("palace.toml", toml, &allow.clone().item(1)), "\"b\"]");
        assert_eq!(at("palace.toml", toml, &allow.item(7)), "[\"a\", \"b\"]");
        assert_eq!(at("palace.toml", toml, &Trail::TOP.value("entry")), "name = \"P\"");
    }
}
