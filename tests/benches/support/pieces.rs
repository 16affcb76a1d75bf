//! What an event costs whoever receives it, without Lastword: check the HMAC, read four members, compress.

use std::cell::RefCell;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;
use zstd::bulk::Compressor;

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: &'a str,
    #[serde(rename = "type", borrow)]
    kind: &'a str,
    livemode: bool,
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    object: Object<'a>,
}

#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow)]
    id: &'a str,
}

/// The key and the compression context that outlive an event.
pub(crate) struct Pieces {
    key: Hmac<Sha256>,
    compressor: RefCell<Compressor<'static>>,
}

impl Pieces {
    pub(crate) fn new() -> Self {
        Self {
            key: Hmac::new_from_slice(b"whsec_of_no_importance").expect("any key will do"),
            compressor: RefCell::new(Compressor::new(1).expect("a context")),
        }
    }

    /// The HMAC over the body, as its check computes it.
    pub(crate) fn sign(&self, body: &[u8]) -> [u8; 32] {
        let mut mac = self.key.clone();
        mac.update(b"1796065200.");
        mac.update(body);
        mac.finalize().into_bytes().into()
    }

    /// All three, to one number that depends on each of them.
    pub(crate) fn all(&self, body: &str, signature: &[u8; 32]) -> usize {
        let mut mac = self.key.clone();
        mac.update(b"1796065200.");
        mac.update(body.as_bytes());
        let matches = mac.verify_slice(signature).is_ok();
        let envelope: Envelope<'_> = serde_json::from_str(body).expect("the members");
        let packed = self
            .compressor
            .borrow_mut()
            .compress(body.as_bytes())
            .expect("compressed");
        usize::from(matches)
            + usize::from(envelope.livemode)
            + envelope.id.len()
            + envelope.kind.len()
            + envelope.data.object.id.len()
            + packed.len()
    }
}
