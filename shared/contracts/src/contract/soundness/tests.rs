use super::*;

const STRIPE: &str = include_str!("../../../stripe.toml");
const GITHUB: &str = include_str!("../../../github.toml");

fn refused(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    Contract::parse(&text.replace(from, to)).unwrap_err()
}

#[test]
fn a_path_that_leaves_out_a_part_of_the_id_or_asks_for_one_too_many_is_refused() {
    for path in [
        "/v1/subscriptions",
        "/v1/subscriptions/{0}/{1}",
        "v1/{0}",
        "/v1/{0}/{0}",
        "/v1/{1}",
    ] {
        let error = refused(STRIPE, "/v1/subscriptions/{0}", path);
        assert!(
            error.contains("must begin with '/' and hold {0} once each"),
            "{path}: {error}"
        );
    }
}

#[test]
fn a_strategy_without_its_evidence_is_refused() {
    let current = "strategies = [\"current\"]";
    let error = refused(STRIPE, current, "strategies = [\"version\"]");
    assert!(error.contains("needs to know where version"), "{error}");
    let versioned = "strategies = [\"version\"]\nversion = \"/v\"\nsnapshot = \"/s\"";
    let error = refused(STRIPE, current, versioned);
    assert!(error.contains("needs `read_version`"), "{error}");
    let told = format!("{versioned}\nread_version = \"/v\"");
    assert!(Contract::parse(&STRIPE.replace(current, &told)).is_ok());
}

#[test]
fn a_path_to_read_without_a_way_to_know_the_answer_s_object_is_refused() {
    let error = refused(STRIPE, "read_id = \"/id\"\n", "");
    assert!(error.contains("needs `read_id`"), "{error}");
}

#[test]
fn an_unsigned_event_name_is_no_evidence_of_deletion_unless_the_body_can_be_told_from_others() {
    let error = refused(GITHUB, "without = [\"/comment\"]\n", "");
    assert!(
        error.contains("resource issue: `deleted_by` needs `without`"),
        "{error}"
    );
    // Where the signed body names the type, nothing more is needed.
    assert!(STRIPE.contains("deleted_by") && !STRIPE.contains("without"));
}

#[test]
fn an_unsigned_header_cannot_name_an_account_or_an_environment() {
    let account = "account = \"body:/repository/owner/id\"";
    let error = refused(GITHUB, account, "account = \"header:X-Account\"");
    assert!(
        error.contains("the header X-Account is not signed"),
        "{error}"
    );
    let error = refused(
        STRIPE,
        "from = \"body:/livemode\"",
        "from = \"header:X-Mode\"",
    );
    assert!(error.contains("the header X-Mode is not signed"), "{error}");
}

#[test]
fn the_name_that_unreadable_events_are_kept_under_is_refused() {
    let error = refused(STRIPE, "[resources.charge]", "[resources.unreadable-event]");
    assert!(error.contains("choose another"), "{error}");
}
