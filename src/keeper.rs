//! The keeper of a home: all operations on its palaces.
//!
//! MCP and the command line call only this module, so a rule here holds for both. The keeper
//! owns the open palaces and the visits of its callers; operations borrow them as a
//! [`Session`].

mod caller;
mod conflicts;
mod editor;
mod error;
mod graph;
mod history;
mod home;
mod http_access;
mod import;
mod items;
mod maintain;
mod memory_server;
mod mempalace;
mod merge;
mod merge_driver;
mod name_check;
mod pages;
mod palace;
mod proposals;
mod rooms;
mod search;
mod semantic;
mod session;
mod snapshot;
mod sync;
mod templates;
mod visit_store;
mod walk;
mod work;
mod workspaces;

use std::path::{Path, PathBuf};

pub use crate::diff::LineEdit;
pub use crate::exchange::{ExtractedText, ExtractionResult, MempalaceTables, Row, SourceKind};
pub use crate::format::FORMAT_VERSION;
pub use crate::keeper::conflicts::from_merge::conflict_file;
pub use crate::keeper::conflicts::list_conflicts;
pub use crate::keeper::conflicts::resolve::{
    ResolvedConflict, command_to_finish_merge, resolve_conflict,
};
pub use crate::keeper::editor::{
    Completion, CompletionKind, CompletionList, EditorFinding, EditorPalace, FileChange, FilePlace,
    Fix, NamedItem, NeighbourRoom, OutlineEntry, OutlineKind, Symbol,
};
pub use crate::keeper::graph::create::{EntityCreationOutcome, ExtendedEntity, create_entities};
pub(crate) use crate::keeper::graph::dates::parse_date_argument;
pub use crate::keeper::graph::delete::{
    DeletedEntities, EntityDeletionOutcome, delete_entities, delete_entities_by_exact_name,
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
pub use crate::keeper::graph::timeline::{TimelinePage, TimelineQuery, get_timeline};
pub use crate::keeper::graph::update::{EntityChange, EntityUpdateOutcome, update_entity};
pub use crate::keeper::history::diff::{PalaceDiff, diff_palace};
pub use crate::keeper::history::file_diff::{compare_file_versions, describe_file};
pub use crate::keeper::history::log::{CommitLog, LoggedCommit, blame_item, list_commits};
pub use crate::keeper::history::log_filter::LogFilter;
pub use crate::keeper::history::restore::{RestoredItem, RestoredRelationCounts, restore_item};
pub use crate::keeper::history::revert::{KeepReason, KeptFile, UndoneCommit};
pub use crate::keeper::history::revisions::RevisionQuery;
pub use crate::keeper::history::undo::undo_last_call;
pub use crate::keeper::history::undo_visit::{UndoSelection, undo_visit};
pub use crate::keeper::history::visits::{VisitLog, diff_visit, list_visits, show_visit};
pub use crate::keeper::import::memory::{MemoryImportSummary, export_memory, import_memory};
pub use crate::keeper::import::mempalace::{MempalaceImportSummary, import_mempalace};
pub use crate::keeper::import::mine::{
    MineSummary, MinedCounts, MinedFile, SourceFile, file_mined_texts, is_palace_file,
};
pub use crate::keeper::import::redactions::{ImportOptions, RedactedSecret, redact_messages};
pub use crate::keeper::items::delete_items::delete_items;
pub use crate::keeper::items::item_change::{ItemChange, ItemChangeVerb};
pub use crate::keeper::items::move_item::move_item;
pub use crate::keeper::maintain::check::{CheckReport, PalaceReport, check_palaces};
pub use crate::keeper::maintain::doctor::{
    DoctorReport, examine_palaces, find_git_lock, git_version, max_watched_folders,
    palaces_outside_checkout, remove_git_lock,
};
pub use crate::keeper::maintain::fix::{FixReport, fix_files};
pub use crate::keeper::maintain::fix_conflicts::fix_settled_conflicts;
pub use crate::keeper::maintain::fix_old_names::fix_old_names;
pub use crate::keeper::maintain::fmt::{FmtReport, fmt_files};
pub use crate::keeper::maintain::git_setup::{GitSetupReport, remove_git_setup, set_up_git};
pub use crate::keeper::maintain::init::{
    NewPalaceRepository, check_new_palace_name, create_palace, create_repositories,
    repository_of_new_palace,
};
pub use crate::keeper::maintain::locate::locate_text;
pub use crate::keeper::maintain::palace_findings::list_findings;
pub use crate::keeper::maintain::trust::{
    give_consent, list_consents, missing_consents, remove_consents,
};
pub use crate::keeper::memory_server::changes::{
    DeletionSummary, EntityObservations, add_observations, create_entities_if_absent,
    create_relations_if_absent, delete_observations, delete_relations,
};
pub use crate::keeper::memory_server::graph_page::{
    GraphPage, graph_digest, open_nodes, read_graph, search_nodes,
};
pub use crate::keeper::mempalace::add_fact::{AddFactOutcome, NewFact, add_fact, end_fact};
pub use crate::keeper::mempalace::diaries::{DiaryPage, read_diary, write_diary};
pub use crate::keeper::mempalace::drawers::{
    DrawerLocation, DrawerStats, FilingOutcome, NewDrawer, SimilarDrawer, delete_drawer,
    drawer_stats, file_drawer,
};
pub use crate::keeper::mempalace::facts::{
    FactCounts, FactRecord, FactsAbout, count_facts, fact_timeline, facts_about,
};
pub use crate::keeper::mempalace::tunnels::{
    DrawerRoomsByName, ReachedRoom, RoomAcrossWings, TunnelStats, drawer_rooms_by_name,
    find_tunnels, traverse_rooms, tunnel_stats,
};
pub use crate::keeper::merge::{
    FilePart, MERGE_RULES_VERSION, MergeConflict, MergeInput, MergeOutcome, RawFiles,
    UnchangedFiles, merge_palaces,
};
pub use crate::keeper::merge_driver::{
    MergedFileVersions, describe_other_format, merge_file_versions, paths_in_palaces,
};
pub use crate::keeper::pages::file::{PalaceFileRequest, view_as_file};
pub use crate::keeper::pages::live::{PalaceEvent, SeenPalace, palace_events};
pub use crate::keeper::pages::map_app::render_map_app;
pub use crate::keeper::pages::request::{PageRequest, PageTarget, parse_page_path};
pub use crate::keeper::pages::{render_page, render_refusal_page};
pub use crate::keeper::palace::change_plan::ChangeMode;
pub use crate::keeper::palace::file_states::ChangeCounters;
pub use crate::keeper::palace::findings::Finding;
pub use crate::keeper::proposals::{
    PalaceProposals, check_branch_name, list_proposals, list_proposals_of_home,
    merge_and_drop_commands, open_proposal, proposal_range,
};
pub use crate::keeper::rooms::build::{Blueprint, BuiltRoom, build_room};
pub use crate::keeper::rooms::move_room::{MovedRoom, delete_room, rename_room};
pub use crate::keeper::rooms::scrolls::{NewScroll, WrittenScroll, write_scroll};
pub use crate::keeper::search::drawer_search::{
    DrawerHit, DrawerHits, DrawerQuery, drawer_by_id, drawers_similar_to, search_drawers,
};
pub use crate::keeper::search::palace_search::{SearchHit, SearchResults, search_palace};
pub use crate::keeper::search::search_filters::SearchQuery;
pub use crate::keeper::semantic::embed::{EmbedOutcome, embed_passages};
pub use crate::keeper::semantic::ranking_report::RankingReport;
pub use crate::keeper::sync::{
    BackgroundSyncSettings, SyncAnswer, SyncOptions, SyncReport, SyncSetup, SyncState, SyncTiming,
    SyncedRepository, is_sync_set_up, list_synced_repositories, revert_last_sync, set_up_sync,
    sync_repository, sync_state, undo_last_sync,
};
pub use crate::keeper::templates::{
    GitTemplateUrl, Template, TemplateList, fetch_template, find_template, list_templates,
    read_template,
};
pub use crate::keeper::walk::built_room::{show_built_room, update_menu_in_built_room};
pub use crate::keeper::walk::choice::{
    ActionToolCall, Choice, ChoiceOutcome, Everything, EverythingPart,
};
pub use crate::keeper::walk::choices::{Choices, list_choices, read_by_name};
pub use crate::keeper::walk::choose_number::{
    choose_global_action, find_choice, narrate_tool_answer, run_choice,
};
pub use crate::keeper::walk::contents::{show_entity, show_one_of_entities};
pub use crate::keeper::walk::current_room::{look_around, with_menu};
pub use crate::keeper::walk::enter::{
    create_workspace_from_template, enter_current_palace, set_workspace,
};
pub use crate::keeper::walk::everything::EverythingPage;
pub use crate::keeper::walk::item_names::{ItemName, list_item_names};
pub use crate::keeper::walk::listed_items::{
    copy_listing, listed_items, restore_listing, take_listing,
};
pub use crate::keeper::walk::long_answers::cut_answer;
pub use crate::keeper::walk::resources::{
    ResourceSummary, current_workspace_key, list_resources, list_room_ids, list_scroll_ids,
    list_workspace_keys, read_resource, render_resource, resolve_uri,
};
pub use crate::keeper::walk::show::{palace_by_name, show_map, show_map_as_json, show_map_as_svg};
pub use crate::keeper::walk::show_item::{ItemDescription, describe_item, show_item};
pub use crate::keeper::walk::wake_up::{DEFAULT_TOKENS, MIN_TOKENS, list_places_to_write, wake_up};
pub use crate::keeper::work::processes::{
    NewProcess, ProcessChange, advance_process, start_process,
};
pub use crate::keeper::work::task_list::{WorkPage, WorkQuery, list_tasks};
pub use crate::keeper::work::tasks::{NewTask, TaskChange, complete_task, create_task};
pub use crate::keeper::workspaces::call_commits::CallCommits;
pub use crate::store::{
    BlockingGitOperation, DriverFileChange, GitLock, IgnoreRules, ServedProposal, max_open_files,
    rename_file,
};
pub use crate::visit::{InvalidHandle, Listing, VisitHandle, VisitKey};
pub use caller::Caller;
pub use error::{EntityViolations, Refusal};
pub use home::Keeper;
pub use http_access::HttpAccess;
pub use palace::published_snapshots::WaitCallback;
pub use session::Session;
pub use snapshot::SnapshotReader;
pub use visit_store::VisitStore;

use crate::format;
use crate::model::{ClientSetup, FileKind};
use crate::store;

/// Reads a text file anywhere on the disk, which the user has named.
pub fn read_text_file(place: &Path) -> Result<String, Refusal> {
    store::read_text_file(place).map_err(|it| Refusal::UnreadableFile(it.into()))
}

/// Returns the home that the user named last, from the folder for the state of this program.
pub fn last_home(state_folder: &Path) -> Option<PathBuf> {
    store::read_last_home(state_folder)
}

/// Stores the home that the user has named.
pub fn remember_home(state_folder: &Path, home: &Path) -> Result<(), Refusal> {
    Ok(store::write_last_home(state_folder, home)?)
}

/// Removes what `palazzo setup` keeps in the folder for the state of this program, if it is of no use
/// any more: records of nothing, and a last home that `is_unused`.
pub fn remove_unused_setup_state(
    state_folder: &Path,
    is_unused: impl FnOnce(&Path) -> bool,
) -> Result<(), Refusal> {
    store::remove_empty_client_setups(state_folder)?;
    Ok(store::forget_last_home_if(state_folder, is_unused)?)
}

/// Lists what `palazzo setup` has written into the configurations of clients.
pub fn client_setups(state_folder: &Path) -> Result<Vec<ClientSetup>, Refusal> {
    Ok(store::read_client_setups(state_folder)?)
}

/// Stores what `palazzo setup` writes into the configuration of a client, in place of an older
/// record for this file and name.
pub fn add_client_setup(state_folder: &Path, setup: &ClientSetup) -> Result<(), Refusal> {
    Ok(store::add_client_setup(state_folder, setup)?)
}

/// Removes the record for an entry of a file.
pub fn remove_client_setup(state_folder: &Path, file: &Path, name: &str) -> Result<(), Refusal> {
    Ok(store::remove_client_setup(state_folder, file, name)?)
}

/// Lists the palaces of a home by their folders: the home itself if it is a palace; none if it
/// cannot be read.
pub fn list_palaces(home: &Path) -> Vec<PathBuf> {
    store::list_palaces(home).unwrap_or_default()
}

/// Returns whether a folder is a palace.
pub fn is_palace(folder: &Path) -> bool {
    store::is_palace(folder)
}

/// Returns the JSON Schema of a kind of file.
pub fn json_schema(kind: FileKind) -> String {
    format::json_schema_of_file_kind(kind)
}

#[cfg(test)]
pub(crate) mod test_home;
