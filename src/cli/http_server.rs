//! The HTTP server of `palazzo serve --http`: its options, and how it is started.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;

use tokio::net::TcpListener;

use crate::cli::http_access::{DEFAULT_ADDRESS, http_access};
use crate::cli::outcome::{Failure, current_time, terminal_user};
use crate::mcp::Server;
use crate::web::{self, AllowedHosts, WebOptions};

/// The options of a server over HTTP.
#[derive(clap::Args)]
pub(super) struct HttpArgs {
    /// Serve over HTTP on loopback: MCP at /mcp, and a page for people (see `palazzo view`)
    #[arg(long)]
    http: bool,

    /// The address to listen on; another one than loopback also needs --allow-host
    #[arg(long, value_name = "ADDRESS:PORT", requires = "http", default_value = DEFAULT_ADDRESS)]
    listen: SocketAddr,

    /// A host name by which a reverse proxy or another machine reaches the server (repeatable)
    #[arg(long, value_name = "NAME", requires = "http")]
    allow_host: Vec<String>,

    /// Answer requests without a token; only on loopback. Every program on this machine can then
    /// read and change the palaces
    #[arg(long, requires = "http")]
    no_token: bool,

    /// The maximum number of requests a second; 0: any number
    #[arg(long, value_name = "NUMBER", requires = "http", default_value_t = 200)]
    rate: u32,
}

impl HttpArgs {
    /// Returns the options of a server for the page of one user, on a free port of loopback.
    pub(super) fn on_free_port() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { http: true, listen, allow_host: Vec::new(), no_token: false, rate: 200 }
    }

    /// Returns whether the server is reached over HTTP.
    pub(super) fn is_chosen(&self) -> bool {
        self.http
    }

    /// Refuses addresses that others reach, without a name for them or without a token.
    fn check(&self) -> Result<(), Failure> {
        let refuse = |why: &str| Err(Failure::Message(why.to_owned()));
        if self.no_token && !self.allow_host.is_empty() {
            return refuse("--no-token is only for this machine, and --allow-host for others");
        }
        if self.listen.ip().is_loopback() {
            return Ok(());
        }
        if self.no_token {
            return refuse("--no-token is only for loopback: other machines reach this address");
        }
        if self.allow_host.is_empty() {
            return refuse(
                "other machines reach this address: name the hosts for which it answers with \
                 --allow-host NAME",
            );
        }
        Ok(())
    }
}

/// Serves palaces over HTTP until `stop` is ready, and lists the server as one of `listed_home`. Calls
/// `on_listen` with the address once the server listens.
pub(super) async fn serve(
    server: Server,
    args: &HttpArgs,
    listed_home: Option<&Path>,
    on_listen: impl FnOnce(SocketAddr) -> Result<(), Failure>,
    stop: impl Future<Output: Send> + Send + 'static,
) -> Result<(), Failure> {
    args.check()?;
    let listener = TcpListener::bind(args.listen).await;
    let listener = listener.map_err(|err| cannot_listen(args.listen, &err))?;
    let address = listener.local_addr()?;
    let links = http_access();
    let access = match (args.no_token, &links) {
        (true, _) => None,
        (false, Ok(links)) => Some((links.token()?, links.clone())),
        (false, Err(_)) => return links.map(drop),
    };
    if args.no_token {
        anstream::eprintln!(
            "palazzo: --no-token: every program on this machine can read and change the palaces"
        );
    }
    let options = WebOptions {
        allowed_hosts: AllowedHosts::new(address, &args.allow_host),
        access,
        rate: NonZeroU32::new(args.rate),
        clock: current_time,
        reader: || terminal_user("view"),
    };
    if let (Ok(links), Some(home)) = (&links, listed_home) {
        links.add_server(home, address)?;
    }
    on_listen(address)?;
    let served = web::serve(listener, server, options, stop).await;
    if let (Ok(links), Some(home)) = (&links, listed_home) {
        links.remove_server(home, address)?;
    }
    Ok(served?)
}

fn cannot_listen(address: SocketAddr, err: &io::Error) -> Failure {
    let hint = match err.kind() {
        io::ErrorKind::AddrInUse => {
            "; another server may run already, or choose another port with --listen"
        }
        _ => "",
    };
    Failure::Message(format!("cannot listen on {address}: {err}{hint}"))
}
