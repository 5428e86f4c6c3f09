//! End-to-end tests: the real program over real standard input and output, a real client,
//! real git.

#[cfg(unix)]
mod background_sync;
#[cfg(unix)]
mod browser;
mod changes_since_last_visit;
mod check;
mod check_fix;
mod command_line;
mod completions;
mod concurrent_requests;
mod conflicts;
mod contents;
mod delete_entities;
mod design_v1_demos;
mod design_v2;
mod doctor;
mod documents;
mod drawers;
mod edits_keep_comments;
mod entity_cache;
mod entity_links;
mod entity_status_and_pages;
mod everything;
mod file_round_trips;
mod fmt;
mod fmt_random_files;
mod fuzzing;
mod graph_tools;
mod halls;
mod harness;
mod history;
mod hook;
mod hook_act;
#[cfg(unix)]
mod host_memory;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod host_memory_real;
#[cfg(unix)]
mod hostile_merges;
mod hostile_names;
mod http;
mod http_conformance;
mod http_server;
mod imitations;
mod import_export_memory;
mod import_mempalace;
mod invisible_characters;
mod json_schemas;
mod list_edits;
mod long_texts;
mod many_machines;
mod mcp_protocol;
mod memory_server;
mod mempalace;
mod mempalace_drawers;
mod mempalace_facts;
mod mine;
mod mined_again;
mod mined_conversations;
mod moving_items;
mod names_and_paths;
#[cfg(unix)]
mod neovim;
mod note_folders;
mod old_palaces;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod packages;
#[cfg(unix)]
mod plugin;
mod proposals;
mod provenance;
mod random_calls;
mod random_yaml;
mod raw_client;
mod replaced_scrolls;
mod repository_problems;
mod resources;
mod review;
mod rooms_and_actions;
mod search;
mod secrets;
mod semantic_search;
mod setup;
mod setup_hook;
mod setup_of_everything;
#[cfg(target_os = "linux")]
mod setup_real_clients;
mod shared_repository;
#[cfg(unix)]
mod signing;
#[cfg(unix)]
mod special_repositories;
mod stale_facts;
mod stale_files;
mod sync;
mod sync_copies;
mod tasks_and_processes;
mod templates;
mod time_zones;
mod token_costs;
mod untrusted_remotes;
mod untrusted_repositories;
mod unusable_homes;
mod visits;
mod wake_up;
#[cfg(unix)]
mod walk;
mod watch;
mod yaml_language_server;
