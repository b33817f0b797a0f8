package io.softdpu.jcstress;

import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import java.lang.foreign.MemorySegment;

/** A producer sleeps until the consumer posts a buffer. */
public final class CreditWakeUp implements WakeUp, WakeUp.Maker {
    private static final FastPathRing.Geometry GEOMETRY = new FastPathRing.Geometry(2);

    private FastPathConsumer consumer;
    private FastPathProducer producer;

    @Override
    public WakeUp make(MemorySegment memory) {
        CreditWakeUp made = new CreditWakeUp();
        made.consumer = FastPathRing.consumer(memory, GEOMETRY);
        made.producer = FastPathRing.producer(memory, GEOMETRY);
        return made;
    }

    @Override
    public boolean publishAndAsk() {
        consumer.post(0, 64);
        return consumer.isPeerToBeAsked(true) && consumer.peerArmed();
    }

    @Override
    public boolean armAndLook() {
        producer.arm();
        return producer.available() > 0;
    }
}
