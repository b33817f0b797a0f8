package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.fabric.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;

/**
 * The ring through which one side of a connection receives, and its memory.
 *
 * @param memory allocated and formatted, not yet given to anybody
 * @param ring the receiving half
 */
record InboundRing(SharedSegment memory, MessageRing.Consumer ring) {
    private static final String MEMORY_NAME = "softdpu-comch-queue";

    /**
     * Allocates a ring for these terms; a few system calls and first touches, so not in progress.
     */
    static InboundRing allocate(ChannelTerms terms) {
        SharedSegment memory = SharedSegment.allocate(MEMORY_NAME, terms.ring().sizeBytes());
        return new InboundRing(memory, MessageRing.consumer(memory.segment(), terms.ring()));
    }

    void release() {
        memory.release();
    }
}
