package io.softdpu.jcstress;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;

/** A consumer sleeps until a posted buffer is completed. */
public final class FastPathWakeUp implements WakeUp, WakeUp.Maker {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private FastPathConsumer consumer;
    private FastPathProducer producer;
    private long ticket;

    @Override
    public WakeUp make(MemorySegment memory) {
        FastPathWakeUp made = new FastPathWakeUp();
        made.consumer = FastPathRing.consumer(memory, GEOMETRY);
        made.producer = FastPathRing.producer(memory, GEOMETRY);
        made.consumer.post(0, 64);
        made.ticket = made.producer.claim(8);
        return made;
    }

    @Override
    public boolean publishAndAsk() {
        producer.commit(ticket, 8, 1, 0, true);
        return producer.peerArmed();
    }

    @Override
    public boolean armAndLook() {
        return consumer.arm();
    }
}
