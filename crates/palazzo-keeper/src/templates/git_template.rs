//! The URL of a template in a git repository: `URL#REVISION:FOLDER`.

use std::fmt;
use std::str::FromStr;

use crate::Refusal;
use crate::error::quote_names;
use palazzo_core::model::{GitUrl, GitUrlError, quote_for_shell, quoted};
use palazzo_store as store;

/// Where a template is: the URL of a repository, and a revision and a folder in it.
///
/// Invariant: git can take neither the revision nor the folder for something else.
#[derive(Debug)]
pub struct GitTemplateUrl {
    pub(super) url: GitUrl,
    /// A branch, a tag or the id of a commit; `None`: the default branch.
    pub(super) revision: Option<String>,
    /// The folder of the palace, or one with a single palace; empty for the root.
    pub(super) folder: String,
}

impl GitTemplateUrl {
    /// Returns the message for a folder that has no palace, or several.
    pub(super) fn message_without_one_palace(&self, palaces: &[String]) -> String {
        let Self { url, revision, folder } = self;
        let place = match folder.as_str() {
            "" => format!("`{url}`"),
            _ => format!("{} of `{url}`", quoted(folder)),
        };
        let choose = |folder| {
            let revision = revision.as_deref().unwrap_or_default();
            format!("`--template {}`", quote_for_shell(&format!("{url}#{revision}:{folder}")))
        };
        match palaces {
            [] => format!(
                "{place} is not a template: there is no palace.toml in it, nor in a folder of it; \
                 for a palace further down, give {}",
                choose("FOLDER")
            ),
            [first, ..] => format!(
                "{place} contains several palaces: {}; choose one, for example with {}",
                quote_names(palaces),
                choose(first)
            ),
        }
    }
}

impl fmt::Display for GitTemplateUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, revision, folder } = self;
        let revision = revision.as_deref().unwrap_or_default();
        match (revision, folder.as_str()) {
            ("", "") => write!(f, "{url}"),
            (_, "") => write!(f, "{url}#{revision}"),
            _ => write!(f, "{url}#{revision}:{folder}"),
        }
    }
}

impl FromStr for GitTemplateUrl {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (url, place) = text.split_once('#').unwrap_or((text, ""));
        let url: GitUrl =
            url.parse().map_err(|it: GitUrlError| Refusal::Invalid(it.to_string()))?;
        let (revision, folder) = place.split_once(':').unwrap_or((place, ""));
        if !is_revision(revision) {
            return Err(Refusal::Invalid(format!(
                "{} cannot be used as a revision: give a branch, a tag or the full id of a commit",
                quoted(revision)
            )));
        }
        let folder = folder.trim_matches('/').to_owned();
        if !folder.is_empty() && store::check_path(&folder).is_err() {
            return Err(Refusal::Invalid(format!(
                "{} cannot be used as a folder of the repository: give its path from the root, \
                 without `..`",
                quoted(&folder)
            )));
        }
        let revision = Some(revision.to_owned()).filter(|it| !it.is_empty());
        Ok(Self { url, revision, folder })
    }
}

/// Returns whether git accepts `text` as the name of a reference, so that it is neither an option
/// nor a pattern.
fn is_revision(text: &str) -> bool {
    let is_forbidden = |c: char| c.is_control() || " ~^?*[\\".contains(c);
    !text.starts_with(['-', '+']) && !text.contains(is_forbidden) && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_revision_and_a_folder_if_they_are_given() {
        let parts = |text: &str| {
            let GitTemplateUrl { url, revision, folder } = text.parse().unwrap();
            (url.to_string(), revision.unwrap_or_default(), folder)
        };
        let expected = |parts: [&str; 3]| {
            let [url, revision, folder] = parts.map(str::to_owned);
            (url, revision, folder)
        };
        let url = "https://example.org/a.git";
        assert_eq!(parts(url), expected([url, "", ""]));
        assert_eq!(parts(&format!("{url}#v1/x")), expected([url, "v1/x", ""]));
        assert_eq!(parts(&format!("{url}#main:sub/b/")), expected([url, "main", "sub/b"]));
        assert_eq!(parts(&format!("{url}#:b")), expected([url, "", "b"]));
        let scp = "git@example.org:ada/a.git#main:b";
        assert_eq!(parts(scp), expected(["git@example.org:ada/a.git", "main", "b"]));
        assert_eq!(scp.parse::<GitTemplateUrl>().unwrap().to_string(), scp);
    }

    #[test]
    fn a_revision_that_is_an_option_or_a_pattern_is_refused() {
        for revision in ["--upload-pack=x", "+main", "a..b", "refs/heads/*", "HEAD~1", "a b"] {
            let refused = format!("https://a/b#{revision}").parse::<GitTemplateUrl>().unwrap_err();
            assert!(refused.to_string().contains("cannot be used as a revision"), "{refused}");
        }
    }

    #[test]
    fn a_folder_outside_of_the_repository_is_refused_before_anything_is_fetched() {
        for folder in ["../x", "a/../b", "a//b", ".git", "a\\b"] {
            let refused = format!("https://a/b#:{folder}").parse::<GitTemplateUrl>().unwrap_err();
            assert!(refused.to_string().contains(folder), "{refused}");
        }
    }

    #[test]
    fn several_palaces_are_listed_with_the_way_to_choose_one() {
        let url: GitTemplateUrl = "https://a/b#v1".parse().unwrap();
        insta::assert_snapshot!(
            url.message_without_one_palace(&["code".to_owned(), "shop".to_owned()]),
            @"`https://a/b` contains several palaces: `code`, `shop`; choose one, for example with `--template 'https://a/b#v1:code'`"
        );
        insta::assert_snapshot!(
            url.message_without_one_palace(&[]),
            @"`https://a/b` is not a template: there is no palace.toml in it, nor in a folder of it; for a palace further down, give `--template 'https://a/b#v1:FOLDER'`"
        );
    }
}
