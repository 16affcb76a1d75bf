//! What states mean: rules that fail, numbers that stay exact, budgets, and rules that a deployment changes.

use lastword_domain::Outcome;
use lastword_store::Story;
use serde_json::json;

use crate::shop::*;
use crate::world::*;

fn page(version: u32, fields: &str) -> String {
    let object = format!(r#"{{"id":"p","version":{version},{fields}}}"#);
    told(&format!("p{version}"), "page.changed", &object)
}

fn judged(story: &Story) -> String {
    let meaning = &story.projection.as_ref().unwrap().meaning;
    meaning.verdict.as_ref().unwrap().as_str().to_owned()
}

#[tokio::test]
async fn a_rule_that_fails_allows_nothing_and_asks_a_person_until_it_can_be_evaluated() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    each(&machine, &worker, &[page(1, r#""status":"public""#)]).await;
    let told = story_of(&machine, &worker, "page", "p").await;
    let undecided = judged(&told);
    assert!(
        undecided.starts_with(r#"{"allowed":[],"data":{},"failed":{"#)
            && undecided.contains("there is no member 'amount'")
            && undecided.ends_with(r#""state":"undecided"}"#),
        "{undecided}"
    );
    assert_eq!(open(&told.reviews), ["lastword.rule-failed"]);
    assert_eq!(outcomes(&told), [Outcome::Applied]);
    each(
        &machine,
        &worker,
        &[page(2, r#""status":"public","amount":1"#)],
    )
    .await;
    let told = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(
        judged(&told),
        r#"{"allowed":["show"],"data":{"amount":1},"state":"public"}"#
    );
    assert_eq!(open(&told.reviews), Vec::<String>::new());
}

#[tokio::test]
async fn numbers_stay_exact_from_the_body_to_the_state_and_the_verdict() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let long = "123456789012345678901234567890123456789";
    let numbers = [
        "9007199254740993",
        "18446744073709551616",
        "1.10",
        long,
        "-0.000001",
        "1e2",
    ];
    for (at, number) in numbers.iter().enumerate() {
        let version = u32::try_from(at).unwrap() + 1;
        let fields = format!(r#""status":"public", "amount": {number}"#);
        each(&machine, &worker, &[page(version, &fields)]).await;
        let told = story_of(&machine, &worker, "page", "p").await;
        let contents = told.projection.as_ref().unwrap().contents.clone().unwrap();
        let lastword_domain::Standing::Present(state) = contents.standing() else {
            panic!("{contents:?}");
        };
        let exact = format!(r#"{{"id":"p","version":{version},{fields}}}"#);
        assert_eq!(state.as_str(), exact, "byte for byte");
        assert!(
            judged(&told).contains(r#""state":"public""#),
            "{}",
            judged(&told)
        );
        let shown = judged(&told);
        let shown = shown
            .split("\"amount\":")
            .nth(1)
            .unwrap()
            .split('}')
            .next()
            .unwrap();
        let same = shown == *number || (*number == "1.10" && shown == "1.1");
        assert!(same || *number == "1e2", "{number} became {shown}");
    }
}

#[tokio::test]
async fn rules_over_their_budget_are_undecided_and_the_event_is_decided_all_the_same() {
    let rule = "state.list.all(a, state.list.all(b, state.list.all(c, a + b + c >= 0)))";
    let config = SHOP.replace(
        "data.amount = \"state.amount\"",
        &format!("data.amount = \"{rule}\""),
    );
    let machine = shop_with(&config).await;
    let worker = machine.worker().unwrap();
    let list: Vec<_> = (0..2000).collect();
    let fields = format!(r#""status":"public","list":{}"#, json!(list));
    each(&machine, &worker, &[page(1, &fields)]).await;
    let told = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(outcomes(&told), [Outcome::Applied]);
    assert!(judged(&told).contains("undecided"), "{}", judged(&told));
    assert_eq!(open(&told.reviews), ["lastword.rule-failed"]);
    assert_eq!(says(&told), "public");
}

#[tokio::test]
async fn rules_of_a_new_deployment_count_at_the_next_signal_though_the_state_is_the_same() {
    let mut machine = shop().await;
    let worker = machine.worker().unwrap();
    let fields = r#""status":"public","amount":1"#;
    each(&machine, &worker, &[page(1, fields)]).await;
    let before = story_of(&machine, &worker, "page", "p").await;
    let config = SHOP.replace(
        "allow.show = \"state.status == 'public'\"",
        "allow.hide = \"true\"",
    );
    machine.deploy(shop_config(&config)).unwrap();
    let worker = machine.worker().unwrap();
    let again = page(1, fields).replace("\"p1\"", "\"p1-again\"");
    each(&machine, &worker, &[again]).await;
    let after = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(
        judged(&before),
        r#"{"allowed":["show"],"data":{"amount":1},"state":"public"}"#
    );
    assert_eq!(
        judged(&after),
        r#"{"allowed":["hide"],"data":{"amount":1},"state":"public"}"#
    );
    let contents = |story: &Story| story.projection.as_ref().unwrap().contents.clone();
    assert_eq!(contents(&before), contents(&after));
    let again = decided(&after, &event("p1-again"));
    assert_eq!(again, Some(Outcome::Duplicate));
}

#[tokio::test]
async fn a_contested_and_a_deleted_state_allow_nothing() {
    let machine = shop().await;
    let worker = machine.worker().unwrap();
    let one = page(1, r#""status":"public","amount":1"#);
    let other = page(1, r#""status":"public","amount":2"#).replace("\"p1\"", "\"p1b\"");
    each(&machine, &worker, &[one, other]).await;
    let told = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(
        judged(&told),
        r#"{"allowed":[],"data":{},"state":"contested"}"#
    );
    each(
        &machine,
        &worker,
        &[versioned("gone", "page", "p", 2, "deleted")],
    )
    .await;
    let told = story_of(&machine, &worker, "page", "p").await;
    assert_eq!(
        judged(&told),
        r#"{"allowed":[],"data":{},"state":"deleted"}"#
    );
}
