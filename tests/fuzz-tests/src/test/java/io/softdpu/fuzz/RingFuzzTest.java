package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.testkit.GuardedMemory;
import io.softdpu.testkit.StartsProcesses;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Rings in memory that the peer changes at any place between two reads. */
@StartsProcesses
class RingFuzzTest {
    private static final int STEPS = 200;
    private static final MessageRing.Geometry MESSAGES = new MessageRing.Geometry(4, 40);
    private static final FastPathRing.Geometry FAST_PATH = new FastPathRing.Geometry(4);

    /** Nothing checks the words of rings at run time but these: what is beside them, and pages. */
    private static final GuardedMemory GUARDED =
            new GuardedMemory(Math.max(MESSAGES.sizeBytes(), FAST_PATH.sizeBytes()));

    /** Both halves of a message ring over the same hostile memory. */
    @FuzzTest
    void messages(FuzzedDataProvider data) {
        MemorySegment memory = ring(MESSAGES.sizeBytes(), data);
        MessageRing.Consumer consumer = MessageRing.consumer(memory, MESSAGES);
        MessageRing.Producer producer = MessageRing.producer(memory, MESSAGES);
        long released = 0;
        for (int i = 0; i < STEPS && data.remainingBytes() > 0; i++) {
            switch (data.consumeInt(0, 5)) {
                case 0 -> poke(memory, data);
                case 1 -> {
                    long at = producer.claim();
                    if (at >= 0) {
                        memory.asSlice(at, MESSAGES.maxPayloadBytes()).fill((byte) i);
                        producer.commit(data.consumeInt(), data.consumeInt(0, 40), i);
                    }
                }
                case 2, 3 -> {
                    long at = consumer.poll();
                    if (at >= 0) {
                        require(consumer.length() >= 0 && consumer.length() <= 40, "length");
                        memory.asSlice(at, consumer.length());
                        require(consumer.poll() == at, "the same message until it is released");
                        consumer.release();
                        released++;
                    }
                }
                case 4 -> {
                    consumer.arm();
                    consumer.disarm();
                    consumer.peerArmed();
                }
                default -> {
                    producer.arm();
                    producer.disarm();
                    producer.peerArmed();
                    require(producer.free() >= 0 && producer.free() <= 4, "free slots");
                }
            }
            require(consumer.consumed() == released, "own index is never read back");
            require(!consumer.corrupt() || consumer.poll() < 0, "corrupt stays corrupt");
        }
        require(GUARDED.isIntact(), "nothing is written beside the ring");
    }

    /** Both halves of a fast path ring over the same hostile memory. */
    @FuzzTest
    void fastPath(FuzzedDataProvider data) {
        MemorySegment memory = ring(FAST_PATH.sizeBytes(), data);
        FastPathConsumer consumer = FastPathRing.consumer(memory, FAST_PATH);
        FastPathProducer producer = FastPathRing.producer(memory, FAST_PATH);
        long[] capacities = new long[4];
        int posted = 0;
        int completed = 0;
        for (int i = 0; i < STEPS && data.remainingBytes() > 0; i++) {
            switch (data.consumeInt(0, 5)) {
                case 0 -> poke(memory, data);
                case 1 -> {
                    long capacity = data.consumeLong(0, 1 << 20);
                    if (consumer.post(data.consumeLong(), capacity)) {
                        capacities[posted++ & 3] = capacity;
                    }
                }
                case 2 -> {
                    long length = data.consumeLong(0, 128);
                    long ticket = producer.claim(length);
                    if (ticket >= 0) {
                        producer.regionOffset(ticket); // any value; the caller checks it
                        memory.asSlice(producer.inlineOffset(ticket), FastPathRing.INLINE_BYTES);
                        memory.asSlice(
                                producer.immediateOffset(ticket), FastPathRing.IMMEDIATE_BYTES);
                        producer.commit(ticket, length, i, data.consumeInt(0, 32), length <= 64);
                    }
                }
                case 3, 4 -> {
                    if (consumer.poll() == 1) {
                        require(
                                consumer.length() >= 0
                                        && consumer.length() <= capacities[completed & 3],
                                "length within what was posted");
                        require(
                                !consumer.isInline() || consumer.length() <= 64,
                                "inline data within the slot");
                        memory.asSlice(
                                consumer.inlineOffset(),
                                consumer.isInline() ? consumer.length() : 0);
                        memory.asSlice(consumer.immediateOffset(), consumer.immediateLength());
                        consumer.release();
                        completed++;
                    }
                }
                default -> {
                    consumer.arm();
                    consumer.disarm();
                    producer.peerArmed();
                }
            }
            require(consumer.outstanding() == posted - completed, "own indices");
        }
        require(GUARDED.isIntact(), "nothing is written beside the ring");
    }

    private static MemorySegment ring(long sizeBytes, FuzzedDataProvider data) {
        boolean atEnd = data.remainingBytes() % 2 == 0;
        return GUARDED.ring(sizeBytes, atEnd).asSlice(0, sizeBytes).fill((byte) 0);
    }

    private static void poke(MemorySegment memory, FuzzedDataProvider data) {
        int index = data.consumeInt(0, (int) (memory.byteSize() / Long.BYTES) - 1);
        memory.set(ValueLayout.JAVA_LONG, 8L * index, data.consumeLong());
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError("broken by the peer: " + what);
        }
    }
}
