//! Draft: a decision that wants wording gets a text, which waits for a person.
//!
//! May read nothing but its event, ask a model for text, and put a draft. Must never read or write anything else:
//! with a model or without one, nothing else in the system differs.
//!
//! Law 13, text is not authority. A model's text is taken only where it fits by a plain check ([`fit`]); in every
//! doubt the approved text is rendered instead. What a model says decides nothing, is no part of a template, and is
//! never logged.
//!
//! Suggested reading order: [`event`], [`data`], [`wording`], [`fit`], [`asking`], [`handler`].
//!
//! # What is decided
//!
//! * **The event comes twice.** The first draft stays, whatever a model says the second time.
//! * **The model is off, down, slow or refuses, or its text does not fit.** The approved text, with the reason in one
//!   word of a closed list.
//! * **The approved text lacks a value.** The invocation fails and names it; the bus tries again, then keeps the event.

pub mod asking;
pub mod data;
pub mod event;
pub mod fit;
pub mod handler;
pub mod start;
pub mod wording;

pub use asking::Model;
pub use fit::{Fit, Why};
pub use handler::Handler;
pub use wording::Wordings;
