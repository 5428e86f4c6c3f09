//! The session of a page, and its content.

use maud::Markup;

use crate::Session;
use palazzo_core::model::{CommitDetails, ItemId, Tool};
use palazzo_core::view::{Links, PageKind};

/// The content of a page, and what its frame needs to know about it.
pub(super) struct PageContent {
    pub(super) title: String,
    pub(super) place: Option<String>,
    pub(super) kind: Option<PageKind>,
    pub(super) item: Option<ItemId>,
    pub(super) body: Markup,
}

/// The session of a page: the palace that it shows, and the links.
pub(super) struct PageSession<'s, 'k> {
    pub(super) session: &'s mut Session<'k>,
    pub(super) links: &'s Links,
    /// The newest commits up to the shown one.
    pub(super) commits: &'s [CommitDetails],
    pub(super) tools: &'s [Tool],
    /// The names of all palaces of the home.
    pub(super) workspaces: &'s [String],
}

impl PageContent {
    /// Returns the content of a page that is not about one item.
    pub(super) fn of_kind(kind: PageKind, title: &str, body: Markup) -> Self {
        Self { title: title.to_owned(), place: None, kind: Some(kind), item: None, body }
    }
}
