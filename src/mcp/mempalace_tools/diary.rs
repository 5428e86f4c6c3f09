//! The two tools for diaries.

use serde_json::{Value, json};

use crate::mcp::arguments::{DiaryRead, DiaryWrite};
use crate::mcp::mempalace_tools::excerpts::{excerpt_around, max_bytes_per_text};
use crate::mcp::mempalace_tools::reply::{
    json_reply, refusal_to_text, reply_with_palace_hint, timestamp_json,
};
use crate::mcp::reply::ToolResult;
use crate::mcp::toolbox::{EffectHint, RegisteredTool, ToolSet, Toolbox};
use palazzo_core::model::DiaryEntry;
use palazzo_core::render::name_in_sentence;
use palazzo_keeper::{self as keeper, Caller, DiaryPage, Keeper};

pub(crate) fn diary_tools() -> [RegisteredTool; 2] {
    [diary_write(), diary_read()]
}

fn diary_write() -> RegisteredTool {
    let about = (
        "Write a diary entry",
        "Write an entry in your diary: what happened, what you learned, what matters. In AAAK \
         shorthand or in plain words.",
    );
    RegisteredTool::new(
        ToolSet::Mempalace,
        "mempalace_diary_write",
        about,
        EffectHint::Adds,
        run_diary_write,
    )
}

fn run_diary_write(
    _: &Toolbox,
    keeper: &mut Keeper,
    caller: &Caller,
    it: DiaryWrite,
) -> ToolResult {
    let DiaryWrite { agent_name, entry, topic } = it;
    let entry = refusal_to_text(keeper::write_diary(
        keeper,
        caller,
        &agent_name,
        topic.as_deref(),
        &entry,
    ))?;
    Ok(json_reply(json!({
        "success": true,
        "entry_id": entry_id(&entry),
        "agent": entry.agent,
        "topic": entry.topic,
        "timestamp": timestamp_json(entry.written),
    })))
}

fn diary_read() -> RegisteredTool {
    let about = ("Read a diary", "Read the latest entries of an agent's diary, newest first.");
    let run = |_: &Toolbox, keeper: &mut Keeper, caller: &Caller, it: DiaryRead| {
        let DiaryPage { entries, total, agents } =
            refusal_to_text(keeper::read_diary(keeper, caller, &it.agent_name, it.entry_limit()))?;
        let most = max_bytes_per_text(entries.iter().map(|it| it.text.as_str()));
        let entries: Vec<_> = entries.iter().map(|it| entry_json(it, most)).collect();
        let mut value = json!({
            "agent": it.agent_name,
            "entries": entries,
            "total": total,
            "showing": entries.len(),
        });
        if total == 0 {
            let agents: Vec<_> = agents.iter().map(|it| name_in_sentence(it)).collect();
            let others = match agents.len() {
                0 => String::new(),
                _ => format!(" Agents with a diary: {}.", agents.join(", ")),
            };
            value["message"] = format!("No diary entries yet.{others}").into();
        }
        reply_with_palace_hint(keeper, caller, value)
    };
    RegisteredTool::new(ToolSet::Mempalace, "mempalace_diary_read", about, EffectHint::Reads, run)
}

fn entry_json(it: &DiaryEntry, most: usize) -> Value {
    let (content, part) = excerpt_around(&it.text, 0, most);
    let mut value = json!({
        "date": it.written.map(|it| it.format("%Y-%m-%d").to_string()),
        "timestamp": timestamp_json(it.written),
        "topic": it.topic,
        "content": content,
    });
    if let Some(part) = part {
        value["bytes"] = part;
    }
    value
}

fn entry_id(it: &DiaryEntry) -> String {
    format!("diary_{}", it.id)
}
