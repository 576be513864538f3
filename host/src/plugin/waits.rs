//! Which one instance waits for which other: a call that would close a circle is refused instead of waiting for ever.
//!
//! Apart from the instances, because the circle is only seen across all of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::host_request::CallContext;

/// From an instance whose running call waits to the instance that it waits for. A guest waits for one call at a time.
static WAITS: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

/// The number of one plugin's one instance, unique in this process.
#[derive(Debug)]
pub(crate) struct Number(u64);

impl Default for Number {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Relaxed))
    }
}

impl Number {
    pub(crate) fn get(&self) -> u64 {
        self.0
    }
}

/// The wait lasts as long as this lives. A call from outside of all instances makes nobody wait.
#[derive(Debug)]
pub(crate) struct Wait(Option<u64>);

impl Drop for Wait {
    fn drop(&mut self) {
        if let (Some(from), Some(waits)) = (self.0, waits().as_mut()) {
            waits.remove(&from);
        }
    }
}

/// Notes that the innermost instance of the call waits for this one. None when this one waits for it already, at whatever
/// distance.
pub(crate) fn begin(context: &CallContext, to: &Number) -> Option<Wait> {
    let Some(from) = context.chain.as_ref().map(|it| it.resident) else { return Some(Wait(None)) };
    let mut waits = waits();
    let waits = waits.get_or_insert_default();
    let mut at = Some(&to.0);
    while let Some(instance) = at {
        if *instance == from {
            return None;
        }
        at = waits.get(instance);
    }
    waits.insert(from, to.0);
    Some(Wait(Some(from)))
}

fn waits() -> MutexGuard<'static, Option<HashMap<u64, u64>>> {
    WAITS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::PluginName;

    #[test]
    fn a_wait_that_would_close_a_circle_is_refused_at_any_distance() {
        let [a, b, c] = [Number::default(), Number::default(), Number::default()];
        let inside = |it: &Number| {
            CallContext::top(None).inside(&PluginName::try_from("x".to_owned()).unwrap(), it.get()).nested()
        };
        let a_waits = begin(&inside(&a), &b).unwrap();
        let _b_waits = begin(&inside(&b), &c).unwrap();
        assert!(begin(&inside(&c), &a).is_none());
        assert!(begin(&CallContext::top(None), &a).is_some(), "who is outside may wait for anyone");
        drop(a_waits);
        assert!(begin(&inside(&c), &a).is_some());
    }
}
