//! Real payloads, read where they are present; they are not part of this repository. `LASTWORD_PAYLOADS`
//! names their folder, else one that stands beside the checkout is looked for.

use std::path::PathBuf;

use lastword_contracts::{FetchedKeys, Headers, Reading};
use serde_json::{Value, json};

use crate::world::*;

fn payloads(provider: &str) -> Vec<(String, String)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/payloads");
    let folder = std::env::var("LASTWORD_PAYLOADS")
        .map_or_else(|_| beside(), PathBuf::from)
        .join(provider);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("no real payloads of {provider} at hand; nothing is claimed about them");
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some())
        .collect();
    files.sort();
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

#[tokio::test]
async fn every_real_github_payload_is_kept_or_ignored_and_about_what_it_says() {
    let mut kept = 0;
    for (number, (name, text)) in payloads("github").into_iter().enumerate() {
        let body: Value = serde_json::from_str(&text).unwrap();
        let owner = body["repository"]["owner"]["id"].as_u64();
        let config = CONFIG.replace(
            "account = \"10\"",
            &format!("account = \"{}\"", owner.unwrap_or(10)),
        );
        // A machine for each owner would be slow; one reader is enough for what is asked here.
        let config = lastword_config::Config::parse("test", &config).unwrap();
        let code = config.integration("code").unwrap();
        let keys = code.keys(["secret"]).unwrap();
        let event = name.split('.').next().unwrap();
        let guid = number.to_string();
        let signed = code.sign(&keys, &Headers::default(), text.as_bytes(), NOW);
        let signature = signed.unwrap().headers.remove(0).1;
        let headers = [
            ("x-hub-signature-256", signature.as_str()),
            ("x-github-event", event),
            ("x-github-delivery", &guid),
        ];
        let headers: Headers = headers.into_iter().collect();
        let request = code.request("POST", "", &headers, text.as_bytes());
        let schemes = &code.contract.signature;
        let verified = schemes.verify(&request, &keys, &FetchedKeys::new(), NOW, None);
        match code.reader.read(&request, verified.unwrap()) {
            Reading::Concerns(found) => {
                assert!(matches!(event, "issues" | "pull_request"), "{name}");
                let number = body["issue"]["number"]
                    .as_u64()
                    .or(body["pull_request"]["number"].as_u64());
                let expected = format!("{}/{}", body["repository"]["id"], number.unwrap());
                assert_eq!(found[0].resources[0].id.as_str(), expected, "{name}");
                kept += 1;
            }
            Reading::Unrouted(kind) => {
                assert!(
                    !matches!(event, "issues" | "pull_request"),
                    "{name} {kind:?}"
                );
            }
            other @ (Reading::Partly(_)
            | Reading::OtherEnvironment
            | Reading::ForeignAccount
            | Reading::Refused(_)) => {
                panic!("{name}: {other:?}")
            }
        }
    }
    println!("{kept} real payloads concern something that is kept");
}

#[tokio::test]
async fn real_stripe_objects_walk_the_whole_way_inside_an_event() {
    let machine = machine().await;
    let worker = machine.worker().unwrap();
    for (name, text) in payloads("stripe") {
        let object: Value = serde_json::from_str(&text).unwrap();
        let (kind, path, event) = match name.as_str() {
            "subscription.json" => (
                "subscription",
                "subscriptions",
                "customer.subscription.updated",
            ),
            "invoice.json" => ("invoice", "invoices", "invoice.paid"),
            "customer.json" => ("customer", "customers", "customer.updated"),
            "charge.json" => ("charge", "charges", "charge.succeeded"),
            "payment_intent.json" => (
                "payment_intent",
                "payment_intents",
                "payment_intent.succeeded",
            ),
            _ => continue,
        };
        let id = object["id"].as_str().unwrap();
        let body = json!({"id": format!("evt_{kind}"), "object": "event", "type": event, "livemode": true, "created": 1, "data": {"object": object}});
        machine
            .standin
            .show(&format!("/v1/{path}/{id}"), text.clone());
        assert_eq!(
            post(&machine, &worker, &body.to_string()).await.body,
            r#"{"received":"new"}"#,
            "{name}"
        );
        machine.settle(&worker).await.unwrap();
        let story = story(
            &machine,
            &worker,
            &key("stripe", "acct_1", "live", kind, id),
        )
        .await;
        let held = story.projection.unwrap().contents.unwrap();
        let lastword_domain::Standing::Present(json) = held.standing() else {
            panic!("{name}")
        };
        assert_eq!(
            json.as_str(),
            text.trim(),
            "{name}: the state is kept to the byte"
        );
    }
}
