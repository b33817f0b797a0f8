package io.softdpu.storage.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.wire.IoType;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class WorkloadTest {
    private static final RequestSourceFactory.Range PART =
            new RequestSourceFactory.Range(
                    0, IoType.READ, 8192, 8192 + 10 * 4096, 12288, 4096, 0, 1 << 20, true);

    private static final StrategySettings WITHOUT_CONTENT = new StrategySettings(1, 1, 1, null);

    @Test
    void shouldGoOnceThroughThePartAndEndWithAShorterOperation() {
        List<Long> offsets = new ArrayList<>();
        List<Integer> sizes = new ArrayList<>();
        RequestSource source = RequestSources.once(PART);
        IoRequest request = new IoRequest();
        while (source.next(0, request)) {
            offsets.add(request.storageOffset());
            sizes.add(request.sizeBytes());
            assertThat(request.requesterOffset()).isEqualTo(request.storageOffset());
        }

        assertThat(offsets).containsExactly(8192L, 20480L, 32768L, 45056L);
        assertThat(sizes).containsExactly(12288, 12288, 12288, 4096);
    }

    @Test
    void shouldBeginAnewAtTheEndOfThePartWhereThereIsNoEnd() {
        RequestSource source = RequestSources.endless(PART);
        IoRequest request = new IoRequest();
        for (int i = 0; i < 9; i++) {
            assertThat(source.next(0, request)).isTrue();
            assertThat(request.storageOffset()).isEqualTo(8192 + i % 4 * 12288L);
        }
    }

    @Test
    void shouldReachEachPlaceAtRandomTheSameWayForTheSameSeedAndNoOther() {
        RequestSourceFactory.Range part =
                new RequestSourceFactory.Range(
                        0, IoType.WRITE, 4096, 4096 * 101, 4096, 4096, 4096, 3 * 4096, false);
        RequestSource first = RequestSources.random(part, 5);
        RequestSource second = RequestSources.random(part, 5);
        IoRequest one = new IoRequest();
        IoRequest two = new IoRequest();
        BitSet seen = new BitSet();
        for (int i = 0; i < 5000; i++) {
            assertThat(first.next(i % 4, one)).isTrue();
            assertThat(second.next(i % 4, two)).isTrue();
            assertThat(one.storageOffset()).isEqualTo(two.storageOffset());
            assertThat(one.storageOffset()).isBetween(4096L, 4096L * 100);
            assertThat(one.storageOffset() % 4096).isZero();
            assertThat(one.requesterOffset()).isEqualTo(4096 + i % 2 * 4096);
            seen.set((int) (one.storageOffset() / 4096));
        }
        assertThat(seen.cardinality()).isEqualTo(100);
        RequestSource other = RequestSources.random(part, 6);
        List<Long> sequence = new ArrayList<>();
        List<Long> otherSequence = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            first.next(0, one);
            other.next(0, two);
            sequence.add(one.storageOffset());
            otherSequence.add(two.storageOffset());
        }
        assertThat(otherSequence).isNotEqualTo(sequence);
    }

    @Test
    void shouldRoundBytesUpToWholeBlocksWithinTheLimit() {
        assertThat(IoSize.bytes(1).resolve(4096, 1 << 20)).isEqualTo(4096);
        assertThat(IoSize.bytes(4096).resolve(4096, 1 << 20)).isEqualTo(4096);
        assertThat(IoSize.bytes(4097).resolve(4096, 1 << 20)).isEqualTo(8192);
        assertThat(IoSize.bytes(1 << 20).resolve(4096, 65536)).isEqualTo(65536);
        assertThat(IoSize.bytes(4096).resolve(65536, 1 << 20)).isEqualTo(65536);
        assertThat(IoSize.blocks(3).resolve(512, 1 << 20)).isEqualTo(1536);
        assertThat(IoSize.blocks(1 << 20).resolve(1 << 20, Long.MAX_VALUE)).isEqualTo(1 << 30);
        assertInvalid(() -> IoSize.blocks(0), "blocksPerIo=0");
        assertInvalid(() -> IoSize.bytes(-1), "=-1");
    }

    @Test
    void shouldKnowTheFourStrategiesByName() {
        assertThat(ExecutionStrategy.values())
                .extracting(ExecutionStrategy::optionName)
                .containsExactly(
                        "read_throughput_test",
                        "write_throughput_test",
                        "read_write_data_validity_test",
                        "read_only_data_validity_test");
        for (ExecutionStrategy strategy : ExecutionStrategy.values()) {
            assertThat(ExecutionStrategy.of(strategy.optionName())).isEqualTo(strategy);
        }
        assertInvalid(
                () -> ExecutionStrategy.of("fast"),
                "executionStrategy=fast, expected=read_throughput_test, write_throughput_test");
    }

    @Test
    void shouldNeedAPlainContentToCompareWith() {
        assertInvalid(
                () -> ExecutionStrategy.READ_ONLY_DATA_VALIDITY_TEST.workload(WITHOUT_CONTENT),
                "plain content is missing");
        assertThat(
                        ExecutionStrategy.READ_ONLY_DATA_VALIDITY_TEST
                                .workload(new StrategySettings(1, 1, 1, Path.of("x")))
                                .phases())
                .hasSize(1);
    }

    @Test
    void shouldWriteTheIndexModulo256WhereThereIsNoPlainContent() {
        List<Phase> phases =
                ExecutionStrategy.READ_WRITE_DATA_VALIDITY_TEST.workload(WITHOUT_CONTENT).phases();

        byte[] bytes = new byte[600];
        phases.get(0).fill().fill(MemorySegment.ofArray(bytes), 0);
        for (int i = 0; i < bytes.length; i++) {
            assertThat(bytes[i]).isEqualTo((byte) i);
        }
        assertThat(phases.get(1).expect()).isEqualTo(phases.get(0).fill());
        assertThat(phases).extracting(Phase::type).containsExactly(IoType.WRITE, IoType.READ);
    }

    @Test
    void shouldRefuseAPhaseThatCannotBe() {
        assertInvalid(() -> Phase.read("x").transactions(0).build(), "transactions=0");
        assertInvalid(() -> Phase.read("x").operations(0).build(), "operations=0");
        assertInvalid(() -> Phase.read("x").timeLimit(Duration.ZERO).build(), "timeLimitNanos=0");
        assertInvalid(
                () -> Phase.read("x").perTransaction().expect(Content.zeros()).build(),
                "mirrored=false");
        assertInvalid(() -> new Workload(List.of()), "phases=0");
    }

    private static void assertInvalid(Runnable action, String reason) {
        DpuException failure = catchThrowableOfType(DpuException.class, action::run);
        assertThat(failure).as(reason).isNotNull();
        assertThat(failure.status()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failure).hasMessageContaining(reason);
    }
}
