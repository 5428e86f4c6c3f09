//! Links that make a client ask its user to add the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::cli::client::Client;
use crate::config_edit::EntryFields;

/// The characters that are escaped in a query: all but the unreserved ones of RFC 3986.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the link that adds an entry to a client; the error says why there is none.
pub(in crate::cli) fn install_link(
    client: Client,
    name: &str,
    fields: &EntryFields,
) -> Result<String, String> {
    let config = Value::from(fields.clone());
    let base64 = || escape(&STANDARD.encode(config.to_string()));
    match client {
        Client::Cursor => Ok(format!(
            "cursor://anysphere.cursor-deeplink/mcp/install?name={}&config={}",
            escape(name),
            base64()
        )),
        Client::LmStudio => {
            Ok(format!("lmstudio://add_mcp?name={}&config={}", escape(name), base64()))
        }
        Client::Vscode => {
            let mut named = EntryFields::from_iter([("name".to_owned(), json!(name))]);
            named.extend(fields.clone());
            Ok(format!("vscode:mcp/install?{}", escape(&Value::from(named).to_string())))
        }
        Client::Goose => {
            Err("goose opens links only for a few programs, such as npx and uvx: leave \
                              out --link"
                .to_owned())
        }
        other => Err(format!(
            "{} has no install links; cursor, vscode and lm-studio do: leave out --link",
            other.title()
        )),
    }
}

fn escape(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;
    use percent_encoding::percent_decode_str;

    use super::*;

    #[test]
    fn a_link_contains_the_entry() {
        let fields = json!({ "command": "/bin/a b", "args": ["serve", "/größe \"q\"/it's?&=+%"] });
        let fields = fields.as_object().unwrap();
        let decode = |it: &str| percent_decode_str(it).decode_utf8().unwrap().into_owned();
        for (client, start) in [
            (
                Client::Cursor,
                "cursor://anysphere.cursor-deeplink/mcp/install?name=my%20palazzo&config=",
            ),
            (Client::LmStudio, "lmstudio://add_mcp?name=my%20palazzo&config="),
        ] {
            let link = install_link(client, "my palazzo", fields).unwrap();
            let config = STANDARD.decode(decode(link.strip_prefix(start).unwrap())).unwrap();
            let config: Value = serde_json::from_slice(&config).unwrap();
            assert_eq!(&config, &Value::from(fields.clone()));
        }
        let link = install_link(Client::Vscode, "palazzo", fields).unwrap();
        let config = decode(link.strip_prefix("vscode:mcp/install?").unwrap());
        let mut config: EntryFields = serde_json::from_str(&config).unwrap();
        assert_eq!(config.shift_remove("name"), Some(json!("palazzo")));
        assert_eq!(&config, fields);
    }

    #[test]
    fn a_client_without_links_is_refused_with_those_that_have_them() {
        let links = Client::value_variants().iter();
        let links = links.filter(|it| install_link(**it, "palazzo", &EntryFields::new()).is_ok());
        assert_eq!(links.count(), 3);
        let refusal = install_link(Client::Zed, "palazzo", &EntryFields::new()).unwrap_err();
        assert!(refusal.contains("Zed") && refusal.contains("cursor"), "{refusal}");
    }
}
