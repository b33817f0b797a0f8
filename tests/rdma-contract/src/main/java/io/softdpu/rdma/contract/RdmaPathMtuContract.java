package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sizes at which the packets of an operation change, with the lowest path MTU and the highest. */
public abstract class RdmaPathMtuContract extends RdmaContract {
    private static final int LOWEST = 256;
    private static final int HIGHEST = 4096;

    /** What is beside the bytes that an operation may write. */
    private static final int EDGE_BYTES = 64;

    /** For subclasses. */
    protected RdmaPathMtuContract() {}

    private Pair connectedWith(int pathMtuBytes) {
        Peer near = openConfigured(rdma -> rdma.setPathMtuBytes(pathMtuBytes));
        Peer far = openFar();
        far.rdma.setPathMtuBytes(HIGHEST);
        Pair pair = connect(near, far);
        assertThat(pair.toFar().pathMtuBytes()).as("the lower one").isEqualTo(pathMtuBytes);
        return pair;
    }

    @ParameterizedTest
    @EnumSource(names = {"SEND", "SEND_IMMEDIATE", "READ", "WRITE", "WRITE_IMMEDIATE"})
    void shouldTransferSizesAroundThePathMtu(BufTaskType type) {
        for (int mtu : new int[] {LOWEST, HIGHEST}) {
            Pair pair = connectedWith(mtu);
            Mmap remote = pair.near().importRdma(pair.far());
            LongStream.of(0, 1, mtu - 1, mtu, mtu + 1, 0xffff, 0x10000, 0x10001)
                    .forEach(bytes -> transfer(type, pair, remote, bytes));
        }
    }

    private static void transfer(BufTaskType type, Pair pair, Mmap remote, long bytes) {
        Peer near = pair.near();
        Peer far = pair.far();
        long all = EDGE_BYTES + bytes + EDGE_BYTES;
        near.fill(0, all, 1);
        far.fill(0, all, 2);
        if (type.needsReceive()) {
            far.receive(far.room(EDGE_BYTES, bytes), 2);
        }
        @Nullable Buf there =
                type.isRemote() ? Submissions.remote(type, near, remote, EDGE_BYTES, bytes) : null;
        Buf here = Submissions.local(type, near, near.mmap, EDGE_BYTES, bytes);

        assertThat(Submissions.submit(type, near, pair.toFar(), here, there, 1))
                .isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).as("%d bytes", bytes).isEqualTo(Status.SUCCESS);
        if (type.needsReceive()) {
            assertThat(far.next(near).length()).isEqualTo(bytes);
        }

        boolean isRead = type == BufTaskType.READ;
        Peer source = isRead ? far : near;
        Peer destination = isRead ? near : far;
        int old = isRead ? 1 : 2;
        assertThat(source.mismatch(0, all, 3 - old)).as("source of %d bytes", bytes).isEqualTo(-1);
        assertThat(
                        MemorySegment.mismatch(
                                source.bytes,
                                EDGE_BYTES,
                                EDGE_BYTES + bytes,
                                destination.bytes,
                                EDGE_BYTES,
                                EDGE_BYTES + bytes))
                .as("%d bytes", bytes)
                .isEqualTo(-1);
        assertThat(destination.mismatch(0, EDGE_BYTES, old)).as("before").isEqualTo(-1);
        for (long i = EDGE_BYTES + bytes; i < all; i++) {
            assertThat(destination.bytes.get(ValueLayout.JAVA_BYTE, i))
                    .as("byte %d behind %d", i, bytes)
                    .isEqualTo(Peer.pattern(old, i));
        }
    }
}
