package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;

import io.softdpu.linux.text.Reason;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Ring of io_uring: asynchronous requests to files. A request is filled in memory that is shared
 * with the kernel; {@link #submit} passes all filled ones on by one system call; {@link #next}
 * takes completions from memory, without one. The descriptor ({@link #fd}) is readable while there
 * are completions, so {@link Epoll} can wait for them. Requests have no order: one that relies on
 * another is filled when that has completed.
 *
 * <p>One thread at a time; another may take over after a hand-over that orders memory. The kernel
 * cancels requests of a thread that has ended, at once or when they could go on, with the result
 * -ECANCELED; so a thread that has submitted ends after its requests. The descriptors and the
 * memory of a request stay open and allocated until its completion was taken: the kernel accesses
 * the memory until then, whatever has become of it.
 *
 * <p>There is no thread of the kernel that polls, so an idle ring costs nothing; and a completion
 * appears while its thread runs, sleeps or waits, without a system call of it.
 *
 * <p>Filling, submitting and taking allocate nothing where they succeed.
 */
public final class Uring implements AutoCloseable {
    /** Limit of requests that one {@link #submit} passes on. */
    public static final int MAX_ENTRIES = 1 << 15;

    /** Limit of requests that are pending at a time. */
    public static final int MAX_PENDING = 1 << 16;

    private static final int SETUP_CQSIZE = 1 << 3;
    private static final int FEAT_SINGLE_MMAP = 1;
    private static final int FEAT_NODROP = 1 << 1;
    private static final int FEATURES = FEAT_SINGLE_MMAP | FEAT_NODROP;
    private static final int SQ_CQ_OVERFLOW = 1 << 1;
    private static final int ENTER_GETEVENTS = 1;
    private static final long OFF_SQ_RING = 0;
    private static final long OFF_SQES = 0x1000_0000;
    private static final int REGISTER_PROBE = 8;
    private static final int REGISTER_IOWQ_MAX_WORKERS = 19;
    private static final int PROBE_OPERATIONS = 256;
    private static final int OP_SUPPORTED = 1;
    private static final int OP_NOP = 0;
    private static final int FSYNC_DATASYNC = 1;

    private static final MethodHandle SETUP = Libc.bindSystemCall("io_uring_setup", 425, 2);
    private static final MethodHandle ENTER = Libc.bindSystemCall("io_uring_enter", 426, 6);
    private static final MethodHandle ENTER_PLAIN =
            Libc.bindPlainSystemCall("io_uring_enter", 426, 6);
    private static final MethodHandle REGISTER = Libc.bindSystemCall("io_uring_register", 427, 4);

    private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

    /** Kind of request. */
    public enum Operation {
        /** {@link Uring#read}. */
        READ(22),

        /** {@link Uring#write} and {@link Uring#writeDurably}. */
        WRITE(23),

        /** {@link Uring#syncData}. */
        FSYNC(3),

        /** {@link Uring#allocate}. */
        FALLOCATE(17);

        private final int code;

        Operation(int code) {
            this.code = code;
        }
    }

    /**
     * Limits of the kernel's threads that execute what would block.
     *
     * @param bounded those for files and block devices, whose requests end by themselves
     * @param unbounded those for all else
     */
    public record WorkerLimits(int bounded, int unbounded) {}

    private final int fd;
    private final int entries;
    private final int maxPending;
    private final long ringBytes;
    private final long ringAddress;
    private final long entriesAddress;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment ring;
    private final MemorySegment submissions;

    private final int sqMask;
    private final long sqTailOffset;
    private final long sqFlagsOffset;
    private final int cqMask;
    private final long cqHeadOffset;
    private final long cqTailOffset;
    private final long cqOverflowOffset;
    private final long cqesOffset;

    private final CallState state = new CallState();
    private int filled;
    private int submitted;
    private int taken;
    private int seen;
    private int pending;
    private long userData;
    private int result;
    private boolean closed;

    /**
     * Creates a ring.
     *
     * @param entries limit of requests that are filled before the next {@link #submit}, 1 to {@link
     *     #MAX_ENTRIES}; the kernel rounds it up to a power of two
     * @param maxPending limit of requests that are filled or under way, at least as many and at
     *     most {@link #MAX_PENDING}
     * @throws LinuxException with the cause in its message: EPERM or ENOSYS where io_uring is
     *     forbidden or missing; ENOMEM where it needs more memory than may be locked; EMFILE or
     *     ENFILE without a free descriptor
     */
    public Uring(int entries, int maxPending) {
        this(entries, maxPending, maxPending);
    }

    /** With another size of the queue of completions, so that it can overflow. */
    Uring(int entries, int maxPending, int completions) {
        if (entries < 1 || entries > MAX_ENTRIES) {
            throw new IllegalArgumentException(
                    "entries of a ring: entries=" + entries + ", expected=1 to " + MAX_ENTRIES);
        }
        if (maxPending < entries || maxPending > MAX_PENDING) {
            throw new IllegalArgumentException(
                    "pending requests of a ring: maxPending="
                            + maxPending
                            + ", expected="
                            + entries
                            + " to "
                            + MAX_PENDING);
        }
        MemorySegment params = state.scratch;
        fd = setUp(state, entries, completions);
        boolean made = false;
        long mapped = 0;
        long mappedBytes = 0;
        try {
            int features = params.get(INT, Abi.UringParams.FEATURES);
            if ((features & FEATURES) != FEATURES) {
                throw new LinuxException(
                        "io_uring_setup",
                        Errno.ENOSYS,
                        "features=0x"
                                + Integer.toHexString(features)
                                + ", expected=0x"
                                + Integer.toHexString(FEATURES)
                                + ", cause=the kernel is older than 5.5");
            }
            this.entries = params.get(INT, Abi.UringParams.SQ_ENTRIES);
            this.maxPending = maxPending;
            int completionEntries = params.get(INT, Abi.UringParams.CQ_ENTRIES);
            long arrayOffset = unsigned(params, Abi.UringParams.SQ_ARRAY);
            sqTailOffset = unsigned(params, Abi.UringParams.SQ_TAIL);
            sqFlagsOffset = unsigned(params, Abi.UringParams.SQ_FLAGS);
            cqHeadOffset = unsigned(params, Abi.UringParams.CQ_HEAD);
            cqTailOffset = unsigned(params, Abi.UringParams.CQ_TAIL);
            cqOverflowOffset = unsigned(params, Abi.UringParams.CQ_OVERFLOW);
            cqesOffset = unsigned(params, Abi.UringParams.CQ_CQES);
            sqMask = this.entries - 1;
            cqMask = completionEntries - 1;
            ringBytes =
                    Math.max(
                            arrayOffset + (long) this.entries * Integer.BYTES,
                            cqesOffset + (long) completionEntries * Abi.UringCompletion.BYTES);
            mapped = MemoryMapping.mapShared(fd, OFF_SQ_RING, ringBytes);
            mappedBytes = ringBytes;
            ringAddress = mapped;
            entriesAddress = MemoryMapping.mapShared(fd, OFF_SQES, submissionBytes(this.entries));
            ring = MemoryMapping.segment(ringAddress, ringBytes, arena);
            submissions =
                    MemoryMapping.segment(entriesAddress, submissionBytes(this.entries), arena);
            // Entries are submitted in the order of their places, so the indirection is constant.
            for (int i = 0; i < this.entries; i++) {
                ring.set(INT, arrayOffset + (long) i * Integer.BYTES, i);
            }
            made = true;
        } finally {
            if (!made) {
                if (mappedBytes > 0) {
                    MemoryMapping.unmap(mapped, mappedBytes);
                }
                FileDescriptors.close(fd);
            }
        }
    }

    private static int setUp(CallState state, int entries, int completions) {
        MemorySegment params = state.scratch;
        params.fill((byte) 0);
        params.set(INT, Abi.UringParams.FLAGS, SETUP_CQSIZE);
        params.set(INT, Abi.UringParams.CQ_ENTRIES, completions);
        long result;
        try {
            result = (long) SETUP.invokeExact(state.errno, (long) entries, state.scratchAddress);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (result < 0) {
            int errno = state.lastErrno();
            throw new LinuxException(
                    "io_uring_setup",
                    errno,
                    "entries=" + entries + ", completions=" + completions + causeOf(errno));
        }
        Origins.descriptorOpened((int) result);
        return (int) result;
    }

    private static long submissionBytes(int entries) {
        return (long) entries * Abi.UringSubmission.BYTES;
    }

    private static long unsigned(MemorySegment params, int offset) {
        return Integer.toUnsignedLong(params.get(INT, offset));
    }

    // ---- refusals ----

    /**
     * The reason why this thread cannot use rings with every {@link Operation}; null if it can, as
     * a ring shows that is created for this.
     */
    public static @Nullable String refusal() {
        try (Uring ring = new Uring(1, 1)) {
            Set<Operation> missing = EnumSet.allOf(Operation.class);
            missing.removeAll(ring.operations());
            return missing.isEmpty() ? null : "operations=" + missing + " are missing";
        } catch (LinuxException e) {
            return Reason.of(e);
        }
    }

    /** The cause of a refused ring, as a further key of a message; empty if it is not known. */
    private static String causeOf(int errno) {
        try {
            return switch (errno) {
                case Errno.EPERM -> ", cause=" + prohibition();
                case Errno.ENOSYS ->
                        isFiltered()
                                ? ", cause=a seccomp filter"
                                : ", cause=the kernel has no io_uring";
                case Errno.ENOMEM ->
                        ", cause=memory that may be locked (ulimit -l, for a kernel before 5.12),"
                                + " or memory of the cgroup";
                default -> "";
            };
        } catch (UncheckedIOException unreadable) { // as without a free descriptor
            return "";
        }
    }

    private static String prohibition() {
        for (String line : MemoryLimits.lines(Path.of("/proc/sys/kernel/io_uring_disabled"))) {
            if (!line.isBlank() && !line.strip().equals("0")) {
                return "the sysctl kernel.io_uring_disabled is " + line.strip();
            }
        }
        return isFiltered() ? "a seccomp filter" : "a security module";
    }

    /** Whether the system calls of this thread pass a filter. */
    private static boolean isFiltered() {
        for (String line : MemoryLimits.lines(Path.of("/proc/thread-self/status"))) {
            if (line.startsWith("Seccomp:")) {
                return line.endsWith("2");
            }
        }
        return false;
    }

    // ---- what the kernel offers ----

    /**
     * The operations that this kernel has.
     *
     * @return unmodifiable; empty for a kernel before 5.6, which cannot be asked
     */
    public Set<Operation> operations() {
        checkOpen();
        Set<Operation> found = EnumSet.noneOf(Operation.class);
        try (Arena own = Arena.ofConfined()) {
            MemorySegment probe =
                    own.allocate(
                            Abi.UringProbe.OPERATIONS
                                    + (long) PROBE_OPERATIONS * Abi.UringProbe.OPERATION_BYTES,
                            Long.BYTES);
            int errno = register(REGISTER_PROBE, probe.address(), PROBE_OPERATIONS);
            if (errno == Errno.EINVAL) {
                return Set.of();
            }
            if (errno != 0) {
                throw failure("io_uring_register(IORING_REGISTER_PROBE)", errno);
            }
            int known = Byte.toUnsignedInt(probe.get(ValueLayout.JAVA_BYTE, Abi.UringProbe.LENGTH));
            for (Operation each : Operation.values()) {
                long at =
                        Abi.UringProbe.OPERATIONS
                                + (long) each.code * Abi.UringProbe.OPERATION_BYTES
                                + Abi.UringProbe.OPERATION_FLAGS;
                if (each.code < known
                        && (probe.get(ValueLayout.JAVA_SHORT, at) & OP_SUPPORTED) != 0) {
                    found.add(each);
                }
            }
        }
        return Collections.unmodifiableSet(found);
    }

    /**
     * Limits the kernel's threads that execute requests which would block, for the calling thread
     * and those that submit to this ring.
     *
     * @param bounded limit for files and block devices; 0 leaves it as it is
     * @param unbounded limit for all else; 0 leaves it as it is
     * @return the limits before
     * @throws LinuxException EINVAL for a kernel before 5.15, which has no such limits
     */
    public WorkerLimits limitWorkers(int bounded, int unbounded) {
        checkOpen();
        if (bounded < 0 || unbounded < 0) {
            throw new IllegalArgumentException(
                    "limits of workers: bounded="
                            + bounded
                            + ", unbounded="
                            + unbounded
                            + ", expected=0 or more");
        }
        state.scratch.set(INT, 0, bounded);
        state.scratch.set(INT, Integer.BYTES, unbounded);
        int errno = register(REGISTER_IOWQ_MAX_WORKERS, state.scratchAddress, 2);
        if (errno != 0) {
            throw failure("io_uring_register(IORING_REGISTER_IOWQ_MAX_WORKERS)", errno);
        }
        return new WorkerLimits(state.scratch.get(INT, 0), state.scratch.get(INT, Integer.BYTES));
    }

    private int register(int operation, long argument, int count) {
        try {
            long done =
                    (long)
                            REGISTER.invokeExact(
                                    state.errno,
                                    (long) fd,
                                    (long) operation,
                                    argument,
                                    (long) count);
            return done < 0 ? state.lastErrno() : 0;
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    // ---- requests ----

    /** Whether no request can be filled before one was submitted, or its completion taken. */
    public boolean isFull() {
        return filled - submitted == entries || pending == maxPending;
    }

    /** Number of requests that were filled and whose completion was not taken. */
    public int pending() {
        return pending;
    }

    /** Number of requests that were filled and that the kernel has not taken. */
    public int unsubmitted() {
        return filled - submitted;
    }

    /**
     * Fills a request to read. Its result is the number of bytes, which may be less than requested,
     * and is 0 at the file's end or beyond.
     *
     * @param file a descriptor open for reading
     * @param into native memory
     * @param intoOffset where in that memory, in bytes
     * @param sizeBytes number of bytes requested
     * @param offsetBytes where in the file, 0 or more; without effect for what has no offsets
     * @param data the completion's {@link #userData}
     * @throws IllegalStateException if the ring is full
     */
    public void read(
            int file,
            MemorySegment into,
            long intoOffset,
            int sizeBytes,
            long offsetBytes,
            long data) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException(
                    "memory to read into: readOnly=true, expected=false, fd=" + file);
        }
        long address = address(into, intoOffset, sizeBytes);
        requireOffset(offsetBytes);
        fill(Operation.READ.code, file, offsetBytes, address, sizeBytes, 0, data);
    }

    /**
     * Fills a request to write. Its result is the number of bytes, which may be less than
     * requested.
     *
     * @param file a descriptor open for writing
     * @param from native memory
     * @param fromOffset where in that memory, in bytes
     * @param sizeBytes number of bytes requested
     * @param offsetBytes where in the file, 0 or more; without effect for what has no offsets
     * @param data the completion's {@link #userData}
     * @throws IllegalStateException if the ring is full
     */
    public void write(
            int file,
            MemorySegment from,
            long fromOffset,
            int sizeBytes,
            long offsetBytes,
            long data) {
        long address = address(from, fromOffset, sizeBytes);
        requireOffset(offsetBytes);
        fill(Operation.WRITE.code, file, offsetBytes, address, sizeBytes, 0, data);
    }

    /**
     * As {@link #write}, and the bytes written are durable when it completes (RWF_DSYNC): these
     * alone, not those of earlier writes.
     */
    public void writeDurably(
            int file,
            MemorySegment from,
            long fromOffset,
            int sizeBytes,
            long offsetBytes,
            long data) {
        long address = address(from, fromOffset, sizeBytes);
        requireOffset(offsetBytes);
        fill(Operation.WRITE.code, file, offsetBytes, address, sizeBytes, FileIo.RWF_DSYNC, data);
    }

    /**
     * Fills a request that makes the bytes of a range durable whose writes have completed before it
     * is submitted, as fdatasync. Its result is 0, or the error of bytes that were lost, of
     * whatever range: as {@link FileIo#syncData}.
     *
     * @param file the descriptor
     * @param offsetBytes where the range begins
     * @param sizeBytes its length; 0 for all that follows
     * @param data the completion's {@link #userData}
     * @throws IllegalStateException if the ring is full
     */
    public void syncData(int file, long offsetBytes, int sizeBytes, long data) {
        // The kernel takes the sum for the end, and 0 for none.
        long offset = sizeBytes == 0 ? 0 : offsetBytes;
        fill(Operation.FSYNC.code, file, offset, 0, sizeBytes, FSYNC_DATASYNC, data);
    }

    /**
     * Fills a request to allocate, empty or zero blocks, as fallocate. Its result is 0.
     *
     * @param file a descriptor open for writing
     * @param mode constants of {@link FileBlocks}, or-ed; 0 allocates, and makes the file longer
     * @param offsetBytes where the range begins
     * @param sizeBytes its length, above 0
     * @param data the completion's {@link #userData}
     * @throws IllegalStateException if the ring is full
     */
    public void allocate(int file, int mode, long offsetBytes, long sizeBytes, long data) {
        fill(Operation.FALLOCATE.code, file, offsetBytes, sizeBytes, mode, 0, data);
    }

    /** Fills a request that does nothing, and completes within {@link #submit}. */
    void nothing(long data) {
        fill(OP_NOP, -1, 0, 0, 0, 0, data);
    }

    private static long address(MemorySegment memory, long offset, int sizeBytes) {
        Objects.checkFromIndexSize(offset, sizeBytes, memory.byteSize());
        if (!memory.isNative()) {
            throw new IllegalArgumentException(
                    "memory of a request: native=false, expected=true, sizeBytes=" + sizeBytes);
        }
        return memory.address() + offset;
    }

    /** Refuses -1, which would be the position of the open file, and what cannot be one. */
    private static void requireOffset(long offsetBytes) {
        if (offsetBytes < 0) {
            throw new IllegalArgumentException(
                    "offset in a file: offsetBytes=" + offsetBytes + ", expected=0 or more");
        }
    }

    void fill(
            int operation, int file, long offset, long address, int length, int flags, long data) {
        checkOpen();
        if (isFull()) {
            throw new IllegalStateException(
                    "ring is full: ringFd="
                            + fd
                            + ", unsubmitted="
                            + unsubmitted()
                            + ", limit="
                            + entries
                            + ", pending="
                            + pending
                            + ", limit="
                            + maxPending);
        }
        long at = (long) (filled & sqMask) * Abi.UringSubmission.BYTES;
        // The members that are not set here were zero when the ring was made.
        submissions.set(LONG, at + Abi.UringSubmission.OPCODE, word(operation, file));
        submissions.set(LONG, at + Abi.UringSubmission.OFFSET, offset);
        submissions.set(LONG, at + Abi.UringSubmission.ADDRESS, address);
        submissions.set(LONG, at + Abi.UringSubmission.LENGTH, word(length, flags));
        submissions.set(LONG, at + Abi.UringSubmission.USER_DATA, data);
        filled++;
        pending++;
    }

    private static long word(int low, int high) {
        return Integer.toUnsignedLong(low) | (long) high << Integer.SIZE;
    }

    /**
     * Submits all filled requests by one system call; none if there are none. It is repeated where
     * the kernel stops at a request that it refuses, whose completion then has the error.
     *
     * @return number of requests that the kernel has taken; the others, if it has no memory for
     *     them now, stay {@link #unsubmitted} for the next call
     */
    public int submit() {
        checkOpen();
        int before = submitted;
        if (filled != before) {
            WORD.setRelease(ring, sqTailOffset, filled);
            int count;
            do {
                count = enter(filled - submitted, 0);
                submitted += count;
            } while (count > 0 && submitted != filled);
        }
        return submitted - before;
    }

    /** Calls io_uring_enter; 0 if the kernel can take nothing now. */
    private int enter(int requests, int flags) {
        long done;
        try { // without errno first, as in Epoll; a failed call is repeated with errno
            done =
                    (long)
                            ENTER_PLAIN.invokeExact(
                                    (long) fd, (long) requests, 0L, (long) flags, 0L, 0L);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        return done >= 0 ? (int) done : enterAgain(requests, flags);
    }

    private int enterAgain(int requests, int flags) {
        long done;
        try {
            do {
                done =
                        (long)
                                ENTER.invokeExact(
                                        state.errno,
                                        (long) fd,
                                        (long) requests,
                                        0L,
                                        (long) flags,
                                        0L,
                                        0L);
            } while (done < 0 && state.lastErrno() == Errno.EINTR);
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
        if (done >= 0) {
            return (int) done;
        }
        int errno = state.lastErrno();
        // No memory for a request now; or completions wait in the kernel for room in their queue.
        if (errno == Errno.EAGAIN || errno == Errno.EBUSY) {
            return 0;
        }
        throw failure("io_uring_enter", errno);
    }

    // ---- completions ----

    /**
     * Takes the next completion. Reads memory alone, except after an overflow of the queue, which
     * the limit of pending requests prevents.
     *
     * @return false if there is none now; else {@link #userData} and {@link #result} are its
     */
    public boolean next() {
        if (!hasNext()) {
            return false;
        }
        long at = cqesOffset + (long) (taken & cqMask) * Abi.UringCompletion.BYTES;
        userData = ring.get(LONG, at + Abi.UringCompletion.USER_DATA);
        result = ring.get(INT, at + Abi.UringCompletion.RESULT);
        taken++;
        WORD.setRelease(ring, cqHeadOffset, taken);
        pending--;
        return true;
    }

    /** Whether {@link #next} would take a completion. */
    public boolean hasNext() {
        checkOpen();
        if (taken != seen) {
            return true;
        }
        seen = (int) WORD.getAcquire(ring, cqTailOffset);
        if (taken != seen) {
            return true;
        }
        return ((int) WORD.getAcquire(ring, sqFlagsOffset) & SQ_CQ_OVERFLOW) != 0 && refill();
    }

    /** Brings completions to the queue that had found it full. */
    private boolean refill() {
        enter(0, ENTER_GETEVENTS);
        int lost = (int) WORD.getAcquire(ring, cqOverflowOffset);
        if (lost != 0) {
            throw new IllegalStateException(
                    "kernel had no memory for completions: ringFd="
                            + fd
                            + ", lost="
                            + Integer.toUnsignedString(lost)
                            + ", expected=0, pending="
                            + pending);
        }
        seen = (int) WORD.getAcquire(ring, cqTailOffset);
        return taken != seen;
    }

    /** What the request of the completion that was taken last was filled with. */
    public long userData() {
        return userData;
    }

    /**
     * The result of the completion that was taken last.
     *
     * @return as said at the request's method; negative for a failure: an error number of {@link
     *     Errno} with the sign changed
     */
    public int result() {
        return result;
    }

    // ---- the descriptor ----

    /**
     * The ring's descriptor: readable while a completion can be taken, so it can be watched.
     *
     * @return the same number until closed
     */
    public int fd() {
        checkOpen();
        return fd;
    }

    /**
     * Closes the descriptor and unmaps the memory. Idempotent.
     *
     * @throws IllegalStateException if requests are pending: their memory would not be known to be
     *     free of the kernel
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        if (pending != 0) {
            throw new IllegalStateException(
                    "ring has requests: ringFd=" + fd + ", pending=" + pending + ", expected=0");
        }
        closed = true;
        arena.close();
        MemoryMapping.unmap(entriesAddress, submissionBytes(entries));
        MemoryMapping.unmap(ringAddress, ringBytes);
        FileDescriptors.close(fd);
    }

    /** Refuses use after close, when the number may have been reused. */
    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("ring closed: ringFd=" + fd);
        }
    }

    private LinuxException failure(String call, int errno) {
        return new LinuxException(call, errno, "ringFd=" + fd + ", pending=" + pending);
    }
}
