//! What others did in a palace since a visitor was last there (v2 section 3.7).
//!
//! A visitor who comes in is noted by name, beside git's own files and in no
//! commit: what was the newest commit then, when that was, and which scrolls of
//! others were read or left unread. The next conversation is told what others
//! have committed since; what lies uncommitted is told once it is committed.
//! Where there is no git, nothing is noted, and so nothing told.

use std::collections::{BTreeSet, HashSet};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::format::PalacePath;
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::reload::text_digest;
use crate::keeper::palace::room_scope::RoomScope;
use crate::keeper::workspaces::as_of::is_as_of_key;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{CommitDetails, CommitId, Palace, RoomId, ScrollId};
use crate::render::join_names;
use crate::render::{self, ago, truncate};
use crate::session::ChangesSinceVisit;

/// How many commits are looked at: who was away for longer is told of the
/// newest.
const MAX_COMMITS: usize = 500;

/// How many scrolls are kept in mind as read, and as unread.
const MAX_SAVED_SCROLLS: usize = 200;

/// How many unread scrolls a room tells of.
const MAX_LISTED_SCROLLS: usize = 3;

/// What is noted of a visit.
struct LastVisit {
    commit: CommitId,
    at: DateTime<Utc>,
    unread: BTreeSet<ScrollId>,
    read: BTreeSet<ScrollId>,
}

impl Keeper {
    /// Recognizes a visitor who is in a palace for the first time in a
    /// conversation: sees what others did since the last, and notes the visit.
    pub(crate) fn load_visit(&mut self, by: &Caller, key: &str) -> Result<(), Refusal> {
        if is_as_of_key(key) || self.visit(by).changes_since_visit.contains_key(key) {
            return Ok(());
        }
        let held = self.open_palace(key)?;
        // Where the history cannot be read, that is reported elsewhere.
        let Some(head) = held.head.clone() else { return Ok(()) };
        let since = match read_last_visit(held, by).map(|it| changes_since_visit(held, by, it)) {
            Some(Err(Refusal::Store(err))) if err.is_repository_error() => return Ok(()),
            Some(since) => since?,
            None => ChangesSinceVisit::default(),
        };
        let since = ChangesSinceVisit { arrival: Some((head, by.now)), ..since };
        save_visit(held, by, &since);
        self.visit(by).changes_since_visit.insert(key.to_owned(), since);
        Ok(())
    }

    /// Notes that a visitor has read a scroll.
    pub(crate) fn mark_scroll_read(&mut self, by: &Caller, key: &str, which: &ScrollId) {
        let Some(held) = self.open_palaces.get(key) else { return };
        let Some(since) =
            self.visits.get_mut(&by.name).and_then(|it| it.changes_since_visit.get_mut(key))
        else {
            return;
        };
        let is_news = held.palace.scroll(which).is_some_and(|it| it.by != by.name);
        if is_news && since.read_scrolls.insert(which.clone()) {
            since.unread_scrolls.remove(which);
            save_visit(held, by, since);
        }
    }
}

/// Says in a room what others did to it and to what it shows; at the entry, to
/// all there is.
pub(crate) fn change_notices(
    palace: &Palace,
    exhibits: &RoomScope<'_>,
    since: &ChangesSinceVisit,
    now: DateTime<Utc>,
) -> Vec<String> {
    let Some(at) = since.last_visit else { return Vec::new() };
    let bound =
        if since.is_truncated { format!(", newest {MAX_COMMITS} commits") } else { String::new() };
    let last = format!("since your last visit ({}{bound})", ago(at, now));
    let changed = count_changed_entities(exhibits, since);
    let entities = (!changed.is_empty()).then(|| format!("Changed {last}: {}", changed.join(", ")));
    let rooms: Vec<_> = since
        .rooms
        .iter()
        .filter(|(it, _)| exhibits.includes_room(it))
        .map(|(it, by)| describe_changed_room(palace, it, by))
        .collect();
    let rooms =
        (!rooms.is_empty()).then(|| format!("Rooms changed {last}: {}", join_names(&rooms)));
    let told = entities.into_iter().chain(rooms);
    told.chain(unread_scroll_notices(palace, exhibits, since, now)).collect()
}

/// Counts the entities that were changed, by genus.
fn count_changed_entities(exhibits: &RoomScope<'_>, since: &ChangesSinceVisit) -> Vec<String> {
    let counts = since.entities.iter().filter_map(|(genus, names)| {
        let count = match exhibits.includes_genus(genus) {
            true => names.len(),
            false => names.iter().filter(|it| exhibits.includes_entity(it)).count(),
        };
        (count > 0).then(|| render::pluralize(count, &truncate(&render::one_line(genus), 40)))
    });
    counts.collect()
}

fn describe_changed_room(palace: &Palace, id: &RoomId, by: &str) -> String {
    let name = render::one_line(&palace.room_name(id));
    let gone = if palace.room(id).is_none() { "; it is gone" } else { "" };
    format!("{name} (by {}{gone})", truncate(&render::one_line(by), 20))
}

fn unread_scroll_notices(
    palace: &Palace,
    exhibits: &RoomScope<'_>,
    since: &ChangesSinceVisit,
    now: DateTime<Utc>,
) -> Vec<String> {
    let here = since.unread_scrolls.iter().filter(|it| exhibits.includes_room(&it.room));
    let mut here: Vec<_> =
        here.filter_map(|it| palace.scroll(it).map(|scroll| (&it.room, scroll))).collect();
    here.sort_by_key(|(_, it)| std::cmp::Reverse((it.written, it.id)));
    let named = here.iter().take(MAX_LISTED_SCROLLS).map(|(room, it)| {
        let (title, room) = (truncate(&render::one_line(&it.title), 60), palace.room_name(room));
        let (by, age) = (truncate(&render::one_line(&it.by), 20), ago(it.written, now));
        format!("Unread: \"{title}\" in {} (by {by}, {age})", render::one_line(&room))
    });
    let mut told: Vec<_> = named.collect();
    if here.len() > MAX_LISTED_SCROLLS {
        told.push(format!(
            "and {} unread",
            render::pluralize(here.len() - MAX_LISTED_SCROLLS, "more scroll")
        ));
    }
    told
}

/// Sees what others have committed since a visit.
fn changes_since_visit(
    held: &OpenPalace,
    by: &Caller,
    last: LastVisit,
) -> Result<ChangesSinceVisit, Refusal> {
    let (records, is_cut) =
        held.store().commits_since(&last.commit, MAX_COMMITS)?.unwrap_or_default();
    let LastVisit { commit, at, unread, read } = last;
    let differing = files_changed_since_visit(held, by, &commit, &records)?;
    let mut since = ChangesSinceVisit {
        last_visit: Some(at),
        is_truncated: is_cut,
        unread_scrolls: unread,
        ..ChangesSinceVisit::default()
    };
    // What changed last is told last, and so it is what counts.
    for CommitDetails { summary: moment, changed_files: touched, .. } in
        records.iter().rev().filter(|it| it.summary.by != by.name)
    {
        for path in touched.iter().filter(|it| differing.contains(*it)) {
            record_change(&held.palace, by, path, &moment.by, &mut since);
        }
    }
    let palace = &held.palace;
    since.unread_scrolls.retain(|it| !read.contains(it) && palace.scroll(it).is_some());
    Ok(since)
}

/// Lists the files that are not as the visitor has seen or left them: what came
/// and went in between is nothing, and a past that was written anew tells again
/// of what is as it was.
fn files_changed_since_visit(
    held: &OpenPalace,
    by: &Caller,
    seen: &CommitId,
    records: &[CommitDetails],
) -> Result<HashSet<String>, Refusal> {
    let mut differing = HashSet::new();
    if records.is_empty() {
        return Ok(differing);
    }
    let head = held.store().head()?;
    let left = records.iter().find(|it| it.summary.by == by.name).map(|it| &it.summary.id);
    for before in [Some(seen), left].into_iter().flatten() {
        differing.extend(held.store().changed_between(Some(before), head.as_ref())?);
    }
    Ok(differing)
}

fn record_change(
    palace: &Palace,
    by: &Caller,
    path: &str,
    who: &str,
    since: &mut ChangesSinceVisit,
) {
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) => {
            since.rooms.insert(id, who.to_owned());
        }
        Ok(PalacePath::Entity) => {
            if let Some(entity) = palace.graph.entity_in_file(path).filter(|it| it.is_defined) {
                let names = since.entities.entry(entity.genus.clone()).or_default();
                names.insert(entity.name.clone());
            }
        }
        Ok(PalacePath::Scroll(_)) => {
            let hangs = palace.scroll_in_file(path);
            let of_others = |it: &&ScrollId| palace.scroll(it).is_some_and(|it| it.by != by.name);
            since.unread_scrolls.extend(hangs.filter(of_others).cloned());
        }
        _ => {}
    }
}

/// Returns what was noted when the visitor last came in.
fn read_last_visit(held: &OpenPalace, by: &Caller) -> Option<LastVisit> {
    let text = String::from_utf8(held.store().read_cache(&visit_file_name(by))?).ok()?;
    let mut lines = text.lines();
    let (commit, at) = (lines.next()?.to_owned(), lines.next()?.parse().ok()?);
    let (mut unread, mut read) = (BTreeSet::new(), BTreeSet::new());
    for line in lines {
        let (mark, which) = line.split_once(' ')?;
        let (room, id) = which.rsplit_once('/')?;
        let which = ScrollId { room: room.parse().ok()?, id: id.parse().ok()? };
        let scrolls = if mark == "read" { &mut read } else { &mut unread };
        scrolls.insert(which);
    }
    Some(LastVisit { commit: CommitId(commit), at, unread, read })
}

/// Notes a visit. One that cannot be noted costs the visitor nothing but that
/// the same is told again.
fn save_visit(held: &OpenPalace, by: &Caller, since: &ChangesSinceVisit) {
    let Some((commit, at)) = &since.arrival else { return };
    let mut text = format!("{commit}\n{}\n", at.to_rfc3339_opts(SecondsFormat::Secs, true));
    for (mark, scrolls) in [("unread", &since.unread_scrolls), ("read", &since.read_scrolls)] {
        let mut newest: Vec<_> = scrolls.iter().collect();
        newest.sort_by_key(|it| std::cmp::Reverse(it.id));
        for ScrollId { room, id } in newest.into_iter().take(MAX_SAVED_SCROLLS) {
            text.push_str(&format!("{mark} {room}/{id}\n"));
        }
    }
    drop(held.store().write_cache(&visit_file_name(by), text.as_bytes()));
}

/// Returns a plain file name for what is noted of a visitor.
fn visit_file_name(by: &Caller) -> String {
    format!("visits-{:016x}", text_digest(&by.name))
}
