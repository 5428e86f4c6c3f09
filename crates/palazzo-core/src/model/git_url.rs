//! URLs from which git fetches.

use std::fmt;
use std::str::FromStr;

use crate::model::quoted;

/// Why a text cannot be used as the URL of a repository.
const NO_HOST: &str = "it names no host and path; write `https://HOST/PATH`, `ssh://HOST/PATH`, \
    `USER@HOST:PATH` or `file:///PATH`";
const OTHER_SCHEME: &str =
    "only URLs with https:// and ssh://, `USER@HOST:PATH` and file:// are used";
const STRANGE_CHARACTER: &str = "it contains a space or a control character";
const OPTION: &str = "a program would take a part of it for an option";

/// The URL of a repository: `https://…`, `ssh://…`, `USER@HOST:PATH` or `file://…`.
///
/// Invariant: it names no program (`ext::…`), no unencrypted protocol, and nothing in it can be
/// taken for an option of git or ssh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUrl(String);

/// The error for a text that is not the URL of a repository.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be used as the URL of a repository: {why}", quoted(url))]
pub struct GitUrlError {
    /// The text, without a password.
    pub url: String,
    /// The reason.
    pub why: &'static str,
}

impl GitUrl {
    /// Returns whether `text` is meant as a URL, and neither as a path nor as a name.
    pub fn looks_like_url(text: &str) -> bool {
        text.contains("://") || text.contains("::") || split_scp_form(text).is_some()
    }

    /// Returns the URL with its password, for git.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it is a path on this machine.
    pub fn is_local(&self) -> bool {
        self.0.starts_with("file://")
    }
}

/// Hides the password.
impl fmt::Display for GitUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hide_password(&self.0))
    }
}

impl FromStr for GitUrl {
    type Err = GitUrlError;

    fn from_str(text: &str) -> Result<Self, GitUrlError> {
        match reason_to_refuse(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => Err(GitUrlError { url: hide_password(text), why }),
        }
    }
}

fn reason_to_refuse(text: &str) -> Option<&'static str> {
    if text.contains(|c: char| c.is_control() || c.is_whitespace()) {
        return Some(STRANGE_CHARACTER);
    }
    let (host, path) = match text.split_once("://") {
        Some(("file", path)) => return (path.len() < 2).then_some(NO_HOST),
        Some(("https" | "ssh", rest)) => rest.split_once('/').unwrap_or((rest, "")),
        Some(_) => return Some(OTHER_SCHEME),
        None if text.contains("::") => return Some(OTHER_SCHEME),
        None => split_scp_form(text).unwrap_or_default(),
    };
    let machine = host.rsplit_once('@').map_or(host, |it| it.1);
    if [host, machine, path].iter().any(|it| it.starts_with('-')) {
        return Some(OPTION);
    }
    (machine.is_empty() || path.is_empty()).then_some(NO_HOST)
}

/// Splits `USER@HOST:PATH` before the path.
fn split_scp_form(text: &str) -> Option<(&str, &str)> {
    let (host, path) = text.split_once(':')?;
    (host.contains('@') && !host.contains(['/', '\\'])).then_some((host, path))
}

fn hide_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match host.rsplit_once('@').map(|(user, machine)| (user.split_once(':'), machine)) {
        Some((Some((user, _)), machine)) => format!("{scheme}://{user}:…@{machine}{path}"),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_https_ssh_and_files_are_accepted() {
        for url in [
            "https://example.org/ada/service.git",
            "https://ada@example.org:8443/service",
            "ssh://git@example.org:2222/~ada/service.git",
            "git@example.org:ada/service.git",
            "file:///srv/git/service.git",
        ] {
            assert!(GitUrl::looks_like_url(url), "{url}");
            assert_eq!(url.parse::<GitUrl>().unwrap().to_string(), url);
        }
    }

    #[test]
    fn programs_options_and_unencrypted_protocols_are_refused() {
        let why = |url: &str| url.parse::<GitUrl>().unwrap_err().why;
        for url in ["ext::sh -c true", "ext::sh", "http://a/b", "git://a/b", "fd::7", "ext://a/b"] {
            assert!(GitUrl::looks_like_url(url), "{url}");
            assert!([OTHER_SCHEME, STRANGE_CHARACTER].contains(&why(url)), "{url}");
        }
        for url in ["ssh://-oProxyCommand=x/a", "ssh://a@-x/b", "-u@host:path", "a@host:-path"] {
            assert_eq!(why(url), OPTION, "{url}");
        }
        for url in ["https://", "https://host", "https://host/", "ssh:///a", "file://", "a@b:"] {
            assert_eq!(why(url), NO_HOST, "{url}");
        }
        assert_eq!(why("https://a/b\nc"), STRANGE_CHARACTER);
    }

    #[test]
    fn paths_and_names_are_not_meant_as_urls() {
        for text in ["codebase", "./a@b:c", "~/templates/a", "C:\\templates\\a", "C:/a", "a:b"] {
            assert!(!GitUrl::looks_like_url(text), "{text}");
        }
    }

    #[test]
    fn a_password_is_not_displayed() {
        let url: GitUrl = "https://ada:s3cret@example.org/a".parse().unwrap();
        assert_eq!(url.to_string(), "https://ada:…@example.org/a");
        assert_eq!(url.as_str(), "https://ada:s3cret@example.org/a");
        let refused = "http://ada:s3cret@example.org/a".parse::<GitUrl>().unwrap_err();
        assert!(!refused.to_string().contains("s3cret"), "{refused}");
    }
}
