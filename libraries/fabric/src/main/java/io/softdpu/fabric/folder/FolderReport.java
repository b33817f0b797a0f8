package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileIo;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.CheckedFile;
import io.softdpu.linux.file.FilePolicy;
import io.softdpu.linux.text.ForeignText;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Report on a fabric folder: who may use it, what dead processes have left in it, and whether a
 * file can be made in it, which is deleted again. Nothing else is created, and nothing is removed
 * unless it is asked for.
 *
 * <p>Any thread.
 *
 * @param path of the folder
 * @param exists false for a folder that the next process creates
 * @param uid owner, 0 if it does not exist
 * @param mode permissions, 0 if it does not exist
 * @param problem the reason for which a process would refuse it; null if there is none
 * @param leftovers files of names that no living process serves
 */
public record FolderReport(
        Path path,
        boolean exists,
        int uid,
        int mode,
        @Nullable String problem,
        List<String> leftovers) {
    private static final int TRIED_BYTES = 16 << 10;

    /** Takes a copy. */
    public FolderReport {
        leftovers = List.copyOf(leftovers);
    }

    /**
     * Examines the folder of the environment.
     *
     * @param remove also removes the leftovers
     * @throws FabricException MALFORMED if {@code SOFTDPU_FABRIC} is not an absolute path
     */
    public static FolderReport ofEnvironment(boolean remove) {
        return of(FabricPath.of(null), remove);
    }

    /**
     * Whether a process that joins and leaves the folder leaves it as it is: it has a topology
     * file, which each first process replaces, and no leftovers, which each process removes.
     *
     * @param removed whether the leftovers of the report were removed
     */
    public boolean isUnchangedByJoining(boolean removed) {
        return exists
                && problem == null
                && (removed || leftovers.isEmpty())
                && Files.exists(path.resolve(FolderEntries.TOPOLOGY_FILE));
    }

    static FolderReport of(FabricPath folder, boolean remove) {
        Path path = folder.path();
        if (!Files.exists(path) && !Files.isSymbolicLink(path)) {
            return new FolderReport(path, false, 0, 0, missing(path), List.of());
        }
        int directory = -1;
        FileStatus status = null;
        try {
            directory =
                    FileDescriptors.open(
                            path.toString(),
                            FileDescriptors.O_RDONLY
                                    | FileDescriptors.O_DIRECTORY
                                    | (folder.isChosen() ? 0 : FileDescriptors.O_NOFOLLOW),
                            0);
            status = FileDescriptors.status(directory);
            FabricFolder.requirePrivate(path, status);
            FabricFolder.requireOwnFilesOnly(path, directory);
            List<String> left = new NameLocks(path, directory).leftovers(remove);
            tryFile(path, directory);
            return report(path, status, null, left);
        } catch (FabricException | LinuxException | UncheckedIOException e) {
            return report(path, status, Reason.of(e), List.of());
        } finally {
            if (directory >= 0) {
                FileDescriptors.close(directory);
            }
        }
    }

    /**
     * Makes a file with content, locks and deletes it, as a process does that serves a name; under
     * the name of such a lock, so that it is removed as a leftover if this process is killed.
     */
    private static void tryFile(Path folder, int directory) {
        String hash = UUID.randomUUID().toString().replace("-", "").substring(0, 16);
        String name = hash + NameLocks.LOCK_SUFFIX;
        int file = create(folder, directory, name);
        try (Arena arena = Arena.ofConfined()) {
            // False while a process that looks for leftovers has it.
            boolean _ = FileDescriptors.tryLockExclusive(file);
            MemorySegment content = arena.allocate(TRIED_BYTES);
            for (long written = 0; written < TRIED_BYTES; ) {
                written += FileIo.write(file, content.asSlice(written), written);
            }
        } finally {
            delete(folder.resolve(name));
            FileDescriptors.close(file);
        }
    }

    private static int create(Path folder, int directory, String name) {
        int flags = FileDescriptors.O_RDWR | FileDescriptors.O_CREAT;
        try {
            return CheckedFile.openDescriptorAt(
                    directory, name, folder.resolve(name), FilePolicy.SHARED_FOLDER, flags);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static FolderReport report(
            Path path, @Nullable FileStatus status, @Nullable String problem, List<String> left) {
        return new FolderReport(
                path,
                true,
                status == null ? 0 : status.uid(),
                status == null ? 0 : status.permissions(),
                problem == null ? null : ForeignText.escape(problem),
                left);
    }

    /** The first folder above it that exists decides whether it can be created. */
    private static @Nullable String missing(Path path) {
        Path above = path.toAbsolutePath().getParent();
        while (above != null && !Files.exists(above)) {
            above = above.getParent();
        }
        return above != null && Files.isDirectory(above) && Files.isWritable(above)
                ? null
                : "fabric folder cannot be created: path="
                        + path
                        + ", in="
                        + above
                        + ", expected=a folder that this user may write to";
    }
}
