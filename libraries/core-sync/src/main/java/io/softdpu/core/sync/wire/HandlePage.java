package io.softdpu.core.sync.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Words by which a DPU handle and the process of the CPU handle wake each other: memory of the
 * handle's process, shared with that process alone. Little-endian.
 *
 * <pre>
 *    0  armed    u32  the handle: 1, a thread of its process sleeps and wants a doorbell
 *    8  seen     u64  the handle: value of the counter that this thread has seen last
 *  128  wanted   u32  the CPU handle's process: 1, ring after the next update
 *  256  relayed  u32  the CPU handle's process: 1, there are further DPU handles: ring after arming
 *  384  ended    u32  the CPU handle's process: 1, the event was destroyed
 * </pre>
 *
 * <p>Each word may hold anything: every value but 0 means 1. Any thread. All accesses are volatile,
 * so an update of the counter before a load here, and a store here before a load of the counter,
 * are in one order for all threads and processes: that order loses no wake-up.
 */
public final class HandlePage {
    /** Size of the memory. */
    public static final long BYTES = 1024;

    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private static final long AT_ARMED = 0;
    private static final long AT_SEEN = 8;
    private static final long AT_WANTED = 128;
    private static final long AT_RELAYED = 256;
    private static final long AT_ENDED = 384;

    private HandlePage() {}

    /** Requests a doorbell for the next change of the counter from a value. */
    public static void arm(MemorySegment page, long seen) {
        LONG.setVolatile(page, AT_SEEN, seen);
        INT.setVolatile(page, AT_ARMED, 1);
    }

    /** Cancels {@link #arm}. */
    public static void disarm(MemorySegment page) {
        INT.setVolatile(page, AT_ARMED, 0);
    }

    /** Whether a doorbell is requested. */
    public static boolean isArmed(MemorySegment page) {
        return (int) INT.getVolatile(page, AT_ARMED) != 0;
    }

    /** The value for which a doorbell is requested: no doorbell is due while the counter has it. */
    public static long seen(MemorySegment page) {
        return (long) LONG.getVolatile(page, AT_SEEN);
    }

    /** Takes the request for a doorbell; whether this call took it. */
    public static boolean takeArmed(MemorySegment page) {
        return (int) INT.getAndSet(page, AT_ARMED, 0) != 0;
    }

    /** Sets whether the handle rings after an update. */
    public static void setWanted(MemorySegment page, boolean wanted) {
        INT.setVolatile(page, AT_WANTED, wanted ? 1 : 0);
    }

    /** Whether the handle rings after an update. */
    public static boolean isWanted(MemorySegment page) {
        return (int) INT.getVolatile(page, AT_WANTED) != 0;
    }

    /** Takes the request to ring after an update; whether this call took it. */
    public static boolean takeWanted(MemorySegment page) {
        return (int) INT.getAndSet(page, AT_WANTED, 0) != 0;
    }

    /** Sets whether the handle rings after arming. */
    public static void setRelayed(MemorySegment page, boolean relayed) {
        INT.setVolatile(page, AT_RELAYED, relayed ? 1 : 0);
    }

    /** Whether the handle rings after arming. */
    public static boolean isRelayed(MemorySegment page) {
        return (int) INT.getVolatile(page, AT_RELAYED) != 0;
    }

    /** Marks the event as destroyed. */
    public static void end(MemorySegment page) {
        INT.setVolatile(page, AT_ENDED, 1);
    }

    /** Whether the event was destroyed. */
    public static boolean isEnded(MemorySegment page) {
        return (int) INT.getVolatile(page, AT_ENDED) != 0;
    }
}
