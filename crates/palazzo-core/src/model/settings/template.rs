//! The description and the variables of a palace as a template for new palaces.

/// The section `[template]` of a `palace.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TemplateSettings {
    /// The purpose of the template, in one line; may be empty.
    pub description: String,
    /// The variables, in the order of the file.
    pub variables: Vec<TemplateVariable>,
}

/// A variable of a template: `{{project}}` in its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateVariable {
    /// The name: `project`.
    pub name: String,
    /// The meaning of its value, for the person who is asked for it.
    pub description: String,
    /// The value if none is given; `None`: one must be given.
    pub default: Option<String>,
}
