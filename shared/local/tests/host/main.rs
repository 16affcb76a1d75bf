//! The Lambda host over the embedded stores: the rules of its mappings, its gateway and its processes.

mod bench;
mod gateway;
mod processes;
mod queue;
mod stores;
mod stream;
