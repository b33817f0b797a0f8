package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SIGKILL of the client's and of the server's process at random points of a load both ways. */
@StartsProcesses
class KilledPeersTest {

    /** The latest kill after the connection, where producers and consumers are still starting. */
    private static final int EARLY_MICROS = 60_000;

    /** The latest kill after the load has begun. */
    private static final int LATE_MICROS = 250_000;

    @TempDir private Path folder;

    /** Results of all rounds. */
    private final Map<Status, Long> statuses = new TreeMap<>();

    private final Map<Status, Long> refusals = new TreeMap<>();
    private final Map<Side, Integer> kills = new TreeMap<>();
    private long tasks;
    private long longestNanos;
    private int early;

    @Test
    @Tag(Soak.TAG)
    void shouldEndEachTaskWithAStatusAndReleaseEverythingWhenThePeerIsKilled(
            Processes processes, SeededRandom random) {
        long begin = System.nanoTime();
        Path fabric = folder.resolve("fabric");
        int rounds = Soak.count(4, 4, 100);
        try (LoadPeer server = new LoadPeer(Side.DPU, fabric, "survivor");
                LoadPeer client = new LoadPeer(Side.HOST, fabric, "victim")) {
            int[] sessions = new int[2];
            Baseline baseline = new Baseline(fabric);
            for (int round = 0; round < rounds; round++) {
                boolean killsServer = round % 2 == 0;
                kill(
                        processes,
                        random,
                        killsServer ? Side.DPU : Side.HOST,
                        killsServer ? client : server,
                        ++sessions[round % 2],
                        // Each kind for each side is there before chance decides.
                        round < 4 ? round < 2 : random.nextInt(3) == 0);
                baseline.assertRestored();
            }
        }
        Soak.report(
                "comch-kills",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "kills=%d, kills_of_server=%d, kills_of_client=%d, early=%d, tasks=%d,"
                                + " statuses=%s, refusals=%s, longest_until_noticed_ms=%d",
                        rounds,
                        kills.getOrDefault(Side.DPU, 0),
                        kills.getOrDefault(Side.HOST, 0),
                        early,
                        tasks,
                        statuses,
                        refusals,
                        TimeUnit.NANOSECONDS.toMillis(longestNanos)));
        assertThat(statuses.get(Status.CONNECTION_RESET))
                .as("tasks that the kills ended")
                .isPositive();
    }

    private void kill(
            Processes processes,
            SeededRandom random,
            Side killed,
            LoadPeer survivor,
            int number,
            boolean atStart) {
        ChildProcess victim =
                processes.start(
                        JavaCommand.ofClass(LoadPeer.class)
                                .withArguments(
                                        killed.name(),
                                        folder.resolve("fabric").toString(),
                                        killed == Side.DPU ? "victim" : "survivor"));
        victim.awaitLine("^ready$");
        if (killed == Side.DPU) {
            survivor.connect();
        }
        LoadSession session = survivor.awaitSession(number);
        victim.awaitLine("^connected$");
        if (atStart) {
            early++;
        } else {
            session.await("load both ways", () -> session.sent() > 100 && session.received() > 100);
        }
        Duration delay =
                Duration.ofNanos(1000L * random.nextInt(atStart ? EARLY_MICROS : LATE_MICROS));
        assertThat(Await.holdsWithin(delay, () -> !victim.isAlive()))
                .as("the victim ends by itself")
                .isFalse();
        long killNanos = System.nanoTime();
        victim.kill();
        session.join();
        session.await("end of the connection noticed", () -> session.lostNanos != 0);
        if (killed == Side.DPU) {
            session.await("client idle", () -> survivor.state() == ContextState.IDLE);
        }
        victim.close();
        kills.merge(killed, 1, Integer::sum);
        add(session, killNanos);
    }

    private void add(LoadSession session, long killNanos) {
        noticed(session.lostNanos - killNanos, session);
        assertThat(session.messagesCompleted.get())
                .as("messages of %s", session)
                .isEqualTo(session.messagesSubmitted.get());
        addAll(statuses, session.messageStatuses);
        tasks += session.messagesCompleted.get();
        for (LoadWorker worker : session.workers) {
            noticed(worker.lostNanos - killNanos, worker);
            assertThat(worker.completed.get())
                    .as("tasks of %s", worker)
                    .isEqualTo(worker.submitted.get());
            addAll(statuses, worker.statuses);
            addAll(refusals, worker.refusals);
            tasks += worker.completed.get();
        }
        assertThat(statuses.keySet()).isSubsetOf(Status.SUCCESS, Status.CONNECTION_RESET);
    }

    private void noticed(long afterNanos, Object by) {
        assertThat(afterNanos).as("notices the end of its peer: %s", by).isPositive();
        longestNanos = Math.max(longestNanos, afterNanos);
    }

    private static void addAll(Map<Status, Long> to, Map<Status, Long> counts) {
        counts.forEach((status, count) -> to.merge(status, count, Long::sum));
    }

    /** Resources of this process while no peer is connected, and files of the fabric folder. */
    private static final class Baseline {
        private final Path fabric;
        private final LeakCheck resources;
        private final List<String> files;

        Baseline(Path fabric) {
            this.fabric = fabric;
            files = files();
            resources = LeakCheck.begin(fabric);
        }

        void assertRestored() {
            // The next program that joins removes what a killed one could not.
            Machine.builder(Side.HOST).fabricFolder(fabric).open().close();
            assertThat(files()).isEqualTo(files);
            resources.assertNothingLeft();
        }

        private List<String> files() {
            try (Stream<Path> files = Files.walk(fabric)) {
                return files.map(file -> fabric.relativize(file).toString()).sorted().toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
