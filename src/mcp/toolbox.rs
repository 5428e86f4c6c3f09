//! The registry of tools, and how a call reaches the keeper.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::mcp::arguments::{Blanks, normalize_arguments, parse_arguments};
use crate::mcp::call_queue::CallAccess;
use crate::mcp::reply::{
    ToolReply, ToolResult, WorkWithoutKeeper, error_after_commits, make_printable, render_warnings,
};
use palazzo_core::model::{self, Action, ToolEffect, ToolParameter, did_you_mean, quoted};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, ActionToolCall, Caller, Keeper};

/// A group of tools that are offered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// The four tools of the palace.
    Palace,
    /// The tools of the knowledge graph.
    Graph,
    /// The tools for conflicts that merges leave.
    Sync,
    /// The nine tools of the reference memory server.
    Memory,
    /// The nineteen tools of MemPalace.
    Mempalace,
}

/// All tools, and which tool sets are offered.
#[derive(Default)]
pub struct Toolbox {
    pub(super) tools: Vec<RegisteredTool>,
    offered: Vec<ToolSet>,
    /// Returns whether the set `sync` is listed now although it is not one of `offered`.
    sync_condition: Option<SyncCondition>,
}

type SyncCondition = Box<dyn Fn() -> bool + Send + Sync>;

/// A tool: its definition, and the function that runs it.
pub(super) struct RegisteredTool {
    pub(super) set: ToolSet,
    pub(super) name: &'static str,
    effect: EffectHint,
    pub(super) definition: Tool,
    run: Run,
}

/// How a tool runs.
enum Run {
    /// On the keeper.
    OnKeeper(Box<ToolFn>),
    /// Begins on the keeper, and continues without it.
    Detached(Box<DetachedToolFn>),
}

type ToolFn = dyn Fn(&Toolbox, &mut Keeper, &Caller, JsonObject) -> ToolResult + Send + Sync;
type DetachedToolFn =
    dyn Fn(&mut Keeper, &Caller, JsonObject) -> Result<WorkWithoutKeeper, String> + Send + Sync;

impl ToolSet {
    /// All sets, in the order of their tools.
    pub const ALL: [Self; 5] =
        [Self::Palace, Self::Graph, Self::Sync, Self::Memory, Self::Mempalace];

    /// The sets that a client is offered without `--tools`.
    pub const DEFAULT: [Self; 2] = [Self::Palace, Self::Graph];

    /// The sets that room actions may call: no two of their tools share a name.
    pub const FOR_ACTIONS: [Self; 4] = [Self::Palace, Self::Graph, Self::Sync, Self::Mempalace];

    /// Returns the arguments as they are parsed. The tools of the reference memory server refuse what it refuses,
    /// and the tools of `MemPalace` decide on blanks themselves.
    fn normalize_arguments(self, schema: &JsonObject, arguments: JsonObject) -> JsonObject {
        match self {
            Self::Memory => arguments,
            Self::Mempalace => normalize_arguments(schema, arguments, Blanks::Kept),
            Self::Palace | Self::Graph | Self::Sync => {
                normalize_arguments(schema, arguments, Blanks::LeftOut)
            }
        }
    }

    /// Returns the name of the set in `--tools`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Palace => "palace",
            Self::Graph => "graph",
            Self::Sync => "sync",
            Self::Memory => "memory",
            Self::Mempalace => "mempalace",
        }
    }

    /// Returns whether long answers are cut. The tools of other servers have the bounds of those.
    fn has_answer_limit(self) -> bool {
        !matches!(self, Self::Memory | Self::Mempalace)
    }
}

impl FromStr for ToolSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let set = Self::ALL.into_iter().find(|it| it.name() == text);
        let names = Self::ALL.map(Self::name).join(", ");
        set.ok_or_else(|| format!("there is no tool set `{text}`; there are {names}"))
    }
}

impl Toolbox {
    /// Registers `tools`, and offers the sets in `offered`.
    pub(super) fn from_tools(tools: Vec<RegisteredTool>, offered: Vec<ToolSet>) -> Self {
        Self { tools, offered, sync_condition: None }
    }

    /// Also lists the tools of the set `sync` while `is_set_up` returns true. They can be called at
    /// any time.
    #[must_use]
    pub fn with_sync_tools_if(
        mut self,
        is_set_up: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        self.sync_condition = (!self.offers(ToolSet::Sync)).then(|| Box::new(is_set_up) as _);
        self
    }

    /// Leaves out the tools that change something.
    #[must_use]
    pub fn without_changing_tools(mut self) -> Self {
        self.tools.retain(|it| it.tool_effect() != ToolEffect::Changes);
        self
    }

    /// Returns whether the tools of `set` are offered.
    pub fn offers(&self, set: ToolSet) -> bool {
        self.offered.contains(&set)
    }

    /// Returns a tool name that two of the offered sets share, if there is one.
    pub fn duplicate_tool_name(&self) -> Option<&'static str> {
        let mut names = BTreeSet::new();
        let mut offered = self.tools.iter().filter(|it| self.offers(it.set));
        offered.find(|it| !names.insert(it.name)).map(|it| it.name)
    }

    /// Lists the offered tools, always in the same order.
    pub fn offered_tools(&self) -> Vec<Tool> {
        let is_sync_listed = self.sync_condition.as_ref().is_some_and(|it| it());
        let is_listed =
            |it: &&RegisteredTool| self.offers(it.set) || is_sync_listed && it.set == ToolSet::Sync;
        self.tools.iter().filter(is_listed).map(|it| it.definition.clone()).collect()
    }

    /// Returns whether the list of offered tools may change.
    pub(super) fn has_changing_list(&self) -> bool {
        self.sync_condition.is_some()
    }

    /// Returns the tools that room actions may call.
    pub fn action_tools(&self) -> Vec<model::Tool> {
        let tool = |it: &RegisteredTool| {
            let (name, effect, parameters) = (it.name, it.tool_effect(), it.parameters());
            model::Tool { name, effect, parameters }
        };
        let own = self.tools.iter().filter(|it| ToolSet::FOR_ACTIONS.contains(&it.set));
        own.filter(|it| matches!(it.run, Run::OnKeeper(_))).map(tool).collect()
    }

    /// Calls an offered tool; `None` if no offered tool has that name. If the tool
    /// panics, the answer is an error, and the palaces are closed so that no half-made
    /// state stays in memory.
    pub fn call_tool(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        name: &str,
        arguments: JsonObject,
    ) -> Option<ToolResult> {
        let tool = self.find_callable_tool(name)?;
        let run = || self.run_registered(tool, keeper, caller, arguments);
        let answer = catch_unwind(AssertUnwindSafe(run));
        let answer = answer.unwrap_or_else(|_| {
            keeper.close_all_palaces();
            Err(format!(
                "{name} failed because of a bug in Palazzo. The change may or may not have been \
                 made: check before you try again; nothing else is affected, and other calls work"
            ))
        });
        let answer = make_printable(answer);
        if !tool.set.has_answer_limit() {
            return Some(answer);
        }
        let mut cut = |text| {
            let visit = self.offers(ToolSet::Palace).then_some((&mut *keeper, caller));
            keeper::cut_answer(text, visit)
        };
        Some(match answer {
            Ok(it) => Ok(ToolReply { text: cut(it.text), ..it }),
            Err(refusal) => Err(cut(refusal)),
        })
    }

    /// Begins a call of an offered tool that continues without the keeper; `None` if it is no such
    /// tool.
    pub(super) fn begin_call_without_keeper(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        name: &str,
        arguments: &JsonObject,
    ) -> Option<Result<WorkWithoutKeeper, String>> {
        match &self.find_callable_tool(name)?.run {
            Run::Detached(begin) => Some(begin(keeper, caller, arguments.clone())),
            Run::OnKeeper(_) => None,
        }
    }

    /// Returns what access a call needs. A tool that moves may turn out to change
    /// something; its call then switches to the keeper.
    pub(super) fn required_access(&self, name: &str) -> CallAccess {
        match self.find_callable_tool(name).map(RegisteredTool::tool_effect) {
            Some(ToolEffect::Changes) => CallAccess::Exclusive,
            Some(ToolEffect::Reads | ToolEffect::Moves) | None => CallAccess::Read,
        }
    }

    /// Explains why a tool of that name cannot be called, and suggests a similar name.
    pub fn explain_missing_tool(&self, name: &str) -> String {
        let name_in_quotes = quoted(name);
        if self.find_tool(name, &ToolSet::ALL).is_some() {
            return format!(
                "the tool {name_in_quotes} is not offered here: this server was started with other --tools"
            );
        }
        let offered = self.tools.iter().filter(|it| self.offers(it.set));
        let similar = did_you_mean(name, offered.map(|it| it.name));
        let hint = similar.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
        format!("there is no tool {name_in_quotes}{hint}")
    }

    /// Runs the tool of a query action. `words` is the text that the visitor gave with
    /// the number.
    pub fn run_query_action(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        request: &ActionToolCall,
        words: Option<&str>,
    ) -> ToolResult {
        let name = model::Tool::bare_name(&request.tool);
        let Some(tool) = self.find_tool(name, &ToolSet::FOR_ACTIONS) else {
            let own = self.tools.iter().filter(|it| ToolSet::FOR_ACTIONS.contains(&it.set));
            let similar = did_you_mean(name, own.map(|it| it.name));
            let hint =
                similar.map(|it| format!("; did you mean {}?", quoted(it))).unwrap_or_default();
            return Err(format!(
                "this action runs {}, but there is no such tool{hint}",
                quoted(&request.tool)
            ));
        };
        if let Some(why) = tool.tool_effect().action_refusal(name, &request.allowed_tools) {
            return Err(format!(
                "this action runs `{name}`, which {why}; an action may run only tools that read, \
                 and those listed in `[actions] allow` in palace.toml"
            ));
        }
        if let (ToolEffect::Changes, Some(why)) = (tool.tool_effect(), &request.missing_consent) {
            return Err(format!("this action runs `{name}`, which changes things, and {why}"));
        }
        let arguments = substitute_placeholder(tool, request.params.clone(), words)?;
        self.run_registered(tool, keeper, caller, arguments)
    }

    fn run_registered(
        &self,
        tool: &RegisteredTool,
        keeper: &mut Keeper,
        caller: &Caller,
        arguments: JsonObject,
    ) -> ToolResult {
        let tool_caller = Caller { tool: tool.name, ..caller.clone() };
        let Run::OnKeeper(run) = &tool.run else {
            return Err(format!("`{}` cannot be run by an action: call it by itself", tool.name));
        };
        let answer = run(self, keeper, &tool_caller, arguments);
        let committed = keeper.take_commits();
        let answer = answer.map_err(|err| error_after_commits(&committed.commits, &err))?;
        // An answer that is a value has no place for notes and warnings.
        Ok(match answer.structured {
            None => {
                let text = keeper.with_workspace_note(caller, answer.text);
                ToolReply { text: text + &render_warnings(&committed.warnings), ..answer }
            }
            _ => answer,
        })
    }

    /// Returns the tool of that name in one of the sets that are offered, now or at other times.
    fn find_callable_tool(&self, name: &str) -> Option<&RegisteredTool> {
        let at_times: &[ToolSet] =
            if self.sync_condition.is_some() { &[ToolSet::Sync] } else { &[] };
        self.find_tool(name, &self.offered).or_else(|| self.find_tool(name, at_times))
    }

    /// Returns the tool of that name in one of `sets`: two sets may share a name.
    pub(super) fn find_tool(&self, name: &str, sets: &[ToolSet]) -> Option<&RegisteredTool> {
        self.tools.iter().find(|it| it.name == name && sets.contains(&it.set))
    }
}

impl RegisteredTool {
    /// Makes a tool with arguments of type `A`. The schema is generated from the type
    /// that parses them.
    pub(super) fn new<A: DeserializeOwned + JsonSchema>(
        set: ToolSet,
        name: &'static str,
        (title, description): (&'static str, &'static str),
        effect: EffectHint,
        run: impl Fn(&Toolbox, &mut Keeper, &Caller, A) -> ToolResult + Send + Sync + 'static,
    ) -> Self {
        let mut definition = Tool::new(name, description, compact_schema::<A>());
        definition = definition.annotate(effect.annotations());
        // The tools of the reference memory server have the titles that they have there.
        if set == ToolSet::Memory || !is_title_of_name(title, name) {
            definition = definition.with_title(title);
        }
        let schema = definition.input_schema.clone();
        let run =
            move |tools: &Toolbox, keeper: &mut Keeper, by: &Caller, arguments: JsonObject| {
                let arguments = strip_marks_from_arguments(set, arguments);
                let arguments = set.normalize_arguments(&schema, arguments);
                run(tools, keeper, by, parse_arguments(name, arguments)?)
            };
        Self { set, name, effect, definition, run: Run::OnKeeper(Box::new(run)) }
    }

    /// Makes a tool that begins on the keeper and continues without it.
    pub(super) fn new_detached<A: DeserializeOwned + JsonSchema>(
        set: ToolSet,
        name: &'static str,
        about: (&'static str, &'static str),
        effect: EffectHint,
        begin: impl Fn(&mut Keeper, &Caller, A) -> Result<WorkWithoutKeeper, String>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let unused = |_: &Toolbox, _: &mut Keeper, _: &Caller, _: A| Err(String::new());
        let tool = Self::new(set, name, about, effect, unused);
        let schema = tool.definition.input_schema.clone();
        let begin = move |keeper: &mut Keeper, by: &Caller, arguments: JsonObject| {
            let arguments = set.normalize_arguments(&schema, arguments);
            begin(keeper, by, parse_arguments(name, arguments)?)
        };
        Self { run: Run::Detached(Box::new(begin)), ..tool }
    }

    /// Declares that the tool also answers with a value of type `A`.
    pub(super) fn with_output_schema<A: JsonSchema>(mut self) -> Self {
        self.definition = self.definition.with_raw_output_schema(Arc::new(compact_schema::<A>()));
        self
    }

    pub(super) fn tool_effect(&self) -> ToolEffect {
        match self.effect {
            _ if matches!(self.name, "palace_action" | "set_workspace") => ToolEffect::Moves,
            EffectHint::Reads => ToolEffect::Reads,
            EffectHint::Adds | EffectHint::AddsOnce | EffectHint::Replaces => ToolEffect::Changes,
        }
    }

    /// Lists the tool's parameters, from its schema.
    fn parameters(&self) -> Vec<ToolParameter> {
        let schema = &self.definition.input_schema;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let properties = schema.get("properties").and_then(Value::as_object);
        // A tool that takes one or several needs one of the two.
        let has_plural = |name: &str| {
            properties.is_some_and(|it| it.contains_key(&ToolParameter::plural_name(name)))
        };
        let parameter = |(name, about): (&String, &Value)| ToolParameter {
            name: name.clone(),
            is_required: is_required(name) || has_plural(name),
            json_type: about.get("type").and_then(Value::as_str).map(str::to_owned),
        };
        properties.into_iter().flatten().map(parameter).collect()
    }

    pub(super) fn has_parameter(&self, argument: &str) -> bool {
        let properties = self.definition.input_schema.get("properties");
        properties.is_some_and(|it| it.get(argument).is_some())
    }
}

/// The effect of a tool on the palace, as a hint for clients that ask the user before a
/// call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EffectHint {
    /// Only reads.
    Reads,
    /// Adds; a second call adds again.
    Adds,
    /// Adds; a second call with the same arguments adds nothing.
    AddsOnce,
    /// May replace content; a second call changes nothing more. Git keeps the old
    /// content.
    Replaces,
}

impl EffectHint {
    /// Returns the hints for clients, without those that equal the default of MCP.
    pub(super) fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => hints.read_only(true),
            Self::Adds => hints.destructive(false),
            Self::AddsOnce => hints.destructive(false).idempotent(true),
            Self::Replaces => hints.destructive(true).idempotent(true),
        }
    }
}

/// Replaces `{params}` in the action's arguments by the visitor's words; without
/// `{params}`, the words become the tool's `query`.
fn substitute_placeholder(
    tool: &RegisteredTool,
    params: JsonObject,
    words: Option<&str>,
) -> Result<JsonObject, String> {
    let mut filled = Value::Object(params);
    let found = reject_oversized_replacement(&mut filled, words.unwrap_or_default())?;
    for_each_string(&mut filled, &mut |text| {
        if text.contains(Action::PLACEHOLDER) {
            *text = text.replace(Action::PLACEHOLDER, words.unwrap_or_default());
        }
    });
    let mut filled = match filled {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    };
    match words {
        None if found => Err("this action needs words: give them in `params`".to_owned()),
        Some(words) if !found && tool.has_parameter("query") => {
            filled.insert("query".to_owned(), words.into());
            Ok(filled)
        }
        Some(_) if !found => {
            Err("this action takes no `params`: choose it by number alone".to_owned())
        }
        _ => Ok(filled),
    }
}

/// Returns whether there are placeholders. Fails if the texts that contain them would become too
/// large: an action with many of them, and long words, could use up the memory of the server.
fn reject_oversized_replacement(params: &mut Value, words: &str) -> Result<bool, String> {
    let (mut bytes, mut found) = (0_usize, false);
    for_each_string(params, &mut |text| {
        let count = text.matches(Action::PLACEHOLDER).count();
        if count > 0 {
            let rest = text.len() - count * Action::PLACEHOLDER.len();
            bytes = bytes.saturating_add(rest).saturating_add(count.saturating_mul(words.len()));
            found = true;
        }
    });
    match bytes > Action::MAX_FILLED_BYTES {
        false => Ok(found),
        true => Err(format!(
            "with these `params`, the parameters of the action would have {bytes} bytes, and the \
             limit is {}: give shorter ones, or write `{}` fewer times in the action",
            Action::MAX_FILLED_BYTES,
            Action::PLACEHOLDER
        )),
    }
}

/// Removes the signs of imitations from texts, because an agent copies what it has read. The tools of
/// other servers keep texts word for word.
fn strip_marks_from_arguments(set: ToolSet, arguments: JsonObject) -> JsonObject {
    let mut arguments = Value::Object(arguments);
    if matches!(set, ToolSet::Palace | ToolSet::Graph) {
        for_each_string(&mut arguments, &mut |text| {
            if text.contains(render::IMITATION_MARK) {
                *text = render::unmark_imitations(text);
            }
        });
    }
    match arguments {
        Value::Object(map) => map,
        _ => JsonObject::new(),
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

/// Returns whether a title only repeats the words of a tool's name: `Create a task` for
/// `create_task`.
fn is_title_of_name(title: &str, name: &str) -> bool {
    let title = title.to_lowercase();
    let words = title.split(' ').filter(|it| !matches!(*it, "a" | "an" | "the"));
    words.eq(name.split('_'))
}

/// Makes the JSON Schema of arguments as short as possible, without what breaks clients
/// (integer formats) or costs tokens: titles, nulls, and the rules that are checked
/// when the arguments are parsed.
///
/// Short JSON Schemas of arguments and answers: clients put the list of tools into every
/// conversation.
fn compact_schema<A: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    trim_schema(&mut schema);
    match schema {
        Value::Object(mut map) => {
            // The tool has its own description.
            map.shift_remove("description");
            // Some clients reject an object schema without `properties`.
            map.entry("properties").or_insert_with(|| JsonObject::new().into());
            map
        }
        _ => JsonObject::new(),
    }
}

fn trim_schema(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            for key in ["title", "format", "default", "minimum", "additionalProperties"] {
                if map.get(key).is_some_and(|it| !it.is_object()) {
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
        let title_and_description = ("Try", "A tool for trying.");
        RegisteredTool::new(
            ToolSet::Palace,
            name,
            title_and_description,
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
        let tools = Toolbox::from_tools(tools, vec![ToolSet::Palace]);
        let mut keeper = Keeper::new("nowhere".into(), None);
        for _ in 0..2 {
            let refusal = call_tool(&tools, &mut keeper, "fall_over").unwrap().unwrap_err();
            insta::allow_duplicates! {
                insta::assert_snapshot!(refusal, @"fall_over failed because of a bug in Palazzo. The change may or may not have been made: check before you try again; nothing else is affected, and other calls work");
            }
            let answer = call_tool(&tools, &mut keeper, "stand");
            assert_eq!(answer, Some(Ok("You stand.".to_owned().into())));
        }
    }

    #[test]
    fn placeholders_that_would_become_too_large_are_refused_before_they_are_replaced() {
        let tool = test_tool("stand", |_| Ok(String::new().into()));
        let params = |count| {
            let names = vec![Value::from("x {params}"); 2];
            JsonObject::from_iter([
                ("query".to_owned(), "{params}".repeat(count).into()),
                ("names".to_owned(), names.into()),
            ])
        };
        let fill = |count, words: &str| substitute_placeholder(&tool, params(count), Some(words));
        let filled = fill(62, &"w".repeat(1023)).unwrap();
        assert_eq!(filled["query"].as_str().unwrap().len(), 62 * 1023);
        assert_eq!(filled["names"][1].as_str().unwrap().len(), 1025);
        assert!(fill(100_000, "").is_ok(), "words that are short enough");
        insta::assert_snapshot!(
            fill(100_000, &"w".repeat(10_000)).unwrap_err(),
            @"with these `params`, the parameters of the action would have 1000020004 bytes, and the limit is 65536: give shorter ones, or write `{params}` fewer times in the action"
        );
    }

    #[test]
    fn a_tool_that_is_not_offered_cannot_be_called() {
        let tools =
            Toolbox::from_tools(vec![test_tool("stand", |_| Ok(String::new().into()))], vec![]);
        assert_eq!(call_tool(&tools, &mut Keeper::new("nowhere".into(), None), "stand"), None);
        assert_eq!(tools.offered_tools(), []);
    }
}
