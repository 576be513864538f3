//! How many generated inputs a property is tried on.
//!
//! Apart, so that a long run tries the same properties on more.

/// The environment variable that a long run sets.
const VARIABLE: &str = "BELLGLASS_CASES";

/// Cases of one property: 20,000, or what the variable says.
pub(crate) fn cases() -> u32 {
    std::env::var(VARIABLE).ok().and_then(|it| it.parse().ok()).unwrap_or(20_000)
}
