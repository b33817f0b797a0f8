package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.softdpu.block.BlockDevice;
import io.softdpu.block.BlockExtentsTask;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteZeroesTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.BitSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads, writes, zeros, discards and flushes that succeed, and which bytes they change. */
public abstract class BlockReadWriteContract extends BlockContract {
    private static final int BLOCKS = 8;

    /** Writes in flight while extents are found. */
    private static final int WRITES_BESIDE = 8;

    /** For subclasses. */
    protected BlockReadWriteContract() {}

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    void shouldReadWhatWasWritten(int blocks, SeededRandom random) {
        readBack(random.bytes(blocks * block()));
    }

    @Test
    void shouldReadWhatWasWrittenByALargeRequest(SeededRandom random) {
        readBack(random.bytes(DEVICE_BYTES / 2));
    }

    private void readBack(byte[] bytes) {
        Submitter submitter = start();
        long offset = (long) DEVICE_BYTES - bytes.length;

        submitter.write(offset, bytes);
        assertThat(submitter.bytes(offset, bytes.length)).isEqualTo(kept(bytes));
    }

    @Test
    void shouldChangeNoBlockBeside(SeededRandom random) {
        Submitter submitter = start();
        byte[] all = random.bytes(BLOCKS * block());
        submitter.write(0, all);
        byte[] middle = random.bytes(2 * block());

        submitter.write(3L * block(), middle);
        System.arraycopy(middle, 0, all, 3 * block(), middle.length);
        assertThat(submitter.bytes(0, all.length)).isEqualTo(kept(all));
    }

    @Test
    void shouldReadTheSameTwice() {
        Submitter submitter = start();

        byte[] first = submitter.bytes(0, 4 * block());
        assertThat(submitter.bytes(0, 4 * block())).isEqualTo(first);
        if (!environment().keepsBlocks()) {
            assertThat(first).containsOnly(0);
        }
    }

    @Test
    void shouldAppendWhatItReadsToTheDataOfTheBuf(SeededRandom random) {
        Submitter submitter = start();
        byte[] bytes = random.bytes(2 * block());
        submitter.write(0, bytes);
        submitter.memory.asSlice(0, 8L * block()).fill((byte) 0xA5);
        Buf buf = submitter.inventory.bufByArgs(submitter.mmap, 0, 8L * block(), block(), block());

        assertThat(submitter.run(submitter.context.allocateRead(0, 2L * block(), buf)))
                .isEqualTo(Status.SUCCESS);
        assertThat(buf.dataOffset()).isEqualTo(block());
        assertThat(buf.dataLength()).isEqualTo(3L * block());
        buf.release();
        byte[] expected = new byte[8 * block()];
        Arrays.fill(expected, (byte) 0xA5);
        System.arraycopy(kept(bytes), 0, expected, 2 * block(), bytes.length);
        assertThat(submitter.memory.asSlice(0, expected.length).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(expected);
    }

    @Test
    void shouldWriteTheDataOfTheBufAlone(SeededRandom random) {
        Submitter submitter = start();
        byte[] before = random.bytes(BLOCKS * block());
        submitter.write(0, before);
        byte[] room = random.bytes(4 * block());
        for (int i = 0; i < room.length; i++) {
            submitter.memory.set(ValueLayout.JAVA_BYTE, i, room[i]);
        }
        Buf buf =
                submitter.inventory.bufByArgs(
                        submitter.mmap, 0, room.length, block(), 2L * block());

        assertThat(submitter.run(submitter.context.allocateWrite(0, buf)))
                .isEqualTo(Status.SUCCESS);
        assertThat(buf.dataLength()).isEqualTo(2L * block());
        buf.release();
        System.arraycopy(room, block(), before, 0, 2 * block());
        assertThat(submitter.bytes(0, before.length)).isEqualTo(kept(before));
    }

    // ---- several contexts ----

    @Test
    void shouldShowACompletedWriteToEveryContext(SeededRandom random) {
        BlockDevice device = open();
        Submitter one = start(device);
        Submitter two = start(device);
        for (int i = 0; i < 32; i++) {
            byte[] bytes = random.bytes(2 * block());
            Submitter writer = random.nextBoolean() ? one : two;
            writer.write(block(), bytes);
            assertThat(one.bytes(block(), bytes.length)).isEqualTo(kept(bytes));
            assertThat(two.bytes(block(), bytes.length)).isEqualTo(kept(bytes));
        }
    }

    @Test
    void shouldServeContextsOnSeveralThreads(SeededRandom random) throws Exception {
        BlockDevice device = open();
        int threads = 3;
        int share = DEVICE_BYTES / threads / block() * block();
        long seed = random.nextLong();
        AtomicInteger next = new AtomicInteger();

        Bounded.callAll(
                "contexts of several threads",
                threads,
                () -> {
                    int index = next.getAndIncrement();
                    SeededRandom own = new SeededRandom(seed + index);
                    try (Submitter submitter = Submitter.start(device, 4)) {
                        for (int i = 0; i < 32; i++) {
                            byte[] bytes = own.bytes((int) own.between(1, 8) * block());
                            long offset = (long) index * share + own.between(0, 8) * block();
                            submitter.write(offset, bytes);
                            assertThat(submitter.bytes(offset, bytes.length))
                                    .isEqualTo(kept(bytes));
                        }
                        submitter.stop();
                    }
                    return index;
                });
        assertThat(next).hasValue(threads);
    }

    // ---- without data ----

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadZerosWhereZerosWereWritten(boolean keepAllocated, SeededRandom random) {
        assumeTrue(environment().features().contains(BlockFeature.WRITE_ZEROES));
        Submitter submitter = start();
        byte[] bytes = random.bytes(BLOCKS * block());
        submitter.write(0, bytes);

        BlockWriteZeroesTask task = submitter.context.allocateWriteZeroes(block(), 3L * block());
        task.setKeepAllocated(keepAllocated)
                .setFua(environment().features().contains(BlockFeature.FUA));
        assertThat(submitter.run(task)).isEqualTo(Status.SUCCESS);
        Arrays.fill(bytes, block(), 4 * block(), (byte) 0);
        assertThat(submitter.bytes(0, bytes.length)).isEqualTo(kept(bytes));
    }

    @Test
    void shouldWriteZerosToTheWholeDevice(SeededRandom random) {
        assumeTrue(environment().features().contains(BlockFeature.WRITE_ZEROES));
        Submitter submitter = start();
        submitter.write(DEVICE_BYTES - block(), random.bytes(block()));

        assertThat(submitter.run(submitter.context.allocateWriteZeroes(0, DEVICE_BYTES)))
                .isEqualTo(Status.SUCCESS);
        assertThat(submitter.bytes(0, 1 << 19)).containsOnly(0);
        assertThat(submitter.bytes(1 << 19, 1 << 19)).containsOnly(0);
    }

    @Test
    void shouldDiscardNoBlockBeside(SeededRandom random) {
        assumeTrue(environment().features().contains(BlockFeature.DISCARD));
        Submitter submitter = start();
        byte[] bytes = random.bytes(3 * block());
        submitter.write(0, bytes);

        assertThat(submitter.run(submitter.context.allocateDiscard(block(), block())))
                .isEqualTo(Status.SUCCESS);
        byte[] first = Arrays.copyOfRange(bytes, 0, block());
        byte[] last = Arrays.copyOfRange(bytes, 2 * block(), 3 * block());
        assertThat(submitter.bytes(0, block())).isEqualTo(kept(first));
        assertThat(submitter.bytes(2L * block(), block())).isEqualTo(kept(last));
        byte[] discarded = submitter.bytes(block(), block());
        if (!Arrays.equals(discarded, Arrays.copyOfRange(bytes, block(), 2 * block()))) {
            assertThat(discarded).as("neither old bytes nor zeros").containsOnly(0);
        }
        submitter.write(block(), last);
        assertThat(submitter.bytes(block(), block())).isEqualTo(kept(last));
    }

    @Test
    void shouldFlushAndWriteDurably(SeededRandom random) {
        Submitter submitter = start();
        byte[] bytes = random.bytes(2 * block());
        if (environment().features().contains(BlockFeature.FUA)) {
            assertThat(submitter.write(0, bytes, true)).isEqualTo(Status.SUCCESS);
        } else {
            submitter.write(0, bytes);
        }
        if (environment().features().contains(BlockFeature.FLUSH)) {
            assertThat(submitter.flush()).isEqualTo(Status.SUCCESS);
        }
        assertThat(submitter.bytes(0, bytes.length)).isEqualTo(kept(bytes));
    }

    @Test
    void shouldNeverCallDataAHole(SeededRandom random) {
        assumeTrue(environment().features().contains(BlockFeature.EXTENTS));
        Submitter submitter = start();
        long written = 3L * block();
        submitter.write(written, random.bytes(block()));
        BlockExtentsTask task = submitter.context.allocateExtents(0, block());
        long offset = 0;
        while (offset < DEVICE_BYTES) {
            task.setRange(offset, DEVICE_BYTES - offset);
            assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
            submitter.awaitEnd();
            assertThat(task.status()).isEqualTo(Status.SUCCESS);
            assertThat(task.extentCount()).isBetween(1, BlockExtentsTask.MAX_EXTENTS);
            for (int i = 0; i < task.extentCount(); i++) {
                assertThat(task.extentLengthBytes(i)).isPositive();
                assertThat(task.extentLengthBytes(i) % block()).isZero();
                long end = offset + task.extentLengthBytes(i);
                if (offset <= written && written < end) {
                    assertThat(task.isHole(i)).isFalse();
                }
                offset = end;
            }
        }
        assertThat(offset).isEqualTo(DEVICE_BYTES);
        task.free();
    }

    /** A write that had completed before the extents were asked for is data, beside others. */
    @Test
    void shouldNeverCallDataAHoleBesideWrites(SeededRandom random) {
        assumeTrue(environment().features().contains(BlockFeature.EXTENTS));
        BlockDevice device = open();
        Submitter writer = start(device);
        Submitter asker = start(device);
        BlockExtentsTask extents = asker.context.allocateExtents(0, block());
        int blocks = DEVICE_BYTES / block();
        BitSet data = new BitSet(blocks);
        for (int round = 0; round < environment().rounds(); round++) {
            if (random.chance(0.1)) {
                int first = (int) random.between(0, blocks - 1);
                long length = random.between(1, blocks - first) * block();
                assertThat(
                                writer.run(
                                        writer.context.allocateDiscard(
                                                (long) first * block(), length)))
                        .isEqualTo(Status.SUCCESS);
                data.clear(first, first + (int) (length / block()));
            }
            int first = (int) random.between(0, blocks - 1);
            BitSet before = (BitSet) data.clone();
            extents.setRange((long) first * block(), DEVICE_BYTES - (long) first * block());
            assertThat(asker.submit(extents)).isEqualTo(Status.SUCCESS);
            for (int i = 0; i < WRITES_BESIDE; i++) {
                submitWrite(writer, i, (int) random.between(0, blocks - 1), data);
            }
            writer.awaitEnd();
            asker.awaitEnd();
            assertThat(extents.status()).isEqualTo(Status.SUCCESS);
            int at = first;
            for (int i = 0; i < extents.extentCount(); i++) {
                int end = at + (int) (extents.extentLengthBytes(i) / block());
                if (extents.isHole(i)) {
                    assertThat(before.get(at, end).stream()).as("data in a hole").isEmpty();
                }
                at = end;
            }
        }
        extents.free();
    }

    /** Submits a write of one block, which is data when it has ended. */
    private void submitWrite(Submitter writer, int place, int block, BitSet data) {
        Buf buf = writer.data((long) place * block(), block());
        Consumer<Task> ended =
                task -> {
                    assertThat(task.status()).isEqualTo(Status.SUCCESS);
                    data.set(block);
                    task.free();
                    buf.release();
                };
        Task task = writer.context.allocateWrite((long) block * block(), buf).setUserObject(ended);
        assertThat(writer.submit(task)).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldUseATaskAgain(SeededRandom random) {
        Submitter submitter = start();
        byte[] bytes = random.bytes(2 * block());
        submitter.write(0, bytes);
        Buf buf = submitter.room(0, block());
        BlockReadTask task = submitter.context.allocateRead(0, block(), buf);
        for (int i = 0; i < 2; i++) {
            buf.resetDataLength();
            task.setRange((long) i * block(), block());
            assertThat(submitter.submit(task)).isEqualTo(Status.SUCCESS);
            submitter.awaitEnd();
            assertThat(task.status()).isEqualTo(Status.SUCCESS);
            assertThat(submitter.memory.asSlice(0, block()).toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(kept(Arrays.copyOfRange(bytes, i * block(), (i + 1) * block())));
        }
        task.free();
        buf.release();
    }
}
