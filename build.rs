//! Adds the git commit to the version of release builds from a git checkout.

use std::fs;
use std::path::Path;

/// The digits of a commit that the version shows.
const COMMIT_DIGITS: usize = 10;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env!("CARGO_PKG_VERSION");
    // Other builds would be compiled again after each commit.
    let is_release = std::env::var("PROFILE").is_ok_and(|it| it == "release");
    let commit = if is_release {
        head_commit(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".git"))
    } else {
        None
    };
    let version = match commit.as_deref().and_then(|it| it.get(..COMMIT_DIGITS)) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=PALAZZO_VERSION={version}");
}

/// Returns the current commit of the repository in `git_dir`; `None` if there is none, such as in a
/// crate from a registry. Cargo runs this again when the files that name the commit change.
fn head_commit(git_dir: &Path) -> Option<String> {
    let read = |name: &str| {
        let path = git_dir.join(name);
        let text = fs::read_to_string(&path).ok()?;
        println!("cargo::rerun-if-changed={}", path.display());
        Some(text)
    };
    let head = read("HEAD")?;
    let Some(reference) = head.trim().strip_prefix("ref: ") else { return Some(head) };
    if let Some(commit) = read(reference) {
        return Some(commit);
    }
    // The reference appears as a file with the next commit.
    println!("cargo::rerun-if-changed={}", git_dir.join("refs").display());
    let packed = read("packed-refs")?;
    let line = packed.lines().find(|it| it.ends_with(&format!(" {reference}")))?;
    Some(line.to_owned())
}
