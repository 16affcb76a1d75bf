use super::*;
use crate::contract::Contract;
use crate::headers::Headers;
use crate::request::Endpoint;

fn answer(
    contract: &str,
    method: &str,
    query: &str,
    body: &str,
    token: Option<&str>,
) -> Option<Result<HandshakeAnswer, HandshakeError>> {
    let contract = Contract::builtin(contract).unwrap();
    let mut keys = contract.signature.accept(None).unwrap();
    contract.signature.add_secret(&mut keys, "secret").unwrap();
    let headers = Headers::default();
    let endpoint = Endpoint {
        url: None,
        parameters: [("public_key".to_owned(), "public".to_owned())].into(),
    };
    let request = Request {
        method,
        query,
        headers: &headers,
        body: body.as_bytes(),
        endpoint: &endpoint,
    };
    let mut all = contract.handshake.iter();
    let found = all.find(|handshake| handshake.is(&request, &contract.signature))?;
    Some(found.answer(&request, keys.first(), token))
}

#[test]
fn a_subscription_is_confirmed_to_whoever_knows_the_token_and_to_nobody_else() {
    let query = "hub.mode=subscribe&hub.verify_token=t0ken&hub.challenge=1158201444";
    let told = answer("meta", "GET", query, "", Some("t0ken"))
        .unwrap()
        .unwrap();
    assert_eq!((told.status, told.body.as_str()), (200, "1158201444"));
    assert_eq!(told.media_type, Some("text/plain; charset=utf-8"));
    for token in [Some("other"), Some(""), None] {
        let told = answer("meta", "GET", query, "", token).unwrap();
        assert_eq!(told, Err(HandshakeError::WrongToken));
    }
    let without = "hub.mode=subscribe&hub.challenge=1";
    let told = answer("meta", "GET", without, "", Some("")).unwrap();
    assert_eq!(told, Err(HandshakeError::WrongToken));
    assert!(answer("meta", "GET", "hub.mode=unsubscribe", "", Some("t0ken")).is_none());
}

#[test]
fn a_mac_without_a_signature_is_made_over_a_challenge_and_over_nothing_that_could_be_a_delivery() {
    let challenge = "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53";
    let told = answer("braintree", "GET", challenge, "", None)
        .unwrap()
        .unwrap();
    assert!(
        told.body.starts_with("public|") && told.body.len() == 7 + 40,
        "{}",
        told.body
    );
    for forged in [
        "PG5vdGlmaWNhdGlvbj48a2luZD5jaGVjazwva2luZD48L25vdGlmaWNhdGlvbj4=",
        "20f9",
        &"ab".repeat(600),
    ] {
        let query = format!("bt_challenge={}", forged.replace('=', "%3D"));
        let told = answer("braintree", "GET", &query, "", None).unwrap();
        assert_eq!(told, Err(HandshakeError::Incomplete), "{forged}");
    }
}

#[test]
fn a_url_check_is_answered_with_what_it_asks() {
    let body = r#"{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8"}}"#;
    let told = answer("zoom", "POST", "", body, None).unwrap().unwrap();
    let answer: serde_json::Value = serde_json::from_str(&told.body).unwrap();
    assert_eq!(answer["plainToken"], "qgg8");
    assert_eq!(answer["encryptedToken"].as_str().unwrap().len(), 64);
}

#[test]
fn a_text_that_would_break_out_of_the_answer_stays_in_it() {
    let body = r#"{"type":"url_verification","challenge":"a\"b\r\nX: 1<script>"}"#;
    let told = answer("slack", "POST", "", body, None).unwrap().unwrap();
    assert_ne!(told.media_type, Some("text/html"));
    assert!(told.headers.is_empty());
}

#[test]
fn a_text_that_could_be_a_delivery_gets_no_mac_where_nobody_signed() {
    let ask = |token: &str| {
        let body = format!(
            r#"{{"event":"endpoint.url_validation","payload":{{"plainToken":"{token}"}}}}"#
        );
        let contract = Contract::builtin("zoom").unwrap();
        let mut keys = contract.signature.accept(None).unwrap();
        contract.signature.add_secret(&mut keys, "secret").unwrap();
        let (headers, endpoint) = (Headers::default(), Endpoint::default());
        let request = Request {
            method: "POST",
            query: "",
            headers: &headers,
            body: body.as_bytes(),
            endpoint: &endpoint,
        };
        let mut all = contract
            .handshake
            .iter()
            .filter(|handshake| !handshake.signed);
        let found = all
            .find(|handshake| handshake.is(&request, &contract.signature))
            .unwrap();
        found.answer(&request, keys.first(), None).is_ok()
    };
    assert!(ask("qgg8vlvZRS6UYooatFL8Aw"));
    for forged in [
        "v0:1767323045:{}",
        "short",
        &"a".repeat(65),
        "qgg8vlvZRS6UYooatFL8A ",
    ] {
        assert!(!ask(forged), "{forged}");
    }
}
