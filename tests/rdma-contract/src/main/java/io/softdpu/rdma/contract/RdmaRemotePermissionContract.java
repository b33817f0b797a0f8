package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.rdma.Rdma;
import io.softdpu.testkit.Clause;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Permissions of mmaps and instances for reads and writes: the guide's table, on both sides, and
 * memory that is not the peer's.
 */
public abstract class RdmaRemotePermissionContract extends RdmaContract {
    private static final Permissions LOCAL_ONLY = Permissions.LOCAL_READ_WRITE;
    private static final Permissions READABLE =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_READ);
    private static final Permissions WRITABLE =
            Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.RDMA_WRITE);
    private static final Permissions READ = Permissions.of(AccessFlag.RDMA_READ);
    private static final Permissions WRITE = Permissions.of(AccessFlag.RDMA_WRITE);
    private static final Permissions READ_AND_WRITE =
            Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE);

    /** The two operations. */
    enum Operation {
        READ,
        WRITE
    }

    /** For subclasses. */
    protected RdmaRemotePermissionContract() {}

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-013", "rdma-020", "rdma-024"})
    @Clause("core-071")
    void shouldRefuseWhatThePeersMmapDoesNotGrant(Operation operation) {
        Permissions other = operation == Operation.READ ? WRITABLE : READABLE;
        Pair pair = connect(openNear(), openFar(other, READ_AND_WRITE));
        Mmap remote = pair.near().importRdma(pair.far());

        assertThat(submit(operation, pair, remote)).isEqualTo(Status.NOT_PERMITTED);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-020", "rdma-024"})
    void shouldNeedLocalReadAndWriteOfThePeersMmap(Operation operation) {
        Peer far = openFar(operation == Operation.READ ? READ : WRITE, READ_AND_WRITE);

        assertThat(Refusals.statusOf(() -> far.mmap.exportRdma(far.device)))
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-019", "rdma-023"})
    void shouldRefuseWhatThePeersInstanceDoesNotGrant(Operation operation) {
        Permissions other =
                operation == Operation.READ
                        ? Permissions.of(AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC)
                        : Permissions.of(AccessFlag.RDMA_READ, AccessFlag.RDMA_ATOMIC);
        for (Permissions granted : List.of(other, Permissions.LOCAL_READ_ONLY)) {
            Pair pair = connect(openNear(), openFar(Peer.ALL, granted));
            Mmap remote = pair.near().importRdma(pair.far());

            assertThat(submit(operation, pair, remote))
                    .as("instance grants %s", granted)
                    .isEqualTo(Status.NOT_PERMITTED);
        }
    }

    @Test
    @Clause("rdma-017")
    void shouldNeedThePermissionOfBothMmapAndInstanceOfThePeer() {
        Pair pair = connect(openNear(), openFar(READABLE, WRITE));
        Mmap remote = pair.near().importRdma(pair.far());

        assertThat(submit(Operation.READ, pair, remote))
                .as("granted by the mmap alone")
                .isEqualTo(Status.NOT_PERMITTED);
        assertThat(submit(Operation.WRITE, pair, remote))
                .as("granted by the instance alone")
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-018", "rdma-022"})
    void shouldRefuseLocalMemoryWithoutReadAndWrite(Operation operation) {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                Permissions.LOCAL_READ_ONLY,
                                rdma -> {}));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());

        assertThat(submit(operation, pair, remote)).isEqualTo(Status.NOT_PERMITTED);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-018", "rdma-022", "rdma-036"})
    void shouldNeedNoMoreThanLocalReadAndWriteToSubmit(Operation operation) {
        Peer near =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().nearSide(),
                                LOCAL_ONLY,
                                rdma -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY)));
        Permissions ofMmap = operation == Operation.READ ? READABLE : WRITABLE;
        Permissions ofInstance = operation == Operation.READ ? READ : WRITE;
        Pair pair = connect(near, openFar(ofMmap, ofInstance));
        Mmap remote = near.importRdma(pair.far());

        assertThat(submit(operation, pair, remote)).isEqualTo(Status.SUCCESS);
        assertThat(near.next(pair.far()).status()).isEqualTo(Status.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-021", "rdma-025"})
    void shouldRefuseMemoryThatNoPeerHasExported(Operation operation) {
        Pair pair = connected();

        assertThat(submit(operation, pair, pair.near().mmap)).isEqualTo(Status.INVALID_VALUE);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseThePeersMemoryAsTheLocalSide(Operation operation) {
        Pair pair = connected();
        Peer near = pair.near();
        Mmap remote = near.importRdma(pair.far());
        Buf one = near.inventory.bufByData(remote, 0, 64);
        Buf other = near.inventory.bufByAddress(remote, 64, 64);

        Status submitted =
                operation == Operation.READ
                        ? near.read(pair.toFar(), one, other, 0)
                        : near.write(pair.toFar(), one, other, 0);
        assertThat(submitted).isEqualTo(Status.NOT_PERMITTED);
    }

    private Peer openFar(Permissions ofMmap, Permissions ofInstance) {
        return add(
                Peer.open(
                        environment(),
                        folder(),
                        environment().farSide(),
                        ofMmap,
                        (Rdma rdma) -> rdma.setPermissions(ofInstance)));
    }

    private static Status submit(Operation operation, Pair pair, Mmap remote) {
        Peer near = pair.near();
        return switch (operation) {
            case READ ->
                    near.read(
                            pair.toFar(),
                            near.inventory.bufByData(remote, 0, 64),
                            near.room(4096, 64),
                            0);
            case WRITE ->
                    near.write(
                            pair.toFar(),
                            near.data(4096, 64),
                            near.inventory.bufByAddress(remote, 0, 64),
                            0);
        };
    }
}
