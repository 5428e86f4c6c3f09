//! Palaces as they were: held beside those of the present, a few at a time.

use crate::keeper::palace::Held;
use crate::keeper::palace::reload::Vigil;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::CommitId;
use crate::render;

/// How many past palaces are held at once.
const MOST: usize = 4;
/// Stands between the directory of a palace and the commit it is seen at: no directory of a home
/// has it in its name.
const AT: char = '/';

impl Keeper {
    /// Opens the palace in the directory `key` as it was at the moment that `said` names, and
    /// returns what it goes by.
    pub(crate) fn open_past(
        &mut self,
        by: &Caller,
        key: &str,
        said: &str,
    ) -> Result<String, Refusal> {
        let store = self.at(present(key))?.store();
        let commit = store.revision(said, by.now)?;
        let key = format!("{}{AT}{commit}", present(key));
        self.at(&key)?;
        Ok(key)
    }

    /// Opens again what `key` names, if it is a past palace; those opened longest ago are forgotten.
    pub(crate) fn reopen_past(&mut self, key: &str) -> Result<Option<&mut Held>, Refusal> {
        let Some((base, commit)) = key.split_once(AT) else { return Ok(None) };
        self.check_is_no_snapshot()?;
        let now = self.at(base)?;
        let then = now.store().as_of(&CommitId(commit.to_owned()))?;
        let held = Held::open(then, &now.palace.settings.name.clone(), &Vigil::default())?;
        self.past.retain(|it| it != key);
        self.past.push(key.to_owned());
        while self.past.len() > MOST {
            let oldest = self.past.remove(0);
            self.held.remove(&oldest);
            self.publication(&oldest).withdraw();
        }
        self.hold(key, held);
        Ok(self.held.get_mut(key))
    }

    /// Says which moment is shown, and how to return; nothing of the present.
    pub(crate) fn moment_told(&mut self, by: &Caller, key: &str) -> Result<String, Refusal> {
        let held = self.at(key)?;
        let Some(moment) = held.store().moment() else { return Ok(String::new()) };
        let (name, moment) =
            (render::line(&held.palace.settings.name), render::moment(moment, by.now));
        Ok(format!(
            "This is {name} as it was {moment}: look around, but nothing can be changed. \
             set_workspace without `as_of` returns to the present.\n\n"
        ))
    }
}

/// Returns the directory of a palace, seen now or as it was.
pub(crate) fn present(key: &str) -> &str {
    key.split_once(AT).map_or(key, |(key, _)| key)
}

/// Tells whether a palace is seen as it was.
pub(crate) fn is_past(key: &str) -> bool {
    key.contains(AT)
}
