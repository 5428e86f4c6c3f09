//! Tools, as far as the actions of rooms ask them.

/// A tool that an action may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Its name, as clients know it.
    pub name: &'static str,
    /// What it does to the palace and its visitor.
    pub effect: ToolEffect,
    /// What it can be told.
    pub parameters: Vec<ToolParameter>,
}

/// What a tool does to the palace and its visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// It only reads.
    Reads,
    /// It may change something.
    Changes,
    /// It moves the visitor.
    Moves,
}

/// One thing that a tool can be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolParameter {
    /// Its name.
    pub name: String,
    /// Whether the tool cannot do without.
    pub is_required: bool,
    /// Its type in the words of JSON Schema (`string`, `integer`), if it has one only.
    pub json_type: Option<String>,
}

impl Tool {
    /// Returns a tool's name without what clients put before it.
    pub fn bare_name(name: &str) -> &str {
        let name = name.trim();
        let bare = name.strip_prefix("palazzo:").or_else(|| name.strip_prefix("mcp__palazzo__"));
        bare.unwrap_or(name)
    }
}

impl ToolEffect {
    /// Says why no action may ask the tool `name`, if none may; `allowed` are
    /// those that settings let actions ask although they change things.
    pub fn action_refusal(self, name: &str, allowed: &[String]) -> Option<&'static str> {
        match self {
            Self::Reads => None,
            Self::Changes if allowed.iter().any(|it| Tool::bare_name(it) == name) => None,
            Self::Changes => Some("changes things"),
            Self::Moves => Some("moves the visitor"),
        }
    }
}
