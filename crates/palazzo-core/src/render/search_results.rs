//! Renders search results of every kind of item, for agents and for a terminal.

use std::fmt;

use crate::model::ItemKind;
use crate::render::text::{
    count_with_noun, group_thousands, has_note, in_quotes, one_line, title_in_row, truncate,
    whole_line,
};
use crate::render::{IMITATION_MARK, mark_imitations};

/// Limit for the words of a query whose items are counted.
const MAX_COUNTED_WORDS: usize = 12;
/// The number of items in which a rare word stands at most.
const MAX_RARE_COUNT: usize = 5;

/// One search result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HitView {
    /// The title of the item: `Hall of Geology`.
    pub title: String,
    /// The kind, the place and the age of the item: `scroll in Great Hall, 3 days ago`.
    pub note: String,
    /// The text around the match.
    pub snippet: String,
}

impl HitView {
    /// Returns the snippet, unless it is empty or equals the title.
    fn snippet_unless_title(&self) -> Option<&str> {
        Some(self.snippet.as_str()).filter(|it| !it.is_empty() && *it != self.title)
    }
}

/// Renders the answer to a query without results.
pub fn no_result(query: &str) -> String {
    let query = in_quotes(&truncate(query, 80));
    format!("Nothing in the palace mentions {query}: try other words.\n")
}

/// Renders the answer to a query in quotation marks whose words stand nowhere.
pub fn no_exact_result(query: &str, kinds: &[ItemKind]) -> String {
    let query = in_quotes(query.trim().trim_matches(|it| "\"“”„«»".contains(it)));
    let kinds = if kinds.is_empty() { &ItemKind::ALL[..] } else { kinds };
    let kinds: Vec<_> = kinds.iter().map(ToString::to_string).collect();
    format!("{query} stands nowhere in what was searched: {}.\n", kinds.join(", "))
}

/// A word of a query, the number of items in which it stands, and the numbers that open them if they are
/// few.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordHits {
    /// The word.
    pub word: String,
    /// The number of items.
    pub count: usize,
    /// The numbers of the menu that open them.
    pub numbers: Vec<usize>,
}

impl fmt::Display for WordHits {
    /// Writes `frost 2 (31, 35)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.numbers.iter().map(usize::to_string).collect();
        let numbers = numbers.join(", ");
        let numbers = if numbers.is_empty() { numbers } else { format!(" ({numbers})") };
        write!(f, "{} {}{numbers}", self.word, self.count)
    }
}

/// Renders the best search results for an agent with their numbers, those that an earlier search has shown
/// by number only, the number of all results, and in how many items each rare word of the query stands.
pub fn search_results(
    query: &str,
    (found, again, total): (&[(usize, HitView)], &[usize], usize),
    items_by_word: &[WordHits],
) -> String {
    let query = in_quotes(&truncate(query, 80));
    let shown = found.len() + again.len();
    let weaker = match total.saturating_sub(shown) {
        0 => String::new(),
        weaker => format!(" ({} weaker)", group_thousands(weaker)),
    };
    let mut page = format!("{} for {query}{weaker}:\n", count_with_noun(shown, "result"));
    page.extend(found.iter().map(result_row));
    if !again.is_empty() {
        let numbers: Vec<_> = again.iter().map(usize::to_string).collect();
        page.push_str(&format!("  Listed above: {}\n", numbers.join(", ")));
    }
    // One word stands in all results, unless similar ones were found instead.
    let is_one_word = items_by_word.len() == 1;
    let rare = |it: &&WordHits| it.count == 0 || it.count <= MAX_RARE_COUNT && !is_one_word;
    let words = items_by_word.iter().filter(rare).take(MAX_COUNTED_WORDS);
    let words: Vec<_> = words.map(WordHits::to_string).collect();
    if !words.is_empty() {
        page.push_str(&format!("  Items with rare words: {}\n", whole_line(&words.join(", "))));
    }
    page
}

/// Renders the weaker results with their numbers, and how many `more` there are; `None` if there are none.
pub fn weaker_results(found: &[(usize, HitView)], more: usize) -> Option<String> {
    if found.is_empty() {
        return None;
    }
    let rows: String = found.iter().map(result_row).collect();
    let more = match more {
        0 => String::new(),
        more => format!("  and {more} more: search with more words\n"),
    };
    Some(format!("Weaker results:\n{rows}{more}"))
}

/// Renders a hit; one without a title stands above.
fn result_row((number, it): &(usize, HitView)) -> String {
    let row = match it.title.as_str() {
        "" => format!("  {number}, listed above:\n"),
        title => format!("  {number}. {} ({})\n", title_in_row(title), one_line(&it.note)),
    };
    match it.snippet_unless_title() {
        Some(passage) => {
            let passage = whole_line(passage);
            // An excerpt that is cut could begin with a line of the server.
            let line = passage.trim_start_matches('…');
            let is_row = line.starts_with(char::is_numeric) && has_note(line);
            let imitates = is_row || mark_imitations(line) != line;
            let sign = if imitates { IMITATION_MARK } else { "" };
            let passage = if imitates { line } else { &passage };
            format!("{row}      {sign}{passage}\n")
        }
        None => row,
    }
}

/// Renders search results for a terminal, each with its file if it has one; `total` is the
/// number of all results.
pub fn cli_search_results(found: &[(HitView, Option<String>)], total: usize) -> String {
    let mut page = String::new();
    for (it, file) in found {
        let heading = format!("{} ({})", one_line(&it.title), one_line(&it.note));
        page.push_str(&format!("{}\n", mark_imitations(&heading)));
        for line in file.iter().map(String::as_str).chain(it.snippet_unless_title()) {
            page.push_str(&format!("  {}\n", mark_imitations(&whole_line(line))));
        }
    }
    if total > found.len() {
        page.push_str(&format!("and {} more: see --limit\n", total - found.len()));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_with_a_rare_word_have_their_numbers() {
        let count = |word: &str, count, numbers: &[usize]| WordHits {
            word: word.to_owned(),
            count,
            numbers: numbers.to_vec(),
        };
        let found = HitView {
            title: "Pump".to_owned(),
            note: "scroll in Hall".to_owned(),
            snippet: String::new(),
        };
        let found = [(31, found)];
        let words = [count("pump", 6, &[]), count("frost", 2, &[31, 35]), count("gasket", 0, &[])];
        insta::assert_snapshot!(search_results("pump frost gasket", (&found, &[32], 22), &words), @r#"
        2 results for "pump frost gasket" (20 weaker):
          31. Pump (scroll in Hall)
          Listed above: 32
          Items with rare words: frost 2 (31, 35), gasket 0
        "#);
        let page = search_results("pump", (&found, &[], 1), &words[..1]);
        assert!(!page.contains("rare words"), "{page}");
    }
}
