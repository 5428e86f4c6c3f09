//! What a text weighs: how many tokens it costs a language model at most, or so,
//! by what its characters are. To count them in earnest takes a hundred times as
//! long, and what is bounded here is asked for at every step.

/// Returns what a text weighs, in thirds of a token.
pub fn weight(text: &str) -> usize {
    in_pairs(text).map(size).sum()
}

/// Shortens a text to what `room` small letters weigh, and keeps how it begins
/// and how it ends: names of a kind often differ in their last word.
pub fn abridged(text: &str, room: usize) -> String {
    if weight(text) <= room {
        return text.to_owned();
    }
    let backwards = text.chars().rev();
    let backwards = backwards.clone().skip(1).chain([' ']).zip(backwards);
    let tail = &text[text.len() - fitting(backwards, room / 3)..];
    let tail = tail.split_once(' ').map_or(tail, |(_, words)| words).trim_start();
    let rest = weight(tail) + size((' ', '…'));
    let head = &text[..text.len() - tail.len()];
    let head = &text[..fitting(in_pairs(head), room.saturating_sub(rest))];
    format!("{}…{tail}", head.trim_end())
}

/// Yields each character behind the one before it.
fn in_pairs(text: &str) -> impl Iterator<Item = (char, char)> {
    std::iter::once(' ').chain(text.chars()).zip(text.chars())
}

/// Returns how many bytes of some characters fit.
fn fitting(pairs: impl Iterator<Item = (char, char)>, mut room: usize) -> usize {
    let fit = pairs.take_while(|it| {
        let fits = size(*it) <= room;
        room = room.saturating_sub(size(*it));
        fits
    });
    fit.map(|(_, it)| it.len_utf8()).sum()
}

/// Says what a character weighs behind another: letters come in words, signs
/// come alone, and behind them another word begins.
fn size((before, it): (char, char)) -> usize {
    match it {
        ' ' => 1,
        'a'..='z' if before == ' ' || before.is_ascii_alphabetic() => 1,
        'A'..='Z' if before == ' ' => 1,
        'A'..='Z' if before.is_ascii_alphabetic() => 2,
        '0'..='9' if before.is_ascii_alphabetic() => 3,
        'a'..='z' | 'A'..='Z' => 3,
        '\0'..='\u{7f}' => 2,
        _ => abroad(it),
    }
}

/// Says what a character weighs that is not of ASCII. Tokens are made of bytes:
/// the fewer people write a script, the more of its bytes stay alone.
fn abroad(it: char) -> usize {
    match it {
        'А'..='я' => 2,
        '\0'..='\u{17f}' => 3,
        // Greek, Hebrew and Arabic, and punctuation.
        '\u{370}'..='\u{3ff}' | '\u{590}'..='\u{6ff}' | '\u{2000}'..='\u{206f}' => 4,
        // Thai, and Japanese syllables.
        '\u{e00}'..='\u{e7f}' | '\u{3000}'..='\u{30ff}' => 5,
        // The others of two bytes and of India, Khmer, Han, Latin letters as wide.
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
    fn a_long_name_keeps_both_its_ends() {
        let name = "Survey of marine invertebrates of the northern Adriatic, station 0143";
        assert_eq!(abridged(name, 36), "Survey of marine inverte…0143");
        assert_eq!(abridged(name, 200), name);
        assert_eq!(abridged("東京都千代田区丸の内一丁目", 36), "東京都…丁目");
        assert_eq!(abridged("", 0), "");
    }
}
