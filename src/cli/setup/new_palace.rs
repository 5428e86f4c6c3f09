//! The palace that `palazzo setup` creates.

use crate::cli::home::HomeArgs;
use crate::cli::init;
use crate::cli::outcome::Failure;
use palazzo_keeper::{self as keeper, Keeper};

/// A palace that is created.
pub(super) struct NewPalace {
    keeper: Keeper,
    name: String,
    template: Option<String>,
    /// The lines that tell the user what is created.
    pub(super) description: String,
}

impl NewPalace {
    /// Plans a palace in a home. Fails if it cannot have this name.
    pub(super) fn new(
        home: &HomeArgs,
        name: &str,
        template: Option<&str>,
    ) -> Result<Self, Failure> {
        let keeper = home.keeper();
        let repository = keeper::repository_of_new_palace(&keeper, name)?;
        let content = template.map_or("empty".to_owned(), |it| format!("from the template {it}"));
        let repository = init::describe_repository(&repository);
        let description = format!("  a new palace, {content}, {repository}\n");
        let template = template.map(str::to_owned);
        Ok(Self { keeper, name: name.to_owned(), template, description })
    }

    /// Creates it.
    pub(super) fn create(self) -> Result<(), Failure> {
        init::create_palace(self.keeper, &self.name, self.template.as_deref(), &[]).map(drop)
    }
}
