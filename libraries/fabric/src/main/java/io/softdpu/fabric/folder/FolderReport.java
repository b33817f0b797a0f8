package io.softdpu.fabric.folder;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.FileStatus;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.text.ForeignText;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Report on a fabric folder: who may use it, and what dead processes have left in it. Nothing is
 * created, and nothing is removed unless it is asked for.
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
            return report(path, status, null, new NameLocks(path, directory).leftovers(remove));
        } catch (FabricException | LinuxException | UncheckedIOException e) {
            return report(path, status, String.valueOf(e.getMessage()), List.of());
        } finally {
            if (directory >= 0) {
                FileDescriptors.close(directory);
            }
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
