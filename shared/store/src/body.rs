//! Bytes as they are kept: compressed when that makes them smaller.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

/// Level 1 gives nearly the size of higher levels on JSON at a fraction of their time.
const LEVEL: i32 = 1;

/// No body can be larger: a function's request is 6 MB at most.
const MOST_BYTES: usize = 16 * 1024 * 1024;

thread_local! {
    // A context costs more to make than a small body costs to compress.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// How kept bytes are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Plain,
    /// One zstd frame.
    Zstd,
}

impl Encoding {
    /// Its word, as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Zstd => "zstd",
        }
    }

    /// From its word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Plain, Self::Zstd]
            .into_iter()
            .find(|encoding| encoding.as_str() == word)
    }
}

/// Compresses, unless that gains nothing. A compressor that fails loses nothing: the bytes are then kept
/// as they are.
#[must_use]
pub fn pack(bytes: &[u8]) -> (Encoding, Vec<u8>) {
    match compress(bytes) {
        Ok(packed) if packed.len() < bytes.len() => (Encoding::Zstd, packed),
        Ok(_) | Err(_) => (Encoding::Plain, bytes.to_vec()),
    }
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| match slot {
        Some(compressor) => compressor.compress(bytes),
        None => slot.insert(Compressor::new(LEVEL)?).compress(bytes),
    })
}

/// The bytes that were packed.
///
/// # Errors
/// When they are not what was stored.
pub fn unpack(encoding: Encoding, packed: &[u8], size: usize) -> Result<Vec<u8>, std::io::Error> {
    match encoding {
        Encoding::Plain => Ok(packed.to_vec()),
        Encoding::Zstd if size > MOST_BYTES => {
            Err(std::io::Error::other("larger than any body can be"))
        }
        Encoding::Zstd => Decompressor::new()?.decompress(packed, size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_back_to_the_byte_and_noise_is_not_made_larger() {
        let json = "{\"a\":1}".repeat(500);
        let (encoding, packed) = pack(json.as_bytes());
        assert_eq!(encoding, Encoding::Zstd);
        assert!(packed.len() < json.len() / 4);
        assert_eq!(
            unpack(encoding, &packed, json.len()).unwrap(),
            json.as_bytes()
        );
        for noise in [b"".to_vec(), b"x".to_vec(), (0..=255u8).collect()] {
            let (encoding, packed) = pack(&noise);
            assert!(packed.len() <= noise.len());
            assert_eq!(unpack(encoding, &packed, noise.len()).unwrap(), noise);
        }
    }

    #[test]
    fn a_frame_that_claims_more_than_was_stored_is_refused() {
        let (encoding, packed) = pack("a".repeat(10_000).as_bytes());
        assert!(unpack(encoding, &packed, 100).is_err());
        assert!(unpack(encoding, &packed, usize::MAX).is_err());
    }
}
