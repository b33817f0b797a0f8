package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sizes of operations: nothing, the limit, and beyond it, with lists and without. */
public abstract class RdmaSizeContract extends RdmaContract {
    private static final int LIST_LENGTH = 64;
    private static final int STEP_BYTES = 4096;

    /** For subclasses. */
    protected RdmaSizeContract() {}

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

    /** A read has the size of the remote buf, which {@link RdmaSizeLimitContract} exceeds. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READ")
    @Clause({"rdma-085", "rdma-097"})
    @Clause({"rdma-120", "rdma-133"})
    void shouldRefuseMoreThanTheLimitHoweverItIsMadeUp(Operation operation) throws IOException {
        Peer near = openConfigured(rdma -> rdma.setMaxSendBufferListLength(LIST_LENGTH));
        Pair pair = connect(near, openFar());
        Mmap remote = near.importRdma(pair.far());
        long limit = RdmaCapabilities.of(near.device.info()).maxMessageBytes();
        assertThat(limit).isBetween(1L << 20, 1L << 31);
        // A file with a hole: addresses without memory, which are not accessed.
        try (Arena arena = Arena.ofShared();
                FileChannel file =
                        FileChannel.open(
                                folder().resolve("hole"),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE);
                Mmap large = Mmap.create()) {
            MemorySegment memory = file.map(FileChannel.MapMode.READ_WRITE, 0, limit + 1, arena);
            large.setMemory(memory)
                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                    .addDevice(near.device)
                    .start();
            refused(operation, pair, remote, near.inventory.bufByData(large, 0, limit + 1));
            refused(
                    operation,
                    pair,
                    remote,
                    list(near, large, 1 + limit / 2, 1 + limit / 2)); // just beyond
            Buf most = near.inventory.bufByData(large, 0, limit + 1);
            for (int i = 1; i < LIST_LENGTH; i++) { // far beyond 32 bits
                most.chain(near.inventory.bufByData(large, 0, limit + 1));
            }
            refused(operation, pair, remote, most);
            large.stop();
        }
    }

    private static Buf list(Peer near, Mmap memory, long... sizes) {
        Buf head = near.inventory.bufByData(memory, 0, sizes[0]);
        for (int i = 1; i < sizes.length; i++) {
            head.chain(near.inventory.bufByData(memory, 0, sizes[i]));
        }
        return head;
    }

    private static void refused(Operation operation, Pair pair, Mmap remote, Buf list) {
        @Nullable Buf there =
                operation.type.isRemote()
                        ? pair.near().inventory.bufByAddress(remote, 0, Peer.MEMORY_BYTES)
                        : null;
        Task task = allocate(operation, pair, list, there);
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(Objects.requireNonNull(task.refusal()))
                .as("not the tailroom of the destination")
                .hasMessageContainingAll("data length ", ": source=", " bytes at most");
        assertThat(pair.near().rdma.inFlightTasks()).isZero();
        task.free();
        list.release();
        if (there != null) {
            there.release();
        }
    }

    private static Task allocate(Operation operation, Pair pair, Buf list, @Nullable Buf there) {
        Rdma rdma = pair.near().rdma;
        return switch (operation) {
            case SEND -> rdma.allocateSend(pair.toFar(), list);
            case SEND_IMMEDIATE -> rdma.allocateSendImmediate(pair.toFar(), list, 1);
            case WRITE -> rdma.allocateWrite(pair.toFar(), list, Objects.requireNonNull(there));
            case WRITE_IMMEDIATE ->
                    rdma.allocateWriteImmediate(
                            pair.toFar(), list, Objects.requireNonNull(there), 1);
            case READ -> throw new IllegalArgumentException("no local source: " + operation);
        };
    }

    @ParameterizedTest
    @EnumSource
    void shouldTransferNothingAsWell(Operation operation) {
        Peer near = openConfigured(rdma -> rdma.setMaxSendBufferListLength(3));
        Pair pair = connect(near, openFar());
        Peer far = pair.far();
        Mmap remote = near.importRdma(far);
        near.fill(0, 4096, 1);
        far.fill(0, 4096, 2);
        for (boolean several : new boolean[] {false, true}) {
            Buf here = Submissions.local(operation.type, near, near.mmap, 100, 0);
            if (several) {
                here.chain(Submissions.local(operation.type, near, near.mmap, 0, 0));
                here.chain(Submissions.local(operation.type, near, near.mmap, 7, 0));
            }
            if (operation.type.needsReceive()) {
                far.receive(far.room(0, 64), 1);
            }
            @Nullable Buf there =
                    operation.type.isRemote()
                            ? Submissions.remote(operation.type, near, remote, 64, 0)
                            : null;
            assertThat(Submissions.submit(operation.type, near, pair.toFar(), here, there, 1))
                    .isEqualTo(Status.SUCCESS);
            assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
            if (operation.type.needsReceive()) {
                assertThat(far.next(near).length()).isZero();
            }
            assertThat(near.mismatch(0, 4096, 1)).isEqualTo(-1);
            assertThat(far.mismatch(0, 4096, 2)).isEqualTo(-1);
        }
    }

    /** With the lowest path MTU and the highest; up to the limit of the providers in a soak. */
    @ParameterizedTest
    @EnumSource
    @Tag(Soak.TAG)
    void shouldTransferAsMuchAsTheMemoryOfTheTestHas(Operation operation) {
        BufTaskType type = operation.type;
        long bytes = Soak.count(1 << 20, 16 << 20, 1 << 30);
        long start = System.nanoTime();
        for (int mtu : new int[] {256, 4096}) {
            Peer near = openConfigured(rdma -> rdma.setPathMtuBytes(mtu));
            Peer far = openFar();
            far.rdma.setPathMtuBytes(mtu);
            Pair pair = connect(near, far);
            try (SharedMemory nearMemory = SharedMemory.allocate(bytes);
                    SharedMemory farMemory = SharedMemory.allocate(bytes);
                    Mmap ofNear = started(near, nearMemory);
                    Mmap ofFar = started(far, farMemory);
                    Mmap remote =
                            Mmap.createFromExport(ofFar.exportRdma(far.device), near.device)) {
                MemorySegment source =
                        (operation == Operation.READ ? farMemory : nearMemory).segment();
                for (long i = 0; i < bytes; i += STEP_BYTES) {
                    source.set(ValueLayout.JAVA_LONG, i, i + mtu);
                }
                if (type.needsReceive()) {
                    far.receive(far.inventory.bufByAddress(ofFar, 0, bytes), 2);
                }
                @Nullable Buf there =
                        type.isRemote() ? Submissions.remote(type, near, remote, 0, bytes) : null;
                Buf here = Submissions.local(type, near, ofNear, 0, bytes);
                assertThat(Submissions.submit(type, near, pair.toFar(), here, there, 1))
                        .isEqualTo(Status.SUCCESS);
                assertThat(near.next(far).status()).isEqualTo(Status.SUCCESS);
                if (type.needsReceive()) {
                    assertThat(far.next(near).length()).isEqualTo(bytes);
                }
                assertThat(nearMemory.segment().mismatch(farMemory.segment())).isEqualTo(-1);
            }
        }
        Soak.report(
                "rdma-sizes-" + operation,
                0,
                Duration.ofNanos(System.nanoTime() - start),
                "bytes=" + bytes);
    }

    private static Mmap started(Peer peer, SharedMemory memory) {
        Mmap mmap = Mmap.create();
        mmap.setMemory(memory).setPermissions(Peer.ALL).addDevice(peer.device).start();
        return mmap;
    }
}
