//! The `lastword` command.

use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    lastword_local::command::run().await
}
