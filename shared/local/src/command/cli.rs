//! What can be asked, and how; may not do any of it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lastword_domain::{
    ResourceKey,
    name::{Account, Environment, NameError, Provider, ResourceId, ResourceType},
};

/// Where a stack on this machine keeps its data when nothing else is said.
pub(super) const DIRECTORY: &str = ".lastword";
/// The configuration that is read when nothing else is said.
pub(super) const CONFIGURATION: &str = "lastword.toml";

const EXIT_CODES: &str = "\
Exit codes: 0 all is well, 1 something is wrong with what was asked about, 2 it could not be done.";

/// A late webhook never gets the last word.
#[derive(Debug, Parser)]
#[command(name = "lastword", version, after_help = EXIT_CODES)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the whole package on this machine: no account, no containers
    Dev(Dev),
    /// Say what is wrong with a configuration, or what it receives
    Check(Check),
    /// Tell the story of one resource: what is held of it, what was decided, and why
    Inspect(Inspect),
    /// Play late, repeated and racing webhooks, and compare with the source
    Demo(Demo),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Dev {
    /// Keep the data in a temporary directory that is removed at the end
    #[arg(long, conflicts_with = "dir")]
    pub(super) memory: bool,
    /// Check signatures as if it were this time, in Unix seconds. Nothing else reads this clock
    #[arg(long, value_name = "SECONDS")]
    pub(super) clock: Option<u64>,
    /// The configuration [default: lastword.toml here, else the one that was built in]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The port that webhooks are posted to; 0 takes any free one
    #[arg(long, default_value_t = 8787)]
    pub(super) port: u16,
    /// Run the real function binaries instead of the same handlers in this process
    #[arg(long)]
    pub(super) processes: bool,
    /// Read a provider's objects from a stand-in on this machine: stripe=http://127.0.0.1:8420
    #[arg(long, value_name = "PROVIDER=URL")]
    pub(super) api: Vec<String>,
    /// Where the data, the made up secrets and the log are kept [default: .lastword]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,
    /// Print one line of JSON when everything listens, and nothing else
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Check {
    /// The configuration
    #[arg(long, value_name = "FILE", default_value = CONFIGURATION)]
    pub(super) config: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Looks at the stack that `lastword dev` runs in the directory; without --dir, and with\n",
    "LASTWORD_STATE_TABLE and LASTWORD_INBOX_TABLE set, at these tables with the AWS credentials and\n",
    "region of the environment.\n\n",
    "Exit codes: 0 something is known of it, 1 nothing is, 2 it could not be found out.",
))]
pub(super) struct Inspect {
    /// provider/account/environment/type/id; the id may hold slashes
    #[arg(value_name = "RESOURCE", value_parser = resource)]
    pub(super) resource: ResourceKey,
    /// The directory of the running stack [default: .lastword]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,
    /// Also show what the resource looks like
    #[arg(long)]
    pub(super) body: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Demo {
    /// Play the same for a receiver that applies what arrives
    #[arg(long)]
    pub(super) naive: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

fn resource(text: &str) -> Result<ResourceKey, String> {
    let mut parts = text.splitn(5, '/');
    let mut next = || {
        parts
            .next()
            .ok_or("expected provider/account/environment/type/id")
    };
    let (provider, account, environment) = (next()?, next()?, next()?);
    let (kind, id) = (next()?, next()?);
    let key = || -> Result<ResourceKey, NameError> {
        Ok(ResourceKey {
            provider: Provider::parse(provider)?,
            account: Account::parse(account)?,
            environment: Environment::parse(environment)?,
            kind: ResourceType::parse(kind)?,
            id: ResourceId::parse(id)?,
        })
    };
    key().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn an_id_may_hold_slashes_and_a_resource_has_five_parts() {
        let key = resource("github/21031067/main/issue/7/12").unwrap();
        assert_eq!(key.id.as_str(), "7/12");
        for text in [
            "stripe/acct_1/test/subscription",
            "stripe/acct_1/test/subscription/",
            "Stripe/acct_1/test/subscription/sub_1",
        ] {
            assert!(resource(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_temporary_stack_has_no_directory_of_its_own() {
        let both = ["lastword", "dev", "--memory", "--dir", "x"];
        assert!(Cli::try_parse_from(both).is_err());
    }
}
