//! A Lambda Runtime API for one function: real binaries poll it; it may not start or end a process.
//!
//! Every process has an endpoint (a port) of its own over the function's one queue, so that it is known
//! which process took which invocation, and a death fails exactly what died with it.

mod queue;
mod routes;

use std::{io, net::SocketAddr, sync::Arc, time::Instant};

pub(crate) use self::queue::Queue;
use self::{
    queue::Marks,
    routes::{Shared, routes},
};
use crate::{
    function::Function,
    loopback::{self, Served},
};

/// The Runtime API of one function.
#[derive(Clone)]
pub struct RuntimeApi {
    queue: Arc<Queue>,
}

impl RuntimeApi {
    /// An empty queue for the function `name`.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            queue: Arc::new(Queue::new(name.into())),
        }
    }

    /// The function's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.queue.name()
    }

    /// The handle that callers invoke.
    #[must_use]
    pub fn function(&self) -> Function {
        Function::polled(Arc::clone(&self.queue))
    }

    /// Opens a port for one process (`AWS_LAMBDA_RUNTIME_API`).
    ///
    /// # Errors
    /// When no port can be opened.
    pub async fn endpoint(&self) -> io::Result<Endpoint> {
        let marks = Arc::new(Marks::default());
        let shared = Shared {
            queue: Arc::clone(&self.queue),
            marks: Arc::clone(&marks),
        };
        let served = loopback::serve(0, routes(shared)).await?;
        Ok(Endpoint {
            served,
            marks,
            queue: Arc::clone(&self.queue),
        })
    }
}

/// One process's door to the queue. Dropping it fails what the process had taken.
pub struct Endpoint {
    served: Served,
    marks: Arc<Marks>,
    queue: Arc<Queue>,
}

impl Endpoint {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.served.address()
    }

    /// When the process first asked for work: its initialisation is over.
    #[must_use]
    pub fn first_next(&self) -> Option<Instant> {
        self.marks.first_next.get().copied()
    }

    /// When the process first answered.
    #[must_use]
    pub fn first_response(&self) -> Option<Instant> {
        self.marks.first_response.get().copied()
    }

    /// What the process said when it could not start.
    #[must_use]
    pub fn init_error(&self) -> Option<&str> {
        self.marks.init_error.get().map(String::as_str)
    }

    /// Resolves when the process has overrun a deadline and must end, as an environment would.
    pub async fn condemned(&self) {
        self.marks.condemned.notified().await;
    }

    /// Fails what the process had taken, because it is gone.
    pub fn abandon(&self, reason: &str) {
        self.queue.abandon(&self.marks, reason);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.abandon("the process that took the invocation is gone");
    }
}
