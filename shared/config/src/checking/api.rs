//! A read API of the sender's own, where the contract is general and leaves it to the deployment.

use lastword_contracts::Contract;

use super::Checker;
use crate::raw::RawIntegration;

impl Checker<'_> {
    /// Gives the contract the API that the integration names. A contract of one provider has its own, and nobody sends
    /// that provider's keys anywhere else.
    pub(super) fn api(&mut self, setting: &str, raw: &RawIntegration, contract: &mut Contract) {
        let Some(api) = &raw.api else { return };
        let setting = format!("{setting}.api");
        let at = api.span().start;
        if !contract.open_resources || contract.api.is_some() {
            let message = format!(
                "the contract {:?} says itself how its objects are read; expected none",
                contract.name.as_str()
            );
            self.report(at, &setting, message);
            return;
        }
        contract.api = Some(api.get_ref().clone());
        if let Err(why) = contract.check_api() {
            self.report(at, &setting, why);
        }
        let hosts = api.get_ref().hosts.values();
        for host in hosts.chain(&api.get_ref().host) {
            if !is_plain(host) {
                let message = format!(
                    "found the host {host:?}; expected https:// and a name, without a path, such as \
                     \"https://erp.example.com\""
                );
                self.report(at, &setting, message);
            }
        }
    }
}

fn is_plain(host: &str) -> bool {
    let name = host.strip_prefix("https://").unwrap_or_default();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b".-:".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}
