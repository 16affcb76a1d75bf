//! What a contract's members are called for a person, and in which order they are told. Nothing is written
//! here.

use super::words::{self, Words, scheme};

/// A member of a contract's table, what it is called here, and its words.
pub(super) struct Row {
    pub(super) member: &'static str,
    pub(super) name: &'static str,
    pub(super) words: Words,
    pub(super) otherwise: Otherwise,
}

/// What is said where the member is not there.
#[derive(Clone, Copy)]
pub(super) enum Otherwise {
    Nothing,
    Always(&'static str),
    /// Only of a scheme that signs a text.
    Signed(&'static str),
}

const fn row(member: &'static str, name: &'static str, words: Words) -> Row {
    Row {
        member,
        name,
        words,
        otherwise: Otherwise::Nothing,
    }
}

impl Row {
    const fn else_always(self, words: &'static str) -> Self {
        Self {
            otherwise: Otherwise::Always(words),
            ..self
        }
    }

    const fn else_signed(self, words: &'static str) -> Self {
        Self {
            otherwise: Otherwise::Signed(words),
            ..self
        }
    }
}

/// What stands above all sections.
pub(super) const HEAD: &[Row] = &[
    row("name", "contract", words::plain),
    row("media_types", "takes", words::plain),
    row("payload", "body is read as", words::plain).else_always("JSON"),
    row("parameters", "needs", words::plain),
    row("optional_parameters", "may be given", words::plain),
    row("open_resources", "own types", words::plain).else_always("none can be defined"),
];

const SCHEME: &[Row] = &[
    row("algorithm", "made with", scheme::algorithm),
    row("at", "stands in", words::first_place),
    row("prefix", "after", words::plain),
    row("list", "several", scheme::list).else_signed("one signature"),
    row("encoding", "written in", words::plain).else_signed("hex"),
    row("each", "of items", scheme::each_item),
    row("when", "only where", words::conditions),
    row("signed", "signed text", words::templates),
    row("timestamp", "signed time", words::first_place),
    row("time_unit", "time in", words::plain),
    row("tolerance_seconds", "window", scheme::window)
        .else_always("none: no time is checked, an old delivery can be sent again"),
    row("body_digest", "body's digest", words::first_place),
    row("key", "key", scheme::key).else_signed(scheme::TEXT_KEY),
    row("secret_prefix", "secret begins with", words::plain),
    row("prefix_is", "which is", scheme::prefix_is),
    row("key_bytes", "key's bytes", scheme::bytes),
    row("fetch", "key is asked for", words::plain),
    row("default", "accepted", scheme::by_default).else_always("without being named"),
    row("exclusive", "beside others", scheme::exclusive),
    row("uncovered", "does NOT cover", words::plain)
        .else_signed("nothing that is read is outside it"),
];

const HANDSHAKE: &[Row] = &[
    row("method", "method", words::plain).else_always("POST"),
    row("when", "known by", words::conditions),
    row("signed", "signature", words::signed_first).else_always(words::SIGNED_FIRST),
    row("unless_signed", "is one", words::only_unsigned),
    row("token", "must show", words::first_place),
    row("answer", "answered with", words::answer),
];

const EVENT: &[Row] = &[
    row("items", "events at", words::plain).else_always("one in each delivery"),
    row("id", "id", words::id),
    row("id_otherwise", "else", words::id),
    row("type", "type", words::kind),
    row("type_otherwise", "else", words::kind),
    row("account", "account", words::first_place).else_always("the integration's own"),
    row("account_hint", "must agree", words::first_place),
    row("environment", "environment", words::environment).else_always("the integration's own"),
    row("note", "note", words::plain),
];

const API: &[Row] = &[
    row("host", "host", words::plain),
    row("hosts", "hosts", words::plain),
    row("account_host", "account's host", words::plain),
    row("authorization", "authorization", words::plain),
    row("headers", "headers", words::plain),
    row("account_header", "other accounts", words::plain),
    row("absent", "\"not there\"", words::absent),
];

const RESOURCE: &[Row] = &[
    row("events", "told by", words::plain),
    row("each", "several at", words::plain),
    row("id", "id", words::id),
    row("without", "never holds", words::plain),
    row("strategies", "kept by", words::strategies),
    row("why", "because", words::plain),
    row("read", "read at", words::plain).else_always("not read back"),
    row("read_at", "stands at", words::pointer),
    row("read_id", "its id at", words::pointer),
    row("read_version", "its version at", words::pointer),
    row("snapshot", "state in the body", words::pointer),
    row("version", "version", words::pointer),
    row("version_kind", "versions are", words::plain),
    row("status", "status", words::pointer),
    row("read_status", "its status at", words::pointer),
    row("statuses", "leads to", words::statuses),
    row("number", "number", words::pointer),
    row("change", "change", words::pointer),
    row("first_number", "begins with", words::plain),
    row("patience_seconds", "patience", words::seconds),
    row("facts", "facts", words::facts),
    row("deleted_by", "deletion told by", words::plain).else_always("no event"),
    row("deleted_when", "deleted when", words::pointer),
    row("comes_back", "comes back", words::plain).else_always("never, once it is deleted"),
];

const ORDER: &[Row] = &[
    row("delivery", "deliveries", words::plain),
    row("evidence", "orders states", words::plain),
    row("payload", "a payload is", words::plain),
];

const ACKNOWLEDGE: &[Row] = &[
    row("success", "taken as success", words::plain),
    row("within_seconds", "within", words::seconds).else_always("no deadline is published"),
    row("body", "answer's body", words::plain),
    row("retries", "else", words::plain),
    row("disabling", "given up", words::plain),
];

const ABSENCE: &[Row] = &[
    row("meaning", "a deleted object", words::plain),
    row("also", "same answer", words::plain),
];

const LIST: &[Row] = &[
    row("path", "path", words::plain),
    row("cursor", "next page", words::plain),
    row("order", "order", words::plain),
    row("retention_days", "kept", words::days),
    row("horizon_seconds", "may change for", words::seconds),
    row("note", "note", words::plain),
];

const QUOTA: &[Row] = &[row("limit", "limit", words::plain)];

/// Where all of a table is known from; it stands last.
pub(super) const KNOWN_FROM: &[Row] = &[
    row("source", "known from", words::plain),
    row("certainty", "certainty", words::certainty),
];

/// What stands in a section of its own, with its heading; the member in it that the heading holds; its rows.
pub(super) const SECTIONS: &[(&str, &str, &str, &[Row])] = &[
    ("signature", "Signature", "name", SCHEME),
    ("handshake", "Handshake", "name", HANDSHAKE),
    ("event", "Event", "", EVENT),
    ("api", "Reading back", "", API),
    ("resources", "Resource", "", RESOURCE),
    ("order", "Order", "", ORDER),
    ("acknowledge", "Acknowledgement", "", ACKNOWLEDGE),
    ("absence", "What \"not there\" means", "", ABSENCE),
    ("list", "What can be listed", "what", LIST),
    ("quota", "How often it may be asked", "what", QUOTA),
];
