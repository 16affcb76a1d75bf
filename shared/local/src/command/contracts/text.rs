//! Each contract as it is written, comments left out: everything that it says, also what only its reader needs.

use lastword_contracts::Contract;
use serde_json::Value;

use crate::machine::Failure;

/// A contract's file as JSON, member by member as `FORMAT.md` describes it.
pub(super) fn json(name: &str) -> Result<Value, Failure> {
    Ok(toml::from_str(Contract::text(name)?)?)
}
