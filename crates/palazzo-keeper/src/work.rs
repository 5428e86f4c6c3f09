//! Tasks and processes: finds them by name, lists the open ones, and describes their subjects.

pub(crate) mod processes;
pub(crate) mod task_list;
pub(crate) mod tasks;

use std::collections::BTreeMap;

use chrono::{DateTime, SubsecRound as _, Utc};
use ulid::Ulid;

use crate::Refusal;
use crate::graph::resolve_entity_name;
use crate::name_check::reject_hidden_chars_in_line;
use crate::palace::OpenPalace;
use palazzo_core::model::{
    ItemId, Palace, RoomRef, WorkStatus, WorkSubject, did_you_mean, quoted, quoted_unless_plain,
};
use palazzo_core::render::{self, ProcessView, TaskView, WorkView};

/// Maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// Renders a task or a process whole, as of `now`.
pub(crate) fn render_work_item(
    open: &mut OpenPalace,
    item: &ItemId,
    now: DateTime<Utc>,
) -> Result<String, Refusal> {
    open.update_file_history_cache()?;
    Ok(match work_view(open, item) {
        Some(WorkView::Task(it)) => render::task(&it, now),
        Some(WorkView::Process(it)) => render::process(&it, now),
        None => "That item has been deleted since.".to_owned(),
    })
}

/// Returns a task or a process with its dates and a description of its subject.
pub(crate) fn work_view<'a>(open: &'a OpenPalace, item: &ItemId) -> Option<WorkView<'a>> {
    let palace = &open.palace;
    Some(match item {
        ItemId::Task(file) => {
            let task = palace.tasks.get(file)?;
            let created = task.created.or_else(|| Some(open.file_histories().get(file)?.created));
            WorkView::Task(TaskView {
                task,
                about: describe_work_subject(palace, &task.subject),
                created,
            })
        }
        ItemId::Process(file) => {
            let process = palace.processes.get(file)?;
            let last_moved =
                open.file_histories().get(file).map(|it| it.updated).or(process.started);
            WorkView::Process(ProcessView {
                process,
                about: describe_work_subject(palace, &process.subject),
                last_moved,
            })
        }
        _ => return None,
    })
}

/// Describes a task or a process in a search result; `age` follows the word `task`.
pub(crate) fn describe_work_item(palace: &Palace, item: &ItemId, age: &str) -> Option<String> {
    match item {
        ItemId::Task(file) => {
            let done = if palace.tasks.get(file)?.status.is_open() { "" } else { ", done" };
            Some(format!("task{age}{done}"))
        }
        ItemId::Process(file) => {
            let process = palace.processes.get(file)?;
            Some(match process.status.is_open() {
                true => format!("process, step {}/{}", process.step_number, process.steps.len()),
                false => "process, done".to_owned(),
            })
        }
        _ => None,
    }
}

/// Resolves the names of an entity and a room to the subject of a task or a process.
pub(crate) fn resolve_work_subject(
    palace: &Palace,
    entity: Option<&str>,
    room: Option<&RoomRef>,
) -> Result<WorkSubject, Refusal> {
    let entity = entity.map(|it| resolve_entity_name(palace, it)).transpose()?;
    let room = room.map(|it| palace.resolve_room(it, None)).transpose()?;
    Ok(WorkSubject { entity, room: room.map(RoomRef::from) })
}

/// Returns a note about a room that is neither built nor named by a door, with the one that may be meant.
pub(crate) fn unknown_room_note(palace: &Palace, room: &RoomRef) -> Option<String> {
    let id = palace.resolve_present_room(room, None).ok()?;
    if palace.is_enterable_room(&id) || palace.rooms_linking_to(&id).next().is_some() {
        return None;
    }
    let slugs = palace.rooms().map(|(id, _)| id.slug.as_str());
    let meant = did_you_mean(id.slug.as_str(), slugs);
    let hint = meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
    Some(format!("the room `{id}` is not built yet{hint}"))
}

/// Describes a subject: `about the claim "Stasis is data", in Hall of Geology`.
pub(crate) fn describe_work_subject(palace: &Palace, about: &WorkSubject) -> String {
    let graph = &palace.graph;
    let entity = about.entity.as_ref().map(|name| {
        let genus = graph.get(name).and_then(|it| graph.genus_definition(&it.genus));
        format!("about {}", render::entity_in_sentence(&render::truncate(name, 80), genus))
    });
    let room = about.room.as_ref().and_then(|it| palace.resolve_present_room(it, None).ok());
    let room = room.map(|it| {
        let name = render::truncate(&palace.room_name(&it), 80);
        format!("in {}", render::name_in_sentence(&name))
    });
    let parts: Vec<_> = entity.into_iter().chain(room).collect();
    parts.join(", ")
}

/// A task or a process, which callers name by its title.
pub(crate) trait WorkItem {
    /// The kind of item with its article: `the task`.
    const WHAT: &'static str;
    /// Returns the title.
    fn title(&self) -> &str;
    /// Returns whether it is open or done.
    fn status(&self) -> WorkStatus;
    /// Returns when it was created, if its file says so.
    fn created(&self) -> Option<DateTime<Utc>>;
}

/// Finds the file of a task or a process by the name of that file or by its title, ignoring
/// case. Open items take precedence over those that are done.
pub(crate) fn find_work_file<T: WorkItem>(
    all: &BTreeMap<String, T>,
    name: &str,
) -> Result<String, Refusal> {
    if let Some((file, _)) =
        all.iter().find(|(it, _)| *it == name || stem(it).as_deref() == Some(name))
    {
        return Ok(file.clone());
    }
    let lower = name.trim().to_lowercase();
    let same: Vec<_> = all.iter().filter(|(_, it)| it.title().to_lowercase() == lower).collect();
    let open: Vec<_> = same.iter().filter(|(_, it)| it.status().is_open()).copied().collect();
    let asked = quoted(name);
    match if open.is_empty() { same } else { open }.as_slice() {
        [(file, _)] => Ok((*file).clone()),
        [] => {
            let open = all.values().filter(|it| it.status().is_open());
            let mut titles = open.clone().map(WorkItem::title);
            let meant = did_you_mean(name, open.map(WorkItem::title));
            let contains = |it: &&str| !lower.is_empty() && it.to_lowercase().contains(&lower);
            let meant = meant.or_else(|| titles.find(contains));
            let hint =
                meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
            let why = format!(
                "{} {asked} does not exist{hint} (list_tasks lists tasks and processes)",
                T::WHAT
            );
            Err(Refusal::Invalid(why))
        }
        several => Err(ambiguous_title_refusal(several, name)),
    }
}

/// Returns the name of the file of a task or a process, without the ending.
fn stem(file: &str) -> Option<String> {
    file.rsplit('/').next().map(|it| it.trim_end_matches(".yaml").to_owned())
}

fn ambiguous_title_refusal<T: WorkItem>(several: &[(&String, &T)], name: &str) -> Refusal {
    let ids = several.iter().take(5).filter_map(|(file, it)| Some((stem(file)?, it.created())));
    let day = |it: DateTime<Utc>| it.format(" (created %Y-%m-%d %H:%M UTC)").to_string();
    let id = |(it, created): (String, Option<DateTime<Utc>>)| {
        quoted_unless_plain(&it) + &created.map(day).unwrap_or_default()
    };
    Refusal::AmbiguousName {
        sentence: "several are called",
        name: name.to_owned(),
        advice: "; give the id of one of them: ",
        candidates: ids.map(id).collect(),
    }
}

/// Returns a title in one line; refuses one that is empty or too long. `key` is the argument.
pub(crate) fn validate_title(text: &str, key: &str) -> Result<String, Refusal> {
    reject_hidden_chars_in_line(key, text)?;
    let title = render::storable_line(text);
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        let why = format!("the `{key}` must have 1 to {MAX_TITLE_CHARS} characters");
        return Err(Refusal::Invalid(why));
    }
    Ok(title)
}

/// Appends a text to a note.
pub(crate) fn append_note(old: Option<&String>, new: Option<&str>) -> Option<String> {
    let new = new.map(|it| it.replace("\r\n", "\n").trim_end().to_owned());
    let parts = old.cloned().into_iter().chain(new.filter(|it| !it.is_empty()));
    let parts: Vec<_> = parts.collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Returns the time at which an id was generated, to the second.
pub(crate) fn time_of_id(id: Ulid) -> DateTime<Utc> {
    DateTime::<Utc>::from(id.datetime()).trunc_subsecs(0)
}

/// Returns the open processes and the open tasks whose subject `is_listed`.
pub(crate) fn list_open_work(
    palace: &Palace,
    is_listed: impl Fn(&WorkSubject) -> bool,
) -> [Vec<ItemId>; 2] {
    let open =
        palace.processes.iter().filter(|(_, it)| it.status.is_open() && is_listed(&it.subject));
    let processes = open.map(|(file, _)| ItemId::Process(file.clone())).collect();
    let open = palace.tasks.iter().filter(|(_, it)| it.status.is_open() && is_listed(&it.subject));
    [processes, open.map(|(file, _)| ItemId::Task(file.clone())).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::Task;

    fn tasks(all: &[(&str, &str, WorkStatus)]) -> BTreeMap<String, Task> {
        let task =
            |title: &str, status| Task { title: title.to_owned(), status, ..Task::default() };
        all.iter().map(|(file, title, status)| ((*file).to_owned(), task(title, *status))).collect()
    }

    #[test]
    fn an_item_is_found_by_file_by_id_and_by_title_in_any_case() {
        let all = tasks(&[("tasks/01-oel.yaml", "Öl prüfen", WorkStatus::Open)]);
        for name in ["tasks/01-oel.yaml", "01-oel", "Öl prüfen", " ÖL PRÜFEN\n"] {
            assert_eq!(find_work_file(&all, name).unwrap(), "tasks/01-oel.yaml", "{name}");
        }
    }

    #[test]
    fn an_open_item_takes_precedence_over_one_that_is_done() {
        let (done, open) = (WorkStatus::Done(None), WorkStatus::Open);
        let all = tasks(&[("tasks/a.yaml", "Dust", done), ("tasks/b.yaml", "Dust", open)]);
        assert_eq!(find_work_file(&all, "dust").unwrap(), "tasks/b.yaml");
        assert_eq!(find_work_file(&all, "a").unwrap(), "tasks/a.yaml");
    }

    #[test]
    fn a_title_that_several_items_have_is_refused_with_their_ids() {
        let open = WorkStatus::Open;
        let all = tasks(&[("tasks/a.yaml", "Dust", open), ("tasks/b.yaml", "dust", open)]);
        assert_eq!(
            find_work_file(&all, "DUST").unwrap_err().to_string(),
            "several are called `DUST`; give the id of one of them: a, b"
        );
    }

    #[test]
    fn an_unknown_title_is_refused_with_the_most_similar_open_one() {
        let (done, open) = (WorkStatus::Done(None), WorkStatus::Open);
        let all = tasks(&[("tasks/a.yaml", "Sweep", open), ("tasks/b.yaml", "Count lenses", done)]);
        assert_eq!(
            find_work_file(&all, "Swep").unwrap_err().to_string(),
            "the task `Swep` does not exist; did you mean `Sweep`? \
             (list_tasks lists tasks and processes)"
        );
        let none = find_work_file(&all, "Count lense").unwrap_err().to_string();
        assert!(none.starts_with("the task `Count lense` does not exist ("), "{none}");
    }

    #[test]
    fn a_title_has_1_to_200_characters() {
        assert_eq!(validate_title(" Dust\nthe  desk ", "title").unwrap(), "Dust the desk");
        assert!(validate_title(&"é".repeat(200), "title").is_ok());
        for title in [String::new(), "\t".to_owned(), "é".repeat(201)] {
            let refusal = validate_title(&title, "name").unwrap_err().to_string();
            assert_eq!(refusal, "the `name` must have 1 to 200 characters");
        }
    }

    #[test]
    fn a_note_grows_by_lines_and_ignores_blank_ones() {
        let old = "One.".to_owned();
        assert_eq!(
            append_note(Some(&old), Some("Two.\r\nThree. \n")).unwrap(),
            "One.\nTwo.\nThree."
        );
        assert_eq!(append_note(Some(&old), Some(" \n")), Some(old));
        assert_eq!(append_note(None, Some("")), None);
    }
}
