package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The guide's table of permissions as a whole: each type of task with each set of rights of the
 * peer's instance and of the peer's mmap, with local memory that may be written or not, exported or
 * not. What the table allows works; all else fails with its status and modifies no byte.
 */
public abstract class RdmaPermissionTableContract extends RdmaContract {
    private static final AccessFlag[] RIGHTS = {
        AccessFlag.RDMA_READ, AccessFlag.RDMA_WRITE, AccessFlag.RDMA_ATOMIC
    };
    private static final int SETS = 1 << RIGHTS.length;
    private static final long BYTES = 4096;
    private static final long LENGTH = 64;

    /** More passes of an engine than one operation takes. */
    private static final int PASSES = 4;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final MemorySegment UNTOUCHED =
            MemorySegment.ofArray(new long[(int) Peer.MEMORY_BYTES / 8]).asReadOnly();

    /** For subclasses. */
    protected RdmaPermissionTableContract() {}

    /** Memory of one side with a set of rights, and the content that is expected. */
    private static final class Region implements AutoCloseable {
        private final SharedMemory memory = SharedMemory.allocate(BYTES);
        private final MemorySegment expected = MemorySegment.ofArray(new long[(int) BYTES / 8]);
        private final Mmap mmap = Mmap.create();

        Region(Peer peer, Permissions permissions, int seed) {
            for (long i = 0; i < BYTES; i++) {
                memory.segment().set(ValueLayout.JAVA_BYTE, i, Peer.pattern(seed, i));
            }
            keep();
            mmap.setMemory(memory).setPermissions(permissions).addDevice(peer.device).start();
        }

        void keep() {
            expected.copyFrom(memory.segment());
        }

        void setWord(long offset, long value) {
            memory.segment().set(WORD, offset, value);
        }

        /** Expects the bytes of another region. */
        void copy(long to, Region from, long offset) {
            MemorySegment.copy(from.expected, offset, expected, to, LENGTH);
        }

        long mismatch() {
            return memory.segment().mismatch(expected);
        }

        @Override
        public void close() {
            mmap.close();
            memory.close();
        }
    }

    private static Permissions rights(int set, boolean withLocal) {
        List<AccessFlag> flags = new ArrayList<>();
        if (withLocal) {
            flags.add(AccessFlag.LOCAL_READ_WRITE);
        }
        for (int i = 0; i < RIGHTS.length; i++) {
            if ((set & 1 << i) != 0) {
                flags.add(RIGHTS[i]);
            }
        }
        return Permissions.of(flags.toArray(AccessFlag[]::new));
    }

    private static @Nullable AccessFlag needed(BufTaskType type) {
        return switch (type) {
            case READ -> AccessFlag.RDMA_READ;
            case WRITE, WRITE_IMMEDIATE -> AccessFlag.RDMA_WRITE;
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> AccessFlag.RDMA_ATOMIC;
            case SEND, SEND_IMMEDIATE, RECEIVE -> null;
        };
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    @Clause({"rdma-018", "rdma-019"})
    @Clause({"rdma-020", "rdma-021"})
    void shouldAllowReadsAsTheTableDoes(int ofInstance) {
        assertTable(ofInstance, EnumSet.of(BufTaskType.READ));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    @Clause({"rdma-022", "rdma-023"})
    @Clause({"rdma-024", "rdma-025"})
    void shouldAllowWritesAsTheTableDoes(int ofInstance) {
        assertTable(ofInstance, EnumSet.of(BufTaskType.WRITE, BufTaskType.WRITE_IMMEDIATE));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    @Clause({"rdma-026", "rdma-027"})
    @Clause({"rdma-028", "rdma-029"})
    void shouldAllowAtomicOperationsAsTheTableDoes(int ofInstance) {
        assertTable(
                ofInstance, EnumSet.of(BufTaskType.COMPARE_AND_SWAP, BufTaskType.FETCH_AND_ADD));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    @Clause({"rdma-030", "rdma-031"})
    @Clause({"rdma-032", "rdma-033"})
    void shouldAllowMessagesAsTheTableDoes(int ofInstance) {
        assertTable(
                ofInstance,
                EnumSet.of(BufTaskType.SEND, BufTaskType.SEND_IMMEDIATE, BufTaskType.RECEIVE));
    }

    private void assertTable(int ofInstance, Set<BufTaskType> types) {
        Peer near = openConfigured(rdma -> rdma.setPermissions(Permissions.LOCAL_READ_ONLY));
        Peer far =
                add(
                        Peer.open(
                                environment(),
                                folder(),
                                environment().farSide(),
                                Peer.ALL,
                                rdma -> rdma.setPermissions(rights(ofInstance, false))));
        Pair pair = connect(near, far);
        for (int ofMmap = 0; ofMmap < SETS; ofMmap++) {
            Region there = keep(far, new Region(far, rights(ofMmap, true), 2));
            @Nullable Mmap remote =
                    ofMmap == 0 ? null : near.importRdma(there.mmap.exportRdma(far.device));
            if (ofMmap == 0) {
                assertThat(Refusals.statusOf(() -> there.mmap.exportRdma(far.device)))
                        .isEqualTo(Status.NOT_PERMITTED);
            }
            for (boolean writable : new boolean[] {true, false}) {
                Permissions ofLocal =
                        writable ? Permissions.LOCAL_READ_WRITE : Permissions.LOCAL_READ_ONLY;
                Region here = keep(near, new Region(near, ofLocal, 1));
                for (BufTaskType type : types) {
                    for (boolean exported : new boolean[] {true, false}) {
                        Status expected = expected(type, ofInstance, ofMmap, writable, exported);
                        assertOne(type, pair, here, there, exported ? remote : null, expected);
                    }
                }
            }
        }
    }

    private static Region keep(Peer peer, Region region) {
        peer.closeLater(region);
        return region;
    }

    private static Status expected(
            BufTaskType type, int ofInstance, int ofMmap, boolean writable, boolean exported) {
        AccessFlag needed = needed(type);
        if (!writable) {
            return Status.NOT_PERMITTED;
        }
        if (needed == null) {
            return Status.SUCCESS; // needs no right and no export
        }
        if (!exported || ofMmap == 0) {
            return Status.INVALID_VALUE;
        }
        return rights(ofMmap, true).has(needed) && rights(ofInstance, false).has(needed)
                ? Status.SUCCESS
                : Status.NOT_PERMITTED;
    }

    private static void assertOne(
            BufTaskType type,
            Pair pair,
            Region here,
            Region there,
            @Nullable Mmap remote,
            Status expected) {
        Peer near = pair.near();
        Peer far = pair.far();
        if (type == BufTaskType.COMPARE_AND_SWAP) {
            there.setWord(1024, 0); // what the task compares with
        }
        here.keep();
        there.keep();
        Buf local = Submissions.local(type, near, here.mmap, 512, LENGTH);
        // Without an export the only memory that could be named is local.
        Buf farther =
                Submissions.remote(type, near, remote == null ? near.mmap : remote, 1024, LENGTH);
        Status submitted =
                Submissions.submit(
                        type, near, pair.toFar(), local, type.isRemote() ? farther : null, 1);
        if (!type.isRemote()) {
            farther.release();
        }
        String what =
                Text.format(
                        "%s, exported %b, local %s", type, remote != null, here.mmap.permissions());
        assertThat(submitted).as(what).isEqualTo(expected);
        if (expected != Status.SUCCESS) {
            assertThat(near.rdma.inFlightTasks()).isZero();
        } else {
            run(type, pair, there, what);
            expect(type, here, there);
        }
        for (int i = 0; i < PASSES; i++) { // also for one that was queued in spite of its refusal
            near.engine.progress();
            far.engine.progress();
        }
        assertThat(here.mismatch()).as("%s, here", what).isEqualTo(-1);
        assertThat(there.mismatch()).as("%s, there", what).isEqualTo(-1);
        assertThat(near.bytes.mismatch(UNTOUCHED)).as("%s, other memory", what).isEqualTo(-1);
    }

    /** Drives a task that was accepted to its end. */
    private static void run(BufTaskType type, Pair pair, Region there, String what) {
        Peer near = pair.near();
        Peer far = pair.far();
        if (type.needsReceive()) {
            far.receive(far.inventory.bufByAddress(there.mmap, 2048, LENGTH), 2);
        } else if (type == BufTaskType.RECEIVE) {
            far.send(pair.toNear(), far.inventory.bufByData(there.mmap, 0, LENGTH), 2);
        }
        assertThat(near.next(far).status()).as(what).isEqualTo(Status.SUCCESS);
        if (type.needsReceive() || type == BufTaskType.RECEIVE) {
            assertThat(far.next(near).status()).as(what).isEqualTo(Status.SUCCESS);
        }
    }

    /** Applies an operation to what both regions are expected to contain. */
    private static void expect(BufTaskType type, Region here, Region there) {
        switch (type) {
            case READ -> here.copy(512, there, 1024);
            case RECEIVE -> here.copy(512, there, 0);
            case WRITE, WRITE_IMMEDIATE -> there.copy(1024, here, 512);
            case SEND, SEND_IMMEDIATE -> there.copy(2048, here, 512);
            case COMPARE_AND_SWAP -> {
                here.expected.set(WORD, 512, 0);
                there.expected.set(WORD, 1024, Submissions.OPERAND);
            }
            case FETCH_AND_ADD -> {
                long before = there.expected.get(WORD, 1024);
                here.expected.set(WORD, 512, before);
                there.expected.set(WORD, 1024, before + Submissions.OPERAND);
            }
        }
    }
}
