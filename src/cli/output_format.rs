//! The option `--format` of commands that print a page or JSON.

use clap::ValueEnum;

/// The output format.
#[derive(Clone, clap::Args)]
pub(super) struct FormatArgs {
    /// The output format: human-readable or JSON
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    #[default]
    Human,
    Json,
}

impl FormatArgs {
    /// Returns whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format == Format::Json
    }
}
