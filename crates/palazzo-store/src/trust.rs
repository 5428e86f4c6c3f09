//! Checks what an untrusted palace may do, and reports problems with its files.

use crate::repo::{git_files, paths};
use std::collections::BTreeSet;
use std::path::Path;

use palazzo_core::model::{Code, Consent, Diagnostic};

use crate::repo::repository;
use crate::{Error, Store};

/// Returns the consent that the repository of `folder` needs; `None`: it needs none.
pub fn needed_repository_consent(folder: &Path) -> Result<Option<Consent>, Error> {
    let link = repository::locate_checked_repository(&paths::resolve_links(folder)?)?;
    link.map_or(Ok(None), |it| it.needed_consent())
}

impl Store {
    /// Returns the consent that actions need to call the tools in `allow`; `None`: the list is
    /// empty.
    pub fn needed_tools_consent(&self, allow: &[String]) -> Result<Option<Consent>, Error> {
        let palace = paths::resolve_links(&self.repository.palace)?;
        Ok((!allow.is_empty()).then(|| Consent::for_tools(&palace, allow)))
    }

    /// Checks that the user allows actions of this palace to call the tools in `allow`.
    pub fn check_tools_consent(&self, allow: &[String]) -> Result<(), Error> {
        let Some(consent) = self.needed_tools_consent(allow)? else { return Ok(()) };
        let why = match self.repository.consents.is_allowed(&consent) {
            Ok(true) => return Ok(()),
            Ok(false) => String::new(),
            Err(err) => format!(" ({})", err.message_with_causes()),
        };
        Err(Error::ToolsNotAllowed { palace: self.repository.palace.clone(), why })
    }

    /// Returns a finding in `file` if actions may not call the tools in `allow` on this machine.
    pub fn tools_consent_finding(&self, file: &str, allow: &[String]) -> Option<Diagnostic> {
        let message = match self.check_tools_consent(allow).err()? {
            Error::ToolsNotAllowed { why, .. } => {
                format!("these tools count on this machine only after your consent{why}")
            }
            other => other.to_string(),
        };
        let finding = Diagnostic::for_file(Code::NoConsent, file, message);
        Some(finding.with_hint("`palazzo trust DIR` shows them and asks you"))
    }

    /// Reports why the repository cannot be used or written, as far as a stranger may have caused
    /// it.
    pub fn repository_findings(&self) -> Vec<Diagnostic> {
        match self.check_repository() {
            Err(err @ Error::RepositoryElsewhere { .. }) => {
                let message =
                    format!("{err}; until then there is no history, and nothing is written");
                vec![Diagnostic::for_file(Code::NoConsent, ".git", message)]
            }
            Err(err @ Error::NotRegularFile { .. }) => vec![self.irregular_file_finding(&err)],
            _ => Vec::new(),
        }
    }

    fn check_repository(&self) -> Result<(), Error> {
        let Some(repository) = self.repository.find_or_reject_forbidden()? else { return Ok(()) };
        let (git_dir, common_dir) = (&repository.git_dir, &repository.common_dir);
        git_files::look_before_change(git_dir, common_dir, &repository.ref_files, true)?;
        let (files, _) = self.list_files("")?;
        let folders = files.keys().map(|it| it.rfind('/').map_or("", |end| &it[..=end]));
        let folders: BTreeSet<_> = folders.collect();
        let mut files = folders.into_iter().map(|it| format!("{}{it}any", repository.prefix));
        files.try_for_each(|it| git_files::check_gitattributes(&repository.work, &it).map(drop))
    }

    fn irregular_file_finding(&self, err: &Error) -> Diagnostic {
        let Error::NotRegularFile { file, .. } = err else { return err.to_diagnostic(".git") };
        let inside = paths::resolve_links(&self.repository.palace).ok();
        let inside = inside.and_then(|it| file.strip_prefix(it).ok().map(Path::to_owned));
        err.to_diagnostic(&inside.as_ref().unwrap_or(file).display().to_string())
    }
}
