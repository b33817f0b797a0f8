package io.softdpu.block.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.block.spi.CompletionQueue;
import io.softdpu.linux.LinuxException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Syncs of a device whose system call is the test's. Each step is made by hand, on one thread. */
class SyncsTest {
    private static final int EIO = 5;
    private static final int MAX_REQUESTS = 8;

    /** What happens inside the system call. */
    private Runnable call = () -> {};

    private int calls;
    private final List<String> log = new ArrayList<>();
    private final Syncs syncs =
            new Syncs(
                    () -> {
                        calls++;
                        call.run();
                    },
                    errno -> log.add("failure " + errno));
    private final Channel one = new Channel("one");
    private final Channel two = new Channel("two");

    /** Group of a channel, whose requests have no other step. */
    private final class Channel {
        final CompletionQueue reports = new CompletionQueue(() -> {});
        final SyncGroup group;
        private int index;

        Channel(String name) {
            group =
                    new SyncGroup(
                            syncs,
                            MAX_REQUESTS,
                            reports,
                            () -> {},
                            (slot, status) -> ended(name + slot.index + " " + status));
            syncs.add(group);
        }

        /** Submits a flush. */
        void flush() {
            group.add(new Slot(null, index++));
        }

        /** A pass of the engine. */
        void progress() {
            boolean _ = reports.complete();
            boolean _ = group.complete();
        }
    }

    /** Text of the end whose callback throws. */
    private String throwing = "";

    private void ended(String text) {
        log.add(text);
        if (text.equals(throwing)) {
            throw new IllegalStateException(text);
        }
    }

    private static void fail(int errno) {
        throw new LinuxException("fdatasync", errno, "of a test");
    }

    private void progress() {
        one.progress();
        two.progress();
    }

    @Test
    void shouldServeAllThatWaitByOneSync() {
        one.flush();
        two.flush();

        assertThat(syncs.work()).isTrue();
        assertThat(syncs.work()).isFalse();
        progress();
        assertThat(log).containsExactly("one0 SUCCESS", "two0 SUCCESS");
        assertThat(calls).isOne();
    }

    /** A sync that has begun may not cover a write that has completed since then. */
    @Test
    void shouldServeWhatIsSubmittedDuringASyncByTheNextOne() {
        one.flush();
        call =
                () -> {
                    one.flush();
                    one.flush();
                    two.flush();
                };
        assertThat(syncs.work()).isTrue();
        call = () -> {};
        progress();
        assertThat(log).containsExactly("one0 SUCCESS");

        assertThat(syncs.work()).isTrue();
        progress();
        assertThat(log)
                .containsExactly("one0 SUCCESS", "one1 SUCCESS", "one2 SUCCESS", "two0 SUCCESS");
        assertThat(calls).isEqualTo(2);
    }

    @Test
    void shouldBeginNoneWhileOneIsUnderWay() {
        one.flush();
        List<Boolean> begun = new ArrayList<>();
        call =
                () -> {
                    two.flush();
                    begun.add(syncs.isWanted());
                    begun.add(syncs.work());
                };
        assertThat(syncs.work()).isTrue();
        assertThat(begun).containsExactly(false, false);
        assertThat(syncs.isWanted()).isTrue();
    }

    /** The kernel tells its open file nothing of that loss, as it was opened afterwards. */
    @Test
    void shouldFailAChannelThatIsOpenedBesideAFailingSync() {
        one.flush();
        List<Channel> late = new ArrayList<>();
        call =
                () -> {
                    late.add(new Channel("late"));
                    late.getFirst().flush();
                    fail(EIO);
                };
        assertThat(syncs.work()).isTrue();
        assertThat(syncs.work()).isTrue();
        progress();
        late.getFirst().progress();
        Channel later = new Channel("later");
        later.flush();
        assertThat(syncs.work()).isTrue();
        later.progress();

        assertThat(log)
                .containsExactly(
                        "failure 5", "one0 IO_FAILED", "late0 IO_FAILED", "later0 IO_FAILED");
        assertThat(calls).as("no other one takes the report for a success").isOne();
    }

    @Test
    void shouldFailWhatHasSucceededButNotCompletedWhenAnotherOneFails() {
        one.flush();
        assertThat(syncs.work()).isTrue();
        two.flush();
        call = () -> fail(EIO);
        assertThat(syncs.work()).isTrue();
        progress();

        assertThat(log).containsExactly("failure 5", "one0 IO_FAILED", "two0 IO_FAILED");
    }

    /** Whatever the errno is, the kernel has forgotten the loss with this report. */
    @ParameterizedTest
    @ValueSource(ints = {EIO, 28, 122, 11, 116})
    void shouldTakeEveryErrnoForALoss(int errno) {
        one.flush();
        call = () -> fail(errno);
        assertThat(syncs.work()).isTrue();
        assertThat(syncs.hasFailed()).isTrue();
        progress();

        assertThat(log).containsExactly("failure " + errno, "one0 IO_FAILED");
    }

    @Test
    void shouldFailAllAfterALossThatAnotherHasLearnedOf() {
        syncs.fail();
        one.flush();
        assertThat(syncs.work()).isTrue();
        progress();

        assertThat(log).containsExactly("one0 IO_FAILED");
        assertThat(calls).isZero();
    }

    @Test
    void shouldTakeBackTheSyncThatHasNotBegun() {
        one.flush();
        two.flush();
        one.group.stop();
        one.flush(); // the sync of a write that ends meanwhile
        assertThat(syncs.work()).isTrue();
        one.progress();
        one.group.finishWaiting();
        assertThat(log).containsExactly("one0 SHUTDOWN", "one1 SHUTDOWN");

        two.progress();
        assertThat(log).endsWith("two0 SUCCESS");
    }

    @Test
    void shouldEndASyncThatHasBegunWithItsResult() {
        one.flush();
        call =
                () -> {
                    one.flush();
                    one.group.stop();
                    one.group.finishWaiting();
                };
        assertThat(syncs.work()).isTrue();
        assertThat(log).containsExactly("one1 SHUTDOWN");
        one.progress();
        assertThat(log).containsExactly("one1 SHUTDOWN", "one0 SUCCESS");
    }

    @Test
    void shouldEndTheOthersInTheNextPassAfterACallbackThatThrows() {
        one.flush();
        call =
                () -> {
                    one.flush();
                    one.flush();
                };
        assertThat(syncs.work()).isTrue();
        call = () -> {};
        one.progress();
        assertThat(syncs.work()).isTrue();
        throwing = "one1 SUCCESS";
        assertThatThrownBy(one::progress).hasMessage(throwing);
        assertThat(one.group.hasEnded()).as("no sleep").isTrue();
        one.progress();
        assertThat(log).containsExactly("one0 SUCCESS", "one1 SUCCESS", "one2 SUCCESS");

        one.flush();
        assertThat(syncs.work()).isTrue();
        one.progress();
        assertThat(log).endsWith("one3 SUCCESS");
    }

    @Test
    void shouldServeNoGroupThatWasRemoved() {
        syncs.remove(one.group);
        one.flush();

        assertThat(syncs.work()).isFalse();
    }

    /** As of a log that cannot be written: it is not known then what is durable. */
    @Test
    void shouldFailWhatASyncServesThatAnErrorOfTheProgramEnds() {
        one.flush();
        call =
                () -> {
                    throw new IllegalStateException("a defect");
                };
        assertThatThrownBy(syncs::work).hasMessage("a defect");
        one.progress();
        two.flush();
        assertThat(syncs.work()).as("the next one is not kept from it").isTrue();
        two.progress();
        assertThat(log).containsExactly("one0 IO_FAILED", "two0 IO_FAILED");
        assertThat(calls).isEqualTo(1);
    }
}
