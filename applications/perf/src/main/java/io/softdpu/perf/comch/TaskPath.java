package io.softdpu.perf.comch;

import io.softdpu.comch.ComchConnection;
import io.softdpu.comch.ComchConsumer;
import io.softdpu.comch.ComchEndpoint;
import io.softdpu.comch.ComchProducer;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Messages by a producer's tasks and a consumer's, whose buffers are posted again. */
final class TaskPath implements MessagePath {
    private final ComchSide side;
    private @Nullable Outgoing outgoing;

    TaskPath(ComchSide side) {
        this.side = side;
    }

    @Override
    public void configure(ComchEndpoint endpoint) {
        // Those that exist are asked for.
        endpoint.setConsumerCallbacks((_, _) -> {}, (_, _) -> {});
    }

    @Override
    public void receive(ComchConnection over) {
        ComchPlan plan = side.plan;
        MessagePool messages =
                side.keep(new MessagePool(side.device, plan.window(), plan.sizeBytes()));
        ComchConsumer consumer = ComchConsumer.create(over, messages.mmap());
        side.keep(() -> side.stop(consumer));
        Incoming posted = new Incoming(plan, messages, consumer, side::isClosing, side::received);
        side.engine.connect(consumer);
        consumer.start();
        side.until("consumer runs", () -> consumer.state() == ContextState.RUNNING);
        posted.fill();
    }

    @Override
    public void produce(ComchConnection over) {
        ComchPlan plan = side.plan;
        side.until(
                () ->
                        Text.format(
                                "peer has consumers, present=%d, expected=%d",
                                over.remoteConsumers().length, plan.consumers()),
                () -> over.remoteConsumers().length >= plan.consumers());
        MessagePool messages =
                side.keep(new MessagePool(side.device, plan.window(), plan.sizeBytes()));
        ComchProducer producer = ComchProducer.create(over);
        Outgoing sends = new Outgoing(plan, messages, producer);
        outgoing = sends;
        side.keep(() -> side.stop(producer));
        side.engine.connect(producer);
        producer.start();
        side.until("producer runs", () -> producer.state() == ContextState.RUNNING);
        sends.fill(over.remoteConsumers()[0]);
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
}
