//! Finds what this machine can build guests with.
//!
//! Separate from the build itself because `cargo xtask` asks the same question before it installs anything.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// The target of every guest: a component whose standard library speaks WASI 0.2.
pub(crate) const TARGET: &str = "wasm32-wasip2";

/// A way to build guests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Toolchain {
    /// The active compiler has the standard library of the target.
    Target,
    /// The compiler of the distribution builds the standard library together with the guest.
    Distribution(Distribution),
}

/// Where the pieces of the distribution's way are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Distribution {
    /// Its compiler, which has the sources of its own standard library beside it.
    pub(crate) rustc: PathBuf,
    /// The folder of the C library that the standard library is linked with.
    pub(crate) libc: PathBuf,
    /// Makes a component of what `wasm-ld` linked.
    pub(crate) component_ld: PathBuf,
    /// The folder that holds `wasm-ld`.
    pub(crate) wasm_ld: PathBuf,
}

impl Toolchain {
    /// Finds the way to build guests: the target first, since its guests are smaller and faster to call.
    pub(crate) fn find(machine: &Machine) -> Option<Self> {
        if machine.target_libdir.as_deref().is_some_and(has_std) {
            return Some(Self::Target);
        }
        let usr = machine.root.join("usr");
        let rustc = usr.join("bin/rustc");
        let sources = usr.join("lib/rustlib/src/rust/library/std/Cargo.toml");
        let libc = usr.join("lib/wasm32-wasi");
        if !rustc.is_file() || !sources.is_file() || !libc.join("libc.a").is_file() {
            return None;
        }
        let (component_ld, wasm_ld) = machine.linkers()?;
        Some(Self::Distribution(Distribution { rustc, libc, component_ld, wasm_ld }))
    }

    /// The folder below the outer target folder. One for each way: neither throws away what the other built.
    pub(crate) fn folder(&self) -> &'static str {
        match self {
            Self::Target => "guests",
            Self::Distribution(_) => "guests-build-std",
        }
    }

    /// Adds the arguments and variables of this way to a `cargo build` for guests.
    pub(crate) fn apply(&self, cargo: &mut Command, path: OsString) {
        let Self::Distribution(found) = self else {
            // Set and empty: flags for the host in a user's `config.toml` do not reach guests.
            cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
            return;
        };
        let mut flags = OsString::from("-Clink-self-contained=no\x1f-L");
        flags.push(&found.libc);
        let folders = [&found.wasm_ld].into_iter().cloned().chain(env::split_paths(&path));
        cargo
            .arg("-Zbuild-std=std,panic_abort")
            .env("RUSTC", &found.rustc)
            // `-Zbuild-std` is unstable; cargo and compiler are releases.
            .env("RUSTC_BOOTSTRAP", "1")
            .env("CARGO_TARGET_WASM32_WASIP2_LINKER", &found.component_ld)
            .env("CARGO_ENCODED_RUSTFLAGS", flags)
            // `wasm-component-ld` looks for `wasm-ld` there.
            .env("PATH", env::join_paths(folders).unwrap_or(path));
    }
}

/// What `Toolchain::find` looks at.
#[derive(Debug)]
pub(crate) struct Machine {
    /// `/`; a folder of their own in tests.
    pub(crate) root: PathBuf,
    /// Where the active compiler would keep the standard library of the target.
    pub(crate) target_libdir: Option<PathBuf>,
    /// The folders of tools: beside the active compiler, then those in `PATH`.
    pub(crate) tools: Vec<PathBuf>,
}

impl Machine {
    /// Asks the compiler that `cargo` uses when nothing else is set.
    pub(crate) fn this() -> Self {
        let beside = libdir(None).and_then(|it| Some(it.parent()?.join("bin")));
        let tools = beside.into_iter().flat_map(|it| [it.join("gcc-ld"), it]);
        let path = env::var_os("PATH").unwrap_or_default();
        Self {
            root: PathBuf::from("/"),
            target_libdir: libdir(Some(TARGET)),
            tools: tools.chain(env::split_paths(&path)).collect(),
        }
    }

    /// Finds `wasm-component-ld`, and the folder of `wasm-ld`.
    pub(crate) fn linkers(&self) -> Option<(PathBuf, PathBuf)> {
        let usr = self.root.join("usr/lib");
        // The distribution keeps its linker below the version of LLVM; the newest knows the most features.
        let mut packaged: Vec<_> = subfolders(&usr)
            .filter_map(|it| {
                let version: u32 = it.file_name()?.to_str()?.strip_prefix("llvm-")?.parse().ok()?;
                Some((version, it.join("bin")))
            })
            .collect();
        packaged.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
        let packaged = packaged.into_iter().map(|(_, it)| it);
        let beside = subfolders(&usr.join("rustlib")).map(|it| it.join("bin"));
        let folders: Vec<_> = self.tools.iter().cloned().chain(beside).chain(packaged).collect();
        let component_ld = folders.iter().map(|it| it.join("wasm-component-ld")).find(|it| it.is_file())?;
        let wasm_ld = folders.into_iter().find(|it| it.join("wasm-ld").is_file())?;
        Some((component_ld, wasm_ld))
    }
}

/// The libraries of a target in the sysroot of the active compiler; without a target, those of the host.
fn libdir(target: Option<&str>) -> Option<PathBuf> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir"]);
    rustc.args(target.iter().flat_map(|it| ["--target", it]));
    let output = rustc.output().ok().filter(|it| it.status.success())?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end()))
}

fn has_std(libdir: &Path) -> bool {
    let Ok(entries) = fs::read_dir(libdir) else { return false };
    entries.flatten().any(|it| it.file_name().to_string_lossy().starts_with("libstd-"))
}

fn subfolders(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|it| it.path())
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        env, fs,
        path::{Path, PathBuf},
        process,
    };

    use super::{Distribution, Machine, Toolchain};

    /// A folder of one test; gone afterwards.
    pub(crate) struct Scratch(pub(crate) PathBuf);

    impl Scratch {
        pub(crate) fn new(test: &str) -> Self {
            let folder = env::temp_dir().join(format!("xtask-{}-{test}", process::id()));
            fs::create_dir_all(&folder).expect("the folder can be made");
            Self(folder)
        }

        pub(crate) fn write(&self, file: &str, text: &str) {
            let path = self.0.join(file);
            let folder = path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder).and_then(|()| fs::write(&path, text)).expect("the file can be written");
        }

        fn find(&self, files: &str) -> Option<Toolchain> {
            files.split_whitespace().for_each(|it| self.write(it, ""));
            Toolchain::find(&Machine {
                root: self.0.clone(),
                target_libdir: Some(self.0.join("target")),
                tools: vec![self.0.join("bin/gcc-ld"), self.0.join("bin")],
            })
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).ok();
        }
    }

    const PACKAGES: &str = "usr/bin/rustc usr/lib/rustlib/src/rust/library/std/Cargo.toml usr/lib/wasm32-wasi/libc.a";

    #[test]
    fn the_target_wins_over_the_distribution() {
        let scratch = Scratch::new("wins");
        assert_eq!(scratch.find("target/self-contained/crt1.o"), None, "a folder without `std` is no target");
        assert_eq!(scratch.find("target/libstd-1.rlib"), Some(Toolchain::Target));
        let all = format!("{PACKAGES} bin/wasm-component-ld bin/gcc-ld/wasm-ld");
        assert_eq!(scratch.find(&all), Some(Toolchain::Target));
    }

    #[test]
    fn the_distribution_needs_each_of_its_pieces() {
        let scratch = Scratch::new("pieces");
        for pieces in [PACKAGES, "bin/wasm-component-ld"] {
            assert_eq!(scratch.find(pieces), None);
        }
        let expected = |scratch: &Scratch| Distribution {
            rustc: scratch.0.join("usr/bin/rustc"),
            libc: scratch.0.join("usr/lib/wasm32-wasi"),
            component_ld: scratch.0.join("bin/wasm-component-ld"),
            wasm_ld: scratch.0.join("bin/gcc-ld"),
        };
        assert_eq!(scratch.find("bin/gcc-ld/wasm-ld"), Some(Toolchain::Distribution(expected(&scratch))));
    }

    #[test]
    fn the_distribution_brings_its_own_linkers() {
        let scratch = Scratch::new("linkers");
        let packaged = "usr/lib/rustlib/some-host/bin/wasm-component-ld \
                        usr/lib/llvm-9/bin/wasm-ld usr/lib/llvm-22/bin/wasm-ld";
        let Some(Toolchain::Distribution(found)) = scratch.find(&format!("{PACKAGES} {packaged}")) else {
            panic!("the packages are enough");
        };
        assert_eq!(found.component_ld, scratch.0.join("usr/lib/rustlib/some-host/bin/wasm-component-ld"));
        assert_eq!(found.wasm_ld, scratch.0.join("usr/lib/llvm-22/bin"));
    }
}
