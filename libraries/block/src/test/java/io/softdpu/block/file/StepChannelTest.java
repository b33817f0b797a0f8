package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.property.BlockIdentity;
import io.softdpu.block.spi.BlockOperation;
import io.softdpu.block.spi.BlockRequest;
import io.softdpu.core.Status;
import io.softdpu.core.copy.Copier;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that have to become durable, by channels whose steps the test does by hand. */
class StepChannelTest {
    private static final int MAX_REQUESTS = 8;
    private static final int BLOCK = 4096;

    @TempDir Path folder;

    private @Nullable FileDevice opened;
    private final List<Hand> hands = new ArrayList<>();
    private final List<String> log = new ArrayList<>();

    /** Channel that only notes the steps to be done. */
    private final class Hand extends StepChannel {
        final Deque<Slot> steps = new ArrayDeque<>();
        private final String name;
        private int index;

        Hand(String name, FileDevice device) {
            super(device, open(), 0, new Copier(), () -> {}, MAX_REQUESTS);
            this.name = name;
            hands.add(this);
            device.workers().add(this);
        }

        @Override
        void start(Slot slot) {
            steps.add(slot);
        }

        @Override
        void takeBackWaiting() {}

        @Override
        void release() {}

        void flush() {
            run(BlockOperation.FLUSH, false, () -> {});
        }

        void write(boolean fua) {
            run(BlockOperation.WRITE, fua, () -> {});
        }

        void run(BlockOperation operation, boolean fua, Runnable then) {
            String text = name + index++;
            BlockRequest request =
                    new BlockRequest(
                            operation,
                            new BlockRequest.Owner() {
                                @Override
                                public void completed(Status ended) {
                                    log.add(text + " " + ended);
                                    then.run();
                                }

                                @Override
                                public Status memoryStatus() {
                                    return Status.SUCCESS;
                                }
                            },
                            null);
            if (operation == BlockOperation.WRITE) {
                request.offsetBytes = 3 * BLOCK;
                request.lengthBytes = 2 * BLOCK;
                request.memory = Arena.global().allocate(2 * BLOCK);
            }
            request.fua = fua;
            assertThat(submit(request)).isNull();
        }

        /** A pass of the engine; the step that is the only one then. */
        Slot next() {
            boolean _ = progress();
            assertThat(steps).hasSize(1);
            return steps.remove();
        }

        /** The same, which is a sync. */
        Slot sync() {
            Slot slot = next();
            assertThat(slot.step).isEqualTo(Step.SYNC);
            return slot;
        }

        /** The same, which is a write. */
        Slot write() {
            Slot slot = next();
            assertThat(slot.step).isEqualTo(Step.WRITE);
            return slot;
        }

        void end(Slot slot) {
            stepEnded(slot, slot.step == Step.WRITE ? slot.lengthBytes : 0);
        }

        void fail(Slot slot, int errno) {
            stepEnded(slot, -errno);
        }
    }

    private int open() {
        return FileDescriptors.open(folder.resolve("volume").toString(), FileDescriptors.O_RDWR, 0);
    }

    private FileDevice device(boolean direct) {
        try {
            Path file = Files.write(folder.resolve("volume"), new byte[16 * BLOCK]);
            FileDevice made =
                    FileDevice.open(
                            new FileOptions(file, direct, false, false, 0, 1, Duration.ZERO),
                            BLOCK);
            opened = made;
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @AfterEach
    void close() {
        hands.forEach(Hand::close);
        if (opened != null) {
            opened.close();
        }
    }

    /** Passes until so many requests have ended. */
    private void awaitEnds(int count) {
        Await.byStep(
                "ends of requests",
                () -> log.size() == count,
                () -> hands.forEach(hand -> hand.progress()));
    }

    // ---- syncs ----

    @Test
    void shouldServeAllThatWaitByOneSync() {
        Hand one = new Hand("one", device(false));
        one.flush();
        one.flush();

        one.end(one.sync());
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS");
    }

    /** A sync that has begun may not cover a write that has completed since then. */
    @Test
    void shouldServeWhatIsSubmittedDuringASyncByTheNextOne() {
        Hand one = new Hand("one", device(false));
        one.flush();
        Slot sync = one.sync();
        one.flush();
        one.flush();
        boolean _ = one.progress();
        assertThat(one.steps).as("one at a time per open file").isEmpty();
        one.end(sync);
        assertThat(log).containsExactly("one0 SUCCESS");

        one.end(one.sync());
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS", "one2 SUCCESS");
    }

    /** Else the engine would sleep before the sync had begun. */
    @Test
    void shouldBeginASyncBeforeASleepAndWithADoorbell() {
        Hand one = new Hand("one", device(false));
        one.flush();
        boolean _ = one.arm();
        assertThat(one.steps).hasSize(1);
        one.disarm();
        one.end(one.steps.remove());

        one.flush();
        one.ring();
        assertThat(one.steps).hasSize(1);
        one.end(one.steps.remove());
    }

    @Test
    void shouldSyncTheRangeOfASingleWriteAndElseAll() {
        Hand one = new Hand("one", device(false));
        one.write(true);
        one.end(one.write());
        assertThat(log).isEmpty();
        Slot sync = one.sync();
        assertThat(sync.offsetBytes).isEqualTo(3 * BLOCK);
        assertThat(sync.lengthBytes).isEqualTo(2 * BLOCK);
        one.end(sync);
        assertThat(log).containsExactly("one0 SUCCESS");

        one.write(true);
        one.flush();
        Slot write = one.steps.remove();
        one.end(write);
        sync = one.sync();
        assertThat(sync.lengthBytes).isZero();
        assertThat(sync.offsetBytes).isZero();
        one.end(sync);
        one.flush();
        sync = one.sync();
        assertThat(sync.lengthBytes).isZero();
        one.end(sync);
        assertThat(log).hasSize(4);
    }

    @Test
    void shouldNotSyncForAPlainWrite() {
        Hand one = new Hand("one", device(true));
        one.write(false);
        Slot write = one.write();
        assertThat(write.durable).isFalse();
        one.end(write);
        assertThat(log).containsExactly("one0 SUCCESS");
    }

    // ---- durable writes ----

    @Test
    void shouldWriteDurablyWhatIsAlone() {
        Hand one = new Hand("one", device(true));
        one.flush();
        one.end(one.sync());
        one.run(BlockOperation.WRITE, true, () -> one.write(true)); // as at a depth of 1
        Slot again = one.write();
        assertThat(again.durable).isTrue();
        one.end(again);
        again = one.write();
        assertThat(again.durable).isTrue();
        one.end(again);

        one.run(BlockOperation.FLUSH, false, () -> one.write(true));
        one.end(one.sync());
        again = one.write();
        assertThat(again.durable).as("also behind a sync").isTrue();
        one.end(again);
        assertThat(log).hasSize(5).allMatch(end -> end.endsWith("SUCCESS"));
    }

    /** One of the two would take the report of the other. */
    @Test
    void shouldNotSyncBesideADurableWrite() {
        Hand one = new Hand("one", device(true));
        one.write(true);
        one.write(true);
        one.write(true);
        Slot durable = one.steps.remove();
        assertThat(durable.durable).isTrue();
        for (int i = 0; i < 2; i++) {
            Slot plain = one.steps.remove();
            assertThat(plain.durable).isFalse();
            one.end(plain);
        }
        boolean _ = one.progress();
        assertThat(one.steps).isEmpty();

        one.end(durable);
        one.write(true);
        Slot plain = one.steps.remove();
        assertThat(plain.durable).as("the next sync serves it as well").isFalse();
        one.end(plain);
        one.end(one.sync());
        assertThat(log)
                .containsExactly("one0 SUCCESS", "one1 SUCCESS", "one2 SUCCESS", "one3 SUCCESS");
    }

    /** Its error does not tell which half has failed: by halves each tells for itself. */
    @ParameterizedTest
    @ValueSource(ints = {Errno.ENOSPC, Errno.EFBIG, Errno.EDQUOT})
    void shouldTakeADurableWriteWithoutRoomForNoLoss(int errno) {
        FileDevice device = device(true);
        BlockIdentity identity = device.identity();
        Hand one = new Hand("one", device);
        one.write(true);
        one.fail(one.write(), errno);
        assertThat(log).isEmpty();
        Slot plain = one.write();
        assertThat(plain.durable).isFalse();
        one.fail(plain, errno);
        assertThat(log).containsExactly("one0 FULL");
        assertThat(device.mayHaveLost()).isFalse();

        one.write(true);
        Slot durable = one.write();
        assertThat(durable.durable).isTrue();
        one.fail(durable, errno);
        one.end(one.write()); // there is room now
        one.end(one.sync());
        assertThat(log).containsExactly("one0 FULL", "one1 SUCCESS");
        assertThat(device.identity()).isEqualTo(identity);
    }

    @Test
    void shouldTakeADurableWriteWithEioForALoss() {
        FileDevice device = device(true);
        BlockIdentity identity = device.identity();
        Hand one = new Hand("one", device);
        one.write(true);
        one.write(true);
        one.fail(one.steps.removeLast(), Errno.EIO);
        assertThat(log).as("of a plain one, which is none").containsExactly("one1 IO_FAILED");
        assertThat(device.mayHaveLost()).isFalse();

        one.fail(one.write(), Errno.EIO);
        awaitEnds(2);
        assertThat(log).containsExactly("one1 IO_FAILED", "one0 IO_FAILED");
        assertThat(device.identity()).isNotEqualTo(identity);
    }

    // ---- losses ----

    /** Whatever the errno is, the kernel has forgotten the loss with this report. */
    @ParameterizedTest
    @ValueSource(ints = {Errno.EIO, Errno.ENOSPC, Errno.EDQUOT, Errno.EAGAIN, Errno.EINTR, 116})
    void shouldTakeEveryErrnoOfASyncForALoss(int errno) {
        FileDevice device = device(false);
        BlockIdentity identity = device.identity();
        Hand one = new Hand("one", device);
        one.flush();
        one.write(true);
        one.end(one.steps.remove());
        one.fail(one.sync(), errno);
        assertThat(device.mayHaveLost()).isTrue();
        awaitEnds(2);

        assertThat(log).containsExactlyInAnyOrder("one0 IO_FAILED", "one1 IO_FAILED");
        assertThat(device.identity()).isNotEqualTo(identity);
    }

    /** The kernel may not get a thread now either. */
    @Test
    void shouldHaveAThreadDoWhatTheKernelHasCancelled() {
        Hand one = new Hand("one", device(false));
        one.flush();
        one.fail(one.sync(), Errno.ECANCELED);
        assertThat(one.steps).isEmpty();
        awaitEnds(1);

        one.write(false);
        one.fail(one.write(), Errno.ECANCELED);
        assertThat(one.steps).isEmpty();
        awaitEnds(2);
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailASuccessThatIsSeenWhenTheDeviceHasLost(boolean durable) {
        FileDevice device = device(true);
        Hand one = new Hand("one", device);
        Hand two = new Hand("two", device);
        one.flush();
        if (durable) {
            two.write(true);
        } else {
            two.flush();
        }
        Slot succeeded = two.next();
        assertThat(succeeded.durable).isEqualTo(durable);
        one.fail(one.sync(), Errno.EIO);
        two.end(succeeded);
        two.write(false);
        two.end(two.steps.remove());
        awaitEnds(3);

        assertThat(log)
                .containsExactlyInAnyOrder("one0 IO_FAILED", "two0 IO_FAILED", "two1 SUCCESS");
    }

    /** This thread holds what the renewal waits for, and would not wait for it itself. */
    @Test
    void shouldEndAFailureWhenAThreadHasRenewedTheIdentityAndNotWaitForThat() {
        FileDevice device = device(false);
        BlockIdentity identity = device.identity();
        Hand one = new Hand("one", device);
        Hand two = new Hand("two", device);
        List<BlockIdentity> seen = new ArrayList<>();
        one.run(BlockOperation.FLUSH, false, () -> seen.add(device.identity()));
        two.run(BlockOperation.FLUSH, false, () -> seen.add(device.identity()));
        Slot other = two.sync();
        synchronized (device.loss()) {
            one.fail(one.sync(), Errno.EIO);
            two.end(other);
            hands.forEach(hand -> hand.progress());
            assertThat(log).isEmpty();
        }
        awaitEnds(2);
        assertThat(seen).doesNotContain(identity).hasSize(2);
    }

    /** A loss that a context has learned of otherwise, and that no flush has told. */
    @Test
    void shouldTellAtTheCloseOfALossThatNoFlushHasTold() {
        FileDevice device = device(false);
        BlockIdentity identity = device.identity();
        device.loss().note();
        opened = null;
        assertThatThrownBy(device::close).hasMessageContaining("bytes of a block device were lost");

        assertThat(device(false).identity()).isNotEqualTo(identity);
    }

    // ---- steps ----

    @Test
    void shouldContinueBehindAPartialResult() {
        Hand one = new Hand("one", device(false));
        one.write(false);
        one.stepEnded(one.write(), BLOCK + 512);
        assertThat(log).isEmpty();

        Slot rest = one.write();
        assertThat(rest.offsetBytes).isEqualTo(4 * BLOCK + 512);
        assertThat(rest.memoryOffsetBytes).isEqualTo(BLOCK + 512);
        assertThat(rest.lengthBytes).isEqualTo(BLOCK - 512);
        one.end(rest);
        assertThat(log).containsExactly("one0 SUCCESS");
    }

    @ParameterizedTest
    @ValueSource(ints = {Errno.EAGAIN, Errno.EINTR})
    void shouldRepeatAStepThatTheSystemPutsOff(int errno) {
        Hand one = new Hand("one", device(false));
        one.write(false);
        one.fail(one.write(), errno);
        Slot again = one.write();
        assertThat(again.offsetBytes).isEqualTo(3 * BLOCK);
        one.end(again);
        assertThat(log).containsExactly("one0 SUCCESS");
    }

    /** There is one thread, which the next step needs. */
    @Test
    void shouldGoOnAfterAStepThatThrows() {
        Hand one = new Hand("one", device(false));
        one.write(false);
        Slot slot = one.write();
        slot.memory = MemorySegment.ofArray(new byte[2 * BLOCK]); // which no system call takes
        one.fail(slot, Errno.ECANCELED);
        awaitEnds(1);

        one.flush();
        one.fail(one.sync(), Errno.ECANCELED);
        awaitEnds(2);
        assertThat(log).containsExactly("one0 IO_FAILED", "one1 SUCCESS");
    }

    // ---- ends ----

    /** This thread holds what the renewals wait for, and would not wait for it itself. */
    @Test
    void shouldLeaveRenewalsToTheThreadAtAStop() {
        FileDevice device = device(false);
        Hand one = new Hand("one", device);
        one.flush();
        one.flush();
        synchronized (device.loss()) {
            one.fail(one.sync(), Errno.EIO);
            assertThat(one.stop()).isFalse();
            assertThat(log).isEmpty();
        }
        awaitEnds(2);
        assertThat(one.stop()).isTrue();
        assertThat(log).containsExactlyInAnyOrder("one0 IO_FAILED", "one1 IO_FAILED");
    }

    @Test
    void shouldTakeBackAtAStopWhatNoSyncServes() {
        Hand one = new Hand("one", device(false));
        one.flush();
        Slot sync = one.sync();
        one.flush();
        assertThat(one.stop()).isFalse();
        assertThat(log).containsExactly("one1 SHUTDOWN");
        one.end(sync);
        assertThat(one.stop()).isTrue();
        assertThat(log).containsExactly("one1 SHUTDOWN", "one0 SUCCESS");
    }

    @Test
    void shouldEndTheOthersInTheNextPassAfterACallbackThatThrows() {
        Hand one = new Hand("one", device(false));
        one.flush();
        one.run(
                BlockOperation.FLUSH,
                false,
                () -> {
                    throw new IllegalStateException("of a callback");
                });
        one.flush();
        Slot sync = one.sync();
        assertThatThrownBy(() -> one.end(sync)).hasMessage("of a callback");
        assertThat(one.arm()).as("no sleep").isTrue();
        one.disarm();
        boolean _ = one.progress();
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS", "one2 SUCCESS");

        one.flush();
        one.end(one.sync());
        assertThat(log).hasSize(4);
    }

    /** Its doorbell begins the next sync, in the middle of the ends of the last one. */
    @Test
    void shouldKeepWhatACallbackBeginsOutOfTheSyncThatEnds() {
        Hand one = new Hand("one", device(false));
        one.run(
                BlockOperation.FLUSH,
                false,
                () -> {
                    one.flush();
                    one.ring();
                });
        one.end(one.sync());
        assertThat(log).containsExactly("one0 SUCCESS");
        one.end(one.steps.remove());
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS");
    }
}
