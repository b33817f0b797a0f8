package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufPool;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Memcpy tasks. */
@SoftDpuTest(sanitized = false)
class DmaTest {
    private static final int SIZE = 4 << 20;

    private DmaFixture fixture;
    private Mmap memory;
    private MemorySegment bytes;

    @BeforeEach
    void open(SoftDpu card, SeededRandom random) {
        fixture = new DmaFixture(card.dpuDevice()).start(8);
        memory = fixture.local(SIZE);
        bytes = memory.segment();
        random.fill(bytes);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @Test
    @Clause({"core-106", "core-122", "core-132"})
    void shouldCopyByteForByte(SeededRandom random) {
        for (int size : new int[] {1, 7, 64, 4096, 256 << 10, (256 << 10) + 1, 1 << 20}) {
            long from = random.between(0, SIZE / 2 - size);
            long to = random.between(SIZE / 2, SIZE - size);
            byte[] before = DmaFixture.bytes(bytes, from, size);
            Status status =
                    fixture.copy(
                            fixture.source(memory, from, size),
                            fixture.destination(memory, to, size));
            assertThat(status).isEqualTo(Status.SUCCESS);
            assertThat(DmaFixture.bytes(bytes, to, size)).isEqualTo(before);
            assertThat(DmaFixture.bytes(bytes, from, size)).as("source").isEqualTo(before);
        }
    }

    @Test
    @Clause("core-135")
    void shouldReturnFromSubmitBeforeAnythingIsCopied() {
        byte[] before = DmaFixture.bytes(bytes, 1000, 64);
        byte[] data = DmaFixture.bytes(bytes, 0, 64);
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 1000, 64);
        DmaMemcpyTask task = fixture.submit(source, destination);
        assertThat(DmaFixture.bytes(bytes, 1000, 64)).isEqualTo(before);
        assertThat(fixture.ended).isEmpty();
        fixture.awaitEnd();
        task.free();
        assertThat(DmaFixture.bytes(bytes, 1000, 64)).isEqualTo(data);
        finish(source, destination);
    }

    @Test
    @Clause("core-106")
    void shouldTakeTheDestinationOfACopyAsTheSourceOfTheNext() {
        BufPool pool = fixture.add(BufPool.create(1, 64, memory).start());
        byte[] data = DmaFixture.bytes(bytes, 1000, 64);
        Buf between = pool.allocate();
        between.retain(); // released by each copy
        assertThat(fixture.copy(fixture.source(memory, 1000, 64), between))
                .isEqualTo(Status.SUCCESS);
        assertThat(fixture.copy(between, fixture.destination(memory, 2000, 64)))
                .isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(bytes, 2000, 64)).isEqualTo(data);
    }

    @Test
    @Clause({"core-099", "core-101"})
    void shouldReadTheDataroomAndTouchNothingElse() {
        byte[] before = DmaFixture.bytes(bytes, 0, SIZE);
        Buf source = fixture.inventory.bufByArgs(memory, 1000, 1000, 1200, 300);
        Buf destination = fixture.inventory.bufByArgs(memory, 9000, 1000, 9100, 0);
        DmaMemcpyTask task = fixture.submit(source, destination);
        fixture.awaitEnd();
        task.free();
        byte[] expected = before.clone();
        System.arraycopy(before, 1200, expected, 9100, 300);
        assertThat(DmaFixture.bytes(bytes, 0, SIZE)).isEqualTo(expected);
        assertThat(source.dataLength()).isEqualTo(300);
        assertThat(source.headroom()).isEqualTo(200);
        assertThat(destination.headroom()).isEqualTo(100);
        finish(source, destination);
    }

    @Test
    @Clause({"core-100", "core-102"})
    void shouldAppendBehindTheDataThatIsThere() {
        byte[] before = DmaFixture.bytes(bytes, 0, 64);
        byte[] kept = DmaFixture.bytes(bytes, 5010, 20);
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.inventory.bufByArgs(memory, 5000, 200, 5010, 20);
        DmaMemcpyTask task = fixture.submit(source, destination);
        fixture.awaitEnd();
        task.free();
        assertThat(destination.dataLength()).isEqualTo(84);
        assertThat(DmaFixture.bytes(bytes, 5010, 20)).as("data that was there").isEqualTo(kept);
        assertThat(DmaFixture.bytes(bytes, 5030, 64)).isEqualTo(before);
        finish(source, destination);
    }

    @Test
    @Clause({"core-272", "core-273"})
    void shouldWriteFromTheDataAddressAgainAfterAReset() {
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.inventory.bufByArgs(memory, 5000, 74, 5010, 0);
        DmaMemcpyTask task = fixture.submit(source, destination);
        fixture.awaitEnd();
        assertThat(task.trySubmit()).as("no room left").isEqualTo(Status.INVALID_VALUE);
        destination.resetDataLength();
        bytes.asSlice(0, 64).fill((byte) 0x3c);
        task.submit();
        fixture.awaitEnd();
        assertThat(fixture.ended).containsExactly(Status.SUCCESS, Status.SUCCESS);
        assertThat(destination.dataLength()).isEqualTo(64);
        assertThat(DmaFixture.bytes(bytes, 5010, 64)).containsOnly(0x3c);
        task.free();
        finish(source, destination);
    }

    @Test
    @Clause("core-089")
    void shouldCopyBetweenMemoryOfAnyKind() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offHeap = arena.allocate(100_000);
            MemorySegment onHeap = MemorySegment.ofArray(new byte[100_000]);
            offHeap.fill((byte) 0x11);
            Mmap first = fixture.over(offHeap);
            Mmap second = fixture.over(onHeap);
            assertThat(
                            fixture.copy(
                                    fixture.source(first, 0, 100_000),
                                    fixture.destination(second, 0, 100_000)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(
                            fixture.copy(
                                    fixture.source(second, 50, 1000),
                                    fixture.destination(memory, 0, 1000)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(onHeap.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0x11);
            assertThat(DmaFixture.bytes(bytes, 0, 1000)).containsOnly(0x11);
            first.close();
            second.close();
        }
    }

    @Test
    void shouldRunEachCallbackInsideProgressWithTheTaskAndItsUserData() {
        List<Long> seen = new ArrayList<>();
        Dma other = fixture.add(Dma.create(fixture.device));
        fixture.engine.connect(other);
        other.setMemcpyTasks(
                4,
                task -> {
                    seen.add(task.userData());
                    assertThat(task.source().dataLength()).isEqualTo(64);
                    task.source().release();
                    task.destination().release();
                    task.free();
                },
                task -> {
                    throw new AssertionError("failed: " + task.status());
                });
        other.start();
        for (int i = 0; i < 4; i++) {
            DmaMemcpyTask task =
                    other.allocateMemcpy(
                            fixture.source(memory, 0, 64),
                            fixture.destination(memory, 100 * (i + 1), 64));
            task.setUserData(40 + i);
            task.submit();
        }
        assertThat(seen).as("nothing runs at submission").isEmpty();
        while (other.inFlightTasks() > 0) {
            fixture.engine.progress();
        }
        assertThat(seen).containsExactlyInAnyOrder(40L, 41L, 42L, 43L);
        other.stop();
        fixture.awaitState(other, ContextState.IDLE);
    }

    @Test
    void shouldTakeATaskAgainInsideItsCallback() {
        int[] left = {10};
        Dma other = fixture.add(Dma.create(fixture.device));
        fixture.engine.connect(other);
        other.setMemcpyTasks(
                1,
                task -> {
                    if (--left[0] > 0) {
                        task.submit();
                    }
                },
                task -> {
                    throw new AssertionError("failed: " + task.status());
                });
        other.start();
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 1000, 640);
        DmaMemcpyTask task = other.allocateMemcpy(source, destination);
        task.submit();
        while (other.inFlightTasks() > 0) {
            fixture.engine.progress();
        }
        assertThat(left[0]).isZero();
        assertThat(destination.dataLength()).as("ten appended").isEqualTo(640);
        task.free();
        finish(source, destination);
        other.stop();
        fixture.awaitState(other, ContextState.IDLE);
    }

    @Test
    void shouldServeSmallCopiesWhileALargeOneIsUnderWay() {
        Buf large = fixture.source(memory, 0, SIZE / 2);
        Buf far = fixture.destination(memory, SIZE / 2, SIZE / 2);
        DmaMemcpyTask first = fixture.submit(large, far);
        Mmap little = fixture.local(4096);
        int served = 0;
        while (first.source().dataLength() > 0 && fixture.ended.isEmpty()) {
            served++;
            Buf source = fixture.source(little, 0, 64);
            Buf destination = fixture.destination(little, 1024, 64);
            DmaMemcpyTask small = fixture.submit(source, destination);
            for (int passes = 0; passes < 3 && destinationEmpty(destination); passes++) {
                fixture.engine.progress();
            }
            assertThat(destination.dataLength()).as("done within three passes").isEqualTo(64);
            small.free();
            finish(source, destination);
            fixture.ended.removeLast();
        }
        fixture.awaitEnd();
        assertThat(served).as("passes that the large copy took").isGreaterThan(2);
        assertThat(far.dataLength()).isEqualTo(SIZE / 2);
        first.free();
        finish(large, far);
    }

    private static boolean destinationEmpty(Buf destination) {
        return destination.dataLength() == 0;
    }

    @Test
    void shouldStayWithinTheDestinationWhereTheRangesOverlap() {
        byte[] before = DmaFixture.bytes(bytes, 0, SIZE);
        int size = 700_000;
        fixture.copy(fixture.source(memory, 1000, size), fixture.destination(memory, 2000, size));
        assertThat(DmaFixture.bytes(bytes, 0, 2000)).isEqualTo(Arrays.copyOf(before, 2000));
        int end = 2000 + size;
        assertThat(DmaFixture.bytes(bytes, end, SIZE - end))
                .isEqualTo(Arrays.copyOfRange(before, end, SIZE));
    }

    @Test
    void shouldCountWhatIsCopiedAsPayloadOfTheEngine() {
        long before = fixture.engine.payloadBytesCopied();
        fixture.copy(
                fixture.source(memory, 0, 300_000), fixture.destination(memory, 1 << 20, 300_000));
        assertThat(fixture.engine.payloadBytesCopied() - before).isEqualTo(300_000);
        assertThat(fixture.engine.messageBytesCopied()).isZero();
    }

    private static void finish(Buf source, Buf destination) {
        source.release();
        destination.release();
    }
}
