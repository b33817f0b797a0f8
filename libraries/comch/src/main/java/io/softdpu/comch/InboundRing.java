package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;

/**
 * Receive ring of one side of a connection, and its memory.
 *
 * @param bus through which the memory is shared with the peer
 * @param memory allocated and formatted, not yet shared
 * @param ring the consumer side of the ring
 */
record InboundRing(Bus bus, SharedSegment memory, MessageRing.Consumer ring) {
    private static final String MEMORY_NAME = "softdpu-comch-queue";

    /** Allocates a ring for these terms. Costs system calls and page faults, so not in progress. */
    static InboundRing allocate(Bus bus, ChannelTerms terms) {
        SharedSegment memory = SharedSegment.allocate(MEMORY_NAME, terms.ring().sizeBytes());
        return new InboundRing(bus, memory, MessageRing.consumer(memory.segment(), terms.ring()));
    }

    void release() {
        bus.release(memory);
    }
}
