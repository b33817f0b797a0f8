package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchPostReceiveTask;
import io.softdpu.comch.ComchProducer;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Messages by a producer's tasks and a consumer's, whose buffers are posted again. */
final class TaskPath implements MessagePath {
    private final PerfSide side;
    private @Nullable MessagePool incoming;
    private @Nullable Outgoing outgoing;
    private int remoteConsumer;

    TaskPath(PerfSide side) {
        this.side = side;
    }

    @Override
    public void configure(ComchEndpoint endpoint) {
        endpoint.setConsumerCallbacks((_, id) -> remoteConsumer = id, (_, _) -> {});
    }

    @Override
    public void receive(ComchConnection over) {
        PerfPlan plan = side.plan;
        MessagePool messages =
                side.keep(new MessagePool(side.device, plan.window(), plan.sizeBytes()));
        incoming = messages;
        ComchConsumer consumer = ComchConsumer.create(over, messages.mmap());
        side.keep(() -> side.stop(consumer));
        consumer.setPostReceiveTasks(plan.window(), this::consumed, ComchPostReceiveTask::free);
        side.engine.connect(consumer);
        consumer.start();
        side.until("consumer runs", () -> consumer.state() == ContextState.RUNNING);
        for (int i = 0; i < plan.window(); i++) {
            consumer.allocatePostReceiveTask(messages.buf(i)).submit();
        }
    }

    @Override
    public void produce(ComchConnection over) {
        side.until("peer has a consumer", () -> remoteConsumer != 0);
        PerfPlan plan = side.plan;
        MessagePool messages =
                side.keep(new MessagePool(side.device, plan.window(), plan.sizeBytes()));
        ComchProducer producer = ComchProducer.create(over);
        Outgoing sends = new Outgoing(plan, messages, producer);
        outgoing = sends;
        side.keep(() -> side.stop(producer));
        side.engine.connect(producer);
        producer.start();
        side.until("producer runs", () -> producer.state() == ContextState.RUNNING);
        sends.fill(remoteConsumer);
    }

    @Override
    public boolean trySend(long stamp) {
        return outgoing != null && outgoing.trySend(stamp);
    }

    @Override
    public boolean allSent() {
        return Objects.requireNonNull(outgoing, "produces").allSent();
    }

    @Override
    public void freeIdle() {
        if (outgoing != null) {
            outgoing.freeIdle();
        }
    }

    private void consumed(ComchPostReceiveTask task) {
        if (side.isClosing()) {
            task.free();
            return;
        }
        Buf buf = Objects.requireNonNull(task.buf());
        try {
            side.requireSize(task.receivedLength());
            side.received(side.plan.isStamped() ? Objects.requireNonNull(incoming).stamp(buf) : 0);
        } finally {
            buf.resetDataLength();
            if (task.trySubmit() != Status.SUCCESS) {
                task.free(); // the consumer is stopping
            }
        }
    }
}
