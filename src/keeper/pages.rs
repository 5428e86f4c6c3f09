//! The pages of the palaces of a home: collects what they show.

mod commit;
mod entity;
mod frame;
mod lists;
pub(crate) mod request;
mod room;
mod side_by_side;

use maud::Markup;

use crate::keeper::pages::frame::{finding_count, time_bar};
use crate::keeper::pages::request::{PageRequest, PageTarget};
use crate::keeper::workspaces::as_of::open_as_of;
use crate::keeper::{Caller, Keeper, Refusal, Session};
use crate::model::{CommitDetails, ItemId, Tool};
use crate::view::{self, Links, PageFrame, PageKind};

/// The content of a page, and what its frame needs to know about it.
struct PageContent {
    title: String,
    place: Option<String>,
    kind: Option<PageKind>,
    item: Option<ItemId>,
    body: Markup,
}

/// The session of a page: the palace that it shows, and the links.
struct PageSession<'s, 'k> {
    session: &'s mut Session<'k>,
    links: &'s Links,
    /// The newest commits up to the shown one.
    commits: &'s [CommitDetails],
    tools: &'s [Tool],
    /// The names of all palaces of the home.
    workspaces: &'s [String],
}

/// Renders a page as a complete HTML document. `tools` are those that actions can call.
pub fn render_page(
    keeper: &mut Keeper,
    by: &Caller,
    request: &PageRequest,
    tools: &[Tool],
) -> Result<String, Refusal> {
    let Some(key) = key_of_page(keeper, request)? else { return palaces_document(keeper) };
    let workspaces = keeper.workspace_keys_and_names()?;
    let present = keeper.session_in(&key, by)?.palace.newest_commits()?;
    let shown_key = match &request.at {
        Some(at) => open_as_of(keeper, by, &key, at)?,
        None => key.clone(),
    };
    let mut session = keeper.session_without_refresh(&shown_key, by)?;
    session.palace.update_file_history_cache()?;
    session.palace.find_renamed_rooms()?;
    let at = session.palace.store().as_of_commit().cloned();
    let past = match at.as_ref().map(|at| present.iter().position(|it| it.summary.id == at.id)) {
        None => present.clone(),
        Some(Some(place)) => present[place..].to_vec().into(),
        Some(None) => session.palace.newest_commits()?,
    };
    let time = time_bar(&present, at.as_ref(), &past);
    let links = Links::Server { workspace: key.clone(), at: at.map(|it| it.short) };
    let mut page = PageSession {
        session: &mut session,
        links: &links,
        commits: &past,
        tools,
        workspaces: &workspaces,
    };
    let content = page.content(&request.target)?;
    let findings = finding_count(&mut page)?;
    let palace = &session.palace.palace;
    let frame = PageFrame {
        links: &links,
        palace: palace.settings.name.clone(),
        workspace: key,
        kind: content.kind,
        item: content.item,
        title: content.title,
        place: content.place,
        findings,
        tasks: frame::count_open_work(palace),
        time,
        now: by.now,
    };
    Ok(view::page_document(&frame, &content.body))
}

/// Renders a refusal as a page; `home` is the link to the first page.
pub fn render_refusal_page(title: &str, refusal: &str) -> String {
    view::plain_document(title, &view::refusal_page(refusal))
}

/// Returns the key of the palace of a page; `None` for the list of palaces.
fn key_of_page(keeper: &Keeper, request: &PageRequest) -> Result<Option<String>, Refusal> {
    if let Some(name) = &request.workspace {
        return keeper.find_workspace(name).map(|it| Some(it.key));
    }
    let all = keeper.workspaces()?;
    match all.as_slice() {
        [only] => Ok(Some(only.key.clone())),
        _ => Ok(None),
    }
}

fn palaces_document(keeper: &Keeper) -> Result<String, Refusal> {
    let all = keeper.workspaces()?.into_iter().map(|it| (it.key, it.name));
    Ok(view::plain_document("Palaces", &view::palaces_page(&all.collect::<Vec<_>>())))
}

impl PageSession<'_, '_> {
    fn content(&mut self, target: &PageTarget) -> Result<PageContent, Refusal> {
        match target {
            PageTarget::Room(room) => room::room_content(self, room.as_ref()),
            PageTarget::Map => room::map_content(self),
            PageTarget::Scroll(scroll) => lists::scroll_content(self, scroll),
            PageTarget::File(path) => lists::file_content(self, path),
            PageTarget::Entity(name) => entity::entity_content(self, name),
            PageTarget::Index { genus, page } => {
                lists::index_content(self, genus.as_deref(), *page)
            }
            PageTarget::Search(query) => lists::search_content(self, query),
            PageTarget::Log { page } => commit::log_content(self, *page),
            PageTarget::Commit(id) => commit::commit_content(self, id),
            PageTarget::Findings => lists::findings_content(self),
            PageTarget::Tasks => Ok(lists::tasks_content(self)),
        }
    }
}

impl PageContent {
    /// Returns the content of a page that is not about one item.
    fn of_kind(kind: PageKind, title: &str, body: Markup) -> Self {
        Self { title: title.to_owned(), place: None, kind: Some(kind), item: None, body }
    }
}
