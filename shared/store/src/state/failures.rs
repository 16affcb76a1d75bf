//! Failed attempts, written under the revision that was loaded before the attempt began: a conclusion
//! that another worker committed meanwhile stands, wherever it put its marks, and is looked at first.

use aws_sdk_dynamodb::types::{ConditionCheck, TransactWriteItem, Update};
use lastword_domain::{Projection, ResourceKey};

use super::commit::Committed;
use super::decision::{self, Failure};
use super::{LoadedEvent, State, projection};
use crate::error::StoreError;
use crate::item::Item;
use crate::moment::Moment;

/// A transaction takes 100 items, one of which checks the projection.
const MOST_AT_ONCE: usize = 99;

impl State {
    /// Records failed attempts. [`Committed::Lost`] when somebody concluded meanwhile: load again.
    ///
    /// # Errors
    /// When it is unknown whether it was done; repeating the whole look is safe.
    pub async fn record_failures(
        &self,
        resource: &ResourceKey,
        held: &Projection,
        failures: &[Failure],
        events: &[LoadedEvent],
        now: Moment,
    ) -> Result<Committed, StoreError> {
        for chunk in failures.chunks(MOST_AT_ONCE) {
            let mut writes = vec![self.unmoved(resource, held)?];
            for failure in chunk {
                let event = events.iter().find(|event| event.reference == failure.event);
                writes.push(self.failure_write(resource, failure, event, now)?);
            }
            if !self.transact(writes).await? {
                return Ok(Committed::Lost);
            }
        }
        Ok(Committed::Done(held.revision))
    }

    /// Holds only while nobody has concluded since the load.
    fn unmoved(
        &self,
        resource: &ResourceKey,
        held: &Projection,
    ) -> Result<TransactWriteItem, StoreError> {
        let mut values = Item::new();
        let condition = projection::condition(held.revision, None, &mut values);
        let check = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(projection::key(resource)))
            .condition_expression(condition)
            .set_expression_attribute_values((!values.is_empty()).then_some(values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().condition_check(check).build())
    }

    fn failure_write(
        &self,
        resource: &ResourceKey,
        failure: &Failure,
        event: Option<&LoadedEvent>,
        now: Moment,
    ) -> Result<TransactWriteItem, StoreError> {
        let recorded = decision::failure(failure, event, now);
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(decision::key(resource, &failure.event)))
            .update_expression(recorded.update)
            .condition_expression(recorded.condition)
            .set_expression_attribute_names(recorded.names)
            .set_expression_attribute_values(Some(recorded.values))
            .build()
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }
}
