//! The hand-over: what the last visitor left for the next one, shown at the door.

use chrono::{DateTime, TimeDelta, Utc};

use crate::rooms::scrolls::current_scroll_ids;
use crate::templates::is_example;
use crate::walk::changes_since_visit::{load_changes_and_save_visit, mark_scroll_read};
use crate::walk::show_item::render_scroll;
use crate::{Refusal, Session};
use palazzo_core::model::{Palace, RoomId, Scroll, ScrollId};
use palazzo_core::render;

/// The beginnings of titles, in lower case, that make a scroll of any room a hand-over.
const TITLES: [&str; 5] = ["hand-over", "handover", "hand-off", "handoff", "session summary"];

/// Maximum number of characters of a hand-over at the door.
const MAX_CHARS: usize = 6_000;

/// Renders the newest hand-over of the palace, and marks it as read; empty if there is none.
pub(crate) fn render_hand_over(session: &mut Session<'_>) -> Result<String, Refusal> {
    let found = find_hand_over(&session.palace.palace, session.caller.now);
    let Some(which) = found else { return Ok(String::new()) };
    load_changes_and_save_visit(session)?;
    session.palace.load_provenance()?;
    let page = render_scroll(session, &which).unwrap_or_default();
    let is_whole = page.trim_end().chars().count() <= MAX_CHARS;
    session.visit.begun_hand_over = Some(which.clone()).filter(|_| !is_whole);
    if is_whole {
        mark_scroll_read(session, &which);
    }
    let palace = &session.palace.palace;
    let is_first_here = current_scroll_ids(palace, &which.room).first() == Some(&which);
    let how = match palace.entry_room() == Some(&which.room) && is_first_here {
        true => "21 reads it whole".to_owned(),
        false => format!("in {}", render::name_in_sentence(&palace.room_name(&which.room))),
    };
    Ok(cut_hand_over(&page, &how))
}

/// Finds the newest scroll of the entry room, or a newer one of any room with the title of a
/// hand-over. One that is dated more than a day after `now` counts as the oldest: it would stay the
/// newest for ever.
pub(crate) fn find_hand_over(palace: &Palace, now: DateTime<Utc>) -> Option<ScrollId> {
    let is_past = |it: &Scroll| it.written <= now + TimeDelta::days(1);
    // One that is dated ahead replaces none either.
    let is_current = |(room, it): &(&RoomId, &Scroll)| {
        palace.replacement_of_scroll(room, it).is_none_or(|newer| !is_past(newer))
    };
    let newest = palace.scrolls().filter(|(room, it)| is_hand_over(palace, room, it));
    let newest = newest.filter(is_current);
    let newest = newest.max_by_key(|(_, it)| (is_past(it), it.written, it.id));
    newest.map(|(room, it)| ScrollId { room: room.clone(), id: it.id })
}

/// Returns whether a scroll in `room` is written for the next visitor: it is in the entry room, or
/// has the title of a hand-over.
pub(crate) fn is_hand_over(palace: &Palace, room: &RoomId, scroll: &Scroll) -> bool {
    let title = scroll.title.trim().to_lowercase();
    let is_titled = TITLES.iter().any(|it| title.starts_with(it));
    (palace.entry_room() == Some(room) || is_titled) && !is_example(&scroll.title)
}

/// Cuts the page of a scroll to the limit, and says how much is left to read and how.
fn cut_hand_over(page: &str, how: &str) -> String {
    let page = page.trim_end();
    if page.chars().count() <= MAX_CHARS {
        return format!("{page}\n\n");
    }
    render::cut_text(page, MAX_CHARS, how)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::TestHome;

    fn scroll(title: &str, day: u32, body: &str) -> String {
        format!(
            "---\ntitle: {title}\nwritten: 2026-02-{day:02}T12:00:00Z\nby: bob\n---\n\n{body}\n"
        )
    }

    /// Enters a palace whose entry is the hall, with scrolls in the hall and in the crypt.
    fn enter(hall: &[(&str, u32)], crypt: &[(&str, u32)]) -> String {
        let mut home = TestHome::new(&[
            ("rooms/hall.yaml", "name: Hall\nportals: [crypt]\n"),
            ("rooms/crypt.yaml", "name: Crypt\n"),
        ]);
        home.write("palace.toml", "name = \"Keep\"\nentry = \"hall\"\n");
        for (room, scrolls) in [("hall", hall), ("crypt", crypt)] {
            for (title, day) in scrolls {
                let text = scroll(title, *day, &format!("Left on day {day}."));
                home.write(&format!("scrolls/{room}/{day:02}.md"), &text);
            }
        }
        home.enter().unwrap();
        home.enter().unwrap()
    }

    #[test]
    fn the_newest_scroll_of_the_entry_is_shown_whole_above_the_room() {
        let page = enter(&[("Plan", 1), ("Where we stopped", 3)], &[("On moss", 5)]);
        insta::assert_snapshot!(page.split_once("\nActions:").unwrap().0, @"
        Workspace: Keep (2 rooms, 3 scrolls, 0 entities)

        ── Where we stopped ──
        A scroll in Hall, written by bob 26 days ago.

        Left on day 3.

        ── Plan ──
        A scroll in Hall, written by bob 28 days ago.

        Left on day 1.

        ── Hall ──

        Scrolls:
          21. Where we stopped (26 days ago, by bob, read above)
          22. Plan (28 days ago, by bob, read above)
        ");
    }

    #[test]
    fn a_newer_hand_over_of_another_room_is_shown_instead() {
        let first_line = |page: String| page.lines().nth(2).unwrap().to_owned();
        let crypt = [("Handover, week 8", 5), ("On moss", 6)];
        assert_eq!(first_line(enter(&[("Plan", 1)], &crypt)), "── Handover, week 8 ──");
        assert_eq!(first_line(enter(&[("Plan", 7)], &crypt)), "── Plan ──");
        assert_eq!(first_line(enter(&[("Plan (example)", 7)], &[])), "── Hall ──");
    }

    #[test]
    fn a_long_hand_over_is_cut_at_the_end_of_a_line() {
        let page = cut_hand_over(&"line\n".repeat(1_300), "in Hall");
        let expected = "line\n".repeat(1_200) + "…\nLeft to read: 499 characters, in Hall.\n\n";
        assert!(page == expected, "{}", &page[page.len() - 80..]);
    }
}
