//! What happened in a palace since a page was sent.

use crate::palace::file_states::ChangeCounters;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::{CommitDetails, CommitId, CommitSummary};
use palazzo_core::render;

/// Maximum number of commits that are reported at once.
const MAX_REPORTED_COMMITS: usize = 20;

/// The state of a palace that a reader has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenPalace {
    commit: Option<CommitId>,
    files: ChangeCounters,
}

/// A change of a palace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PalaceEvent {
    /// The commit; `None` for files that somebody has saved and not committed.
    pub commit: Option<CommitSummary>,
    /// The files that it changed; empty if they are not known.
    pub changed_files: Vec<String>,
}

/// Returns the state of a palace, and what happened since the reader saw it, oldest first.
pub fn palace_events(
    keeper: &mut Keeper,
    by: &Caller,
    workspace: &str,
    seen: Option<&SeenPalace>,
) -> Result<(SeenPalace, Vec<PalaceEvent>), Refusal> {
    let key = keeper.find_workspace(workspace)?.key;
    let palace = keeper.session_in(&key, by)?.palace;
    let commits = palace.newest_commits()?;
    let newest = commits.first().map(|it| it.summary.id.clone());
    let now = SeenPalace { commit: newest, files: palace.file_states.change_counters() };
    let Some(seen) = seen.filter(|it| **it != now) else { return Ok((now, Vec::new())) };
    let is_new = |it: &&CommitDetails| Some(&it.summary.id) != seen.commit.as_ref();
    let new = commits.iter().take_while(is_new).take(MAX_REPORTED_COMMITS);
    let mut events: Vec<_> = new.map(event_of_commit).collect();
    events.reverse();
    if events.is_empty() {
        events.push(PalaceEvent { commit: None, changed_files: Vec::new() });
    }
    Ok((now, events))
}

fn event_of_commit(it: &CommitDetails) -> PalaceEvent {
    let line = |text: &str| render::one_line(text);
    let (subject, by) = (line(&it.summary.subject), line(&it.summary.by));
    let commit = CommitSummary { subject, by, ..it.summary.clone() };
    PalaceEvent { commit: Some(commit), changed_files: it.changed_files.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build_room;
    use crate::test_home::{TestHome, ada, blueprint};

    fn events(home: &mut TestHome, seen: &mut Option<SeenPalace>) -> Vec<String> {
        let (now, events) = palace_events(&mut home.keeper, &ada(), "keep", seen.as_ref()).unwrap();
        *seen = Some(now);
        let line = |it: PalaceEvent| {
            let commit =
                it.commit.map_or("saved".to_owned(), |it| format!("{}: {}", it.by, it.subject));
            format!("{commit} {:?}", it.changed_files)
        };
        events.into_iter().map(line).collect()
    }

    #[test]
    fn commits_and_saved_files_are_events_once() {
        let mut home = TestHome::new(&[]);
        let mut seen = None;
        build_room(&mut home.keeper, &ada(), &blueprint("hall"), &[]).unwrap();
        assert!(events(&mut home, &mut seen).is_empty(), "what was before the page is no event");
        for room in ["attic", "crypt"] {
            build_room(&mut home.keeper, &ada(), &blueprint(room), &[]).unwrap();
        }
        let two = events(&mut home, &mut seen);
        assert_eq!(two.len(), 2, "{two:?}");
        assert!(two[0].starts_with("ada: ") && two[0].contains("rooms/attic.yaml"), "{two:?}");
        assert!(events(&mut home, &mut seen).is_empty());
        home.write("rooms/hall.yaml", "name: Great Hall\n");
        home.run(|session| session.palace.refresh_file("rooms/hall.yaml"));
        assert_eq!(events(&mut home, &mut seen), ["saved []"]);
        assert!(events(&mut home, &mut seen).is_empty());
    }
}
