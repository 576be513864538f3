//! The same environment, seen by a program that uses the library.
//!
//! Apart from the transcripts, because here the subject is values and not output.

use std::path::Path;
use std::sync::Arc;

use bellglass::agent::prompt::SystemPrompt;
use bellglass::capability::Grant;
use bellglass::installed::{Host, HostOptions, Installed};
use bellglass::limits::Limits;
use bellglass::plugin::discover::Places;
use bellglass::plugin::rights::Surroundings;
use bellglass::session::{Output, Outputs, Session, SessionOptions};

use super::TestEnv;

/// A session and what it has shown so far.
pub struct Talk {
    pub session: Session,
    outputs: Outputs,
}

impl TestEnv {
    /// A host with the plugins of this environment, these grants (as `--grant` spells them), and these limits.
    pub fn host_with(&self, grants: &[&str], limits: Limits) -> Arc<Host> {
        let options = HostOptions {
            places: Places { user: Some(self.home().join(".agents/plugins")), ..Places::default() },
            surroundings: Surroundings {
                workspace: self.work(),
                home: Some(self.home()),
                grants: grants.iter().map(|it| Grant::parse_flag(it).unwrap()).collect(),
                ..Surroundings::default()
            },
            limits,
            cache: Some(Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache/bellglass")),
            single: true,
        };
        Arc::new(Host::new(options).unwrap())
    }

    /// What is installed, without any grant.
    pub async fn installed(&self) -> Installed {
        self.host_with(&[], Limits::default()).load().await
    }

    /// A session with a provider, its options as a JSON object, and grants.
    pub fn talk(&self, provider: &str, options: serde_json::Value, grants: &[&str]) -> Talk {
        let options = SessionOptions {
            provider: provider.into(),
            model: None,
            provider_options: options.as_object().cloned().unwrap_or_default(),
            prompt: SystemPrompt {
                template: Some("Be brief.".into()),
                workspace: self.work(),
                ..SystemPrompt::default()
            },
            interactive: false,
            max_rounds: 10,
            results: None,
        };
        let (session, outputs) = Session::start(self.host_with(grants, Limits::default()), options);
        Talk { session, outputs }
    }
}

impl Talk {
    /// Runs a line, and returns what it showed, one piece a line.
    pub async fn line(&mut self, line: &str) -> String {
        let session = self.session.clone();
        let run = session.line(line);
        tokio::pin!(run);
        let mut shown = String::new();
        loop {
            tokio::select! {
                biased;
                output = self.outputs.next() => shown.push_str(&format!("{:?}\n", output.unwrap())),
                () = &mut run => break,
            }
        }
        while let Some(output) = self.outputs.shown() {
            shown.push_str(&format!("{output:?}\n"));
        }
        shown
    }

    /// Waits until something is shown that holds this.
    pub async fn until(&mut self, text: &str) {
        loop {
            let output = self.outputs.next().await.expect("the session goes on");
            if format!("{output:?}").contains(text) {
                return;
            }
        }
    }

    /// Ends the session, and returns what it still showed.
    pub async fn end(mut self) -> Vec<Output> {
        self.session.end();
        let mut shown = Vec::new();
        while let Some(output) = self.outputs.next().await {
            shown.push(output);
        }
        shown
    }
}
