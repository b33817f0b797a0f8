package io.softdpu.rdma.contract;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaConnection;
import org.jspecify.annotations.Nullable;

/** Submissions of each type of task, with the same values for those that have some. */
final class Submissions {
    /** Immediate value whose bytes are all different, negative. */
    static final int IMMEDIATE = 0x8102_0304;

    /** Addend of a fetch and add, and new value of a compare and swap. */
    static final long OPERAND = 0x7102_0304_0506_0708L;

    private Submissions() {}

    /** Bufs over the peer's memory: data to read or to update, room to write. */
    static Buf remote(BufTaskType type, Peer near, Mmap remote, long offset, long length) {
        return switch (type) {
            case WRITE, WRITE_IMMEDIATE -> near.inventory.bufByAddress(remote, offset, length);
            default -> near.inventory.bufByData(remote, offset, length);
        };
    }

    /** Bufs over local memory: data to send or write, room for anything else. */
    static Buf local(BufTaskType type, Peer near, Mmap mmap, long offset, long length) {
        return switch (type) {
            case SEND, SEND_IMMEDIATE, WRITE, WRITE_IMMEDIATE ->
                    near.inventory.bufByData(mmap, offset, length);
            default -> near.inventory.bufByAddress(mmap, offset, length);
        };
    }

    /**
     * Submits a task; a refused one is freed, and its bufs are released.
     *
     * @param remote null for messages
     */
    static Status submit(
            BufTaskType type,
            Peer near,
            RdmaConnection connection,
            Buf local,
            @Nullable Buf remote,
            long userData) {
        return switch (type) {
            case SEND -> near.send(connection, local, userData);
            case SEND_IMMEDIATE -> near.sendImmediate(connection, local, IMMEDIATE, userData);
            case RECEIVE -> near.receive(local, userData);
            case READ -> near.read(connection, of(remote), local, userData);
            case WRITE -> near.write(connection, local, of(remote), userData);
            case WRITE_IMMEDIATE ->
                    near.writeImmediate(connection, local, of(remote), IMMEDIATE, userData);
            case COMPARE_AND_SWAP ->
                    near.compareAndSwap(connection, of(remote), local, 0, OPERAND, userData);
            case FETCH_AND_ADD ->
                    near.fetchAndAdd(connection, of(remote), local, OPERAND, userData);
        };
    }

    private static Buf of(@Nullable Buf remote) {
        if (remote == null) {
            throw new AssertionError("without remote memory");
        }
        return remote;
    }
}
