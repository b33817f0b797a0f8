package io.softdpu.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.testkit.Patience;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class EpollTest {
    /** Long enough for any event that is under way; no test waits for it to pass. */
    private static final int SOON_MILLIS = (int) Patience.DEADLINE.toMillis();

    private final OpenFiles files = new OpenFiles();
    private final Epoll epoll = new Epoll(4);

    @AfterEach
    void closeFiles() {
        epoll.close();
        files.close();
    }

    @Test
    void shouldReturnTheDataAndEventsOfWhatIsReady() {
        int[] pair = files.pair();
        int[] quiet = files.pair();
        epoll.add(pair[1], Epoll.IN | Epoll.RDHUP, 0xfedc_ba98_7654_3210L);
        epoll.add(quiet[1], Epoll.IN, 1);

        Doorbell.ring(pair[0]);

        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(1);
        assertThat(epoll.data(0)).isEqualTo(0xfedc_ba98_7654_3210L);
        assertThat(epoll.events(0)).isEqualTo(Epoll.IN);
    }

    @Test
    void shouldKeepTheDataOfSeveralReadyDescriptorsApart() {
        Map<Long, Integer> expected = new HashMap<>();
        Map<Long, Integer> found = new HashMap<>();
        for (int i = 0; i < 4; i++) {
            int[] pair = files.pair();
            long data = 0x1_0000_0001L * (i + 1);
            int events = i % 2 == 0 ? Epoll.IN : Epoll.IN | Epoll.OUT;
            epoll.add(pair[1], events, data);
            Doorbell.ring(pair[0]);
            expected.put(data, events);
        }

        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(4);
        for (int i = 0; i < 4; i++) {
            found.put(epoll.data(i), epoll.events(i));
        }

        assertThat(found).isEqualTo(expected);
    }

    @Test
    void shouldReportAtMostAsManyAsThereIsRoomFor() {
        for (int i = 0; i < 6; i++) {
            epoll.add(files.pair()[0], Epoll.OUT, i);
        }

        assertThat(epoll.await(0)).isEqualTo(4);
        assertThatThrownBy(() -> epoll.data(4)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> epoll.events(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldComeBackEmptyWhenTimeIsUp() {
        epoll.add(files.pair()[0], Epoll.IN, 1);

        assertThat(epoll.await(0)).isZero();
        assertThat(epoll.await(1)).isZero();
        assertThatThrownBy(() -> epoll.data(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldSeeThatThePeerHasGone() {
        int[] pair = files.pair();
        epoll.add(pair[1], Epoll.RDHUP, 1);
        assertThat(epoll.await(0)).isZero();

        files.close(pair[0]);

        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(1);
        assertThat(epoll.events(0) & Epoll.RDHUP).isNotZero();
        assertThat(epoll.events(0) & Epoll.HUP).isNotZero();
    }

    @Test
    void shouldNotBeWokenByBytesWhereOnlyTheEndIsWatched() {
        int[] pair = files.pair();
        epoll.add(pair[1], Epoll.RDHUP, 1);

        Doorbell.ring(pair[0]);

        assertThat(epoll.await(0)).isZero();
    }

    @Test
    void shouldReportAChangeOnceWhereAskedTo() {
        int[] pair = files.pair();
        epoll.add(pair[1], Epoll.IN | Epoll.ET, 1);
        Doorbell.ring(pair[0]);

        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(1);
        assertThat(epoll.await(0)).isZero();
        Doorbell.ring(pair[0]);
        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(1);
    }

    @Test
    void shouldModifyAndRemove() {
        int[] pair = files.pair();
        epoll.add(pair[1], Epoll.IN, 1);
        Doorbell.ring(pair[0]);

        epoll.modify(pair[1], Epoll.OUT, 2);
        assertThat(epoll.await(SOON_MILLIS)).isEqualTo(1);
        assertThat(epoll.events(0)).isEqualTo(Epoll.OUT);
        assertThat(epoll.data(0)).isEqualTo(2);

        assertThat(epoll.removeIfWatched(pair[1])).isTrue();
        assertThat(epoll.await(0)).isZero();
    }

    @Test
    void shouldWakeAThreadThatWaitsWithoutEnd() throws InterruptedException {
        int event = files.own(EventFd.create());
        epoll.add(event, Epoll.IN, 7);
        int[] result = new int[1];
        Thread waiter = Thread.ofPlatform().start(() -> result[0] = epoll.await(-1));

        EventFd.signal(event);
        assertThat(waiter.join(Patience.DEADLINE)).isTrue();

        assertThat(result[0]).isEqualTo(1);
        assertThat(epoll.data(0)).isEqualTo(7);
    }

    @Test
    void shouldSeeWhatIsAddedWhileAnotherThreadWaits() throws InterruptedException {
        int[] pair = files.pair();
        Doorbell.ring(pair[0]);
        Thread waiter = Thread.ofPlatform().start(() -> epoll.await(-1));

        epoll.add(pair[1], Epoll.IN, 7);
        assertThat(waiter.join(Patience.DEADLINE)).isTrue();

        assertThat(epoll.data(0)).isEqualTo(7);
    }

    /** A stop and its continuation end epoll_wait with EINTR, without any handler. */
    @Test
    @StartsProcesses
    void shouldWaitItsWholeTimeAlsoWhenTheProcessIsStoppedAndContinued() throws Exception {
        int timeoutMillis = 500;
        FutureTask<Integer> waiting = new FutureTask<>(() -> epoll.await(timeoutMillis));
        long start = System.nanoTime();
        Thread.ofPlatform().start(waiting);
        // Each stop must not begin the wait anew, or it would never end under these.
        while (!waiting.isDone() && System.nanoTime() - start < Patience.DEADLINE.toNanos()) {
            stopAndContinueThisProcess();
        }

        assertThat(waiting).isDone();
        assertThat(waiting.get()).isZero();
        assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start))
                .isGreaterThanOrEqualTo(timeoutMillis);
    }

    private static void stopAndContinueThisProcess() throws IOException, InterruptedException {
        String pid = Long.toString(ProcessHandle.current().pid());
        Process helper =
                new ProcessBuilder("sh", "-c", "kill -STOP $0; kill -CONT $0", pid)
                        .inheritIO()
                        .start();
        assertThat(helper.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        assertThat(helper.exitValue()).isZero();
    }

    @Test
    void shouldBeWatchedItself() {
        int[] pair = files.pair();
        try (Epoll outer = new Epoll(1)) {
            epoll.add(pair[1], Epoll.IN, 1);
            outer.add(epoll.fd(), Epoll.IN, 2);
            assertThat(outer.await(0)).isZero();

            Doorbell.ring(pair[0]);

            assertThat(outer.await(SOON_MILLIS)).isEqualTo(1);
            assertThat(outer.data(0)).isEqualTo(2);
        }
    }

    @Test
    void shouldBeCloseOnExec() {
        OpenFiles.assertCloseOnExec(epoll.fd());
    }

    @Test
    void shouldNameWhatCannotBeWatched() {
        int[] pair = files.pair();
        epoll.add(pair[0], Epoll.IN, 1);
        String both = "epollFd=" + epoll.fd() + ", fd=" + pair[0];

        assertThatThrownBy(() -> epoll.add(pair[0], Epoll.IN, 1))
                .hasMessage("epoll_ctl(EPOLL_CTL_ADD) failed: errno=17 (EEXIST), " + both);
        assertThat(epoll.removeIfWatched(pair[0])).isTrue();
        assertThat(epoll.removeIfWatched(pair[0])).isFalse();
        assertThatThrownBy(() -> epoll.modify(pair[0], Epoll.IN, 1))
                .hasMessage("epoll_ctl(EPOLL_CTL_MOD) failed: errno=2 (ENOENT), " + both);
    }

    @Test
    void shouldRefuseUseAfterClose() {
        epoll.close();
        epoll.close();

        assertThatThrownBy(() -> epoll.await(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> epoll.add(0, Epoll.IN, 0))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(epoll::fd).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseToMakeNoRoom() {
        assertThatThrownBy(() -> new Epoll(0)).isInstanceOf(IllegalArgumentException.class);
    }
}
