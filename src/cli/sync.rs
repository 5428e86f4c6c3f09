//! `palazzo sync`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::confirmation::confirm;
use crate::cli::home::{self, PalacesArgs};
use crate::cli::outcome::{Failure, Outcome, current_time};
use crate::cli::output_format::FormatArgs;
use crate::cli::signal;
use crate::cli::terminal;
use palazzo_core::model::{GitUrl, path_text, quote_for_shell, quoted};
use palazzo_core::render;
use palazzo_keeper::{
    self as keeper, Refusal, RepositoryWithPalaces, SyncOptions, SyncReport, SyncSetupReport,
    SyncState,
};

/// Exchange commits with the upstream of the current branch: fetch, merge, push
///
/// Palaces are merged field by field, and a conflict never stops it: one value stands, and the
/// other is kept in a file in `conflicts`. It runs only after `palazzo sync --setup` on this
/// machine. The exit code is 0 if the two are in sync, 1 if they are in sync and conflicts are
/// recorded, 2 if it was not done.
#[derive(Clone, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    /// Allow it on this machine, with the upstream of the branch; a branch without one gets URL
    #[arg(long, value_name = "URL", num_args = 0..=1, conflicts_with_all = ["status", "undo", "dry_run"])]
    #[expect(clippy::option_option, reason = "it may be given with and without a URL")]
    setup: Option<Option<String>>,

    /// Report the state as last fetched, without reaching another machine
    #[arg(long, conflicts_with_all = ["undo", "dry_run", "accept"])]
    status: bool,

    /// Drop the last merge, if it was not pushed
    #[arg(long, conflicts_with_all = ["dry_run", "accept"])]
    undo: bool,

    /// With --undo: commit the reverse of the last merge, and push it
    #[arg(long, requires = "undo")]
    push_revert: bool,

    /// Only fetch, and report what would be merged and pushed
    #[arg(long)]
    dry_run: bool,

    /// Accept that the remote deletes many files or sets `commit = "manual"`; with --setup, that the
    /// memory of Claude Code in a palace is sent there
    #[arg(long)]
    accept: bool,

    /// The time limit of each fetch and each push, and for another palazzo that synchronizes
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,

    #[command(flatten)]
    format: FormatArgs,
}

/// The result for one repository: what is printed, as text and as JSON, and whether conflicts are
/// recorded.
struct RepositoryResult {
    text: String,
    json: Value,
    has_conflicts: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let args = &args.clone().with_folder_before_setup();
    let keeper = args.home.keeper()?;
    home::require_palace(&keeper, &args.home.find()?)?;
    let repositories = keeper::list_repositories_with_palaces(&keeper)?;
    if matches!(args.setup, Some(Some(_))) && repositories.len() > 1 {
        let message =
            "the palaces are in several repositories; name one: `palazzo sync DIR --setup URL`";
        return Err(Failure::Message(message.to_owned()));
    }
    let cancelled = Arc::<AtomicBool>::default();
    let signals = signal::cancel_on_signal(cancelled.clone());
    let (mut code, mut entries) = (0, Vec::new());
    for repository in &repositories {
        let working_directory = repository.working_directory().display().to_string();
        let shown = path_text(repository.working_directory());
        match args.run_for(repository, &cancelled) {
            Ok(result) => {
                code = code.max(u8::from(result.has_conflicts));
                entries.push(json_entry(&working_directory, result.json));
                if !args.format.is_json() {
                    terminal::print_page(&format!("{shown}\n{}", indent(&result.text)))?;
                }
            }
            Err(failure) => {
                code = 2;
                let message = failure.to_string();
                entries.push(json_entry(&working_directory, json!({ "error": message })));
                terminal::eprint_failure(&format!("{shown}: {message}"));
            }
        }
    }
    signals.exit_if_cancelled();
    if args.format.is_json() {
        terminal::print_text(&format!("{:#}\n", json!({ "repositories": entries })))?;
    }
    Ok(ExitCode::from(code))
}

impl Args {
    /// Reads `--setup DIR` as `DIR --setup`, and `--setup DIR URL` as `DIR --setup URL`, if there
    /// are palaces in DIR: a remote has none.
    fn with_folder_before_setup(self) -> Self {
        let Some(Some(folder)) = self.setup.clone() else { return self };
        if !home::has_palaces(Path::new(&folder)) {
            return self;
        }
        let given = self.home.given();
        match given.map(|it| (it, home::has_palaces(it))) {
            Some((_, true)) => self,
            Some((url, false)) => {
                let url = url.display().to_string();
                let home = self.home.with_dir(folder.into());
                Self { home, setup: Some(Some(url)), ..self }
            }
            None => {
                let home = self.home.with_dir(folder.into());
                Self { home, setup: Some(None), ..self }
            }
        }
    }

    fn run_for(
        &self,
        repository: &RepositoryWithPalaces,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<RepositoryResult, Failure> {
        let time_limit = Duration::from_secs(self.time_limit);
        if let Some(url) = &self.setup {
            self.confirm_memory_is_sent(repository, url.as_deref())?;
            let setup = run_when_free(time_limit, |lock_timeout| {
                keeper::set_up_sync(repository, url.as_deref(), time_limit, lock_timeout)
            })?;
            return Ok(setup_result(&setup, repository));
        }
        if self.status {
            return Ok(status_result(&keeper::sync_state(repository)?));
        }
        let mut reverted = None;
        if self.push_revert {
            reverted = Some(keeper::revert_last_sync(repository, current_time())?);
        } else if self.undo {
            return Ok(undo_result(&keeper::undo_last_sync(repository)?));
        }
        let options = |lock_timeout| SyncOptions {
            pushes: true,
            is_dry_run: self.dry_run,
            is_accepted: self.accept,
            time_limit,
            lock_timeout,
            now: current_time(),
            cancelled: cancelled.clone(),
        };
        let report = run_when_free(time_limit, |lock_timeout| {
            keeper::sync_repository(repository, &options(lock_timeout))
        })?;
        for warning in &report.warnings {
            anstream::eprintln!("palazzo: {warning}");
        }
        let result = report_result(&report, self.dry_run);
        Ok(match reverted {
            Some(ids) => result.after_revert(&ids),
            None => result,
        })
    }
}

impl Args {
    /// Asks whether the memory of a host in the repository may be sent, each time: it is private, and
    /// grows.
    fn confirm_memory_is_sent(
        &self,
        repository: &RepositoryWithPalaces,
        url: Option<&str>,
    ) -> Result<(), Failure> {
        let palaces = keeper::palaces_with_host_memory(repository);
        let Some(palace) = palaces.first() else { return Ok(()) };
        let upstream = || Some(keeper::sync_state(repository).ok()?.status.upstream.description());
        let remote = match url {
            Some(url) => quoted(&url.parse::<GitUrl>().map_or(url.to_owned(), |it| it.to_string())),
            None => upstream().unwrap_or_else(|| "the upstream of the branch".to_owned()),
        };
        let question = format!(
            "The palace in {} holds the memory of Claude Code, which is private. Each sync sends it to \
             {remote}. Set that up?",
            path_text(palace)
        );
        match confirm(&question, self.accept, "--accept")? {
            true => Ok(()),
            false => Err(Failure::Message("nothing is set up".to_owned())),
        }
    }
}

/// Runs what needs the lock of a synchronization; if another process has it, waits up to the time
/// limit.
fn run_when_free<T>(
    time_limit: Duration,
    run: impl Fn(Duration) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    match run(Duration::ZERO) {
        Err(refusal) if refusal.is_busy_with_sync() => {
            anstream::eprintln!("palazzo: waiting for another palazzo that synchronizes");
            run(time_limit)
        }
        result => result,
    }
}

fn json_entry(work: &str, mut entry: Value) -> Value {
    entry["repository"] = json!(work);
    entry
}

fn indent(text: &str) -> String {
    text.lines().map(|it| format!("  {it}\n")).collect::<Vec<_>>().concat()
}

fn setup_result(setup: &SyncSetupReport, repository: &RepositoryWithPalaces) -> RepositoryResult {
    let SyncSetupReport { upstream, is_new_upstream, ahead } = setup;
    let folder = quote_for_shell(&repository.working_directory().display().to_string());
    let mut text = format!("may sync with {upstream} on this machine from now on\n");
    if *is_new_upstream {
        text.push_str("added the remote to .git/config\n");
    }
    if let Some(ahead) = ahead {
        text.push_str(&format!("{} to push\n", count(*ahead, "commit")));
    }
    text.push_str(&format!(
        "`palazzo sync {folder}` fetches, merges and pushes; `palazzo trust --remove {folder}` \
         withdraws the consent\n"
    ));
    let json = json!({ "upstream": upstream, "set_up": true, "ahead": ahead });
    RepositoryResult { text, json, has_conflicts: false }
}

fn status_result(state: &SyncState) -> RepositoryResult {
    let set_up = match state.is_set_up {
        true => "set up on this machine",
        false => "not set up on this machine: run `palazzo sync --setup`",
    };
    let reached = match state.status.record.last_reached {
        Some(at) => format!("last reached {}", render::ago(at, current_time())),
        None => "never reached from here".to_owned(),
    };
    let difference = match (state.status.ahead, state.status.behind) {
        (Some(ahead), Some(behind)) => {
            format!("{} to push, {} to merge\n", count(ahead, "commit"), count(behind, "commit"))
        }
        _ => String::new(),
    };
    let failure = state.status.record.failure.as_ref();
    let failed = failure.map(|it| {
        let since = render::time_of_day(it.since, current_time());
        format!("failed since {since}: {}\n", render::whole_line(&it.message))
    });
    let text = format!(
        "{}: {set_up}\n{reached}\n{difference}{}\n{}",
        state.status.upstream.description(),
        count(state.conflicts, "conflict"),
        failed.unwrap_or_default()
    );
    let json = json!({
        "upstream": state.status.upstream.description(),
        "url": state.status.upstream.url.to_string(),
        "set_up": state.is_set_up,
        "ahead": state.status.ahead,
        "behind": state.status.behind,
        "last_reached": state.status.record.last_reached.map(|it| it.to_rfc3339()),
        "conflicts": state.conflicts,
        "failure": failure.map(|it| json!({
            "since": it.since.to_rfc3339(),
            "kind": it.kind,
            "message": it.message,
        })),
    });
    RepositoryResult { text, json, has_conflicts: false }
}

fn undo_result([merge, before]: &[String; 2]) -> RepositoryResult {
    RepositoryResult {
        text: format!("dropped the merge {merge}; the newest commit is {before}\n"),
        json: json!({ "dropped": merge, "commit": before }),
        has_conflicts: false,
    }
}

impl RepositoryResult {
    /// Adds that a merge was reverted before.
    fn after_revert(mut self, [merge, commit]: &[String; 2]) -> Self {
        self.json["reverted"] = json!(merge);
        self.json["revert"] = json!(commit);
        let text = format!("reverted the merge {merge} with the commit {commit}\n{}", self.text);
        Self { text, ..self }
    }
}

fn report_result(report: &SyncReport, is_dry_run: bool) -> RepositoryResult {
    let json = json!({
        "upstream": report.upstream,
        "dry_run": is_dry_run,
        "received": report.received,
        "sent": report.sent,
        "merged": report.is_merged,
        "files": { "added": report.files[0], "changed": report.files[1], "deleted": report.files[2] },
        "new_conflicts": report.new_conflicts,
        "conflicts": report.conflicts,
        "rewritten": report.is_rewritten,
        "commit": report.commit,
    });
    let text = report_text(report, is_dry_run);
    RepositoryResult { text, json, has_conflicts: report.conflicts > 0 }
}

fn report_text(report: &SyncReport, is_dry_run: bool) -> String {
    let SyncReport { received, sent, files: [added, changed, deleted], .. } = report;
    let mut text = match is_dry_run {
        true => format!("would sync with {}\n", report.upstream),
        false => format!("in sync with {}\n", report.upstream),
    };
    if report.is_rewritten {
        text.push_str("the history of the remote was rewritten; nothing of yours was dropped\n");
    }
    let verb = |done: &'static str, planned| if is_dry_run { planned } else { done };
    if *received > 0 {
        let verb = match report.is_merged {
            true => verb("merged", "would merge"),
            false => verb("received", "would receive"),
        };
        let commits = count(*received, "commit");
        text.push_str(&format!(
            "{verb} {commits}: {added} added, {changed} changed, {deleted} deleted files\n"
        ));
    }
    if *sent > 0 {
        text.push_str(&format!("{} {}\n", verb("pushed", "would push"), count(*sent, "commit")));
    }
    if report.new_conflicts > 0 {
        let conflicts = count(report.new_conflicts, "new conflict");
        text.push_str(&format!("{} {conflicts}\n", verb("recorded", "would record")));
    }
    if report.conflicts > 0 {
        text.push_str(&format!("{} in `conflicts`\n", count(report.conflicts, "conflict")));
    }
    text
}

fn count(number: usize, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> SyncReport {
        SyncReport {
            upstream: "`main` of origin (https://example.org/a)".to_owned(),
            received: 3,
            sent: 2,
            is_merged: true,
            files: [1, 4, 0],
            new_conflicts: 1,
            conflicts: 2,
            ..SyncReport::default()
        }
    }

    #[test]
    fn a_merge_with_conflicts_is_reported() {
        insta::assert_snapshot!(report_text(&report(), false), @"
        in sync with `main` of origin (https://example.org/a)
        merged 3 commits: 1 added, 4 changed, 0 deleted files
        pushed 2 commits
        recorded 1 new conflict
        2 conflicts in `conflicts`
        ");
    }

    #[test]
    fn a_dry_run_reports_what_would_be_done() {
        let report = SyncReport { conflicts: 0, ..report() };
        insta::assert_snapshot!(report_text(&report, true), @"
        would sync with `main` of origin (https://example.org/a)
        would merge 3 commits: 1 added, 4 changed, 0 deleted files
        would push 2 commits
        would record 1 new conflict
        ");
    }
}
