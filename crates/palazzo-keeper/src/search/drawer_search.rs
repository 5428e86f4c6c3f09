//! Searches drawers by words and meaning, and by their similarity to a text.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::mempalace::drawers::{drawer_location, find_similar_drawers, validate_text};
use crate::palace::OpenPalace;
use crate::palace::search_documents::drawer_facet;
use crate::search::{TimeRange, parse_time_range};
use crate::semantic::vector_store::EmbeddedQuery;
use crate::{Caller, DrawerLocation, Keeper, RankingReport, Refusal, Session, SimilarDrawer};
use palazzo_core::model::{DisplayWingRoom, ItemId, ItemKind, Provenance};
use palazzo_core::search::{DUPLICATE_THRESHOLD, Hit, Query, extract_question};

/// A search for drawers, with its filters.
#[derive(Clone, Debug, Default)]
pub struct DrawerQuery {
    /// A question or some words.
    pub words: String,
    /// Only drawers of the wing with exactly this name.
    pub wing: Option<String>,
    /// Only drawers of rooms with exactly this name.
    pub room: Option<String>,
    /// Only drawers that were filed at this date or later.
    pub since: Option<String>,
    /// Only drawers that were filed before this date.
    pub before: Option<String>,
}

/// The result of a search for drawers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawerHits {
    /// The best hits, best first.
    pub best: Vec<DrawerHit>,
    /// How many drawers match.
    pub total: usize,
    /// The question in the query, without the text around it.
    pub question: String,
    /// How the hits were ranked, in a palace that names a model.
    pub ranker: Option<RankingReport>,
}

/// A drawer that matches a search.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawerHit {
    /// The drawer.
    pub location: DrawerLocation,
    /// Its text.
    pub text: String,
    /// Where the text comes from.
    pub source: Option<String>,
    /// When it was filed, if that is known.
    pub filed: Option<DateTime<Utc>>,
    /// Its author and its origin.
    pub provenance: Provenance,
    /// How well it matches, from 0 to 1.
    pub similarity: f64,
    /// The byte of the text at which the best passage starts.
    pub passage_start: usize,
}

/// Searches drawers; returns the best `limit` hits.
pub fn search_drawers(
    keeper: &mut Keeper,
    caller: &Caller,
    query: &DrawerQuery,
    limit: usize,
) -> Result<DrawerHits, Refusal> {
    if query.words.trim().is_empty() {
        let advice = ": give words to search for";
        return Err(Refusal::EmptyText { argument: "query".to_owned(), advice });
    }
    let before = ("before", query.before.as_deref());
    let time_range = parse_time_range(query.since.as_deref(), before, caller)?;
    match keeper.session_if_any(caller)? {
        Some(mut session) => {
            session.palace.load_provenance()?;
            Ok(find_drawers(&mut session, query, time_range, limit))
        }
        None => Ok(DrawerHits { question: extract_query_question(query), ..DrawerHits::default() }),
    }
}

fn find_drawers(
    session: &mut Session<'_>,
    query: &DrawerQuery,
    (since, before): TimeRange,
    limit: usize,
) -> DrawerHits {
    let vector_store = session.palace.vector_store(session.models);
    let open = &*session.palace;
    let embedded = vector_store.as_ref().map(|it| open.embed_query(it, &query.words));
    let drawers = &open.palace.drawers;
    // Filter by room and not by drawer: the wing and room of a drawer are slow to find, and there
    // are fewer rooms than drawers.
    let facets = (query.wing.is_some() || query.room.is_some()).then(|| {
        let shelves =
            drawers.find_matching_wing_rooms(|it| matches_wing_and_room(it, query)).into_iter();
        let facets: HashSet<_> = shelves.map(|(room, filed)| drawer_facet(room, filed)).collect();
        open.index().facet_filter(|it| facets.contains(it))
    });
    let index_query = Query {
        text: &query.words,
        limit,
        kinds: &[ItemKind::Drawer],
        facets: facets.as_deref(),
        since,
        before,
        vectors: embedded.as_ref().and_then(EmbeddedQuery::query_and_vectors),
        ..Query::default()
    };
    let hits = open.index().find(&index_query, |_| true);
    DrawerHits {
        best: hits.best.iter().filter_map(|it| drawer_hit(open, it)).collect(),
        total: hits.total,
        question: extract_query_question(query),
        ranker: embedded.map(|it| it.ranker),
    }
}

fn extract_query_question(query: &DrawerQuery) -> String {
    extract_question(&query.words).trim().to_owned()
}

/// Returns a drawer by its id, as a hit whose passage starts at the byte `from`; `None` if no
/// drawer has that id.
pub fn drawer_by_id(session: &Session<'_>, id: Ulid, from: usize) -> Option<DrawerHit> {
    let file = session.palace.palace.drawers.files_with_id(id).next()?.to_owned();
    let hit = Hit { item: ItemId::Drawer(file), similarity: 1.0, passage: from..from };
    drawer_hit(session.palace, &hit)
}

/// Finds the drawers whose similarity to a text is at least `min_similarity`, by default 0.9.
pub fn drawers_similar_to(
    keeper: &mut Keeper,
    caller: &Caller,
    text: &str,
    min_similarity: Option<f32>,
) -> Result<Vec<SimilarDrawer>, Refusal> {
    validate_text("content", text)?;
    let min_similarity = min_similarity.unwrap_or(DUPLICATE_THRESHOLD);
    if !(0.0..=1.0).contains(&min_similarity) {
        let why = format!("the `threshold` must be from 0 to 1, not {min_similarity}");
        return Err(Refusal::Invalid(why));
    }
    let session = keeper.session_if_any(caller)?;
    let similar = session.map(|it| find_similar_drawers(it.palace, text, min_similarity));
    Ok(similar.unwrap_or_default())
}

fn matches_wing_and_room(shelf: &DisplayWingRoom, query: &DrawerQuery) -> bool {
    let matches = |filter: Option<&String>, name: &String| filter.is_none_or(|it| it == name);
    matches(query.wing.as_ref(), &shelf.wing) && matches(query.room.as_ref(), &shelf.room)
}

fn drawer_hit(open: &OpenPalace, hit: &Hit) -> Option<DrawerHit> {
    let ItemId::Drawer(file) = &hit.item else { return None };
    let drawer = open.palace.drawers.drawer_in_file(file)?;
    Some(DrawerHit {
        location: drawer_location(open, file)?,
        text: drawer.text.clone(),
        source: drawer.source.clone(),
        filed: drawer.filed,
        provenance: open.provenance(file),
        similarity: f64::from(hit.similarity),
        passage_start: hit.passage.start,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const LOGIN: &str = "The login token lasts an hour, and is renewed by every request.";

    /// A palace with texts about a login in several wings.
    fn home() -> TestHome {
        TestHome::new(&[
            ("drawers/code/auth/2026-01-01-a.md", LOGIN),
            ("drawers/code/db/2026-01-02-b.md", "The login table has an index."),
            ("drawers/team/auth/2026-01-03-c.md", "Ada looks after the login."),
            ("drawers/old/auth/2019-05-01-d.md", "The login was a text file."),
        ])
    }

    fn login() -> DrawerQuery {
        DrawerQuery { words: "login".to_owned(), ..DrawerQuery::default() }
    }

    fn shelves(query: &DrawerQuery) -> Vec<String> {
        let hits = search_drawers(&mut home().keeper, &ada(), query, 10).unwrap();
        let shelf =
            |it: &DrawerHit| format!("{}/{}", it.location.shelf.wing, it.location.shelf.room);
        let mut shelves: Vec<_> = hits.best.iter().map(shelf).collect();
        shelves.sort();
        shelves
    }

    #[test]
    fn drawers_are_filtered_by_wing_and_room() {
        let (code, auth) = (Some("code".to_owned()), Some("auth".to_owned()));
        let wing = DrawerQuery { wing: code.clone(), ..login() };
        assert_eq!(shelves(&wing), ["code/auth", "code/db"]);
        let room = DrawerQuery { room: auth.clone(), ..login() };
        assert_eq!(shelves(&room), ["code/auth", "old/auth", "team/auth"]);
        assert_eq!(shelves(&DrawerQuery { wing: code, room: auth, ..login() }), ["code/auth"]);
    }

    #[test]
    fn the_name_of_a_wing_must_be_exact() {
        let wing = Some("Code".to_owned());
        assert_eq!(shelves(&DrawerQuery { wing, ..login() }), [""; 0]);
    }

    #[test]
    fn drawers_are_filtered_by_the_date_of_filing() {
        let since = DrawerQuery { since: Some("2026-01-03".to_owned()), ..login() };
        assert_eq!(shelves(&since), ["team/auth"]);
        let before = DrawerQuery { before: Some("2020".to_owned()), ..login() };
        assert_eq!(shelves(&before), ["old/auth"]);
    }

    #[test]
    fn an_invalid_query_is_refused() {
        let refusal = |query: &DrawerQuery| {
            let found = search_drawers(&mut home().keeper, &ada(), query, 10);
            found.unwrap_err().to_string()
        };
        let blank = DrawerQuery { words: " \n".to_owned(), ..login() };
        assert_eq!(refusal(&blank), "the `query` is empty: give words to search for");
        let (since, before) = (Some("2021".to_owned()), Some("2020".to_owned()));
        let never = DrawerQuery { since, before, ..login() };
        let why = "`since` must be earlier than `before`: no time is between them";
        assert_eq!(refusal(&never), why);
    }

    #[test]
    fn a_limit_shortens_the_list_but_not_the_total() {
        let hits = search_drawers(&mut home().keeper, &ada(), &login(), 1).unwrap();
        assert_eq!((hits.best.len(), hits.total, hits.question.as_str()), (1, 4, "login"));
        let none = search_drawers(&mut home().keeper, &ada(), &login(), 0).unwrap();
        assert_eq!((none.best.len(), none.total), (0, 4));
    }

    #[test]
    fn a_home_without_palaces_has_no_hits() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(dir.path().join("home"), None);
        let hits = search_drawers(&mut keeper, &ada(), &login(), 10).unwrap();
        assert_eq!((hits.total, hits.question.as_str()), (0, "login"));
        assert_eq!(drawers_similar_to(&mut keeper, &ada(), LOGIN, None).unwrap(), []);
        assert!(!keeper.has_palaces());
    }

    #[test]
    fn a_threshold_decides_which_drawers_are_similar() {
        let similar = |threshold| {
            let text = "The login token lasts a day, and is renewed by every request.";
            drawers_similar_to(&mut home().keeper, &ada(), text, threshold).unwrap().len()
        };
        assert_eq!((similar(Some(1.0)), similar(Some(0.5))), (0, 1));
    }

    #[test]
    fn a_threshold_outside_of_0_to_1_is_refused() {
        for threshold in [-0.1, 90.0, f32::NAN] {
            let found = drawers_similar_to(&mut home().keeper, &ada(), LOGIN, Some(threshold));
            let why = format!("the `threshold` must be from 0 to 1, not {threshold}");
            assert_eq!(found.unwrap_err().to_string(), why);
        }
    }

    #[test]
    fn a_drawer_is_read_by_its_id_from_any_byte() {
        let mut home = home();
        let id = drawers_similar_to(&mut home.keeper, &ada(), LOGIN, None).unwrap()[0].location.id;
        let hit = home.run(|session| drawer_by_id(session, id, 7)).unwrap();
        assert_eq!((hit.text.as_str(), hit.passage_start), (LOGIN, 7));
        assert_eq!(home.run(|session| drawer_by_id(session, Ulid(1), 0)), None);
    }
}
