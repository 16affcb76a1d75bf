//! The relay function's process.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::value::RawValue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let relay = &lastword_relay::start::from_environment()?;
    run(service_fn(|event: LambdaEvent<Box<RawValue>>| async move {
        relay
            .handle_text(event.payload.get())
            .await
            .map_err(Error::from)
    }))
    .await
}
