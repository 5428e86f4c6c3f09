//! Starts a process so that it can ask nobody, and be ended with everything that it starts, and
//! reads what it writes.

use std::io::Read;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The maximum number of bytes of output that are kept.
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// The time for the last output of a process that has ended. A process that ssh has left in the
/// background may keep the stream open.
const LAST_OUTPUT_TIME: Duration = Duration::from_millis(500);

/// Reads a stream of a process in a thread, up to a limit.
pub(crate) struct OutputReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl OutputReader {
    /// Starts to read `stream`.
    pub(crate) fn start(mut stream: impl Read + Send + 'static) -> Self {
        let (bytes, (sender, end)) = (Arc::<Mutex<Vec<u8>>>::default(), mpsc::channel());
        let shared = bytes.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
                if (bytes.len() as u64) < MAX_OUTPUT_BYTES {
                    bytes.extend_from_slice(&buffer[..count]);
                }
            }
            drop(sender);
        });
        Self { bytes, end }
    }

    /// Returns what was read.
    pub(crate) fn finish(self) -> String {
        self.end.recv_timeout(LAST_OUTPUT_TIME).unwrap_or_default();
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Puts a process and its children into a session of their own: they have no terminal to ask at,
/// `Ctrl-C` does not reach them, and they can be killed together.
#[cfg(unix)]
pub(crate) fn put_in_own_session(program: &mut Command) {
    use process_wrap::std::{CommandWrap, CommandWrapper as _, ProcessSession};
    let unused = CommandWrap::from(Command::new(""));
    // It only prepares the command, which cannot fail.
    drop(ProcessSession.pre_spawn(program, &unused));
}

/// Gives a process a console of its own without a window: `Ctrl-C` does not reach it, and no
/// window opens if this process has no console.
#[cfg(windows)]
pub(crate) fn put_in_own_session(program: &mut Command) {
    use std::os::windows::process::CommandExt as _;
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    program.creation_flags(CREATE_NO_WINDOW);
}

/// Tells git, ssh and gpg that nobody answers a question.
pub(crate) fn forbid_questions(program: &mut Command) {
    program.env_remove("SSH_ASKPASS").env("SSH_ASKPASS_REQUIRE", "never");
    program.env_remove("GPG_TTY").env("GIT_TERMINAL_PROMPT", "0");
}

/// Ends a process and its group.
#[cfg(unix)]
pub(crate) fn kill_process_group(child: &mut Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    kill_process_group(Pid::from_child(child), Signal::KILL).unwrap_or_default();
    drop(child.wait());
}

/// Ends a process and the ones that it has started, if they are still its descendants: Windows has
/// no process groups.
#[cfg(windows)]
pub(crate) fn kill_process_group(child: &mut Child) {
    use std::process::Stdio;

    let mut taskkill = Command::new("taskkill");
    taskkill.arg("/F").arg("/T").arg("/PID").arg(child.id().to_string());
    taskkill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    put_in_own_session(&mut taskkill);
    drop(taskkill.status());
    drop(child.kill());
    drop(child.wait());
}
