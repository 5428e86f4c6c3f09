//! Languages: detection, stemming and stop words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use frostem::{Algorithm, Stemmer};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::search::words::{Script, byte_prefix, for_each_word};

/// Length of the sample from which the language is detected, in bytes.
const SAMPLE_BYTES: usize = 600;

/// A language with a stemmer, by its index in the table; the last index is
/// [`Language::NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Language(usize);

/// The languages with their stop words, by which the language of a text is detected.
const STOP_WORD_LISTS: [(Algorithm, &str); 14] = [
    (
        Algorithm::English,
        "a about after again all also am an and any are as at be because been before being but by \
         can could did do does doing for from had has have having he her here him his how i if in \
         into is it its just know me might more most my no not now of off on once only or our out over \
         s shall she should so some such t tell than that the their them then there these they \
         this those to too under until up very was we were what when where which while who whom \
         whose why will with would you your",
    ),
    (
        Algorithm::German,
        "aber alle als also am an auch auf aus bei bin bis bist da damit das dass dein dem den der \
         des die dies diese dieser dir doch du durch ein eine einem einen einer eines er es für \
         gegen haben habe hat hatte ich ihm ihn ihr im in ist ja kann kein keine man mehr mein mich \
         mir mit nach nicht noch nun nur ob oder ohne sehr sein seine sich sie sind so um und uns \
         unser unter vom von vor wann war waren warum was weil welche welcher welches wenn wer wie \
         wieder wir wird wo wurde zu zum zur",
    ),
    (
        Algorithm::French,
        "à au aux avec avoir c ce ces cet cette d dans de depuis des dont du elle en est et été \
         être fait il ils j je l la le les leur lui m ma mais me mes même n ne nos notre nous on ont \
         ou où par pas pendant plus pour pourquoi qu quand que quel quelle quels qui quoi s sa sans \
         se ses si son sont sous sur t ta te toi ton tous tout tu un une vos votre vous y",
    ),
    (
        Algorithm::Spanish,
        "a al algo antes como con cuál cuándo cuántas cuánto cuántos cómo de del desde donde dónde \
         el ella ellos en entre era es esa ese eso esta este esto está fue ha han hasta hay la las \
         le les lo los más me mi mientras muy nada ni no nos nosotros o para pero por porque que \
         quien quién qué se ser si sin sobre son su sus también te tiene todo tu un una uno y ya yo",
    ),
    (
        Algorithm::Italian,
        "a ad agli ai al alla alle anche che chi ci come con così cosa cui da dal dalla degli dei \
         del della delle di dove e ed era essere fra già gli ha hanno ho i il in io la le lei li lo \
         loro lui ma mi mia mio ne nei nel nella noi non nostro o per perché più poi quale quali \
         quando quanto quella quello questa questo se si sono su sua sul sulla suo tra tu un una \
         uno vi",
    ),
    (
        Algorithm::Portuguese,
        "a ao aos as até com como da das de dela dele do dos e ela ele eles em entre era essa esse \
         esta este está eu foi há isso já lhe mais mas me meu minha muito na nas nem no nos não o \
         onde os ou para pela pelo por porque qual quando quanto que quem se sem ser seu sua são só \
         também tem um uma você",
    ),
    (
        Algorithm::Dutch,
        "aan al als bij dan dat de deze die dit doch door een en er ge geen had heb heeft het hier \
         hij hoe hun ik in is ja je kan maar me meer men met mij mijn na naar niet nog nu of om \
         omdat onder ons ook op over te tegen tot uit van veel voor waar waarom wanneer waren was \
         wat we wel werd wie wij wordt worden zal ze zich zij zijn zo zonder zou",
    ),
    (
        Algorithm::Swedish,
        "att av blev bli de dem den denna det detta dig din du där efter ej eller en ett från för \
         ha hade han har henne hon hur här i icke inte jag kan kunde man med mellan men mig min \
         mot mycket ni nu när och om oss på sedan sig sin ska som till under upp ut vad var varför \
         vara vem vid vilken vår är över",
    ),
    (
        Algorithm::Danish,
        "af alle at blev bliver da de dem den denne der deres det dette dig din dog du efter eller \
         en end er et for fra ham han har havde hende her hun hvad hvem hvis hvor hvorfor hvornår i \
         ikke ind jeg jo kan man med meget men mig min mod nogle nu når og også om op os over på \
         sig sin skal som til ud under var ved vi vil være været",
    ),
    (
        Algorithm::Norwegian,
        "alle at av ble bli da de deg dem den denne der dere det dette din du eller en enn er et \
         etter for fra før ha hadde han har henne her hun hva hvem hvis hvor hvorfor i ikke jeg \
         kan man med meg men mer min mot noe noen nå når og også om opp oss over på seg sin skal \
         som så til ut var ved vi vil være vår",
    ),
    (
        Algorithm::Finnish,
        "ei eli en että he hän ja jo joka jos kanssa koska kuin kuka kun me mikä minä missä miten \
         mitä mukaan mutta ne niin nyt oli olla on ovat se sekä sen siellä siitä sinä tai te tämä \
         vaan vai vain vielä voi",
    ),
    (
        Algorithm::Russian,
        "а без бы был была были было быть в вам вас во вот все всех вы где да для до его ее если \
         есть ещё еще же за зачем и из или им их к как какая какие какой когда кого кому которые \
         который кто ли мне мы на над не него нет ни но о об он она они от по почему при с сколько \
         со так такой там то того тоже только ты у уже чего чем что чтобы эта эти это этот я",
    ),
    (
        Algorithm::Greek,
        "αλλά αν από αυτά αυτή αυτό αυτός γιατί για δεν είναι ένα ένας εμείς ή η ήταν θα και κατά \
         με μας μετά μια μη μην μου να ο οι όπως ότι ποια ποιο ποιος πού που πώς πως πόσα πόσο \
         πόσοι πότε πριν σας σε σου στα στη στην στις στο στον στους τα την της τι τις το τον του \
         τους των ως",
    ),
    (
        Algorithm::Arabic,
        "أن أو أي أين إلى إن إذا التي الذي الذين الى ان بعد بين تم ثم حتى ذلك ذات عن عند على \
         عليه علي غير في فيه قبل قد كان كانت كل كم كما كيف لا لان لقد لكن لم لماذا لن له لها ليس \
         ما مثل مع من منذ منه متى هذا هذه هل هم هنا هو هي و يكون",
    ),
];

/// The languages in which each word is a stop word.
static STOP_WORDS: LazyLock<HashMap<&str, Vec<Language>, foldhash::fast::RandomState>> =
    LazyLock::new(|| {
        let mut languages: HashMap<&str, Vec<Language>, _> = HashMap::default();
        for (number, (_, stop_words)) in STOP_WORD_LISTS.iter().enumerate() {
            for word in stop_words.split_whitespace() {
                languages.entry(word).or_default().push(Language(number));
            }
        }
        languages
    });

/// English verbs whose stem changes: their other forms, and then the form that gives the stem.
const IRREGULAR_VERBS: &str = "\
    became become; began begun begin; bought buy; brought bring; broke broken break; built build; \
    caught catch; chose chosen choose; drew drawn draw; drove driven drive; fell fallen fall; \
    fought fight; grew grown grow; \
    knew known know; left leave; lent lend; \
    met meet; paid pay; \
    sold sell; sent send; showed shown show; spent spend; spoke spoken speak; \
    stole stolen steal; taught teach; threw thrown throw; told tell; \
    understood understand; withdrew withdrawn withdraw; won win; wrote written write";

/// The base form of each form in [`IRREGULAR_VERBS`].
static BASE_FORMS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let verbs = IRREGULAR_VERBS.split(';').map(|it| it.split_whitespace().collect::<Vec<_>>());
    let forms = verbs.flat_map(|verb| {
        let base = verb.last().copied().unwrap_or_default();
        verb.into_iter().map(move |form| (form, base))
    });
    forms.collect()
});

/// Yields the words, or what they begin with, whose stem may begin otherwise: irregular forms of
/// English verbs, and participles, which lose their `ge` in Dutch (`gewerkt`, `afgewerkt`).
pub(super) fn words_with_other_beginnings() -> impl Iterator<Item = String> {
    let participles = ('a'..='z').map(|it| format!("{it}ge")).chain(["ge".to_owned()]);
    BASE_FORMS.keys().map(|it| (*it).to_owned()).chain(participles)
}

impl Language {
    /// English, the default.
    pub(super) const ENGLISH: Self = Self(0);
    /// No language: for numbers, and scripts without a stemmer.
    pub(super) const NONE: Self = Self(STOP_WORD_LISTS.len());
    /// The number of languages, with [`Self::NONE`].
    pub(super) const COUNT: usize = STOP_WORD_LISTS.len() + 1;

    /// Yields all languages.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// Returns its index in lists by language.
    pub(super) fn index(self) -> usize {
        self.0
    }

    /// Detects the language of a text in Latin letters by its stop words.
    pub(super) fn detect(text: &str) -> Self {
        let mut votes = [0_usize; STOP_WORD_LISTS.len()];
        for_each_word(byte_prefix(text, SAMPLE_BYTES), |word| {
            for language in STOP_WORDS.get(word.text).into_iter().flatten() {
                votes[language.0] += 1;
            }
        });
        let latin = Self::all().take_while(|it| it.script() == Some(Script::Latin));
        let best = latin.max_by_key(|it| (votes[it.0], std::cmp::Reverse(it.0)));
        best.filter(|it| votes[it.0] > 1).unwrap_or(Self::ENGLISH)
    }

    /// Returns the language of a word in `script` in a text of this language.
    pub(super) fn for_script(self, script: Script) -> Self {
        match script {
            Script::Latin => self,
            Script::Other | Script::Unspaced => Self::NONE,
            other => Self::all().find(|it| it.script() == Some(other)).unwrap_or(Self::NONE),
        }
    }

    /// Returns true if a word is a stop word of this language.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|it| it.contains(&self))
    }

    /// Returns the stem of a word. Stems are only compared with each other: a stem need not be
    /// a word. Accents on Latin and Greek letters are removed, because many users do not type
    /// them.
    pub(super) fn stem(self, word: &str) -> String {
        let Some((algorithm, _)) = STOP_WORD_LISTS.get(self.0) else { return word.to_owned() };
        let stemmer = Stemmer::new(*algorithm);
        match self.script() {
            // Only loanwords have accents in English: its stemmer does not know them.
            _ if self == Self::ENGLISH => {
                let word = strip_accents(word);
                let base = BASE_FORMS.get(word.as_ref()).copied();
                stemmer.stem(base.unwrap_or(&word)).into_owned()
            }
            Some(Script::Latin | Script::Greek) => strip_accents(&stemmer.stem(word)).into_owned(),
            _ => stemmer.stem(word).into_owned(),
        }
    }

    fn script(self) -> Option<Script> {
        Some(match STOP_WORD_LISTS.get(self.0)?.0 {
            Algorithm::Russian => Script::Cyrillic,
            Algorithm::Greek => Script::Greek,
            Algorithm::Arabic => Script::Arabic,
            _ => Script::Latin,
        })
    }
}

/// Returns a word without accents.
pub(super) fn strip_accents(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let bare = word.nfd().filter(|it| !is_combining_mark(*it));
    Cow::Owned(bare.fold(String::new(), |bare, it| match it {
        'ß' => bare + "ss",
        'æ' => bare + "ae",
        'œ' => bare + "oe",
        'ø' => bare + "o",
        'ł' => bare + "l",
        'đ' => bare + "d",
        'ı' => bare + "i",
        'ς' => bare + "σ",
        _ => bare + it.encode_utf8(&mut [0; 4]),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn language_name(text: &str) -> &'static str {
        STOP_WORD_LISTS[Language::detect(text).0].0.name()
    }

    #[test]
    fn the_language_is_detected_by_stop_words() {
        assert_eq!(language_name("The lease of the warehouse ends in June."), "english");
        assert_eq!(language_name("Der Mietvertrag für das Lager läuft im Juni aus."), "german");
        assert_eq!(
            language_name("Il leur reste quatre cents rames, que nous pouvons avoir."),
            "french"
        );
        assert_eq!(language_name("Pide que no lo llamemos artesanía sino oficio."), "spanish");
        assert_eq!(
            language_name("Non è che il muro non tiene, è che la pioggia lo spinge."),
            "italian"
        );
        assert_eq!(language_name("Jag har inte sett den som du talar om."), "swedish");
        assert_eq!(language_name("Serial number M7V-0093"), "english");
        assert_eq!(language_name("東京"), "english");
    }

    #[test]
    fn forms_of_a_word_have_one_stem() {
        let russian = Language::ENGLISH.for_script(Script::Cyrillic);
        assert_eq!(russian.stem("самовары"), russian.stem("самовара"));
        let english = Language::ENGLISH;
        assert_eq!(english.stem("migrations"), english.stem("migrated"));
        assert_eq!(english.stem("résumé"), english.stem("resume"));
        for forms in [["left", "leaving"], ["withdrawn", "withdraws"], ["wrote", "writes"]] {
            assert_eq!(english.stem(forms[0]), english.stem(forms[1]));
        }
        assert_eq!(Language::NONE.stem("2025"), "2025");
    }
}
