//! The tools by name, and how a call reaches the keeper.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::keeper::{Caller, Keeper, ToolRequest};
use crate::mcp::call_queue::CallAccess;
use crate::mcp::reply::{
    ToolReply, ToolResult, error_after_commits, render_warnings, shorten_long_lines,
};
use crate::model::{self, ToolEffect, ToolParameter, did_you_mean, strip_unprintable};

/// A group of tools that are offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// The four tools of the palace.
    Palace,
    /// The tools of the knowledge graph.
    Graph,
    /// The nine tools of the reference memory server.
    Memory,
    /// The nineteen tools of MemPalace.
    Mempalace,
}

/// Every tool there is, and which of them are offered.
pub struct Toolbox {
    tools: Vec<RegisteredTool>,
    offered: Vec<ToolSet>,
}

/// One tool: what it says of itself, and how it is used.
pub(super) struct RegisteredTool {
    set: ToolSet,
    name: &'static str,
    effect: EffectHint,
    definition: Tool,
    run: Box<ToolFn>,
}

type ToolFn = dyn Fn(&Toolbox, &mut Keeper, &Caller, JsonObject) -> ToolResult + Send + Sync;

/// What a tool does to the palace, for clients that ask before they call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectHint {
    /// It only reads.
    Reads,
    /// It may add, and calling it again adds again.
    Adds,
    /// It may add, and calling it again adds nothing more.
    AddsOnce,
    /// It may replace what is there; calling it again changes nothing more.
    /// History keeps what was.
    Replaces,
}

impl ToolSet {
    /// All sets, in the order of their tools.
    pub const ALL: [Self; 4] = [Self::Palace, Self::Graph, Self::Memory, Self::Mempalace];

    /// The sets that the actions of rooms ask: no two tools of theirs share a name.
    pub const FOR_ACTIONS: [Self; 3] = [Self::Palace, Self::Graph, Self::Mempalace];

    /// Returns the word that chooses the set.
    pub fn name(self) -> &'static str {
        match self {
            Self::Palace => "palace",
            Self::Graph => "graph",
            Self::Memory => "memory",
            Self::Mempalace => "mempalace",
        }
    }
}

impl FromStr for ToolSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|it| it.name() == text);
        let known = Self::ALL.map(Self::name).join(", ");
        found.ok_or_else(|| format!("there is no tool set `{text}`; there are {known}"))
    }
}

impl Toolbox {
    /// Lays out `tools`, and offers those of `offered`.
    pub(super) fn from_tools(tools: Vec<RegisteredTool>, offered: Vec<ToolSet>) -> Self {
        Self { tools, offered }
    }

    /// Tells whether the tools of `set` are offered.
    pub fn offers(&self, set: ToolSet) -> bool {
        self.offered.contains(&set)
    }

    /// Returns the name of a tool that two of the sets offered have, if there is one.
    pub fn duplicate_name(&self) -> Option<&'static str> {
        let mut names = BTreeSet::new();
        let mut offered = self.tools.iter().filter(|it| self.offers(it.set));
        offered.find(|it| !names.insert(it.name)).map(|it| it.name)
    }

    /// Lists the tools offered, in an order that never changes.
    pub fn list(&self) -> Vec<Tool> {
        let offered = self.tools.iter().filter(|it| self.offers(it.set));
        offered.map(|it| it.definition.clone()).collect()
    }

    /// Returns the tools that the actions of rooms ask.
    pub fn action_tools(&self) -> Vec<model::Tool> {
        let tool = |it: &RegisteredTool| {
            let (name, bearing, parameters) = (it.name, it.tool_effect(), it.parameters());
            model::Tool { name, effect: bearing, parameters }
        };
        let own = self.tools.iter().filter(|it| ToolSet::FOR_ACTIONS.contains(&it.set));
        own.map(tool).collect()
    }

    /// Calls a tool that is offered; `None`: there is none of that name. A tool
    /// that panics has an answer too, and leaves nothing half done in memory.
    pub fn call_tool(
        &self,
        keeper: &mut Keeper,
        by: &Caller,
        name: &str,
        arguments: JsonObject,
    ) -> Option<ToolResult> {
        let tool = self.find_tool(name, &self.offered)?;
        let run = || self.run_tool(tool, keeper, by, arguments);
        let answer = catch_unwind(AssertUnwindSafe(run));
        let answer = answer.unwrap_or_else(|_| {
            keeper.close_all_palaces();
            Err(format!(
                "{name} met a fault in Palazzo itself. It may be done or not: look before you try again; \
                 everything else stands, and other calls work"
            ))
        });
        // Whatever files and arguments hold, an answer holds only what can be read.
        let shown = answer.map(|it| ToolReply { text: strip_unprintable(&it.text), ..it });
        Some(shown.map_err(|it| shorten_long_lines(&strip_unprintable(&it))))
    }

    /// Returns what a call of a tool needs. One that moves may turn out to change
    /// something: then it asks the keeper after all.
    pub(super) fn access_for(&self, name: &str) -> CallAccess {
        match self.find_tool(name, &self.offered).map(RegisteredTool::tool_effect) {
            Some(ToolEffect::Changes) => CallAccess::Exclusive,
            Some(ToolEffect::Reads | ToolEffect::Moves) | None => CallAccess::Read,
        }
    }

    /// Says why there is no tool of that name to call, and which was meant.
    pub fn explain_missing_tool(&self, name: &str) -> String {
        let quoted = name.escape_debug();
        if self.find_tool(name, &ToolSet::ALL).is_some() {
            return format!(
                "the tool `{quoted}` is not offered here: this server was started with other --tools"
            );
        }
        let offered = self.tools.iter().filter(|it| self.offers(it.set));
        let meant = did_you_mean(name, offered.map(|it| it.name));
        let hint = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
        format!("there is no tool `{quoted}`{hint}")
    }

    /// Answers the question a query action asks. `said` is what the visitor
    /// says with the number.
    pub(super) fn run_query_action(
        &self,
        keeper: &mut Keeper,
        by: &Caller,
        question: &ToolRequest,
        said: Option<&str>,
    ) -> ToolResult {
        let name = model::Tool::bare_name(&question.tool);
        let Some(tool) = self.find_tool(name, &ToolSet::FOR_ACTIONS) else {
            let own = self.tools.iter().filter(|it| ToolSet::FOR_ACTIONS.contains(&it.set));
            let meant = did_you_mean(name, own.map(|it| it.name));
            let hint = meant.map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
            return Err(format!(
                "this action asks `{}`, and there is no such tool{hint}",
                question.tool
            ));
        };
        if let Some(why) = tool.tool_effect().action_refusal(name, &question.allowed_tools) {
            return Err(format!(
                "this action asks `{name}`, which {why}; only tools that read, and those that \
                 `[actions] allow` in palace.toml names, may be asked by an action"
            ));
        }
        if let (ToolEffect::Changes, Some(why)) = (tool.tool_effect(), &question.missing_consent) {
            return Err(format!("this action asks `{name}`, which changes things, and {why}"));
        }
        let arguments = fill_params(tool, question.params.clone(), said)?;
        self.run_tool(tool, keeper, by, arguments)
    }

    fn run_tool(
        &self,
        tool: &RegisteredTool,
        keeper: &mut Keeper,
        by: &Caller,
        arguments: JsonObject,
    ) -> ToolResult {
        let caller = Caller { tool: tool.name, ..by.clone() };
        let answer = (tool.run)(self, keeper, &caller, arguments);
        let committed = keeper.take_commits();
        let answer = answer.map_err(|err| error_after_commits(&committed.commits, &err))?;
        // Answers that are values have no place for a remark.
        Ok(match answer.structured {
            None => {
                let text = keeper.with_workspace_note(by, answer.text);
                ToolReply { text: text + &render_warnings(&committed.warnings), ..answer }
            }
            _ => answer,
        })
    }

    /// Returns the tool of that name in one of `sets`: two sets may have one each.
    fn find_tool(&self, name: &str, sets: &[ToolSet]) -> Option<&RegisteredTool> {
        self.tools.iter().find(|it| it.name == name && sets.contains(&it.set))
    }
}

impl RegisteredTool {
    /// Makes a tool whose arguments are an `A`; its schema is made from the
    /// same type that reads them.
    pub(super) fn new<A: DeserializeOwned + JsonSchema>(
        set: ToolSet,
        name: &'static str,
        (title, description): (&'static str, &'static str),
        effect: EffectHint,
        run: impl Fn(&Toolbox, &mut Keeper, &Caller, A) -> ToolResult + Send + Sync + 'static,
    ) -> Self {
        let hints = ToolAnnotations::with_title(title)
            .read_only(effect == EffectHint::Reads)
            .destructive(effect == EffectHint::Replaces)
            .idempotent(effect != EffectHint::Adds)
            .open_world(false);
        let about =
            Tool::new(name, description, compact_schema::<A>()).with_title(title).annotate(hints);
        let run = move |tools: &Toolbox, keeper: &mut Keeper, by: &Caller, given: JsonObject| {
            run(tools, keeper, by, parse_arguments(name, given)?)
        };
        Self { set, name, effect, definition: about, run: Box::new(run) }
    }

    /// Promises that what the tool answers has a value of the shape `A` too.
    pub(super) fn with_output_schema<A: JsonSchema>(mut self) -> Self {
        self.definition = self.definition.with_raw_output_schema(Arc::new(compact_schema::<A>()));
        self
    }

    fn tool_effect(&self) -> ToolEffect {
        match self.effect {
            _ if matches!(self.name, "palace_action" | "set_workspace") => ToolEffect::Moves,
            EffectHint::Reads => ToolEffect::Reads,
            EffectHint::Adds | EffectHint::AddsOnce | EffectHint::Replaces => ToolEffect::Changes,
        }
    }

    /// Lists what the tool can be told, as its schema has it.
    fn parameters(&self) -> Vec<ToolParameter> {
        let schema = &self.definition.input_schema;
        let needed = schema.get("required").and_then(Value::as_array);
        let is_needed = |name: &str| needed.is_some_and(|it| it.iter().any(|it| it == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        let parameter = |(name, about): (&String, &Value)| ToolParameter {
            name: name.clone(),
            is_required: is_needed(name),
            json_type: about.get("type").and_then(Value::as_str).map(str::to_owned),
        };
        properties.into_iter().flatten().map(parameter).collect()
    }

    fn has_parameter(&self, argument: &str) -> bool {
        let properties = self.definition.input_schema.get("properties");
        properties.is_some_and(|it| it.get(argument).is_some())
    }
}

/// Reads arguments; what is wrong with them is told with the path to it.
fn parse_arguments<A: DeserializeOwned>(tool: &str, given: JsonObject) -> Result<A, String> {
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|err| {
        let path = err.path().to_string();
        let place = if path == "." { String::new() } else { format!(" at `{path}`") };
        format!("wrong arguments for {tool}{place}: {}", err.into_inner())
    })
}

/// Puts what the visitor said where the action has `{params}`; else it is what
/// the tool is asked for.
fn fill_params(
    tool: &RegisteredTool,
    params: JsonObject,
    said: Option<&str>,
) -> Result<JsonObject, String> {
    const PLACEHOLDER: &str = "{params}";
    let mut found = false;
    let mut filled = Value::Object(params);
    for_each_string(&mut filled, &mut |text| {
        if text.contains(PLACEHOLDER) {
            found = true;
            *text = text.replace(PLACEHOLDER, said.unwrap_or_default());
        }
    });
    let mut filled = match filled {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    };
    match said {
        None if found => Err("this action needs words: say them in `params`".to_owned()),
        Some(said) if !found && tool.has_parameter("query") => {
            filled.insert("query".to_owned(), said.into());
            Ok(filled)
        }
        Some(_) if !found => {
            Err("this action takes no `params`: choose it by number alone".to_owned())
        }
        _ => Ok(filled),
    }
}

fn for_each_string(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|it| for_each_string(it, change)),
        Value::Object(map) => map.values_mut().for_each(|it| for_each_string(it, change)),
        _ => {}
    }
}

/// Makes the JSON Schema of arguments, as short as it can be: nothing that
/// clients stumble over (integer formats) or pay tokens for (titles, nulls).
fn compact_schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    trim_schema(&mut schema);
    match schema {
        Value::Object(mut map) => {
            // The tool has a description of its own.
            map.shift_remove("description");
            // Some clients take no object that does not name its properties.
            map.entry("properties").or_insert_with(|| JsonObject::new().into());
            map
        }
        _ => JsonObject::new(),
    }
}

fn trim_schema(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for key in ["title", "format", "default"] {
                if map.get(key).is_some_and(|it| !it.is_object() || key != "title") {
                    map.shift_remove(key);
                }
            }
            if let Some(Value::Array(types)) = map.get_mut("type") {
                types.retain(|it| it != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    map.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = map.get_mut("enum") {
                choices.retain(|it| !it.is_null());
            }
            map.values_mut().for_each(trim_schema);
        }
        Value::Array(items) => items.iter_mut().for_each(trim_schema),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::mcp::arguments::NoArguments;

    fn call_tool(tools: &Toolbox, keeper: &mut Keeper, name: &str) -> Option<ToolResult> {
        tools.call_tool(
            keeper,
            &Caller::for_client("claude", DateTime::UNIX_EPOCH),
            name,
            JsonObject::new(),
        )
    }

    fn test_tool(
        name: &'static str,
        run: impl Fn(&mut Keeper) -> ToolResult + Send + Sync + 'static,
    ) -> RegisteredTool {
        let about = ("Try", "A tool for trying.");
        RegisteredTool::new(
            ToolSet::Palace,
            name,
            about,
            EffectHint::Reads,
            move |_, keeper, _, NoArguments {}| run(keeper),
        )
    }

    #[test]
    fn a_panicking_tool_is_answered_and_later_calls_work() {
        let tools = vec![
            test_tool("fall_over", |_| panic!("over a loose stone")),
            test_tool("stand", |_| Ok("You stand.".to_owned().into())),
        ];
        let tools = Toolbox { tools, offered: vec![ToolSet::Palace] };
        let mut keeper = Keeper::new("nowhere".into(), None);
        for _ in 0..2 {
            let refusal = call_tool(&tools, &mut keeper, "fall_over").unwrap().unwrap_err();
            insta::allow_duplicates! {
                insta::assert_snapshot!(refusal, @"fall_over met a fault in Palazzo itself. It may be done or not: look before you try again; everything else stands, and other calls work");
            }
            let answer = call_tool(&tools, &mut keeper, "stand");
            assert_eq!(answer, Some(Ok("You stand.".to_owned().into())));
        }
    }

    #[test]
    fn a_tool_that_is_not_offered_cannot_be_called() {
        let tools = Toolbox {
            tools: vec![test_tool("stand", |_| Ok(String::new().into()))],
            offered: vec![],
        };
        assert_eq!(call_tool(&tools, &mut Keeper::new("nowhere".into(), None), "stand"), None);
        assert_eq!(tools.list(), []);
    }
}
