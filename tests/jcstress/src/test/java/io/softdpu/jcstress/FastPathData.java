package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A buffer that is seen as completed is complete: header, data and immediate data. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not completed yet")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "completed and whole")
@State
public class FastPathData {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;

    public FastPathData() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
        consumer.post(0, 64);
    }

    @Actor
    public void produce() {
        long ticket = producer.claim(64);
        var ring = producer.segment();
        for (int i = 0; i < 8; i++) {
            ring.set(ValueLayout.JAVA_LONG, producer.inlineOffset(ticket) + 8L * i, i + 1);
        }
        for (int i = 0; i < 4; i++) {
            ring.set(ValueLayout.JAVA_LONG, producer.immediateOffset(ticket) + 8L * i, -i - 1);
        }
        producer.commit(ticket, 64, 3, 32, true);
    }

    @Actor
    public void consume(II_Result r) {
        int found = consumer.poll();
        if (found == 0) {
            return;
        }
        boolean whole =
                found == 1
                        && consumer.length() == 64
                        && consumer.producerId() == 3
                        && consumer.immediateLength() == 32
                        && consumer.isInline()
                        && !consumer.isAbandoned();
        var ring = consumer.segment();
        for (int i = 0; i < 8; i++) {
            whole &= ring.get(ValueLayout.JAVA_LONG, consumer.inlineOffset() + 8L * i) == i + 1;
        }
        for (int i = 0; i < 4; i++) {
            whole &= ring.get(ValueLayout.JAVA_LONG, consumer.immediateOffset() + 8L * i) == -i - 1;
        }
        r.r1 = 1;
        r.r2 = whole ? 1 : 0;
    }
}
