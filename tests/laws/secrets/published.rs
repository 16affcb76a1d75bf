//! Keys that a provider publishes, and what strangers may make of that.

use super::*;

/// A provider's key pair.
struct Signer(EcdsaKeyPair, SystemRandom);

impl Signer {
    fn new() -> Self {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pair.as_ref(), &random).unwrap();
        Self(pair, random)
    }

    fn jwk(&self, kid: &str, expired_at: Option<u64>) -> String {
        let point = self.0.public_key().as_ref();
        let half = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let (x, y) = (half(&point[1..33]), half(&point[33..]));
        let key = json!({"kty": "EC", "crv": "P-256", "kid": kid, "x": x, "y": y, "expired_at": expired_at});
        json!({ "key": key }).to_string()
    }

    fn jwt(&self, head: &serde_json::Value, body: &str, at: u64) -> String {
        let hash: String = Sha256::digest(body.as_bytes())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let claims = json!({"iat": at, "request_body_sha256": hash});
        let part = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", part(head), part(&claims));
        let signature = self.0.sign(&self.1, text.as_bytes()).unwrap();
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
    }

    fn sign(&self, kid: &str, at: u64) -> String {
        self.jwt(&json!({"alg": "ES256", "kid": kid, "typ": "JWT"}), BODY, at)
    }
}

#[tokio::test]
async fn a_published_key_is_asked_for_once_believed_for_a_while_and_then_asked_for_again() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    for asked in [1, 1, 1] {
        assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 200);
        assert_eq!(door.asked(), asked);
    }
    door.wait(3601);
    let later = signer.sign("k1", NOW + 3601);
    assert_eq!(door.bank(&later).await.status_code, 200);
    assert_eq!(door.asked(), 2);
    let stale = door.bank(&signer.sign("k1", NOW)).await;
    assert!(stale.body.contains("signature-too-old"), "{}", stale.body);
}

#[tokio::test]
async fn a_key_that_was_good_is_believed_for_a_day_while_it_cannot_be_had_and_strangers_cannot_hinder_it()
 {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let down = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_down = Arc::clone(&down);
    let door = Door::with_keys(move |request| match &request.json {
        Some(json) if json.contains("\"k1\"") && !is_down.load(Ordering::SeqCst) => Ok(jwk.clone()),
        Some(_) | None => Err("no answer".to_owned()),
    })
    .await;
    assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 200);
    door.wait(3601);
    // A stranger uses up what may be asked for unknown names.
    for number in 0..50 {
        let reply = door
            .bank(&signer.sign(&format!("x{number}"), NOW + 3601))
            .await;
        assert_eq!(reply.status_code, 503);
    }
    let asked = door.asked();
    assert_eq!(
        door.bank(&signer.sign("k1", NOW + 3601)).await.status_code,
        200
    );
    assert_eq!(door.asked(), asked + 1);
    down.store(true, Ordering::SeqCst);
    door.wait(3601);
    for _ in 0..3 {
        assert_eq!(
            door.bank(&signer.sign("k1", NOW + 7202)).await.status_code,
            200
        );
    }
    assert_eq!(door.asked(), asked + 2);
    door.wait(24 * 3600);
    let day = NOW + 7202 + 24 * 3600;
    assert_eq!(door.bank(&signer.sign("k1", day)).await.status_code, 503);
}

#[tokio::test]
async fn a_key_that_cannot_be_had_is_no_verdict_and_is_not_asked_for_again_at_once() {
    let signer = Signer::new();
    let door = Door::with_keys(|_| Err("no answer".to_owned())).await;
    for _ in 0..3 {
        let reply = door.bank(&signer.sign("k1", NOW)).await;
        assert_eq!(reply.status_code, 503, "{}", reply.body);
        assert_eq!(reply.headers["retry-after"], "2");
    }
    assert_eq!(door.asked(), 1);
    door.wait(31);
    assert_eq!(door.bank(&signer.sign("k1", NOW)).await.status_code, 503);
    assert_eq!(door.asked(), 2);
}

#[tokio::test]
async fn a_stranger_who_names_many_keys_makes_us_ask_for_a_few() {
    let signer = Signer::new();
    let door = Door::with_keys(|_| Err("no such key".to_owned())).await;
    for number in 0..100 {
        let reply = door.bank(&signer.sign(&format!("k{number}"), NOW)).await;
        assert_eq!(reply.status_code, 503);
    }
    assert!(door.asked() <= 10, "{}", door.asked());
}

#[tokio::test]
async fn a_jwt_by_another_key_another_algorithm_or_over_another_body_is_refused() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", None);
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    let forged = Signer::new().sign("k1", NOW);
    assert_eq!(door.bank(&forged).await.status_code, 401);
    let other_body = signer.jwt(&json!({"alg": "ES256", "kid": "k1"}), "{}", NOW);
    assert_eq!(door.bank(&other_body).await.status_code, 401);
    for head in [
        json!({"alg": "none", "kid": "k1"}),
        json!({"alg": "HS256", "kid": "k1"}),
        json!({"alg": "ES256"}),
    ] {
        let reply = door.bank(&signer.jwt(&head, BODY, NOW)).await;
        assert!(reply.body.contains("signature-malformed"), "{}", reply.body);
    }
    for odd in ["", ".", "..", "a.b.c", "e30.e30.", &"a".repeat(100_000)] {
        assert_eq!(door.bank(odd).await.status_code, 401, "{odd:.20}");
    }
    assert_eq!(door.asked(), 1);
}

#[tokio::test]
async fn a_key_that_its_provider_has_retired_is_not_believed() {
    let signer = Signer::new();
    let jwk = signer.jwk("k1", Some(NOW - 1));
    let door = Door::with_keys(move |_| Ok(jwk.clone())).await;
    let reply = door.bank(&signer.sign("k1", NOW)).await;
    assert_eq!(reply.status_code, 401, "{}", reply.body);
}

#[tokio::test]
async fn a_certificate_is_asked_for_at_its_provider_s_hosts_and_nowhere_else() {
    let door = Door::with_keys(|_| Ok("no certificate".to_owned())).await;
    let signature = base64::engine::general_purpose::STANDARD.encode([7; 256]);
    let post = |url: &'static str| {
        let headers = [
            ("paypal-transmission-id", "t"),
            ("paypal-transmission-time", "2026-11-30T00:00:00Z"),
            ("paypal-transmission-sig", signature.as_str()),
            ("paypal-auth-algo", "SHA256withRSA"),
            ("paypal-cert-url", url),
        ];
        let door = &door;
        async move { door.post("wallet", &headers, "{}").await }
    };
    for elsewhere in [
        "http://api.paypal.com/v1/notifications/certs/c",
        "https://api.paypal.com.evil.example/c",
        "https://api.paypal.com@evil.example/c",
        "https://api.paypal.com:8443/c",
        "https://evil.example/api.paypal.com",
        "https://evil.example#https://api.paypal.com/c",
        "file:///etc/passwd",
        "https:///c",
        "https://api.paypal.com/v1/notifications/certs/",
        "https://api.paypal.com/v1/notifications/certs/a?b",
        "https://api.paypal.com/v1/notifications/certs/../../c",
        "https://api.paypal.com/v1/notifications/certs/a/b",
        "https://api.paypal.com/v1/notifications/certs/%2e%2e",
        "",
    ] {
        let reply = post(elsewhere).await;
        assert_eq!(reply.status_code, 401, "{elsewhere} {}", reply.body);
        assert_eq!(door.asked(), 0, "{elsewhere}");
    }
    // There it is asked for; what comes back is no certificate, so nothing is decided.
    assert_eq!(
        post("https://api.paypal.com/v1/notifications/certs/c")
            .await
            .status_code,
        503
    );
    assert_eq!(door.asked(), 1);
}
