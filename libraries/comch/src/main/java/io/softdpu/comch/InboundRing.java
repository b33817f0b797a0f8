package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;

/**
 * The ring through which one side of a connection receives, and its memory.
 *
 * @param bus where the memory is given to the peer
 * @param memory allocated and formatted, not yet given to anybody
 * @param ring the receiving half
 */
record InboundRing(Bus bus, SharedSegment memory, MessageRing.Consumer ring) {
    private static final String MEMORY_NAME = "softdpu-comch-queue";

    /**
     * Allocates a ring for these terms; a few system calls and first touches, so not in progress.
     */
    static InboundRing allocate(Bus bus, ChannelTerms terms) {
        SharedSegment memory = SharedSegment.allocate(MEMORY_NAME, terms.ring().sizeBytes());
        return new InboundRing(bus, memory, MessageRing.consumer(memory.segment(), terms.ring()));
    }

    void release() {
        bus.release(memory);
    }
}
