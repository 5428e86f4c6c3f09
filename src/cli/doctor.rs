//! `palazzo doctor`.

mod client_configs;

use std::io::{IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::doctor::client_configs::{
    ClientConfigs, ConfiguredHook, ConfiguredServer, UnreadableConfig, read_client_configs,
    read_hooks,
};
use crate::cli::home::{self, PalacesArgs, WorkspaceArgs};
use crate::cli::outcome::{Failure, Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::{path_text, quote_for_shell};
use palazzo_core::render::{count_with_noun, group_thousands, name_in_sentence, whole_line};
use palazzo_keeper::{
    self as keeper, BlockingGitOperation, DoctorReport, FORMAT_VERSION, GitLock, Keeper,
};

/// Report how Palazzo is set up here, or remove a git lock file
///
/// Lists the versions of palazzo, its format of palaces, and git, how to update palazzo, the home,
/// the MCP clients whose configuration starts Palazzo, and for each palace its repository, its
/// branch, the names in its commits, the lock files that git has left there, and what slows down
/// its server. Changes nothing.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    /// Remove this git lock file, after a question; a lock file that a running process
    /// holds is kept
    #[arg(long, value_name = "PATH")]
    remove_lock: Option<PathBuf>,

    /// Remove the lock file without a question
    #[arg(long, requires = "remove_lock")]
    yes: bool,

    #[command(flatten)]
    format: FormatArgs,
}

/// How Palazzo is set up on this machine.
struct Report {
    /// How to update Palazzo.
    update_advice: &'static str,
    /// The version of git; `None`: it is not installed.
    git: Option<String>,
    /// The home.
    home: PathBuf,
    /// How the home was found.
    home_source: &'static str,
    /// How many folders the system watches for each user at most.
    max_watched_folders: Option<u64>,
    /// The configurations of clients.
    clients: ClientConfigs,
    /// The hooks of Palazzo in the settings of Claude Code.
    hooks: Vec<ConfiguredHook>,
    /// The palaces of the home.
    palaces: Vec<DoctorReport>,
}

impl Report {
    /// Renders the report for people.
    fn to_text(&self) -> String {
        let git = self
            .git
            .as_deref()
            .unwrap_or("git: not installed; commands that share palaces need it");
        let (home, source) = (path_text(&self.home), self.home_source);
        let mut page = format!(
            "palazzo {}, for palaces of format {FORMAT_VERSION}\n       to update: {}\n{git}\nhome {home} \
             ({source})\n",
            env!("PALAZZO_VERSION"),
            self.update_advice
        );
        let limit = self.max_watched_folders.map(|it| {
            let folders: usize = self.palaces.iter().map(|it| it.folder_count).sum();
            watch_limit_line(folders, it)
        });
        page += &limit.unwrap_or_default();
        for it in &self.clients.servers {
            page += &format!("client {}\n", server_line(it));
            page += &it.problem.map(|it| format!("       {it}\n")).unwrap_or_default();
        }
        for UnreadableConfig { client, file, reason } in &self.clients.unreadable {
            page += &format!("client {client}: {} cannot be read: {reason}\n", path_text(file));
        }
        page += &self.hooks.iter().map(hook_lines).collect::<String>();
        if self.clients == ClientConfigs::default() {
            page += "client none whose configuration starts Palazzo (palazzo setup)\n";
        }
        if self.palaces.is_empty() {
            page += "\nThere is no palace in the home; palazzo init NAME creates one.\n";
        }
        page + &self.palaces.iter().map(palace_text).collect::<String>()
    }

    /// Renders the report for programs.
    fn to_json(&self) -> String {
        let server = |it: &ConfiguredServer| {
            json!({
                "client": it.client,
                "file": it.file,
                "name": it.name,
                "command": it.command,
                "problem": it.problem,
            })
        };
        let unreadable = |it: &UnreadableConfig| json!({ "client": it.client, "file": it.file, "error": it.reason });
        let hook = |it: &ConfiguredHook| json!({ "file": it.file, "event": it.event, "home": it.home, "problem": it.problem });
        let report = json!({
            "version": env!("PALAZZO_VERSION"),
            "palace_format": FORMAT_VERSION,
            "update": self.update_advice,
            "git": self.git,
            "home": self.home,
            "home_source": self.home_source,
            "max_watched_folders": self.max_watched_folders,
            "clients": self.clients.servers.iter().map(server).collect::<Vec<_>>(),
            "unreadable_clients": self.clients.unreadable.iter().map(unreadable).collect::<Vec<_>>(),
            "hooks": self.hooks.iter().map(hook).collect::<Vec<_>>(),
            "palaces": self.palaces.iter().map(palace_json).collect::<Vec<_>>(),
        });
        format!("{report:#}\n")
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    match &args.remove_lock {
        Some(path) => remove_lock(args, path)?,
        None => print_report(args)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn print_report(args: &Args) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let (home, home_source) = home::find_home_and_source(args.home.given());
    if args.home.given().is_some() && !home.is_dir() {
        return Err(Failure::Message(format!("there is no folder {}", path_text(&home))));
    }
    let home = args.home.narrow_to_workspace(home)?;
    let user = terminal_user("doctor").name;
    // A link, such as that of Homebrew, does not show which package manager installed the program.
    let program = std::env::current_exe().and_then(|it| it.canonicalize()).unwrap_or_default();
    let clients = read_client_configs(&here);
    let report = Report {
        update_advice: update_advice(&program),
        git: keeper::git_version(),
        palaces: keeper::examine_palaces(&args.home.keeper()?, &user)?,
        max_watched_folders: keeper::max_watched_folders(),
        hooks: read_hooks(&clients.servers),
        clients,
        home,
        home_source,
    };
    match args.format.is_json() {
        false => terminal::print_page(&report.to_text())?,
        true => terminal::print_text(&report.to_json())?,
    }
    Ok(())
}

fn remove_lock(args: &Args, path: &Path) -> Result<(), Failure> {
    let (keeper, lock) = find_lock(&args.home, path)?;
    if !args.yes && lock.is_removable() {
        confirm_lock_removal(&lock)?;
    }
    if keeper::remove_git_lock(&keeper, path)? {
        terminal::print_page(&format!("removed {}", path_text(&lock.path)))?;
    }
    Ok(())
}

/// Finds the lock file in the given or default home, else in the folder that contains its
/// `.git`.
fn find_lock(args: &PalacesArgs, path: &Path) -> Result<(Keeper, GitLock), Failure> {
    let above = if args.given().is_none() { folder_above_git(path) } else { None };
    for home in [Some(args.find()?), above].into_iter().flatten() {
        let keeper = home::keeper_for_home(Some(&home), &WorkspaceArgs::default());
        if let Some(lock) = keeper::find_git_lock(&keeper, path)? {
            return Ok((keeper, lock));
        }
    }
    Err(Failure::Message(format!(
        "`{}` is not a git lock file in the repository of a palace here; name the palace: palazzo \
         doctor DIR --remove-lock PATH",
        path_text(path)
    )))
}

fn folder_above_git(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let git = path.ancestors().find(|it| it.file_name().is_some_and(|it| it == ".git"))?;
    git.parent().map(Path::to_owned)
}

fn confirm_lock_removal(lock: &GitLock) -> Result<(), Failure> {
    let kept = |why: &str| Failure::Message(format!("`{}` is kept: {why}", path_text(&lock.path)));
    if !stdin().is_terminal() {
        return Err(kept("without a terminal it is removed only with --yes"));
    }
    anstream::eprint!(
        "{} ({})\nRemove it? Only if no git is running there. [y/N] ",
        path_text(&lock.path),
        lock.description()
    );
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(kept("not confirmed")),
    }
}

/// Returns how to update the program at `program`, from the folder in which a package manager has
/// put it.
fn update_advice(program: &Path) -> &'static str {
    let is_below = |folder: &str| program.iter().any(|it| it == folder);
    match () {
        () if is_below("node_modules") => {
            "npm install --global palazzo@latest (clients that run npx: npx palazzo@latest)"
        }
        () if is_below("Cellar") => "brew upgrade palazzo",
        () if program.starts_with("/nix/store") => "nix profile upgrade palazzo",
        // A place for the owner stands in the address until the repository is public.
        () if env!("CARGO_PKG_REPOSITORY").contains("/OWNER/") => {
            "git pull && cargo install --locked --path . (in a checkout of Palazzo)"
        }
        () => concat!(
            "git pull && cargo install --locked --path . (in a checkout of Palazzo), or the newest \
             release: ",
            env!("CARGO_PKG_REPOSITORY"),
            "/releases"
        ),
    }
}

/// Renders the limit of watched folders, with what to do if the palaces come near to it.
fn watch_limit_line(folders: usize, limit: u64) -> String {
    let limit_text = group_thousands(usize::try_from(limit).unwrap_or(usize::MAX));
    let line = format!("watch {} of at most {limit_text}", count_with_noun(folders, "folder"));
    let is_near = u64::try_from(folders).is_ok_and(|it| it.saturating_mul(2) > limit);
    match is_near {
        true => format!("{line}: raise fs.inotify.max_user_watches, or changes are noticed late\n"),
        false => format!("{line}\n"),
    }
}

fn server_line(it: &ConfiguredServer) -> String {
    let command: Vec<_> = it.command.iter().map(|it| quote_for_shell(it)).collect();
    format!("{}, `{}` in {}: {}", it.client, it.name, path_text(&it.file), command.join(" "))
}

fn hook_lines(it: &ConfiguredHook) -> String {
    let home = it.home.as_ref().map_or("unknown".to_owned(), path_text);
    let problem = it.problem.as_ref().map(|it| format!("       {it}\n")).unwrap_or_default();
    format!("hook   Claude Code, {} in {}: home {home}\n{problem}", it.event, path_text(&it.file))
}

fn palace_text(it: &DoctorReport) -> String {
    let format = it.other_format.iter().map(|it| format!("format     {}", it.message));
    let mut lines: Vec<_> = format.chain(describe_repository(it)).collect();
    if let Some((author, committer)) = &it.identities {
        lines.push(format!("commits    you are {author}; agents have their own names"));
        if author != committer {
            lines.push(format!("           committed by {committer}"));
        }
    }
    match &it.signing {
        None => {}
        Some(Ok(())) => lines.push("signing    works: commits are signed".to_owned()),
        Some(Err(why)) => {
            lines.push(format!("signing    fails: {why}"));
            lines.push("           unlock the key: ssh-add, or sign once with gpg".to_owned());
        }
    }
    if let Some(name) = it.network_file_system {
        lines.push(format!("files on   {name}, which may not report every change: a server polls"));
    }
    match &it.model {
        None => {}
        Some((folder, None)) => lines.push(format!("model      {}", whole_line(folder))),
        Some((folder, Some(error))) => {
            lines.push(format!("model      {}: {error}", whole_line(folder)));
        }
    }
    for it in &it.proposals {
        let count = count_with_noun(it.commits.len(), "commit");
        lines.push(format!(
            "proposal   {}: {count} (palazzo proposals)",
            name_in_sentence(&it.branch)
        ));
    }
    for lock in &it.locks {
        lines.push(format!("lock file  {}: {}", path_text(&lock.path), lock.description()));
        let what = if lock.is_removable() { lock.removal_command() } else { lock.advice() };
        lines.push(format!("           {what}"));
    }
    let name = name_in_sentence(&it.name);
    format!("\n{name} in {}\n  {}\n", path_text(&it.root), lines.join("\n  "))
}

fn describe_repository(it: &DoctorReport) -> Vec<String> {
    match &it.repository {
        Ok(Some(it)) => {
            let mut lines = vec![
                format!("repository {} ({})", path_text(&it.git_dir), it.format),
                format!("HEAD       {}", it.head),
            ];
            lines.extend(it.peculiarities.iter().map(|it| format!("           {it}")));
            let operation = it.operation.map(|it| (it.name(), it.remedy()));
            if let Some((name, remedy)) = operation {
                lines.push(format!("under way  git {name}; end it with {remedy}"));
            }
            lines
        }
        Ok(None) if it.has_lost_history => {
            vec![
                "repository lost; nothing is written until there is one (palazzo check)".to_owned(),
            ]
        }
        Ok(None) => vec!["repository none yet; the first write creates one".to_owned()],
        Err(err) => vec![format!("repository {err}")],
    }
}

fn palace_json(it: &DoctorReport) -> Value {
    let lock = |it: &GitLock| {
        json!({
            "path": it.path,
            "age_seconds": it.age.map(|it| it.as_secs()),
            "description": it.description(),
            "is_held": it.is_held_by_process(),
        })
    };
    let repository = it.repository.as_ref().ok().and_then(Option::as_ref).map(|it| {
        let operation = it.operation.map(BlockingGitOperation::name);
        json!({
            "git_dir": it.git_dir,
            "format": it.format,
            "head": it.head,
            "peculiarities": it.peculiarities,
            "operation": operation,
        })
    });
    json!({
        "name": it.name,
        "folder": it.root,
        "other_format": it.other_format.as_ref().map(|it| &it.message),
        "repository": repository,
        "repository_error": it.repository.as_ref().err().map(ToString::to_string),
        "has_lost_history": it.has_lost_history,
        "author": it.identities.as_ref().map(|it| &it.0),
        "committer": it.identities.as_ref().map(|it| &it.1),
        "signing": it.signing.as_ref().map(Result::is_ok),
        "signing_error": it.signing.as_ref().and_then(|it| it.as_ref().err()),
        "network_file_system": it.network_file_system,
        "folders": it.folder_count,
        "model": it.model.as_ref().map(|it| &it.0),
        "model_error": it.model.as_ref().and_then(|it| it.1.as_ref()),
        "proposals": it.proposals.iter().map(|it| &it.branch).collect::<Vec<_>>(),
        "locks": it.locks.iter().map(lock).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use palazzo_store::{BlockingGitOperation, LockOwner, RepositoryState};

    #[test]
    fn the_folder_of_a_lock_is_the_one_that_contains_git() {
        let above = |path: &str| folder_above_git(Path::new(path));
        let here = std::path::absolute("a").unwrap();
        assert_eq!(above("a/.git/index.lock"), Some(here.clone()));
        assert_eq!(above("a/.git/refs/heads/main.lock"), Some(here));
        assert_eq!(above("/a/.github/index.lock"), None);
    }

    #[test]
    fn the_advice_fits_the_package_manager_that_installed_the_program() {
        let advice = |program: &str| {
            let advice = update_advice(Path::new(program));
            advice.split(' ').next().unwrap()
        };
        assert_eq!(advice("/usr/lib/node_modules/palazzo-linux-x64/palazzo"), "npm");
        assert_eq!(advice("/opt/homebrew/Cellar/palazzo/0.1.0/bin/palazzo"), "brew");
        assert_eq!(advice("/nix/store/abc-palazzo-0.1.0/bin/palazzo"), "nix");
        assert_eq!(advice("/home/me/.cargo/bin/palazzo"), "git");
        let whole = update_advice(Path::new("/home/me/.cargo/bin/palazzo"));
        assert!(!whole.contains("OWNER"), "{whole}");
    }

    fn report(state: Option<RepositoryState>, has_lost_history: bool) -> DoctorReport {
        DoctorReport {
            name: "Keep".to_owned(),
            root: PathBuf::from("/a/keep"),
            other_format: None,
            repository: Ok(state),
            proposals: Vec::new(),
            locks: Vec::new(),
            has_lost_history,
            identities: None,
            signing: None,
            network_file_system: None,
            folder_count: 1,
            model: None,
        }
    }

    #[test]
    fn the_limit_of_watched_folders_has_a_remedy_when_it_is_near() {
        assert_eq!(watch_limit_line(40, 65_536), "watch 40 folders of at most 65,536\n");
        assert!(watch_limit_line(40, 60).contains("raise fs.inotify.max_user_watches"));
    }

    #[test]
    fn a_palace_shows_its_names_its_file_system_and_its_model() {
        let identities = ["Ada <ada@a.org>", "Bob <bob@a.org>"].map(str::to_owned).into();
        let shown = palace_text(&DoctorReport {
            identities: Some(identities),
            network_file_system: Some("NFS"),
            model: Some(("/m".to_owned(), Some("there is no `vocab.txt` in `/m`".to_owned()))),
            ..report(None, false)
        });
        insta::assert_snapshot!(shown, @"

        Keep in /a/keep
          repository none yet; the first write creates one
          commits    you are Ada <ada@a.org>; agents have their own names
                     committed by Bob <bob@a.org>
          files on   NFS, which may not report every change: a server polls
          model      /m: there is no `vocab.txt` in `/m`
        ");
    }

    #[test]
    fn clients_are_listed_with_their_command_and_their_file() {
        let command = ["palazzo", "serve", "/a b"].map(str::to_owned).into();
        let (file, name) = ("/h/.cursor/mcp.json".into(), "palazzo".to_owned());
        let server = ConfiguredServer { client: "Cursor", file, name, command, problem: None };
        let line = "Cursor, `palazzo` in /h/.cursor/mcp.json: palazzo serve '/a b'";
        assert_eq!(server_line(&server), line);
    }

    #[test]
    fn a_palace_without_a_repository_has_none_yet_or_has_lost_it() {
        insta::assert_snapshot!(palace_text(&report(None, false)), @"

        Keep in /a/keep
          repository none yet; the first write creates one
        ");
        insta::assert_snapshot!(palace_text(&report(None, true)), @"

        Keep in /a/keep
          repository lost; nothing is written until there is one (palazzo check)
        ");
    }

    #[test]
    fn a_lock_has_a_command_that_removes_it_unless_somebody_needs_it() {
        let lock = |path: &str, owner| GitLock {
            path: PathBuf::from(path),
            age: Some(Duration::from_secs(90)),
            owner,
        };
        let held = LockOwner::Process { id: 7, name: "git".to_owned() };
        let locks = vec![
            lock("/a/.git/index.lock", held),
            lock("/a/.git/HEAD.lock", LockOwner::InterruptedWrite),
            lock("/a b/HEAD.lock", LockOwner::Unknown),
        ];
        let shown = palace_text(&DoctorReport { locks, ..report(None, false) });
        let (_, shown) = shown.split_once("creates one\n").unwrap();
        insta::assert_snapshot!(shown, @"
        lock file  /a/.git/index.lock: 90 s old, held by process 7 (git)
                   wait for that process to end
        lock file  /a/.git/HEAD.lock: 90 s old, left by a write of Palazzo that was interrupted
                   the next change by Palazzo takes that write back and removes the lock
        lock file  /a b/HEAD.lock: 90 s old, no process is known to hold it
                   palazzo doctor --remove-lock '/a b/HEAD.lock'
        ");
    }

    #[test]
    fn an_operation_under_way_is_shown_with_its_remedy() {
        let operation = BlockingGitOperation::Rebase;
        let (work, git_dir) = (PathBuf::from("/a"), PathBuf::from("/a/.git"));
        let (format, head) = ("sha1, files".to_owned(), "main".to_owned());
        let state = RepositoryState {
            work,
            git_dir,
            format,
            head,
            peculiarities: Vec::new(),
            operation: Some(operation),
        };
        let shown = palace_text(&report(Some(state), false));
        let line = format!("  under way  git rebase; end it with {}\n", operation.remedy());
        assert!(shown.ends_with(&line), "{shown}");
        assert!(
            shown.contains("  repository /a/.git (sha1, files)\n  HEAD       main\n"),
            "{shown}"
        );
    }
}
