//! Checks the labels and the description of rooms.

use std::collections::HashSet;

use crate::check::palace_check::CheckFinding;
use crate::model::{Code, Room, ValuePath, quoted};

/// Reports labels that occur twice in a room, and a description that contains its actions.
pub(crate) fn check_room_content(room: &Room, file: &str) -> Vec<CheckFinding> {
    let mut seen = HashSet::new();
    let repeated =
        room.actions.iter().enumerate().filter(|(_, it)| !seen.insert(it.label.trim().to_owned()));
    let mut findings: Vec<_> = repeated
        .map(|(index, action)| {
            let label = quoted(action.label.trim());
            let message = format!("another action of this room has the label {label}");
            let about = ValuePath::ROOT.then_value("actions").then_item(index).then_value("label");
            CheckFinding::new(Code::DuplicateLabel, file, about, message)
        })
        .collect();
    if room.actions.is_empty() && contains_action_list(&room.description) {
        let message = "the description contains a list of actions";
        let about = ValuePath::ROOT.then_value("description");
        let finding = CheckFinding::new(Code::SwallowedActions, file, about, message);
        findings.push(finding.with_hint("remove the indentation in front of `actions:`"));
    }
    findings
}

/// Returns whether a text contains a line `actions:` and below it the first action.
fn contains_action_list(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
    while let Some(line) = lines.next() {
        let first_keys = ["- label:", "- type:", "- {"];
        if line == "actions:"
            && lines.next().is_some_and(|it| first_keys.iter().any(|key| it.starts_with(key)))
        {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::check::tests::findings_of;

    fn findings_of_hall(rest: &str) -> String {
        findings_of(&[("rooms/hall.yaml", &format!("name: Hall\n{rest}"))])
    }

    #[test]
    fn a_label_that_occurs_twice_is_reported_once() {
        let actions = "actions:
  - { label: Listen, type: text, content: Drip. }
  - { label: Look, type: text, content: Dust. }
  - { label: 'Listen ', type: text, content: Drop. }
";
        assert_snapshot!(
            findings_of_hall(actions),
            @"rooms/hall.yaml actions 2 label: duplicate-label: another action of this room has the label `Listen`"
        );
    }

    #[test]
    fn actions_inside_the_description_are_reported() {
        let swallowed = "description: |
  Stone.
  actions:
    - label: Listen
      type: text
      content: Drip.
";
        assert_snapshot!(
            findings_of_hall(swallowed),
            @"rooms/hall.yaml description: swallowed-actions: the description contains a list of actions (remove the indentation in front of `actions:`)"
        );
    }

    #[test]
    fn a_description_may_speak_of_actions() {
        let quoted = "description: |
  The key
  actions:
  lists what a visitor can do.
";
        assert_eq!(findings_of_hall(quoted), "");
        let with_actions = "description: |
  actions:
    - label: Listen
actions:
  - { label: Listen, type: text, content: Drip. }
";
        assert_eq!(findings_of_hall(with_actions), "");
    }
}
