//! The system prompt: a template that runs no code, and the instructions that it may hold.
//!
//! Apart, because it is made anew for each request, so that an edited `AGENTS.md` counts at once.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What the model is told when the user gives no template.
pub const DEFAULT: &str = "\
You are an agent in a terminal, working for the person who types. The tools you are given are the only way to see or change
anything; call them instead of guessing. Be brief, and say what you did.

{{agents_md}}";

/// Largest file of instructions that is read; more would leave the model no room for the conversation.
const INSTRUCTIONS: u64 = 256 << 10;

/// Template, text before it, and where the instructions are.
#[derive(Clone, Debug, Default)]
pub struct SystemPrompt {
    /// Replaces [`DEFAULT`].
    pub template: Option<String>,
    /// Literal text before the template.
    pub before: Option<String>,
    /// `~/.agents/AGENTS.md`.
    pub global: Option<PathBuf>,
    /// The folder from which the nearest `AGENTS.md` is looked for, upwards.
    pub workspace: PathBuf,
}

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Something else than `{{agents_md}}`.
    #[error("the template holds `{{{{{0}}}}}`, expected `{{{{agents_md}}}}`")]
    Unknown(String),
    /// No `}}`.
    #[error("the template holds `{{{{` without `}}}}`")]
    Open,
}

impl SystemPrompt {
    /// Renders the prompt as it is now.
    ///
    /// # Errors
    ///
    /// [`TemplateError`] for a template that asks for something there is not.
    pub fn render(&self) -> Result<String, TemplateError> {
        let template = self.template.as_deref().unwrap_or(DEFAULT);
        let mut rendered = String::new();
        if let Some(before) = &self.before {
            rendered.push_str(before);
            rendered.push_str("\n\n");
        }
        let mut rest = template;
        while let Some((text, tail)) = rest.split_once("{{") {
            rendered.push_str(text);
            let (name, tail) = tail.split_once("}}").ok_or(TemplateError::Open)?;
            match name.trim() {
                "agents_md" => rendered.push_str(&self.agents_md()),
                other => return Err(TemplateError::Unknown(crate::text::visible_line(other).into_owned())),
            }
            rest = tail;
        }
        rendered.push_str(rest);
        Ok(rendered.trim_end().to_owned())
    }

    /// The global and the project's instructions, joined by a blank line; empty when there are none.
    fn agents_md(&self) -> String {
        let nearest = self.workspace.ancestors().map(|it| it.join("AGENTS.md")).find(|it| it.is_file());
        let files = self.global.clone().into_iter().chain(nearest);
        let texts = files.filter_map(|it| read(&it)).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        texts.collect::<Vec<_>>().join("\n\n")
    }
}

fn read(path: &Path) -> Option<String> {
    let mut content = Vec::new();
    std::fs::File::open(path).ok()?.take(INSTRUCTIONS).read_to_end(&mut content).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_sees_both_files_of_instructions_joined_by_a_blank_line() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b");
        std::fs::create_dir_all(&below).unwrap();
        std::fs::write(folder.path().join("global.md"), "be kind\n").unwrap();
        std::fs::write(folder.path().join("a/AGENTS.md"), "use tabs\n").unwrap();
        let prompt = SystemPrompt {
            template: Some("<{{agents_md}}>".into()),
            before: Some("You are Ada.".into()),
            global: Some(folder.path().join("global.md")),
            workspace: below,
        };
        assert_eq!(prompt.render().unwrap(), "You are Ada.\n\n<be kind\n\nuse tabs>");
    }

    #[test]
    fn the_prompt_is_made_anew_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let prompt = SystemPrompt {
            template: Some("{{ agents_md }}".into()),
            workspace: folder.path().into(),
            ..SystemPrompt::default()
        };
        std::fs::write(folder.path().join("AGENTS.md"), "one").unwrap();
        assert_eq!(prompt.render().unwrap(), "one");
        std::fs::write(folder.path().join("AGENTS.md"), "two").unwrap();
        assert_eq!(prompt.render().unwrap(), "two");
    }

    #[test]
    fn a_template_runs_nothing_and_an_unknown_name_is_an_error() {
        let of = |template: &str| SystemPrompt { template: Some(template.into()), ..SystemPrompt::default() }.render();
        assert_eq!(of("<%= exit %> ${HOME}").unwrap(), "<%= exit %> ${HOME}");
        assert_eq!(of("{{user}}"), Err(TemplateError::Unknown("user".into())));
        assert_eq!(of("{{agents_md"), Err(TemplateError::Open));
    }
}
