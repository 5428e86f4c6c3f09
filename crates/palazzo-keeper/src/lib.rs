//! The keeper of a home: all operations on its palaces.
//!
//! MCP and the command line call only this module, so a rule here holds for both. The keeper
//! owns the open palaces and the visits of its callers; operations borrow them as a
//! [`Session`].

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

mod caller;
mod conflicts;
mod diff_driver;
mod editor;
mod error;
mod graph;
mod history;
mod hook_act;
mod host_memory;
mod http_access;
mod import;
mod items;
mod keeper;
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
mod user_state;
mod visit_store;
mod walk;
mod work;
mod workspaces;

use std::path::{Path, PathBuf};

pub use crate::conflicts::resolve::{ResolvedConflict, command_to_finish_merge, resolve_conflict};
pub use crate::conflicts::{conflict_file, list_conflicts};
pub use crate::diff_driver::{compare_file_versions, textconv_file};
pub use crate::editor::EditorPalace;
pub use crate::editor::completion::{Completion, CompletionKind, CompletionList};
pub use crate::editor::findings::EditorFinding;
pub use crate::editor::fixes::Fix;
pub use crate::editor::outline::{NamedItem, OutlineEntry, OutlineKind};
pub use crate::editor::references::{FilePlace, NeighbourRoom};
pub use crate::editor::rename::FileChange;
pub use crate::editor::symbol::Symbol;
pub use crate::graph::create::{EntityCreationOutcome, ExtendedEntity, create_entities};
pub use crate::graph::delete::{
    DeletedEntities, EntityDeletionOutcome, delete_entities, delete_entities_by_exact_name,
};
pub use crate::graph::describe::{
    GenusDescription, GenusList, WorkspaceDescription, describe_genus, describe_workspace,
    get_entity, list_genera,
};
pub use crate::graph::get_relationships::{
    Direction, RelationPage, RelationQuery, get_relationships,
};
pub use crate::graph::list_entities::{EntityPage, EntityQuery, list_entities};
pub use crate::graph::parse_date_argument;
pub use crate::graph::relations::RelationRemoval;
pub use crate::graph::timeline::{TimelinePage, TimelineQuery, get_timeline};
pub use crate::graph::update::{EntityChange, EntityUpdateOutcome, update_entity};
pub use crate::history::diff::{PalaceDiff, diff_palace};
pub use crate::history::log::{CommitLog, LogFilter, LoggedCommit, blame_item, list_commits};
pub use crate::history::restore::{RestoredItem, RestoredRelationCounts, restore_item};
pub use crate::history::revert::{KeepReason, KeptFile, UndoOutcome};
pub use crate::history::revisions::RevisionQuery;
pub use crate::history::undo::{UndoSelection, undo_commits, undo_last_call};
pub use crate::history::visits::{VisitLog, diff_visit, list_visits, show_visit};
pub use crate::hook_act::{ActHook, is_memory_write};
pub use crate::host_memory::{
    HostMemory, HostMemoryReport, commit_host_memory, complete_memory_index, default_palace_folder,
    is_past_memory, list_host_memories, list_remotes_of_palace, palaces_with_host_memory,
};
pub use crate::import::memory::{MemoryImportSummary, export_memory, import_memory};
pub use crate::import::mempalace::{MempalaceImportSummary, import_mempalace};
pub use crate::import::mine::{
    MineSummary, MinedCounts, MinedFile, SourceFile, file_mined_texts, is_palace_file,
};
pub use crate::import::{ImportOptions, RedactedSecret, redact_faults_and_notes};
pub use crate::items::delete_items::delete_items;
pub use crate::items::move_item::move_item;
pub use crate::items::{ItemChangeReport, ItemChangeVerb};
pub use crate::maintain::check::{CheckReport, PalaceCheckReport, check_palaces, list_findings};
pub use crate::maintain::doctor::{
    DoctorReport, examine_palaces, find_git_lock, git_version, max_watched_folders,
    palaces_outside_checkout, remove_git_lock,
};
pub use crate::maintain::fix::{FixReport, fix_files, fix_settled_conflicts};
pub use crate::maintain::fix_renames_and_copies::fix_renames_and_copies;
pub use crate::maintain::fmt::{FmtReport, fmt_files};
pub use crate::maintain::git_setup::{GitSetupReport, remove_git_setup, set_up_git};
pub use crate::maintain::init::{
    NewPalaceRepository, check_new_palace_name, create_palace, create_repositories,
    repository_of_new_palace,
};
pub use crate::maintain::locate::locate_text;
pub use crate::maintain::trust::{give_consent, list_consents, missing_consents, remove_consents};
pub use crate::memory_server::changes::{
    DeletionSummary, EntityObservations, add_observations, create_entities_if_absent,
    create_relations_if_absent, delete_observations, delete_relations,
};
pub use crate::memory_server::graph_page::{
    GraphPage, graph_digest, open_nodes, read_graph, search_nodes,
};
pub use crate::mempalace::diaries::{DiaryPage, read_diary, write_diary};
pub use crate::mempalace::drawers::{
    DrawerLocation, DrawerStats, FilingOutcome, NewDrawer, SimilarDrawer, delete_drawer,
    drawer_stats, file_drawer,
};
pub use crate::mempalace::fact_changes::{AddFactOutcome, NewFact, add_fact, end_fact};
pub use crate::mempalace::facts::{
    FactCounts, FactRecord, FactsAbout, count_facts, fact_timeline, facts_about,
};
pub use crate::mempalace::tunnels::{
    DrawerRoomsByName, ReachedRoom, RoomAcrossWings, TunnelStats, drawer_rooms_by_name,
    find_tunnels, traverse_rooms, tunnel_stats,
};
pub use crate::merge::conflict::MergeConflict;
pub use crate::merge::palaces::{MergeOutcome, merge_palaces};
pub use crate::merge::{FilePart, MERGE_RULES_VERSION, MergeInput, RawFiles, UnchangedFiles};
pub use crate::merge_driver::{
    FileMergeResult, describe_other_format, merge_file_versions, paths_in_palaces,
};
pub use crate::pages::live::{PalaceEvent, SeenPalace, palace_events};
pub use crate::pages::map::render_map_app;
pub use crate::pages::request::{PageRequest, PageTarget, parse_page_path};
pub use crate::pages::whole_palace::{WholePalaceRequest, render_whole_palace};
pub use crate::pages::{render_page, render_refusal_page};
pub use crate::palace::change_plan::ChangeMode;
pub use crate::palace::file_states::ChangeCounters;
pub use crate::palace::findings::Finding;
pub use crate::palace::open_palace::WaitCallback;
pub use crate::proposals::{
    PalaceProposals, check_branch_name, list_proposals, list_proposals_of_home,
    merge_and_drop_commands, open_proposal, proposal_range,
};
pub use crate::rooms::build::{Blueprint, BuiltRoom, build_room};
pub use crate::rooms::rename_or_delete::{RenamedOrDeletedRoom, delete_room, rename_room};
pub use crate::rooms::scrolls::{NewScroll, WrittenScroll, write_scroll};
pub use crate::search::SearchQuery;
pub use crate::search::drawer_search::{
    DrawerHit, DrawerHits, DrawerQuery, drawer_by_id, drawers_similar_to, search_drawers,
};
pub use crate::search::palace_search::{SearchHit, SearchResults, search_palace};
pub use crate::semantic::embed::{EmbedOutcome, embed_passages};
pub use crate::semantic::vector_store::RankingReport;
pub use crate::sync::{
    BackgroundSyncSettings, RepositoryWithPalaces, SyncAnswer, SyncOptions, SyncReport,
    SyncSetupReport, SyncState, SyncTiming, is_sync_set_up, list_repositories_with_palaces,
    revert_last_sync, set_up_sync, sync_repository, sync_state, undo_last_sync,
};
pub use crate::templates::{
    GitTemplateUrl, Template, TemplateList, fetch_template, find_template, list_templates,
    read_template,
};
pub use crate::user_state::{
    add_client_setup, client_setups, last_home, remember_home, remove_client_setup,
    remove_unused_setup_state,
};
pub use crate::walk::choices::{
    ActionToolCall, Choice, ChoiceOutcome, CompletionCandidates, Everything, EverythingPart,
    list_completion_candidates, read_by_name,
};
pub use crate::walk::choose_number::{
    choose_global_action, copy_listing, find_choice, listed_items, narrate_tool_answer,
    restore_listing, run_choice, take_listing,
};
pub use crate::walk::contents::{show_compact_entity, show_entity};
pub use crate::walk::current_room::{
    enter_built_room, look_around, update_menu_in_built_room, with_menu,
};
pub use crate::walk::enter_palace::{
    create_workspace_from_template, enter_current_palace, set_workspace,
};
pub use crate::walk::everything::EverythingPage;
pub use crate::walk::item_names::{ItemName, list_item_names};
pub use crate::walk::long_answers::cut_answer;
pub use crate::walk::resources::{
    ResourceSummary, list_resources, list_room_ids, list_scroll_ids, list_workspace_keys,
    present_workspace_key, read_resource, render_resource, resolve_uri,
};
pub use crate::walk::show::{show_map, show_map_as_json, show_map_as_svg};
pub use crate::walk::show_item::{ItemDescription, describe_item, show_item};
pub use crate::walk::wake_up::{
    DEFAULT_WAKE_UP_TOKENS, MIN_WAKE_UP_TOKENS, list_places_to_write, wake_up,
};
pub use crate::work::processes::{NewProcess, ProcessChange, advance_process, start_process};
pub use crate::work::task_list::{WorkPage, WorkQuery, list_tasks};
pub use crate::work::tasks::{NewTask, TaskChange, complete_task, create_task};
pub use crate::workspaces::{CallCommits, palace_by_name};
pub use caller::Caller;
pub use error::{EntityViolations, Refusal};
pub use http_access::HttpAccess;
pub use keeper::Keeper;
pub use palazzo_core::diff::LineEdit;
pub use palazzo_core::exchange::{
    ExtractedText, ExtractionResult, HookInput, MempalaceRow, MempalaceTables, SourceKind,
};
pub use palazzo_core::format::FORMAT_VERSION;
pub use palazzo_core::visit::{InvalidHandle, Listing, VisitHandle, VisitKey};
pub use palazzo_store::{
    BlockingGitOperation, DriverFileChange, GitLock, IgnoreRules, ServedProposal, max_open_files,
    rename_file,
};
pub use session::Session;
pub use snapshot::SnapshotReader;
pub use visit_store::VisitStore;

use palazzo_core::format;
use palazzo_core::model::FileKind;
use palazzo_store as store;

/// Reads a text file anywhere on the disk, which the user has named.
pub fn read_text_file(place: &Path) -> Result<String, Refusal> {
    store::read_text_file(place).map_err(|it| Refusal::UnreadableFile(it.into()))
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
pub fn json_schema(kind: FileKind) -> &'static str {
    format::json_schema_of_file_kind(kind)
}

#[cfg(test)]
pub(crate) mod test_home;
