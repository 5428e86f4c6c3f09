//! Checks scrolls: whether their rooms, and the scrolls that they replace, exist.

use std::collections::BTreeMap;

use crate::check::palace_check::{CheckFinding, FindingSubject, PalaceCheck};
use crate::model::{Code, ScrollId, ValuePath, quoted};

impl PalaceCheck<'_> {
    /// Reports each missing room that has scrolls, at its first scroll.
    pub(crate) fn check_scrolls_in_missing_rooms(&self) -> impl Iterator<Item = CheckFinding> {
        let mut lost = BTreeMap::new();
        for (file, scroll) in self.palace.scroll_files() {
            if self.palace.room(&scroll.room).is_none() {
                lost.entry(&scroll.room).or_insert((file, 0)).1 += 1;
            }
        }
        let lost = lost.into_iter().filter(|_| !self.has_unreadable_files("rooms/"));
        lost.map(|(room, (file, count))| {
            let message = match count {
                1 => format!("the room `{room}` of this scroll does not exist"),
                _ => format!("the room `{room}` of {count} scrolls does not exist"),
            };
            let finding = CheckFinding::new(Code::LostScroll, file, ValuePath::ROOT, message);
            let finding = finding.with_subject(FindingSubject::MissingRoom(room.clone()));
            finding.with_hint("build the room, or move the scrolls into the folder of another room")
        })
    }

    /// Reports scrolls that replace one that does not exist, or that replaces them.
    pub(crate) fn check_replaced_scrolls(&self) -> Vec<CheckFinding> {
        let replacing = self.palace.scrolls().filter(|(_, it)| !it.replaces.is_empty());
        let replacing: Vec<_> = replacing.collect();
        if replacing.is_empty() {
            return Vec::new();
        }
        let known: BTreeMap<_, _> =
            self.palace.scrolls().map(|(room, it)| (it.id, (room, it))).collect();
        let mut findings = Vec::new();
        for (room, scroll) in replacing {
            let which = ScrollId { room: room.clone(), id: scroll.id };
            let Some(file) = self.palace.file_of_scroll(&which) else { continue };
            for (index, id) in scroll.replaces.iter().enumerate() {
                let message = match known.get(id) {
                    None => format!("no scroll has the id `{id}`"),
                    Some((_, it)) if it.id == scroll.id => "the scroll replaces itself".to_owned(),
                    Some((_, it)) if it.replaces.contains(&scroll.id) => {
                        format!("the scroll {} replaces this one, too", quoted(&it.title))
                    }
                    Some((other, it)) if !self.palace.is_same_room(other, room) => {
                        format!("the scroll {} is in another room", quoted(&it.title))
                    }
                    Some((_, it)) if it.written > scroll.written => {
                        format!("the scroll {} was written later", quoted(&it.title))
                    }
                    Some(_) => continue,
                };
                let place = ValuePath::ROOT.then_value("replaces").then_item(index);
                let finding = CheckFinding::new(Code::UnknownScroll, file, place, message);
                findings.push(finding.with_hint("remove the id, or correct it"));
            }
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn scrolls_in_a_missing_room_are_reported_once_with_their_number() {
        let found = findings_of(&[
            ("scrolls/atlantis/01KJMPXF9069S44V81ASY1KY37-a.md", "---\ntitle: A\n---\n"),
            ("scrolls/atlantis/01KJMPXF9069S44V81ASY1KY38-b.md", "---\ntitle: B\n---\n"),
            ("scrolls/lemuria/01KJMPXF9069S44V81ASY1KY39-c.md", "---\ntitle: C\n---\n"),
        ]);
        assert_snapshot!(found, @"
        scrolls/atlantis/01KJMPXF9069S44V81ASY1KY37-a.md: lost-scroll: the room `atlantis` of 2 scrolls does not exist (build the room, or move the scrolls into the folder of another room)
        scrolls/lemuria/01KJMPXF9069S44V81ASY1KY39-c.md: lost-scroll: the room `lemuria` of this scroll does not exist (build the room, or move the scrolls into the folder of another room)
        ");
    }

    #[test]
    fn a_scroll_is_not_lost_while_a_room_file_is_unreadable() {
        let found = findings_of(&[
            ("rooms/atlantis.yaml", "name: [Atlantis\n"),
            ("scrolls/atlantis/01KJMPXF9069S44V81ASY1KY37-a.md", "---\ntitle: A\n---\n"),
        ]);
        assert_eq!(found, "");
    }
}
