//! Setting tasks, and doing them.

use chrono::SubsecRound as _;

use crate::format;
use crate::keeper::palace::ChangePlan;
use crate::keeper::work::list::{
    WorkItem, append_note, find_work_file, resolve_about, time_of_id, validate_title,
};
use crate::keeper::{Caller, Keeper, Refusal, new_id};
use crate::model::{Edit, RoomRef, Task, WorkStatus};
use crate::render;

/// A task to be set.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// What is to be done, in one line.
    pub title: String,
    /// The entity it is about, by name.
    pub entity: Option<String>,
    /// The room it is about.
    pub room: Option<RoomRef>,
    /// Who is to do it.
    pub who: Option<String>,
    /// What else is to be said.
    pub note: Option<String>,
}

impl WorkItem for Task {
    const WHAT: &'static str = "the task";

    fn title(&self) -> &str {
        &self.title
    }

    fn state(&self) -> WorkStatus {
        self.status
    }
}

impl Keeper {
    /// Sets a task. The same task is not set twice as long as it is open.
    pub fn create_task(&mut self, by: &Caller, new: &NewTask) -> Result<String, Refusal> {
        let title = validate_title(&new.title, "title")?;
        let key = self.current_or_new_workspace(by)?;
        let id = new_id(&mut self.id_generator, by.now);
        let set = self.open_palace(&key)?.change(by, |held| {
            let task = Task {
                title: title.clone(),
                subject: resolve_about(&held.palace, new.entity.as_deref(), new.room.as_ref())?,
                who: new.who.as_deref().map(render::one_line).filter(|it| !it.is_empty()),
                status: WorkStatus::Open,
                note: append_note(None, new.note.as_deref()),
                created: Some(time_of_id(id)),
            };
            let is_same = |it: &Task| it.title == task.title && it.subject == task.subject;
            let mut open = held.palace.tasks.values().filter(|it| it.status.is_open());
            let mut edits = Vec::new();
            if !open.any(is_same) {
                let path = format!("tasks/{id}.yaml");
                let text = format::new_task_text(&path, &task);
                let text = text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?;
                edits.push(Edit { path, was: None, now: Some(text) });
            }
            let subject = format!("task {}: set", render::truncate(&title, 50));
            Ok(ChangePlan { edits, subject, body: format!("Set the task \"{title}\"") })
        })?;
        let answer = match set {
            true => format!("The task \"{title}\" is set.\n"),
            false => format!("The task \"{title}\" is set already: nothing changed.\n"),
        };
        Ok(answer)
    }

    /// Notes that a task is done; `said` is its title or the name of its file.
    pub fn complete_task(
        &mut self,
        by: &Caller,
        said: &str,
        note: Option<&str>,
    ) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let mut title = String::new();
        let done = self.open_palace(&key)?.change(by, |held| {
            let path = find_work_file(&held.palace.tasks, said)?;
            let was = held.read_for_change(&path)?;
            let (Some(text), Some(old)) = (&was, held.palace.tasks.get(&path)) else {
                return Err(Refusal::Contended);
            };
            title = render::one_line(&old.title);
            let mut new = old.clone();
            if old.status.is_open() {
                new.status = WorkStatus::Done(Some(by.now.trunc_subsecs(0)));
                new.note = append_note(old.note.as_ref(), note);
            }
            let now = match new == *old {
                true => text.clone(),
                false => format::edit_task_text(&path, text, old, &new)
                    .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?,
            };
            let edits = vec![Edit { path, was, now: Some(now) }];
            let subject = format!("task {}: done", render::truncate(&title, 50));
            Ok(ChangePlan { edits, subject, body: format!("Did the task \"{title}\"") })
        })?;
        let answer = match done {
            true => format!("The task \"{title}\" is done.\n"),
            false => format!("The task \"{title}\" was done already: nothing changed.\n"),
        };
        Ok(answer)
    }
}
