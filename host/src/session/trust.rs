//! Plugins of the project that nobody trusted yet: the person decides before the first line runs.
//!
//! Apart, because until then nothing of a cloned repository has run, not even to say what it is called.

use std::sync::Arc;

use crate::grants::{GrantBook, Keep};
use crate::host_request::{CallContext, Caller, Entry};
use crate::installed::Waiting;
use crate::name::PluginName;
use crate::question::{Choice, Question};
use crate::session::Output;
use crate::session::run::{Event, Task};

/// Files that are asked about one by one. A project with more says so in a warning.
const MOST: usize = 8;

impl Task {
    /// Asks about what waits for trust, if somebody is there to answer. False when there is nothing to ask.
    pub(super) fn ask_for_trust(&mut self) -> bool {
        let Some(installed) = self.installed.as_ref().filter(|_| self.options.interactive) else { return false };
        let book = self.host.book().clone();
        let undecided = |it: &&Waiting| !book.refuses(&it.path, &it.sha256);
        let files: Vec<Waiting> = installed.waiting.iter().filter(undecided).take(MOST).cloned().collect();
        if files.is_empty() {
            return false;
        }
        let (context, events) = (self.context(), self.events.clone());
        tokio::spawn(async move {
            let changed = ask(&files, &book, &context).await;
            let _ = events.send(Event::Trusted(changed)).await;
        });
        true
    }

    /// After the questions: what is trusted now is loaded, then the line goes on.
    pub(super) async fn trusted(&mut self, changed: Result<bool, String>) {
        self.asks_for_trust = false;
        match changed {
            Ok(true) => {
                // Nothing runs until the new ones are there.
                self.installed = None;
                self.load();
            }
            Ok(false) => {}
            Err(error) => self.show(Output::Error(error)).await,
        }
    }
}

/// Asks about each file. Returns whether any is to be loaded now.
async fn ask(files: &[Waiting], book: &Arc<GrantBook>, context: &CallContext) -> Result<bool, String> {
    let mut changed = false;
    for file in files {
        let caller = Caller {
            plugin: PluginName::try_from("project".to_owned()).expect("a plain word"),
            entry: Entry::Loading,
            grants: Arc::default(),
            context: context.clone(),
        };
        let answer = context.choose(&caller, question(file)).await;
        let keep = match answer.map(|it| it.key) {
            Some('s') => Keep::Session,
            Some('a') => Keep::Always,
            // At the end of the input or after an interrupt as well: who did not say yes said no.
            _ => {
                book.refuse_trust(&file.path, &file.sha256);
                continue;
            }
        };
        book.trust(&file.path, &file.sha256, keep).map_err(|it| it.to_string())?;
        changed = true;
    }
    Ok(changed)
}

fn question(file: &Waiting) -> Question {
    let name = file.path.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
    let folder = file.path.parent().map(|it| it.display().to_string()).unwrap_or_default();
    Question {
        subject: format!("load plugin `{name}` of this project?"),
        lines: vec![
            format!("folder {folder}"),
            format!("sha256 {}, {} bytes", &file.sha256[..16], file.bytes),
            "it gets no right by this: it asks for each".into(),
        ],
        choices: vec![
            Choice::new('s', "session: until it ends"),
            Choice::new('a', "always: as long as the file is this one"),
            Choice::new('n', "no: leave it out"),
        ],
    }
}
