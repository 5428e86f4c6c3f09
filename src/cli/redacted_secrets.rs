//! Reports the secrets that an import has redacted.

use serde_json::{Value, json};

use palazzo_core::model::escape_unprintable_in_lines;
use palazzo_core::render;
use palazzo_keeper::RedactedSecret;

/// Limit for printed lines.
const MAX_PRINTED_SECRETS: usize = 100;

/// Returns the end of a summary: `; 3 secrets redacted`.
pub(super) fn redacted_secrets_suffix(redacted: &[RedactedSecret]) -> String {
    match redacted.iter().map(|it| it.count).sum() {
        0 => String::new(),
        count => format!("; {} redacted", render::count_with_noun(count, "secret")),
    }
}

/// Prints a line for the secrets of one kind at one place of a source. A dry run prints them on
/// standard output, because they are a part of what was asked for.
pub(super) fn print_redacted_secrets(redacted: &[RedactedSecret], is_dry_run: bool) {
    let lines = redacted.iter().take(MAX_PRINTED_SECRETS).map(secret_line);
    let more = redacted.len().saturating_sub(MAX_PRINTED_SECRETS);
    let more = (more > 0).then(|| format!("and {more} more places with secrets"));
    for line in lines.chain(more) {
        match is_dry_run {
            true => anstream::println!("{}", escape_unprintable_in_lines(&line)),
            false => anstream::eprintln!("{}", escape_unprintable_in_lines(&line)),
        }
    }
}

/// Returns the secrets as JSON.
pub(super) fn redacted_secrets_json(redacted: &[RedactedSecret]) -> Value {
    let secret = |RedactedSecret { source, place, kind, count }: &RedactedSecret| json!({ "source": source, "place": place, "kind": kind.name(), "count": count });
    redacted.iter().map(secret).collect()
}

fn secret_line(RedactedSecret { source, place, kind, count }: &RedactedSecret) -> String {
    let count = if *count > 1 { format!(" ({count} times)") } else { String::new() };
    format!("{source}: {place}: redacted {kind}{count}")
}
