//! Token weights: a fast upper estimate of the number of tokens of a text for a language model, by
//! character class. A real tokenizer takes a hundred times as long, and the limits that use this
//! are checked at every step.

/// Returns the weight of a text, in thirds of a token.
pub fn token_weight(text: &str) -> usize {
    char_pairs(text).map(char_weight).sum()
}

/// Shortens a text to the weight `max_weight` and keeps its beginning and its end, because names of one
/// kind often differ in their last word.
pub fn abridge_to_weight(text: &str, max_weight: usize) -> String {
    if token_weight(text) <= max_weight {
        return text.to_owned();
    }
    let backwards = text.chars().rev();
    let backwards = backwards.clone().skip(1).chain([' ']).zip(backwards);
    let tail = &text[text.len() - bytes_within_weight(backwards, max_weight / 3)..];
    let tail = tail.split_once(' ').map_or(tail, |(_, words)| words).trim_start();
    let rest = token_weight(tail) + char_weight((' ', '…'));
    let head = &text[..text.len() - tail.len()];
    let head = &text[..bytes_within_weight(char_pairs(head), max_weight.saturating_sub(rest))];
    format!("{}…{tail}", head.trim_end())
}

/// Yields each character with the one before it.
fn char_pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    text.chars().scan(' ', |before, it| Some((std::mem::replace(before, it), it)))
}

/// Returns the length in bytes of the characters that fit into the weight `max_weight`.
fn bytes_within_weight(pairs: impl Iterator<Item = (char, char)>, mut max_weight: usize) -> usize {
    let fit = pairs.take_while(|it| {
        let fits = char_weight(*it) <= max_weight;
        max_weight = max_weight.saturating_sub(char_weight(*it));
        fits
    });
    fit.map(|(_, it)| it.len_utf8()).sum()
}

/// Returns the weight of a character after another: letters continue a word, other signs stand
/// alone and start a new word.
fn char_weight((before, it): (char, char)) -> usize {
    match it {
        ' ' => 1,
        'a'..='z' if before == ' ' || before.is_ascii_alphabetic() => 1,
        'A'..='Z' if before == ' ' => 1,
        'A'..='Z' if before.is_ascii_alphabetic() => 2,
        '0'..='9' if before.is_ascii_alphabetic() => 3,
        'a'..='z' | 'A'..='Z' => 3,
        '\0'..='\u{7f}' => 2,
        _ => non_ascii_weight(it),
    }
}

/// Returns the weight of a character outside ASCII. Tokens are made of bytes: the rarer a script,
/// the more of its bytes are single tokens.
fn non_ascii_weight(it: char) -> usize {
    match it {
        'А'..='я' => 2,
        '\0'..='\u{17f}' => 3,
        // Greek, Hebrew and Arabic, and punctuation.
        '\u{370}'..='\u{3ff}' | '\u{590}'..='\u{6ff}' | '\u{2000}'..='\u{206f}' => 4,
        // Thai, and Japanese syllables.
        '\u{e00}'..='\u{e7f}' | '\u{3000}'..='\u{30ff}' => 5,
        // The other two-byte characters, Indian scripts, Khmer, Han, and fullwidth Latin letters.
        '\0'..='\u{10ff}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{2500}'..='\u{257f}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ff00}'..='\u{ffef}' => 6,
        '\u{ac00}'..='\u{d7a3}' => 7,
        '\0'..='\u{ffff}' | '\u{1d000}'..='\u{1ffff}' => 9,
        _ => 12,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abridged_name_keeps_both_ends() {
        let name = "Survey of marine invertebrates of the northern Adriatic, station 0143";
        assert_eq!(abridge_to_weight(name, 36), "Survey of marine inverte…0143");
        assert_eq!(abridge_to_weight(name, 200), name);
        assert_eq!(abridge_to_weight("東京都千代田区丸の内一丁目", 36), "東京都…丁目");
        assert_eq!(abridge_to_weight("", 0), "");
    }
}
