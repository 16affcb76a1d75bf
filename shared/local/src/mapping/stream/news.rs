//! Which records of State's stream somebody waits for: the template's filter criteria, as code. Compared with the
//! template in its tests.

use aws_sdk_dynamodbstreams::types::{OperationType, Record};
use lastword_store::state::{effect, fact, member};

/// Whether the template's filter lets a record of State's stream through.
#[must_use]
pub fn is_news(record: &Record) -> bool {
    let Some(change) = record.dynamodb() else {
        return false;
    };
    let text = |image: Option<&std::collections::HashMap<_, _>>, name: &str| {
        let value: Option<&aws_sdk_dynamodbstreams::types::AttributeValue> =
            image.and_then(|image| image.get(name));
        value.and_then(|value| value.as_s().ok()).cloned()
    };
    let sort = text(change.keys(), "sk").unwrap_or_default();
    let is = |kind: OperationType| record.event_name() == Some(&kind);
    let (new, changed) = (is(OperationType::Insert), is(OperationType::Modify));
    let image = change.new_image();
    let quiet = image.is_some_and(|image| image.contains_key("quiet"));
    let pending = text(image, "status").as_deref() == Some("pending");
    sort.starts_with(member::PREFIX)
        || (["projection", "subject"].contains(&sort.as_str()) && (new || changed) && !quiet)
        || (sort.starts_with(fact::PREFIX) && new)
        || (sort.starts_with(effect::PREFIX) && (new || changed) && pending)
}
