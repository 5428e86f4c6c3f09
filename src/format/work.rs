//! Task files, `tasks/<ULID>.yaml`, and process files, `processes/<ULID>.yaml`.
//! A person may name them otherwise; then nothing tells when they were set.

use chrono::{DateTime, Utc};

use crate::format::file_parser;
use crate::format::file_parser::{Fields, Reader, list, text};
use crate::format::front_matter;
use crate::format::front_matter::{moment, moment_out};
use crate::format::yaml::{Body, Node, Out};
use crate::model::{About, Code, Process, Stage, State, Task, did_you_mean, prose, slip_of};

const TASK: &[&str] = &["title", "entity", "room", "who", "status", "done", "note"];
const PROCESS: &[&str] = &["name", "entity", "room", "steps", "step", "status", "done"];
const STAGE: &[&str] = &["step", "note"];
/// What an open task, and an open process, are said to be.
const OPEN: &str = "open";
const RUNNING: &str = "running";
const DONE: &str = "done";

pub(super) fn read_task(reader: &mut Reader<'_>, path: &str, file: &str) -> Option<Task> {
    let mut fields = reader.file(file, "a task", TASK)?;
    let title = fields.required(reader, "title");
    Some(Task {
        about: about(reader, &mut fields),
        who: fields.text(reader, "who"),
        state: state(reader, &mut fields, OPEN),
        note: fields.text(reader, "note").map(|it| prose(&it)).filter(|it| !it.is_empty()),
        set: made(path),
        title: title?,
    })
}

pub(super) fn read_process(reader: &mut Reader<'_>, path: &str, file: &str) -> Option<Process> {
    let mut fields = reader.file(file, "a process", PROCESS)?;
    let at = fields.at();
    let name = fields.required(reader, "name");
    let steps = fields.take("steps").map(|it| list(reader, it, "steps"));
    if steps.as_ref().is_none_or(|it| it.as_ref().is_some_and(Vec::is_empty)) {
        reader.find(Code::MissingKey, at, "a process needs `steps`, one at least");
    }
    let steps = steps.flatten().unwrap_or_default();
    let stages: Vec<_> = steps.into_iter().filter_map(|it| stage(reader, it)).collect();
    let at = fields.take("step").filter(|_| !stages.is_empty());
    let step = at.and_then(|it| step(reader, &it, stages.len()));
    let process = Process {
        about: about(reader, &mut fields),
        step: step.unwrap_or(1),
        state: state(reader, &mut fields, RUNNING),
        started: made(path),
        name: name?,
        stages,
    };
    (!process.stages.is_empty()).then_some(process)
}

pub(super) fn task_out(task: &Task) -> Out {
    let mut pairs = vec![("title", Out::Text(task.title.clone()))];
    pairs.extend(about_out(&task.about));
    pairs.extend(task.who.iter().map(|it| ("who", Out::Text(it.clone()))));
    pairs.extend(state_out(task.state, OPEN));
    pairs.extend(task.note.iter().map(|it| ("note", Out::Text(it.clone()))));
    Out::Map(pairs)
}

pub(super) fn process_out(process: &Process) -> Out {
    let mut pairs = vec![("name", Out::Text(process.name.clone()))];
    pairs.extend(about_out(&process.about));
    pairs.push(("steps", Out::List(process.stages.iter().map(stage_out).collect())));
    pairs.push(("step", Out::Plain(process.step.to_string())));
    pairs.extend(state_out(process.state, RUNNING));
    Out::Map(pairs)
}

fn made(path: &str) -> Option<DateTime<Utc>> {
    front_matter::dated(front_matter::id_in_name(path), path)
}

fn about(reader: &mut Reader<'_>, fields: &mut Fields) -> About {
    let entity = fields.text(reader, "entity");
    let room = fields.take("room").and_then(|it| file_parser::room(reader, it, "room"));
    About { entity, room }
}

fn state(reader: &mut Reader<'_>, fields: &mut Fields, open: &str) -> State {
    let done = fields.take("done").map(|it| (it.at, moment(reader, it, "done")));
    let status = fields.take("status").and_then(|it| Some((it.at, text(reader, it, "status")?)));
    match (status, done) {
        (None, None) => State::Open,
        (None, Some((_, at))) => State::Done(at),
        (Some((_, word)), done) if word == DONE => State::Done(done.and_then(|(_, at)| at)),
        (Some((_, word)), None) if word == open => State::Open,
        (Some((_, word)), Some((at, _))) if word == open => {
            let message = format!("`done` says nothing as long as the `status` is {open}");
            reader.find(Code::UnusedKey, at, message);
            State::Open
        }
        (Some((at, word)), _) => {
            let message =
                format!("the `status` is {open} or {DONE}, not `{}`", word.escape_debug());
            let meant = did_you_mean(&word, [open, DONE]);
            let finding = reader.find(Code::BadValue, at, message);
            finding.hint = meant.map(|it| format!("did you mean `{it}`?"));
            finding.meant = slip_of(&word, [open, DONE]).map(Into::into);
            State::Open
        }
    }
}

fn stage(reader: &mut Reader<'_>, node: Node) -> Option<Stage> {
    let Body::Map(_) = &node.body else {
        return Some(Stage { text: text(reader, node, "steps")?, note: None });
    };
    let mut fields = reader.fields(node, "a step", STAGE)?;
    let said = fields.required(reader, "step");
    let note = fields.text(reader, "note").map(|it| prose(&it)).filter(|it| !it.is_empty());
    Some(Stage { text: said?, note })
}

fn step(reader: &mut Reader<'_>, node: &Node, steps: usize) -> Option<usize> {
    let step = node.to_json().as_u64().and_then(|it| usize::try_from(it).ok());
    let step = step.filter(|it| (1..=steps).contains(it));
    if step.is_none() {
        let message = format!("`step` is the number of the step it is at, 1 to {steps}");
        reader.find(Code::BadValue, node.at, message);
    }
    step
}

fn about_out(about: &About) -> impl Iterator<Item = (&'static str, Out)> {
    let entity = about.entity.iter().map(|it| ("entity", Out::Text(it.clone())));
    entity.chain(about.room.iter().map(|it| ("room", Out::Text(it.to_string()))))
}

fn state_out(state: State, open: &str) -> Vec<(&'static str, Out)> {
    let status = |word: &str| ("status", Out::Plain(word.to_owned()));
    match state {
        State::Open => vec![status(open)],
        State::Done(None) => vec![status(DONE)],
        State::Done(Some(at)) => vec![status(DONE), ("done", moment_out(at))],
    }
}

fn stage_out(stage: &Stage) -> Out {
    let text = Out::Text(stage.text.clone());
    match &stage.note {
        None => text,
        Some(note) => Out::Map(vec![("step", text), ("note", Out::Text(note.clone()))]),
    }
}
