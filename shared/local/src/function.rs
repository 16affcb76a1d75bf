//! A handle to something that can be invoked with JSON text; it may not look into the text.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{task::JoinSet, time::timeout};

use crate::{
    clients::{ACCOUNT, REGION},
    runtime_api::Queue,
};

/// Why an invocation brought no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionErrorKind {
    /// The function itself answered with an error.
    Failed,
    /// The function panicked; the host goes on.
    Panicked,
    /// The deadline passed; what the function was doing was cut off.
    TimedOut,
    /// Nobody took the invocation, or the process that took it is gone.
    Lost,
}

/// An invocation without a reply.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct FunctionError {
    /// What kind of failure.
    pub kind: FunctionErrorKind,
    /// What to tell a person.
    pub message: String,
}

impl FunctionError {
    /// An error of `kind`.
    #[must_use]
    pub fn new(kind: FunctionErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The function's own error.
    #[must_use]
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(FunctionErrorKind::Failed, message)
    }
}

/// What an in-process function is given.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The event.
    pub payload: String,
    /// Unique per invocation.
    pub request_id: String,
    /// When the host will cut the invocation off.
    pub deadline: SystemTime,
    /// The function's own name.
    pub function_arn: String,
}

type Work = Pin<Box<dyn Future<Output = Result<String, FunctionError>> + Send>>;
type Handler = dyn Fn(Invocation) -> Work + Send + Sync;

enum Backing {
    InProcess(Box<Handler>),
    Polled(Arc<Queue>),
}

struct Inner {
    name: String,
    backing: Backing,
}

/// A cloneable handle to a function.
#[derive(Clone)]
pub struct Function {
    inner: Arc<Inner>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function")
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}

impl Function {
    /// A function that runs in this process, each invocation as a task of its own.
    pub fn in_process<H, F>(name: impl Into<String>, handler: H) -> Self
    where
        H: Fn(Invocation) -> F + Send + Sync + 'static,
        F: Future<Output = Result<String, FunctionError>> + Send + 'static,
    {
        let boxed: Box<Handler> = Box::new(move |invocation| Box::pin(handler(invocation)));
        Self::new(name.into(), Backing::InProcess(boxed))
    }

    /// A function whose invocations wait for a process that polls the Runtime API.
    pub(crate) fn polled(queue: Arc<Queue>) -> Self {
        Self::new(queue.name().to_owned(), Backing::Polled(queue))
    }

    fn new(name: String, backing: Backing) -> Self {
        Self {
            inner: Arc::new(Inner { name, backing }),
        }
    }

    /// The function's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Invokes and waits for the reply, at most until `deadline` has passed.
    ///
    /// Dropping the returned future cuts an in-process invocation off where it stands.
    ///
    /// # Errors
    /// When there is no reply: see [`FunctionErrorKind`]. The host itself never fails with the function.
    pub async fn invoke(
        &self,
        payload: String,
        deadline: Duration,
    ) -> Result<String, FunctionError> {
        match &self.inner.backing {
            Backing::InProcess(_) => self.run_here(payload, deadline).await,
            Backing::Polled(queue) => queue.call(payload, deadline).await,
        }
    }

    async fn run_here(&self, payload: String, deadline: Duration) -> Result<String, FunctionError> {
        let invocation = Invocation {
            payload,
            request_id: request_id(),
            deadline: SystemTime::now() + deadline,
            function_arn: function_arn(self.name()),
        };
        let inner = Arc::clone(&self.inner);
        // A task catches the panic; a set of one aborts it when this future is dropped.
        let mut running = JoinSet::new();
        running.spawn(async move {
            match &inner.backing {
                Backing::InProcess(handler) => handler(invocation).await,
                Backing::Polled(_) => Err(lost("not an in-process function")),
            }
        });
        match timeout(deadline, running.join_next()).await {
            Ok(Some(Ok(reply))) => reply,
            Ok(Some(Err(error))) => Err(broken(error)),
            Ok(None) => Err(lost("the task vanished")),
            Err(_) => Err(timed_out(deadline)),
        }
    }
}

/// The ARN that a local function claims.
#[must_use]
pub fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}")
}

/// A fresh request id in the shape of a version 4 UUID.
pub(crate) fn request_id() -> String {
    let bits = fastrand::u128(..);
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        (bits >> 96) & 0xffff_ffff,
        (bits >> 80) & 0xffff,
        (bits >> 64) & 0xfff,
        ((bits >> 48) & 0x3fff) | 0x8000,
        bits & 0xffff_ffff_ffff,
    )
}

pub(crate) fn timed_out(deadline: Duration) -> FunctionError {
    let message = format!("timed out after {:.2} seconds", deadline.as_secs_f64());
    FunctionError::new(FunctionErrorKind::TimedOut, message)
}

pub(crate) fn lost(message: impl Into<String>) -> FunctionError {
    FunctionError::new(FunctionErrorKind::Lost, message)
}

fn broken(error: tokio::task::JoinError) -> FunctionError {
    let Ok(panic) = error.try_into_panic() else {
        return lost("the invocation was cancelled");
    };
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    FunctionError::new(FunctionErrorKind::Panicked, format!("panicked: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn a_function_answers_with_what_its_closure_returns() {
        let echo = Function::in_process("echo", |i| async move { Ok(i.payload) });
        assert_eq!(echo.invoke("{}".into(), SOON).await.unwrap(), "{}");
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_function_can_be_invoked_again() {
        let picky = Function::in_process("picky", |i: Invocation| async move {
            assert!(i.payload != "bad", "no good");
            Ok(i.payload)
        });
        let error = picky.invoke("bad".into(), SOON).await.unwrap_err();
        assert_eq!(error.kind, FunctionErrorKind::Panicked);
        assert!(error.message.contains("no good"), "{error}");
        assert_eq!(picky.invoke("1".into(), SOON).await.unwrap(), "1");
    }

    #[tokio::test]
    async fn a_function_that_does_not_end_is_cut_off_at_its_deadline() {
        let endless = Function::in_process("endless", |_| std::future::pending());
        let error = endless
            .invoke("{}".into(), Duration::from_millis(5))
            .await
            .unwrap_err();
        assert_eq!(error.kind, FunctionErrorKind::TimedOut);
        assert!(error.message.starts_with("timed out"), "{error}");
    }

    #[test]
    fn request_ids_have_the_shape_of_a_uuid_and_differ() {
        let (a, b) = (request_id(), request_id());
        assert_eq!(a.len(), 36);
        assert_ne!(a, b);
    }
}
