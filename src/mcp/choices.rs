//! Runs choices from the menu, and the tools that they call.

use serde_json::{Map, Value};

use crate::mcp::toolbox::{ToolSet, Toolbox};
use palazzo_core::model::{self, Action, ActionKind, ItemId, Layout, Slot, ToolEffect};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, ActionToolCall, Caller, Choice, ChoiceOutcome, Everything, EverythingPage,
    EverythingPart, Keeper,
};

/// The tool whose answer is shown instead of the entities that it names: it has the facts in the order
/// of time.
const TIMELINE: &str = "get_timeline";

/// The page that a choice shows.
#[derive(Clone, Debug)]
pub enum ChosenPage {
    /// A page that ends with its menu.
    WithMenu(String),
    /// A page below which the menu goes.
    WithoutMenu(String),
}

impl Toolbox {
    /// Runs a choice from the menu, and the tool that it calls.
    pub fn run_choice(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        choice: (i64, Choice),
        words: Option<&str>,
    ) -> Result<ChosenPage, String> {
        match keeper::run_choice(keeper, caller, choice, words).map_err(|it| it.to_string())? {
            ChoiceOutcome::Page(page) => Ok(ChosenPage::WithMenu(page)),
            ChoiceOutcome::Text(text) => Ok(ChosenPage::WithoutMenu(text)),
            ChoiceOutcome::Everything(it) => {
                Ok(ChosenPage::WithoutMenu(self.show_everything(keeper, caller, &it)))
            }
            ChoiceOutcome::RunTool(call) => {
                let answer = self.run_query_action(keeper, caller, &call, words)?.text;
                let answer = without_page_hint(&answer);
                Ok(ChosenPage::WithoutMenu(keeper::narrate_tool_answer(&call, &answer)))
            }
        }
    }

    /// Returns whether a choice has a use for words: a search, a way to a named room, or an action with a place
    /// for them.
    pub fn takes_words(&self, choice: &Choice) -> bool {
        match choice {
            Choice::Global(slot) => matches!(slot, Slot::GoTo | Slot::Search),
            Choice::Action(Action { kind: ActionKind::Query { tool, params }, .. }) => {
                let tool = self.find_tool(model::Tool::bare_name(tool), &ToolSet::FOR_ACTIONS);
                has_placeholder(params) || tool.is_some_and(|it| it.has_parameter("query"))
            }
            _ => false,
        }
    }

    /// Renders everything that a place, a list or the map has. Calls only tools that read, and those
    /// only in actions that need no words.
    fn show_everything(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        everything: &Everything,
    ) -> String {
        let listing = keeper::take_listing(keeper, caller);
        let mut page = EverythingPage::new(everything);
        for part in &everything.parts {
            match part {
                EverythingPart::Text(text) => page.add_text(text),
                EverythingPart::Item(item) => {
                    if let Err(refusal) = page.show_once(keeper, caller, item) {
                        page.add_text(&format!("Note: {refusal}"));
                    }
                }
                EverythingPart::RunTool(call) => self.add_results(keeper, caller, &mut page, call),
            }
        }
        // The numbers of the page in front of the caller stay valid.
        keeper::restore_listing(keeper, caller, listing);
        page.into_text()
    }

    /// Adds what a query finds: the items that it lists, whole, or else its answer.
    fn add_results(
        &self,
        keeper: &mut Keeper,
        caller: &Caller,
        page: &mut EverythingPage,
        call: &ActionToolCall,
    ) {
        let name = model::Tool::bare_name(&call.tool);
        let Some(tool) = self.find_tool(name, &ToolSet::FOR_ACTIONS) else { return };
        if tool.tool_effect() != ToolEffect::Reads {
            return;
        }
        if has_placeholder(&call.params) {
            let label = render::in_quotes(&call.label);
            return page.add_text(&format!("Left out: {label}, which needs words."));
        }
        let has_pages = tool.has_parameter("page") && !call.params.contains_key("page");
        for number in 1.. {
            if !page.start_query() {
                return;
            }
            let mut call = call.clone();
            if number > 1 {
                call.params.insert("page".to_owned(), Value::from(number));
            }
            drop(keeper::take_listing(keeper, caller));
            let answer = self.run_query_action(keeper, caller, &call, None);
            let answer = answer.map_or_else(|refusal| format!("Note: {refusal}"), |it| it.text);
            let items = keeper::listed_items(keeper, caller);
            let is_list = !items.is_empty() && name != TIMELINE;
            let shown = if is_list { answer.lines().next().unwrap_or_default() } else { &answer };
            page.add_text(&format!("{}\n{shown}", render::action_heading(&call.label)));
            let above = items.iter().filter(|it| is_list && page.has_item(it));
            let above: Vec<_> = above.filter_map(entity_name).collect();
            if !above.is_empty() {
                page.add_text(&format!("Note: shown above: {}.", render::join_names(&above)));
            }
            for item in items.iter().filter(|_| is_list) {
                if let Err(refusal) = page.show_once(keeper, caller, item) {
                    page.add_text(&format!("Note: {refusal}"));
                }
            }
            if !has_pages || items.len() < Layout::MAX_RESULTS {
                return;
            }
        }
    }
}

fn entity_name(item: &ItemId) -> Option<String> {
    match item {
        ItemId::Entity(name) => Some(name.clone()),
        _ => None,
    }
}

/// Removes the line that names the next page: an action has no parameter for it.
fn without_page_hint(answer: &str) -> String {
    let is_hint =
        |line: &str| line.starts_with("  page: ") && line.trim_end().ends_with(" shows the next");
    answer.split_inclusive('\n').filter(|it| !is_hint(it)).collect()
}

/// Returns whether the parameters of an action have a place for words.
fn has_placeholder(params: &Map<String, Value>) -> bool {
    Value::Object(params.clone()).to_string().contains(Action::PLACEHOLDER)
}
