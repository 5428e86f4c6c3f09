//! What lets clients and browsers of this user reach the HTTP server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::Refusal;
use palazzo_store::{self as store, ListedServer};

/// The files that a server and its clients share, in the folder for the state of this program.
#[derive(Clone, Debug)]
pub struct HttpAccess {
    folder: PathBuf,
}

impl HttpAccess {
    /// Uses the files in `folder`, which need not exist yet.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Returns the token that clients of `/mcp` send; creates it the first time.
    pub fn token(&self) -> Result<String, Refusal> {
        Ok(store::read_or_create_token(&self.folder)?)
    }

    /// Creates the code of a link that opens the page once, within five minutes.
    pub fn create_page_link(&self, now: DateTime<Utc>) -> Result<String, Refusal> {
        Ok(store::create_page_link(&self.folder, now)?)
    }

    /// Uses the code of a link up; returns false if there is no such link any more.
    pub fn use_page_link(&self, code: &str, now: DateTime<Utc>) -> Result<bool, Refusal> {
        Ok(store::use_page_link(&self.folder, code, now)?)
    }

    /// Lists a server that has started.
    pub fn add_server(&self, home: &Path, address: SocketAddr) -> Result<(), Refusal> {
        let server = ListedServer { home: home.to_owned(), address };
        Ok(store::add_server(&self.folder, &server)?)
    }

    /// Removes a server that ends from the list.
    pub fn remove_server(&self, home: &Path, address: SocketAddr) -> Result<(), Refusal> {
        let server = ListedServer { home: home.to_owned(), address };
        Ok(store::remove_server(&self.folder, &server)?)
    }

    /// Returns the addresses of the servers of a home, newest first. Some may not run any more.
    pub fn servers_of(&self, home: &Path) -> Result<Vec<SocketAddr>, Refusal> {
        let servers = store::list_servers(&self.folder)?.into_iter();
        Ok(servers.filter(|it| it.home == home).map(|it| it.address).collect())
    }
}
