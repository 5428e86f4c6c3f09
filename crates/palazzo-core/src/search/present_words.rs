//! Recognizes questions that ask for the present state: `Who milks the goats these days?`.

use crate::search::words::for_each_word;

/// Phrases that say only that the present is meant, separated by commas.
const PRESENT_PHRASES: &str = "now, right now, as of now, currently, nowadays, these days, \
    at present, at the moment, jetzt, derzeit, zurzeit, zur zeit, momentan, gegenwärtig, \
    heutzutage, im moment, im augenblick, maintenant, actuellement, à présent, en ce moment, \
    de nos jours, ahora, actualmente, en este momento, hoy en día, adesso, attualmente, al momento, \
    in questo momento, agora, atualmente, neste momento, no momento, hoje em dia, momenteel, \
    tegenwoordig, op dit moment, just nu, numera, för närvarande, lige nu, for tiden, \
    for øjeblikket, for øyeblikket, akkurat nå, nykyään, tällä hetkellä, сейчас, теперь, \
    в настоящее время, в данный момент, τώρα, αυτή τη στιγμή, προς το παρόν, الآن, حاليا, \
    现在, 現在, 目前, 如今, 지금, 현재";

/// Phrases that ask for the latest of several things, but may have another meaning as well.
const LATEST_PHRASES: &str = "current, latest, newest, most recent, last time, still, today, \
    aktuell, aktuelle, aktuellen, aktueller, aktuelles, neueste, neuesten, zuletzt, letztes mal, \
    immer noch, heute, actuel, actuelle, dernière fois, dernièrement, aujourd hui, última vez, \
    últimamente, hoy, attuale, attuali, ultima volta, oggi, atual, atuais, ultimamente, hoje, nu, \
    huidige, laatste keer, vandaag, nuvarande, senaste, senast, seneste, senest, nuværende, nå, \
    nåværende, siste gang, nyt, nykyinen, viimeksi, последний раз, сегодня, σήμερα, τελευταία φορά, \
    最新, 最近";

/// The words of a question that refer to the present.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PresentWords {
    /// True if the question asks for the present state or for the latest of several things.
    pub(crate) asks_for_present: bool,
    /// The words that say nothing else.
    pub(crate) words: Vec<&'static str>,
}

impl PresentWords {
    /// Finds the phrases in a question.
    pub(crate) fn find(question: &str) -> Self {
        let mut words: Vec<String> = Vec::new();
        for_each_word(question, |word| {
            if !word.is_compound {
                words.push(word.text.to_owned());
            }
        });
        let is_said = |phrase: &&'static str| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|it| it == phrase)
        };
        let present: Vec<_> = PRESENT_PHRASES.split(", ").filter(is_said).collect();
        Self {
            asks_for_present: !present.is_empty()
                || LATEST_PHRASES.split(", ").any(|it| is_said(&it)),
            words: present.iter().flat_map(|it| it.split(' ')).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_ask_for_the_present_in_several_languages() {
        for question in [
            "Who milks the goats these days?",
            "Where is the boat moored at present?",
            "What is the current code?",
            "Wer melkt die Ziegen zurzeit?",
            "Qui trait les chèvres aujourd'hui ?",
            "¿Quién ordeña las cabras ahora?",
            "Chi munge le capre al momento?",
            "Wie melkt nu de geiten?",
            "Vem mjölkar getterna just nu?",
            "Кто сейчас доит коз?",
            "现在谁挤羊奶?",
            "지금 누가 염소 젖을 짜나요?",
        ] {
            assert!(PresentWords::find(question).asks_for_present, "{question}");
        }
        for question in ["Who milked the goats?", "Which present did he get?", "moment of inertia"]
        {
            assert_eq!(PresentWords::find(question), PresentWords::default(), "{question}");
        }
    }

    #[test]
    fn only_words_without_another_meaning_are_listed() {
        let words = |question| PresentWords::find(question).words.join(" ");
        assert_eq!(words("Where is it moored at present?"), "at present");
        assert_eq!(words("Is the still in use now?"), "now");
        assert_eq!(words("What is the current code?"), "");
    }
}
