//! Filing what was taken from files: all texts of a source in one commit, and
//! nothing twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use chrono::{DateTime, SubsecRound, Utc};

use crate::exchange::{Lode, Mined};
use crate::format::{self, Place, drawer_file, drawer_room};
use crate::keeper::palace::{Held, Plan};
use crate::keeper::{Caller, Keeper, Refusal, fresh_id};
use crate::model::{Drawer, Edit, RoomId, Said, Shelf};
use crate::render;

/// How many characters of a name are taken that others gave.
const LONGEST_NAME: usize = 80;

/// What became of the texts of a source, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mining {
    /// How many sources had any texts.
    pub sources: usize,
    /// How many are filed now.
    pub new: usize,
    /// How many had been filed before they were finished, and are whole now.
    pub grown: usize,
    /// How many were filed already.
    pub known: usize,
    /// Documents that say something else than they did, each with the file of what
    /// it said before, which stays.
    pub older: Vec<(String, String)>,
    /// What a dry run has counted, by hash, that filing would have found.
    counted: HashSet<u64>,
}

/// A file that is mined.
#[derive(Clone, Debug)]
pub struct Pit {
    /// What it is called in the drawers.
    pub name: String,
    /// The wing of texts that name none.
    pub wing: String,
    /// What it is.
    pub lode: Lode,
    /// When it was last written: the date of texts that have none of their own.
    pub written: Option<DateTime<Utc>>,
}

/// How texts are to be filed beside those that lie there.
#[derive(Default)]
pub(crate) struct Filings<'a> {
    /// The files to be made, one for each new text.
    pub(crate) edits: Vec<Edit>,
    /// The files that hold the beginning of a text, with the whole of it.
    begun: Vec<(String, &'a Drawer)>,
    /// How many lie there already.
    pub(crate) known: usize,
    /// The files of what documents said before.
    older: Vec<String>,
}

/// What a room holds already.
#[derive(Default)]
struct Holding<'a> {
    texts: HashSet<&'a str>,
    /// Files by where their texts come from, in the order of filing.
    sources: HashMap<&'a str, Vec<&'a str>>,
}

impl Keeper {
    /// Files the texts of a source, and adds to `mining` what became of them. What
    /// lies there already stays as it is; of an exchange that has gone on since it
    /// was filed, and of a document to whose end something was added, the drawer
    /// gets the rest. Only counts if `dry`.
    pub fn file_mined(
        &mut self,
        by: &Caller,
        pit: &Pit,
        mined: &[Mined],
        mining: &mut Mining,
        dry: bool,
    ) -> Result<(), Refusal> {
        let pit = &Pit { name: render::line(&pit.name), ..pit.clone() };
        let drawers = mined.iter().map(|it| self.drawer(by, pit, it));
        let mut drawers: Vec<_> = drawers.collect();
        mining.sources += usize::from(!drawers.is_empty());
        if dry {
            let hash = BuildHasherDefault::<DefaultHasher>::default();
            let all = drawers.len();
            drawers.retain(|(it, drawer)| mining.counted.insert(hash.hash_one((it, &drawer.text))));
            mining.known += all - drawers.len();
        }
        let key = match dry || drawers.is_empty() {
            true => self.current_if_any(by)?,
            false => Some(self.current_or_first(by)?),
        };
        let Some(key) = key else {
            mining.new += drawers.len();
            return Ok(());
        };
        let mut filed = (0, 0, 0, Vec::new());
        self.at(&key)?.change_alone(by, |held| {
            let Filings { mut edits, begun, known, older } = filing(held, Some(pit), &drawers);
            filed = (edits.len(), begun.len(), known, older);
            let body = format!("{} new, {} grown", edits.len(), begun.len());
            for (file, whole) in begun {
                edits.push(grown(held, file, whole)?);
            }
            let subject = format!("source {}: mine", render::cut(&pit.name, 50));
            Ok(Plan { edits: if dry { Vec::new() } else { edits }, subject, body })
        })?;
        let (new, grown, known, older) = filed;
        mining.new += new;
        mining.grown += grown;
        mining.known += known;
        mining.older.extend(older.into_iter().map(|it| (pit.name.clone(), it)));
        Ok(())
    }

    fn drawer(&mut self, by: &Caller, pit: &Pit, it: &Mined) -> (Shelf, Drawer) {
        let wing = name(it.wing.as_deref().unwrap_or(&pit.wing), LONGEST_NAME);
        let shelf = Shelf { wing, room: name(&it.room, LONGEST_NAME) };
        let drawer = Drawer {
            id: fresh_id(&mut self.ids, by.now),
            said: Said { wing: Some(shelf.wing.clone()), room: Some(shelf.room.clone()) },
            source: Some(pit.name.clone()),
            by: Some(render::line(&by.name)),
            filed: Some(it.at.or(pit.written).map_or_else(|| seconds(by.now), seconds)),
            text: it.text.replace('\0', "\u{fffd}"),
        };
        (shelf, drawer)
    }
}

/// Tells whether the file at `path` in a palace is one of those that make it.
pub fn is_own(path: &str) -> bool {
    Place::of(path) != Ok(Place::Other)
}

/// Cuts a moment to the seconds that a drawer's date has.
fn seconds(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.trunc_subsecs(0)
}

/// Makes a name that a wing, a room or an agent may have of what others call
/// theirs, of so many characters at most.
pub(crate) fn name(said: &str, most: usize) -> String {
    let said = render::line(&said.replace(['/', '\\'], "-"));
    let said: String = said.chars().take(most).collect();
    match said.trim_matches(['.', ' ']) {
        "" => "untitled".to_owned(),
        _ => said.trim_end().to_owned(),
    }
}

/// Finds out how texts are to be filed. Only those of one `source` go on after they
/// were filed, or say something else than they did.
pub(crate) fn filing<'a>(
    held: &Held,
    pit: Option<&Pit>,
    drawers: &'a [(Shelf, Drawer)],
) -> Filings<'a> {
    let mut rooms: BTreeMap<&Shelf, (RoomId, Holding<'_>)> = BTreeMap::new();
    let mut filings = Filings::default();
    let mut joining: HashMap<String, usize> = HashMap::new();
    let texts: HashSet<&str> = drawers.iter().map(|(_, it)| it.text.as_str()).collect();
    for (shelf, drawer) in drawers {
        let (room, holding) = rooms.entry(shelf).or_insert_with(|| {
            let room = drawer_room(&held.palace, shelf);
            let holding = Holding::of(held, &room, shelf);
            (room, holding)
        });
        if !holding.texts.insert(&drawer.text) {
            filings.known += 1;
            continue;
        }
        if let Some(file) = pit.and_then(|it| holding.begun(held, it, &texts, drawer)) {
            filings.begun.push((file.to_owned(), drawer));
            continue;
        }
        let joins = |it: &str| joining.get(it).copied().unwrap_or_default();
        let path = drawer_file(&held.palace.drawers, room, drawer, joins);
        if let Some((folder, _)) = path.rsplit_once('/') {
            *joining.entry(folder.to_owned()).or_default() += 1;
        }
        filings.edits.push(Edit { path, was: None, now: Some(format::write_drawer(drawer)) });
    }
    let changed = pit.filter(|it| it.lode == Lode::Document && !filings.edits.is_empty());
    if let Some(pit) = changed {
        let older = rooms.values().flat_map(|(_, it)| it.older(held, &pit.name, &texts));
        filings.older = older.map(str::to_owned).collect();
    }
    filings
}

/// Puts the whole of a text in the place of its beginning.
fn grown(held: &mut Held, file: String, whole: &Drawer) -> Result<Edit, Refusal> {
    let was = held.text(&file)?;
    let begun = held.palace.drawers.get(&file);
    let whole = begun.map(|it| {
        let Drawer { filed, text, .. } = whole.clone();
        Drawer { filed, text, ..it.clone() }
    });
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
                holding.sources.entry(source).or_default().push(file);
            }
        }
        holding
    }

    /// Takes out the file that holds the beginning of a text, and none of the `texts`
    /// as they are now. Exchanges of one conversation may begin alike: each is known
    /// by its moment, if it has one of its own.
    fn begun(
        &mut self,
        held: &Held,
        pit: &Pit,
        texts: &HashSet<&str>,
        it: &Drawer,
    ) -> Option<&'a str> {
        let files = self.sources.get_mut(pit.name.as_str())?;
        let has_moment = pit.lode != Lode::Document && it.filed != pit.written.map(seconds);
        let begins = |begun: &Drawer| {
            it.text.starts_with(&begun.text)
                && !texts.contains(begun.text.as_str())
                && (!has_moment || begun.filed == it.filed)
        };
        let place =
            files.iter().position(|file| held.palace.drawers.get(file).is_some_and(begins))?;
        Some(files.swap_remove(place))
    }

    /// Returns the files of a document whose texts are not in it any more.
    fn older(&self, held: &Held, source: &str, texts: &HashSet<&str>) -> Vec<&'a str> {
        let files = self.sources.get(source).into_iter().flatten().copied();
        let is_gone = |it: &&str| {
            held.palace.drawers.get(it).is_some_and(|it| !texts.contains(it.text.as_str()))
        };
        files.filter(is_gone).collect()
    }
}
