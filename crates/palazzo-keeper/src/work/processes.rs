//! Starts and advances processes: work in several steps, over several conversations.

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::work::{
    WorkItem, append_note, find_work_file, resolve_work_subject, time_of_id, validate_title,
};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format;
use palazzo_core::model::{
    FileEdit, Process, ProcessStep, RoomRef, WorkStatus, WorkSubject, quoted,
};
use palazzo_core::render;

/// A process to start.
#[derive(Clone, Debug)]
pub struct NewProcess {
    /// Its name, in one line.
    pub name: String,
    /// Its steps, in order.
    pub steps: Vec<String>,
    /// The name of the entity it is about.
    pub entity: Option<String>,
    /// The room it is about.
    pub room: Option<RoomRef>,
}

impl WorkItem for Process {
    const WHAT: &'static str = "the process";

    fn title(&self) -> &str {
        &self.name
    }

    fn status(&self) -> WorkStatus {
        self.status
    }

    fn created(&self) -> Option<DateTime<Utc>> {
        self.started
    }
}

/// A process after a tool was called, and whether the tool changed it.
#[derive(Clone, Debug)]
pub struct ProcessChange {
    /// The process as it is now; as in the call, if it was running already.
    pub process: Process,
    /// False if the process did not change.
    pub is_changed: bool,
}

/// Starts a process at its first step, unless one of the same name is running. Creates the first
/// palace if there is none.
pub fn start_process(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewProcess,
) -> Result<ProcessChange, Refusal> {
    let name = validate_title(&new.name, "name")?;
    let steps = new.steps.iter().map(|it| validate_title(it, "steps"));
    let steps = steps.collect::<Result<Vec<_>, _>>()?;
    if steps.is_empty() {
        let advice = "a process needs at least one step";
        return Err(Refusal::EmptyList { argument: "steps", advice });
    }
    let mut session = keeper.session_for_writing(caller)?;
    let id = session.new_id();
    let mut process = Process {
        name,
        subject: WorkSubject::default(),
        steps: steps.into_iter().map(|text| ProcessStep { text, note: None }).collect(),
        step_number: 1,
        status: WorkStatus::Open,
        started: Some(time_of_id(id)),
    };
    let edits = session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let palace = &open.palace;
        process.subject = resolve_work_subject(palace, new.entity.as_deref(), new.room.as_ref())?;
        let mut running = palace.processes.values().filter(|it| it.status.is_open());
        let mut edits = Vec::new();
        if !running.any(|it| it.name == process.name) {
            let path = format!("processes/{id}.yaml");
            let text = format::new_process_text(&path, &process);
            let text = text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?;
            edits.push(FileEdit { path, was: None, now: Some(text) });
        }
        let (name, steps) = (&process.name, render::count_with_noun(process.steps.len(), "step"));
        let subject = format!("process {}: start", render::truncate(name, 50));
        Ok(ChangePlan { edits, subject, body: format!("Started \"{name}\", {steps}") })
    })?;
    let is_changed = !edits.is_empty();
    Ok(ProcessChange { process, is_changed })
}

/// Moves a process to its next step, or to `step`; after the last step it is done. `name` is the
/// name of the process or of its file; `note` is added to the step before the move.
pub fn advance_process(
    session: &mut Session<'_>,
    name: &str,
    note: Option<&str>,
    step: Option<usize>,
) -> Result<ProcessChange, Refusal> {
    let caller = session.caller;
    let mut change = None;
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
        let path = find_work_file(&open.palace.processes, name)?;
        let was = open.read_file_for_change(&path)?;
        let (Some(text), Some(old)) = (&was, open.palace.processes.get(&path)) else {
            return Err(Refusal::Contended);
        };
        let process = process_after_advance(old, note, step, caller)?;
        let is_changed = process != *old;
        let now = match is_changed {
            false => text.clone(),
            true => format::edit_process_text(
                &path,
                text,
                old,
                &process,
                &open.palace.settings.time_zone,
            )
            .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?,
        };
        let name = render::truncate(&render::one_line(&process.name), 50);
        let body = render::process_status(&process, is_changed).trim_end().to_owned();
        change = Some(ProcessChange { process, is_changed });
        let edits = vec![FileEdit { path, was, now: Some(now) }];
        Ok(ChangePlan { edits, subject: format!("process {name}: advance"), body })
    })?;
    change.ok_or(Refusal::Contended)
}

fn process_after_advance(
    old: &Process,
    note: Option<&str>,
    step: Option<usize>,
    caller: &Caller,
) -> Result<Process, Refusal> {
    let mut new = old.clone();
    let steps = old.steps.len();
    if !old.status.is_open() && step.is_none() {
        return Ok(new);
    }
    if let Some(current) = new.steps.get_mut(old.step_number - 1) {
        current.note = append_note(current.note.as_ref(), note);
    }
    match step {
        Some(step) if (1..=steps).contains(&step) => {
            (new.step_number, new.status) = (step, WorkStatus::Open);
        }
        Some(_) => {
            let name = quoted(&old.name);
            let why = format!("{name} has the steps 1 to {steps}: give one of these numbers");
            return Err(Refusal::Invalid(why));
        }
        None if old.step_number < steps => new.step_number += 1,
        None => new.status = WorkStatus::Done(Some(caller.now.trunc_subsecs(0))),
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{NOW, TestHome, ada};

    /// A process of three steps, at its second.
    fn process() -> Process {
        let steps = ["Read", "Compare", "Ask"];
        let step = |it: &str| ProcessStep { text: it.to_owned(), note: None };
        Process {
            name: "Lead".to_owned(),
            subject: WorkSubject::default(),
            steps: steps.map(step).to_vec(),
            step_number: 2,
            status: WorkStatus::Open,
            started: None,
        }
    }

    fn start(home: &mut TestHome, name: &str, steps: &[&str]) -> Result<ProcessChange, Refusal> {
        let steps = steps.iter().map(|it| (*it).to_owned()).collect();
        let new = NewProcess { name: name.to_owned(), steps, entity: None, room: None };
        start_process(&mut home.keeper, &ada(), &new)
    }

    #[test]
    fn a_note_is_added_to_the_step_before_the_move() {
        let next = process_after_advance(&process(), Some("Alike.\n"), None, &ada()).unwrap();
        assert_eq!((next.step_number, next.status), (3, WorkStatus::Open));
        let notes: Vec<_> = next.steps.iter().map(|it| it.note.as_deref()).collect();
        assert_eq!(notes, [None, Some("Alike."), None]);
    }

    #[test]
    fn a_process_is_done_after_its_last_step() {
        let last = Process { step_number: 3, ..process() };
        let done = process_after_advance(&last, None, None, &ada()).unwrap();
        assert_eq!((done.step_number, done.status), (3, WorkStatus::Done(NOW.parse().ok())));
    }

    #[test]
    fn advancing_a_process_that_is_done_changes_nothing() {
        let done = Process { status: WorkStatus::Done(None), ..process() };
        let same = process_after_advance(&done, Some("Late."), None, &ada()).unwrap();
        assert_eq!(same, done);
    }

    #[test]
    fn a_step_number_opens_a_process_that_is_done_again() {
        let done = Process { status: WorkStatus::Done(None), ..process() };
        let again = process_after_advance(&done, None, Some(1), &ada()).unwrap();
        assert_eq!((again.step_number, again.status), (1, WorkStatus::Open));
    }

    #[test]
    fn a_process_moves_only_to_a_step_that_it_has() {
        for step in [0, 4, usize::MAX] {
            let refusal = process_after_advance(&process(), None, Some(step), &ada()).unwrap_err();
            let why = "`Lead` has the steps 1 to 3: give one of these numbers";
            assert_eq!(refusal.to_string(), why, "{step}");
        }
    }

    #[test]
    fn a_process_needs_steps_that_are_not_blank() {
        let mut home = TestHome::new(&[]);
        let none = start(&mut home, "Lead", &[]).unwrap_err();
        assert_eq!(none.to_string(), "`steps` is empty: a process needs at least one step");
        let blank = start(&mut home, "Lead", &["Read", " "]).unwrap_err();
        assert_eq!(blank.to_string(), "the `steps` must have 1 to 200 characters");
        assert_eq!(home.run(|session| session.palace.palace.processes.len()), 0);
    }

    #[test]
    fn a_process_of_the_same_name_starts_again_only_after_it_is_done() {
        let mut home = TestHome::new(&[]);
        assert!(start(&mut home, "Clean", &["Sweep"]).unwrap().is_changed);
        assert!(!start(&mut home, "Clean", &["Wipe", "Sweep"]).unwrap().is_changed);
        let done = home.run(|session| advance_process(session, "clean", None, None)).unwrap();
        assert!(!done.process.status.is_open());
        assert!(start(&mut home, "Clean", &["Sweep"]).unwrap().is_changed);
    }

    #[test]
    fn an_unknown_process_is_refused_with_the_most_similar_name() {
        let mut home = TestHome::new(&[]);
        start(&mut home, "Spring cleaning", &["Sweep"]).unwrap();
        let refusal = home.run(|session| advance_process(session, "Spring cleanin", None, None));
        assert_eq!(
            refusal.unwrap_err().to_string(),
            "the process `Spring cleanin` does not exist; did you mean `Spring cleaning`? \
             (list_tasks lists tasks and processes)"
        );
    }
}
