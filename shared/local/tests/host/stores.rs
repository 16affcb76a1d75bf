//! The embedded stores keep what they should, and only that.

use aws_sdk_dynamodb::types::{AttributeValue, TimeToLiveSpecification};
use lastword_local::stores::{Place, Stores, StoresError};

use crate::bench::{put, stores, table};

async fn exists(stores: &Stores, key: &str) -> bool {
    let key = AttributeValue::S(key.to_owned());
    let found = stores
        .dynamodb()
        .get_item()
        .table_name("things")
        .key("pk", key)
        .send()
        .await;
    found.unwrap().item.is_some()
}

#[tokio::test]
async fn tables_in_a_directory_outlive_the_stores() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::Directory(directory.path().join("data"));
    let first = Stores::start(place.clone()).await.unwrap();
    table(&first).await;
    put(&first, "a").await;
    first.shutdown().await;
    let second = Stores::start(place).await.unwrap();
    assert!(exists(&second, "a").await);
}

#[tokio::test]
async fn one_directory_belongs_to_one_process() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::Directory(directory.path().to_owned());
    let first = Stores::start(place.clone()).await.unwrap();
    assert!(matches!(
        Stores::start(place.clone()).await,
        Err(StoresError::InUse(_))
    ));
    drop(first);
    assert!(Stores::start(place).await.is_ok());
}

#[tokio::test]
async fn a_temporary_place_is_gone_with_the_stores() {
    let stores = stores().await;
    let directory = stores.directory().to_owned();
    assert!(directory.exists());
    stores.shutdown().await;
    assert!(!directory.exists());
}

#[tokio::test]
async fn expired_items_go_when_they_are_swept() {
    let stores = stores().await;
    table(&stores).await;
    let ttl = TimeToLiveSpecification::builder()
        .attribute_name("until")
        .enabled(true);
    let client = stores.dynamodb();
    client
        .update_time_to_live()
        .table_name("things")
        .time_to_live_specification(ttl.build().unwrap())
        .send()
        .await
        .unwrap();
    client
        .put_item()
        .table_name("things")
        .item("pk", AttributeValue::S("old".to_owned()))
        .item("until", AttributeValue::N("1600000000".to_owned()))
        .send()
        .await
        .unwrap();
    assert!(exists(&stores, "old").await);
    assert_eq!(stores.sweep_ttl().await.unwrap(), 1);
    assert!(!exists(&stores, "old").await);
}

#[tokio::test]
async fn the_stream_index_is_there_from_the_start() {
    let stores = stores().await;
    let file = stores.directory().join("tables.sqlite");
    let plan: String = rusqlite::Connection::open(file)
        .unwrap()
        .query_row(
            "EXPLAIN QUERY PLAN SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 \
             FROM _stream_records WHERE table_name = 'things'",
            [],
            |row| row.get("detail"),
        )
        .unwrap();
    assert!(plan.contains("stream_records_by_position"), "{plan}");
}
