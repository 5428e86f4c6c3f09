//! Converts dates to words, so that notes are found by their date.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Datelike, Utc};

/// The names of the months in the languages that are stemmed; the first word of each line is
/// the one that is indexed.
const MONTH_NAMES: [&str; 12] = [
    "january jan januar jänner janvier enero gennaio janeiro januari tammikuu января январь январе",
    "february feb februar février febrero febbraio fevereiro februari helmikuu февраля февраль феврале",
    "march mar märz mars marzo março maart maaliskuu марта март марте",
    "april apr avril abril aprile huhtikuu апреля апрель апреле",
    "may mai mayo maggio maio mei maj toukokuu мая май мае",
    "june jun juni juin junio giugno junho kesäkuu июня июнь июне",
    "july jul juli juillet julio luglio julho heinäkuu июля июль июле",
    "august aug août agosto augustus augusti elokuu августа август августе",
    "september sep sept septembre septiembre settembre setembro syyskuu сентября сентябрь сентябре",
    "october oct oktober octobre octubre ottobre outubro oktober lokakuu октября октябрь октябре",
    "november nov novembre noviembre novembro marraskuu ноября ноябрь ноябре",
    "december dec dezember décembre diciembre dicembre dezembro desember joulukuu декабря декабрь декабре",
];

/// The number of the month, from 0, that each name in [`MONTH_NAMES`] names.
static MONTHS_BY_NAME: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let months = MONTH_NAMES.iter().enumerate();
    months.flat_map(|(month, names)| names.split(' ').map(move |it| (it, month))).collect()
});

/// Returns the words by which users search for a day.
pub(crate) fn date_words(day: DateTime<Utc>) -> String {
    let month = MONTH_NAMES[day.month0() as usize].split(' ').next().unwrap_or_default();
    format!("{} {month} {}", day.day(), day.format("%Y %Y-%m %Y-%m-%d"))
}

/// Returns the English name of the month that a word names; `before` is the word before it,
/// because `月` and `월` follow the number of the month.
pub(crate) fn english_month_name(word: &str, before: Option<&str>) -> Option<&'static str> {
    let number = match word {
        "月" | "월" => before?.parse::<usize>().ok()?.checked_sub(1),
        _ => MONTHS_BY_NAME.get(word).copied(),
    };
    MONTH_NAMES.get(number?)?.split(' ').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_split_into_searchable_words() {
        let day: DateTime<Utc> = "2025-03-09T12:00:00Z".parse().unwrap();
        assert_eq!(date_words(day), "9 march 2025 2025-03 2025-03-09");
    }

    #[test]
    fn months_have_names_in_several_languages() {
        let months = [("märz", None), ("марта", None), ("月", Some("3")), ("mar", None)];
        for (word, before) in months {
            assert_eq!(english_month_name(word, before), Some("march"), "{word}");
        }
        for (word, before) in
            [("月", Some("13")), ("月", Some("0")), ("月", None), ("fossil", None)]
        {
            assert_eq!(english_month_name(word, before), None, "{word}");
        }
    }
}
