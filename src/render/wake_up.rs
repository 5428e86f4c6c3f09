//! Renders the summary that an agent reads when a conversation begins, within a token
//! budget.

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

/// Renders `head` and as many lines of `parts` as fit into `budget`, measured with `count`.
///
/// The sections get a line each in turn, so that none crowds out the next. Each heading shows
/// how many lines are shown.
pub fn wake_up(
    head: &str,
    parts: &[WakeUpSection],
    budget: usize,
    count: fn(&str) -> usize,
) -> String {
    let mut left = budget.saturating_sub(count(head));
    let mut shown = vec![0; parts.len()];
    for turn in 0.. {
        let mut has_room = false;
        for (part, shown) in parts.iter().zip(&mut shown) {
            let Some(line) = part.lines.get(turn).filter(|_| *shown == turn) else { continue };
            // The heading is longest when all lines are shown.
            let heading = if turn == 0 { count(&part.heading_line(part.total)) + 1 } else { 0 };
            let cost = heading + count(&indent(line));
            if cost <= left {
                left -= cost;
                *shown += 1;
                has_room = true;
            }
        }
        if !has_room {
            break;
        }
    }
    let mut page = head.to_owned();
    for (part, shown) in parts.iter().zip(shown).filter(|(_, shown)| *shown > 0) {
        page.push_str(&part.heading_line(shown));
        page.extend(part.lines.iter().take(shown).map(|it| indent(it)));
    }
    page
}

impl WakeUpSection {
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

    #[test]
    fn sections_take_turns_until_the_budget_is_used() {
        assert_snapshot!(wake_up("Head\n", &sections(), 42, count_words), @"
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
    fn no_page_is_longer_than_its_budget() {
        for budget in 1..150 {
            let page = wake_up("Head\n", &sections(), budget, count_words);
            assert!(count_words(&page) <= budget, "{budget}: {page}");
        }
        assert!(wake_up("Head\n", &sections(), 150, count_words).contains("(4 of 4)"));
    }
}
