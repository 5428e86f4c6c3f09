//! The options in a command `palazzo serve`.

use std::ops::Range;

use clap::Args as _;

use crate::cli::serve;

/// An option in the arguments of `palazzo serve`.
struct ServeOption {
    /// Its name; `home` also for the home that is given without a name.
    name: String,
    /// Its words.
    words: Range<usize>,
}

/// The name of the option for the home.
const HOME: &str = "home";

/// Puts the options of `new` in place of those of the same names in `old`; all others stay. `old` and
/// `new` are the words after `serve`. Unless `is_home_given`, the home of `old` stays. Fails if
/// `old` contains an option that `palazzo serve` does not have.
pub(super) fn merge_serve_options(
    old: &[String],
    new: &[String],
    is_home_given: bool,
) -> Result<Vec<String>, String> {
    let mut chosen = find_options(new)?;
    chosen.retain(|it| is_home_given || it.name != HOME);
    let mut kept = find_options(old)?;
    kept.retain(|old| chosen.iter().all(|new| new.name != old.name));
    let chosen = chosen.into_iter().flat_map(|it| &new[it.words]);
    Ok(chosen.chain(kept.into_iter().flat_map(|it| &old[it.words])).cloned().collect())
}

/// Returns the home among the words after `serve`; `None` if it is not named.
pub(super) fn find_home_option(words: &[String]) -> Option<&str> {
    let home = find_options(words).ok()?.into_iter().find(|it| it.name == HOME)?;
    let word = words.get(home.words.end.checked_sub(1)?)?;
    Some(word.strip_prefix("--home=").unwrap_or(word))
}

fn find_options(words: &[String]) -> Result<Vec<ServeOption>, String> {
    let command = serve::Args::augment_args(clap::Command::new("serve"));
    let (mut options, mut at) = (Vec::new(), 0);
    while let Some(word) = words.get(at) {
        let (name, len) = match word.strip_prefix("--").filter(|it| !it.is_empty()) {
            None => (HOME, 1),
            Some(option) => {
                let name = option.split_once('=').map_or(option, |(name, _)| name);
                let known = command.get_arguments().find(|it| it.get_long() == Some(name));
                let known = known.ok_or_else(|| {
                    format!("`palazzo serve` has no option `--{name}`, which is in the entry")
                })?;
                let has_next = known.get_action().takes_values() && name == option;
                (name, 1 + usize::from(has_next))
            }
        };
        let end = (at + len).min(words.len());
        options.push(ServeOption { name: name.to_owned(), words: at..end });
        at = end;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(old: &str, new: &str, is_home_given: bool) -> Result<String, String> {
        let [old, new] = [old, new].map(|it| it.split(' ').map(str::to_owned).collect::<Vec<_>>());
        merge_serve_options(&old, &new, is_home_given).map(|it| it.join(" "))
    }

    #[test]
    fn options_of_other_names_stay_wherever_they_stand() {
        let merged = |old: &str| merge(old, "/new --tools memory", true).unwrap();
        assert_eq!(merged("--read-only /old"), "/new --tools memory --read-only");
        assert_eq!(merged("--propose b /old"), "/new --tools memory --propose b");
        assert_eq!(merged("--home=/old --unbounded"), "/new --tools memory --unbounded");
        assert_eq!(merged("--tools palace --home /old"), "/new --tools memory");
        assert_eq!(merged("/old --watch=poll"), "/new --tools memory --watch=poll");
    }

    #[test]
    fn the_home_stays_unless_one_is_given() {
        let merged = |old: &str, new: &str| merge(old, new, false).unwrap();
        assert_eq!(merged("--read-only /old", "/default"), "--read-only /old");
        assert_eq!(merged("--tools=palace", "/default --tools graph"), "--tools graph");
    }

    #[test]
    fn the_home_is_found_wherever_it_stands() {
        for (words, home) in [
            ("/a --tools memory", Some("/a")),
            ("--read-only --home /a", Some("/a")),
            ("--propose b --home=/a", Some("/a")),
            ("--workspace b", None),
            ("/a --later", None),
        ] {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(find_home_option(&words), home, "{words:?}");
        }
    }

    #[test]
    fn an_unknown_option_is_an_error() {
        let why = merge("/old --later", "/new", true).unwrap_err();
        assert_eq!(why, "`palazzo serve` has no option `--later`, which is in the entry");
    }
}
