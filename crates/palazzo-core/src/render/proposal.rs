//! Renders proposals: branches with changes that a person has not merged yet.

use chrono::{DateTime, Utc};

use crate::model::{Proposal, quoted};
use crate::render::{ago, count_with_noun, name_in_sentence, truncate};

/// The maximum number of authors that are named.
const MAX_AUTHORS: usize = 5;

/// What a person does before merging or dropping a proposal that a server writes to.
pub const END_SERVERS_FIRST: &str =
    "end the servers that write to it: without the branch they cannot go on";

/// Joins commands so that each runs only if the one before has succeeded, a line for each.
pub fn chain_commands(commands: &[String]) -> Vec<String> {
    let last = commands.len().saturating_sub(1);
    let chain =
        |(at, it): (usize, &String)| if at < last { format!("{it} &&") } else { it.clone() };
    commands.iter().enumerate().map(chain).collect()
}

/// Renders the notice that changes go to a branch. `distance` are the numbers
/// of commits that only the branch has, and that only `base` has; without a `base`, `HEAD` was on
/// no branch.
pub fn proposal_notice(
    branch: &str,
    base: Option<&str>,
    distance: Option<(usize, usize)>,
) -> String {
    let base = base.map_or_else(|| "where it began".to_owned(), quoted);
    let distance = match distance {
        None => String::new(),
        Some((ahead, 0)) => format!(" ({} ahead of {base})", count_with_noun(ahead, "commit")),
        Some((ahead, behind)) => {
            let ahead = count_with_noun(ahead, "commit");
            format!(" ({ahead} ahead of {base}, {behind} behind)")
        }
    };
    let branch = quoted(branch);
    format!("Changes go to the branch {branch} as a proposal{distance}; a person merges it.\n\n")
}

/// Summarizes a proposal: `3 commits by claude, the newest 2 hours ago`.
pub fn proposal_summary(proposal: &Proposal, now: DateTime<Utc>) -> String {
    let authors = proposal.authors();
    let mut names: Vec<_> =
        authors.iter().take(MAX_AUTHORS).map(|it| name_in_sentence(&truncate(it, 40))).collect();
    if authors.len() > MAX_AUTHORS {
        names.push(format!("{} more", authors.len() - MAX_AUTHORS));
    }
    let newest = proposal.commits.first().map(|it| ago(it.summary.at, now)).unwrap_or_default();
    let count = count_with_noun(proposal.commits.len(), "commit");
    format!("{count} by {}, the newest {newest}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[test]
    fn a_visitor_reads_where_changes_go() {
        let notice = |base, distance| proposal_notice("ideas", base, distance);
        assert_snapshot!(notice(Some("main"), Some((3, 0))).trim(), @"Changes go to the branch `ideas` as a proposal (3 commits ahead of `main`); a person merges it.");
        assert_snapshot!(notice(Some("main"), Some((1, 2))).trim(), @"Changes go to the branch `ideas` as a proposal (1 commit ahead of `main`, 2 behind); a person merges it.");
        assert_snapshot!(notice(None, Some((0, 0))).trim(), @"Changes go to the branch `ideas` as a proposal (0 commits ahead of where it began); a person merges it.");
        assert_snapshot!(notice(Some("main"), None).trim(), @"Changes go to the branch `ideas` as a proposal; a person merges it.");
    }
}
