package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.spi.BusServices;
import io.softdpu.fabric.Bus;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.HiccupMeter;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process makes a server map large memory: nothing is mapped beyond the limit, and below it
 * neither the bus thread nor progress() spends time on it, while another client is served.
 */
@StartsProcesses
final class LargeImportsTest {
    private static final int CONNECTIONS = 16;
    private static final long LIMIT_BYTES = 4L << 30;

    /**
     * Three quarters of the limit are one process's: sixteen of these, their rings, and no more.
     */
    private static final long MEMORY_BYTES = (LIMIT_BYTES / 4 * 3) / CONNECTIONS - (2 << 20);

    /**
     * CPU time that an iteration of the bus thread and a pass of progress may take: three times
     * what they take, and half of what mapping and populating one of these imports took there.
     * Calls that unmap or release memory fail the test whatever they cost.
     */
    private static final long CPU_LIMIT_NANOS = 40_000_000L;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir Path folder;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    @Test
    void shouldMapNothingBeyondTheLimit(Processes processes) throws Exception {
        try (Card card = Card.shared(folder, 64 << 20)) {
            Card.Pair pair = pair(card);
            Bus bus = BusServices.bus(card.p0);
            long ringsBytes = bus.mappedBytesOfPeers();
            ChildProcess attacker = processes.start(attacker(CONNECTIONS, MEMORY_BYTES));

            card.until("attacker is answered", () -> says(attacker, "answered "));
            String answered = attacker.awaitLine("^answered ", PATIENCE);

            assertThat(answered).isEqualTo("answered RUNNING=0, FULL=" + CONNECTIONS);
            assertThat(bus.mappedBytesOfPeers())
                    .as("rings of %d clients", CONNECTIONS)
                    .isLessThan(ringsBytes + CONNECTIONS * (1 << 20));
            assertThat(ProcessView.self().mappings())
                    .noneMatch(mapping ->
                            mapping.name().contains("memfd:")
                                    && mapping.sizeBytes() >= MEMORY_BYTES);
            assertThat(pair.client().send("still served")).isEqualTo(Status.SUCCESS);
            card.until("message", () -> pair.server().texts().contains("still served"));
            attacker.kill();
            card.until("unmapped", () -> bus.mappedBytesOfPeers() <= ringsBytes);
        }
    }

    @Test
    @Tag(Soak.TAG)
    void shouldPayForLargeImportsOnNoThreadThatServesOthers(
            Processes processes, SeededRandom random) throws Exception {
        long begin = System.nanoTime();
        Duration duration = Soak.duration(Duration.ZERO, Duration.ofMinutes(10));
        int rounds = 0;
        AtomicLong longestTurn = new AtomicLong();
        long longestPass = 0;
        long longestGap;
        long pause;
        try (Card card = Card.shared(folder, LIMIT_BYTES);
                HiccupMeter hiccups = new HiccupMeter()) {
            Card.Pair pair = pair(card);
            Bus bus = BusServices.bus(card.p0);
            long before = bus.mappedBytesOfPeers();
            Traffic traffic = new Traffic(pair); // a message may be under way between two rounds
            try (Turns _ = new Turns(bus, threads, longestTurn)) {
                do {
                    // The random number of connections and the rest of the limit are those of the
                    // seed.
                    int connections = rounds == 0 ? CONNECTIONS : 1 + random.nextInt(CONNECTIONS);
                    ChildProcess attacker = processes.start(attacker(connections, MEMORY_BYTES));
                    boolean killed = false;
                    while (!killed || bus.mappedBytesOfPeers() > before) {
                        long cpu = threads.getCurrentThreadCpuTime();
                        card.dpuEngine.progress();
                        longestPass =
                                Math.max(longestPass, threads.getCurrentThreadCpuTime() - cpu);
                        card.hostEngine.progress();
                        traffic.exchange();
                        assertThat(System.nanoTime() - begin)
                                .as("nanoseconds so far")
                                .isLessThan(duration.plus(PATIENCE.multipliedBy(3)).toNanos());
                        if (!killed && says(attacker, "answered ")) {
                            assertThat(attacker.awaitLine("^answered ", PATIENCE))
                                    .isEqualTo("answered RUNNING=" + connections + ", FULL=0");
                            assertThat(bus.mappedBytesOfPeers())
                                    .isGreaterThan(connections * MEMORY_BYTES);
                            attacker.kill();
                            killed = true;
                        }
                    }
                    rounds++;
                } while (System.nanoTime() - begin < duration.toNanos());
            }
            longestGap = traffic.longestGapNanos;
            pause = hiccups.longestNanos();
        }
        Soak.report(
                "large-imports",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "rounds=%d, bytes=%d, longest_turn_cpu_us=%d, longest_pass_cpu_us=%d, longest_gap_ms=%d, longest_pause_ms=%d"
                        .formatted(
                                rounds,
                                CONNECTIONS * MEMORY_BYTES,
                                longestTurn.get() / 1000,
                                longestPass / 1000,
                                longestGap / 1_000_000,
                                pause / 1_000_000));
        assertThat(longestTurn.get()).as("CPU time of a bus turn").isLessThan(CPU_LIMIT_NANOS);
        assertThat(longestPass).as("CPU time of a progress()").isLessThan(CPU_LIMIT_NANOS);
    }

    /** A server whose limit allows the attacker's clients beside its own. */
    private static Card.Pair pair(Card card) {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(CONNECTIONS + 1);
        server.endpoint.setControlTimeout(MappingAttacker.TIMEOUT_NANOS);
        Peer client = Peer.client(card, Card.NAME);
        server.endpoint.start();
        client.endpoint.start();
        card.until("client runs", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("server has a connection", () -> server.connection != null);
        return new Card.Pair(server, client);
    }

    private JavaCommand attacker(int connections, long memoryBytes) {
        return JavaCommand.ofClass(MappingAttacker.class)
                .withArguments(
                        folder.resolve("fabric").toString(),
                        Integer.toString(connections),
                        Long.toString(memoryBytes));
    }

    private static boolean says(ChildProcess process, String prefix) {
        assertThat(process.isAlive()).as(process + ", " + process.errorLines()).isTrue();
        return process.outputLines().stream().anyMatch(line -> line.startsWith(prefix));
    }

    /** Measures each turn of the bus thread, by a task that is due in each. */
    private static final class Turns implements AutoCloseable {
        private final Bus bus;
        private final ThreadMXBean threads;
        private final AtomicLong longestNanos;
        private volatile boolean ended;
        private long lastCpuNanos = -1;

        Turns(Bus bus, ThreadMXBean threads, AtomicLong longestNanos) {
            this.bus = bus;
            this.threads = threads;
            this.longestNanos = longestNanos;
            var _ = bus.after(0, this::look);
        }

        private void look() {
            if (ended) {
                return;
            }
            long cpuNanos = threads.getCurrentThreadCpuTime();
            if (lastCpuNanos >= 0) {
                longestNanos.accumulateAndGet(cpuNanos - lastCpuNanos, Math::max);
            }
            lastCpuNanos = cpuNanos;
            var _ = bus.after(0, this::look);
        }

        @Override
        public void close() {
            ended = true;
        }
    }

    /** Messages of the well-behaved client, one at a time, and the longest time for one. */
    private static final class Traffic {
        private final Card.Pair pair;
        private int number;
        private boolean sent;
        private long sentNanos;
        private long longestGapNanos;

        Traffic(Card.Pair pair) {
            this.pair = pair;
        }

        void exchange() {
            if (!sent) {
                sentNanos = System.nanoTime();
                sent = pair.client().send(Integer.toString(number)) == Status.SUCCESS;
            } else if (!pair.server().messages.isEmpty()) {
                assertThat(pair.server().texts()).containsExactly(Integer.toString(number));
                pair.server().messages.clear();
                longestGapNanos = Math.max(longestGapNanos, System.nanoTime() - sentNanos);
                number++;
                sent = false;
            }
        }
    }
}
