//! The reconcile function's process.

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use lastword_reconcile::start::ASSUMED;
use serde_json::value::RawValue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let handler = &lastword_reconcile::start::from_environment().await?;
    run(service_fn(|event: LambdaEvent<Box<RawValue>>| async move {
        let time = lastword_runtime::time_left(event.context.deadline(), ASSUMED);
        handler
            .handle_text(event.payload.get(), time)
            .await
            .map_err(Error::from)
    }))
    .await
}
