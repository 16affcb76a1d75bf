//! The story of one subject: what was decided, from which members, and its reviews.

use lastword_domain::{Revision, Standing, SubjectKey};
use lastword_store::{MemberCopy, State, SubjectStory};
use serde_json::{Value, json};

use super::{effects, meaning, unread};
use crate::command::{
    Found, Outcome,
    cli::Inspect,
    show::{self, Cell, HEADING},
};

pub(super) async fn tell(state: &State, subject: &SubjectKey, asked: &Inspect) -> Outcome {
    let story = state.subject_story(subject).await.map_err(unread)?;
    let known = story.loaded.revision != Revision::NONE || !story.loaded.members.is_empty();
    let drafts = state.drafts().of(&subject.hash()).await.map_err(unread)?;
    if asked.json {
        let mut told = as_json(subject, &story, asked.body);
        effects::add_drafts(&mut told, &drafts, asked.body);
        show::say(&format!("{told}\n"));
    } else {
        show::say(&as_text(subject, &story, known, asked.body));
        show::say(&effects::drafts_as_text(&drafts, asked.body));
    }
    Ok(if known { Found::Well } else { Found::Wrong })
}

fn standing(member: &MemberCopy) -> &'static str {
    match member.contents.standing() {
        Standing::Present(_) => "present",
        Standing::Deleted => "deleted",
        Standing::Contested(_) => "contested",
    }
}

fn as_json(subject: &SubjectKey, story: &SubjectStory, body: bool) -> Value {
    let members = story.loaded.members.iter().map(|member| {
        json!({
            "role": member.role,
            "resource": member.resource,
            "standing": standing(member),
            "revision": member.revision.number(),
        })
    });
    json!({
        "subject": subject,
        "revision": story.loaded.revision.number(),
        "verdict": meaning::verdict(&story.loaded.meaning),
        "decided_at": story.decided_at,
        "members": members.collect::<Vec<_>>(),
        "effects": effects::as_json(&story.effects, body),
        "reviews": story.reviews.iter().map(meaning::review).collect::<Vec<_>>(),
        "rebuilt": meaning::rebuilt(story.rebuilt.as_ref()),
    })
}

fn as_text(subject: &SubjectKey, story: &SubjectStory, known: bool, body: bool) -> String {
    let name = show::harmless(&format!("subject/{subject}"));
    let mut text = format!("{}\n", show::painted(&name, HEADING));
    if !known {
        text.push_str("Nothing is known of it: no resource speaks about it.\n");
        return text;
    }
    let revision = story.loaded.revision;
    text.push_str(&format!("{:<13}{revision}\n", "revision"));
    if let Some(decided_at) = &story.decided_at {
        text.push_str(&format!("{:<13}{decided_at}\n", "decided at"));
    }
    text.push_str(&meaning::as_text(&story.loaded.meaning));
    text.push_str(&meaning::rebuilt_line(story.rebuilt.as_ref()));
    let row = |member: &MemberCopy| {
        vec![
            Cell::new(member.role.as_str()),
            Cell::new(member.resource.to_string()),
            Cell::new(standing(member)),
            Cell::new(member.revision.to_string()),
        ]
    };
    let heads = ["ROLE", "RESOURCE", "STANDING", "REVISION"];
    let members = story.loaded.members.iter().map(row).collect();
    text.push_str(&format!("\n{}", show::table(&heads, members)));
    text.push_str(&effects::as_text(&story.effects, body));
    text.push_str(&meaning::reviews(&story.reviews));
    text
}
