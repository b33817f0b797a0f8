package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.sanitizer.SanitizerState;
import io.softdpu.linux.text.Text;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Base class of inventory, pool and array: their state machine. Used by one thread at a time. */
abstract sealed class BufOwner permits BufInventory, BufPool, BufArray {
    private enum State {
        IDLE,
        STARTED,
        CLOSED
    }

    private final String name;

    /** Bufs that the user has, if a sanitizer is on; otherwise null. */
    private final @Nullable Set<BufChecker> handedOut;

    private final @Nullable SanitizerState sanitizer = SanitizerState.current();
    private State state = State.IDLE;

    /**
     * @param name its kind, for messages: {@code pool}
     */
    BufOwner(String name) {
        this.name = name;
        this.handedOut = sanitizer == null ? null : new LinkedHashSet<>();
    }

    /** The sanitizer's checker of a new buf; null if no sanitizer is on. */
    final @Nullable BufChecker checker(Buf buf) {
        return sanitizer == null ? null : new BufChecker(buf, this, sanitizer);
    }

    final void handedOut(BufChecker buf) {
        if (handedOut != null) {
            handedOut.add(buf);
        }
    }

    final void takenIn(BufChecker buf) {
        if (handedOut != null) {
            handedOut.remove(buf);
        }
    }

    /** Takes back a buf after the user's last reference was released; it is in no list. */
    abstract void takeBack(Buf buf);

    /** Whether its bufs have fixed offsets, which the user cannot change. */
    abstract boolean hasFixedOffsets();

    /** Whether the last reference of its bufs is its own, and cannot be released by the user. */
    abstract boolean keepsLastReference();

    final boolean isStarted() {
        return state == State.STARTED;
    }

    final void enterStarted() {
        state = State.STARTED;
    }

    final void enterIdle() {
        state = State.IDLE;
    }

    final void enterClosed() {
        state = State.CLOSED;
    }

    final void requireIdle(String what) {
        if (state != State.IDLE) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format("%s %s: state=%s, expected=%s", name, what, state, State.IDLE));
        }
    }

    final void requireStarted() {
        if (state != State.STARTED) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format("%s is not started: state=%s, expected=start()", name, state));
        }
    }

    /** Refuses a number of bufs that is out of range. */
    static int requireElements(int elements) {
        if (elements < 1 || elements > BufInventory.MAX_ELEMENTS) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "number of bufs out of range: elements=%d, expected=1 to %d",
                            elements, BufInventory.MAX_ELEMENTS));
        }
        return elements;
    }

    /** The failure of an allocation while all bufs are in use. */
    final DpuException noneFree(Status status, int total) {
        return new DpuException(
                status,
                Text.format(
                        "all bufs are in use: total=%d, expected=a buf released, or a larger %s",
                        total, name),
                allocationInUse());
    }

    /** Where the buf that is in use for longest was allocated; null without a sanitizer. */
    private @Nullable Throwable allocationInUse() {
        return handedOut == null || handedOut.isEmpty()
                ? null
                : handedOut.iterator().next().allocatedAt();
    }

    /** Refuses a stop while bufs are in use. */
    final void requireAllBack(int available, int total) {
        if (available != total) {
            if (handedOut != null) {
                handedOut.forEach(BufChecker::leaked);
            }
            throw new DpuException(
                    Status.IN_USE,
                    Text.format(
                            "bufs are in use: bufs=%d, total=%d, expected=each released%s",
                            total - available,
                            total,
                            handedOut == null
                                    ? "; set SOFTDPU_SANITIZE, and each is named with its place"
                                    : ""),
                    allocationInUse());
        }
    }

    /** Refuses a size of bufs that is out of range. */
    static long requireElementSize(long elementSizeBytes) {
        if (elementSizeBytes < 1) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "size of bufs is not positive: elementSizeBytes=" + elementSizeBytes);
        }
        return elementSizeBytes;
    }

    /** Refuses elements that go beyond the mmap. */
    static void requireCapacity(Mmap mmap, long start, int elements, long stride, long size) {
        long sizeBytes = mmap.sizeBytes();
        // The last element begins at start + (elements - 1) * stride; no step here can overflow.
        boolean fits =
                start <= sizeBytes
                        && size <= sizeBytes - start
                        && (elements == 1 || stride <= (sizeBytes - start - size) / (elements - 1));
        if (!fits) {
            throw new DpuException(
                    Status.INITIALIZATION,
                    Text.format(
                                    "bufs do not fit into the mmap: elements=%d,"
                                            + " elementSizeBytes=%d, strideBytes=%d,",
                                    elements, size, stride)
                            + Text.format(" startOffsetBytes=%d, mmapBytes=%d", start, sizeBytes));
        }
    }
}
