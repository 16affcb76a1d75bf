//! Says how far it is, to a person who waits longer than a second.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// When waiting begins to be noticed.
const PATIENCE: Duration = Duration::from_secs(1);

/// A line on the error stream that is written over and removed at the end; nothing where no terminal is.
pub(super) struct Progress {
    began: Instant,
    all: usize,
    wanted: bool,
    shown: bool,
}

impl Progress {
    /// Of this many.
    pub(super) fn of(all: usize) -> Self {
        Self {
            began: Instant::now(),
            all,
            wanted: std::io::stderr().is_terminal(),
            shown: false,
        }
    }

    /// So many are done.
    pub(super) fn at(&mut self, done: usize) {
        if self.wanted && self.began.elapsed() > PATIENCE {
            // Where it cannot be shown once, it is not tried again.
            self.shown = write!(std::io::stderr(), "\r{done} of {} histories", self.all).is_ok();
            self.wanted = self.shown;
        }
    }

    /// Removes the line.
    pub(super) fn end(self) {
        if self.shown {
            match write!(std::io::stderr(), "\r\x1b[K") {
                Ok(()) => {}
                // A line that stays disturbs nobody.
                Err(_stays) => {}
            }
        }
    }
}
