//! Signing secrets: rolled, guessed at, and unfit.

use super::*;

/// A door whose secret is looked up anew whenever that is allowed.
async fn rolling(secret: Arc<std::sync::Mutex<String>>) -> Door {
    let config = Config::parse(
        "test",
        &CONFIG[CONFIG.find("[integrations.erp]").unwrap()..],
    )
    .unwrap();
    let machine = Machine::start(Place::Temporary, CONFIG, NOW).await.unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&asked);
    let settings = ClientSettings::local(Endpoints::default(), Patience::background());
    let look_up = move |_: &str| {
        counter.fetch_add(1, Ordering::SeqCst);
        Ok(secret.lock().unwrap().clone())
    };
    let source = SecretSource::new(look_up, Clients::new(settings));
    let ring = KeyRing::load(&config, source).await.unwrap();
    Door::of(machine, &config, ring, asked, None)
}

fn erp(secret: &str, body: &str) -> String {
    let config = Config::parse("test", CONFIG).unwrap();
    let erp = config.integration("erp").unwrap();
    let keys = erp.keys([secret]).unwrap();
    let signed = erp.sign(
        &keys,
        &lastword_contracts::Headers::default(),
        body.as_bytes(),
        NOW,
    );
    signed.unwrap().headers.remove(0).1
}

#[tokio::test]
async fn a_rolled_secret_is_taken_up_and_garbage_makes_nobody_read_secrets_more_often() {
    let secret = Arc::new(std::sync::Mutex::new("old".to_owned()));
    let door = rolling(Arc::clone(&secret)).await;
    let order = r#"{"id":"e1","type":"order.changed","order":{"id":"o1","version":1}}"#;
    let post = |signature: String| {
        let door = &door;
        async move {
            let headers = [("x-signature-256", signature.as_str())];
            door.post("erp", &headers, order).await.status_code
        }
    };
    assert_eq!(post(erp("old", order)).await, 200);
    assert_eq!(door.asked(), 1);
    "new".clone_into(&mut secret.lock().unwrap());
    assert_eq!(post(erp("new", order)).await, 200);
    assert_eq!(door.asked(), 2);
    // A stranger's two hundred guesses within a few seconds.
    for guess in 0..200 {
        assert_eq!(post(erp(&format!("guess {guess}"), order)).await, 401);
    }
    assert_eq!(door.asked(), 2);
    for second in 1..=30 {
        door.wait(1);
        assert_eq!(post(erp("guess", order)).await, 401, "{second}");
    }
    assert!(door.asked() <= 5, "{}", door.asked());
    // The old one is retired.
    assert_eq!(post(erp("old", order)).await, 401);
}

#[tokio::test]
async fn a_secret_that_cannot_be_one_stops_the_start_and_is_named_and_not_shown() {
    for (contract, value, expected) in [
        (
            "stripe",
            "v1,whsec_SECRET",
            "does not begin with \"whsec_\"",
        ),
        ("stripe", "whsec_SECRET\n", "white space"),
        ("stripe", " whsec_SECRET", "white space"),
        ("stripe", "whsec_", "is empty"),
        ("standard-webhooks", "whsec_AA==", "shorter or longer"),
        ("pagarme", ":", "user:password"),
        ("pagarme", "SECRET:", "user:password"),
        ("standard-webhooks", "v1,whsec_c2VjcmV0", "base64"),
        ("standard-webhooks", "whsec_SECRET!", "base64"),
        ("adyen", "SECRET", "hexadecimal"),
        ("pagarme", "SECRET", "user:password"),
        ("wise", "SECRET", "PEM"),
        ("discord", "SECRET", "hexadecimal"),
    ] {
        let text = format!(
            "[integrations.door]\ncontract = \"{contract}\"\naccount = \"a\"\nenvironment = \"live\"\n\
             signing_secrets = [\"env:DOOR\"]\napi_key = \"env:KEY\"\n{}",
            if contract == "standard-webhooks" {
                "[integrations.door.define.thing]\nevents=[\"*\"]\nid=\"body:/id\"\nstrategies=[]\nwhy=\"a test\"\n"
            } else {
                ""
            }
        );
        let config = Config::parse("test", &text).unwrap();
        let settings = ClientSettings::local(Endpoints::default(), Patience::background());
        let look_up = move |_: &str| Ok(value.to_owned());
        let source = SecretSource::new(look_up, Clients::new(settings));
        let Err(error) = KeyRing::load(&config, source).await else {
            panic!("{contract} took {value:?}")
        };
        let told = error.to_string();
        assert!(told.contains(expected), "{contract} {value:?}: {told}");
        assert!(
            told.contains("env:DOOR") && !told.contains("SECRET"),
            "{told}"
        );
    }
}
