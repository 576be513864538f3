//! Attacks of hostile guests, by what they are after. Each is refused, with its message; the next call works; and with the
//! right grant, or on something free, the same guest succeeds.

mod files;
