//! Palaces as they were: held beside those of the present, a few at a time.

use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::reload::WatchConfig;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::CommitId;
use crate::render;

/// How many past palaces are held at once.
const MAX_OPEN_AS_OF: usize = 4;
/// Stands between the directory of a palace and the commit it is seen at: no directory of a home
/// has it in its name.
const KEY_SEPARATOR: char = '/';

impl Keeper {
    /// Opens the palace in the directory `key` as it was at the moment that `said` names, and
    /// returns what it goes by.
    pub(crate) fn open_as_of(
        &mut self,
        by: &Caller,
        key: &str,
        said: &str,
    ) -> Result<String, Refusal> {
        let store = self.open_palace(present_key(key))?.store();
        let commit = store.resolve_revision(said, by.now)?;
        let key = format!("{}{KEY_SEPARATOR}{commit}", present_key(key));
        self.open_palace(&key)?;
        Ok(key)
    }

    /// Opens again what `key` names, if it is a past palace; those opened longest ago are forgotten.
    pub(crate) fn reopen_as_of(&mut self, key: &str) -> Result<Option<&mut OpenPalace>, Refusal> {
        let Some((base, commit)) = key.split_once(KEY_SEPARATOR) else { return Ok(None) };
        self.check_not_snapshot()?;
        let now = self.open_palace(base)?;
        let then = now.store().as_of(&CommitId(commit.to_owned()))?;
        let held =
            OpenPalace::open(then, &now.palace.settings.name.clone(), &WatchConfig::default())?;
        self.as_of_keys.retain(|it| it != key);
        self.as_of_keys.push(key.to_owned());
        while self.as_of_keys.len() > MAX_OPEN_AS_OF {
            let oldest = self.as_of_keys.remove(0);
            self.open_palaces.remove(&oldest);
            self.snapshot_slot(&oldest).withdraw();
        }
        self.add_open_palace(key, held);
        Ok(self.open_palaces.get_mut(key))
    }

    /// Returns the notice that a past commit is shown; empty for the present.
    pub(crate) fn as_of_notice(&mut self, by: &Caller, key: &str) -> Result<String, Refusal> {
        let held = self.open_palace(key)?;
        let Some(moment) = held.store().as_of_commit() else { return Ok(String::new()) };
        Ok(render::as_of_notice(&held.palace.settings.name, moment, by.now))
    }
}

/// Returns the directory of a palace, seen now or as it was.
pub(crate) fn present_key(key: &str) -> &str {
    key.split_once(KEY_SEPARATOR).map_or(key, |(key, _)| key)
}

/// Tells whether a palace is seen as it was.
pub(crate) fn is_as_of_key(key: &str) -> bool {
    key.contains(KEY_SEPARATOR)
}
