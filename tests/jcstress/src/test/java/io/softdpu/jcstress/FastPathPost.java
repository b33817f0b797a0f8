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

/** A posting that can be claimed is complete: place and size of the buffer. */
@JCStressTest
@Outcome(id = "-1, 0", expect = ACCEPTABLE, desc = "not posted yet")
@Outcome(id = "0, 4660", expect = ACCEPTABLE, desc = "claimed, with its offset and capacity")
@State
public class FastPathPost {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;

    public FastPathPost() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
    }

    @Actor
    public void post() {
        consumer.post(0x1234, 77);
    }

    @Actor
    public void claim(JJ_Result r) {
        r.r1 = producer.claim(77); // TOO_LARGE would show the capacity of before
        r.r2 = r.r1 == 0 ? producer.regionOffset(0) : 0;
    }
}
