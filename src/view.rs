//! Pictures of a palace, for people. Pure functions.

mod lattice;
mod map_plan;
mod map_svg;

pub use map_svg::map_svg;
