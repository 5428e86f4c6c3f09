//! Checking shorthand from the command line.

use insta::assert_snapshot;

use crate::harness::{Home, MARCH_1};

fn run_aaak(home: &Home, arguments: &[&str]) -> String {
    std::fs::create_dir_all(home.path()).unwrap();
    let mut command = home.palazzo_command(MARCH_1);
    let output = command.current_dir(home.path()).arg("aaak").args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    format!("{}({})", String::from_utf8(said).unwrap(), output.status.code().unwrap())
}

#[test]
fn aaak_check_reports_faults_by_line_and_column() {
    let home = Home::new();
    home.write("good.aaak", "AUTH.COST:2026-03|Auth0.price↑40%→triggered.Clerk.eval|★★★\n");
    home.write("bad.aaak", "AUTH.COST:2026-13|→Clerk|*tired\n");
    assert_eq!(run_aaak(&home, &["check", "good.aaak"]), "(0)");
    assert_snapshot!(run_aaak(&home, &["check", "bad.aaak"]), @"
    bad.aaak:1:11: error[aaak-date]: `2026-13` is no date
      1 | AUTH.COST:2026-13|→Clerk|*tired
        |           ^
        = write 2026, 2026-03 or 2026-03-12; a span is 2026-03..2026-05
    bad.aaak:1:19: error[aaak-empty]: an arrow leads nowhere
      1 | AUTH.COST:2026-13|→Clerk|*tired
        |                   ^
        = say what it leads from and to
    bad.aaak:1:26: error[aaak-unclosed]: a * begins here and does not end
      1 | AUTH.COST:2026-13|→Clerk|*tired
        |                          ^
        = write *warm*
    (1)
    ");
    assert_snapshot!(run_aaak(&home, &["check", "none.aaak"]), @"
    palazzo: none.aaak:1:1: the file cannot be read: No such file or directory (os error 2)
    (2)
    ");
}

#[test]
fn aaak_check_compares_the_tokens_of_a_note_with_plain_text() {
    let home = Home::new();
    home.write("note.aaak", "AUTH.DECISION:2026-03|chose.Clerk→Auth0.rejected|*pragmatic*|★★★\n");
    home.write("plain.txt", "In March 2026 we chose Clerk over Auth0, to be pragmatic.\n");
    assert_snapshot!(run_aaak(&home, &["check", "note.aaak", "--beside", "plain.txt"]), @"
    30 tokens, and 16 in plain words: 14 more than the plain words (cl100k_base)
    (0)
    ");
    assert_snapshot!(run_aaak(&home, &["check", "plain.txt", "--tokens"]), @"
    16 tokens (cl100k_base)
    (0)
    ");
}
