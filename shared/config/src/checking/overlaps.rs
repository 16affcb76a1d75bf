//! Laws 2 and 3: no two integrations speak of one account in one world of one provider.
//!
//! An identity holds provider, account and environment and not the integration. Over the same three, two
//! senders' events of one id would be one event, and two senders' objects of one id one resource.

use std::collections::BTreeMap;

use lastword_domain::name::IntegrationName;

use super::Checker;
use crate::integration::Integration;

impl Checker<'_> {
    /// Tells of each pair at the one that stands later in the file. `places` are where each begins.
    pub(super) fn overlaps(
        &mut self,
        mut places: Vec<(usize, IntegrationName)>,
        integrations: &BTreeMap<IntegrationName, Integration>,
    ) {
        places.sort();
        let tenant = |name| integrations.get(name).map(|found| found.reader.tenant());
        for (count, (at, later)) in places.iter().enumerate() {
            for (_, earlier) in places.iter().take(count) {
                let (Some(one), Some(other)) = (tenant(earlier), tenant(later)) else {
                    continue;
                };
                let Some(account) = one.shared_with(other) else {
                    continue;
                };
                let message = format!(
                    "{earlier} and {later} both speak of the account {:?} of {} in {}, so that the ids \
                     of their events and resources would run together; expected one integration with \
                     several signing secrets, or, for senders that know nothing of each other, other \
                     account names",
                    account.as_str(),
                    one.provider,
                    one.environment,
                );
                self.report(*at, &format!("integrations.{later}"), message);
            }
        }
    }
}
