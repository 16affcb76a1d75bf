//! What a contract says for people and for the sweep: order, answers, absence, lists, quotas.

use serde::Deserialize;

/// How sure a claim of a contract is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Read in the provider's own repositories or documentation.
    Read,
    /// A dated quotation of the provider by others.
    Quoted,
    /// From experience; to be checked before it is relied on.
    Believed,
    /// Not established.
    #[default]
    Unknown,
}

impl Certainty {
    /// As it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Quoted => "quoted",
            Self::Believed => "believed",
            Self::Unknown => "unknown",
        }
    }
}

/// What is known of the order of deliveries, and of what orders states.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Of deliveries.
    pub delivery: String,
    /// What in a payload orders states of one object.
    pub evidence: String,
    /// What a payload is: a snapshot, a part, a pointer, a fact.
    pub payload: String,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// How the provider wants to be answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Acknowledge {
    /// Which statuses count.
    pub success: String,
    /// By when, where that is published; in seconds.
    pub within_seconds: Option<f64>,
    /// What an answer's body must be.
    pub body: AnswerBody,
    /// What it does else.
    pub retries: Option<String>,
    /// When it gives the endpoint up.
    pub disabling: Option<String>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// What an answer's body must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerBody {
    /// Nothing is asked for.
    #[default]
    Any,
    /// Empty, also that of a refusal.
    Empty,
}

/// What "not there" means.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Of a deleted object.
    pub meaning: String,
    /// What else the same answer can mean.
    pub also: Option<String>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// Something that can be listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// What.
    pub what: String,
    /// Where.
    pub path: String,
    /// How one comes to the next page.
    pub cursor: Option<String>,
    /// In which order.
    pub order: Option<String>,
    /// How long back, in days.
    pub retention_days: Option<f64>,
    /// What is younger may still change; in seconds.
    pub horizon_seconds: Option<u64>,
    /// What a person has to know.
    pub note: Option<String>,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}

/// How often the provider may be asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// What of it.
    pub what: String,
    /// How often.
    pub limit: String,
    /// Where this is known from.
    pub source: String,
    /// How sure it is.
    pub certainty: Certainty,
}
