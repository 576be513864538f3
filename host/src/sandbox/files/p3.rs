//! `wasi:filesystem` of WASI 0.3. What has a path is done by [`super::operate`], the rest by wasmtime.

use wasmtime::AsContextMut as _;
use wasmtime::component::{Access, Accessor, FutureReader, Resource, StreamReader};
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p3::bindings::filesystem::preopens;
use wasmtime_wasi::p3::bindings::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize, Host, HostDescriptor,
    HostDescriptorWithStore, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p3::filesystem::{FilesystemError, FilesystemResult};

use crate::sandbox::files::guard::Guard;
use crate::sandbox::files::open::{How, open};
use crate::sandbox::files::operate::{self, Failure, Time};
use crate::sandbox::files::{Guarded, View};
use crate::sandbox::guest::Guest;

type Fd = Resource<Descriptor>;
type Store = Accessor<Guest, Guarded>;
type Content<'a> = Access<'a, Guest, Guarded>;
type Done = FutureReader<Result<(), ErrorCode>>;

/// wasmtime's own functions of the interface.
macro_rules! inner {
    ($function:ident($store:expr $(, $argument:expr)*)) => {
        <WasiFilesystem as HostDescriptorWithStore<Guest>>::$function(
            &$store.with_getter::<WasiFilesystem>(Guest::filesystem) $(, $argument)*
        ).await
    };
}

fn content<'a>(store: &'a mut Content<'_>) -> Access<'a, Guest, WasiFilesystem> {
    Access::<Guest, WasiFilesystem>::new(store.as_context_mut(), Guest::filesystem)
}

/// Does something with a path below an opened folder.
async fn at<R: Send + 'static>(
    store: &Store,
    fd: &Fd,
    work: impl FnOnce(&Guard, &Dir) -> Result<R, Failure> + Send + 'static,
) -> FilesystemResult<R> {
    let (desk, start) = store.with(|mut it| {
        let view = it.get();
        Ok::<_, FilesystemError>((view.desk.clone(), folder(&view, fd)?))
    })?;
    desk.run(start, work).await.map_err(|it| ErrorCode::from(it).into())
}

fn folder(view: &View<'_>, fd: &Fd) -> FilesystemResult<Dir> {
    match view.descriptor(fd)? {
        Descriptor::Dir(dir) => Ok(dir),
        Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
    }
}

fn other_folder(store: &Store, fd: &Fd) -> FilesystemResult<Dir> {
    store.with(|mut it| folder(&it.get(), fd))
}

/// Looks at what a path leads to: wasmtime does, with the very folder that was asked about.
async fn looked_at(store: &Store, fd: &Fd, flags: PathFlags, path: String) -> FilesystemResult<(Fd, String)> {
    let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
    let (dir, name) = at(store, fd, move |guard, dir| operate::look(guard, dir, &path, follow)).await?;
    Ok((store.with(|mut it| it.get().inner.table.push(Descriptor::Dir(dir)))?, name))
}

fn forget(store: &Store, dir: Fd) -> FilesystemResult<()> {
    store.with(|mut it| it.get().inner.table.delete(dir))?;
    Ok(())
}

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        self.directories()
    }
}

impl Host for View<'_> {
    fn convert_error_code(&mut self, error: FilesystemError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }
}

impl HostDescriptor for View<'_> {
    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.inner, fd)
    }
}

impl HostDescriptorWithStore<Guest> for Guarded {
    async fn create_directory_at(store: &Store, fd: Fd, path: String) -> FilesystemResult<()> {
        at(store, &fd, move |guard, dir| operate::make_folder(guard, dir, &path)).await
    }

    async fn link_at(
        store: &Store,
        fd: Fd,
        flags: PathFlags,
        path: String,
        new_fd: Fd,
        new_path: String,
    ) -> FilesystemResult<()> {
        if flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(ErrorCode::Invalid.into());
        }
        let to = other_folder(store, &new_fd)?;
        at(store, &fd, move |guard, from| operate::link(guard, from, &path, &to, &new_path)).await
    }

    async fn rename_at(store: &Store, fd: Fd, path: String, new_fd: Fd, new_path: String) -> FilesystemResult<()> {
        let to = other_folder(store, &new_fd)?;
        at(store, &fd, move |guard, from| operate::rename(guard, from, &path, &to, &new_path)).await
    }

    async fn symlink_at(store: &Store, fd: Fd, target: String, path: String) -> FilesystemResult<()> {
        at(store, &fd, move |guard, dir| operate::make_symlink(guard, dir, &target, &path)).await
    }

    async fn unlink_file_at(store: &Store, fd: Fd, path: String) -> FilesystemResult<()> {
        at(store, &fd, move |guard, dir| operate::remove_file(guard, dir, &path)).await
    }

    async fn remove_directory_at(store: &Store, fd: Fd, path: String) -> FilesystemResult<()> {
        at(store, &fd, move |guard, dir| operate::remove_folder(guard, dir, &path)).await
    }

    async fn open_at(
        store: &Store,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        new: OpenFlags,
        flags: DescriptorFlags,
    ) -> FilesystemResult<Fd> {
        let unsupported = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        if flags.intersects(unsupported) {
            return Err(ErrorCode::Unsupported.into());
        }
        let how = How {
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
            create: new.contains(OpenFlags::CREATE),
            exclusive: new.contains(OpenFlags::EXCLUSIVE),
            truncate: new.contains(OpenFlags::TRUNCATE),
            directory: new.contains(OpenFlags::DIRECTORY),
            read: flags.contains(DescriptorFlags::READ),
            write: flags.contains(DescriptorFlags::WRITE),
        };
        let opened = at(store, &fd, move |guard, dir| open(guard, dir, &path, how)).await?;
        Ok(store.with(|mut it| it.get().inner.table.push(opened))?)
    }

    async fn readlink_at(store: &Store, fd: Fd, path: String) -> FilesystemResult<String> {
        at(store, &fd, move |guard, dir| operate::read_link(guard, dir, &path)).await
    }

    async fn stat_at(store: &Store, fd: Fd, flags: PathFlags, path: String) -> FilesystemResult<DescriptorStat> {
        let (dir, name) = looked_at(store, &fd, flags, path).await?;
        let stat = inner!(stat_at(store, Resource::new_borrow(dir.rep()), PathFlags::empty(), name));
        forget(store, dir)?;
        stat
    }

    async fn metadata_hash_at(
        store: &Store,
        fd: Fd,
        flags: PathFlags,
        path: String,
    ) -> FilesystemResult<MetadataHashValue> {
        let (dir, name) = looked_at(store, &fd, flags, path).await?;
        let hash = inner!(metadata_hash_at(store, Resource::new_borrow(dir.rep()), PathFlags::empty(), name));
        forget(store, dir)?;
        hash
    }

    async fn set_times_at(
        store: &Store,
        fd: Fd,
        flags: PathFlags,
        path: String,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FilesystemResult<()> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let times = [time(access)?, time(modification)?];
        at(store, &fd, move |guard, dir| operate::set_times(guard, dir, &path, follow, times)).await
    }

    async fn set_times(
        store: &Store,
        fd: Fd,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FilesystemResult<()> {
        let opened = store.with(|mut it| it.get().descriptor(&fd))?;
        if let Descriptor::Dir(_) = opened {
            at(store, &fd, operate::may_set_times).await?;
        }
        inner!(set_times(store, fd, access, modification))
    }

    async fn advise(store: &Store, fd: Fd, offset: Filesize, len: Filesize, advice: Advice) -> FilesystemResult<()> {
        inner!(advise(store, fd, offset, len, advice))
    }

    async fn sync_data(store: &Store, fd: Fd) -> FilesystemResult<()> {
        inner!(sync_data(store, fd))
    }

    async fn sync(store: &Store, fd: Fd) -> FilesystemResult<()> {
        inner!(sync(store, fd))
    }

    async fn get_flags(store: &Store, fd: Fd) -> FilesystemResult<DescriptorFlags> {
        inner!(get_flags(store, fd))
    }

    async fn get_type(store: &Store, fd: Fd) -> FilesystemResult<DescriptorType> {
        inner!(get_type(store, fd))
    }

    async fn set_size(store: &Store, fd: Fd, size: Filesize) -> FilesystemResult<()> {
        inner!(set_size(store, fd, size))
    }

    async fn stat(store: &Store, fd: Fd) -> FilesystemResult<DescriptorStat> {
        inner!(stat(store, fd))
    }

    async fn is_same_object(store: &Store, fd: Fd, other: Fd) -> wasmtime::Result<bool> {
        inner!(is_same_object(store, fd, other))
    }

    async fn metadata_hash(store: &Store, fd: Fd) -> FilesystemResult<MetadataHashValue> {
        inner!(metadata_hash(store, fd))
    }

    fn read_via_stream(mut store: Content<'_>, fd: Fd, offset: Filesize) -> wasmtime::Result<(StreamReader<u8>, Done)> {
        WasiFilesystem::read_via_stream(content(&mut store), fd, offset)
    }

    fn write_via_stream(
        mut store: Content<'_>,
        fd: Fd,
        data: StreamReader<u8>,
        offset: Filesize,
    ) -> wasmtime::Result<Done> {
        WasiFilesystem::write_via_stream(content(&mut store), fd, data, offset)
    }

    fn append_via_stream(mut store: Content<'_>, fd: Fd, data: StreamReader<u8>) -> wasmtime::Result<Done> {
        WasiFilesystem::append_via_stream(content(&mut store), fd, data)
    }

    fn read_directory(mut store: Content<'_>, fd: Fd) -> wasmtime::Result<(StreamReader<DirectoryEntry>, Done)> {
        WasiFilesystem::read_directory(content(&mut store), fd)
    }
}

fn time(time: NewTimestamp) -> FilesystemResult<Time> {
    Ok(match time {
        NewTimestamp::NoChange => Time::Unchanged,
        NewTimestamp::Now => Time::Now,
        NewTimestamp::Timestamp(it) => Time::at(Some(it.seconds), it.nanoseconds).ok_or(ErrorCode::Overflow)?,
    })
}
