//! How a server notices changes by other programs.

/// How a server notices changes that other programs make to the files of a palace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// With notifications of the operating system; where there are none, by polling every two
    /// seconds.
    Auto,
    /// By polling every two seconds.
    Poll,
    /// Not at all, except commits and the files that a call uses.
    Off,
}
