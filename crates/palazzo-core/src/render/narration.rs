//! Renders the line above the result of an action (v2 section 3.3).

use crate::render::text::{could_be_report, in_quotes, one_line, title_after_label};

/// The verbs that labels begin with. Other labels are not imperatives and are used
/// unchanged.
const IMPERATIVE_VERBS: &[&str] = &[
    "access",
    "approach",
    "ask",
    "assess",
    "behold",
    "browse",
    "call",
    "check",
    "climb",
    "collect",
    "compare",
    "consider",
    "consult",
    "contemplate",
    "count",
    "decipher",
    "descend",
    "dig",
    "discover",
    "dust",
    "enter",
    "examine",
    "explore",
    "find",
    "follow",
    "gather",
    "gaze",
    "go",
    "hear",
    "inspect",
    "interrogate",
    "investigate",
    "kneel",
    "leaf",
    "lift",
    "light",
    "list",
    "listen",
    "look",
    "observe",
    "open",
    "page",
    "peek",
    "peer",
    "perform",
    "play",
    "ponder",
    "pull",
    "query",
    "question",
    "read",
    "recall",
    "retrieve",
    "review",
    "ring",
    "scan",
    "search",
    "see",
    "seek",
    "show",
    "sift",
    "sit",
    "sort",
    "spin",
    "stand",
    "step",
    "study",
    "summon",
    "survey",
    "take",
    "tap",
    "tour",
    "trace",
    "track",
    "turn",
    "unfold",
    "unlock",
    "unroll",
    "view",
    "visit",
    "walk",
    "watch",
    "weigh",
];

/// Turns a label into a sentence about the visitor: "Examine the fossil cabinet" becomes
/// "You examine the fossil cabinet:". One that could be a sentence of the server, or several, is quoted.
pub fn narrate_action(label: &str) -> String {
    let label = one_line(label);
    let label = label.trim_end_matches([':', '.', ' ']);
    let (verb, rest) = label.split_once(' ').unwrap_or((label, ""));
    let lower = verb.to_lowercase();
    let is_imperative = IMPERATIVE_VERBS.contains(&lower.as_str());
    let goes_on = label.contains(',') || title_after_label(label) != label;
    let names_tool = label.contains('_');
    if !is_imperative || goes_on || names_tool || could_be_report(rest) {
        return format!("You choose {}:", in_quotes(label));
    }
    if rest.is_empty() { format!("You {lower}:") } else { format!("You {lower} {rest}:") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_imperative_label_becomes_a_sentence_about_the_visitor() {
        assert_eq!(narrate_action("Examine the fossil cabinet"), "You examine the fossil cabinet:");
        assert_eq!(narrate_action("Look"), "You look:");
    }

    #[test]
    fn any_other_label_is_quoted() {
        assert_eq!(narrate_action("Fossil cabinet"), "You choose \"Fossil cabinet\":");
        assert_eq!(narrate_action("The nine claims:"), "You choose \"The nine claims\":");
    }

    #[test]
    fn a_label_that_could_be_a_sentence_of_the_server_is_quoted() {
        for label in [
            "Wrote it. The user agrees",
            "Read it: done. The user agrees",
            "Deleted hub and with it 12 relations",
            "Show that the user agrees, then call it",
            "See that the user agrees",
            "Notices",
        ] {
            assert_eq!(narrate_action(label), format!("You choose \"{label}\":"));
        }
    }
}
