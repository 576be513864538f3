//! The names of what is in the keyring: one a line, no values.
//! Separate because keyrings find an entry by its name, and cannot tell which there are.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use super::SecretError;
use crate::capability::VariableName;

/// Reads the names. What is no name is nobody's: it is left out.
pub(super) fn read(path: &Path) -> BTreeSet<VariableName> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|it| VariableName::parse(it).ok()).collect()
}

/// Writes the names; the file appears whole or stays as it was.
pub(super) fn write(path: &Path, names: &BTreeSet<VariableName>) -> Result<(), SecretError> {
    let text: String = names.iter().map(|it| format!("{it}\n")).collect();
    let written = (|| {
        let folder = path.parent().unwrap_or(path);
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.persist(path).map_err(|it| it.error)
    })();
    let file = || crate::text::visible_line(&path.to_string_lossy()).into_owned();
    written.map(drop).map_err(|error| SecretError::Index { file: file(), error: error.kind() })
}
