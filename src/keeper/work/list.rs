//! What is common to tasks and processes: how they are found, what they are
//! about, how old they are.

use std::collections::BTreeMap;

use chrono::{DateTime, SubsecRound as _, Utc};
use ulid::Ulid;

use crate::keeper::graph::lookup::resolve_entity_name;
use crate::keeper::palace::OpenPalace;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{ItemId, Layout, Palace, RoomRef, WorkStatus, WorkSubject, did_you_mean};
use crate::render::{self, ProcessView, TaskView, WorkView};

/// The most characters a title may have.
const MAX_TITLE_CHARS: usize = 200;

/// Which tasks and processes are wanted.
#[derive(Clone, Debug, Default)]
pub struct WorkQuery {
    /// Only those about this entity, by name.
    pub entity: Option<String>,
    /// Only those about this room.
    pub room: Option<RoomRef>,
    /// Those that are done instead of those that are not.
    pub done: bool,
    /// The page, from 1, of thirty.
    pub page: usize,
}

impl Keeper {
    /// Lists processes and tasks, oldest first. What is shown can be opened by
    /// number.
    pub fn list_tasks(&mut self, by: &Caller, wanted: &WorkQuery) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        held.load_history()?;
        let about = resolve_about(&held.palace, wanted.entity.as_deref(), wanted.room.as_ref())?;
        let palace = &held.palace;
        let is_there =
            |it: &RoomRef| palace.resolve_room(it, None).ok().map(RoomRef::from) == about.room;
        let fits = |it: &WorkSubject, state: WorkStatus| {
            state.is_open() != wanted.done
                && (about.entity.is_none() || it.entity == about.entity)
                && (about.room.is_none() || it.room.as_ref().is_some_and(is_there))
        };
        let processes = palace.processes.iter().filter(|(_, it)| fits(&it.subject, it.status));
        let processes = processes.map(|(file, _)| ItemId::Process(file.clone()));
        let tasks = palace.tasks.iter().filter(|(_, it)| fits(&it.subject, it.status));
        let all: Vec<_> =
            processes.chain(tasks.map(|(file, _)| ItemId::Task(file.clone()))).collect();
        let page = wanted.page.max(1);
        let first = (page - 1).saturating_mul(Layout::MAX_RESULTS);
        let shown: Vec<_> = all.iter().skip(first).take(Layout::MAX_RESULTS).cloned().collect();
        let views: Vec<_> = shown.iter().filter_map(|it| work_view(held, it)).collect();
        let said = describe_about(palace, &about);
        let which = if wanted.done { "Done" } else { "To be done" };
        let which = format!("{which} {said}");
        let told = render::work_list(which.trim_end(), &views, all.len(), page, by.now);
        self.visit(by).listed_items = shown;
        Ok(told)
    }

    /// Tells all that is known of a task or a process.
    pub(crate) fn read_work_item(
        &mut self,
        by: &Caller,
        key: &str,
        which: &ItemId,
    ) -> Result<String, Refusal> {
        let held = self.open_palace(key)?;
        held.load_history()?;
        Ok(match work_view(held, which) {
            Some(WorkView::Task(it)) => render::task(&it, by.now),
            Some(WorkView::Process(it)) => render::process(&it, by.now),
            None => "That has been taken away since.".to_owned(),
        })
    }
}

/// Says what is known of a task or a process.
pub(crate) fn work_view<'a>(held: &'a OpenPalace, which: &ItemId) -> Option<WorkView<'a>> {
    let palace = &held.palace;
    Some(match which {
        ItemId::Task(file) => {
            let task = palace.tasks.get(file)?;
            let set = task.created.or_else(|| Some(held.history().get(file)?.created));
            WorkView::Task(TaskView {
                task,
                about: describe_about(palace, &task.subject),
                created: set,
            })
        }
        ItemId::Process(file) => {
            let process = palace.processes.get(file)?;
            let moved = held.history().get(file).map(|it| it.updated).or(process.started);
            WorkView::Process(ProcessView {
                process,
                about: describe_about(palace, &process.subject),
                last_moved: moved,
            })
        }
        _ => return None,
    })
}

/// Says what a task or a process that was found is, and how far; `age`, how old.
pub(crate) fn describe_work_item(palace: &Palace, which: &ItemId, age: &str) -> Option<String> {
    match which {
        ItemId::Task(_) => Some(format!("task{age}")),
        ItemId::Process(file) => {
            let process = palace.processes.get(file)?;
            Some(format!("process, step {}/{}", process.step_number, process.steps.len()))
        }
        _ => None,
    }
}

/// Finds out what is meant by an entity and a room.
pub(crate) fn resolve_about(
    palace: &Palace,
    entity: Option<&str>,
    room: Option<&RoomRef>,
) -> Result<WorkSubject, Refusal> {
    let entity = entity.map(|it| resolve_entity_name(palace, it)).transpose()?;
    let room = room.map(|it| palace.resolve_room(it, None)).transpose()?;
    Ok(WorkSubject { entity, room: room.map(RoomRef::from) })
}

/// Says what something is about: `about the claim "Stasis is data", in Hall of Geology`.
fn describe_about(palace: &Palace, about: &WorkSubject) -> String {
    let graph = &palace.graph;
    let entity = about.entity.as_ref().map(|name| {
        let genus = graph.get(name).and_then(|it| graph.genus_definition(&it.genus));
        format!("about {}", genus.map_or(name.clone(), |it| it.name_in_sentence(name)))
    });
    let room = about.room.as_ref().and_then(|it| palace.resolve_room(it, None).ok());
    let room = room.map(|it| format!("in {}", palace.room_name(&it)));
    let said: Vec<_> = entity.into_iter().chain(room).collect();
    render::truncate(&render::one_line(&said.join(", ")), 200)
}

/// Something that is found by its title.
pub(crate) trait WorkItem {
    /// What it is, with its article.
    const WHAT: &'static str;
    /// What it is called.
    fn title(&self) -> &str;
    /// How far it is.
    fn state(&self) -> WorkStatus;
}

/// Finds the file of a task or a process by the name of that file or by its
/// title, whatever the case; those that are not done come before those that are.
pub(crate) fn find_work_file<T: WorkItem>(
    all: &BTreeMap<String, T>,
    said: &str,
) -> Result<String, Refusal> {
    let stem =
        |file: &str| file.rsplit('/').next().map(|it| it.trim_end_matches(".yaml").to_owned());
    if let Some((file, _)) =
        all.iter().find(|(it, _)| *it == said || stem(it).as_deref() == Some(said))
    {
        return Ok(file.clone());
    }
    let lower = said.trim().to_lowercase();
    let called: Vec<_> = all.iter().filter(|(_, it)| it.title().to_lowercase() == lower).collect();
    let open: Vec<_> = called.iter().filter(|(_, it)| it.state().is_open()).copied().collect();
    let quoted = said.escape_debug();
    match if open.is_empty() { called } else { open }.as_slice() {
        [(file, _)] => Ok((*file).clone()),
        [] => {
            let open = all.values().filter(|it| it.state().is_open());
            let meant = did_you_mean(said, open.map(WorkItem::title));
            let hint = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            let why =
                format!("{} `{quoted}` is not there{hint} (list_tasks lists what is)", T::WHAT);
            Err(Refusal::Invalid(why))
        }
        several => {
            let ids: Vec<_> = several.iter().take(5).filter_map(|(it, _)| stem(it)).collect();
            let why = format!("several are called `{quoted}`; say which: {}", ids.join(", "));
            Err(Refusal::Invalid(why))
        }
    }
}

/// Makes a text fit to be a title.
pub(crate) fn validate_title(text: &str, key: &str) -> Result<String, Refusal> {
    let title = render::one_line(text);
    if title.is_empty() || title.chars().count() > MAX_TITLE_CHARS {
        let why = format!("the `{key}` has 1 to {MAX_TITLE_CHARS} characters");
        return Err(Refusal::Invalid(why));
    }
    Ok(title)
}

/// Adds to a note what comes to be said.
pub(crate) fn append_note(old: Option<&String>, new: Option<&str>) -> Option<String> {
    let new = new.map(|it| it.replace("\r\n", "\n").trim_end().to_owned());
    let both = old.cloned().into_iter().chain(new.filter(|it| !it.is_empty()));
    let both: Vec<_> = both.collect();
    (!both.is_empty()).then(|| both.join("\n"))
}

/// Returns the moment that the name of a file tells that is named for an id.
pub(crate) fn time_of_id(id: Ulid) -> DateTime<Utc> {
    DateTime::<Utc>::from(id.datetime()).trunc_subsecs(0)
}
