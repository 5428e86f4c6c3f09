//! From files that differ to what differs in the palace.

use std::collections::BTreeSet;

use crate::diff;
use crate::diff::count_changed_lines;
use crate::format::{self, Place};
use crate::model::{
    Content, Detail, Difference, Differing, Fate, Filed, Files, Palace, ScrollId, Thing,
};

/// What a palace is called of which only some files are looked at.
const PLACEHOLDER_NAME: &str = "palace";

/// Says in the palace's own terms what differs, by kind and name. Of a file that is none of the
/// palace's, or cannot be understood in one of the states, it says no more than that; of schemas,
/// which are there for editors, nothing.
pub(crate) fn palace_diff(differing: &[Differing]) -> Vec<Difference> {
    let (mut was, mut now) = (Files::new(), Files::new());
    let (mut meant, mut differences) = (Vec::new(), Vec::new());
    for it in differing.iter().filter(|it| !format::is_schema(&it.path)) {
        if let Some(difference) = diff_unparsed_file(it) {
            differences.push(difference);
            continue;
        }
        meant.push(it);
        for (files, content) in [(&mut was, &it.was), (&mut now, &it.now)] {
            files.extend(content.text().map(|text| (it.path.clone(), text.to_owned())));
        }
    }
    let ((was, _), (now, _)) =
        (format::read(PLACEHOLDER_NAME, &was), format::read(PLACEHOLDER_NAME, &now));
    differences.extend(diff::diff_palaces(&was, &now));
    let mentioned: BTreeSet<_> = differences.iter().map(|it| it.thing.clone()).collect();
    for it in meant {
        let thing = identify_file(&now, &it.path).or_else(|| identify_file(&was, &it.path));
        let is_both = it.was.text().is_some() && it.now.text().is_some();
        match thing {
            Some(thing) if mentioned.contains(&thing) || !is_both => {}
            Some(thing) => differences.push(Difference { thing, fate: Fate::Changed(Vec::new()) }),
            None => {
                let thing = Thing::File(it.path.clone());
                differences.push(Difference { thing, fate: diff_lines(it) });
            }
        }
    }
    differences.sort_by(|a, b| a.thing.cmp(&b.thing));
    differences
}

/// Names what a file holds.
pub(crate) fn identify_file(palace: &Palace, path: &str) -> Option<Thing> {
    match Place::of(path).ok()? {
        Place::Settings => Some(Thing::Settings),
        Place::Room(id) => palace.room(&id).map(|_| Thing::Room(id)),
        Place::Scroll(_) => {
            let which: &ScrollId = palace.scroll_in_file(path)?;
            let title = palace.scroll(which)?.title.clone();
            Some(Thing::Scroll { which: which.clone(), title })
        }
        Place::Entity => palace.graph.in_file(path).map(|it| Thing::Entity(it.name.clone())),
        place => {
            let is_held = match place {
                Place::Genus => palace.graph.genus_in_file(path).is_some(),
                Place::Task => palace.tasks.contains_key(path),
                Place::Process => palace.processes.contains_key(path),
                Place::Drawer(_) => palace.drawers.get(path).is_some(),
                Place::Diary(_) => palace.diaries.get(path).is_some(),
                _ => false,
            };
            identify_by_path(path).filter(|_| is_held)
        }
    }
}

/// Names what a file holds that is known by it.
fn identify_by_path(path: &str) -> Option<Thing> {
    let what = match Place::of(path).ok()? {
        Place::Genus => Filed::Genus,
        Place::Task => Filed::Task,
        Place::Process => Filed::Process,
        Place::Drawer(_) => Filed::Drawer,
        Place::Diary(_) => Filed::Entry,
        _ => return None,
    };
    Some(Thing::Filed { what, path: path.to_owned() })
}

/// Tells what became of a file, where no more can be said than that: of one that is not
/// understood, and of one that holds but a text.
fn diff_unparsed_file(it: &Differing) -> Option<Difference> {
    let path = it.path.clone();
    for (before, content) in [(false, &it.now), (true, &it.was)] {
        let why = match content {
            Content::Unreadable(why) => Some(why.clone()),
            Content::Text(text) => parse_failure(&path, text),
            Content::Missing => None,
        };
        if let Some(why) = why {
            let fate = Fate::Changed(vec![Detail::Unreadable { before, why }]);
            return Some(Difference { thing: Thing::File(path), fate });
        }
    }
    let thing = match Place::of(&path) {
        Ok(Place::Other) | Err(_) => Thing::File(path),
        Ok(_) => identify_by_path(&path)?,
    };
    Some(Difference { thing, fate: diff_lines(it) })
}

fn diff_lines(it: &Differing) -> Fate {
    match (it.was.text(), it.now.text()) {
        (None, _) => Fate::Added,
        (_, None) => Fate::Removed,
        (Some(was), Some(now)) => {
            let count = count_changed_lines(was, now);
            Fate::Changed(vec![Detail::Lines { text: "", count }])
        }
    }
}

/// Says why nothing is understood of a file that should hold something.
fn parse_failure(path: &str, text: &str) -> Option<String> {
    let place = Place::of(path).ok().filter(|it| *it != Place::Other)?;
    let files = Files::from([(path.to_owned(), text.to_owned())]);
    let (palace, findings) = format::read(PLACEHOLDER_NAME, &files);
    let is_understood = match place {
        Place::Settings => format::read_settings(text).is_some(),
        _ => identify_file(&palace, path).is_some(),
    };
    let first = findings.first().map(|it| format!("line {}: {}", it.at.line, it.message));
    (!is_understood).then(|| first.unwrap_or_default())
}
