//! Searches everything in a palace, for the search in the menu of rooms (v2 section 3.8).

use std::collections::HashSet;
use std::ops::Range;

use crate::palace::loaded_palace::LoadedPalace;
use crate::palace::search_documents;
use crate::search::exact_phrase;
use crate::search::palace_search::{
    IndexUse, describe_hit, is_in_rooms, passage_of_hit, run_search, tell_drawers_apart,
};
use crate::walk::was_shown;
use crate::{Refusal, SearchQuery, Session};
use palazzo_core::model::{ItemId, Layout, Slot};
use palazzo_core::render::{self, HitView, WordHits};
use palazzo_core::search::{Hit, Hits, ItemsWithWord, Query, most_matching_text};

/// Maximum number of characters of an excerpt.
const EXCERPT_CHARS: usize = 160;
/// Maximum number of characters of an excerpt of several searches.
const SHORT_EXCERPT_CHARS: usize = 100;
/// The characters of the passages of the best hits together, of one search and of each of several.
const BEST_PASSAGE_CHARS: usize = 800;
const BEST_PASSAGE_CHARS_OF_EACH: usize = 300;
/// The maximum number of hits that are shown at once, and their minimum share of
/// the best similarity.
const MAX_STRONG_HITS: usize = 8;
const MIN_SHARE: f32 = 0.5;
/// The maximum number of hits that each of several searches shows, without a good one, and their minimum share.
const MAX_HITS_OF_EACH: usize = 3;
const MAX_POOR_HITS_OF_EACH: usize = 2;
const MIN_SHARE_OF_EACH: f32 = 0.85;
/// Of more passages of one item, several searches show only excerpts: who needs more opens it.
const MAX_PASSAGES_OF_ITEM: usize = 2;
/// The maximum number of searches in one call: the numbers of the menu open the hits of that many.
const MAX_SEARCHES: usize = Layout::MAX_RESULTS / MAX_HITS_OF_EACH;
/// A passage with each word of a query once has more; of several searches, the best hit of another one is
/// shown with an excerpt only.
const GOOD_SIMILARITY: f32 = 0.6;
/// Stop words alone never have this similarity.
const MIN_SIMILARITY: f32 = 0.2;

/// Searches everything for each line of a text. The numbers of the listed items open the hits.
pub(crate) fn search_from_menu(
    session: &mut Session<'_>,
    text: Option<&str>,
) -> Result<String, Refusal> {
    let audience = session.caller.audience();
    let text = text.unwrap_or_default();
    let lines: Vec<_> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    session.palace.load_provenance()?;
    match lines[..] {
        [] => {
            let for_agent =
                "Give in `params` the words to search for; several searches one a line.";
            Ok(audience.choose(for_agent, "Give the words: `search WORDS`.").to_owned())
        }
        [line] => search_once(session, line),
        _ => search_each(session, &lines),
    }
}

/// Searches once, and keeps what is not shown for number 13.
fn search_once(session: &mut Session<'_>, text: &str) -> Result<String, Refusal> {
    let query = SearchQuery::parse(text)?;
    let found = find(session, &query)?;
    if found.best.is_empty() {
        // The numbers of the answer before stay valid.
        return Ok(render_no_result(text, &query) + &found.ranker);
    }
    let (strong, total) = (found.strong, found.total);
    let counts = count_items_by_word(session, &query)?;
    let views = describe_new_hits(session, &found, (BEST_PASSAGE_CHARS, EXCERPT_CHARS));
    let (items, views): (Vec<_>, Vec<_>) = views.into_iter().unzip();
    session.visit.record_listed_items(items);
    let number = |it| Layout::Wide.number_of_slot(Slot::Result(it));
    let rows: Vec<_> = views.into_iter().enumerate().map(|(at, it)| (number(at), it)).collect();
    session.visit.shown_results = strong;
    let (shown, weaker) = rows.split_at(strong);
    let more = total - rows.len();
    session.visit.weaker_results = render::weaker_results(weaker, more).map(Into::into);
    let mut number = |it| session.visit.number_listed_item(it);
    let counts: Vec<_> = counts.into_iter().map(|it| word_count(it, &mut number)).collect();
    let page = render::search_results(text, (shown, &[], strong), &counts);
    let weaker = match total - strong {
        0 => String::new(),
        weaker => format!("  13 shows {}\n", render::count_with_noun(weaker, "weaker result")),
    };
    Ok(page + &weaker + &found.ranker)
}

/// Runs several searches, and shows the best hits of each.
fn search_each(session: &mut Session<'_>, lines: &[&str]) -> Result<String, Refusal> {
    let (mut parts, mut ranker, mut seen) = (Vec::new(), String::new(), HashSet::new());
    let before = session.visit.take_listing();
    session.visit.record_listed_items(Vec::new());
    for line in lines.iter().take(MAX_SEARCHES) {
        let found = SearchQuery::parse(line).and_then(|it| Ok((find(session, &it)?, it)));
        parts.push(match found {
            Ok((found, query)) if found.best.is_empty() => render_no_result(line, &query),
            Ok((found, query)) => {
                ranker.clone_from(&found.ranker);
                render_one_of_several(session, line, &query, found, &mut seen)?
            }
            Err(refusal) => {
                let line = render::in_quotes(&render::truncate(line, 80));
                format!("{line}: {refusal}\n")
            }
        });
    }
    session.visit.shown_results = session.visit.listed_items.len();
    if session.visit.listed_items.is_empty() {
        session.visit.restore_listing(before);
    }
    if lines.len() > MAX_SEARCHES {
        let left = lines.len() - MAX_SEARCHES;
        parts.push(format!(
            "The last {left} lines were not searched: at most {MAX_SEARCHES} at once.\n"
        ));
    }
    Ok(parts.join("\n") + &ranker)
}

/// Renders the best hits of one of several searches, and gives them numbers. Of those that an earlier
/// search has shown, only a new passage of the best one is shown.
fn render_one_of_several(
    session: &mut Session<'_>,
    line: &str,
    query: &SearchQuery,
    mut found: Found,
    seen: &mut HashSet<(ItemId, Range<usize>)>,
) -> Result<String, Refusal> {
    let counts = count_items_by_word(session, query)?;
    let highest = found.best.first().map_or(0.0, |it| it.similarity);
    let is_good = highest * share_of_known_words(&counts) >= GOOD_SIMILARITY;
    let limit = if is_good { MAX_HITS_OF_EACH } else { MAX_POOR_HITS_OF_EACH };
    found.best.truncate(found.strong.min(limit));
    found.best.retain(|it| it.similarity >= MIN_SHARE_OF_EACH * highest);
    let (mut rows, mut again) = (Vec::new(), Vec::new());
    let known = session.visit.listed_items.clone();
    let passage = found.best.first().map(|it| (it.item.clone(), it.passage.clone()));
    let shown = |it: &(ItemId, _)| seen.iter().filter(|(item, _)| *item == it.0).count();
    let is_much_shown = passage.as_ref().is_some_and(|it| shown(it) >= MAX_PASSAGES_OF_ITEM);
    let is_new_passage = passage.is_some_and(|it| seen.insert(it));
    let chars = match is_good {
        _ if is_much_shown => SHORT_EXCERPT_CHARS,
        true => BEST_PASSAGE_CHARS_OF_EACH,
        false => EXCERPT_CHARS,
    };
    let views = describe_new_hits(session, &found, (chars, SHORT_EXCERPT_CHARS));
    for (place, (item, view)) in views.into_iter().enumerate() {
        let is_known = known.contains(&item) && !(place == 0 && is_new_passage);
        let Some(number) = session.visit.number_listed_item(item.clone()) else { continue };
        match (is_known, place) {
            (true, _) => again.push(number),
            (false, 0) if known.contains(&item) && view.snippet.is_empty() => again.push(number),
            (false, 0) if known.contains(&item) => {
                rows.push((number, HitView { title: String::new(), ..view }));
            }
            (false, _) => rows.push((number, view)),
        }
    }
    let counts: Vec<_> = counts.into_iter().map(|it| word_count(it, &mut |_| None)).collect();
    Ok(render::search_results(line, (&rows, &again, found.total), &counts))
}

/// The hits of a search in the menu.
struct Found {
    /// The best ones, first those that are shown at once.
    best: Vec<Hit>,
    /// How many are shown at once.
    strong: usize,
    /// How many items match.
    total: usize,
    /// The words that were searched for.
    words: String,
    /// What to say of a model that ranked them.
    ranker: String,
}

/// Finds the hits of a query.
fn find(session: &mut Session<'_>, query: &SearchQuery) -> Result<Found, Refusal> {
    if !query.has_words() {
        return Err(Refusal::Invalid("give also words to search for".to_owned()));
    }
    let (Hits { mut best, total }, ranker) =
        run_search(session, query, Layout::MAX_RESULTS, IndexUse::Shared)?;
    let is_exact = exact_phrase(&query.words).is_some();
    let highest = best.iter().map(|it| it.similarity).fold(0.0, f32::max);
    // Common words alone are no result.
    if !is_exact && highest < MIN_SIMILARITY {
        best.clear();
    }
    // Of an exact query, all hits have the phrase.
    let is_strong = |it: &Hit| is_exact || it.similarity >= MIN_SHARE * highest;
    let (mut best, weak): (Vec<_>, Vec<_>) = best.into_iter().partition(is_strong);
    let strong = best.len().min(MAX_STRONG_HITS);
    best.extend(weak);
    let ranker = ranker.map(|it| format!("{it}.\n")).unwrap_or_default();
    Ok(Found { best, strong, total, words: query.words.clone(), ranker })
}

/// Describes hits, the best ones with passages of `chars` characters together, the others with excerpts of
/// `excerpt_chars`; those that this visit was shown with neither.
fn describe_new_hits(
    session: &Session<'_>,
    found: &Found,
    (chars, excerpt_chars): (usize, usize),
) -> Vec<(ItemId, HitView)> {
    let (open, now, words) = (&*session.palace, session.caller.now, found.words.as_str());
    // A short first passage leaves room for the next ones.
    let mut left = chars;
    let view = |(place, it): (usize, &Hit)| {
        let limit = left.max(excerpt_chars);
        let mut view = describe_hit(open, it, words, (limit, now))?;
        let is_by_meaning = !found.ranker.is_empty();
        if was_shown(session, &it.item) {
            view.note.push_str(", read above");
            view.snippet.clear();
        } else if place > 0 && !is_by_meaning && !has_query_word(open, it, words) {
            view.snippet.clear();
        }
        left = left.saturating_sub(view.snippet.chars().count());
        Some((it.item.clone(), view))
    };
    let mut views: Vec<_> = found.best.iter().enumerate().filter_map(view).collect();
    tell_drawers_apart(open, views.iter_mut().map(|(item, it)| (&*item, it)));
    views
}

/// Returns whether the passage of a hit contains a word of the query: else its first lines say nothing.
fn has_query_word(open: &LoadedPalace, hit: &Hit, words: &str) -> bool {
    let document = search_documents::item_document(&open.palace, &hit.item);
    document.is_some_and(|it| {
        let (text, passage) = passage_of_hit(&open.palace, hit, &it, words);
        most_matching_text(text.get(passage), words).is_some()
    })
}

/// Renders the answer to a search that finds nothing.
fn render_no_result(text: &str, query: &SearchQuery) -> String {
    if exact_phrase(&query.words).is_some() {
        return render::no_exact_result(text, &query.kinds);
    }
    if !query.has_filters() {
        return render::no_result(text);
    }
    let words = render::in_quotes(&render::truncate(query.words.trim(), 80));
    let undated = match query.since.is_some() || query.until.is_some() {
        true => " Entities and rooms have no date, and are left out.",
        false => "",
    };
    format!("Nothing within these filters mentions {words}.{undated}\n")
}

/// Counts the items that contain each word of a query and match its filters, without those of an exact
/// query.
fn count_items_by_word(
    session: &Session<'_>,
    query: &SearchQuery,
) -> Result<Vec<ItemsWithWord>, Refusal> {
    if exact_phrase(&query.words).is_some() {
        return Ok(Vec::new());
    }
    let open = &*session.palace;
    let (since, before) = query.time_range(session.caller)?;
    let rooms = query.matching_rooms(&open.palace)?;
    let words =
        Query { text: &query.words, kinds: &query.kinds, since, before, ..Query::default() };
    let is_in_rooms = |it: &ItemId| is_in_rooms(&open.palace, it, rooms.as_ref());
    Ok(open.index().count_items_by_word(&words, is_in_rooms))
}

/// Returns the share of the words of a query that at least one item contains. The similarity of a hit does
/// not count the others.
#[expect(clippy::cast_precision_loss, reason = "no query has 2^23 words")]
fn share_of_known_words(counts: &[ItemsWithWord]) -> f32 {
    let known = counts.iter().filter(|it| it.count > 0).count();
    if counts.is_empty() { 1.0 } else { known as f32 / counts.len() as f32 }
}

fn word_count(
    ItemsWithWord { word, count, items }: ItemsWithWord,
    number: &mut dyn FnMut(ItemId) -> Option<usize>,
) -> WordHits {
    WordHits { word, count, numbers: items.into_iter().filter_map(number).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;
    use palazzo_core::model::ItemKind;

    fn home() -> TestHome {
        TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\ndescription: A heron of bronze.\n"),
            ("genera/bird.yaml", "name: Bird\n"),
            ("entities/bird/heron.yaml", "name: Grey heron\ngenus: Bird\n"),
            ("entities/bird/crane.yaml", "name: Crane\ngenus: Bird\nobservations: [It dances.]\n"),
        ])
    }

    #[test]
    fn a_search_finds_entities_too() {
        let mut home = home();
        let mut listed = |query: &str| {
            home.run(|session| {
                search_from_menu(session, Some(query)).unwrap();
                let items = session.visit.listed_items.iter();
                (items.len(), items.filter(|it| it.kind() == ItemKind::Entity).count())
            })
        };
        assert_eq!(listed("heron"), (2, 1));
        assert_eq!(listed("kind:entity heron"), (1, 1));
    }

    #[test]
    fn a_search_asks_for_words() {
        let mut home = home();
        let mut page = |text| home.run(|session| search_from_menu(session, text)).unwrap();
        insta::assert_snapshot!(page(None), @"Give in `params` the words to search for; several searches one a line.");
        let only_filters =
            home.run(|session| search_from_menu(session, Some("kind:drawer room:hall")));
        assert_eq!(only_filters.unwrap_err().to_string(), "give also words to search for");
    }

    #[test]
    fn each_line_is_a_search_of_its_own() {
        let mut home = home();
        let mut page = |text| home.run(|session| search_from_menu(session, Some(text))).unwrap();
        insta::assert_snapshot!(page("heron\n  which bird dances?\n\nsince:yesteryear x\nzebra\ngrey heron"), @r#"
        2 results for "heron":
          31. Grey heron (Bird)
          32. Hall (room hall)
              A heron of bronze.

        1 result for "which bird dances?" (2 weaker):
          33. Crane (Bird)
              It dances.
          Items with rare words: bird 3, dances 1

        "since:yesteryear x": `since`: `yesteryear` is no date: write 1972, 1972-05, 1972-01-31, 44 BC or 2026-03-01T12:00:00Z

        Nothing in the palace mentions "zebra": try other words.

        1 result for "grey heron" (1 weaker):
          Listed above: 31
          Items with rare words: grey 1, heron 2
        "#);
        let too_many = "heron\n".repeat(MAX_SEARCHES + 2);
        let page = page(&too_many);
        assert!(
            page.ends_with("The last 2 lines were not searched: at most 10 at once.\n"),
            "{page}"
        );
    }

    #[test]
    fn every_passage_that_answers_a_search_is_shown_once() {
        let filler = "Nothing more was seen on the way home. ".repeat(20);
        let facts = ["The kettle hums.", "The lantern drips.", "The saddle creaks."];
        let scroll = format!(
            "---\ntitle: Walk\nby: ada\n---\n\n{}\n",
            facts.join(&format!("\n\n{filler}\n\n"))
        );
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\n"),
            ("scrolls/hall/01K8ZC6V8A4S6C2E3N1R5T7W9X-walk.md", scroll.as_str()),
        ]);
        let text = "kettle hums\nlantern drips\nsaddle creaks";
        let page = home.run(|session| search_from_menu(session, Some(text))).unwrap();
        let passages = facts.map(|it| page.contains(it));
        assert_eq!(passages, [true, true, true], "{page}");
        assert!(page.contains("\n  31, listed above:\n"), "{page}");
        let again = format!("{text}\nkettle hums loudly");
        let page = home.run(|session| search_from_menu(session, Some(&again))).unwrap();
        assert!(page.contains("  Listed above: 31\n"), "{page}");
    }
}
