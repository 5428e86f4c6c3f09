//! Files the texts of source files: all texts of a file in one commit, and no text a second time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use ulid::Ulid;

use crate::exchange::{ExtractedText, SourceKind};
use crate::format::{self, PalacePath, choose_drawer_room, new_drawer_path};
use crate::keeper::import::redactions::{ImportOptions, RedactedSecret, Redactions, SecretNumbers};
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
    /// The secrets that were redacted in what was filed.
    pub redacted: Vec<RedactedSecret>,
    /// The hashes of the texts that a dry run has counted, so that it counts none twice.
    seen_hashes: HashSet<u64>,
}

impl MineSummary {
    /// Adds the counts of one source.
    fn add(&mut self, mut source: Self) {
        self.new += source.new;
        self.extended += source.extended;
        self.already_filed += source.already_filed;
        self.superseded.append(&mut source.superseded);
        self.redacted.append(&mut source.redacted);
    }

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
    /// The secrets that were redacted in the new texts, and in those that became longer.
    pub(crate) redacted: SecretNumbers,
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
/// drawer. Secrets are redacted before. In a dry run, only counts. Creates the first palace if there
/// is none.
pub fn file_mined_texts(
    keeper: &mut Keeper,
    caller: &Caller,
    source: &SourceFile,
    texts: &[ExtractedText],
    summary: &mut MineSummary,
    options: ImportOptions,
) -> Result<(), Refusal> {
    let new_id = || new_id(&mut keeper.id_generator, caller.now);
    let mut mined = MinedSource::new(source, texts, caller, new_id, options);
    summary.sources += usize::from(!mined.drawers.is_empty());
    if options.is_dry_run {
        summary.drop_seen_texts(&mut mined.drawers);
    }
    let session = match options.is_dry_run || mined.drawers.is_empty() {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(session) = session else {
        summary.add(mined.summary_for_empty_palace());
        return Ok(());
    };
    let mut filed = MineSummary::default();
    session.palace.change_files_exclusively(caller, |open| {
        let (mut change, counts) = mined.plan_change(open)?;
        filed = counts;
        if options.is_dry_run {
            change.edits.clear();
        }
        Ok(change)
    })?;
    summary.add(filed);
    Ok(())
}

/// A source and its drawers, without secrets.
struct MinedSource {
    source: SourceFile,
    drawers: Vec<(WingRoomNames, Drawer)>,
    /// The names that the source gives to itself, to wings and to rooms, each once.
    names: BTreeSet<String>,
    redactions: Redactions,
}

impl MinedSource {
    fn new(
        source: &SourceFile,
        texts: &[ExtractedText],
        caller: &Caller,
        mut new_id: impl FnMut() -> Ulid,
        options: ImportOptions,
    ) -> Self {
        let mut redactions = Redactions::new(options);
        let source = &SourceFile { name: render::join_lines(&source.name), ..source.clone() };
        let texts = (1..).zip(texts).map(|it| redact_text(&mut redactions, source, it));
        let texts: Vec<_> = texts.collect();
        let source = redact_source(&mut redactions, source);
        let names = texts.iter().flat_map(|it| it.wing.iter().chain([&it.room]));
        let names = names.chain([&source.name, &source.wing]).cloned().collect();
        let drawer = |it| drawer_from_extracted_text(new_id(), caller, &source, it);
        let drawers = texts.iter().map(drawer).collect();
        Self { source, drawers, names, redactions }
    }

    /// Counts what would be new in an empty palace.
    fn summary_for_empty_palace(&self) -> MineSummary {
        let names = self.names.iter().map(String::as_str);
        let texts = self.drawers.iter().map(|(_, it)| it.text.as_str()).chain(names);
        let redacted = self.redactions.list_secrets(&self.redactions.secrets_of(texts));
        MineSummary { new: self.drawers.len(), redacted, ..MineSummary::default() }
    }

    fn plan_change(&self, open: &mut OpenPalace) -> Result<(ChangePlan, MineSummary), Refusal> {
        let Self { source, redactions, .. } = self;
        let plan = plan_filing(open, Some(source), &self.drawers, redactions);
        let (new, extended, mut redacted) =
            (plan.edits.len(), plan.extensions.len(), plan.redacted);
        if new + extended > 0 {
            redacted.extend(redactions.secrets_of(self.names.iter().map(String::as_str)));
        }
        let superseded = plan.superseded.into_iter().map(|it| (source.name.clone(), it));
        let filed = MineSummary {
            new,
            extended,
            already_filed: plan.already_filed,
            superseded: superseded.collect(),
            redacted: redactions.list_secrets(&redacted),
            ..MineSummary::default()
        };
        let mut edits = plan.edits;
        for (file, whole) in plan.extensions {
            edits.push(plan_drawer_extension(open, file, whole)?);
        }
        let subject = format!("source {}: mine", render::truncate(&source.name, 50));
        let body = format!("{new} new, {extended} extended");
        Ok((ChangePlan { edits, subject, body }, filed))
    }
}

/// Redacts a text with the names that its source gives to wing and room; `number` is its number in
/// the source.
fn redact_text(
    redactions: &mut Redactions,
    source: &SourceFile,
    (number, it): (usize, &ExtractedText),
) -> ExtractedText {
    let place_of_line = |line| match (it.first_line, it.at) {
        (Some(first), _) => format!("line {}", first + line),
        (None, Some(at)) => at.to_rfc3339_opts(SecondsFormat::Secs, true),
        (None, None) => format!("text {number}"),
    };
    let mut redact_name = |it: &str| redact_name(redactions, source, it);
    let (wing, room) = (it.wing.as_deref().map(&mut redact_name), redact_name(&it.room));
    let text = it.text.replace('\0', "\u{fffd}");
    let text = redactions.redact(&text, &source.name, place_of_line);
    ExtractedText { wing, room, text, ..*it }
}

/// Redacts the name and the wing of a source.
fn redact_source(redactions: &mut Redactions, source: &SourceFile) -> SourceFile {
    let mut redact_name = |it: &str| redact_name(redactions, source, it);
    let (name, wing) = (redact_name(&source.name), redact_name(&source.wing));
    SourceFile { name, wing, ..*source }
}

fn redact_name(redactions: &mut Redactions, source: &SourceFile, name: &str) -> String {
    redactions.redact(&render::join_lines(name), &source.name, |_| "name".to_owned())
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
        by: Some(render::join_lines(&caller.name)),
        filed: Some(truncate_to_seconds(it.at.or(source.modified).unwrap_or(caller.now))),
        text: it.text.clone(),
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
    let name = render::join_lines(&name.replace(['/', '\\'], "-"));
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
    redactions: &Redactions,
) -> FilingPlan<'a> {
    let mut rooms: BTreeMap<&WingRoomNames, (RoomId, RoomTexts<'_>)> = BTreeMap::new();
    let mut plan = FilingPlan::default();
    let mut new_per_folder: HashMap<String, usize> = HashMap::new();
    let texts = drawers.iter().map(|(_, it)| it.text.as_str());
    // Before secrets were redacted, or without that, a text was filed as it was.
    let with_originals = |it| std::iter::once(it).chain(redactions.originals_of(it));
    let texts: HashSet<&str> = texts.flat_map(with_originals).collect();
    for (shelf, drawer) in drawers {
        let (room, room_texts) = rooms.entry(shelf).or_insert_with(|| {
            let room = choose_drawer_room(&open.palace, shelf);
            let room_texts = RoomTexts::for_wing_room(open, &room, shelf);
            (room, room_texts)
        });
        let is_original_filed =
            redactions.originals_of(&drawer.text).any(|it| room_texts.texts.contains(it));
        if is_original_filed || !room_texts.texts.insert(&drawer.text) {
            plan.already_filed += 1;
            continue;
        }
        plan.redacted.extend(redactions.secrets_of([drawer.text.as_str()]));
        let originals: Vec<_> = redactions.originals_of(&drawer.text).collect();
        let extended = source
            .and_then(|it| room_texts.take_file_to_extend(open, it, &texts, (drawer, &originals)));
        if let Some(file) = extended {
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
    /// `texts`. `originals` are the texts before secrets were redacted. Exchanges of one conversation may have the same beginning, so if an exchange has a
    /// time of its own, that must be equal too.
    fn take_file_to_extend(
        &mut self,
        open: &OpenPalace,
        source: &SourceFile,
        texts: &HashSet<&str>,
        (it, originals): (&Drawer, &[&str]),
    ) -> Option<&'a str> {
        let files = self.files_by_source.get_mut(source.name.as_str())?;
        let has_time = source.kind != SourceKind::Document
            && it.filed != source.modified.map(truncate_to_seconds);
        let is_prefix = |old: &Drawer| {
            let mut wholes = originals.iter().copied().chain([it.text.as_str()]);
            wholes.any(|it| it.starts_with(&old.text))
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
