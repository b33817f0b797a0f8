package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * A producer that another one overtakes between its two loads, so that the ring has wrapped
 * meanwhile, reads again and does not report a corrupt ring.
 */
@JCStressTest
@Outcome(
        id = {"0, -1", "1, 0", "-1, 0"},
        expect = ACCEPTABLE,
        desc = "each has a buffer of its own, or none")
@State
public class FastPathOvertaken {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(1);

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;

    public FastPathOvertaken() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
        consumer.post(0, 64);
    }

    @Actor
    public void claim(JJ_Result r) {
        r.r1 = producer.claim(8);
    }

    @Actor
    public void goRound(JJ_Result r) {
        r.r2 = producer.claim(8);
        if (r.r2 == 0) {
            producer.commit(0, 8, 1, 0, true);
            consumer.poll();
            consumer.release();
            consumer.post(64, 64);
        }
    }
}
