//! One thing that a hostile guest tries: it is refused in words, the next call works, and with the grant the same guest succeeds.
//!
//! Apart, because an attack that fails for another reason than the refusal proves nothing: the control shows that it can succeed.

use serde_json::{Value, json};

use super::{Bench, TestEnv};

/// What is tried with the guest `hostile`.
pub struct Attack<'a> {
    /// The tool that tries it.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Value,
    /// What the refusal says.
    pub refusal: &'a str,
    /// The grants with which it succeeds.
    pub grants: &'a [&'a str],
    /// Grants that are beside the point: with them it is refused all the same.
    pub beside: &'a [&'a str],
}

impl Attack<'_> {
    /// Tries it in the environment without a grant, with those beside the point, and with the right ones.
    #[track_caller]
    pub fn check(self, env: fn() -> TestEnv) -> impl Future<Output = ()> {
        let at = std::panic::Location::caller();
        async move {
            for grants in [&[], self.beside] {
                let bench = bench(env, grants);
                let host = bench.start().await;
                let outcome = host.call(self.tool, self.arguments.clone()).await;
                assert!(!outcome.ok(), "{at}: {grants:?}: {}", outcome.to_json());
                assert!(outcome.to_json().contains(self.refusal), "{at}: {grants:?}: {}", outcome.to_json());
                assert!(host.call("echo", json!({})).await.ok(), "{at}: the next call");
            }
            let bench = bench(env, self.grants);
            let host = bench.start().await;
            let outcome = host.call(self.tool, self.arguments.clone()).await;
            assert!(outcome.ok(), "{at}: the control with {:?}: {}", self.grants, outcome.to_json());
        }
    }
}

fn bench(env: fn() -> TestEnv, grants: &[&str]) -> Bench {
    let mut bench = Bench::of(env());
    bench.options.surroundings.variables = vec![("GRANTED".into(), "yes".into()), ("SECRET".into(), "no".into())];
    grants.iter().fold(bench, |bench, grant| bench.grant(grant))
}
