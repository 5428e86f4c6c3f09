//! Filing what was taken from files: all texts of a source in one commit, and
//! nothing twice.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use chrono::{DateTime, SubsecRound, Utc};

use crate::exchange::{ExtractedText, SourceKind};
use crate::format::{self, PalacePath, choose_drawer_room, new_drawer_path};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Drawer, Edit, FiledUnder, RoomId, WingRoom};
use crate::render;

/// How many characters of a name are taken that others gave.
const MAX_NAME_CHARS: usize = 80;

/// What became of the texts of a source, or would.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MineSummary {
    /// How many sources had any texts.
    pub sources: usize,
    /// How many are filed now.
    pub new: usize,
    /// How many had been filed before they were finished, and are whole now.
    pub extended: usize,
    /// How many were filed already.
    pub already_filed: usize,
    /// Documents that say something else than they did, each with the file of what
    /// it said before, which stays.
    pub superseded: Vec<(String, String)>,
    /// What a dry run has counted, by hash, that filing would have found.
    seen_hashes: HashSet<u64>,
}

/// A file that is mined.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// What it is called in the drawers.
    pub name: String,
    /// The wing of texts that name none.
    pub wing: String,
    /// What it is.
    pub kind: SourceKind,
    /// When it was last written: the date of texts that have none of their own.
    pub modified: Option<DateTime<Utc>>,
}

/// How texts are to be filed beside those that lie there.
#[derive(Default)]
pub(crate) struct FilingPlan<'a> {
    /// The files to be made, one for each new text.
    pub(crate) edits: Vec<Edit>,
    /// The files that hold the beginning of a text, with the whole of it.
    extensions: Vec<(String, &'a Drawer)>,
    /// How many lie there already.
    pub(crate) already_filed: usize,
    /// The files of what documents said before.
    superseded: Vec<String>,
}

/// What a room holds already.
#[derive(Default)]
struct RoomTexts<'a> {
    texts: HashSet<&'a str>,
    /// Files by where their texts come from, in the order of filing.
    files_by_source: HashMap<&'a str, Vec<&'a str>>,
}

impl Keeper {
    /// Files the texts of a source, and adds to `mining` what became of them. What
    /// lies there already stays as it is; of an exchange that has gone on since it
    /// was filed, and of a document to whose end something was added, the drawer
    /// gets the rest. Only counts if `dry`.
    pub fn file_mined_texts(
        &mut self,
        by: &Caller,
        pit: &SourceFile,
        mined: &[ExtractedText],
        mining: &mut MineSummary,
        dry: bool,
    ) -> Result<(), Refusal> {
        let pit = &SourceFile { name: render::one_line(&pit.name), ..pit.clone() };
        let drawers = mined.iter().map(|it| self.drawer_from_mined(by, pit, it));
        let mut drawers: Vec<_> = drawers.collect();
        mining.sources += usize::from(!drawers.is_empty());
        if dry {
            let hash = BuildHasherDefault::<DefaultHasher>::default();
            let all = drawers.len();
            drawers.retain(|(it, drawer)| {
                mining.seen_hashes.insert(hash.hash_one((it, &drawer.text)))
            });
            mining.already_filed += all - drawers.len();
        }
        let key = match dry || drawers.is_empty() {
            true => self.current_workspace_if_any(by)?,
            false => Some(self.current_or_new_workspace(by)?),
        };
        let Some(key) = key else {
            mining.new += drawers.len();
            return Ok(());
        };
        let mut filed = (0, 0, 0, Vec::new());
        self.open_palace(&key)?.change_exclusively(by, |held| {
            let FilingPlan {
                mut edits,
                extensions: begun,
                already_filed: known,
                superseded: older,
            } = plan_filing(held, Some(pit), &drawers);
            filed = (edits.len(), begun.len(), known, older);
            let body = format!("{} new, {} grown", edits.len(), begun.len());
            for (file, whole) in begun {
                edits.push(extend_drawer(held, file, whole)?);
            }
            let subject = format!("source {}: mine", render::truncate(&pit.name, 50));
            Ok(ChangePlan { edits: if dry { Vec::new() } else { edits }, subject, body })
        })?;
        let (new, grown, known, older) = filed;
        mining.new += new;
        mining.extended += grown;
        mining.already_filed += known;
        mining.superseded.extend(older.into_iter().map(|it| (pit.name.clone(), it)));
        Ok(())
    }

    fn drawer_from_mined(
        &mut self,
        by: &Caller,
        pit: &SourceFile,
        it: &ExtractedText,
    ) -> (WingRoom, Drawer) {
        let wing = sanitize_name(it.wing.as_deref().unwrap_or(&pit.wing), MAX_NAME_CHARS);
        let shelf = WingRoom { wing, room: sanitize_name(&it.room, MAX_NAME_CHARS) };
        let drawer = Drawer {
            id: new_id(&mut self.id_generator, by.now),
            filed_under: FiledUnder {
                wing: Some(shelf.wing.clone()),
                room: Some(shelf.room.clone()),
            },
            source: Some(pit.name.clone()),
            by: Some(render::one_line(&by.name)),
            filed: Some(
                it.at
                    .or(pit.modified)
                    .map_or_else(|| truncate_to_seconds(by.now), truncate_to_seconds),
            ),
            text: it.text.replace('\0', "\u{fffd}"),
        };
        (shelf, drawer)
    }
}

/// Tells whether the file at `path` in a palace is one of those that make it.
pub fn is_palace_file(path: &str) -> bool {
    PalacePath::parse(path) != Ok(PalacePath::Other)
}

/// Cuts a moment to the seconds that a drawer's date has.
fn truncate_to_seconds(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.trunc_subsecs(0)
}

/// Makes a name that a wing, a room or an agent may have of what others call
/// theirs, of so many characters at most.
pub(crate) fn sanitize_name(said: &str, most: usize) -> String {
    let said = render::one_line(&said.replace(['/', '\\'], "-"));
    let said: String = said.chars().take(most).collect();
    match said.trim_matches(['.', ' ']) {
        "" => "untitled".to_owned(),
        _ => said.trim_end().to_owned(),
    }
}

/// Finds out how texts are to be filed. Only those of one `source` go on after they
/// were filed, or say something else than they did.
pub(crate) fn plan_filing<'a>(
    held: &OpenPalace,
    pit: Option<&SourceFile>,
    drawers: &'a [(WingRoom, Drawer)],
) -> FilingPlan<'a> {
    let mut rooms: BTreeMap<&WingRoom, (RoomId, RoomTexts<'_>)> = BTreeMap::new();
    let mut filings = FilingPlan::default();
    let mut joining: HashMap<String, usize> = HashMap::new();
    let texts: HashSet<&str> = drawers.iter().map(|(_, it)| it.text.as_str()).collect();
    for (shelf, drawer) in drawers {
        let (room, holding) = rooms.entry(shelf).or_insert_with(|| {
            let room = choose_drawer_room(&held.palace, shelf);
            let holding = RoomTexts::for_shelf(held, &room, shelf);
            (room, holding)
        });
        if !holding.texts.insert(&drawer.text) {
            filings.already_filed += 1;
            continue;
        }
        if let Some(file) = pit.and_then(|it| holding.take_prefix_file(held, it, &texts, drawer)) {
            filings.extensions.push((file.to_owned(), drawer));
            continue;
        }
        let joins = |it: &str| joining.get(it).copied().unwrap_or_default();
        let path = new_drawer_path(&held.palace.drawers, room, drawer, joins);
        if let Some((folder, _)) = path.rsplit_once('/') {
            *joining.entry(folder.to_owned()).or_default() += 1;
        }
        filings.edits.push(Edit { path, was: None, now: Some(format::write_drawer(drawer)) });
    }
    let changed = pit.filter(|it| it.kind == SourceKind::Document && !filings.edits.is_empty());
    if let Some(pit) = changed {
        let older = rooms.values().flat_map(|(_, it)| it.superseded_files(held, &pit.name, &texts));
        filings.superseded = older.map(str::to_owned).collect();
    }
    filings
}

/// Puts the whole of a text in the place of its beginning.
fn extend_drawer(held: &mut OpenPalace, file: String, whole: &Drawer) -> Result<Edit, Refusal> {
    let was = held.read_for_change(&file)?;
    let begun = held.palace.drawers.get(&file);
    let whole = begun.map(|it| {
        let Drawer { filed, text, .. } = whole.clone();
        Drawer { filed, text, ..it.clone() }
    });
    let now = whole.map(|it| format::write_drawer(&it));
    Ok(Edit { path: file, was, now })
}

impl<'a> RoomTexts<'a> {
    fn for_shelf(held: &'a OpenPalace, room: &RoomId, shelf: &WingRoom) -> Self {
        let drawers = &held.palace.drawers;
        let mut holding = Self::default();
        for (file, it) in drawers.in_room(room) {
            if drawers.wing_room_of_file(file).as_ref() != Some(shelf) {
                continue;
            }
            holding.texts.insert(&it.text);
            if let Some(source) = &it.source {
                holding.files_by_source.entry(source).or_default().push(file);
            }
        }
        holding
    }

    /// Takes out the file that holds the beginning of a text, and none of the `texts`
    /// as they are now. Exchanges of one conversation may begin alike: each is known
    /// by its moment, if it has one of its own.
    fn take_prefix_file(
        &mut self,
        held: &OpenPalace,
        pit: &SourceFile,
        texts: &HashSet<&str>,
        it: &Drawer,
    ) -> Option<&'a str> {
        let files = self.files_by_source.get_mut(pit.name.as_str())?;
        let has_moment =
            pit.kind != SourceKind::Document && it.filed != pit.modified.map(truncate_to_seconds);
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
    fn superseded_files(
        &self,
        held: &OpenPalace,
        source: &str,
        texts: &HashSet<&str>,
    ) -> Vec<&'a str> {
        let files = self.files_by_source.get(source).into_iter().flatten().copied();
        let is_gone = |it: &&str| {
            held.palace.drawers.get(it).is_some_and(|it| !texts.contains(it.text.as_str()))
        };
        files.filter(is_gone).collect()
    }
}
