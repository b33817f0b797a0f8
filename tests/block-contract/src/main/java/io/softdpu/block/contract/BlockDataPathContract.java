package io.softdpu.block.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.block.BlockFlushTask;
import io.softdpu.block.BlockReadTask;
import io.softdpu.block.BlockWriteTask;
import io.softdpu.block.BlockWriteZeroesTask;
import io.softdpu.block.property.BlockFeature;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Cost of the data path besides the bytes: no allocation, and no lost wake-up. */
public abstract class BlockDataPathContract extends BlockRefusalContract {
    /** For subclasses. */
    protected BlockDataPathContract() {}

    @Test
    void shouldReadAndWriteWithoutAllocation() {
        Submitter submitter = start();
        Buf room = submitter.room(0, block());
        Buf data = submitter.data(block(), block());
        BlockReadTask read = submitter.context.allocateRead(0, block(), room);
        BlockWriteTask write = submitter.context.allocateWrite(block(), data);

        AllocationMeter.assertNone(
                environment().rounds(),
                () -> {
                    accepted(read.trySubmit());
                    accepted(write.trySubmit());
                    progressToEnd(submitter);
                    room.resetDataLength();
                });
        assertThat(read.status()).isEqualTo(Status.SUCCESS);
        assertThat(write.status()).isEqualTo(Status.SUCCESS);
        read.free();
        write.free();
        room.release();
        data.release();
    }

    @Test
    void shouldFlushAndWriteZerosWithoutAllocation() {
        if (!environment().features().contains(BlockFeature.FLUSH)
                || !environment().features().contains(BlockFeature.WRITE_ZEROES)) {
            return;
        }
        Submitter submitter = start();
        BlockFlushTask flush = submitter.context.allocateFlush();
        BlockWriteZeroesTask zero = submitter.context.allocateWriteZeroes(0, block());

        AllocationMeter.assertNone(
                environment().rounds(),
                () -> {
                    accepted(flush.trySubmit());
                    accepted(zero.trySubmit());
                    progressToEnd(submitter);
                });
        assertThat(flush.status()).isEqualTo(Status.SUCCESS);
        assertThat(zero.status()).isEqualTo(Status.SUCCESS);
        flush.free();
        zero.free();
    }

    private static void accepted(Status submitted) {
        if (submitted != Status.SUCCESS) {
            throw new AssertionError("refused: " + submitted);
        }
    }

    private static void progressToEnd(Submitter submitter) {
        while (submitter.context.inFlightTasks() > 0) {
            submitter.progress();
        }
    }

    /** A lost wake-up would end at the deadline alone. */
    @Test
    void shouldEndTheSleepOfTheEngine() {
        Submitter submitter = start();
        Buf room = submitter.room(0, block());
        BlockReadTask read = submitter.context.allocateRead(0, block(), room);
        int rounds = Soak.count(500, 2000, 100_000);
        for (int i = 0; i < rounds; i++) {
            accepted(read.trySubmit());
            submitter.sleepUntilEnd();
            assertThat(read.status()).isEqualTo(Status.SUCCESS);
            room.resetDataLength();
        }
        read.free();
        room.release();
    }

    @Test
    void shouldNotifyWhereATaskIsSubmittedAfterArming() {
        Submitter submitter = start();
        while (submitter.engine.progress()) {
            assertThat(submitter.context.inFlightTasks()).isZero();
        }
        Buf room = submitter.room(0, block());
        BlockReadTask read = submitter.context.allocateRead(0, block(), room);
        submitter.engine.requestNotification();
        assertThat(submitter.engine.awaitNotification(Duration.ZERO)).isFalse();
        accepted(read.trySubmit());
        assertThat(submitter.engine.awaitNotification(Patience.LIMIT)).isTrue();
        submitter.engine.clearNotification();
        submitter.awaitEnd();
        assertThat(read.status()).isEqualTo(Status.SUCCESS);
        read.free();
        room.release();
    }

    @Test
    void shouldAcceptSeveralTasksAtOnce() {
        Submitter submitter = start();
        Buf[] rooms = new Buf[16];
        BlockReadTask[] tasks = new BlockReadTask[rooms.length];
        for (int i = 0; i < rooms.length; i++) {
            rooms[i] = submitter.room((long) i * block(), block());
            tasks[i] = submitter.context.allocateRead((long) i * block(), block(), rooms[i]);
        }
        int[] accepted = {0};
        Await.byStep(
                "acceptance of all",
                () -> accepted[0] == tasks.length,
                () -> {
                    accepted[0] += submitter.context.trySubmitAll(tasks, accepted[0], tasks.length);
                    submitter.progress();
                });
        submitter.awaitEnd();
        for (int i = 0; i < rooms.length; i++) {
            assertThat(tasks[i].status()).isEqualTo(Status.SUCCESS);
            tasks[i].free();
            rooms[i].release();
        }
    }
}
