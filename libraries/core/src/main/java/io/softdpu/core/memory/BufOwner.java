package io.softdpu.core.memory;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.internal.sanitizer.SanitizerCore;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where bufs come from and go back to: what inventory, pool and array have in common, which is
 * their life. Used by one thread at a time.
 */
abstract sealed class BufOwner permits BufInventory, BufPool, BufArray {
    private enum State {
        IDLE,
        STARTED,
        CLOSED
    }

    private final String name;

    /** What the user has, where a sanitizer is on; null where none is. */
    private final @Nullable Set<BufWatch> handedOut;

    private final @Nullable SanitizerCore sanitizer = SanitizerCore.current();
    private State state = State.IDLE;

    /**
     * @param name what it is, for messages: {@code pool}
     */
    BufOwner(String name) {
        this.name = name;
        this.handedOut = sanitizer == null ? null : new LinkedHashSet<>();
    }

    /** What a sanitizer knows of a new buf; null where none is on. */
    final @Nullable BufWatch watch(Buf buf) {
        return sanitizer == null ? null : new BufWatch(buf, this, sanitizer);
    }

    final void handedOut(BufWatch buf) {
        if (handedOut != null) {
            handedOut.add(buf);
        }
    }

    final void takenIn(BufWatch buf) {
        if (handedOut != null) {
            handedOut.remove(buf);
        }
    }

    /** The user's last reference to one of its bufs was given back; the buf is in no list now. */
    abstract void takeBack(Buf buf);

    /** Whether each of its bufs has its place, so that the user cannot choose another. */
    abstract boolean hasFixedPlaces();

    /** Whether the last reference of its bufs is its own, and not the user's to give back. */
    abstract boolean keepsItsBufs();

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
            throw badState(name + " " + what);
        }
    }

    final void requireStarted() {
        if (state != State.STARTED) {
            throw badState(name + " is not started");
        }
    }

    final DpuException badState(String reason) {
        return new DpuException(Status.BAD_STATE, reason + ": state=" + state);
    }

    /** Refuses a number of bufs that is out of range. */
    static int requireElements(int elements) {
        if (elements < 1 || elements > BufInventory.MAX_ELEMENTS) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    "number of bufs out of range: elements=%d, max=%d"
                            .formatted(elements, BufInventory.MAX_ELEMENTS));
        }
        return elements;
    }

    /** Refuses an end while bufs are handed out. */
    final void requireAllBack(int available, int total) {
        if (available != total) {
            if (handedOut != null) {
                handedOut.forEach(BufWatch::leaked);
            }
            throw new DpuException(
                    Status.IN_USE,
                    "bufs are in use: bufs=%d, total=%d".formatted(total - available, total));
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

    /** Refuses a row of places that goes beyond the mmap. */
    static void requireRoom(Mmap mmap, long start, int elements, long stride, long size) {
        long sizeBytes = mmap.sizeBytes();
        // The last place begins at start + (elements - 1) * stride; no step here can overflow.
        boolean fits =
                start <= sizeBytes
                        && size <= sizeBytes - start
                        && (elements == 1 || stride <= (sizeBytes - start - size) / (elements - 1));
        if (!fits) {
            throw new DpuException(
                    Status.INITIALIZATION,
                    "bufs do not fit into the mmap: elements=%d, elementSizeBytes=%d, strideBytes=%d,"
                                    .formatted(elements, size, stride)
                            + " startOffset=%d, mmapBytes=%d".formatted(start, sizeBytes));
        }
    }
}
