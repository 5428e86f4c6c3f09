//! Lists tasks and processes; finds them by name, and describes their subjects.

use std::collections::BTreeMap;

use chrono::{DateTime, SubsecRound as _, Utc};
use ulid::Ulid;

use crate::keeper::graph::lookup::resolve_entity_name;
use crate::keeper::name_check::reject_hidden_chars_in_line;
use crate::keeper::palace::OpenPalace;
use crate::keeper::{Refusal, Session};
use crate::model::{
    Genus, ItemId, Layout, Palace, RoomRef, WorkStatus, WorkSubject, did_you_mean, quoted,
    quoted_unless_plain,
};
use crate::render::{self, ProcessView, TaskView, WorkView};

/// Maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 200;

/// A query for tasks and processes.
#[derive(Clone, Debug, Default)]
pub struct WorkQuery {
    /// Only tasks and processes about the entity with this name.
    pub entity: Option<String>,
    /// Only tasks and processes about this room.
    pub room: Option<RoomRef>,
    /// True for those that are done, false for those that are open.
    pub done: bool,
    /// The page, from 1, of thirty.
    pub page: usize,
}

/// One page of a list of processes and tasks.
#[derive(Clone, Debug)]
pub struct WorkPage<'a> {
    /// The heading: `To be done about Rome`.
    pub heading: String,
    /// The processes and tasks on this page, oldest first.
    pub items: Vec<WorkView<'a>>,
    /// How many match the query.
    pub total: usize,
    /// The number of the page, from 1.
    pub page: usize,
}

/// Lists processes, then tasks, oldest first. The numbers of the listed items open those on this
/// page.
pub fn list_tasks<'s>(
    session: &'s mut Session<'_>,
    query: &WorkQuery,
) -> Result<WorkPage<'s>, Refusal> {
    session.palace.update_file_history_cache()?;
    let open = &*session.palace;
    let palace = &open.palace;
    let about = resolve_work_subject(palace, query.entity.as_deref(), query.room.as_ref())?;
    let is_same_room =
        |it: &RoomRef| palace.resolve_present_room(it, None).ok().map(RoomRef::from) == about.room;
    let matches = |it: &WorkSubject, status: WorkStatus| {
        status.is_open() != query.done
            && (about.entity.is_none() || it.entity == about.entity)
            && (about.room.is_none() || it.room.as_ref().is_some_and(is_same_room))
    };
    let processes = palace.processes.iter().filter(|(_, it)| matches(&it.subject, it.status));
    let processes = processes.map(|(file, _)| ItemId::Process(file.clone()));
    let tasks = palace.tasks.iter().filter(|(_, it)| matches(&it.subject, it.status));
    let all: Vec<_> = processes.chain(tasks.map(|(file, _)| ItemId::Task(file.clone()))).collect();
    let page = query.page.max(1);
    let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
    let listed: Vec<_> = all.iter().skip(first).take(Layout::MAX_RESULTS).cloned().collect();
    let items = listed.iter().filter_map(|it| work_view(open, it)).collect();
    let status = if query.done { "Done" } else { "To be done" };
    let heading =
        format!("{status} {}", describe_work_subject(palace, &about)).trim_end().to_owned();
    session.visit.record_listed_items(listed);
    Ok(WorkPage { heading, items, total: all.len(), page })
}

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
        ItemId::Task(_) => Some(format!("task{age}")),
        ItemId::Process(file) => {
            let process = palace.processes.get(file)?;
            Some(format!("process, step {}/{}", process.step_number, process.steps.len()))
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

/// Describes a subject: `about the claim "Stasis is data", in Hall of Geology`.
fn describe_work_subject(palace: &Palace, about: &WorkSubject) -> String {
    let graph = &palace.graph;
    let entity = about.entity.as_ref().map(|name| {
        let genus = graph.get(name).and_then(|it| graph.genus_definition(&it.genus));
        let name = render::name_in_sentence(name);
        let genus = genus.filter(|it| is_part_of_sentence(it));
        format!("about {}", genus.map_or(name.clone(), |it| it.name_in_sentence(&name)))
    });
    let room = about.room.as_ref().and_then(|it| palace.resolve_present_room(it, None).ok());
    let room = room.map(|it| format!("in {}", render::name_in_sentence(&palace.room_name(&it))));
    let parts: Vec<_> = entity.into_iter().chain(room).collect();
    render::truncate(&render::one_line(&parts.join(", ")), 200)
}

/// Returns whether the sentence template of a genus has no signs that end or divide sentences: with
/// them it could go on as the server would.
fn is_part_of_sentence(genus: &Genus) -> bool {
    let template = genus.sentence.as_deref().unwrap_or_default();
    let words = template.replace(Genus::NAME_PLACEHOLDER, "name").replace('"', "");
    render::name_in_sentence(&words) == words
}

/// A task or a process, which callers name by its title.
pub(crate) trait WorkItem {
    /// The kind of item with its article: `the task`.
    const WHAT: &'static str;
    /// Returns the title.
    fn title(&self) -> &str;
    /// Returns whether it is open or done.
    fn status(&self) -> WorkStatus;
}

/// Finds the file of a task or a process by the name of that file or by its title, ignoring
/// case. Open items take precedence over those that are done.
pub(crate) fn find_work_file<T: WorkItem>(
    all: &BTreeMap<String, T>,
    name: &str,
) -> Result<String, Refusal> {
    let stem =
        |file: &str| file.rsplit('/').next().map(|it| it.trim_end_matches(".yaml").to_owned());
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
            let meant = did_you_mean(name, open.map(WorkItem::title));
            let hint =
                meant.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
            let why = format!(
                "{} {asked} does not exist{hint} (list_tasks lists tasks and processes)",
                T::WHAT
            );
            Err(Refusal::Invalid(why))
        }
        several => {
            let ids = several.iter().take(5).filter_map(|(it, _)| stem(it));
            let ids: Vec<_> = ids.map(|it| quoted_unless_plain(it.as_ref())).collect();
            let ids = ids.join(", ");
            let why = format!("several are called {asked}; give the id of one of them: {ids}");
            Err(Refusal::Invalid(why))
        }
    }
}

/// Returns a title in one line; refuses one that is empty or too long. `key` is the argument.
pub(crate) fn validate_title(text: &str, key: &str) -> Result<String, Refusal> {
    reject_hidden_chars_in_line(key, text)?;
    let title = render::join_lines(text);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keeper::test_home::TestHome;
    use crate::model::Task;

    fn tasks(all: &[(&str, &str, WorkStatus)]) -> BTreeMap<String, Task> {
        let task = |title: &str, status| Task {
            title: title.to_owned(),
            subject: WorkSubject::default(),
            who: None,
            status,
            note: None,
            created: None,
        };
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

    #[test]
    fn processes_come_before_tasks_and_thirty_items_make_a_page() {
        let home = &mut TestHome::new(&[("processes/z.yaml", "name: Z\nsteps: [Begin]\n")]);
        for number in 0..30 {
            home.write(&format!("tasks/{number:02}.yaml"), &format!("title: Task {number}\n"));
        }
        let pages = [0, 1, 2, 3].map(|page| {
            home.run(|session| {
                let list = list_tasks(session, &WorkQuery { page, ..WorkQuery::default() });
                let list = list.unwrap();
                (list.page, list.items.len(), list.total)
            })
        });
        assert_eq!(pages, [(1, 30, 31), (1, 30, 31), (2, 1, 31), (3, 0, 31)]);
        home.run(|session| {
            list_tasks(session, &WorkQuery::default()).unwrap();
            let first = session.visit.listed_items.first();
            assert_eq!(first, Some(&ItemId::Process("processes/z.yaml".to_owned())));
        });
    }

    #[test]
    fn the_heading_names_the_subject_as_its_genus_does() {
        let mut home = TestHome::new(&[
            ("genera/claim.yaml", "name: Claim\nsentence: the claim \"{name}\"\n"),
            ("entities/claim/data.yaml", "name: Stasis is data\ngenus: Claim\n"),
            ("rooms/hall.yaml", "name: The Hall\n"),
        ]);
        let room = Some("hall".parse().unwrap());
        let entity = Some("STASIS IS DATA".to_owned());
        let query = WorkQuery { entity, room, done: true, page: 1 };
        let heading = home.run(|session| list_tasks(session, &query).unwrap().heading);
        assert_eq!(heading, "Done about the claim \"Stasis is data\", in The Hall");
    }

    #[test]
    fn a_task_is_listed_for_its_room_in_whichever_form_its_file_names_it() {
        let mut home = TestHome::new(&[
            ("rooms/east/well.yaml", "name: Well\n"),
            ("tasks/a.yaml", "title: Dig\nroom: well\n"),
            ("tasks/b.yaml", "title: Fill\nroom: east/well\n"),
            ("tasks/c.yaml", "title: Rest\n"),
        ]);
        let query = WorkQuery { room: Some("well".parse().unwrap()), ..WorkQuery::default() };
        assert_eq!(home.run(|session| list_tasks(session, &query).unwrap().total), 2);
    }
}
