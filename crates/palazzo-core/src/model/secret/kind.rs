//! A secret in a text, and its kind.

use std::fmt;
use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: SecretKind,
}

/// The kind of a secret, by its name: `GitHub token`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretKind(&'static str);

impl SecretKind {
    /// A private key in a text form, of any program.
    pub(super) const PRIVATE_KEY: Self = Self("private key");
    /// The id of an access key of AWS; not secret alone, but a sign of the key beside it.
    pub(super) const AWS_ACCESS_KEY: Self = Self("AWS access key");
    /// The secret half of an access key of AWS.
    pub(super) const AWS_SECRET_KEY: Self = Self("AWS secret key");
    /// A JSON Web Token.
    pub(super) const JSON_WEB_TOKEN: Self = Self("JWT");
    /// The value of an `Authorization` header.
    pub(super) const AUTHORIZATION: Self = Self("authorization");
    /// A password in the URL of a server.
    pub(super) const URL_PASSWORD: Self = Self("password in a URL");
    /// The value of a variable whose name ends in `KEY`.
    pub(super) const KEY: Self = Self("key");
    /// The value of a variable whose name ends in `TOKEN`.
    pub(super) const TOKEN: Self = Self("token");
    /// The value of a variable whose name ends in `SECRET`.
    pub(super) const SECRET: Self = Self("secret");
    /// The value of a variable whose name ends in `PASSWORD`.
    pub(super) const PASSWORD: Self = Self("password");

    /// Creates the kind of the tokens of a service.
    pub(super) const fn of_service(name: &'static str) -> Self {
        Self(name)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Returns the text that replaces a secret of this kind.
    pub fn replacement(self) -> String {
        format!("[redacted: {}]", self.0)
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
