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
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Up to six messages through two buffers that are posted repeatedly: each arrives once, in order.
 */
@JCStressTest
@Outcome(id = "[1-6], 1", expect = ACCEPTABLE, desc = "all that was sent has come, in order")
@State
public class FastPathWrap {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);
    private static final int MESSAGES = 6;
    private static final int TRIES = 20;

    private final FastPathConsumer consumer;
    private final FastPathProducer producer;
    private int sent;
    private int received;
    private boolean good = true;

    public FastPathWrap() {
        var memory = Memory.next();
        consumer = FastPathRing.consumer(memory, GEOMETRY);
        producer = FastPathRing.producer(memory, GEOMETRY);
        consumer.post(0, 64);
        consumer.post(64, 64);
    }

    @Actor
    public void send() {
        for (int i = 0; i < TRIES && sent < MESSAGES; i++) {
            long ticket = producer.claim(8);
            if (ticket >= 0) {
                sent++;
                producer.segment().set(ValueLayout.JAVA_LONG, producer.inlineOffset(ticket), sent);
                producer.commit(ticket, 8, sent, 0, true);
            } else if (ticket != FastPathRing.NO_BUFFER) {
                sent = -1;
                return;
            }
        }
    }

    @Actor
    public void receive() {
        for (int i = 0; i < TRIES; i++) {
            if (take()) {
                good &= consumer.post(0, 64);
            }
        }
    }

    private boolean take() {
        int found = consumer.poll();
        if (found != 1) {
            good &= found == 0;
            return false;
        }
        received++;
        good &=
                consumer.producerId() == received
                        && consumer.segment().get(ValueLayout.JAVA_LONG, consumer.inlineOffset())
                                == received;
        consumer.release();
        return true;
    }

    @Arbiter
    public void count(II_Result r) {
        while (take()) {
            continue;
        }
        r.r1 = sent;
        r.r2 = good && received == sent ? 1 : 0;
    }
}
