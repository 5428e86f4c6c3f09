//! Diaries: two tools.

use serde_json::{Value, json};

use crate::keeper::{Caller, DiaryPage, Keeper};
use crate::mcp::arguments::{DiaryRead, DiaryWrite};
use crate::mcp::mempalace_tools::{found, moment, reply, share, shown, told};
use crate::mcp::reply::Answer;
use crate::mcp::toolbox::{Effect, Handle, ToolSet, Toolbox};
use crate::model::Entry;

pub(crate) fn all() -> [Handle; 2] {
    [diary_write(), diary_read()]
}

fn diary_write() -> Handle {
    let about = (
        "Write into your diary",
        "Write down for yourself what happened, what you learned, what matters. AAAK shorthand \
         is fine, plain words are too.",
    );
    Handle::new(ToolSet::Mempalace, "mempalace_diary_write", about, Effect::Adds, write)
}

fn write(_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DiaryWrite) -> Answer {
    let DiaryWrite { agent_name, entry, topic } = it;
    let entry = told(keeper.write_diary(by, &agent_name, topic.as_deref(), &entry))?;
    Ok(reply(json!({
        "success": true,
        "entry_id": entry_id(&entry),
        "agent": entry.agent,
        "topic": entry.topic,
        "timestamp": moment(entry.written),
    })))
}

fn diary_read() -> Handle {
    let about = ("Read a diary", "The latest entries of an agent's diary, newest first.");
    let run = |_: &Toolbox, keeper: &mut Keeper, by: &Caller, it: DiaryRead| {
        let DiaryPage { entries, total, agents } =
            told(keeper.read_diary(by, &it.agent_name, it.last()))?;
        let most = share(entries.iter().map(|it| it.text.as_str()));
        let entries: Vec<_> = entries.iter().map(|it| page(it, most)).collect();
        let mut value = json!({
            "agent": it.agent_name,
            "entries": entries,
            "total": total,
            "showing": entries.len(),
        });
        if total == 0 {
            let others = match agents.len() {
                0 => String::new(),
                _ => format!(" Diaries are kept by {}.", agents.join(", ")),
            };
            value["message"] = format!("No diary entries yet.{others}").into();
        }
        found(keeper, by, value)
    };
    Handle::new(ToolSet::Mempalace, "mempalace_diary_read", about, Effect::Reads, run)
}

fn page(it: &Entry, most: usize) -> Value {
    let (content, part) = shown(&it.text, 0, most);
    let mut value = json!({
        "date": it.written.map(|it| it.format("%Y-%m-%d").to_string()),
        "timestamp": moment(it.written),
        "topic": it.topic,
        "content": content,
    });
    if let Some(part) = part {
        value["bytes"] = part;
    }
    value
}

fn entry_id(it: &Entry) -> String {
    format!("diary_{}", it.id)
}
