//! What an answer adds about the commits that the call has made.

use crate::model::CommitId;

/// How many digits of a commit are shown.
const SHOWN: usize = 10;

/// Renders what went wrong although a change is made, a line each.
pub fn warnings(warnings: &[String]) -> String {
    warnings.iter().map(|it| format!("Warning: {it}\n")).collect()
}

/// Renders an error that occurred after `commits` were made: they stand.
pub fn failed_after(commits: &[CommitId], error: &str) -> String {
    match commits.last() {
        None => error.to_owned(),
        Some(last) => {
            let short: String = last.0.chars().take(SHOWN).collect();
            format!("the change is made (commit {short}), and only then this failed: {error}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_after_a_commit_says_that_the_change_is_made() {
        assert_eq!(failed_after(&[], "no room"), "no room");
        let commits = ["1111111111aaaa", "2222222222bbbb"].map(|it| CommitId(it.to_owned()));
        let said = "the change is made (commit 2222222222), and only then this failed: no room";
        assert_eq!(failed_after(&commits, "no room"), said);
    }
}
