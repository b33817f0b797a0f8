package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Extended attributes of open files (fgetxattr, fsetxattr): small values by name, kept with the
 * file. Any thread.
 */
public final class ExtendedAttributes {
    /** Limit of Linux for a value. */
    public static final int MAX_BYTES = 1 << 16;

    private static final MethodHandle FGETXATTR =
            Libc.bind("fgetxattr", LONG, INT, POINTER, POINTER, LONG);
    private static final MethodHandle FSETXATTR =
            Libc.bind("fsetxattr", INT, INT, POINTER, POINTER, LONG, INT);

    private ExtendedAttributes() {}

    /**
     * Reads an attribute.
     *
     * @param fd a descriptor open for reading or writing
     * @param name with its namespace, such as {@code user.name}
     * @return its value; empty if the file has none of that name
     * @throws LinuxException EOPNOTSUPP if the file system has no such attributes
     */
    public static Optional<byte[]> get(int fd, String name) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            long nameAddress = arena.allocateFrom(name).address();
            MemorySegment value = arena.allocate(MAX_BYTES);
            long size =
                    (long)
                            FGETXATTR.invokeExact(
                                    state.errno,
                                    fd,
                                    nameAddress,
                                    value.address(),
                                    (long) MAX_BYTES);
            if (size >= 0) {
                return Optional.of(value.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE));
            }
            if (state.lastErrno() == Errno.ENODATA) {
                return Optional.empty();
            }
            throw new LinuxException("fgetxattr", state.lastErrno(), "fd=" + fd + ", name=" + name);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    /**
     * Writes an attribute, in place of one of that name. It is durable after {@link FileIo#sync}.
     *
     * @param fd a descriptor open for reading or writing
     * @param name with its namespace, such as {@code user.name}
     * @param value at most {@link #MAX_BYTES}, and what the file system has room for
     * @throws LinuxException EOPNOTSUPP if the file system has no such attributes; ENOSPC or E2BIG
     *     if there is no room
     */
    public static void set(int fd, String name, byte[] value) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            long nameAddress = arena.allocateFrom(name).address();
            long valueAddress = arena.allocateFrom(ValueLayout.JAVA_BYTE, value).address();
            int result =
                    (int)
                            FSETXATTR.invokeExact(
                                    state.errno,
                                    fd,
                                    nameAddress,
                                    valueAddress,
                                    (long) value.length,
                                    0);
            if (result != 0) {
                throw new LinuxException(
                        "fsetxattr",
                        state.lastErrno(),
                        "fd=" + fd + ", name=" + name + ", sizeBytes=" + value.length);
            }
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
