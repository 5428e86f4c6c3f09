//! Checks the links to entities in rooms and scrolls.

use std::collections::HashSet;

use crate::check::graph::MAX_SUGGESTIONS;
use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{ActionKind, Code, EntityLink, Room, ValuePath, entity_links, quoted};

/// Maximum number of links that are reported in one text: finding the position of each costs time
/// in proportion to the text.
const MAX_FINDINGS_PER_TEXT: usize = 50;
/// The maximum number of characters of a name in a message.
const MAX_LINK_NAME_CHARS: usize = 120;

impl PalaceCheck<'_> {
    /// Reports links to entities that do not exist.
    pub(crate) fn check_entity_links(&self) -> Vec<CheckFinding> {
        let (mut findings, mut compared) = (Vec::new(), 0);
        for (id, room) in self.palace.rooms() {
            findings.extend(self.check_room_entity_links(
                room,
                &(self.room_file)(id),
                &mut compared,
            ));
        }
        for (file, id) in self.palace.scroll_files() {
            let Some(scroll) = self.palace.scroll(id) else { continue };
            let text = (ValuePath::ROOT, scroll.body.as_str());
            findings.extend(self.check_text_links(file, text, &mut compared));
        }
        findings
    }

    /// Checks the links in the texts of one room; `compared` counts the names that were compared
    /// with those of all entities.
    pub(crate) fn check_room_entity_links(
        &self,
        room: &Room,
        file: &str,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let description = (ValuePath::ROOT.then_value("description"), room.description.as_str());
        let contents = room.actions.iter().enumerate().filter_map(|(index, action)| {
            let ActionKind::Text { content } = &action.kind else { return None };
            let action = ValuePath::ROOT.then_value("actions").then_item(index);
            Some((action.then_value("content"), content.as_str()))
        });
        let texts = std::iter::once(description).chain(contents);
        texts.flat_map(|it| self.check_text_links(file, it, compared)).collect()
    }

    /// Reports each name in the links of a text that no entity has or had, up to
    /// [`MAX_FINDINGS_PER_TEXT`].
    pub(crate) fn check_text_links(
        &self,
        file: &str,
        (place, text): (ValuePath, &str),
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        // An unreadable file may define the entity.
        if self.has_unreadable_files("entities/") {
            return Vec::new();
        }
        let mut seen = HashSet::new();
        let links = entity_links(text).into_iter().filter(|it| seen.insert(it.name));
        let unresolved = links.filter(|it| self.palace.graph.find_entity(it.name).is_none());
        let mut finding = |link: EntityLink<'_>| {
            let about = place.clone().then_text(&text[link.range.clone()]);
            self.unresolved_link_finding(file, about, link.name, compared)
        };
        unresolved.take(MAX_FINDINGS_PER_TEXT).map(&mut finding).collect()
    }

    fn unresolved_link_finding(
        &self,
        file: &str,
        about: ValuePath,
        name: &str,
        compared: &mut usize,
    ) -> CheckFinding {
        let graph = &self.palace.graph;
        let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = shorten_name(&words);
        let message = format!("the link {} names no entity", quoted(&format!("[[{words}]]")));
        let finding = CheckFinding::new(Code::UnresolvedLink, file, about, message);
        let former: Vec<_> = graph.entities_formerly_named(name).map(|it| &it.name).collect();
        if let [first, second, ..] = former.as_slice() {
            let [first, second] = [first, second].map(|it| quoted(it));
            return finding.with_hint(format!("{first} and {second} had this name before"));
        }
        *compared += 1;
        let meant = (*compared <= MAX_SUGGESTIONS).then(|| graph.closest_name(name));
        finding.with_suggestion(meant.flatten())
    }
}

/// Returns a name as a message shows it.
fn shorten_name(name: &str) -> String {
    match name.char_indices().nth(MAX_LINK_NAME_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    const CUVIER: (&str, &str) =
        ("entities/person/cuvier.yaml", "name: Cuvier\ngenus: Person\nformer_names: [Baron]\n");

    #[test]
    fn a_link_to_no_entity_is_reported_once_per_text_with_the_most_similar_name() {
        let hall = "name: Hall\ndescription: '[[Cuvir]], [[cuvier|he]], [[Baron]], [[Cuvir]]'\nactions:\n\
                    - { label: Read, type: text, content: 'See [[Cuvir]], `[[Code]]`.' }\n";
        let scroll = "---\ntitle: '[[Title]]'\nwritten: 2026-01-01\n---\n\n[[Nobody\nknown]]\n";
        let files = [
            CUVIER,
            ("rooms/hall.yaml", hall),
            ("scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8.md", scroll),
        ];
        assert_snapshot!(findings_of(&files), @"
        rooms/hall.yaml description [[Cuvir]]: unresolved-link: the link `[[Cuvir]]` names no entity (did you mean `Cuvier`?)
        rooms/hall.yaml actions 0 content [[Cuvir]]: unresolved-link: the link `[[Cuvir]]` names no entity (did you mean `Cuvier`?)
        scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8.md [[Nobody
        known]]: unresolved-link: the link `[[Nobody known]]` names no entity
        ");
    }

    #[test]
    fn a_former_name_of_two_entities_is_reported_with_both() {
        let other =
            ("entities/person/eve.yaml", "name: Eve\ngenus: Person\nformer_names: [baron]\n");
        let hall = "name: Hall\ndescription: 'The [[Baron]].'\n";
        assert_snapshot!(findings_of(&[CUVIER, other, ("rooms/hall.yaml", hall)]), @"rooms/hall.yaml description [[Baron]]: unresolved-link: the link `[[Baron]]` names no entity (`Cuvier` and `Eve` had this name before)");
    }

    #[test]
    fn the_unresolved_links_of_a_text_are_reported_up_to_a_limit() {
        let links: Vec<_> = (0..60).map(|it| format!("[[Nobody {it}]]")).collect();
        let hall = format!("name: Hall\ndescription: '{}'\n", links.join(" "));
        let found = findings_of(&[("rooms/hall.yaml", &hall)]);
        assert_eq!(found.lines().filter(|it| it.contains("unresolved-link")).count(), 50);
    }
}
