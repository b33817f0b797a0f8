package io.softdpu.jcstress;

import io.softdpu.fabric.ring.MessageRing;
import java.lang.foreign.MemorySegment;

/** A sender sleeps before a full ring until the receiver releases a message. */
public final class RoomWakeUp implements WakeUp, WakeUp.Maker {
    private static final MessageRing.Geometry GEOMETRY = new MessageRing.Geometry(1, 16);

    private MessageRing.Consumer consumer;
    private MessageRing.Producer producer;

    @Override
    public WakeUp make(MemorySegment memory) {
        RoomWakeUp made = new RoomWakeUp();
        made.consumer = MessageRing.consumer(memory, GEOMETRY);
        made.producer = MessageRing.producer(memory, GEOMETRY);
        made.producer.claim();
        made.producer.commit(1, 0, 0);
        made.consumer.poll();
        return made;
    }

    @Override
    public boolean publishAndAsk() {
        consumer.release();
        return consumer.peerArmed();
    }

    @Override
    public boolean armAndLook() {
        return producer.arm();
    }
}
