package io.softdpu.comch;

import io.softdpu.core.copy.Copier;
import java.lang.foreign.MemorySegment;

/**
 * Messages of {@link ComchConnection#send} that wait for the peer, in order: copies of their bytes,
 * one after the other in a ring.
 *
 * <p>Its memory begins with nothing, doubles when it is needed, and stays until the connection has
 * ended: a program that sends within its usual depth allocates nothing. Belongs to the thread of
 * the connection's engine.
 */
final class SendQueue {
    private static final int FIRST_MESSAGES = 16;
    private static final int FIRST_BYTES = 4 << 10;

    private final Copier copier;
    private final int maxMessages;
    private final int maxBytes;
    private final int maxMessageBytes;

    /** Ring of the lengths. */
    private int[] lengths = {};

    private MemorySegment ring = MemorySegment.ofArray(new byte[0]);
    private int capacityBytes;
    private int first;
    private int count;
    private int firstByte;
    private int bytes;

    /**
     * An empty queue.
     *
     * @param maxMessageBytes the largest message of the connection, 1 to {@code maxBytes}
     */
    SendQueue(Copier copier, int maxMessages, int maxBytes, int maxMessageBytes) {
        this.copier = copier;
        this.maxMessages = maxMessages;
        this.maxBytes = maxBytes;
        this.maxMessageBytes = maxMessageBytes;
    }

    boolean isEmpty() {
        return count == 0;
    }

    int messages() {
        return count;
    }

    int bytes() {
        return bytes;
    }

    int maxMessages() {
        return maxMessages;
    }

    int maxBytes() {
        return maxBytes;
    }

    /** Whether the longest message has room. */
    boolean hasRoom() {
        return count < maxMessages && bytes <= maxBytes - maxMessageBytes;
    }

    /** Whether half of it is free, and the longest message has room. */
    boolean isHalfEmpty() {
        return count <= maxMessages / 2 && bytes <= maxBytes / 2 && hasRoom();
    }

    /** Copies a message to the end; false if it has no room. */
    boolean add(MemorySegment memory, long offset, int length) {
        if (count == maxMessages || length > maxBytes - bytes) {
            return false;
        }
        reserve(length);
        int place = wrapped((long) firstByte + bytes);
        int untilEnd = Math.min(length, capacityBytes - place);
        copier.message(memory, offset, ring, place, untilEnd);
        if (untilEnd < length) {
            copier.message(memory, offset + untilEnd, ring, 0, length - untilEnd);
        }
        lengths[(first + count) % lengths.length] = length;
        count++;
        bytes += length;
        return true;
    }

    /** Moves the first message to other memory; its length in bytes. Not empty. */
    int moveFirst(MemorySegment to, long offset) {
        int length = lengths[first];
        int untilEnd = Math.min(length, capacityBytes - firstByte);
        copier.message(ring, firstByte, to, offset, untilEnd);
        if (untilEnd < length) {
            copier.message(ring, 0, to, offset + untilEnd, length - untilEnd);
        }
        first = (first + 1) % lengths.length;
        firstByte = wrapped((long) firstByte + length);
        count--;
        bytes -= length;
        return length;
    }

    private int wrapped(long place) {
        return (int) (place < capacityBytes ? place : place - capacityBytes);
    }

    /** Makes room for one more message, within the limits. */
    private void reserve(int length) {
        if (count == lengths.length) {
            int size = Math.min(maxMessages, Math.max(FIRST_MESSAGES, 2 * count));
            int[] larger = new int[size];
            for (int i = 0; i < count; i++) {
                larger[i] = lengths[(first + i) % lengths.length];
            }
            lengths = larger;
            first = 0;
        }
        if (length > capacityBytes - bytes) {
            long wanted = Math.max(2L * capacityBytes, Math.max(FIRST_BYTES, bytes + length));
            byte[] larger = new byte[(int) Math.min(maxBytes, wanted)];
            MemorySegment grown = MemorySegment.ofArray(larger);
            int untilEnd = Math.min(bytes, capacityBytes - firstByte);
            MemorySegment.copy(ring, firstByte, grown, 0, untilEnd);
            MemorySegment.copy(ring, 0, grown, untilEnd, bytes - untilEnd);
            ring = grown;
            capacityBytes = larger.length;
            firstByte = 0;
        }
    }
}
