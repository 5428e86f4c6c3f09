//! Measures the time and memory of the index with 1,000 to 100,000 notes.
//!
//! A generated note consists of two sentences from the dataset and one unique word. The queries
//! are the questions of the tuning set. On Linux the times are CPU times, so that other processes
//! do not change them. The time to build the index is the sum over all threads.

use std::time::Duration;

use palazzo_core::model::ItemId;
use palazzo_core::search::{DUPLICATE_THRESHOLD, Index};

use crate::arguments;
use crate::corpus::{Corpus, Note, Question};
use crate::palazzo_index::{PalazzoIndex, note_document, note_number};

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
/// The approximate number of notes to compare and to put again.
const UPDATE_COUNT: usize = 1_000;

/// Prints the times and the memory for each size.
#[expect(clippy::too_many_lines, reason = "its steps follow each other")]
pub(crate) fn measure_index_speed() {
    let dataset = Corpus::load("tuning");
    let headings = [
        "build",
        "query p50",
        "p99",
        "in a wing",
        "p99",
        "compare p50",
        "p99",
        "put p50",
        "p99",
        "MB",
    ];
    println!("\n{:<16}{}", "notes", headings.map(|it| format!("{it:>12}")).concat());
    let sizes = if arguments::is_smoke_run() { &SIZES[..1] } else { &SIZES };
    for size in sizes.iter().copied() {
        let notes = generate_notes(&dataset.notes, size);
        let memory_before = resident_bytes();
        let start = cpu_time(CpuClock::AllThreads);
        let mut palazzo = PalazzoIndex {
            index: Index::from_documents(notes.iter().enumerate().map(note_document).collect()),
        };
        let build_time = cpu_time(CpuClock::AllThreads).saturating_sub(start);
        let memory = resident_bytes().zip(memory_before);
        let memory = memory.map(|(after, before)| after.saturating_sub(before));
        let query_times = |wing: Option<&str>| -> Vec<Duration> {
            let time_query = |it: &Question| time_call(|| drop(palazzo.search(&it.text, wing, 10)));
            dataset.questions.iter().map(time_query).collect()
        };
        let (in_all_wings, in_wing) = (query_times(None), query_times(Some("wing-3")));
        let sample = notes.iter().enumerate().step_by((size / UPDATE_COUNT).max(1));
        let text_of = |it: &ItemId| Some(notes[note_number(it)].text.as_str());
        let time_comparison = |note: &Note| {
            let index = &palazzo.index;
            time_call(|| drop(index.find_near_duplicates(&note.text, DUPLICATE_THRESHOLD, text_of)))
        };
        let comparisons: Vec<_> = sample.clone().map(|(_, it)| time_comparison(it)).collect();
        let puts: Vec<_> =
            sample.map(|it| time_call(|| palazzo.index.put(&note_document(it)))).collect();
        let memory = memory.map_or("?".to_owned(), |it| (it / 1_048_576).to_string());
        let times = [in_all_wings, in_wing, comparisons, puts].map(format_p50_and_p99).concat();
        println!("{size:<16}{:>12}{times}{memory:>12}", format_time(build_time));
    }
}

/// Returns the CPU time of a call.
fn time_call(call: impl FnOnce()) -> Duration {
    let start = cpu_time(CpuClock::ThisThread);
    call();
    cpu_time(CpuClock::ThisThread).saturating_sub(start)
}

/// The threads whose CPU time is measured.
#[derive(Clone, Copy)]
enum CpuClock {
    AllThreads,
    ThisThread,
}

#[cfg(target_os = "linux")]
fn cpu_time(clock: CpuClock) -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(match clock {
        CpuClock::AllThreads => ClockId::ProcessCPUTime,
        CpuClock::ThisThread => ClockId::ThreadCPUTime,
    });
    Duration::try_from(time).expect("CPU time is positive")
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_: CpuClock) -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static PROCESS_START: LazyLock<Instant> = LazyLock::new(Instant::now);
    PROCESS_START.elapsed()
}

/// Generates `size` notes in ten wings with ten rooms each.
fn generate_notes(source: &[Note], size: usize) -> Vec<Note> {
    let sentences: Vec<&str> = source.iter().flat_map(|it| it.text.split_inclusive(". ")).collect();
    let generate_note = |number: usize| {
        let pick = |which: usize| sentences[hash_number(2 * number + which) % sentences.len()];
        Note {
            wing: format!("wing-{}", number % 10),
            room: format!("room-{}", number / 10 % 10),
            title: source[number * 7 % source.len()].title.clone(),
            written: source[number % source.len()].written,
            text: format!("{}{} word{number}", pick(0), pick(1)),
        }
    };
    (0..size).map(generate_note).collect()
}

/// Hashes a number. The result is the same in every run.
fn hash_number(number: usize) -> usize {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

/// Returns the resident memory of the process in bytes, where `/proc` exists (Linux).
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
