//! Collects the contents of the pages of proposals.

use crate::history::item_diffs::{compare_files, replaced_scroll_files};
use crate::pages::page_session::{PageContent, PageSession};
use crate::pages::side_by_side::compare_file;
use crate::proposals::{list_proposals, merge_and_drop_commands};
use crate::{Refusal, Session};
use palazzo_core::model::{CommitId, FileDiff, Proposal, escape_unprintable};
use palazzo_core::view::{self, PageKind, ProposalPage};

/// How many files the page of a proposal compares.
const MAX_FILES: usize = 20;

/// Lists the proposals.
pub(super) fn proposals_content(page: &PageSession<'_, '_>) -> Result<PageContent, Refusal> {
    let proposals = list_proposals(page.session)?;
    let body = view::proposals_page(&proposals, page.links, page.session.caller.now);
    Ok(PageContent::of_kind(PageKind::Proposals, "Proposals", body))
}

/// Collects what the page of a proposal shows.
pub(super) fn proposal_content(
    page: &PageSession<'_, '_>,
    branch: &str,
) -> Result<PageContent, Refusal> {
    let session = &*page.session;
    let proposal = list_proposals(session)?.into_iter().find(|it| it.branch == branch);
    let proposal = proposal.ok_or_else(|| {
        let branch = escape_unprintable(branch);
        Refusal::Invalid(format!("there is no open proposal `{branch}`: it was merged or dropped"))
    })?;
    let base = base_of_proposal(session, &proposal)?;
    let diffs = diffs_of_proposal(session, &proposal, base.as_ref())?;
    let replaced = replaced_scroll_files(session.palace, base.as_ref(), &diffs)?;
    let [merge, drop] = merge_and_drop_commands(session.palace.store().palace_folder(), &proposal);
    let content = ProposalPage {
        items: compare_files(&diffs, &replaced).items,
        files: diffs.iter().take(MAX_FILES).map(compare_file).collect(),
        more_files: diffs.len().saturating_sub(MAX_FILES),
        merge,
        drop,
        proposal,
    };
    let body = view::proposal_page(&content, page.links, session.caller.now);
    let title = format!("Proposal {}", content.proposal.branch);
    Ok(PageContent { title, place: None, kind: Some(PageKind::Proposals), item: None, body })
}

/// Returns the commit at which a proposal left the checked-out branch.
fn base_of_proposal(
    session: &Session<'_>,
    proposal: &Proposal,
) -> Result<Option<CommitId>, Refusal> {
    let head =
        session.palace.store().resolve_moment("HEAD", session.caller.now, &session.caller.zone)?;
    Ok(session.palace.store().common_ancestor(&head, &tip_of_proposal(session, proposal)?)?)
}

/// Returns what a proposal changes since `base`.
fn diffs_of_proposal(
    session: &Session<'_>,
    proposal: &Proposal,
    base: Option<&CommitId>,
) -> Result<Vec<FileDiff>, Refusal> {
    let tip = tip_of_proposal(session, proposal)?;
    Ok(session.palace.store().as_of(&tip)?.diff_since(base)?)
}

fn tip_of_proposal(session: &Session<'_>, proposal: &Proposal) -> Result<CommitId, Refusal> {
    let tip = format!("refs/heads/{}", proposal.branch);
    Ok(session.palace.store().resolve_moment(&tip, session.caller.now, &session.caller.zone)?)
}
