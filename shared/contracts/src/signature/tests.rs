use super::*;
use crate::contract::Contract;
use crate::headers::Headers;
use crate::request::Endpoint;
use proptest::prelude::*;

const NOW: u64 = 1_700_000_000;

/// A contract's schemes, with what most tests ask of them.
struct Rules(Schemes);

fn rules(contract: &str) -> Rules {
    Rules(Contract::builtin(contract).unwrap().signature)
}

impl Rules {
    fn keys(&self, secrets: &[&str]) -> Result<Keys, KeyError> {
        let mut keys = self.0.accept(None).unwrap();
        for secret in secrets {
            self.0.add_secret(&mut keys, secret)?;
        }
        Ok(keys)
    }

    /// Name and value of the signature's header.
    fn signed(&self, body: &[u8], secret: &str, now: u64) -> (String, String) {
        let (headers, endpoint) = (Headers::default(), Endpoint::default());
        let request = request(&headers, &endpoint, body);
        let keys = self.keys(&[secret]).unwrap();
        self.0.sign(&request, &keys, now).unwrap().headers.remove(0)
    }

    fn sign(&self, body: &[u8], secret: &str, now: u64) -> String {
        self.signed(body, secret, now).1
    }

    fn verify(
        &self,
        headers: &Headers,
        body: &[u8],
        secrets: &[&str],
        now: u64,
    ) -> Result<(), SignatureError> {
        let endpoint = Endpoint::default();
        let request = request(headers, &endpoint, body);
        let keys = self.keys(secrets).unwrap();
        let checked = self
            .0
            .verify(&request, &keys, &FetchedKeys::new(), now, None);
        checked.map(|_| ())
    }
}

fn request<'r>(headers: &'r Headers, endpoint: &'r Endpoint, body: &'r [u8]) -> Request<'r> {
    Request {
        method: "POST",
        query: "",
        headers,
        body,
        endpoint,
    }
}

fn check(
    rules: &Rules,
    header: &str,
    body: &[u8],
    secrets: &[&str],
    now: u64,
) -> Result<(), SignatureError> {
    let (name, _) = rules.signed(body, "whsec_any", now);
    let headers: Headers = [(name.as_str(), header)].into_iter().collect();
    rules.verify(&headers, body, secrets, now)
}

#[test]
fn a_body_signed_by_any_active_secret_is_taken_and_by_a_retired_one_is_not() {
    let stripe = rules("stripe");
    let old = stripe.sign(b"{}", "whsec_old", NOW);
    let new = stripe.sign(b"{}", "whsec_new", NOW);
    for header in [&old, &new] {
        assert_eq!(
            check(&stripe, header, b"{}", &["whsec_new", "whsec_old"], NOW),
            Ok(())
        );
    }
    assert_eq!(
        check(&stripe, &old, b"{}", &["whsec_new"], NOW),
        Err(SignatureError::NoMatch)
    );
}

#[test]
fn one_good_signature_among_bad_and_undecodable_ones_is_enough() {
    let stripe = rules("stripe");
    let good = stripe.sign(b"{}", "whsec_a", NOW);
    let header = format!(
        "{},v1={}",
        good.replacen("v1=", "v1=zz,v0=00,v1=00,v1=", 1),
        "00".repeat(32)
    );
    assert_eq!(check(&stripe, &header, b"{}", &["whsec_a"], NOW), Ok(()));
}

#[test]
fn the_old_scheme_s_signature_never_counts() {
    let stripe = rules("stripe");
    let header = stripe.sign(b"{}", "whsec_a", NOW).replace("v1=", "v0=");
    assert!(matches!(
        check(&stripe, &header, b"{}", &["whsec_a"], NOW),
        Err(SignatureError::Malformed { .. })
    ));
}

#[test]
fn a_stale_or_future_time_is_refused_though_signed_right() {
    let stripe = rules("stripe");
    let header = stripe.sign(b"{}", "whsec_a", NOW);
    let at = |now| check(&stripe, &header, b"{}", &["whsec_a"], now);
    assert_eq!(at(NOW + 300), Ok(()));
    assert_eq!(at(NOW - 300), Ok(()));
    assert_eq!(
        at(NOW + 301),
        Err(SignatureError::TooOld {
            seconds: 301,
            tolerance: 300
        })
    );
    assert_eq!(
        at(NOW - 301),
        Err(SignatureError::InFuture {
            seconds: 301,
            tolerance: 300
        })
    );
}

#[test]
fn a_header_that_is_missing_or_malformed_fails_closed() {
    let stripe = rules("stripe");
    let missing = stripe.verify(&Headers::default(), b"{}", &["whsec_a"], NOW);
    assert!(matches!(missing, Err(SignatureError::Missing { .. })));
    for header in [
        "",
        "t=1",
        "v1=00",
        "t=x,v1=00",
        "t=1,t=2,v1=00",
        "nonsense",
        "t=-1,v1=00",
        "t=1,v1",
    ] {
        assert!(
            check(&stripe, header, b"{}", &["whsec_a"], NOW).is_err(),
            "{header:?}"
        );
    }
    let github = rules("github");
    for header in ["", "sha256=", "sha1=00", "00", "sha256=zz"] {
        assert!(
            check(&github, header, b"{}", &["a"], NOW).is_err(),
            "{header:?}"
        );
    }
}

#[test]
fn no_key_at_all_fails_closed() {
    let github = rules("github");
    let header = github.sign(b"{}", "a", NOW);
    assert_eq!(
        check(&github, &header, b"{}", &[], NOW),
        Err(SignatureError::Missing {
            place: "the header X-Hub-Signature-256".to_owned()
        })
    );
}

#[test]
fn every_value_of_a_repeated_header_is_tried() {
    let github = rules("github");
    let key = "ключ 😊";
    let body = "{\"a\":\"ç😊\"}".as_bytes();
    let good = github.sign(body, key, NOW);
    let bad = format!("sha256={}", "0".repeat(64));
    let apart: Headers = [
        ("X-Hub-Signature-256", bad.as_str()),
        ("x-hub-signature-256", &good),
    ]
    .into_iter()
    .collect();
    assert!(github.verify(&apart, body, &[key], NOW).is_ok());
    let joined = format!("{bad},{good}");
    let joined: Headers = [("x-hub-signature-256", joined.as_str())]
        .into_iter()
        .collect();
    assert!(github.verify(&joined, body, &[key], NOW).is_ok());
}

#[test]
fn a_header_repeated_beyond_the_most_values_is_refused_though_one_of_them_is_good() {
    let github = rules("github");
    let (name, good) = github.signed(b"{}", "a", NOW);
    let bad = format!("sha256={}", "0".repeat(64));
    let verify = |others: usize| {
        let mut headers = Headers::default();
        for _ in 0..others {
            headers.add(&name, &bad);
        }
        headers.add(&name, &good);
        github.verify(&headers, b"{}", &["a"], NOW)
    };
    assert_eq!(verify(Scheme::MOST_VALUES - 1), Ok(()));
    assert!(matches!(
        verify(Scheme::MOST_VALUES),
        Err(SignatureError::Malformed { .. })
    ));
}

#[test]
fn a_secret_of_another_provider_is_refused_without_being_shown() {
    let error = rules("stripe").keys(&["v1,whsec_SECRET"]).unwrap_err();
    assert!(!error.to_string().contains("SECRET"));
    let keys = rules("stripe").keys(&["whsec_SECRET"]).unwrap();
    assert!(!format!("{keys:?}").contains("SECRET"));
}

proptest! {
    #[test]
    fn any_change_of_body_or_time_breaks_the_signature(
        body in proptest::collection::vec(any::<u8>(), 1..60), at in any::<proptest::sample::Index>(), flip in 1u8..=255
    ) {
        let stripe = rules("stripe");
        let header = stripe.sign(&body, "whsec_a", NOW);
        prop_assert_eq!(check(&stripe, &header, &body, &["whsec_a"], NOW), Ok(()));
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= flip;
        prop_assert_eq!(check(&stripe, &header, &changed, &["whsec_a"], NOW), Err(SignatureError::NoMatch));
        let later = header.replace("t=1700000000", "t=1700000001");
        prop_assert_eq!(check(&stripe, &later, &body, &["whsec_a"], NOW), Err(SignatureError::NoMatch));
    }
}

#[test]
fn no_challenge_that_a_stranger_was_given_a_mac_of_is_a_delivery() {
    let braintree = rules("braintree");
    let headers: Headers = [("content-type", "application/x-www-form-urlencoded")]
        .into_iter()
        .collect();
    let endpoint = Endpoint::default();
    let keys = braintree.keys(&["private"]).unwrap();
    let mac = |text: &str| keys.first().unwrap().hex_mac(text.as_bytes()).unwrap();
    let check = |payload: &str| {
        let body = format!(
            "bt_signature=public%7C{}&bt_payload={payload}",
            mac(payload)
        );
        let request = request(&headers, &endpoint, body.as_bytes());
        let checked = braintree
            .0
            .verify(&request, &keys, &FetchedKeys::new(), NOW, None);
        checked.map(|_| ())
    };
    assert_eq!(check("PG5vdGlmaWNhdGlvbi8-"), Ok(()));
    let challenge = "00112233445566778899aabbccddeeff";
    assert_eq!(check(challenge), Err(SignatureError::NoMatch));
}

#[test]
fn a_value_that_holds_what_separates_values_is_refused() {
    let pay = rules("mercadopago");
    let endpoint = Endpoint::default();
    let keys = pay.keys(&["s"]).unwrap();
    let text = "id:1;request-id:abc;ts:17;";
    let signature = format!(
        "ts=17,v1={}",
        keys.first().unwrap().hex_mac(text.as_bytes()).unwrap()
    );
    let check = |query: &str, pairs: &[(&str, &str)]| {
        let mut headers: Headers = pairs.iter().copied().collect();
        headers.add("x-signature", &signature);
        let request = Request {
            query,
            ..request(&headers, &endpoint, b"{}")
        };
        let checked = pay
            .0
            .verify(&request, &keys, &FetchedKeys::new(), NOW, None);
        checked.map(|_| ())
    };
    assert_eq!(check("data.id=1", &[("x-request-id", "abc")]), Ok(()));
    let divided = check("data.id=1%3Brequest-id%3Aabc", &[]);
    assert!(
        matches!(divided, Err(SignatureError::Malformed { .. })),
        "{divided:?}"
    );
}

#[test]
fn more_signatures_than_any_sender_makes_are_refused_before_one_is_checked() {
    for (contract, secret, one) in [
        (
            "standard-webhooks",
            "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX",
            format!("v1,{}", base64_of(32)),
        ),
        (
            "discord",
            "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
            "00".repeat(64),
        ),
    ] {
        let rules = rules(contract);
        let separator = if contract == "discord" { "," } else { " " };
        let told = |count: usize| {
            let value = vec![one.as_str(); count].join(separator);
            let headers: Headers = [
                ("webhook-id", "m"),
                ("webhook-timestamp", "1700000000"),
                ("webhook-signature", value.as_str()),
                ("x-signature-timestamp", "1700000000"),
                ("x-signature-ed25519", value.as_str()),
            ]
            .into_iter()
            .collect();
            rules.verify(&headers, b"{}", &[secret], NOW)
        };
        assert_eq!(told(16), Err(SignatureError::NoMatch), "{contract}");
        assert!(
            matches!(told(17), Err(SignatureError::Malformed { .. })),
            "{contract}"
        );
    }
}

fn base64_of(length: usize) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(vec![7; length])
}

#[test]
fn a_form_of_more_fields_than_any_sender_has_is_refused_whatever_its_signature() {
    let twilio = rules("twilio");
    let headers: Headers = [("content-type", "application/x-www-form-urlencoded")]
        .into_iter()
        .collect();
    let endpoint = Endpoint {
        url: Some("https://x/y".to_owned()),
        ..Endpoint::default()
    };
    let keys = twilio.keys(&["token"]).unwrap();
    for (fields, right) in [(900, true), (2000, false)] {
        let body = vec!["a=1"; fields].join("&");
        let signed = twilio
            .0
            .sign(&request(&headers, &endpoint, body.as_bytes()), &keys, NOW);
        let mut all = headers.clone();
        for (name, value) in &signed.unwrap().headers {
            all.add(name, value);
        }
        let request = request(&all, &endpoint, body.as_bytes());
        let checked = twilio
            .0
            .verify(&request, &keys, &FetchedKeys::new(), NOW, None);
        assert_eq!(checked.is_ok(), right, "{fields}");
    }
}

#[test]
fn a_signed_request_is_held_to_its_signature_also_where_only_the_token_is_known() {
    let gitlab = rules("gitlab");
    let mut keys = gitlab.0.accept(Some(&["signing-token", "token"])).unwrap();
    gitlab.0.add_secret(&mut keys, "plain-token").unwrap();
    let endpoint = Endpoint::default();
    let check = |pairs: &[(&str, &str)]| {
        let headers: Headers = pairs.iter().copied().collect();
        let request = request(&headers, &endpoint, b"{}");
        gitlab
            .0
            .verify(&request, &keys, &FetchedKeys::new(), NOW, None)
            .is_ok()
    };
    let token = ("x-gitlab-token", "plain-token");
    assert!(check(&[token]));
    let signed = [
        ("webhook-id", "1"),
        ("webhook-timestamp", "1700000000"),
        ("webhook-signature", "v1,AAAA"),
    ];
    assert!(!check(&[&[token][..], &signed].concat()));
}
