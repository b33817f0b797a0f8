package io.softdpu.rdma.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.sync.RemoteSyncEvent;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random offsets and lengths around the bounds of memory, bufs and lists, local and remote: each
 * has the status that a model gives, and after each both memories are what the model says.
 */
@Tag(Soak.TAG)
public abstract class RdmaBoundsContract extends RdmaContract {
    /** Size of the memory that operations refer to: a page, behind which others may follow. */
    private static final int BYTES = 4096;

    private static final int LIST_LENGTH = 3;

    /** Place of messages on the far side, and their limit. */
    private static final long MESSAGES = 1 << 20;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED;

    /** For subclasses. */
    protected RdmaBoundsContract() {}

    /** Arguments of a buf, legal or not. */
    private record Range(long offset, long length, long dataOffset, long dataLength) {
        boolean isLegal() {
            return offset >= 0
                    && length >= 0
                    && offset <= BYTES
                    && length <= BYTES - offset
                    && dataOffset >= offset
                    && dataOffset <= offset + length
                    && dataLength >= 0
                    && dataLength <= offset + length - dataOffset;
        }

        long end() {
            return dataOffset + dataLength;
        }

        long tailroom() {
            return offset + length - end();
        }
    }

    /** Memory of one side, and what the model says about it. */
    private static final class Side implements AutoCloseable {
        private final SharedMemory memory = SharedMemory.allocate(BYTES);
        private final Mmap mmap = Mmap.create();
        private final byte[] model;

        Side(Peer peer, int seed) {
            model = new byte[BYTES];
            for (int i = 0; i < BYTES; i++) {
                model[i] = Peer.pattern(seed, i);
            }
            memory.segment().copyFrom(MemorySegment.ofArray(model));
            mmap.setMemory(memory).setPermissions(Peer.ALL).addDevice(peer.device).start();
        }

        boolean isAsModelled() {
            return memory.segment().mismatch(MemorySegment.ofArray(model)) == -1;
        }

        @Override
        public void close() {
            mmap.close();
            memory.close();
        }
    }

    private Peer near;
    private Peer far;
    private Pair pair;
    private Side here;
    private Side there;
    private Mmap remote;
    private SyncEvent event;
    private RemoteSyncEvent remoteEvent;

    /** What the model says about the event. */
    private long eventValue;

    /** Two connected instances, and the memory of both. */
    @BeforeEach
    protected void openBoth() {
        near =
                openConfigured(rdma ->
                        rdma.setMaxSendBufferListLength(LIST_LENGTH)
                                .setReceiveBufferListLength(LIST_LENGTH));
        far = openFar();
        pair = connect(near, far);
        here = new Side(near, 1);
        near.closeLater(here);
        there = new Side(far, 2);
        far.closeLater(there);
        remote = near.importRdma(there.mmap.exportRdma(far.device));
        event = far.event();
        remoteEvent = near.remoteEvent(far, event);
        eventValue = 0;
    }

    @Test
    @Clause("core-104")
    void shouldGiveEachItsStatusAndChangeNoByteOutside(SeededRandom random) {
        long began = System.nanoTime();
        far.fill(0, (long) LIST_LENGTH * BYTES, 5);
        int rounds = Soak.count(10_000, 10_000, 300_000);
        List<Enum<?>> types = new ArrayList<>(List.of(BufTaskType.values()));
        types.addAll(List.of(RdmaSyncEventContract.Operation.values()));
        Map<Enum<?>, Integer> done = new HashMap<>();
        int illegal = 0;
        int refused = 0;
        for (int round = 0; round < rounds; round++) {
            Enum<?> type = types.get(random.nextInt(types.size()));
            List<Range> list = new ArrayList<>();
            int elements =
                    random.chance(0.05) ? LIST_LENGTH + 1 : (int) random.between(1, LIST_LENGTH);
            for (int i = 0; i < elements; i++) {
                list.add(range(random));
            }
            Range single = range(random);
            if (requireBufs(list, single)) {
                illegal++;
                continue;
            }
            Status expected;
            Status submitted;
            if (type instanceof BufTaskType task) {
                expected = expected(task, list, single);
                submitted = run(task, list, single, expected, random);
            } else {
                expected = expected((RdmaSyncEventContract.Operation) type, list);
                submitted = run((RdmaSyncEventContract.Operation) type, list);
            }
            if (submitted != expected) {
                throw new AssertionError(
                        Text.format(
                                "round=%d, type=%s, list=%s, remote=%s, submitted=%s, expected=%s",
                                round, type, list, single, submitted, expected));
            }
            if (expected == Status.SUCCESS) {
                done.merge(type, 1, Integer::sum);
            } else {
                refused++;
            }
            if (!here.isAsModelled() || !there.isAsModelled() || event.get() != eventValue) {
                throw new AssertionError(
                        Text.format(
                                "bytes differ: round=%d, type=%s, list=%s, remote=%s, submitted=%s",
                                round, type, list, single, submitted));
            }
        }
        assertThat(done.keySet()).as("each type was accepted").hasSameSizeAs(types);
        assertThat(illegal).isPositive();
        assertThat(refused).isPositive();
        Soak.report(
                "rdma-bounds",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - began),
                Text.format(
                        "rounds=%d, illegalBufs=%d, refused=%d, accepted=%s",
                        rounds, illegal, refused, done.values().stream().mapToInt(n -> n).sum()));
    }

    private static Range range(SeededRandom random) {
        long offset = near(random, random.nextInt(BYTES + 1));
        long most = BYTES - offset;
        long length = random.chance(0.3) ? near(random, most) : random.between(0, 64);
        long head = random.chance(0.3) ? near(random, length) : random.between(0, 8);
        long data = random.chance(0.3) ? near(random, length - head) : random.between(0, 24);
        if (random.chance(0.7)) { // legal in most cases
            offset = Math.clamp(offset, 0, BYTES);
            length = Math.clamp(length, 0, BYTES - offset);
            head = Math.clamp(head, 0, length);
            data = Math.clamp(data, 0, length - head);
        }
        return new Range(offset, length, offset + head, data);
    }

    /** A value at, just beside, or far beyond a bound. */
    private static long near(SeededRandom random, long bound) {
        return switch (random.nextInt(40)) {
            case 0 -> bound + 1;
            case 1 -> bound - 1;
            case 2 -> Long.MAX_VALUE;
            case 3 -> Long.MIN_VALUE;
            case 4 -> -1;
            case 5 -> Long.MAX_VALUE - bound;
            case 6 -> 1L << 32;
            default -> bound;
        };
    }

    /** Requires that illegal arguments are refused; whether there were some. */
    private boolean requireBufs(List<Range> list, Range single) {
        boolean found = isRefused(near, remote, single);
        for (Range range : list) {
            found |= isRefused(near, here.mmap, range);
        }
        return found;
    }

    private static boolean isRefused(Peer peer, Mmap mmap, Range range) {
        if (range.isLegal()) {
            return false;
        }
        Status status = Refusals.statusOf(() -> buf(peer, mmap, range).release());
        if (status != Status.INVALID_VALUE) {
            throw new AssertionError("not refused: range=" + range + ", status=" + status);
        }
        return true;
    }

    private static Buf buf(Peer peer, Mmap mmap, Range range) {
        return peer.inventory.bufByArgs(
                mmap, range.offset(), range.length(), range.dataOffset(), range.dataLength());
    }

    private static long data(List<Range> list) {
        return list.stream().mapToLong(Range::dataLength).sum();
    }

    private static long tailroom(List<Range> list) {
        return list.stream().mapToLong(Range::tailroom).sum();
    }

    private static Status expected(BufTaskType type, List<Range> list, Range single) {
        boolean fits =
                switch (type) {
                    case SEND, SEND_IMMEDIATE, RECEIVE -> true;
                    case READ -> single.dataLength() <= tailroom(list);
                    case WRITE, WRITE_IMMEDIATE -> data(list) <= single.tailroom();
                    case COMPARE_AND_SWAP, FETCH_AND_ADD ->
                            list.size() == 1
                                    && list.getFirst().tailroom() >= Long.BYTES
                                    && single.dataLength() + single.tailroom() >= Long.BYTES
                                    && single.dataOffset() % Long.BYTES == 0;
                };
        return fits && list.size() <= LIST_LENGTH ? Status.SUCCESS : Status.INVALID_VALUE;
    }

    private static Status expected(RdmaSyncEventContract.Operation type, List<Range> list) {
        boolean fits =
                switch (type) {
                    case GET -> list.size() <= LIST_LENGTH && tailroom(list) >= Long.BYTES;
                    case NOTIFY_SET -> list.size() <= LIST_LENGTH && data(list) == Long.BYTES;
                    case NOTIFY_ADD -> list.size() == 1 && tailroom(list) >= Long.BYTES;
                };
        return fits ? Status.SUCCESS : Status.INVALID_VALUE;
    }

    /** Submits, and if it was accepted drives it to its end and applies it to the model. */
    private Status run(RdmaSyncEventContract.Operation type, List<Range> list) {
        Status submitted = type.submit(pair, remoteEvent, chained(list), 2);
        if (submitted != Status.SUCCESS) {
            return submitted;
        }
        Status ended = near.next(far).status();
        if (ended != Status.SUCCESS) {
            return ended;
        }
        byte[] before = new byte[Long.BYTES];
        MemorySegment.ofArray(before).set(WORD, 0, eventValue);
        switch (type) {
            case GET -> scatter(list, before, 0, Long.BYTES);
            case NOTIFY_SET -> eventValue = MemorySegment.ofArray(gather(list)).get(WORD, 0);
            case NOTIFY_ADD -> {
                scatter(list, before, 0, Long.BYTES);
                eventValue++;
            }
        }
        return submitted;
    }

    private Buf chained(List<Range> list) {
        Buf head = buf(near, here.mmap, list.getFirst());
        for (Range range : list.subList(1, list.size())) {
            head.chain(buf(near, here.mmap, range));
        }
        return head;
    }

    /** Submits, and if it was accepted drives it to its end and applies it to the model. */
    private Status run(
            BufTaskType type,
            List<Range> list,
            Range single,
            Status expected,
            SeededRandom random) {
        long message = type == BufTaskType.RECEIVE ? random.between(0, tailroom(list)) : 0;
        if (expected == Status.SUCCESS && type.needsReceive()) {
            far.receive(far.room(MESSAGES, (long) LIST_LENGTH * BYTES), 1);
        }
        Status submitted =
                Submissions.submit(
                        type,
                        near,
                        pair.toFar(),
                        chained(list),
                        type.isRemote() ? buf(near, remote, single) : null,
                        2);
        if (submitted != Status.SUCCESS) {
            return submitted;
        }
        if (type == BufTaskType.RECEIVE) {
            far.send(pair.toNear(), far.data(0, message), 3);
        }
        Status ended = near.next(far).status();
        if (type.needsReceive() || type == BufTaskType.RECEIVE) {
            Status farther = far.next(near).status();
            ended = ended == Status.SUCCESS ? farther : ended;
        }
        if (ended != Status.SUCCESS) {
            return ended;
        }
        apply(type, list, single, message);
        return submitted;
    }

    private void apply(BufTaskType type, List<Range> list, Range single, long message) {
        switch (type) {
            case READ -> scatter(list, there.model, single.dataOffset(), single.dataLength());
            case RECEIVE -> {
                byte[] sent = new byte[(int) message];
                MemorySegment.ofArray(sent).copyFrom(far.bytes.asSlice(0, message));
                scatter(list, sent, 0, message);
            }
            case WRITE, WRITE_IMMEDIATE -> {
                byte[] written = gather(list);
                System.arraycopy(written, 0, there.model, (int) single.end(), written.length);
            }
            case SEND, SEND_IMMEDIATE -> {
                byte[] sent = gather(list);
                assertThat(
                                far.bytes
                                        .asSlice(MESSAGES, sent.length)
                                        .mismatch(MemorySegment.ofArray(sent)))
                        .isEqualTo(-1);
            }
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                MemorySegment word = MemorySegment.ofArray(there.model);
                long before = word.get(WORD, single.dataOffset());
                MemorySegment.ofArray(here.model).set(WORD, list.getFirst().end(), before);
                if (type == BufTaskType.FETCH_AND_ADD) {
                    word.set(WORD, single.dataOffset(), before + Submissions.OPERAND);
                } else if (before == 0) {
                    word.set(WORD, single.dataOffset(), Submissions.OPERAND);
                }
            }
        }
    }

    private byte[] gather(List<Range> list) {
        byte[] all = new byte[(int) data(list)];
        int at = 0;
        for (Range range : list) {
            System.arraycopy(
                    here.model, (int) range.dataOffset(), all, at, (int) range.dataLength());
            at += (int) range.dataLength();
        }
        return all;
    }

    private void scatter(List<Range> list, byte[] from, long offset, long length) {
        long done = 0;
        for (Range range : list) {
            long size = Math.min(range.tailroom(), length - done);
            System.arraycopy(
                    from, (int) (offset + done), here.model, (int) range.end(), (int) size);
            done += size;
        }
    }
}
