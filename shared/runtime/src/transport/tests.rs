use super::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[test]
fn the_crypto_provider_can_be_installed_twice() {
    install_crypto();
    install_crypto();
    assert!(CryptoProvider::get_default().is_some());
}

#[test]
fn a_bundle_without_a_certificate_is_refused_before_the_first_request() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let nothing = Trust::from_file(&manifest.join("Cargo.toml")).unwrap_err();
    assert!(nothing.contains("no certificate"), "{nothing}");
    let absent = Trust::from_file(&manifest.join("no-such-file.pem")).unwrap_err();
    assert!(absent.contains("cannot be read"), "{absent}");
}

/// A TLS server that answers every request with what it negotiated; gives its port and its certificate as PEM.
async fn server() -> (u16, Vec<u8>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = made.signing_key.serialize_der();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![made.cert.der().clone()],
            rustls_pki_types::PrivateKeyDer::try_from(key).unwrap(),
        );
    let mut config = config.unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let Ok(mut tls) = acceptor.accept(tcp).await else {
                continue;
            };
            let mut request = vec![0; 4096];
            let length = tls.read(&mut request).await.unwrap();
            let head = String::from_utf8_lossy(&request[..length]).into_owned();
            let first = head.lines().next().unwrap_or_default().to_owned();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{first}",
                first.len()
            );
            tls.write_all(answer.as_bytes()).await.unwrap();
            tls.shutdown().await.ok();
        }
    });
    (port, made.cert.pem().into_bytes())
}

async fn ask(trust: Trust, port: u16) -> Result<String, ConnectorError> {
    let mut request = HttpRequest::new(SdkBody::empty());
    let url = format!("https://localhost:{port}/a?b=c");
    request.set_uri(url).unwrap();
    let response = connector_of(trust).call(request).await?;
    assert_eq!(response.status().as_u16(), 200);
    let body = aws_smithy_types::byte_stream::ByteStream::new(response.into_body());
    let bytes = body.collect().await.unwrap().into_bytes();
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

#[tokio::test]
async fn over_tls_a_server_is_asked_in_http_1_1_if_its_certificate_is_believed() {
    let (port, own) = server().await;
    let told = ask(Trust::Bundle(own), port).await.unwrap();
    assert_eq!(told, "GET /a?b=c HTTP/1.1");
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_ends_the_request() {
    let (port, _) = server().await;
    let (_, another) = server().await;
    let refused = ask(Trust::Bundle(another), port).await.unwrap_err();
    let refused = format!("{refused:?}");
    assert!(refused.to_lowercase().contains("certificate"), "{refused}");
}
