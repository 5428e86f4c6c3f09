//! The codes of AAAK, in their order.

use crate::model::Code;
use crate::model::diagnostic::rule::{Rule, error_rule, warning_rule};

pub(crate) const AAAK_RULES: &[Rule] = &[
    error_rule(
        Code::AaakEmpty,
        "aaak-empty",
        "In AAAK, a field or an arrow's end says nothing",
        "Take the bar away, or say what the arrow leads from and to.",
    ),
    error_rule(
        Code::AaakUnclosed,
        "aaak-unclosed",
        "In AAAK, a mark or a quote does not end",
        "Each asterisk and each quotation mark has a second on its line.",
    ),
    error_rule(
        Code::AaakMark,
        "aaak-mark",
        "In AAAK, a mark is not one word",
        "Between asterisks stands one word: `*warm*`.",
    ),
    error_rule(
        Code::AaakWeight,
        "aaak-weight",
        "In AAAK, stars are too many or not alone",
        "One to five stars in a field of their own say how much a line matters.",
    ),
    error_rule(
        Code::AaakDate,
        "aaak-date",
        "In AAAK, a date is none",
        "Dates are `1972`, `1972-05`, `1972-05-01`.",
    ),
    warning_rule(
        Code::AaakCode,
        "aaak-code",
        "In AAAK, a code is none or means two things",
        "A code stands for one name wherever it is used.",
    ),
    warning_rule(
        Code::AaakHead,
        "aaak-head",
        "In AAAK, a line's subject is not in capitals",
        "A line begins with what it is about: `AUTH.DECISION`.",
    ),
];
