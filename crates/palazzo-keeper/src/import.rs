//! Import from other memories: the memory server, MemPalace, conversations and notes. Secrets are
//! redacted before anything is compared with the palace or written.

pub(crate) mod earlier_texts;
pub(crate) mod memory;
pub(crate) mod mempalace;
pub(crate) mod mine;

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use crate::palace::change_plan::ChangeMode;
use palazzo_core::model::{Secret, SecretKind, redact_secrets};

/// How an import works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Whether it only counts.
    pub mode: ChangeMode,
    /// Do not redact secrets.
    pub keep_secrets: bool,
    /// Give texts that are filed already better dates and titles.
    pub update_filed: bool,
}

/// Secrets of one kind at one place of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactedSecret {
    /// The source: a file, or a row of a table.
    pub source: String,
    /// The place in the source.
    pub place: String,
    /// The kind.
    pub kind: SecretKind,
    /// How many there are.
    pub count: usize,
}

/// The texts of one import that contained secrets.
///
/// A text that is in the palace already must be recognised, whether it was redacted then or not.
/// So for each redacted text its original texts are known too.
#[derive(Debug)]
pub(crate) struct Redactions {
    keep_secrets: bool,
    secrets: Vec<RedactedSecret>,
    by_text: HashMap<String, Redaction>,
}

/// The secrets of some texts of an import, by their numbers, so that none is counted twice.
pub(crate) type SecretNumbers = BTreeSet<usize>;

/// The origin of a redacted text.
#[derive(Debug, Default)]
struct Redaction {
    /// The texts before they were redacted.
    originals: Vec<String>,
    secrets: SecretNumbers,
}

impl Redactions {
    pub(crate) fn new(options: ImportOptions) -> Self {
        Self { keep_secrets: options.keep_secrets, secrets: Vec::new(), by_text: HashMap::new() }
    }

    /// Redacts a text of `source`. `place` names the place of a line of the text, counted from
    /// zero.
    pub(crate) fn redact(
        &mut self,
        text: &str,
        source: &str,
        place: impl Fn(usize) -> String,
    ) -> String {
        if self.keep_secrets {
            return text.to_owned();
        }
        let redacted = redact_secrets(text);
        if redacted.secrets.is_empty() {
            return redacted.text;
        }
        // A source may have secrets in its name.
        let source = redact_secrets(source).text;
        let redaction = self.by_text.entry(redacted.text.clone()).or_default();
        redaction.originals.push(text.to_owned());
        let (mut line, mut counted) = (0, 0);
        for Secret { range, kind } in redacted.secrets {
            line += text[counted..range.start].matches('\n').count();
            counted = range.start;
            let (source, place) = (source.clone(), place(line));
            redaction.secrets.insert(self.secrets.len());
            self.secrets.push(RedactedSecret { source, place, kind, count: 1 });
        }
        redacted.text
    }

    /// Redacts the texts in a JSON object, and its keys.
    pub(crate) fn redact_json_object(
        &mut self,
        map: &Map<String, Value>,
        source: &str,
        place: &str,
    ) -> Map<String, Value> {
        let redact = |(key, value): (&String, &Value)| {
            let key = self.redact(key, source, |_| place.to_owned());
            (key, self.redact_json(value, source, place))
        };
        map.iter().map(redact).collect()
    }

    fn redact_json(&mut self, value: &Value, source: &str, place: &str) -> Value {
        match value {
            Value::String(text) => self.redact(text, source, |_| place.to_owned()).into(),
            Value::Array(items) => {
                items.iter().map(|it| self.redact_json(it, source, place)).collect()
            }
            Value::Object(map) => self.redact_json_object(map, source, place).into(),
            other => other.clone(),
        }
    }

    /// Returns the texts that became `text`, without `text` itself.
    pub(crate) fn originals_of(&self, text: &str) -> impl Iterator<Item = &str> {
        let originals = self.by_text.get(text).into_iter().flat_map(|it| &it.originals);
        originals.map(String::as_str)
    }

    /// Returns the secrets that were in the texts that became one of `texts`.
    pub(crate) fn secrets_of<'t>(&self, texts: impl IntoIterator<Item = &'t str>) -> SecretNumbers {
        let found = texts.into_iter().filter_map(|it| self.by_text.get(it));
        found.flat_map(|it| it.secrets.iter().copied()).collect()
    }

    /// Returns the secrets of all texts of one source.
    pub(crate) fn secrets_from(&self, source: &str) -> SecretNumbers {
        (0..).zip(&self.secrets).filter(|(_, it)| it.source == source).map(|it| it.0).collect()
    }

    /// Returns the secrets of all texts.
    pub(crate) fn all_secrets(&self) -> SecretNumbers {
        (0..self.secrets.len()).collect()
    }

    /// Returns secrets by their numbers, those of one kind at one place together.
    pub(crate) fn list_secrets(&self, numbers: &SecretNumbers) -> Vec<RedactedSecret> {
        let (mut all, mut places) = (Vec::<RedactedSecret>::new(), HashMap::new());
        for secret in numbers.iter().filter_map(|it| self.secrets.get(*it)) {
            let key = (&secret.source, &secret.place, secret.kind);
            let place = *places.entry(key).or_insert(all.len());
            match all.get_mut(place) {
                Some(it) => it.count += secret.count,
                None => all.push(secret.clone()),
            }
        }
        all
    }
}

/// Redacts faults and notes for the user, which may quote a source.
pub fn redact_faults_and_notes(messages: Vec<String>, options: ImportOptions) -> Vec<String> {
    match options.keep_secrets {
        true => messages,
        false => messages.into_iter().map(|it| redact_secrets(&it).text).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with a secret, in parts.
    fn password(value: &str) -> String {
        format!("export DB_PASSWORD={value}")
    }

    #[test]
    fn a_redacted_text_knows_its_secrets_and_originals() {
        let mut redactions = Redactions::new(ImportOptions::default());
        let text = format!("one\n{}\n", password("hunter2"));
        let redacted = redactions.redact(&text, "a.md", |line| format!("line {}", line + 1));
        assert_eq!(redacted, "one\nexport DB_PASSWORD=[redacted: password]\n");
        let (source, place) = ("a.md".to_owned(), "line 2".to_owned());
        let secrets = redactions.list_secrets(&redactions.secrets_of([redacted.as_str()]));
        let expected = RedactedSecret { source, place, kind: secrets[0].kind, count: 1 };
        assert_eq!(secrets, [expected]);
        assert_eq!(redactions.originals_of(&redacted).collect::<Vec<_>>(), [text]);
        assert_eq!(redactions.redact("plain", "a.md", |_| String::new()), "plain");
        assert_eq!(redactions.originals_of("plain").count(), 0);
    }

    #[test]
    fn secrets_of_one_kind_at_one_place_are_counted_together() {
        let mut redactions = Redactions::new(ImportOptions::default());
        let text = format!("{}; {}", password("hunter2"), password("s3cr3ts"));
        redactions.redact(&text, "a.md", |_| "line 1".to_owned());
        redactions.redact(&text, "b.md", |_| "line 1".to_owned());
        let listed = redactions.list_secrets(&redactions.all_secrets());
        let counts: Vec<_> = listed.iter().map(|it| (it.source.as_str(), it.count)).collect();
        assert_eq!(counts, [("a.md", 2), ("b.md", 2)]);
        assert_eq!(redactions.secrets_from("b.md").len(), 2);
    }

    #[test]
    fn secrets_are_kept_if_the_user_wants_that() {
        let options = ImportOptions { keep_secrets: true, ..ImportOptions::default() };
        let mut redactions = Redactions::new(options);
        let text = password("hunter2");
        assert_eq!(redactions.redact(&text, "a.md", |_| String::new()), text);
        assert_eq!(redactions.all_secrets(), SecretNumbers::new());
    }

    #[test]
    fn keys_and_values_of_json_are_redacted() {
        let mut redactions = Redactions::new(ImportOptions::default());
        let map = serde_json::json!({ "a": [password("hunter2"), 1], password("s3cr3ts"): {} });
        let map = redactions.redact_json_object(map.as_object().unwrap(), "a", "b");
        let hidden = "export DB_PASSWORD=[redacted: password]";
        assert_eq!(Value::from(map), serde_json::json!({ "a": [hidden, 1], hidden: {} }));
    }
}
