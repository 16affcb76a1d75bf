use super::*;
use proptest::prelude::*;

fn fact((id, content, event): &(u8, u8, u8)) -> Fact {
    Fact {
        kind: FactKind::parse("paid").unwrap(),
        id: FactId::parse(&id.to_string()).unwrap(),
        content: Json::parse(&content.to_string()).unwrap(),
        event: EventRef::parse(&Digest::of(&[*event]).to_text()).unwrap(),
    }
}

fn all(told: &[(u8, u8, u8)]) -> Vec<Fact> {
    told.iter().map(fact).collect()
}

/// A store that keeps what it is told to, and refuses to overwrite.
#[derive(Default)]
struct Store {
    kept: BTreeMap<KnownFact, Fact>,
    contested: BTreeSet<(FactKind, FactId)>,
}

impl Store {
    fn told(history: &[Fact], batch: usize) -> Self {
        let mut store = Self::default();
        for batch in history.chunks(batch.max(1)) {
            let facts = store.take(batch);
            assert!(facts.new.len() <= batch.len());
        }
        store
    }

    fn take(&mut self, told: &[Fact]) -> Facts {
        let known: Vec<_> = self.kept.keys().cloned().collect();
        let facts = conclude_facts(&known, told);
        for fact in &facts.new {
            assert_eq!(self.kept.insert(fact.known(), fact.clone()), None);
        }
        self.contested.extend(facts.contested.iter().cloned());
        facts
    }

    fn says(&self) -> (Vec<&KnownFact>, &BTreeSet<(FactKind, FactId)>) {
        (self.kept.keys().collect(), &self.contested)
    }
}

fn history() -> impl Strategy<Value = Vec<(u8, u8, u8)>> {
    proptest::collection::vec((0u8..3, 0u8..3, 0u8..5), 1..10)
}

proptest! {
    #[test]
    fn any_order_and_repetition_in_any_batches_keeps_the_same_facts(
        (once, again) in history().prop_flat_map(|history| {
            let repeated: Vec<_> = history.iter().chain(&history).copied().collect();
            (Just(history), Just(repeated).prop_shuffle())
        }),
        batch in 1usize..8,
    ) {
        let (once, again) = (Store::told(&all(&once), 1), Store::told(&all(&again), batch));
        prop_assert_eq!(once.says(), again.says());
    }

    #[test]
    fn a_second_telling_records_nothing_and_one_call_does_not_see_its_own_order(
        (told, shuffled) in history().prop_flat_map(|history| (Just(history.clone()), Just(history).prop_shuffle())),
    ) {
        let told = all(&told);
        let facts = conclude_facts(&[], &told);
        prop_assert_eq!(&facts, &conclude_facts(&[], &all(&shuffled)));
        let mut store = Store::told(&told, told.len());
        let again = store.take(&told);
        prop_assert_eq!(again.new, Vec::new());
        prop_assert_eq!(again.contested, facts.contested);
        prop_assert!(again.by_event.iter().all(|(_, outcome)| *outcome != FactOutcome::New));
    }

    #[test]
    fn every_event_gets_exactly_one_outcome(a in history(), b in history()) {
        let mut store = Store::told(&all(&a), 2);
        let told = all(&b);
        let events: BTreeSet<_> = told.iter().map(|fact| fact.event.clone()).collect();
        let marked: Vec<_> = store.take(&told).by_event.into_iter().map(|(event, _)| event).collect();
        prop_assert_eq!(marked, events.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn the_same_told_twice_is_recorded_once_under_the_lesser_event() {
    let told = all(&[(1, 1, 1), (1, 1, 2)]);
    let least = told.iter().map(|fact| &fact.event).min().unwrap();
    let facts = conclude_facts(&[], &told);
    assert_eq!(facts.new.len(), 1);
    assert_eq!(&facts.new[0].event, least);
    let outcomes: BTreeSet<_> = facts.by_event.iter().map(|(_, outcome)| *outcome).collect();
    assert_eq!(outcomes, [FactOutcome::Known, FactOutcome::New].into());
}

#[test]
fn a_fact_with_another_content_is_kept_beside_the_first_and_contested() {
    let mut store = Store::told(&all(&[(1, 1, 1), (2, 1, 1)]), 1);
    let facts = store.take(&all(&[(1, 2, 2)]));
    assert_eq!(facts.new.len(), 1);
    assert_eq!(facts.contested.len(), 1);
    let event = facts.by_event[0].0.clone();
    let mark = facts.by_event[0].1.mark(event);
    assert_eq!(
        (mark.outcome, mark.reason),
        (Outcome::Conflict, Reason::FactTie)
    );
    assert_eq!(store.kept.len(), 3);
}

#[test]
fn another_rendering_is_the_same_content_and_another_kind_another_fact() {
    let json = |text: &str, kind: &str| Fact {
        kind: FactKind::parse(kind).unwrap(),
        content: Json::parse(text).unwrap(),
        ..fact(&(1, 1, 1))
    };
    let known = [json(r#"{"a":1}"#, "paid").known()];
    assert!(
        conclude_facts(&known, &[json(r#"{ "a": 1 }"#, "paid")])
            .new
            .is_empty()
    );
    let other = conclude_facts(&known, &[json(r#"{"a":2}"#, "refunded")]);
    assert_eq!((other.new.len(), other.contested.len()), (1, 0));
}
