//! Where effects go on one machine: never to a real destination. Each one that is reached over HTTP has a post box that
//! takes what it is sent and acts on nothing, and knows keys as the configuration says that the real one does.

use std::collections::BTreeSet;

use lastword_config::{Channel, Config};
use lastword_destinations::DestinationOverrides;

use crate::{
    destination::{Destination, Kind},
    machine::Failure,
};

/// The post boxes, which take as long as they are held.
pub(super) struct PostBoxes {
    boxes: Vec<Destination>,
    /// Where each destination is, as text for the variable.
    pub(super) overrides: String,
}

impl PostBoxes {
    /// One for each destination for which no stand-in was asked for.
    pub(super) async fn open(asked: &[String], config: &Config) -> Result<Self, Failure> {
        let given = DestinationOverrides::parse(&asked.join(","))?;
        let given: BTreeSet<_> = given.names().cloned().collect();
        let over_http = config
            .destinations
            .iter()
            .filter(|(_, destination)| matches!(destination.channel, Channel::Http(_)));
        let known: Vec<_> = over_http.clone().map(|(name, _)| name).collect();
        if let Some(name) = given.iter().find(|name| !known.contains(name)) {
            let known: Vec<_> = known.iter().map(|name| name.as_str()).collect();
            let known = known.join(", ");
            let message = format!(
                "--destination {name}=…: no such destination is reached over HTTP; known are {known}"
            );
            return Err(message.into());
        }
        let mut boxes = Vec::new();
        let mut texts = asked.to_vec();
        for (name, destination) in over_http.filter(|(name, _)| !given.contains(name)) {
            let kind = match (destination.remembers(), destination.lookup()) {
                (Some(_), _) => Kind::Idempotent,
                (None, Some(_)) => Kind::LookUp,
                (None, None) => Kind::Plain,
            };
            let opened = Destination::start(kind).await?;
            texts.push(format!("{name}={}", opened.url()));
            boxes.push(opened);
        }
        Ok(Self {
            boxes,
            overrides: texts.join(","),
        })
    }

    /// Closes them.
    pub(super) async fn close(self) {
        for one in self.boxes {
            one.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
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
[destinations.mail]
url = "https://mail.example.com/messages"
[destinations.desk]
url = "https://desk.example.com/messages"
"#;

    #[tokio::test]
    async fn no_destination_is_left_to_the_network_and_an_unknown_one_is_refused() {
        let config = Config::parse("lastword.toml", TEXT).unwrap();
        let asked = |text: &str| vec![text.to_owned()];
        let given = asked("desk=http://127.0.0.1:9");
        let boxes = PostBoxes::open(&given, &config).await.unwrap();
        let parsed = DestinationOverrides::parse(&boxes.overrides).unwrap();
        let names: Vec<_> = parsed.names().map(ToString::to_string).collect();
        assert_eq!(names, ["desk", "mail"]);
        assert_eq!(boxes.boxes.len(), 1);
        boxes.close().await;
        for (text, expected) in [
            ("fax=http://127.0.0.1:9", "known are desk, mail"),
            ("mail=https://mail.example.com", "127.0.0.1"),
        ] {
            let error = PostBoxes::open(&asked(text), &config).await.err().unwrap();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
