package io.softdpu.block;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.property.BlockFeature;
import io.softdpu.block.property.BlockIdentity;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Task;
import io.softdpu.core.memory.Buf;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Flushes and writes with FUA around one that has failed. */
@SoftDpuTest(sanitized = false)
class FailedFlushTest {
    /** Request that learns of a loss. */
    private enum Kind {
        FLUSH,
        FUA_WRITE,
        FUA_ZEROES
    }

    private HandFixture fixture;
    private Buf data;

    @BeforeEach
    void open(SoftDpu card) {
        fixture =
                new HandFixture(
                        card.dpuDevice(),
                        BlockFeature.FLUSH,
                        BlockFeature.FUA,
                        BlockFeature.WRITE_ZEROES);
        data = fixture.data(HandDevice.BLOCK_BYTES);
    }

    @AfterEach
    void close() throws Exception {
        data.release();
        fixture.close();
    }

    private Task allocate(BlockContext context, Kind kind) {
        return switch (kind) {
            case FLUSH -> context.allocateFlush();
            case FUA_WRITE -> context.allocateWrite(0, data).setFua(true);
            case FUA_ZEROES -> context.allocateWriteZeroes(0, HandDevice.BLOCK_BYTES).setFua(true);
        };
    }

    private Status run(int context, Task task, Status status) {
        task.submit();
        Status ended = fixture.end(context, task, status);
        task.free();
        return ended;
    }

    private void fail(Kind kind) {
        assertThat(run(0, allocate(fixture.one, kind), Status.IO_FAILED))
                .isEqualTo(Status.IO_FAILED);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseEachLaterOneInEveryContext(Kind kind) {
        fail(kind);

        for (BlockContext context : new BlockContext[] {fixture.one, fixture.two}) {
            for (Kind later : Kind.values()) {
                Task task = allocate(context, later);
                assertThat(task.trySubmit()).isEqualTo(Status.IO_FAILED);
                assertThat(Objects.requireNonNull(task.refusal()).getMessage())
                        .contains(fixture.blockDevice.toString(), "has failed before");
                task.free();
            }
        }
        assertThat(fixture.hand.channels.get(0).held).isEmpty();
        assertThat(fixture.hand.channels.get(1).held).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    void shouldFailEachThatIsInFlightThen(Kind kind) {
        Task inFlight = allocate(fixture.two, kind);
        inFlight.submit();
        fail(Kind.FLUSH);

        assertThat(fixture.end(1, inFlight, Status.SUCCESS)).isEqualTo(Status.IO_FAILED);
        inFlight.free();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeAnotherIdentityBeforeTheCallback(Kind kind) {
        BlockIdentity before = fixture.blockDevice.identity();
        fail(kind);
        BlockIdentity after = fixture.blockDevice.identity();

        assertThat(after).isNotEqualTo(before);
        Task flush = allocate(fixture.two, Kind.FLUSH);
        assertThat(flush.trySubmit()).isEqualTo(Status.IO_FAILED);
        flush.free();
        assertThat(fixture.blockDevice.identity()).as("once").isEqualTo(after);
    }

    @Test
    void shouldContinueReadsAndOtherWrites() {
        fail(Kind.FLUSH);

        assertThat(run(0, fixture.one.allocateWrite(0, data), Status.SUCCESS))
                .isEqualTo(Status.SUCCESS);
        Buf room = fixture.room(HandDevice.BLOCK_BYTES);
        assertThat(
                        run(
                                1,
                                fixture.two.allocateRead(0, HandDevice.BLOCK_BYTES, room),
                                Status.SUCCESS))
                .isEqualTo(Status.SUCCESS);
        room.release();
    }

    @ParameterizedTest
    @EnumSource(
            value = Status.class,
            names = {"FULL", "NOT_PERMITTED", "SHUTDOWN"})
    void shouldContinueAfterAFailureThatIsNoLoss(Status status) {
        BlockIdentity before = fixture.blockDevice.identity();
        assertThat(run(0, allocate(fixture.one, Kind.FUA_WRITE), status)).isEqualTo(status);

        assertThat(fixture.blockDevice.identity()).isEqualTo(before);
        assertThat(run(0, allocate(fixture.one, Kind.FLUSH), Status.SUCCESS))
                .isEqualTo(Status.SUCCESS);
    }

    /** As of memory that the program has closed. */
    @ParameterizedTest
    @EnumSource
    void shouldAskTheDeviceWhetherADurableWriteThatHasFailedIsALoss(Kind kind) {
        fixture.hand.mayHaveLost = false;
        BlockIdentity before = fixture.blockDevice.identity();
        fail(kind);

        if (kind == Kind.FLUSH) {
            assertThat(fixture.blockDevice.identity()).isNotEqualTo(before);
        } else {
            assertThat(fixture.blockDevice.identity()).isEqualTo(before);
            assertThat(run(1, allocate(fixture.two, Kind.FLUSH), Status.SUCCESS))
                    .isEqualTo(Status.SUCCESS);
        }
    }

    @Test
    void shouldTakeAPlainWriteThatHasFailedForNoLoss() {
        BlockIdentity before = fixture.blockDevice.identity();
        assertThat(run(0, fixture.one.allocateWrite(0, data), Status.IO_FAILED))
                .isEqualTo(Status.IO_FAILED);

        assertThat(fixture.blockDevice.identity()).isEqualTo(before);
        assertThat(run(0, allocate(fixture.one, Kind.FLUSH), Status.SUCCESS))
                .isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldTakeAWriteOfADeviceThatWritesThroughForAFlush() {
        fixture.hand.writeThrough = true;
        BlockIdentity before = fixture.blockDevice.identity();
        assertThat(run(0, fixture.one.allocateWrite(0, data), Status.IO_FAILED))
                .isEqualTo(Status.IO_FAILED);

        assertThat(fixture.blockDevice.identity()).isNotEqualTo(before);
        Task later = fixture.two.allocateWrite(0, data);
        assertThat(later.trySubmit()).isEqualTo(Status.IO_FAILED);
        later.free();
    }
}
