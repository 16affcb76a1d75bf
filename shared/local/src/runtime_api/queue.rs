//! The invocations of one function between a caller and a process; may not speak HTTP.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant},
};

use tokio::{
    sync::{Notify, mpsc, oneshot},
    time::timeout,
};

use crate::function::{FunctionError, lost, request_id, timed_out};

/// How long an invocation waits for a process that takes it; a process may still be starting.
const START_PATIENCE: Duration = Duration::from_secs(30);

type Reply = Result<String, FunctionError>;

struct Waiting {
    id: String,
    payload: String,
    deadline: Duration,
    taken: oneshot::Sender<Arc<Marks>>,
    reply: oneshot::Sender<Reply>,
}

struct Taken {
    endpoint: Arc<Marks>,
    reply: oneshot::Sender<Reply>,
}

/// The invocations of one function that wait for a process, or for its reply.
pub(crate) struct Queue {
    name: String,
    sender: mpsc::UnboundedSender<Waiting>,
    receiver: tokio::sync::Mutex<mpsc::UnboundedReceiver<Waiting>>,
    taken: Mutex<HashMap<String, Taken>>,
}

impl Queue {
    pub(super) fn new(name: String) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            name,
            sender,
            receiver: tokio::sync::Mutex::new(receiver),
            taken: Mutex::default(),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Waits for a process to take `payload`, then for its reply. The deadline runs from the taking.
    pub(crate) async fn call(&self, payload: String, deadline: Duration) -> Reply {
        let id = request_id();
        let (taken, taker) = oneshot::channel();
        let (reply, answer) = oneshot::channel();
        let waiting = Waiting {
            id: id.clone(),
            payload,
            deadline,
            taken,
            reply,
        };
        self.sender
            .send(waiting)
            .map_err(|_| lost("the Runtime API is gone"))?;
        let endpoint = match timeout(START_PATIENCE, taker).await {
            Err(_) => return Err(lost("no process took the invocation")),
            // Failed before it was taken: the reply says why.
            Ok(Err(_)) => return answer.await.unwrap_or_else(|_| Err(lost("dropped"))),
            Ok(Ok(endpoint)) => endpoint,
        };
        if let Ok(reply) = timeout(deadline, answer).await {
            reply.unwrap_or_else(|_| Err(lost("the process that took the invocation is gone")))
        } else {
            self.take_back(&id);
            endpoint.condemned.notify_one();
            Err(timed_out(deadline))
        }
    }

    pub(super) async fn next(&self, endpoint: &Arc<Marks>) -> Option<(String, String, Duration)> {
        let mut receiver = self.receiver.lock().await;
        loop {
            let waiting = receiver.recv().await?;
            // A caller that went away needs no answer.
            if waiting.taken.send(Arc::clone(endpoint)).is_err() {
                continue;
            }
            let taken = Taken {
                endpoint: Arc::clone(endpoint),
                reply: waiting.reply,
            };
            self.entries().insert(waiting.id.clone(), taken);
            return Some((waiting.id, waiting.payload, waiting.deadline));
        }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_back(&self, id: &str) -> Option<Taken> {
        self.entries().remove(id)
    }

    /// Answers whether `id` was being waited for.
    pub(super) fn answer(&self, id: &str, reply: Reply) -> bool {
        match self.take_back(id) {
            None => false,
            Some(taken) => {
                taken.endpoint.first_response.get_or_init(Instant::now);
                // The caller may have given up meanwhile; the process did its part.
                drop(taken.reply.send(reply));
                true
            }
        }
    }

    /// Fails what `endpoint` had taken.
    pub(super) fn abandon(&self, endpoint: &Arc<Marks>, reason: &str) {
        let mine: Vec<Taken> = self
            .entries()
            .extract_if(|_, t| Arc::ptr_eq(&t.endpoint, endpoint))
            .map(|e| e.1)
            .collect();
        for taken in mine {
            drop(taken.reply.send(Err(lost(reason))));
        }
    }

    /// Fails what nobody has taken: a function that cannot start answers nobody.
    pub(super) fn fail_waiting(&self, reason: &str) {
        // A held lock means that another process waits for work, so nothing else waits.
        let Ok(mut receiver) = self.receiver.try_lock() else {
            return;
        };
        while let Ok(waiting) = receiver.try_recv() {
            drop(waiting.reply.send(Err(FunctionError::failed(reason))));
        }
    }
}

/// What is known of one process, for a cold-start bench.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) first_next: OnceLock<Instant>,
    pub(super) first_response: OnceLock<Instant>,
    pub(super) init_error: OnceLock<String>,
    pub(super) condemned: Notify,
}
