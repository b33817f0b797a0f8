package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Lock files of the names that are served in a fabric folder. A process holds the exclusive lock of
 * each name that it serves; the lock of a process that was killed is free, and the process that
 * finds it so removes the remaining files.
 *
 * <p>A process that only examines a name takes its lock shared, so that it is not taken for one
 * that serves the name. One that removes files also holds the lock of the folder itself, since with
 * shared locks two could remove the files of a name at the same time, and the second those of a
 * process that has served it since.
 *
 * <p>Any thread. An operation waits up to one time limit, whatever the number of files; without
 * {@linkplain io.softdpu.fabric.engine.WaitPermission permission} it does not wait.
 */
final class NameLocks {
    private static final System.Logger LOG = System.getLogger(NameLocks.class.getName());
    static final String SOCKET_SUFFIX = ".sock";
    static final String LOCK_SUFFIX = ".lock";

    private static final Pattern OWN_LOCK = Pattern.compile("[0-9a-f]{16}\\.lock");
    private static final int STALE_SCAN_LIMIT = 4096;
    private static final int SERVED_LIMIT = 8;
    private static final int MAX_NAME_BYTES = 1024;

    /**
     * Time limit for locks. The folder's is held for milliseconds, a name's by a process that
     * examines it for microseconds, but either process may be stopped meanwhile.
     */
    private static final long LOCK_NANOS = 1_000_000_000L;

    /** A name is served by a living process. */
    private static final int SERVED = -1;

    /** The lock file of a name is examined or was replaced: the claim is to be repeated. */
    private static final int EXAMINED = -2;

    private final Path path;
    private final int directory;
    private final long lockNanos;

    /**
     * Names the folder.
     *
     * @param directory its descriptor, which stays the caller's
     */
    NameLocks(Path path, int directory) {
        this(path, directory, LOCK_NANOS);
    }

    /** The same with another time limit for locks, for tests. */
    NameLocks(Path path, int directory, long lockNanos) {
        this.path = path;
        this.directory = directory;
        this.lockNanos = lockNanos;
    }

    /**
     * Locks a name and removes the socket that a dead process has left.
     *
     * @param hash of the name
     * @param name written into the lock file, for {@link #servedNames}
     * @return the descriptor that holds the lock while it is open, or -1 if a living process has it
     * @throws FabricException TIMED_OUT if another process examines the name all the time
     */
    int claim(String hash, String name) {
        int[] claimed = {EXAMINED};
        FolderWait wait = FolderWait.until(FolderWait.deadlineIn(lockNanos));
        boolean known =
                wait.attempt(() -> {
                    claimed[0] = tryClaim(hash, name);
                    return claimed[0] != EXAMINED;
                });
        if (!known) {
            throw wait.failure(
                    "name cannot be locked, since other processes examine it",
                    path.resolve(hash + LOCK_SUFFIX));
        }
        return claimed[0];
    }

    /** Claims a name if that is possible at once: as {@link #claim}, or {@link #EXAMINED}. */
    private int tryClaim(String hash, String name) {
        String lockName = hash + LOCK_SUFFIX;
        int lock = openOrCreate(lockName);
        boolean taken = false;
        try {
            if (!FileDescriptors.tryLockExclusive(lock)) {
                return FileDescriptors.tryLockShared(lock) ? EXAMINED : SERVED;
            }
            // The file may have been unlinked between our open and our lock: then the lock is on
            // one that no other process finds, and the name must be locked again.
            if (!isFileOf(lock, lockName)) {
                return EXAMINED;
            }
            delete(hash + SOCKET_SUFFIX);
            write(lock, name);
            taken = true;
            return lock;
        } finally {
            if (!taken) {
                FileDescriptors.close(lock);
            }
        }
    }

    /**
     * Names with a prefix that processes serve now. A process that serves a name may have written
     * another one into its lock file: only one that has the hash of the file counts.
     *
     * @return a few at most, in the order of the alphabet
     */
    List<String> servedNames(String prefix) {
        List<String> served = new ArrayList<>();
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(path, "*" + LOCK_SUFFIX)) {
            int looked = 0;
            for (Path lock : locks) {
                if (++looked > STALE_SCAN_LIMIT || served.size() == SERVED_LIMIT) {
                    break;
                }
                String lockName = lock.getFileName().toString();
                if (OWN_LOCK.matcher(lockName).matches()) {
                    String name = servedBy(lockName);
                    if (!name.isEmpty() && name.startsWith(prefix)) {
                        served.add(name);
                    }
                }
            }
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        served.sort(null);
        return served;
    }

    /** The name in a lock file whose lock is held; empty without one. */
    private String servedBy(String lockName) {
        int lock = openExisting(lockName);
        if (lock < 0) {
            return "";
        }
        try {
            if (FileDescriptors.tryLockShared(lock)) {
                return ""; // a dead process's
            }
            String name = read(lock);
            return lockName.equals(FabricFolder.hash(name) + LOCK_SUFFIX) ? name : "";
        } finally {
            FileDescriptors.close(lock);
        }
    }

    /**
     * Writes a name for the messages of others: without space on the disk it is served all the
     * same.
     */
    private static void write(int lock, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            FileDescriptors.truncate(lock, 0);
            if (bytes.length <= MAX_NAME_BYTES) {
                MemorySegment text = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
                long _ = FileIo.write(lock, text, 0); // of a part the hash differs
            }
        } catch (LinuxException e) {
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "name is not listed as served: name=" + ForeignText.escape(name),
                    e);
        }
    }

    private static String read(int lock) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(MAX_NAME_BYTES);
            long length = FileIo.read(lock, text, 0);
            byte[] bytes = text.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    /** Releases a name: deletes socket and lock file, then unlocks it. */
    void release(String hash, int lock) {
        try {
            delete(hash + SOCKET_SUFFIX);
            delete(hash + LOCK_SUFFIX);
        } finally {
            FileDescriptors.close(lock);
        }
    }

    /**
     * Removes sockets that killed processes have left under random names, which no other code would
     * remove. While another process holds the lock of the folder they stay, and a warning names it.
     *
     * @param deadlineNanos of the wait for the lock, in nanoTime
     */
    void sweep(long deadlineNanos) {
        try {
            List<String> _ = removeLeftovers(deadlineNanos);
        } catch (FabricException e) {
            if (e.kind() != FabricException.Kind.TIMED_OUT) {
                throw e;
            }
            LOG.log(
                    System.Logger.Level.WARNING,
                    "files of dead processes are not removed: " + Reason.of(e));
        }
    }

    /**
     * Lock files that killed processes have left.
     *
     * @param remove also removes them and their sockets
     * @throws FabricException TIMED_OUT if they are to be removed and another process keeps the
     *     lock of the folder; nothing was removed then
     */
    List<String> leftovers(boolean remove) {
        return remove ? removeLeftovers(FolderWait.deadlineIn(lockNanos)) : findLeftovers(false);
    }

    private List<String> removeLeftovers(long deadlineNanos) {
        int folder = lockFolder(deadlineNanos);
        try {
            return findLeftovers(true);
        } finally {
            FileDescriptors.close(folder);
        }
    }

    private List<String> findLeftovers(boolean remove) {
        List<String> left = new ArrayList<>();
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(path, "*" + LOCK_SUFFIX)) {
            int looked = 0;
            for (Path lock : locks) {
                if (++looked > STALE_SCAN_LIMIT) {
                    break;
                }
                String lockName = lock.getFileName().toString();
                // not of another program: yarn.lock
                if (OWN_LOCK.matcher(lockName).matches() && isLeftover(lockName, remove)) {
                    left.add(lockName);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return left;
    }

    private boolean isLeftover(String lockName, boolean remove) {
        int lock = openExisting(lockName);
        if (lock < 0) {
            return false;
        }
        try {
            if (!FileDescriptors.tryLockShared(lock) || !isFileOf(lock, lockName)) {
                return false;
            }
            if (remove) {
                String hash = lockName.substring(0, lockName.length() - LOCK_SUFFIX.length());
                delete(hash + SOCKET_SUFFIX);
                delete(lockName);
            }
            return true;
        } finally {
            FileDescriptors.close(lock);
        }
    }

    /**
     * Locks the folder.
     *
     * @return a descriptor of its own, whose close unlocks it: threads of one process exclude each
     *     other, too
     * @throws FabricException TIMED_OUT if another process keeps it
     */
    int lockFolder(long deadlineNanos) {
        int folder =
                FileDescriptors.openAt(
                        directory, ".", FileDescriptors.O_RDONLY | FileDescriptors.O_DIRECTORY, 0);
        boolean locked = false;
        try {
            FolderWait wait = FolderWait.until(deadlineNanos);
            locked = wait.attempt(() -> FileDescriptors.tryLockExclusive(folder));
            if (!locked) {
                throw wait.failure("lock of the fabric folder is held by another process", path);
            }
            return folder;
        } finally {
            if (!locked) {
                FileDescriptors.close(folder);
            }
        }
    }

    private int openOrCreate(String lockName) {
        try {
            return open(lockName, FileDescriptors.O_RDWR | FileDescriptors.O_CREAT);
        } catch (FileRefusedException e) {
            throw FabricFolder.unusable(e);
        }
    }

    private int openExisting(String name) {
        try {
            return open(name, FileDescriptors.O_RDWR);
        } catch (FileRefusedException e) {
            return -1; // not ours
        } catch (LinuxException e) {
            if (e.errno() != Errno.EMFILE
                    && e.errno() != Errno.ENFILE
                    && e.errno() != Errno.ENOMEM) {
                return -1; // deleted meanwhile, or not ours: nothing to sweep
            }
            throw e; // says nothing about the file; a retry would never end
        }
    }

    private int open(String name, int flags) throws FileRefusedException {
        return CheckedFile.openDescriptorAt(
                directory, name, path.resolve(name), FilePolicy.SHARED_FOLDER, flags);
    }

    private boolean isFileOf(int descriptor, String name) {
        int found = openExisting(name);
        if (found < 0) {
            return false;
        }
        try {
            return FileDescriptors.status(descriptor).isSameFile(FileDescriptors.status(found));
        } finally {
            FileDescriptors.close(found);
        }
    }

    private void delete(String name) {
        try {
            Files.deleteIfExists(path.resolve(name));
        } catch (IOException e) {
            throw new FabricException(
                    FabricException.Kind.SYSTEM,
                    "fabric folder cannot be cleaned: file="
                            + path.resolve(name)
                            + ", cause="
                            + Reason.of(e),
                    e);
        }
    }
}
