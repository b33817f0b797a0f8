package io.softdpu.rdma.roce.nic;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Word that says whether a NIC is being driven: one thread at a time owns it, with all state of the
 * NIC. What an owner has written before it leaves the word is seen by the next.
 *
 * <p>Programs never wait for it. One that has published something while another thread owns it
 * leaves a note, and that owner looks again before it leaves. The thread of the NIC waits for the
 * end of a program's turn, and is the next then. Allocates nothing.
 */
final class Ownership {
    private static final VarHandle WORD;

    static {
        try {
            WORD = MethodHandles.lookup().findVarHandle(Ownership.class, "word", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final int FREE = 0;
    private static final int OWNED = 1;

    /** Something was published since the owner's turn has begun, maybe behind its look for it. */
    private static final int NOTE = 2;

    /** The thread of the NIC waits. */
    private static final int WANTED = 4;

    /** There is no thread yet. */
    private static final int CLOSED = 8;

    /**
     * Longest wait of the thread of the NIC for a wake-up, which an error of a program may take.
     */
    private static final long PARK_NANOS = 1_000_000_000;

    /** Changed through WORD; a program may set it free after an error, when it owns it. */
    volatile int word = CLOSED;

    /** The thread of the NIC; written before the word is opened. */
    private @Nullable Thread thread;

    /** Opens it, once, for the thread of the NIC and for programs. */
    void open(Thread ofNic) {
        thread = ofNic;
        word = FREE;
    }

    // ---- programs ----

    /** Takes it, if it is free and the thread of the NIC does not wait for it. */
    boolean tryAcquire() {
        return WORD.compareAndSet(this, FREE, OWNED);
    }

    /**
     * Takes it, or leaves a note, by which the owner sees what was published by a volatile write
     * before this call.
     *
     * @return whether the caller owns it now
     */
    boolean acquireOrNote() {
        while (true) { // repeated if another thread has made its step meanwhile
            if (tryAcquire()) {
                return true;
            }
            int seen = word;
            if ((seen & (NOTE | CLOSED)) != 0
                    || (seen != FREE && WORD.compareAndSet(this, seen, seen | NOTE))) {
                return false;
            }
        }
    }

    /**
     * Leaves it, unless there is a note: then the caller keeps it, and the note is gone. A program
     * calls {@link #unparkWaiting} afterwards.
     *
     * @return whether it was left
     */
    boolean release() {
        while (true) {
            int seen = word;
            if ((seen & NOTE) != 0) {
                if (WORD.compareAndSet(this, seen, seen & ~NOTE)) {
                    return false;
                }
            } else if (WORD.compareAndSet(this, seen, seen & WANTED)) {
                return true;
            }
        }
    }

    /**
     * Leaves it in any case.
     *
     * @return whether there was a note: then the thread of the NIC is to have a turn
     */
    boolean leave() {
        return ((int) WORD.getAndBitwiseAnd(this, WANTED) & NOTE) != 0;
    }

    /** Wakes the thread of the NIC if it waits for the word. */
    void unparkWaiting() {
        if ((word & WANTED) != 0) {
            LockSupport.unpark(thread);
        }
    }

    // ---- the thread of the NIC ----

    /** Takes it, after the end of the turn of a program. */
    void acquire() {
        while (true) {
            int seen = word;
            if ((seen & OWNED) == 0) {
                if (WORD.compareAndSet(this, seen, OWNED)) { // a note: the caller's turn begins
                    return;
                }
            } else if ((seen & WANTED) != 0 || WORD.compareAndSet(this, seen, seen | WANTED)) {
                LockSupport.parkNanos(this, PARK_NANOS);
            }
        }
    }
}
