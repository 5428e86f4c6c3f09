//! Merges two versions of a file with their common base, field by field.
//!
//! Pure functions on trees of JSON values, so that keys which this version of the program does not
//! know are merged too. Of two different values for one field, one stands and the other is reported
//! as a conflict; nothing is dropped silently. The result does not depend on which side is named
//! first, if the caller sorts them with [`LastChange::precedence`].

mod field_place;
mod fields;
mod list;
mod rules;
mod text;

pub use crate::model::LastChange;
pub use field_place::{FieldPlace, LocatedField, find_field, is_same_value, locate_field};
pub use fields::{FieldConflict, Fields, LastChanges, MergedFields, field_of_item, merge_fields};
pub use list::ListKind;
pub use rules::list_kind;
pub use text::{merge_lines, merge_prose};
