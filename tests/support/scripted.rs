//! A session whose model is the guest `script`: it replies as its options say.
//!
//! Apart, because many subjects want short replies and a short system prompt.

use super::{Run, TestEnv};

impl TestEnv {
    /// An environment with the guest `script` and a template that says little.
    pub fn scripted() -> Self {
        Self::new().guest("script").file("t", "Be brief.")
    }

    /// Runs the REPL on these lines. The model says "Aye."; all that the guest asks for is granted.
    pub fn script(&self, arguments: &[&str], lines: &str) -> Run {
        let mut all = vec!["-p", "script", "-o", r#"say=["Aye."]"#, "--template", "t", "--log", "error"];
        for grant in ["script:conversation", "script:model", "script:session-control"] {
            all.extend(["--grant", grant]);
        }
        all.extend(arguments);
        self.finish(self.command(&all), lines)
    }
}
