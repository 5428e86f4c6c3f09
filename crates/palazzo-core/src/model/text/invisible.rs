//! Characters that show nothing: where they belong by Unicode, and where they hide something.
//!
//! Models read such characters and people do not see them, so a text could tell an agent something
//! that no review finds. Where a script or an emoji is spelled with them, they stay as they are.

use std::cell::LazyCell;
use std::collections::BTreeSet;

/// The flags of England, Scotland and Wales: the only emoji that contain tag characters.
const FLAG_TAGS: [&str; 3] = [
    "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Yields the characters of a text, each with whether it is hidden: a control character or a
/// bidirectional override, or another invisible character where it does not belong.
pub fn mark_hidden_chars(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.split_inclusive('\n').flat_map(mark_hidden_chars_of_line)
}

/// Returns whether a character beyond ASCII is hidden in some places.
pub fn may_be_hidden(it: char) -> bool {
    !it.is_ascii() && (is_invisible(it) || is_supplementary_private_use(it))
}

/// Returns whether a character is neither a control character nor a bidirectional override.
pub fn is_printable(it: char) -> bool {
    !it.is_control() && !matches!(it, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn mark_hidden_chars_of_line(line: &str) -> impl Iterator<Item = (char, bool)> {
    let is_right_to_left = LazyCell::new(|| line.chars().any(is_right_to_left_letter));
    let has_data = LazyCell::new(|| has_data_in_selectors(line));
    let (mut before, mut tags) = (None, 0_usize);
    line.char_indices().map(move |(at, it)| {
        let rest = &line[at + it.len_utf8()..];
        let is_hidden = match it {
            _ if it.is_ascii() => it.is_control(),
            '\u{e0020}'..='\u{e007f}' if tags > 0 => false,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => {
                !*is_right_to_left || !has_effect_between(before, rest.chars().next())
            }
            '\u{fe00}'..='\u{fe02}' | '\u{e0100}'..='\u{e01ef}' if *has_data => true,
            // Fonts have icons there, one by one.
            '\u{f0000}'..='\u{10fffd}' => rest.starts_with(is_supplementary_private_use),
            '\u{2800}' => !line.contains(is_braille),
            _ => is_invisible(it) && !belongs_between(before, it, rest.chars().next()),
        };
        let begins_flag = it == '\u{1f3f4}' && FLAG_TAGS.iter().any(|it| rest.starts_with(it));
        tags = if begins_flag { FLAG_TAGS[0].chars().count() } else { tags.saturating_sub(1) };
        before = Some(it);
        (it, is_hidden)
    })
}

/// Returns whether the selectors of a line seem to hold data: more than names and texts need.
fn has_data_in_selectors(line: &str) -> bool {
    const MAX_FORMS: usize = 10;
    let registered = line.chars().filter(|it| matches!(it, '\u{e0100}'..='\u{e01ef}'));
    let standard = line.chars().filter(|it| matches!(it, '\u{fe00}'..='\u{fe02}'));
    registered.collect::<BTreeSet<_>>().len() > MAX_FORMS || standard.count() > MAX_FORMS
}

/// Returns whether a direction mark can change the order of its neighbours: beside a right-to-left
/// letter, or behind a sign that has no direction of its own.
fn has_effect_between(before: Option<char>, after: Option<char>) -> bool {
    let is_letter = |it: Option<char>| it.is_some_and(is_right_to_left_letter);
    let is_sign = before.is_none_or(|it| !it.is_alphanumeric() && !it.is_whitespace());
    !before.is_some_and(is_invisible) && (is_letter(before) || is_letter(after) || is_sign)
}

/// Returns whether an invisible character is a part of the spelling of its neighbours.
fn belongs_between(before: Option<char>, it: char, after: Option<char>) -> bool {
    let (Some(before), after) = (before, after.unwrap_or(' ')) else { return false };
    match it {
        '\u{200b}' | '\u{200c}' if is_invisible(before) || is_invisible(after) => false,
        '\u{200b}' => is_written_without_spaces(before) || is_written_without_spaces(after),
        '\u{200c}' => is_joining(before) || is_joining(after),
        '\u{34f}' => matches!(before, '\u{591}'..='\u{5c7}'),
        '\u{200d}' => is_joining(before) || is_end_of_emoji(before) && is_emoji(after),
        '\u{fe0e}' | '\u{fe0f}' => match before {
            '#' | '*' | '0'..='9' => after == '\u{20e3}',
            _ => is_emoji(before),
        },
        '\u{fe00}' | '\u{fe01}' if is_full_width_punctuation(before) => true,
        '\u{fe00}' => {
            is_ideograph(before)
                || matches!(before, '0' | '\u{1000}'..='\u{109f}' | '\u{2200}'..='\u{22ff}')
        }
        // The last range has the registered forms of ideographs.
        '\u{fe01}' | '\u{fe02}' | '\u{e0100}'..='\u{e011f}' => is_ideograph(before),
        '\u{13430}'..='\u{1343f}' => is_hieroglyph(before) || is_hieroglyph(after),
        '\u{16fe4}' => matches!(before, '\u{18b00}'..='\u{18cff}'),
        '\u{1d159}' => matches!(before, '\u{1d100}'..='\u{1d1ff}'),
        '\u{180b}'..='\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        '\u{115f}' | '\u{1160}' => is_hangul_letter(before) || is_hangul_letter(after),
        _ => false,
    }
}

/// Returns whether a character shows nothing by itself: controls, the default ignorable characters
/// of Unicode, noncharacters, line separators, and blanks that are no white space.
pub fn is_invisible(it: char) -> bool {
    let is_noncharacter = |it: char| u32::from(it) & 0xfffe == 0xfffe;
    !is_printable(it)
        || is_noncharacter(it)
        || matches!(it,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}' | '\u{2029}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            | '\u{2800}' | '\u{fdd0}'..='\u{fdef}' | '\u{13430}'..='\u{1343f}' | '\u{16fe4}')
}

fn is_supplementary_private_use(it: char) -> bool {
    it >= '\u{f0000}'
}

fn is_right_to_left_letter(it: char) -> bool {
    let is_in_block = matches!(it,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}');
    is_in_block && it.is_alphabetic()
}

/// Returns whether a character is of a script whose letters change their form beside others:
/// Arabic, Mongolian, and those of India and its neighbours.
fn is_joining(it: char) -> bool {
    let is_in_block = matches!(it,
        '\u{600}'..='\u{dff}' | '\u{f00}'..='\u{109f}' | '\u{1780}'..='\u{18af}'
        | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1c4f}' | '\u{1cd0}'..='\u{1cff}'
        | '\u{a840}'..='\u{a8ff}' | '\u{a980}'..='\u{a9df}' | '\u{aa60}'..='\u{aadf}'
        | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10a00}'..='\u{10a4f}'
        | '\u{11000}'..='\u{11fff}' | '\u{1e900}'..='\u{1e95f}');
    is_in_block && !is_invisible(it)
}

/// Returns whether a character is of a script that marks ends of words by a zero-width space: Thai,
/// Lao, Tibetan, Burmese, Khmer.
fn is_written_without_spaces(it: char) -> bool {
    matches!(it, '\u{e00}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{1aaf}')
        && !is_invisible(it)
}

fn is_emoji(it: char) -> bool {
    matches!(it,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}'
        | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}' | '\u{2b00}'..='\u{2bff}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Returns whether an emoji can end with a character, before a joiner: itself, a skin tone, or the
/// selector of its coloured form.
fn is_end_of_emoji(it: char) -> bool {
    it == '\u{fe0f}' || is_emoji(it)
}

fn is_ideograph(it: char) -> bool {
    matches!(it,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Returns whether a mark of punctuation has forms that a selector chooses.
fn is_full_width_punctuation(it: char) -> bool {
    matches!(it, '、' | '。' | '！' | '，' | '．' | '：' | '；' | '？')
}

fn is_braille(it: char) -> bool {
    matches!(it, '\u{2801}'..='\u{28ff}')
}

fn is_hieroglyph(it: char) -> bool {
    matches!(it, '\u{13000}'..='\u{1342f}' | '\u{13460}'..='\u{143fa}')
}

fn is_hangul_letter(it: char) -> bool {
    matches!(it, '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}')
        && !is_invisible(it)
}

#[cfg(test)]
mod tests {
    use crate::model::escape_unprintable;

    #[test]
    fn invisible_characters_that_hide_something_are_escaped() {
        let hidden = [
            ("tags", "two\u{e0041}\u{e0042}", r"two\u{e0041}\u{e0042}"),
            ("tags of no flag", "\u{1f3f4}\u{e0041}\u{e007f}", "\u{1f3f4}\\u{e0041}\\u{e007f}"),
            ("zero-width space", "Ada\u{200b}", r"Ada\u{200b}"),
            ("word joiner", "A\u{2060}da", r"A\u{2060}da"),
            ("byte order mark", "A\u{feff}da", r"A\u{feff}da"),
            ("soft hyphen", "A\u{ad}da", r"A\u{ad}da"),
            ("variation selector", "Ada\u{fe0f}", r"Ada\u{fe0f}"),
            ("selectors as data", "😀\u{fe0f}\u{e0141}\u{e0142}", "😀\u{fe0f}\\u{e0141}\\u{e0142}"),
            ("digit with a selector", "1\u{fe0f}2", r"1\u{fe0f}2"),
            ("joiner in Latin beside Arabic", "می a\u{200c}b", "می a\\u{200c}b"),
            ("joiners in Latin", "A\u{200d}d\u{200c}a", r"A\u{200d}d\u{200c}a"),
            ("joiners in a row", "می\u{200c}\u{200c}شود", "می\\u{200c}\\u{200c}شود"),
            ("bidi marks in Latin", "A\u{200e}d\u{200f}a\u{61c}", r"A\u{200e}d\u{200f}a\u{61c}"),
            ("bidi override", "אב\u{202e}ג", "אב\\u{202e}ג"),
            ("fillers", "\u{3164}\u{ffa0}\u{115f}", r"\u{3164}\u{ffa0}\u{115f}"),
            ("line separators", "a\u{2028}b\u{2029}c", r"a\u{2028}b\u{2029}c"),
            ("noncharacters", "a\u{fdd0}b\u{1fffe}", r"a\u{fdd0}b\u{1fffe}"),
            ("blanks", "Ada\u{2800} \u{1d159}", r"Ada\u{2800} \u{1d159}"),
            ("format of hieroglyphs", "a\u{13430}b\u{16fe4}", r"a\u{13430}b\u{16fe4}"),
            ("selector behind a blank", "\u{3000}\u{e0100}", "\u{3000}\\u{e0100}"),
            ("selector behind a stop", "。\u{e0100}Ａ\u{fe00}", "。\\u{e0100}Ａ\\u{fe00}"),
            ("selector of no form", "葛\u{e0140}城\u{fe05}", "葛\\u{e0140}城\\u{fe05}"),
            (
                "data in selectors",
                "葛\u{e0100}葛\u{e0101}葛\u{e0102}葛\u{e0103}葛\u{e0104}葛\u{e0105}葛\u{e0106}葛\u{e0107}葛\u{e0108}葛\u{e0109}葛\u{e010a}",
                "葛\\u{e0100}葛\\u{e0101}葛\\u{e0102}葛\\u{e0103}葛\\u{e0104}葛\\u{e0105}葛\\u{e0106}葛\\u{e0107}葛\\u{e0108}葛\\u{e0109}葛\\u{e010a}",
            ),
            (
                "bidi marks between Latin letters",
                "א a\u{200e}b\u{200f}c",
                "א a\\u{200e}b\\u{200f}c",
            ),
            ("controls", "a\u{7}\u{85}\nb", r"a\u{7}\u{85}\nb"),
            ("at the beginning", "\u{200d}\u{fe0f}", r"\u{200d}\u{fe0f}"),
        ];
        for (what, text, expected) in hidden {
            assert_eq!(escape_unprintable(text), expected, "{what}");
        }
    }

    #[test]
    fn invisible_characters_that_belong_to_a_spelling_stay() {
        let spelled = [
            ("Persian", "می\u{200c}شود"),
            ("Persian suffix", "API\u{200c}ها «کتاب»\u{200c}ها ۱۲\u{200c}ام"),
            ("Kannada", "ಬ್ಲಾಗ್\u{200c}, ఫేస్\u{200c}బుక్\u{200c} లో"),
            ("Hebrew of the Bible", "יְרוּשָׁלִַ\u{34f}ם"),
            ("Thai before a blank", "ไทย\u{200b} (abc)"),
            ("Braille drawing", "⣿\u{2800}\u{2800}\u{2800}⣀"),
            ("Hindi", "क्\u{200d}ष and क्\u{200c}ष"),
            ("Sinhala", "ශ්\u{200d}රී ලංකා"),
            ("Hebrew with marks", "שלום (abc)\u{200e} עולם\u{200f}!"),
            ("family", "👩\u{200d}👩\u{200d}👧\u{200d}👦"),
            ("heart on fire", "❤\u{fe0f}\u{200d}🔥"),
            ("skin tone", "👩🏽\u{200d}🚀"),
            ("keycap", "1\u{fe0f}\u{20e3}"),
            ("rainbow", "🏳\u{fe0f}\u{200d}🌈"),
            ("Scotland", "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}"),
            ("Japanese name", "葛\u{e0100}城"),
            ("Japanese comma", "一、\u{fe00}二"),
            ("slashed zero", "0\u{fe00}"),
            ("Braille", "⠁\u{2800}⠃"),
            ("hieroglyphs", "\u{13000}\u{13430}\u{13001}"),
            ("Khmer", "ភាសា\u{200b}ខ្មែរ"),
            ("Mongolian", "ᠮᠣᠩᠭᠣᠯ\u{180b}"),
            ("plain", "Große Küche, naïve e\u{301}"),
        ];
        for (what, text) in spelled {
            assert_eq!(escape_unprintable(text), text, "{what}");
        }
    }
}
