//! Finds files whose path names another entity, room, wing or genus than their content. A
//! path that names nothing known is accepted as the user's choice. Finds names that Windows cannot
//! hold, too.

use std::collections::HashMap;

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{Code, DisplayWingRoom, RoomId, Slug, SlugError, ValuePath, quoted};

impl PalaceCheck<'_> {
    /// Reports files whose path contradicts their content, or that Windows cannot hold.
    pub(crate) fn check_file_paths(&self) -> Vec<CheckFinding> {
        let mut findings = self.check_misplaced_entities();
        findings.extend(self.check_misplaced_rooms());
        findings.extend(self.check_misplaced_drawers());
        findings.extend(self.check_reserved_names());
        findings
    }

    /// Reports files that git cannot check out on Windows. Rooms, wings and agents are not checked,
    /// because no slug is such a name.
    fn check_reserved_names(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let genera = graph.genus_definitions();
        let genera = genera.filter_map(|it| graph.file_of_genus_definition(&it.name));
        let files = self.files_with_free_names().chain(genera);
        files.filter_map(reserved_name_finding).collect()
    }

    /// Reports entities in the folder of another genus, or in a file named after another
    /// entity.
    fn check_misplaced_entities(&self) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let slugs = |text| Slug::from_text(text).map(|slug| (slug.to_string(), text));
        let genera: HashMap<_, _> = graph.genus_counts().filter_map(|(it, _)| slugs(it)).collect();
        let names: HashMap<_, _> = graph.iter().filter_map(|it| slugs(&it.name)).collect();
        let mut findings = Vec::new();
        for (file, entity) in graph.entities_with_files() {
            let parts: Vec<_> = file.trim_end_matches(".yaml").split('/').collect();
            let [_, folder, .., name] = parts.as_slice() else { continue };
            let genus = genera.get(*folder).filter(|it| **it != entity.genus);
            if let Some(other) = genus.filter(|_| !is_slug_of(folder, &entity.genus)) {
                findings.push(path_mismatch(file, "genus", "folder", other));
            }
            let named = names.get(*name).filter(|it| **it != entity.name);
            if let Some(other) = named.filter(|_| !is_slug_of(name, &entity.name)) {
                findings.push(path_mismatch(file, "name", "file", other));
            }
        }
        findings
    }

    /// Reports rooms in a file named after another room of the wing.
    fn check_misplaced_rooms(&self) -> Vec<CheckFinding> {
        let rooms = self.palace.rooms().filter_map(|(id, room)| {
            let id = RoomId { slug: Slug::from_text(&room.name)?, ..id.clone() };
            Some((id, room.name.as_str()))
        });
        let names: HashMap<_, _> = rooms.collect();
        let renamed =
            self.palace.rooms().filter(|(id, it)| !is_slug_of(id.slug.as_str(), &it.name));
        let renamed = renamed.filter_map(|(id, _)| Some((id, names.get(id)?)));
        renamed
            .map(|(id, other)| path_mismatch(&(self.room_file)(id), "name", "file", other))
            .collect()
    }

    /// Reports drawers in the folder of another wing or room.
    fn check_misplaced_drawers(&self) -> Vec<CheckFinding> {
        let drawers = &self.palace.drawers;
        let mut findings = Vec::new();
        for room in drawers.rooms() {
            let folders = room.wing.as_ref().and_then(|it| drawers.wing_name(it));
            let Some((wing, name)) = folders.zip(drawers.room_name(room)) else { continue };
            let filed = drawers.drawers_in_room(room);
            let is_note = |file: &str| self.palace.settings.note_folders.contains(file);
            for (file, _) in filed.filter(|(file, _)| !is_note(file)) {
                let Some(DisplayWingRoom { wing: its_wing, room: its_room }) =
                    drawers.wing_room_of_file(file)
                else {
                    continue;
                };
                if its_wing != wing {
                    findings.push(path_mismatch(file, "wing", "folder", wing));
                } else if its_room != name {
                    findings.push(path_mismatch(file, "room", "folder", name));
                } else {
                    let names = [("wing", its_wing), ("room", its_room)];
                    findings.extend(check_drawer_folder_names(file, room, &names));
                }
            }
        }
        findings
    }
}

/// Reports a drawer whose folders match neither its wing nor its room: moving its file does
/// not move a drawer whose front matter names its wing and room.
fn check_drawer_folder_names(
    file: &str,
    room: &RoomId,
    names: &[(&str, String); 2],
) -> Option<CheckFinding> {
    let folders = [room.wing.as_ref()?, &room.slug];
    let ((key, value), folder) = names.iter().zip(folders).find(|((_, value), folder)| {
        Slug::from_text(value).is_some_and(|it| !folder.as_str().starts_with(it.as_str()))
    })?;
    let message = format!(
        "the folder is named {}, but the {key} of this drawer is {}",
        quoted(folder.as_str()),
        quoted(value)
    );
    let finding =
        CheckFinding::new(Code::PathMismatch, file, ValuePath::ROOT.then_value(key), message);
    Some(finding.with_hint(format!(
        "the front matter decides: to move the drawer, change its `{key}`, or remove that key"
    )))
}

/// Returns true if `slug` is the slug of `text`.
fn is_slug_of(slug: &str, text: &str) -> bool {
    Slug::from_text(text).is_some_and(|it| it.as_str() == slug)
}

fn path_mismatch(file: &str, key: &str, what: &str, other: &str) -> CheckFinding {
    let message = format!("the {what} is named after {}", quoted(other));
    CheckFinding::new(Code::PathMismatch, file, ValuePath::ROOT.then_value(key), message)
}

fn reserved_name_finding(file: &str) -> Option<CheckFinding> {
    let (name, why) = file.split('/').find_map(|name| Some((name, reason_to_refuse(name)?)))?;
    let message = format!("Windows cannot hold {}: {why}", quoted(name));
    let finding = CheckFinding::new(Code::ReservedName, file, ValuePath::ROOT, message);
    let what = if file.ends_with(&format!("/{name}")) { "file" } else { "folder" };
    Some(finding.with_hint(format!("rename the {what}")))
}

/// Returns why Windows cannot hold a file or folder of this name; `None`: it can.
fn reason_to_refuse(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match () {
        () if name.contains(['<', '>', ':', '"', '|', '?', '*']) => {
            Some("names there contain none of < > : \" | ? *")
        }
        () if name.ends_with([' ', '.']) => Some("names there do not end with a space or a dot"),
        () if matches!(stem.parse::<Slug>(), Err(SlugError::Reserved { .. })) => {
            Some("it is the name of a device there")
        }
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn an_entity_in_the_folder_of_another_genus_is_reported() {
        let found = findings_of(&[
            ("entities/lead/amber.yaml", "name: Amber\ngenus: Lead\n"),
            ("entities/lead/stasis.yaml", "name: Stasis\ngenus: Claim\n"),
        ]);
        assert_snapshot!(
            found,
            @"entities/lead/stasis.yaml genus: path-mismatch: the folder is named after `Lead`"
        );
    }

    #[test]
    fn an_entity_in_a_file_named_after_another_entity_is_reported() {
        let found = findings_of(&[
            ("entities/claim/stasis.yaml", "name: Actualism\ngenus: Claim\n"),
            ("entities/claim/stasis-2.yaml", "name: Stasis\ngenus: Claim\n"),
        ]);
        assert_snapshot!(
            found,
            @"entities/claim/stasis.yaml name: path-mismatch: the file is named after `Stasis`"
        );
    }

    #[test]
    fn a_path_that_names_nothing_known_is_accepted() {
        let found = findings_of(&[
            ("entities/old/a/b/notes.yaml", "name: Stasis\ngenus: Claim\n"),
            ("entities/top.yaml", "name: Größe\ngenus: Claim\n"),
            ("rooms/hall.yaml", "name: The Great Hall\ndescription: Stone.\n"),
        ]);
        assert_eq!(found, "");
    }

    #[test]
    fn a_room_named_after_another_room_of_its_wing_is_reported() {
        let attic = "name: Hall\ndescription: Dust.\nportals: [hall, west/loft]\n";
        let found = findings_of(&[
            ("rooms/attic.yaml", attic),
            ("rooms/hall.yaml", "name: Great Hall\ndescription: Stone.\n"),
            ("rooms/loft.yaml", "name: Loft\ndescription: Beams.\nportals: [hall]\n"),
            ("rooms/west/loft.yaml", "name: Attic\ndescription: Beams.\n"),
        ]);
        assert_snapshot!(
            found,
            @"rooms/hall.yaml name: path-mismatch: the file is named after `Hall`"
        );
    }

    #[test]
    fn a_drawer_of_another_wing_than_the_rest_of_its_folder_is_reported() {
        let drawer = |wing: &str, room: &str| {
            format!("---\nwing: {wing}\nroom: {room}\nfiled: 2026-03-01\n---\n\nWords.\n")
        };
        let found = findings_of(&[
            ("drawers/code/hall/a.md", &drawer("Code", "Hall")),
            ("drawers/code/hall/b.md", &drawer("Code", "Hall")),
            ("drawers/code/hall/c.md", &drawer("Prose", "Hall")),
            ("drawers/code/hall/d.md", &drawer("Code", "Attic")),
        ]);
        assert_snapshot!(found, @"
        drawers/code/hall/d.md room: path-mismatch: the folder is named after `Hall`
        drawers/code/hall/c.md wing: path-mismatch: the folder is named after `Code`
        ");
    }

    #[test]
    fn a_drawer_that_was_moved_by_hand_keeps_the_wing_of_its_front_matter() {
        let text = "---\nwing: Prose\nroom: Hall\nfiled: 2026-03-01\n---\n\nWords.\n";
        assert_snapshot!(
            findings_of(&[("drawers/code/hall/a.md", text)]),
            @"drawers/code/hall/a.md wing: path-mismatch: the folder is named `code`, but the wing of this drawer is `Prose` (the front matter decides: to move the drawer, change its `wing`, or remove that key)"
        );
        assert_eq!(findings_of(&[("drawers/prose-2/hall/a.md", text)]), "");
    }

    #[test]
    fn names_that_windows_cannot_hold_are_reported() {
        let found = findings_of(&[
            ("entities/con/granite.yaml", "name: Granite\ngenus: con\n"),
            ("entities/con./gneiss.yaml", "name: Gneiss\ngenus: con\n"),
            ("genera/NUL.x.yaml", "name: con\n"),
            ("tasks/what?.yaml", "title: What\n"),
            ("tasks/console.yaml", "title: Console\n"),
        ]);
        assert_snapshot!(found, @r#"
        entities/con./gneiss.yaml: reserved-name: Windows cannot hold `con.`: names there do not end with a space or a dot (rename the folder)
        entities/con/granite.yaml: reserved-name: Windows cannot hold `con`: it is the name of a device there (rename the folder)
        tasks/what?.yaml: reserved-name: Windows cannot hold `what?.yaml`: names there contain none of < > : " | ? * (rename the file)
        genera/NUL.x.yaml: reserved-name: Windows cannot hold `NUL.x.yaml`: it is the name of a device there (rename the file)
        "#);
    }
}
