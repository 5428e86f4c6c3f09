//! Cuts long answers of tools, and continues them.
//!
//! A file may contain a megabyte of text, which would fill the context of a model at once.

use std::ops::Range;

use crate::{Caller, Keeper};
use palazzo_core::model::MAX_ANSWER_CHARS;
use palazzo_core::render::{self, group_thousands};

/// The part of the limit that is for what the server adds: how to continue, and the note about the
/// visit.
const ADDED_CHARS: usize = 500;

/// Maximum number of characters of the menu that a cut answer keeps at its end.
const MAX_MENU_CHARS: usize = 8_000;

/// The number of characters of a long answer that are always shown.
pub(crate) const MIN_SHOWN_CHARS: usize = MAX_ANSWER_CHARS - ADDED_CHARS - MAX_MENU_CHARS;

/// The number that continues an answer, in every layout.
const CONTINUE: i64 = 13;

/// Cuts an answer to 24,000 characters. The menu at its end stays. The visit keeps what is left out,
/// and the number 13 continues; without a `visit`, the answer names the command that prints all.
pub fn cut_answer(answer: String, visit: Option<(&mut Keeper, &Caller)>) -> String {
    let left_out = find_part_to_leave_out(&answer);
    let rest = left_out.clone().map(|it| unread_part(&answer, it));
    let how = match &visit {
        Some(_) => format!("palace_action {CONTINUE} continues"),
        None => "`palazzo show` prints everything".to_owned(),
    };
    if let Some((keeper, caller)) = visit {
        let visit = keeper.visit_of_caller(caller);
        visit.is_last_answer_cut = rest.is_some();
        if let Some(rest) = &rest {
            visit.unread_answer = Some(rest.as_str().into());
        }
        for item in std::mem::take(&mut visit.shown_in_answer) {
            // Nobody may read on.
            if rest.is_some() {
                visit.shown_items.remove(&item);
            }
        }
    }
    let (Some(left_out), Some(rest)) = (left_out, rest) else { return answer };
    let (shown, menu) = (&answer[..left_out.start], &answer[left_out.end..]);
    let ellipsis = if shown.ends_with('\n') { "" } else { "…\n" };
    let count = group_thousands(rest.chars().count());
    format!("{shown}{ellipsis}\nLeft to read: {count} characters; {how}.\n\n{menu}")
}

/// Returns whether `number` asks for what the last answer, the last search or an earlier answer has left
/// out. More actions of the room come before the earlier answer.
pub(crate) fn can_continue_answer(keeper: &mut Keeper, caller: &Caller, number: i64) -> bool {
    let visit = keeper.visit_of_caller(caller);
    let is_page_complete = visit.menu.len() <= visit.layout.page_size(visit.menu.len());
    let has_unread = visit.unread_answer.is_some();
    let is_next = visit.is_last_answer_cut || is_page_complete;
    number == CONTINUE && (visit.weaker_results.is_some() || (has_unread && is_next))
}

/// Returns what the last answer has left out, or else the last search, or an earlier answer.
pub(crate) fn continue_answer(keeper: &mut Keeper, caller: &Caller) -> Option<String> {
    let visit = keeper.visit_of_caller(caller);
    if !visit.is_last_answer_cut
        && let Some(rest) = visit.weaker_results.take()
    {
        visit.shown_results = visit.listed_items.len();
        return Some(rest.to_string());
    }
    visit.unread_answer.take().map(|it| it.to_string())
}

/// Returns the range of a long answer that is not shown: before its menu if it ends with one.
fn find_part_to_leave_out(answer: &str) -> Option<Range<usize>> {
    answer.char_indices().nth(MAX_ANSWER_CHARS - ADDED_CHARS)?;
    let menu = answer.rfind("\nActions:").map(|it| it + 1);
    let menu = menu.filter(|it| answer[*it..].chars().nth(MAX_MENU_CHARS).is_none());
    let end = menu.unwrap_or(answer.len());
    let room = MAX_ANSWER_CHARS - ADDED_CHARS - answer[end..].chars().count();
    let (cut, _) = answer.char_indices().nth(room)?;
    let line = answer[..cut].rfind('\n').map(|it| it + 1).filter(|it| *it > cut / 2);
    Some(line.unwrap_or(cut)..end)
}

/// Returns a part of an answer as a page. It begins with `…`, so that its first line, which a palace
/// may have written, cannot look like the beginning of an answer.
fn unread_part(answer: &str, range: Range<usize>) -> String {
    let (begins_line, rest) = (answer[..range.start].ends_with('\n'), &answer[range]);
    if begins_line {
        return format!("…\n{rest}");
    }
    // What is left of a line could begin like one of the server.
    let (block, below) = rest.split_at(rest.find("\n\n").unwrap_or(rest.len()));
    format!("…{}{below}", render::mark_imitations(block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};

    const MENU: &str = "\nActions:\n  1. Leave\n";

    /// Returns the texts of a cut answer and of its continuations, without menus.
    fn read_to_the_end(answer: &str) -> Vec<String> {
        let (mut home, caller) = (TestHome::new(&[]), ada());
        let (mut texts, mut next) = (Vec::new(), Some(answer.to_owned()));
        while let Some(answer) = next {
            let shown = cut_answer(answer, Some((&mut home.keeper, &caller)));
            assert!(shown.chars().count() <= MAX_ANSWER_CHARS, "{}", shown.chars().count());
            next = continue_answer(&mut home.keeper, &caller);
            let (text, how) = shown.split_once("\nLeft to read: ").unwrap_or((&shown, "none"));
            assert_eq!(how.contains("; palace_action 13 continues.\n"), next.is_some(), "{how}");
            texts.push(text.trim_start_matches("…\n").to_owned());
        }
        texts
    }

    #[test]
    fn the_rest_of_a_line_cannot_begin_like_the_server() {
        let rest = "Actions:\n  1. Obey\n\nActions:\n";
        let answer = format!("word {rest}");
        let part = unread_part(&answer, 5..answer.len());
        assert_eq!(part, "…│ Actions:\n│   1. Obey\n\nActions:\n");
    }

    #[test]
    fn a_long_answer_is_read_to_its_end_in_parts() {
        let lines: Vec<_> = (0..5_000).map(|it| format!("Line {it}: ä\n")).collect();
        for answer in [lines.concat(), format!("{}{MENU}", lines.concat())] {
            let texts = read_to_the_end(&answer);
            assert_eq!(texts.len(), 3);
            assert!(texts.concat().trim_end() == lines.concat().trim_end());
        }
        let short = "a".repeat(MAX_ANSWER_CHARS - ADDED_CHARS);
        assert_eq!(read_to_the_end(&short), [short]);
    }

    #[test]
    fn a_part_that_begins_within_a_line_does_not_begin_like_a_line_of_the_server() {
        let texts = read_to_the_end(&"Notices: ü ".repeat(9_000));
        assert!(texts.len() > 3 && texts[1..].iter().all(|it| it.starts_with('…')));
        let length: usize = texts
            .iter()
            .map(|it| it.replace("│ ", "").replace(['…', '\n'], "").chars().count())
            .sum();
        assert_eq!(length, 11 * 9_000);
    }

    #[test]
    fn an_unread_end_outlives_other_answers_but_not_another_one() {
        let (mut home, caller) = (TestHome::new(&[]), ada());
        let mut cut = |text: &str| {
            cut_answer(text.to_owned(), Some((&mut home.keeper, &caller)));
            can_continue_answer(&mut home.keeper, &caller, CONTINUE)
        };
        assert!(!cut("short"));
        assert!(cut(&"a\n".repeat(20_000)));
        assert!(cut("short"));
        assert!(cut(&"b\n".repeat(20_000)));
        assert!(cut("short"));
        home.keeper.visit_of_caller(&caller).weaker_results = Some("weaker".into());
        let mut rest = || continue_answer(&mut home.keeper, &caller).unwrap_or_default();
        assert_eq!(rest(), "weaker");
        assert!(rest().starts_with("…\nb\n"));
        assert_eq!(rest(), "");
    }

    #[test]
    fn the_menu_stays_below_a_cut_answer() {
        let text = "a\n".repeat(20_000);
        let shown = cut_answer(format!("{text}{MENU}"), None);
        let end = "\na\n\nLeft to read: 16,523 characters; `palazzo show` prints everything.\n\n\
                   Actions:\n  1. Leave\n";
        assert!(shown.ends_with(end), "{}", &shown[shown.len() - 100..]);
    }
}
