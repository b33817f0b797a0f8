package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.memory.Buf;
import java.lang.foreign.MemorySegment;

/**
 * Receive buffer of a stream with a message, which the program reads in place. It belongs to the
 * program from {@link ComchStream#tryReceive()} or {@link ComchStream#receive} until {@link
 * #close()}, in any order and as long as it likes; the same object is handed out again later.
 * Thread: that of the stream's engine.
 */
public final class ComchReceiveBuffer implements AutoCloseable {
    private final StreamReceives receives;
    private final MemorySegment segment;
    private final Buf buf;
    private final PostReceiveTask task;
    private final MemorySegment immediate;
    private boolean taken;
    private long length;
    private int immediateLength;

    ComchReceiveBuffer(
            StreamReceives receives, MemorySegment segment, Buf buf, PostReceiveTask task) {
        this.receives = receives;
        this.segment = segment;
        this.buf = buf;
        this.task = task;
        this.immediate = task.immediate();
    }

    /**
     * The memory of the whole buffer, always the same segment, of {@link ComchStream#bufferBytes()}
     * bytes; the message is its first {@link #length()} bytes. Invalid once the stream is closed or
     * started again.
     */
    public MemorySegment segment() {
        return segment;
    }

    /** Length of the message in bytes. */
    public long length() {
        return length;
    }

    /** Memory of the immediate data: its first {@link #immediateLength()} bytes. Read-only. */
    public MemorySegment immediate() {
        return immediate;
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
        this.taken = taken;
    }

    void received() {
        length = task.receivedLength();
        immediateLength = task.immediateLength();
    }
}
