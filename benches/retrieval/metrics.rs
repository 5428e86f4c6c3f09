//! Retrieval metrics: recall, and mean reciprocal rank (MRR).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::corpus::{Corpus, Question};

/// The number of results that the metrics use.
const MAX_DEPTH: usize = 20;

/// The numbers of first results for which the metrics contain the recall.
const DEPTHS: [usize; 4] = [1, 5, 10, MAX_DEPTH];

/// Sums of the metrics over questions.
#[derive(Clone, Copy, Default)]
struct MetricSums {
    questions: f64,
    /// The recall at each of [`DEPTHS`].
    recall: [f64; 4],
    /// At each of [`DEPTHS`], 1 if all answers were found.
    complete: [f64; 4],
    reciprocal_rank: f64,
}

/// The metrics of a search method, for all questions and for each kind of question.
#[derive(Default)]
pub(crate) struct RetrievalMetrics {
    total: MetricSums,
    kinds: BTreeMap<String, MetricSums>,
}

/// Searches for every question that has an answer, and returns the metrics. If `in_wing`, searches
/// only in the wing of the answer. `search` gets the query, the wing and the number of results.
pub(crate) fn evaluate_search(
    corpus: &Corpus,
    in_wing: bool,
    search: impl Fn(&str, Option<&str>, usize) -> Vec<usize>,
) -> RetrievalMetrics {
    let mut metrics = RetrievalMetrics::default();
    for question in corpus.questions.iter().filter(|it| !it.answers.is_empty()) {
        let wing = &corpus.notes[question.answers[0]].wing;
        let results = search(&question.text, in_wing.then_some(wing.as_str()), MAX_DEPTH);
        let sums = evaluate_results(question, &results);
        metrics.total.add(&sums);
        metrics.kinds.entry(question.kind.clone()).or_default().add(&sums);
    }
    metrics
}

impl RetrievalMetrics {
    /// Renders the column headings.
    pub(crate) fn header_row(title: &str) -> String {
        let mut row = format!("{title:<44}");
        for depth in DEPTHS {
            write!(row, "{:>8}", format!("R@{depth}")).expect("writing to a string cannot fail");
        }
        for depth in [5, 10] {
            write!(row, "{:>8}", format!("all@{depth}")).expect("writing to a string cannot fail");
        }
        row + "     MRR"
    }

    /// Renders the metrics of all questions in percent: the recall at 1, 5, 10 and 20, the share of
    /// questions with all answers at 5 and 10, and the mean reciprocal rank.
    pub(crate) fn total_row(&self, name: &str) -> String {
        format_row(name, &self.total)
    }

    /// Renders one row for each kind of question.
    pub(crate) fn rows_by_kind(&self) -> String {
        let kind_row = |(kind, sums): (&String, &MetricSums)| {
            format_row(&format!("    {kind} ({:.0})", sums.questions), sums)
        };
        self.kinds.iter().map(kind_row).collect::<Vec<_>>().join("\n")
    }
}

impl MetricSums {
    fn add(&mut self, other: &Self) {
        self.questions += other.questions;
        self.reciprocal_rank += other.reciprocal_rank;
        for index in 0..DEPTHS.len() {
            self.recall[index] += other.recall[index];
            self.complete[index] += other.complete[index];
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn evaluate_results(question: &Question, results: &[usize]) -> MetricSums {
    let ranks: Vec<Option<usize>> =
        question.answers.iter().map(|it| results.iter().position(|found| found == it)).collect();
    let count_within = |depth: usize| ranks.iter().flatten().filter(|rank| **rank < depth).count();
    let best_rank = ranks.iter().flatten().min();
    MetricSums {
        questions: 1.0,
        recall: DEPTHS.map(|it| count_within(it) as f64 / ranks.len() as f64),
        complete: DEPTHS.map(|it| if count_within(it) == ranks.len() { 1.0 } else { 0.0 }),
        reciprocal_rank: best_rank.map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0)),
    }
}

fn format_row(name: &str, sums: &MetricSums) -> String {
    let columns = sums.recall.iter().chain(&sums.complete[1..3]).chain([&sums.reciprocal_rank]);
    let mut row = format!("{name:<44}");
    for sum in columns {
        let percent = 100.0 * sum / sums.questions;
        write!(row, "{percent:>8.1}").expect("writing to a string cannot fail");
    }
    row
}
