//! How this program is updated.

use std::path::Path;

/// Returns how to update the program at `program`, from the folder in which a package manager has
/// put it.
pub(super) fn update_advice(program: &Path) -> &'static str {
    let is_below = |folder: &str| program.iter().any(|it| it == folder);
    match () {
        () if is_below("node_modules") => {
            "npm install --global palazzo@latest (clients that run npx: npx palazzo@latest)"
        }
        () if is_below("Cellar") => "brew upgrade palazzo",
        () if program.starts_with("/nix/store") => "nix profile upgrade palazzo",
        // A place for the owner stands in the address until the repository is public.
        () if env!("CARGO_PKG_REPOSITORY").contains("/OWNER/") => {
            "git pull && cargo install --locked --path . (in a checkout of Palazzo)"
        }
        () => concat!(
            "git pull && cargo install --locked --path . (in a checkout of Palazzo), or the newest \
             release: ",
            env!("CARGO_PKG_REPOSITORY"),
            "/releases"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_fits_the_package_manager_that_installed_the_program() {
        let advice = |program: &str| {
            let advice = update_advice(Path::new(program));
            advice.split(' ').next().unwrap()
        };
        assert_eq!(advice("/usr/lib/node_modules/palazzo-linux-x64/palazzo"), "npm");
        assert_eq!(advice("/opt/homebrew/Cellar/palazzo/0.1.0/bin/palazzo"), "brew");
        assert_eq!(advice("/nix/store/abc-palazzo-0.1.0/bin/palazzo"), "nix");
        assert_eq!(advice("/home/me/.cargo/bin/palazzo"), "git");
        let whole = update_advice(Path::new("/home/me/.cargo/bin/palazzo"));
        assert!(!whole.contains("OWNER"), "{whole}");
    }
}
