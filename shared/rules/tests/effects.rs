//! Which actions a state, members together or a fact call for, and whether one is wanted when it is about to be sent.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail it by panicking"
)]

use std::time::Duration;

use lastword_config::Config;
use lastword_domain::decide::Fact;
use lastword_domain::effect::outbox::Asked;
use lastword_domain::name::{
    Account, EffectName, Environment, FactId, FactKind, IntegrationName, Provider, ResourceId,
    ResourceType, Role, SubjectId, SubjectKind,
};
use lastword_domain::{
    Content, Contents, Digest, EventRef, Json, Projection, ResourceKey, SubjectKey,
};
use lastword_rules::{Declared, Found, Meant, Member, Recorded, Unwanted, Wanted};

const CONFIG: &str = r#"
[integrations.erp]
contract = "generic-hmac"
account = "main"
environment = "live"
signing_secrets = ["env:ERP"]
[integrations.erp.define.order]
events = ["order.*"]
id = "body:/order/id"
snapshot = "/order"
version = "/order/version"
strategies = ["version"]
[integrations.erp.define.order.facts.paid]
events = ["order.paid"]
id = ["/id"]
content = "/order"
[integrations.erp.rules.order]
state = "state.status"
allow.ship = 'state.status == "paid"'

[subjects.customer.members.order]
from = "erp/order"
link = "state.customer"
[subjects.customer.rules]
state = "order.standing"

[effects.parcel]
on = "erp/order"
when = "state.total > 10"
while = '"ship" in verdict.allowed'
settle_seconds = 60
version = 3
data.id = "resource.id"
data.total = "state.total"

[effects.receipt]
on = "erp/order/paid"
when = "fact.content.total > 0"
while = 'standing == "present" && state.status != "refunded"'
data.order = "fact.id"
data.total = "fact.content.total"

[effects.welcome]
on = "customer"
when = 'order.standing == "present"'
data.customer = "subject.id"
data.state = "verdict.state"
"#;

fn declared(text: &str) -> Result<Declared, String> {
    let config = Config::parse("lastword.toml", text).map_err(|error| error.to_string())?;
    Declared::compile(&config).map_err(|error| error.to_string())
}

fn erp() -> IntegrationName {
    IntegrationName::parse("erp").unwrap()
}

fn name(text: &str) -> EffectName {
    EffectName::parse(text).unwrap()
}

fn order() -> ResourceKey {
    ResourceKey {
        provider: Provider::parse("generic-hmac").unwrap(),
        account: Account::parse("main").unwrap(),
        environment: Environment::parse("live").unwrap(),
        kind: ResourceType::parse("order").unwrap(),
        id: ResourceId::parse("o-1").unwrap(),
    }
}

fn content(text: &str) -> Content {
    Content::Present(Json::parse(text).unwrap())
}

fn is(contents: Contents) -> Projection {
    Projection {
        contents: Some(contents),
        ..Projection::unknown()
    }
}

fn state(text: &str) -> Projection {
    is(Contents::one(content(text)))
}

fn contested() -> Projection {
    is(Contents::several([(content("1"), None), (content("2"), None)]).unwrap())
}

fn asked(projection: &Projection) -> (Asked, Vec<String>) {
    let rules = declared(CONFIG).unwrap();
    let Meant { meaning, asked, .. } =
        rules.meaning(&erp(), &order(), projection, Found::default());
    let reviews = meaning.reviews.iter().map(|review| review.rule.to_string());
    let (rule, asked) = asked.into_iter().next().unwrap();
    assert_eq!(rule.to_string(), "parcel#3");
    (asked, reviews.collect())
}

fn parcel(projection: &Projection) -> Wanted {
    let rules = declared(CONFIG).unwrap();
    rules.wanted_of_resource(&name("parcel"), &order(), projection, None)
}

#[test]
fn what_calls_for_an_action_and_what_is_wanted_are_two_questions() {
    let open = r#"{"status":"open","total":20,"customer":"c"}"#;
    let (said, reviews) = asked(&state(open));
    assert_eq!((said.called, said.wanted), (Some(true), false));
    assert_eq!(said.settle, Duration::from_secs(60));
    assert!(reviews.is_empty());
    assert_eq!(parcel(&state(open)), Wanted::No(Unwanted::NotSo));
    let paid = r#"{"status":"paid","total":20.00,"customer":"c"}"#;
    let (said, _) = asked(&state(paid));
    assert_eq!((said.called, said.wanted), (Some(true), true));
    let data = Json::parse(r#"{"id":"o-1","total":20.00}"#).unwrap();
    assert_eq!(said.data.as_ref(), Some(&data));
    assert_eq!(parcel(&state(paid)), Wanted::Yes(data));
    let small = r#"{"status":"paid","total":5,"customer":"c"}"#;
    assert_eq!(asked(&state(small)).0.called, Some(false));
    assert_eq!(parcel(&state(small)), Wanted::No(Unwanted::NotSo));
}

#[test]
fn a_tombstone_calls_for_nothing_and_of_a_contested_state_nobody_can_say() {
    let deleted = is(Contents::one(Content::Deleted));
    assert_eq!(asked(&deleted).0.called, Some(false));
    assert_eq!(asked(&contested()).0.called, None);
    for projection in [deleted, contested(), Projection::unknown()] {
        assert_eq!(parcel(&projection), Wanted::No(Unwanted::NoState));
    }
}

#[test]
fn a_rule_that_cannot_be_evaluated_calls_for_a_person_and_sends_nothing() {
    let (said, reviews) = asked(&state(r#"{"status":"paid","customer":"c"}"#));
    assert_eq!((said.called, said.wanted), (None, false));
    assert_eq!(reviews, ["lastword.rule-failed"]);
    let wanted = parcel(&state(r#"{"status":"paid","customer":"c"}"#));
    assert_eq!(
        wanted,
        Wanted::Undecided("there is no member 'total'".to_owned())
    );
}

#[test]
fn an_action_that_tells_too_much_is_not_sent() {
    let long = "x".repeat(70_000);
    let text = CONFIG.replace("data.total = \"state.total\"", "data.note = \"state.note\"");
    let rules = declared(&text).unwrap();
    let held = state(&format!(
        r#"{{"status":"paid","total":20,"customer":"c","note":"{long}"}}"#
    ));
    let wanted = rules.wanted_of_resource(&name("parcel"), &order(), &held, None);
    let Wanted::Undecided(why) = wanted else {
        panic!("{wanted:?}");
    };
    assert!(
        why.contains("bytes, the most is 65536") && !why.contains("xxx"),
        "{why}"
    );
}

fn fact(total: &str) -> Fact {
    Fact {
        kind: FactKind::parse("paid").unwrap(),
        id: FactId::parse("o-1").unwrap(),
        content: Json::parse(&format!(r#"{{"id":"o-1","total":{total}}}"#)).unwrap(),
        event: EventRef::parse(&Digest::of(b"e").to_text()).unwrap(),
    }
}

fn receipt(fact: &Fact, held: &Projection) -> Wanted {
    let rules = declared(CONFIG).unwrap();
    let recorded = Recorded {
        kind: &fact.kind,
        id: &fact.id,
        content: &fact.content,
    };
    rules.wanted_of_resource(&name("receipt"), &order(), held, Some(recorded))
}

#[test]
fn a_fact_calls_for_its_action_by_what_it_says_alone_and_the_state_is_asked_when_it_is_sent() {
    let rules = declared(CONFIG).unwrap();
    let called = |total: &str, held: &Projection| {
        let called = rules.called_for(&erp(), &order(), held, &[fact(total)]);
        let each = called.into_iter();
        each.map(|called| (called.rule.to_string(), called.data.is_some()))
            .collect::<Vec<_>>()
    };
    let paid = state(r#"{"status":"paid","total":20,"customer":"c"}"#);
    let refunded = state(r#"{"status":"refunded","total":20,"customer":"c"}"#);
    assert_eq!(called("7", &paid), [("receipt#1".to_owned(), true)]);
    for held in [&refunded, &Projection::unknown(), &contested()] {
        assert_eq!(called("7", held), [("receipt#1".to_owned(), false)]);
        assert_eq!(receipt(&fact("7"), held), Wanted::No(Unwanted::NotSo));
    }
    assert!(called("0", &paid).is_empty());
    // What cannot be decided is called for, and a person sees why it is not sent.
    assert_eq!(called("\"?\"", &paid).len(), 1);
    assert!(matches!(
        receipt(&fact("\"?\""), &paid),
        Wanted::Undecided(_)
    ));
    let data = Json::parse(r#"{"order":"o-1","total":7}"#).unwrap();
    assert_eq!(receipt(&fact("7"), &paid), Wanted::Yes(data));
}

#[test]
fn what_calls_for_an_action_of_a_fact_cannot_see_the_state() {
    let text = CONFIG.replace("fact.content.total > 0", "state.total > 0");
    let told = declared(&text).unwrap_err();
    assert!(
        told.contains("effects.receipt.when") && told.contains("state"),
        "{told}"
    );
}

#[test]
fn an_action_of_a_subject_is_wanted_by_what_its_members_say_now() {
    let rules = declared(CONFIG).unwrap();
    let customer = SubjectKey {
        kind: SubjectKind::parse("customer").unwrap(),
        id: SubjectId::parse("c").unwrap(),
    };
    let role = Role::parse("order").unwrap();
    let (key, contents) = (order(), Contents::one(content(r#"{"status":"open"}"#)));
    let member = Member {
        role: &role,
        resource: &key,
        contents: &contents,
    };
    let wanted =
        |members: &[Member<'_>]| rules.wanted_of_subject(&name("welcome"), &customer, members);
    let data = Json::parse(r#"{"customer":"c","state":"present"}"#).unwrap();
    assert_eq!(wanted(&[member]), Wanted::Yes(data));
    assert_eq!(wanted(&[]), Wanted::No(Unwanted::NoState));
    let called = |members: &[Member<'_>]| {
        let asked = rules.subject(&customer, members).asked;
        asked.values().next().unwrap().called
    };
    assert_eq!(called(&[member]), Some(true));
    // When all have left it is not forgotten that the rule was asked.
    assert_eq!(called(&[]), Some(false));
}

#[test]
fn an_action_that_is_declared_no_more_or_of_something_else_is_not_wanted() {
    let rules = declared(CONFIG).unwrap();
    let held = state(r#"{"status":"paid","total":20,"customer":"c"}"#);
    let undeclared = Wanted::No(Unwanted::Undeclared);
    for other in ["gone", "receipt", "welcome"] {
        let wanted = rules.wanted_of_resource(&name(other), &order(), &held, None);
        assert_eq!(wanted, undeclared, "{other}");
    }
    let fact = fact("7");
    let recorded = Recorded {
        kind: &fact.kind,
        id: &fact.id,
        content: &fact.content,
    };
    let wanted = rules.wanted_of_resource(&name("parcel"), &order(), &held, Some(recorded));
    assert_eq!(wanted, undeclared);
    let invoice = ResourceKey {
        kind: ResourceType::parse("invoice").unwrap(),
        ..order()
    };
    let wanted = rules.wanted_of_resource(&name("parcel"), &invoice, &held, None);
    assert_eq!(wanted, undeclared);
}
