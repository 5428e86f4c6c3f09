//! Stores what lets clients use the HTTP servers of this user: the token, the one-time links to the
//! page, and where servers listen.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::Error;
use crate::repo::regular_file;
use crate::repo::state_file;
use palazzo_core::model::path_text;

/// The names of the files.
const TOKEN_FILE: &str = "http-token";
const LINKS_FILE: &str = "page-links.json";
const SERVERS_FILE: &str = "http-servers.json";

/// How long a link to the page can be opened.
const LINK_LIFETIME: TimeDelta = TimeDelta::minutes(5);

/// Maximum number of listed servers: one that was killed stays listed.
const MAX_SERVERS: usize = 32;

/// A link to the page that was not opened yet.
#[derive(Serialize, Deserialize)]
struct PageLink {
    code: String,
    until: DateTime<Utc>,
}

/// An HTTP server that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedServer {
    /// The home that it serves.
    pub home: PathBuf,
    /// The address on which it listens.
    pub address: SocketAddr,
}

/// Returns the token in `folder`, and creates it if there is none: 26 characters with 128 random
/// bits.
pub fn read_or_create_token(folder: &Path) -> Result<String, Error> {
    if let Some(token) = read_token(folder)? {
        return Ok(token);
    }
    state_file::change_file(folder, TOKEN_FILE, || {
        let token = read_token(folder)?;
        Ok((token.map_or_else(random_text, Ok)? + "\n").into_bytes())
    })?;
    read_token(folder)?.ok_or_else(|| unusable(folder, TOKEN_FILE))
}

/// Creates the code of a link to the page, which can be used once.
pub fn create_page_link(folder: &Path, now: DateTime<Utc>) -> Result<String, Error> {
    let code = random_text()?;
    change_list(folder, LINKS_FILE, |links: &mut Vec<PageLink>| {
        links.retain(|it| it.until > now);
        links.push(PageLink { code: code.clone(), until: now + LINK_LIFETIME });
    })?;
    Ok(code)
}

/// Uses the code of a link up; returns false if there is no such link any more.
pub fn use_page_link(folder: &Path, code: &str, now: DateTime<Utc>) -> Result<bool, Error> {
    let is_it = |it: &PageLink| it.code == code && it.until > now;
    if !read_list::<PageLink>(folder, LINKS_FILE)?.iter().any(is_it) {
        return Ok(false);
    }
    let mut is_used = false;
    change_list(folder, LINKS_FILE, |links: &mut Vec<PageLink>| {
        is_used = links.iter().any(is_it);
        links.retain(|it| it.until > now && it.code != code);
    })?;
    Ok(is_used)
}

/// Lists a server that has started, until [`remove_server`] is called.
pub fn add_server(folder: &Path, server: &ListedServer) -> Result<(), Error> {
    change_list(folder, SERVERS_FILE, |servers: &mut Vec<ListedServer>| {
        servers.retain(|it| it.address != server.address);
        servers.insert(0, server.clone());
        servers.truncate(MAX_SERVERS);
    })
}

/// Removes a server that ends.
pub fn remove_server(folder: &Path, server: &ListedServer) -> Result<(), Error> {
    change_list(folder, SERVERS_FILE, |servers: &mut Vec<ListedServer>| {
        servers.retain(|it| it != server);
    })
}

/// Returns the servers that were started and not stopped, newest first; some may have been killed.
pub fn list_servers(folder: &Path) -> Result<Vec<ListedServer>, Error> {
    read_list(folder, SERVERS_FILE)
}

fn read_token(folder: &Path) -> Result<Option<String>, Error> {
    let Some(bytes) = regular_file::read_regular_file(&folder.join(TOKEN_FILE))? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    let token = text.trim();
    let is_token = token.len() >= 26 && token.bytes().all(|it| it.is_ascii_alphanumeric());
    if is_token { Ok(Some(token.to_owned())) } else { Err(unusable(folder, TOKEN_FILE)) }
}

/// Returns 128 random bits as text.
fn random_text() -> Result<String, Error> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|err| Error::StateUnusable {
        why: format!("the system has no random numbers: {err}"),
    })?;
    Ok(Ulid(u128::from_ne_bytes(bits)).to_string().to_lowercase())
}

/// Reads a list; an empty one if the file is missing or damaged: it holds nothing lasting.
fn read_list<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Vec<T>, Error> {
    let bytes = regular_file::read_regular_file(&folder.join(file))?;
    Ok(bytes.and_then(|it| serde_json::from_slice(&it).ok()).unwrap_or_default())
}

fn change_list<T: Serialize + DeserializeOwned>(
    folder: &Path,
    file: &str,
    change: impl FnOnce(&mut Vec<T>),
) -> Result<(), Error> {
    state_file::change_file(folder, file, || {
        let mut list = read_list(folder, file)?;
        change(&mut list);
        let text = serde_json::to_vec_pretty(&list);
        text.map_err(|err| Error::StateUnusable { why: err.to_string() })
    })
}

fn unusable(folder: &Path, file: &str) -> Error {
    let file = folder.join(file);
    Error::StateUnusable { why: format!("`{}` is damaged; remove it", path_text(&file)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_created_once_and_only_its_owner_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let token = read_or_create_token(&state).unwrap();
        assert_eq!(token.len(), 26);
        assert_eq!(read_or_create_token(&state).unwrap(), token);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(state.join(TOKEN_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        std::fs::write(state.join(TOKEN_FILE), "short\n").unwrap();
        let error = read_or_create_token(&state).unwrap_err().to_string();
        assert!(error.contains("http-token") && error.contains("remove it"), "{error}");
    }

    #[test]
    fn a_link_can_be_used_once_and_only_for_five_minutes() {
        let folder = tempfile::tempdir().unwrap();
        let (state, now) = (folder.path(), "2026-03-01T12:00:00Z".parse().unwrap());
        let [first, second] = [(); 2].map(|()| create_page_link(state, now).unwrap());
        let later = now + TimeDelta::minutes(4);
        assert!(!use_page_link(state, "", later).unwrap());
        assert!(use_page_link(state, &first, later).unwrap());
        assert!(!use_page_link(state, &first, later).unwrap());
        assert!(!use_page_link(state, &second, now + TimeDelta::minutes(6)).unwrap());
    }

    #[test]
    fn servers_are_listed_until_they_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let server = |port: u16| ListedServer {
            home: "/a".into(),
            address: SocketAddr::from(([127, 0, 0, 1], port)),
        };
        for port in [1, 2, 1] {
            add_server(folder.path(), &server(port)).unwrap();
        }
        assert_eq!(list_servers(folder.path()).unwrap(), [server(1), server(2)]);
        remove_server(folder.path(), &server(1)).unwrap();
        assert_eq!(list_servers(folder.path()).unwrap(), [server(2)]);
    }
}
