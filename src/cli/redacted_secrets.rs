//! Reports the secrets that an import has redacted, and the option that keeps them.

use serde_json::{Value, json};

use palazzo_core::model::escape_unprintable_in_lines;
use palazzo_core::render;
use palazzo_keeper::{ChangeMode, ImportOptions, RedactedSecret};

/// Limit for printed lines.
const MAX_PRINTED_SECRETS: usize = 100;

/// The options of commands that import texts.
#[derive(clap::Args)]
pub(super) struct ImportArgs {
    /// Only report what would be written, and which secrets would be redacted
    #[arg(long)]
    dry_run: bool,

    /// Write secrets as they are; else `[redacted: KIND]` replaces private keys, tokens and
    /// passwords
    #[arg(long)]
    keep_secrets: bool,
}

impl ImportArgs {
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    pub(super) fn options(&self) -> ImportOptions {
        ImportOptions {
            mode: ChangeMode::commit_unless_dry_run(self.dry_run),
            keep_secrets: self.keep_secrets,
            update_filed: false,
        }
    }
}

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
