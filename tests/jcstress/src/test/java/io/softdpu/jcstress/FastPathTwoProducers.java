package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two producers of one process, two buffers: each gets one of its own, and both arrive. */
@JCStressTest
@Outcome(
        id = {"1, 2, 0", "2, 1, 0"},
        expect = ACCEPTABLE,
        desc = "both, in some order, and nothing else")
@State
public class FastPathTwoProducers {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;

    public FastPathTwoProducers() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
        consumer.post(0, 64);
        consumer.post(64, 64);
    }

    @Actor
    public void first() {
        send(1);
    }

    @Actor
    public void second() {
        send(2);
    }

    private void send(int id) {
        long ticket = producer.claim(8);
        if (ticket >= 0) {
            producer.segment().set(ValueLayout.JAVA_LONG, producer.inlineOffset(ticket), id);
            producer.commit(ticket, 8, id, 0, true);
        }
    }

    @Arbiter
    public void look(III_Result r) {
        r.r1 = take();
        r.r2 = take();
        r.r3 = take();
    }

    private int take() {
        int found = consumer.poll();
        if (found != 1) {
            return found;
        }
        long data = consumer.segment().get(ValueLayout.JAVA_LONG, consumer.inlineOffset());
        int id = consumer.producerId();
        consumer.release();
        return data == id ? id : 100;
    }
}
