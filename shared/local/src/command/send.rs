//! `lastword send`: signs a file as its provider would, and posts it; follows nowhere and tries once.

use std::{path::Path, time::Duration};

use aws_smithy_http_client::{
    Connector,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::{
    http::HttpConnector as _,
    orchestrator::{HttpRequest, HttpResponse},
};
use aws_smithy_types::{body::SdkBody, byte_stream::ByteStream};
use http::StatusCode;
use serde_json::json;
use tokio::time::timeout;

use super::{
    Found, Outcome,
    cli::{DIRECTORY, PORT, Post, Signing},
    show::{self, BAD, GOOD},
    sign::delivery::{Delivery, query_of},
    stack::Stack,
};
use crate::machine::Failure;

/// Longer than any receiver may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a receiver answered.
struct Answer {
    status: u16,
    body: String,
}

pub(super) async fn run(asked: &Post) -> Outcome {
    let url = match &asked.to {
        Some(url) => url.clone(),
        None => endpoint(&asked.signing),
    };
    let delivery = Delivery::prepare(&asked.signing, query_of(&url))?;
    delivery.sendable()?;
    if let Some(remark) = &delivery.remark {
        show::remark(remark);
    }
    let posted = timeout(PATIENCE, post(&url, delivery)).await;
    let answer = posted.map_err(|_| format!("{url}: no answer in {} s", PATIENCE.as_secs()))??;
    let taken = (200..300).contains(&answer.status);
    if asked.signing.json {
        let told = json!({ "url": url, "status": answer.status, "body": answer.body });
        show::say(&format!("{told}\n"));
    } else {
        show::say(&as_text(&answer, taken));
    }
    Ok(if taken { Found::Well } else { Found::Wrong })
}

fn as_text(answer: &Answer, taken: bool) -> String {
    let known = StatusCode::from_u16(answer.status).ok();
    let reason = known.and_then(|status| status.canonical_reason());
    let line = format!("{} {}", answer.status, reason.unwrap_or_default());
    let mut text = show::painted(line.trim_end(), if taken { GOOD } else { BAD });
    text.push('\n');
    for line in answer.body.lines() {
        text.push_str(&show::harmless(line));
        text.push('\n');
    }
    text
}

/// Where a stack on this machine takes the integration's webhooks.
fn endpoint(asked: &Signing) -> String {
    let name = &asked.integration;
    let directory = asked.dir.as_deref().unwrap_or(Path::new(DIRECTORY));
    // A stack in memory publishes nothing where one would look; it listens at the usual place.
    let running = Stack::find(directory).ok();
    let told = running.and_then(|mut stack| stack.webhooks.remove(name));
    told.unwrap_or_else(|| format!("http://127.0.0.1:{PORT}/webhooks/{name}"))
}

async fn post(url: &str, delivery: Delivery) -> Result<Answer, Failure> {
    let mut request = HttpRequest::new(SdkBody::from(delivery.body));
    let unusable = |error: &dyn std::fmt::Display| format!("{url}: {error}");
    request.set_uri(url).map_err(|error| unusable(&error))?;
    request
        .set_method("POST")
        .map_err(|error| unusable(&error))?;
    for (name, value) in delivery.headers {
        let added = request.headers_mut().try_append(name, value);
        added.map_err(|error| unusable(&error))?;
    }
    let sent = connector(url).call(request).await;
    let response = sent.map_err(|error| {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let why = source.unwrap_or_else(|| error.to_string());
        format!("{url} cannot be reached, does `lastword dev` run? {why}")
    })?;
    read(response).await
}

/// The system's authorities are only read where they are needed.
fn connector(url: &str) -> Connector {
    let builder = Connector::builder();
    if url.starts_with("https:") {
        builder
            .tls_provider(Provider::Rustls(CryptoMode::Ring))
            .build()
    } else {
        builder.build_http()
    }
}

async fn read(response: HttpResponse) -> Result<Answer, Failure> {
    let status = response.status().as_u16();
    let body = ByteStream::new(response.into_body()).collect().await?;
    Ok(Answer {
        status,
        body: String::from_utf8_lossy(&body.into_bytes()).into_owned(),
    })
}
