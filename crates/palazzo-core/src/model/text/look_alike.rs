//! Names that look alike to a person: by case, invisible characters, or letters of other scripts.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::confusable_detection::skeleton;

use crate::model::text::invisible::is_invisible;

/// Letters and signs with characters that look like them and that Unicode's table of confusables
/// (Unicode Technical Standard 39) leaves out or maps to another letter: small capitals, letters that
/// look alike in capitals only, signs between words, and lines.
const MORE_LOOK_ALIKES: &[(char, &str)] = &[
    ('A', "ᴀⲀ"),
    ('B', "ʙⲂ"),
    ('C', "ᴄ"),
    ('D', "ᴅ"),
    ('E', "ᴇⲈ"),
    ('F', "Ғꜰ"),
    ('G', "Ԍɢ"),
    ('H', "ʜⲎ"),
    ('I', "ɪⲒ"),
    ('J', "ᴊ"),
    ('K', "ᴋⲔ"),
    ('L', "ʟԼ"),
    ('M', "ᴍⲘ"),
    ('N', "ɴⲚ"),
    ('O', "ᴏՕⲞ"),
    ('P', "ᴘⲢ"),
    ('R', "ʀ"),
    ('S', "ꜱ"),
    ('T', "ᴛⲦ"),
    ('U', "ᴜ"),
    ('V', "ᴠ"),
    ('W', "ᴡ"),
    ('X', "Ⲭ"),
    ('Y', "ʏⲨ"),
    ('Z', "ᴢ"),
    ('b', "в"),
    ('e', "є"),
    ('h', "н"),
    ('k', "к"),
    ('m', "м"),
    ('n', "пꞑռ"),
    ('r', "ɾꮁ"),
    ('t', "тτʈꞇ"),
    ('u', "ⲩ"),
    ('w', "ω"),
    ('y', "ү"),
    (
        ':',
        "ː˸᛬⦂᠄⁝︓⸬፥፦⁞\u{705}\u{706}\u{707}\u{708}\u{709}\u{983}\u{a03}\u{b03}\u{c03}\u{c83}\u{d03}\u{d83}\u{1038}⠆៖꛴∷",
    ),
    ('·', "•∙⋅‧・᛫●◦ㆍ⦁▪∘"),
    ('─', "━▬▭═╌╍┄┅┈┉╴╶╸╺╼╾⎯⏤⎺⎻⎼⎽⁃¯"),
    ('—', "–―‒⸺⸻➖−ꟷⲻⲺᐨˉˍ"),
];

/// Returns the Latin letter, or the sign, that looks like a character of another script.
pub fn letter_that_looks_like(it: char) -> Option<char> {
    if it.is_ascii() || matches!(it, '─' | '—') {
        return None;
    }
    let listed = |it: char| MORE_LOOK_ALIKES.iter().find(|(_, alike)| alike.contains(it));
    // Unicode's table knows the capitals of Cherokee only; the small letters have the same forms.
    let it = if ('\u{ab70}'..='\u{abbf}').contains(&it) { it.to_uppercase().next()? } else { it };
    if let '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}' = it {
        // White letters in black circles and squares, which do not decompose.
        let place = (u32::from(it) - 0x1f150) % 0x20;
        return char::from_u32(u32::from('A') + place);
    }
    if let Some((letter, _)) = listed(it) {
        return Some(*letter);
    }
    let mut normal = it.nfd();
    match (normal.next()?, normal.next()) {
        (base, None) if base != it => return Some(letter_that_looks_like(base).unwrap_or(base)),
        (base, None) if base == it => {}
        // A letter with an accent is another letter.
        _ => return None,
    }
    // The marks in a skeleton are the strokes and hooks of a letter.
    let letter: String = skeleton(it.encode_utf8(&mut [0; 4])).filter(|it| !is_mark(*it)).collect();
    let mut letters = letter.chars();
    match (letters.next()?, letters.next()) {
        ('ー', None) => Some('—'),
        // These prototypes stand for several letters.
        ('l', None) if it.is_uppercase() => Some('I'),
        ('O', None) if it.is_lowercase() => Some('o'),
        ('r', Some('n')) if letters.next().is_none() => Some('m'),
        (letter, None) if letter != it => Some(letter),
        _ => None,
    }
}

fn is_mark(it: char) -> bool {
    use GeneralCategory::{EnclosingMark, NonspacingMark};
    matches!(get_general_category(it), NonspacingMark | EnclosingMark)
}

/// Folds a name so that names that look alike become equal. It is for warnings only: two items with
/// such names stay two.
pub fn fold_look_alikes(name: &str) -> String {
    let visible = name.nfkc().filter(|it| !is_invisible(*it));
    let latin = visible.map(|it| letter_that_looks_like(it).unwrap_or(it));
    let folded = latin.collect::<String>().to_lowercase();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_folded_to_one() {
        for name in [
            "Ada",
            "А\u{434}a".replace('\u{434}', "d").as_str(),
            "Ad\u{200b}a",
            "ＡＤＡ",
            "ada\u{fe0f}",
        ] {
            assert_eq!(fold_look_alikes(name), "ada", "{name:?}");
        }
        assert_ne!(fold_look_alikes("Äda"), "ada");
        assert_eq!(fold_look_alikes("e\u{301}"), fold_look_alikes("\u{e9}"));
    }
}
