package io.softdpu.block.file;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.linux.Errno;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.file.FileRefusedException;
import io.softdpu.linux.text.Reason;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Exceptions for files that cannot be opened or created as a volume. */
final class FileFailures {
    private FileFailures() {}

    /** The refusal of a file. */
    static DpuException refused(
            Status status, Path file, String reason, String expected, @Nullable Throwable cause) {
        return new DpuException(
                status,
                "file of a block device is refused: file="
                        + file
                        + ", reason="
                        + reason
                        + ", expected="
                        + expected,
                cause);
    }

    /** The refusal of a file for what its open has thrown. */
    static DpuException of(Path file, IOException e) {
        return switch (e) {
            case FileRefusedException refusal ->
                    refused(Status.INVALID_VALUE, file, refusal.reason(), refusal.expected(), e);
            case AccessDeniedException _ ->
                    refused(
                            Status.NOT_PERMITTED,
                            file,
                            "this user may not open it so",
                            "a file that can be read, and written unless readonly is given",
                            e);
            case NoSuchFileException _ ->
                    refused(
                            Status.NOT_FOUND,
                            file,
                            "it does not exist",
                            "a regular file or a block device, or the option create=SIZE",
                            e);
            default ->
                    refused(
                            e.getCause() instanceof LinuxException cause
                                    ? statusOf(cause.errno())
                                    : Status.IO_FAILED,
                            file,
                            Reason.of(e),
                            "a regular file or a block device that can be opened",
                            e);
        };
    }

    /** The failure of a system call about a file. */
    static DpuException of(Path file, String doing, LinuxException e) {
        return new DpuException(
                statusOf(e.errno()),
                "file of a block device has failed: file="
                        + file
                        + ", doing="
                        + doing
                        + ", failure="
                        + Reason.of(e),
                e);
    }

    private static Status statusOf(int errno) {
        return switch (errno) {
            case Errno.ENOSPC, Errno.EDQUOT, Errno.EFBIG -> Status.FULL;
            case Errno.EROFS, Errno.EPERM, Errno.EACCES -> Status.NOT_PERMITTED;
            case Errno.ENOENT -> Status.NOT_FOUND;
            case Errno.EBUSY -> Status.IN_USE;
            case Errno.EMFILE, Errno.ENFILE, Errno.ENOMEM -> Status.NO_MEMORY;
            default -> Status.IO_FAILED;
        };
    }
}
