//! Diaries: what agents write for themselves.

use chrono::SubsecRound;

use crate::format::{self, new_diary_entry_path};
use crate::keeper::mempalace::drawers::{validate_name, validate_text};
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{DiaryEntry, FileEdit};
use crate::render;

/// The newest entries of a diary, and the number of all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiaryPage {
    /// The entries, newest first.
    pub entries: Vec<DiaryEntry>,
    /// How many entries the diary has.
    pub total: usize,
    /// The agents that have a diary in this palace.
    pub agents: Vec<String>,
}

/// Adds an entry to the diary of `agent`, and returns it. Creates the first palace if there is
/// none.
pub fn write_diary(
    keeper: &mut Keeper,
    caller: &Caller,
    agent: &str,
    topic: Option<&str>,
    text: &str,
) -> Result<DiaryEntry, Refusal> {
    let agent = validate_name("agent", agent)?;
    let topic = topic.map(str::trim).filter(|it| !it.is_empty());
    let topic =
        topic.map_or(Ok(DiaryEntry::DEFAULT_TOPIC.to_owned()), |it| validate_name("topic", it))?;
    validate_text("entry", text)?;
    let mut session = keeper.session_for_writing(caller)?;
    let entry = DiaryEntry {
        id: session.new_id(),
        agent: Some(agent.clone()),
        topic: topic.clone(),
        written: Some(caller.now.trunc_subsecs(0)),
        text: text.to_owned(),
    };
    session.palace.change_files(caller, |open| {
        let path = new_diary_entry_path(&open.palace.diaries, &agent, &entry, |_| 0);
        let now = Some(format::serialize_diary_entry(&entry));
        Ok(ChangePlan {
            edits: vec![FileEdit { path, was: None, now }],
            subject: format!(
                "diary {}: {}",
                render::truncate(&agent, 30),
                render::truncate(&topic, 30)
            ),
            body: String::new(),
        })
    })?;
    session.set_current_workspace_if_none();
    Ok(entry)
}

/// Returns the newest entries of the diary of `agent`, `limit` at most.
pub fn read_diary(
    keeper: &mut Keeper,
    caller: &Caller,
    agent: &str,
    limit: usize,
) -> Result<DiaryPage, Refusal> {
    let agent = validate_name("agent", agent)?;
    let Some(session) = keeper.session_if_any(caller)? else { return Ok(DiaryPage::default()) };
    let diaries = &session.palace.palace.diaries;
    let entries = diaries.entries_of_agent(&agent);
    Ok(DiaryPage {
        total: entries.len(),
        entries: entries.take(limit).map(|(_, it)| it.clone()).collect(),
        agents: diaries.agents().map(|(it, _)| it.to_owned()).collect(),
    })
}
