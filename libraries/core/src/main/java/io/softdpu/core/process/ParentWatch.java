package io.softdpu.core.process;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Watch that ends this process with its parent, by whatever that ends, without any work of the
 * program: a daemon thread waits for the lock of the parent's {@link SharedFolder}. The wait has no
 * limit, since it lasts as long as the parent. A process that is stopped (SIGSTOP) ends when it
 * continues. Any thread.
 */
public final class ParentWatch implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ParentWatch.class.getName());
    private static final int ENDED_WITH_PARENT = 1;

    private final Path root;

    /** Never closed: the thread waits for its lock until the process ends. */
    private final CheckedFile lock;

    private ParentWatch(Path root, CheckedFile lock) {
        this.root = root;
        this.lock = lock;
    }

    /**
     * Starts the watch; once per process, which ends soon after it has closed the watch. At the end
     * of the parent this process is halted with exit code 1, processes that it has started are
     * killed, and the last child removes the folder.
     *
     * @param root the folder that the parent made
     * @throws DpuException CONNECTION_ABORTED if the parent has ended; OPERATING_SYSTEM if the lock
     *     cannot be watched
     */
    public static ParentWatch start(Path root) {
        CheckedFile lock = open(root);
        ParentWatch watch = new ParentWatch(root, lock);
        boolean watched = false;
        try {
            if (watch.removeIfParentHasEnded()) {
                throw ended(root, null);
            }
            Thread.ofPlatform()
                    .daemon()
                    .name("softdpu-end-with-parent")
                    .start(watch::endWithParent);
            watched = true;
            return watch;
        } catch (IOException | LinuxException e) {
            throw refused(root, e);
        } finally {
            if (!watched) {
                lock.close();
            }
        }
    }

    private static CheckedFile open(Path root) {
        try {
            return SharedFolder.openLockFile(root);
        } catch (NoSuchFileException e) {
            throw ended(root, e);
        } catch (IOException e) {
            throw refused(root, e);
        }
    }

    private void endWithParent() {
        try {
            FileDescriptors.lockShared(lock.descriptor());
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
            removeIfParentHasEnded();
        } catch (IOException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "folder is left: folder=" + root, e);
        } finally {
            Runtime.getRuntime().halt(ENDED_WITH_PARENT);
        }
    }

    /**
     * Whether the parent has ended; then removes the folder, if no other child has noticed and runs
     * still. Of two that try at once, one succeeds: a shared lock is released before the attempt.
     */
    private synchronized boolean removeIfParentHasEnded() throws IOException {
        if (!FileDescriptors.tryLockShared(lock.descriptor())) {
            return false;
        }
        if (FileDescriptors.tryLockExclusive(lock.descriptor())) {
            FolderTree.remove(root, SharedFolder.lockFileOf(root));
        }
        return true;
    }

    /**
     * Ends the work of this process. A program that has noticed the end of its parent by itself, as
     * by its standard input, may be faster than the watch: then the folder is removed here.
     *
     * @throws DpuException OPERATING_SYSTEM if that fails
     */
    @Override
    public void close() {
        try {
            removeIfParentHasEnded();
        } catch (IOException | LinuxException e) {
            throw refused(root, e);
        }
    }

    private static DpuException refused(Path root, Exception cause) {
        return new DpuException(
                Status.OPERATING_SYSTEM,
                "parent's folder cannot be watched: folder="
                        + root
                        + ", reason="
                        + Reason.of(cause),
                cause);
    }

    private static DpuException ended(Path root, @Nullable IOException cause) {
        return new DpuException(
                Status.CONNECTION_ABORTED,
                "parent process has ended: folder=" + root + ", expected=a folder in use",
                cause);
    }
}
