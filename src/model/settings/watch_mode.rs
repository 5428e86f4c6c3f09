//! How changes made by others are noticed.

/// How a server notices what others do to the files of a palace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// The system tells; where it does not, the files are looked at every two
    /// seconds.
    Auto,
    /// The files are looked at every two seconds.
    Poll,
    /// Only commits are noticed, and files that are used.
    Off,
}
