//! Files the texts of source files: all texts of a file in one commit, and no text a second time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use chrono::{DateTime, SecondsFormat, SubsecRound, Utc};
use ulid::Ulid;

use crate::exchange::{ExtractedText, OlderText, SourceKind};
use crate::format::{self, PalacePath, choose_drawer_room, new_drawer_path};
use crate::keeper::import::older_texts::{OlderDrawers, OlderExchange, keep_older_texts};
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

/// Plans how to file the texts of one source after the other. It knows what it has planned before.
pub(crate) struct FilingPlanner<'o, 't> {
    open: &'o OpenPalace,
    rooms: BTreeMap<&'t WingRoomNames, (RoomId, RoomTexts<'o>)>,
    /// How many files are planned in each folder.
    new_per_folder: HashMap<String, usize>,
}

/// The texts of a room before filing.
#[derive(Default)]
struct RoomTexts<'a> {
    texts: HashSet<&'a str>,
    /// Files by the source of their texts, in the order of filing.
    files_by_source: HashMap<&'a str, Vec<&'a str>>,
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
    let session = match options.is_dry_run || sources.is_empty() {
        true => keeper.session_if_any(caller)?,
        false => Some(keeper.session_for_writing(caller)?),
    };
    let Some(session) = session else { return Ok(summary_for_empty_palace(&sources)) };
    keep_older_wings(session.palace, &mut sources);
    for it in &mut sources {
        it.keep_older_texts(session.palace);
    }
    let (change, mut filed) = plan_change(session.palace, &sources)?;
    if options.is_dry_run || change.edits.is_empty() {
        return Ok(filed);
    }
    // Other writers wait for the lock, so what takes long is done before.
    let texts = change.edits.iter().filter_map(|it| it.now.as_deref());
    session.palace.write_blobs_before_change(texts)?;
    session.palace.change_files_exclusively(caller, |open| {
        let (change, counts) = plan_change(open, &sources)?;
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
) -> Result<(ChangePlan, MineSummary), Refusal> {
    let mut planner = FilingPlanner::new(open);
    let plans: Vec<_> = sources.iter().map(|it| it.plan_filing(&mut planner)).collect();
    let mut summary = MineSummary::default();
    let (mut edits, mut extensions) = (Vec::new(), Vec::new());
    for (it, plan) in sources.iter().zip(plans) {
        it.add_to_summary(&plan, &mut summary);
        edits.extend(plan.edits);
        extensions.extend(plan.extensions);
    }
    for (file, whole) in extensions {
        edits.push(plan_drawer_extension(open, file, whole)?);
    }
    let changed: Vec<_> = summary.sources.iter().filter(|it| it.new + it.extended > 0).collect();
    let subject = match changed[..] {
        [it] => format!("source {}: mine", render::truncate(&it.name, 50)),
        _ => format!("mine {} sources", changed.len()),
    };
    let MinedCounts { new, extended, .. } = summary.totals();
    let body = format!("{new} new, {extended} extended");
    Ok((ChangePlan { edits, subject, body }, summary))
}

/// Counts what would be new in an empty palace.
fn summary_for_empty_palace(sources: &[MinedSource]) -> MineSummary {
    let (mut seen, mut summary) = (HashSet::new(), MineSummary::default());
    for it in sources {
        let new = it.drawers.iter().filter(|(shelf, it)| seen.insert((shelf, &it.text))).count();
        let already_filed = it.drawers.len() - new;
        let name = it.source.name.clone();
        summary.sources.push(MinedCounts { name, new, already_filed, extended: 0 });
        let names = it.names.iter().map(String::as_str);
        let texts = it.drawers.iter().map(|(_, it)| it.text.as_str()).chain(names);
        summary.redacted.extend(it.redactions.list_secrets(&it.redactions.secrets_of(texts)));
    }
    summary
}

/// A source and its drawers, without secrets.
struct MinedSource {
    source: SourceFile,
    drawers: Vec<(WingRoomNames, Drawer)>,
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
        let source = &SourceFile { name: render::join_lines(&source.name), ..source.clone() };
        let texts = (1..).zip(texts).map(|it| redact_text(&mut redactions, source, it));
        let texts: Vec<_> = texts.collect();
        let source = redact_source(&mut redactions, source);
        let names = texts.iter().flat_map(|it| it.wing.iter().chain([&it.room]));
        let names = names.chain([&source.name, &source.wing]).cloned().collect();
        let drawer = |it| drawer_from_extracted_text(new_id(), caller, &source, it);
        let drawers: Vec<_> = texts.iter().map(drawer).collect();
        let older = texts.iter().zip(&drawers).filter(|(it, _)| !it.older.is_empty());
        let older = older.map(|(it, (_, drawer))| {
            let date =
                |at: Option<_>| truncate_to_seconds(at.or(source.modified).unwrap_or(caller.now));
            let older = it.older.iter().map(|OlderText { text, at }| {
                let (id, text, filed) = (new_id(), text.clone(), Some(date(*at)));
                Drawer { id, filed, text, ..drawer.clone() }
            });
            let drawers = older.collect();
            (drawer.id, OlderExchange { drawers, is_part: it.is_older_part })
        });
        let older = older.collect();
        Self { source, drawers, older, names, redactions }
    }

    /// Files exchanges as an older version did, if it has filed them.
    fn keep_older_texts(&mut self, open: &OpenPalace) {
        let modified = self.source.modified.map(truncate_to_seconds);
        let Self { drawers, older, redactions, .. } = self;
        keep_older_texts(open, drawers, older, redactions, modified);
    }

    /// Returns the wing and the room in which an older version filed a text.
    fn older_shelf(&self, shelf: &WingRoomNames) -> Option<WingRoomNames> {
        let older = self.source.older_wing.as_deref()?;
        let wing = sanitize_name(older, MAX_NAME_CHARS);
        let is_default = shelf.wing == sanitize_name(&self.source.wing, MAX_NAME_CHARS);
        is_default.then(|| WingRoomNames { wing, room: shelf.room.clone() })
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
            if let Some(older) = self.older_shelf(shelf) {
                drawer.filed_under.wing = Some(older.wing.clone());
                *shelf = older;
            }
        }
        self.drawers = drawers;
    }

    fn plan_filing<'o, 't: 'o>(&'t self, planner: &mut FilingPlanner<'o, 't>) -> FilingPlan<'t> {
        planner.plan_filing(Some((&self.source, &self.older)), &self.drawers, &self.redactions)
    }

    /// Adds the counts of this source, for which there is a plan.
    fn add_to_summary(&self, plan: &FilingPlan<'_>, summary: &mut MineSummary) {
        let (new, extended) = (plan.edits.len(), plan.extensions.len());
        let mut redacted = plan.redacted.clone();
        if new + extended > 0 {
            redacted.extend(self.redactions.secrets_of(self.names.iter().map(String::as_str)));
        }
        summary.redacted.extend(self.redactions.list_secrets(&redacted));
        let (name, already_filed) = (self.source.name.clone(), plan.already_filed);
        summary.superseded.extend(plan.superseded.iter().map(|it| (name.clone(), it.clone())));
        summary.sources.push(MinedCounts { name, new, extended, already_filed });
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
    let older = it.older.iter().map(|OlderText { text, at }| {
        let text = text.replace('\0', "\u{fffd}");
        OlderText { text: redactions.redact(&text, &source.name, place_of_line), at: *at }
    });
    let older = older.collect();
    ExtractedText { wing, room, text, older, ..*it }
}

/// Redacts the name and the wing of a source.
fn redact_source(redactions: &mut Redactions, source: &SourceFile) -> SourceFile {
    let mut redact_name = |it: &str| redact_name(redactions, source, it);
    let (name, wing) = (redact_name(&source.name), redact_name(&source.wing));
    SourceFile { name, wing, ..source.clone() }
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

impl<'o, 't: 'o> FilingPlanner<'o, 't> {
    pub(crate) fn new(open: &'o OpenPalace) -> Self {
        Self { open, rooms: BTreeMap::new(), new_per_folder: HashMap::new() }
    }

    /// Plans how to file texts. Only texts of one `source` can extend or supersede drawers; those of
    /// older versions that lack a part are extended, too.
    pub(crate) fn plan_filing(
        &mut self,
        source: Option<(&SourceFile, &OlderDrawers)>,
        drawers: &'t [(WingRoomNames, Drawer)],
        redactions: &Redactions,
    ) -> FilingPlan<'t> {
        let mut plan = FilingPlan::default();
        let texts = drawers.iter().map(|(_, it)| it.text.as_str());
        // Before secrets were redacted, or without that, a text was filed as it was.
        let with_originals = |it| std::iter::once(it).chain(redactions.originals_of(it));
        let texts: HashSet<&str> = texts.flat_map(with_originals).collect();
        for (shelf, drawer) in drawers {
            let (_, room_texts) = self.rooms.entry(shelf).or_insert_with(|| {
                let room = choose_drawer_room(&self.open.palace, shelf);
                let room_texts = RoomTexts::for_wing_room(self.open, &room, shelf);
                (room, room_texts)
            });
            let originals: Vec<_> = redactions.originals_of(&drawer.text).collect();
            let is_original_filed = originals.iter().any(|it| room_texts.texts.contains(it));
            if is_original_filed || !room_texts.texts.insert(&drawer.text) {
                plan.already_filed += 1;
                continue;
            }
            plan.redacted.extend(redactions.secrets_of([drawer.text.as_str()]));
            let extended = source.and_then(|(it, older)| {
                let older = older.get(&drawer.id).filter(|it| it.is_part);
                room_texts
                    .take_file_to_extend(self.open, it, &texts, (drawer, &originals))
                    .or_else(|| room_texts.take_file_with_part(self.open, it, older?, redactions))
            });
            match extended {
                Some(file) => plan.extensions.push((file.to_owned(), drawer)),
                None => plan.edits.push(self.plan_new_file(shelf, drawer)),
            }
        }
        let source = source.map(|(it, _)| it);
        let changed = source.filter(|it| it.kind == SourceKind::Document && !plan.edits.is_empty());
        if let Some(source) = changed {
            plan.superseded = self.superseded_files(&source.name, drawers, &texts);
        }
        plan
    }

    /// Plans a new file for a drawer of a wing and a room that were looked up before.
    fn plan_new_file(&mut self, shelf: &WingRoomNames, drawer: &Drawer) -> FileEdit {
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

    /// Returns the files with texts that a document does not contain any more, in the rooms of its
    /// drawers.
    fn superseded_files(
        &self,
        source: &str,
        drawers: &[(WingRoomNames, Drawer)],
        texts: &HashSet<&str>,
    ) -> Vec<String> {
        let shelves: BTreeSet<_> = drawers.iter().map(|(shelf, _)| shelf).collect();
        let rooms = shelves.into_iter().filter_map(|it| self.rooms.get(it));
        let files = rooms.flat_map(|(_, it)| it.superseded_files(self.open, source, texts));
        files.map(str::to_owned).collect()
    }
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

    /// Removes and returns the file of an older version with a part of an exchange.
    fn take_file_with_part(
        &mut self,
        open: &OpenPalace,
        source: &SourceFile,
        older: &OlderExchange,
        redactions: &Redactions,
    ) -> Option<&'a str> {
        let files = self.files_by_source.get_mut(source.name.as_str())?;
        let is_part = |old: &Drawer| older.has_text(old, redactions);
        let place = files
            .iter()
            .position(|file| open.palace.drawers.drawer_in_file(file).is_some_and(is_part))?;
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
