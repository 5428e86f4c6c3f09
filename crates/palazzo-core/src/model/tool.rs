//! Tools, as far as room actions call them.

/// A tool that an action may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name, as clients know it.
    pub name: &'static str,
    /// The effect on the palace and the visitor.
    pub effect: ToolEffect,
    /// The parameters.
    pub parameters: Vec<ToolParameter>,
}

/// The effect of a tool on the palace and the visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolEffect {
    /// It only reads.
    Reads,
    /// It may change something.
    Changes,
    /// It moves the visitor.
    Moves,
}

/// A parameter of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolParameter {
    /// Its name.
    pub name: String,
    /// Whether the tool requires it.
    pub is_required: bool,
    /// Its JSON Schema type (`string`, `integer`), if it has only one.
    pub json_type: Option<String>,
}

impl ToolParameter {
    /// Returns the name of the parameter with which a tool takes a list instead of one value: `names`
    /// for `name`.
    pub fn plural_name(name: &str) -> String {
        format!("{name}s")
    }
}

impl Tool {
    /// Returns a tool's name without the prefix that clients add.
    pub fn bare_name(name: &str) -> &str {
        let name = name.trim();
        let bare = name.strip_prefix("palazzo:").or_else(|| name.strip_prefix("mcp__palazzo__"));
        bare.unwrap_or(name)
    }
}

impl ToolEffect {
    /// Returns the reason why actions may not call the tool `name`, or `None` if they may;
    /// `allowed` lists the tools that the settings allow although they change something.
    pub fn action_refusal(self, name: &str, allowed: &[String]) -> Option<&'static str> {
        match self {
            Self::Reads => None,
            Self::Changes if allowed.iter().any(|it| Tool::bare_name(it) == name) => None,
            Self::Changes => Some("changes things"),
            Self::Moves => Some("moves the visitor"),
        }
    }
}
