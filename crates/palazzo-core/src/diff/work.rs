//! Differences between two states of a task or a process.

use crate::diff::text::{name_change, text_change, value_change};
use crate::model::{
    ChangeDetail, ItemElement, Palace, Process, ProcessStep, Task, WorkStatus, WorkSubject,
};

/// Returns the differences of the task in a file.
pub(super) fn diff_task_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let (was, now) = (was.tasks.get(file), now.tasks.get(file));
    let title = |it: Option<&Task>| it.map(|it| it.title.clone()).unwrap_or_default();
    let who = |it: Option<&Task>| it.and_then(|it| it.who.clone());
    let note = |it: Option<&Task>| it.and_then(|it| it.note.clone()).unwrap_or_default();
    let mut details = Vec::from_iter(name_change(&title(was), &title(now)));
    details.extend(value_change("who", who(was).as_deref(), who(now).as_deref()));
    details.extend(diff_subjects(was.map(|it| &it.subject), now.map(|it| &it.subject)));
    details.extend(status_change(was.map(|it| it.status), now.map(|it| it.status), "open"));
    details.extend(text_change("note", &note(was), &note(now)));
    details
}

/// Returns the differences of the process in a file.
pub(super) fn diff_process_in_file(was: &Palace, now: &Palace, file: &str) -> Vec<ChangeDetail> {
    let (was, now) = (was.processes.get(file), now.processes.get(file));
    let name = |it: Option<&Process>| it.map(|it| it.name.clone()).unwrap_or_default();
    let step = |it: Option<&Process>| it.map(|it| format!("{}/{}", it.step_number, it.steps.len()));
    let mut details = Vec::from_iter(name_change(&name(was), &name(now)));
    details.extend(diff_subjects(was.map(|it| &it.subject), now.map(|it| &it.subject)));
    details.extend(value_change("step", step(was).as_deref(), step(now).as_deref()));
    details.extend(status_change(was.map(|it| it.status), now.map(|it| it.status), "running"));
    let steps = |it: Option<&'_ Process>| it.map(|it| it.steps.clone()).unwrap_or_default();
    details.extend(diff_steps(&steps(was), &steps(now)));
    details
}

fn diff_subjects(was: Option<&WorkSubject>, now: Option<&WorkSubject>) -> Vec<ChangeDetail> {
    let entity = |it: Option<&WorkSubject>| it?.entity.clone();
    let room = |it: Option<&WorkSubject>| Some(it?.room.as_ref()?.to_string());
    let details = [
        value_change("entity", entity(was).as_deref(), entity(now).as_deref()),
        value_change("room", room(was).as_deref(), room(now).as_deref()),
    ];
    details.into_iter().flatten().collect()
}

/// Compares the progress; `open` is the word for work that is not done.
fn status_change(
    was: Option<WorkStatus>,
    now: Option<WorkStatus>,
    open: &str,
) -> Option<ChangeDetail> {
    let text = |it: Option<WorkStatus>| match it? {
        WorkStatus::Open => Some(open.to_owned()),
        WorkStatus::Done(None) => Some("done".to_owned()),
        WorkStatus::Done(Some(at)) => Some(format!("done {}", at.format("%Y-%m-%d %H:%M UTC"))),
    };
    value_change("status", text(was).as_deref(), text(now).as_deref())
}

/// Returns the differences of steps; those with the same text are one.
fn diff_steps(was: &[ProcessStep], now: &[ProcessStep]) -> Vec<ChangeDetail> {
    let same =
        |all: &[ProcessStep], it: &ProcessStep| all.iter().any(|other| other.text == it.text);
    let part = |it: &ProcessStep| ItemElement::Step(it.text.clone());
    let mut details: Vec<_> = Vec::new();
    for step in now {
        let old = was.iter().find(|it| it.text == step.text);
        details.extend(old.is_none().then(|| ChangeDetail::PartAdded(part(step))));
        let note = |it: Option<&ProcessStep>| it.and_then(|it| it.note.clone()).unwrap_or_default();
        let name = format!("note of step '{}'", step.text);
        details.extend(text_change(&name, &note(old), &note(Some(step))));
    }
    let gone = was.iter().filter(|it| !same(now, it));
    details.extend(gone.map(|it| ChangeDetail::PartRemoved(part(it))));
    if details.is_empty() && was.iter().map(|it| &it.text).ne(now.iter().map(|it| &it.text)) {
        details.push(ChangeDetail::PartsReordered("steps"));
    }
    details
}
