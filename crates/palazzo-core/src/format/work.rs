//! Task files, `tasks/<ULID>.yaml`, and process files, `processes/<ULID>.yaml`. Other file names
//! are allowed, but only an id contains the time of creation.

use chrono::{DateTime, Utc};

use crate::format::file_parser;
use crate::format::file_parser::{
    FileParser, MappingFields, parse_item_text, parse_list, parse_text,
};
use crate::format::front_matter;
use crate::format::front_matter::{parse_time, time_to_yaml};
use crate::format::yaml::{Node, NodeValue, OutputNode};
use crate::model::{
    Code, Process, ProcessStep, Task, TimeZone, WorkStatus, WorkSubject, did_you_mean,
    normalize_prose, quoted, typo_correction,
};

const TASK_KEYS: &[&str] = &["title", "entity", "room", "who", "status", "done", "note"];
const PROCESS_KEYS: &[&str] = &["name", "entity", "room", "steps", "step", "status", "done"];
const STEP_KEYS: &[&str] = &["step", "note"];
/// The values of `status`: of an open task, of a running process, and of both when done.
const OPEN_STATUS: &str = "open";
const RUNNING_STATUS: &str = "running";
const DONE_STATUS: &str = "done";

pub(super) fn parse_task(reader: &mut FileParser<'_>, path: &str, text: &str) -> Option<Task> {
    let mut fields = reader.parse_file_as_mapping(text, "a task", TASK_KEYS)?;
    let title = fields.take_required_text(reader, "title");
    Some(Task {
        subject: parse_subject(reader, &mut fields),
        who: fields.take_text(reader, "who"),
        status: parse_status(reader, &mut fields, OPEN_STATUS),
        note: fields
            .take_text(reader, "note")
            .map(|it| normalize_prose(&it))
            .filter(|it| !it.is_empty()),
        created: creation_time_from_path(path, reader.zone()),
        title: title?,
    })
}

pub(super) fn parse_process(
    reader: &mut FileParser<'_>,
    path: &str,
    text: &str,
) -> Option<Process> {
    let mut fields = reader.parse_file_as_mapping(text, "a process", PROCESS_KEYS)?;
    let at = fields.mapping_start();
    let name = fields.take_required_text(reader, "name");
    let steps = fields.take_value("steps").map(|it| parse_list(reader, it, "steps"));
    if steps.as_ref().is_none_or(|it| it.as_ref().is_some_and(Vec::is_empty)) {
        reader.report(Code::MissingKey, at, "a process needs `steps`, at least one");
    }
    let steps = steps.flatten().unwrap_or_default();
    let steps: Vec<_> = steps.into_iter().filter_map(|it| parse_step(reader, it)).collect();
    let at = fields.take_value("step").filter(|_| !steps.is_empty());
    let step = at.and_then(|it| parse_step_number(reader, &it, steps.len()));
    let process = Process {
        subject: parse_subject(reader, &mut fields),
        step_number: step.unwrap_or(1),
        status: parse_status(reader, &mut fields, RUNNING_STATUS),
        started: creation_time_from_path(path, reader.zone()),
        name: name?,
        steps,
    };
    (!process.steps.is_empty()).then_some(process)
}

pub(super) fn task_to_yaml(task: &Task) -> OutputNode {
    let mut pairs = vec![("title", OutputNode::Text(task.title.clone()))];
    pairs.extend(subject_to_yaml(&task.subject));
    pairs.extend(task.who.iter().map(|it| ("who", OutputNode::Text(it.clone()))));
    pairs.extend(status_to_yaml(task.status, OPEN_STATUS));
    pairs.extend(task.note.iter().map(|it| ("note", OutputNode::Text(it.clone()))));
    OutputNode::Map(pairs)
}

pub(super) fn process_to_yaml(process: &Process) -> OutputNode {
    let mut pairs = vec![("name", OutputNode::Text(process.name.clone()))];
    pairs.extend(subject_to_yaml(&process.subject));
    pairs.push(("steps", OutputNode::List(process.steps.iter().map(step_to_yaml).collect())));
    pairs.push(("step", OutputNode::Plain(process.step_number.to_string())));
    pairs.extend(status_to_yaml(process.status, RUNNING_STATUS));
    OutputNode::Map(pairs)
}

fn creation_time_from_path(path: &str, zone: &TimeZone) -> Option<DateTime<Utc>> {
    let id = front_matter::id_from_filename(path);
    front_matter::time_from_id_or_filename(id, path, zone).map(|it| it.at)
}

fn parse_subject(reader: &mut FileParser<'_>, fields: &mut MappingFields) -> WorkSubject {
    let entity = fields.take_text(reader, "entity");
    let room =
        fields.take_value("room").and_then(|it| file_parser::parse_room_ref(reader, it, "room"));
    WorkSubject { entity, room }
}

fn parse_status(reader: &mut FileParser<'_>, fields: &mut MappingFields, open: &str) -> WorkStatus {
    let done = fields.take_value("done");
    let done = done.map(|it| (it.at, parse_time(reader, it, "done").map(|time| time.at)));
    let status =
        fields.take_value("status").and_then(|it| Some((it.at, parse_text(reader, it, "status")?)));
    match (status, done) {
        (None, None) => WorkStatus::Open,
        (None, Some((_, at))) => WorkStatus::Done(at),
        (Some((_, word)), done) if word == DONE_STATUS => {
            WorkStatus::Done(done.and_then(|(_, at)| at))
        }
        (Some((_, word)), None) if word == open => WorkStatus::Open,
        (Some((_, word)), Some((at, _))) if word == open => {
            let message = format!("`done` has no effect while the `status` is {open}");
            reader.report(Code::UnusedKey, at, message);
            WorkStatus::Open
        }
        (Some((at, word)), _) => {
            let message = format!("the `status` is {open} or {DONE_STATUS}, not {}", quoted(&word));
            let meant = did_you_mean(&word, [open, DONE_STATUS]);
            let finding = reader.report(Code::BadValue, at, message);
            finding.suggest(meant);
            finding.set_certain_word(typo_correction(&word, [open, DONE_STATUS]));
            WorkStatus::Open
        }
    }
}

fn parse_step(reader: &mut FileParser<'_>, node: Node) -> Option<ProcessStep> {
    let NodeValue::Map(_) = &node.value else {
        return Some(ProcessStep { text: parse_item_text(reader, node, "steps")?, note: None });
    };
    let mut fields = reader.parse_mapping(node, "a step", STEP_KEYS)?;
    let text = fields.take_required_text(reader, "step");
    let note =
        fields.take_text(reader, "note").map(|it| normalize_prose(&it)).filter(|it| !it.is_empty());
    Some(ProcessStep { text: text?, note })
}

fn parse_step_number(reader: &mut FileParser<'_>, node: &Node, steps: usize) -> Option<usize> {
    let step = node.to_json().as_u64().and_then(|it| usize::try_from(it).ok());
    let step = step.filter(|it| (1..=steps).contains(it));
    if step.is_none() {
        let message = format!("`step` is the number of the current step, 1 to {steps}");
        reader.report(Code::BadValue, node.at, message);
    }
    step
}

fn subject_to_yaml(subject: &WorkSubject) -> impl Iterator<Item = (&'static str, OutputNode)> {
    let entity = subject.entity.iter().map(|it| ("entity", OutputNode::Text(it.clone())));
    entity.chain(subject.room.iter().map(|it| ("room", OutputNode::Text(it.to_string()))))
}

fn status_to_yaml(status: WorkStatus, open: &str) -> Vec<(&'static str, OutputNode)> {
    let pair = |word: &str| ("status", OutputNode::Plain(word.to_owned()));
    match status {
        WorkStatus::Open => vec![pair(open)],
        WorkStatus::Done(None) => vec![pair(DONE_STATUS)],
        WorkStatus::Done(Some(at)) => vec![pair(DONE_STATUS), ("done", time_to_yaml(at))],
    }
}

fn step_to_yaml(stage: &ProcessStep) -> OutputNode {
    let text = OutputNode::Text(stage.text.clone());
    match &stage.note {
        None => text,
        Some(note) => {
            OutputNode::Map(vec![("step", text), ("note", OutputNode::Text(note.clone()))])
        }
    }
}
