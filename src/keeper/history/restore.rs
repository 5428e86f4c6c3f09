//! Bringing back what was.

use ulid::Ulid;

use crate::format::room_path;
use crate::keeper::graph::edit::GraphEdit;
use crate::keeper::graph::resolve;
use crate::keeper::graph::resolve::Resolved;
use crate::keeper::history::palace_diff::identify_file;
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Edit, Entity, Palace, PalaceItem, Relation, ScrollId};
use crate::render;

impl Keeper {
    /// Makes a room, a scroll, an entity or a file what it was at the moment
    /// that `to` names, in a new commit; also one that is there no more.
    ///
    /// What stands somewhere else now stays there. With an entity that is gone come the
    /// relations of others that led to it: they went with it.
    pub fn restore(&mut self, by: &Caller, said: &str, to: &str) -> Result<String, Refusal> {
        let key = self.current_workspace(by)?;
        let past = self.open_as_of(by, &key, to)?;
        let then = self.open_palace(&past)?;
        let when = then
            .store()
            .as_of_commit()
            .map(|it| render::commit_description(it, by.now))
            .unwrap_or_default();
        let Resolved { thing, file } = resolve::resolve_item(then, said)?;
        let text =
            then.store().read_file(&file).map_err(|it| Refusal::UnreadableFile(it.into()))?;
        let Some(text) = text else {
            let why = format!("{} was not there {when}", render::item_label(&thing));
            return Err(Refusal::Invalid(why));
        };
        // With a file that held nothing one could understand, nobody is helped.
        if let (None, Some(finding)) = (identify_file(&then.palace, &file), then.file_error(&file))
        {
            return Err(Refusal::UnreadableFile(finding.clone().into()));
        }
        let callers = incoming_relations(&then.palace, &thing);
        let (identity, held) = (ItemIdentity::new(&then.palace, &thing), self.open_palace(&key)?);
        let (mut place, mut returned) = (file.clone(), RestoredRelations::default());
        let changed = held.change(by, |held| {
            let there = identity.find_file(&held.palace);
            let gone = callers.iter().filter(|_| there.is_none());
            place = there.clone().unwrap_or_else(|| file.clone());
            reject_occupied_file(held, &place, &identity)?;
            let (revision, number) = restore_relations(held, gone)?;
            returned = number;
            // It may be broken by now, and that is as good a reason as any.
            let was =
                held.store().read_file(&place).map_err(|it| Refusal::UnreadableFile(it.into()))?;
            let now = Some(held.store().checkout_text(&place, &text)?);
            let mut edits = vec![Edit { path: place.clone(), was, now }];
            edits.extend(revision.into_edits()?);
            let subject = format!("{}: restore", render::item_label(&thing));
            Ok(ChangePlan { edits, subject, body: format!("Brought back what it was {when}") })
        })?;
        let thing = render::item_label(&thing);
        Ok(match changed {
            true => format!("{thing} is what it was {when}: {place}{}\n", returned.describe()),
            false => {
                format!("{thing} is what it was {when} already: nothing changed in {place}.\n")
            }
        })
    }
}

/// The relations of others to an entity: from whom, whether that is defined, and what.
type IncomingRelations = Vec<(String, bool, Relation)>;

fn incoming_relations(then: &Palace, thing: &PalaceItem) -> IncomingRelations {
    let PalaceItem::Entity(name) = thing else { return Vec::new() };
    let incoming = then.graph.incoming_relations(name).filter(|it| it.from.name != *name);
    incoming.map(|it| (it.from.name.clone(), it.from.is_defined, it.relation.clone())).collect()
}

/// How many relations of others came back with an entity, and how many could not.
#[derive(Default)]
struct RestoredRelations {
    restored: usize,
    skipped: usize,
}

impl RestoredRelations {
    fn describe(&self) -> String {
        let relations = |number| render::pluralize(number, "relation");
        let back = (self.restored > 0)
            .then(|| format!(", with {} of others to it", relations(self.restored)));
        let lost = (self.skipped > 0)
            .then(|| format!("; without {} of others who are not there", relations(self.skipped)));
        back.unwrap_or_default() + &lost.unwrap_or_default()
    }
}

/// Gives back to those who are there the relations they had, where they have none like
/// them.
fn restore_relations<'a>(
    held: &mut OpenPalace,
    callers: impl Iterator<Item = &'a (String, bool, Relation)>,
) -> Result<(GraphEdit, RestoredRelations), Refusal> {
    let (mut revision, mut returned) = (GraphEdit::default(), RestoredRelations::default());
    for (from, is_defined, relation) in callers {
        let start = match is_defined {
            true => revision.entity_mut(held, from)?,
            false => revision.get_or_add_source(held, from)?,
        };
        let Some(Entity { relations, .. }) = start else {
            returned.skipped += 1;
            continue;
        };
        if !relations
            .iter()
            .any(|it| it.has_same_kind_and_target(relation) && it.overlaps_in_time(relation))
        {
            relations.push(relation.clone());
            returned.restored += 1;
        }
    }
    Ok((revision, returned))
}

/// Refuses a file that holds something else by now.
fn reject_occupied_file(
    held: &OpenPalace,
    file: &str,
    identity: &ItemIdentity,
) -> Result<(), Refusal> {
    let is_same = identity.find_file(&held.palace).is_some();
    match identify_file(&held.palace, file).filter(|it| !is_same && *it != identity.thing) {
        Some(other) => Err(Refusal::Invalid(format!(
            "`{file}` holds something else by now, {}; move that away first",
            render::item_label(&other)
        ))),
        None => Ok(()),
    }
}

/// What a thing is known by, wherever it is and whatever it is called: its name, or its id.
struct ItemIdentity {
    thing: PalaceItem,
    id: Option<Ulid>,
}

impl ItemIdentity {
    fn new(palace: &Palace, thing: &PalaceItem) -> Self {
        let id = match thing {
            PalaceItem::Room(id) => palace.room(id).and_then(|it| it.id),
            PalaceItem::Scroll { which, .. } => Some(which.id),
            PalaceItem::Entity(name) => palace.graph.get(name).and_then(|it| it.id),
            PalaceItem::Settings | PalaceItem::ByFile { .. } | PalaceItem::File(_) => None,
        };
        Self { thing: thing.clone(), id }
    }

    /// Finds the file that holds it.
    fn find_file(&self, palace: &Palace) -> Option<String> {
        let is_it = |id: Option<Ulid>| id.is_some() && id == self.id;
        match &self.thing {
            PalaceItem::Room(id) if palace.room(id).is_some() => Some(room_path(id)),
            PalaceItem::Room(_) => {
                palace.rooms().find(|(_, it)| is_it(it.id)).map(|(id, _)| room_path(id))
            }
            PalaceItem::Scroll { .. } => {
                let (room, it) = palace.scrolls().find(|(_, it)| is_it(Some(it.id)))?;
                let which = ScrollId { room: room.clone(), id: it.id };
                palace.file_of_scroll(&which).map(str::to_owned)
            }
            PalaceItem::Entity(name) => {
                let by_id = || palace.graph.iter().find(|it| is_it(it.id));
                let entity = palace.graph.get(name).or_else(by_id)?;
                palace.graph.file_of_entity(&entity.name).map(str::to_owned)
            }
            PalaceItem::Settings | PalaceItem::ByFile { .. } | PalaceItem::File(_) => None,
        }
    }
}
