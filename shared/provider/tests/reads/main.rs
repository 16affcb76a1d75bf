//! Reads over a real connection to a provider on this machine: what leaves, and what comes of the answer.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail as tests do"
)]

mod receiving;
mod sending;
mod server;

use std::net::SocketAddr;
use std::time::Duration;

use lastword_config::{Config, Integration, SecretValue};
use lastword_domain::ResourceKey;
use lastword_domain::name::{Account, Environment, Provider, ResourceId, ResourceType};
use lastword_provider::{Answer, HostOverrides, ProviderClient};

use server::{Reply, Server};

/// Longer than any answer here takes; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(20);

const KEY: &str = "sk_test_hunter2";

/// A subscription and an issue at once: each provider looks for its own name of it.
const OBJECT: &str = "{\"id\":\"sub_1\",\"number\":7,\"status\":\"active\"}";

/// Two endpoints, each with its own account and a further one.
const CONFIG: &str = r#"
[integrations.billing]
contract = "stripe"
account = "acct_1"
environment = "test"
signing_secrets = ["env:SIGNING"]
api_key = "env:OWN_KEY"
[integrations.billing.accounts.acct_2]
api_key = "env:OTHER_KEY"

[integrations.code]
contract = "github"
account = "10"
environment = "main"
signing_secrets = ["env:SIGNING"]
api_key = "env:OWN_KEY"
[integrations.code.accounts.11]
api_key = "env:OTHER_KEY"
"#;

fn integration(name: &str) -> Integration {
    let config = Config::parse("lastword.toml", CONFIG).unwrap();
    config.integration(name).unwrap().clone()
}

fn secret(text: &str) -> SecretValue {
    SecretValue::accept(text.to_owned().into()).unwrap()
}

fn subscription(account: &str, id: &str) -> ResourceKey {
    ResourceKey {
        provider: Provider::parse("stripe").unwrap(),
        account: Account::parse(account).unwrap(),
        environment: Environment::parse("test").unwrap(),
        kind: ResourceType::parse("subscription").unwrap(),
        id: ResourceId::parse(id).unwrap(),
    }
}

fn issue(account: &str, id: &str) -> ResourceKey {
    ResourceKey {
        provider: Provider::parse("github").unwrap(),
        account: Account::parse(account).unwrap(),
        environment: Environment::parse("main").unwrap(),
        kind: ResourceType::parse("issue").unwrap(),
        id: ResourceId::parse(id).unwrap(),
    }
}

/// A client whose providers are all at this address.
fn client(address: SocketAddr) -> ProviderClient {
    let hosts = format!("stripe=http://{address},github=http://{address}");
    ProviderClient::new(HostOverrides::parse(&hosts).unwrap()).unwrap()
}

async fn read(client: &ProviderClient, resource: &ResourceKey, patience: Duration) -> Answer {
    let name = match resource.provider.as_str() {
        "stripe" => "billing",
        _ => "code",
    };
    client
        .read(&integration(name), Some(&secret(KEY)), resource, patience)
        .await
}

/// One read of a subscription that is answered like this.
async fn answered(reply: Reply) -> (Answer, Server) {
    let server = Server::start([reply]).await;
    let client = client(server.address());
    let answer = read(&client, &subscription("acct_1", "sub_1"), PATIENCE).await;
    (answer, server)
}
