//! `palazzo view`.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use crate::cli::home::HomeArgs;
use crate::cli::http_access::http_access;
use crate::cli::http_server::{self, HttpArgs};
use crate::cli::map::write_page;
use crate::cli::outcome::{Failure, Outcome, current_time, terminal_user};
use crate::cli::serve::{make_server, run_until_signal};
use crate::cli::terminal;
use crate::mcp::Toolbox;
use palazzo_core::model::path_text;
use palazzo_keeper::{self as keeper, HttpAccess, WholePalaceRequest};

/// How long a running server may take to answer. Without one, the connection is refused at once.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

/// See the palaces in a browser: walk, search, watch changes as they happen, see the past
///
/// Prints a link that opens the page once, and opens it in the browser. If no `palazzo serve
/// --http` runs for this home, this command serves the page until Ctrl-C; the page only reads.
///
/// With `--out` it writes a palace as one HTML file instead, with rooms, map, entities and what
/// changed. The file needs no server and no script, and loads nothing: send it, or attach it to a
/// pull request. With `--against` it begins with the changes since a revision, and marks changed
/// rooms on the map.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Write one HTML file, or to standard output for `-`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// With --out: the palace as it was at this moment: a day, a time, an age like `3.weeks`, or a
    /// git revision
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true)]
    at: Option<String>,

    /// With --out: begin with what changed since this moment or revision
    #[arg(long, value_name = "REVISION", allow_hyphen_values = true)]
    against: Option<String>,

    /// Only print the link
    #[arg(long, conflicts_with = "out")]
    no_open: bool,

    #[command(flatten)]
    home: HomeArgs,
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(out) = &args.out {
        let (mut keeper, user) = (args.home.keeper(), terminal_user("view"));
        let request = WholePalaceRequest { at: args.at.clone(), against: args.against.clone() };
        return write_page(out, &keeper::render_whole_palace(&mut keeper, &user, &request)?);
    }
    if args.at.is_some() || args.against.is_some() {
        let why = "--at and --against need --out FILE: the page has a slider for its past";
        return Err(Failure::Message(why.to_owned()));
    }
    let (home, access) = (args.home.find(), http_access()?);
    let running = access.servers_of(&home)?;
    match running.into_iter().find(|it| is_palazzo(*it)) {
        Some(address) => {
            open_page(args, &access, address)?;
            Ok(ExitCode::SUCCESS)
        }
        None => serve_page(args, &home, &access),
    }
}

/// Serves the page until the process ends.
fn serve_page(args: &Args, home: &Path, access: &HttpAccess) -> Outcome {
    let keeper = args.home.keeper().with_read_only(true);
    let (server, cancelled) = make_server(Toolbox::new(Vec::new()), keeper, None);
    run_until_signal(cancelled, async |stop| {
        let announce = |address| {
            open_page(args, access, address)?;
            anstream::eprintln!("Serving the page of {}. Ctrl-C ends this.", path_text(home));
            Ok(())
        };
        http_server::serve(server, &HttpArgs::on_free_port(), Some(home), announce, stop).await
    })
}

/// Prints a link to the page, and opens it.
fn open_page(args: &Args, access: &HttpAccess, address: SocketAddr) -> Result<(), Failure> {
    let code = access.create_page_link(current_time())?;
    let link = format!("http://{address}/open/{code}");
    terminal::print_text(&link)?;
    anstream::eprintln!("The link works once, for five minutes; `palazzo view` prints another.");
    if !args.no_open {
        open_in_browser(&link);
    }
    Ok(())
}

/// Returns whether a Palazzo answers at an address: another program may use the port now.
fn is_palazzo(address: SocketAddr) -> bool {
    let ask = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, ANSWER_LIMIT)?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.take(4096).read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|it| it.contains(r#""name":"palazzo""#))
}

/// Opens a link in the browser of the user, if there is a desktop.
fn open_in_browser(link: &str) {
    let has_display =
        ["DISPLAY", "WAYLAND_DISPLAY"].map(std::env::var_os).iter().any(Option::is_some);
    let mut command = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        _ if has_display => Command::new("xdg-open"),
        _ => return,
    };
    let command =
        command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without a browser the printed link remains.
    drop(command.spawn());
}
