package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * Up to six messages through two slots: committed messages arrive once each and in order, and a
 * slot is written again only after it was released.
 */
@JCStressTest
@Outcome(id = "[1-6], 1", expect = ACCEPTABLE, desc = "all that was sent has come, in order")
@State
public class MessageRingWrap {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 16);
    private static final int MESSAGES = 6;
    private static final int TRIES = 20;

    private final MessageRing.Consumer consumer;
    private final MessageRing.Producer producer;
    private int sent;
    private int received;
    private boolean good = true;

    public MessageRingWrap() {
        var memory = Memory.next();
        consumer = MessageRing.consumer(memory, GEOMETRY);
        producer = MessageRing.producer(memory, GEOMETRY);
    }

    @Actor
    public void send() {
        for (int i = 0; i < TRIES && sent < MESSAGES; i++) {
            long at = producer.claim();
            if (at >= 0) {
                sent++;
                producer.segment().set(ValueLayout.JAVA_LONG, at, sent);
                producer.segment().set(ValueLayout.JAVA_LONG, at + 8, -sent);
                producer.commit(sent, 16, sent);
            } else if (at != MessageRing.FULL) {
                sent = -1;
                return;
            }
        }
    }

    @Actor
    public void receive() {
        for (int i = 0; i < TRIES; i++) {
            take();
        }
    }

    private boolean take() {
        long at = consumer.poll();
        if (at < 0) {
            good &= at == MessageRing.EMPTY;
            return false;
        }
        received++;
        good &=
                consumer.word() == received
                        && consumer.type() == received
                        && consumer.segment().get(ValueLayout.JAVA_LONG, at) == received
                        && consumer.segment().get(ValueLayout.JAVA_LONG, at + 8) == -received;
        consumer.release();
        return true;
    }

    @Arbiter
    public void count(II_Result r) {
        while (take()) {
            continue;
        }
        r.r1 = sent;
        r.r2 = good && received == sent && producer.consumed() == sent ? 1 : 0;
    }
}
