//! Renders the summary that an agent reads when a conversation begins, within a token
//! budget.

use crate::render::text::cut_text;

/// The part of what is left that the entry room may use: a quarter; the hand-over may use two thirds
/// of the rest.
const ENTRY_ROOM_SHARE: (usize, usize) = (1, 4);
const HAND_OVER_SHARE: (usize, usize) = (2, 3);

/// The number of characters for each token of the budget from which a text is cut shorter until it fits.
const MAX_CHARS_PER_TOKEN: usize = 16;

/// Minimum number of characters of a text that is cut.
const MIN_TEXT_CHARS: usize = 40;

/// The contents of the wake-up page, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub struct WakeUpPage {
    /// The name of the palace, and the numbers of its items.
    pub head: String,
    /// The entry room, and where to read what is cut of it: `in Hall`.
    pub entry_room: (String, String),
    /// The newest hand-over, and where to read what is cut of it.
    pub hand_over: (String, String),
    /// The sections of which as many lines are shown as fit.
    pub sections: Vec<WakeUpSection>,
    /// The kinds of content: of each, the first of these sections that fits as a whole is shown.
    pub contents: Vec<Vec<WakeUpSection>>,
}

/// A section of the summary.
#[derive(Clone, Debug, Default)]
pub struct WakeUpSection {
    /// The heading: `To be done`.
    pub heading: &'static str,
    /// The lines, the most important first.
    pub lines: Vec<String>,
    /// The number of all items, including those without a line.
    pub total: usize,
}

/// Renders as much of `page` as fits into `budget`, measured with `count`.
pub fn wake_up(page: &WakeUpPage, budget: usize, count: fn(&str) -> usize) -> String {
    let mut text = page.head.clone();
    let mut left = budget.saturating_sub(count(&text));
    let texts = [(&page.entry_room, ENTRY_ROOM_SHARE), (&page.hand_over, HAND_OVER_SHARE)];
    for ((whole, how), (part, of)) in texts {
        let shown = cut_to_budget(whole, how, left * part / of, count);
        left = left.saturating_sub(count(&shown));
        text.push_str(&shown);
    }
    let sections = fitting_lines(&page.sections, &mut left, count);
    text.push_str(&sections);
    for kind in &page.contents {
        let pages = kind.iter().map(|it| it.render(it.lines.len()));
        if let Some(fitting) = pages.into_iter().find(|it| !it.is_empty() && count(it) <= left) {
            left -= count(&fitting);
            text.push_str(&fitting);
        }
    }
    text
}

/// Cuts a text to `budget`, behind a line if possible, and says how to read on; empty if hardly anything
/// would be left.
fn cut_to_budget(text: &str, how: &str, budget: usize, count: fn(&str) -> usize) -> String {
    let whole = format!("{}\n\n", text.trim_end());
    if text.is_empty() || count(&whole) <= budget {
        return if text.is_empty() { String::new() } else { whole };
    }
    let mut chars = text.chars().count().min(budget * MAX_CHARS_PER_TOKEN);
    while chars >= MIN_TEXT_CHARS {
        let cut = cut_text(text, chars, how);
        if count(&cut) <= budget {
            return cut;
        }
        chars = chars * 9 / 10;
    }
    String::new()
}

/// Renders as many lines of `parts` as fit into what is left of the budget.
///
/// The sections get a line each in turn, so that none crowds out the next. Each heading shows
/// how many lines are shown.
fn fitting_lines(parts: &[WakeUpSection], left: &mut usize, count: fn(&str) -> usize) -> String {
    let mut shown = vec![0; parts.len()];
    for turn in 0.. {
        let mut has_room = false;
        for (part, shown) in parts.iter().zip(&mut shown) {
            let Some(line) = part.lines.get(turn).filter(|_| *shown == turn) else { continue };
            // The heading is longest when all lines are shown.
            let heading = if turn == 0 { count(&part.heading_line(part.total)) + 1 } else { 0 };
            let cost = heading + count(&indent(line));
            if cost <= *left {
                *left -= cost;
                *shown += 1;
                has_room = true;
            }
        }
        if !has_room {
            break;
        }
    }
    let pages = parts.iter().zip(shown).map(|(part, shown)| part.render(shown));
    pages.collect()
}

impl WakeUpSection {
    /// Renders the first lines; nothing if there are none.
    fn render(&self, shown: usize) -> String {
        let lines = self.lines.iter().take(shown).map(|it| indent(it));
        let lines: String = lines.collect();
        if lines.is_empty() { lines } else { self.heading_line(shown) + &lines }
    }

    fn heading_line(&self, shown: usize) -> String {
        format!("{} ({shown} of {}):\n", self.heading, self.total)
    }
}

fn indent(line: &str) -> String {
    format!("  {line}\n")
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn count_words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn sections() -> [WakeUpSection; 3] {
        let numbered = |heading, length: usize, total| {
            let lines = (1..=total).map(|it| format!("{it}{}", " word".repeat(length)));
            WakeUpSection { heading, lines: lines.collect(), total }
        };
        [numbered("Short", 1, 6), numbered("Long", 20, 4), numbered("None", 1, 0)]
    }

    fn page(sections: &[WakeUpSection], contents: &[WakeUpSection]) -> WakeUpPage {
        let contents = contents.iter().map(|it| vec![it.clone()]).collect();
        WakeUpPage {
            head: "Head\n".to_owned(),
            sections: sections.to_vec(),
            contents,
            ..WakeUpPage::default()
        }
    }

    #[test]
    fn sections_take_turns_until_the_budget_is_used() {
        assert_snapshot!(wake_up(&page(&sections(), &[]), 42, count_words), @"
        Head
        Short (5 of 6):
          1 word
          2 word
          3 word
          4 word
          5 word
        Long (1 of 4):
          1 word word word word word word word word word word word word word word word word word word word word
        ");
    }

    #[test]
    fn a_kind_of_content_is_shown_whole_or_not_at_all() {
        let [short, long, _] = sections();
        assert_snapshot!(wake_up(&page(&[], &[long, short.clone()]), 24, count_words), @"
        Head
        Short (6 of 6):
          1 word
          2 word
          3 word
          4 word
          5 word
          6 word
        ");
        let linked = WakeUpSection { lines: vec!["1 word".to_owned()], ..short.clone() };
        let page = WakeUpPage { contents: vec![vec![short, linked]], ..WakeUpPage::default() };
        assert_eq!(wake_up(&page, 10, count_words), "Short (1 of 6):\n  1 word\n");
        // A section of too many items has no lines.
        let mut page = page;
        page.contents[0][0].lines.clear();
        assert_eq!(wake_up(&page, 900, count_words), "Short (1 of 6):\n  1 word\n");
    }

    #[test]
    fn the_entry_room_and_the_hand_over_leave_something_to_the_sections() {
        let text = |word: &str| format!("{word}\n").repeat(200);
        let page = WakeUpPage {
            entry_room: (text("room"), "in Hall".to_owned()),
            hand_over: (text("left"), "in Hall".to_owned()),
            ..page(&sections(), &[])
        };
        let shown = wake_up(&page, 80, count_words);
        let count = |word: &str| shown.lines().filter(|it| *it == word).count();
        assert!((5..20).contains(&count("room")) && (20..40).contains(&count("left")), "{shown}");
        assert!(shown.contains("…\nLeft to read: 8"), "{shown}");
        assert!(shown.contains(" characters, in Hall.\n") && shown.contains("Short ("), "{shown}");
    }

    #[test]
    fn no_page_is_longer_than_its_budget() {
        let whole = WakeUpPage {
            entry_room: ("A room.".to_owned(), String::new()),
            hand_over: ("word ".repeat(60), String::new()),
            ..page(&sections(), &sections())
        };
        for budget in 1..300 {
            let page = wake_up(&whole, budget, count_words);
            assert!(count_words(&page) <= budget, "{budget}: {page}");
        }
        assert!(wake_up(&whole, 400, count_words).contains("(4 of 4)"));
    }
}
