package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/** The posted buffers of a consumer, which are posted again. Belongs to one thread. */
final class Incoming {
    private final ComchPlan plan;
    private final MessagePool messages;
    private final ComchConsumer consumer;
    private final BooleanSupplier closing;
    private final LongConsumer received;

    /**
     * Takes the consumer's callbacks.
     *
     * @param consumer not started yet
     * @param closing whether a message is not reported any more, and its buffer not posted again
     * @param received gets the stamp of each message, or 0, before its buffer is posted again
     */
    Incoming(
            ComchPlan plan,
            MessagePool messages,
            ComchConsumer consumer,
            BooleanSupplier closing,
            LongConsumer received) {
        this.plan = plan;
        this.messages = messages;
        this.consumer = consumer;
        this.closing = closing;
        this.received = received;
        consumer.setPostReceiveTasks(plan.window(), this::consumed, ComchPostReceiveTask::free);
    }

    /** Posts all buffers; the consumer is RUNNING. */
    void fill() {
        for (int i = 0; i < plan.window(); i++) {
            consumer.allocatePostReceiveTask(messages.buf(i)).submit();
        }
    }

    private void consumed(ComchPostReceiveTask task) {
        if (closing.getAsBoolean()) {
            task.free();
            return;
        }
        Buf buf = Objects.requireNonNull(task.buf());
        try {
            plan.requireSize(task.receivedLength());
            received.accept(plan.isStamped() ? messages.stamp(buf) : 0);
        } finally {
            buf.resetDataLength();
            if (task.trySubmit() != Status.SUCCESS) {
                task.free(); // the consumer is stopping
            }
        }
    }
}
