//! What is asked for, as what is walked; and whose integration a resource belongs to.

use std::collections::BTreeSet;

use lastword_config::{Config, Integration};
use lastword_domain::{
    Owner, ResourceKey,
    name::{IntegrationName, ResourceType},
};
use lastword_store::Census;

use crate::{
    command::cli::{About, What},
    machine::Failure,
};

/// Something that is walked to its end before the next begins.
#[derive(Debug, Clone)]
pub(super) enum Stage {
    /// Just this.
    One(Owner),
    /// All of these; of one integration only, if one is named.
    Every(Census, Option<IntegrationName>),
}

/// Resources first: subjects follow from their members.
pub(super) fn stages(what: &What, config: &Config) -> Result<Vec<Stage>, Failure> {
    match what {
        What::One(About::Resource(resource)) => {
            Ok(vec![Stage::One(Owner::Resource(resource.clone()))])
        }
        What::One(About::Subject(subject)) => Ok(vec![Stage::One(Owner::Subject(subject.clone()))]),
        What::Kind(kind) if config.subjects.contains_key(kind) => {
            Ok(vec![Stage::Every(Census::Subjects(kind.clone()), None)])
        }
        What::Kind(kind) => Err(format!("no subject is called {kind}").into()),
        What::Type(name, kind) => {
            let integration = config.integrations.get(name);
            let integration =
                integration.ok_or_else(|| format!("no integration is called {name}"))?;
            if !integration.resources.contains_key(kind) {
                return Err(format!("{name} keeps no {kind}").into());
            }
            let census = census(integration, kind);
            Ok(vec![Stage::Every(census, Some(name.clone()))])
        }
        What::All => Ok(everything(config)),
    }
}

fn everything(config: &Config) -> Vec<Stage> {
    let integrations = config.integrations.values();
    // Two integrations may speak of one world: it is walked once.
    let resources: BTreeSet<Census> = integrations
        .flat_map(|it| it.resources.keys().map(|kind| census(it, kind)))
        .collect();
    let subjects = config.subjects.keys().cloned().map(Census::Subjects);
    let all = resources.into_iter().chain(subjects);
    all.map(|census| Stage::Every(census, None)).collect()
}

fn census(integration: &Integration, kind: &ResourceType) -> Census {
    Census::Resources(
        integration.contract.name.clone(),
        integration.environment.clone(),
        kind.clone(),
    )
}

/// The integration that keeps a resource; `None` when none does any more.
pub(super) fn keeper<'c>(config: &'c Config, resource: &ResourceKey) -> Option<&'c Integration> {
    let keeps = |it: &&Integration| {
        let mut accounts = it.reader.tenant().accounts();
        it.contract.name == resource.provider
            && it.environment == resource.environment
            && it.resources.contains_key(&resource.kind)
            && accounts.any(|account| *account == resource.account)
    };
    config.integrations.values().find(keeps)
}
