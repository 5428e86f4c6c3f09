//! The keeper of a home: everything one can ask of its palaces, in one place.
//!
//! MCP and the command line both speak to the keeper and to nobody else, so a
//! rule that holds here holds everywhere. The keeper owns the palaces it has
//! opened and the visits of its callers; workrooms get borrowed parts.

mod caller;
mod error;
mod graph;
mod history;
mod home;
mod import;
mod maintain;
mod memory_server;
mod mempalace;
mod palace;
mod rooms;
mod search;
mod semantic;
mod session;
mod snapshot;
mod walk;
mod work;
mod workspaces;

use std::path::Path;

pub use crate::exchange::{Extracted, ExtractedText, MempalaceTables, Row, SourceKind};
pub use crate::keeper::graph::create::{CreatedEntities, create_entities};
pub use crate::keeper::graph::delete::{
    DeletedEntities, EntityDeletion, delete_entities, delete_exact_entities,
};
pub use crate::keeper::graph::describe::{
    GenusDescription, GenusList, WorkspaceDescription, describe_genus, describe_workspace,
    get_entity, list_genera,
};
pub use crate::keeper::graph::entity_relations::{
    Direction, RelationPage, RelationQuery, get_relationships,
};
pub use crate::keeper::graph::list_entities::{EntityPage, EntityQuery, list_entities};
pub use crate::keeper::graph::relations::RelationRemoval;
pub use crate::keeper::graph::timeline::{Timeline, TimelineQuery, get_timeline};
pub use crate::keeper::graph::update::{EntityChange, EntityUpdate, update_entity};
pub use crate::keeper::history::committed::CallCommits;
pub use crate::keeper::import::memory::MemoryImportSummary;
pub use crate::keeper::import::mempalace::ImportSummary;
pub use crate::keeper::import::mine::{MineSummary, SourceFile, is_palace_file};
pub use crate::keeper::maintain::check::{CheckReport, Finding, PalaceReport};
pub use crate::keeper::maintain::doctor::{DoctorReport, git_version};
pub use crate::keeper::maintain::fix::FixReport;
pub use crate::keeper::maintain::fmt::FmtReport;
pub use crate::keeper::memory_server::graph_page::GraphPage;
pub use crate::keeper::memory_server::operations::{DeletionSummary, EntityObservations};
pub use crate::keeper::mempalace::add_fact::{AddedFact, NewFact};
pub use crate::keeper::mempalace::diaries::DiaryPage;
pub use crate::keeper::mempalace::drawers::{
    DrawerLocation, DrawerStats, FilingOutcome, NewDrawer, SimilarDrawer,
};
pub use crate::keeper::mempalace::facts::{FactCounts, FactRecord, FactsAbout};
pub use crate::keeper::mempalace::tunnels::{ReachedRoom, RoomAcrossWings, TunnelStats};
pub use crate::keeper::palace::file_states::Generation;
pub use crate::keeper::rooms::build::{Blueprint, BuiltRoom, build_room};
pub use crate::keeper::rooms::scrolls::{NewScroll, WrittenScroll, write_scroll};
pub use crate::keeper::search::drawer_search::{DrawerHit, DrawerHits, DrawerQuery};
pub use crate::keeper::search::palace_search::{SearchHit, SearchResults};
pub use crate::keeper::search::search_query::SearchQuery;
pub use crate::keeper::semantic::indexer::{EmbedOutcome, Ranker};
pub use crate::keeper::walk::built_room::{show_built_room, update_menu_in_built_room};
pub use crate::keeper::walk::resources::ResourceSummary;
pub use crate::keeper::walk::step::{ActOutcome, ToolRequest};
pub use crate::keeper::walk::wake_up::{DEFAULT_TOKENS, MIN_TOKENS};
pub use crate::keeper::work::list::{WorkPage, WorkQuery, list_tasks};
pub use crate::keeper::work::processes::{
    NewProcess, ProcessChange, advance_process, start_process,
};
pub use crate::keeper::work::tasks::{NewTask, TaskChange, complete_task, create_task};
pub use crate::store::GitLock;
pub use caller::Caller;
pub use error::{EntityViolations, Refusal};
pub use home::Keeper;
pub use session::Session;
pub use snapshot::{SnapshotReader, WaitCallback};

use crate::format;
use crate::model::FileKind;
use crate::store;

/// Reads a file that lies anywhere, for a person who has named it.
pub fn read_text_file(place: &Path) -> Result<String, Refusal> {
    store::read_text_file(place).map_err(|it| Refusal::UnreadableFile(it.into()))
}

/// Returns the JSON Schema of a kind of file.
pub fn json_schema(kind: FileKind) -> String {
    format::schema_for_kind(kind)
}
