//! Numbers that look random and are the same in each run, so that a failure can be seen again.

/// SplitMix64.
#[derive(Clone, Debug, Default)]
pub struct Random(u64);

impl Random {
    /// Always the same numbers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `end - 1`.
    pub fn below(&mut self, end: usize) -> usize {
        // The quotient is less than `end`.
        usize::try_from(self.next() % end as u64).unwrap_or_default()
    }

    /// Any byte.
    pub fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }
}
