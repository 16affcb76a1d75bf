//! Faults between the SDK and the stores: what a network, a throttled table and a dying process do.

use std::sync::{Arc, Mutex};

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
    SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use lastword_runtime::{ClientSettings, Endpoints, Patience};
use tokio::sync::Notify;

/// What befalls a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It is done, and the answer never arrives.
    LostResponse,
    /// It never arrives.
    LostRequest,
    /// The store throttles it.
    Throttled,
    /// Another transaction holds one of its items.
    Conflict,
    /// The process dies before it is sent.
    CrashBefore,
    /// It is done, and the process dies before the answer arrives.
    CrashAfter,
    /// It waits before it is sent until the test lets it go.
    Wait,
    /// The code that sends it panics.
    Panic,
}

/// When a fault strikes.
#[derive(Debug, Clone)]
pub struct Strike {
    /// Requests of this operation; empty for all.
    pub operation: &'static str,
    /// How many of them pass first.
    pub after: usize,
    /// How many it strikes.
    pub times: usize,
    /// What befalls them.
    pub fault: Fault,
}

#[derive(Debug, Default)]
struct Shared {
    strikes: Mutex<Vec<Strike>>,
    seen: Mutex<Vec<String>>,
    struck: Mutex<usize>,
    crashed: Notify,
    released: Notify,
}

/// A connection that can be struck.
#[derive(Debug, Clone)]
pub struct Faults {
    shared: Arc<Shared>,
    inner: SharedHttpClient,
}

impl Faults {
    pub fn none() -> Self {
        let settings = ClientSettings::local(Endpoints::default(), Patience::background());
        Self {
            shared: Arc::default(),
            inner: settings.http,
        }
    }

    pub fn strike(operation: &'static str, after: usize, times: usize, fault: Fault) -> Self {
        let faults = Self::none();
        faults.shared.strikes.lock().unwrap().push(Strike {
            operation,
            after,
            times,
            fault,
        });
        faults
    }

    pub fn client(&self) -> SharedHttpClient {
        SharedHttpClient::new(self.clone())
    }

    /// The operations that were asked for, in order.
    pub fn seen(&self) -> Vec<String> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// Whether every strike was used up: a test whose fault never struck proves nothing.
    pub fn spent(&self) -> bool {
        self.shared
            .strikes
            .lock()
            .unwrap()
            .iter()
            .all(|strike| strike.times == 0)
    }

    /// How many requests were struck.
    pub fn struck(&self) -> usize {
        *self.shared.struck.lock().unwrap()
    }

    /// Waits until the process has died.
    pub async fn crashed(&self) {
        self.shared.crashed.notified().await;
    }

    /// Waits until a request waits.
    pub async fn waits(&self) {
        self.shared.crashed.notified().await;
    }

    /// Lets it go.
    pub fn release(&self) {
        self.shared.released.notify_one();
    }

    fn next(&self, operation: &str) -> Option<Fault> {
        self.shared.seen.lock().unwrap().push(operation.to_owned());
        for strike in self.shared.strikes.lock().unwrap().iter_mut() {
            if !strike.operation.is_empty() && strike.operation != operation {
                continue;
            }
            if strike.after > 0 {
                strike.after -= 1;
            } else if strike.times > 0 {
                strike.times -= 1;
                *self.shared.struck.lock().unwrap() += 1;
                return Some(strike.fault);
            }
        }
        None
    }
}

impl HttpClient for Faults {
    fn http_connector(
        &self,
        settings: &HttpConnectorSettings,
        parts: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(Wire {
            faults: self.clone(),
            inner: self.inner.http_connector(settings, parts),
        })
    }
}

#[derive(Debug)]
struct Wire {
    faults: Faults,
    inner: SharedHttpConnector,
}

impl HttpConnector for Wire {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request
            .headers()
            .get("x-amz-target")
            .unwrap_or_default()
            .to_owned();
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        let lost = || ConnectorError::io("the connection was reset".into());
        match self.faults.next(&operation) {
            None => self.inner.call(request),
            Some(Fault::Panic) => panic!("a fault of our own"),
            Some(Fault::LostRequest) => HttpConnectorFuture::ready(Err(lost())),
            Some(Fault::Throttled) => HttpConnectorFuture::ready(Ok(throttled())),
            Some(Fault::Conflict) => HttpConnectorFuture::ready(Ok(conflict(&operation))),
            Some(Fault::CrashBefore) => {
                self.faults.shared.crashed.notify_one();
                HttpConnectorFuture::new(std::future::pending())
            }
            Some(Fault::Wait) => {
                let (faults, inner) = (self.faults.clone(), self.inner.clone());
                HttpConnectorFuture::new(async move {
                    faults.shared.crashed.notify_one();
                    faults.shared.released.notified().await;
                    inner.call(request).await
                })
            }
            Some(Fault::LostResponse) => {
                let done = self.inner.call(request);
                HttpConnectorFuture::new(async move {
                    done.await?;
                    Err(lost())
                })
            }
            Some(Fault::CrashAfter) => {
                let (done, faults) = (self.inner.call(request), self.faults.clone());
                HttpConnectorFuture::new(async move {
                    done.await?;
                    faults.shared.crashed.notify_one();
                    std::future::pending().await
                })
            }
        }
    }
}

fn refusal(body: String) -> HttpResponse {
    let mut response = HttpResponse::new(StatusCode::try_from(400).unwrap(), SdkBody::from(body));
    response
        .headers_mut()
        .insert("content-type", "application/x-amz-json-1.0");
    response
}

fn throttled() -> HttpResponse {
    refusal(r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}"#.into())
}

/// A single write says so itself; a transaction is cancelled and gives a reason for each of its items.
fn conflict(operation: &str) -> HttpResponse {
    refusal(if operation == "TransactWriteItems" {
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled","CancellationReasons":[{"Code":"None"},{"Code":"TransactionConflict","Message":"busy"}]}"#.into()
    } else {
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionConflictException","message":"busy"}"#.into()
    })
}
