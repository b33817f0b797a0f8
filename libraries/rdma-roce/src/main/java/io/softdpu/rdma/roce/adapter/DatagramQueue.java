package io.softdpu.rdma.roce.adapter;

import io.softdpu.rdma.roce.rc.OutgoingPacket;
import io.softdpu.rdma.roce.wire.CmCodec;
import io.softdpu.rdma.roce.wire.ExtensionHeader;
import io.softdpu.rdma.roce.wire.Gid;
import io.softdpu.rdma.roce.wire.Headers;
import io.softdpu.rdma.roce.wire.Opcode;
import io.softdpu.rdma.roce.wire.SequenceNumber;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Datagrams of connection management that wait for their transmission, and their copies. */
final class DatagramQueue {
    /** UDP port from which they are sent. */
    private static final int SOURCE_PORT = 0xc000;

    private final @Nullable Gid[] destinations;
    private final MemorySegment payloads;
    private int first;
    private int count;
    private int psn;

    DatagramQueue(int size) {
        destinations = new @Nullable Gid[size];
        payloads = MemorySegment.ofArray(new byte[size * CmCodec.MESSAGE_BYTES]);
    }

    boolean isEmpty() {
        return count == 0;
    }

    boolean add(Gid destination, MemorySegment payload, long at) {
        if (count == destinations.length) {
            return false;
        }
        int place = (first + count) % destinations.length;
        destinations[place] = destination;
        MemorySegment.copy(payload, at, payloads, offset(place), CmCodec.MESSAGE_BYTES);
        count++;
        return true;
    }

    private static long offset(int place) {
        return (long) place * CmCodec.MESSAGE_BYTES;
    }

    /** Writes the oldest datagram, and removes it; not while {@link #isEmpty}. */
    void next(OutgoingPacket packet) {
        int place = first;
        Gid destination = destinations[place];
        if (destination == null) {
            throw new IllegalStateException("no datagram waits: count=" + count);
        }
        first = (first + 1) % destinations.length;
        count--;
        packet.begin(
                destination,
                SOURCE_PORT,
                Opcode.DATAGRAM,
                CmCodec.QUEUE_PAIR,
                false,
                psn,
                CmCodec.MESSAGE_BYTES);
        psn = SequenceNumber.next(psn);
        Headers.writeDeth(
                packet.headers(),
                Opcode.DATAGRAM.offset(ExtensionHeader.DETH),
                CmCodec.QUEUE_KEY,
                CmCodec.QUEUE_PAIR);
        packet.add(payloads, offset(place), CmCodec.MESSAGE_BYTES);
    }
}
