//! Recall and rank of the notes that answer a question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::corpus::{Corpus, Question};

/// How many results are examined.
pub(crate) const MAX_DEPTH: usize = 20;

const DEPTHS: [usize; 4] = [1, 5, 10, MAX_DEPTH];

/// Sums over questions of one kind, or over all.
#[derive(Clone, Copy, Default)]
struct ScoreSums {
    asked: f64,
    recall: [f64; 4],
    all: [f64; 4],
    reciprocal: f64,
}

/// The results of a finder, by kind of question.
#[derive(Default)]
pub(crate) struct RetrievalScore {
    all: ScoreSums,
    kinds: BTreeMap<String, ScoreSums>,
}

/// Asks every question that has an answer, in one wing if `in_wing`, and scores the
/// results. `find` gets question, wing, and number of results.
pub(crate) fn score_corpus(
    corpus: &Corpus,
    in_wing: bool,
    find: impl Fn(&str, Option<&str>, usize) -> Vec<usize>,
) -> RetrievalScore {
    let mut score = RetrievalScore::default();
    for question in corpus.questions.iter().filter(|it| !it.answers.is_empty()) {
        let wing = &corpus.notes[question.answers[0]].wing;
        let found = find(&question.ask, in_wing.then_some(wing.as_str()), MAX_DEPTH);
        let sums = score_question(question, &found);
        score.all.add(&sums);
        score.kinds.entry(question.kind.clone()).or_default().add(&sums);
    }
    score
}

impl RetrievalScore {
    /// Renders the column headings of [`RetrievalScore::total_row`].
    pub(crate) fn header_row(title: &str) -> String {
        let mut head = format!("{title:<44}");
        for depth in DEPTHS {
            write!(head, "{:>8}", format!("R@{depth}")).expect("a string accepts all");
        }
        for depth in [5, 10] {
            write!(head, "{:>8}", format!("all@{depth}")).expect("a string accepts all");
        }
        head + "     MRR"
    }

    /// Renders percentages: recall at 1, 5, 10 and 20; questions with all answers
    /// found, at 5 and 10; and the mean reciprocal rank.
    pub(crate) fn total_row(&self, name: &str) -> String {
        format_row(name, &self.all)
    }

    /// Renders the same for each kind of question.
    pub(crate) fn rows_by_kind(&self) -> String {
        let named = |(kind, sums): (&String, &ScoreSums)| {
            format_row(&format!("    {kind} ({:.0})", sums.asked), sums)
        };
        self.kinds.iter().map(named).collect::<Vec<_>>().join("\n")
    }
}

impl ScoreSums {
    fn add(&mut self, other: &Self) {
        self.asked += other.asked;
        self.reciprocal += other.reciprocal;
        for place in 0..DEPTHS.len() {
            self.recall[place] += other.recall[place];
            self.all[place] += other.all[place];
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn score_question(question: &Question, found: &[usize]) -> ScoreSums {
    let ranks: Vec<Option<usize>> =
        question.answers.iter().map(|it| found.iter().position(|found| found == it)).collect();
    let within = |depth: usize| ranks.iter().flatten().filter(|rank| **rank < depth).count();
    let best = ranks.iter().flatten().min();
    ScoreSums {
        asked: 1.0,
        recall: DEPTHS.map(|it| within(it) as f64 / ranks.len() as f64),
        all: DEPTHS.map(|it| if within(it) == ranks.len() { 1.0 } else { 0.0 }),
        reciprocal: best.map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0)),
    }
}

fn format_row(name: &str, sums: &ScoreSums) -> String {
    let percents = sums.recall.iter().chain(&sums.all[1..3]).chain([&sums.reciprocal]);
    let mut row = format!("{name:<44}");
    for sum in percents {
        write!(row, "{:>8.1}", 100.0 * sum / sums.asked).expect("a string accepts all");
    }
    row
}
