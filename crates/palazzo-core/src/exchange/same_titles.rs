//! Keeps conversations of one title apart.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use crate::exchange::ExtractedText;

/// Limit for the characters of a title that gets a date.
const MAX_TITLE_CHARS: usize = 55;

/// Gives each of several conversations of one wing and title a room of its own: the oldest keeps its
/// title, and the others have their day as well, so that a later export gives the same names.
pub(super) fn separate_same_titles(conversations: &mut [Vec<ExtractedText>]) {
    let start = |it: &[ExtractedText]| it.iter().filter_map(|it| it.at).min();
    let mut order: Vec<usize> =
        (0..conversations.len()).filter(|it| !conversations[*it].is_empty()).collect();
    // Those without a date are last.
    order.sort_by_key(|it| start(&conversations[*it]).map_or((true, None), |at| (false, Some(at))));
    let mut taken = BTreeSet::new();
    for index in order {
        let conversation = &mut conversations[index];
        let (wing, title) = (conversation[0].wing.clone(), conversation[0].room.clone());
        let names = room_names(&title, start(conversation));
        let is_free = |it: &String| taken.insert((wing.clone(), fold_title(it)));
        let Some(room) = names.into_iter().chain(numbered(&title)).find(is_free) else { continue };
        for it in conversation.iter_mut() {
            it.room.clone_from(&room);
        }
    }
}

/// Returns the names for a conversation that began at `start`, the best first.
fn room_names(title: &str, start: Option<DateTime<Utc>>) -> Vec<String> {
    let formats = ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"].into_iter();
    let dated = formats.filter_map(|format| Some(start?.format(format).to_string()));
    let dated = dated.map(|it| format!("{} ({it})", short_title(title)));
    std::iter::once(title.to_owned()).chain(dated).collect()
}

fn numbered(title: &str) -> impl Iterator<Item = String> {
    (2..).map(move |it: usize| format!("{} ({it})", short_title(title)))
}

fn short_title(title: &str) -> String {
    let short: String = title.chars().take(MAX_TITLE_CHARS).collect();
    short.trim_end().to_owned()
}

/// Returns a title as the name of a room may become it: with other slashes and blanks, and cut.
fn fold_title(title: &str) -> String {
    let words = title.replace(['/', '\\'], "-");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(80).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rooms(conversations: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let text = |(wing, title, at): &(&str, &str, Option<&str>)| {
            let at = at.map(|it| it.parse().unwrap());
            let (wing, room) = (Some((*wing).to_owned()), (*title).to_owned());
            vec![ExtractedText { wing, room, at, ..ExtractedText::default() }]
        };
        let mut all: Vec<_> = conversations.iter().map(text).collect();
        separate_same_titles(&mut all);
        all.into_iter().map(|it| it[0].room.clone()).collect()
    }

    #[test]
    fn the_oldest_conversation_keeps_its_title_and_the_others_get_their_day() {
        let newest_first = [
            ("chatgpt", "New chat", Some("2026-03-02T12:00:00Z")),
            ("chatgpt", "New chat", Some("2026-03-02T09:00:00Z")),
            ("chatgpt", "New chat", Some("2026-03-01T10:00:00Z")),
            ("chatgpt", "Other", None),
            ("claude.ai", "New chat", Some("2026-03-03T10:00:00Z")),
        ];
        assert_eq!(
            rooms(&newest_first),
            [
                "New chat (2026-03-02 12:00)",
                "New chat (2026-03-02)",
                "New chat",
                "Other",
                "New chat"
            ]
        );
    }

    #[test]
    fn conversations_without_a_date_are_numbered() {
        let all = [("chatgpt", "A/b", None), ("chatgpt", "a-b", None), ("chatgpt", "A/b", None)];
        assert_eq!(rooms(&all), ["A/b", "a-b (2)", "A/b (3)"]);
        let long = "x".repeat(100);
        let named =
            rooms(&[("chatgpt", &long, None), ("chatgpt", &long, Some("2026-03-01T10:00:00Z"))]);
        assert_eq!(named[0], format!("{} (2)", "x".repeat(55)));
    }
}
