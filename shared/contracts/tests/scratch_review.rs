#![allow(
    clippy::all,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used
)]
use lastword_contracts::*;
use lastword_domain::name::*;
use std::collections::BTreeMap;
use std::time::Instant;

fn keys(c: &Contract, secrets: &[&str]) -> Keys {
    let mut k = c.signature.accept(None).unwrap();
    for s in secrets {
        c.signature.add_secret(&mut k, s).unwrap();
    }
    k
}
fn tenant(c: &Contract) -> Tenant {
    Tenant {
        provider: c.name.clone(),
        account: Account::parse("own").unwrap(),
        further: Default::default(),
        environment: Environment::parse("live").unwrap(),
    }
}
fn rss() -> u64 {
    let s = std::fs::read_to_string("/proc/self/status").unwrap();
    s.lines()
        .find(|l| l.starts_with("VmHWM"))
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn a_reads() {
    for (name, kind, idv, answer) in [
        (
            "paddle",
            "subscription",
            "sub_1",
            r#"{"data":{"id":"sub_1","status":"active"},"meta":{}}"#,
        ),
        (
            "square",
            "order",
            "o1",
            r#"{"order":{"id":"o1","state":"OPEN"}}"#,
        ),
        ("shopify", "order", "1", r#"{"order":{"id":1}}"#),
    ] {
        let c = Contract::builtin(name).unwrap();
        let r = &c.resources[&ResourceType::parse(kind).unwrap()];
        println!(
            "READ {name}: {:?}",
            r.seen(&ResourceId::parse(idv).unwrap(), answer.as_bytes())
                .map(|_| "ok")
        );
    }
}

#[test]
fn b_woo() {
    let c = Contract::builtin("woocommerce").unwrap();
    let reader = Reader::new(tenant(&c), &c, &c.resources);
    let k = keys(&c, &["s"]);
    let e = Endpoint::default();
    let mut seen = vec![];
    for (topic, delivery) in [
        ("order.deleted", "d1"),
        ("customer.deleted", "d2"),
        ("order.deleted", "d3"),
    ] {
        let body = br#"{"id":7}"#;
        let h0: Headers = [("content-type", "application/json")].into_iter().collect();
        let r0 = Request {
            method: "POST",
            query: "",
            headers: &h0,
            body,
            endpoint: &e,
        };
        let s = c.signature.sign(&r0, &k, 1_700_000_000).unwrap();
        let mut h: Headers = [
            ("content-type", "application/json"),
            ("X-WC-Webhook-Topic", topic),
            ("X-WC-Webhook-Delivery-ID", delivery),
        ]
        .into_iter()
        .collect();
        for (n, v) in &s.headers {
            h.add(n, v);
        }
        let r = Request {
            method: "POST",
            query: "",
            headers: &h,
            body,
            endpoint: &e,
        };
        let v = c
            .signature
            .verify(&r, &k, &FetchedKeys::new(), 1_700_000_000, None)
            .unwrap();
        match reader.read(&r, v) {
            Reading::Concerns(ev) => {
                println!(
                    "WOO {topic} {} -> {} {}",
                    delivery,
                    ev[0].identity.hash(),
                    ev[0].resources[0]
                );
                seen.push(ev[0].identity.hash().to_string());
            }
            o => panic!("{o:?}"),
        }
    }
}

#[test]
fn c_braintree_oracle() {
    let c = Contract::builtin("braintree").unwrap();
    let reader = Reader::new(tenant(&c), &c, &c.resources);
    let k = keys(&c, &["privatekey"]);
    let e = Endpoint {
        url: None,
        parameters: BTreeMap::from([("public_key".to_owned(), "pub".to_owned())]),
    };
    // the stranger asks
    let h = Headers::default();
    let challenge = "00112233445566778899aabbccddeeff";
    let q = format!("bt_challenge={challenge}");
    let ask = Request {
        method: "GET",
        query: &q,
        headers: &h,
        body: b"",
        endpoint: &e,
    };
    let hs = c
        .handshake
        .iter()
        .find(|x| x.is(&ask, &c.signature))
        .unwrap();
    let answer = hs.answer(&ask, &k, None).unwrap().body;
    println!("ORACLE {answer}");
    // and posts
    let sig: String = form_urlencode(&answer);
    let body = format!(
        "bt_signature={sig}&bt_payload={challenge}&junk={}",
        "A".repeat(1_000_000)
    );
    let h: Headers = [("content-type", "application/x-www-form-urlencoded")]
        .into_iter()
        .collect();
    let r = Request {
        method: "POST",
        query: "",
        headers: &h,
        body: body.as_bytes(),
        endpoint: &e,
    };
    let v = c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None);
    println!("ORACLE verified {}", v.is_ok());
    match reader.read(&r, v.unwrap()) {
        Reading::Concerns(ev) => println!(
            "ORACLE STORED type={} bytes={}",
            ev[0].kind,
            ev[0].body.len()
        ),
        o => println!("ORACLE other {o:?}"),
    }
}
fn form_urlencode(t: &str) -> String {
    t.replace('|', "%7C")
}

#[test]
fn d_twilio_dos() {
    let c = Contract::builtin("twilio").unwrap();
    let k = keys(&c, &["one", "two"]);
    let e = Endpoint {
        url: Some("https://h.example/webhooks/t".into()),
        parameters: BTreeMap::new(),
    };
    let mut body = String::new();
    let mut x: u32 = 12345;
    while body.len() < 4_400_000 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        body.push((b'a' + ((x >> 24) % 26) as u8) as char);
        body.push('&');
    }
    for values in [1usize, 8] {
        let mut h: Headers = [("content-type", "application/x-www-form-urlencoded")]
            .into_iter()
            .collect();
        for _ in 0..values {
            h.add("X-Twilio-Signature", "AAAA");
        }
        let r = Request {
            method: "POST",
            query: "",
            headers: &h,
            body: body.as_bytes(),
            endpoint: &e,
        };
        let before = rss();
        let t = Instant::now();
        let v = c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None);
        println!(
            "TWILIO values={values} {:?} {} ms, peak {} -> {} KB",
            v.is_ok(),
            t.elapsed().as_millis(),
            before,
            rss()
        );
    }
}

#[test]
fn e_ed25519_dos() {
    let c = Contract::builtin("discord").unwrap();
    let k = keys(
        &c,
        &["3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"],
    );
    let e = Endpoint::default();
    let body = vec![b'{'; 4_400_000];
    for n in [1usize, 70, 8 * 70] {
        let mut h: Headers = [
            ("content-type", "application/json"),
            ("X-Signature-Timestamp", "1"),
        ]
        .into_iter()
        .collect();
        let per = if n > 70 { 8 } else { 1 };
        for _ in 0..per {
            let sig = vec!["00".repeat(64); n / per].join(",");
            h.add("X-Signature-Ed25519", &sig);
        }
        let r = Request {
            method: "POST",
            query: "",
            headers: &h,
            body: &body,
            endpoint: &e,
        };
        let t = Instant::now();
        let v = c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None);
        println!("ED25519 sigs={n} {:?} {} ms", v, t.elapsed().as_millis());
    }
}

#[test]
fn f_braintree_sig_list() {
    let c = Contract::builtin("braintree").unwrap();
    let k = keys(&c, &["privatekey"]);
    let e = Endpoint::default();
    let body = format!("bt_payload=x&bt_signature={}", "|00%26".repeat(700_000));
    let h: Headers = [("content-type", "application/x-www-form-urlencoded")]
        .into_iter()
        .collect();
    let r = Request {
        method: "POST",
        query: "",
        headers: &h,
        body: body.as_bytes(),
        endpoint: &e,
    };
    let before = rss();
    let t = Instant::now();
    let v = c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None);
    println!(
        "BTLIST {} {:?} {} ms peak {} -> {} KB",
        body.len(),
        v.is_ok(),
        t.elapsed().as_millis(),
        before,
        rss()
    );
}

#[test]
fn g_mercado_shift() {
    let c = Contract::builtin("mercadopago").unwrap();
    let reader = Reader::new(tenant(&c), &c, &c.resources);
    let k = keys(&c, &["s"]);
    let e = Endpoint::default();
    use hmac::{Hmac, KeyInit, Mac};
    let mut m = Hmac::<sha2::Sha256>::new_from_slice(b"s").unwrap();
    m.update(b"id:1;request-id:abc;ts:17;");
    let sig = hex::encode(m.finalize().into_bytes());
    let h: Headers = [("x-signature", format!("ts=17,v1={sig}").as_str())]
        .into_iter()
        .collect();
    let body = br#"{"type":"payment","action":"payment.updated","data":{"id":"1"}}"#;
    let r = Request {
        method: "POST",
        query: "data.id=1%3Brequest-id%3Aabc",
        headers: &h,
        body,
        endpoint: &e,
    };
    let v = c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None);
    println!("MP shift verified {:?}", v.is_ok());
    if let Ok(v) = v {
        println!(
            "MP {:?}",
            match reader.read(&r, v) {
                Reading::Concerns(e) => e[0].resources[0].to_string(),
                o => format!("{o:?}"),
            }
        );
    }
}

#[test]
fn h_discord_shift_and_prefix_only_secret() {
    let c = Contract::builtin("stripe").unwrap();
    let mut k = c.signature.accept(None).unwrap();
    println!(
        "STRIPE bare prefix as secret: {:?}",
        c.signature.add_secret(&mut k, "whsec_")
    );
    let c = Contract::builtin("standard-webhooks").unwrap();
    let mut k = c.signature.accept(None).unwrap();
    println!(
        "STDWH one byte secret: {:?}",
        c.signature.add_secret(&mut k, "whsec_AA==")
    );
    let mut k = c.signature.accept(None).unwrap();
    println!(
        "STDWH bare public key: {:?}",
        c.signature
            .add_secret(&mut k, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik=")
    );
    let c = Contract::builtin("chargebee").unwrap();
    let mut k = c.signature.accept(None).unwrap();
    println!(
        "BASIC ':' secret: {:?}",
        c.signature.add_secret(&mut k, ":")
    );
}

#[test]
fn i_foreign_batch() {
    let c = Contract::builtin("meta").unwrap();
    let reader = Reader::new(tenant(&c), &c, &c.resources);
    let k = keys(&c, &["s"]);
    let e = Endpoint::default();
    let ch = |acc: &str, id: &str| {
        format!(
            r#"{{"field":"messages","value":{{"metadata":{{"phone_number_id":"{acc}"}},"messages":[{{"id":"{id}"}}]}}}}"#
        )
    };
    let body = format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"1","changes":[{},{}]}}]}}"#,
        ch("own", "m1"),
        ch("other", "m2")
    );
    let h0 = Headers::default();
    let r0 = Request {
        method: "POST",
        query: "",
        headers: &h0,
        body: body.as_bytes(),
        endpoint: &e,
    };
    let s = c.signature.sign(&r0, &k, 1).unwrap();
    let mut h = Headers::default();
    for (n, v) in &s.headers {
        h.add(n, v);
    }
    let r = Request {
        method: "POST",
        query: "",
        headers: &h,
        body: body.as_bytes(),
        endpoint: &e,
    };
    let v = c
        .signature
        .verify(&r, &k, &FetchedKeys::new(), 1, None)
        .unwrap();
    println!(
        "FOREIGN {:?}",
        matches!(reader.read(&r, v), Reading::ForeignAccount)
    );
}
#[test]
fn j_plaid_cache_name() {
    use base64::Engine as _;
    let enc = |t: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(t);
    let c = Contract::builtin("plaid").unwrap();
    let jwt = format!(
        "{}.{}.{}",
        enc(r#"{"alg":"ES256","kid":"K"}"#),
        enc(&format!(
            r#"{{"iat":1,"request_body_sha256":"{}"}}"#,
            "0".repeat(64)
        )),
        enc("xxxx")
    );
    for (client, secret) in [("tenant-a", "sa"), ("tenant-b", "sb")] {
        let mut k = c.signature.accept(None).unwrap();
        c.signature.add_secret(&mut k, secret).unwrap();
        let e = Endpoint {
            url: None,
            parameters: BTreeMap::from([
                ("host".to_owned(), "production.plaid.com".to_owned()),
                ("client_id".to_owned(), client.to_owned()),
            ]),
        };
        let h: Headers = [("Plaid-Verification", jwt.as_str())].into_iter().collect();
        let r = Request {
            method: "POST",
            query: "",
            headers: &h,
            body: b"{}",
            endpoint: &e,
        };
        match c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None) {
            Err(SignatureError::KeyNeeded(q)) => {
                println!("PLAID {client}: name={:?} posts={:?}", q.name, q.json)
            }
            o => println!("{o:?}"),
        }
    }
}
#[test]
fn k_twilio_lossy() {
    let c = Contract::builtin("twilio").unwrap();
    let k = keys(&c, &["s"]);
    let e = Endpoint {
        url: Some("https://h.example/t".into()),
        parameters: BTreeMap::new(),
    };
    let base = "AccountSid=own&Body=hi&MessageSid=SM1&MessageStatus=sent";
    let h0: Headers = [("content-type", "application/x-www-form-urlencoded")]
        .into_iter()
        .collect();
    let r0 = Request {
        method: "POST",
        query: "",
        headers: &h0,
        body: base.as_bytes(),
        endpoint: &e,
    };
    let s = c.signature.sign(&r0, &k, 1).unwrap();
    let reader = Reader::new(tenant(&c), &c, &c.resources);
    for body in [
        base,
        "AccountSid=own&BodyhiMessageSidSM1MessageStatus=sent",
        "AccountSid=own&BodyhiMessageS=idSM1MessageStatussent",
        "AccountSid=own&BodyhiMessageSid=SM1&MessageStatus=sent",
        "AccountSidown=&Body=hi&MessageSid=SM1&MessageStatus=sent&AccountSidown=&MessageSid=SM1",
    ] {
        let mut h: Headers = [("content-type", "application/x-www-form-urlencoded")]
            .into_iter()
            .collect();
        for (n, v) in &s.headers {
            h.add(n, v);
        }
        let r = Request {
            method: "POST",
            query: "",
            headers: &h,
            body: body.as_bytes(),
            endpoint: &e,
        };
        match c.signature.verify(&r, &k, &FetchedKeys::new(), 1, None) {
            Ok(v) => println!(
                "TW {body}: {}",
                match reader.read(&r, v) {
                    Reading::Concerns(e) => format!("{} {:?}", e[0].kind, e[0].resources),
                    o => format!("{o:?}"),
                }
            ),
            Err(e) => println!("TW {body}: {e}"),
        }
    }
}
