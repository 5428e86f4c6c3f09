//! What clients are told before anything else; they cut it at 2 KB.

use crate::mcp::{ToolSet, Toolbox};

const PALACE: &str = "\
Palazzo is a memory palace: what you learn here stays for the next conversation. It is a place \
of rooms with vivid descriptions, numbered actions, scrolls left by whoever was here before, and \
doors; below it lies a knowledge graph of entities.\n\
Begin every conversation with set_workspace; it shows the entry room. Then walk by number with \
palace_action: 1-12 are the room's actions, 0 the map, 15 back, 16 go to a room by name, 17 \
search all but entities. Read the scrolls: they say where your predecessor stopped.\n\
Build with build_room wherever a subject deserves a place; leave what you find as scrolls with \
write_scroll, and a summary in the entry room before the conversation ends.";

const GRAPH: &str = "\
Put facts about things into the graph with create_entities and update_entity, find them with \
search_entities.";

const MEMORY: &str = "\
Palazzo remembers for you: a knowledge graph of entities, what was observed of them, and how they \
are related, that stays for the next conversation. Search it with search_nodes before you answer \
from memory; put what you learn into it with create_entities, add_observations and \
create_relations.";

const MEMPALACE: &str = "\
Palazzo keeps what was said word for word, in drawers filed by wing (a person, a project) and room (a \
topic), facts with their time, and a diary for each agent. Begin every conversation with \
mempalace_status; before you answer about anything that was, look it up with mempalace_search or \
mempalace_kg_query; before you leave, write into your diary with mempalace_diary_write.";

const CLOSING: &str = "\
Everything lies in readable files, and every change is a commit in git: nothing you do here is \
beyond repair.";

impl Toolbox {
    /// Says what the tools offered are for and how to begin.
    pub fn instructions(&self) -> String {
        let parts = [
            (ToolSet::Palace, PALACE),
            (ToolSet::Graph, GRAPH),
            (ToolSet::Memory, MEMORY),
            (ToolSet::Mempalace, MEMPALACE),
        ];
        let mut told = String::new();
        for (_, part) in parts.into_iter().filter(|(set, _)| self.offers(*set)) {
            told.push_str(part);
            // What is said of the graph goes on where the palace stopped.
            told.push_str(if part == PALACE && self.offers(ToolSet::Graph) { " " } else { "\n" });
        }
        told + CLOSING
    }
}
