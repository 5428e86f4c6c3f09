//! Turns the items of a palace into documents of the search index.

use std::borrow::Cow;
use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use palazzo_core::model::{
    Action, ActionKind, DiaryEntry, DocumentProperties, Drawer, Entity, FrontMatterWingRoom, Genus,
    ItemId, Palace, Process, Room, RoomId, RoomRef, Scroll, ScrollId, Task, WorkSubject,
};
use palazzo_core::search::{Document, Index};

/// The weights of words beside the text of an item, and in the names of related entities.
const METADATA_WEIGHT: f32 = 1.0;
const RELATED_NAME_WEIGHT: f32 = 0.5;

/// Builds the search index of a palace.
pub(crate) fn build_index(palace: &Palace) -> Index {
    Index::from_documents(all_documents(palace).collect())
}

/// Builds an index of a palace for one query alone.
pub(crate) fn build_index_for_query(palace: &Palace, query: &str) -> Index {
    Index::for_query(all_documents(palace).collect(), query)
}

/// Yields a document for every searchable item.
pub(crate) fn all_documents(palace: &Palace) -> impl Iterator<Item = Document<'_>> {
    let rooms = palace.rooms().map(|(id, room)| room_document(id, room));
    let scrolls = palace.scrolls().map(|(room, scroll)| scroll_document(room, scroll));
    let drawers = palace.drawers.iter().map(|(file, room, it)| drawer_document(room, file, it));
    let entries = palace.diaries.iter().filter_map(|(file, _)| diary_entry_document(palace, file));
    let tasks = palace.tasks.iter().map(|(file, it)| task_document(file, it));
    let processes = palace.processes.iter().map(|(file, it)| process_document(file, it));
    let genera = palace.graph.genus_definitions().map(genus_document);
    let entities = palace.graph.iter().map(entity_document);
    let written = rooms.chain(scrolls).chain(drawers).chain(entries);
    let known = genera.chain(entities);
    written.chain(tasks).chain(processes).chain(known)
}

/// Returns the document of an item.
pub(crate) fn item_document<'a>(palace: &'a Palace, item: &ItemId) -> Option<Document<'a>> {
    match item {
        ItemId::Room(id) => palace.room(id).map(|it| room_document(id, it)),
        ItemId::Scroll(which) => palace.scroll(which).map(|it| scroll_document(&which.room, it)),
        ItemId::Drawer(file) => {
            let room = palace.drawers.room_of_file(file)?;
            palace.drawers.drawer_in_file(file).map(|it| drawer_document(room, file, it))
        }
        ItemId::Diary(file) => diary_entry_document(palace, file),
        ItemId::Task(file) => palace.tasks.get(file).map(|it| task_document(file, it)),
        ItemId::Process(file) => palace.processes.get(file).map(|it| process_document(file, it)),
        ItemId::Genus(name) => palace.graph.genus_definition(name).map(genus_document),
        ItemId::Entity(name) => palace.graph.get(name).map(entity_document),
    }
}

/// A room is found by its name, its description, and the texts of its actions (v2 section 3.8).
fn room_document<'a>(id: &RoomId, room: &'a Room) -> Document<'a> {
    let labels: Vec<_> = room.actions.iter().map(|it| it.label.as_str()).collect();
    let mut text = format!("{}\n{}", room.description, labels.join("; "));
    for Action { kind: operation, .. } in &room.actions {
        if let ActionKind::Text { content } = operation {
            text = text + "\n" + content;
        }
    }
    Document {
        item: ItemId::Room(id.clone()),
        wing: id.wing.as_ref().map(|it| it.to_string().into()),
        room: Some(id.slug.to_string().into()),
        place_name: id.to_string().into(),
        facet: "".into(),
        written: None,
        title: (&room.name).into(),
        text: text.into(),
        weighted_fields: Vec::new(),
    }
}

/// A scroll is also found by the slug of its room, but not by the name of the room.
fn scroll_document<'a>(room: &RoomId, scroll: &'a Scroll) -> Document<'a> {
    Document {
        item: ItemId::Scroll(ScrollId { room: room.clone(), id: scroll.id }),
        wing: room.wing.as_ref().map(|it| it.to_string().into()),
        room: Some(room.slug.to_string().into()),
        place_name: room.to_string().into(),
        facet: "".into(),
        written: Some(scroll.written),
        title: (&scroll.title).into(),
        text: (&scroll.body).into(),
        weighted_fields: Vec::new(),
    }
}

/// A drawer is also found by the wing and the room that it names, and by the title and the tags that
/// its file or its document has.
fn drawer_document<'a>(room: &RoomId, file: &str, drawer: &'a Drawer) -> Document<'a> {
    let FrontMatterWingRoom { wing, room: name } = &drawer.filed_under;
    let [wing, name] = [wing, name].map(|it| it.as_deref().unwrap_or_default());
    let properties = DocumentProperties::parse(&drawer.text);
    let title = drawer.title.as_deref().or(properties.title()).unwrap_or_default().to_owned();
    let labels = drawer.labels.iter().map(String::as_str).chain(properties.tags_and_aliases());
    let labels = labels.map(|it| it.to_owned().into()).chain(drawer.source.iter().map(Into::into));
    Document {
        item: ItemId::Drawer(file.to_owned()),
        wing: room.wing.as_ref().map(|it| it.to_string().into()),
        room: Some(room.slug.to_string().into()),
        place_name: format!("{room} {wing} {name}").into(),
        facet: drawer_facet(room, &drawer.filed_under).into(),
        written: drawer.filed,
        title: title.into(),
        text: (&drawer.text).into(),
        weighted_fields: labels.map(|it| (METADATA_WEIGHT, it)).collect(),
    }
}

/// Returns the facet of a drawer: the wing and the room of its folder and of its front matter.
pub(crate) fn drawer_facet(room: &RoomId, said: &FrontMatterWingRoom) -> String {
    format!("{room} {:?} {:?}", said.wing, said.room)
}

/// A diary entry is found by its agent, and by its topic.
fn diary_entry_document<'a>(palace: &'a Palace, file: &str) -> Option<Document<'a>> {
    let entry = palace.diaries.entry_in_file(file)?;
    Some(Document {
        item: ItemId::Diary(file.to_owned()),
        wing: None,
        room: None,
        place_name: palace.diaries.agent_of_file(file)?.into(),
        facet: "".into(),
        written: entry.written,
        title: if entry.topic == DiaryEntry::DEFAULT_TOPIC { "" } else { &entry.topic }.into(),
        text: (&entry.text).into(),
        weighted_fields: Vec::new(),
    })
}

fn task_document<'a>(file: &str, task: &'a Task) -> Document<'a> {
    let text = task.note.as_deref().unwrap_or_default();
    let who = task.who.as_deref().map(|it| (METADATA_WEIGHT, it.into()));
    let mut document = work_document(ItemId::Task(file.to_owned()), &task.subject, task.created);
    document.weighted_fields.extend(who);
    Document { title: (&task.title).into(), text: text.into(), ..document }
}

fn process_document<'a>(file: &str, process: &'a Process) -> Document<'a> {
    let stages = process.steps.iter();
    let said = stages.flat_map(|it| [Some(it.text.as_str()), it.note.as_deref()]).flatten();
    let text = said.collect::<Vec<_>>().join("\n");
    let document =
        work_document(ItemId::Process(file.to_owned()), &process.subject, process.started);
    Document { title: (&process.name).into(), text: text.into(), ..document }
}

/// Tasks and processes belong to no room; they are found by their subject.
fn work_document(item: ItemId, about: &WorkSubject, begun: Option<DateTime<Utc>>) -> Document<'_> {
    let place = about.room.as_ref().map(RoomRef::to_string).unwrap_or_default();
    Document {
        item,
        wing: None,
        room: None,
        place_name: place.into(),
        facet: "".into(),
        written: begun,
        title: "".into(),
        text: "".into(),
        weighted_fields: about.entity.iter().map(|it| (METADATA_WEIGHT, it.into())).collect(),
    }
}

/// A genus is found by its names.
fn genus_document(genus: &Genus) -> Document<'_> {
    let attributes = genus.attributes.iter().map(|(name, _)| name);
    let statuses = genus.statuses.iter().map(|it| &it.name);
    let relations = genus.relations.iter().map(|(name, _)| name);
    let said = genus.plural.iter().chain(attributes).chain(statuses).chain(relations);
    Document {
        item: ItemId::Genus(genus.name.clone()),
        wing: None,
        room: None,
        place_name: "".into(),
        facet: "".into(),
        written: None,
        title: (&genus.name).into(),
        text: genus.description.as_deref().unwrap_or_default().into(),
        weighted_fields: said.map(|it| (METADATA_WEIGHT, it.into())).collect(),
    }
}

/// An entity is also found by its former names, by the keys and values of its attributes, and by the types and
/// targets of its relations.
fn entity_document(entity: &Entity) -> Document<'_> {
    let said = [entity.genus.as_str()].into_iter().chain(entity.status.as_deref());
    let said = said.chain(entity.former_names.iter().map(String::as_str));
    let said = said.map(Cow::Borrowed).chain(attribute_text(entity).map(Cow::Owned));
    let said = said.map(|it| (METADATA_WEIGHT, it));
    let kinds: BTreeSet<_> = entity.relations.iter().map(|it| it.kind.as_str()).collect();
    let related = kinds.into_iter().chain(entity.relations.iter().map(|it| it.to.as_str()));
    let related = related.map(|it| (RELATED_NAME_WEIGHT, Cow::Borrowed(it)));
    Document {
        item: ItemId::Entity(entity.name.clone()),
        wing: None,
        room: None,
        place_name: "".into(),
        facet: entity_facet(&entity.genus, entity.status.as_deref()).into(),
        written: None,
        title: (&entity.name).into(),
        text: entity.observations.join("\n").into(),
        weighted_fields: said.chain(related).collect(),
    }
}

/// Returns the facet of an entity.
pub(crate) fn entity_facet(genus: &str, status: Option<&str>) -> String {
    format!("{genus:?} {status:?}")
}

/// Returns the attributes of an entity as one text, if it has any.
fn attribute_text(entity: &Entity) -> Option<String> {
    let mut said = String::new();
    for (key, value) in &entity.attributes {
        said.push_str(key);
        push_value_words(value, &mut said);
        said.push('\n');
    }
    (!said.is_empty()).then_some(said)
}

/// Appends a value as words; a boolean as the words by which it may be searched.
fn push_value_words(value: &Value, said: &mut String) {
    match value {
        Value::Null => {}
        Value::Bool(true) => said.push_str(" true yes"),
        Value::Bool(false) => said.push_str(" false no"),
        Value::Number(number) => said.push_str(&format!(" {number}")),
        Value::String(text) => said.push_str(&format!(" {text}")),
        Value::Array(values) => values.iter().for_each(|it| push_value_words(it, said)),
        Value::Object(values) => {
            for (key, value) in values {
                said.push_str(&format!(" {key}"));
                push_value_words(value, said);
            }
        }
    }
}
