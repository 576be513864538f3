//! What a grant does not include: `.git`, `.agents`, plugin folders, and what is the program's own.
//!
//! Apart, because it is decided here alone, on folders that are open, by climbing from them to the one that was granted: a
//! path, a link or another case of a name has no part in it. A guest cannot move a folder that is free into one that is
//! protected, or the other way round, so what was decided stays true while the handle is open.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Stat, fstat, statat};
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Dir, OpenMode};

use crate::capability::{Capability, Grant, Mode, PROTECTED, is_protected, same_name};
use crate::sandbox::files::repository;
use crate::sandbox::files::walk::{above, open_real, through};
use crate::sandbox::guest::{Inside, OpenFolder};

/// Folders that are climbed before a handle counts as lost.
const CLIMB: usize = 1024;

/// Which file it is, whatever it is called.
type Id = (u64, u64);

/// The granted folders of one store, opened.
#[derive(Default)]
pub(crate) struct Guard {
    pub roots: Vec<Root>,
}

/// One granted folder.
pub(crate) struct Root {
    pub dir: Dir,
    pub folder: OpenFolder,
    id: Id,
}

/// What is wanted of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// To see what is there.
    Read,
    /// To make a folder, which is harmless where a protected one will be below it.
    MakeFolder,
    /// Anything else that changes it.
    Change,
}

/// Why something was not done, which the grant of the folder allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The grant that would allow it, if one would.
    pub grant: Option<Grant>,
}

/// A protected place as it is now.
struct Found<'a> {
    root: &'a Root,
    inside: &'a Inside,
    /// The folders that are there on the way, each with the name of the next step.
    way: Vec<(Id, &'a OsStr)>,
    /// The place itself, if it is there.
    id: Option<Id>,
}

impl Root {
    /// The right to it.
    pub(super) fn grant(&self) -> Grant {
        let granted = self.folder.granted.clone();
        Grant::One(match self.folder.mode {
            Mode::Read => Capability::Read(granted),
            Mode::Write => Capability::Write(granted),
        })
    }
}

impl Root {
    /// A path below it as a grant spells it.
    fn spelled(&self, below: &Path) -> Option<String> {
        let below = below.to_str()?;
        let granted = self.folder.granted.to_string();
        Some(if granted == "." { below.to_owned() } else { format!("{granted}/{below}") })
    }
}

impl Guard {
    /// Opens folders by their real paths. One that is gone is left out, with a line in the log.
    pub(crate) fn open(folders: &[OpenFolder], plugin: &str) -> Self {
        let mut roots: Vec<Root> = Vec::with_capacity(folders.len());
        for folder in folders {
            // Two names of one folder share its handle.
            let known = roots.iter().find(|it| it.folder.host == folder.host && it.folder.mode == folder.mode);
            let opened = match known {
                Some(it) => Ok((it.dir.clone(), it.id)),
                None => open_root(folder),
            };
            match opened {
                Ok((dir, id)) => roots.push(Root { dir, folder: folder.clone(), id }),
                Err(error) => {
                    tracing::warn!(plugin, folder = %folder.host.display(), "cannot open a granted folder: {error}");
                }
            }
        }
        Self { roots }
    }

    /// Decides about a folder itself, by its handle.
    pub(super) fn folder(&self, folder: BorrowedFd<'_>, want: Want) -> Result<(), Refusal> {
        self.decide(folder, None, None, want)
    }

    /// Decides about a name in a folder, and what stands there.
    pub(super) fn entry(
        &self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        stat: Option<&Stat>,
        want: Want,
    ) -> Result<(), Refusal> {
        self.decide(folder, Some(name), stat.map(id_of), want)
    }

    fn decide(
        &self,
        folder: BorrowedFd<'_>,
        name: Option<&OsStr>,
        there: Option<Id>,
        want: Want,
    ) -> Result<(), Refusal> {
        let reads = want == Want::Read;
        let counts = |root: &&Root| reads || root.folder.mode == Mode::Write;
        let roots: Vec<&Root> = self.roots.iter().filter(counts).collect();
        let places: Vec<Found<'_>> = roots
            .iter()
            .flat_map(|root| root.folder.inside.iter().map(move |inside| (*root, inside)))
            .filter(|(_, inside)| !reads || inside.hidden)
            .map(|(root, inside)| find(root, inside))
            .collect();
        if reads && places.is_empty() {
            return Ok(());
        }
        let here = fstat(folder).map(|it| id_of(&it)).map_err(|_| Refusal { grant: None })?;
        let hit = |it: &&Found<'_>| it.touches(here, name, there, want);
        if let Some(place) = places.iter().find(hit) {
            return Err(self.refusal(want, place.grant()));
        }
        if !reads && name.is_some_and(|it| is_protected(&it.to_string_lossy())) {
            let path = real_path(folder).map(|it| it.join(name.unwrap_or_default()));
            return Err(self.refusal(want, path.and_then(|it| self.named(&it))));
        }
        if !reads && name.is_some_and(|it| repository::becomes_one(folder, it)) {
            return Err(self.refusal(want, real_path(folder).and_then(|it| self.named(&it))));
        }
        let stop = |id: Id| roots.iter().any(|it| it.id == id);
        match climb(folder, here, stop, !reads, &places) {
            Climbed::Free => Ok(()),
            Climbed::Within(place) => Err(self.refusal(want, place.grant())),
            Climbed::Named(path) => Err(self.refusal(want, path.and_then(|it| self.named(&it)))),
            Climbed::Lost => Err(self.refusal(want, None)),
        }
    }

    /// Names the grant that would have allowed it. What was decided does not depend on it.
    fn refusal(&self, want: Want, place: Option<String>) -> Refusal {
        let kind = if want == Want::Read { "read" } else { "write" };
        let grant = place.and_then(|it| Grant::parse(&format!("{kind}={it}")).ok());
        // Where it is there already, no grant helps.
        let held = |it: &Grant| self.roots.iter().any(|root| root.grant() == *it);
        Refusal { grant: grant.filter(|it| !held(it)) }
    }

    /// What is at a path, up to the first protected name, as a grant spells it.
    fn named(&self, path: &Path) -> Option<String> {
        let above = |root: &&Root| path.starts_with(&root.folder.host) && path != root.folder.host;
        let root = self.roots.iter().filter(above).max_by_key(|it| it.folder.host.as_os_str().len())?;
        root.spelled(&up_to_protected(path.strip_prefix(&root.folder.host).ok()?))
    }
}

impl Found<'_> {
    /// The place as a grant spells it; none where no grant opens it.
    fn grant(&self) -> Option<String> {
        if self.inside.never { None } else { self.root.spelled(&self.inside.names.iter().collect::<PathBuf>()) }
    }

    /// Whether this is the place, or, for what could put another one there, a folder on the way to it.
    fn touches(&self, here: Id, name: Option<&OsStr>, there: Option<Id>, want: Want) -> bool {
        if there.is_some() && there == self.id {
            return true;
        }
        let Some(name) = name else { return false };
        let steps = self.inside.names.len();
        self.way.iter().enumerate().any(|(n, (id, step))| {
            let same = *id == here && same_name(&step.to_string_lossy(), &name.to_string_lossy());
            same && (n + 1 == steps || want == Want::Change)
        })
    }
}

enum Climbed<'a> {
    /// The granted folder was reached, and nothing protected on the way.
    Free,
    /// A protected place was reached first.
    Within(&'a Found<'a>),
    /// What is protected by its name, or is a repository, was reached first; it is here, if that can be told.
    Named(Option<PathBuf>),
    /// The granted folder was not reached.
    Lost,
}

/// Climbs from a folder to the first that was granted.
fn climb<'a>(
    folder: BorrowedFd<'_>,
    id: Id,
    stop: impl Fn(Id) -> bool,
    names: bool,
    places: &'a [Found<'a>],
) -> Climbed<'a> {
    let mut below: Option<OwnedFd> = None;
    let mut id = id;
    for _ in 0..CLIMB {
        if stop(id) {
            return Climbed::Free;
        }
        if let Some(place) = places.iter().find(|it| it.id == Some(id)) {
            return Climbed::Within(place);
        }
        let here = below.as_ref().map_or(folder, AsFd::as_fd);
        let Ok(up) = above(here) else { return Climbed::Lost };
        // By asking the folder above for the name: so no other case of it, and no link of that name, is another folder.
        let is = |name: &&str| statat(&up, *name, AtFlags::empty()).is_ok_and(|it| id_of(&it) == id);
        if names && (PROTECTED.iter().any(is) || repository::is_one(here)) {
            return Climbed::Named(real_path(here));
        }
        match fstat(&up).map(|it| id_of(&it)) {
            Ok(next) if next != id => id = next,
            _ => return Climbed::Lost,
        }
        below = Some(up);
    }
    Climbed::Lost
}

/// Looks where a protected place is now. It may not be there yet, or only the way to it.
fn find<'a>(root: &'a Root, inside: &'a Inside) -> Found<'a> {
    let mut found = Found { root, inside, way: Vec::with_capacity(inside.names.len()), id: None };
    let mut here: Option<OwnedFd> = None;
    let mut id = root.id;
    for (n, step) in inside.names.iter().enumerate() {
        found.way.push((id, step));
        let from = here.as_ref().map_or(root.dir.dir.as_fd(), AsFd::as_fd);
        if n + 1 == inside.names.len() {
            found.id = statat(from, step.as_os_str(), AtFlags::empty()).ok().map(|it| id_of(&it));
            break;
        }
        let Ok(next) = through(from, step) else { break };
        let Ok(stat) = fstat(&next) else { break };
        id = id_of(&stat);
        here = Some(next);
    }
    found
}

fn open_root(folder: &OpenFolder) -> rustix::io::Result<(Dir, Id)> {
    let handle = open_real(&folder.host)?;
    let id = id_of(&fstat(&handle)?);
    let (perms, mode) = match folder.mode {
        Mode::Read => (FsPerms::ReadOnly, OpenMode::READ),
        Mode::Write => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
    };
    Ok((Dir::new(handle.into(), perms, mode, false), id))
}

/// Up to the first protected name.
fn up_to_protected(path: &Path) -> PathBuf {
    let mut shown = PathBuf::new();
    for name in path {
        shown.push(name);
        if is_protected(&name.to_string_lossy()) {
            break;
        }
    }
    shown
}

#[cfg_attr(target_os = "linux", expect(clippy::unnecessary_cast, reason = "other systems have other widths"))]
pub(super) fn id_of(stat: &Stat) -> Id {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// Where an opened folder is now, for a message.
fn real_path(folder: BorrowedFd<'_>) -> Option<PathBuf> {
    use std::os::fd::AsRawFd as _;
    std::fs::read_link(format!("/proc/self/fd/{}", folder.as_raw_fd())).ok()
}
