//! Lists the annotations that an editor shows in a file: how many references lead to its item, the
//! names of what it mentions, and links.

use crate::editor::EditorPalace;
use crate::editor::symbol::Symbol;
use palazzo_core::model::Position;
use palazzo_core::render;

/// The maximum number of names and of links that are shown in one file.
const MAX_PER_FILE: usize = 1_000;

impl EditorPalace {
    /// Counts what leads to the item in a file, and what is in it; `None` if it is no room and no
    /// entity.
    pub fn counts_of_file(&self, path: &str) -> Option<String> {
        let palace = &self.open.palace;
        match self.symbol_in_file(path)? {
            Symbol::Room(id) => {
                let doors = palace.rooms_linking_to(&id).count();
                let scrolls = palace.scrolls_in_room(&id).count();
                let doors = render::count_with_noun(doors, "door");
                let verb = if doors.starts_with("1 ") { "leads" } else { "lead" };
                let scrolls = render::count_with_noun(scrolls, "scroll");
                Some(format!("{doors} {verb} here · {scrolls}"))
            }
            Symbol::Entity(name) => {
                let incoming = palace.graph.incoming_relations(&name).count();
                let incoming = render::count_with_noun(incoming, "relation");
                let verb = if incoming.starts_with("1 ") { "leads" } else { "lead" };
                Some(format!("{incoming} {verb} here"))
            }
            _ => None,
        }
    }

    /// Lists the display names of the rooms and the genera of the entities that a file mentions, each
    /// with the end of the mention.
    pub fn name_hints(&self, path: &str) -> Vec<(Position, String)> {
        let palace = &self.open.palace;
        let mentions = self.mentions(path).into_iter().filter(|it| !it.is_own_name);
        let hints = mentions.filter_map(|it| {
            let hint = match &it.symbol {
                Symbol::Room(id) => palace.room(id)?.name.clone(),
                Symbol::Entity(name) => palace.graph.get(name)?.genus.clone(),
                _ => return None,
            };
            Some((it.end, render::whole_line(&hint)))
        });
        hints.take(MAX_PER_FILE).collect()
    }

    /// Lists the mentions in a file whose symbols have files, with the paths of these files.
    pub fn file_links(&self, path: &str) -> Vec<([Position; 2], String)> {
        let mentions = self.mentions(path).into_iter().filter(|it| !it.is_own_name);
        let links = mentions.filter_map(|it| Some(([it.start, it.end], self.file_of(&it.symbol)?)));
        links.take(MAX_PER_FILE).collect()
    }
}
