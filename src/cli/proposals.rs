//! `palazzo proposals`.

use std::process::ExitCode;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::cli::diff::commit_json;
use crate::cli::home::PalacesArgs;
use crate::cli::outcome::{Outcome, terminal_user};
use crate::cli::output_format::FormatArgs;
use crate::cli::terminal;
use palazzo_core::model::{Proposal, quote_for_shell};
use palazzo_core::render;
use palazzo_keeper::{self as keeper, PalaceProposals};

/// List the branches with proposed changes, and how to review, merge and drop them
///
/// A proposal is a branch that `palazzo serve --propose BRANCH` writes to, with changes that the
/// checked-out branch lacks. End the servers of a proposal before you merge or drop it; one that is
/// running is reported. Changes nothing.
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: PalacesArgs,

    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    let now = terminal_user("proposals").now;
    let palaces = keeper::list_proposals_of_home(&args.home.keeper()?)?;
    if args.format.is_json() {
        let values = palaces.iter().flat_map(proposals_json).collect::<Vec<_>>();
        terminal::print_text(&format!("{:#}", json!({ "proposals": values })))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = String::new();
    for palace in &palaces {
        for proposal in &palace.proposals {
            page.push_str(&proposal_text(palace, proposal, now));
        }
    }
    if page.is_empty() {
        page.push_str("There is no open proposal.\n");
    }
    terminal::print_page(&page)?;
    Ok(ExitCode::SUCCESS)
}

fn proposal_text(palace: &PalaceProposals, proposal: &Proposal, now: DateTime<Utc>) -> String {
    let branch = render::one_line(&proposal.branch);
    let summary = render::proposal_summary(proposal, now);
    let [merge, drop] = keeper::merge_and_drop_commands(&palace.folder, proposal);
    let mut lines = vec![format!("{branch}: {summary}, in {}", render::one_line(&palace.name))];
    if proposal.is_served {
        lines.push(format!("  first   {}", render::END_SERVERS_FIRST));
    }
    let steps = [
        ("review", vec![review_command(palace, proposal)]),
        ("merge", render::chain_commands(&merge)),
        ("drop", render::chain_commands(&drop)),
    ];
    for (step, commands) in steps {
        let names = std::iter::once(step).chain(std::iter::repeat(""));
        lines.extend(names.zip(commands).map(|(name, it)| format!("  {name:<8}{it}")));
    }
    lines.join("\n") + "\n"
}

fn proposals_json(palace: &PalaceProposals) -> Vec<Value> {
    let proposals = palace.proposals.iter().map(|it| {
        let [merge, drop] = keeper::merge_and_drop_commands(&palace.folder, it);
        json!({
            "branch": it.branch,
            "palace": palace.name,
            "folder": palace.folder,
            "worktree": it.worktree,
            "served": it.is_served,
            "commits": it.commits.iter().map(|it| commit_json(&it.summary)).collect::<Vec<_>>(),
            "review": review_command(palace, it),
            "merge": merge,
            "drop": drop,
        })
    });
    proposals.collect()
}

fn review_command(palace: &PalaceProposals, proposal: &Proposal) -> String {
    let branch = quote_for_shell(&proposal.branch);
    let folder = quote_for_shell(&palace.folder.display().to_string());
    format!("palazzo diff --proposal {branch} --home {folder}")
}
