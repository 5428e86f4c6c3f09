//! The options that all imports share.

use palazzo_keeper::{ChangeMode, ImportOptions};

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
