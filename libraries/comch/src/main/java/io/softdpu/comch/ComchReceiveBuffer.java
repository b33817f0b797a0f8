package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Receive buffer of a stream with a message, which the program reads in place before {@link
 * #close()}: after that the same memory has another message. It belongs to the program from {@link
 * ComchStream#tryReceive()} or {@link ComchStream#receive} until {@link #close()}, in any order and
 * as long as it likes; the same object is handed out again later. Thread: that of the stream's
 * engine.
 */
public final class ComchReceiveBuffer implements AutoCloseable {
    private final StreamReceives receives;
    private final MemorySegment segment;
    private final Buf buf;
    private final PostReceiveTask task;
    private final MemorySegment immediate;

    // Null without a sanitizer.
    private final @Nullable LentMemory lent;
    private final @Nullable LentMemory lentImmediate;

    private boolean taken;
    private long length;
    private int immediateLength;

    ComchReceiveBuffer(
            StreamReceives receives,
            MemorySegment segment,
            Buf buf,
            PostReceiveTask task,
            @Nullable Runnable memoryMisused) {
        this.receives = receives;
        this.segment = segment;
        this.buf = buf;
        this.task = task;
        this.immediate = task.immediate();
        this.lent = memoryMisused == null ? null : new LentMemory(segment, memoryMisused);
        this.lentImmediate =
                memoryMisused == null ? null : new LentMemory(immediate, memoryMisused);
    }

    /**
     * The memory of the whole buffer, valid until {@link #close()}: the next message comes to the
     * same place. It has {@link ComchStream#bufferBytes()} bytes; the message is its first {@link
     * #length()} bytes.
     *
     * <p>Always the same segment, whose memory is there until the stream is closed or started
     * again. Under the sanitizer it is another one for each message, and an access to it after that
     * fails with IllegalStateException.
     */
    public MemorySegment segment() {
        return lent == null ? segment : lent.segment();
    }

    /** Length of the message in bytes. */
    public long length() {
        return length;
    }

    /**
     * Memory of the immediate data, valid until {@link #close()}: its first {@link
     * #immediateLength()} bytes. Read-only.
     */
    public MemorySegment immediate() {
        return lentImmediate == null ? immediate : lentImmediate.segment();
    }

    /** Bytes of immediate data, 0 to 32. */
    public int immediateLength() {
        return immediateLength;
    }

    /**
     * Posts the buffer for another message. Does nothing if the program does not have it, or the
     * stream has ended.
     *
     * @throws DpuException NOT_PERMITTED from another thread
     */
    @Override
    public void close() {
        receives.close(this);
    }

    // ---- for the stream ----

    PostReceiveTask task() {
        return task;
    }

    Buf buf() {
        return buf;
    }

    /** Whether the program has taken it and not closed it. */
    boolean isTaken() {
        return taken;
    }

    void setTaken(boolean taken) {
        if (lent != null && lentImmediate != null) {
            if (taken) {
                lent.lend();
                lentImmediate.lend();
            } else {
                lent.takeBack();
                lentImmediate.takeBack();
            }
        }
        this.taken = taken;
    }

    void received() {
        length = task.receivedLength();
        immediateLength = task.immediateLength();
    }
}
