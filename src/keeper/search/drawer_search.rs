//! Finding drawers: by what they are about, and by how much they are alike.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use ulid::Ulid;

use crate::keeper::mempalace::drawers::{drawer_location, find_similar_drawers, validate_text};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::search_documents::drawer_facet;
use crate::keeper::search::search_query::parse_time_range;
use crate::keeper::semantic::vectors::EmbeddedQuery;
use crate::keeper::{Caller, DrawerLocation, Keeper, Ranker, Refusal, SimilarDrawer};
use crate::model::{ItemId, ItemKind, WingRoom};
use crate::search::{DUPLICATE_THRESHOLD, Hit, Query, extract_question};

/// What drawers are searched for.
#[derive(Clone, Debug, Default)]
pub struct DrawerQuery {
    /// What they are about.
    pub words: String,
    /// Only those of this wing, exactly.
    pub wing: Option<String>,
    /// Only those of rooms of this name, exactly.
    pub room: Option<String>,
    /// Only those that were filed at this date or later.
    pub since: Option<String>,
    /// Only those that were filed before this date.
    pub before: Option<String>,
}

/// The drawers that were found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawerHits {
    /// The best, best first.
    pub best: Vec<DrawerHit>,
    /// How many there are.
    pub total: usize,
    /// What was asked, without what stands before and behind a long question.
    pub question: String,
    /// By what they were found, where a model is named.
    pub ranker: Option<Ranker>,
}

/// A drawer that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawerHit {
    /// The drawer.
    pub location: DrawerLocation,
    /// What it says.
    pub text: String,
    /// Where the text comes from.
    pub source: Option<String>,
    /// When it was filed, if that is known.
    pub filed: Option<DateTime<Utc>>,
    /// How well it fits, from 0 to 1.
    pub similarity: f64,
    /// Where in the text that is which fits best, in bytes.
    pub passage_start: usize,
}

impl Keeper {
    /// Finds the drawers that some words fit, the best `most` of them.
    pub fn search_drawers(
        &mut self,
        by: &Caller,
        wanted: &DrawerQuery,
        most: usize,
    ) -> Result<DrawerHits, Refusal> {
        if wanted.words.trim().is_empty() {
            return Err(Refusal::Invalid("the `query` is empty: say what to look for".to_owned()));
        }
        let (since, before) = parse_time_range(
            wanted.since.as_deref(),
            ("before", wanted.before.as_deref()),
            by.now,
        )?;
        let asked = extract_question(&wanted.words).trim().to_owned();
        let Some(key) = self.current_workspace_if_any(by)? else {
            return Ok(DrawerHits { question: asked, ..DrawerHits::default() });
        };
        let models = self.models.clone();
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let mind = held.vector_store(&models);
        let understood = mind.as_ref().map(|it| held.embed_query(it, &wanted.words));
        let drawers = &held.palace.drawers;
        // Where each drawer is filed is dear to find out: the folder's name is what
        // most of those in it say. There are fewer shelves than drawers.
        let shelves = (wanted.wing.is_some() || wanted.room.is_some()).then(|| {
            let shelves = drawers.filed_under_matching(|it| matches_shelf(it, wanted)).into_iter();
            let facets: HashSet<_> = shelves.map(|(room, said)| drawer_facet(room, said)).collect();
            held.index().facet_filter(|it| facets.contains(it))
        });
        let query = Query {
            text: &wanted.words,
            limit: most,
            kinds: &[ItemKind::Drawer],
            facets: shelves.as_deref(),
            since,
            before,
            vectors: understood.as_ref().and_then(EmbeddedQuery::query_and_vectors),
            ..Query::default()
        };
        let hits = held.index().find(&query, |_| true);
        let best = hits.best.iter().filter_map(|it| drawer_hit(held, it)).collect();
        Ok(DrawerHits {
            best,
            total: hits.total,
            question: asked,
            ranker: understood.map(|it| it.ranker),
        })
    }

    /// Returns a drawer by its id, as if it was found at `from`; `None`: no drawer has
    /// that id.
    pub fn drawer_by_id(
        &mut self,
        by: &Caller,
        id: Ulid,
        from: usize,
    ) -> Result<Option<DrawerHit>, Refusal> {
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(None) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let file = held.palace.drawers.files_with_id(id).next().map(str::to_owned);
        let hit =
            file.map(|it| Hit { item: ItemId::Drawer(it), similarity: 1.0, passage: from..from });
        Ok(hit.and_then(|it| drawer_hit(held, &it)))
    }

    /// Finds the drawers that are like a text: by 0.9, the same but for their
    /// wording, or by `least`.
    pub fn drawers_similar_to(
        &mut self,
        by: &Caller,
        text: &str,
        least: Option<f32>,
    ) -> Result<Vec<SimilarDrawer>, Refusal> {
        validate_text("content", text)?;
        let least = least.unwrap_or(DUPLICATE_THRESHOLD);
        if !(0.0..=1.0).contains(&least) {
            let why = format!("the `threshold` is from 0 to 1, not {least}");
            return Err(Refusal::Invalid(why));
        }
        let Some(key) = self.current_workspace_if_any(by)? else { return Ok(Vec::new()) };
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        Ok(find_similar_drawers(held, text, least))
    }
}

fn matches_shelf(shelf: &WingRoom, wanted: &DrawerQuery) -> bool {
    let same = |asked: Option<&String>, name: &String| asked.is_none_or(|it| it == name);
    same(wanted.wing.as_ref(), &shelf.wing) && same(wanted.room.as_ref(), &shelf.room)
}

fn drawer_hit(held: &OpenPalace, hit: &Hit) -> Option<DrawerHit> {
    let ItemId::Drawer(file) = &hit.item else { return None };
    let drawer = held.palace.drawers.get(file)?;
    Some(DrawerHit {
        location: drawer_location(held, file)?,
        text: drawer.text.clone(),
        source: drawer.source.clone(),
        filed: drawer.filed,
        similarity: f64::from(hit.similarity),
        passage_start: hit.passage.start,
    })
}
