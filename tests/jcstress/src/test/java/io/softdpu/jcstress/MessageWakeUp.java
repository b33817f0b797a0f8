package io.softdpu.jcstress;

import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.MemorySegment;

/** A receiver sleeps until a message comes. */
public final class MessageWakeUp implements WakeUp, WakeUp.Maker {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(2, 16);

    private MessageRing.Consumer consumer;
    private MessageRing.Producer producer;

    @Override
    public WakeUp make(MemorySegment memory) {
        MessageWakeUp made = new MessageWakeUp();
        made.consumer = MessageRing.consumer(memory, GEOMETRY);
        made.producer = MessageRing.producer(memory, GEOMETRY);
        return made;
    }

    @Override
    public boolean publishAndAsk() {
        producer.claim();
        producer.commit(1, 0, 0);
        return producer.peerArmed();
    }

    @Override
    public boolean armAndLook() {
        return consumer.arm();
    }
}
