//! Restores an item as it was.

use crate::graph::entity_file_edits::EntityFileEdits;
use crate::history::item_diffs::item_diffs_from_file_diffs;
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeMode, ChangeOptions, ChangePlan};
use crate::palace::rename_lookup::{entity_of, parse_one_file};
use crate::palace::resolve;
use crate::palace::resolve::ResolvedItem;
use crate::workspaces::open_as_of;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::diff::LaterItems;
use palazzo_core::format::{self, file_of_item, item_or_settings_in_file};
use palazzo_core::model::{
    Entity, FileContent, FileDiff, FileEdit, ItemDiff, ItemId, ItemOrFile, Palace, Relation,
};
use palazzo_core::render;

/// An item that was restored from a past revision.
#[derive(Clone, Debug)]
pub struct RestoredItem {
    /// The item.
    pub item: ItemOrFile,
    /// Its file.
    pub file: String,
    /// The commit that it was restored from: its age, date and id.
    pub revision: String,
    /// The differences that it makes; empty if the item had this content already.
    pub changes: Vec<ItemDiff>,
    /// The relations that were restored with an entity.
    pub relations: RestoredRelationCounts,
}

/// Restores a room, a scroll, an entity or a file as it was at `revision`, in a new commit; also
/// one that was deleted since.
///
/// An item that was moved or renamed since keeps its place and its name. With a deleted entity the relations of others
/// to it are restored: they were deleted with it. In a dry run it changes nothing.
pub fn restore_item(
    keeper: &mut Keeper,
    caller: &Caller,
    item: &str,
    revision: &str,
    mode: ChangeMode,
) -> Result<RestoredItem, Refusal> {
    let key = keeper.current_workspace(caller)?;
    let past_key = open_as_of(keeper, caller, &key, revision)?;
    let past = keeper.open_palace(&past_key)?;
    past.check_format_version()?;
    let past = read_past_item(past, caller, item)?;
    let present = keeper.open_palace(&key)?;
    let mut plan = RestorePlan::new(present, &past)?;
    let changes = item_diffs_from_file_diffs(&plan.file_diffs(), &present.palace.settings);
    if !mode.is_dry_run() {
        let executable = past.is_executable.map(|it| (plan.file.clone(), it));
        let executable = executable.into_iter().collect();
        let options = ChangeOptions { executable, ..ChangeOptions::default() };
        present.change_files(caller, &options, |palace| {
            plan = RestorePlan::new(palace, &past)?;
            Ok(ChangePlan {
                edits: plan.edits.clone(),
                subject: format!("{}: restore", render::item_label(&past.item)),
                body: format!("Restored as it was {}", past.revision),
            })
        })?;
    }
    let (RestorePlan { file, relations, .. }, PastItem { item, revision, .. }) = (plan, past);
    Ok(RestoredItem { item, file, revision, changes, relations })
}

/// The edits that restore an item.
struct RestorePlan {
    /// The file of the item in the present palace.
    file: String,
    edits: Vec<FileEdit>,
    relations: RestoredRelationCounts,
}

impl RestorePlan {
    fn new(palace: &mut OpenPalace, past: &PastItem) -> Result<Self, Refusal> {
        let PastItem { file, text, incoming, .. } = past;
        let current_file = past.current_file(&palace.palace);
        let deleted = incoming.iter().filter(|_| current_file.is_none());
        let file = current_file.clone().unwrap_or_else(|| file.clone());
        if current_file.is_none() {
            reject_occupied_file(palace, &file, &past.item)?;
        }
        let (edit, relations) = restore_relations(palace, deleted)?;
        // Read the file from the disk, because it may have errors now: do not refuse to restore it.
        let was =
            palace.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let text = with_present_name(&palace.palace, &file, text)?;
        let text = format::retarget_modeline(&file, &text);
        let now = Some(palace.store().convert_to_disk_line_endings(&file, &text)?);
        let mut edits = vec![FileEdit { path: file.clone(), was, now }];
        edits.extend(edit.into_edits()?);
        Ok(Self { file, edits, relations })
    }

    /// Returns the files that differ after the edits.
    fn file_diffs(&self) -> Vec<FileDiff> {
        let content = |it: &Option<String>| match it {
            Some(text) => FileContent::Text(text.clone()),
            None => FileContent::Missing,
        };
        let differing = self.edits.iter().filter(|it| it.was != it.now);
        let diff = |it: &FileEdit| FileDiff {
            path: it.path.clone(),
            was: content(&it.was),
            now: content(&it.now),
        };
        differing.map(diff).collect()
    }
}

/// An item in a past revision.
struct PastItem {
    item: ItemOrFile,
    file: String,
    text: String,
    /// Whether its file was executable.
    is_executable: Option<bool>,
    /// The age, date and id of the commit.
    revision: String,
    incoming: IncomingRelations,
}

impl PastItem {
    /// Returns the file that has the item now, perhaps at another place or under another name.
    fn current_file(&self, palace: &Palace) -> Option<String> {
        let was = parse_one_file(&self.file, &self.text);
        let later = LaterItems::new(&was, palace, |_| false);
        file_of_item(palace, &later.find(self.item.id()?)?)
    }
}

fn read_past_item(past: &mut OpenPalace, caller: &Caller, item: &str) -> Result<PastItem, Refusal> {
    let commit = past.store().as_of_commit().cloned();
    let revision = commit.as_ref().map(|it| render::commit_age_and_id(it, caller.now));
    let revision = revision.unwrap_or_default();
    let ResolvedItem { item, file } = resolve::resolve_item(past, item)?;
    let text = past.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
    let Some(text) = text else {
        let why = format!("{} did not exist {revision}", render::item_label(&item));
        return Err(Refusal::Invalid(why));
    };
    // A file with errors is not restored.
    if let (None, Some(finding)) =
        (item_or_settings_in_file(&past.palace, &file), past.file_error(&file))
    {
        return Err(Refusal::UnreadableFile(finding.clone().into()));
    }
    let incoming = incoming_relations(&past.palace, &item);
    let modes = past.store().executable_bits(commit.iter().map(|it| &it.id), &[&file])?;
    let is_executable = modes.get(&file).copied();
    Ok(PastItem { item, file, text, is_executable, revision, incoming })
}

/// The relations of others to an entity: the name of the source, whether it is defined, and the
/// relation.
type IncomingRelations = Vec<(String, bool, Relation)>;

fn incoming_relations(palace: &Palace, item: &ItemOrFile) -> IncomingRelations {
    let Some(ItemId::Entity(name)) = item.id() else { return Vec::new() };
    let incoming = palace.graph.incoming_relations(name).filter(|it| it.from.name != *name);
    incoming.map(|it| (it.from.name.clone(), it.from.is_defined, it.relation.clone())).collect()
}

/// The number of relations of others that were restored with an entity.
#[derive(Clone, Debug, Default)]
pub struct RestoredRelationCounts {
    /// The relations that were restored.
    pub restored: usize,
    /// The relations whose source does not exist any more.
    pub skipped: usize,
}

/// Adds `relations` to the sources that exist, unless these have the same relation.
fn restore_relations<'a>(
    palace: &mut OpenPalace,
    relations: impl Iterator<Item = &'a (String, bool, Relation)>,
) -> Result<(EntityFileEdits, RestoredRelationCounts), Refusal> {
    let (mut edit, mut counts) = (EntityFileEdits::default(), RestoredRelationCounts::default());
    for (from, is_defined, relation) in relations {
        let source = match is_defined {
            true => edit.entity_mut(palace, from)?,
            false => edit.entity_or_new_loose_end_mut(palace, from)?,
        };
        let Some(Entity { relations, .. }) = source else {
            counts.skipped += 1;
            continue;
        };
        if !relations
            .iter()
            .any(|it| it.has_same_kind_and_target(relation) && it.overlaps_in_time(relation))
        {
            relations.push(relation.clone());
            counts.restored += 1;
        }
    }
    Ok((edit, counts))
}

/// Returns the past text of an entity with the name that it has now, because others refer to it by
/// that name; other texts as they are.
fn with_present_name(palace: &Palace, file: &str, text: &str) -> Result<String, Refusal> {
    let present = palace.graph.entity_in_file(file).filter(|it| it.is_defined);
    let (Some(present), Some(past)) = (present, entity_of(file, text)) else {
        return Ok(text.to_owned());
    };
    if past.name == present.name {
        return Ok(text.to_owned());
    }
    let (name, former_names) = (present.name.clone(), present.former_names.clone());
    let renamed = Entity { name, former_names, ..past.clone() };
    format::edit_entity_text(file, text, &past, &renamed)
        .ok_or_else(|| Refusal::UneditableFormatting { file: file.to_owned() })
}

/// Refuses if the file contains another item now.
fn reject_occupied_file(palace: &OpenPalace, file: &str, item: &ItemOrFile) -> Result<(), Refusal> {
    match item_or_settings_in_file(&palace.palace, file).filter(|it| it != item) {
        Some(other) => Err(Refusal::Invalid(format!(
            "`{file}` contains another item now, {}; move that file first",
            render::item_label(&other)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};
    use crate::{EntityChange, create_entities, update_entity};

    #[test]
    fn a_restored_entity_keeps_the_name_that_it_has_now() {
        let mut home = TestHome::new(&[]);
        let genus = "Claim".to_owned();
        let entity = Entity { is_defined: true, genus, ..Entity::new_loose_end("Gradualism") };
        create_entities(&mut home.keeper, &ada(), vec![entity]).unwrap();
        let change = EntityChange {
            name: "Gradualism".to_owned(),
            new_name: Some("Slow change".to_owned()),
            status: Some("settled".to_owned()),
            ..EntityChange::default()
        };
        update_entity(&mut home.keeper, &ada(), &change).unwrap();
        restore_item(&mut home.keeper, &ada(), "Gradualism", "HEAD~1", ChangeMode::Commit).unwrap();
        let graph = home.run(|it| it.palace.palace.graph.clone());
        let restored = graph.get("Slow change").unwrap();
        assert_eq!((restored.status.as_deref(), &*restored.former_names[0]), (None, "Gradualism"));
    }
}
