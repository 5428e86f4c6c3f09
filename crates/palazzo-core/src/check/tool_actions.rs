//! Checks actions that call tools.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::check::graph::MAX_SUGGESTIONS;
use crate::check::palace_check::{CheckFinding, PalaceCheck};
use crate::model::{
    Action, ActionKind, Code, Room, Tool, ToolEffect, ToolParameter, ValuePath, did_you_mean,
    quoted,
};

impl PalaceCheck<'_> {
    /// Reports query actions whose tool is unknown, forbidden, or called with wrong
    /// parameters.
    pub(crate) fn check_tool_actions(&self) -> Vec<CheckFinding> {
        let tools = self.tools_by_name();
        let mut findings = self.check_allowed_tools(&tools);
        let mut compared = 0;
        for (id, room) in self.palace.rooms() {
            let file = (self.room_file)(id);
            findings.extend(self.check_room_tool_actions(room, &file, &tools, &mut compared));
        }
        findings
    }

    /// Checks the query actions of one room; `compared` counts the unknown genera and
    /// entities that were compared with the existing ones.
    pub(crate) fn check_room_tool_actions(
        &self,
        room: &Room,
        file: &str,
        tools: &HashMap<&str, &Tool>,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let mut findings = Vec::new();
        for (index, action) in room.actions.iter().enumerate() {
            let at = ValuePath::ROOT.then_value("actions").then_item(index);
            if let ActionKind::ShowEntity { entity } = &action.kind {
                let about = at.then_value("entity");
                findings.extend(self.check_entity_name(file, about, entity, compared));
                continue;
            }
            let ActionKind::Query { tool, params } = &action.kind else { continue };
            findings.extend(check_placeholder_count(file, &at, params));
            match tools.get(Tool::bare_name(tool)) {
                None => findings.push(self.unknown_tool_finding(file, at.then_value("tool"), tool)),
                Some(tool) => {
                    findings.extend(self.check_forbidden_tool(file, &at, tool));
                    findings.extend(check_tool_params(file, &at, tool, params));
                    if tool.effect == ToolEffect::Reads {
                        findings.extend(self.check_entity_params(file, &at, params, compared));
                        findings.extend(self.check_genus_param(file, &at, params, compared));
                    }
                }
            }
        }
        findings
    }

    /// Returns the tools by their names.
    pub(crate) fn tools_by_name(&self) -> HashMap<&str, &Tool> {
        self.tools.iter().map(|it| (it.name, it)).collect()
    }

    /// Reports unknown tools in `[actions] allow` of the settings.
    pub(crate) fn check_allowed_tools(&self, tools: &HashMap<&str, &Tool>) -> Vec<CheckFinding> {
        let allowed = self.palace.settings.allowed_tools.iter().enumerate();
        let unknown = allowed.filter(|(_, it)| !tools.contains_key(Tool::bare_name(it)));
        let about =
            |index| ValuePath::ROOT.then_value("actions").then_value("allow").then_item(index);
        unknown
            .map(|(index, it)| self.unknown_tool_finding("palace.toml", about(index), it))
            .collect()
    }

    fn unknown_tool_finding(&self, file: &str, about: ValuePath, name: &str) -> CheckFinding {
        let message = format!("there is no tool {}", quoted(name));
        let finding = CheckFinding::new(Code::UnknownTool, file, about, message);
        let known = self.tools.iter().map(|it| it.name);
        finding.with_suggestion(did_you_mean(Tool::bare_name(name), known))
    }

    /// Reports parameters that name entities which do not exist.
    fn check_entity_params(
        &self,
        file: &str,
        at: &ValuePath,
        params: &Map<String, Value>,
        compared: &mut usize,
    ) -> Vec<CheckFinding> {
        let about = |key: &str| at.clone().then_value("tool_params").then_value(key);
        let one = Action::ENTITY_PARAMS.into_iter();
        let one = one.filter_map(|key| Some((about(key), params.get(key)?)));
        let key = Action::ENTITY_LIST_PARAM;
        let listed = params.get(key).and_then(Value::as_array).into_iter().flatten();
        let listed = listed.enumerate().map(|(at, it)| (about(key).then_item(at), it));
        let named = one.chain(listed).filter_map(|(about, it)| Some((about, it.as_str()?)));
        named.filter_map(|(about, it)| self.check_entity_name(file, about, it, compared)).collect()
    }

    /// Reports a name that no entity has.
    fn check_entity_name(
        &self,
        file: &str,
        about: ValuePath,
        name: &str,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        let graph = &self.palace.graph;
        if graph.find_entity(name).is_some() || contains_placeholder(name) {
            return None;
        }
        let finding = self.fault_finding(file, graph.undefined_name_fault(name, about)?)?;
        if finding.diagnostic.hint.is_some() {
            return Some(finding);
        }
        *compared += 1;
        let meant = (*compared <= MAX_SUGGESTIONS).then(|| graph.closest_name(name));
        Some(finding.with_suggestion(meant.flatten()))
    }

    /// Reports a parameter that names a genus which does not exist.
    fn check_genus_param(
        &self,
        file: &str,
        at: &ValuePath,
        params: &Map<String, Value>,
        compared: &mut usize,
    ) -> Option<CheckFinding> {
        let graph = &self.palace.graph;
        let genus = params.get("genus")?.as_str().filter(|it| !contains_placeholder(it))?;
        if self.has_unreadable_files("entities/")
            || self.has_unreadable_files("genera/")
            || graph.find_genus_ignoring_case(genus).is_some()
        {
            return None;
        }
        let about = at.clone().then_value("tool_params").then_value("genus");
        Some(self.unknown_genus_finding(file, about, genus, compared))
    }

    fn check_forbidden_tool(
        &self,
        file: &str,
        at: &ValuePath,
        tool: &Tool,
    ) -> Option<CheckFinding> {
        let name = tool.name;
        let why = tool.effect.action_refusal(name, &self.palace.settings.allowed_tools)?;
        let message = format!("`{name}` {why}, and actions may call only tools that read");
        let hint = match tool.effect {
            ToolEffect::Moves => "change the type of the action to navigate",
            _ => "add it to `[actions] allow` in palace.toml, or leave the call to the visitor",
        };
        let about = at.clone().then_value("tool");
        Some(CheckFinding::new(Code::ForbiddenTool, file, about, message).with_hint(hint))
    }
}

/// Returns whether a text contains `{params}`, which the visitor's input replaces.
fn contains_placeholder(text: &str) -> bool {
    text.contains(Action::PLACEHOLDER)
}

/// Reports parameters that contain so many placeholders that an input of ordinary length is refused.
fn check_placeholder_count(
    file: &str,
    at: &ValuePath,
    params: &Map<String, Value>,
) -> Option<CheckFinding> {
    let count = params.values().map(count_placeholders).sum::<usize>();
    let most = Action::MAX_PLACEHOLDERS;
    (count > most).then(|| {
        let message = format!("the parameters contain `{}` {count} times", Action::PLACEHOLDER);
        let about = at.clone().then_value("tool_params");
        let finding = CheckFinding::new(Code::ManyPlaceholders, file, about, message);
        finding.with_hint(format!("write it at most {most} times"))
    })
}

fn count_placeholders(value: &Value) -> usize {
    match value {
        Value::String(text) => text.matches(Action::PLACEHOLDER).count(),
        Value::Array(items) => items.iter().map(count_placeholders).sum(),
        Value::Object(map) => map.values().map(count_placeholders).sum(),
        _ => 0,
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
    let finding = |about, message| CheckFinding::new(Code::ToolParams, file, about, message);
    let mut findings = Vec::new();
    for (key, value) in params {
        let about = given.clone();
        match tool.parameters.iter().find(|it| it.name == *key) {
            None => {
                let message = format!("`{name}` takes no {}", quoted(key));
                let known = tool.parameters.iter().map(|it| it.name.as_str());
                let finding = finding(about.then_key(key), message);
                findings.push(finding.with_suggestion(did_you_mean(key, known)));
            }
            Some(parameter) => {
                let kind = parameter.json_type.as_deref().filter(|it| !has_json_type(value, it));
                let message = kind.map(|it| {
                    format!("{} of `{name}` must be {}", quoted(key), json_type_description(it))
                });
                findings.extend(message.map(|it| finding(about.then_value(key), it)));
            }
        }
    }
    // The visitor's input is passed as `query`, so it may be missing here.
    let is_given = |name: &str| params.get(name).is_some_and(|it| !it.is_null());
    let missing = |name: &str| {
        name != "query" && !is_given(name) && !is_given(&ToolParameter::plural_name(name))
    };
    for needed in tool.parameters.iter().filter(|it| it.is_required && missing(&it.name)) {
        let about = if params.is_empty() { at.clone().then_value("tool") } else { given.clone() };
        findings.push(finding(about, format!("`{name}` needs `{}`", needed.name)));
    }
    findings
}

/// Returns true if a value has a type of JSON Schema; null has every type.
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    /// Checks a palace with the entity `Stasis` and a room with one query action.
    fn findings_of_query(query: &str, settings: &str) -> String {
        let hall = format!("name: Hall\nactions:\n  - {{ label: Ask, type: query, {query} }}\n");
        findings_of(&[
            ("palace.toml", &format!("format = 1\nname = \"Test\"\n{settings}")),
            ("rooms/hall.yaml", &hall),
            ("entities/claim/stasis.yaml", "name: Stasis\ngenus: Claim\n"),
        ])
    }

    #[test]
    fn an_unknown_tool_is_reported_with_the_most_similar_one() {
        assert_snapshot!(
            findings_of_query("tool: mcp__palazzo__get_entty", ""),
            @"rooms/hall.yaml actions 0 tool: unknown-tool: there is no tool `mcp__palazzo__get_entty` (did you mean `get_entity`?)"
        );
        assert_snapshot!(
            findings_of_query("tool: weather", ""),
            @"rooms/hall.yaml actions 0 tool: unknown-tool: there is no tool `weather`"
        );
    }

    #[test]
    fn a_tool_may_have_the_prefix_of_a_client() {
        for tool in ["get_entity", "'palazzo:get_entity'", "mcp__palazzo__get_entity"] {
            let query = format!("tool: {tool}, tool_params: {{ name: Stasis }}");
            assert_eq!(findings_of_query(&query, ""), "", "{tool}");
        }
    }

    #[test]
    fn an_action_may_not_call_a_tool_that_changes_things_or_moves() {
        assert_snapshot!(
            findings_of_query("tool: update_entity, tool_params: { name: Stasis }", ""),
            @"rooms/hall.yaml actions 0 tool: forbidden-tool: `update_entity` changes things, and actions may call only tools that read (add it to `[actions] allow` in palace.toml, or leave the call to the visitor)"
        );
        assert_snapshot!(
            findings_of_query("tool: set_workspace", "[actions]\nallow = [\"set_workspace\"]\n"),
            @"rooms/hall.yaml actions 0 tool: forbidden-tool: `set_workspace` moves the visitor, and actions may call only tools that read (change the type of the action to navigate)"
        );
    }

    #[test]
    fn an_allowed_tool_may_change_an_entity_that_does_not_exist_yet() {
        let query = "tool: update_entity, tool_params: { name: Drift }";
        let settings = "[actions]\nallow = [\"palazzo:update_entity\"]\n";
        assert_eq!(findings_of_query(query, settings), "");
    }

    #[test]
    fn an_action_that_shows_an_unknown_entity_is_reported_with_the_most_similar_one() {
        assert_snapshot!(findings_of_query("entity: Stassis", ""), @"rooms/hall.yaml actions 0 entity: undefined-entity: there is no entity `Stassis` yet (did you mean `Stasis`?)");
        assert_snapshot!(findings_of_query("entity: Drift", ""), @"rooms/hall.yaml actions 0 entity: undefined-entity: there is no entity `Drift` yet");
        assert_eq!(findings_of_query("entity: stasis", ""), "");
        assert_eq!(findings_of_query("entity: '{params}'", ""), "");
    }

    #[test]
    fn an_unknown_tool_in_the_settings_is_reported() {
        let settings = "[actions]\nallow = [\"update_entity\", \"update_entty\"]\n";
        assert_snapshot!(
            findings_of_query("tool: search_entities", settings),
            @"palace.toml actions allow 1: unknown-tool: there is no tool `update_entty` (did you mean `update_entity`?)"
        );
    }

    #[test]
    fn a_parameter_has_the_type_of_its_schema_or_is_null() {
        let query = "tool: list_entities, tool_params: { genus: 1984, page: last }";
        assert_snapshot!(findings_of_query(query, ""), @"
        rooms/hall.yaml actions 0 tool_params genus: tool-params: `genus` of `list_entities` must be a text: put it in quotes
        rooms/hall.yaml actions 0 tool_params page: tool-params: `page` of `list_entities` must be a number
        ");
        let query = "tool: list_entities, tool_params: { genus: null, page: 2 }";
        assert_eq!(findings_of_query(query, ""), "");
    }

    #[test]
    fn a_misspelt_parameter_is_reported_beside_the_missing_one() {
        let query = "tool: get_entity, tool_params: { nam: Stasis }";
        assert_snapshot!(findings_of_query(query, ""), @"
        rooms/hall.yaml actions 0 tool_params nam: tool-params: `get_entity` takes no `nam` (did you mean `name`?)
        rooms/hall.yaml actions 0 tool_params: tool-params: `get_entity` needs `name`
        ");
    }

    #[test]
    fn a_missing_parameter_is_reported_at_the_tool_if_none_is_given() {
        assert_snapshot!(
            findings_of_query("tool: get_entity", ""),
            @"rooms/hall.yaml actions 0 tool: tool-params: `get_entity` needs `name`"
        );
        assert_snapshot!(
            findings_of_query("tool: get_entity, tool_params: { name: null }", ""),
            @"rooms/hall.yaml actions 0 tool_params: tool-params: `get_entity` needs `name`"
        );
    }

    #[test]
    fn a_misspelt_genus_is_reported_with_the_most_similar_one() {
        assert_snapshot!(
            findings_of_query("tool: list_entities, tool_params: { genus: Clam }", ""),
            @"rooms/hall.yaml actions 0 tool_params genus: undefined-genus: no entity has the genus `Clam`, and no genus file defines it (did you mean `Claim`?)"
        );
    }

    #[test]
    fn an_action_with_many_placeholders_is_reported() {
        let query = |count| {
            let text = "{params}".repeat(count);
            format!("tool: search_entities, tool_params: {{ query: '{text}' }}")
        };
        assert_eq!(findings_of_query(&query(64), ""), "");
        assert_snapshot!(
            findings_of_query(&query(65), ""),
            @"rooms/hall.yaml actions 0 tool_params: many-placeholders: the parameters contain `{params}` 65 times (write it at most 64 times)"
        );
    }

    #[test]
    fn the_required_query_may_be_left_to_the_visitor() {
        assert_eq!(findings_of_query("tool: search_entities", ""), "");
    }

    #[test]
    fn a_parameter_that_names_an_undefined_entity_or_genus_is_reported() {
        assert_snapshot!(
            findings_of_query("tool: get_entity, tool_params: { name: Drift }", ""),
            @"rooms/hall.yaml actions 0 tool_params name: undefined-entity: there is no entity `Drift` yet"
        );
        assert_snapshot!(
            findings_of_query("tool: list_entities, tool_params: { genus: Lead }", ""),
            @"rooms/hall.yaml actions 0 tool_params genus: undefined-genus: no entity has the genus `Lead`, and no genus file defines it"
        );
        for name in ["' STASIS '", "'{params}'", "'the {params}'"] {
            let query = format!("tool: get_entity, tool_params: {{ name: {name} }}");
            assert_eq!(findings_of_query(&query, ""), "", "{name}");
        }
    }
}
