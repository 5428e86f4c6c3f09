//! Slugs: the short names of rooms and wings.

use std::fmt;
use std::str::FromStr;

use deunicode::deunicode_with_tofu;

use crate::model::quoted;

/// A name that is safe in file names, portals and tool calls: `great-hall`.
///
/// Invariant: 1 to 80 characters of `a-z`, `0-9`, `_` and `-`, the first a letter or a digit; and
/// not a name that some file system reserves (`con`, `nul`, `com1`…). Holders of a `Slug` need not
/// check again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

/// The reason why a text is not a [`Slug`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SlugError {
    /// The text is empty.
    #[error("a slug cannot be empty")]
    Empty,
    /// The text has more characters than [`Slug::MAX_CHARS`].
    #[error("{} is not a slug: it has {length} characters, and the limit is 80", quoted(&format!("{start}…")))]
    TooLong {
        /// The beginning of the text.
        start: String,
        /// The number of characters.
        length: usize,
    },
    /// A character that is not allowed.
    #[error(
        "{} is not a slug: it contains {found:?}, and only a-z, 0-9, _ and - may appear{}",
        quoted(text),
        slug_suggestion(text)
    )]
    Character {
        /// The whole text.
        text: String,
        /// The first invalid character.
        found: char,
    },
    /// A first character that is neither a letter nor a digit.
    #[error(
        "{} is not a slug: it must begin with a letter or a digit{}",
        quoted(text),
        slug_suggestion(text)
    )]
    Start {
        /// The whole text.
        text: String,
    },
    /// A name that Windows reserves for a device.
    #[error("`{text}` cannot be a slug: some systems reserve that file name; try `{text}-room`")]
    Reserved {
        /// The whole text.
        text: String,
    },
}

impl Slug {
    /// Maximum number of characters.
    pub const MAX_CHARS: usize = 80;

    /// Returns the slug as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Makes a slug from any text: transliterated to Latin letters (`Große Küche` is
    /// `grosse-kuche`, `日本` `ri-ben`), in lower case, with every run of other characters replaced
    /// by one `-`; `None` if the result is empty or reserved.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut slug = String::new();
        let latin = match text.is_ascii() {
            true => text.to_ascii_lowercase(),
            false => deunicode_with_tofu(text, "-").to_lowercase(),
        };
        for character in latin.chars() {
            match character {
                'a'..='z' | '0'..='9' => slug.push(character),
                '_' if !slug.is_empty() => slug.push('_'),
                _ if slug.is_empty() || slug.ends_with('-') => {}
                _ => slug.push('-'),
            }
            if slug.len() == Self::MAX_CHARS {
                break;
            }
        }
        slug.trim_end_matches('-').parse().ok()
    }

    /// Makes a slug from any text; if that is impossible, from the text and `kind`, or from `kind`
    /// alone. `kind` must be a slug.
    pub fn from_text_or_kind(text: &str, kind: &'static str) -> Self {
        let slug = Self::from_text(text).or_else(|| Self::from_text(&format!("{text} {kind}")));
        slug.unwrap_or_else(|| Self(kind.to_owned()))
    }

    /// Returns the first of `hall`, `hall-2`, `hall-3` and so on for which `fits` is true. It must
    /// be true for some number.
    #[must_use]
    pub fn first_free_variant(&self, fits: impl Fn(&Self) -> bool) -> Self {
        let start: String = self.0.chars().take(Self::MAX_CHARS - 10).collect();
        let mut slug = self.clone();
        let mut number = 1;
        while !fits(&slug) {
            number += 1;
            slug = Self(format!("{}-{number}", start.trim_end_matches('-')));
        }
        slug
    }
}

impl FromStr for Slug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, SlugError> {
        let length = text.chars().count();
        if length == 0 {
            return Err(SlugError::Empty);
        }
        if length > Self::MAX_CHARS {
            let start = text.chars().filter(|it| !it.is_control()).take(20).collect();
            return Err(SlugError::TooLong { start, length });
        }
        let text = text.to_owned();
        if let Some(found) = text.chars().find(|it| !is_slug_char(*it)) {
            return Err(SlugError::Character { text, found });
        }
        if text.starts_with(['_', '-']) {
            return Err(SlugError::Start { text });
        }
        if is_reserved_filename(&text) {
            return Err(SlugError::Reserved { text });
        }
        Ok(Self(text))
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_slug_char(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9' | '_' | '-')
}

/// Returns true if a text is a Windows device name: such a file cannot be checked out on Windows.
fn is_reserved_filename(text: &str) -> bool {
    let device = text.strip_suffix(|it: char| matches!(it, '1'..='9'));
    matches!(text, "con" | "prn" | "aux" | "nul") || matches!(device, Some("com" | "lpt"))
}

fn slug_suggestion(text: &str) -> String {
    match Slug::from_text(text) {
        Some(slug) if !text.contains(['/', '\\', '\0']) => format!("; try `{slug}`"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_rejected(text: &str, because: &str) {
        assert_eq!(text.parse::<Slug>().unwrap_err().to_string(), because);
    }

    #[test]
    fn a_slug_with_a_capital_is_refused_with_a_suggestion() {
        assert_rejected(
            "Great-Hall",
            "`Great-Hall` is not a slug: it contains 'G', and only a-z, 0-9, _ and - may appear; try `great-hall`",
        );
    }

    #[test]
    fn slugs_that_could_escape_the_palace_are_refused() {
        assert_rejected("", "a slug cannot be empty");
        assert_rejected(
            "..",
            "`..` is not a slug: it contains '.', and only a-z, 0-9, _ and - may appear",
        );
        assert_rejected(
            "a/../b",
            "`a/../b` is not a slug: it contains '/', and only a-z, 0-9, _ and - may appear",
        );
        assert_rejected(
            "a\0b",
            "`a\\0b` is not a slug: it contains '\\0', and only a-z, 0-9, _ and - may appear",
        );
        assert_rejected(
            "-rf",
            "`-rf` is not a slug: it must begin with a letter or a digit; try `rf`",
        );
        assert_rejected(
            &"a".repeat(300),
            "`aaaaaaaaaaaaaaaaaaaa…` is not a slug: it has 300 characters, and the limit is 80",
        );
    }

    #[test]
    fn windows_device_names_are_refused() {
        for text in ["con", "nul", "com1", "lpt9"] {
            assert!(matches!(text.parse::<Slug>(), Err(SlugError::Reserved { .. })), "{text}");
        }
        assert!("console".parse::<Slug>().is_ok());
        assert!("com0".parse::<Slug>().is_ok());
    }

    #[test]
    fn every_text_gets_a_slug_and_a_numbered_one_if_taken() {
        let named = |text| Slug::from_text_or_kind(text, "wing").to_string();
        assert_eq!([named("Code"), named("con"), named("..")], ["code", "con-wing", "wing"]);
        let long = Slug::from_text_or_kind(&"a".repeat(300), "wing");
        let third = long.first_free_variant(|it| it.as_str().ends_with("-3"));
        assert_eq!(third.to_string().parse(), Ok(third));
    }

    #[test]
    fn any_text_with_a_letter_in_it_makes_a_slug() {
        let slug = |text| Slug::from_text(text).map(|it| it.to_string());
        assert_eq!(slug("Stasis is data").as_deref(), Some("stasis-is-data"));
        assert_eq!(slug("  Wegener's -- drift! ").as_deref(), Some("wegener-s-drift"));
        assert_eq!(
            slug("Große Küche, Проект 日本 🏛").as_deref(),
            Some("grosse-kuche-proekt-ri-ben-classical-building")
        );
        assert_eq!(slug("…/.."), None);
        assert_eq!(slug(&"ab ".repeat(100)).map(|it| it.len()), Some(80));
    }
}
