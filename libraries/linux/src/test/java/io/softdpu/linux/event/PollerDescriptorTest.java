package io.softdpu.linux.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.Socket;
import io.softdpu.linux.UnixSocket;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Descriptors and wakes; see {@link PollerTimerTest} for time. */
final class PollerDescriptorTest {
    /** Ends with an event that has come already, or soon comes. */
    private static final long UNTIL_EVENT = -1;

    private static final int DEEP_THREADS = 20;
    private static final long DEEP_STACK_BYTES = 256 << 10;

    private final Poller poller = new Poller();
    private final List<String> ran = new ArrayList<>();
    private final List<Pipe> pipes = new ArrayList<>();

    @AfterEach
    void close() {
        poller.close();
        pipes.forEach(Pipe::close);
    }

    private Pipe pipe() {
        Pipe pipe = new Pipe();
        pipes.add(pipe);
        return pipe;
    }

    private Pipe readable() {
        Pipe pipe = pipe();
        pipe.write();
        return pipe;
    }

    @Test
    void shouldRunAHandlerForAsLongAsThereIsSomethingToRead() {
        Pipe pipe = pipe();
        poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("events " + events));

        assertThat(poller.poll(0)).isZero();
        pipe.write();
        assertThat(poller.poll(UNTIL_EVENT)).isEqualTo(1);
        assertThat(poller.poll(UNTIL_EVENT)).isEqualTo(1);
        pipe.read();
        assertThat(poller.poll(0)).isZero();

        assertThat(ran).containsExactly("events " + Poller.IN, "events " + Poller.IN);
    }

    @Test
    void shouldTellOfAPeerThatHasClosed() {
        Pipe pipe = pipe();
        int[] pair = UnixSocket.pair();
        try {
            poller.add(pipe.readEnd(), 0, events -> ran.add("pipe " + events));
            poller.add(pair[0], Poller.RDHUP, events -> ran.add("socket " + events));

            pipe.closeWriteEnd();
            Socket.shutdownWrite(pair[1]);
            assertThat(poller.poll(UNTIL_EVENT)).isEqualTo(2);
            assertThat(ran)
                    .containsExactlyInAnyOrder("pipe " + Poller.HUP, "socket " + Poller.RDHUP);
        } finally {
            poller.close();
            FileDescriptors.close(pair[0]);
            FileDescriptors.close(pair[1]);
        }
    }

    @Test
    void shouldRefuseADescriptorThatIsRegisteredAndNameIt() {
        Pipe pipe = readable();
        Registration first = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("first"));

        assertThatThrownBy(() -> poller.add(pipe.readEnd(), Poller.IN, events -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(
                        "descriptor is registered already: fd=" + pipe.readEnd() + ", ");
        poller.poll(UNTIL_EVENT);
        assertThat(ran).containsExactly("first");
        assertThat(poller.registrations()).isEqualTo(1);

        first.remove();
        poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("second"));
        poller.poll(UNTIL_EVENT);
        assertThat(ran).containsExactly("first", "second");
    }

    @Test
    void shouldRefuseWhatCannotBeWatched() {
        Pipe pipe = pipe();

        assertThatThrownBy(() -> poller.add(-1, Poller.IN, events -> {}))
                .isInstanceOf(LinuxException.class)
                .hasMessageContaining("fd=-1");
        assertThatThrownBy(() -> poller.add(pipe.readEnd(), 1 << 31, events -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("fd=" + pipe.readEnd() + ", interest=0x80000000");
        assertThat(poller.registrations()).isZero();
    }

    @Test
    void shouldChangeWhatADescriptorIsWatchedFor() {
        Pipe pipe = readable();
        Registration registration = poller.add(pipe.readEnd(), 0, events -> ran.add("ran"));

        assertThat(poller.poll(0)).isZero();
        registration.setInterest(Poller.IN);
        assertThat(poller.poll(0)).isEqualTo(1);
        registration.setInterest(0);
        assertThat(poller.poll(0)).isZero();
        registration.remove();

        assertThatThrownBy(() -> registration.setInterest(Poller.IN))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("registration has ended: fd=" + pipe.readEnd());
        assertThat(ran).containsExactly("ran");
    }

    @Test
    void shouldEndARegistrationInItsOwnHandler() {
        Registration[] registration = new Registration[1];
        registration[0] =
                poller.add(
                        readable().readEnd(),
                        Poller.IN,
                        events -> {
                            ran.add("ran");
                            registration[0].remove();
                            registration[0].remove(); // again: nothing happens
                        });

        assertThat(poller.poll(UNTIL_EVENT)).isEqualTo(1);
        assertThat(poller.poll(0)).isZero();
        assertThat(ran).containsExactly("ran");
        assertThat(poller.registrations()).isZero();
    }

    /** Whichever of the two comes first in the batch ends the other's registration. */
    @Test
    void shouldNotRunAHandlerThatAnotherOfTheSameBatchHasRemoved() {
        Registration[] both = new Registration[2];
        for (int i = 0; i < 2; i++) {
            int other = 1 - i;
            both[i] =
                    poller.add(
                            readable().readEnd(),
                            Poller.IN,
                            events -> {
                                ran.add("ran");
                                both[other].remove();
                            });
        }

        assertThat(poller.poll(UNTIL_EVENT)).as("both were reported").isEqualTo(2);
        assertThat(ran).containsExactly("ran");
    }

    /** The number of a descriptor that was closed in the batch is given out again at once. */
    @Test
    void shouldNotTakeAnEventOfARemovedRegistrationForOneOfTheSameNumber() {
        Pipe[] both = {readable(), readable()};
        Registration[] registrations = new Registration[2];
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Pipe other = both[1 - i];
            int otherIndex = 1 - i;
            registrations[i] =
                    poller.add(
                            both[i].readEnd(),
                            Poller.IN,
                            events -> {
                                numbers.add(other.readEnd());
                                registrations[otherIndex].remove();
                                other.closeReadEnd();
                                Pipe silent = pipe();
                                numbers.add(silent.readEnd());
                                poller.add(silent.readEnd(), Poller.IN, e -> ran.add("silent"));
                            });
        }

        assertThat(poller.poll(UNTIL_EVENT)).as("both were reported").isEqualTo(2);
        assertThat(numbers).hasSize(2);
        assertThat(numbers.get(1)).as("same number").isEqualTo(numbers.get(0));
        assertThat(ran).isEmpty();
    }

    @Test
    void shouldRunTheOthersWhereAHandlerThrows() {
        for (int i = 0; i < 3; i++) {
            String name = "handler " + i;
            poller.add(
                    readable().readEnd(),
                    Poller.IN,
                    events -> {
                        ran.add(name);
                        throw new IllegalStateException(name);
                    });
        }
        Timer timer =
                poller.newTimer(() -> {
                    ran.add("timer");
                    throw new AssertionError("timer");
                });
        timer.set(System.nanoTime());

        assertThatThrownBy(() -> poller.poll(UNTIL_EVENT))
                .isInstanceOf(IllegalStateException.class)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(3));
        assertThat(ran)
                .containsExactlyInAnyOrder("handler 0", "handler 1", "handler 2", "timer")
                .endsWith("timer");
        assertThatThrownBy(() -> poller.poll(UNTIL_EVENT))
                .as("the next turn begins without the last one's")
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(2));
    }

    @Test
    void shouldServeMoreDescriptorsThanOneTurnHasRoomFor() {
        int many = 200;
        boolean[] seen = new boolean[many];
        for (int i = 0; i < many; i++) {
            int index = i;
            poller.add(readable().readEnd(), Poller.IN, events -> seen[index] = true);
        }

        for (int turn = 0; turn < 8; turn++) {
            assertThat(poller.poll(0)).isPositive();
        }
        assertThat(seen).doesNotContain(false);
    }

    @Test
    void shouldRefuseToServeInsideAHandler() {
        poller.add(readable().readEnd(), Poller.IN, events -> poller.poll(0));

        assertThatThrownBy(() -> poller.poll(UNTIL_EVENT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("inside");
    }

    @Test
    void shouldForgetADescriptorThatAnotherHasClosed() {
        Pipe pipe = readable();
        Registration registration = poller.add(pipe.readEnd(), Poller.IN, events -> ran.add("ran"));
        pipe.closeReadEnd();

        registration.abandon();
        registration.remove(); // again: nothing happens, and nothing is thrown for the number

        assertThat(poller.registrations()).isZero();
        assertThat(poller.poll(0)).isZero();
    }

    @Test
    void shouldStopWatchingADescriptorForAnotherThread() throws Exception {
        Registration registration =
                poller.add(readable().readEnd(), Poller.IN, events -> ran.add("ran"));

        Bounded.call(
                "another thread",
                () -> {
                    registration.unwatch();
                    return null;
                });

        assertThat(poller.poll(0)).isZero();
        assertThat(ran).isEmpty();
        assertThat(registration.isEnded()).isFalse();
        registration.abandon();
        assertThat(poller.registrations()).isZero();
    }

    @Test
    void shouldNotEndARegistrationByOneWhoseDescriptorWasClosedBefore() {
        Pipe closed = pipe();
        Registration stale = poller.add(closed.readEnd(), Poller.IN, events -> ran.add("stale"));
        int number = closed.readEnd();
        closed.closeReadEnd();
        Pipe pipe = readable();
        assertThat(pipe.readEnd()).as("same number").isEqualTo(number);
        Registration registration = poller.add(number, Poller.IN, events -> ran.add("ran"));

        assertThat(stale.isEnded()).isTrue();
        assertThat(stale.remove()).isFalse();
        poller.poll(UNTIL_EVENT);
        assertThat(ran).containsExactly("ran");

        pipe.closeReadEnd();
        assertThat(registration.remove()).as("closed before").isFalse();
        assertThat(poller.registrations()).isZero();
    }

    @Test
    void shouldEndTheNextWaitWithoutCountingItAsAWake() {
        poller.endWait();
        poller.endWait();
        assertThat(poller.poll(UNTIL_EVENT)).isZero();
        poller.endWait();
        poller.wake();
        assertThat(poller.poll(UNTIL_EVENT)).as("the wake alone").isEqualTo(1);
        assertThat(poller.poll(0)).isZero();
        poller.close();
        poller.endWait(); // of an interrupt that is late
    }

    @Test
    void shouldEndTheNextWaitOfAWakeThatCameBefore() {
        poller.wake();
        poller.wake();

        assertThat(poller.poll(UNTIL_EVENT)).isEqualTo(1);
        assertThat(poller.poll(0)).isZero();
    }

    @Test
    void shouldEndEachWaitOfThatManyWakesOfAnotherThread() throws Exception {
        int wakes = 10_000;
        CountDownLatch begun = new CountDownLatch(1);
        int[] sent = new int[1];
        Thread other =
                new Thread(() -> {
                    begun.countDown();
                    for (int i = 0; i < wakes; i++) {
                        synchronized (sent) {
                            sent[0]++;
                        }
                        poller.wake();
                    }
                });
        other.start();
        begun.await();
        int seen = 0;
        while (seen < wakes) { // a wake that is lost ends this test by its time limit
            poller.poll(UNTIL_EVENT);
            synchronized (sent) {
                seen = sent[0];
            }
        }
        other.join();
        assertThat(seen).isEqualTo(wakes);
    }

    /** A wake that fails leaves nothing behind that keeps the next one from its signal. */
    @Test
    void shouldBeWokenAfterWakesThatEndedAtTheEndOfAStack() throws Exception {
        for (int i = 0; i < DEEP_THREADS; i++) {
            Thread deep = new Thread(null, this::wakeToTheEnd, "deep", DEEP_STACK_BYTES);
            deep.start();
            assertThat(deep.join(Patience.LIMIT)).isTrue();
            int _ = poller.poll(0);
            assertThat(poller.poll(0)).isZero();
            poller.wake();

            assertThat(poller.poll(Patience.NANOS)).isOne();
        }
    }

    private void wakeToTheEnd() {
        try {
            wakeDeeper();
        } catch (StackOverflowError e) {
            assertThat(e).hasNoCause();
        }
    }

    @SuppressWarnings("InfiniteRecursion") // which the stack ends
    private void wakeDeeper() {
        try {
            wakeDeeper();
        } finally {
            poller.wake(); // fails until there is enough of the stack
        }
    }

    @Test
    void shouldIgnoreWakesAndRemovalsAfterItIsClosed() {
        Registration registration = poller.add(pipe().readEnd(), Poller.IN, events -> {});
        poller.close();
        poller.close();

        poller.wake();
        registration.remove();
        assertThatThrownBy(() -> poller.poll(0)).isInstanceOf(IllegalStateException.class);
    }
}
