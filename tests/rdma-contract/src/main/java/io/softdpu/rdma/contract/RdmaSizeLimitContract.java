package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.testkit.Clause;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Operations of exactly the maximum size, and of one byte more; in an environment whose devices
 * limit it to at most a quarter of the memory of a {@link Peer}.
 */
public abstract class RdmaSizeLimitContract extends RdmaContract {
    /** For subclasses. */
    protected RdmaSizeLimitContract() {}

    /** The operations whose size the user chooses. */
    enum Operation {
        SEND(BufTaskType.SEND),
        SEND_IMMEDIATE(BufTaskType.SEND_IMMEDIATE),
        READ(BufTaskType.READ),
        WRITE(BufTaskType.WRITE),
        WRITE_IMMEDIATE(BufTaskType.WRITE_IMMEDIATE);

        final BufTaskType type;

        Operation(BufTaskType type) {
            this.type = type;
        }
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-071", "rdma-085", "rdma-097"})
    @Clause({"rdma-109", "rdma-120", "rdma-133"})
    void shouldTransferAsMuchAsTheDeviceAllowsAndNotOneByteMore(Operation operation) {
        Peer near = openConfigured(rdma -> rdma.setMaxSendBufferListLength(2));
        Pair pair = connect(near, openFar());
        long most = RdmaCapabilities.of(near.device.info()).maxMessageBytes();
        assertThat(most).isLessThanOrEqualTo(Peer.MEMORY_BYTES / 4);
        Mmap remote = near.importRdma(pair.far());
        for (boolean several : new boolean[] {false, true}) {
            assertRefused(operation, pair, remote, most + 1, several);
            assertTransferred(operation, pair, remote, most, several);
            assertRefused(operation, pair, remote, 2 * most, several);
        }
    }

    private static Status submit(
            Operation operation, Pair pair, Mmap remote, long sizeBytes, boolean several) {
        Peer near = pair.near();
        long first = several ? sizeBytes - 1 : sizeBytes;
        Buf here = Submissions.local(operation.type, near, near.mmap, 0, first);
        if (several) {
            here.chain(Submissions.local(operation.type, near, near.mmap, first, 1));
        }
        @Nullable Buf there =
                operation.type.isRemote()
                        ? Submissions.remote(operation.type, near, remote, 0, sizeBytes)
                        : null;
        return Submissions.submit(operation.type, near, pair.toFar(), here, there, 1);
    }

    private static void assertRefused(
            Operation operation, Pair pair, Mmap remote, long sizeBytes, boolean several) {
        pair.far().fill(0, 2 * sizeBytes, 1);
        pair.near().fill(0, 2 * sizeBytes, 2);
        assertThat(submit(operation, pair, remote, sizeBytes, several))
                .as("%d bytes", sizeBytes)
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(pair.near().rdma.inFlightTasks()).isZero();
        assertThat(pair.far().mismatch(0, 2 * sizeBytes, 1)).isEqualTo(-1);
        assertThat(pair.near().mismatch(0, 2 * sizeBytes, 2)).isEqualTo(-1);
    }

    private static void assertTransferred(
            Operation operation, Pair pair, Mmap remote, long sizeBytes, boolean several) {
        Peer near = pair.near();
        Peer far = pair.far();
        far.fill(0, sizeBytes, 3);
        near.fill(0, sizeBytes, 4);
        if (operation.type.needsReceive()) {
            // A receive may have room for more than a message can have.
            far.receive(far.room(0, 2 * sizeBytes), 2);
        }
        assertThat(submit(operation, pair, remote, sizeBytes, several)).isEqualTo(Status.SUCCESS);
        assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
        if (operation.type.needsReceive()) {
            assertThat(far.next(near).length()).isEqualTo(sizeBytes);
        }
        int seed = operation == Operation.READ ? 3 : 4;
        assertThat(far.mismatch(0, sizeBytes, seed)).isEqualTo(-1);
        assertThat(near.mismatch(0, sizeBytes, seed)).isEqualTo(-1);
    }
}
