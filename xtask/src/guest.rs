//! Builds guests with a nested `cargo` and hands their bytes to the crate that is being built.
//!
//! Separate, and without a dependency, because build scripts include this file by path: those of `host` and
//! `tests/guests`. So does the test that builds the plugin of the README. It is a module of `xtask` for its tests.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    process::{self, Command},
};

// Named by path: a file that is itself included by path has no folder of its own.
#[path = "guest/toolchain.rs"]
pub(crate) mod toolchain;

use toolchain::{Machine, TARGET, Toolchain};

/// A guest in this workspace; its library is called like the name, with `_` for `-`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guest {
    /// What the including crate calls it.
    pub(crate) name: &'static str,
    /// Its package.
    pub(crate) package: &'static str,
}

/// Builds `guests` and writes `$OUT_DIR/<file>` with `pub static <ITEM>: &[(&str, &[u8])]`, name and component;
/// ends the build script with a message where that fails.
#[allow(clippy::print_stderr, reason = "cargo shows the standard error of a build script that failed")]
pub(crate) fn embed(file: &str, item: &str, guests: &[Guest]) {
    if let Err(fault) = try_embed(file, item, guests) {
        eprintln!("{fault}");
        process::exit(1);
    }
}

fn try_embed(file: &str, item: &str, guests: &[Guest]) -> Result<(), String> {
    let out = PathBuf::from(variable("OUT_DIR")?);
    let manifest = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    let root = workspace(&manifest)?;
    let toolchain = Toolchain::find(&Machine::this()).ok_or_else(|| missing(&active_toolchain()))?;
    let target = target_folder(&out, &variable("TARGET")?.to_string_lossy()).join(toolchain.folder());

    let status = command(&toolchain, root, &target, guests)
        .status()
        .map_err(|fault| format!("error: cannot run cargo for the guests\n  caused by: {fault}"))?;
    if !status.success() {
        return Err(format!("error: a guest did not build ({status}); its errors are above"));
    }

    let built = target.join(TARGET).join("plugin");
    let mut rerun = BTreeSet::from(["Cargo.toml", "Cargo.lock", "wit"].map(|it| root.join(it)));
    let mut table = format!(
        "/// Each guest: its name and its component.\n\
         #[allow(unreachable_pub, reason = \"the including module decides who sees it\")]\n\
         pub static {item}: &[(&str, &[u8])] = &[\n"
    );
    for guest in guests {
        let lib = guest.name.replace('-', "_");
        let copy = out.join(format!("{lib}.wasm"));
        let component = built.join(format!("{lib}.wasm"));
        fs::copy(&component, &copy).map_err(in_file(&component))?;
        table += &format!("    ({:?}, include_bytes!({copy:?})),\n", guest.name);
        let dep_info = built.join(format!("{lib}.d"));
        rerun.extend(sources(&fs::read_to_string(&dep_info).map_err(in_file(&dep_info))?, root));
    }
    let path = out.join(file);
    fs::write(&path, table + "];\n").map_err(in_file(&path))?;
    // A path that does not exist would run the script every time.
    for path in rerun.iter().filter(|it| it.exists()) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    Ok(())
}

/// The nested `cargo build`: as the user would type it, untouched by how the outer one was started.
fn command(toolchain: &Toolchain, root: &Path, target: &Path, guests: &[Guest]) -> Command {
    let mut cargo = cargo();
    cargo.current_dir(root).args(["build", "--profile", "plugin", "--target", TARGET]);
    cargo.arg("--target-dir").arg(target);
    cargo.args(guests.iter().flat_map(|it| ["--package", it.package]));
    // The outer cargo has just settled the versions: a change here would be a surprise.
    if root.join("Cargo.lock").exists() {
        cargo.arg("--locked");
    }
    if let Ok(jobs) = env::var("NUM_JOBS") {
        cargo.args(["--jobs", &jobs]);
    }
    toolchain.apply(&mut cargo, env::var_os("PATH").unwrap_or_default());
    // The standard output of a build script speaks to cargo.
    cargo.stdout(io::stderr());
    cargo
}

/// A cargo that knows nothing of the one that started this process.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os().filter(|(name, _)| !is_inherited(&name.to_string_lossy())) {
        cargo.env_remove(name);
    }
    cargo
}

/// Whether a variable reaches the nested cargo.
///
/// What the outer one sets for its build scripts does not, nor what `cargo clippy`, `cargo miri`, coverage tools or a
/// user set for the host: wrappers, flags, profiles, the job server. Where to download from and how does.
fn is_inherited(name: &str) -> bool {
    let kept = ["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_"];
    let dropped = ["CARGO", "__CARGO", "CLIPPY_", "DEP_", "LLVM_PROFILE_", "MIRI", "RUSTC", "RUSTDOC", "RUSTFLAGS"];
    let script = ["DEBUG", "HOST", "MAKEFLAGS", "MFLAGS", "NUM_JOBS", "OPT_LEVEL", "OUT_DIR", "PROFILE", "TARGET"];
    let begins = |prefixes: &[&str]| prefixes.iter().any(|it| name.starts_with(it));
    begins(&kept) || !(begins(&dropped) || script.contains(&name))
}

/// The sources in a dep-info file of cargo, with the manifests of the packages they are in.
fn sources(dep_info: &str, root: &Path) -> BTreeSet<PathBuf> {
    // One line for each output: `output: source source …`, with a backslash before a space in a name.
    let lists = dep_info.lines().filter_map(|it| Some(it.split_once(": ")?.1.replace("\\ ", "\0")));
    let listed: Vec<_> = lists.collect();
    let sources = listed.iter().flat_map(|it| it.split_whitespace());
    let mut found: BTreeSet<_> = sources.map(|it| root.join(it.replace('\0', " "))).collect();
    let manifests: Vec<_> = found
        .iter()
        .filter(|it| it.starts_with(root))
        .filter_map(|it| it.ancestors().skip(1).map(|it| it.join("Cargo.toml")).find(|it| it.is_file()))
        .collect();
    found.extend(manifests);
    found
}

/// The target folder of the outer build; neither a variable nor cargo's arguments tell it to a build script.
///
/// Builds for another `triple` are in a folder of that name in it: they share the guests.
fn target_folder<'a>(out: &'a Path, triple: &str) -> &'a Path {
    // Without a mark: `<target>/<profile>/build/<package>/out`.
    let marked = out.ancestors().find(|it| it.join("CACHEDIR.TAG").is_file());
    let folder = marked.or_else(|| out.ancestors().nth(4)).unwrap_or(out);
    folder.parent().filter(|_| folder.ends_with(triple)).unwrap_or(folder)
}

fn workspace(manifest: &Path) -> Result<&Path, String> {
    let holds_workspace = |it: &&Path| {
        fs::read_to_string(it.join("Cargo.toml")).is_ok_and(|text| text.lines().any(|it| it == "[workspace]"))
    };
    manifest
        .ancestors()
        .find(holds_workspace)
        .ok_or_else(|| format!("error: `{}` is in no cargo workspace", manifest.display()))
}

/// The argument that makes `rustup` act on the toolchain in use, where that is not its default.
fn active_toolchain() -> String {
    env::var("RUSTUP_TOOLCHAIN").map_or(String::new(), |it| format!(" --toolchain {it}"))
}

fn missing(toolchain: &str) -> String {
    format!(
        "error: this Rust toolchain cannot build plugins: it has no target `{TARGET}`\n\
         \x20 hint: add it with `rustup target add{toolchain} {TARGET}`\n\
         \x20 hint: or run `cargo xtask test`, which sets up what is missing, also without rustup"
    )
}

fn variable(name: &str) -> Result<OsString, String> {
    env::var_os(name).ok_or_else(|| format!("error: cargo did not set `{name}`"))
}

fn in_file(path: &Path) -> impl Fn(io::Error) -> String {
    move |fault| match fault.kind() {
        ErrorKind::NotFound => format!("error: the build of the guests made no `{}`", path.display()),
        _ => format!("error: `{}`\n  caused by: {fault}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, ffi::OsStr, path::Path};

    use super::{
        Guest, command, is_inherited, missing, sources, target_folder,
        toolchain::{Distribution, Toolchain, tests::Scratch},
    };

    const WC: Guest = Guest { name: "wc", package: "bellglass-wc" };

    /// The arguments, and the variables that were set.
    fn typed(toolchain: &Toolchain, root: &Path) -> (String, BTreeMap<String, String>) {
        let text = |it: &OsStr| it.to_string_lossy().into_owned();
        let command = command(toolchain, root, Path::new("/t/guests"), &[WC]);
        let set = command.get_envs().filter_map(|(name, value)| Some((text(name), text(value?)))).collect();
        (command.get_args().map(text).collect::<Vec<_>>().join(" "), set)
    }

    #[test]
    fn the_target_needs_nothing_but_its_name() {
        let scratch = Scratch::new("target");
        scratch.write("Cargo.lock", "");
        let (arguments, set) = typed(&Toolchain::Target, &scratch.0);
        let expected = "build --profile plugin --target wasm32-wasip2 --target-dir /t/guests \
                        --package bellglass-wc --locked";
        assert_eq!(arguments, expected);
        assert_eq!(set, BTreeMap::from([("CARGO_ENCODED_RUSTFLAGS".to_owned(), String::new())]));
    }

    #[test]
    fn the_distribution_builds_the_standard_library_too() {
        let scratch = Scratch::new("distribution");
        let found = Distribution {
            rustc: "/usr/bin/rustc".into(),
            libc: "/usr/lib/wasm32-wasi".into(),
            component_ld: "/b/wasm-component-ld".into(),
            wasm_ld: "/b/gcc-ld".into(),
        };
        let (arguments, mut set) = typed(&Toolchain::Distribution(found), &scratch.0);
        let expected = "build --profile plugin --target wasm32-wasip2 --target-dir /t/guests \
                        --package bellglass-wc -Zbuild-std=std,panic_abort";
        assert_eq!(arguments, expected);
        assert!(set.remove("PATH").is_some_and(|it| it.starts_with("/b/gcc-ld:")));
        let expected = [
            ("CARGO_ENCODED_RUSTFLAGS", "-Clink-self-contained=no\x1f-L/usr/lib/wasm32-wasi"),
            ("CARGO_TARGET_WASM32_WASIP2_LINKER", "/b/wasm-component-ld"),
            ("RUSTC", "/usr/bin/rustc"),
            ("RUSTC_BOOTSTRAP", "1"),
        ];
        assert_eq!(set, expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
    }

    #[test]
    fn only_where_to_download_from_and_how_reaches_the_nested_cargo() {
        let of_the_outer = "CARGO CARGO_BUILD_TARGET CARGO_ENCODED_RUSTFLAGS CARGO_MAKEFLAGS CARGO_MANIFEST_DIR \
                            CARGO_PROFILE_RELEASE_LTO CARGO_TARGET_DIR CLIPPY_ARGS DEP_Z_ROOT LLVM_PROFILE_FILE \
                            MAKEFLAGS MIRIFLAGS OUT_DIR RUSTC RUSTC_WORKSPACE_WRAPPER RUSTC_WRAPPER RUSTFLAGS TARGET";
        for name in of_the_outer.split(' ') {
            assert!(!is_inherited(name), "`{name}`");
        }
        let of_the_user = "CARGO_HOME CARGO_HTTP_PROXY CARGO_NET_OFFLINE CARGO_REGISTRIES_X_TOKEN CARGO_TERM_COLOR \
                           HOME HTTPS_PROXY PATH RUSTUP_HOME RUSTUP_TOOLCHAIN TARGETS TMPDIR";
        for name in of_the_user.split(' ') {
            assert!(is_inherited(name), "`{name}`");
        }
    }

    #[test]
    fn sources_come_with_the_manifests_of_their_packages() {
        let scratch = Scratch::new("sources");
        for file in ["p/Cargo.toml", "p/src/a b.rs", "sdk/Cargo.toml", "sdk/src/lib.rs"] {
            scratch.write(file, "");
        }
        let root = scratch.0.to_str().expect("the folder has a plain name");
        let dep_info = format!("/t/wc.wasm: {root}/p/src/a\\ b.rs {root}/sdk/src/lib.rs\n");
        let found = sources(&dep_info, &scratch.0);
        let found: Vec<_> = found.iter().filter_map(|it| it.strip_prefix(root).ok()?.to_str()).collect();
        assert_eq!(found, ["p/Cargo.toml", "p/src/a b.rs", "sdk/Cargo.toml", "sdk/src/lib.rs"]);
    }

    #[test]
    fn the_target_folder_is_found_from_any_depth() {
        let scratch = Scratch::new("depth");
        let target = scratch.0.join("t");
        let find = |out: &str| target_folder(&target.join(out), "triple").to_owned();
        assert_eq!(find("debug/build/p-1/out"), target);
        assert_eq!(find("triple/debug/build/p-1/out"), target);
        scratch.write("t/CACHEDIR.TAG", "");
        assert_eq!(find("debug/build/p/1/and/more/out"), target);
        scratch.write("t/triple/CACHEDIR.TAG", "");
        assert_eq!(find("triple/debug/build/p/1/and/more/out"), target);
    }

    #[test]
    fn a_missing_target_is_named_with_the_command_that_adds_it() {
        let text = missing(" --toolchain nightly");
        assert!(text.contains("`rustup target add --toolchain nightly wasm32-wasip2`"), "{text}");
        assert!(text.contains("`cargo xtask test`"), "{text}");
    }
}
