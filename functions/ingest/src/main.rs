//! The ingest function's process.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use serde_json::value::RawValue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let ingest = &lastword_ingest::start::from_environment().await?;
    run(service_fn(|event: LambdaEvent<Box<RawValue>>| async move {
        Ok::<_, Error>(ingest.serve(event.payload.get()).await?)
    }))
    .await
}
