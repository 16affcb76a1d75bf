//! What every function's `main` needs and nothing else: clients, secrets, telemetry, variables.
//!
//! This is the edge. It reads the environment and the clock so that nothing further in has to, and it
//! knows no table, no queue and no rule.
//!
//! * [`environment`] reads variables and names the missing one,
//! * [`clients`] makes the SDK clients once per process over one shared HTTP client,
//! * [`fetching`] gets a small public document,
//! * [`secrets`] turns references such as `ssm:/path` into values that cannot be printed,
//! * [`vault`] keeps secrets and reads them again when they are rolled,
//! * [`telemetry`] writes one JSON line for each thing that happened.

pub mod clients;
pub mod deadline;
pub mod environment;
pub mod fetching;
pub mod secrets;
pub mod telemetry;
mod transport;
pub mod vault;

pub use clients::{ClientSettings, Clients, Endpoints, Patience};
pub use deadline::time_left;
pub use environment::StartError;
pub use fetching::Fetcher;
pub use rustls::pki_types::TrustAnchor;
pub use secrets::{SecretError, SecretSource};
pub use telemetry::{Level, Line, Measured, Unit};
pub use vault::{Secrets, Vault};
