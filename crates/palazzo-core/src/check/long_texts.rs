//! Finds names and texts that are too long to be shown whole.

use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{
    ActionKind, Code, Entity, MAX_ANSWER_CHARS, MAX_SHOWN_NAME_CHARS, Room, ValuePath,
};

/// A name or a text of a file, with the number of its characters that are shown.
struct LimitedText<'a> {
    text: &'a str,
    about: ValuePath,
    limit: usize,
}

impl PalaceCheck<'_> {
    /// Reports names of more than 200 characters, and texts of more than 24,000. The texts of
    /// drawers and diaries are kept word for word and not reported.
    pub(crate) fn check_texts_not_shown_whole(&self) -> Vec<CheckFinding> {
        let palace = self.palace;
        let settings = [limited_name(&palace.settings.name, path_of_key("name"))];
        let mut findings = long_text_findings("palace.toml", settings);
        for (id, room) in palace.rooms() {
            findings.extend(long_text_findings(&(self.room_file)(id), texts_of_room(room)));
        }
        for (file, id) in palace.scroll_files() {
            let Some(scroll) = palace.scroll(id) else { continue };
            let texts = [
                limited_name(&scroll.title, path_of_key("title")),
                limited_text(&scroll.body, ValuePath::ROOT),
            ];
            findings.extend(long_text_findings(file, texts));
        }
        for (file, entity) in palace.graph.entities_with_files() {
            findings.extend(long_text_findings(file, texts_of_entity(entity)));
        }
        for genus in palace.graph.genus_definitions() {
            let Some(file) = palace.graph.file_of_genus_definition(&genus.name) else { continue };
            let statuses = genus.statuses.iter();
            let statuses = statuses
                .map(|it| limited_name(&it.name, path_of_key("statuses").then_key(&it.name)));
            let texts = statuses.chain([limited_name(&genus.name, path_of_key("name"))]);
            findings.extend(long_text_findings(file, texts));
        }
        for (file, task) in &palace.tasks {
            let note = task.note.iter().map(|it| limited_text(it, path_of_key("note")));
            let texts = note.chain([limited_name(&task.title, path_of_key("title"))]);
            findings.extend(long_text_findings(file, texts));
        }
        for (file, process) in &palace.processes {
            let steps = process.steps.iter().enumerate();
            let steps =
                steps.map(|(at, it)| limited_name(&it.text, path_of_key("steps").then_item(at)));
            let texts = steps.chain([limited_name(&process.name, path_of_key("name"))]);
            findings.extend(long_text_findings(file, texts));
        }
        findings
    }
}

fn path_of_key(key: &str) -> ValuePath {
    ValuePath::ROOT.then_value(key)
}

fn limited_name(text: &str, about: ValuePath) -> LimitedText<'_> {
    LimitedText { text, about, limit: MAX_SHOWN_NAME_CHARS }
}

fn limited_text(text: &str, about: ValuePath) -> LimitedText<'_> {
    LimitedText { text, about, limit: MAX_ANSWER_CHARS }
}

fn texts_of_room(room: &Room) -> Vec<LimitedText<'_>> {
    let mut texts = vec![
        limited_name(&room.name, path_of_key("name")),
        limited_text(&room.description, path_of_key("description")),
    ];
    for (at, action) in room.actions.iter().enumerate() {
        let about = path_of_key("actions").then_item(at);
        texts.push(limited_name(&action.label, about.clone().then_value("label")));
        if let ActionKind::Text { content } = &action.kind {
            texts.push(limited_text(content, about.then_value("content")));
        }
    }
    texts
}

fn texts_of_entity(entity: &Entity) -> Vec<LimitedText<'_>> {
    let mut texts = vec![
        limited_name(&entity.name, path_of_key("name")),
        limited_name(&entity.genus, path_of_key("genus")),
    ];
    texts.extend(entity.status.iter().map(|it| limited_name(it, path_of_key("status"))));
    texts.extend(
        entity.attributes.keys().map(|it| limited_name(it, path_of_key("attributes").then_key(it))),
    );
    for (at, relation) in entity.relations.iter().enumerate() {
        let about = path_of_key("relations").then_item(at);
        texts.push(limited_name(&relation.kind, about.clone().then_value("type")));
        texts.push(limited_name(&relation.to, about.then_value("to")));
    }
    let observations = entity.observations.iter().enumerate();
    texts.extend(
        observations.map(|(at, it)| limited_text(it, path_of_key("observations").then_item(at))),
    );
    texts
}

fn long_text_findings<'a>(
    file: &str,
    texts: impl IntoIterator<Item = LimitedText<'a>>,
) -> Vec<CheckFinding> {
    let is_long = |it: &LimitedText<'_>| it.text.chars().nth(it.limit).is_some();
    let long = texts.into_iter().filter(is_long);
    long.map(|it| long_text_finding(file, &it)).collect()
}

fn long_text_finding(
    file: &str,
    LimitedText { text, about, limit }: &LimitedText<'_>,
) -> CheckFinding {
    let count = text.chars().count();
    let message = match *limit {
        MAX_SHOWN_NAME_CHARS => {
            format!("this name has {count} characters; {limit} of them are shown")
        }
        _ => format!("this text has {count} characters; an answer of a tool has {limit} at most"),
    };
    CheckFinding::new(Code::LongText, file, about.clone(), message)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    #[test]
    fn names_and_texts_that_are_shown_in_part_are_reported() {
        let (long, text) = ("n".repeat(201), "t ".repeat(12_001));
        let just = "n".repeat(200);
        let scroll = format!("---\ntitle: {long}\n---\n{text}x\n");
        let found = findings_of(&[
            (
                "rooms/hall.yaml",
                &format!(
                    "name: {long}\ndescription: {text}\nactions:\n- label: {just}\n  type: text\n  \
                     content: {text}\n"
                ),
            ),
            ("scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md", &scroll),
            ("entities/a.yaml", &format!("name: {long}\ngenus: {just}\nobservations: [{text}x]\n")),
            ("tasks/a.yaml", &format!("title: {long}\n")),
            ("processes/a.yaml", &format!("name: A\nsteps: [{long}]\n")),
        ]);
        assert_snapshot!(found, @"
        rooms/hall.yaml name: long-text: this name has 201 characters; 200 of them are shown
        rooms/hall.yaml description: long-text: this text has 24001 characters; an answer of a tool has 24000 at most
        rooms/hall.yaml actions 0 content: long-text: this text has 24001 characters; an answer of a tool has 24000 at most
        scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md title: long-text: this name has 201 characters; 200 of them are shown
        scrolls/hall/01KGSRV28ADXPQGT6T6QX25YS8-a.md: long-text: this text has 24004 characters; an answer of a tool has 24000 at most
        entities/a.yaml name: long-text: this name has 201 characters; 200 of them are shown
        entities/a.yaml observations 0: long-text: this text has 24003 characters; an answer of a tool has 24000 at most
        tasks/a.yaml title: long-text: this name has 201 characters; 200 of them are shown
        processes/a.yaml steps 0: long-text: this name has 201 characters; 200 of them are shown
        ");
    }
}
