//! Files the texts of source files: all texts of a file in one commit, and no text a second time.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use chrono::{DateTime, SubsecRound, Utc};
use ulid::Ulid;

use crate::exchange::{ExtractedText, SourceKind};
use crate::format::{self, PalacePath, choose_drawer_room, new_drawer_path};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::change_plan::ChangePlan;
use crate::keeper::session::new_id;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Drawer, FileEdit, FrontMatterWingRoom, RoomId, WingRoomNames};
use crate::render;

/// Maximum number of characters of a name from a file.
const MAX_NAME_CHARS: usize = 80;

/// The counts of mining, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MineSummary {
    /// How many files had texts.
    pub sources: usize,
    /// How many texts were filed.
    pub new: usize,
    /// How many drawers got the rest of their text.
    pub extended: usize,
    /// How many texts were filed already.
    pub already_filed: usize,
    /// Changed documents, each with the file of an older text, which stays.
    pub superseded: Vec<(String, String)>,
    /// The hashes of the texts that a dry run has counted, so that it counts none twice.
    seen_hashes: HashSet<u64>,
}

impl MineSummary {
    /// Removes the texts that a dry run has counted before.
    fn drop_seen_texts(&mut self, drawers: &mut Vec<(WingRoomNames, Drawer)>) {
        let hash = BuildHasherDefault::<DefaultHasher>::default();
        let all = drawers.len();
        drawers.retain(|(it, drawer)| self.seen_hashes.insert(hash.hash_one((it, &drawer.text))));
        self.already_filed += all - drawers.len();
    }
}

/// A file to mine.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name in the drawers.
    pub name: String,
    /// The wing of texts without one.
    pub wing: String,
    /// Its kind.
    pub kind: SourceKind,
    /// When it was last modified: the date of texts without one.
    pub modified: Option<DateTime<Utc>>,
}

/// The changes that file texts.
#[derive(Default)]
pub(crate) struct FilingPlan<'a> {
    /// The files to create, one for each new text.
    pub(crate) edits: Vec<FileEdit>,
    /// The files with only the beginning of a text, each with the whole text.
    extensions: Vec<(String, &'a Drawer)>,
    /// How many texts are filed already.
    pub(crate) already_filed: usize,
    /// The files with older texts of changed documents.
    superseded: Vec<String>,
}

/// The texts of a room before filing.
#[derive(Default)]
struct RoomTexts<'a> {
    texts: HashSet<&'a str>,
    /// Files by the source of their texts, in the order of filing.
    files_by_source: HashMap<&'a str, Vec<&'a str>>,
}

/// Files the texts of a source, and adds the counts to `summary`. A text that is filed already
/// does not change; if a conversation or a document has become longer, the new end is added to its
/// drawer. If `dry`, only counts. Creates the first palace if there is
/// none.
pub fn file_mined_texts(
    keeper: &mut Keeper,
    caller: &Caller,
    source: &SourceFile,
    texts: &[ExtractedText],
    summary: &mut MineSummary,
    dry: bool,
) -> Result<(), Refusal> {
    let source = &SourceFile { name: render::one_line(&source.name), ..source.clone() };
    let drawers = texts.iter().map(|it| {
        drawer_from_extracted_text(new_id(&mut keeper.id_generator, caller.now), caller, source, it)
    });
    let mut drawers: Vec<_> = drawers.collect();
    summary.sources += usize::from(!drawers.is_empty());
    if dry {
        summary.drop_seen_texts(&mut drawers);
    }
    let session = match dry || drawers.is_empty() {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(session) = session else {
        summary.new += drawers.len();
        return Ok(());
    };
    let mut filed = MineSummary::default();
    session.palace.change_files_exclusively(caller, |open| {
        let plan = plan_filing(open, Some(source), &drawers);
        filed.new = plan.edits.len();
        filed.extended = plan.extensions.len();
        filed.already_filed = plan.already_filed;
        filed.superseded =
            plan.superseded.into_iter().map(|it| (source.name.clone(), it)).collect();
        let mut edits = plan.edits;
        for (file, whole) in plan.extensions {
            edits.push(plan_drawer_extension(open, file, whole)?);
        }
        let subject = format!("source {}: mine", render::truncate(&source.name, 50));
        let body = format!("{} new, {} extended", filed.new, filed.extended);
        Ok(ChangePlan { edits: if dry { Vec::new() } else { edits }, subject, body })
    })?;
    summary.new += filed.new;
    summary.extended += filed.extended;
    summary.already_filed += filed.already_filed;
    summary.superseded.append(&mut filed.superseded);
    Ok(())
}

fn drawer_from_extracted_text(
    id: Ulid,
    caller: &Caller,
    source: &SourceFile,
    it: &ExtractedText,
) -> (WingRoomNames, Drawer) {
    let wing = sanitize_name(it.wing.as_deref().unwrap_or(&source.wing), MAX_NAME_CHARS);
    let shelf = WingRoomNames { wing, room: sanitize_name(&it.room, MAX_NAME_CHARS) };
    let drawer = Drawer {
        id,
        filed_under: FrontMatterWingRoom {
            wing: Some(shelf.wing.clone()),
            room: Some(shelf.room.clone()),
        },
        source: Some(source.name.clone()),
        by: Some(render::one_line(&caller.name)),
        filed: Some(truncate_to_seconds(it.at.or(source.modified).unwrap_or(caller.now))),
        text: it.text.replace('\0', "\u{fffd}"),
    };
    (shelf, drawer)
}

/// Returns true if the file at `path` in a palace belongs to the palace format.
pub fn is_palace_file(path: &str) -> bool {
    PalacePath::parse(path) != Ok(PalacePath::Other)
}

/// Truncates a time to the precision of a drawer's date.
fn truncate_to_seconds(time: DateTime<Utc>) -> DateTime<Utc> {
    time.trunc_subsecs(0)
}

/// Makes a valid name of a wing, a room or an agent from any text, with at most `max_chars`
/// characters.
pub(crate) fn sanitize_name(name: &str, max_chars: usize) -> String {
    let name = render::one_line(&name.replace(['/', '\\'], "-"));
    let name: String = name.chars().take(max_chars).collect();
    match name.trim_matches(['.', ' ']) {
        "" => "untitled".to_owned(),
        _ => name.trim_end().to_owned(),
    }
}

/// Plans how to file texts. Only texts of one `source` can extend or supersede drawers.
pub(crate) fn plan_filing<'a>(
    open: &OpenPalace,
    source: Option<&SourceFile>,
    drawers: &'a [(WingRoomNames, Drawer)],
) -> FilingPlan<'a> {
    let mut rooms: BTreeMap<&WingRoomNames, (RoomId, RoomTexts<'_>)> = BTreeMap::new();
    let mut plan = FilingPlan::default();
    let mut new_per_folder: HashMap<String, usize> = HashMap::new();
    let texts: HashSet<&str> = drawers.iter().map(|(_, it)| it.text.as_str()).collect();
    for (shelf, drawer) in drawers {
        let (room, room_texts) = rooms.entry(shelf).or_insert_with(|| {
            let room = choose_drawer_room(&open.palace, shelf);
            let room_texts = RoomTexts::for_wing_room(open, &room, shelf);
            (room, room_texts)
        });
        if !room_texts.texts.insert(&drawer.text) {
            plan.already_filed += 1;
            continue;
        }
        if let Some(file) =
            source.and_then(|it| room_texts.take_file_to_extend(open, it, &texts, drawer))
        {
            plan.extensions.push((file.to_owned(), drawer));
            continue;
        }
        let new_in = |it: &str| new_per_folder.get(it).copied().unwrap_or_default();
        let path = new_drawer_path(&open.palace.drawers, room, drawer, new_in);
        if let Some((folder, _)) = path.rsplit_once('/') {
            *new_per_folder.entry(folder.to_owned()).or_default() += 1;
        }
        plan.edits.push(FileEdit { path, was: None, now: Some(format::serialize_drawer(drawer)) });
    }
    let changed = source.filter(|it| it.kind == SourceKind::Document && !plan.edits.is_empty());
    if let Some(source) = changed {
        let superseded =
            rooms.values().flat_map(|(_, it)| it.superseded_files(open, &source.name, &texts));
        plan.superseded = superseded.map(str::to_owned).collect();
    }
    plan
}

/// Replaces the beginning of a text in a drawer by the whole text.
fn plan_drawer_extension(
    open: &mut OpenPalace,
    file: String,
    whole: &Drawer,
) -> Result<FileEdit, Refusal> {
    let was = open.read_file_for_change(&file)?;
    let old = open.palace.drawers.drawer_in_file(&file);
    let new = old.map(|it| {
        let Drawer { filed, text, .. } = whole.clone();
        Drawer { filed, text, ..it.clone() }
    });
    let now = new.map(|it| format::serialize_drawer(&it));
    Ok(FileEdit { path: file, was, now })
}

impl<'a> RoomTexts<'a> {
    fn for_wing_room(open: &'a OpenPalace, room: &RoomId, shelf: &WingRoomNames) -> Self {
        let drawers = &open.palace.drawers;
        let mut room_texts = Self::default();
        for (file, it) in drawers.drawers_in_room(room) {
            if drawers.wing_room_of_file(file).as_ref() != Some(shelf) {
                continue;
            }
            room_texts.texts.insert(&it.text);
            if let Some(source) = &it.source {
                room_texts.files_by_source.entry(source).or_default().push(file);
            }
        }
        room_texts
    }

    /// Removes and returns the file with the beginning of a text, unless that is one of the current
    /// `texts`. Exchanges of one conversation may have the same beginning, so if an exchange has a
    /// time of its own, that must be equal too.
    fn take_file_to_extend(
        &mut self,
        open: &OpenPalace,
        source: &SourceFile,
        texts: &HashSet<&str>,
        it: &Drawer,
    ) -> Option<&'a str> {
        let files = self.files_by_source.get_mut(source.name.as_str())?;
        let has_time = source.kind != SourceKind::Document
            && it.filed != source.modified.map(truncate_to_seconds);
        let is_prefix = |old: &Drawer| {
            it.text.starts_with(&old.text)
                && !texts.contains(old.text.as_str())
                && (!has_time || old.filed == it.filed)
        };
        let place = files
            .iter()
            .position(|file| open.palace.drawers.drawer_in_file(file).is_some_and(is_prefix))?;
        Some(files.swap_remove(place))
    }

    /// Returns the files with texts of a document that it does not contain any more.
    fn superseded_files(
        &self,
        open: &OpenPalace,
        source: &str,
        texts: &HashSet<&str>,
    ) -> Vec<&'a str> {
        let files = self.files_by_source.get(source).into_iter().flatten().copied();
        let is_superseded = |it: &&str| {
            open.palace
                .drawers
                .drawer_in_file(it)
                .is_some_and(|it| !texts.contains(it.text.as_str()))
        };
        files.filter(is_superseded).collect()
    }
}
