package io.softdpu.linux;

import static io.softdpu.linux.Libc.INT;
import static io.softdpu.linux.Libc.LONG;
import static io.softdpu.linux.Libc.POINTER;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.BitSet;
import java.util.Objects;

/**
 * CPU affinity of threads. For platform threads: pinning a virtual thread pins its current carrier
 * thread. A thread inherits the CPUs of the one that starts it.
 */
public final class Affinity {
    /** CPUs are numbered below this. */
    public static final int MAX_CPUS = 8192;

    private static final int MASK_BYTES = MAX_CPUS / Byte.SIZE;

    /** Thread number that stands for the calling thread. */
    private static final int SELF = 0;

    private static final MethodHandle SCHED_SETAFFINITY =
            Libc.bind("sched_setaffinity", INT, INT, LONG, POINTER);
    private static final MethodHandle SCHED_GETAFFINITY =
            Libc.bind("sched_getaffinity", INT, INT, LONG, POINTER);

    private Affinity() {}

    /**
     * Pins the calling thread to one CPU.
     *
     * @param cpu the CPU's number, from 0
     * @throws LinuxException EINVAL where this process may not use that CPU, or there is none
     */
    public static void pinCurrentThread(int cpu) {
        Objects.checkIndex(cpu, MAX_CPUS);
        BitSet one = new BitSet();
        one.set(cpu);
        apply(one);
    }

    /** Unpins the calling thread: it may run on every CPU of this process. */
    public static void unpinCurrentThread() {
        apply(allowed());
    }

    /**
     * CPUs that this process may use, as it was started (taskset, cpuset): those of its first
     * thread, which belongs to the Java launcher and is never pinned here.
     *
     * @return the CPUs' numbers, a copy
     */
    public static BitSet allowed() {
        return ask(Identity.pid());
    }

    /**
     * CPUs that the calling thread may run on.
     *
     * @return the CPUs' numbers, a copy
     */
    public static BitSet ofCurrentThread() {
        return ask(SELF);
    }

    /**
     * Number of CPUs that this process may use.
     *
     * @return the number of {@link #allowed}, at least 1
     */
    public static int availableCpus() {
        return allowed().cardinality();
    }

    private static void apply(BitSet cpus) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            byte[] bits = cpus.toByteArray();
            MemorySegment.copy(bits, 0, mask, ValueLayout.JAVA_BYTE, 0, bits.length);
            int result =
                    (int)
                            SCHED_SETAFFINITY.invokeExact(
                                    state.errno, SELF, (long) MASK_BYTES, mask.address());
            if (result != 0) {
                throw new LinuxException("sched_setaffinity", state.lastErrno(), "cpus=" + cpus);
            }
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }

    private static BitSet ask(int thread) {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment mask = arena.allocate(MASK_BYTES, Long.BYTES);
            int result =
                    (int)
                            SCHED_GETAFFINITY.invokeExact(
                                    state.errno, thread, (long) MASK_BYTES, mask.address());
            if (result < 0) {
                throw new LinuxException(
                        "sched_getaffinity", state.lastErrno(), "thread=" + thread);
            }
            return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_BYTE));
        } catch (Throwable thrown) {
            throw Libc.rethrow(thrown);
        }
    }
}
