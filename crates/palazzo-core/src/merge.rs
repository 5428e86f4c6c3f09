//! Merges two versions of a file with their common base, field by field.
//!
//! Pure functions on trees of JSON values, so that keys which this version of the program does not
//! know are merged too. Of two different values for one field, one stands and the other is reported
//! as a conflict; nothing is dropped silently. The result does not depend on which side is named
//! first, if the caller sorts them with [`Side::precedence`].

mod field;
mod item;
mod list;
mod rules;
mod text;

pub use crate::model::Side;
pub use field::{FieldPlace, LocatedField, find_field, find_present_field, is_same_value};
pub use item::{FieldConflict, Fields, LastChanges, MergedFields, field_of_item, merge_fields};
pub use list::ListKind;
pub use rules::list_kind;
pub use text::{merge_lines, merge_prose};
