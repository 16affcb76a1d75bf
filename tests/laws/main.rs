//! The laws, against the real handlers, the real SDK and the embedded stores. Each test tries to break one.

#![allow(
    unreachable_pub,
    reason = "a test has no public parts; `pub` says what its modules share"
)]

mod budget;
mod crashes;
mod delivery;
mod faults;
mod front_door;
mod interleavings;
mod payloads;
mod poison;
mod samples;
mod world;
