//! What was to be done about it, and what became of that, for people and machines. What an effect tells is shown only
//! with the bodies.

use lastword_domain::EffectStatus;
use lastword_store::{Draft, KeptEffect};
use serde_json::{Value, json};

use crate::command::show::{self, BAD, Cell, GOOD, PLAIN, QUIET};

pub(super) fn as_json(effects: &[KeptEffect], body: bool) -> Value {
    let each = effects.iter();
    let each = each.map(|effect| {
        let fact = effect.fact.as_ref();
        json!({
            "effect": effect.key.rule.name,
            "version": effect.key.rule.version,
            "key": business_key(effect),
            "fact": fact.map(|fact| json!({ "kind": fact.kind, "id": fact.id })),
            "status": effect.status.as_str(),
            "attempts": effect.attempts,
            "uncertain": effect.uncertain,
            "told": effect.told,
            "last_error": effect.error,
            "created_at": effect.created_at,
            "done_at": effect.done_at,
            "who": effect.who,
            // As text: its numbers may be larger than a reader's own.
            "data": effect.data.as_ref().filter(|_| body).map(|data| data.as_str()),
        })
    });
    json!(each.collect::<Vec<_>>())
}

/// The key under which destinations know it.
fn business_key(effect: &KeptEffect) -> String {
    effect.key.business_key(&effect.owner.hash()).to_string()
}

/// A table, where there are any.
pub(super) fn as_text(effects: &[KeptEffect], body: bool) -> String {
    if effects.is_empty() {
        return String::new();
    }
    let row = |effect: &KeptEffect| {
        let style = match effect.status {
            EffectStatus::Done => GOOD,
            EffectStatus::Failed | EffectStatus::Ambiguous => BAD,
            EffectStatus::Superseded => QUIET,
            EffectStatus::Pending | EffectStatus::Sending => PLAIN,
        };
        let fact = effect.fact.as_ref();
        let mut cells = vec![
            Cell::new(effect.key.rule.to_string()),
            Cell::new(fact.map_or("-".to_owned(), |fact| format!("{}/{}", fact.kind, fact.id))),
            Cell::new(effect.status.as_str()).styled(style),
            Cell::new(effect.attempts.to_string()),
            Cell::new(effect.done_at.as_deref().unwrap_or("-")),
            Cell::lines(words(effect)),
        ];
        if body {
            let data = effect.data.as_ref().map(|data| data.as_str());
            cells.push(Cell::new(data.unwrap_or("-")));
        }
        cells
    };
    let heads = [
        "EFFECT", "FACT", "STATUS", "ATTEMPTS", "DONE AT", "ABOUT", "DATA",
    ];
    let shown = heads.get(..if body { 7 } else { 6 }).unwrap_or_default();
    let rows = effects.iter().map(row).collect();
    format!("\n{}", show::table(shown, rows))
}

/// Texts that wait for a person; they hold what customers are told, so they are shown only with the bodies.
pub(super) fn drafts_as_text(drafts: &[Draft], body: bool) -> String {
    if drafts.is_empty() {
        return String::new();
    }
    let row = |draft: &Draft| {
        let why = draft.source.why().map(|why| format!(" ({})", why.as_str()));
        let source = format!("{}{}", draft.source.as_str(), why.unwrap_or_default());
        let mut cells = vec![
            Cell::new(draft.effect.as_str()),
            Cell::new(draft.wording.as_str()),
            Cell::new(source),
            Cell::new(&draft.created_at),
        ];
        if body {
            cells.push(Cell::lines(draft.text.lines().map(show::harmless)));
        }
        cells
    };
    let heads = ["DRAFT", "WORDING", "SOURCE", "WRITTEN AT", "TEXT"];
    let shown = heads.get(..if body { 5 } else { 4 }).unwrap_or_default();
    format!("\n{}", show::table(shown, drafts.iter().map(row).collect()))
}

pub(super) fn add_drafts(told: &mut Value, drafts: &[Draft], body: bool) {
    let each = drafts.iter();
    let each = each.map(|draft| {
        json!({
            "effect": draft.effect,
            "wording": draft.wording,
            "key": draft.key.to_text(),
            "source": draft.source.as_str(),
            "why": draft.source.why().map(|why| why.as_str()),
            "created_at": draft.created_at,
            "text": body.then_some(&draft.text),
        })
    });
    let all = json!(each.collect::<Vec<_>>());
    if let Some(members) = told.as_object_mut() {
        members.insert("drafts".to_owned(), all);
    }
}

fn words(effect: &KeptEffect) -> Vec<String> {
    let told = effect.told.iter().map(|told| format!("answered {told}"));
    let error = effect.error.iter().cloned();
    let who = effect.who.iter().map(|who| format!("by {who}"));
    told.chain(error).chain(who).collect()
}
