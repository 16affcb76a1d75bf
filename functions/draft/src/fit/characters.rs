//! Which characters a plain text is made of. May not decide what they say.

/// Whether a text has only characters that are what they look like.
pub(super) fn are_plain(text: &str) -> bool {
    text.chars().all(is_plain) && text.split(|c: char| !c.is_alphabetic()).all(of_one_script)
}

/// Invisible, private and look-alike characters are none of these, and neither are digits other than 0-9 nor marks that
/// combine with the letter before. Letters of other scripts would need a list of their own: their texts do not fit.
fn is_plain(c: char) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        // Spaces that do not break, and a thin one.
        '\u{a0}' | '\u{202f}' | '\u{2009}' => true,
        '¡' | '¿' | '§' | '°' | '·' | '«' | '»' | '‹' | '›' | '‘' | '’' | '‚' | '“' | '”' | '„' => {
            true
        }
        '‐' | '–' | '—' | '…' | '•' | '−' | '¢' | '£' | '¥' | '‰' | '\u{20a0}'..='\u{20c0}' => {
            true
        }
        '、' | '。' | '「' | '」' => true,
        _ => c.is_alphabetic() && script(c).is_some() && !c.is_numeric(),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Eastern,
}

fn script(c: char) -> Option<Script> {
    Some(match c {
        'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{5d0}'..='\u{5ea}' => Script::Hebrew,
        '\u{620}'..='\u{64a}' => Script::Arabic,
        // Kana, Han and Hangul stand together in one word.
        '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            Script::Eastern
        }
        _ => return None,
    })
}

/// A word with letters of two scripts is made to look like another word.
fn of_one_script(word: &str) -> bool {
    let mut scripts = word.chars().map(script);
    let first = scripts.next();
    scripts.all(|other| Some(other) == first)
}
