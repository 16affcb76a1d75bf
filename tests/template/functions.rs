//! What runs, what it is told and where it logs.

use crate::{root, target, uphold};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn every_function_is_an_arm64_rust_binary_of_its_own() {
    uphold(
        |template, complaints| {
            complaints.unless_equal(
                "the default architecture",
                template
                    .at("Parameters/Architecture/Default")
                    .text()
                    .as_str(),
                "arm64",
            );
            let mut binaries = BTreeSet::new();
            for (name, function) in template.functions() {
                for (property, expected) in [
                    ("Runtime", "provided.al2023"),
                    ("Architectures", "[!Ref Architecture]"),
                    ("Handler", "bootstrap"),
                    ("CodeUri", "."),
                ] {
                    complaints.unless_equal(
                        &format!("{name}/{property}"),
                        template.function_property(function, property).as_str(),
                        expected,
                    );
                }
                complaints.unless_has(
                    name,
                    function,
                    &[("Metadata/BuildMethod", "rust-cargolambda")],
                );
                let binary = function.at("Metadata/BuildProperties/Binary").text();
                complaints.unless_equal(
                    &format!("{name}'s binary"),
                    binary.as_str(),
                    name.to_lowercase().as_str(),
                );
                let manifest = root().join("functions").join(&binary).join("Cargo.toml");
                let manifest = std::fs::read_to_string(manifest).unwrap_or_default();
                let declared = manifest.split("[[bin]]").skip(1).any(|section| {
                    let section = section.split("\n[").next().unwrap_or_default();
                    section
                        .lines()
                        .any(|line| line.trim() == format!("name = \"{binary}\""))
                });
                complaints.unless(declared, || {
                    format!("{name}: functions/{binary} has no binary {binary}")
                });
                complaints.unless(binaries.insert(binary), || {
                    format!("{name} shares its binary")
                });
            }
        },
        &[
            ("Runtime: provided.al2023", "Runtime: provided.al2"),
            ("    Default: arm64", "    Default: x86_64"),
            (
                "      Description: Turns changes",
                "      Architectures: [x86_64]\n      Description: Turns changes",
            ),
            ("BuildMethod: rust-cargolambda", "BuildMethod: makefile"),
            ("Binary: relay", "Binary: ingest"),
            ("Binary: relay", "Binary: replay"),
        ],
    );
}

#[test]
fn every_function_logs_json_into_a_group_of_its_own_that_forgets() {
    uphold(
        |template, complaints| {
            let mut groups = BTreeSet::new();
            for (name, function) in template.functions() {
                complaints.unless_equal(
                    &format!("{name}'s log format"),
                    template
                        .function_property(function, "LoggingConfig/LogFormat")
                        .as_str(),
                    "JSON",
                );
                let group = function.at("Properties/LoggingConfig/LogGroup").text();
                let declared = template.at("Resources").at(target(&group));
                complaints.unless_has(
                    &group,
                    declared,
                    &[
                        ("Type", "AWS::Logs::LogGroup"),
                        ("Properties/RetentionInDays", "!Ref LogRetentionDays"),
                    ],
                );
                complaints.unless(groups.insert(group), || {
                    format!("{name} shares its log group")
                });
            }
            for (name, group) in template.resources("AWS::Logs::LogGroup") {
                complaints.unless_has(
                    name,
                    group,
                    &[("Properties/RetentionInDays", "!Ref LogRetentionDays")],
                );
            }
        },
        &[
            ("LogFormat: JSON", "LogFormat: Text"),
            ("LogGroup: !Ref RelayLogs", "LogGroup: !Ref IngestLogs"),
            (
                "      RetentionInDays: !Ref LogRetentionDays\n",
                "      LogGroupClass: STANDARD\n",
            ),
        ],
    );
}

#[test]
fn each_function_knows_only_the_stores_and_queues_it_may_use() {
    uphold(
        |template, complaints| {
            let inbox = ("LASTWORD_INBOX_TABLE", "!Ref InboxTable".to_owned());
            let state = ("LASTWORD_STATE_TABLE", "!Ref StateTable".to_owned());
            let queue = ("LASTWORD_QUEUE_URL", "!Ref Signals".to_owned());
            let effects = ("LASTWORD_EFFECTS_QUEUE_URL", "!Ref Effects".to_owned());
            let bus = ("LASTWORD_BUS", "!Ref Bus".to_owned());
            let where_it_is = |condition: &str, value: &str| {
                format!("!If [{condition}, {value}, !Ref AWS::NoValue]")
            };
            let model = (
                "LASTWORD_MODEL",
                where_it_is("HasDraftModel", "!Ref DraftModel"),
            );
            // Below the prefix, whatever is given.
            let model_secret = (
                "LASTWORD_MODEL_SECRET",
                where_it_is(
                    "DraftsWithSecret",
                    "!Sub ssm:/${SecretsPrefix}/${DraftModelSecret}",
                ),
            );
            let model_seconds = (
                "LASTWORD_MODEL_SECONDS",
                "!Ref DraftModelSeconds".to_owned(),
            );
            let expected = BTreeMap::from([
                ("Ingest", BTreeMap::from([inbox.clone()])),
                (
                    "Relay",
                    BTreeMap::from([queue.clone(), effects.clone(), bus.clone()]),
                ),
                (
                    "Reconcile",
                    BTreeMap::from([inbox.clone(), state.clone(), queue]),
                ),
                // The Inbox by name only: its role opens nothing there.
                (
                    "Dispatch",
                    BTreeMap::from([inbox, state.clone(), effects, bus]),
                ),
                (
                    "Draft",
                    BTreeMap::from([state, model, model_secret, model_seconds]),
                ),
            ]);
            let actual = template
                .functions()
                .into_iter()
                .map(|(name, function)| {
                    let variables = function.at("Properties/Environment/Variables");
                    (
                        name,
                        variables
                            .entries()
                            .map(|(key, value)| (key, value.text()))
                            .collect(),
                    )
                })
                .collect();
            complaints.unless_equal("what the functions are told", actual, expected);
        },
        &[
            (
                "          LASTWORD_QUEUE_URL: !Ref Signals\n",
                "          LASTWORD_QUEUE_URL: !Ref Signals\n          LASTWORD_STATE_TABLE: !Ref StateTable\n",
            ),
            (
                "LASTWORD_STATE_TABLE: !Ref StateTable",
                "LASTWORD_STATE_TABLE: !Ref InboxTable",
            ),
            (
                "          LASTWORD_INBOX_TABLE: !Ref InboxTable\n",
                "          LASTWORD_INBOX: !Ref InboxTable\n",
            ),
            (
                "          LASTWORD_BUS: !Ref Bus\n\n  EffectsToDispatch",
                "          LASTWORD_QUEUE_URL: !Ref Signals\n          LASTWORD_BUS: !Ref Bus\n\n  EffectsToDispatch",
            ),
            (
                "!Sub \"ssm:/${SecretsPrefix}/${DraftModelSecret}\"",
                "!Sub \"ssm:/${DraftModelSecret}\"",
            ),
        ],
    );
}
