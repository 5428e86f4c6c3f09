//! `palazzo walk` at a terminal.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Child;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Command, Pty};

use crate::harness::{Home, MARCH_1};

/// No answer takes longer, not even on a busy machine.
const MAX_WAIT: Duration = Duration::from_secs(120);

const UP: &str = "\x1b[A";
const LEFT: &str = "\x1b[D";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// The program at a terminal, and a person who types.
pub(crate) struct Terminal {
    pty: Arc<Pty>,
    program: Child,
    output: Receiver<Vec<u8>>,
    /// Everything that was shown, with escape sequences.
    shown: Vec<u8>,
    /// How many bytes of it, without escape sequences, were returned.
    returned: usize,
}

impl Terminal {
    /// Starts the program with these arguments at a terminal of some columns.
    fn start(home: &Home, columns: u16, arguments: &[&str]) -> Self {
        let mut command = home.palazzo_command(MARCH_1);
        command.args(arguments);
        Self::start_command(command, columns)
    }

    /// Starts a command at a terminal of some columns.
    pub(crate) fn start_command(mut command: std::process::Command, columns: u16) -> Self {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(Size::new(50, columns)).unwrap();
        command.env("TERM", "xterm").env_remove("NO_COLOR");
        let program = Command::from(command).spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let (reader, (sender, output)) = (Arc::clone(&pty), channel());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the program has ended.
            while let Ok(count @ 1..) = (&*reader).read(&mut bytes) {
                sender.send(bytes[..count].to_vec()).ok();
            }
        });
        Self { pty, program, output, shown: Vec::new(), returned: 0 }
    }

    /// Types, and returns what is shown up to and including `expected`, without escape sequences.
    #[track_caller]
    pub(crate) fn type_and_read(&mut self, typed: &str, expected: &str) -> String {
        (&*self.pty).write_all(typed.as_bytes()).unwrap();
        self.read_until(expected)
    }

    #[track_caller]
    pub(crate) fn read_until(&mut self, expected: &str) -> String {
        loop {
            let plain = plain_text(&String::from_utf8_lossy(&self.shown));
            let new = plain.get(self.returned..).unwrap_or_default();
            if let Some(at) = new.find(expected) {
                let page = &new[..at + expected.len()];
                self.returned += page.len();
                return page.to_owned();
            }
            let Ok(bytes) = self.output.recv_timeout(MAX_WAIT) else {
                panic!("no `{expected}` in {new}");
            };
            self.shown.extend(bytes);
        }
    }

    /// Waits until the line editor reads keys: before, Ctrl-C would end the program. The editor ends
    /// all that it draws with this sequence.
    fn wait_for_line_editor(&mut self) {
        while !self.shown.ends_with(b"\x1b[?2026l") {
            self.shown.extend(self.output.recv_timeout(MAX_WAIT).unwrap());
        }
    }

    /// Reads up to the end of the program; returns everything that is shown, with escape
    /// sequences, and the exit code.
    pub(crate) fn read_to_end(mut self) -> (String, Option<i32>) {
        while let Ok(bytes) = self.output.recv_timeout(MAX_WAIT) {
            self.shown.extend(bytes);
        }
        (String::from_utf8(self.shown).unwrap(), self.program.wait().unwrap().code())
    }
}

fn plain_text(shown: &str) -> String {
    anstream::adapter::strip_str(shown).to_string().replace('\r', "")
}

fn home_with_code() -> Home {
    let home = Home::new();
    assert!(home.run_palazzo(&["init", "Code", "--template", "codebase"]).status.success());
    home
}

#[test]
fn a_person_edits_lines_completes_names_and_repeats_commands() {
    let home = home_with_code();
    let mut walk = Terminal::start(&home, 80, &["walk"]);
    let page = walk.read_until("\n> ");
    assert!(page.starts_with("You are in Code now.\n\nWorkspace: Code ("), "{page}");
    assert!(!page.contains("build_room") && !page.contains("palace_action"), "{page}");

    // A misspelt word is corrected with the arrow keys.
    walk.type_and_read(&format!("mp{LEFT}a\r"), "── Map of Code ──");
    // Tab completes the word and the room.
    walk.read_until("\n> ");
    let page = walk.type_and_read("go bug\t\r", "── Bug Crypt ──");
    assert!(page.contains("go bug-crypt"), "{page}");
    walk.read_until("\n> ");
    walk.type_and_read("back\r", "── Architecture Hall ──");
    walk.read_until("\n> ");
    // The arrow up repeats the last command but one.
    walk.type_and_read(&format!("{UP}{UP}\r"), "── Bug Crypt ──");
    walk.read_until("\n> ");
    let page = walk.type_and_read("lok\r", "\n> ");
    assert!(page.contains("did you mean `look`?"), "{page}");
    // Ctrl-C abandons a line and a scroll.
    walk.type_and_read(&format!("scroll No{CTRL_C}"), "\n> ");
    walk.type_and_read("scroll No\r", "Ctrl-C discards it.");
    walk.wait_for_line_editor();
    walk.type_and_read(&format!("Text{CTRL_C}"), "The scroll is discarded.");
    walk.read_until("\n> ");
    walk.type_and_read("scroll Yes\r", "Ctrl-C discards it.");
    walk.type_and_read("Text\r.\r", "Wrote the scroll \"Yes\" in Bug Crypt");
    walk.read_until("\n> ");
    walk.type_and_read("read y\t\r", "written by ada just now");
    walk.read_until("\n> ");
    walk.type_and_read(CTRL_D, "");
    assert_eq!(walk.read_to_end().1, Some(0));

    let file = home.path().join("../.local/state/palazzo/walk-history");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let history = fs::read_to_string(file).unwrap();
    assert!(history.contains("\ngo bug-crypt\n") && !history.contains("Text"), "{history}");
    assert_eq!(home.git(&["log", "-1", "--format=%s"]), "scroll bug-crypt: Yes\n");
    home.assert_clean_repository();

    let mut again = Terminal::start(&home, 80, &["walk"]);
    again.read_until("\n> ");
    again.type_and_read(&format!("{UP}{UP}{UP}{UP}{UP}{UP}"), "go bug-crypt");
    again.type_and_read(CTRL_C, "\n> ");
    again.type_and_read(CTRL_D, "");
    assert_eq!(again.read_to_end().1, Some(0));
}

#[test]
fn pages_are_as_wide_as_the_terminal_and_have_bold_headings() {
    let home = home_with_code();
    let piped = home.run_palazzo(&["show"]).stdout;
    let piped = String::from_utf8(piped).unwrap();
    for columns in [40, 90, 200] {
        let (shown, code) = Terminal::start(&home, columns, &["show"]).read_to_end();
        assert!(shown.starts_with("\x1b[1m── Architecture Hall ──\x1b[0m"), "{shown:?}");
        let plain = plain_text(&shown);
        let widest = plain.lines().map(|it| it.chars().count()).max();
        assert!(widest <= Some(usize::from(columns).min(100)), "{columns}: {plain}");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&plain), words(&piped), "{columns}");
        assert_eq!(code, Some(0));
    }
}

#[test]
fn json_is_never_wrapped() {
    let home = home_with_code();
    let arguments = ["search", "boiler", "--format", "json"];
    let piped = String::from_utf8(home.run_palazzo(&arguments).stdout).unwrap();
    let (shown, _) = Terminal::start(&home, 40, &arguments).read_to_end();
    assert_eq!(shown.replace('\r', ""), piped);
}
