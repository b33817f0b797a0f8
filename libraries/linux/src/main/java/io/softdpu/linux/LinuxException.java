package io.softdpu.linux;

import io.softdpu.linux.text.ForeignText;
import java.io.Serial;

/**
 * A system call failed. The message is {@code CALL failed: errno=N (NAME), key=value...}, where the
 * keys name the object of the call: a path, a descriptor, a size.
 */
public final class LinuxException extends RuntimeException {
    @Serial private static final long serialVersionUID = 1L;

    /** The libc function that failed. */
    private final String call;

    /** What it left in errno. */
    private final int errno;

    /**
     * Describes a failed call; for callers too that got an error number as a result and cannot go
     * on with it.
     *
     * @param call the libc function, such as {@code memfd_create}
     * @param errno the error number
     * @param object what it was called on, as {@code key=value, key=value}
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
     * Names the call that failed.
     *
     * @return the libc function, such as {@code memfd_create}
     */
    public String call() {
        return call;
    }

    /**
     * Tells why it failed.
     *
     * @return the error number, one of the constants of {@link Errno} or another of the kernel's
     */
    public int errno() {
        return errno;
    }
}
