//! What can be asked of `lastword rebuild`.

use std::path::PathBuf;

use clap::Args;
use lastword_domain::name::{IntegrationName, ResourceType, SubjectKind};

use super::About;

#[derive(Debug, Args)]
#[command(after_help = concat!(
    "Goes through the same queue and the same code as every event. What comes out and differs is put\n",
    "right and named; what cannot be recomputed is kept. No effect is created, revived or changed, and\n",
    "what was sent is not sent again.\n\n",
    "  same          nothing differed\n",
    "  changed       something differed, and is put right\n",
    "  kept          the state could not be recomputed and stays: its events are gone from the inbox,\n",
    "                or they tell less than is held\n",
    "  unread        the source could not be read; ask again later, under another name\n",
    "  unconfigured  nothing in the configuration handles it; it was not touched\n",
    "  failed        it could not be done\n\n",
    "It may be stopped at any time: the same --run goes on where it was. It works on the stack that\n",
    "`lastword dev` runs in the directory; without --dir, and with LASTWORD_STATE_TABLE,\n",
    "LASTWORD_INBOX_TABLE and LASTWORD_QUEUE_URL set, on these with the AWS credentials and region of\n",
    "the environment.\n\n",
    "Exit codes: 0 all is rebuilt, 1 some could not be (unread, failed), 2 it could not be carried out.",
))]
pub(in crate::command) struct Rebuild {
    /// provider/account/environment/type/id, subject/kind/id, integration/type, subject/kind, or all
    #[arg(value_name = "WHAT", value_parser = what)]
    pub(in crate::command) what: What,
    /// What this rebuild is called; the same name goes on with it [default: the time]
    #[arg(long, value_name = "NAME", value_parser = run)]
    pub(in crate::command) run: Option<String>,
    /// The configuration that is deployed [default: lastword.toml here, else the one that was built in]
    #[arg(long, value_name = "FILE")]
    pub(in crate::command) config: Option<PathBuf>,
    /// The directory of the running stack [default: .lastword]
    #[arg(long, value_name = "DIRECTORY")]
    pub(in crate::command) dir: Option<PathBuf>,
    /// Print a line of JSON for each thing that was not the same, and one at the end
    #[arg(long)]
    pub(in crate::command) json: bool,
    /// Do not ask before everything is rebuilt
    #[arg(long)]
    pub(in crate::command) yes: bool,
}

/// What is rebuilt.
#[derive(Debug, Clone)]
pub(in crate::command) enum What {
    /// One resource or subject.
    One(About),
    /// A type of resources.
    Type(IntegrationName, ResourceType),
    /// A kind of subjects.
    Kind(SubjectKind),
    /// All resources and subjects that are configured.
    All,
}

fn what(text: &str) -> Result<What, String> {
    let parts: Vec<&str> = text.split('/').collect();
    match parts.as_slice() {
        ["all"] => Ok(What::All),
        ["subject", kind] => {
            let kind = SubjectKind::parse(kind);
            kind.map(What::Kind).map_err(|error| error.to_string())
        }
        [integration, kind] => {
            let integration =
                IntegrationName::parse(integration).map_err(|error| error.to_string())?;
            let kind = ResourceType::parse(kind).map_err(|error| error.to_string())?;
            Ok(What::Type(integration, kind))
        }
        _ => super::about(text).map(What::One),
    }
}

/// It travels in messages and is shown.
fn run(text: &str) -> Result<String, String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    if text.is_empty() || text.len() > 64 || !text.bytes().all(plain) {
        return Err("expected 1 to 64 letters, digits, - _ . or :".to_owned());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_rebuilt_is_one_thing_a_type_a_kind_or_all() {
        assert!(matches!(what("all"), Ok(What::All)));
        assert!(matches!(what("subject/order"), Ok(What::Kind(_))));
        assert!(matches!(what("billing/invoice"), Ok(What::Type(..))));
        assert!(matches!(what("subject/order/7/8"), Ok(What::One(_))));
        let resource = what("stripe/acct_1/live/invoice/in_1/x");
        assert!(matches!(resource, Ok(What::One(About::Resource(_)))));
        for text in [
            "",
            "every",
            "a/b/c",
            "subject/",
            "Billing/invoice",
            "a/b/c/d",
        ] {
            assert!(what(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_run_is_a_plain_name() {
        assert!(run("2026-11-30T19:01:02.345Z").is_ok());
        for text in ["", "a b", "é", &"x".repeat(65)] {
            assert!(run(text).is_err(), "{text}");
        }
    }
}
