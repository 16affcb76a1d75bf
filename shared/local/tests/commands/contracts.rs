//! `contracts`: which there are, and what each says.

use lastword_contracts::Contract;
use serde_json::Value;

use crate::bench::Desk;

#[test]
fn the_list_names_every_contract_how_it_signs_what_it_keeps_and_how_sure_it_is() {
    let said = Desk::new().run(&["contracts"]);
    assert_eq!((said.err.as_str(), said.code), ("", Some(0)));
    for name in Contract::names() {
        let starts = |line: &str| line.split(' ').next() == Some(name);
        assert!(
            said.out.lines().any(starts),
            "{name} is not in {}",
            said.out
        );
    }
    for text in [
        "v1: HMAC-SHA256",
        "token: the secret itself",
        "current: ",
        "those that the integration defines",
        "none; events are taken in",
        "believed",
    ] {
        assert!(said.out.contains(text), "{text} is not in {}", said.out);
    }
    assert!(
        !said.out.contains('\u{1b}'),
        "no colour where it is no terminal"
    );
}

#[test]
fn json_lists_the_same_for_programs() {
    let said = Desk::new().run(&["contracts", "--json"]);
    let told = said.json();
    let listed = told["contracts"].as_array().unwrap();
    let names: Vec<_> = listed
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, Contract::names().collect::<Vec<_>>());
    let stripe = listed.iter().find(|it| it["name"] == "stripe").unwrap();
    assert_eq!(stripe["signature"][0]["algorithm"], "HMAC-SHA256");
    assert_eq!(stripe["resources"][0]["strategies"][0], "current");
    assert!(stripe["certainty"].is_string());
}

/// Every `source` in a document.
fn sources<'d>(document: &'d Value, found: &mut Vec<&'d str>) {
    match document {
        Value::Object(members) => {
            found.extend(members.get("source").and_then(Value::as_str));
            members.values().for_each(|inner| sources(inner, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| sources(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn every_contract_is_explained_and_each_of_its_claims_names_its_source() {
    let desk = Desk::new();
    for name in Contract::names() {
        let told = desk.run(&["contracts", "show", name, "--json"]).json();
        let said = desk.run(&["contracts", "show", name]);
        assert_eq!((said.err.as_str(), said.code), ("", Some(0)), "{name}");
        let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut claimed = Vec::new();
        sources(&told, &mut claimed);
        assert!(claimed.len() > 4, "{name}");
        for source in claimed {
            let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown = flat.contains(&format!("known from {source} certainty"));
            assert!(shown, "{name} does not show {source} in {flat}");
        }
        for section in [
            "Signature: ",
            "Event",
            "Order",
            "Acknowledgement",
            "\"not there\"",
        ] {
            assert!(said.out.contains(section), "{name} has no {section}");
        }
    }
}

#[test]
fn what_a_signature_covers_and_does_not_cover_is_told() {
    let said = Desk::new().run(&["contracts", "show", "stripe"]);
    for text in [
        "stands in           the header Stripe-Signature",
        "each \"v1=signature\"; any that matches is enough",
        "signed text         \"{timestamp}.{body}\"",
        "window              300 seconds from our clock, either way",
        "404: deleted, if an event said so too; else it proves nothing",
    ] {
        assert!(said.out.contains(text), "{text} is not in {}", said.out);
    }
    let said = Desk::new().run(&["contracts", "show", "github"]);
    let text = "does NOT cover      event id, event type";
    assert!(said.out.contains(text), "{}", said.out);
}

#[test]
fn an_unknown_contract_is_told_with_what_was_perhaps_meant() {
    let said = Desk::new().run(&["contracts", "show", "strpe"]);
    assert_eq!((said.out.as_str(), said.code), ("", Some(2)));
    let told =
        "unknown contract \"strpe\"; did you mean \"stripe\"? `lastword contracts` lists them";
    assert!(said.err.contains(told), "{}", said.err);
}
