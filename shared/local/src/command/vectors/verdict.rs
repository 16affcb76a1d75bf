//! Whether what came is what was expected.

use serde_json::Value;

use super::{Came, entry::Entry};

/// What a file expects of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Valid,
    InvalidSignature,
    MalformedHeader,
    TooOld,
    InFuture,
    UnsignedPing,
    MessageStringOnly,
}

const ALL: [(&str, Expected); 7] = [
    ("valid", Expected::Valid),
    ("invalid_signature", Expected::InvalidSignature),
    ("malformed_header", Expected::MalformedHeader),
    ("timestamp_too_old", Expected::TooOld),
    ("timestamp_in_future", Expected::InFuture),
    ("unsigned_ping", Expected::UnsignedPing),
    ("message_string_only", Expected::MessageStringOnly),
];

/// What came where only a text was compared.
pub(super) const STRING_ONLY: &str = "string only";
/// What came where the secret is refused when an endpoint starts.
pub(super) const NOT_STARTED: &str = "refused at the start";

impl Expected {
    pub(super) fn parse(word: &str) -> Result<Self, String> {
        let found = ALL.iter().find(|(known, _)| *known == word);
        found.map(|(_, expected)| *expected).ok_or_else(|| {
            let known: Vec<_> = ALL.iter().map(|(known, _)| *known).collect();
            format!("unknown expectation; known are {}", known.join(", "))
        })
    }

    /// What is wrong with it, if anything is.
    pub(super) fn complaint(self, entry: &Entry, came: &Came) -> Option<String> {
        let refused = |words: &[&str]| came.status == Some(401) && words.contains(&&*came.word);
        let right = match self {
            Self::Valid => return valid(entry, came),
            Self::InvalidSignature => {
                let wrong_token = came.status == Some(403) && came.word == "handshake-wrong-token";
                // A key that is not the provider's makes a signature as wrong as another key does.
                let signature = [
                    "signature-mismatch",
                    "signature-malformed",
                    "signature-missing",
                    "signature-foreign-key",
                ];
                wrong_token || came.word == NOT_STARTED || refused(&signature)
            }
            Self::MalformedHeader => {
                // A handshake that lacks what is to be answered.
                let incomplete = came.status == Some(400) && came.word == "bad-event";
                incomplete || refused(&["signature-malformed", "signature-missing"])
            }
            Self::TooOld => refused(&["signature-too-old"]),
            Self::InFuture => refused(&["signature-in-future"]),
            Self::UnsignedPing => came.status == Some(200),
            Self::MessageStringOnly => came.word == STRING_ONLY,
        };
        let hint = || came.hint.clone().or_else(|| detail(&came.body));
        (!right).then(|| match hint() {
            Some(hint) => format!("another answer: {hint}"),
            None => "another answer".to_owned(),
        })
    }
}

fn valid(entry: &Entry, came: &Came) -> Option<String> {
    if !came
        .status
        .is_some_and(|status| (200..300).contains(&status))
    {
        let hint = came.hint.clone().or_else(|| detail(&came.body));
        return Some(hint.unwrap_or_else(|| "not taken".to_owned()));
    }
    if let Some(status) = entry.status.filter(|status| came.status != Some(*status)) {
        return Some(format!("not answered with {status}"));
    }
    if let Some(text) = &entry.response
        && *text != came.body
    {
        return Some(format!("answered {:?} and not {text:?}", came.body));
    }
    if let Some(json) = &entry.response_json
        && serde_json::from_str::<Value>(&came.body).ok().as_ref() != Some(json)
    {
        return Some(format!("answered {:?} and not {json}", came.body));
    }
    None
}

/// What a problem's answer says about itself.
fn detail(body: &str) -> Option<String> {
    let problem: Value = serde_json::from_str(body).ok()?;
    Some(problem.get("detail")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complaint(word: &str, more: Value, status: u16, came: &str, body: &str) -> Option<String> {
        let mut raw = json!({ "provider": "acme", "expect": word });
        raw.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let came = Came {
            status: Some(status),
            word: came.to_owned(),
            body: body.to_owned(),
            hint: None,
        };
        Expected::parse(word)
            .unwrap()
            .complaint(&Entry::read(&raw).unwrap(), &came)
    }

    #[test]
    fn each_expectation_takes_its_own_answers_and_no_others() {
        let answers = [
            (200, "new"),
            (200, "handshake"),
            (401, "signature-mismatch"),
            (401, "signature-malformed"),
            (401, "signature-missing"),
            (401, "signature-too-old"),
            (401, "signature-in-future"),
            (403, "handshake-wrong-token"),
            (403, "foreign-account"),
            (415, "media-type"),
        ];
        for (word, right) in [
            ("valid", vec![0, 1]),
            ("invalid_signature", vec![2, 3, 4, 7]),
            ("malformed_header", vec![3, 4]),
            ("timestamp_too_old", vec![5]),
            ("timestamp_in_future", vec![6]),
            ("unsigned_ping", vec![0, 1]),
        ] {
            for (at, (status, came)) in answers.iter().enumerate() {
                let wrong = complaint(word, json!({}), *status, came, "").is_some();
                assert_eq!(wrong, !right.contains(&at), "{word}: {status} {came}");
            }
        }
    }

    #[test]
    fn an_answer_that_is_told_must_be_given() {
        let text = |body| complaint("valid", json!({ "expected_response": "a" }), 200, "", body);
        assert_eq!(text("a"), None);
        assert_eq!(text("b").unwrap(), "answered \"b\" and not \"a\"");
        let expected = json!({ "expected_response_json": { "type": 1 } });
        let json = |body| complaint("valid", expected.clone(), 200, "", body);
        assert_eq!(json("{ \"type\": 1 }"), None);
        assert!(json("{}").is_some() && json("").is_some());
    }

    #[test]
    fn an_expectation_that_nobody_knows_is_told_with_the_known_ones() {
        let why = Expected::parse("vallid").unwrap_err();
        assert!(why.contains("known are valid, invalid_signature"), "{why}");
    }
}
