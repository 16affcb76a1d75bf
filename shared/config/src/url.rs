//! Which URLs may be sent to. What is refused is not repeated where it may hold a password.

use std::net::Ipv4Addr;

use http::Uri;
use http::uri::Authority;

use crate::destination::KEY_PLACE;

/// The characters that a key has.
const KEY_LENGTH: usize = 43;

/// A URL that a secret may be sent to: https, or this machine.
pub(crate) fn whole(text: &str) -> Result<(), String> {
    let shown = if text.contains('@') {
        "(not shown)"
    } else {
        text
    };
    parts(text).map(drop).map_err(|why| {
        format!(
            "found {shown:?}: {why}; expected a URL such as \"https://mail.example.com/messages\""
        )
    })
}

/// The same, with the place of the key once.
pub(crate) fn with_key(text: &str) -> Result<(), String> {
    let shown = if text.contains('@') {
        "(not shown)"
    } else {
        text
    };
    let refused = |why: &str| {
        format!(
            "found {shown:?}: {why}; expected a URL such as \"https://mail.example.com/messages?key={KEY_PLACE}\""
        )
    };
    let places = text.matches(KEY_PLACE).count();
    if places != 1 {
        return Err(refused(&format!(
            "it has {KEY_PLACE} {places} times, not once"
        )));
    }
    let rest = text.replace(KEY_PLACE, "");
    if rest.contains(['{', '}']) {
        return Err(refused("it has another place in braces"));
    }
    let key = "k".repeat(KEY_LENGTH);
    let authority = parts(&text.replace(KEY_PLACE, &key)).map_err(refused)?;
    if authority.as_str().contains(&key) {
        return Err(refused("the key stands in its host"));
    }
    Ok(())
}

/// A queue of SQS, or of the embedded stack.
pub(crate) fn queue(text: &str) -> Result<(), String> {
    const EXPECTED: &str = "expected https://sqs.<region>.amazonaws.com/<account>/<name>";
    let shown = if text.contains('@') {
        "(not shown)"
    } else {
        text
    };
    let refused = |why: &str| format!("found {shown:?}: {why}; {EXPECTED}");
    let authority = parts(text).map_err(refused)?;
    let local = text.starts_with("http://");
    let region = authority.host().strip_prefix("sqs.").and_then(|rest| {
        rest.strip_suffix(".amazonaws.com")
            .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))
    });
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !local && !region.is_some_and(|region| !region.is_empty() && region.chars().all(plain)) {
        return Err(refused("it is no address of SQS"));
    }
    let path = text.splitn(4, '/').nth(3).unwrap_or_default();
    let (account, name) = path.split_once('/').unwrap_or_default();
    let base = name.strip_suffix(".fifo").unwrap_or(name);
    if account.len() != 12 || !account.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refused("it has no account of 12 digits"));
    }
    let fits = |c: char| plain(c) || c == '_';
    if base.is_empty() || name.len() > 80 || !base.chars().all(fits) {
        return Err(refused("its name is none that a queue can have"));
    }
    Ok(())
}

/// An address of this machine with nothing behind it.
pub(crate) fn of_this_machine(text: &str) -> Result<Authority, &'static str> {
    let authority = parts(text)?;
    match text.strip_prefix("http://") {
        Some(rest) if rest.strip_suffix('/').unwrap_or(rest) == authority.as_str() => Ok(authority),
        Some(_) => Err("it has more than a host and a port"),
        None => Err("it has another scheme"),
    }
}

/// A JSON pointer (RFC 6901).
pub(crate) fn pointer(text: &str) -> Result<(), String> {
    let escaped = text
        .split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']));
    if escaped && (text.is_empty() || text.starts_with('/')) {
        return Ok(());
    }
    Err(format!(
        "found {text:?}; expected a JSON pointer (RFC 6901) such as \"/data/0\""
    ))
}

fn parts(text: &str) -> Result<Authority, &'static str> {
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("it has a space or a character outside ASCII");
    }
    if text.contains('#') {
        return Err("it has a fragment, which is not sent");
    }
    let uri: Uri = text.parse().map_err(|_| "it is no URL")?;
    let authority = uri.authority().ok_or("it has no host")?;
    if authority.as_str().contains('@') {
        return Err("it has a user or a password; a secret is named by `secret`");
    }
    let host = authority.host();
    let exact = match authority.port_u16() {
        None => host.to_owned(),
        Some(port) => format!("{host}:{port}"),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:[]".contains(&byte);
    if host.is_empty() || exact != authority.as_str() || !host.bytes().all(plain) {
        return Err("its host or port is none");
    }
    match uri.scheme_str() {
        Some("https") => Ok(authority.clone()),
        Some("http") if is_here(host) => Ok(authority.clone()),
        Some("http") => Err("http is for this machine only (127.0.0.0/8, [::1], localhost)"),
        Some(_) | None => Err("it has another scheme"),
    }
}

fn is_here(host: &str) -> bool {
    host == "[::1]"
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
}
