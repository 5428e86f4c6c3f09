//! Files texts in drawers, and deletes drawers.

use std::collections::BTreeMap;

use chrono::SubsecRound;
use ulid::Ulid;

use crate::palace::OpenPalace;
use crate::palace::change_plan::{ChangeOptions, ChangePlan};
use crate::{Caller, Keeper, Refusal, Session};
use palazzo_core::format::{self, choose_drawer_room, new_drawer_path};
use palazzo_core::model::{
    DisplayWingRoom, Drawer, FileEdit, FrontMatterWingRoom, ItemId, RoomId, is_printable,
    quoted_unless_plain,
};
use palazzo_core::render;
use palazzo_core::search::{DUPLICATE_THRESHOLD, NearDuplicate, describe_changes};

/// Maximum number of characters of the name of a wing, a room or an agent.
pub(crate) const MAX_NAME_CHARS: usize = 128;

/// Maximum number of similar drawers that an answer lists.
const MAX_SIMILAR_DRAWERS: usize = 5;

/// Texts up to this size may have no word in the index.
const SHORT_TEXT_BYTES: usize = 64;

/// A text to file.
#[derive(Clone, Debug)]
pub struct NewDrawer {
    /// Where to file it.
    pub shelf: DisplayWingRoom,
    /// The text, kept byte for byte.
    pub text: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Its author; by default the caller.
    pub by: Option<String>,
    /// Whether to file it even if a similar text is filed already.
    pub force: bool,
}

/// What [`file_drawer`] did.
#[derive(Clone, Debug, PartialEq)]
pub enum FilingOutcome {
    /// The text is in a new drawer.
    Filed(DrawerLocation),
    /// The same text is filed there already; nothing changed.
    AlreadyFiled(DrawerLocation),
    /// Similar texts are filed already; nothing changed.
    SimilarFound(Vec<SimilarDrawer>),
}

/// A drawer, and where it is filed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawerLocation {
    /// The drawer.
    pub id: Ulid,
    /// The room whose folder contains its file.
    pub room: RoomId,
    /// The names of its wing and room.
    pub shelf: DisplayWingRoom,
}

/// A drawer whose text is similar to another.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarDrawer {
    /// The drawer.
    pub location: DrawerLocation,
    /// From 0 to 1: 1 means that the texts differ at most in white space.
    pub similarity: f64,
    /// The text of the drawer.
    pub text: String,
    /// The words in which the texts differ, shortened.
    pub difference: String,
}

/// The numbers of drawers and diary entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawerStats {
    /// How many drawers each room of each wing has.
    pub drawers_by_shelf: BTreeMap<DisplayWingRoom, usize>,
    /// How many entries the diary of each agent has.
    pub entries_by_agent: Vec<(String, usize)>,
    /// The errors of the files that cannot be read.
    pub file_errors: Vec<String>,
}

/// Files a text, unless the same text or a similar one is filed already. Creates the first
/// palace if there is none.
pub fn file_drawer(
    keeper: &mut Keeper,
    caller: &Caller,
    new: &NewDrawer,
) -> Result<FilingOutcome, Refusal> {
    let shelf = DisplayWingRoom {
        wing: validate_name("wing", &new.shelf.wing)?,
        room: validate_name("room", &new.shelf.room)?,
    };
    validate_text("content", &new.text)?;
    let mut session = keeper.session_for_writing(caller)?;
    let drawer = Drawer {
        id: session.new_id(),
        filed_under: FrontMatterWingRoom {
            wing: Some(shelf.wing.clone()),
            room: Some(shelf.room.clone()),
        },
        title: None,
        labels: Vec::new(),
        source: new.source.as_deref().map(render::whole_line).filter(|it| !it.is_empty()),
        by: Some(render::storable_line(new.by.as_deref().unwrap_or(&caller.name))),
        filed: Some(caller.now.trunc_subsecs(0)),
        text: new.text.clone(),
    };
    let mut outcome = None;
    session.palace.change_files(caller, &ChangeOptions::exclusive(), |open| {
        let (plan, filed) = plan_filing(open, &shelf, &drawer, new.force);
        outcome = Some(filed);
        Ok(plan)
    })?;
    session.set_current_workspace_if_none();
    outcome.ok_or(Refusal::Contended)
}

/// Deletes a drawer; history keeps it. Returns where it was filed.
pub fn delete_drawer(session: &mut Session<'_>, id: Ulid) -> Result<DrawerLocation, Refusal> {
    let missing = || Refusal::NoSuchDrawer { asked: id.to_string() };
    let mut deleted = None;
    session.palace.change_files(session.caller, &ChangeOptions::default(), |open| {
        let files: Vec<_> = open.palace.drawers.files_with_id(id).map(str::to_owned).collect();
        let file = match files.as_slice() {
            [only] => only.clone(),
            [] => return Err(missing()),
            _ => {
                let files: Vec<_> = files.iter().map(|it| quoted_unless_plain(it)).collect();
                let why = format!("several files contain that drawer: {}", files.join(", "));
                return Err(Refusal::Invalid(format!("{why}; delete all but one by hand")));
            }
        };
        let was = open.read_file_for_change(&file)?;
        let location = drawer_location(open, &file).ok_or_else(missing)?;
        let subject = format!("drawer {}: delete", wing_room_label(&location.shelf));
        let title = open.palace.drawers.drawer_in_file(&file).map(render::drawer_title);
        let body = format!("Deleted \"{}\"", title.unwrap_or_default());
        deleted = Some(location);
        Ok(ChangePlan { edits: vec![FileEdit { path: file, was, now: None }], subject, body })
    })?;
    deleted.ok_or_else(missing)
}

/// Counts drawers and diary entries, and reports files that cannot be read.
pub fn drawer_stats(session: &Session<'_>) -> DrawerStats {
    let palace = &session.palace.palace;
    let mut stats = DrawerStats::default();
    for (shelf, _, count) in palace.drawers.wing_room_counts() {
        *stats.drawers_by_shelf.entry(shelf).or_default() += count;
    }
    stats.file_errors = session.palace.file_error_notices();
    stats.entries_by_agent = palace.diaries.agents().map(|(it, n)| (it.to_owned(), n)).collect();
    stats
}

impl DrawerStats {
    /// Returns how many drawers there are.
    pub fn total_drawers(&self) -> usize {
        self.drawers_by_shelf.values().sum()
    }
}

fn plan_filing(
    open: &OpenPalace,
    shelf: &DisplayWingRoom,
    drawer: &Drawer,
    force: bool,
) -> (ChangePlan, FilingOutcome) {
    let room = choose_drawer_room(&open.palace, shelf);
    if let Some(location) = find_exact_duplicate(open, &room, shelf, &drawer.text) {
        return (ChangePlan::default(), FilingOutcome::AlreadyFiled(location));
    }
    let similar = if force {
        Vec::new()
    } else {
        find_similar_drawers(open, &drawer.text, DUPLICATE_THRESHOLD)
    };
    if !similar.is_empty() {
        return (ChangePlan::default(), FilingOutcome::SimilarFound(similar));
    }
    let path = new_drawer_path(&open.palace.drawers, &room, drawer, |_| 0);
    let now = Some(format::serialize_drawer(drawer));
    let plan = ChangePlan {
        edits: vec![FileEdit { path, was: None, now }],
        subject: format!("drawer {}: file", wing_room_label(shelf)),
        body: format!("Filed \"{}\"", render::drawer_title(drawer)),
    };
    (plan, FilingOutcome::Filed(DrawerLocation { id: drawer.id, room, shelf: shelf.clone() }))
}

/// Finds the drawer of a wing and room with the same text.
fn find_exact_duplicate(
    open: &OpenPalace,
    room: &RoomId,
    shelf: &DisplayWingRoom,
    text: &str,
) -> Option<DrawerLocation> {
    let mut same = open.palace.drawers.drawers_in_room(room).filter(|(_, it)| it.text == text);
    same.find_map(|(file, _)| drawer_location(open, file).filter(|it| it.shelf == *shelf))
}

/// Returns the location of the drawer in `file`.
pub(crate) fn drawer_location(open: &OpenPalace, file: &str) -> Option<DrawerLocation> {
    let drawers = &open.palace.drawers;
    let (drawer, room) = (drawers.drawer_in_file(file)?, drawers.room_of_file(file)?.clone());
    Some(DrawerLocation { id: drawer.id, room, shelf: drawers.wing_room_of_file(file)? })
}

/// Checks a name, which may be any one line; `what` is the kind of item that it names.
pub(crate) fn validate_name(what: &str, name: &str) -> Result<String, Refusal> {
    let refused = |why: &str| {
        let (what, why) = (format!("the {what}"), why.to_owned());
        Err(Refusal::InvalidName { what, name: render::truncate(name, 40), why })
    };
    if name.chars().count() > MAX_NAME_CHARS {
        return refused(&format!("a name has at most {MAX_NAME_CHARS} characters"));
    }
    if name.contains(['/', '\\']) || !name.chars().all(is_printable) {
        return refused("it may not contain slashes, line breaks or other control characters");
    }
    let name = render::storable_line(name);
    match name.trim_matches('.').is_empty() {
        true => refused("it is empty or has only dots"),
        false => Ok(name),
    }
}

/// Checks a text to file; `what` is the name of the argument.
pub(crate) fn validate_text(what: &str, text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        let advice = ": give a text to store";
        return Err(Refusal::EmptyText { argument: what.to_owned(), advice });
    }
    if let Some(at) = text.find('\0') {
        let why = format!("the `{what}` is not text: byte {at} is NUL; remove it");
        return Err(Refusal::Invalid(why));
    }
    Ok(())
}

/// Renders a wing and room for the subject of a commit.
fn wing_room_label(DisplayWingRoom { wing, room }: &DisplayWingRoom) -> String {
    let [wing, room] = [wing, room].map(|it| render::truncate(&render::one_line(it), 30));
    format!("{wing}/{room}")
}

/// Finds the drawers whose similarity to `text` is at least `min_similarity`, the most similar
/// first.
pub(crate) fn find_similar_drawers(
    open: &OpenPalace,
    text: &str,
    min_similarity: f32,
) -> Vec<SimilarDrawer> {
    let drawers = &open.palace.drawers;
    let text_of = |it: &ItemId| match it {
        ItemId::Drawer(file) => Some(drawers.drawer_in_file(file)?.text.as_str()),
        _ => None,
    };
    let mut similar_items = open.index().find_near_duplicates(text, min_similarity, text_of);
    // A short text may have no word in the index, so compare it with every drawer.
    if text.len() <= SHORT_TEXT_BYTES {
        let same = drawers.iter().filter(|(.., it)| it.text == text);
        let same = same.map(|(file, ..)| ItemId::Drawer(file.to_owned()));
        let missed: Vec<_> =
            same.filter(|it| similar_items.iter().all(|similar| similar.item != *it)).collect();
        similar_items
            .splice(..0, missed.into_iter().map(|item| NearDuplicate { item, similarity: 1.0 }));
    }
    let similar = similar_items.into_iter().take(MAX_SIMILAR_DRAWERS).filter_map(
        |NearDuplicate { item, similarity }| {
            let ItemId::Drawer(file) = &item else { return None };
            let old = drawers.drawer_in_file(file)?.text.clone();
            Some(SimilarDrawer {
                location: drawer_location(open, file)?,
                similarity: similarity.into(),
                difference: describe_changes(&old, text),
                text: old,
            })
        },
    );
    similar.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const PLAN: &str = "We meet every Tuesday at ten in the large room on the second floor.";

    fn new_drawer(wing: &str, room: &str, text: &str) -> NewDrawer {
        let shelf = DisplayWingRoom { wing: wing.to_owned(), room: room.to_owned() };
        NewDrawer { shelf, text: text.to_owned(), source: None, by: None, force: false }
    }

    fn file(home: &mut TestHome, new: &NewDrawer) -> Result<FilingOutcome, Refusal> {
        file_drawer(&mut home.keeper, &ada(), new)
    }

    fn filed_id(home: &mut TestHome, new: &NewDrawer) -> Ulid {
        match file(home, new).unwrap() {
            FilingOutcome::Filed(location) => location.id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_text_is_filed_once_in_a_room() {
        let mut home = TestHome::new(&[]);
        let id = filed_id(&mut home, &new_drawer("team", "plans", PLAN));
        let again = file(&mut home, &new_drawer("team", "plans", PLAN)).unwrap();
        let FilingOutcome::AlreadyFiled(location) = again else { panic!("{again:?}") };
        assert_eq!((location.id, location.room.to_string()), (id, "team/plans".to_owned()));
    }

    #[test]
    fn a_similar_text_is_filed_in_another_room_only_by_force() {
        let mut home = TestHome::new(&[]);
        let id = filed_id(&mut home, &new_drawer("team", "plans", PLAN));
        let other = new_drawer("team", "other", &format!("{PLAN}\n"));
        let outcome = file(&mut home, &other).unwrap();
        let FilingOutcome::SimilarFound(similar) = outcome else { panic!("{outcome:?}") };
        assert_eq!(
            (similar.len(), similar[0].location.id, similar[0].text.as_str()),
            (1, id, PLAN)
        );
        filed_id(&mut home, &NewDrawer { force: true, ..other });
        assert_eq!(home.run(|session| drawer_stats(session).total_drawers()), 2);
    }

    #[test]
    fn a_very_short_text_is_compared_with_every_drawer() {
        let mut home = TestHome::new(&[]);
        for text in ["ok", "42", "F28", "会議", "✅", "!!!"] {
            let id = filed_id(&mut home, &new_drawer("a", "one", text));
            let outcome = file(&mut home, &new_drawer("a", "two", text)).unwrap();
            let FilingOutcome::SimilarFound(similar) = outcome else { panic!("{outcome:?}") };
            let found: Vec<_> =
                similar.iter().map(|it| (it.location.id, it.text.as_str())).collect();
            assert_eq!(found, [(id, text)]);
        }
    }

    #[test]
    fn a_similar_drawer_shows_the_words_that_differ() {
        let mut home = TestHome::new(&[]);
        let text = "The boiler stopped since the pressure valve was stuck.";
        filed_id(&mut home, &new_drawer("home", "cellar", text));
        let new = new_drawer("home", "attic", &text.replace('.', "!"));
        let outcome = file(&mut home, &new).unwrap();
        let FilingOutcome::SimilarFound(similar) = outcome else { panic!("{outcome:?}") };
        assert_eq!(similar[0].difference, "\"stuck.\" is now \"stuck!\"");
    }

    #[test]
    fn wings_that_differ_in_case_are_different_wings() {
        let mut home = TestHome::new(&[]);
        for (wing, text) in [("code", "Tokens expire."), ("Code", "Postgres 16."), ("日本", "🏛")]
        {
            filed_id(&mut home, &new_drawer(wing, "auth", text));
        }
        let stats = home.run(|session| drawer_stats(session));
        let wings: Vec<_> =
            stats.drawers_by_shelf.iter().map(|(it, n)| (it.wing.as_str(), *n)).collect();
        assert_eq!(wings, [("Code", 1), ("code", 1), ("日本", 1)]);
    }

    #[test]
    fn a_deleted_drawer_cannot_be_deleted_again() {
        let mut home = TestHome::new(&[]);
        let id = filed_id(&mut home, &new_drawer("team", "plans", PLAN));
        let location = home.run(|session| delete_drawer(session, id)).unwrap();
        assert_eq!((location.id, location.shelf.room.as_str()), (id, "plans"));
        let refusal = home.run(|session| delete_drawer(session, id)).unwrap_err().to_string();
        assert_eq!(refusal, format!("no drawer has the id `{id}`: nothing was deleted"));
    }

    #[test]
    fn a_drawer_that_was_copied_is_not_deleted() {
        let text = "---\nid: 01KJHSAPE0PJMA0HCKESTE6VY6\n---\n\nOne.\n";
        let files = ["drawers/a/b/1.md", "drawers/a/b/2.md"];
        let mut home = TestHome::new(&files.map(|it| (it, text)));
        let id = "01KJHSAPE0PJMA0HCKESTE6VY6".parse().unwrap();
        assert_eq!(
            home.run(|session| delete_drawer(session, id)).unwrap_err().to_string(),
            "several files contain that drawer: drawers/a/b/1.md, drawers/a/b/2.md; delete all but \
             one by hand"
        );
        assert_eq!(files.map(|it| home.read(it).as_deref() == Some(text)), [true, true]);
    }

    #[test]
    fn files_that_cannot_be_read_are_reported_beside_the_counts() {
        let mut home = TestHome::new(&[
            ("drawers/a/b/2026-01-01.md", "---\nwing: a\nwing: b\n---\nText"),
            ("drawers/a/b/2026-01-02.md", "Fine."),
        ]);
        let stats = home.run(|session| drawer_stats(session));
        // The text of a drawer is found even if its front matter cannot be read.
        assert_eq!((stats.total_drawers(), stats.file_errors.len()), (2, 1));
        let error = &stats.file_errors[0];
        assert!(error.starts_with("drawers/a/b/2026-01-01.md:3:1: "), "{error}");
    }

    #[test]
    fn the_first_drawer_makes_its_palace_the_current_one() {
        let mut home = TestHome::new(&[]);
        filed_id(&mut home, &new_drawer("team", "plans", PLAN));
        assert_eq!(home.keeper.visit_of_caller(&ada()).workspace.as_deref(), Some("keep"));
    }

    #[test]
    fn a_name_is_one_line_of_at_most_128_characters() {
        assert_eq!(validate_name("wing", " Große  Küche ").unwrap(), "Große Küche");
        let long = "é".repeat(128);
        assert_eq!(validate_name("wing", &long).unwrap(), long);
        let refusal = validate_name("room", &(long + "é")).unwrap_err().to_string();
        let why = "… cannot be the name of the room: a name has at most 128 characters";
        assert!(refusal.replace('`', "").ends_with(why), "{refusal}");
    }

    #[test]
    fn a_name_without_letters_or_with_control_characters_is_refused() {
        let empty = "it is empty or has only dots";
        let control = "it may not contain slashes, line breaks or other control characters";
        for (name, why) in [
            ("", empty),
            (" . ", empty),
            ("..", empty),
            ("a/b", control),
            ("a\\b", control),
            ("a\nb", control),
            ("a\0b", control),
            ("\u{202e}evil", control),
        ] {
            let refusal = validate_name("wing", name).unwrap_err().to_string();
            assert!(refusal.ends_with(&format!("the name of the wing: {why}")), "{refusal}");
        }
    }

    #[test]
    fn a_text_is_neither_blank_nor_contains_nul() {
        assert!(validate_text("content", "\u{7}\r\n.").is_ok());
        let blank = validate_text("content", " \n\t").unwrap_err().to_string();
        assert_eq!(blank, "the `content` is empty: give a text to store");
        let nul = validate_text("entry", "aé\0b").unwrap_err().to_string();
        assert_eq!(nul, "the `entry` is not text: byte 3 is NUL; remove it");
    }
}
