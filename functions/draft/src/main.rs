//! The draft function's process.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::value::RawValue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let handler = &lastword_draft::start::from_environment().await?;
    run(service_fn(|event: LambdaEvent<Box<RawValue>>| async move {
        let drafted = handler.handle_text(event.payload.get()).await;
        drafted.map(drop).map_err(Error::from)
    }))
    .await
}
