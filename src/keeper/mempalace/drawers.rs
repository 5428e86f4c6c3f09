//! Filing texts in drawers, and taking them out again.

use std::collections::BTreeMap;

use chrono::SubsecRound;
use ulid::Ulid;

use crate::format::{self, choose_drawer_room, new_drawer_path};
use crate::keeper::palace::{ChangePlan, OpenPalace};
use crate::keeper::session::new_id;
use crate::keeper::walk::enter::broken_file_notices;
use crate::keeper::{Caller, Keeper, Refusal};
use crate::model::{Drawer, Edit, FiledUnder, ItemId, RoomId, WingRoom, is_printable};
use crate::render;
use crate::search::{DUPLICATE_THRESHOLD, NearDuplicate, describe_changes};

/// The most characters the name of a wing, a room or an agent may have.
pub(crate) const MAX_NAME_CHARS: usize = 128;

/// How many drawers much like a text are told.
const MAX_SIMILAR_DRAWERS: usize = 5;

/// A text of so many bytes may have no word that it is found by.
const SHORT_TEXT_BYTES: usize = 64;

/// A text to be filed.
#[derive(Clone, Debug)]
pub struct NewDrawer {
    /// Where to file it.
    pub shelf: WingRoom,
    /// The text, kept byte for byte.
    pub text: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Who files it; else the caller.
    pub by: Option<String>,
    /// Whether to file it though something much like it is filed already.
    pub force: bool,
}

/// What became of a text that was to be filed.
#[derive(Clone, Debug, PartialEq)]
pub enum FilingOutcome {
    /// It lies in a new drawer.
    Filed(DrawerLocation),
    /// The very text lies there already; nothing was changed.
    AlreadyFiled(DrawerLocation),
    /// Texts much like it are filed already; nothing was changed.
    SimilarFound(Vec<SimilarDrawer>),
}

/// Which drawer, and where it is filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawerLocation {
    /// The drawer.
    pub id: Ulid,
    /// The room whose folder it lies in.
    pub room: RoomId,
    /// What its wing and room are called.
    pub shelf: WingRoom,
}

/// A drawer much like a text.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarDrawer {
    /// The drawer.
    pub location: DrawerLocation,
    /// How much they are alike: 1 is the same but for blanks.
    pub similarity: f64,
    /// What the drawer says.
    pub text: String,
    /// What the two do not have in common, in few words.
    pub difference: String,
}

/// What there is in drawers and diaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawerStats {
    /// How many drawers each shelf holds.
    pub drawers_by_shelf: BTreeMap<WingRoom, usize>,
    /// How many entries the diary of each agent has.
    pub entries_by_agent: Vec<(String, usize)>,
    /// What is wrong with files that cannot be read.
    pub file_errors: Vec<String>,
}

impl Keeper {
    /// Files a text, unless it is filed already or something much like it is.
    pub fn file_drawer(&mut self, by: &Caller, new: &NewDrawer) -> Result<FilingOutcome, Refusal> {
        let shelf = WingRoom {
            wing: validate_name("wing", &new.shelf.wing)?,
            room: validate_name("room", &new.shelf.room)?,
        };
        validate_text("content", &new.text)?;
        let key = self.current_or_new_workspace(by)?;
        let drawer = Drawer {
            id: new_id(&mut self.id_generator, by.now),
            filed_under: FiledUnder {
                wing: Some(shelf.wing.clone()),
                room: Some(shelf.room.clone()),
            },
            source: new.source.as_deref().map(render::one_line).filter(|it| !it.is_empty()),
            by: Some(render::one_line(new.by.as_deref().unwrap_or(&by.name))),
            filed: Some(by.now.trunc_subsecs(0)),
            text: new.text.clone(),
        };
        let mut filing = None;
        self.open_palace(&key)?.change_exclusively(by, |held| {
            let (plan, became) = plan_filing(held, &shelf, &drawer, new.force);
            filing = Some(became);
            Ok(plan)
        })?;
        self.remember_workspace(by, &key);
        filing.ok_or(Refusal::Contended)
    }

    /// Takes a drawer out; history keeps it. Returns where it was filed.
    pub fn delete_drawer(&mut self, by: &Caller, id: Ulid) -> Result<DrawerLocation, Refusal> {
        let missing = || Refusal::NoSuchDrawer { asked: id.to_string() };
        let key = self.current_workspace_if_any(by)?.ok_or_else(missing)?;
        let mut gone = None;
        self.open_palace(&key)?.change(by, |held| {
            let files: Vec<_> = held.palace.drawers.files_with_id(id).map(str::to_owned).collect();
            let file = match files.as_slice() {
                [only] => only.clone(),
                [] => return Err(missing()),
                _ => {
                    let why = format!("several files hold that drawer: {}", files.join(", "));
                    return Err(Refusal::Invalid(format!("{why}; delete one by hand")));
                }
            };
            let was = held.read_for_change(&file)?;
            let it = drawer_location(held, &file).ok_or_else(missing)?;
            let subject = format!("drawer {}: delete", shelf_label(&it.shelf));
            let title = held.palace.drawers.get(&file).map(|it| render::drawer_title(&it.text));
            let body = format!("Deleted \"{}\"", title.unwrap_or_default());
            gone = Some(it);
            Ok(ChangePlan { edits: vec![Edit { path: file, was, now: None }], subject, body })
        })?;
        gone.ok_or_else(missing)
    }

    /// Says what there is in drawers and diaries. Where there is no palace yet,
    /// there is nothing.
    pub fn drawer_stats(&mut self, by: &Caller) -> Result<DrawerStats, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else {
            return Ok(DrawerStats::default());
        };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let palace = &held.palace;
        let mut stock = DrawerStats::default();
        for (shelf, _, count) in palace.drawers.wing_rooms() {
            *stock.drawers_by_shelf.entry(shelf).or_default() += count;
        }
        stock.file_errors = broken_file_notices(held);
        stock.entries_by_agent =
            palace.diaries.agents().map(|(it, n)| (it.to_owned(), n)).collect();
        Ok(stock)
    }
}

impl DrawerStats {
    /// Returns how many drawers there are.
    pub fn total_drawers(&self) -> usize {
        self.drawers_by_shelf.values().sum()
    }
}

fn plan_filing(
    held: &OpenPalace,
    shelf: &WingRoom,
    drawer: &Drawer,
    force: bool,
) -> (ChangePlan, FilingOutcome) {
    let room = choose_drawer_room(&held.palace, shelf);
    if let Some(known) = find_exact_duplicate(held, &room, shelf, &drawer.text) {
        return (ChangePlan::default(), FilingOutcome::AlreadyFiled(known));
    }
    let alike = if force {
        Vec::new()
    } else {
        find_similar_drawers(held, &drawer.text, DUPLICATE_THRESHOLD)
    };
    if !alike.is_empty() {
        return (ChangePlan::default(), FilingOutcome::SimilarFound(alike));
    }
    let path = new_drawer_path(&held.palace.drawers, &room, drawer, |_| 0);
    let now = Some(format::write_drawer(drawer));
    let plan = ChangePlan {
        edits: vec![Edit { path, was: None, now }],
        subject: format!("drawer {}: file", shelf_label(shelf)),
        body: format!("Filed \"{}\"", render::drawer_title(&drawer.text)),
    };
    (plan, FilingOutcome::Filed(DrawerLocation { id: drawer.id, room, shelf: shelf.clone() }))
}

/// Finds the drawer of a shelf that holds the very text.
fn find_exact_duplicate(
    held: &OpenPalace,
    room: &RoomId,
    shelf: &WingRoom,
    text: &str,
) -> Option<DrawerLocation> {
    let mut same = held.palace.drawers.in_room(room).filter(|(_, it)| it.text == text);
    same.find_map(|(file, _)| drawer_location(held, file).filter(|it| it.shelf == *shelf))
}

/// Returns where the drawer in `file` is filed.
pub(crate) fn drawer_location(held: &OpenPalace, file: &str) -> Option<DrawerLocation> {
    let drawers = &held.palace.drawers;
    let (drawer, room) = (drawers.get(file)?, drawers.room_of_file(file)?.clone());
    Some(DrawerLocation { id: drawer.id, room, shelf: drawers.wing_room_of_file(file)? })
}

/// Checks a name that may be any one line; `what` it is the name of.
pub(crate) fn validate_name(what: &str, said: &str) -> Result<String, Refusal> {
    let refused = |why: &str| {
        let said = render::truncate(&said.escape_debug().to_string(), 40);
        Err(Refusal::Invalid(format!("`{said}` cannot be the name of the {what}: {why}")))
    };
    if said.chars().count() > MAX_NAME_CHARS {
        return refused(&format!("{MAX_NAME_CHARS} characters are the most"));
    }
    if said.contains(['/', '\\']) || !said.chars().all(is_printable) {
        return refused("it may not hold slashes, line breaks or other control characters");
    }
    let said = render::one_line(said);
    match said.trim_matches('.').is_empty() {
        true => refused("it says nothing"),
        false => Ok(said),
    }
}

/// Checks a text that is to be kept; `what` it is called.
pub(crate) fn validate_text(what: &str, said: &str) -> Result<(), Refusal> {
    if said.trim().is_empty() {
        return Err(Refusal::Invalid(format!("the `{what}` is empty: there is nothing to keep")));
    }
    if let Some(at) = said.find('\0') {
        let why = format!("the `{what}` is no text: byte {at} is NUL");
        return Err(Refusal::Invalid(why));
    }
    Ok(())
}

/// Names a shelf in one line of history.
fn shelf_label(WingRoom { wing, room }: &WingRoom) -> String {
    let [wing, room] = [wing, room].map(|it| render::truncate(&render::one_line(it), 30));
    format!("{wing}/{room}")
}

/// Finds the drawers that are like `text` by at least `least`, those most alike first.
pub(crate) fn find_similar_drawers(
    held: &OpenPalace,
    text: &str,
    least: f32,
) -> Vec<SimilarDrawer> {
    let drawers = &held.palace.drawers;
    let text_of = |it: &ItemId| match it {
        ItemId::Drawer(file) => Some(drawers.get(file)?.text.as_str()),
        _ => None,
    };
    let mut twins = held.index().near_duplicates(text, least, text_of);
    // What has hardly a word that could lead to it is looked for by itself.
    if text.len() <= SHORT_TEXT_BYTES {
        let same = drawers.iter().filter(|(.., it)| it.text == text);
        let same = same.map(|(file, ..)| ItemId::Drawer(file.to_owned()));
        let missed: Vec<_> = same.filter(|it| twins.iter().all(|twin| twin.item != *it)).collect();
        twins.splice(
            ..0,
            missed.into_iter().map(|opening| NearDuplicate { item: opening, similarity: 1.0 }),
        );
    }
    let alike = twins.into_iter().take(MAX_SIMILAR_DRAWERS).filter_map(
        |NearDuplicate { item: opening, similarity: likeness }| {
            let ItemId::Drawer(file) = &opening else { return None };
            let (address, known) = (drawer_location(held, file)?, drawers.get(file)?.text.clone());
            let differs = describe_changes(&known, text);
            Some(SimilarDrawer {
                location: address,
                similarity: likeness.into(),
                text: known,
                difference: differs,
            })
        },
    );
    alike.collect()
}
