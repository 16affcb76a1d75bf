//! Where lines go: standard output, or a test's own buffer.

use std::cell::RefCell;
use std::io::Write;
use std::marker::PhantomData;

use super::Level;

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
    if !captured {
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
