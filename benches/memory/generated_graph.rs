//! A generated graph. It is the same in every run.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::entity_json;

/// A graph with `size` entities. Each has five observations and two relations.
pub(crate) struct GeneratedGraph {
    pub(crate) size: usize,
}

impl GeneratedGraph {
    /// Renders the graph in the file format of the reference memory server.
    pub(crate) fn to_jsonl(&self) -> String {
        let mut file = String::new();
        for number in 0..self.size {
            let mut line = entity_json(
                &entity_name(number),
                entity_type(number),
                &generate_observations(number),
            );
            line["type"] = "entity".into();
            writeln!(file, "{line}").expect("writing to a string cannot fail");
        }
        for number in 0..self.size {
            for (to, relation) in [(number + 1, "follows"), (number / 50, "belongs_to")] {
                let (from, to) = (entity_name(number), entity_name(to % self.size));
                let line =
                    json!({ "type": "relation", "from": from, "to": to, "relationType": relation });
                writeln!(file, "{line}").expect("writing to a string cannot fail");
            }
        }
        file.trim_end().to_owned()
    }

    /// Returns the arguments of a tool call. Every written text is new.
    pub(crate) fn tool_arguments(&self, tool: &str, round: usize) -> Value {
        let entity = entity_name(round * 7919 % self.size);
        match tool {
            "create_entities" => {
                let name = format!("Newcomer {round}");
                let observations = generate_observations(round);
                json!({ "entities": [entity_json(&name, "visitor", &observations)] })
            }
            "add_observations" => {
                let observation = format!("was seen in round {round}");
                json!({ "observations": [{ "entityName": entity, "contents": [observation] }] })
            }
            "search_nodes" => json!({ "query": format!("{entity}.") }),
            _ => json!({ "names": [entity, entity_name(round * 31 % self.size)] }),
        }
    }
}

fn entity_name(number: usize) -> String {
    format!("{} {number}", generate_phrase(number, 2))
}

fn entity_type(number: usize) -> &'static str {
    ["person", "place", "event", "idea", "thing"][number % 5]
}

fn generate_observations(number: usize) -> Vec<String> {
    let sentences = (1..5).map(|it| format!("{}.", generate_phrase(number * 5 + it, 12)));
    std::iter::once(format!("Goes by the name of {}.", entity_name(number)))
        .chain(sentences)
        .collect()
}

fn generate_phrase(number: usize, words: usize) -> String {
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
