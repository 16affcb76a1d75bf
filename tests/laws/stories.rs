//! The example configuration as it is delivered, in every order of arrival: whatever the order and the repetition, the
//! same projections, verdicts, facts and open reviews, through the whole path from the signed request to the subject.

mod end;
mod play;
mod tale;

use lastword_config::{BUILT_IN, Config};
use lastword_rules::Declared;

use play::{Ways, play};
use tale::{carrier, erp, invoice, payment, subscription};

#[test]
fn the_rules_of_the_example_compile() {
    let config = Config::parse("lastword.toml", BUILT_IN).unwrap();
    if let Err(error) = Declared::compile(&config) {
        panic!("{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_that_is_cancelled_at_once_ends_the_same_in_every_order() {
    let tale = vec![
        subscription("sub-1", "created", "active"),
        subscription("sub-1", "updated", "past_due"),
        subscription("sub-1", "deleted", "canceled"),
        subscription("sub-2", "created", "active"),
        invoice("in-1"),
        // Another event about the same payment.
        invoice("in-1"),
    ];
    let ends = play(&tale, Ways::SettledAfterEach).await;
    ends.are(
        r#"
        customer cus: {"allowed":["access"],"data":{},"state":"subscribed"}
        invoice in-1: paid
        invoice in-1: fact paid/in-1 {"id":"in-1","object":"invoice","status":"paid"}
        invoice in-1: receipt done {"invoice":"in-1","total":null}
        subscription sub-1: canceled {"allowed":[],"data":{},"state":"canceled"}
        subscription sub-2: active {"allowed":["access"],"data":{},"state":"active"}
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_shop_s_three_senders_tell_ends_the_same_in_every_order() {
    let tale = vec![
        erp("ord", 1, "created"),
        payment("pay", "ord", "succeeded"),
        erp("ord", 2, "confirmed"),
        erp("ord", 3, "cancelled"),
        carrier("par", "ord", "delivered"),
        carrier("par", "ord", "lost"),
    ];
    let ends = play(&tale, Ways::SettledAfterEach).await;
    ends.are(
        r#"
        order ord: open paid-and-cancelled pay+ord
        order ord: confirmation superseded
        order ord: {"allowed":[],"data":{"parcels":[{"id":"par","status":"contested"}]},"state":"paid and cancelled"}
        order ord: cancelled
        parcel par: delivered|lost
        parcel par: open lastword.contested its contents
        payment_intent pay: succeeded
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_order_that_the_erp_deletes_leaves_its_subject_in_every_order() {
    let tale = vec![
        erp("ord", 1, "confirmed"),
        payment("pay", "ord", "succeeded"),
        erp("ord", 2, "deleted"),
        carrier("par", "ord", "moving"),
    ];
    let ends = play(&tale, Ways::All).await;
    ends.are(
        r#"
        order ord: {"allowed":[],"data":{"parcels":[{"id":"par","status":"moving"}]},"state":"unknown to the ERP"}
        order ord: confirmation superseded
        order ord: deleted
        parcel par: moving
        payment_intent pay: succeeded
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_that_is_put_to_another_order_leaves_the_first_in_every_order() {
    let tale = vec![
        payment("pay", "ord-1", "succeeded"),
        payment("pay", "ord-2", "succeeded"),
        erp("ord-1", 1, "cancelled"),
        erp("ord-2", 1, "confirmed"),
    ];
    let ends = play(&tale, Ways::All).await;
    ends.are(
        r#"
        order ord-1: {"allowed":[],"data":{"parcels":[]},"state":"cancelled"}
        order ord-1: cancelled
        order ord-2: {"allowed":["confirmation"],"data":{"parcels":[]},"state":"confirmed"}
        order ord-2: confirmed
        order ord-2: confirmation done {"order":"ord-2","parcels":[],"state":"confirmed"}
        payment_intent pay: succeeded
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_that_is_put_to_no_order_any_more_leaves_a_subject_without_members() {
    let tale = vec![
        payment("pay", "ord", "processing"),
        payment("pay", "", "succeeded"),
        subscription("sub", "created", "trialing"),
    ];
    let ends = play(&tale, Ways::All).await;
    ends.are(
        r#"
        customer cus: {"allowed":["access"],"data":{},"state":"subscribed"}
        payment_intent pay: succeeded
        subscription sub: trialing {"allowed":["access"],"data":{},"state":"trialing"}
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_the_carrier_never_declared_decides_nothing_in_every_order() {
    let tale = vec![
        carrier("par", "ord", "teleported"),
        carrier("par", "ord", "delivered"),
        erp("ord", 1, "confirmed"),
        payment("pay", "ord", "succeeded"),
    ];
    let ends = play(&tale, Ways::All).await;
    ends.are(
        r#"
        order ord: {"allowed":["confirmation"],"data":{"parcels":[{"id":"par","status":"delivered"}]},"state":"delivered"}
        order ord: confirmation done {"order":"ord","parcels":[{"id":"par","status":"delivered"}],"state":"delivered"}
        order ord: confirmed
        parcel par: delivered
        payment_intent pay: succeeded
        "#,
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_payments_for_one_order_are_chosen_from_by_a_person_in_every_order() {
    let tale = vec![
        payment("pay-1", "ord", "succeeded"),
        payment("pay-2", "ord", "succeeded"),
        erp("ord", 1, "confirmed"),
    ];
    let ends = play(&tale, Ways::All).await;
    ends.are(
        r#"
        order ord: open lastword.several-members payment
        order ord: {"allowed":[],"data":{"parcels":[]},"state":"unpaid"}
        order ord: confirmed
        payment_intent pay-1: succeeded
        payment_intent pay-2: succeeded
        "#,
    );
}
