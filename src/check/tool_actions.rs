//! What actions ask of tools.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::check::{CheckFinding, PalaceCheck};
use crate::model::{Action, ActionKind, Code, Room, Tool, ToolEffect, ValuePath, did_you_mean};

impl PalaceCheck<'_> {
    /// Looks whether each question has a tool that may answer it.
    pub(crate) fn check_tool_actions(&self) -> Vec<CheckFinding> {
        let tools = self.tools_by_name();
        let mut remarks = self.check_allowed_tools(&tools);
        for (id, room) in self.palace.rooms() {
            remarks.extend(self.check_room_tool_actions(room, &(self.room_file)(id), &tools));
        }
        remarks
    }

    /// Looks whether each question that one room asks has a tool that may answer it.
    pub(crate) fn check_room_tool_actions(
        &self,
        room: &Room,
        file: &str,
        tools: &HashMap<&str, &Tool>,
    ) -> Vec<CheckFinding> {
        let mut remarks = Vec::new();
        for (place, action) in room.actions.iter().enumerate() {
            let ActionKind::Query { tool, params } = &action.kind else { continue };
            let at = ValuePath::ROOT.then_value("actions").then_item(place);
            match tools.get(Tool::bare_name(tool)) {
                None => remarks.push(self.unknown_tool(file, at.then_value("tool"), tool)),
                Some(tool) => {
                    remarks.extend(self.forbidden_tool(file, &at, tool));
                    remarks.extend(check_tool_params(file, &at, tool, params));
                    let reads = tool.effect == ToolEffect::Reads;
                    remarks.extend(
                        reads.then(|| self.unknown_names(file, &at, params)).into_iter().flatten(),
                    );
                }
            }
        }
        remarks
    }

    /// Returns the tools by their names.
    pub(crate) fn tools_by_name(&self) -> HashMap<&str, &Tool> {
        self.tools.iter().map(|it| (it.name, it)).collect()
    }

    /// Looks at the tools that settings let actions ask.
    fn check_allowed_tools(&self, tools: &HashMap<&str, &Tool>) -> Vec<CheckFinding> {
        let allowed = self.palace.settings.allow.iter().enumerate();
        let strange = allowed.filter(|(_, it)| !tools.contains_key(Tool::bare_name(it)));
        let about =
            |place| ValuePath::ROOT.then_value("actions").then_value("allow").then_item(place);
        strange.map(|(place, it)| self.unknown_tool("palace.toml", about(place), it)).collect()
    }

    fn unknown_tool(&self, file: &str, about: ValuePath, name: &str) -> CheckFinding {
        let message = format!("there is no tool `{}`", name.escape_debug());
        let remark = CheckFinding::new(Code::UnknownTool, file, about, message);
        match did_you_mean(Tool::bare_name(name), self.tools.iter().map(|it| it.name)) {
            Some(meant) => remark.with_hint(format!("did you mean `{meant}`?")),
            None => remark,
        }
    }

    /// Tells of entities and genera that are asked for and that nobody has.
    fn unknown_names(
        &self,
        file: &str,
        at: &ValuePath,
        params: &Map<String, Value>,
    ) -> Vec<CheckFinding> {
        let graph = &self.palace.graph;
        let about = |key: &str| at.clone().then_value("tool_params").then_value(key);
        // What the visitor says stands in place of `{params}`.
        let said = |key: &str| params.get(key)?.as_str().filter(|it| !it.contains("{params}"));
        let found =
            |it: &str| graph.get(it).is_some() || graph.names_ignoring_case(it.trim()).count() == 1;
        let mut remarks = Vec::new();
        for key in Action::ENTITY_PARAMS {
            let lost = said(key).filter(|it| !found(it));
            let lost = lost.and_then(|it| graph.undefined_name_fault(it, about(key)));
            remarks.extend(lost.and_then(|it| self.fault_finding(file, it)));
        }
        let is_torn =
            self.has_unreadable_files("entities/") || self.has_unreadable_files("genera/");
        let lost =
            said("genus").filter(|it| !is_torn && graph.find_genus_ignoring_case(it).is_none());
        remarks.extend(lost.map(|it| {
            let genus = it.escape_debug();
            let message = format!("no entity has the genus `{genus}`, and no file tells of it");
            CheckFinding::new(Code::UndefinedGenus, file, about("genus"), message)
        }));
        remarks
    }

    fn forbidden_tool(&self, file: &str, at: &ValuePath, tool: &Tool) -> Option<CheckFinding> {
        let name = tool.name;
        let why = tool.effect.action_refusal(name, &self.palace.settings.allow)?;
        let message = format!("`{name}` {why}, and actions ask only tools that read");
        let hint = match tool.effect {
            ToolEffect::Moves => "let the action be one of type navigate",
            _ => "name it in `[actions] allow` of palace.toml, or let whoever visits call it",
        };
        let about = at.clone().then_value("tool");
        Some(CheckFinding::new(Code::ForbiddenTool, file, about, message).with_hint(hint))
    }
}

fn check_tool_params(
    file: &str,
    at: &ValuePath,
    tool: &Tool,
    params: &Map<String, Value>,
) -> Vec<CheckFinding> {
    let name = tool.name;
    let given = at.clone().then_value("tool_params");
    let remark = |about, message| CheckFinding::new(Code::ToolParams, file, about, message);
    let mut remarks = Vec::new();
    for (key, value) in params {
        let about = given.clone();
        match tool.parameters.iter().find(|it| it.name == *key) {
            None => {
                let message = format!("`{name}` takes no `{}`", key.escape_debug());
                let known = tool.parameters.iter().map(|it| it.name.as_str());
                let remark = remark(about.then_key(key), message);
                remarks.push(match did_you_mean(key, known) {
                    Some(meant) => remark.with_hint(format!("did you mean `{meant}`?")),
                    None => remark,
                });
            }
            Some(parameter) => {
                let kind = parameter.json_type.as_deref().filter(|it| !has_json_type(value, it));
                let wanted =
                    kind.map(|it| format!("`{key}` of `{name}` is {}", json_type_description(it)));
                remarks.extend(wanted.map(|it| remark(about.then_value(key), it)));
            }
        }
    }
    // What the visitor says with the number is what the tool is asked for.
    let missing = |name: &str| name != "query" && params.get(name).is_none_or(Value::is_null);
    for needed in tool.parameters.iter().filter(|it| it.is_required && missing(&it.name)) {
        let about = if params.is_empty() { at.clone().then_value("tool") } else { given.clone() };
        remarks.push(remark(about, format!("`{name}` needs `{}`", needed.name)));
    }
    remarks
}

/// Tells whether a value is of a type of JSON Schema; nothing at all fits all.
fn has_json_type(value: &Value, kind: &str) -> bool {
    match (value, kind) {
        (Value::Null, _) => true,
        (Value::Bool(_), it) => it == "boolean",
        (Value::Number(_), it) => matches!(it, "integer" | "number"),
        (Value::String(_), it) => it == "string",
        (Value::Array(_), it) => it == "array",
        (Value::Object(_), it) => it == "object",
    }
}

fn json_type_description(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "integer" | "number" => "a number",
        "string" => "a text: put it in quotes",
        "array" => "a list",
        _ => "a mapping",
    }
}
