package io.softdpu.comch;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.jcstress.Memory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two producers wait for one buffer, and the first ends its wait while the second goes to sleep:
 * the second sees that the buffer is kept for it, or is woken.
 */
@JCStressTest
@Outcome(id = "false, false", expect = FORBIDDEN, desc = "lost: it sleeps, and is not woken")
@Outcome(expect = ACCEPTABLE, desc = "woken, or seen, or both")
@State
public class CreditQueueSleep {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private final CreditWaiter first;
    private final CreditWaiter second;
    private volatile boolean woken;

    public CreditQueueSleep() {
        var memory = Memory.next();
        FastPathConsumer consumer = FastPathRing.consumer(memory, GEOMETRY);
        FastPathProducer ring = FastPathRing.producer(memory, GEOMETRY);
        CreditQueue queue = new CreditQueue(ring, System::nanoTime);
        first = new CreditWaiter(queue, () -> {});
        second = new CreditWaiter(queue, () -> woken = true);
        first.begin();
        second.begin();
        consumer.post(0, 64);
    }

    @Actor
    public void end() {
        first.end();
    }

    @Actor
    public void sleep(ZZ_Result r) {
        r.r1 = second.arm();
    }

    @Arbiter
    public void look(ZZ_Result r) {
        r.r2 = woken;
    }
}
