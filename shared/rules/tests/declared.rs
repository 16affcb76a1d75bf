//! What a configuration declares: where a mistake is, and what states mean.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helpers fail it by panicking"
)]

use lastword_config::Config;
use lastword_domain::name::{
    Account, Environment, IntegrationName, Provider, ResourceId, ResourceType, Role, SubjectId,
    SubjectKind,
};
use lastword_domain::{
    Content, Contents, Grave, Json, Meaning, Projection, Proof, ResourceKey, SubjectKey, Version,
};
use lastword_rules::{Declared, Found, Member};
use proptest::prelude::*;

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

[integrations.erp.rules.order]
state = "state.status"
allow.ship = 'state.status == "paid" && state.total >= 1.10'
data.total = "state.total"
review.large.when = "state.total > 1000"
review.large.evidence = "state.total"

[subjects.customer.members.order]
from = "erp/order"
link = "has(state.customer) ? state.customer : null"
many = true
[subjects.customer.members.main]
from = "erp/order"
link = "has(state.main_of) ? state.main_of : null"

[subjects.customer.rules]
state = 'main.standing == "present" ? main.state.status : main.standing'
allow.order = 'order.all(o, o.standing == "present" && o.state.status != "overdue")'
data.total = "order.map(o, o.state.total)"
"#;

fn declared(text: &str) -> Result<Declared, String> {
    let config = Config::parse("lastword.toml", text).map_err(|error| error.to_string())?;
    Declared::compile(&config).map_err(|error| error.to_string())
}

fn order(id: &str) -> ResourceKey {
    ResourceKey {
        provider: Provider::parse("generic-hmac").unwrap(),
        account: Account::parse("main").unwrap(),
        environment: Environment::parse("live").unwrap(),
        kind: ResourceType::parse("order").unwrap(),
        id: ResourceId::parse(id).unwrap(),
    }
}

fn present(text: &str) -> Content {
    Content::Present(Json::parse(text).unwrap())
}

fn held(contents: Contents) -> Projection {
    Projection {
        contents: Some(contents),
        ..Projection::unknown()
    }
}

fn means(projection: &Projection) -> Meaning {
    let erp = IntegrationName::parse("erp").unwrap();
    let rules = declared(CONFIG).unwrap();
    rules
        .meaning(&erp, &order("o-1"), projection, Found::default())
        .meaning
}

fn rules_of(meaning: &Meaning) -> Vec<String> {
    let each = meaning.reviews.iter();
    each.map(|review| review.rule.to_string()).collect()
}

fn verdict(meaning: &Meaning) -> &str {
    meaning.verdict.as_ref().unwrap().as_str()
}

#[test]
fn a_mistake_is_told_with_file_line_column_and_setting_and_all_of_them_at_once() {
    let broken = CONFIG
        .replace(
            "data.total = \"state.total\"",
            "data.total = \"state.total +\"",
        )
        .replace("state = \"state.status\"", "state = '''\n  status'''")
        .replace(
            "order.map(o, o.state.total)",
            "orders.map(o, o.state.total)",
        );
    let told = declared(&broken).unwrap_err();
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines.len(), 3, "{told}");
    let line_of = |part: &str| broken.lines().position(|line| line.contains(part)).unwrap() + 1;
    let expected = [
        (
            line_of("  status'''"),
            "integrations.erp.rules.order.state",
            "column 3",
        ),
        (
            line_of("state.total +"),
            "integrations.erp.rules.order.data.total",
            "column",
        ),
        (
            line_of("orders.map"),
            "subjects.customer.rules.data.total",
            "column 1",
        ),
    ];
    for (told, (line, setting, words)) in lines.iter().zip(expected) {
        assert!(
            told.starts_with(&format!("lastword.toml:{line}: {setting}: ")),
            "{told}"
        );
        assert!(told.contains(words), "{told}");
    }
    assert!(
        lines[2].contains("order"),
        "the nearest name is shown: {}",
        lines[2]
    );
}

#[test]
fn names_that_cannot_be_are_refused() {
    for (from, to, words) in [
        ("members.order]", "members.Order]", "a role is a variable"),
        ("members.order]", "members.subject]", "a role is a variable"),
        (
            "from = \"erp/order\"\nlink = \"has(state.customer)",
            "from = \"erp/parcel\"\nlink = \"has(state.customer)",
            "kept are erp/order",
        ),
        (
            "rules.order]",
            "rules.parcel]",
            "no state of such a resource type",
        ),
        (
            "review.large.",
            "review.\"lastword.x\".",
            "are kept for our own reviews",
        ),
    ] {
        assert!(CONFIG.contains(from), "{from}");
        let told = declared(&CONFIG.replace(from, to)).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
}

#[test]
fn a_state_s_verdict_keeps_its_numbers_and_a_review_its_evidence() {
    let total = "123456789012345678901234567890123456789.50";
    let text = format!(r#"{{"status":"paid","total":{total},"customer":"c 😊"}}"#);
    let meaning = means(&held(Contents::one(present(&text))));
    assert_eq!(
        verdict(&meaning),
        format!(r#"{{"allowed":["ship"],"data":{{"total":{total}}},"state":"paid"}}"#)
    );
    assert_eq!(rules_of(&meaning), ["large"]);
    let link = meaning.links.first().unwrap();
    assert_eq!(
        (link.role.as_str(), link.subject.id.as_str()),
        ("order", "c 😊")
    );
    // The same evidence is the same review, whatever else changed.
    let other = text.replace("paid", "sent");
    assert_eq!(
        means(&held(Contents::one(present(&other)))).reviews,
        meaning.reviews
    );
    let other = text.replace(".50", ".51");
    assert_ne!(
        means(&held(Contents::one(present(&other)))).reviews,
        meaning.reviews
    );
}

#[test]
fn nothing_is_allowed_of_what_is_deleted_contested_or_undecidable() {
    let paid = r#"{"status":"paid","total":5}"#;
    let deleted = means(&held(Contents::one(Content::Deleted)));
    assert_eq!(
        verdict(&deleted),
        r#"{"allowed":[],"data":{},"state":"deleted"}"#
    );
    assert!(deleted.links.is_empty() && deleted.reviews.is_empty());
    let both = Contents::one(present(paid)).union(Contents::one(present("{}")));
    let contested = means(&held(both));
    assert_eq!(
        verdict(&contested),
        r#"{"allowed":[],"data":{},"state":"contested"}"#
    );
    assert_eq!(rules_of(&contested), ["lastword.contested"]);
    let undecided = means(&held(Contents::one(present(r#"{"status":"paid"}"#))));
    let told = verdict(&undecided);
    assert!(
        told.contains(r#""allow.ship":"there is no member 'total'""#),
        "{told}"
    );
    assert!(
        told.starts_with(r#"{"allowed":[],"data":{},"#)
            && told.ends_with(r#""state":"undecided"}"#),
        "{told}"
    );
    assert_eq!(rules_of(&undecided), ["lastword.rule-failed"]);
}

#[test]
fn a_later_version_of_what_was_deleted_for_good_calls_for_a_person() {
    let version = |n: u32| Version::parse(&n.to_string()).unwrap();
    let grave = |at: u32, greatest: u32| Projection {
        grave: Some(Grave {
            proof: Proof::Event,
            version: Some(version(at)),
        }),
        version: Some(version(greatest)),
        ..held(Contents::one(Content::Deleted))
    };
    assert!(means(&grave(5, 5)).reviews.is_empty());
    assert_eq!(
        rules_of(&means(&grave(5, 6))),
        ["lastword.changed-after-deletion"]
    );
}

#[test]
fn a_contested_resource_speaks_about_every_subject_that_any_of_its_contents_names() {
    let both = Contents::one(present(r#"{"customer":"a"}"#))
        .union(Contents::one(present(r#"{"customer":"b"}"#)));
    let links = means(&held(both)).links;
    let ids: Vec<_> = links.iter().map(|link| link.subject.id.as_str()).collect();
    assert_eq!(ids, ["a", "b"]);
}

#[test]
fn a_state_that_speaks_about_too_many_subjects_speaks_about_none_and_a_person_is_told() {
    let many: Vec<_> = (0..11).map(|n| format!("\"c{n}\"")).collect();
    let text = format!(
        r#"{{"status":"paid","total":1,"customer":[{}]}}"#,
        many.join(",")
    );
    let meaning = means(&held(Contents::one(present(&text))));
    assert!(meaning.links.is_empty());
    assert_eq!(rules_of(&meaning), ["lastword.rule-failed"]);
}

fn customer() -> SubjectKey {
    SubjectKey {
        kind: SubjectKind::parse("customer").unwrap(),
        id: SubjectId::parse("c").unwrap(),
    }
}

/// What these members mean together, told in the order given.
fn together(members: &[(&str, &str, Contents)]) -> Meaning {
    let owned: Vec<_> = members
        .iter()
        .map(|(role, id, contents)| (Role::parse(role).unwrap(), order(id), contents))
        .collect();
    let members: Vec<_> = owned
        .iter()
        .map(|(role, resource, contents)| Member {
            role,
            resource,
            contents,
        })
        .collect();
    declared(CONFIG)
        .unwrap()
        .subject(&customer(), &members)
        .meaning
}

#[test]
fn a_missing_member_is_seen_as_missing_and_several_in_a_role_for_one_as_several() {
    let paid = || Contents::one(present(r#"{"status":"paid","total":1.10}"#));
    let missing = together(&[("order", "1", paid())]);
    assert_eq!(
        verdict(&missing),
        r#"{"allowed":["order"],"data":{"total":[1.10]},"state":"missing"}"#
    );
    let one = together(&[("main", "1", paid())]);
    assert_eq!(
        verdict(&one),
        r#"{"allowed":["order"],"data":{"total":[]},"state":"paid"}"#
    );
    let two = together(&[("main", "1", paid()), ("main", "2", paid())]);
    assert_eq!(
        verdict(&two),
        r#"{"allowed":["order"],"data":{"total":[]},"state":"several"}"#
    );
    assert_eq!(rules_of(&two), ["lastword.several-members"]);
    assert_eq!(together(&[]), Meaning::default());
}

#[test]
fn a_contested_member_is_seen_as_contested() {
    let both = Contents::one(present(r#"{"status":"paid","total":1}"#))
        .union(Contents::one(present(r#"{"status":"sent","total":1}"#)));
    let meaning = together(&[("main", "1", both)]);
    assert!(
        verdict(&meaning).contains(r#""state":"contested""#),
        "{}",
        verdict(&meaning)
    );
}

proptest! {
    /// Law 12 and law 4: members are a set; no order of arrival can show in what they mean.
    #[test]
    fn a_subject_means_the_same_in_whatever_order_its_members_are_met(
        mut members in proptest::collection::vec((0usize..2, 0u8..6, 0u8..4, any::<bool>()), 0..8),
        seed in any::<u64>(),
    ) {
        members.sort();
        members.dedup_by_key(|member| (member.0, member.1));
        let made = |members: &[(usize, u8, u8, bool)]| {
            let each = members.iter().map(|(role, id, status, contested)| {
                let state = |n: u8| present(&format!(r#"{{"status":"s{n}","total":{n}.10}}"#));
                let mut contents = Contents::one(state(*status));
                if *contested {
                    contents = contents.union(Contents::one(state(status + 1)));
                }
                (["order", "main"][*role], id.to_string(), contents)
            });
            let all: Vec<_> = each.collect();
            let all: Vec<_> = all.iter().map(|(r, i, c)| (*r, i.as_str(), c.clone())).collect();
            together(&all)
        };
        let straight = made(&members);
        let mut x = seed | 1;
        for at in (1..members.len()).rev() {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            members.swap(at, usize::try_from(x >> 33).unwrap() % (at + 1));
        }
        prop_assert_eq!(made(&members), straight);
    }
}
