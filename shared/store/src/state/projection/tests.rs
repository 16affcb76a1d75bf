use super::*;
use lastword_domain::name::{
    Account, EffectName, Environment, Provider, ResourceId, ResourceType, Role, RuleName,
    SubjectId, SubjectKind,
};
use lastword_domain::{
    Content, Contents, Digest, EffectRule, EventRef, Json, Link, Meaning, Outcome, Reason,
    ReviewKey, Status, SubjectKey, VersionKind,
};
use proptest::prelude::*;

const NOW: Moment = Moment::from_unix_ms(0);

fn resource(id: &str) -> ResourceKey {
    ResourceKey {
        provider: Provider::parse("stripe").unwrap(),
        account: Account::parse("a").unwrap(),
        environment: Environment::parse("live").unwrap(),
        kind: ResourceType::parse("invoice").unwrap(),
        id: ResourceId::parse(id).unwrap(),
    }
}

fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        Just(Content::Deleted),
        ("\\PC{0,9}", 0usize..3000).prop_map(|(text, filler)| {
            let json = serde_json::json!({"text": text, "filler": "x".repeat(filler)});
            Content::Present(Json::parse(&json.to_string()).unwrap())
        }),
    ]
}

/// Several contents; a status with each, or with none.
fn contents() -> impl Strategy<Value = Option<Contents>> {
    let pair = (content(), "[a-z]{1,9}");
    (proptest::collection::vec(pair, 0..3), any::<bool>()).prop_map(|(pairs, ranked)| {
        Contents::several(pairs.into_iter().map(|(content, status)| {
            let status =
                (ranked && content != Content::Deleted).then(|| Status::parse(&status).unwrap());
            (content, status)
        }))
    })
}

fn marks() -> impl Strategy<Value = Vec<Mark>> {
    proptest::collection::vec(
        (any::<u64>(), 0..Outcome::ALL.len(), 0..Reason::ALL.len()),
        0..9,
    )
    .prop_map(|marks| {
        let mark = |(event, outcome, reason): (u64, usize, usize)| Mark {
            event: EventRef::parse(&Digest::of(&event.to_be_bytes()).to_text()).unwrap(),
            outcome: Outcome::ALL[outcome],
            reason: Reason::ALL[reason],
        };
        marks.into_iter().map(mark).collect()
    })
}

fn some_version() -> impl Strategy<Value = Version> {
    prop_oneof![
        "[1-9][0-9]{0,37}".prop_map(|text| Version::parse(&text).unwrap()),
        "[0-9]{1,3}(\\.[0-9]{1,3}){0,3}".prop_map(|text| Version::parse_as(
            VersionKind::Dotted,
            &text
        )
        .unwrap()),
        "[0-9TZ:.-]{20}".prop_map(|text| {
            let kind = VersionKind::parse("fixed:20").unwrap();
            Version::parse_as(kind, &text).unwrap()
        }),
    ]
}

fn meaning() -> impl Strategy<Value = Meaning> {
    let link = "\\PC{1,9}".prop_map(|id| Link {
        subject: SubjectKey {
            kind: SubjectKind::parse("order").unwrap(),
            id: SubjectId::parse(&id).unwrap(),
        },
        role: Role::parse("payment").unwrap(),
    });
    let review = any::<u8>().prop_map(|evidence| ReviewKey {
        rule: RuleName::parse("paid-and-cancelled").unwrap(),
        evidence: Digest::of(&[evidence]),
    });
    (
        proptest::option::of(Just(Json::parse(r#"{"state":"paid","n":1.10}"#).unwrap())),
        proptest::collection::btree_set(link, 0..3),
        proptest::collection::btree_set(review, 0..3),
    )
        .prop_map(|(verdict, links, reviews)| Meaning {
            verdict,
            links,
            reviews,
        })
}

proptest! {
    #[test]
    fn what_is_stored_comes_back(
        contents in contents(),
        version in proptest::option::of(some_version()),
        tied in proptest::option::of(some_version()),
        grave in proptest::option::of((0..3usize, proptest::option::of(some_version()))),
        waiting in any::<bool>(),
        meaning in meaning(),
        revision in 1u64..,
        recent in marks(),
        called in proptest::collection::btree_map(1u32..9, any::<bool>(), 0..3),
    ) {
        let projection = Projection {
            revision: Revision::from_number(revision),
            contents,
            version,
            grave: grave.map(|(proof, version)| Grave { proof: Proof::ALL[proof], version }),
            tied,
            waiting,
            meaning,
            recent,
            paged: revision % 2 == 0,
        };
        let beside = Beside {
            waiting_since: waiting.then_some(Moment::from_unix_ms(7)),
            facts: revision % 3 == 0,
            called: called.into_iter().map(|(version, called)| {
                let name = EffectName::parse("receipt").unwrap();
                (EffectRule { name, version }, called)
            }).collect(),
        };
        let item = encode(&resource("in_1"), &projection, &beside, NOW);
        prop_assert_eq!(decode(&item).unwrap(), (projection, beside));
    }
}

#[test]
fn a_large_state_is_kept_packed_and_a_small_one_readable() {
    let stored = |filler: usize| {
        let json = format!("{{\"filler\":\"{}\"}}", "x".repeat(filler));
        let contents = Contents::one(Content::Present(Json::parse(&json).unwrap()));
        let projection = Projection {
            contents: Some(contents),
            ..Projection::unknown()
        };
        encode(&resource("in_1"), &projection, &Beside::default(), NOW)
    };
    assert!(stored(100).contains_key("state"));
    assert!(stored(5000).contains_key("packed"));
}

#[test]
fn a_state_with_numbers_that_no_machine_number_holds_is_stored_to_the_byte() {
    let text = r#"{"a": 9007199254740993, "b":18446744073709551616,"c":1.10,"d":123456789012345678901234567890123456789,"e":1e400}"#;
    let contents = Contents::one(Content::Present(Json::parse(text).unwrap()));
    let projection = Projection {
        contents: Some(contents),
        ..Projection::unknown()
    };
    let item = encode(&resource("in_1"), &projection, &Beside::default(), NOW);
    let (held, _) = decode(&item).unwrap();
    let Some(lastword_domain::Standing::Present(json)) = held.standing() else {
        panic!("a state")
    };
    assert_eq!(json.as_str(), text);
}

#[test]
fn an_item_that_is_no_projection_is_corrupt_and_says_where() {
    let error = decode(&key(&resource("in_1"))).unwrap_err().to_string();
    assert!(
        error.contains("projection") && error.contains("revision"),
        "{error}"
    );
}
