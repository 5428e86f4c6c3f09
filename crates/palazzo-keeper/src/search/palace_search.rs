//! Searches everything in a palace, for the command line and for pages.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::search_documents;
use crate::search::{contains_phrase, exact_phrase, room_of_item};
use crate::semantic::vector_store::EmbeddedQuery;
use crate::work::describe_work_item;
use crate::{RankingReport, Refusal, SearchQuery, Session};
use palazzo_core::format::file_of_item;
use palazzo_core::model::{ItemId, ItemKind, Palace, Provenance, RoomId, ScrollId};
use palazzo_core::render::{self, HitView};
use palazzo_core::search::{Document, Hit, Hits, Query, most_matching_text, snippet};

/// The share of its similarity that a scroll keeps when a newer one replaces it.
const REPLACED_SHARE: f32 = 0.7;
/// Maximum number of characters of an excerpt.
const PASSAGE_CHARS: usize = 240;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// The best hits, best first.
    pub best: Vec<SearchHit>,
    /// How many items match.
    pub total: usize,
    /// How the hits were ranked, in a palace that names a model.
    pub ranker: Option<RankingReport>,
    /// The folder of the palace.
    pub root: PathBuf,
}

/// An item that matches a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// Its kind.
    pub kind: ItemKind,
    /// Its file, relative to the root of the palace.
    pub file: Option<String>,
    /// The slugs of its wing and room.
    pub wing_and_room: (Option<String>, Option<String>),
    /// When it was written, if that is known.
    pub written: Option<DateTime<Utc>>,
    /// Its author and its origin.
    pub provenance: Provenance,
    /// How well it matches, from 0 to 1.
    pub similarity: f32,
    /// Its title, its location and the best passage.
    pub display: HitView,
}

/// Which index a search uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexUse {
    /// An index of all words, which later searches use too.
    Shared,
    /// An index for this query alone.
    Once,
}

/// Searches everything once, for the command line; returns the best `limit` hits. Without words,
/// lists the items of a time, newest first.
pub fn search_palace(
    session: &mut Session<'_>,
    query: &SearchQuery,
    limit: usize,
) -> Result<SearchResults, Refusal> {
    let now = session.caller.now;
    let (Hits { best, total }, ranker) = match query.has_words() {
        true => run_search(session, query, limit, IndexUse::Once)?,
        false => (list_by_time(session, query, limit)?, None),
    };
    session.palace.load_provenance()?;
    let open = &*session.palace;
    let hit = |it: &Hit| Some((it.item.clone(), search_hit(open, it, &query.words, now)?));
    let mut best: Vec<_> = best.iter().filter_map(hit).collect();
    tell_drawers_apart(open, best.iter_mut().map(|(item, it)| (&*item, &mut it.display)));
    let best = best.into_iter().map(|(_, it)| it).collect();
    let root = session.palace.store().palace_folder().to_owned();
    Ok(SearchResults { best, total, ranker, root })
}

/// Searches everything for a page; returns the best `limit` hits, and how many items match.
pub(crate) fn search_for_page(
    session: &mut Session<'_>,
    text: &str,
    limit: usize,
) -> Result<(Vec<(ItemId, HitView)>, usize), Refusal> {
    let query = SearchQuery::parse(text)?;
    if !query.has_words() {
        return Ok((Vec::new(), 0));
    }
    let now = session.caller.now;
    let (Hits { best, total }, _) = run_search(session, &query, limit, IndexUse::Shared)?;
    session.palace.load_provenance()?;
    let open = &*session.palace;
    let view = |it: Hit| {
        let view = describe_hit(open, &it, &query.words, (PASSAGE_CHARS, now))?;
        Some((it.item, view))
    };
    let mut best: Vec<_> = best.into_iter().filter_map(view).collect();
    tell_drawers_apart(open, best.iter_mut().map(|(item, it)| (&*item, it)));
    Ok((best, total))
}

/// Adds to drawers with the same title and place when each was filed. They are mostly versions of one
/// document, with one date.
pub(crate) fn tell_drawers_apart<'h>(
    open: &LoadedPalace,
    hits: impl Iterator<Item = (&'h ItemId, &'h mut HitView)>,
) {
    let mut alike: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (item, view) in hits {
        let looks = (view.title.clone(), view.note.clone());
        alike.entry(looks).or_default().push((item, view));
    }
    for (item, view) in alike.into_values().filter(|it| it.len() > 1).flatten() {
        let ItemId::Drawer(file) = item else { continue };
        let filed = open.palace.drawers.filing_time_from_id(file);
        let filed = filed.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true));
        view.note.extend(filed.map(|it| format!(", filed {it}")));
    }
}

/// Lists the rooms and scrolls that mention a name, at most `limit`.
pub(crate) fn find_mentions(
    open: &LoadedPalace,
    name: &str,
    limit: usize,
    now: DateTime<Utc>,
) -> Vec<(ItemId, HitView)> {
    let kinds = &[ItemKind::Room, ItemKind::Scroll];
    let query = Query { text: name, limit: 4 * limit, kinds, ..Query::default() };
    let (palace, lower) = (&open.palace, name.to_lowercase());
    let mentions = |it: &Hit| {
        let document = search_documents::item_document(palace, &it.item);
        document.is_some_and(|it| it.text.to_lowercase().contains(&lower))
    };
    let hits = open.index().find(&query, |_| true).best.into_iter().filter(mentions).take(limit);
    let view = |it: Hit| Some((it.item.clone(), describe_hit(open, &it, name, (0, now))?));
    hits.filter_map(view).collect()
}

/// Runs a search. Returns the best `limit` hits, and how they were ranked if the palace names a
/// model.
pub(crate) fn run_search(
    session: &mut Session<'_>,
    query: &SearchQuery,
    limit: usize,
    index_use: IndexUse,
) -> Result<(Hits, Option<RankingReport>), Refusal> {
    let (since, before) = query.time_range(session.caller)?;
    let vector_store = session.palace.vector_store(session.models);
    let open = &*session.palace;
    let rooms = query.matching_rooms(&open.palace)?;
    let embedded = vector_store.as_ref().map(|it| open.embed_query(it, &query.words));
    let exact = exact_phrase(&query.words);
    let vectors = embedded.as_ref().filter(|_| exact.is_none());
    let index_query = Query {
        text: &query.words,
        limit,
        kinds: &query.kinds,
        since,
        before,
        vectors: vectors.and_then(EmbeddedQuery::query_and_vectors),
        ..Query::default()
    };
    let is_in_rooms = |it: &ItemId| is_in_rooms(&open.palace, it, rooms.as_ref());
    let has_phrase = |it: &ItemId| match &exact {
        Some(phrase) => item_contains_phrase(&open.palace, it, phrase),
        None => true,
    };
    let own_index = match index_use {
        IndexUse::Once => Some(search_documents::build_index_for_query(&open.palace, &query.words)),
        IndexUse::Shared => None,
    };
    let index = own_index.as_ref().unwrap_or_else(|| open.index());
    let mut hits = index.find(&index_query, |it| is_in_rooms(it) && has_phrase(it));
    rank_replaced_scrolls_lower(&open.palace, &mut hits);
    Ok((hits, embedded.map(|it| it.ranker)))
}

/// Lists the items of the times, kinds and rooms of a query, newest first.
fn list_by_time(session: &Session<'_>, query: &SearchQuery, limit: usize) -> Result<Hits, Refusal> {
    let (since, before) = query.time_range(session.caller)?;
    let palace = &session.palace.palace;
    let rooms = query.matching_rooms(palace)?;
    let is_then = |it: &DateTime<Utc>| {
        since.is_none_or(|since| *it >= since) && before.is_none_or(|before| *it < before)
    };
    let is_wanted = |it: &ItemId| {
        let is_kind = query.kinds.is_empty() || query.kinds.contains(&it.kind());
        is_kind && is_in_rooms(palace, it, rooms.as_ref())
    };
    let written = search_documents::all_documents(palace)
        .filter_map(|it| Some((it.written.filter(is_then)?, it.item, it.text.len())));
    let mut written: Vec<_> = written.filter(|(_, it, _)| is_wanted(it)).collect();
    written.sort_unstable_by(|a, b| b.cmp(a));
    let hit = |(_, item, length)| Hit { item, similarity: 1.0, passage: 0..length };
    let total = written.len();
    Ok(Hits { best: written.into_iter().take(limit).map(hit).collect(), total })
}

/// Returns whether an item is in one of these rooms; `None` admits all.
pub(crate) fn is_in_rooms(
    palace: &Palace,
    item: &ItemId,
    rooms: Option<&BTreeSet<RoomId>>,
) -> bool {
    rooms.is_none_or(|rooms| room_of_item(palace, item).is_some_and(|it| rooms.contains(it)))
}

/// Lowers the similarity of scrolls that newer ones replace.
fn rank_replaced_scrolls_lower(palace: &Palace, hits: &mut Hits) {
    let is_replaced = |it: &ItemId| match it {
        ItemId::Scroll(which) => is_replaced(palace, which),
        _ => false,
    };
    let mut has_replaced = false;
    for hit in hits.best.iter_mut().filter(|it| is_replaced(&it.item)) {
        hit.similarity *= REPLACED_SHARE;
        has_replaced = true;
    }
    if has_replaced {
        hits.best.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
    }
}

fn is_replaced(palace: &Palace, which: &ScrollId) -> bool {
    let scroll = palace.scroll(which);
    scroll.is_some_and(|it| palace.replacement_of_scroll(&which.room, it).is_some())
}

/// Returns whether the title or the text of an item contains a phrase.
pub(crate) fn item_contains_phrase(palace: &Palace, item: &ItemId, phrase: &str) -> bool {
    let document = search_documents::item_document(palace, item);
    document
        .is_some_and(|it| contains_phrase(&it.title, phrase) || contains_phrase(&it.text, phrase))
}

fn search_hit(
    open: &LoadedPalace,
    hit: &Hit,
    words: &str,
    now: DateTime<Utc>,
) -> Option<SearchHit> {
    let palace = &open.palace;
    let document = search_documents::item_document(palace, &hit.item)?;
    let file = file_of_item(palace, &hit.item);
    Some(SearchHit {
        kind: hit.item.kind(),
        provenance: file.as_ref().map(|it| open.provenance(it)).unwrap_or_default(),
        file,
        wing_and_room: (document.wing.map(Into::into), document.room.map(Into::into)),
        written: document.written,
        similarity: hit.similarity,
        display: describe_hit(open, hit, words, (PASSAGE_CHARS, now))?,
    })
}

/// Describes a hit with an excerpt of at most `limit` characters, as of `now`.
pub(crate) fn describe_hit(
    open: &LoadedPalace,
    hit: &Hit,
    words: &str,
    (limit, now): (usize, DateTime<Utc>),
) -> Option<HitView> {
    let palace = &open.palace;
    let document = search_documents::item_document(palace, &hit.item)?;
    let age = document.written.map(|it| format!(", {}", render::age_or_day(it, now)));
    let age = age.unwrap_or_default();
    let place = match &hit.item {
        ItemId::Room(id) => format!("room {id}"),
        ItemId::Scroll(which) => {
            let replaced =
                if is_replaced(palace, which) { ", replaced by a newer one" } else { "" };
            let room = render::name_in_list(&palace.room_name(&which.room));
            format!("scroll in {room}{age}{replaced}")
        }
        ItemId::Drawer(file) => {
            let shelf = palace.drawers.wing_room_of_file(file)?;
            let shelf = render::title_after_label(&format!("{}/{}", shelf.wing, shelf.room));
            format!("drawer in {shelf}{age}")
        }
        ItemId::Diary(file) => {
            let agent = render::name_in_list(palace.diaries.agent_of_file(file)?);
            format!("diary of {agent}{age}")
        }
        ItemId::Task(_) | ItemId::Process(_) => describe_work_item(palace, &hit.item, &age)?,
        ItemId::Genus(_) => "genus".to_owned(),
        ItemId::Entity(_) => {
            let entity = palace.graph.entity_for_item(&hit.item)?;
            let status = entity.status.as_deref().map(render::name_in_list);
            let status = status.map(|it| format!(", {it}")).unwrap_or_default();
            render::name_in_list(&entity.genus) + &status
        }
    };
    let place = place + &provenance_of_hit(open, &hit.item);
    let (text, passage) = passage_of_hit(palace, hit, &document, words);
    let snippet = snippet(&text, passage, words, limit);
    Some(HitView { title: title_of_hit(palace, hit, document), note: place, snippet })
}

/// Returns the title of a hit; that of a text without one is its first words.
fn title_of_hit(palace: &Palace, hit: &Hit, document: Document<'_>) -> String {
    let drawer = match &hit.item {
        ItemId::Drawer(file) => palace.drawers.drawer_in_file(file),
        _ => None,
    };
    match (drawer, document.title.is_empty()) {
        (Some(drawer), _) => render::drawer_title(drawer),
        (None, true) => render::text_title(&document.text),
        (None, false) => document.title.into_owned(),
    }
}

/// Returns the text of a hit and the passage that fits best. Of an entity it is all that its file says: an
/// attribute or a relation may answer a query.
pub(crate) fn passage_of_hit<'a>(
    palace: &Palace,
    hit: &Hit,
    document: &'a Document<'_>,
    words: &str,
) -> (Cow<'a, str>, Range<usize>) {
    let entity = palace.graph.entity_for_item(&hit.item);
    let facts = entity.map(|it| {
        let observations = it.observations.iter().cloned();
        let lines = render::attribute_and_relation_lines(it).map(|it| it + ";").chain(observations);
        lines.collect::<Vec<_>>().join("\n")
    });
    match facts.filter(|it| most_matching_text([it.as_str()], words).is_some()) {
        Some(facts) => {
            let all = 0..facts.len();
            (facts.into(), all)
        }
        None => (document.text.as_ref().into(), hit.passage.clone()),
    }
}

/// Renders where a hit comes from, after a comma; empty if that is unknown.
fn provenance_of_hit(open: &LoadedPalace, item: &ItemId) -> String {
    let Some(file) = file_of_item(&open.palace, item) else { return String::new() };
    let provenance = open.provenance(&file);
    match (item, render::short_provenance(&provenance)) {
        // The name of a diary is that of its author.
        (ItemId::Diary(_), _) => render::origin_suffix(&provenance),
        (_, text) if text.is_empty() => text,
        (_, text) => format!(", {text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    /// A palace in which items of every kind mention a heron.
    fn home() -> TestHome {
        TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\ndescription: A heron of bronze.\n"),
            (
                "scrolls/hall/a.md",
                "---\ntitle: On birds\nwritten: 2026-02-27T12:00:00Z\nby: bob\n---\n\nA heron stood.\n",
            ),
            ("drawers/river/bank/2026-02-01-note.md", "The heron ate a frog."),
            ("diary/claude/2026-02-02-note.md", "I saw a heron."),
            ("tasks/feed.yaml", "title: Feed the heron\n"),
            ("processes/count.yaml", "name: Count each heron\nsteps: [Walk, Count]\n"),
            ("genera/bird.yaml", "name: Bird\ndescription: Such as a heron.\n"),
            ("entities/bird/heron.yaml", "name: Grey heron\ngenus: Bird\n"),
        ])
    }

    fn search(query: &str, limit: usize) -> Result<SearchResults, Refusal> {
        let query = SearchQuery::parse(query).unwrap();
        home().run(|session| search_palace(session, &query, limit))
    }

    fn files(results: &SearchResults) -> Vec<&str> {
        let mut files: Vec<_> = results.best.iter().filter_map(|it| it.file.as_deref()).collect();
        files.sort_unstable();
        files
    }

    #[test]
    fn a_search_finds_items_of_every_kind() {
        let results = search("heron", 30).unwrap();
        let mut kinds: Vec<_> = results.best.iter().map(|it| it.kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ItemKind::ALL);
        assert_eq!(results.total, 8);
    }

    #[test]
    fn a_limit_shortens_the_list_but_not_the_total() {
        let results = search("heron", 2).unwrap();
        assert_eq!((results.best.len(), results.total), (2, 8));
        assert!(results.best[0].similarity >= results.best[1].similarity);
    }

    #[test]
    fn a_room_filter_keeps_the_room_and_its_scrolls() {
        let results = search("heron room:HALL", 30).unwrap();
        assert_eq!(files(&results), ["rooms/hall.yaml", "scrolls/hall/a.md"]);
        let refusal = search("heron room:hal", 30).unwrap_err().to_string();
        assert!(refusal.contains("did you mean `hall`?"), "{refusal}");
    }

    #[test]
    fn a_kind_filter_and_a_date_filter_are_combined() {
        let results = search("heron kind:scroll kind:drawer since:2026-02-15", 30).unwrap();
        assert_eq!(files(&results), ["scrolls/hall/a.md"]);
        let results = search("heron kind:scroll until:2026-02-27", 30).unwrap();
        assert_eq!(files(&results), [""; 0]);
    }

    #[test]
    fn a_hit_shows_where_it_is_and_how_old_it_is() {
        let places = |query: &str| {
            let hits = search(query, 1).unwrap().best;
            hits.into_iter().map(|it| it.display.note).collect::<Vec<_>>()
        };
        assert_eq!(places("heron kind:scroll"), ["scroll in Hall, 2 days ago, by bob"]);
        assert_eq!(places("heron kind:process"), ["process, step 1/2"]);
        assert_eq!(places("heron kind:entity"), ["Bird"]);
        assert_eq!(places("heron kind:room"), ["room hall"]);
    }
}
