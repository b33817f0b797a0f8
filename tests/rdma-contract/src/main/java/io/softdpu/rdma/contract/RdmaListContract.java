package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.capability.Capabilities;
import io.softdpu.core.device.DeviceInfo;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaCapabilities;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Lists of local bufs: gathered by sends and writes, scattered by receives and reads. */
public abstract class RdmaListContract extends RdmaContract {
    /** Place of the data on the far side. */
    private static final long FAR = 2 << 20;

    /** For subclasses. */
    protected RdmaListContract() {}

    /** The uses of a local list. */
    enum Use {
        SEND(BufTaskType.SEND),
        SEND_IMMEDIATE(BufTaskType.SEND_IMMEDIATE),
        RECEIVE(BufTaskType.RECEIVE),
        READ(BufTaskType.READ),
        WRITE(BufTaskType.WRITE),
        WRITE_IMMEDIATE(BufTaskType.WRITE_IMMEDIATE);

        final BufTaskType type;

        Use(BufTaskType type) {
            this.type = type;
        }

        /** Whether the near side's list is written. */
        boolean isInward() {
            return this == RECEIVE || this == READ;
        }
    }

    /** Two connected instances, and the longest list of the near one's device. */
    private record Opened(Pair pair, Mmap remote, int most) {
        Peer near() {
            return pair.near();
        }

        Peer far() {
            return pair.far();
        }
    }

    /**
     * Opens both sides with a setting for a use.
     *
     * @param length 0 for the longest
     */
    private Opened open(Use use, int length) {
        int[] most = {0};
        Peer near =
                openConfigured(rdma -> {
                    RdmaCapabilities can = RdmaCapabilities.of(device(rdma));
                    if (use == Use.RECEIVE) {
                        most[0] = can.maxReceiveBufferListLength();
                        rdma.setReceiveBufferListLength(length == 0 ? most[0] : length);
                    } else {
                        most[0] = can.maxSendBufferListLength();
                        rdma.setMaxSendBufferListLength(length == 0 ? most[0] : length);
                    }
                });
        Pair pair = connect(near, openFar());
        return new Opened(pair, near.importRdma(pair.far()), most[0]);
    }

    private static DeviceInfo device(Rdma rdma) {
        return rdma.device().info();
    }

    /** An element of a list: its place, the bytes before its data, and the data or the room. */
    private record Piece(long offset, long head, long size) {
        Buf buf(Use use, Peer peer) {
            return peer.inventory.bufByArgs(
                    peer.mmap, offset, head + size + 5, offset + head, use.isInward() ? 0 : size);
        }
    }

    /** Elements one behind the other, with bytes between them. */
    private static List<Piece> pieces(long... sizes) {
        List<Piece> pieces = new ArrayList<>();
        long at = 7;
        for (int i = 0; i < sizes.length; i++) {
            pieces.add(new Piece(at, i % 3, sizes[i]));
            at += sizes[i] + 20;
        }
        return pieces;
    }

    private static Buf list(Use use, Peer peer, List<Piece> pieces) {
        Buf head = null;
        for (Piece piece : pieces) {
            // An element that is to be written has room for exactly its size.
            Buf buf =
                    use.isInward()
                            ? peer.inventory.bufByArgs(
                                    peer.mmap,
                                    piece.offset(),
                                    piece.head() + piece.size(),
                                    piece.offset() + piece.head(),
                                    0)
                            : piece.buf(use, peer);
            if (head == null) {
                head = buf;
            } else {
                head.chain(buf);
            }
        }
        if (head == null) {
            throw new AssertionError("no pieces");
        }
        return head;
    }

    /** Transfers a list, and checks every byte of it and those beside it. */
    private static void transfer(Opened on, Use use, List<Piece> pieces, long sizeBytes) {
        Pair pair = on.pair();
        Peer near = on.near();
        Peer far = on.far();
        near.fill(0, 1 << 20, 1);
        far.fill(FAR, 1 << 20, 2);
        byte[] copy = near.bytes.asSlice(0, 1 << 20).toArray(ValueLayout.JAVA_BYTE);
        MemorySegment before = MemorySegment.ofArray(copy);
        Buf list = list(use, near, pieces);
        list.retain();
        @Nullable Buf there =
                use.type.isRemote()
                        ? Submissions.remote(use.type, near, on.remote(), FAR, sizeBytes)
                        : null;
        if (use.type.needsReceive()) {
            far.receive(use == Use.WRITE_IMMEDIATE ? null : far.room(FAR, sizeBytes), 1);
        }
        assertThat(Submissions.submit(use.type, near, pair.toFar(), list, there, 2))
                .isEqualTo(Status.SUCCESS);
        if (use == Use.RECEIVE) {
            far.send(pair.toNear(), far.data(FAR, sizeBytes), 3);
        }
        Peer.Outcome outcome = near.next(far);
        assertThat(outcome.status()).isEqualTo(Status.SUCCESS);
        if (use.isInward()) {
            assertThat(outcome.length()).isEqualTo(sizeBytes);
        }
        if (use == Use.RECEIVE || use.type.needsReceive()) {
            assertThat(far.next(near).status()).isEqualTo(Status.SUCCESS);
        }
        long done = 0;
        @Nullable Buf element = list;
        for (Piece piece : pieces) {
            long size = Math.min(piece.size(), sizeBytes - done);
            long at = piece.offset() + piece.head();
            MemorySegment here = near.bytes.asSlice(at, size);
            long different = here.mismatch(far.bytes.asSlice(FAR + done, size));
            if (different >= 0) {
                throw new AssertionError("byte " + (done + different) + " of " + pieces);
            }
            if (use.isInward()) {
                here.copyFrom(before.asSlice(at, size));
            }
            if (element == null) {
                throw new AssertionError("fewer elements");
            }
            assertThat(element.dataLength()).isEqualTo(use.isInward() ? size : piece.size());
            element = element.nextInList();
            done += size;
        }
        assertThat(done).isEqualTo(sizeBytes);
        assertThat(near.mismatch(0, 1 << 20, 1)).as("beside the elements").isEqualTo(-1);
        if (use.isInward()) {
            assertThat(far.mismatch(FAR, 1 << 20, 2)).as("the source").isEqualTo(-1);
        } else {
            for (long i = sizeBytes; i < sizeBytes + 100; i++) {
                assertThat(far.bytes.get(ValueLayout.JAVA_BYTE, FAR + i))
                        .as("behind the data")
                        .isEqualTo(Peer.pattern(2, i));
            }
        }
        list.release();
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-048", "rdma-061", "rdma-078"})
    @Clause({"rdma-080", "core-104"})
    void shouldTransferTheElementsOneBehindTheOther(Use use) {
        Opened on = open(use, 8);
        transfer(on, use, pieces(10, 20, 30), 60);
        transfer(on, use, pieces(0, 4096, 0, 1, 8192, 0), 12_289);
        transfer(on, use, pieces(300_000, 1, 262_144, 5), 562_150);
        transfer(on, use, pieces(8), 8);
    }

    /**
     * Eight bytes are one word where an element has room for them, but not for an operation that an
     * earlier one, of almost a slice, has left only some bytes of its pass.
     */
    @ParameterizedTest
    @CsvSource({"1, 5", "4, 4", "4, 7", "7, 7"})
    @Clause({"rdma-048", "rdma-061"})
    void shouldReadEightBytesIntoAListThatWasBegunInAnEarlierPass(long first, long left) {
        Opened on = open(Use.READ, 2);
        Peer near = on.near();
        Peer far = on.pair().far();
        near.fill(0, 1 << 20, 1);
        far.fill(FAR, 1 << 20, 2);
        long before = (256 << 10) - left;
        Buf list = near.room(8, first);
        list.chain(near.room(100, 16));
        for (Buf into : new Buf[] {near.room(1 << 19, before), list}) {
            Buf there =
                    into == list
                            ? near.inventory.bufByData(on.remote(), FAR + before + left, 8)
                            : near.inventory.bufByData(on.remote(), FAR, before);
            assertThat(
                            Submissions.submit(
                                    BufTaskType.READ, near, on.pair().toFar(), into, there, 2))
                    .isEqualTo(Status.SUCCESS);
        }
        assertThat(near.next(far).length()).isEqualTo(before);
        assertThat(near.next(far).length()).isEqualTo(8);

        byte[] expected = far.bytes.asSlice(FAR + before + left, 8).toArray(ValueLayout.JAVA_BYTE);
        byte[] found = new byte[8];
        MemorySegment.copy(near.bytes, ValueLayout.JAVA_BYTE, 8, found, 0, (int) first);
        MemorySegment.copy(
                near.bytes, ValueLayout.JAVA_BYTE, 100, found, (int) first, 8 - (int) first);
        assertThat(found).isEqualTo(expected);
        for (long i = 100 + 8 - first; i < 116; i++) {
            assertThat(near.bytes.get(ValueLayout.JAVA_BYTE, i))
                    .as("behind the data: offset=%d", i)
                    .isEqualTo(Peer.pattern(1, i));
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Use.class,
            names = {"RECEIVE"})
    void shouldFillTheElementsOfAReceiveAsFarAsTheMessageGoes(Use use) {
        Opened on = open(use, 4);
        transfer(on, use, pieces(10, 20, 30), 15);
        transfer(on, use, pieces(10, 20, 30), 0);
        transfer(on, use, pieces(5000, 20, 5000), 5020);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-048", "rdma-072", "rdma-086"})
    @Clause({"rdma-079", "rdma-062"})
    void shouldTransferListsOfTheMaximumLengthAndRefuseOneElementMore(Use use) {
        Opened on = open(use, 0);
        int most = on.most();
        assertThat(most).isGreaterThan(1);
        assertThat(
                        Capabilities.of(on.near().device.info(), "rdma")
                                .limit(
                                        use == Use.RECEIVE
                                                ? "max_receive_buffer_list_length"
                                                : "max_send_buffer_list_length"))
                .isEqualTo(most);
        long[] sizes = new long[most];
        Arrays.setAll(sizes, i -> 1 + i * 37L % 200);
        transfer(on, use, pieces(sizes), Arrays.stream(sizes).sum());

        assertRefused(on, use, most + 1);
    }

    @ParameterizedTest
    @EnumSource
    @Clause({"rdma-072", "rdma-086", "rdma-091"})
    @Clause({"rdma-102", "rdma-114", "rdma-125"})
    void shouldRefuseOneElementMoreThanWasSet(Use use) {
        Opened on = open(use, 3);
        transfer(on, use, pieces(1, 2, 3), 6);
        assertRefused(on, use, 4);
    }

    private static void assertRefused(Opened on, Use use, int length) {
        Pair pair = on.pair();
        Peer near = on.near();
        Peer far = on.far();
        near.fill(0, 1 << 20, 1);
        far.fill(FAR, 1 << 20, 2);
        long[] sizes = new long[length];
        Arrays.fill(sizes, 2);
        assertThat(
                        Submissions.submit(
                                use.type,
                                near,
                                pair.toFar(),
                                list(use, near, pieces(sizes)),
                                use.type.isRemote()
                                        ? Submissions.remote(
                                                use.type, near, on.remote(), FAR, 2L * length)
                                        : null,
                                1))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();
        assertThat(near.mismatch(0, 1 << 20, 1)).isEqualTo(-1);
        assertThat(far.mismatch(FAR, 1 << 20, 2)).isEqualTo(-1);
    }

    @Test
    @Clause("rdma-080")
    void shouldUseOneSettingForAllTasksButReceives() {
        Opened on = open(Use.SEND, 3);
        for (Use use : Use.values()) {
            if (use == Use.RECEIVE) {
                assertRefused(on, use, 2);
            } else {
                transfer(on, use, pieces(1, 2, 3), 6);
                assertRefused(on, use, 4);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Use.class,
            names = {"READ", "WRITE", "WRITE_IMMEDIATE"})
    void shouldTakeOneBufOfThePeersMemoryAlone(Use use) {
        Opened on = open(use, 8);
        Peer near = on.near();
        Buf there = Submissions.remote(use.type, near, on.remote(), FAR, 8);
        there.chain(Submissions.remote(use.type, near, on.remote(), FAR + 100, 8));
        assertThat(
                        Submissions.submit(
                                use.type,
                                near,
                                on.pair().toFar(),
                                list(use, near, pieces(4, 4)),
                                there,
                                1))
                .isEqualTo(Status.INVALID_VALUE);
        assertThat(near.rdma.inFlightTasks()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTransferRandomListsUnchanged(Use use, SeededRandom random) {
        Opened on = open(use, 16);
        for (int round = 0; round < 30; round++) {
            long[] sizes = new long[(int) random.between(1, 16)];
            long sum = 0;
            for (int i = 0; i < sizes.length; i++) {
                sizes[i] = random.chance(0.2) ? 0 : random.between(0, 20_000);
                sum += sizes[i];
            }
            transfer(on, use, pieces(sizes), sum);
        }
    }
}
