//! Remembers which memories a conversation was shown, so that each is shown once, and only a few.
//!
//! Several hooks of one conversation may run at once. Each creates a file that must not exist yet, so only
//! one of them can succeed.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::repo::state_file::{self, hash};

/// The folder in the state folder: it has one folder for each conversation.
const FOLDER: &str = "acts";
/// How many memories a conversation is shown.
const MAX_SHOWN: usize = 3;
/// After this time a conversation is forgotten.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How many old conversations are looked at when a new one begins.
const MAX_PRUNED: usize = 1_000;

/// Returns whether the memory `name` may be shown to the conversation `session` now, and remembers that it
/// was. Returns false if it cannot be remembered.
pub fn claim_memory_to_show(state_folder: &Path, session: &str, name: &str) -> bool {
    let all = state_folder.join(FOLDER);
    let folder = all.join(hash(session));
    if !folder.is_dir() {
        remove_old_conversations(&all);
        if state_file::create_private_folder(&folder).is_err() {
            return false;
        }
    }
    let create = |file: &str| {
        state_file::private_open_options().create_new(true).open(folder.join(file)).is_ok()
    };
    // The last place is looked for first: it is only taken if all are.
    let is_full = folder.join(place(MAX_SHOWN - 1)).exists();
    !is_full && create(&hash(name)) && (0..MAX_SHOWN).any(|it| create(&place(it)))
}

fn place(number: usize) -> String {
    format!("shown-{number}")
}

fn remove_old_conversations(folder: &Path) {
    let now = SystemTime::now();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_PRUNED) {
        let changed = entry.metadata().and_then(|it| it.modified());
        let age = changed.ok().and_then(|it| now.duration_since(it).ok());
        if age.is_some_and(|it| it > MAX_AGE) {
            // Another hook may be removing it.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_shown_each_memory_once_and_three_in_all() {
        let state = tempfile::tempdir().unwrap();
        let claim = |session: &str, name: &str| claim_memory_to_show(state.path(), session, name);
        assert!(claim("s", "a") && !claim("s", "a"));
        assert!(claim("s", "b") && claim("s", "c") && !claim("s", "d"));
        assert!(claim("../t", "a"), "another conversation");
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
    }

    #[test]
    fn of_twenty_claims_at_once_three_succeed() {
        let state = tempfile::tempdir().unwrap();
        let claim = |it: usize| claim_memory_to_show(state.path(), "s", &format!("m{}", it % 10));
        let shown = std::thread::scope(|scope| {
            let claims: Vec<_> = (0..20).map(|it| scope.spawn(move || claim(it))).collect();
            claims.into_iter().map(|it| it.join().unwrap()).filter(|it| *it).count()
        });
        assert_eq!(shown, 3);
    }

    #[test]
    fn an_old_conversation_is_forgotten_when_a_new_one_begins() {
        let state = tempfile::tempdir().unwrap();
        assert!(claim_memory_to_show(state.path(), "old", "a"));
        let folder = state.path().join(FOLDER).join(hash("old"));
        let old = SystemTime::now() - MAX_AGE - Duration::from_secs(60);
        fs::File::open(&folder).unwrap().set_modified(old).unwrap();
        assert!(claim_memory_to_show(state.path(), "new", "a"));
        assert!(!folder.exists());
    }

    #[test]
    fn what_cannot_be_remembered_is_not_shown() {
        let state = tempfile::tempdir().unwrap();
        fs::write(state.path().join(FOLDER), "in the way").unwrap();
        assert!(!claim_memory_to_show(state.path(), "s", "a"));
    }
}
