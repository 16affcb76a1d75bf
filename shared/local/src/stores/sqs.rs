//! The queue store, memory only; may not be reached but through its endpoint.

use std::{net::SocketAddr, sync::Arc};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use rustack_sqs_core::{config::SqsConfig, handler::RustackSqsHandler, provider::RustackSqs};
use rustack_sqs_http::service::{SqsHttpConfig, SqsHttpService};
use tokio::{net::TcpListener, task::JoinSet};

use super::StoresError;
use crate::{
    clients::{ACCOUNT, REGION},
    loopback,
};

type Service = SqsHttpService<RustackSqsHandler>;

pub(super) struct Sqs {
    provider: Arc<RustackSqs>,
    address: SocketAddr,
    // A set of one, which owns the connections: dropping it cuts everything, long polls too.
    serving: JoinSet<()>,
}

impl Sqs {
    pub(super) async fn start(port: u16) -> Result<Self, StoresError> {
        let (listener, address) = loopback::listen(port)
            .await
            .map_err(StoresError::io(format!("port {port}")))?;
        let provider = Arc::new(RustackSqs::new(SqsConfig {
            skip_signature_validation: true,
            default_region: REGION.to_owned(),
            account_id: ACCOUNT.to_owned(),
            host: address.ip().to_string(),
            port: address.port(),
        }));
        let handler = Arc::new(RustackSqsHandler::new(Arc::clone(&provider)));
        let config = SqsHttpConfig {
            region: REGION.to_owned(),
            ..SqsHttpConfig::default()
        };
        let mut serving = JoinSet::new();
        serving.spawn(accept(listener, SqsHttpService::new(handler, config)));
        Ok(Self {
            provider,
            address,
            serving,
        })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) async fn shutdown(mut self) {
        self.serving.shutdown().await;
        self.provider.shutdown_all().await;
    }
}

async fn accept(listener: TcpListener, service: Service) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { continue };
                let service = service.clone();
                connections.spawn(async move {
                    // A broken connection is the caller's to notice.
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}
