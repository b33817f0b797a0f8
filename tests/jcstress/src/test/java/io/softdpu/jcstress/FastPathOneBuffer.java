package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Two producers of one process, one buffer: one gets it, the other gets none. */
@JCStressTest
@Outcome(
        id = {"0, -1, 1", "-1, 0, 2"},
        expect = ACCEPTABLE,
        desc = "one of them, and its message")
@State
public class FastPathOneBuffer {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;

    public FastPathOneBuffer() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
        consumer.post(0, 64);
    }

    @Actor
    public void first(III_Result r) {
        r.r1 = send(1);
    }

    @Actor
    public void second(III_Result r) {
        r.r2 = send(2);
    }

    private int send(int id) {
        long ticket = producer.claim(0);
        if (ticket >= 0) {
            producer.commit(ticket, 0, id, 0, true);
        }
        return (int) ticket;
    }

    @Arbiter
    public void look(III_Result r) {
        r.r3 = consumer.poll() == 1 ? consumer.producerId() : 0;
    }
}
