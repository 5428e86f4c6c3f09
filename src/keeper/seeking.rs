//! Searching the palace while walking, and opening what was found.

use crate::keeper::work::work_place;
use crate::keeper::{Caller, Keeper, Refusal, indexing};
use crate::model::{Layout, Opening, Palace, Sort};
use crate::render::{self, Found};
use crate::search::{Hit, Hits, Query, excerpt};
use crate::session::Standing;

/// How many characters of what was found are shown.
const EXCERPT: usize = 120;

impl Keeper {
    /// Searches everything but entities, for which there is a tool of their own
    /// (v2 section 3.8).
    pub(super) fn search(
        &mut self,
        by: &Caller,
        said: Option<&str>,
        at: &Standing,
    ) -> Result<String, Refusal> {
        let Some(said) = said else {
            return Ok("Say in `params` what to look for.".to_owned());
        };
        let held = self.at(&at.workspace)?;
        let asked = Query { words: said, most: Layout::OPENINGS, ..Query::default() };
        let Hits { best, total } = held.index().find(&asked, |it| it.sort() != Sort::Entity);
        let found: Vec<_> =
            best.iter().filter_map(|it| found(&held.palace, it, said, by)).collect();
        self.visit(by).openings = best.into_iter().map(|it| it.opening).collect();
        Ok(render::results(said, &found, total))
    }

    /// Opens what the last search or query found, by its place among that.
    /// `None`: nothing has that place.
    pub(super) fn open_result(
        &mut self,
        by: &Caller,
        at: &Standing,
        place: usize,
    ) -> Result<Option<String>, Refusal> {
        let page = match self.visit(by).openings.get(place).cloned() {
            None => return Ok(None),
            Some(Opening::Room(room)) => {
                let workspace = at.workspace.clone();
                self.visit(by).go(Standing::in_room(&workspace, room));
                return self.here(by).map(Some);
            }
            Some(Opening::Scroll(which)) => self.read(by, &at.workspace, &which)?,
            Some(Opening::Drawer(file)) => self.read_drawer(by, at, place, &file)?,
            Some(Opening::Diary(file)) => self.read_entry(by, &at.workspace, &file)?,
            Some(which @ (Opening::Task(_) | Opening::Process(_))) => {
                self.read_work(by, &at.workspace, &which)?
            }
            Some(Opening::Genus(name)) => self.list_genera(by, Some(&name))?,
            Some(Opening::Entity(name)) => self.get_entity(by, &name)?,
        };
        self.with_menu(by, &page).map(Some)
    }

    fn read_entry(&mut self, by: &Caller, key: &str, file: &str) -> Result<String, Refusal> {
        let diaries = &self.at(key)?.palace.diaries;
        Ok(match (diaries.get(file), diaries.agent_of(file)) {
            (Some(entry), Some(agent)) => render::entry(entry, agent, by.now),
            _ => "That page has been torn out since.".to_owned(),
        })
    }
}

/// Shows one thing that was found.
fn found(palace: &Palace, hit: &Hit, said: &str, by: &Caller) -> Option<Found> {
    let document = indexing::document(palace, &hit.opening)?;
    let age = document.written.map(|it| format!(", {}", render::ago(it, by.now)));
    let age = age.unwrap_or_default();
    let place = match &hit.opening {
        Opening::Room(id) => format!("room {id}"),
        Opening::Scroll(which) => format!("scroll in {}{age}", palace.name_of(&which.room)),
        Opening::Drawer(file) => {
            let shelf = palace.drawers.shelf_of(file)?;
            format!("drawer in {}/{}{age}", shelf.wing, shelf.room)
        }
        Opening::Diary(file) => format!("diary of {}{age}", palace.diaries.agent_of(file)?),
        Opening::Task(_) | Opening::Process(_) => work_place(palace, &hit.opening, &age)?,
        Opening::Genus(_) => "genus".to_owned(),
        Opening::Entity(_) => palace.graph.get_opening(&hit.opening)?.genus.clone(),
    };
    let excerpt = excerpt(&document.text, hit.passage.clone(), said, EXCERPT);
    let title = match document.title.is_empty() {
        true => render::title(&document.text),
        false => document.title.into_owned(),
    };
    Some(Found { title, place, excerpt })
}
