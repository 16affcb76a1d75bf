//! The story of one resource: what is held, what it means, what was decided about each event, facts and reviews.

use std::collections::BTreeMap;

use lastword_domain::{Content, EventRef, Outcome as Decided, Projection, ResourceKey, Standing};
use lastword_store::{Bodies, Decision, State, Story};
use serde_json::{Value, json};

use super::{effects, meaning, unread};
use crate::command::{
    Found, Outcome,
    cli::Inspect,
    show::{self, BAD, Cell, GOOD, HEADING, QUIET},
};

pub(super) async fn tell(state: &State, resource: &ResourceKey, asked: &Inspect) -> Outcome {
    let mut story = state.story(resource).await.map_err(unread)?;
    include_marks(&mut story);
    name_events(state, resource, &mut story.decisions).await;
    story
        .decisions
        .sort_by(|one, other| when(one).cmp(&when(other)));
    let known = story.projection.is_some() || !story.decisions.is_empty();
    let drafts = state.drafts().of(&resource.hash()).await.map_err(unread)?;
    if asked.json {
        let mut told = as_json(resource, &story, asked.body);
        effects::add_drafts(&mut told, &drafts, asked.body);
        show::say(&format!("{told}\n"));
    } else {
        show::say(&as_text(resource, &story, asked.body));
        show::say(&effects::drafts_as_text(&drafts, asked.body));
    }
    Ok(if known { Found::Well } else { Found::Wrong })
}

/// Marks on pages and in the projection have no item of their own, or one that only counts attempts.
fn include_marks(story: &mut Story) {
    let recent = story.projection.iter().flat_map(|it| it.recent.clone());
    let marks: Vec<_> = std::mem::take(&mut story.paged)
        .into_iter()
        .chain(recent)
        .collect();
    for mark in marks {
        let held = story.decisions.iter_mut().find(|it| it.event == mark.event);
        match held {
            Some(decision) => {
                decision.outcome.get_or_insert(mark.outcome);
                decision.reason.get_or_insert(mark.reason);
            }
            None => story.decisions.push(Decision {
                event: mark.event,
                event_id: None,
                event_type: None,
                outcome: Some(mark.outcome),
                reason: Some(mark.reason),
                revision: None,
                attempts: 0,
                last_error: None,
                decided_at: None,
            }),
        }
    }
}

/// Looks the provider's names of events up in the Inbox, while it keeps them. They are a convenience:
/// without them the story is told all the same.
async fn name_events(state: &State, resource: &ResourceKey, decisions: &mut [Decision]) {
    let nameless = |decision: &&Decision| decision.event_id.is_none();
    let unnamed: Vec<EventRef> = decisions
        .iter()
        .filter(nameless)
        .map(|decision| decision.event.clone())
        .collect();
    if unnamed.is_empty() {
        return;
    }
    let Ok(loaded) = state.load(resource, &unnamed, Bodies::Without, &[]).await else {
        return;
    };
    let names: BTreeMap<_, _> = loaded
        .events
        .into_iter()
        .filter_map(|event| Some((event.reference, event.stored?)))
        .collect();
    for decision in decisions {
        if let Some(stored) = names.get(&decision.event) {
            let id = stored.identity.id.to_string();
            decision.event_id.get_or_insert(id);
            decision.event_type.get_or_insert(stored.kind.to_string());
        }
    }
}

/// Decided ones first, by what they led to.
fn when(decision: &Decision) -> (bool, u64, &str) {
    (
        decision.outcome.is_none(),
        decision.revision.unwrap_or(u64::MAX),
        decision.decided_at.as_deref().unwrap_or("~"),
    )
}

fn standing(projection: Option<&Projection>) -> &'static str {
    match projection
        .and_then(|it| it.contents.as_ref())
        .map(|it| it.standing())
    {
        None => "unknown",
        Some(Standing::Present(_)) => "present",
        Some(Standing::Deleted) => "deleted",
        Some(Standing::Contested(_)) => "contested",
    }
}

/// Every content that is held: one, or several where nobody may choose.
fn contents(projection: Option<&Projection>) -> Vec<&str> {
    projection
        .and_then(|it| it.contents.as_ref())
        .into_iter()
        .flat_map(|contents| contents.iter())
        .map(|content| match content {
            Content::Present(json) => json.as_str(),
            Content::Deleted => "null",
        })
        .collect()
}

fn as_json(resource: &ResourceKey, story: &Story, body: bool) -> Value {
    let projection = story.projection.as_ref();
    let mut told = json!({
        "resource": resource,
        "standing": standing(projection),
        "revision": projection.map(|it| it.revision.number()),
        "version": projection.and_then(|it| it.version.as_ref()).map(ToString::to_string),
        "observed_at": story.observed_at,
        "decisions": story.decisions.iter().map(decision).collect::<Vec<_>>(),
    });
    if let (Some(object), Some(projection)) = (told.as_object_mut(), projection) {
        object.extend(meaning::as_json(&projection.meaning));
        if let Some(grave) = &projection.grave {
            object.insert("deletion_proved_by".to_owned(), json!(grave.proof.as_str()));
        }
    }
    if let Some(object) = told.as_object_mut() {
        let facts: Vec<_> = story
            .facts
            .iter()
            .map(|it| meaning::fact(it, body))
            .collect();
        object.insert("facts".to_owned(), json!(facts));
        let reviews: Vec<_> = story.reviews.iter().map(meaning::review).collect();
        object.insert("reviews".to_owned(), json!(reviews));
        object.insert("effects".to_owned(), effects::as_json(&story.effects, body));
        let waiting = projection.is_some_and(|it| it.waiting);
        object.insert("waiting".to_owned(), json!(waiting));
        let rebuilt = meaning::rebuilt(story.rebuilt.as_ref());
        object.insert("rebuilt".to_owned(), rebuilt);
    }
    if let Some(object) = told.as_object_mut().filter(|_| body) {
        // As texts: the provider's numbers may be larger than a reader's own.
        object.insert("states".to_owned(), json!(contents(projection)));
    }
    told
}

fn decision(decision: &Decision) -> Value {
    json!({
        "event": decision.event.to_string(),
        "event_id": decision.event_id,
        "event_type": decision.event_type,
        "outcome": decision.outcome.map(Decided::as_str),
        "reason": decision.reason.map(|it| it.as_str()),
        "explanation": decision.reason.map(|it| it.explain()),
        "revision": decision.revision,
        "attempts": decision.attempts,
        "last_error": decision.last_error,
        "decided_at": decision.decided_at,
    })
}

fn as_text(resource: &ResourceKey, story: &Story, body: bool) -> String {
    let projection = story.projection.as_ref();
    let name = show::harmless(&resource.to_string());
    let mut text = format!("{}\n", show::painted(&name, HEADING));
    if projection.is_none() && story.decisions.is_empty() {
        text.push_str("Nothing is known of it. Its first part is the provider, such as stripe.\n");
        return text;
    }
    let version = projection.and_then(|it| it.version.as_ref());
    let fields = [
        ("standing", Some(standing(projection).to_owned())),
        ("revision", projection.map(|it| it.revision.to_string())),
        ("version", version.map(ToString::to_string)),
        (
            "proved by",
            projection
                .and_then(|it| it.grave.as_ref())
                .map(|grave| grave.proof.as_str().to_owned()),
        ),
        (
            "waiting",
            projection
                .filter(|it| it.waiting)
                .map(|_| "for a change that has not come".to_owned()),
        ),
        ("observed at", story.observed_at.clone()),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            text.push_str(&format!("{name:<13}{value}\n"));
        }
    }
    if body {
        for content in contents(projection) {
            text.push_str(&format!("{:<13}{}\n", "state", show::harmless(content)));
        }
    }
    if let Some(projection) = projection {
        text.push_str(&meaning::as_text(&projection.meaning));
    }
    text.push_str(&meaning::rebuilt_line(story.rebuilt.as_ref()));
    text.push('\n');
    text.push_str(&table(&story.decisions));
    text.push_str(&meaning::facts(&story.facts, body));
    text.push_str(&effects::as_text(&story.effects, body));
    text.push_str(&meaning::reviews(&story.reviews));
    text
}

fn table(decisions: &[Decision]) -> String {
    let heads = [
        "EVENT",
        "TYPE",
        "OUTCOME",
        "REVISION",
        "ATTEMPTS",
        "DECIDED AT",
        "REASON",
    ];
    let row = |it: &Decision| {
        let event = it.event_id.clone().unwrap_or_else(|| it.event.to_string());
        let or_dash = |text: Option<String>| Cell::new(text.unwrap_or_else(|| "-".to_owned()));
        let reason = it.reason.map(|reason| reason.explain().to_owned());
        let error = it.last_error.as_ref().map(|it| format!("last error: {it}"));
        vec![
            Cell::new(event),
            or_dash(it.event_type.clone()),
            outcome(it.outcome),
            or_dash(it.revision.map(|revision| revision.to_string())),
            Cell::new(it.attempts.to_string()),
            or_dash(it.decided_at.clone()),
            Cell::lines(reason.into_iter().chain(error)),
        ]
    };
    show::table(&heads, decisions.iter().map(row).collect())
}

fn outcome(outcome: Option<Decided>) -> Cell {
    match outcome {
        None => Cell::new("(trying)").styled(BAD),
        Some(it @ (Decided::Conflict | Decided::Failed | Decided::Exhausted)) => {
            Cell::new(it.as_str()).styled(BAD)
        }
        Some(it @ Decided::Applied) => Cell::new(it.as_str()).styled(GOOD),
        Some(
            it @ (Decided::Unchanged
            | Decided::Stale
            | Decided::Duplicate
            | Decided::Waiting
            | Decided::Ignored),
        ) => Cell::new(it.as_str()).styled(QUIET),
    }
}
