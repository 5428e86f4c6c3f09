//! Parses what a command about the past names: items, and one or two revisions.

use crate::palace::OpenPalace;
use crate::palace::resolve;
use crate::{Caller, Refusal};
use palazzo_core::model::{CommitId, escape_unprintable, quoted};

/// The words of a command about the past.
#[derive(Clone, Debug, Default)]
pub struct RevisionQuery {
    /// Items and revisions; only revisions if `items` are given.
    pub words: Vec<String>,
    /// Items.
    pub items: Vec<String>,
}

/// Zero, one or two revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RevisionRange {
    /// No revision is named.
    None,
    /// `A`.
    One(CommitId),
    /// `A..B`, or two words `A B`.
    Two(CommitId, CommitId),
    /// `A...B`, with the best common ancestor of both.
    Symmetric { left: CommitId, right: CommitId, base: CommitId },
}

impl RevisionRange {
    /// Returns the later end, if it is a commit.
    pub(crate) fn end(&self) -> Option<&CommitId> {
        match self {
            Self::None => None,
            Self::One(end) | Self::Two(_, end) | Self::Symmetric { right: end, .. } => Some(end),
        }
    }
}

/// Divides the words of a query into the names of items and revisions, and resolves the latter.
pub(crate) fn parse_revision_query(
    palace: &OpenPalace,
    caller: &Caller,
    query: &RevisionQuery,
) -> Result<(Vec<String>, RevisionRange), Refusal> {
    let (mut items, mut range, mut single) = (query.items.clone(), RevisionRange::None, Vec::new());
    for word in &query.words {
        let revision = parse_revision_word(palace, caller, word);
        let is_item = query.items.is_empty() && resolve::is_item(palace, word);
        match revision {
            Ok(_) if is_item => return Err(ambiguous_word_refusal(word)),
            Err(_) if is_item => items.push(word.clone()),
            Ok(RevisionRange::One(commit)) => single.push(commit),
            Ok(other) if range == RevisionRange::None => range = other,
            Ok(_) => return Err(too_many_revisions_refusal()),
            // It may be the name of an item that only an earlier or later revision has.
            Err(_) if query.items.is_empty() && !looks_like_revision(word, caller) => {
                items.push(word.clone());
            }
            Err(refusal) => return Err(refusal),
        }
    }
    let range = match (single.len(), range) {
        (0, range) => range,
        (1, RevisionRange::None) => RevisionRange::One(single.remove(0)),
        (2, RevisionRange::None) => RevisionRange::Two(single.remove(0), single.remove(0)),
        _ => return Err(too_many_revisions_refusal()),
    };
    Ok((items, range))
}

/// Resolves one word: `A`, `A..B` or `A...B`. An empty end of a range is `HEAD`.
fn parse_revision_word(
    palace: &OpenPalace,
    caller: &Caller,
    word: &str,
) -> Result<RevisionRange, Refusal> {
    let resolve = |revision: &str| {
        let revision = if revision.trim().is_empty() { "HEAD" } else { revision };
        palace.store().resolve_revision(revision, caller.now, &caller.zone)
    };
    if let Some((left, right)) = word.split_once("...") {
        let (left, right) = (resolve(left)?, resolve(right)?);
        let Some(base) = palace.store().common_ancestor(&left, &right)? else {
            let why = format!("{} have no common ancestor", quoted(word));
            return Err(Refusal::Invalid(why));
        };
        return Ok(RevisionRange::Symmetric { left, right, base });
    }
    match word.split_once("..") {
        Some((old, new)) => Ok(RevisionRange::Two(resolve(old)?, resolve(new)?)),
        None => Ok(RevisionRange::One(resolve(word)?)),
    }
}

/// Refuses a word that is neither an item nor a revision.
pub(crate) fn unknown_word_refusal(query: &RevisionQuery, refusal: Refusal) -> Refusal {
    match query.items.is_empty() {
        true => Refusal::Invalid(format!("{refusal}; it is no time or git revision either")),
        false => refusal,
    }
}

/// Returns whether a word that could not be resolved is meant as a revision: a range, a time, or in
/// git's syntax.
fn looks_like_revision(word: &str, caller: &Caller) -> bool {
    word.contains("..")
        || word.contains(['~', '^', '@'])
        || word.starts_with('-')
        || caller.parse_start_time(word).is_some()
}

fn ambiguous_word_refusal(word: &str) -> Refusal {
    let word = escape_unprintable(word);
    Refusal::Invalid(format!(
        "`{word}` names a revision and something in the palace: give revisions before `--` and \
         things after it (`{word} --` or `-- {word}`)"
    ))
}

fn too_many_revisions_refusal() -> Refusal {
    Refusal::Invalid("give one revision, two, or one range: A, A B, A..B or A...B".to_owned())
}
