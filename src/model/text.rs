//! Which characters may be shown.

/// Takes out of a text what could do more than be read: control characters,
/// which move a terminal's cursor, and bidirectional overrides, which make a
/// line read as something it is not. Line breaks and tabs stay.
pub fn printable(text: &str) -> String {
    text.chars().filter(|it| is_printable(*it) || matches!(it, '\n' | '\t')).collect()
}

/// Tells whether a character can only be read.
pub fn is_printable(it: char) -> bool {
    !it.is_control() && !matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
