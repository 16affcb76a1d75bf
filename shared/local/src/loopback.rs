//! Serves one router on 127.0.0.1 until it is dropped; may not bind any other address.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::Router;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle, time::timeout};

/// How long a polite shutdown waits for requests that are still running.
const PATIENCE: Duration = Duration::from_secs(2);

/// A listener on loopback; port 0 takes any free one.
pub(crate) async fn listen(port: u16) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// A running server. Dropping it closes the listener and every idle connection.
#[derive(Debug)]
pub(crate) struct Served {
    address: SocketAddr,
    // Dropping the sender is the signal.
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Served {
    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops accepting, lets running requests finish for a moment, then goes.
    pub(crate) async fn shutdown(self) {
        let Self { stop, mut task, .. } = self;
        drop(stop);
        if timeout(PATIENCE, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// Serves `router` on `127.0.0.1:port`.
pub(crate) async fn serve(port: u16, router: Router) -> io::Result<Served> {
    let (listener, address) = listen(port).await?;
    let (stop, stopped) = oneshot::channel::<()>();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let task = tokio::spawn(async move {
        let until = async {
            drop(stopped.await);
        };
        // An accept loop ends only by the signal above; its error type has no inhabitants in practice.
        drop(
            axum::serve(listener, service)
                .with_graceful_shutdown(until)
                .await,
        );
    });
    Ok(Served {
        address,
        stop,
        task,
    })
}
