//! `file:` URIs (RFC 8089).

use std::path::{Path, PathBuf};

use gen_lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters that are percent-encoded in a path: all but the unreserved ones (RFC 3986) and
/// the slash.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the path of a `file:` URI; `None` for any other.
pub(super) fn path_of_uri(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.0.strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    if cfg!(windows) && !host.is_empty() && host != "localhost" {
        return Some(PathBuf::from(format!("//{host}{decoded}")));
    }
    // `/C:/palaces` is a path with a drive.
    let drive = decoded.strip_prefix('/').filter(|it| it.as_bytes().get(1) == Some(&b':'));
    Some(PathBuf::from(drive.unwrap_or(&decoded)))
}

/// Returns the URI of a path.
#[cfg(unix)]
pub(super) fn uri_of_path(path: &Path) -> Uri {
    Uri(format!("file://{}", utf8_percent_encode(&path.to_string_lossy(), ENCODED)))
}

/// Returns the URI of a path: `file:///c%3A/palaces`, as VS Code writes it, or `file://server/share`.
#[cfg(windows)]
pub(super) fn uri_of_path(path: &Path) -> Uri {
    let mut path = path.to_string_lossy().replace('\\', "/");
    if path.get(1..2) == Some(":") {
        path[..1].make_ascii_lowercase();
    }
    let scheme = if path.starts_with("//") { "file:" } else { "file:///" };
    Uri(format!("{scheme}{}", utf8_percent_encode(&path, ENCODED)))
}

/// Returns a URI as [`uri_of_path`] writes it: editors percent-encode other characters.
pub(super) fn canonical_uri(uri: &Uri) -> Uri {
    path_of_uri(uri).map_or_else(|| uri.clone(), |it| uri_of_path(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_uris_are_converted_both_ways() {
        let (drive, written) = if cfg!(windows) { ("C:", "/c%3A") } else { ("", "") };
        let path = format!("{drive}/a b/é#c%.yaml");
        let uri = uri_of_path(Path::new(&path));
        assert_eq!(uri.0, format!("file://{written}/a%20b/%C3%A9%23c%25.yaml"));
        assert_eq!(path_of_uri(&uri).unwrap(), Path::new(&path));
        assert_eq!(path_of_uri(&Uri::from("file:///c%3A/a.yaml")).unwrap(), Path::new("c:/a.yaml"));
        assert_eq!(path_of_uri(&Uri::from("untitled:Untitled-1")), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_host_is_left_out_and_a_backslash_is_part_of_a_name() {
        assert_eq!(path_of_uri(&Uri::from("file://host/a.yaml")).unwrap(), Path::new("/a.yaml"));
        assert_eq!(uri_of_path(Path::new("/a\\b")).0, "file:///a%5Cb");
    }

    #[cfg(windows)]
    #[test]
    fn a_host_names_a_network_share() {
        let uri = Uri::from("file://server/share/a.yaml");
        let path = path_of_uri(&uri).unwrap();
        assert_eq!(path, Path::new(r"\\server\share\a.yaml"));
        assert_eq!(uri_of_path(&path), uri);
    }
}
