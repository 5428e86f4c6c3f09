//! Creates and completes tasks.

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::work::{
    WorkItem, append_note, find_work_file, resolve_work_subject, time_of_id, unknown_room_note,
    validate_title,
};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format;
use palazzo_core::model::{FileEdit, RoomRef, Task, WorkStatus};
use palazzo_core::render;

/// A task to create.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// What to do, in one line.
    pub title: String,
    /// The name of the entity it is about.
    pub entity: Option<String>,
    /// The room it is about.
    pub room: Option<RoomRef>,
    /// Who should do it.
    pub who: Option<String>,
    /// A note.
    pub note: Option<String>,
}

impl WorkItem for Task {
    const WHAT: &'static str = "the task";

    fn title(&self) -> &str {
        &self.title
    }

    fn status(&self) -> WorkStatus {
        self.status
    }

    fn created(&self) -> Option<DateTime<Utc>> {
        self.created
    }
}

/// Whether a tool changed a task.
#[derive(Clone, Debug)]
pub struct TaskChange {
    /// The title of the task, in one line.
    pub title: String,
    /// False if the task did not change.
    pub is_changed: bool,
    /// A note, if its room is not built.
    pub note: Option<String>,
}

/// Creates a task, unless the same task is open. Creates the first palace if there is none.
pub fn create_task(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewTask,
) -> Result<TaskChange, Refusal> {
    let title = validate_title(&new.title, "title")?;
    let mut session = keeper.session_for_writing(caller)?;
    let id = session.new_id();
    let mut note = None;
    let edits = session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        note = new.room.as_ref().and_then(|it| unknown_room_note(&open.palace, it));
        let task = Task {
            title: title.clone(),
            subject: resolve_work_subject(&open.palace, new.entity.as_deref(), new.room.as_ref())?,
            who: new.who.as_deref().map(render::whole_line).filter(|it| !it.is_empty()),
            status: WorkStatus::Open,
            note: append_note(None, new.note.as_deref()),
            created: Some(time_of_id(id)),
        };
        let is_same = |it: &Task| it.title == task.title && it.subject == task.subject;
        let mut tasks = open.palace.tasks.values().filter(|it| it.status.is_open());
        let mut edits = Vec::new();
        if !tasks.any(is_same) {
            let path = format!("tasks/{id}.yaml");
            let text = format::new_task_text(&path, &task);
            let text = text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?;
            edits.push(FileEdit { path, was: None, now: Some(text) });
        }
        let subject = format!("task {}: create", render::truncate(&title, 50));
        Ok(ChangePlan { edits, subject, body: format!("Created the task \"{title}\"") })
    })?;
    let is_changed = !edits.is_empty();
    Ok(TaskChange { title, is_changed, note })
}

/// Marks a task as done; `task` is its title or the name of its file.
pub fn complete_task(
    session: &mut Session<'_>,
    task: &str,
    note: Option<&str>,
) -> Result<TaskChange, Refusal> {
    let caller = session.caller;
    let mut title = String::new();
    let edits = session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let path = find_work_file(&open.palace.tasks, task)?;
        let was = open.read_file_for_change(&path)?;
        let (Some(text), Some(old)) = (&was, open.palace.tasks.get(&path)) else {
            return Err(Refusal::Contended);
        };
        title = render::one_line(&old.title);
        let mut new = old.clone();
        if old.status.is_open() {
            new.status = WorkStatus::Done(Some(caller.now.trunc_subsecs(0)));
            new.note = append_note(old.note.as_ref(), note);
        }
        let now = match new == *old {
            true => text.clone(),
            false => {
                format::edit_task_text(&path, text, old, &new, &open.palace.settings.time_zone)
                    .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?
            }
        };
        let edits = vec![FileEdit { path, was, now: Some(now) }];
        let subject = format!("task {}: done", render::truncate(&title, 50));
        Ok(ChangePlan { edits, subject, body: format!("Completed the task \"{title}\"") })
    })?;
    let is_changed = !edits.is_empty();
    Ok(TaskChange { title, is_changed, note: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{NOW, TestHome, ada};

    const STONE: (&str, &str) = ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");

    fn task(title: &str, entity: Option<&str>) -> NewTask {
        let entity = entity.map(str::to_owned);
        NewTask { title: title.to_owned(), entity, ..NewTask::default() }
    }

    fn create(home: &mut TestHome, new: &NewTask) -> Result<TaskChange, Refusal> {
        create_task(&mut home.keeper, &ada(), new)
    }

    fn only_task(home: &mut TestHome) -> Task {
        home.run(|session| session.palace.palace.tasks.values().next().unwrap().clone())
    }

    #[test]
    fn the_same_task_is_created_once_while_it_is_open() {
        let mut home = TestHome::new(&[]);
        assert!(create(&mut home, &task("Dust", None)).unwrap().is_changed);
        assert!(!create(&mut home, &task("Dust", None)).unwrap().is_changed);
        home.run(|session| complete_task(session, "Dust", None)).unwrap();
        assert!(create(&mut home, &task("Dust", None)).unwrap().is_changed);
    }

    #[test]
    fn tasks_about_different_subjects_may_have_the_same_title() {
        let mut home = TestHome::new(&[STONE]);
        assert!(create(&mut home, &task("Weigh", None)).unwrap().is_changed);
        assert!(create(&mut home, &task("Weigh", Some("granite"))).unwrap().is_changed);
        assert!(!create(&mut home, &task("Weigh", Some("Granite"))).unwrap().is_changed);
    }

    #[test]
    fn a_task_has_one_line_of_title_and_no_blank_texts() {
        let mut home = TestHome::new(&[]);
        let blank = Some(" \n".to_owned());
        let new = NewTask { who: blank.clone(), note: blank, ..task("Dust the\nshelves", None) };
        assert_eq!(create(&mut home, &new).unwrap().title, "Dust the shelves");
        let task = only_task(&mut home);
        assert_eq!((task.title.as_str(), task.who, task.note), ("Dust the shelves", None, None));
        assert_eq!(task.created, NOW.parse().ok());
    }

    #[test]
    fn a_task_about_an_unknown_entity_is_refused_with_the_most_similar_name() {
        let mut home = TestHome::new(&[STONE]);
        let refusal = create(&mut home, &task("Weigh", Some("Granit"))).unwrap_err().to_string();
        assert!(refusal.contains("`Granit`; did you mean `Granite`?"), "{refusal}");
        assert_eq!(home.run(|session| session.palace.palace.tasks.len()), 0);
    }

    #[test]
    fn a_completed_task_has_the_time_and_the_note() {
        let mut home = TestHome::new(&[]);
        create(&mut home, &NewTask { note: Some("Mind the book.".into()), ..task("Dust", None) })
            .unwrap();
        home.run(|session| complete_task(session, " dust ", Some("Found a letter.\r\n"))).unwrap();
        let task = only_task(&mut home);
        assert_eq!(task.note.as_deref(), Some("Mind the book.\nFound a letter."));
        assert_eq!(task.status, WorkStatus::Done(NOW.parse().ok()));
    }

    #[test]
    fn completing_a_task_again_adds_no_note() {
        let mut home = TestHome::new(&[]);
        create(&mut home, &task("Dust", None)).unwrap();
        home.run(|session| complete_task(session, "Dust", Some("Once."))).unwrap();
        let again = home.run(|session| complete_task(session, "Dust", Some("Twice."))).unwrap();
        assert!(!again.is_changed);
        assert_eq!(only_task(&mut home).note.as_deref(), Some("Once."));
    }
}
