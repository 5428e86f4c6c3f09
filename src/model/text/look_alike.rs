//! Names that look alike to a person: by case, invisible characters, or letters of other scripts.

use unicode_normalization::UnicodeNormalization as _;

use crate::model::text::invisible::is_invisible;

/// Letters that look like a Latin letter.
const LOOK_ALIKES: &[(&str, char)] = &[
    ("АΑ", 'a'),
    ("аɑα", 'a'),
    ("ВΒ", 'b'),
    ("СсϹϲ", 'c'),
    ("ԁ", 'd'),
    ("ЕеΕ", 'e'),
    ("ɡ", 'g'),
    ("НΗһ", 'h'),
    ("ІіΙι\u{131}", 'i'),
    ("ЈјϳͿ", 'j'),
    ("КкΚκ", 'k'),
    ("МΜ", 'm'),
    ("Ν", 'n'),
    ("ОоΟοՕօ", 'o'),
    ("РрΡρ", 'p'),
    ("ԛԚ", 'q'),
    ("Ѕѕ", 's'),
    ("ТΤ", 't'),
    ("ν", 'v'),
    ("ԝԜ", 'w'),
    ("ХхΧ", 'x'),
    ("УуΥ", 'y'),
    ("Ζ", 'z'),
];

/// Folds a name so that names that look alike become equal. It is for warnings only: two items with
/// such names stay two.
pub fn fold_look_alikes(name: &str) -> String {
    let visible = name.nfkc().filter(|it| !is_invisible(*it));
    let latin = visible.map(|it| {
        let found = LOOK_ALIKES.iter().find(|(letters, _)| letters.contains(it));
        found.filter(|_| !it.is_ascii()).map_or(it, |(_, letter)| *letter)
    });
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
