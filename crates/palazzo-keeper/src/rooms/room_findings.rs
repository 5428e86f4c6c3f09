//! The findings about a room, for the answer to the call that built it.

use crate::Refusal;
use crate::palace::OpenPalace;
use crate::palace::explained_findings::explain_findings;
use crate::palace::findings::{prepare_checks, resolve_diagnostic_positions};
use palazzo_core::format::room_path;
use palazzo_core::model::{Code, Diagnostic, RoomId, Severity, Tool};

/// Maximum number of findings that the answer lists.
const MAX_ROOM_FINDINGS: usize = 5;

/// Lists the findings about a room that was just built, and those of its `neighbours` that cannot
/// be reached any more; empty if there are none. `workspaces` are the directories and names of the
/// palaces that doors can lead to.
pub(crate) fn summarize_room_findings(
    open: &mut OpenPalace,
    room: &RoomId,
    neighbours: &[RoomId],
    (tools, workspaces): (&[Tool], &[String]),
) -> Result<String, Refusal> {
    let (check, file) = (prepare_checks(open, tools, workspaces), room_path(room));
    let mut room_findings = check.room_findings(room);
    let unreachable: Vec<_> =
        neighbours.iter().filter_map(|it| check.check_reachable(it)).collect();
    explain_findings(open, &mut room_findings)?;
    let palace = &*open;
    let file_diagnostics = palace.findings_in(&file).map(|it| (it.clone(), None));
    let room_diagnostics = room_findings.into_iter().map(|it| (it.diagnostic, Some(it.value_path)));
    // An undefined name in a room may be a spelling mistake.
    let is_listed = |it: &Diagnostic| {
        it.severity() < Severity::Info
            || matches!(
                it.code,
                Code::UndefinedEntity
                    | Code::UnresolvedLink
                    | Code::UndefinedGenus
                    | Code::UndefinedAttribute
            )
    };
    let silenced = &palace.palace.settings.silenced_codes;
    let is_listed = |it: &Diagnostic| is_listed(it) && !silenced.contains(&it.code);
    let diagnostics = file_diagnostics.chain(room_diagnostics).filter(|(it, _)| is_listed(it));
    let mut findings = resolve_diagnostic_positions(palace, &file, diagnostics.collect());
    for unreachable in unreachable.into_iter().filter(|it| is_listed(&it.diagnostic)) {
        let file = unreachable.diagnostic.file.clone();
        let diagnostic = (unreachable.diagnostic, Some(unreachable.value_path));
        findings.extend(resolve_diagnostic_positions(palace, &file, vec![diagnostic]));
    }
    findings.sort_by_key(|it| it.diagnostic.severity());
    let listed = findings.iter().take(MAX_ROOM_FINDINGS);
    let lines: Vec<_> = listed.map(|it| format!("\n  {}", it.diagnostic)).collect();
    let has_problems = findings.iter().any(|it| it.diagnostic.severity() < Severity::Info);
    let head = if has_problems { "Problems found" } else { "Worth knowing" };
    Ok(match findings.len().saturating_sub(MAX_ROOM_FINDINGS) {
        _ if findings.is_empty() => String::new(),
        0 => format!("{head}:{}\n", lines.concat()),
        more => format!("{head}:{}\n  and {more} more\n", lines.concat()),
    })
}
