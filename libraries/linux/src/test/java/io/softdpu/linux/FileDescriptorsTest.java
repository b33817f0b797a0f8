package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.SystemCalls;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FileDescriptorsTest {
    @TempDir Path folder;

    private final OpenFiles files = new OpenFiles();

    @AfterEach
    void closeFiles() {
        files.close();
    }

    private int create(String name) {
        return files.own(
                FileDescriptors.open(
                        folder.resolve(name).toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT,
                        0600));
    }

    @Test
    void shouldOpenCloseOnExec() {
        OpenFiles.assertCloseOnExec(create("file"));
    }

    @Test
    void shouldDuplicateADescriptorThatOutlivesTheFirst() {
        int first = create("file");
        FileDescriptors.truncate(first, 7);

        int second = files.own(FileDescriptors.duplicate(first));

        assertThat(second).isNotEqualTo(first);
        OpenFiles.assertCloseOnExec(second);
        files.close(first);
        assertThat(FileDescriptors.status(second).sizeBytes()).isEqualTo(7);
        assertThatThrownBy(() -> FileDescriptors.duplicate(-1))
                .hasMessage("fcntl(F_DUPFD_CLOEXEC) failed: errno=9 (EBADF), fd=-1");
    }

    @Test
    void shouldMakeANonBlockingFileBlocking() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        int fd =
                files.own(
                        FileDescriptors.open(
                                file.toString(),
                                FileDescriptors.O_RDWR | FileDescriptors.O_NONBLOCK,
                                0));
        OpenFiles.assertNonBlocking(fd);
        int before = OpenFiles.flagsInProc(fd);

        FileDescriptors.setBlocking(fd);

        assertThat(OpenFiles.flagsInProc(fd)).isEqualTo(before & ~FileDescriptors.O_NONBLOCK);
        assertThatThrownBy(() -> FileDescriptors.setBlocking(-1))
                .hasMessage("fcntl(F_GETFL) failed: errno=9 (EBADF), fd=-1");
    }

    @Test
    void shouldTellTheAlignmentOfDirectAccess() {
        // A file system without any says 0 or nothing, and all say nothing before Linux 6.1.
        FileDescriptors.directAlignment(create("file"))
                .filter(FileDescriptors.DirectAlignment::isOffered)
                .ifPresent(alignment -> {
                    assertThat(Integer.bitCount(alignment.memoryBytes())).isOne();
                    assertThat(Integer.bitCount(alignment.offsetBytes())).isOne();
                    assertThat(alignment.offsetBytes()).isBetween(512, 1 << 20);
                });
        int memory = files.own(Memfd.create("test"));
        assertThat(FileDescriptors.directAlignment(memory)).isEmpty();
        assertThatThrownBy(() -> FileDescriptors.directAlignment(-1))
                .hasMessage("statx failed: errno=9 (EBADF), fd=-1");
    }

    @Test
    void shouldNameThePathThatCannotBeOpened() {
        String path = folder.resolve("missing").toString();

        assertThatThrownBy(() -> FileDescriptors.open(path, FileDescriptors.O_RDONLY, 0))
                .isInstanceOf(LinuxException.class)
                .hasMessage("open failed: errno=2 (ENOENT), path=" + path);
    }

    @Test
    void shouldCreateWithTheGivenPermissions() throws IOException {
        create("file");

        assertThat(Files.getPosixFilePermissions(folder.resolve("file")))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void shouldRefuseToCreateExclusivelyWhatExists() {
        create("file");

        assertThatThrownBy(() ->
                        FileDescriptors.open(
                                folder.resolve("file").toString(),
                                FileDescriptors.O_RDWR
                                        | FileDescriptors.O_CREAT
                                        | FileDescriptors.O_EXCL,
                                0600))
                .asInstanceOf(InstanceOfAssertFactories.type(LinuxException.class))
                .extracting(LinuxException::errno)
                .isEqualTo(Errno.EEXIST);
    }

    @Test
    void shouldOpenBelowAnOpenDirectory() throws IOException {
        Files.writeString(folder.resolve("below"), "12345");
        int directory =
                files.own(
                        FileDescriptors.open(
                                folder.toString(),
                                FileDescriptors.O_PATH | FileDescriptors.O_DIRECTORY,
                                0));

        int fd = files.own(FileDescriptors.openAt(directory, "below", 0, 0));

        assertThat(FileDescriptors.status(fd).sizeBytes()).isEqualTo(5);
        OpenFiles.assertCloseOnExec(fd);
        assertThatThrownBy(() -> FileDescriptors.openAt(directory, "missing", 0, 0))
                .isInstanceOf(LinuxException.class)
                .hasMessage(
                        "openat failed: errno=2 (ENOENT), directoryFd="
                                + directory
                                + ", path=missing");
    }

    @Test
    void shouldHonourTheFlagsThatDifferBetweenArchitectures() throws IOException {
        create("file");
        Files.createSymbolicLink(folder.resolve("link"), Path.of("file"));

        assertThatThrownBy(() ->
                        FileDescriptors.open(
                                folder.resolve("file").toString(), FileDescriptors.O_DIRECTORY, 0))
                .hasMessageContaining("ENOTDIR");
        assertThatThrownBy(() ->
                        FileDescriptors.open(
                                folder.resolve("link").toString(), FileDescriptors.O_NOFOLLOW, 0))
                .hasMessageContaining("ELOOP");
    }

    @Test
    void shouldTellWhatADescriptorStandsFor() throws IOException {
        int file = create("file");
        FileDescriptors.truncate(file, 1234);
        int directory = files.own(FileDescriptors.open(folder.toString(), 0, 0));

        FileStatus status = FileDescriptors.status(file);

        assertThat(status.isRegularFile()).isTrue();
        assertThat(status.typeName()).isEqualTo("regular file");
        assertThat(status.sizeBytes()).isEqualTo(1234);
        assertThat(status.uid()).isEqualTo(Identity.effectiveUid());
        assertThat(status.permissions()).isEqualTo(0600);
        assertThat(status.inode())
                .isEqualTo(Files.getAttribute(folder.resolve("file"), "unix:ino"));
        assertThat(status.mode())
                .isEqualTo(Files.getAttribute(folder.resolve("file"), "unix:mode"));
        assertThat(FileDescriptors.status(directory).typeName()).isEqualTo("directory");
        assertThat(FileDescriptors.status(files.pair()[0]).isRegularFile()).isFalse();
    }

    @Test
    void shouldTellWhetherTwoDescriptorsAreTheSameFile() {
        int first = create("first");
        FileStatus same =
                FileDescriptors.status(
                        files.own(FileDescriptors.open("/proc/self/fd/" + first, 0, 0)));

        assertThat(FileDescriptors.status(first).isSameFile(same)).isTrue();
        assertThat(FileDescriptors.status(create("second")).isSameFile(same)).isFalse();
    }

    @Test
    void shouldOpenTheSameFileOnceMoreWhateverHasItsName() throws IOException {
        int opened = create("file");
        Path file = folder.resolve("file");
        Files.delete(file);
        Files.writeString(file, "another");

        int again = files.own(FileDescriptors.reopen(opened, FileDescriptors.O_RDWR));

        assertThat(FileDescriptors.status(again)).isEqualTo(FileDescriptors.status(opened));
        // An open file of its own, which a duplicate is not.
        assertThat(OpenFileLocks.tryLockExclusive(opened, 0, 1)).isTrue();
        assertThat(OpenFileLocks.tryLockExclusive(again, 0, 1)).isFalse();
    }

    @Test
    void shouldTellTheFileSystemOfADescriptor() throws IOException {
        int proc = files.own(FileDescriptors.open("/proc/self/status", 0, 0));
        int memory = files.own(Memfd.create("test"));

        assertThat(FileDescriptors.fileSystemType(proc)).isEqualTo(0x9fa0);
        assertThat(FileDescriptors.fileSystemType(memory)).isEqualTo(FileDescriptors.TMPFS_MAGIC);
    }

    @Test
    void shouldNameTheDescriptorThatIsNotOpen() {
        int fd = Integer.MAX_VALUE;

        assertThatThrownBy(() -> FileDescriptors.close(fd))
                .hasMessage("close failed: errno=9 (EBADF), fd=" + fd);
        assertThatThrownBy(() -> FileDescriptors.status(fd))
                .hasMessage("statx failed: errno=9 (EBADF), fd=" + fd);
        assertThatThrownBy(() -> FileDescriptors.fileSystemType(fd))
                .hasMessage("fstatfs failed: errno=9 (EBADF), fd=" + fd);
        assertThatThrownBy(() -> FileDescriptors.truncate(fd, 10))
                .hasMessage("ftruncate failed: errno=9 (EBADF), fd=" + fd + ", sizeBytes=10");
        assertThatThrownBy(() -> FileDescriptors.tryLockShared(fd))
                .hasMessage("flock(LOCK_SH) failed: errno=9 (EBADF), fd=" + fd);
    }

    @Test
    void shouldRefuseALengthBelowZero() {
        assertThatThrownBy(() -> FileDescriptors.truncate(create("file"), -1))
                .hasMessageContaining("EINVAL");
    }

    @Test
    void shouldHoldALockAgainstAnotherOpenFile() {
        int first = create("lock");
        int second = create("lock");

        assertThat(FileDescriptors.tryLockExclusive(first)).isTrue();
        assertThat(FileDescriptors.tryLockExclusive(second)).isFalse();
        assertThat(FileDescriptors.tryLockShared(second)).isFalse();
        files.close(first);
        assertThat(FileDescriptors.tryLockExclusive(second)).isTrue();
    }

    @Test
    void shouldShareALockAmongReaders() {
        int first = create("lock");
        int second = create("lock");

        assertThat(FileDescriptors.tryLockShared(first)).isTrue();
        assertThat(FileDescriptors.tryLockShared(second)).isTrue();
        assertThat(FileDescriptors.tryLockExclusive(second)).isFalse();
        files.close(first);
        assertThat(FileDescriptors.tryLockExclusive(second)).isTrue();
    }

    @Test
    void shouldKeepALockUntilTheLastDescriptorOfItsOpenFileIsClosed() {
        int first = create("lock");
        int copy = files.own(SystemCalls.duplicate(first));
        int other = create("lock");
        assertThat(FileDescriptors.tryLockExclusive(first)).isTrue();

        files.close(first);

        assertThat(FileDescriptors.tryLockExclusive(other)).isFalse();
        files.close(copy);
        assertThat(FileDescriptors.tryLockExclusive(other)).isTrue();
    }
}
