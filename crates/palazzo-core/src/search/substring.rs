//! Case-insensitive substring search.

use memchr::memmem;

/// A text to search for.
#[derive(Clone, Debug)]
pub struct CaseInsensitiveNeedle {
    lower: memmem::Finder<'static>,
    /// A buffer for texts in lower case, to avoid an allocation per text.
    buffer: String,
}

impl CaseInsensitiveNeedle {
    /// Creates a case-insensitive search for `text`.
    pub fn new(text: &str) -> Self {
        let lower = memmem::Finder::new(&text.to_lowercase()).into_owned();
        Self { lower, buffer: String::new() }
    }

    /// Returns true if `text` contains the needle. The empty needle is in every text.
    pub fn is_in(&mut self, text: &str) -> bool {
        if !text.is_ascii() {
            return self.lower.find(text.to_lowercase().as_bytes()).is_some();
        }
        self.buffer.clear();
        self.buffer.push_str(text);
        self.buffer.make_ascii_lowercase();
        self.lower.find(self.buffer.as_bytes()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching_ignores_case_in_any_script() {
        for (needle, text) in [
            ("BÉNARD", "Rayleigh–Bénard"),
            ("straße", "HAUPTSTRAßE 4"),
            ("ὀδυσσεύς", "ὈΔΥΣΣΕΎΣ"),
            ("k", "\u{212a}elvin"),
            ("", "anything"),
            ("a\nb", "xA\nBx"),
        ] {
            assert!(CaseInsensitiveNeedle::new(needle).is_in(text), "{needle} in {text}");
        }
        assert!(!CaseInsensitiveNeedle::new("likes alice").is_in("Alice likes"));
        assert!(!CaseInsensitiveNeedle::new("é").is_in("plain"));
    }
}
