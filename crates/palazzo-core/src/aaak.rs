//! AAAK: the shorthand in which some agents keep their notes.
//!
//! MemPalace made the name and showed examples. [`GRAMMAR`] is a grammar for them. Palazzo
//! stores such notes as any other text. By the tokens that models read, shorthand is often
//! longer than plain words.

/// A short guide to writing and reading AAAK.
pub const GUIDE: &str = "\
AAAK is shorthand for notes. One line says one thing: what it is about in capitals, a colon, then \
fields between bars.\n  \
AUTH.DECISION:2026-03|chose.Clerk→Auth0.rejected|*relieved*|★★★\n\
Read it as: in March 2026, on auth, it was decided to take Clerk, and Auth0 was rejected; that was \
a relief, and it matters (three stars of five).\n\
- People and things that come up often get codes of three capitals, explained once: ALC=Alice, \
JOR=Jordan. No code stands for two names.\n\
- A dot joins words, an arrow leads from cause to effect or from old to new, ↔ joins equals, ↑ and \
↓ are more and less, 12x is a number of times.\n\
- Dates are 2026, 2026-03 or 2026-03-12; a span is 2026-03..2026-05.\n\
- How it felt stands between asterisks, one word: *warm* *fierce* *raw* *worried*.\n\
- Words that must stay as they were stand in \"quotes\".\n\
- One to five ★ say how much it matters.\n\
Write plain words wherever shorthand could be misread. It does not save tokens by itself.";

/// The grammar of AAAK.
pub const GRAMMAR: &str = include_str!("aaak/grammar.txt");
