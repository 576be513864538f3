//! What a component imports and exports, read from its bytes before anything is compiled.
//!
//! Apart, because compiling a large plugin takes seconds, and a file that can never work is told so at once and in words.

use wasmparser::{Encoding, Parser, Payload};

use crate::bindings::{EXPORTS, OFFERED, PACKAGE, VERSION};
use crate::text::{first_chars, visible_line};

/// Imports or exports that are read of a component. An interpreter has about 60; a file with more is nobody's plugin.
const NAMES: usize = 4096;

/// Longest name that is shown of a stranger's import.
const SHOWN: usize = 100;

/// The top level of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// Names of what it needs, such as `wasi:cli/environment@0.2.3`.
    pub imports: Vec<String>,
    /// Names of what it offers.
    pub exports: Vec<String>,
}

/// Why a file is no plugin for this host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAPlugin {
    /// Zero bytes.
    #[error("the file is empty; build it or copy it again")]
    Empty,
    /// Something else than WebAssembly.
    #[error("the file is no WebAssembly; a plugin is a component, built with `--target wasm32-wasip2`")]
    Foreign,
    /// A core module.
    #[error(
        "the file is a core module, not a component; build it with `--target wasm32-wasip2`, or make a component of it with \
         `wasm-tools component new`"
    )]
    CoreModule,
    /// The bytes are broken.
    #[error("the file is damaged or cut short: {0}; build it or copy it again")]
    Damaged(String),
    /// A component of something else.
    #[error(
        "it exports {0} and no `{PACKAGE}/manifest`, so it is no bellglass plugin; build it for a world of \
         `{PACKAGE}@{VERSION}`"
    )]
    OtherWorld(String),
    /// Built against another version of the interface.
    #[error(
        "it needs `{PACKAGE}@{0}`, this host offers `{PACKAGE}@{VERSION}`; build it against that version, or use another \
         version of bellglass"
    )]
    OtherVersion(String),
    /// It imports what this host does not have.
    #[error("it needs {needs}, which this host does not offer; this host offers {offers}")]
    Needs {
        /// The imports that are not there.
        needs: String,
        /// What is there.
        offers: String,
    },
}

impl Inspection {
    /// Reads the top level of a component. Does not validate what is inside: compiling does.
    ///
    /// # Errors
    ///
    /// [`NotAPlugin`] for anything but a component whose outline can be read.
    pub fn of(bytes: &[u8]) -> Result<Self, NotAPlugin> {
        if bytes.is_empty() {
            return Err(NotAPlugin::Empty);
        }
        if !bytes.starts_with(b"\0asm") {
            return Err(NotAPlugin::Foreign);
        }
        let damaged =
            |error: wasmparser::BinaryReaderError| NotAPlugin::Damaged(visible_line(error.message()).into_owned());
        let mut inspection = Self::default();
        // The parser walks nested components too; only depth 0 is the plugin's own.
        let mut depth = 0_u32;
        for payload in Parser::new(0).parse_all(bytes) {
            match payload.map_err(damaged)? {
                Payload::Version { encoding: Encoding::Module, .. } if depth == 0 => {
                    return Err(NotAPlugin::CoreModule);
                }
                Payload::ModuleSection { .. } | Payload::ComponentSection { .. } => depth += 1,
                Payload::End(_) => depth = depth.saturating_sub(1),
                Payload::ComponentImportSection(section) if depth == 0 => {
                    for import in section {
                        push(&mut inspection.imports, import.map_err(damaged)?.name.name)?;
                    }
                }
                Payload::ComponentExportSection(section) if depth == 0 => {
                    for export in section {
                        push(&mut inspection.exports, export.map_err(damaged)?.name.name)?;
                    }
                }
                _ => {}
            }
        }
        Ok(inspection)
    }

    /// Whether this host can serve the component.
    ///
    /// # Errors
    ///
    /// [`NotAPlugin`] with what is missing, and what there is.
    pub fn check(&self) -> Result<(), NotAPlugin> {
        let ours = |name: &str| name.strip_prefix(PACKAGE)?.strip_prefix('/').map(str::to_owned);
        let names = self.imports.iter().chain(&self.exports);
        for name in names.filter_map(|it| ours(it)) {
            let (_, version) = name.split_once('@').unwrap_or((&name, ""));
            if version != VERSION {
                return Err(NotAPlugin::OtherVersion(shown(version)));
            }
        }
        let manifest = format!("{PACKAGE}/manifest@{VERSION}");
        if !self.exports.contains(&manifest) {
            return Err(NotAPlugin::OtherWorld(if self.exports.is_empty() {
                "nothing".into()
            } else {
                list(&self.exports)
            }));
        }
        let missing: Vec<String> = self.imports.iter().filter(|it| !offered(it)).cloned().collect();
        if missing.is_empty() { Ok(()) } else { Err(NotAPlugin::Needs { needs: list(&missing), offers: offers() }) }
    }

    /// The interfaces of ours that it exports, without package and version.
    pub fn kinds(&self) -> Vec<&'static str> {
        let exported = |it: &&str| self.exports.contains(&format!("{PACKAGE}/{it}@{VERSION}"));
        EXPORTS.into_iter().filter(exported).collect()
    }
}

/// Packages of WASI that are linked, in any 0.2 or 0.3 version: minor versions of those only add functions.
const WASI: [&str; 7] =
    ["wasi:cli", "wasi:clocks", "wasi:filesystem", "wasi:http", "wasi:io", "wasi:random", "wasi:sockets"];

/// The one of [`WASI`] that 0.3 does without.
const ONLY_IN_2: &str = "wasi:io";

fn offered(import: &str) -> bool {
    let (interface, version) = import.split_once('@').unwrap_or((import, ""));
    match interface.split_once('/') {
        Some((PACKAGE, name)) => OFFERED.contains(&name) && version == VERSION,
        Some((package, _)) => {
            let is = |wanted: &str| version.strip_prefix(wanted).is_some_and(|it| it.is_empty() || it.starts_with('.'));
            WASI.contains(&package) && (is("0.2") || is("0.3") && package != ONLY_IN_2)
        }
        None => false,
    }
}

fn offers() -> String {
    format!("`{PACKAGE}@{VERSION}` ({}) and WASI 0.2 and 0.3 ({})", OFFERED[1..].join(", "), WASI.join(", "))
}

fn push(names: &mut Vec<String>, name: &str) -> Result<(), NotAPlugin> {
    if names.len() >= NAMES {
        return Err(NotAPlugin::Damaged(format!("more than {NAMES} imports or exports")));
    }
    names.push(name.to_owned());
    Ok(())
}

fn shown(name: &str) -> String {
    visible_line(first_chars(name, SHOWN)).into_owned()
}

/// Up to five names in backticks.
fn list(names: &[String]) -> String {
    let mut text = names.iter().take(5).map(|it| format!("`{}`", shown(it))).collect::<Vec<_>>().join(", ");
    if names.len() > 5 {
        text.push_str(&format!(" and {} more", names.len() - 5));
    }
    text
}

/// Puts an error of the linker into words: the interface that is missing or has another shape, not wasmtime's dump.
pub(crate) fn link_error(error: &wasmtime::Error) -> String {
    let text = error.chain().map(ToString::to_string).collect::<Vec<_>>().join(": ");
    match text.split('`').nth(1) {
        Some(name) => format!(
            "it needs `{}` in a shape that this host does not offer; this host offers {}",
            shown(name),
            offers()
        ),
        None => shown(&text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(component: &str, expected: &str) {
        let bytes = wat::parse_str(component).unwrap();
        let error = Inspection::of(&bytes).and_then(|it| it.check()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_core_module_is_told_how_to_become_a_component() {
        check(
            "(module)",
            "the file is a core module, not a component; build it with `--target wasm32-wasip2`, or make a component of it \
             with `wasm-tools component new`",
        );
    }

    #[test]
    fn a_component_of_another_world_is_told_what_it_exports() {
        check(
            "(component)",
            "it exports nothing and no `bellglass:plugin/manifest`, so it is no bellglass plugin; build it for a world of \
             `bellglass:plugin@0.1.0`",
        );
        check(
            r#"(component (instance $i) (export "wasi:cli/run@0.2.0" (instance $i)))"#,
            "it exports `wasi:cli/run@0.2.0` and no `bellglass:plugin/manifest`, so it is no bellglass plugin; build it for a \
             world of `bellglass:plugin@0.1.0`",
        );
    }

    #[test]
    fn a_plugin_for_a_newer_version_is_told_both_versions() {
        check(
            r#"(component (instance $i) (export "bellglass:plugin/manifest@0.2.0" (instance $i)))"#,
            "it needs `bellglass:plugin@0.2.0`, this host offers `bellglass:plugin@0.1.0`; build it against that version, or \
             use another version of bellglass",
        );
    }

    #[test]
    fn a_missing_import_is_named_beside_what_there_is() {
        check(
            r#"(component
                (import "bellglass:plugin/renderer@0.1.0" (instance))
                (import "wasi:keyvalue/store@0.2.0" (instance))
                (import "wasi:clocks/wall-clock@0.2.3" (instance))
                (instance $i) (export "bellglass:plugin/manifest@0.1.0" (instance $i)))"#,
            "it needs `bellglass:plugin/renderer@0.1.0`, `wasi:keyvalue/store@0.2.0`, which this host does not offer; this host \
             offers `bellglass:plugin@0.1.0` (log, terminal, reply, toolbox, conversation, agents, session, process, storage, \
             settings) and WASI 0.2 and 0.3 (wasi:cli, wasi:clocks, wasi:filesystem, wasi:http, wasi:io, wasi:random, wasi:sockets)",
        );
    }

    #[test]
    fn wasi_is_offered_in_two_versions_and_any_minor_of_them() {
        let there =
            ["wasi:io/poll@0.2.0", "wasi:cli/exit@0.2.12", "wasi:filesystem/types@0.3.0", "wasi:http/client@0.3.1"];
        assert!(there.iter().all(|it| offered(it)));
        let missing =
            ["wasi:io/poll@0.3.0", "wasi:cli/exit@0.4.0", "wasi:cli/exit@0.30", "wasi:cli/exit", "wasi:nn/x@0.2.0"];
        assert!(!missing.iter().any(|it| offered(it)));
    }

    #[test]
    fn imports_of_nested_components_are_not_the_plugins() {
        let bytes = wat::parse_str(r#"(component (component (import "x:y/z" (instance))))"#).unwrap();
        assert_eq!(Inspection::of(&bytes).unwrap(), Inspection::default());
    }

    #[test]
    fn bytes_that_are_no_webassembly_are_refused_whatever_they_are() {
        assert_eq!(Inspection::of(b""), Err(NotAPlugin::Empty));
        assert_eq!(Inspection::of(b"#!/bin/sh"), Err(NotAPlugin::Foreign));
        let bytes = wat::parse_str("(component (core module))").unwrap();
        for cut in 4..bytes.len() {
            let error = Inspection::of(&bytes[..cut]).and_then(|it| it.check()).unwrap_err();
            // What is left after the header alone is a component, with nothing in it.
            let expected = if cut == 8 { "it exports nothing" } else { "the file is damaged or cut short" };
            assert!(error.to_string().starts_with(expected), "{cut}: {error}");
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(crate::cases::cases() / 20))]

        #[test]
        fn a_component_with_any_bytes_changed_or_cut_off_is_read_or_refused(
            changes in proptest::collection::vec((proptest::prelude::any::<u32>(), proptest::prelude::any::<u8>()), 1..8),
            end in proptest::prelude::any::<u32>(),
            is_cut in proptest::prelude::any::<bool>(),
        ) {
            // The smallest of those that come with the program.
            let smallest = crate::plugin::bundled::BUNDLED.iter().map(|it| it.1).min_by_key(|it| it.len()).unwrap();
            let mut bytes = smallest.to_vec();
            for (at, byte) in changes {
                // Most of them at the start, where the structure is.
                let range = if at % 2 == 0 { 2000.min(bytes.len()) } else { bytes.len() };
                bytes[at as usize % range] = byte;
            }
            if is_cut {
                bytes.truncate(end as usize % bytes.len());
            }
            if let Ok(it) = Inspection::of(&bytes) {
                let _ = it.check();
                let _ = it.kinds();
            }
        }
    }
}
