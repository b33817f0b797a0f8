package io.softdpu.perf.rdma;

import io.softdpu.core.memory.AccessFlag;
import io.softdpu.perf.text.Word;
import io.softdpu.rdma.RdmaTaskType;
import org.jspecify.annotations.Nullable;

/** Operation that is measured. */
public enum RdmaOperation implements Word {
    /** Writes into the memory of the peer. */
    WRITE("write", RdmaTaskType.WRITE, AccessFlag.RDMA_WRITE),
    /** Reads the memory of the peer. */
    READ("read", RdmaTaskType.READ, AccessFlag.RDMA_READ),
    /** Sends to a receive of the peer. */
    SEND("send", RdmaTaskType.SEND, null),
    /** Writes into the memory of the peer, and completes a receive of it. */
    WRITE_IMMEDIATE("write-imm", RdmaTaskType.WRITE_IMMEDIATE, AccessFlag.RDMA_WRITE),
    /** Adds to eight bytes of the peer. */
    FETCH_AND_ADD("fetch-add", RdmaTaskType.ATOMIC_FETCH_AND_ADD, AccessFlag.RDMA_ATOMIC),
    /** Compares and swaps eight bytes of the peer. */
    COMPARE_AND_SWAP("cmp-swap", RdmaTaskType.ATOMIC_COMPARE_AND_SWAP, AccessFlag.RDMA_ATOMIC);

    private final String word;
    private final RdmaTaskType taskType;
    private final @Nullable AccessFlag right;

    RdmaOperation(String word, RdmaTaskType taskType, @Nullable AccessFlag right) {
        this.word = word;
        this.taskType = taskType;
        this.right = right;
    }

    @Override
    public String word() {
        return word;
    }

    /** The type of its tasks. */
    RdmaTaskType taskType() {
        return taskType;
    }

    /** The right to the memory of the peer that it needs; null for none. */
    @Nullable AccessFlag right() {
        return right;
    }

    /** Whether it changes eight bytes atomically. */
    boolean isAtomic() {
        return this == FETCH_AND_ADD || this == COMPARE_AND_SWAP;
    }

    /** Whether it completes a receive task of the peer. */
    boolean isReceived() {
        return this == SEND || this == WRITE_IMMEDIATE;
    }

    /** Whether the peer can answer it by the same operation, so that there are round trips. */
    boolean hasAnswer() {
        return this == WRITE || isReceived();
    }
}
