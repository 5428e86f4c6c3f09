//! Processes: work of several steps, over as many conversations as it takes.

use chrono::SubsecRound as _;

use crate::format;
use crate::keeper::palace::ChangePlan;
use crate::keeper::session::new_id;
use crate::keeper::work::list::{
    WorkItem, append_note, find_work_file, resolve_about, time_of_id, validate_title,
};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Edit, Process, ProcessStep, RoomRef, WorkStatus};
use crate::render;

/// A process to be started.
#[derive(Clone, Debug)]
pub struct NewProcess {
    /// What it is called.
    pub name: String,
    /// Its steps, in order.
    pub steps: Vec<String>,
    /// The entity it is about, by name.
    pub entity: Option<String>,
    /// The room it is about.
    pub room: Option<RoomRef>,
}

impl WorkItem for Process {
    const WHAT: &'static str = "the process";

    fn title(&self) -> &str {
        &self.name
    }

    fn state(&self) -> WorkStatus {
        self.status
    }
}

impl Keeper {
    /// Starts a process at its first step. One of the same name is not started
    /// as long as it runs.
    pub fn start_process(&mut self, by: &Caller, new: &NewProcess) -> Result<String, Refusal> {
        let name = validate_title(&new.name, "name")?;
        let steps = new.steps.iter().map(|it| validate_title(it, "steps"));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let Some(first) = steps.first().cloned() else {
            return Err(Refusal::Invalid("a process needs `steps`, one at least".to_owned()));
        };
        let key = self.current_or_new_workspace(by)?;
        let id = new_id(&mut self.id_generator, by.now);
        let started = self.open_palace(&key)?.change(by, |held| {
            let stages = steps.iter().cloned().map(|text| ProcessStep { text, note: None });
            let process = Process {
                name: name.clone(),
                subject: resolve_about(&held.palace, new.entity.as_deref(), new.room.as_ref())?,
                steps: stages.collect(),
                step_number: 1,
                status: WorkStatus::Open,
                started: Some(time_of_id(id)),
            };
            let mut running = held.palace.processes.values().filter(|it| it.status.is_open());
            let mut edits = Vec::new();
            if !running.any(|it| it.name == name) {
                let path = format!("processes/{id}.yaml");
                let text = format::new_process_text(&path, &process);
                let text = text.ok_or_else(|| Refusal::Unrepresentable { file: path.clone() })?;
                edits.push(Edit { path, was: None, now: Some(text) });
            }
            let subject = format!("process {}: start", render::truncate(&name, 50));
            let steps = render::pluralize(steps.len(), "step");
            Ok(ChangePlan { edits, subject, body: format!("Started \"{name}\", {steps}") })
        })?;
        let answer = match started {
            true => format!("{name} is at step 1/{}: {first}\n", steps.len()),
            false => format!("{name} is running already: nothing changed.\n"),
        };
        Ok(answer)
    }

    /// Brings a process to its next step, or to the `to`th; after the last it is
    /// done. `note` is kept with the step it was at.
    pub fn advance_process(
        &mut self,
        by: &Caller,
        said: &str,
        note: Option<&str>,
        to: Option<usize>,
    ) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let mut answer = String::new();
        self.open_palace(&key)?.change(by, |held| {
            let path = find_work_file(&held.palace.processes, said)?;
            let was = held.read_for_change(&path)?;
            let (Some(text), Some(old)) = (&was, held.palace.processes.get(&path)) else {
                return Err(Refusal::Contended);
            };
            let new = advance(old, note, to, by)?;
            let now = match new == *old {
                true => text.clone(),
                false => format::edit_process_text(&path, text, old, &new)
                    .ok_or_else(|| Refusal::UneditableFormatting { file: path.clone() })?,
            };
            let name = render::one_line(&new.name);
            answer = process_status_line(&new, new != *old);
            let subject = format!("process {}: advance", render::truncate(&name, 50));
            let body = answer.trim_end().to_owned();
            Ok(ChangePlan { edits: vec![Edit { path, was, now: Some(now) }], subject, body })
        })?;
        Ok(answer)
    }
}

fn advance(
    old: &Process,
    note: Option<&str>,
    to: Option<usize>,
    by: &Caller,
) -> Result<Process, Refusal> {
    let mut new = old.clone();
    let steps = old.steps.len();
    if !old.status.is_open() && to.is_none() {
        return Ok(new);
    }
    if let Some(stage) = new.steps.get_mut(old.step_number - 1) {
        stage.note = append_note(stage.note.as_ref(), note);
    }
    match to {
        Some(step) if (1..=steps).contains(&step) => {
            (new.step_number, new.status) = (step, WorkStatus::Open);
        }
        Some(_) => {
            let why = format!("`{}` has the steps 1 to {steps}", render::one_line(&old.name));
            return Err(Refusal::Invalid(why));
        }
        None if old.step_number < steps => new.step_number += 1,
        None => new.status = WorkStatus::Done(Some(by.now.trunc_subsecs(0))),
    }
    Ok(new)
}

fn process_status_line(process: &Process, changed: bool) -> String {
    let (name, steps) = (render::one_line(&process.name), process.steps.len());
    let stage = process.current_step().map(|it| render::one_line(&it.text)).unwrap_or_default();
    match (process.status, changed) {
        (WorkStatus::Open, _) => {
            format!("{name} is at step {}/{steps}: {stage}\n", process.step_number)
        }
        (WorkStatus::Done(_), true) => {
            format!("{name} is done, after {}.\n", render::pluralize(steps, "step"))
        }
        (WorkStatus::Done(_), false) => format!("{name} was done already: nothing changed.\n"),
    }
}
