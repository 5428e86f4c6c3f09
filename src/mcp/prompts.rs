//! What a person can have an agent do with one word: begin, and end.

use rmcp::model::{JsonObject, Prompt, PromptArgument};
use serde_json::Value;

use crate::keeper::{self, Caller, DEFAULT_TOKENS, Keeper, MIN_TOKENS, Refusal};
use crate::mcp::{ToolSet, Toolbox};
use crate::tokens;

/// The prompt that begins a conversation.
const WAKE_UP: &str = "wake-up";

/// The prompt that ends one.
const TAKE_LEAVE: &str = "take-leave";

/// What is said below what an agent wakes up to.
const WAKE_UP_CLOSING: &str = "\
This is what you know from before. Where it is not enough, look it up before you answer; do not \
guess what was.";

/// What is asked of an agent that is about to go.
const TAKE_LEAVE_OPENING: &str = "\
This conversation is about to end. Write down what the next one should know, for somebody who was \
not here: what was found and decided and why, what is in doubt, what is left undone. Leave out what \
the files of the project or its history say already. Before you write, look whether it is there \
already.";

/// Where to write what, by the tools there are for it.
const WHERE_TO_WRITE: [(ToolSet, &str); 4] = [
    (
        ToolSet::Palace,
        "What was found and what is left undone: a scroll (write_scroll with `room`) in the room \
         it belongs to; in the entry room what belongs nowhere else. A subject that has no room \
         yet: build_room.",
    ),
    (
        ToolSet::Graph,
        "Who and what there is, and how it is related: create_entities, update_entity. What \
         somebody has to do: create_task.",
    ),
    (
        ToolSet::Memory,
        "Who and what there is, and how it is related: create_entities, add_observations, \
         create_relations.",
    ),
    (
        ToolSet::Mempalace,
        "What should be kept word for word: mempalace_add_drawer. Facts that changed: \
         mempalace_kg_invalidate for the old, mempalace_kg_add for the new. For yourself: \
         mempalace_diary_write.",
    ),
];

pub(super) fn all_prompts() -> Vec<Prompt> {
    let workspace = || {
        let about = "The workspace; without it, the one the tools act on";
        PromptArgument::new("workspace").with_description(about).with_required(false)
    };
    let budget = format!("How many tokens it may take; {DEFAULT_TOKENS} if not said");
    let budget = PromptArgument::new("budget").with_description(budget).with_required(false);
    let wake_up = "What you should know when a conversation begins.";
    let take_leave = "What to write down when a conversation ends, and where.";
    vec![
        Prompt::new(WAKE_UP, Some(wake_up), Some(vec![workspace(), budget])).with_title("Wake up"),
        Prompt::new(TAKE_LEAVE, Some(take_leave), Some(vec![workspace()])).with_title("Take leave"),
    ]
}

impl Toolbox {
    /// Returns what a prompt says; `None`: there is none of that name.
    pub(super) fn render_prompt(
        &self,
        keeper: &mut Keeper,
        by: &Caller,
        name: &str,
        arguments: &JsonObject,
    ) -> Option<Result<String, String>> {
        let said = |key: &str| {
            let text = arguments.get(key).and_then(Value::as_str).map(str::trim);
            text.filter(|it| !it.is_empty())
        };
        let told = match name {
            WAKE_UP => parse_budget(arguments.get("budget")).and_then(|budget| {
                let end = format!("\n{WAKE_UP_CLOSING}\n");
                // Where there is hardly room for what is known, all of it is for that.
                let left = budget.checked_sub(tokens::count_tokens(&end));
                let (left, end) = match left.filter(|it| *it >= MIN_TOKENS) {
                    Some(left) => (left, end.as_str()),
                    None => (budget, ""),
                };
                Ok(accept_no_workspace(keeper::wake_up(keeper, by, said("workspace"), left))? + end)
            }),
            TAKE_LEAVE => {
                accept_no_workspace(keeper::list_places_to_write(keeper, by, said("workspace")))
                    .map(|it| self.take_leave_text(&it))
            }
            _ => return None,
        };
        Some(told)
    }

    fn take_leave_text(&self, places: &str) -> String {
        let where_to = WHERE_TO_WRITE.iter().filter(|(set, _)| self.offers(*set));
        let where_to: Vec<_> = where_to.map(|(_, it)| format!("- {it}")).collect();
        format!("{TAKE_LEAVE_OPENING}\n{}\n\n{places}", where_to.join("\n"))
    }
}

/// Reads a number that the protocol wants as text, and clients give as a number too.
fn parse_budget(said: Option<&Value>) -> Result<usize, String> {
    let said = said.map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    let number = said.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty() && it != "null");
    let number = number.map_or(Ok(DEFAULT_TOKENS), |it| it.parse());
    number.map_err(|_| "the `budget` is a number of tokens".to_owned())
}

/// Takes it for no fault that there is nothing yet.
fn accept_no_workspace(told: Result<String, Refusal>) -> Result<String, String> {
    match told {
        Err(Refusal::NoWorkspaceSet { known, .. }) if known.is_empty() => {
            Ok("Nothing is remembered yet.\n".to_owned())
        }
        told => told.map_err(|refusal| refusal.to_string()),
    }
}
