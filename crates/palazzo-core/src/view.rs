//! Pictures and pages of a palace, for people. Pure functions.
//!
//! Every text of a palace is escaped: whoever wrote it cannot change a page.

mod commit_page;
mod entity_page;
mod lattice;
mod links;
mod list_pages;
mod log_page;
mod map_app;
mod map_plan;
mod map_svg;
mod markdown_html;
mod page;
mod palace_html;
mod palaces_page;
mod proposal_pages;
mod room_page;
mod visit_page;

pub use commit_page::{CommitPage, ComparedRow, FileComparison, Revert, commit_page};
pub use entity_page::{EntityPage, entity_page};
pub use links::{Links, PageKind};
pub use list_pages::{
    IndexPage, ListRow, findings_page, index_page, plain_text_page, refusal_page, search_page,
    tasks_page, text_page,
};
pub use log_page::{LogPage, LogRow, VisitRow, log_page};
pub use map_app::map_app;
pub use map_plan::{MapPlan, plan_map};
pub use map_svg::{draw_planned_map, map_page, map_svg};
pub use page::{PageFrame, TimeBar, page_document, unframed_document};
pub use palace_html::{PalaceHtml, PalaceHtmlChanges, palace_html};
pub use palaces_page::{PalaceRow, palaces_page};
pub use proposal_pages::{ProposalPage, proposal_page, proposals_page};
pub use room_page::{RoomPage, room_page};
pub use visit_page::{VisitPage, visit_page};

/// The style of all pages.
pub const PAGE_STYLE: &str = include_str!("view/page.css");

/// The script of the pages of the server.
pub const PAGE_SCRIPT: &str = include_str!("view/page.js");
