//! Whether a call may run: rules first, then the person, for plugins that can do more than read.
//!
//! Apart from the steps of a call, because this is the one place where a call waits for a yes; a model has no way to give it.

use std::sync::Arc;

use serde_json::Value;

use crate::approval::{choices, settle};
use crate::capability::GrantSet;
use crate::host_request::{CallContext, Caller, Entry};
use crate::policy::{Allow, Subject, Verdict};
use crate::question::Question;
use crate::toolbox::Registered;

/// Characters of arguments that are shown; nobody reads more before saying yes.
const SHOWN: usize = 4000;

impl Registered {
    /// Lets the call through, or says why not. `Ok` holds whether the person said yes to this very call.
    pub(super) async fn approve(&self, arguments: &Value, context: &CallContext) -> Result<bool, String> {
        let subject = Subject { plugin: self.plugin.name().clone(), tool: Some(self.tool.definition.name.clone()) };
        let name = self.tool.definition.name.as_str();
        let grants = self.plugin.grants_in(context);
        match self.plugin.policy().of_tool(&subject) {
            Verdict::Deny(reason) => return Err(format!("User denied permission: {name}: {reason}")),
            Verdict::Allow => return Ok(true),
            // Whoever named the call has said yes. Whoever has just granted a right has not seen what it is used for.
            Verdict::Open if context.approved => return Ok(true),
            // What can only read is no harm, whatever it says. What can only run programs is asked about each line.
            Verdict::Open if !grants.can_act() || grants.acts_by_running_alone() => return Ok(false),
            Verdict::Open | Verdict::Ask => {}
        }
        let question = question(&subject, arguments, &grants);
        let (plugin, context) = (self.plugin.name().clone(), context.clone());
        let caller = Caller { plugin, entry: Entry::Tool, grants, context };
        let Some(answer) = caller.context.choose(&caller, question).await else {
            let flag = Allow::flag(&subject, None);
            return Err(format!("User denied permission: {name}: nobody can answer here (`{flag}` allows it)"));
        };
        settle(&answer, &caller, &subject, &[], name).await.map(|()| true)
    }
}

fn question(subject: &Subject, arguments: &Value, grants: &Arc<GrantSet>) -> Question {
    let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
    let start = crate::text::first_chars(&text, SHOWN);
    let mut lines: Vec<String> = start.lines().map(str::to_owned).collect();
    if start.len() < text.len() {
        lines.push(format!("[{} bytes more]", text.len() - start.len()));
    }
    lines.extend(grants.acting().map(|it| format!("it may {it}")));
    let choices = choices(Some(&format!("`{subject}`")));
    Question { subject: format!("may tool `{subject}` run with this?"), lines, choices }
}
