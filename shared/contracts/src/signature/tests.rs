use super::*;
use crate::contract::Contract;
use proptest::prelude::*;

const NOW: u64 = 1_700_000_000;

fn rules(contract: &str) -> SignatureRules {
    Contract::builtin(contract).unwrap().signature
}

fn check(
    rules: &SignatureRules,
    header: &str,
    body: &[u8],
    secrets: &[&str],
    now: u64,
) -> Result<(), SignatureError> {
    let keys: Vec<_> = secrets
        .iter()
        .map(|secret| rules.key(secret).unwrap())
        .collect();
    let headers: Headers = [(rules.header.as_str(), header)].into_iter().collect();
    rules.verify(&headers, body, &keys, now).map(|_| ())
}

#[test]
fn a_body_signed_by_any_active_secret_is_taken_and_by_a_retired_one_is_not() {
    let stripe = rules("stripe");
    let old = stripe.sign(b"{}", &stripe.key("whsec_old").unwrap(), NOW);
    let new = stripe.sign(b"{}", &stripe.key("whsec_new").unwrap(), NOW);
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
    let good = stripe.sign(b"{}", &stripe.key("whsec_a").unwrap(), NOW);
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
    let header = stripe
        .sign(b"{}", &stripe.key("whsec_a").unwrap(), NOW)
        .replace("v1=", "v0=");
    assert!(matches!(
        check(&stripe, &header, b"{}", &["whsec_a"], NOW),
        Err(SignatureError::Malformed { .. })
    ));
}

#[test]
fn a_stale_or_future_time_is_refused_though_signed_right() {
    let stripe = rules("stripe");
    let header = stripe.sign(b"{}", &stripe.key("whsec_a").unwrap(), NOW);
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
    let keys = [stripe.key("whsec_a").unwrap()];
    let missing = stripe.verify(&Headers::default(), b"{}", &keys, NOW);
    assert!(matches!(missing, Err(SignatureError::MissingHeader { .. })));
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
    let header = github.sign(b"{}", &github.key("a").unwrap(), NOW);
    assert_eq!(
        check(&github, &header, b"{}", &[], NOW),
        Err(SignatureError::NoMatch)
    );
}

#[test]
fn every_value_of_a_repeated_header_is_tried() {
    let github = rules("github");
    let key = github.key("ключ 😊").unwrap();
    let body = "{\"a\":\"ç😊\"}".as_bytes();
    let good = github.sign(body, &key, NOW);
    let bad = format!("sha256={}", "0".repeat(64));
    let apart: Headers = [
        ("X-Hub-Signature-256", bad.as_str()),
        ("x-hub-signature-256", &good),
    ]
    .into_iter()
    .collect();
    assert!(
        github
            .verify(&apart, body, std::slice::from_ref(&key), NOW)
            .is_ok()
    );
    let joined = format!("{bad},{good}");
    let joined: Headers = [("x-hub-signature-256", joined.as_str())]
        .into_iter()
        .collect();
    assert!(github.verify(&joined, body, &[key], NOW).is_ok());
}

#[test]
fn a_header_repeated_beyond_the_most_values_is_refused_though_one_of_them_is_good() {
    let github = rules("github");
    let key = github.key("a").unwrap();
    let good = github.sign(b"{}", &key, NOW);
    let bad = format!("sha256={}", "0".repeat(64));
    let verify = |others: usize| {
        let mut headers = Headers::default();
        for _ in 0..others {
            headers.add(&github.header, &bad);
        }
        headers.add(&github.header, &good);
        let keys = std::slice::from_ref(&key);
        github.verify(&headers, b"{}", keys, NOW).map(|_| ())
    };
    assert_eq!(verify(SignatureRules::MOST_VALUES - 1), Ok(()));
    assert!(matches!(
        verify(SignatureRules::MOST_VALUES),
        Err(SignatureError::Malformed { .. })
    ));
}

#[test]
fn a_secret_of_another_provider_is_refused_without_being_shown() {
    let error = rules("stripe").key("v1,whsec_SECRET").unwrap_err();
    assert!(!error.to_string().contains("SECRET"));
    assert_eq!(
        format!("{:?}", rules("stripe").key("whsec_SECRET").unwrap()),
        "SigningKey(redacted)"
    );
}

proptest! {
    #[test]
    fn any_change_of_body_or_time_breaks_the_signature(
        body in proptest::collection::vec(any::<u8>(), 1..60), at in any::<proptest::sample::Index>(), flip in 1u8..=255
    ) {
        let stripe = rules("stripe");
        let header = stripe.sign(&body, &stripe.key("whsec_a").unwrap(), NOW);
        prop_assert_eq!(check(&stripe, &header, &body, &["whsec_a"], NOW), Ok(()));
        let mut changed = body.clone();
        changed[at.index(body.len())] ^= flip;
        prop_assert_eq!(check(&stripe, &header, &changed, &["whsec_a"], NOW), Err(SignatureError::NoMatch));
        let later = header.replace("t=1700000000", "t=1700000001");
        prop_assert_eq!(check(&stripe, &later, &body, &["whsec_a"], NOW), Err(SignatureError::NoMatch));
    }
}
