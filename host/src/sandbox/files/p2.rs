//! `wasi:filesystem` of WASI 0.2. What has a path is done by [`super::operate`], the rest by wasmtime.

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, Dir};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::p2::bindings::filesystem::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntryStream, ErrorCode, Filesize, Host,
    HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags, PathFlags,
};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, FsError, FsResult};

use crate::sandbox::files::View;
use crate::sandbox::files::guard::Guard;
use crate::sandbox::files::open::{How, open};
use crate::sandbox::files::operate::{self, Failure, Time};

type Fd = Resource<Descriptor>;

impl View<'_> {
    /// Does something with a path below an opened folder.
    async fn at<R: Send + 'static>(
        &mut self,
        fd: &Fd,
        work: impl FnOnce(&Guard, &Dir) -> Result<R, Failure> + Send + 'static,
    ) -> FsResult<R> {
        let start = self.folder(fd)?;
        self.desk.clone().run(start, work).await.map_err(|it| ErrorCode::from(it).into())
    }

    fn folder(&self, fd: &Fd) -> FsResult<Dir> {
        match self.descriptor(fd)? {
            Descriptor::Dir(dir) => Ok(dir),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    /// Looks at what a path leads to: wasmtime does, with the very folder that was asked about.
    async fn looked_at(&mut self, fd: &Fd, flags: PathFlags, path: String) -> FsResult<(Fd, String)> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let (dir, name) = self.at(fd, move |guard, dir| operate::look(guard, dir, &path, follow)).await?;
        Ok((self.inner.table.push(Descriptor::Dir(dir))?, name))
    }
}

impl preopens::Host for View<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Fd, String)>> {
        self.directories()
    }
}

impl Host for View<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        self.inner.convert_error_code(error)
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        self.inner.filesystem_error_code(error)
    }
}

impl HostDescriptor for View<'_> {
    async fn create_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.at(&fd, move |guard, dir| operate::make_folder(guard, dir, &path)).await
    }

    async fn link_at(&mut self, fd: Fd, flags: PathFlags, path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        if flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(ErrorCode::Invalid.into());
        }
        let to = self.folder(&new_fd)?;
        self.at(&fd, move |guard, from| operate::link(guard, from, &path, &to, &new_path)).await
    }

    async fn rename_at(&mut self, fd: Fd, path: String, new_fd: Fd, new_path: String) -> FsResult<()> {
        let to = self.folder(&new_fd)?;
        self.at(&fd, move |guard, from| operate::rename(guard, from, &path, &to, &new_path)).await
    }

    async fn symlink_at(&mut self, fd: Fd, target: String, path: String) -> FsResult<()> {
        self.at(&fd, move |guard, dir| operate::make_symlink(guard, dir, &target, &path)).await
    }

    async fn unlink_file_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.at(&fd, move |guard, dir| operate::remove_file(guard, dir, &path)).await
    }

    async fn remove_directory_at(&mut self, fd: Fd, path: String) -> FsResult<()> {
        self.at(&fd, move |guard, dir| operate::remove_folder(guard, dir, &path)).await
    }

    async fn open_at(
        &mut self,
        fd: Fd,
        path_flags: PathFlags,
        path: String,
        new: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Fd> {
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
        let opened = self.at(&fd, move |guard, dir| open(guard, dir, &path, how)).await?;
        Ok(self.inner.table.push(opened)?)
    }

    async fn readlink_at(&mut self, fd: Fd, path: String) -> FsResult<String> {
        self.at(&fd, move |guard, dir| operate::read_link(guard, dir, &path)).await
    }

    async fn stat_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> FsResult<DescriptorStat> {
        let (dir, name) = self.looked_at(&fd, flags, path).await?;
        let stat = self.inner.stat_at(Resource::new_borrow(dir.rep()), PathFlags::empty(), name).await;
        self.inner.table.delete(dir)?;
        stat
    }

    async fn metadata_hash_at(&mut self, fd: Fd, flags: PathFlags, path: String) -> FsResult<MetadataHashValue> {
        let (dir, name) = self.looked_at(&fd, flags, path).await?;
        let hash = self.inner.metadata_hash_at(Resource::new_borrow(dir.rep()), PathFlags::empty(), name).await;
        self.inner.table.delete(dir)?;
        hash
    }

    async fn set_times_at(
        &mut self,
        fd: Fd,
        flags: PathFlags,
        path: String,
        access: NewTimestamp,
        modification: NewTimestamp,
    ) -> FsResult<()> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        let times = [time(access)?, time(modification)?];
        self.at(&fd, move |guard, dir| operate::set_times(guard, dir, &path, follow, times)).await
    }

    async fn set_times(&mut self, fd: Fd, access: NewTimestamp, modification: NewTimestamp) -> FsResult<()> {
        if let Descriptor::Dir(_) = self.descriptor(&fd)? {
            self.at(&fd, operate::may_set_times).await?;
        }
        self.inner.set_times(fd, access, modification).await
    }

    async fn advise(&mut self, fd: Fd, offset: Filesize, len: Filesize, advice: Advice) -> FsResult<()> {
        self.inner.advise(fd, offset, len, advice).await
    }

    async fn sync_data(&mut self, fd: Fd) -> FsResult<()> {
        self.inner.sync_data(fd).await
    }

    async fn sync(&mut self, fd: Fd) -> FsResult<()> {
        self.inner.sync(fd).await
    }

    async fn get_flags(&mut self, fd: Fd) -> FsResult<DescriptorFlags> {
        self.inner.get_flags(fd).await
    }

    async fn get_type(&mut self, fd: Fd) -> FsResult<DescriptorType> {
        self.inner.get_type(fd).await
    }

    async fn set_size(&mut self, fd: Fd, size: Filesize) -> FsResult<()> {
        self.inner.set_size(fd, size).await
    }

    async fn read(&mut self, fd: Fd, len: Filesize, offset: Filesize) -> FsResult<(Vec<u8>, bool)> {
        self.inner.read(fd, len, offset).await
    }

    async fn write(&mut self, fd: Fd, content: Vec<u8>, offset: Filesize) -> FsResult<Filesize> {
        self.inner.write(fd, content, offset).await
    }

    async fn read_directory(&mut self, fd: Fd) -> FsResult<Resource<DirectoryEntryStream>> {
        self.inner.read_directory(fd).await
    }

    async fn stat(&mut self, fd: Fd) -> FsResult<DescriptorStat> {
        self.inner.stat(fd).await
    }

    async fn is_same_object(&mut self, one: Fd, other: Fd) -> wasmtime::Result<bool> {
        self.inner.is_same_object(one, other).await
    }

    async fn metadata_hash(&mut self, fd: Fd) -> FsResult<MetadataHashValue> {
        self.inner.metadata_hash(fd).await
    }

    fn read_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynInputStream>> {
        self.inner.read_via_stream(fd, offset)
    }

    fn write_via_stream(&mut self, fd: Fd, offset: Filesize) -> FsResult<Resource<DynOutputStream>> {
        self.inner.write_via_stream(fd, offset)
    }

    fn append_via_stream(&mut self, fd: Fd) -> FsResult<Resource<DynOutputStream>> {
        self.inner.append_via_stream(fd)
    }

    fn drop(&mut self, fd: Fd) -> wasmtime::Result<()> {
        HostDescriptor::drop(&mut self.inner, fd)
    }
}

impl HostDirectoryEntryStream for View<'_> {
    async fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntryStream>,
    ) -> FsResult<Option<types::DirectoryEntry>> {
        self.inner.read_directory_entry(stream).await
    }

    fn drop(&mut self, stream: Resource<DirectoryEntryStream>) -> wasmtime::Result<()> {
        HostDirectoryEntryStream::drop(&mut self.inner, stream)
    }
}

fn time(time: NewTimestamp) -> FsResult<Time> {
    Ok(match time {
        NewTimestamp::NoChange => Time::Unchanged,
        NewTimestamp::Now => Time::Now,
        NewTimestamp::Timestamp(it) => {
            Time::at(i64::try_from(it.seconds).ok(), it.nanoseconds).ok_or(ErrorCode::Overflow)?
        }
    })
}
