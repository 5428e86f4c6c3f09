//! Files the texts of source files: all texts of a file in one commit, and no text a second time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use ulid::Ulid;

use crate::import::earlier_texts::{EarlierReading, EarlierTexts, ReadText, SourceIndex};
use crate::import::{ImportOptions, RedactedSecret, Redactions, SecretNumbers};
use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::session::new_id;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::exchange::{ExtractedText, OlderText, SourceKind};
use palazzo_core::format::{self, PalacePath, choose_drawer_room, new_drawer_path};
use palazzo_core::model::{
    DisplayWingRoom, Drawer, FileEdit, FrontMatterWingRoom, RoomId, document_title,
};
use palazzo_core::render;

/// Maximum number of characters of a name from a file.
const MAX_NAME_CHARS: usize = 80;

/// The counts of mining, or of a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MineSummary {
    /// The counts of each file that had texts.
    pub sources: Vec<MinedCounts>,
    /// Changed documents, each with the file of an older text, which stays.
    pub superseded: Vec<(String, String)>,
    /// The secrets that were redacted in what was filed.
    pub redacted: Vec<RedactedSecret>,
}

/// The counts of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MinedCounts {
    /// The name of the file in its drawers.
    pub name: String,
    /// How many texts were filed.
    pub new: usize,
    /// How many drawers got the rest of their text.
    pub extended: usize,
    /// How many drawers got another date or title, or other properties.
    pub updated: usize,
    /// How many texts were filed already.
    pub already_filed: usize,
}

impl MineSummary {
    /// Returns the sums of all files.
    pub fn totals(&self) -> MinedCounts {
        let mut totals = MinedCounts::default();
        for it in &self.sources {
            totals.new += it.new;
            totals.extended += it.extended;
            totals.updated += it.updated;
            totals.already_filed += it.already_filed;
        }
        totals
    }
}

/// A file to mine.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name in the drawers.
    pub name: String,
    /// The wing of texts without one.
    pub wing: String,
    /// The wing in which older versions filed them, if that is another.
    pub older_wing: Option<String>,
    /// Its kind.
    pub kind: SourceKind,
    /// When it was last modified: the date of texts without one.
    pub modified: Option<DateTime<Utc>>,
}

/// A file, and the texts that were extracted from it.
#[derive(Clone, Debug)]
pub struct MinedFile {
    /// The file.
    pub source: SourceFile,
    /// Its texts.
    pub texts: Vec<ExtractedText>,
}

/// The changes that file the texts of a source.
#[derive(Default)]
pub(crate) struct FilingPlan {
    /// The files to create, one for each new text.
    pub(crate) edits: Vec<FileEdit>,
    /// The drawers that get the rest of their text, or another date or title, or other properties.
    rewrites: Vec<(String, Drawer)>,
    /// How many of these get the rest of their text.
    extended: usize,
    /// How many texts are filed already.
    pub(crate) already_filed: usize,
    /// The files with older texts of changed documents.
    superseded: Vec<String>,
    /// The secrets that were redacted in the new texts, and in those that became longer.
    pub(crate) redacted: SecretNumbers,
}

/// Plans how to file the texts of one source after the other. It knows what it has planned before.
pub(crate) struct FilingPlanner<'o, 't> {
    open: &'o OpenPalace,
    /// Whether texts that are filed already get better dates and titles.
    updates_filed: bool,
    /// Rooms, and their texts before filing.
    rooms: BTreeMap<&'t DisplayWingRoom, (RoomId, HashSet<&'o str>)>,
    /// All files with a source.
    sources: SourceIndex<'o>,
    /// The files that get the rest of their text, or a better date or title.
    rewritten: HashSet<&'o str>,
    /// How many files are planned in each folder.
    new_per_folder: HashMap<String, usize>,
}

/// The drawers that older versions of this program made of exchanges, by the id of today's drawer.
/// They took words of machines for the user's, and left others out.
type OlderDrawers = HashMap<Ulid, OlderExchange>;

/// The drawers that older versions made of an exchange.
#[derive(Debug)]
struct OlderExchange {
    drawers: Vec<Drawer>,
    /// Whether they lack a part of it.
    is_part: bool,
}

/// Where the time of a drawer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeOrigin {
    Text,
    Conversation,
    File,
}

/// A source of drawers, where their times come from, by id, and what older versions made of them.
#[derive(Clone, Copy)]
pub(crate) struct FilingSource<'s> {
    file: &'s SourceFile,
    times: &'s HashMap<Ulid, TimeOrigin>,
    older: &'s OlderDrawers,
}

impl TimeOrigin {
    fn of(text: &ExtractedText) -> Self {
        match (text.at, text.conversation_at) {
            (Some(_), _) => Self::Text,
            (None, Some(_)) => Self::Conversation,
            (None, None) => Self::File,
        }
    }
}

/// Files the texts of files in one commit, and returns the counts. A text that is filed already does
/// not change; if a conversation or a document has become longer, the new end is added to its
/// drawer. Secrets are redacted before. In a dry run, only counts. Creates the first palace if there
/// is none.
pub fn file_mined_texts(
    keeper: &mut Keeper,
    caller: &Caller,
    files: &[MinedFile],
    options: ImportOptions,
) -> Result<MineSummary, Refusal> {
    let mut new_id = || new_id(&mut keeper.id_generator, caller.now);
    let sources = files.iter().map(|it| MinedSource::new(it, caller, &mut new_id, options));
    let mut sources: Vec<_> = sources.filter(|it| !it.drawers.is_empty()).collect();
    let session = match options.mode.is_dry_run() || sources.is_empty() {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(session) = session else { return Ok(summary_for_empty_palace(&sources)) };
    keep_older_wings(session.palace, &mut sources);
    let (change, mut filed) = plan_change(session.palace, &sources, options)?;
    if options.mode.is_dry_run() || change.edits.is_empty() {
        return Ok(filed);
    }
    // Other writers wait for the lock, so what takes long is done before.
    let texts = change.edits.iter().filter_map(|it| it.now.as_deref());
    session.palace.write_blobs_before_change(texts)?;
    session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let (change, counts) = plan_change(open, &sources, options)?;
        filed = counts;
        Ok(change)
    })?;
    Ok(filed)
}

/// Files what belongs to a folder in the wing in which an older version filed a part of it.
fn keep_older_wings(open: &OpenPalace, sources: &mut [MinedSource]) {
    let wings = |it: &MinedSource| (it.source.wing.clone(), it.source.older_wing.clone());
    let older = sources.iter().filter(|it| it.is_in_older_wing(open));
    let older: HashSet<_> = older.map(wings).collect();
    let kept = sources.iter_mut().filter(|it| older.contains(&wings(it)));
    kept.for_each(MinedSource::move_to_older_wing);
}

/// Plans the change that files all sources.
fn plan_change(
    open: &mut OpenPalace,
    sources: &[MinedSource],
    options: ImportOptions,
) -> Result<(ChangePlan, MineSummary), Refusal> {
    let mut planner = FilingPlanner::new(open, options.update_filed);
    let plans: Vec<_> = sources.iter().map(|it| it.plan_filing(&mut planner)).collect();
    let mut summary = MineSummary::default();
    let (mut edits, mut rewrites) = (Vec::new(), Vec::new());
    for (it, plan) in sources.iter().zip(plans) {
        it.add_to_summary(&plan, &mut summary);
        edits.extend(plan.edits);
        rewrites.extend(plan.rewrites);
    }
    for (file, new) in rewrites {
        edits.push(plan_drawer_rewrite(open, file, &new)?);
    }
    let is_changed = |it: &&MinedCounts| it.new + it.extended + it.updated > 0;
    let changed: Vec<_> = summary.sources.iter().filter(is_changed).collect();
    let subject = match changed[..] {
        [it] => format!("source {}: mine", render::truncate(&it.name, 50)),
        _ => format!("mine {} sources", changed.len()),
    };
    let MinedCounts { new, extended, updated, .. } = summary.totals();
    let updated = if updated > 0 { format!(", {updated} updated") } else { String::new() };
    let body = format!("{new} new, {extended} extended{updated}");
    Ok((ChangePlan { edits, subject, body }, summary))
}

/// Counts what would be new in an empty palace.
fn summary_for_empty_palace(sources: &[MinedSource]) -> MineSummary {
    let (mut seen, mut summary) = (HashSet::new(), MineSummary::default());
    for it in sources {
        let new = it.drawers.iter().filter(|(shelf, it)| seen.insert((shelf, &it.text))).count();
        let already_filed = it.drawers.len() - new;
        let name = it.source.name.clone();
        summary.sources.push(MinedCounts { name, new, already_filed, ..MinedCounts::default() });
        let names = it.names.iter().map(String::as_str);
        let texts = it.drawers.iter().map(|(_, it)| it.text.as_str()).chain(names);
        summary.redacted.extend(it.redactions.list_secrets(&it.redactions.secrets_of(texts)));
    }
    summary
}

/// A source and its drawers, without secrets.
struct MinedSource {
    source: SourceFile,
    drawers: Vec<(DisplayWingRoom, Drawer)>,
    times: HashMap<Ulid, TimeOrigin>,
    older: OlderDrawers,
    /// The names that the source gives to itself, to wings and to rooms, each once.
    names: BTreeSet<String>,
    redactions: Redactions,
}

impl MinedSource {
    fn new(
        MinedFile { source, texts }: &MinedFile,
        caller: &Caller,
        mut new_id: impl FnMut() -> Ulid,
        options: ImportOptions,
    ) -> Self {
        let mut redactions = Redactions::new(options);
        let source = &SourceFile { name: render::storable_line(&source.name), ..source.clone() };
        let texts = (1..).zip(texts).map(|it| redact_text(&mut redactions, source, it));
        let texts: Vec<_> = texts.collect();
        let source = redact_source(&mut redactions, source);
        let names = texts.iter().flat_map(|it| it.wing.iter().chain([&it.room]));
        let names = names.chain([&source.name, &source.wing]).cloned().collect();
        let drawer = |it| drawer_from_extracted_text(new_id(), caller, &source, it);
        let drawers: Vec<_> = texts.iter().map(drawer).collect();
        let times = drawers.iter().zip(&texts).map(|((_, it), text)| (it.id, TimeOrigin::of(text)));
        let mut times: HashMap<_, _> = times.collect();
        let older = texts.iter().zip(&drawers).filter(|(it, _)| !it.older.is_empty());
        let older = older.map(|(it, (_, drawer))| {
            let older = it.older.iter().map(|OlderText { text, at }| {
                let (id, text) = (new_id(), text.clone());
                times.insert(id, at.map_or(TimeOrigin::File, |_| TimeOrigin::Text));
                let filed = at.or(source.modified).unwrap_or(caller.now);
                let filed = Some(truncate_to_seconds(filed));
                Drawer { id, filed, text, ..drawer.clone() }
            });
            let drawers = older.collect();
            (drawer.id, OlderExchange { drawers, is_part: it.is_older_incomplete })
        });
        let older = older.collect();
        Self { source, drawers, times, older, names, redactions }
    }

    /// Returns the wing and the room in which an older version filed a text.
    fn older_shelf(&self, shelf: &DisplayWingRoom) -> Option<DisplayWingRoom> {
        let older = self.source.older_wing.as_deref()?;
        let wing = sanitize_name(older, MAX_NAME_CHARS);
        let is_default = shelf.wing == sanitize_name(&self.source.wing, MAX_NAME_CHARS);
        is_default.then(|| DisplayWingRoom { wing, room: shelf.room.clone() })
    }

    /// Returns true if an older version has filed one of the texts in another wing.
    fn is_in_older_wing(&self, open: &OpenPalace) -> bool {
        self.drawers.iter().any(|(shelf, drawer)| {
            let Some(older) = self.older_shelf(shelf) else { return false };
            let room = choose_drawer_room(&open.palace, &older);
            let mut filed = open.palace.drawers.drawers_in_room(&room);
            filed.any(|(_, it)| it.source == drawer.source && it.text == drawer.text)
        })
    }

    /// Files the texts in the wing of older versions.
    fn move_to_older_wing(&mut self) {
        let mut drawers = std::mem::take(&mut self.drawers);
        for (shelf, drawer) in &mut drawers {
            let Some(moved) = self.older_shelf(shelf) else { continue };
            let older = self.older.get_mut(&drawer.id).map(|it| &mut it.drawers);
            for it in older.into_iter().flatten().chain([drawer]) {
                it.filed_under.wing = Some(moved.wing.clone());
            }
            *shelf = moved;
        }
        self.drawers = drawers;
    }

    fn plan_filing<'o, 't: 'o>(&'t self, planner: &mut FilingPlanner<'o, 't>) -> FilingPlan {
        let source = FilingSource { file: &self.source, times: &self.times, older: &self.older };
        planner.plan_filing(Some(source), &self.drawers, &self.redactions)
    }

    /// Adds the counts of this source, for which there is a plan.
    fn add_to_summary(&self, plan: &FilingPlan, summary: &mut MineSummary) {
        let (new, extended) = (plan.edits.len(), plan.extended);
        let mut redacted = plan.redacted.clone();
        if new + extended > 0 {
            redacted.extend(self.redactions.secrets_of(self.names.iter().map(String::as_str)));
        }
        summary.redacted.extend(self.redactions.list_secrets(&redacted));
        let (name, already_filed) = (self.source.name.clone(), plan.already_filed);
        let updated = plan.rewrites.len() - plan.extended;
        summary.superseded.extend(plan.superseded.iter().map(|it| (name.clone(), it.clone())));
        summary.sources.push(MinedCounts { name, new, extended, updated, already_filed });
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
    let title = it.title.as_deref().map(&mut redact_name);
    let text = it.text.replace('\0', "\u{fffd}");
    let text = redactions.redact(&text, &source.name, place_of_line);
    let older = it.older.iter().map(|OlderText { text, at }| {
        let text = text.replace('\0', "\u{fffd}");
        OlderText { text: redactions.redact(&text, &source.name, place_of_line), at: *at }
    });
    let older = older.collect();
    ExtractedText { wing, room, title, text, older, ..*it }
}

/// Redacts the name and the wing of a source.
fn redact_source(redactions: &mut Redactions, source: &SourceFile) -> SourceFile {
    let mut redact_name = |it: &str| redact_name(redactions, source, it);
    let (name, wing) = (redact_name(&source.name), redact_name(&source.wing));
    SourceFile { name, wing, ..source.clone() }
}

fn redact_name(redactions: &mut Redactions, source: &SourceFile, name: &str) -> String {
    redactions.redact(&render::storable_line(name), &source.name, |_| "name".to_owned())
}

fn drawer_from_extracted_text(
    id: Ulid,
    caller: &Caller,
    source: &SourceFile,
    it: &ExtractedText,
) -> (DisplayWingRoom, Drawer) {
    let wing = sanitize_name(it.wing.as_deref().unwrap_or(&source.wing), MAX_NAME_CHARS);
    let shelf = DisplayWingRoom { wing, room: sanitize_name(&it.room, MAX_NAME_CHARS) };
    let drawer = Drawer {
        id,
        filed_under: FrontMatterWingRoom {
            wing: Some(shelf.wing.clone()),
            room: Some(shelf.room.clone()),
        },
        title: it.title.clone(),
        labels: Vec::new(),
        source: Some(source.name.clone()),
        by: Some(render::storable_line(&caller.name)),
        filed: Some(truncate_to_seconds(
            it.at.or(it.conversation_at).or(source.modified).unwrap_or(caller.now),
        )),
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
    let name = render::storable_line(&name.replace(['/', '\\'], "-"));
    let name: String = name.chars().take(max_chars).collect();
    match name.trim_matches(['.', ' ']) {
        "" => "untitled".to_owned(),
        _ => name.trim_end().to_owned(),
    }
}

impl<'o, 't: 'o> FilingPlanner<'o, 't> {
    /// Creates a planner; `updates_filed` says whether texts that are filed already get better dates
    /// and titles.
    pub(crate) fn new(open: &'o OpenPalace, updates_filed: bool) -> Self {
        let (rooms, new_per_folder) = (BTreeMap::new(), HashMap::new());
        let (sources, rewritten) = (SourceIndex::new(open), HashSet::new());
        Self { open, updates_filed, rooms, sources, rewritten, new_per_folder }
    }

    /// Plans how to file texts. Only texts of one `source` can extend or supersede drawers.
    pub(crate) fn plan_filing(
        &mut self,
        source: Option<FilingSource<'t>>,
        drawers: &'t [(DisplayWingRoom, Drawer)],
        redactions: &'t Redactions,
    ) -> FilingPlan {
        let mut plan = FilingPlan::default();
        let mut earlier = self.earlier_texts(source);
        let is_in_pieces = is_document_filed(source, &earlier, drawers);
        let all = drawers.iter().map(|(shelf, it)| comparable_text(source, shelf, it, redactions));
        let all = all.flat_map(|it| self.as_filed(it, source, redactions, &earlier));
        let all: Vec<_> = all.collect();
        let texts: HashSet<&str> = all.iter().flat_map(|it| it.texts.iter().copied()).collect();
        for new in &all {
            let room_texts = self.room_texts(new.shelf);
            let is_in_room = new.texts.iter().any(|it| room_texts.contains(*it));
            room_texts.insert(&new.drawer.text);
            let reading = match is_in_room || is_in_pieces {
                true => EarlierReading::All(earlier.take_same(new)),
                false => {
                    let parts = older_texts(source, new, redactions, true);
                    self.moved_text(source, new, earlier.take_reading(new, &parts, &texts))
                }
            };
            match reading {
                EarlierReading::All(file) => {
                    plan.already_filed += 1;
                    plan.rewrites.extend(self.plan_update(source, file, new.drawer));
                    continue;
                }
                EarlierReading::OtherProperties(file) => {
                    plan.rewrites.extend(self.plan_other_properties(source, file, new.drawer));
                }
                EarlierReading::Part(file) => {
                    plan.extended += 1;
                    plan.rewrites.extend(self.plan_extension(file, new.drawer));
                }
                EarlierReading::None => plan.edits.push(self.plan_new_file(new)),
            }
            plan.redacted.extend(redactions.secrets_of([new.drawer.text.as_str()]));
        }
        if source.is_some_and(FilingSource::is_document) && !plan.edits.is_empty() {
            let shelves = drawers.iter().map(|(shelf, _)| shelf).collect();
            plan.superseded = earlier.files_with_other_texts(&shelves, &texts);
        }
        plan
    }

    /// Returns the texts of a wing and a room.
    fn room_texts(&mut self, shelf: &'t DisplayWingRoom) -> &mut HashSet<&'o str> {
        let (_, room_texts) = self.rooms.entry(shelf).or_insert_with(|| {
            let drawers = &self.open.palace.drawers;
            let room = choose_drawer_room(&self.open.palace, shelf);
            let texts = drawers
                .drawers_in_room(&room)
                .filter(|(file, _)| drawers.wing_room_of_file(file).as_ref() == Some(shelf))
                .map(|(_, it)| it.text.as_str())
                .collect();
            (room, texts)
        });
        room_texts
    }

    /// Returns what was filed of a source before, but for what is rewritten already.
    fn earlier_texts(&self, source: Option<FilingSource<'_>>) -> EarlierTexts<'o> {
        let files = match source.map(|it| (it.is_document(), it.file.name.as_str())) {
            None => &[],
            Some((true, name)) => self.sources.files_of_document(name),
            Some((false, name)) => self.sources.files_of_conversations(name),
        };
        let files = files.iter().filter(|it| !self.rewritten.contains(*it));
        EarlierTexts::new(self.open, files.copied().collect())
    }

    /// Returns the reading of a text of which its source has none: it may be filed of a source that was
    /// moved since.
    fn moved_text(
        &self,
        source: Option<FilingSource<'_>>,
        new: &ReadText<'_>,
        reading: EarlierReading<'o>,
    ) -> EarlierReading<'o> {
        let Some(FilingSource { file, .. }) = source else { return reading };
        if !matches!(reading, EarlierReading::None) {
            return reading;
        }
        let is_wing_of_folder = new.shelf.wing == sanitize_name(&file.wing, MAX_NAME_CHARS);
        let is_below = file.kind == SourceKind::Document && is_wing_of_folder;
        let below = is_below.then_some(file.name.as_str());
        match self.sources.file_of_moved_text(new, below) {
            Some(file) => EarlierReading::All(Some(file)),
            None => reading,
        }
    }

    /// Returns the texts in which an older version has filed all of an exchange, or the beginning of
    /// one of them, so that it goes on as it was; else the exchange.
    fn as_filed(
        &mut self,
        new: ReadText<'t>,
        source: Option<FilingSource<'t>>,
        redactions: &'t Redactions,
        earlier: &EarlierTexts<'o>,
    ) -> Vec<ReadText<'t>> {
        let older = older_texts(source, &new, redactions, false);
        let room_texts = self.room_texts(new.shelf);
        let is_in_room = |it: &str| room_texts.contains(it);
        let is_filed = |it: &ReadText<'_>| {
            let mut texts = it.texts.iter();
            earlier.contain_older_text(&new, it)
                || texts.any(|it| is_in_room(it) && !new.begins_with(it))
        };
        match !new.texts.iter().any(|it| is_in_room(it)) && older.iter().any(is_filed) {
            true => older,
            false => vec![new],
        }
    }

    /// Plans to file the whole text of a drawer with a part of it.
    fn plan_extension(&mut self, file: &'o str, whole: &Drawer) -> Option<(String, Drawer)> {
        self.rewritten.insert(file);
        let old = self.open.palace.drawers.drawer_in_file(file)?.clone();
        let title = old.title.or_else(|| whole.title.clone());
        let (filed, text) = (whole.filed, whole.text.clone());
        Some((file.to_owned(), Drawer { title, filed, text, ..old }))
    }

    /// Plans to give a drawer the properties of its text that are found now, in the text and beside it.
    fn plan_other_properties(
        &mut self,
        source: Option<FilingSource<'_>>,
        file: &'o str,
        new: &Drawer,
    ) -> Option<(String, Drawer)> {
        self.rewritten.insert(file);
        let old = self.open.palace.drawers.drawer_in_file(file)?;
        // A title in the text replaces the one beside it.
        let old_title = old.title.clone().filter(|_| document_title(&new.text).is_none());
        let title = new.title.clone().or(old_title);
        let filed = better_time(source, old, new);
        Some((file.to_owned(), Drawer { title, filed, text: new.text.clone(), ..old.clone() }))
    }

    /// Plans a better date and title for a drawer, if the user wants that.
    fn plan_update(
        &mut self,
        source: Option<FilingSource<'_>>,
        file: Option<&'o str>,
        new: &Drawer,
    ) -> Option<(String, Drawer)> {
        let file = file.filter(|_| self.updates_filed && source.is_some())?;
        let old = self.open.palace.drawers.drawer_in_file(file)?;
        let filed = better_time(source, old, new);
        let title = new.title.clone().or_else(|| old.title.clone());
        let better = Drawer { title, filed, ..old.clone() };
        let is_better = better != *old && self.rewritten.insert(file);
        is_better.then(|| (file.to_owned(), better))
    }

    /// Plans a new file for a drawer of a wing and a room that were looked up before.
    fn plan_new_file(&mut self, &ReadText { shelf, drawer, .. }: &ReadText<'_>) -> FileEdit {
        let palace = &self.open.palace;
        let room = self.rooms.get(shelf).map(|(room, _)| room.clone());
        let room = room.unwrap_or_else(|| choose_drawer_room(palace, shelf));
        let new_in = |it: &str| self.new_per_folder.get(it).copied().unwrap_or_default();
        let path = new_drawer_path(&palace.drawers, &room, drawer, new_in);
        if let Some((folder, _)) = path.rsplit_once('/') {
            *self.new_per_folder.entry(folder.to_owned()).or_default() += 1;
        }
        FileEdit { path, was: None, now: Some(format::serialize_drawer(drawer)) }
    }
}

impl FilingSource<'_> {
    fn is_document(self) -> bool {
        self.file.kind == SourceKind::Document
    }
}

/// Returns the time of a text that is filed already. The time of the file says less than what was
/// known when the text was filed.
fn better_time(
    source: Option<FilingSource<'_>>,
    old: &Drawer,
    new: &Drawer,
) -> Option<DateTime<Utc>> {
    let origin = source.and_then(|it| it.times.get(&new.id));
    let is_known = origin.is_some_and(|it| *it != TimeOrigin::File);
    if is_known { new.filed } else { old.filed }
}

/// Returns a text with all that it is compared by. Before secrets were redacted, or without that, a
/// text was filed as it was.
fn comparable_text<'t>(
    source: Option<FilingSource<'_>>,
    shelf: &'t DisplayWingRoom,
    drawer: &'t Drawer,
    redactions: &'t Redactions,
) -> ReadText<'t> {
    let texts = std::iter::once(drawer.text.as_str());
    let texts = texts.chain(redactions.originals_of(&drawer.text)).collect();
    let conversation = source.filter(|it| !it.is_document());
    let origin = conversation.and_then(|it| it.times.get(&drawer.id));
    let (is_conversation, has_own_time) =
        (conversation.is_some(), origin == Some(&TimeOrigin::Text));
    ReadText { shelf, drawer, texts, is_conversation, has_own_time }
}

/// Returns the texts in which older versions filed a text: all of it, or only `parts`.
fn older_texts<'t>(
    source: Option<FilingSource<'t>>,
    new: &ReadText<'t>,
    redactions: &'t Redactions,
    parts: bool,
) -> Vec<ReadText<'t>> {
    let older = source.and_then(|it| it.older.get(&new.drawer.id));
    let older = older.filter(|it| it.is_part == parts).into_iter().flat_map(|it| &it.drawers);
    older.map(|it| comparable_text(source, new.shelf, it, redactions)).collect()
}

/// Returns true if a document is filed already, maybe split in another way.
fn is_document_filed(
    source: Option<FilingSource<'_>>,
    earlier: &EarlierTexts<'_>,
    drawers: &[(DisplayWingRoom, Drawer)],
) -> bool {
    let is_document = source.is_some_and(FilingSource::is_document);
    let Some((shelf, _)) = drawers.first().filter(|_| is_document) else { return false };
    let texts: Vec<_> = drawers.iter().map(|(_, it)| it.text.as_str()).collect();
    earlier.contain_document(shelf, &texts.concat())
}

/// Plans the rewriting of a drawer file. Keys of other programs in its front matter stay.
fn plan_drawer_rewrite(
    open: &mut OpenPalace,
    file: String,
    new: &Drawer,
) -> Result<FileEdit, Refusal> {
    let was = open.read_file_for_change(&file)?;
    let old = open.palace.drawers.drawer_in_file(&file);
    let edited = was.as_deref().zip(old);
    let zone = &open.palace.settings.time_zone;
    let edit = |(was, old)| format::edit_drawer_text(&file, was, old, new, zone);
    let edited = edited.and_then(edit);
    let now = match edited {
        None if !new.labels.is_empty() => return Err(Refusal::UneditableFormatting { file }),
        edited => edited.unwrap_or_else(|| format::serialize_drawer(new)),
    };
    Ok(FileEdit { path: file, was, now: Some(now) })
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Counts the files below a folder.
    fn count_files(folder: &Path) -> usize {
        let files = walkdir::WalkDir::new(folder).into_iter().flatten();
        files.filter(|it| it.file_type().is_file()).count()
    }

    fn document(name: &str, text: &str) -> MinedFile {
        let source = SourceFile {
            name: name.to_owned(),
            wing: "field".to_owned(),
            older_wing: None,
            kind: SourceKind::Document,
            modified: None,
        };
        let (room, text) = ("notes".to_owned(), text.to_owned());
        MinedFile { source, texts: vec![ExtractedText { room, text, ..ExtractedText::default() }] }
    }

    #[test]
    fn the_objects_are_written_before_other_writers_have_to_wait() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().to_owned(), None);
        let caller = Caller::for_client("ada", "2026-03-01T12:00:00Z".parse().unwrap());
        let options = ImportOptions::default();
        file_mined_texts(&mut keeper, &caller, &[document("a.md", "First.")], options).unwrap();
        let objects = walkdir::WalkDir::new(dir.path()).into_iter().flatten();
        let mut objects = objects.filter(|it| it.path().ends_with(".git/objects"));
        let objects = objects.next().unwrap().into_path();
        let before = count_files(&objects);
        // The progress of a change begins when its locks are held.
        let at_first_step = Arc::new(Mutex::new(None));
        let count = at_first_step.clone();
        let caller = caller.with_progress(move |_, _| {
            count.lock().unwrap().get_or_insert_with(|| count_files(&objects) - before);
        });
        let files: Vec<_> =
            (0..30).map(|it| document(&format!("{it}.md"), &format!("Text {it}."))).collect();
        let summary = file_mined_texts(&mut keeper, &caller, &files, options).unwrap();
        assert_eq!(summary.totals().new, 30);
        assert_eq!(*at_first_step.lock().unwrap(), Some(30));
    }
}
