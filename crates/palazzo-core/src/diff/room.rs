//! Differences between two states of one room.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::diff::text::{name_change, place_change, sort_content, text_change, value_change};
use crate::model::{Action, ChangeDetail, ItemElement, Room, RoomId};

/// Returns the differences of a room, which may be missing in one state.
pub(super) fn diff_rooms(
    was: Option<(&RoomId, &Room)>,
    now: Option<(&RoomId, &Room)>,
) -> Vec<ChangeDetail> {
    match (was, now) {
        (Some((from, was)), Some((to, now))) => {
            place_change(from, to).into_iter().chain(diff_room(was, now)).collect()
        }
        (None, Some((_, now))) => sort_content(diff_room(&blank_room(now), now)),
        (Some((_, was)), None) => sort_content(diff_room(was, &blank_room(was))),
        (None, None) => Vec::new(),
    }
}

fn diff_room(was: &Room, now: &Room) -> Vec<ChangeDetail> {
    let id = |it: &Room| it.id.map(|it| it.to_string());
    let mut details: Vec<_> = name_change(&was.name, &now.name).into_iter().collect();
    details.extend(diff_actions(&was.actions, &now.actions));
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (was.portals.iter().collect(), now.portals.iter().collect());
    let portal = |it: &&_| ItemElement::Portal(ToString::to_string(*it));
    details.extend(after.difference(&before).map(|it| ChangeDetail::PartAdded(portal(it))));
    details.extend(before.difference(&after).map(|it| ChangeDetail::PartRemoved(portal(it))));
    if before == after && was.portals != now.portals {
        details.push(ChangeDetail::PartsReordered("portals"));
    }
    let shown = |it: &Room| it.generate.as_ref().map(ToString::to_string);
    details.extend(value_change("generate", shown(was).as_deref(), shown(now).as_deref()));
    details.extend(text_change("description", &was.description, &now.description));
    details.extend(value_change("id", id(was).as_deref(), id(now).as_deref()));
    details
}

/// Returns a room without content.
fn blank_room(it: &Room) -> Room {
    Room {
        id: it.id,
        name: String::new(),
        description: String::new(),
        actions: Vec::new(),
        portals: Vec::new(),
        generate: None,
    }
}

/// Returns the differences of actions. Actions are matched by label, and those with equal labels in
/// their order.
fn diff_actions(was: &[Action], now: &[Action]) -> Vec<ChangeDetail> {
    let part = |it: &Action| ItemElement::Action(it.clone());
    let mut left: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, action) in was.iter().enumerate() {
        left.entry(&action.label).or_default().push_back(at);
    }
    let (mut details, mut kept) = (Vec::new(), Vec::new());
    for action in now {
        let old = left.get_mut(action.label.as_str()).and_then(VecDeque::pop_front);
        match old {
            None => details.push(ChangeDetail::PartAdded(part(action))),
            Some(at) => {
                kept.push(at);
                let is_other = was[at].kind != action.kind;
                details.extend(
                    is_other.then(|| ChangeDetail::PartChanged {
                        was: part(&was[at]),
                        now: part(action),
                    }),
                );
            }
        }
    }
    let lost: BTreeSet<_> = left.into_values().flatten().collect();
    details.extend(lost.into_iter().map(|at| ChangeDetail::PartRemoved(part(&was[at]))));
    if !kept.is_sorted() {
        details.push(ChangeDetail::PartsReordered("actions"));
    }
    details
}
