//! The words that a person can type in `palazzo walk`.

use palazzo_core::model::{Slot, did_you_mean};

/// The command in a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkCommand<'a> {
    /// Does nothing: the line is empty.
    Nothing,
    /// Shows the room again.
    Look,
    /// Chooses a number, with an input.
    Number(i64, &'a str),
    /// Runs an action that every room has, with an input.
    Global(Slot, &'a str),
    /// Shows a scroll, or anything else, by its name.
    Read(&'a str),
    /// Writes a scroll with this title.
    WriteScroll(&'a str),
    /// Lists the words.
    Help,
    /// Ends the walk.
    Quit,
    /// Goes to the room with this name.
    Room(&'a str),
}

/// A word, the name of its input, and its effect.
pub(super) struct Word {
    /// The word.
    pub(super) name: &'static str,
    /// The name of its input; empty if it has none.
    pub(super) input: &'static str,
    /// Its effect, for the help.
    description: &'static str,
}

/// The number of [`Slot::Everything`].
const EVERYTHING: i64 = 20;

/// All words, in the order of the help.
pub(super) const WORDS: [Word; 11] = [
    Word { name: "look", input: "", description: "show the room again" },
    Word { name: "map", input: "", description: "show all rooms and where you are" },
    Word { name: "everything", input: "", description: "show everything here whole" },
    Word { name: "go", input: "ROOM", description: "go to a room; its name alone does the same" },
    Word { name: "back", input: "", description: "go back to where you were" },
    Word { name: "search", input: "WORDS", description: "search the whole palace" },
    Word { name: "read", input: "NAME", description: "read a scroll, an entity or a task" },
    Word { name: "scroll", input: "TITLE", description: "write a scroll in this room" },
    Word { name: "inventory", input: "", description: "list all scrolls in this room" },
    Word { name: "help", input: "", description: "show this list" },
    Word { name: "quit", input: "", description: "end the walk; Ctrl-D does the same" },
];

impl<'a> WalkCommand<'a> {
    /// Parses a line. A line that begins with no word or number is the name of a room, and so is
    /// a word without an input if more follows it.
    pub(super) fn parse(line: &'a str) -> Self {
        let line = line.trim();
        let (word, input) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let input = input.trim();
        if let Ok(number) = word.parse() {
            return Self::Number(number, input);
        }
        match (word.to_lowercase().as_str(), input) {
            ("", _) => Self::Nothing,
            ("look", "") => Self::Look,
            ("map", "") => Self::Global(Slot::Map, ""),
            ("everything", "") => Self::Number(EVERYTHING, ""),
            ("go", _) => Self::Global(Slot::GoTo, input.strip_prefix("to ").unwrap_or(input)),
            ("back", "") => Self::Global(Slot::Back, ""),
            ("search", _) => Self::Global(Slot::Search, input),
            ("read", _) => input.parse().map_or(Self::Read(input), |it| Self::Number(it, "")),
            ("scroll", _) => Self::WriteScroll(input),
            ("inventory", "") => Self::Global(Slot::Inventory, ""),
            ("help" | "?", "") => Self::Help,
            ("quit" | "exit" | "q", "") => Self::Quit,
            _ => Self::Room(line),
        }
    }
}

/// Returns the list of words with their effects.
pub(super) fn words_help() -> String {
    let line =
        |it: &Word| format!("  {:<16} {}\n", format!("{} {}", it.name, it.input), it.description);
    let lines: String = WORDS.iter().map(line).collect();
    format!(
        "Type a number to choose an action, with its input if it needs one (`5 stasis`), or a \
         word:\n{lines}"
    )
}

/// Returns the most similar word.
pub(super) fn similar_word(line: &str) -> Option<&'static str> {
    let word = line.split_whitespace().next()?.to_lowercase();
    did_you_mean(&word, WORDS.iter().map(|it| it.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use palazzo_core::model::Layout;

    #[test]
    fn a_line_is_a_number_a_word_or_the_name_of_a_room() {
        use WalkCommand::{Global, Help, Look, Nothing, Number, Quit, Read, Room, WriteScroll};
        let cases = [
            ("", Nothing),
            ("  ", Nothing),
            ("5", Number(5, "")),
            (" 17  fossils and bones ", Number(17, "fossils and bones")),
            ("-1", Number(-1, "")),
            ("LOOK", Look),
            ("map", Global(Slot::Map, "")),
            ("everything", Number(EVERYTHING, "")),
            ("map room", Room("map room")),
            ("go bug-crypt", Global(Slot::GoTo, "bug-crypt")),
            ("go to Bug Crypt", Global(Slot::GoTo, "Bug Crypt")),
            ("go", Global(Slot::GoTo, "")),
            ("search", Global(Slot::Search, "")),
            ("read 21", Number(21, "")),
            ("read On stasis", Read("On stasis")),
            ("scroll On stasis", WriteScroll("On stasis")),
            ("?", Help),
            ("q", Quit),
            ("Bug Crypt", Room("Bug Crypt")),
        ];
        for (line, command) in cases {
            assert_eq!(WalkCommand::parse(line), command, "{line:?}");
        }
    }

    #[test]
    fn the_word_everything_has_the_number_of_the_menu() {
        assert_eq!(
            Layout::Wide.number_of_slot(Slot::Everything).to_string(),
            EVERYTHING.to_string()
        );
    }

    #[test]
    fn the_help_lists_every_word_with_its_input() {
        insta::assert_snapshot!(words_help(), @"
        Type a number to choose an action, with its input if it needs one (`5 stasis`), or a word:
          look             show the room again
          map              show all rooms and where you are
          everything       show everything here whole
          go ROOM          go to a room; its name alone does the same
          back             go back to where you were
          search WORDS     search the whole palace
          read NAME        read a scroll, an entity or a task
          scroll TITLE     write a scroll in this room
          inventory        list all scrolls in this room
          help             show this list
          quit             end the walk; Ctrl-D does the same
        ");
    }

    #[test]
    fn a_misspelt_word_is_recognized() {
        assert_eq!(similar_word("serch fossils"), Some("search"));
        assert_eq!(similar_word("xyzzy"), None);
    }
}
