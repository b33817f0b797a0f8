package io.softdpu.comch;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Receiving half of a stream, from one start to the next: the consumer, its buffers, and the
 * messages that have arrived and were not taken. The thread of the stream's engine; the path of a
 * message allocates nothing.
 */
final class StreamReceives {
    private final StreamContext stream;
    private final StreamMemory memory;
    private final ConsumerContext consumer;
    private final ComchReceiveBuffer[] buffers;

    /** Ring of the buffers with messages that were not taken. */
    private final ComchReceiveBuffer[] arrived;

    /** Tasks of the buffers that the ready callback has closed, to be posted together. */
    private final ComchPostReceiveTask[] closed;

    private int arrivedFirst;
    private int arrivedCount;
    private int closedCount;
    private boolean delivering;
    private boolean isOpen;
    private boolean ending;

    /** Allocates the memory, and creates the consumer in IDLE. */
    StreamReceives(StreamContext stream, ConsumerRegistry registry, int count, long bufferBytes) {
        this.stream = stream;
        this.buffers = new ComchReceiveBuffer[count];
        this.arrived = new ComchReceiveBuffer[count];
        this.closed = new ComchPostReceiveTask[count];
        this.memory = new StreamMemory(stream.device(), true, count, bufferBytes);
        boolean created = false;
        try {
            consumer = ConsumerContext.ofStream(stream.connection(), registry, memory.mmap());
            created = true;
        } finally {
            if (!created) {
                memory.close();
            }
        }
        consumer.setPostReceiveTasks(count, this::completed);
        consumer.setStateChangedCallback((_, _, _) -> stream.requestPass());
    }

    ConsumerContext consumer() {
        return consumer;
    }

    /** Posts all buffers; the consumer is RUNNING. */
    void open() {
        for (int i = 0; i < buffers.length; i++) {
            PostReceiveTask task = consumer.allocatePostReceiveTask(memory.buf(i));
            ComchReceiveBuffer buffer =
                    new ComchReceiveBuffer(
                            this, memory.segment(i), memory.buf(i), task, stream.memoryMisused());
            task.setUserObject(buffer);
            buffers[i] = buffer;
            closed[i] = task;
        }
        isOpen = true;
        closedCount = buffers.length;
        postClosed();
    }

    // ---- for the user ----

    /** Takes the next message; null if there is none. */
    @Nullable ComchReceiveBuffer take() {
        if (arrivedCount == 0) {
            return null;
        }
        ComchReceiveBuffer buffer = arrived[arrivedFirst];
        arrivedFirst = next(arrivedFirst);
        arrivedCount--;
        buffer.setTaken(true);
        return buffer;
    }

    /** Posts a buffer that the program has closed. */
    void close(ComchReceiveBuffer buffer) {
        stream.requireThread();
        if (buffer.isTaken()) {
            buffer.setTaken(false);
            post(buffer);
        }
    }

    // ---- receiving ----

    private void completed(ComchPostReceiveTask[] tasks, int count) {
        int before = arrivedCount;
        for (int i = 0; i < count; i++) {
            ComchPostReceiveTask task = tasks[i];
            ComchReceiveBuffer buffer =
                    (ComchReceiveBuffer) Objects.requireNonNull(task.userObject());
            if (task.status() == Status.SUCCESS) {
                buffer.received();
                add(buffer);
            } else if (task.status() == Status.IO_FAILED) {
                stream.messageLost();
            }
            if (ending) {
                task.free();
            }
        }
        if (arrivedCount > before) {
            delivering = true;
            stream.ready();
            delivering = false;
            postClosed();
        }
    }

    @SuppressWarnings("ReferenceEquality") // buffers are objects, not values
    private void add(ComchReceiveBuffer buffer) {
        int last = arrivedFirst + arrivedCount;
        int place = last < arrived.length ? last : last - arrived.length;
        if (arrived[place] != buffer) { // often the same, and a load costs less than a store
            arrived[place] = buffer;
        }
        arrivedCount++;
    }

    private int next(int place) {
        return place + 1 < arrived.length ? place + 1 : 0;
    }

    @SuppressWarnings("ReferenceEquality") // tasks are objects, not values
    private void post(ComchReceiveBuffer buffer) {
        if (ending) {
            return;
        }
        buffer.buf().resetDataLength();
        PostReceiveTask task = buffer.task();
        if (!delivering) {
            // A refusal means that the consumer ends: the task is freed with the others.
            task.trySubmit();
            return;
        }
        if (closed[closedCount] != task) { // often the same, and a load costs less than a store
            closed[closedCount] = task;
        }
        closedCount++;
    }

    private void postClosed() {
        int count = closedCount;
        if (count > 0) {
            closedCount = 0;
            consumer.trySubmitAll(closed, 0, count); // as in post()
        }
    }

    // ---- the end ----

    /**
     * Stops the consumer, which delivers what has arrived. Messages can still be taken.
     *
     * @param timeoutNanos limit of the wait for the peer's release of the memory
     */
    void end(long timeoutNanos) {
        if (ending) {
            return;
        }
        ending = true;
        if (isOpen) {
            for (ComchReceiveBuffer buffer : buffers) {
                if (!buffer.task().isPosted()) {
                    buffer.task().free();
                }
            }
        }
        ContextState state = consumer.state();
        if (state == ContextState.STARTING || state == ContextState.RUNNING) {
            consumer.limitRelease(timeoutNanos);
            consumer.stop();
        }
    }

    /** Releases the memory, after the consumer was closed: nothing can be taken any more. */
    void close() {
        arrivedCount = 0;
        if (isOpen) {
            for (ComchReceiveBuffer buffer : buffers) {
                if (buffer.isTaken()) {
                    buffer.setTaken(false);
                }
            }
        }
        memory.close();
    }
}
