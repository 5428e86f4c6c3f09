//! A graph that nobody chose: always the same for the same size.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::entity;

/// A graph of so many entities, each with five observations and two relations.
pub(crate) struct Graph {
    pub(crate) size: usize,
}

impl Graph {
    /// Writes it as the reference memory server does.
    pub(crate) fn file(&self) -> String {
        let mut file = String::new();
        for number in 0..self.size {
            let mut line = entity(&name(number), kind(number), &observations(number));
            line["type"] = "entity".into();
            writeln!(file, "{line}").expect("a text takes all");
        }
        for number in 0..self.size {
            for (to, said) in [(number + 1, "follows"), (number / 50, "belongs_to")] {
                let (from, to) = (name(number), name(to % self.size));
                let line =
                    json!({ "type": "relation", "from": from, "to": to, "relationType": said });
                writeln!(file, "{line}").expect("a text takes all");
            }
        }
        file.trim_end().to_owned()
    }

    /// Returns what a tool is told in a round; nothing is said twice.
    pub(crate) fn arguments(&self, tool: &str, round: usize) -> Value {
        let some = name(round * 7919 % self.size);
        match tool {
            "create_entities" => {
                let new = format!("Newcomer {round}");
                json!({ "entities": [entity(&new, "visitor", &observations(round))] })
            }
            "add_observations" => {
                let seen = format!("was seen in round {round}");
                json!({ "observations": [{ "entityName": some, "contents": [seen] }] })
            }
            "search_nodes" => json!({ "query": format!("{}.", name(round * 7919 % self.size)) }),
            _ => json!({ "names": [some, name(round * 31 % self.size)] }),
        }
    }
}

fn name(number: usize) -> String {
    format!("{} {number}", phrase(number, 2))
}

fn kind(number: usize) -> &'static str {
    ["person", "place", "event", "idea", "thing"][number % 5]
}

fn observations(number: usize) -> Vec<String> {
    let said = (1..5).map(|it| format!("{}.", phrase(number * 5 + it, 12)));
    std::iter::once(format!("Goes by the name of {}.", name(number))).chain(said).collect()
}

fn phrase(number: usize, words: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ba", "ke", "lo", "mi", "nu", "ra", "so", "ti"];
    let mut state = number as u64 + 1;
    let mut phrase = Vec::new();
    for _ in 0..words {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let syllable =
            |shift: u32| SYLLABLES[usize::try_from((state >> shift) & 7).unwrap_or_default()];
        phrase.push(format!("{}{}{}", syllable(40), syllable(44), syllable(48)));
    }
    phrase.join(" ")
}
