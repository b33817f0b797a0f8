package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A visible message is complete: header and payload, never earlier content. */
@JCStressTest
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "there and whole")
@State
public class MessageRingData {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 40);
    private static final long OLD = 0xa5a5a5a5a5a5a5a5L;

    private final MessageRing.Consumer consumer;
    private final MessageRing.Producer producer;

    public MessageRingData() {
        var memory = Memory.next();
        consumer = MessageRing.consumer(memory, GEOMETRY);
        producer = MessageRing.producer(memory, GEOMETRY);
        long at = producer.claim();
        for (long offset = at - MessageRing.HEADER_BYTES; offset < at + 40; offset += 8) {
            memory.set(ValueLayout.JAVA_LONG, offset, OLD);
        }
    }

    @Actor
    public void send() {
        long at = producer.claim();
        for (int i = 0; i < 5; i++) {
            producer.segment().set(ValueLayout.JAVA_LONG, at + 8L * i, i + 1);
        }
        producer.commit(7, 40, 9);
    }

    @Actor
    public void receive(II_Result r) {
        long at = consumer.poll();
        if (at == MessageRing.EMPTY) {
            return;
        }
        boolean whole = consumer.type() == 7 && consumer.length() == 40 && consumer.word() == 9;
        for (int i = 0; i < 5; i++) {
            whole &= consumer.segment().get(ValueLayout.JAVA_LONG, at + 8L * i) == i + 1;
        }
        r.r1 = 1;
        r.r2 = whole ? 1 : 0;
    }
}
