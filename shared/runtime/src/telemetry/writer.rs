//! Where lines go: standard output, a program's own place, or a test's own buffer.

use std::cell::RefCell;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::Level;

static SILENT: AtomicBool = AtomicBool::new(false);
static ELSEWHERE: OnceLock<Mutex<Box<dyn Write + Send>>> = OnceLock::new();

/// From now on every thread's lines are written to `out`, one whole line at a time, and not to standard
/// output. The first place stays: a second one is not taken.
///
/// Only for a program that plays the functions in its own process and answers on standard output itself.
pub fn redirect(out: impl Write + Send + 'static) {
    ELSEWHERE.get_or_init(|| Mutex::new(Box::new(out)));
}

/// From now on no thread's line reaches standard output, whatever its level and the environment say.
///
/// Only for a program that plays the functions in its own process and prints for people there. What is
/// captured is still captured.
pub fn silence() {
    SILENT.store(true, Ordering::Relaxed);
}

struct Capture {
    lowest: Level,
    bytes: Vec<u8>,
}

thread_local! {
    static CAPTURE: RefCell<Option<Capture>> = const { RefCell::new(None) };
}

/// Lines of this thread, kept from standard output until this is dropped.
///
/// Tests run side by side; a buffer for the thread lets each see its own lines, and the code under test
/// needs no writer handed through. It does not see other threads.
#[derive(Debug)]
pub struct Captured {
    // Belongs to the thread that made it.
    _of_this_thread: PhantomData<*const ()>,
}

/// Begins to capture this thread's lines, from the given level up.
#[must_use = "lines are captured until this is dropped"]
pub fn capture(lowest: Level) -> Captured {
    CAPTURE.set(Some(Capture {
        lowest,
        bytes: Vec::new(),
    }));
    Captured {
        _of_this_thread: PhantomData,
    }
}

impl Captured {
    /// Everything written so far, exactly.
    pub fn text(&self) -> String {
        CAPTURE.with_borrow(|capture| {
            capture
                .as_ref()
                .map(|capture| String::from_utf8_lossy(&capture.bytes).into_owned())
                .unwrap_or_default()
        })
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        CAPTURE.set(None);
    }
}

pub(super) fn captured_level() -> Option<Level> {
    CAPTURE.with_borrow(|capture| capture.as_ref().map(|capture| capture.lowest))
}

/// Writes a whole line at once, so that lines of several threads never mix.
pub(super) fn write(line: &[u8]) {
    let captured = CAPTURE.with_borrow_mut(|capture| match capture {
        Some(capture) => {
            capture.bytes.extend_from_slice(line);
            true
        }
        None => false,
    });
    if captured {
        return;
    }
    if let Some(out) = ELSEWHERE.get() {
        write_to(
            &mut *out.lock().unwrap_or_else(PoisonError::into_inner),
            line,
        );
    } else if !SILENT.load(Ordering::Relaxed) {
        write_to(&mut std::io::stdout().lock(), line);
    }
}

pub(super) fn write_to(out: &mut impl Write, line: &[u8]) {
    match out.write_all(line) {
        Ok(()) => {}
        // Deliberately nothing: there is no second place to report it to, and an event must not fail, and be
        // delivered again, because its log line was lost.
        Err(_lost) => {}
    }
}
