package io.softdpu.linux;

import io.softdpu.linux.text.ForeignText;
import java.io.Serial;

/**
 * Failure of a system call. The message is {@code CALL failed: errno=N (NAME), key=value...}, where
 * the keys name the object of the call: a path, a descriptor, a size.
 */
public final class LinuxException extends RuntimeException {
    @Serial private static final long serialVersionUID = 1L;

    /** The libc function that failed. */
    private final String call;

    /** Its errno. */
    private final int errno;

    /**
     * Describes a failed call; also for callers that got an error number as a result.
     *
     * @param call the libc function, such as {@code memfd_create}
     * @param errno the error number
     * @param object object of the call, as {@code key=value, key=value}
     */
    public LinuxException(String call, int errno, String object) {
        super(
                call
                        + " failed: errno="
                        + errno
                        + " ("
                        + Errno.name(errno)
                        + "), "
                        + ForeignText.escape(object));
        this.call = call;
        this.errno = errno;
    }

    /**
     * The call that failed.
     *
     * @return the libc function, such as {@code memfd_create}
     */
    public String call() {
        return call;
    }

    /**
     * The error number.
     *
     * @return the error number, one of the constants of {@link Errno} or another of the kernel's
     */
    public int errno() {
        return errno;
    }
}
