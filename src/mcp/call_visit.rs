//! Which visit a call over HTTP acts on, and what its answer says about it.
//!
//! One process serves many conversations, and some clients begin a session for each call. So a
//! visit has a handle, which `set_workspace` returns and later calls give back as `visit`; else it
//! is that of the session.

use rmcp::model::JsonObject;
use serde_json::Value;
use ulid::Ulid;

use crate::mcp::toolbox::{ToolSet, Toolbox};
use palazzo_core::render::name_in_sentence;
use palazzo_keeper::{Caller, Keeper, VisitHandle, VisitKey, VisitStore};

/// The argument with the handle of a visit.
pub(super) const VISIT_ARGUMENT: &str = "visit";

/// What the answer to a call says about its visit.
pub(super) struct VisitInAnswer {
    /// The handle, if the client may not know it yet.
    handle: Option<VisitHandle>,
    /// Whether the answer names the palace, because the call did not.
    names_palace: bool,
}

/// Returns the caller with the visit that a call of `tool` acts on, and what its answer says about
/// it. Takes the handle out of the arguments. Refuses the handle of a visit that has ended.
pub(super) fn find_visit(
    visits: &VisitStore,
    toolbox: &Toolbox,
    caller: Caller,
    tool: &str,
    arguments: &mut JsonObject,
) -> Result<(Caller, VisitInAnswer), String> {
    let VisitKey::Handle(own) = caller.visit.clone() else {
        return Ok((caller, VisitInAnswer { handle: None, names_palace: false }));
    };
    let names_palace = !arguments.contains_key("workspace");
    if let Some(given) = arguments.remove(VISIT_ARGUMENT).filter(|it| !it.is_null()) {
        let (handle, visit_id) = find_given_visit(visits, &given, &caller)?;
        let visit = VisitKey::Handle(handle);
        let note = VisitInAnswer { handle: None, names_palace };
        return Ok((Caller { visit, visit_id, ..caller }, note));
    }
    let is_known = visits.visit_id(&own, caller.now).is_some();
    let keeps_visit = toolbox.keeps_visit(tool);
    if !is_known && keeps_visit {
        visits.begin(&own, caller.visit_id, caller.now);
    }
    let is_announced = keeps_visit && (!is_known || tool == "set_workspace");
    Ok((caller, VisitInAnswer { handle: is_announced.then_some(own), names_palace }))
}

fn find_given_visit(
    visits: &VisitStore,
    given: &Value,
    caller: &Caller,
) -> Result<(VisitHandle, Ulid), String> {
    let handle = given.as_str().unwrap_or_default().parse::<VisitHandle>();
    let found = handle.ok().and_then(|it| Some((visits.visit_id(&it, caller.now)?, it)));
    let (id, handle) = found.ok_or_else(|| {
        "there is no such `visit`: it ended after a day without a call, or the server was \
         restarted. Call set_workspace without `visit`, and use the handle that it returns"
            .to_owned()
    })?;
    Ok((handle, id))
}

impl Toolbox {
    /// Returns whether the visit that a call begins is kept for later calls.
    fn keeps_visit(&self, name: &str) -> bool {
        self.tools.iter().any(|it| it.name == name && it.set == ToolSet::Palace)
    }
}

impl VisitInAnswer {
    /// Renders the note after a call; `None` if there is nothing to say.
    pub(super) fn render(&self, keeper: &mut Keeper, caller: &Caller) -> Option<String> {
        let palace = self.names_palace.then(|| keeper.current_workspace_name(caller)).flatten();
        let palace = palace.map(|it| format!("Palace: {}.", name_in_sentence(&it)));
        let handle = self.handle.as_ref().map(|it| {
            format!("Visit: {it}. Give it as `visit` in every further call of this conversation.")
        });
        let parts: Vec<_> = palace.into_iter().chain(handle).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}
