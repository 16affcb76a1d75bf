//! Deliveries of several events, and events about several things.

use super::*;

#[tokio::test]
async fn a_delivery_of_several_events_is_kept_as_its_events_to_the_byte_and_each_is_decided() {
    let (machine, worker) = start().await;
    let items = [
        change(1, 62515, "7"),
        change(2, 62515, "8"),
        change(3, 62515, "7"),
    ];
    let body = format!("[{} ,{},\n{}]", items[0], items[1], items[2]);
    let reply = handle(&worker, &signed(&machine, "crm", &[], &body)).await;
    assert_eq!(
        (reply.status_code, reply.body.as_str()),
        (200, r#"{"received":"new"}"#)
    );
    // The stream has one record for each row.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 3);
    for id in ["7", "8"] {
        machine.standin.show(
            &format!("/crm/v3/objects/contacts/{id}"),
            json!({"id": id}).to_string(),
        );
    }
    machine.settle(&worker).await.unwrap();
    for (id, events) in [("7", 2), ("8", 1)] {
        let story = story(&machine, &worker, &contact(id)).await;
        assert_eq!(outcomes(&story).len(), events, "{id}");
    }
    // The same again, in another delivery with one more: only that one is new.
    let again = format!("[{},{}]", items[1], change(4, 62515, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &again)).await;
    assert_eq!(reply.body, r#"{"received":"new"}"#);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
}

#[tokio::test]
async fn beside_a_foreign_account_s_event_one_s_own_are_kept_and_the_delivery_is_refused() {
    let (machine, worker) = start().await;
    let foreign = format!("[{},{}]", change(1, 62515, "7"), change(2, 1, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &foreign)).await;
    assert_eq!(reply.status_code, 403);
    // Not acknowledged, and not lost: whatever the provider does next, our own is decided.
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 1);
    let alone = format!("[{}]", change(2, 1, "8"));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &alone)).await;
    assert_eq!(reply.status_code, 403);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 0);
}

#[tokio::test]
async fn an_event_that_cannot_be_read_or_named_is_kept_and_refuses_none_of_its_neighbours() {
    let (machine, worker) = start().await;
    let long = "9".repeat(3000);
    let odd = format!("[{},5,{}]", change(1, 62515, "7"), change(2, 62515, &long));
    let reply = handle(&worker, &signed(&machine, "crm", &[], &odd)).await;
    assert_eq!(reply.status_code, 200, "{}", reply.body);
    assert_eq!(machine.relay(&worker, 100).await.unwrap(), 3);
}

#[tokio::test]
async fn what_nothing_can_be_kept_of_is_accepted_and_ends_in_a_decision_that_says_so() {
    let (machine, worker) = start().await;
    let body = r#"{"object":"whatsapp_business_account","entry":[{"id":"0","changes":[{"field":"messages","value":{"metadata":{"phone_number_id":"106540352242922"},"statuses":[{"id":"wamid.1","status":"read"},{"id":"wamid.2","status":"sent"}]}}]}]}"#;
    let reply = handle(&worker, &signed(&machine, "messages", &[], body)).await;
    assert_eq!(reply.body, r#"{"received":"new"}"#, "{}", reply.body);
    machine.settle(&worker).await.unwrap();
    for id in ["wamid.1/read", "wamid.2/sent"] {
        let status = key("meta", "106540352242922", "live", "whatsapp_status", id);
        let known = story(&machine, &worker, &status).await;
        assert_eq!(outcomes(&known), [Outcome::Ignored], "{id}");
        assert_eq!(known.decisions[0].reason, Some(Reason::NothingKept));
    }
}

#[tokio::test]
async fn an_event_about_very_many_things_is_kept_whole_or_about_itself_and_never_refused_for_ever()
{
    let (machine, worker) = start().await;
    let message = |number: usize, length: usize| {
        format!(
            r#"{{"id":"wamid.{}{number}","status":"read"}}"#,
            "x".repeat(length)
        )
    };
    for (length, rows) in [(90, 1), (400, 1)] {
        let statuses: Vec<_> = (0..900).map(|number| message(number, length)).collect();
        let noise = crate::world::noise(300_000);
        let body = format!(
            r#"{{"object":"whatsapp_business_account","entry":[{{"id":"0","changes":[{{"field":"messages","value":{{"metadata":{{"phone_number_id":"106540352242922"}},"noise":"{noise}","statuses":[{}]}}}}]}}]}}"#,
            statuses.join(",")
        );
        let reply = handle(&worker, &signed(&machine, "messages", &[], &body)).await;
        assert_eq!(reply.status_code, 200, "{length}: {}", reply.body);
        assert_eq!(reply.body, r#"{"received":"new"}"#);
        assert!(
            machine.relay(&worker, 100).await.unwrap() >= rows,
            "{length}"
        );
    }
}
#[tokio::test]
async fn bytes_that_were_parsed_and_written_again_do_not_verify_and_the_original_does() {
    let (machine, worker) = start().await;
    let body = r#"[{"eventId": 9, "subscriptionType":"contact.creation","portalId":62515,"objectId":1.10, "b":"\u00e9"}]"#;
    let event = signed(&machine, "crm", &[], body);
    let mut again = event.clone();
    let value: Value = serde_json::from_str(body).unwrap();
    again["body"] = json!(value.to_string());
    assert_eq!(handle(&worker, &again).await.status_code, 401);
    assert_eq!(handle(&worker, &event).await.status_code, 200);
    // Decompressed by a gateway: the bytes are not those that were signed.
    let mut zipped = event;
    zipped["headers"]["content-encoding"] = json!("gzip");
    zipped["body"] = json!(base64::engine::general_purpose::STANDARD.encode([0x1f, 0x8b, 8]));
    zipped["isBase64Encoded"] = json!(true);
    assert_eq!(handle(&worker, &zipped).await.status_code, 401);
}
