package io.softdpu.testkit;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Map;

/**
 * System calls that the product never makes: those of an attacker, or of a test of the defence. A
 * call that fails throws {@link Failed}. Any thread.
 */
public final class SystemCalls {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
    private static final VarHandle LAST =
            Linker.Option.captureStateLayout()
                    .varHandle(MemoryLayout.PathElement.groupElement("errno"));

    private static final MethodHandle DUP = bind("dup", INT, INT);
    private static final MethodHandle CLOSE = bind("close", INT, INT);
    private static final MethodHandle PWRITE = bind("pwrite", LONG, INT, LONG, LONG, LONG);
    private static final MethodHandle FALLOCATE = bind("fallocate", INT, INT, INT, LONG, LONG);
    private static final MethodHandle MPROTECT = bind("mprotect", INT, LONG, LONG, INT);
    private static final MethodHandle MEMFD_CREATE =
            bind("memfd_create", INT, ValueLayout.ADDRESS, INT);

    private static final int EPERM = 1;
    private static final int EACCES = 13;
    private static final int EINVAL = 22;
    private static final int ENOSYS = 38;
    private static final int OWNER_ONLY = 0600;
    private static final int S_IFCHR = 0020000;
    private static final int FALLOC_FL_KEEP_SIZE = 1;
    private static final int FALLOC_FL_PUNCH_HOLE = 2;
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_HUGETLB = 4;
    private static final int MFD_NOEXEC_SEAL = 8;

    private static final int PR_SET_SECCOMP = 22;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final long SECCOMP_MODE_FILTER = 2;
    private static final int SECCOMP_RET_ERRNO = 0x5_0000;
    private static final int SECCOMP_RET_ALLOW = 0x7fff_0000;

    /** The first word of a sock_filter: loads the number of the system call. */
    private static final int BPF_LOAD_NUMBER = 0x20;

    /** Skips one instruction unless the number is the second word. */
    private static final int BPF_JUMP_UNLESS_EQUAL = 0x15 | 1 << 24;

    /** Ends with the second word. */
    private static final int BPF_RETURN = 0x06;

    /** Those that tests wait for; the same on every architecture. */
    private static final Map<Integer, String> NAMES =
            Map.of(
                    1,
                    "EPERM",
                    9,
                    "EBADF",
                    13,
                    "EACCES",
                    EINVAL,
                    "EINVAL",
                    27,
                    "EFBIG",
                    28,
                    "ENOSPC",
                    ENOSYS,
                    "ENOSYS",
                    95,
                    "EOPNOTSUPP");

    private SystemCalls() {}

    /** A call that the kernel refused; the message names call and errno. */
    public static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final int errno;

        private Failed(String call, int errno) {
            super(call + " failed: errno=" + errno + " (" + NAMES.getOrDefault(errno, "?") + ")");
            this.errno = errno;
        }

        /** Whether the system or a sandbox does not let this process make the call. */
        public boolean isForbidden() {
            return errno == EPERM || errno == EACCES || errno == ENOSYS;
        }
    }

    @FunctionalInterface
    interface Call {
        long make(MemorySegment state) throws Throwable;
    }

    /** Makes a second descriptor of the same open file, the caller's to close. */
    public static int duplicate(int fd) {
        return (int) checked("dup", state -> (int) DUP.invokeExact(state, fd));
    }

    /** Closes a descriptor that {@link #duplicate} made. */
    public static void close(int fd) {
        checked("close", state -> (int) CLOSE.invokeExact(state, fd));
    }

    /** Writes bytes at a bare address to a file; returns how many. */
    public static long pwrite(int fd, long address, long sizeBytes, long offsetBytes) {
        return checked(
                "pwrite",
                state -> (long) PWRITE.invokeExact(state, fd, address, sizeBytes, offsetBytes));
    }

    /** Gives the blocks of a range back; the size stays, and what is read there is zero. */
    public static void punchHole(int fd, long offsetBytes, long sizeBytes) {
        checked(
                "fallocate",
                state ->
                        (int)
                                FALLOCATE.invokeExact(
                                        state,
                                        fd,
                                        FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                        offsetBytes,
                                        sizeBytes));
    }

    /** Changes whether mapped memory may be written. */
    public static void protect(long address, long sizeBytes, boolean writable) {
        int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
        checked(
                "mprotect",
                state -> (int) MPROTECT.invokeExact(state, address, sizeBytes, protection));
    }

    /** Creates an empty memfd on huge pages, which may be sealed; the caller's to close. */
    public static int createHugetlb(String name) {
        int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment text = arena.allocateFrom(name);
            int fd = (int) MEMFD_CREATE.invokeExact(state, text, flags | MFD_NOEXEC_SEAL);
            if (fd < 0 && errno(state) == EINVAL) { // before Linux 6.3
                fd = (int) MEMFD_CREATE.invokeExact(state, text, flags);
            }
            if (fd < 0) {
                throw new Failed("memfd_create", errno(state));
            }
            return fd;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Makes a pipe with a name, which only its owner may read and write. */
    public static void createPipe(Path path) {
        MethodHandle mkfifo = bind("mkfifo", INT, ValueLayout.ADDRESS, INT);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path.toString());
            checked("mkfifo", state -> (int) mkfifo.invokeExact(state, name, OWNER_ONLY));
        }
    }

    /**
     * Makes a character device, which only root may do.
     *
     * @param major number of the driver, up to 255
     * @param minor number of the device, up to 255
     */
    public static void createCharacterDevice(Path path, int major, int minor) {
        if (Linker.nativeLinker().defaultLookup().find("mknod").isEmpty()) {
            throw new Failed("mknod", ENOSYS); // glibc before 2.33 has it in its headers alone
        }
        MethodHandle mknod = bind("mknod", INT, ValueLayout.ADDRESS, INT, LONG);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(path.toString());
            checked(
                    "mknod",
                    state ->
                            (int)
                                    mknod.invokeExact(
                                            state,
                                            name,
                                            S_IFCHR | OWNER_ONLY,
                                            (long) (major << 8 | minor)));
        }
    }

    /**
     * Forbids this thread, and what it starts, one system call from now on, by a seccomp filter. A
     * thread that has called this ends with its test.
     *
     * @param number of the system call, one that is the same on every architecture
     * @param errno what the call fails with
     */
    public static void forbid(int number, int errno) {
        int[] program = {
            BPF_LOAD_NUMBER,
            0,
            BPF_JUMP_UNLESS_EQUAL,
            number,
            BPF_RETURN,
            SECCOMP_RET_ERRNO | errno,
            BPF_RETURN,
            SECCOMP_RET_ALLOW
        };
        MethodHandle prctl = bind("prctl", INT, INT, LONG, LONG, LONG, LONG);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment filter = arena.allocateFrom(INT, program);
            MemorySegment header = arena.allocate(2 * LONG.byteSize(), LONG.byteSize());
            header.set(ValueLayout.JAVA_SHORT, 0, (short) (program.length / 2));
            header.set(LONG, LONG.byteSize(), filter.address());
            checked(
                    "prctl(PR_SET_NO_NEW_PRIVS)",
                    state -> (int) prctl.invokeExact(state, PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L));
            checked(
                    "prctl(PR_SET_SECCOMP)",
                    state ->
                            (int)
                                    prctl.invokeExact(
                                            state,
                                            PR_SET_SECCOMP,
                                            SECCOMP_MODE_FILTER,
                                            header.address(),
                                            0L,
                                            0L));
        }
    }

    static long checked(String name, Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            long result = call.make(state);
            if (result < 0) {
                throw new Failed(name, errno(state));
            }
            return result;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static int errno(MemorySegment state) {
        return (int) LAST.get(state, 0L);
    }

    @SuppressWarnings("restricted") // tests run with native access
    static MethodHandle bind(String name, MemoryLayout result, MemoryLayout... arguments) {
        Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
                linker.defaultLookup().findOrThrow(name),
                FunctionDescriptor.of(result, arguments),
                ERRNO);
    }
}
