//! Memories that Claude Code keeps: Markdown below front matter with `name`, `description` and `metadata`.
//! The triggers are the value of `when` below `metadata`.
//!
//! The host may write any front matter, so only `when` is read, and everything else has no findings.

use crate::format::file_parser::FileParser;
use crate::format::front_matter;
use crate::format::yaml::{Node, NodeValue, YamlError, parse_yaml};
use crate::model::{
    Code, Position, TimeZone, ToolUse, Trigger, TriggerKind, TriggeredMemory, host_memory_name,
    normalize_prose, parse_written_time, quoted,
};

/// The key of the triggers.
const WHEN: &str = "when";
/// The key below which Claude Code moves keys that it does not know.
const METADATA: &str = "metadata";
/// The largest number of triggers of a memory.
const MAX_TRIGGERS: usize = 20;

/// The triggers of a memory as written.
#[derive(Default)]
struct WrittenTriggers {
    triggers: Vec<(Trigger, Position)>,
    modified: Option<String>,
}

/// Parses a memory of a host. What cannot be read is left out.
pub fn parse_host_memory(whole: &str) -> TriggeredMemory {
    let when = parse_when(&mut FileParser::new(""), whole);
    let text = front_matter::split_front_matter(whole).map_or(whole, |(_, text)| text);
    TriggeredMemory {
        triggers: when.triggers.into_iter().map(|(trigger, _)| trigger).collect(),
        text: normalize_prose(text).trim_start_matches('\n').to_owned(),
        modified: when.modified.and_then(|it| parse_written_time(&it, &TimeZone::UTC)),
    }
}

/// Returns whether a memory may have a trigger that is compared with what an agent has done. Looks for keys
/// only, which is much faster than to parse it.
pub fn may_have_trigger(whole: &str, done: &ToolUse) -> bool {
    let kinds = [
        (TriggerKind::Run, done.command.is_some()),
        (TriggerKind::Edit, !done.files.is_empty()),
        (TriggerKind::Error, done.error.is_some()),
    ];
    let matter = front_matter::split_front_matter(whole).map(|(matter, _)| matter);
    matter.filter(|it| it.contains(WHEN)).is_some_and(|matter| {
        kinds.iter().any(|(kind, is_compared)| *is_compared && matter.contains(kind.key()))
    })
}

/// Returns the position of the first trigger of a memory.
pub fn position_of_first_trigger(whole: &str) -> Option<Position> {
    let when = parse_when(&mut FileParser::new(""), whole);
    when.triggers.first().map(|(_, at)| *at)
}

/// Reports triggers that cannot fit, in a drawer that is a memory of a host.
pub(super) fn report_trigger_faults(reader: &mut FileParser<'_>, whole: &str) {
    if host_memory_name(reader.path()).is_none() {
        return;
    }
    for (trigger, at) in parse_when(reader, whole).triggers {
        let Err(why) = trigger.check() else { continue };
        let what = match trigger.kind {
            TriggerKind::Error => "text",
            TriggerKind::Run => "regular expression",
            TriggerKind::Edit => "glob",
        };
        let (key, pattern) = (trigger.kind.key(), quoted(&trigger.pattern));
        let message = format!("the {what} of `{key}`, {pattern}, cannot be used: {why}");
        reader.report(Code::BadValue, at, message);
    }
}

/// Parses the triggers, with a finding for each that cannot be read. Patterns are not checked.
fn parse_when(reader: &mut FileParser<'_>, whole: &str) -> WrittenTriggers {
    let matter = front_matter::split_front_matter(whole).map(|(matter, _)| matter);
    // Most memories have no triggers; then their YAML need not be read.
    let Some(matter) = matter.filter(|it| it.contains(WHEN)) else {
        return WrittenTriggers::default();
    };
    let mut root = match parse_yaml(&front_matter::pad_to_file_line_numbers(matter)) {
        Ok(root) => root,
        Err(YamlError { code, at, message, hint }) => {
            // Else no trigger is meant, and what is wrong concerns only the host.
            if matter.lines().any(|it| it.trim_start().starts_with("when:")) {
                reader.report(code, at, message).hint = hint.map(str::to_owned);
            }
            return WrittenTriggers::default();
        }
    };
    let mut metadata = take(&mut root, METADATA);
    let modified = metadata.as_mut().and_then(|it| take(it, "modified"));
    let modified = modified.and_then(|it| match it.value {
        NodeValue::Scalar { text, .. } => Some(text),
        _ => None,
    });
    let when = metadata.as_mut().and_then(|it| take(it, WHEN)).or_else(|| take(&mut root, WHEN));
    let triggers = when.map_or_else(Vec::new, |it| parse_triggers(reader, it));
    WrittenTriggers { triggers, modified }
}

/// Parses a list of triggers, or a single one.
fn parse_triggers(reader: &mut FileParser<'_>, when: Node) -> Vec<(Trigger, Position)> {
    let (at, mut triggers) = (when.at, Vec::new());
    let items = match when.value {
        NodeValue::List(items) => items,
        value => vec![Node { value, ..when }],
    };
    for item in items {
        let keys = TriggerKind::ALL.map(TriggerKind::key);
        let Some(mut fields) = reader.parse_mapping(item, "a trigger", &keys) else { continue };
        for kind in TriggerKind::ALL {
            let at = fields.value_position(kind.key());
            if let Some(pattern) = fields.take_text(reader, kind.key()) {
                triggers.push((Trigger { kind, pattern }, at));
            }
        }
    }
    if triggers.len() > MAX_TRIGGERS {
        let message =
            format!("a memory has at most {MAX_TRIGGERS} triggers: the others have no effect");
        reader.report(Code::BadValue, at, message);
        triggers.truncate(MAX_TRIGGERS);
    }
    triggers
}

/// Takes the value of a key of a mapping.
fn take(node: &mut Node, key: &str) -> Option<Node> {
    let NodeValue::Map(pairs) = &mut node.value else { return None };
    let index = pairs.iter().position(|(it, _)| it.text == key)?;
    Some(pairs.remove(index).1).filter(|it| !it.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse_file;

    fn triggers(matter: &str) -> Vec<String> {
        let memory = parse_host_memory(&format!("---\n{matter}---\n\nText.\n"));
        assert_eq!(memory.text, "Text.");
        memory.triggers.iter().map(ToString::to_string).collect()
    }

    fn findings(matter: &str) -> String {
        let path = "drawers/claude/memory/a.md";
        let found = parse_file(path, &format!("---\n{matter}---\n\nText.\n")).findings;
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn triggers_are_read_below_metadata_or_beside_it() {
        let list =
            "  when:\n    - run: '^cargo build'\n    - edit: src/**/*.rs\n    - error: 404\n";
        let expected = ["run ^cargo build", "edit src/**/*.rs", "error 404"];
        assert_eq!(triggers(&format!("name: a\nmetadata:\n  type: feedback\n{list}")), expected);
        assert_eq!(triggers("when:\n  run: a\n  error: b\n"), ["run a", "error b"]);
        assert_eq!(triggers("metadata: {when: [{run: a}, {edit: b}]}\n"), ["run a", "edit b"]);
        assert_eq!(triggers("name: when I run\n"), [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        for matter in [
            "metadata:\n  when:\n",
            "metadata:\n  when: [\n",
            "metadata:\n  when: often\n",
            "metadata: when\n",
            "metadata:\n  when:\n    - run: [a]\n    - [b]\n    -\n    - rnu: a\n",
        ] {
            assert_eq!(triggers(matter), [""; 0], "{matter}");
        }
        assert_eq!(parse_host_memory("No front matter.\n").text, "No front matter.");
        assert_eq!(parse_host_memory("---\nwhen: {run: a}\nnever closed").triggers, []);
    }

    #[test]
    fn the_time_of_the_last_change_is_that_of_the_front_matter() {
        let modified = |it: &str| {
            let text = format!("---\nmetadata:\n  when: {{run: a}}\n  modified: {it}\n---\n");
            parse_host_memory(&text).modified.map(|it| it.to_string())
        };
        assert_eq!(
            modified("2026-02-26T12:00:00.000Z").as_deref(),
            Some("2026-02-26 12:00:00 UTC")
        );
        assert_eq!(modified("soon"), None);
    }

    #[test]
    fn each_fault_is_a_finding_with_its_line() {
        insta::assert_snapshot!(findings(
            "name: a\nmetadata:\n  when:\n    - run: '('\n    - edit: 'src/['\n    - error: ' '\n    \
             - rnu: x\n    - often\n    - run: {a: b}\n"
        ), @"
        drawers/claude/memory/a.md:8:7: error[unknown-key]: a trigger has no key `rnu` (it may have run, edit, error)
        drawers/claude/memory/a.md:9:7: error[wrong-type]: a trigger is a mapping of `key: value`, and this is a text
        drawers/claude/memory/a.md:10:12: error[wrong-type]: `run` is a text, and this is a mapping (a text that contains `: ` needs quotes)
        drawers/claude/memory/a.md:5:12: error[bad-value]: the regular expression of `run`, `(`, cannot be used: unclosed group
        drawers/claude/memory/a.md:6:13: error[bad-value]: the glob of `edit`, `src/[`, cannot be used: `unclosed character class; missing ']'`
        drawers/claude/memory/a.md:7:14: error[bad-value]: the text of `error`, ` `, cannot be used: it is empty
        ");
        insta::assert_snapshot!(findings("metadata:\n  when: [\n"), @"
        drawers/claude/memory/a.md:3:9: error[syntax]: this is not YAML: unclosed bracket '[' (close the bracket, or quote the text)
        ");
        let other = "title: [\ndescription: it fails: when you run it\n";
        assert_eq!(findings(other), "", "no trigger is meant");
        let many = "    - run: a\n".repeat(21);
        insta::assert_snapshot!(findings(&format!("metadata:\n  when:\n{many}")), @"
        drawers/claude/memory/a.md:4:5: error[bad-value]: a memory has at most 20 triggers: the others have no effect
        ");
    }
}
