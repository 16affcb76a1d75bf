use super::*;
use proptest::prelude::*;

fn event(bytes: usize) -> Event {
    Event {
        detail_type: "t".to_owned(),
        detail: "x".repeat(bytes),
        resources: vec!["r".to_owned()],
    }
}

fn entry(id: Option<&str>, code: Option<&str>) -> Sent {
    let entry = PutEventsResultEntry::builder()
        .set_event_id(id.map(str::to_owned))
        .set_error_code(code.map(str::to_owned))
        .build();
    read(Some(&entry))
}

#[test]
fn only_an_entry_with_an_event_id_is_taken() {
    assert!(matches!(entry(Some("1"), None), Sent::Done { .. }));
    for nothing in [read(None), entry(None, None), entry(Some(""), Some(""))] {
        assert!(matches!(nothing, Sent::Unknown { .. }), "{nothing:?}");
    }
    let of = |code| entry(None, Some(code));
    assert!(matches!(of("ThrottlingException"), Sent::NotSent { .. }));
    for code in ["InternalFailure", "InternalException", "ServiceUnavailable"] {
        assert!(matches!(of(code), Sent::Unknown { .. }), "{code}");
    }
    for code in [
        "AccessDeniedException",
        "MalformedDetail",
        "InvalidArgument",
        "NewCode",
    ] {
        assert!(matches!(of(code), Sent::Refused { .. }), "{code}");
        // A code beside an id is still a failure.
        assert!(matches!(entry(Some("1"), Some(code)), Sent::Refused { .. }));
    }
}

#[test]
fn an_event_that_the_service_would_drop_or_refuse_is_not_sent() {
    let long = |length| Event {
        detail_type: "ä".repeat(length),
        ..event(1)
    };
    assert_eq!(long(MOST_TYPE).unfit(), None);
    assert!(
        long(MOST_TYPE + 1)
            .unfit()
            .unwrap()
            .contains("129 characters")
    );
    assert!(long(0).unfit().is_some());
    let around = SOURCE.len() + 2;
    assert_eq!(event(MOST_BYTES - around).unfit(), None);
    let why = event(MOST_BYTES - around + 1).unfit().unwrap();
    assert!(why.contains("262145 bytes; the most is 262144"), "{why}");
}

proptest! {
    #[test]
    fn every_event_is_in_one_request_in_order_and_no_request_is_too_large(
        sizes in prop::collection::vec(prop_oneof![0usize..100, 80_000usize..MOST_BYTES - 20], 0..40)
    ) {
        let events: Vec<_> = sizes.iter().map(|size| event(*size)).collect();
        let fit: Vec<_> = events.iter().enumerate().collect();
        let made = chunks(&fit);
        let order: Vec<_> = made.iter().flat_map(|chunk| chunk.iter().map(|(at, _)| *at)).collect();
        prop_assert_eq!(order, (0..events.len()).collect::<Vec<_>>());
        for chunk in &made {
            prop_assert!(!chunk.is_empty() && chunk.len() <= MOST_ENTRIES);
            prop_assert!(chunk.iter().map(|(_, event)| event.bytes()).sum::<usize>() <= MOST_TOGETHER);
        }
        // No two neighbours that one request would have taken.
        for pair in made.windows(2) {
            let both: usize = pair.iter().flat_map(|chunk| chunk.iter()).map(|(_, event)| event.bytes()).sum();
            prop_assert!(pair[0].len() + pair[1].len() > MOST_ENTRIES || both > MOST_TOGETHER);
        }
    }
}
