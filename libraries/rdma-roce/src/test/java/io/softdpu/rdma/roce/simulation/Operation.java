package io.softdpu.rdma.roce.simulation;

import io.softdpu.core.Status;
import io.softdpu.rdma.spi.WorkRequest;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A request or receive of a program, its local memory in pieces, and what is expected of it. */
final class Operation implements WorkRequest.Sink {
    /**
     * Bytes that an operation changes in the peer's memory.
     *
     * @param offset in that memory
     */
    record Change(int offset, byte[] bytes) {
        boolean covers(int at, byte value) {
            return at >= offset && at < offset + bytes.length && bytes[at - offset] == value;
        }
    }

    private static final int MAX_PIECES = 4;
    private static final int GAP_BYTES = 3;
    private static final byte GAP = 0x33;

    final WorkRequest request;
    final int offset;
    final int length;

    /** What it changes; null if it changes nothing. */
    @Nullable Change change;

    /** Expected result of an atomic operation. */
    long before;

    /** Expected result of a read, if nothing later was executed before it. */
    byte[] expected = new byte[0];

    /** What was submitted after a read: a repeat of it may see that. */
    final List<Change> later = new ArrayList<>();

    /** Number of the message that it sends; 0 if none. */
    long messageNumber;

    private final byte[] memory;
    private final BiConsumer<Operation, Status> completion;

    /**
     * An operation without bytes yet.
     *
     * @param completion called at its completion; a receive has none
     */
    Operation(
            SeededRandom random,
            WorkRequest.Kind kind,
            @Nullable TestMemory remote,
            int offset,
            int length,
            BiConsumer<Operation, Status> completion) {
        this.completion = completion;
        this.offset = offset;
        this.length = length;
        request = new WorkRequest(kind, this, MAX_PIECES);
        request.remote = remote;
        request.remoteOffset = offset;
        request.lengthBytes = length;
        memory = new byte[length + (MAX_PIECES + 1) * GAP_BYTES];
        Arrays.fill(memory, GAP);
        MemorySegment segment = MemorySegment.ofArray(memory);
        boolean atomic =
                kind == WorkRequest.Kind.COMPARE_AND_SWAP || kind == WorkRequest.Kind.FETCH_AND_ADD;
        int pieces = atomic ? 1 : 1 + random.nextInt(MAX_PIECES);
        int left = length;
        int at = GAP_BYTES;
        for (int i = 1; i <= pieces; i++) {
            int bytes = i == pieces ? left : random.nextInt(left + 1);
            request.local.add(segment, at, bytes);
            at += bytes + GAP_BYTES;
            left -= bytes;
        }
    }

    @Override
    public void completed(Status status) {
        completion.accept(this, status);
    }

    /** The bytes of its local memory. */
    byte[] content() {
        byte[] bytes = new byte[length];
        int at = 0;
        for (int i = 0; i < request.local.count(); i++) {
            int count = (int) request.local.length(i);
            System.arraycopy(memory, (int) request.local.offset(i), bytes, at, count);
            at += count;
        }
        return bytes;
    }

    long word() {
        return MemorySegment.ofArray(content()).get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
    }

    /** Fills its local memory with random bytes; also to destroy what was completed. */
    void fill(SeededRandom random) {
        for (int i = 0; i < request.local.count(); i++) {
            random.fill(
                    request.local
                            .segment(i)
                            .asSlice(request.local.offset(i), request.local.length(i)));
        }
    }

    /** Whether nothing was written between the pieces. */
    boolean gapsAreWhole() {
        boolean[] inside = new boolean[memory.length];
        for (int i = 0; i < request.local.count(); i++) {
            int from = (int) request.local.offset(i);
            Arrays.fill(inside, from, from + (int) request.local.length(i), true);
        }
        for (int i = 0; i < memory.length; i++) {
            if (!inside[i] && memory[i] != GAP) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return request.kind + " offset=" + offset + " length=" + length;
    }
}
