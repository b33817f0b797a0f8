package io.softdpu.comch;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sending half of a stream, from one start to the next: the producer, its buffers, and the messages
 * that wait for a buffer of the peer, in order. The thread of the stream's engine; the path of a
 * message allocates nothing.
 */
final class StreamSends {
    private final StreamContext stream;
    private final long bufferBytes;
    private final StreamMemory memory;
    private final ProducerContext producer;
    private final ComchSendBuffer[] buffers;

    /** Free buffers, the last used one on top, whose memory is likely to be in a cache. */
    private final ComchSendBuffer[] free;

    /** Ring of the tasks of messages that wait. */
    private final ComchProducerSendTask[] waiting;

    private int freeCount;
    private int waitingFirst;
    private int waitingCount;

    /** Whether a claim has found no free buffer. */
    private boolean claimWaits;

    private boolean isOpen;
    private boolean ending;
    private long undelivered;

    /** Allocates the memory, and creates the producer in IDLE. */
    StreamSends(StreamContext stream, ConsumerRegistry registry, int count, long bufferBytes) {
        this.stream = stream;
        this.bufferBytes = bufferBytes;
        this.buffers = new ComchSendBuffer[count];
        this.free = new ComchSendBuffer[count];
        this.waiting = new ComchProducerSendTask[count];
        this.producer = new ProducerContext(stream.connection(), registry, this::hasRoom);
        boolean allocated = false;
        try {
            memory = new StreamMemory(stream.device(), false, count, bufferBytes);
            allocated = true;
        } finally {
            if (!allocated) {
                producer.close();
            }
        }
        producer.setSendTasks(count, this::completed);
        producer.setStateChangedCallback((_, _, _) -> stream.requestPass());
    }

    ProducerContext producer() {
        return producer;
    }

    /** Allocates the tasks; the producer is RUNNING. */
    void open(int peerConsumer) {
        for (int i = 0; i < buffers.length; i++) {
            ProducerSendTask task = producer.allocateSendTask(memory.buf(i), peerConsumer);
            ComchSendBuffer buffer =
                    new ComchSendBuffer(
                            this, memory.segment(i), memory.buf(i), task, stream.memoryMisused());
            task.setUserObject(buffer);
            buffers[i] = buffer;
            free[i] = buffer;
        }
        freeCount = buffers.length;
        isOpen = true;
    }

    // ---- for the user ----

    /** Takes a free buffer; null if there is none. The stream is RUNNING. */
    @Nullable ComchSendBuffer claim() {
        if (!hasFree()) {
            claimWaits = true;
            return null;
        }
        ComchSendBuffer buffer = free[--freeCount];
        buffer.setClaimed(true);
        if (buffer.task().immediateLength() > 0) {
            buffer.task().clearImmediate();
        }
        return buffer;
    }

    /**
     * Whether a buffer can be claimed. That of a small message is free at once, and counts as used
     * until the next pass of progress: a program that sends while it can claim a buffer comes back
     * to its engine.
     */
    boolean hasFree() {
        return freeCount > producer.inlineSends();
    }

    void send(ComchSendBuffer buffer, long lengthBytes) {
        requireClaimed(buffer, "sending");
        if (lengthBytes < 0 || lengthBytes > bufferBytes) {
            throw new DpuException(
                    Status.INVALID_VALUE,
                    Text.format(
                            "message does not fit its buffer: lengthBytes=%d, expected=0 to %d",
                            lengthBytes, bufferBytes));
        }
        if (buffer.buf().dataLength() != lengthBytes) {
            buffer.buf().setDataLength(lengthBytes);
        }
        buffer.setClaimed(false);
        if (waitingCount == 0 && producer.sendInline(buffer.task())) {
            release(buffer);
        } else if (waitingCount > 0 || !isAccepted(buffer.task())) {
            int last = waitingFirst + waitingCount++;
            waiting[last < waiting.length ? last : last - waiting.length] = buffer.task();
        }
    }

    /** Takes back a buffer, unless the program does not have it. */
    void close(ComchSendBuffer buffer) {
        stream.requireThread();
        if (buffer.isClaimed()) {
            buffer.setClaimed(false);
            release(buffer);
            if (claimWaits) {
                stream.bufferFreed();
            }
        }
    }

    /**
     * Refuses the use of a buffer that the program does not have.
     *
     * @throws DpuException BAD_STATE, NOT_PERMITTED
     */
    void requireClaimed(ComchSendBuffer buffer, String call) {
        stream.requireThread();
        stream.requireRunning(call);
        if (!buffer.isClaimed()) {
            throw new DpuException(
                    Status.BAD_STATE,
                    Text.format(
                            "%s needs a buffer that was claimed and not sent: stream=%s",
                            call, stream));
        }
    }

    // ---- sending ----

    /** Submits a task; false if its message has to wait, or the stream has failed. */
    private boolean isAccepted(ComchProducerSendTask task) {
        Status submitted = task.trySubmit();
        switch (submitted) {
            case SUCCESS -> {
                return true;
            }
            case INVALID_VALUE -> {
                if (!stream.isStopping()) {
                    long capacityBytes = producer.abandonBufferFor((ProducerSendTask) task);
                    stream.failed(
                            Status.INVALID_VALUE,
                            Text.format(
                                    "message is larger than the peer's buffers: lengthBytes=%d,"
                                        + " peerBufferBytes=%d, expected=the same buffer size on"
                                        + " both sides",
                                    Objects.requireNonNull(task.buf()).dataLength(),
                                    capacityBytes));
                }
            }
            default -> {
                // AGAIN: the peer has no buffer. Another status: it ends, which is reported next.
            }
        }
        return false;
    }

    /** Sends what has waited, as far as the peer has buffers for it. */
    private void sendWaiting() {
        while (waitingCount > 0) {
            int run = Math.min(waitingCount, waiting.length - waitingFirst);
            int accepted = producer.trySubmitAll(waiting, waitingFirst, waitingFirst + run);
            sent(accepted);
            if (accepted < run) {
                if (!isAccepted(waiting[waitingFirst])) { // tells why, and begins a wait
                    return;
                }
                sent(1);
            }
        }
        if (stream.isStopping()) {
            stream.requestPass();
        }
    }

    private void sent(int count) {
        waitingFirst += count;
        if (waitingFirst == waiting.length) {
            waitingFirst = 0;
        }
        waitingCount -= count;
    }

    private void completed(ComchProducerSendTask[] tasks, int count) {
        for (int i = 0; i < count; i++) {
            ComchProducerSendTask task = tasks[i];
            if (task.status() != Status.SUCCESS) {
                undelivered++;
                stream.failed(task.status(), "peer did not take a message: stream=" + stream);
            }
            if (ending) {
                task.free();
            } else {
                release((ComchSendBuffer) Objects.requireNonNull(task.userObject()));
            }
        }
        if (ending) {
            return;
        }
        hasRoom();
    }

    /** Sends what has waited, then offers free buffers to the program if it has found none. */
    private void hasRoom() {
        if (waitingCount > 0) {
            sendWaiting();
        }
        offerFree();
    }

    /** Offers free buffers to the program if it has found none. Inside progress. */
    void offerFree() {
        if (claimWaits && hasFree()) {
            claimWaits = false;
            stream.ready();
        }
    }

    @SuppressWarnings("ReferenceEquality") // buffers are objects, not values
    private void release(ComchSendBuffer buffer) {
        if (free[freeCount] != buffer) { // often the same, and a load costs less than a store
            free[freeCount] = buffer;
        }
        freeCount++;
    }

    // ---- the end ----

    /** The number of buffers that the program has, neither sent nor cancelled. */
    int claimed() {
        int count = 0;
        for (ComchSendBuffer buffer : isOpen ? buffers : new ComchSendBuffer[0]) {
            count += buffer.isClaimed() ? 1 : 0;
        }
        return count;
    }

    /** The number of messages that wait for buffers of the peer. */
    int waiting() {
        return waitingCount;
    }

    /** Whether messages wait for buffers of the peer. */
    boolean isWaiting() {
        return waitingCount > 0;
    }

    long undelivered() {
        return undelivered;
    }

    /** Gives up what waits, and stops the producer, which completes what it has begun. */
    void end() {
        if (ending) {
            return;
        }
        ending = true;
        undelivered += waitingCount;
        while (waitingCount > 0) {
            waiting[waitingFirst].free();
            sent(1);
        }
        while (freeCount > 0) {
            free[--freeCount].task().free();
        }
        if (isOpen) {
            for (ComchSendBuffer buffer : buffers) {
                if (buffer.isClaimed()) {
                    buffer.setClaimed(false);
                    buffer.task().free();
                }
            }
        }
        if (isStarted(producer.state())) {
            producer.stop();
        }
    }

    private static boolean isStarted(ContextState state) {
        return state == ContextState.STARTING || state == ContextState.RUNNING;
    }

    /** Releases the memory, after the producer was closed. */
    void close() {
        memory.close();
    }
}
