//! `lastword effect`: what a person says of an effect that failed or is ambiguous. Sends nothing itself.

use lastword_domain::{EffectStatus, Owner};
use lastword_store::{KeptEffect, Moment, Ruled as Became, Ruling, State};
use serde_json::json;

use super::{
    Found, Outcome,
    cli::{About, Ruled},
    inspect::{open, unread},
    show::{self, BAD, GOOD},
};
use crate::machine::Failure;

pub(super) async fn run(asked: &Ruled) -> Outcome {
    let state = open(asked.dir.as_deref())?;
    let waiting = waiting(&state, asked).await?;
    let effect = match waiting.as_slice() {
        [one] => one,
        [] => return Ok(refused(asked, "no such effect failed or is ambiguous")),
        several => {
            let facts: Vec<_> = several.iter().filter_map(fact).collect();
            let facts = facts.join(", ");
            let why = format!("there are several, name one with --fact: {facts}");
            return Ok(refused(asked, &why));
        }
    };
    let ruling = match asked.again {
        true => Ruling::Again,
        false => Ruling::Happened,
    };
    let hash = effect.owner.hash();
    let ruled = state.rule_effect(&hash, &effect.key, ruling, &asked.by, Moment::now());
    match ruled.await {
        Ok(Became::Done) => Ok(said(asked, effect)),
        Ok(Became::NotOpen) => Ok(refused(asked, "somebody else was first")),
        Err(error) => Err(format!("it is not known whether it was done: {error}").into()),
    }
}

/// Those of this name that wait for a person.
async fn waiting(state: &State, asked: &Ruled) -> Result<Vec<KeptEffect>, Failure> {
    let owner = match &asked.about {
        About::Resource(resource) => Owner::Resource(resource.clone()),
        About::Subject(subject) => Owner::Subject(subject.clone()),
    };
    let mut effects = match &owner {
        Owner::Resource(resource) => state.story(resource).await.map_err(unread)?.effects,
        Owner::Subject(subject) => state.subject_story(subject).await.map_err(unread)?.effects,
    };
    effects.retain(|effect| {
        let named = effect.key.rule.name.as_str() == asked.effect
            || effect.key.rule.to_string() == asked.effect;
        let told = asked.fact.is_none() || fact(effect) == asked.fact;
        let open = matches!(
            effect.status,
            EffectStatus::Failed | EffectStatus::Ambiguous
        );
        named && told && open
    });
    Ok(effects)
}

fn fact(effect: &KeptEffect) -> Option<String> {
    let fact = effect.fact.as_ref()?;
    Some(format!("{}/{}", fact.kind, fact.id))
}

fn said(asked: &Ruled, effect: &KeptEffect) -> Found {
    let (now, words) = match asked.again {
        true => ("pending", "is sent again, if it is still wanted"),
        false => ("done", "was acted on, as you say"),
    };
    let rule = effect.key.rule.to_string();
    if asked.json {
        let line =
            json!({ "done": true, "effect": rule, "was": effect.status.as_str(), "is": now });
        show::say(&format!("{line}\n"));
    } else {
        let was = effect.status;
        show::say(&format!(
            "{} {words}; it was {was}\n",
            show::painted(&rule, GOOD)
        ));
    }
    Found::Well
}

fn refused(asked: &Ruled, why: &str) -> Found {
    if asked.json {
        let line = json!({ "done": false, "effect": asked.effect, "why": why });
        show::say(&format!("{line}\n"));
    } else {
        let name = show::harmless(&asked.effect);
        show::remark(&format!(
            "{}: {}",
            show::painted(&name, BAD),
            show::harmless(why)
        ));
    }
    Found::Wrong
}
