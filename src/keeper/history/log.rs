//! Looking into the past: what was done, what differs, who wrote what.

use crate::diff::unified_diff;
use crate::keeper::graph::resolve;
use crate::keeper::graph::resolve::Resolved;
use crate::keeper::history::palace_diff::palace_diff;
use crate::keeper::palace::OpenPalace;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{ChangeKind, CommitDetails, CommitId, FileContent, FileDiff, PalaceItem};
use crate::render;

impl Keeper {
    /// Lists the commits that changed `said`, a room, a scroll, an entity or a
    /// file, with what changed in it; or all that changed the palace. Newest
    /// first, at most `most`.
    pub fn log(&mut self, by: &Caller, said: Option<&str>, most: usize) -> Result<String, Refusal> {
        let held = self.current_open_palace(by)?;
        let named = said.map(|it| resolve::resolve_item(held, it)).transpose()?;
        let paths: Vec<_> = named.iter().map(|it| it.file.as_str()).collect();
        let mut records = Vec::new();
        held.store().log(&paths, |it| {
            records.push(it);
            records.len() <= most
        })?;
        let is_more = records.len() > most;
        records.truncate(most);
        if records.is_empty() {
            return Ok("Nothing is committed yet.\n".to_owned());
        }
        let mut told = Vec::new();
        for record in &records {
            told.push((&record.summary, describe_commit(held, record)?));
        }
        let mut page = render::log(&told, by.now);
        if is_more {
            page.push_str(&format!("(older ones: -n {})\n", most.saturating_mul(2)));
        }
        Ok(page)
    }

    /// Says what differs between two states of the palace: `A..B`, where either
    /// may be left out and is `HEAD` then; or `A`, else `HEAD`, and the files
    /// as they are. As meaning, or line by line if `text` is asked for: as a patch
    /// for `git apply`, with paths from the root of the repository.
    pub fn diff(
        &mut self,
        by: &Caller,
        range: Option<&str>,
        text: bool,
    ) -> Result<String, Refusal> {
        let held = self.current_open_palace(by)?;
        let differing = match range.and_then(|it| it.split_once("..")) {
            Some((was, now)) if now.starts_with('.') => {
                let why = format!(
                    "`{}...{}` is not understood here: say A..B for what differs between A and B",
                    was.escape_debug(),
                    now.trim_start_matches('.').escape_debug()
                );
                return Err(Refusal::Invalid(why));
            }
            Some((was, now)) => {
                let (was, now) = (resolve_commit(held, by, was)?, resolve_commit(held, by, now)?);
                held.store().as_of(&now)?.changed_since(Some(&was))?
            }
            None => {
                let was = match range {
                    Some(said) => Some(held.store().resolve_revision(said, by.now)?),
                    None => held.store().head()?,
                };
                held.store().changed_since(was.as_ref())?
            }
        };
        if text {
            let place = held.store().prefix_in_repository()?;
            return Ok(differing.iter().map(|it| render_patch(&place, it)).collect());
        }
        match differing.is_empty() {
            true => Ok("Nothing differs.\n".to_owned()),
            false => Ok(render::palace_diff(&palace_diff(&differing))),
        }
    }

    /// Shows each line of the file of `said` behind the commit it came with.
    pub fn blame(&mut self, by: &Caller, said: &str) -> Result<String, Refusal> {
        let held = self.current_open_palace(by)?;
        let Resolved { thing, file } = resolve::resolve_item(held, said)?;
        let text =
            held.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let Some(text) = text else {
            let thing = render::item_label(&thing);
            let why = format!("{thing} is not there any more; `palazzo log {file}` tells of it");
            return Err(Refusal::Invalid(why));
        };
        Ok(render::blame(&held.store().blame(&file, &text)?, by.now))
    }

    /// Returns the palace that a command of the person means, as it is now.
    pub(crate) fn current_open_palace(&mut self, by: &Caller) -> Result<&mut OpenPalace, Refusal> {
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        Ok(held)
    }
}

/// Finds one end of a range.
fn resolve_commit(held: &OpenPalace, by: &Caller, said: &str) -> Result<CommitId, Refusal> {
    let said = if said.trim().is_empty() { "HEAD" } else { said };
    Ok(held.store().resolve_revision(said, by.now)?)
}

/// Says what a commit did to the one thing whose past is looked at.
fn describe_commit(held: &OpenPalace, record: &CommitDetails) -> Result<String, Refusal> {
    let Some(path) = &record.path_at_commit else { return Ok(String::new()) };
    let differing = held.store().changed_by(record)?;
    let of_file = |it: &&FileDiff| it.path == *path;
    let alone: Vec<_> = differing.iter().filter(of_file).cloned().collect();
    let things: Vec<PalaceItem> = palace_diff(&alone).into_iter().map(|it| it.item).collect();
    // Where it came from shows only beside what went.
    let all = palace_diff(&differing).into_iter().filter(|it| things.contains(&it.item));
    let told: Vec<_> = all.map(|it| describe_change(&it.change, path)).collect();
    Ok(told.join("\n"))
}

fn describe_change(fate: &ChangeKind, path: &str) -> String {
    match fate {
        ChangeKind::Added => format!("added as {path}"),
        fate => render::change_summary(fate),
    }
}

fn render_patch(place: &str, it: &FileDiff) -> String {
    let unreadable = |it: &FileContent| match it {
        FileContent::Unreadable(why) => Some(why.clone()),
        FileContent::Missing | FileContent::Text(_) => None,
    };
    let path = format!("{place}{}", it.path);
    match unreadable(&it.was).or_else(|| unreadable(&it.now)) {
        Some(why) => format!("diff --git a/{path} b/{path}\nFiles differ: {why}\n"),
        None => unified_diff(&path, it.was.text(), it.now.text()),
    }
}
