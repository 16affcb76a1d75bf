//! What can be asked, and how; may not do any of it.

mod rebuild;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use lastword_domain::{
    ResourceKey, SubjectKey,
    name::{
        Account, Environment, NameError, Provider, ResourceId, ResourceType, SubjectId, SubjectKind,
    },
};

pub(super) use rebuild::{Rebuild, What};

/// Where a stack on this machine keeps its data when nothing else is said.
pub(super) const DIRECTORY: &str = ".lastword";
/// The configuration that is read when nothing else is said.
pub(super) const CONFIGURATION: &str = "lastword.toml";
/// Where webhooks are posted to on this machine when nothing else is said.
pub(super) const PORT: u16 = 8787;

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
    /// Tell the story of one resource or subject: what is held of it, what was decided, and why
    Inspect(Inspect),
    /// Say what becomes of an effect that failed, or of which nobody knows whether it was acted on
    Effect(Ruled),
    /// Recompute what is held from the inbox and the sources, and say what differed; sends nothing
    Rebuild(Rebuild),
    /// Name the providers whose guarantees are built in, or explain one of them
    Contracts(Contracts),
    /// Print the headers that make a POST of a file authentic
    Sign(Sign),
    /// Sign a file as its provider would, and post it
    Send(Post),
    /// Try recorded requests on the real front door: is each answered as it should be?
    Vectors(Vectors),
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
    #[arg(long, default_value_t = PORT)]
    pub(super) port: u16,
    /// Run the real function binaries instead of the same handlers in this process
    #[arg(long)]
    pub(super) processes: bool,
    /// Read a provider's objects from a stand-in on this machine: stripe=http://127.0.0.1:8420
    #[arg(long, value_name = "PROVIDER=URL")]
    pub(super) api: Vec<String>,
    /// Send a destination's effects to this machine: mail=http://127.0.0.1:8421. Without it they are taken and put
    /// aside; nothing is ever sent to a real destination
    #[arg(long, value_name = "NAME=URL")]
    pub(super) destination: Vec<String>,
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
    /// provider/account/environment/type/id, or subject/kind/id; the id may hold slashes
    #[arg(value_name = "RESOURCE", value_parser = about)]
    pub(super) about: About,
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

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Contracts {
    #[command(subcommand)]
    pub(super) one: Option<OneContract>,
    /// Print one JSON document
    #[arg(long, global = true)]
    pub(super) json: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum OneContract {
    /// Explain one: what is signed, what its events are, what is known of order, and from where
    Show {
        /// As in `contract = "…"`
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// What is signed, and with what.
#[derive(Debug, Args)]
pub(super) struct Signing {
    /// The integration, as in the URL of its endpoint
    #[arg(value_name = "INTEGRATION")]
    pub(super) integration: String,
    /// The body, to the byte
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The configuration [default: lastword.toml here, else the one that was built in]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Where the secrets of this machine are [default: .lastword]
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,
    /// The signing secret itself, instead of the one that the integration names
    #[arg(long, value_name = "TEXT")]
    pub(super) secret: Option<String>,
    /// A header that the sender chooses; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub(super) headers: Vec<(String, String)>,
    /// Sign as if it were this time, in Unix seconds
    #[arg(long, value_name = "SECONDS")]
    pub(super) now: Option<u64>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Sign {
    #[command(flatten)]
    pub(super) signing: Signing,
    /// Print a curl command that posts the file to this URL
    #[arg(long, value_name = "URL", conflicts_with = "json")]
    pub(super) curl: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 it was taken (2xx), 1 it was not, 2 it could not be sent.")]
pub(super) struct Post {
    #[command(flatten)]
    pub(super) signing: Signing,
    /// Where to [default: the endpoint of the stack that `lastword dev` runs]
    #[arg(long, value_name = "URL")]
    pub(super) to: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = concat!(
    "A file holds {\"vectors\": [...]}, or the list alone. Each has an id, a provider, headers, a body\n",
    "(body_base64 or body_utf8), a secret, and what is expected: valid, invalid_signature,\n",
    "malformed_header, timestamp_too_old, timestamp_in_future, unsigned_ping, message_string_only.\n\n",
    "Exit codes: 0 all are as expected, 1 some are not, 2 it could not be done.",
))]
pub(super) struct Vectors {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Works where `lastword inspect` looks. An effect that is sent again goes the whole way: it is looked at\n",
    "whether it is still wanted.\n\n",
    "Exit codes: 0 it is done, 1 there is no such effect that waits for a person, 2 it could not be done.",
))]
pub(super) struct Ruled {
    /// Whose it is: provider/account/environment/type/id, or subject/kind/id
    #[arg(value_name = "RESOURCE", value_parser = about)]
    pub(super) about: About,
    /// Its name
    pub(super) effect: String,
    /// The fact that calls for it, where there are several: kind/id
    #[arg(long, value_name = "KIND/ID")]
    pub(super) fact: Option<String>,
    /// It is to be sent, as if it had never been tried
    #[arg(
        long,
        conflicts_with = "happened",
        required_unless_present = "happened"
    )]
    pub(super) again: bool,
    /// It was acted on: nothing is sent
    #[arg(long)]
    pub(super) happened: bool,
    /// Who says so; it is kept with the effect
    #[arg(long, value_name = "NAME")]
    pub(super) by: String,
    /// The stack that runs in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text
        .split_once(':')
        .ok_or_else(|| "expected \"Name: value\"".to_owned())?;
    let (name, value) = (name.trim(), value.trim());
    let header = http::HeaderName::try_from(name)
        .map_err(|error| error.to_string())
        .and_then(|_| http::HeaderValue::from_str(value).map_err(|error| error.to_string()));
    header.map(|_| (name.to_owned(), value.to_owned()))
}

/// What a story is told of.
#[derive(Debug, Clone)]
pub(super) enum About {
    /// One of a provider's objects.
    Resource(ResourceKey),
    /// A thing of our own business.
    Subject(SubjectKey),
}

/// No contract is called `subject`.
fn about(text: &str) -> Result<About, String> {
    let Some(rest) = text.strip_prefix("subject/") else {
        return resource(text).map(About::Resource);
    };
    let (kind, id) = rest.split_once('/').ok_or("expected subject/kind/id")?;
    let key = || -> Result<SubjectKey, NameError> {
        Ok(SubjectKey {
            kind: SubjectKind::parse(kind)?,
            id: SubjectId::parse(id)?,
        })
    };
    key().map(About::Subject).map_err(|error| error.to_string())
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
    fn a_header_is_a_name_and_a_value() {
        let read = header("X-Event:  order: changed ").unwrap();
        assert_eq!(read, ("X-Event".to_owned(), "order: changed".to_owned()));
        for text in ["X-Event", "X Event: a", ": a", "X-Event: a\nb"] {
            assert!(header(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_temporary_stack_has_no_directory_of_its_own() {
        let both = ["lastword", "dev", "--memory", "--dir", "x"];
        assert!(Cli::try_parse_from(both).is_err());
    }
}
