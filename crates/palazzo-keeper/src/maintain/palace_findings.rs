//! The findings of one palace, and the genera that no room shows, for agents.

use crate::maintain::check::check_palace;
use crate::palace::room_topics;
use crate::{Caller, Keeper, Refusal};
use palazzo_core::model::Tool;
use palazzo_core::render::PalaceFindings;

/// Lists, for agents, the findings of one palace and the genera that no room shows. The palace is
/// the one that the caller acts on; `tools` are those that actions can call.
pub fn list_findings(
    keeper: &mut Keeper,
    caller: &Caller,
    tools: &[Tool],
) -> Result<PalaceFindings, Refusal> {
    let key = keeper.session(caller)?.key;
    list_findings_of_palace(keeper, &key, tools)
}

/// Lists the findings in the open palace with the key `key`, as it is in memory.
pub(crate) fn list_findings_of_palace(
    keeper: &mut Keeper,
    key: &str,
    tools: &[Tool],
) -> Result<PalaceFindings, Refusal> {
    let names = keeper.workspace_keys_and_names()?;
    let models = keeper.models.clone();
    let open = keeper.open_palace(key)?;
    let report = check_palace(open, (tools, &names), &models, Vec::new())?;
    let unshown_genera = room_topics::unshown_genera(&open.palace);
    Ok(PalaceFindings {
        name: open.palace.settings.name.clone(),
        findings: report.findings.into_iter().map(|it| it.diagnostic).collect(),
        unshown_genera,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_home::{TestHome, ada};
    use palazzo_core::model::Code;

    const GRANITE: (&str, &str) = ("entities/rock/granite.yaml", "name: Granite\ngenus: Rock\n");
    const EVE: (&str, &str) = ("entities/person/eve.yaml", "name: Eve\ngenus: Person\n");

    fn findings(files: &[(&str, &str)]) -> PalaceFindings {
        list_findings(&mut TestHome::new(files).keeper, &ada(), &[]).unwrap()
    }

    fn room_with_action(tool: &str, params: &str) -> String {
        format!(
            "name: Hall\ndescription: Stone.\nactions:\n- label: Look\n  type: query\n  \
             tool: {tool}\n  tool_params: {params}\n"
        )
    }

    #[test]
    fn the_findings_are_those_of_a_check() {
        let found =
            findings(&[("rooms/hall.yaml", "name: Hall\n"), ("rooms/well.yaml", "nmae: A\n")]);
        let codes: Vec<_> = found.findings.iter().map(|it| it.code).collect();
        assert!(codes.contains(&Code::EmptyRoom) && codes.contains(&Code::UnknownKey), "{codes:?}");
        assert_eq!(found.name, "Keep");
    }

    #[test]
    fn a_genus_is_shown_if_an_action_or_a_grouping_of_a_room_mentions_it() {
        let unshown = |hall: &str| {
            let found = findings(&[GRANITE, EVE, ("rooms/hall.yaml", hall)]).unshown_genera;
            found.into_iter().map(|(genus, count)| format!("{genus} {count}")).collect::<Vec<_>>()
        };
        assert_eq!(unshown("name: Hall\n"), ["Person 1", "Rock 1"]);
        assert_eq!(unshown(&room_with_action("list_entities", "{ genus: rock }")), ["Person 1"]);
        assert_eq!(unshown(&room_with_action("get_entity", "{ name: EVE }")), ["Rock 1"]);
        assert_eq!(unshown(&room_with_action("search_entities", "{}")), ["Person 1", "Rock 1"]);
        assert_eq!(unshown(&room_with_action("list_entities", "{}")), [""; 0]);
        assert_eq!(unshown("name: Hall\ngenerate: { genus: Rock }\n"), ["Person 1"]);
        assert_eq!(unshown("name: Hall\ngenerate: { by: genus }\n"), [""; 0]);
    }
}
