//! The components of the tests, built from the crates beside this file.
//!
//! A crate of its own, so that only tests pay for building them.

/// What the build script built.
mod built {
    include!(concat!(env!("OUT_DIR"), "/guests.rs"));
}

/// Returns the component of a guest.
///
/// # Panics
///
/// When there is no guest of that name.
#[must_use]
pub fn component(name: &str) -> &'static [u8] {
    let found = built::GUESTS.iter().find(|(it, _)| *it == name);
    let Some((_, component)) = found else {
        let known: Vec<_> = names().collect();
        panic!("no guest `{name}` in tests/guests, expected one of {known:?}");
    };
    component
}

/// Returns the name of every guest, so that a test can check that none is without a test.
pub fn names() -> impl Iterator<Item = &'static str> {
    built::GUESTS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::{component, names};

    #[test]
    fn every_guest_is_a_component() {
        for name in names() {
            // The magic number, then version 13 and layer 1: a core module has version 1 and layer 0.
            assert_eq!(component(name).get(..8), Some(&b"\0asm\x0d\0\x01\0"[..]), "guest `{name}`");
        }
    }
}
