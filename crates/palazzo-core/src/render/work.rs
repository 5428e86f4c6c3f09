//! Renders tasks and processes: in notices, in lists, and alone.

use chrono::{DateTime, Utc};

use crate::model::{Layout, Process, ProcessStep, Slot, Task, WorkStatus};
use crate::render::text::{
    count_with_noun, in_quotes, name_in_sentence, one_line, text_in_page, title_after_label,
    title_in_heading, truncate, whole_line,
};
use crate::render::{ListedContent, ago, mark_imitations};

/// A task with its subject and its age.
#[derive(Clone, Debug)]
pub struct TaskView<'a> {
    /// The task.
    pub task: &'a Task,
    /// The subject as text; may be empty.
    pub about: String,
    /// The time when it was created.
    pub created: Option<DateTime<Utc>>,
}

/// A process with its subject and its last change.
#[derive(Clone, Debug)]
pub struct ProcessView<'a> {
    /// The process.
    pub process: &'a Process,
    /// The subject as text; may be empty.
    pub about: String,
    /// The time of its last step.
    pub last_moved: Option<DateTime<Utc>>,
}

/// An item in a list of work.
#[derive(Clone, Debug)]
pub enum WorkView<'a> {
    /// A task.
    Task(TaskView<'a>),
    /// A process.
    Process(ProcessView<'a>),
}

impl WorkView<'_> {
    /// Returns the title of the task, or the name of the process.
    pub fn title(&self) -> &str {
        match self {
            Self::Task(it) => &it.task.title,
            Self::Process(it) => &it.process.name,
        }
    }
}

/// Renders open work in one line: `Task: check the dates (2 days ago)`.
pub fn work_notice(view: &WorkView<'_>, now: DateTime<Utc>) -> String {
    match view {
        WorkView::Task(it) => {
            let name = |it: &String| format!("for {}", name_in_sentence(&truncate(it, 40)));
            let who = it.task.who.as_ref().map(name);
            format!(
                "Task: {}{}",
                title_after_label(&truncate(&it.task.title, 120)),
                parenthesized_note_and_age(who, it.created, now)
            )
        }
        WorkView::Process(it) => {
            let Process { name, step_number: step, steps, .. } = it.process;
            let at = format!("step {step}/{}", steps.len());
            format!(
                "Process: {}{}",
                title_after_label(&truncate(name, 120)),
                parenthesized_note_and_age(Some(at), it.last_moved, now)
            )
        }
    }
}

/// Renders the current step of a process as a sentence; `is_changed` is false if it was done
/// before.
pub fn process_status(process: &Process, is_changed: bool) -> String {
    let (name, steps) = (name_in_sentence(&process.name), process.steps.len());
    let step = process.current_step().map(|it| name_in_sentence(&it.text)).unwrap_or_default();
    let status = match (process.status, is_changed) {
        (WorkStatus::Open, _) => {
            format!("{name} is at step {}/{steps}: {step}", process.step_number)
        }
        (WorkStatus::Done(_), true) => {
            format!("{name} is done, after {}.", count_with_noun(steps, "step"))
        }
        (WorkStatus::Done(_), false) => format!("{name} was done already: nothing changed."),
    };
    mark_imitations(&status)
}

/// Renders one page of a list of work; `which` names the selection: `To be done`. `page`
/// counts from 1; a page has thirty items; `total` is the number of all.
pub fn work_list(
    which: &str,
    (shown, contents): (&[WorkView<'_>], &[ListedContent]),
    (page, total): (usize, usize),
    now: DateTime<Utc>,
) -> String {
    if total == 0 {
        return format!("{which}: nothing.\n");
    }
    let pages = total.div_ceil(Layout::MAX_RESULTS);
    let mut text = format!("{which}, {}", count_with_noun(total, "thing"));
    if pages > 1 {
        text.push_str(&format!(" (page {page} of {pages})"));
    }
    text.push_str(":\n");
    for (place, view) in shown.iter().enumerate() {
        let number = Layout::Wide.number_of_slot(Slot::Result(place));
        let (about, state) = match view {
            WorkView::Task(it) => (&it.about, it.task.status),
            WorkView::Process(it) => (&it.about, it.process.status),
        };
        let done = if state.is_open() { "" } else { " · done" };
        let about = if about.is_empty() { String::new() } else { format!(" {about}") };
        let contents = contents.get(place).unwrap_or(&ListedContent::LeftOut);
        let note = contents.note();
        text.push_str(&format!("  {number}. {}{about}{done}{note}\n", work_notice(view, now)));
        text.push_str(&contents.lines());
    }
    if page < pages {
        text.push_str(&format!("  page: {} shows the next\n", page + 1));
    }
    text
}

/// Renders what a list of work leaves out: the note of a task, the steps of a process.
pub fn work_details(view: &WorkView<'_>, now: DateTime<Utc>) -> String {
    match view {
        WorkView::Task(it) => it.task.note.iter().map(|it| note_line(it) + "\n").collect(),
        WorkView::Process(it) => {
            process(it, now).lines().skip(2).map(|it| it.to_owned() + "\n").collect()
        }
    }
}

/// Renders the note of a task in one line of a list; in quotation marks if it begins like a row of the list.
fn note_line(note: &str) -> String {
    let line = whole_line(note);
    let is_row = line.starts_with(|it: char| it.is_numeric()) || line.starts_with("page:");
    if is_row { in_quotes(&line) } else { mark_imitations(&line) }
}

/// Renders one task with all details.
pub fn task(it: &TaskView<'_>, now: DateTime<Utc>) -> String {
    let Task { title, who, status: state, note, .. } = it.task;
    let mut page = format!(
        "── {} ──\nTask · {}",
        title_in_heading(title),
        work_status_text(*state, "open", now)
    );
    page.extend(it.created.map(|at| format!(" · created {}", ago(at, now))));
    page.extend(who.iter().map(|it| format!(" · for {}", name_in_sentence(it))));
    page.push_str(&format!("{}\n", about_suffix(&it.about)));
    page.extend(note.iter().map(|it| format!("{}\n", text_in_page(it))));
    page
}

/// Renders one process with all details.
pub fn process(it: &ProcessView<'_>, now: DateTime<Utc>) -> String {
    let Process { name, steps, step_number: step, status: state, started, .. } = it.process;
    let mut page = format!(
        "── {} ──\nProcess · {}",
        title_in_heading(name),
        work_status_text(*state, "running", now)
    );
    page.push_str(&format!(" · step {step}/{}", steps.len()));
    page.extend(started.map(|at| format!(" · started {}", ago(at, now))));
    page.extend(
        it.last_moved
            .filter(|at| Some(*at) != *started)
            .map(|at| format!(", continued {}", ago(at, now))),
    );
    page.push_str(&format!("{}\n", about_suffix(&it.about)));
    for (number, ProcessStep { text, note }) in (1..).zip(steps) {
        let mark = if number == *step && state.is_open() { "→" } else { " " };
        page.push_str(&format!("{mark} {number}. {}\n", one_line(text)));
        let note = note.as_deref().map(text_in_page).unwrap_or_default();
        page.extend(note.lines().map(|it| format!("     {}\n", whole_line(it))));
    }
    page
}

fn about_suffix(about: &str) -> String {
    if about.is_empty() { String::new() } else { format!(" · {about}") }
}

fn work_status_text(state: WorkStatus, open: &str, now: DateTime<Utc>) -> String {
    match state {
        WorkStatus::Open => open.to_owned(),
        WorkStatus::Done(None) => "done".to_owned(),
        WorkStatus::Done(Some(at)) => format!("done {}", ago(at, now)),
    }
}

fn parenthesized_note_and_age(
    note: Option<String>,
    at: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> String {
    let age = at.map(|it| ago(it, now));
    let parts: Vec<_> = note.into_iter().chain(age).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
