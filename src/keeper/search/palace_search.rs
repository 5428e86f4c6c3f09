//! Searching the palace while walking, and opening what was found.

use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value, json};

use crate::format::room_path;
use crate::keeper::graph::describe::{describe_genus, get_entity};
use crate::keeper::palace::OpenPalace;
use crate::keeper::palace::search_documents;
use crate::keeper::search::search_query::room_of_item;
use crate::keeper::semantic::models::ModelCache;
use crate::keeper::semantic::vectors::EmbeddedQuery;
use crate::keeper::work::list::{describe_work_item, render_work_item};
use crate::keeper::{Caller, Keeper, Ranker, Refusal, SearchQuery};
use crate::model::{ItemId, ItemKind, Layout, Palace};
use crate::render::{self, HitView, display_path};
use crate::search::{Hit, Hits, Query, snippet};
use crate::session::Location;

/// How many characters of what was found are shown in a list, and how many where
/// there is room.
const LIST_EXCERPT_CHARS: usize = 120;
const PASSAGE_CHARS: usize = 240;

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// The best, best first.
    pub best: Vec<SearchHit>,
    /// How many things fit.
    pub total: usize,
    /// By what, where a model is named.
    pub ranker: Option<Ranker>,
    root: PathBuf,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// What sort of thing it is.
    pub kind: ItemKind,
    /// Its file.
    pub file: Option<String>,
    /// The wing and the room it stands in, by slug.
    pub wing_and_room: (Option<String>, Option<String>),
    /// When it was written, if that is known.
    pub written: Option<DateTime<Utc>>,
    /// How well it fits, from 0 to 1.
    pub similarity: f32,
    /// What it is called and where it is, and the passage that fits.
    pub display: HitView,
}

impl SearchResults {
    /// Renders what was found as a page, with paths from `here`.
    pub fn to_text(&self, here: &Path) -> String {
        let path = |it: &SearchHit| it.file.as_ref().map(|it| display_path(here, &self.root, it));
        let found: Vec<_> = self.best.iter().map(|it| (it.display.clone(), path(it))).collect();
        let ranker = self.ranker.as_ref().map(|it| format!("{it}\n"));
        render::cli_search_results(&found, self.total) + &ranker.unwrap_or_default()
    }

    /// Renders what was found as JSON, with paths from `here`.
    pub fn to_json(&self, here: &Path) -> String {
        let spelled = self.best.iter().map(|it| {
            json!({
                "kind": it.kind.to_string(),
                "title": it.display.title,
                "wing": it.wing_and_room.0,
                "room": it.wing_and_room.1,
                "written": it.written.map(|it| it.to_rfc3339_opts(SecondsFormat::Secs, true)),
                "passage": it.display.snippet,
                "similarity": (f64::from(it.similarity) * 1000.0).round() / 1000.0,
                "file": it.file.as_ref().map(|it| display_path(here, &self.root, it)),
            })
        });
        let results: Vec<Value> = spelled.collect();
        let mut value = json!({ "results": results, "total": self.total });
        if let Some(ranker) = &self.ranker {
            value["ranker"] = ranker.name().into();
            if let Some(remark) = ranker.remark() {
                value["remark"] = remark.into();
            }
        }
        format!("{value:#}\n")
    }
}

impl Keeper {
    /// Searches everything but entities, for which there is a tool of their own
    /// (v2 section 3.8).
    pub(crate) fn search_from_menu(
        &mut self,
        by: &Caller,
        said: Option<&str>,
        at: &Location,
    ) -> Result<String, Refusal> {
        let Some(said) = said else {
            return Ok("Say in `params` what to look for.".to_owned());
        };
        let mut sought = SearchQuery::parse(said)?;
        if sought.words.trim().is_empty() {
            return Ok("Say in `params` what to look for, too.".to_owned());
        }
        if sought.kinds.is_empty() {
            sought.kinds = ItemKind::ALL.into_iter().filter(|it| *it != ItemKind::Entity).collect();
        }
        let models = self.models.clone();
        let held = self.open_palace(&at.workspace)?;
        let (Hits { best, total }, ranker) =
            run_search(held, &sought, Layout::MAX_RESULTS, by.now, &models)?;
        let shown =
            |it: &Hit| describe_hit(&held.palace, it, &sought.words, (LIST_EXCERPT_CHARS, by.now));
        let found: Vec<_> = best.iter().filter_map(shown).collect();
        self.visit(by).listed_items = best.into_iter().map(|it| it.item).collect();
        let ranker = ranker.map(|it| format!("{it}.\n")).unwrap_or_default();
        Ok(render::search_results(said, &found, total) + &ranker)
    }

    /// Searches everything, for a person at a terminal: the best `most` of what
    /// fits.
    pub fn search_palace(
        &mut self,
        by: &Caller,
        sought: &SearchQuery,
        most: usize,
    ) -> Result<SearchResults, Refusal> {
        if sought.words.trim().is_empty() {
            return Err(Refusal::Invalid("say what to look for".to_owned()));
        }
        let models = self.models.clone();
        let key = self.current_workspace(by)?;
        let held = self.open_palace(&key)?;
        held.catch_up()?;
        let (Hits { best, total }, ranker) = run_search(held, sought, most, by.now, &models)?;
        let best = best.iter().filter_map(|it| search_hit(&held.palace, it, &sought.words, by.now));
        let (best, root) = (best.collect(), held.store().root().to_owned());
        Ok(SearchResults { best, total, ranker, root })
    }

    /// Opens what the last search or query found, by its place among that.
    /// `None`: nothing has that place.
    pub(crate) fn open_search_result(
        &mut self,
        by: &Caller,
        at: &Location,
        place: usize,
    ) -> Result<Option<String>, Refusal> {
        let page = match self.visit(by).listed_items.get(place).cloned() {
            None => return Ok(None),
            Some(ItemId::Room(room)) => {
                let workspace = at.workspace.clone();
                self.visit(by).go_to(Location::in_room(&workspace, room));
                return self.render_here(by).map(Some);
            }
            Some(ItemId::Scroll(which)) => self.read_scroll(by, &at.workspace, &which)?,
            Some(ItemId::Drawer(file)) => self.read_drawer_part(by, at, place, &file)?,
            Some(ItemId::Diary(file)) => self.read_diary_entry(by, &at.workspace, &file)?,
            Some(which @ (ItemId::Task(_) | ItemId::Process(_))) => {
                render_work_item(self.open_palace(&at.workspace)?, &which, by.now)?
            }
            Some(ItemId::Genus(name)) => {
                let session = self.session(by)?;
                let genus = describe_genus(&session, &name)?;
                render::genus(genus.definition, &genus.count)
            }
            Some(ItemId::Entity(name)) => {
                render::entity(&get_entity(&mut self.session(by)?, &name)?, 1, by.now)
            }
        };
        self.with_menu(by, &page).map(Some)
    }

    fn read_diary_entry(&mut self, by: &Caller, key: &str, file: &str) -> Result<String, Refusal> {
        let diaries = &self.open_palace(key)?.palace.diaries;
        Ok(match (diaries.get(file), diaries.agent_of(file)) {
            (Some(entry), Some(agent)) => render::diary_entry(entry, agent, by.now),
            _ => "That page has been torn out since.".to_owned(),
        })
    }
}

/// Finds what is sought, the best `most` of it, and says by what if it may be by
/// meaning.
fn run_search(
    held: &mut OpenPalace,
    sought: &SearchQuery,
    most: usize,
    now: DateTime<Utc>,
    models: &ModelCache,
) -> Result<(Hits, Option<Ranker>), Refusal> {
    let (since, before) = sought.time_range(now)?;
    let mind = held.vector_store(models);
    let places = sought.matching_rooms(&held.palace)?;
    let understood = mind.as_ref().map(|it| held.embed_query(it, &sought.words));
    let asked = Query {
        text: &sought.words,
        limit: most,
        kinds: &sought.kinds,
        since,
        before,
        vectors: understood.as_ref().and_then(EmbeddedQuery::query_and_vectors),
        ..Query::default()
    };
    let is_there = |it: &ItemId| match &places {
        Some(places) => room_of_item(&held.palace, it).is_some_and(|it| places.contains(it)),
        None => true,
    };
    let hits = held.index().find(&asked, is_there);
    Ok((hits, understood.map(|it| it.ranker)))
}

/// Tells of one thing that was found.
fn search_hit(palace: &Palace, hit: &Hit, words: &str, now: DateTime<Utc>) -> Option<SearchHit> {
    let document = search_documents::item_document(palace, &hit.item)?;
    Some(SearchHit {
        kind: hit.item.kind(),
        file: file_of_item(palace, &hit.item),
        wing_and_room: (document.wing.map(Into::into), document.room.map(Into::into)),
        written: document.written,
        similarity: hit.similarity,
        display: describe_hit(palace, hit, words, (PASSAGE_CHARS, now))?,
    })
}

/// Returns the file in which one can read of something.
fn file_of_item(palace: &Palace, opening: &ItemId) -> Option<String> {
    match opening {
        ItemId::Room(id) => Some(room_path(id)),
        ItemId::Scroll(which) => palace.file_of_scroll(which).map(str::to_owned),
        ItemId::Drawer(file) | ItemId::Diary(file) | ItemId::Task(file) | ItemId::Process(file) => {
            Some(file.clone())
        }
        ItemId::Genus(name) => palace.graph.file_of_genus_definition(name).map(str::to_owned),
        ItemId::Entity(name) => palace.graph.file_of_entity(name).map(str::to_owned),
    }
}

/// Shows one thing that was found, so many characters of it, at that moment.
fn describe_hit(
    palace: &Palace,
    hit: &Hit,
    words: &str,
    (most, now): (usize, DateTime<Utc>),
) -> Option<HitView> {
    let document = search_documents::item_document(palace, &hit.item)?;
    let age = document.written.map(|it| format!(", {}", render::ago(it, now)));
    let age = age.unwrap_or_default();
    let place = match &hit.item {
        ItemId::Room(id) => format!("room {id}"),
        ItemId::Scroll(which) => format!("scroll in {}{age}", palace.room_name(&which.room)),
        ItemId::Drawer(file) => {
            let shelf = palace.drawers.wing_room_of_file(file)?;
            format!("drawer in {}/{}{age}", shelf.wing, shelf.room)
        }
        ItemId::Diary(file) => format!("diary of {}{age}", palace.diaries.agent_of(file)?),
        ItemId::Task(_) | ItemId::Process(_) => describe_work_item(palace, &hit.item, &age)?,
        ItemId::Genus(_) => "genus".to_owned(),
        ItemId::Entity(_) => palace.graph.entity_for_item(&hit.item)?.genus.clone(),
    };
    let excerpt = snippet(&document.text, hit.passage.clone(), words, most);
    let title = match document.title.is_empty() {
        true => render::drawer_title(&document.text),
        false => document.title.into_owned(),
    };
    Some(HitView { title, place, snippet: excerpt })
}
