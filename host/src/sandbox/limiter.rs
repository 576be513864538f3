//! Memory and tables of one store, counted together.
//!
//! Apart, because wasmtime's own limits are for each memory, and a component may have many.

use wasmtime::ResourceLimiter;

/// Core instances, tables and memories that one store may hold. An interpreter with an adapter inside has about 25
/// instances; nothing seen so far has more than 40.
const PARTS: usize = 100;

/// Elements over all tables of a store; the largest interpreter seen so far has 12,000.
const TABLE_ELEMENTS: usize = 200_000;

/// Counts what a store's instances hold and refuses growth over the limit. The guest sees the refusal; the host never fails.
#[derive(Debug)]
pub(crate) struct Limiter {
    /// Bytes that all memories may have together.
    limit: usize,
    used: usize,
    table_elements: usize,
    /// What was allowed last. Whoever allows growth is told afterwards if the system refused it, and not by how much.
    last_memory: usize,
    last_table: usize,
    /// Whether growth was refused at least once: what the guest does then decides how its fault is named.
    denied: bool,
}

impl Limiter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, used: 0, table_elements: 0, last_memory: 0, last_table: 0, denied: false }
    }

    pub(crate) fn denied(&self) -> bool {
        self.denied
    }

    /// A new call begins in the same instance: what was refused before has no part in how it ends.
    pub(crate) fn next_call(&mut self) {
        self.denied = false;
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let allowed = self.limit - self.used >= more;
        self.last_memory = 0;
        // Over its own maximum the growth fails anyway, and no limit of ours is the cause.
        if maximum.is_some_and(|it| desired > it) {
            return Ok(false);
        }
        if allowed {
            self.used += more;
            self.last_memory = more;
        } else {
            self.denied = true;
        }
        Ok(allowed)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.used -= std::mem::take(&mut self.last_memory);
        Ok(())
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let more = desired.saturating_sub(current);
        let allowed = TABLE_ELEMENTS - self.table_elements >= more;
        self.last_table = if allowed { more } else { 0 };
        self.table_elements += self.last_table;
        Ok(allowed)
    }

    fn table_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        self.table_elements -= std::mem::take(&mut self.last_table);
        Ok(())
    }

    fn instances(&self) -> usize {
        PARTS
    }

    fn tables(&self) -> usize {
        PARTS
    }

    fn memories(&self) -> usize {
        PARTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_count_together() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 60, None).unwrap());
        assert!(!limiter.memory_growing(0, 60, None).unwrap());
        assert!(limiter.denied());
        assert!(limiter.memory_growing(60, 100, None).unwrap());
    }

    #[test]
    fn growth_over_the_memorys_own_maximum_is_not_our_refusal() {
        let mut limiter = Limiter::new(100);
        assert!(!limiter.memory_growing(0, 60, Some(50)).unwrap());
        assert!(!limiter.denied());
    }

    #[test]
    fn growth_that_the_system_refused_is_not_counted() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.memory_growing(0, 40, None).unwrap());
        for _ in 0..10 {
            assert!(limiter.memory_growing(40, 90, None).unwrap());
            limiter.memory_grow_failed(wasmtime::Error::msg("no memory")).unwrap();
        }
        // A refusal of ours, after which nothing was allowed that could fail.
        assert!(!limiter.memory_growing(40, 200, None).unwrap());
        limiter.memory_grow_failed(wasmtime::Error::msg("too much")).unwrap();
        assert!(limiter.memory_growing(40, 100, None).unwrap());
        assert!(limiter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
        limiter.table_grow_failed(wasmtime::Error::msg("no memory")).unwrap();
        assert!(limiter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
    }

    #[test]
    fn tables_stop_at_their_limit() {
        let mut limiter = Limiter::new(100);
        assert!(limiter.table_growing(0, TABLE_ELEMENTS, None).unwrap());
        assert!(!limiter.table_growing(TABLE_ELEMENTS, TABLE_ELEMENTS + 1, None).unwrap());
    }
}
