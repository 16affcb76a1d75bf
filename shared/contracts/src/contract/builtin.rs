//! The contracts that are built in: every TOML file beside this crate's source. Only the one that is asked
//! for is read.

use super::{Contract, ContractError};

/// Name and text, in the order of the alphabet.
type Texts = &'static [(&'static str, &'static str)];

/// Without what only a person reads. Kept apart, so that a function carries no more than this.
const LEAN: Texts = include!(concat!(env!("OUT_DIR"), "/lean.rs"));
/// As they are written.
const WHOLE: Texts = include!(concat!(env!("OUT_DIR"), "/whole.rs"));

impl Contract {
    /// The names of the contracts that are built in, in the order of the alphabet.
    pub fn names() -> impl Iterator<Item = &'static str> {
        LEAN.iter().map(|(name, _)| *name)
    }

    /// A contract that is built in, without what only a person reads.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn builtin(name: &str) -> Result<Self, ContractError> {
        read(name, Self::parse_lean(find(LEAN, name)?))
    }

    /// A contract that is built in, whole: every claim with its source.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn explained(name: &str) -> Result<Self, ContractError> {
        read(name, Self::parse(find(WHOLE, name)?))
    }

    /// A contract's file as it is written.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn text(name: &str) -> Result<&'static str, ContractError> {
        find(WHOLE, name)
    }
}

fn read(name: &str, contract: Result<Contract, String>) -> Result<Contract, ContractError> {
    contract.map_err(|why| ContractError::Unsound {
        name: name.to_owned(),
        why,
    })
}

fn find(texts: Texts, name: &str) -> Result<&'static str, ContractError> {
    let unknown = || ContractError::Unknown {
        found: name.to_owned(),
        nearest: Contract::names()
            .map(|known| (strsim::normalized_damerau_levenshtein(name, known), known))
            .filter(|(likeness, _)| *likeness > 0.5)
            .max_by(|one, other| one.0.total_cmp(&other.0))
            .map(|(_, known)| known),
    };
    let mut all = texts.iter();
    all.find(|(held, _)| *held == name)
        .map(|(_, text)| *text)
        .ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_that_is_built_in_is_sound_and_called_as_its_file() {
        let mut unsound = Vec::new();
        for name in Contract::names() {
            match Contract::builtin(name) {
                Ok(contract) => assert_eq!(contract.name.as_str(), name),
                Err(error) => unsound.push(error.to_string()),
            }
        }
        assert!(unsound.is_empty(), "{}", unsound.join("\n"));
    }

    /// A table, or the tables of a list.
    fn tables(value: &toml::Value) -> Vec<&toml::Table> {
        let listed = value.as_array().into_iter().flatten();
        let listed = listed.filter_map(toml::Value::as_table);
        value.as_table().into_iter().chain(listed).collect()
    }

    #[test]
    fn every_contract_says_of_every_claim_where_it_is_known_from() {
        const CLAIMS: [&str; 9] = [
            "signature",
            "handshake",
            "event",
            "api",
            "order",
            "acknowledge",
            "absence",
            "list",
            "quota",
        ];
        const ALWAYS: [&str; 5] = ["signature", "event", "order", "acknowledge", "absence"];
        let told = |table: &toml::Table| {
            let source = table.get("source").and_then(toml::Value::as_str);
            source.is_some_and(|source| !source.is_empty()) && table.contains_key("certainty")
        };
        let mut silent = Vec::new();
        for (name, text) in WHOLE {
            let whole: toml::Table = toml::from_str(text).unwrap();
            let claims = CLAIMS
                .iter()
                .filter_map(|name| whole.get(*name))
                .flat_map(tables);
            let kinds = whole.get("resources").into_iter().flat_map(tables);
            let kinds = kinds.flat_map(toml::Table::values).flat_map(tables);
            let untold = claims.chain(kinds).filter(|table| !told(table)).count();
            let missing = ALWAYS
                .iter()
                .filter(|name| !whole.contains_key(**name))
                .count();
            let by_digest = |contract: Contract| {
                let digest = contract
                    .event
                    .id
                    .as_slice()
                    .contains(&crate::Source::Digest);
                digest == contract.event.distinct.is_some()
            };
            let explained = Contract::explained(name).is_ok_and(by_digest);
            if !explained || untold + missing > 0 || Contract::explained(name).is_err() {
                silent.push(*name);
            }
        }
        assert!(silent.is_empty(), "{silent:#?}");
    }

    #[test]
    fn what_a_function_reads_is_the_same_contract() {
        for name in Contract::names() {
            let (lean, whole) = (
                Contract::builtin(name).unwrap(),
                Contract::explained(name).unwrap(),
            );
            let count = |contract: &Contract| {
                (
                    contract.signature.iter().count(),
                    contract.handshake.len(),
                    contract.resources.len(),
                )
            };
            assert_eq!(count(&lean), count(&whole), "{name}");
            assert_eq!(
                format!("{:?}", lean.event.kind),
                format!("{:?}", whole.event.kind)
            );
            assert_eq!(lean.acknowledge.body, whole.acknowledge.body);
        }
    }

    #[test]
    fn an_unknown_contract_is_told_with_what_was_perhaps_meant() {
        let told = |name| Contract::builtin(name).unwrap_err().to_string();
        assert!(
            told("strpe").contains("did you mean \"stripe\"?"),
            "{}",
            told("strpe")
        );
        assert!(!told("zzz").contains("did you mean"), "{}", told("zzz"));
    }
}
