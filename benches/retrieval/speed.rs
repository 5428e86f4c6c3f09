//! Time and memory of the index with many notes.
//!
//! The notes are made of sentences of our own set, two in each, with a unique word; the
//! questions are those of the choosing half. Times are CPU times where available
//! (Linux), so that other processes do not count; the time of indexing is that of all
//! threads together.

use std::time::Duration;

use palazzo::model::ItemId;
use palazzo::search::{DUPLICATE_THRESHOLD, Index};

use crate::asked;
use crate::corpus::{Corpus, Note};
use crate::ours::{PalazzoIndex, note_document, note_number};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const MAX_PUTS: usize = 1_000;

/// Measures and prints.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_speed() {
    let set = Corpus::load_half("choosing");
    let heads = [
        "index",
        "query p50",
        "p99",
        "in a wing",
        "p99",
        "twins p50",
        "p99",
        "put p50",
        "p99",
        "MB",
    ];
    println!("\n{:<16}{}", "notes", heads.map(|it| format!("{it:>12}")).concat());
    let sizes = if asked::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    for size in sizes.iter().copied() {
        let notes = generate_notes(&set.notes, size);
        let before = resident_bytes();
        let begun = cpu_time(CpuClock::AllThreads);
        let mut ours = PalazzoIndex {
            index: Index::from_documents(notes.iter().enumerate().map(note_document).collect()),
        };
        let indexed = cpu_time(CpuClock::AllThreads).saturating_sub(begun);
        let memory =
            resident_bytes().zip(before).map(|(after, before)| after.saturating_sub(before));
        let times = |wing: Option<&str>| -> Vec<Duration> {
            let ask =
                |it: &crate::corpus::Question| time_call(|| drop(ours.search(&it.ask, wing, 10)));
            set.questions.iter().map(ask).collect()
        };
        let (anywhere, in_wing) = (times(None), times(Some("wing-3")));
        let again = notes.iter().enumerate().step_by((size / MAX_PUTS).max(1));
        let text_of = |it: &ItemId| Some(notes[note_number(it)].text.as_str());
        let twins = |note: &Note| {
            time_call(|| drop(ours.index.near_duplicates(&note.text, DUPLICATE_THRESHOLD, text_of)))
        };
        let twins: Vec<_> = again.clone().map(|(_, it)| twins(it)).collect();
        let puts: Vec<_> =
            again.map(|it| time_call(|| ours.index.put(&note_document(it)))).collect();
        let memory = memory.map_or("?".to_owned(), |it| (it / 1_048_576).to_string());
        let times = [anywhere, in_wing, twins, puts].map(format_p50_and_p99).concat();
        println!("{size:<16}{:>12}{times}{memory:>12}", format_time(indexed));
    }
}

fn time_call(does: impl FnOnce()) -> Duration {
    let begun = cpu_time(CpuClock::ThisThread);
    does();
    cpu_time(CpuClock::ThisThread).saturating_sub(begun)
}

/// Which CPU time is measured: that of all threads, or of the calling one.
#[derive(Clone, Copy)]
enum CpuClock {
    AllThreads,
    ThisThread,
}

#[cfg(target_os = "linux")]
fn cpu_time(whose: CpuClock) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(match whose {
        CpuClock::AllThreads => ClockId::ProcessCPUTime,
        CpuClock::ThisThread => ClockId::ThreadCPUTime,
    });
    Duration::try_from(time).expect("time does not run backwards")
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: CpuClock) -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static PROCESS_START: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGINNING.elapsed()
}

/// Generates `size` notes in ten wings with ten rooms each.
pub(crate) fn generate_notes(set: &[Note], size: usize) -> Vec<Note> {
    let sentences: Vec<&str> = set.iter().flat_map(|it| it.text.split_inclusive(". ")).collect();
    let made = |number: usize| {
        let pick = |which: usize| sentences[hash_number(2 * number + which) % sentences.len()];
        Note {
            wing: format!("wing-{}", number % 10),
            room: format!("room-{}", number / 10 % 10),
            title: set[number * 7 % set.len()].title.clone(),
            written: set[number % set.len()].written,
            text: format!("{}{} word{number}", pick(0), pick(1)),
        }
    };
    (0..size).map(made).collect()
}

/// Hashes a number; the same on every run.
fn hash_number(number: usize) -> usize {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// Returns the memory of the process in bytes, on Linux.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? * 1024)
}

fn format_p50_and_p99(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
    format!("{:>12}{:>12}", format_time(at(50)), format_time(at(99)))
}

fn format_time(time: Duration) -> String {
    match time.as_secs_f64() {
        time if time < 0.001 => format!("{:.0} µs", time * 1e6),
        time if time < 1.0 => format!("{:.2} ms", time * 1e3),
        time => format!("{time:.2} s"),
    }
}
