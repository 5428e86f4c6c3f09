//! The remotes of a repository, for a person who is asked.

use gix::bstr::ByteSlice as _;

use palazzo_core::model::GitUrl;

use crate::{Error, Store};

impl Store {
    /// Lists the remotes of the repository, each as `origin (https://…)`, without passwords; none
    /// without a repository.
    pub fn list_remotes(&self) -> Result<Vec<String>, Error> {
        let Some(repository) = self.repository()? else { return Ok(Vec::new()) };
        let git = repository.git();
        let config = git.config_snapshot();
        let names = git.remote_names();
        let describe = |name: &gix::bstr::BStr| {
            let url = config.plumbing().string_by("remote", Some(name), "url");
            let url = url.map(|it| it.to_str_lossy().into_owned());
            let url = url.map(|it| match it.parse::<GitUrl>() {
                Ok(url) => url.to_string(),
                // A path has no password.
                Err(_) if GitUrl::looks_like_url(&it) => "a URL that is not shown".to_owned(),
                Err(_) => it,
            });
            match url {
                Some(url) => format!("{name} ({url})"),
                None => name.to_string(),
            }
        };
        Ok(names.iter().map(|it| describe(it.as_ref())).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::test_repository::TestHome;

    #[test]
    fn remotes_are_listed_without_passwords() {
        let scene = TestHome::with_repository();
        let store = scene.palace("keep");
        assert!(store.list_remotes().unwrap().is_empty());
        let url = "https://ada:hunter2@example.org/memory.git";
        scene.git(&["remote", "add", "origin", url]);
        let shown = scene.palace("keep").list_remotes().unwrap();
        assert!(shown.len() == 1 && shown[0].starts_with("origin (https://"), "{shown:?}");
        assert!(!shown[0].contains("hunter2"), "{shown:?}");
    }
}
