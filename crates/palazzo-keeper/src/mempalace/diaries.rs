//! Diaries: what agents write for themselves.

use chrono::SubsecRound;

use crate::mempalace::drawers::{validate_name, validate_text};
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal};
use palazzo_core::format::{self, new_diary_entry_path};
use palazzo_core::model::{DiaryEntry, FileEdit};
use palazzo_core::render;

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
    session.palace.change_files(caller, &ChangeOptions::default(), |open| {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    fn write(home: &mut TestHome, agent: &str, topic: Option<&str>, text: &str) -> DiaryEntry {
        write_diary(&mut home.keeper, &ada(), agent, topic, text).unwrap()
    }

    fn read(home: &mut TestHome, agent: &str, limit: usize) -> DiaryPage {
        read_diary(&mut home.keeper, &ada(), agent, limit).unwrap()
    }

    #[test]
    fn the_spellings_of_an_agent_share_one_diary() {
        let mut home = TestHome::new(&[]);
        write(&mut home, "Claude Opus", None, "One.");
        write(&mut home, "claude_opus", None, "Two.");
        let page = read(&mut home, "CLAUDE-OPUS", 10);
        let texts: Vec<_> = page.entries.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((texts, page.agents), (vec!["Two.", "One."], vec!["claude_opus".to_owned()]));
    }

    #[test]
    fn entries_by_hand_belong_to_the_agent_of_their_folder_or_front_matter() {
        let mut home = TestHome::new(&[
            ("diary/claude_opus/2026-02-01-x.md", "By hand."),
            ("diary/opus/2026-02-02-y.md", "---\nagent: claude opus\n---\n\nSigned."),
        ]);
        write(&mut home, "Claude-Opus", None, "By tool.");
        let page = read(&mut home, "CLAUDE OPUS", 10);
        let texts: Vec<_> = page.entries.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["By tool.", "Signed.", "By hand."]);
    }

    #[test]
    fn a_page_has_the_newest_entries_and_the_number_of_all() {
        let mut home = TestHome::new(&[]);
        for text in ["One.", "Two.", "Three."] {
            write(&mut home, "claude", None, text);
        }
        let page = read(&mut home, "claude", 2);
        let texts: Vec<_> = page.entries.iter().map(|it| it.text.as_str()).collect();
        assert_eq!((texts, page.total), (vec!["Three.", "Two."], 3));
        assert_eq!(read(&mut home, "claude", 0).entries, []);
    }

    #[test]
    fn an_agent_without_a_diary_sees_who_has_one() {
        let mut home = TestHome::new(&[]);
        write(&mut home, "claude", None, "One.");
        let page = read(&mut home, "gemini", 10);
        assert_eq!((page.total, page.agents), (0, vec!["claude".to_owned()]));
    }

    #[test]
    fn a_blank_topic_is_general_and_a_text_is_kept_as_it_is() {
        let mut home = TestHome::new(&[]);
        let entry = write(&mut home, "claude", Some("  "), "\n Quick.\r\n\n");
        assert_eq!((entry.topic.as_str(), entry.text.as_str()), ("general", "\n Quick.\r\n\n"));
        assert_eq!(read(&mut home, "claude", 1).entries, [entry]);
        assert_eq!(write(&mut home, "claude", Some(" Arbeit "), "Two.").topic, "Arbeit");
    }

    #[test]
    fn an_invalid_entry_is_refused() {
        let mut home = TestHome::new(&[]);
        for (agent, topic, text, why) in [
            ("../x", None, "x", "it may not contain slashes"),
            ("claude", Some("a\nb"), "x", "cannot be the name of the topic"),
            ("claude", None, " \n", "the `entry` is empty: give a text to store"),
            ("", None, "x", "cannot be the name of the agent: it is empty"),
        ] {
            let refusal = write_diary(&mut home.keeper, &ada(), agent, topic, text).unwrap_err();
            assert!(refusal.to_string().contains(why), "{refusal}");
        }
        assert_eq!(read(&mut home, "claude", 10), DiaryPage::default());
    }
}
