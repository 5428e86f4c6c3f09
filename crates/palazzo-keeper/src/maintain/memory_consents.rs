//! Finds the memories of hosts that are shown at actions only after a consent.

use crate::Refusal;
use palazzo_core::format;
use palazzo_core::model::{
    Code, Consent, Diagnostic, HOST_MEMORY_FOLDER, Position, host_memory_name,
};
use palazzo_store::Store;

/// A memory with triggers whose content nobody has allowed on this machine.
pub(crate) struct UntrustedMemory {
    /// The path of its file.
    file: String,
    /// The position of its first trigger.
    at: Position,
    /// The consent that it needs.
    pub(crate) consent: Consent,
}

/// Lists the memories of a palace that need a consent, by file.
pub(crate) fn untrusted_memories(store: &Store) -> Result<Vec<UntrustedMemory>, Refusal> {
    let mut untrusted = Vec::new();
    for file in store.list_files(HOST_MEMORY_FOLDER)?.0.into_keys() {
        let Some(name) = host_memory_name(&file) else { continue };
        let Ok(Some(text)) = store.read_file(&file) else { continue };
        let memory = format::parse_host_memory(&text);
        if let Some(consent) = store.missing_memory_consent(name, &memory)? {
            let at = format::position_of_first_trigger(&text).unwrap_or(Position::START);
            untrusted.push(UntrustedMemory { file, at, consent });
        }
    }
    Ok(untrusted)
}

/// Returns a finding for each memory that needs a consent.
pub(crate) fn memory_consent_findings(store: &Store) -> Vec<Diagnostic> {
    let finding = |it: UntrustedMemory| {
        let message = "these triggers count on this machine only after your consent";
        let finding = Diagnostic::for_file(Code::NoConsent, &it.file, message);
        let finding = finding.with_hint("`palazzo trust DIR` shows them and asks you");
        Diagnostic { at: it.at, ..finding }
    };
    untrusted_memories(store).unwrap_or_default().into_iter().map(finding).collect()
}
