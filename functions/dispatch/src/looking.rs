//! Whether an effect is still wanted, by what its owner is now, and what its destination can do. Decides nothing.

use std::time::Duration;

use lastword_config::{Channel, Destination};
use lastword_domain::Owner;
use lastword_domain::effect::life::{self, Means};
use lastword_domain::name::WordingName;
use lastword_rules::{Member, Recorded, Wanted};
use lastword_store::{Current, KeptEffect, LoadedEffect, MemberCopy, Moment};

use crate::dispatcher::Dispatcher;

/// What one look at an effect shows.
pub(crate) struct Look<'c> {
    /// What the rules say.
    pub(crate) says: Wanted,
    /// Where it goes; `None` where nothing is declared any more.
    pub(crate) to: Option<&'c Destination>,
    /// How it is worded, where it is.
    pub(crate) wording: Option<&'c WordingName>,
    /// What its destination can do.
    pub(crate) means: Means,
}

impl Look<'_> {
    pub(crate) fn wanted(&self) -> life::Wanted {
        match &self.says {
            Wanted::Yes(_) => life::Wanted::Yes,
            Wanted::No(_) => life::Wanted::No,
            Wanted::Undecided(_) => life::Wanted::Undecided,
        }
    }

    /// How long an attempt may take.
    pub(crate) fn longest(&self) -> Duration {
        self.to.map_or(Duration::ZERO, timeout)
    }

    /// Why it is not sent, for people.
    pub(crate) fn why(&self) -> &str {
        match &self.says {
            Wanted::Yes(_) => "it is wanted",
            Wanted::No(unwanted) => unwanted.as_str(),
            Wanted::Undecided(why) => why,
        }
    }

    /// Why nobody knows, for people.
    pub(crate) fn doubt(&self) -> String {
        const LOST: &str = "an attempt began and its end is not known";
        match &self.says {
            Wanted::Yes(_) => {
                format!("{LOST}; the destination can neither be asked nor told again")
            }
            Wanted::No(_) | Wanted::Undecided(_) => format!("{LOST}; now {}", self.why()),
        }
    }
}

impl Dispatcher {
    pub(crate) fn look(&self, loaded: &LoadedEffect, now: Moment) -> Look<'_> {
        let effect = &loaded.effect;
        let declared = self.config.effects.get(&effect.key.rule.name);
        let to = declared.and_then(|declared| self.config.destinations.get(&declared.to));
        Look {
            says: self.says(loaded),
            to,
            wording: declared.and_then(|declared| declared.wording.as_ref()),
            means: to.map_or(NONE, |to| means(to, effect, now)),
        }
    }

    fn says(&self, loaded: &LoadedEffect) -> Wanted {
        let effect = &loaded.effect;
        let name = &effect.key.rule.name;
        match (&loaded.current, &effect.owner) {
            (Current::Resource(projection, fact), Owner::Resource(resource)) => {
                if effect.fact.is_some() && fact.is_none() {
                    return Wanted::Undecided("the fact that calls for it is not there".to_owned());
                }
                let fact = fact.as_ref().map(|fact| Recorded {
                    kind: &fact.kind,
                    id: &fact.id,
                    content: &fact.content,
                });
                self.rules
                    .wanted_of_resource(name, resource, projection, fact)
            }
            (Current::Subject(held), Owner::Subject(subject)) => {
                let members: Vec<_> = held.members.iter().map(seen).collect();
                self.rules.wanted_of_subject(name, subject, &members)
            }
            (Current::Resource(..), Owner::Subject(_))
            | (Current::Subject(_), Owner::Resource(_)) => {
                Wanted::Undecided("its owner is not what was loaded".to_owned())
            }
        }
    }
}

const NONE: Means = Means {
    knows_keys: false,
    answers: false,
};

fn means(to: &Destination, effect: &KeptEffect, now: Moment) -> Means {
    let age = effect.first_tried_at.map(|first| now.since(first));
    let within = |remembers| age.is_none_or(|age| age < remembers);
    Means {
        knows_keys: to.remembers().is_some_and(within),
        answers: to.lookup().is_some(),
    }
}

/// How long the bus and queues may take.
const OWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one attempt may take.
pub(crate) fn timeout(to: &Destination) -> Duration {
    match &to.channel {
        Channel::Bus | Channel::Queue(_) => OWN_TIMEOUT,
        Channel::Http(http) => http.timeout,
    }
}

fn seen(member: &MemberCopy) -> Member<'_> {
    Member {
        role: &member.role,
        resource: &member.resource,
        contents: &member.contents,
    }
}
