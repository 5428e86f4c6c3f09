//! Names that look alike to a person: by case, invisible characters, or letters of other scripts.

use unicode_normalization::UnicodeNormalization as _;

use crate::model::text::invisible::is_invisible;

/// Latin letters and signs, each with the characters that look like it, also after a compatibility
/// decomposition: Cyrillic, Greek, Armenian, Cherokee, Lisu, small capitals, and signs.
const LOOK_ALIKES: &[(char, &str)] = &[
    ('A', "АΑᎪꓮᴀ"),
    ('B', "ВΒᏴꓐʙ"),
    ('C', "СϹᏟꓚᴄ"),
    ('D', "Ꭰꓓᴅ"),
    ('E', "ЕΕᎬꓰᴇ"),
    ('F', "ϜꓝҒꜰ"),
    ('G', "ԌᏀꓖɢ"),
    ('H', "НΗᎻꓧʜ"),
    ('I', "ІΙӀᏆꓲɪ"),
    ('J', "ЈͿᎫꓙᴊ"),
    ('K', "КΚᏦꓗᴋ"),
    ('L', "ᏞꓡԼʟ"),
    ('M', "МΜᎷꓟᴍ"),
    ('N', "Νꓠɴ"),
    ('O', "ОΟՕꓳᴏ"),
    ('P', "РΡᏢꓑᴘ"),
    ('Q', "Ԛ"),
    ('R', "ᎡᏒꓣʀ"),
    ('S', "ЅՏᏚꓢꜱ"),
    ('T', "ТΤᎢꓔᴛ"),
    ('U', "Սꓴᴜ"),
    ('V', "ѴᏙꓦᴠ"),
    ('W', "ԜᎳꓪᴡ"),
    ('X', "ХΧꓫ"),
    ('Y', "ҮΥꓬʏ"),
    ('Z', "ΖᏃꓜᴢ"),
    ('a', "аαɑ"),
    ('b', "ьв"),
    ('c', "сϲ"),
    ('d', "ԁ"),
    ('e', "еε"),
    ('g', "ɡց"),
    ('h', "һհн"),
    ('i', "іιı"),
    ('j', "јϳ"),
    ('k', "кκ"),
    ('l', "ӏǀ∣"),
    ('m', "м"),
    ('n', "ոηпռ"),
    ('o', "оοօσ"),
    ('p', "рρ"),
    ('q', "ԛգ"),
    ('r', "г"),
    ('s', "ѕ"),
    ('t', "тτ"),
    ('u', "υսʋ"),
    ('v', "νѵ"),
    ('w', "ԝω"),
    ('x', "хχ"),
    ('y', "уγү"),
    (':', "꞉∶ː։׃ꓽ˸᛬"),
    ('·', "•∙⋅‧・᛫"),
    ('─', "━═╌╍┄┅┈┉╴╶╸╺╼╾—–―‒⎯⏤⸺⸻➖"),
];

/// Returns the Latin letter, or the sign, that looks like a character of another script.
pub fn letter_that_looks_like(it: char) -> Option<char> {
    let found = LOOK_ALIKES.iter().find(|(_, alike)| alike.contains(it));
    found.map(|(letter, _)| *letter)
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
