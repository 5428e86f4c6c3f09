//! Descriptions of symbols.

use crate::editor::EditorPalace;
use crate::editor::symbol::Symbol;
use palazzo_core::model::{ActionKind, RoomId, quoted};
use palazzo_core::render;

/// The maximum number of characters of a shown description, and of a shown observation.
const MAX_DESCRIPTION_CHARS: usize = 600;
const MAX_OBSERVATION_CHARS: usize = 160;
/// The maximum number of shown actions, observations and relations.
const MAX_LINES: usize = 8;

impl EditorPalace {
    /// Describes a symbol, as Markdown.
    pub fn describe(&self, symbol: &Symbol) -> String {
        match symbol {
            Symbol::Room(id) => self.describe_room(id),
            Symbol::Entity(name) => self.describe_entity(name),
            Symbol::Genus(name) => self.describe_genus(name),
            Symbol::RelationType(kind) => self.describe_relation_type(kind),
            Symbol::Tool(name) => self.describe_tool(name),
        }
    }

    fn describe_room(&self, id: &RoomId) -> String {
        let palace = &self.open.palace;
        let Some(room) = palace.room(id) else {
            return format!("`{id}`: this room is not built yet");
        };
        let mut page = format!("**{}** (`{id}`)\n", render::one_line(&room.name));
        if !room.description.is_empty() {
            let description = render::truncate(&room.description, MAX_DESCRIPTION_CHARS);
            page.push_str(&format!("\n{}\n", render::text_in_page(&description)));
        }
        let labels = room.actions.iter().map(|it| {
            let label = render::one_line(&it.label);
            match &it.kind {
                ActionKind::Navigate(target) => format!("{label} → `{}`", target.room),
                _ => label,
            }
        });
        page.push_str(&list("", labels, room.actions.len()));
        let doors = palace.rooms_linking_to(id).count();
        let scrolls = palace.scrolls_in_room(id).count();
        let counts = [(doors, "room"), (scrolls, "scroll")];
        let [doors, scrolls] = counts.map(|(count, noun)| render::count_with_noun(count, noun));
        page + &format!("\n{doors} lead here, {scrolls}\n")
    }

    fn describe_entity(&self, name: &str) -> String {
        let graph = &self.open.palace.graph;
        let Some(entity) = graph.get(name) else {
            return format!("There is no entity {} yet", quoted(name));
        };
        let mut page =
            format!("**{}** · {}", render::one_line(name), render::one_line(&entity.genus));
        if let Some(status) = &entity.status {
            page.push_str(&format!(" · {}", render::one_line(status)));
        }
        page.push('\n');
        let observations = entity
            .observations
            .iter()
            .map(|it| render::whole_line(&render::truncate(it, MAX_OBSERVATION_CHARS)));
        page.push_str(&list("", observations, entity.observations.len()));
        let incoming = graph.incoming_relations(name).count();
        let counts = [(entity.relations.len(), "relation"), (incoming, "relation")];
        let [out, into] = counts.map(|(count, noun)| render::count_with_noun(count, noun));
        page + &format!("\n{out} from here, {into} to here\n")
    }

    fn describe_genus(&self, name: &str) -> String {
        let graph = &self.open.palace.graph;
        let count = render::count_with_noun(graph.count_in_genus(name), "entity");
        let mut page = format!("**{}**: {count}\n", render::one_line(name));
        if let Some(genus) = graph.genus_definition(name) {
            if let Some(description) = &genus.description {
                page.push_str(&format!("\n{}\n", render::text_in_page(description)));
            }
            let statuses = genus.statuses.iter().map(|it| render::one_line(&it.name));
            page.push_str(&list("Statuses", statuses, genus.statuses.len()));
        }
        page
    }

    fn describe_relation_type(&self, kind: &str) -> String {
        let count = self.names().relation_types.get(kind).copied().unwrap_or_default();
        format!("{}: {}\n", quoted(kind), render::count_with_noun(count, "relation"))
    }

    fn describe_tool(&self, name: &str) -> String {
        let Some(tool) = self.tools.iter().find(|it| it.name == name) else {
            return format!("There is no tool {}", quoted(name));
        };
        let parameters = tool.parameters.iter().map(|it| {
            let required = if it.is_required { " (required)" } else { "" };
            format!("`{}`{required}", it.name)
        });
        format!("**{name}**\n{}", list("Parameters", parameters, tool.parameters.len()))
    }
}

/// Renders a list with at most [`MAX_LINES`] of `count` lines.
fn list(title: &str, lines: impl Iterator<Item = String>, count: usize) -> String {
    if count == 0 {
        return String::new();
    }
    let title = if title.is_empty() { String::new() } else { format!("\n{title}\n") };
    let lines = lines.take(MAX_LINES).map(|it| format!("- {it}\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let more = match count.saturating_sub(MAX_LINES) {
        0 => String::new(),
        more => format!("- and {more} more\n"),
    };
    format!("{title}\n{lines}{more}")
}
