package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGSTOP of the client's and of the server's process at random points of a load both ways. */
@StartsProcesses
class StoppedPeersTest {
    private static final int LATEST_STOP_MICROS = 250_000;

    /** Calls of an engine that return while the peer stands still; one may have begun before. */
    private static final int PASSES = 3;

    @TempDir private Path folder;
    private long stoppedMillis;
    private long longestPassesNanos;
    private long received;

    @Test
    @Tag(Soak.TAG)
    void shouldLoseAndRepeatNoMessageAndKeepRunningWhenThePeerIsStopped(
            Processes processes, SeededRandom random) throws IOException {
        long begin = System.nanoTime();
        int stops = Soak.count(4, 4, 50);
        stop(processes, random, Side.DPU, stops / 2);
        stop(processes, random, Side.HOST, stops - stops / 2);
        Soak.report(
                "comch-stops",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "stops=%d, stops_of_server=%d, stops_of_client=%d, stopped_ms=%d,"
                                + " messages=%d, longest_%d_passes_ms=%d",
                        stops,
                        stops / 2,
                        stops - stops / 2,
                        stoppedMillis,
                        received,
                        PASSES,
                        TimeUnit.NANOSECONDS.toMillis(longestPassesNanos)));
    }

    /** One connection, whose peer is stopped several times. */
    private void stop(Processes processes, SeededRandom random, Side stopped, int times)
            throws IOException {
        Path fabric = folder.resolve(stopped.name());
        Side own = stopped == Side.DPU ? Side.HOST : Side.DPU;
        try (LoadPeer peer = new LoadPeer(own, fabric, Card.NAME)) {
            ChildProcess other =
                    processes.start(
                            JavaCommand.ofClass(LoadPeer.class)
                                    .withArguments(stopped.name(), fabric.toString(), Card.NAME));
            other.awaitLine("^ready$");
            if (own == Side.HOST) {
                peer.connect();
            }
            LoadSession session = peer.awaitSession(1);
            other.awaitLine("^connected$");
            for (int i = 0; i < times; i++) {
                awaitLoad(session);
                stopOnce(peer, session, other, random);
            }
            awaitLoad(session);
            tell(other, LoadPeer.FINISH);
            peer.finish(session);
            other.awaitLine("^finished$");
            tell(other, LoadPeer.TOTALS);
            String theirs = other.awaitLine("^totals ");
            assertThat(theirs)
                    .isEqualTo(
                            Text.format(
                                    "totals sent=%d, received=%d, messagesSent=%d,"
                                            + " messagesReceived=%d",
                                    session.received(),
                                    session.sent(),
                                    session.messagesReceived.get(),
                                    session.messagesCompleted.get()));
            assertThat(session.lostNanos).as("connection lost").isZero();
            received += session.received() + session.sent();
            other.standardInput().close();
            assertThat(other.awaitExit()).as("%s", other.errorLines()).isZero();
        }
    }

    /** Waits until messages have gone both ways since now. */
    private static void awaitLoad(LoadSession session) {
        long sent = session.sent();
        long received = session.received();
        session.await(
                "load both ways",
                () -> session.sent() > sent + 100 && session.received() > received + 100);
    }

    private void stopOnce(
            LoadPeer peer, LoadSession session, ChildProcess other, SeededRandom random) {
        assertRuns(other, Duration.ofNanos(1000L * random.nextInt(LATEST_STOP_MICROS)));
        other.freeze();
        long frozen = System.nanoTime();
        List<AtomicLong> passes =
                Stream.concat(
                                Stream.of(peer.passes),
                                session.workers.stream().map(worker -> worker.passes))
                        .toList();
        List<Long> before = passes.stream().map(AtomicLong::get).toList();
        session.await(
                "calls of each engine return",
                () -> {
                    peer.requireNoFailure();
                    for (int i = 0; i < before.size(); i++) {
                        if (passes.get(i).get() - before.get(i) < PASSES) {
                            return false;
                        }
                    }
                    return true;
                });
        longestPassesNanos = Math.max(longestPassesNanos, System.nanoTime() - frozen);
        int millis = random.nextInt(Soak.count(500, 500, 3000));
        assertRuns(other, Duration.ofMillis(millis).minusNanos(System.nanoTime() - frozen));
        other.thaw();
        stoppedMillis += TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - frozen);
    }

    private static void assertRuns(ChildProcess process, Duration time) {
        assertThat(Await.holdsWithin(time, () -> !process.isAlive()))
                .as("the peer ends by itself")
                .isFalse();
    }

    private static void tell(ChildProcess process, String line) throws IOException {
        process.standardInput().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        process.standardInput().flush();
    }
}
