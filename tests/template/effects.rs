//! How effects travel, and what their dispatcher cannot reach.

use crate::document::Template;
use crate::iam::{Request, may};
use crate::table::OF_AN_EFFECT;
use crate::{root, uphold};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The longest that SQS hides a message.
const LONGEST_HIDDEN: i64 = 43_200;
/// The most receives that SQS counts before a message is set aside.
const MOST_RECEIVES: i64 = 1000;

#[test]
fn an_effect_may_wait_for_as_long_as_it_is_kept_and_still_does_not_look_dead() {
    uphold(
        |template, complaints| {
            let queue = template.at("Resources/Effects/Properties");
            let of = |path: &str| queue.at(path).number().unwrap_or_default();
            let receives = of("RedrivePolicy/maxReceiveCount");
            let (kept, hidden) = (of("MessageRetentionPeriod"), of("VisibilityTimeout"));
            complaints.unless(receives <= MOST_RECEIVES, || {
                format!("SQS does not count {receives} receives")
            });
            // A receive for each time that it is hidden, and as many again for what it has to be retried.
            complaints.unless(receives >= 10 * (kept / LONGEST_HIDDEN), || {
                format!("after {receives} receives an effect that was only waiting is gone")
            });
            // What kills the process each time is set aside before it is forgotten.
            complaints.unless(receives * hidden < kept / 2, || {
                format!("{receives} receives of {hidden} s each take too long")
            });
            complaints.unless_has("Effects", template.at("Resources"), &[
                ("Effects/Properties/FifoQueue", ""),
                ("EffectsDeadLetters/Properties/FifoQueue", ""),
                ("Effects/Properties/QueueName", "!Sub ${AWS::StackName}-effects"),
                ("Effects/Properties/RedrivePolicy/deadLetterTargetArn", "!GetAtt EffectsDeadLetters.Arn"),
                ("EffectsDeadLetters/Properties/RedriveAllowPolicy/redrivePermission", "byQueue"),
                (
                    "EffectsDeadLetters/Properties/RedriveAllowPolicy/sourceQueueArns",
                    "[!Sub arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${AWS::StackName}-effects]",
                ),
                ("Bus/Type", "AWS::Events::EventBus"),
                ("Bus/Properties/Name", "!Sub ${AWS::StackName}-lastword"),
            ]);
        },
        &[
            ("maxReceiveCount: 1000", "maxReceiveCount: 1001"),
            ("maxReceiveCount: 1000", "maxReceiveCount: 50"),
            ("VisibilityTimeout: 360", "VisibilityTimeout: 1200"),
            (
                "deadLetterTargetArn: !GetAtt EffectsDeadLetters.Arn",
                "deadLetterTargetArn: !GetAtt SignalsDeadLetters.Arn",
            ),
            (
                "QueueName: !Sub \"${AWS::StackName}-effects\"",
                "QueueName: !Sub \"${AWS::StackName}-effects.fifo\"\n      FifoQueue: true",
            ),
        ],
    );
}

#[test]
fn effects_are_executed_side_by_side_but_never_without_a_bound() {
    uphold(
        |template, complaints| {
            complaints.unless_has(
                "EffectsToDispatch",
                template.at("Resources/EffectsToDispatch/Properties"),
                &[
                    ("EventSourceArn", "!GetAtt Effects.Arn"),
                    ("FunctionName", "!Ref Dispatch"),
                    ("BatchSize", "10"),
                    ("MaximumBatchingWindowInSeconds", "0"),
                    // What is filtered out is deleted unseen.
                    ("FilterCriteria", ""),
                    (
                        "ScalingConfig/MaximumConcurrency",
                        "!Ref DispatchMaximumConcurrency",
                    ),
                ],
            );
            let bound = template.at("Parameters/DispatchMaximumConcurrency");
            complaints.unless_has(
                "DispatchMaximumConcurrency",
                bound,
                &[("MinValue", "2"), ("MaxValue", "1000"), ("Default", "10")],
            );
            complaints.unless(
                !template
                    .at("Resources/Dispatch/Properties/ReservedConcurrentExecutions")
                    .exists(),
                || "dispatch is bounded by a reservation".to_owned(),
            );
        },
        &[
            (
                "      ScalingConfig:\n        MaximumConcurrency: !Ref DispatchMaximumConcurrency\n",
                "",
            ),
            (
                "  DispatchMaximumConcurrency:\n    Type: Number\n    Default: 10\n    MinValue: 2",
                "  DispatchMaximumConcurrency:\n    Type: Number\n    Default: 10\n    MinValue: 1",
            ),
            (
                "      EventSourceArn: !GetAtt Effects.Arn\n",
                "      EventSourceArn: !GetAtt Signals.Arn\n",
            ),
        ],
    );
}

/// What dispatch may ask of the State table, as AWS knows of the request: an update's attributes are those of
/// its key, of what it writes and of its condition.
fn dispatch_may(template: &Template, action: &str, attributes: &[&str]) -> bool {
    let context: &[(&str, &[&str])] = &[("dynamodb:Attributes", attributes)];
    let request = Request {
        action,
        resource: "!GetAtt StateTable.Arn",
        context,
    };
    may(template, "Dispatch", &["HasDestinationQueues"], request)
}

#[test]
fn dispatch_records_what_became_of_an_effect_and_touches_nothing_that_is_true() {
    uphold(
        |template, complaints| {
            let (update, key) = ("dynamodb:UpdateItem", ["pk", "sk"]);
            complaints.unless(dispatch_may(template, update, &OF_AN_EFFECT), || {
                "dispatch cannot record an outcome".to_owned()
            });
            // The contents and the evidence of a projection, subject, member or fact; also beside an attribute
            // that it may write.
            for attribute in [
                "state",
                "packed",
                "size",
                "deleted",
                "contested",
                "verdict",
                "version",
                "revision",
                "census",
                "links",
                "facts",
                "reviews",
                "recent",
                "event",
                "quiet",
                "outcome",
                "text",
            ] {
                let [pk, sk] = key;
                complaints.unless(
                    !dispatch_may(template, update, &[pk, sk, "status", attribute]),
                    || format!("dispatch may write {attribute}"),
                );
            }
            complaints.unless(!dispatch_may(template, update, &[]), || {
                "an update of which nothing is known passes".to_owned()
            });
            for action in [
                "PutItem",
                "DeleteItem",
                "BatchWriteItem",
                "PartiQLUpdate",
                "Scan",
            ] {
                let action = format!("dynamodb:{action}");
                complaints.unless(!dispatch_may(template, &action, &key), || {
                    format!("dispatch may {action}")
                });
            }
            for (action, resource) in [
                ("dynamodb:GetItem", "!GetAtt InboxTable.Arn"),
                ("sqs:SendMessage", "!GetAtt Signals.Arn"),
                ("sqs:SendMessage", "!GetAtt Effects.Arn"),
                ("events:PutEvents", "!Sub ${AWS::StackName}-default"),
            ] {
                let request = Request {
                    action,
                    resource,
                    context: &[],
                };
                complaints.unless(
                    !may(template, "Dispatch", &["HasDestinationQueues"], request),
                    || format!("dispatch may {action} on {resource}"),
                );
            }
            complaints.unless_equal(
                "HasDestinationQueues",
                template
                    .at("Conditions/HasDestinationQueues")
                    .text()
                    .as_str(),
                "!Not [!Equals [!Join [, !Ref DestinationQueueArns], ]]",
            );
            complaints.unless_has(
                "DestinationQueueArns",
                template.at("Parameters/DestinationQueueArns"),
                &[("Type", "CommaDelimitedList"), ("Default", "")],
            );
            let send = Request {
                action: "sqs:SendMessage",
                resource: "!Ref DestinationQueueArns",
                context: &[],
            };
            complaints.unless(
                may(template, "Dispatch", &["HasDestinationQueues"], send),
                || "dispatch cannot send to a destination".to_owned(),
            );
            complaints.unless(!may(template, "Dispatch", &[], send), || {
                "dispatch sends where there is no destination".to_owned()
            });
        },
        &[
            (
                "                  \"Null\":\n                    dynamodb:Attributes: \"false\"\n",
                "",
            ),
            (
                "                      - open\n",
                "                      - open\n                      - state\n",
            ),
            ("                      - uncertain\n", ""),
            (
                "ForAllValues:StringEquals:\n                    dynamodb:Attributes:",
                "ForAllValues:StringEquals:\n                    dynamodb:LeadingKeys:",
            ),
            (
                "- HasDestinationQueues\n                - Sid",
                "- HasDraftModel\n                - Sid",
            ),
        ],
    );
}

/// The items of the State table and their attributes, from the tables that head the modules of the store;
/// with each attribute, whether dispatch writes it.
fn documented() -> BTreeMap<String, BTreeMap<String, bool>> {
    let mut items = BTreeMap::new();
    collect(&root().join("shared/store/src/state"), &mut items);
    items
}

fn collect(folder: &Path, items: &mut BTreeMap<String, BTreeMap<String, bool>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, items);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//! | "))
            .map(|row| row.split('|').map(str::trim).collect())
            .collect();
        let quoted = |cell: &str| -> Vec<String> {
            let parts = cell.split('`').skip(1).step_by(2);
            parts.map(str::to_owned).collect()
        };
        let attributes: BTreeMap<String, bool> = rows
            .iter()
            .flat_map(|row| {
                let by_dispatch = row.iter().skip(3).any(|cell| cell.contains("dispatch"));
                let names = quoted(row.first().unwrap());
                names.into_iter().map(move |name| (name, by_dispatch))
            })
            .collect();
        if attributes.is_empty() {
            continue;
        }
        let sort = rows.iter().find(|row| row.first() == Some(&"`pk`, `sk`"));
        let sort = sort.and_then(|row| quoted(row.get(2)?).into_iter().next());
        let item = sort.map_or("contents".to_owned(), |sort| {
            sort.split('#').next().unwrap_or_default().to_owned()
        });
        items.insert(item, attributes);
    }
}

#[test]
fn of_other_items_dispatch_could_write_only_what_the_template_says() {
    let mut shared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let documented = documented();
    for item in [
        "projection",
        "subject",
        "member",
        "fact",
        "contents",
        "review",
        "decision",
    ] {
        assert!(
            documented.contains_key(item),
            "the store says nothing of a {item}"
        );
    }
    for (item, attributes) in documented {
        for (attribute, by_dispatch) in attributes {
            let may_write = OF_AN_EFFECT.contains(&attribute.as_str());
            if item == "effect" {
                assert!(
                    may_write || !by_dispatch,
                    "the role of dispatch cannot write {attribute}, which the store says it does"
                );
            } else if may_write && attribute != "pk" && attribute != "sk" {
                shared.entry(item.clone()).or_default().insert(attribute);
            }
        }
    }
    // A draft's own come and go: it is text for a person, and no decision reads it.
    shared.remove("draft");
    let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(
        shared,
        BTreeMap::from([
            ("decision".to_owned(), names(&["attempts", "open"])),
            ("decisions".to_owned(), names(&["open"])),
            ("review".to_owned(), names(&["open", "status"])),
        ])
    );
}
