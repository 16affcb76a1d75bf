//! Everything a machine without an account needs: the embedded stores and the Lambda host around them.
//!
//! The host is generic plumbing: payloads are JSON text in and JSON text out, and no module of it may
//! know what a webhook, a resource or a decision is. [`machine`] puts Lastword's own handlers into it.
//! Nothing listens on anything but loopback.

// In reading order: what is called, who calls it, what it is called over.
pub mod function;
pub mod runtime_api;

pub mod processes;

pub mod gateway;
pub mod mapping;

pub mod bus;
pub mod destination;
pub mod ssm;
pub mod stores;

pub mod clients;
mod loopback;

// Lastword's own handlers on it.
pub mod command;
pub mod demo;
pub mod machine;
pub mod standin;
