//! Law 10: an effect happens once per business key, or says that it does not know.

mod basic;
mod budget;
mod crashes;
mod orders;
mod races;
mod world;

pub use world::*;
