//! The HTTP server: MCP at `/mcp`, the pages of palaces for people, and their live events.
//!
//! Every request is checked in this order: its address (`origin`); whether it may be here
//! (`access`): `/mcp` needs the token, a page the cookie that a one-time link has set; and the rate
//! of requests. Pages only read.

mod access;
mod connections;
mod origin;
mod pages;
mod rate_limit;
mod serve;

pub use origin::AllowedHosts;
pub use serve::{WebOptions, serve};
