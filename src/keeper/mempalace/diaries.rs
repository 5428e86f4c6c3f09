//! What agents write for themselves.

use chrono::SubsecRound;

use crate::format::{self, new_diary_path};
use crate::keeper::mempalace::drawers::{validate_name, validate_text};
use crate::keeper::palace::ChangePlan;
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{DiaryEntry, Edit};
use crate::render;

/// The newest entries of a diary, and how many it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiaryPage {
    /// Newest first.
    pub entries: Vec<DiaryEntry>,
    /// How many there are in all.
    pub total: usize,
    /// Who keeps a diary here.
    pub agents: Vec<String>,
}

impl Keeper {
    /// Writes into the diary of `agent`, and returns the entry.
    pub fn write_diary(
        &mut self,
        by: &Caller,
        agent: &str,
        topic: Option<&str>,
        text: &str,
    ) -> Result<DiaryEntry, Refusal> {
        let agent = validate_name("agent", agent)?;
        let topic = topic.map(str::trim).filter(|it| !it.is_empty());
        let topic = topic
            .map_or(Ok(DiaryEntry::DEFAULT_TOPIC.to_owned()), |it| validate_name("topic", it))?;
        validate_text("entry", text)?;
        let key = self.current_or_new_workspace(by)?;
        let entry = DiaryEntry {
            id: new_id(&mut self.id_generator, by.now),
            agent: Some(agent.clone()),
            topic: topic.clone(),
            written: Some(by.now.trunc_subsecs(0)),
            text: text.to_owned(),
        };
        self.open_palace(&key)?.change(by, |held| {
            let path = new_diary_path(&held.palace.diaries, &agent, &entry, |_| 0);
            let now = Some(format::write_diary_entry(&entry));
            Ok(ChangePlan {
                edits: vec![Edit { path, was: None, now }],
                subject: format!(
                    "diary {}: {}",
                    render::truncate(&agent, 30),
                    render::truncate(&topic, 30)
                ),
                body: String::new(),
            })
        })?;
        self.remember_workspace(by, &key);
        Ok(entry)
    }

    /// Reads the newest `most` entries of the diary of `agent`.
    pub fn read_diary(
        &mut self,
        by: &Caller,
        agent: &str,
        most: usize,
    ) -> Result<DiaryPage, Refusal> {
        let agent = validate_name("agent", agent)?;
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(DiaryPage::default()) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let diaries = &held.palace.diaries;
        let entries = diaries.entries_of(&agent);
        Ok(DiaryPage {
            total: entries.len(),
            entries: entries.take(most).map(|(_, it)| it.clone()).collect(),
            agents: diaries.agents().map(|(it, _)| it.to_owned()).collect(),
        })
    }
}
