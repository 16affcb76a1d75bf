//! Counts what an evaluation costs.
//!
//! A step is a fixed amount of work and of memory, and says nothing about time: the same expression over the
//! same values always takes as many.

use std::cell::Cell;

use crate::error::EvalError;

/// What is left to be spent.
pub(crate) struct Meter(Cell<u64>);

/// Bytes that are looked at for one step.
const BYTES: u64 = 16;

impl Meter {
    pub(crate) fn new(steps: u64) -> Self {
        Self(Cell::new(steps))
    }

    /// Takes steps, before the work is done.
    pub(crate) fn take(&self, steps: u64) -> Result<(), EvalError> {
        match self.0.get().checked_sub(steps) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                self.0.set(0);
                Err(EvalError::OverBudget)
            }
        }
    }

    /// For looking at as many bytes.
    pub(crate) fn look(&self, bytes: usize) -> Result<(), EvalError> {
        self.take(count(bytes) / BYTES + 1)
    }

    /// For making as many bytes, or as many items.
    pub(crate) fn make(&self, size: usize) -> Result<(), EvalError> {
        self.take(count(size).saturating_add(1))
    }
}

fn count(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}
