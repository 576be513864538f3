//! A secret that comes back in the response to the request it was added to: the guest gets stars.
//!
//! Apart, because it works on a stream: a secret may be cut anywhere between two pieces, and nothing else may wait.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue};

use crate::secrets::SecretValue;

/// What is put over each byte of a secret. As many stand there as before: lengths that were announced stay right.
const STAR: u8 = b'*';

/// The secrets of one request, and the end of what came in, as far as it may be the start of one.
#[derive(Debug, Default)]
pub(super) struct Mask {
    secrets: Vec<Arc<SecretValue>>,
    held: BytesMut,
}

impl Mask {
    pub(super) fn new(secrets: Vec<Arc<SecretValue>>) -> Self {
        Self { secrets, held: BytesMut::new() }
    }

    /// Returns what of the bytes so far is certain.
    pub(super) fn piece(&mut self, bytes: Bytes) -> Bytes {
        if self.secrets.is_empty() {
            return bytes;
        }
        self.held.extend_from_slice(&bytes);
        cover(&mut self.held, &self.secrets);
        let wait = self.secrets.iter().map(|it| started(&self.held, it.expose().as_bytes())).max().unwrap_or_default();
        self.held.split_to(self.held.len() - wait).freeze()
    }

    /// Returns what was held back until the end.
    pub(super) fn rest(&mut self) -> Option<Bytes> {
        (!self.held.is_empty()).then(|| self.held.split().freeze())
    }
}

/// Covers secrets in headers.
pub(super) fn headers(headers: &mut HeaderMap, mask: &Mask) {
    for value in headers.values_mut().filter(|_| !mask.secrets.is_empty()) {
        let mut bytes = BytesMut::from(value.as_bytes());
        if cover(&mut bytes, &mask.secrets)
            && let Ok(covered) = HeaderValue::from_bytes(&bytes)
        {
            *value = covered;
        }
    }
}

fn cover(bytes: &mut [u8], secrets: &[Arc<SecretValue>]) -> bool {
    let mut found = false;
    for secret in secrets.iter().map(|it| it.expose().as_bytes()) {
        let mut from = 0;
        while let Some(at) = find(&bytes[from..], secret) {
            bytes[from + at..from + at + secret.len()].fill(STAR);
            from += at + secret.len();
            found = true;
        }
    }
    found
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|it| *it == first) {
        if bytes[from + at..].starts_with(wanted) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// How many bytes at the end are the start of the secret.
fn started(bytes: &[u8], secret: &[u8]) -> usize {
    let most = bytes.len().min(secret.len().saturating_sub(1));
    (1..=most).rev().find(|n| bytes.ends_with(&secret[..*n])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mask(secrets: &[&str]) -> Mask {
        Mask::new(secrets.iter().map(|it| Arc::new(SecretValue::parse((*it).to_owned()).unwrap())).collect())
    }

    #[track_caller]
    fn check(pieces: &[&str], expected: &[&str]) {
        let mut mask = mask(&["secret"]);
        let mut got: Vec<Bytes> = pieces.iter().map(|it| mask.piece(Bytes::copy_from_slice(it.as_bytes()))).collect();
        got.extend(mask.rest());
        assert_eq!(got, expected);
    }

    #[test]
    fn a_secret_is_covered_wherever_it_is_cut_and_nothing_else_waits() {
        check(&["a secret b"], &["a ****** b"]);
        check(&["a sec", "ret b"], &["a ", "****** b"]);
        check(&["s", "e", "c", "r", "e", "t"], &["", "", "", "", "", "******"]);
        check(&["secsecret"], &["sec******"]);
        check(&["data: hello\n\n", "data"], &["data: hello\n\n", "data"]);
        check(&["is it se"], &["is it ", "se"]);
    }

    #[test]
    fn a_secret_in_a_header_is_covered() {
        let mut map = HeaderMap::new();
        map.insert("x-echo", HeaderValue::from_static("Bearer secret!"));
        headers(&mut map, &mask(&["secret"]));
        assert_eq!(map["x-echo"], "Bearer ******!");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::cases::cases()))]

        #[test]
        fn however_it_is_cut_the_whole_is_the_same(text in "(abab|ab|a|b|c){0,12}", cuts: Vec<u8>) {
            let mut whole = mask(&["ababc"]);
            let mut expected = whole.piece(Bytes::copy_from_slice(text.as_bytes())).to_vec();
            expected.extend(whole.rest().unwrap_or_default());
            let (mut cut, mut got, mut rest) = (mask(&["ababc"]), Vec::new(), text.as_bytes());
            for n in cuts {
                let (piece, more) = rest.split_at(usize::from(n).min(rest.len()));
                got.extend(cut.piece(Bytes::copy_from_slice(piece)));
                rest = more;
            }
            got.extend(cut.piece(Bytes::copy_from_slice(rest)));
            got.extend(cut.rest().unwrap_or_default());
            prop_assert_eq!(got.len(), text.len());
            prop_assert!(find(&got, b"ababc").is_none());
            prop_assert_eq!(got, expected);
        }
    }
}
