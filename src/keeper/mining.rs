//! Filing what was taken from files: all texts of a source in one commit, and
//! nothing twice.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, SubsecRound, Utc};

use crate::exchange::Mined;
use crate::format::{self, drawer_file, drawer_room};
use crate::keeper::held::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, fresh_id};
use crate::model::{Drawer, Edit, RoomId, Said, Shelf};
use crate::render;

/// How many characters of a name are taken that others gave.
const LONGEST_NAME: usize = 80;

/// What became of the texts of a source, or would.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mining {
    /// How many are filed now.
    pub new: usize,
    /// How many had been filed before they were finished, and are whole now.
    pub grown: usize,
    /// How many were filed already.
    pub known: usize,
}

/// What a room holds already.
#[derive(Default)]
struct Holding<'a> {
    texts: HashSet<&'a str>,
    /// Files by where their texts come from, and from when they are.
    sources: HashMap<(&'a str, Option<DateTime<Utc>>), &'a str>,
}

impl Keeper {
    /// Files the texts of a source, those that name no wing in `wing`. What lies
    /// there already stays as it is; of an exchange that has gone on since it was
    /// filed, the drawer gets the rest. Only counts if `dry`.
    pub fn file_mined(
        &mut self,
        by: &Caller,
        source: &str,
        wing: &str,
        mined: &[Mined],
        dry: bool,
    ) -> Result<Mining, Refusal> {
        let source = render::line(source);
        let drawers = mined.iter().map(|it| self.drawer(by, &source, wing, it)).collect::<Vec<_>>();
        let key = match dry || drawers.is_empty() {
            true => self.current_if_any(by)?,
            false => Some(self.current_or_first(by)?),
        };
        let Some(key) = key else {
            return Ok(Mining { new: drawers.len(), ..Mining::default() });
        };
        let mut mining = Mining::default();
        self.at(&key)?.change(by, |held| {
            let (mut edits, begun, counted) = filing(held, Some(&source), &drawers);
            mining = counted;
            for (file, text) in begun {
                edits.push(grown(held, file, text)?);
            }
            let body = format!("{} new, {} grown", counted.new, counted.grown);
            let subject = format!("source {}: mine", render::cut(&source, 50));
            Ok(Plan { edits: if dry { Vec::new() } else { edits }, subject, body })
        })?;
        Ok(mining)
    }

    fn drawer(&mut self, by: &Caller, source: &str, wing: &str, it: &Mined) -> (Shelf, Drawer) {
        let wing = name(it.wing.as_deref().unwrap_or(wing), LONGEST_NAME);
        let shelf = Shelf { wing, room: name(&it.room, LONGEST_NAME) };
        let drawer = Drawer {
            id: fresh_id(&mut self.ids, by.now),
            said: Said { wing: Some(shelf.wing.clone()), room: Some(shelf.room.clone()) },
            source: Some(source.to_owned()),
            by: Some(render::line(&by.name)),
            filed: Some(it.at.unwrap_or(by.now).trunc_subsecs(0)),
            text: it.text.replace('\0', "\u{fffd}"),
        };
        (shelf, drawer)
    }
}

/// Makes a name that a wing, a room or an agent may have of what others call
/// theirs, of so many characters at most.
pub(super) fn name(said: &str, most: usize) -> String {
    let said = render::line(&said.replace(['/', '\\'], "-"));
    let said: String = said.chars().take(most).collect();
    match said.trim_matches(['.', ' ']) {
        "" => "untitled".to_owned(),
        _ => said.trim_end().to_owned(),
    }
}

/// Returns the files to be made, those that hold the beginning of a text with the
/// whole of it, and how many there are of either. Only the texts of one `source`
/// go on after they were filed.
pub(super) fn filing<'a>(
    held: &Held,
    source: Option<&str>,
    drawers: &'a [(Shelf, Drawer)],
) -> (Vec<Edit>, Vec<(String, &'a str)>, Mining) {
    let mut rooms: BTreeMap<&Shelf, (RoomId, Holding<'_>)> = BTreeMap::new();
    let (mut edits, mut begun, mut mining) = (Vec::new(), Vec::new(), Mining::default());
    let mut joining: HashMap<String, usize> = HashMap::new();
    for (shelf, drawer) in drawers {
        let (room, holding) = rooms.entry(shelf).or_insert_with(|| {
            let room = drawer_room(&held.palace, shelf);
            let holding = Holding::of(held, &room, shelf);
            (room, holding)
        });
        if !holding.texts.insert(&drawer.text) {
            mining.known += 1;
            continue;
        }
        if let Some(file) = source.and_then(|it| holding.begun(held, it, drawer)) {
            begun.push((file.to_owned(), drawer.text.as_str()));
            mining.grown += 1;
            continue;
        }
        let joins = |it: &str| joining.get(it).copied().unwrap_or_default();
        let path = drawer_file(&held.palace.drawers, room, drawer, joins);
        if let Some((folder, _)) = path.rsplit_once('/') {
            *joining.entry(folder.to_owned()).or_default() += 1;
        }
        edits.push(Edit { path, was: None, now: Some(format::write_drawer(drawer)) });
        mining.new += 1;
    }
    (edits, begun, mining)
}

/// Puts the whole of a text in the place of its beginning.
fn grown(held: &mut Held, file: String, text: &str) -> Result<Edit, Refusal> {
    let was = held.text(&file)?;
    let begun = held.palace.drawers.get(&file);
    let whole = begun.map(|it| Drawer { text: text.to_owned(), ..it.clone() });
    let now = whole.map(|it| format::write_drawer(&it));
    Ok(Edit { path: file, was, now })
}

impl<'a> Holding<'a> {
    fn of(held: &'a Held, room: &RoomId, shelf: &Shelf) -> Self {
        let drawers = &held.palace.drawers;
        let mut holding = Self::default();
        for (file, it) in drawers.in_room(room) {
            if drawers.shelf_of(file).as_ref() != Some(shelf) {
                continue;
            }
            holding.texts.insert(&it.text);
            if let Some(source) = &it.source {
                holding.sources.insert((source, it.filed), file);
            }
        }
        holding
    }

    /// Returns the file that holds the beginning of a text of that source.
    fn begun(&mut self, held: &Held, source: &'a str, it: &Drawer) -> Option<&'a str> {
        let file = *self.sources.get(&(source, it.filed))?;
        let begun = held.palace.drawers.get(file)?;
        it.text.starts_with(&begun.text).then_some(file)
    }
}
