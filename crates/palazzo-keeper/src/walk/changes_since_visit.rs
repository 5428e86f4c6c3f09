//! The changes of others in a palace since the last visit of a client (v2 section 3.7).
//!
//! A visit is saved by the name of the client, in a cache below `.git` and not in a commit:
//! the newest commit, the time, and which scrolls of others were read or not. In the next
//! conversation of that client, rooms list what others have committed since then. Without git,
//! nothing is saved or listed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use chrono::{DateTime, SecondsFormat, Utc};

use crate::palace::OpenPalace;
use crate::palace::file_states::text_digest;
use crate::palace::room_scope::RoomScope;
use crate::walk::changed_items::{add_changed_items, changed_item_notices};
use crate::walk::mark_shown;
use crate::workspaces::as_of_key::is_as_of_key;
use crate::{Caller, Refusal, Session};
use palazzo_core::format::PalacePath;
use palazzo_core::model::{
    CommitDetails, CommitId, ItemId, Palace, RoomId, ScrollId, commit_trailers,
};
use palazzo_core::render::join_items;
use palazzo_core::render::{self, ago, in_quotes, name_in_sentence, truncate};
use palazzo_core::visit::ChangesSinceVisit;

/// Maximum number of commits that are read, the newest ones.
const MAX_COMMITS: usize = 500;
/// How many commits of others since a visit are told from those of this machine.
const MAX_RECEIVED_COMMITS: usize = 20_000;

/// Maximum number of scrolls that are saved as read, and as unread.
const MAX_SAVED_SCROLLS: usize = 200;

/// Maximum number of unread scrolls that a room lists.
const MAX_LISTED_SCROLLS: usize = 3;

/// Maximum number of people and clients that are named for received commits, and of the characters
/// of their names.
const MAX_NAMED_MAKERS: usize = 4;
const MAX_MAKER_CHARS: usize = 40;

/// A saved visit.
struct LastVisit {
    commit: CommitId,
    at: DateTime<Utc>,
    unread: BTreeSet<ScrollId>,
    read: BTreeSet<ScrollId>,
}

/// At the first call of a conversation in a palace, loads the changes of others since the last
/// visit, and saves this visit.
pub(crate) fn load_changes_and_save_visit(session: &mut Session<'_>) -> Result<(), Refusal> {
    let (palace, caller) = (&*session.palace, session.caller);
    if is_as_of_key(&session.key) || session.visit.changes_since_visit.contains_key(&session.key) {
        return Ok(());
    }
    // A history that cannot be read is reported elsewhere.
    let Some(head) = palace.head.clone() else { return Ok(()) };
    let last = read_last_visit(palace, caller);
    let changes = match last.map(|it| changes_since_visit(palace, caller, it)) {
        Some(Err(Refusal::Store(err))) if err.is_repository_error() => return Ok(()),
        Some(changes) => changes?,
        None => ChangesSinceVisit::default(),
    };
    let changes = ChangesSinceVisit { arrival: Some((head, caller.now)), ..changes };
    save_visit(palace, caller, &changes);
    session.visit.changes_since_visit.insert(session.key.clone(), changes);
    Ok(())
}

/// Remembers that the visit was shown a scroll. Marks it as read by the caller if it is somebody else's.
pub(crate) fn mark_scroll_read(session: &mut Session<'_>, scroll: &ScrollId) {
    mark_shown(session, &ItemId::Scroll(scroll.clone()));
    let (palace, caller) = (&*session.palace, session.caller);
    let Some(changes) = session.visit.changes_since_visit.get_mut(&session.key) else { return };
    let is_by_other = changes.unread_scrolls.contains(scroll)
        || palace.palace.scroll(scroll).is_some_and(|it| it.by != caller.name);
    if is_by_other && changes.read_scrolls.insert(scroll.clone()) {
        changes.unread_scrolls.remove(scroll);
        save_visit(palace, caller, changes);
    }
}

/// Returns the notices about changes of others in a room and in what it shows; at the entry, in the
/// whole palace.
pub(crate) fn change_notices(
    palace: &Palace,
    scope: &RoomScope<'_>,
    since: &ChangesSinceVisit,
    now: DateTime<Utc>,
) -> Vec<String> {
    let Some(at) = since.last_visit else { return Vec::new() };
    let rooms = since.rooms.iter().filter(|(it, _)| scope.includes_room(it));
    let rooms: Vec<_> = rooms.map(|(it, by)| describe_changed_room(palace, it, by)).collect();
    let [renamed, deleted, completed] = changed_item_notices(palace, scope, since);
    let changes = [
        ("Changed", describe_changed_entities(scope, since).join(", ")),
        ("Rooms changed", join_items(&rooms, str::to_owned)),
        renamed,
        deleted,
        completed,
    ];
    let changes = changes.into_iter().filter(|(_, items)| !items.is_empty());
    let mut notices: Vec<_> = changes
        .enumerate()
        .map(|(place, (verb, items))| match place {
            0 => format!("{verb} since your last visit ({}): {items}", ago(at, now)),
            _ => format!("{verb} since then: {items}"),
        })
        .collect();
    notices.extend(unread_scroll_notices(palace, scope, since, now));
    let is_truncated = since.is_truncated && scope.is_whole_palace();
    if (is_truncated || !notices.is_empty()) && !since.received.is_empty() {
        notices.push(describe_received(since));
    }
    if is_truncated {
        let note =
            format!("Left out: what is older than the newest {MAX_COMMITS} commits since then");
        notices.push(note);
    }
    notices
}

/// Names who made the commits that a sync has brought.
fn describe_received(since: &ChangesSinceVisit) -> String {
    let mut makers: Vec<_> = since.received.iter().collect();
    makers.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let name = |(by, count): &(&String, &usize)| {
        let commits = render::count_with_noun(**count, "commit");
        format!("{commits} by {}", name_in_sentence(&truncate(by, MAX_MAKER_CHARS)))
    };
    let named: Vec<_> = makers.iter().take(MAX_NAMED_MAKERS).map(name).collect();
    let more = match makers.len().saturating_sub(MAX_NAMED_MAKERS) {
        0 => String::new(),
        left => format!(" and {left} others"),
    };
    format!("Received by sync since then: {}{more}", named.join(", "))
}

/// Counts the entities that were changed, by genus.
fn describe_changed_entities(scope: &RoomScope<'_>, since: &ChangesSinceVisit) -> Vec<String> {
    let counts = since.entities.iter().filter_map(|(genus, names)| {
        let count = match scope.includes_genus(genus) {
            true => names.len(),
            false => names.iter().filter(|it| scope.names_entity(it)).count(),
        };
        (count > 0).then(|| match name_in_sentence(&truncate(genus, 40)) {
            name if name.starts_with('"') => format!("{count} of {name}"),
            name => render::count_with_noun(count, &name),
        })
    });
    counts.collect()
}

fn describe_changed_room(palace: &Palace, id: &RoomId, author: &str) -> String {
    let name = name_in_sentence(&truncate(&palace.room_name(id), 60));
    format!("{name} (by {})", name_in_sentence(&truncate(author, 20)))
}

fn unread_scroll_notices(
    palace: &Palace,
    scope: &RoomScope<'_>,
    since: &ChangesSinceVisit,
    now: DateTime<Utc>,
) -> Vec<String> {
    let unread = since.unread_scrolls.iter().filter(|it| scope.includes_room(&it.room));
    let mut unread: Vec<_> =
        unread.filter_map(|it| palace.scroll(it).map(|scroll| (&it.room, scroll))).collect();
    unread.sort_by_key(|(_, it)| std::cmp::Reverse((it.written, it.id)));
    let lines = unread.iter().take(MAX_LISTED_SCROLLS).map(|(room, it)| {
        let room = name_in_sentence(&palace.room_name(room));
        let (by, age) = (name_in_sentence(&truncate(&it.by, 20)), ago(it.written, now));
        format!("Unread: {} in {room} (by {by}, {age})", in_quotes(&truncate(&it.title, 60)))
    });
    let mut notices: Vec<_> = lines.collect();
    if unread.len() > MAX_LISTED_SCROLLS {
        notices.push(format!(
            "and {} unread",
            render::count_with_noun(unread.len() - MAX_LISTED_SCROLLS, "more scroll")
        ));
    }
    notices
}

/// Collects what others have committed since a visit.
fn changes_since_visit(
    palace: &OpenPalace,
    caller: &Caller,
    last: LastVisit,
) -> Result<ChangesSinceVisit, Refusal> {
    let (commits, is_truncated) =
        palace.store().commits_since(&last.commit, MAX_COMMITS)?.unwrap_or_default();
    let LastVisit { commit, at, unread, read } = last;
    let received = palace.store().received_commits(&commit, MAX_RECEIVED_COMMITS)?;
    let name_maker = |it| name_maker_of_received(it, caller, &received);
    let commits = commits.into_iter().map(name_maker).collect();
    let commits = drop_merges_by_sync(commits, caller, &received);
    let own = commits.iter().find(|it| it.summary.by == caller.name).map(|it| &it.summary.id);
    let seen: Vec<_> = own.into_iter().chain([&commit]).collect();
    let changed = files_changed_since(palace, &seen, &commits)?;
    let mut since = ChangesSinceVisit {
        last_visit: Some(at),
        is_truncated,
        unread_scrolls: unread,
        received: count_received(&commits, &received),
        ..ChangesSinceVisit::default()
    };
    // The oldest commit first: the author of the last change is listed.
    let mut authors = BTreeMap::new();
    for CommitDetails { summary, changed_files, .. } in commits.iter().rev() {
        for path in changed_files.iter().filter(|it| changed.contains(*it)) {
            authors.insert(path.as_str(), summary.by.as_str());
            if summary.by != caller.name {
                let is_received = received.contains_key(&summary.id.0);
                record_change(palace, caller, path, (&summary.by, is_received), &mut since);
            }
        }
    }
    authors.retain(|_, by| *by != caller.name);
    add_changed_items(palace, &authors, &seen, &mut since)?;
    let (palace, read) = (&palace.palace, read.iter().map(|it| it.id).collect::<BTreeSet<_>>());
    since.unread_scrolls.retain(|it| !read.contains(&it.id) && palace.scroll(it).is_some());
    Ok(since)
}

/// Drops from the commits that claim to be merges by a sync what the merged commits of others have
/// changed: those have the authors. What such a commit alone has changed stays, because anybody can
/// write the trailer; and of a merge that was received, what only commits of this machine have changed.
fn drop_merges_by_sync(
    commits: Vec<CommitDetails>,
    caller: &Caller,
    received: &BTreeMap<String, String>,
) -> Vec<CommitDetails> {
    let claims_merge = |it: &CommitDetails| {
        it.is_merge && it.trailers.iter().any(|it| it.0 == commit_trailers::MERGE_RULES)
    };
    let is_received = |it: &CommitDetails| received.contains_key(&it.summary.id.0);
    let files = |is_wanted: &dyn Fn(&CommitDetails) -> bool| -> HashSet<String> {
        let merged = commits.iter().filter(|it| !claims_merge(it) && is_wanted(it));
        merged.flat_map(|it| it.changed_files.iter().cloned()).collect()
    };
    let by_others = files(&|it| it.summary.by != caller.name);
    let by_remote = files(&is_received);
    let own_changes = |mut commit: CommitDetails| {
        if claims_merge(&commit) {
            let merged = if is_received(&commit) { &by_remote } else { &by_others };
            commit.changed_files.retain(|it| !merged.contains(it));
        }
        (!commit.changed_files.is_empty()).then_some(commit)
    };
    commits.into_iter().filter_map(own_changes).collect()
}

/// Names the person who brought a commit, if it came by a sync. On another machine, another caller
/// may have the name of this one.
fn name_maker_of_received(
    mut commit: CommitDetails,
    caller: &Caller,
    received: &BTreeMap<String, String>,
) -> CommitDetails {
    if let Some(committer) = received.get(&commit.summary.id.0) {
        let by = &mut commit.summary.by;
        if by != committer {
            *by = format!("{by} of {committer}");
        } else if *by == caller.name {
            by.push_str(" elsewhere");
        }
    }
    commit
}

/// Counts the received commits by who made them.
fn count_received(
    commits: &[CommitDetails],
    received: &BTreeMap<String, String>,
) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for commit in commits.iter().filter(|it| received.contains_key(&it.summary.id.0)) {
        *counts.entry(commit.summary.by.clone()).or_default() += 1;
    }
    counts
}

/// Lists the files that differ from one of the `seen` commits: so a change that was undone in
/// between does not count, and neither do the commits of a rebase.
fn files_changed_since(
    palace: &OpenPalace,
    seen: &[&CommitId],
    commits: &[CommitDetails],
) -> Result<HashSet<String>, Refusal> {
    let mut differing = HashSet::new();
    if commits.is_empty() {
        return Ok(differing);
    }
    let head = palace.store().head()?;
    for before in seen {
        differing.extend(palace.store().changed_paths_between(Some(*before), head.as_ref())?);
    }
    Ok(differing)
}

fn record_change(
    open: &OpenPalace,
    caller: &Caller,
    path: &str,
    (author, is_received): (&str, bool),
    since: &mut ChangesSinceVisit,
) {
    let palace = &open.palace;
    match PalacePath::parse(path) {
        Ok(PalacePath::Room(id)) if open.has_file(path) => {
            since.rooms.insert(id, author.to_owned());
        }
        Ok(PalacePath::Entity) => {
            if let Some(entity) = palace.graph.entity_in_file(path).filter(|it| it.is_defined) {
                let names = since.entities.entry(entity.genus.clone()).or_default();
                names.insert(entity.name.clone());
            }
        }
        Ok(PalacePath::Scroll(_)) => {
            let scroll = palace.scroll_in_file(path);
            let of_others = |it: &&ScrollId| {
                palace.scroll(it).is_some_and(|it| is_received || it.by != caller.name)
            };
            since.unread_scrolls.extend(scroll.filter(of_others).cloned());
        }
        _ => {}
    }
}

/// Reads the last visit of a client.
fn read_last_visit(palace: &OpenPalace, caller: &Caller) -> Option<LastVisit> {
    let text = String::from_utf8(palace.store().read_cache(&visit_file_name(caller))?).ok()?;
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

/// Saves a visit. If that fails, the next visit lists the same changes again.
fn save_visit(palace: &OpenPalace, caller: &Caller, since: &ChangesSinceVisit) {
    let Some((commit, at)) = &since.arrival else { return };
    let mut text = format!("{commit}\n{}\n", at.to_rfc3339_opts(SecondsFormat::Secs, true));
    for (mark, scrolls) in [("unread", &since.unread_scrolls), ("read", &since.read_scrolls)] {
        let mut newest: Vec<_> = scrolls.iter().collect();
        newest.sort_by_key(|it| std::cmp::Reverse(it.id));
        for ScrollId { room, id } in newest.into_iter().take(MAX_SAVED_SCROLLS) {
            text.push_str(&format!("{mark} {room}/{id}\n"));
        }
    }
    drop(palace.store().write_cache(&visit_file_name(caller), text.as_bytes()));
}

/// Returns the name of the cache file for the visits of a client.
fn visit_file_name(caller: &Caller) -> String {
    format!("visits-{:016x}", text_digest(&caller.name))
}
