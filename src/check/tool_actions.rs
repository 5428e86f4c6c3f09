//! What actions ask of tools.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::check::{Remark, Survey};
use crate::model::{Action, Bearing, Code, Deed, Room, Tool, Trail, did_you_mean};

impl Survey<'_> {
    /// Looks whether each question has a tool that may answer it.
    pub(crate) fn questions(&self) -> Vec<Remark> {
        let tools = self.by_name();
        let mut remarks = self.allowed(&tools);
        for (id, room) in self.palace.rooms() {
            remarks.extend(self.questions_of(room, &(self.file_of)(id), &tools));
        }
        remarks
    }

    /// Looks whether each question that one room asks has a tool that may answer it.
    pub(crate) fn questions_of(
        &self,
        room: &Room,
        file: &str,
        tools: &HashMap<&str, &Tool>,
    ) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for (place, action) in room.actions.iter().enumerate() {
            let Deed::Query { tool, params } = &action.deed else { continue };
            let at = Trail::TOP.value("actions").item(place);
            match tools.get(Tool::bare_name(tool)) {
                None => remarks.push(self.unknown(file, at.value("tool"), tool)),
                Some(tool) => {
                    remarks.extend(self.forbidden(file, &at, tool));
                    remarks.extend(params_remarks(file, &at, tool, params));
                    let reads = tool.bearing == Bearing::Reads;
                    remarks.extend(
                        reads.then(|| self.nobodies(file, &at, params)).into_iter().flatten(),
                    );
                }
            }
        }
        remarks
    }

    /// Returns the tools by their names.
    pub(crate) fn by_name(&self) -> HashMap<&str, &Tool> {
        self.tools.iter().map(|it| (it.name, it)).collect()
    }

    /// Looks at the tools that settings let actions ask.
    fn allowed(&self, tools: &HashMap<&str, &Tool>) -> Vec<Remark> {
        let allowed = self.palace.settings.allow.iter().enumerate();
        let strange = allowed.filter(|(_, it)| !tools.contains_key(Tool::bare_name(it)));
        let about = |place| Trail::TOP.value("actions").value("allow").item(place);
        strange.map(|(place, it)| self.unknown("palace.toml", about(place), it)).collect()
    }

    fn unknown(&self, file: &str, about: Trail, name: &str) -> Remark {
        let message = format!("there is no tool `{}`", name.escape_debug());
        let remark = Remark::new(Code::UnknownTool, file, about, message);
        match did_you_mean(Tool::bare_name(name), self.tools.iter().map(|it| it.name)) {
            Some(meant) => remark.hint(format!("did you mean `{meant}`?")),
            None => remark,
        }
    }

    /// Tells of entities and genera that are asked for and that nobody has.
    fn nobodies(&self, file: &str, at: &Trail, params: &Map<String, Value>) -> Vec<Remark> {
        let graph = &self.palace.graph;
        let about = |key: &str| at.clone().value("tool_params").value(key);
        // What the visitor says stands in place of `{params}`.
        let said = |key: &str| params.get(key)?.as_str().filter(|it| !it.contains("{params}"));
        let found = |it: &str| graph.get(it).is_some() || graph.names_like(it.trim()).count() == 1;
        let mut remarks = Vec::new();
        for key in Action::NAMING {
            let lost = said(key).filter(|it| !found(it));
            let lost = lost.and_then(|it| graph.lost(it, about(key)));
            remarks.extend(lost.and_then(|it| self.faulty(file, it)));
        }
        let is_torn = self.is_torn("entities/") || self.is_torn("genera/");
        let lost = said("genus").filter(|it| !is_torn && graph.genus_called(it).is_none());
        remarks.extend(lost.map(|it| {
            let genus = it.escape_debug();
            let message = format!("no entity has the genus `{genus}`, and no file tells of it");
            Remark::new(Code::UndefinedGenus, file, about("genus"), message)
        }));
        remarks
    }

    fn forbidden(&self, file: &str, at: &Trail, tool: &Tool) -> Option<Remark> {
        let name = tool.name;
        let why = tool.bearing.refusal(name, &self.palace.settings.allow)?;
        let message = format!("`{name}` {why}, and actions ask only tools that read");
        let hint = match tool.bearing {
            Bearing::Moves => "let the action be one of type navigate",
            _ => "name it in `[actions] allow` of palace.toml, or let whoever visits call it",
        };
        let about = at.clone().value("tool");
        Some(Remark::new(Code::ForbiddenTool, file, about, message).hint(hint))
    }
}

fn params_remarks(file: &str, at: &Trail, tool: &Tool, params: &Map<String, Value>) -> Vec<Remark> {
    let name = tool.name;
    let given = at.clone().value("tool_params");
    let remark = |about, message| Remark::new(Code::ToolParams, file, about, message);
    let mut remarks = Vec::new();
    for (key, value) in params {
        let about = given.clone();
        match tool.parameters.iter().find(|it| it.name == *key) {
            None => {
                let message = format!("`{name}` takes no `{}`", key.escape_debug());
                let known = tool.parameters.iter().map(|it| it.name.as_str());
                let remark = remark(about.key(key), message);
                remarks.push(match did_you_mean(key, known) {
                    Some(meant) => remark.hint(format!("did you mean `{meant}`?")),
                    None => remark,
                });
            }
            Some(parameter) => {
                let kind = parameter.kind.as_deref().filter(|it| !is_a(value, it));
                let wanted = kind.map(|it| format!("`{key}` of `{name}` is {}", a(it)));
                remarks.extend(wanted.map(|it| remark(about.value(key), it)));
            }
        }
    }
    // What the visitor says with the number is what the tool is asked for.
    let missing = |name: &str| name != "query" && params.get(name).is_none_or(Value::is_null);
    for needed in tool.parameters.iter().filter(|it| it.is_needed && missing(&it.name)) {
        let about = if params.is_empty() { at.clone().value("tool") } else { given.clone() };
        remarks.push(remark(about, format!("`{name}` needs `{}`", needed.name)));
    }
    remarks
}

/// Tells whether a value is of a type of JSON Schema; nothing at all fits all.
fn is_a(value: &Value, kind: &str) -> bool {
    match (value, kind) {
        (Value::Null, _) => true,
        (Value::Bool(_), it) => it == "boolean",
        (Value::Number(_), it) => matches!(it, "integer" | "number"),
        (Value::String(_), it) => it == "string",
        (Value::Array(_), it) => it == "array",
        (Value::Object(_), it) => it == "object",
    }
}

fn a(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "integer" | "number" => "a number",
        "string" => "a text: put it in quotes",
        "array" => "a list",
        _ => "a mapping",
    }
}
