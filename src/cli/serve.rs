//! `palazzo serve`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::cli::home::PalaceArgs;
#[cfg(feature = "http")]
use crate::cli::http_server::{self, HttpArgs};
use crate::cli::outcome::{Failure, Outcome, current_time};
use crate::cli::signal;
use crate::cli::user_folders::state_dir;
use crate::mcp::{self, Server, ToolSet, Toolbox};
use palazzo_core::model::{
    TimeZone, WatchMode, escape_unprintable_in_lines, path_text, quote_for_shell, quoted,
};
use palazzo_keeper::{self as keeper, BackgroundSyncSettings, Keeper, SyncTiming};

/// Keeps idle threads alive, beginning with the one that opens the palace. If the system cannot
/// start another thread, a call then waits for an existing one.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(u32::MAX as u64);
/// How long it takes to kill the processes of git.
const GIT_KILL_TIME: Duration = Duration::from_millis(100);
/// The stack size of a thread.
const THREAD_STACK_BYTES: usize = 8 << 20;

/// Serve palaces over MCP, on standard input and output or over HTTP
///
/// MCP clients start this command themselves; `palazzo setup --print` prints their
/// configuration. Nothing is written until a tool call requires it.
///
/// With --http one server serves many windows, and people see the palace in a browser, with
/// `palazzo view`. With --propose all changes go to a branch, which a person merges.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    palace: PalaceArgs,

    /// The tool sets to offer: palace (walking and building), graph (entities),
    /// sync (syncing now, settling conflicts), memory (the tools of the reference memory server, instead of graph),
    /// mempalace (the nineteen tools of MemPalace). Without this option: palace and graph, and
    /// sync while `palazzo sync` is set up for a palace of the home
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tools: Vec<ToolSet>,

    /// Do not limit the answers of the reading tools of the set memory, even if they
    /// are longer than clients accept
    #[arg(long)]
    unbounded: bool,

    /// How to notice changes by other programs: auto (by notifications of the system),
    /// poll (check every two seconds), off (only commits, and files when they are used)
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        hide_possible_values = true,
        default_value = "auto"
    )]
    watch: WatchOption,

    /// Offer only tools that read, and refuse every change
    #[arg(long)]
    read_only: bool,

    /// Write to this branch instead of the checked-out one, which stays as it is: a person
    /// reviews the changes (`palazzo proposals`) and merges them. Creates the branch, or
    /// continues it
    #[arg(long, value_name = "BRANCH", conflicts_with = "read_only")]
    propose: Option<String>,

    #[cfg(feature = "http")]
    #[command(flatten)]
    http: HttpArgs,

    /// For tests: the milliseconds without a write before a push; the other intervals follow
    #[arg(long, value_name = "MILLISECONDS", hide = true, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=5000))]
    sync_idle_ms: u64,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum WatchOption {
    Auto,
    Poll,
    Off,
}

pub(super) fn run(args: Args) -> Outcome {
    let has_default_tools = args.tools.is_empty();
    let tools = if has_default_tools { ToolSet::DEFAULT.to_vec() } else { args.tools };
    let toolbox = match args.unbounded {
        true => Toolbox::with_unbounded_answers(tools),
        false => Toolbox::new(tools),
    };
    let toolbox = reject_duplicate_tools(toolbox)?;
    let toolbox = if args.read_only { toolbox.without_changing_tools() } else { toolbox };
    let watching = match args.watch {
        WatchOption::Auto => WatchMode::Auto,
        WatchOption::Poll => WatchMode::Poll,
        WatchOption::Off => WatchMode::Off,
    };
    let (home, keeper) = home_and_keeper(&args.palace, args.propose.as_deref())?;
    let keeper = keeper
        .with_watch_mode(watching, |warning| anstream::eprintln!("palazzo: {warning}"))
        .with_background_embedding()
        .with_read_only(args.read_only);
    #[cfg(feature = "http")]
    let is_over_http = args.http.is_chosen();
    #[cfg(not(feature = "http"))]
    let is_over_http = false;
    if !is_over_http && std::io::stdin().is_terminal() {
        explain_standard_input(&home);
    }
    let timing = SyncTiming::with_idle(Duration::from_millis(args.sync_idle_ms));
    let is_synced = !args.read_only && args.propose.is_none();
    let toolbox = match is_synced && has_default_tools {
        true => with_sync_tools_if_set_up(toolbox, home.clone()),
        false => toolbox,
    };
    let (server, cancelled) = make_server(toolbox, keeper, is_synced.then_some(timing));
    run_until_signal(cancelled, async |stop| {
        #[cfg(feature = "http")]
        if args.http.is_chosen() {
            // `palazzo view` opens the page of a server that shows what is checked out.
            let listed_home = args.propose.is_none().then_some(home.as_path());
            return serve_over_http(server, &args.http, &home, listed_home, stop).await;
        }
        mcp::serve(server, stop).await.map_err(Failure::Connection)
    })
}

#[cfg(feature = "http")]
async fn serve_over_http(
    server: Server,
    args: &HttpArgs,
    home: &Path,
    listed_home: Option<&Path>,
    stop: StopSignal,
) -> Result<(), Failure> {
    let announce = |address| {
        anstream::eprintln!(
            "Serving {} over HTTP: MCP at http://{address}/mcp (`palazzo setup --print --http` \
             prints the configuration of clients), the page by `palazzo view`. Ctrl-C ends this.",
            path_text(home)
        );
        Ok(())
    };
    http_server::serve(server, args, listed_home, announce, stop).await
}

/// Returns the home that is served, and its keeper.
fn home_and_keeper(
    palace: &PalaceArgs,
    propose: Option<&str>,
) -> Result<(PathBuf, Keeper), Failure> {
    let (home, keeper) = (palace.home.find(), palace.keeper());
    let Some(branch) = propose else { return Ok((home, keeper)) };
    let proposal = keeper::open_proposal(&keeper, branch)?;
    anstream::eprintln!(
        "palazzo: changes go to the branch {0} as a proposal, and {1} stays as it is. \
         `palazzo proposals {2}` lists it, `palazzo diff --proposal {3} --home {2}` shows it.",
        quoted(branch),
        path_text(&home),
        quote_for_shell(&home.display().to_string()),
        quote_for_shell(branch)
    );
    if proposal.was_other_branch {
        anstream::eprintln!(
            "palazzo: the branch {} was there before and was no proposal; changes go on top of it",
            quoted(branch)
        );
    }
    if !proposal.palaces_with_uncommitted_changes.is_empty() {
        anstream::eprintln!(
            "palazzo: what is not committed in {} is not in the proposal",
            escape_unprintable_in_lines(&proposal.palaces_with_uncommitted_changes.join(", "))
        );
    }
    Ok((home, keeper.with_proposal(Some(proposal))))
}

/// Lists the tools for synchronizing and merging while that is set up for a palace of the home.
fn with_sync_tools_if_set_up(toolbox: Toolbox, home: PathBuf) -> Toolbox {
    toolbox.with_sync_tools_if(move || keeper::is_sync_set_up(&home, state_dir()))
}

/// Tells a person that this command is for client programs.
fn explain_standard_input(home: &Path) {
    anstream::eprintln!(
        "Serving {} over MCP on standard input, for a client program. `palazzo setup --print` \
         prints the client's configuration; `palazzo walk` is for people. Ctrl-D ends this.",
        path_text(home)
    );
}

/// Makes a server, which synchronizes palaces if `timing` is given. The flag cancels what takes
/// long.
pub(super) fn make_server(
    toolbox: Toolbox,
    keeper: Keeper,
    timing: Option<SyncTiming>,
) -> (Server, Arc<AtomicBool>) {
    let cancelled = Arc::<AtomicBool>::default();
    let server = Server::new(toolbox, keeper, current_time, TimeZone::of_machine);
    let server = match timing {
        None => server,
        Some(timing) => server.with_background_sync(BackgroundSyncSettings {
            timing,
            monotonic_clock: Instant::now,
            clock: current_time,
            cancelled: cancelled.clone(),
        }),
    };
    (server, cancelled)
}

/// Runs a server, which gets a future that is ready when the process receives a signal to end.
pub(super) fn run_until_signal(
    cancelled: Arc<AtomicBool>,
    serve: impl AsyncFnOnce(StopSignal) -> Result<(), Failure>,
) -> Outcome {
    // One thread handles the connection, so that calls take effect in the order they arrive.
    // The worker threads have as much stack as a main thread.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime
        .enable_all()
        .thread_stack_size(THREAD_STACK_BYTES)
        .thread_keep_alive(THREAD_KEEP_ALIVE)
        .build()?;
    let served = runtime.block_on(async { serve(Box::pin(end_on_signal(cancelled)?)).await });
    runtime.shutdown_background();
    served.map(|()| ExitCode::SUCCESS)
}

/// Is ready, with the number of the signal, when the process must end.
type StopSignal = Pin<Box<dyn Future<Output = i32> + Send>>;

/// Returns a future that is ready at the first signal to end; a second one ends the process at once,
/// after git was stopped.
fn end_on_signal(
    cancelled: Arc<AtomicBool>,
) -> std::io::Result<impl Future<Output = i32> + Send + 'static> {
    signal::termination_signal_with(move || {
        cancelled.store(true, Ordering::Relaxed);
        std::thread::sleep(GIT_KILL_TIME);
    })
}

/// Fails if two tools have the same name.
pub(super) fn reject_duplicate_tools(toolbox: Toolbox) -> Result<Toolbox, Failure> {
    match toolbox.duplicate_tool_name() {
        None => Ok(toolbox),
        Some(name) => Err(Failure::Message(format!(
            "two of the sets in --tools have different tools named `{name}`: offer one of the sets"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tool_sets_with_a_tool_of_the_same_name_are_refused() {
        let check = |sets: &[ToolSet]| reject_duplicate_tools(Toolbox::new(sets.to_vec()));
        insta::assert_snapshot!(
            check(&[ToolSet::Graph, ToolSet::Memory]).err().unwrap(),
            @"two of the sets in --tools have different tools named `create_entities`: offer one of the sets"
        );
        assert!(check(&ToolSet::FOR_ACTIONS).is_ok());
        assert!(check(&[]).is_ok());
    }
}
