package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.core.spi.BusServices;
import io.softdpu.fabric.Bus;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.HiccupMeter;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.PageFaults;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
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

    /** All of it is mapped at once: gibibytes are too much for every build. */
    private static final long LIMIT_BYTES = (long) Soak.count(160, 160, 4096) << 20;

    /** Few where the limit is low: an import is to cost far more than {@link #LEAST_FAULTS}. */
    private static final int IMPORTS = Soak.count(4, 4, CONNECTIONS);

    /** Three quarters of the limit are one process's: all imports, their rings, and no more. */
    private static final long MEMORY_BYTES = (LIMIT_BYTES / 4 * 3) / IMPORTS - (2 << 20);

    /**
     * Part of the page faults of populating one of these imports that the bus thread may have in a
     * round, and a pass of progress, which also touch new pages of the heap. Calls that map, unmap
     * or populate fail the test whatever they cost; this is for accesses to the memory.
     */
    private static final int PART_OF_ONE_IMPORT = 8;

    /** The least limit, for new pages of the heap where the kernel gives memory in large pages. */
    private static final int LEAST_FAULTS = 2000;

    private static final String BUS_THREAD = "softdpu-bus";

    @TempDir Path folder;

    @Test
    void shouldMapNothingBeyondTheLimit(Processes processes) throws Exception {
        long limitBytes = 64 << 20; // so none of the memories may be mapped
        try (Card card = Card.shared(folder, limitBytes)) {
            Card.Pair pair = pair(card);
            Bus bus = BusServices.bus(card.p0);
            long ringsBytes = bus.mappedBytesOfPeers();
            ChildProcess attacker = processes.start(attacker(CONNECTIONS, limitBytes));

            card.until("attacker is answered", () -> says(attacker, "answered "));
            String answered = attacker.awaitLine("^answered ");

            assertThat(answered).isEqualTo("answered RUNNING=0, FULL=" + CONNECTIONS);
            assertThat(bus.mappedBytesOfPeers())
                    .as("rings of %d clients", CONNECTIONS)
                    .isLessThan(ringsBytes + CONNECTIONS * (1 << 20));
            assertThat(ProcessView.self().mappings())
                    .noneMatch(mapping ->
                            mapping.name().contains("memfd:") && mapping.sizeBytes() >= limitBytes);
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
        Duration duration = Soak.duration(Duration.ZERO, Duration.ZERO, Duration.ofMinutes(10));
        int rounds = 0;
        long faultLimit = Math.max(LEAST_FAULTS, faultsOfOneImport() / PART_OF_ONE_IMPORT);
        long mostOnBus = 0;
        long mostInAPass = 0;
        long longestGap;
        long pause;
        try (Card card = Card.shared(folder, LIMIT_BYTES);
                HiccupMeter hiccups = new HiccupMeter()) {
            Card.Pair pair = pair(card);
            Bus bus = BusServices.bus(card.p0);
            long mappedBefore = bus.mappedBytesOfPeers();
            Traffic traffic = new Traffic(pair); // a message may be under way between two rounds
            do {
                // The random number of connections and the rest of the limit are those of the seed.
                int connections = rounds == 0 ? IMPORTS : 1 + random.nextInt(IMPORTS);
                ChildProcess attacker = processes.start(attacker(connections, MEMORY_BYTES));
                boolean killed = false;
                long onBus = PageFaults.ofThreads(BUS_THREAD);
                while (!killed || bus.mappedBytesOfPeers() > mappedBefore) {
                    long before = PageFaults.ofThisThread();
                    card.dpuEngine.progress();
                    mostInAPass = Math.max(mostInAPass, PageFaults.ofThisThread() - before);
                    card.hostEngine.progress();
                    traffic.exchange();
                    assertThat(System.nanoTime() - begin)
                            .as("nanoseconds so far")
                            .isLessThan(duration.plus(Patience.LIMIT.multipliedBy(3)).toNanos());
                    if (!killed && says(attacker, "answered ")) {
                        assertThat(attacker.awaitLine("^answered "))
                                .isEqualTo("answered RUNNING=" + connections + ", FULL=0");
                        assertThat(bus.mappedBytesOfPeers())
                                .isGreaterThan(connections * MEMORY_BYTES);
                        attacker.kill();
                        killed = true;
                    }
                }
                mostOnBus = Math.max(mostOnBus, PageFaults.ofThreads(BUS_THREAD) - onBus);
                rounds++;
            } while (System.nanoTime() - begin < duration.toNanos());
            longestGap = traffic.longestGapNanos;
            pause = hiccups.longestNanos();
        }
        Soak.report(
                "large-imports",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format(
                        "rounds=%d, bytes=%d, faults_on_bus=%d, most_faults_in_a_pass=%d,"
                                + " fault_limit=%d, longest_gap_ms=%d, longest_pause_ms=%d",
                        rounds,
                        IMPORTS * MEMORY_BYTES,
                        mostOnBus,
                        mostInAPass,
                        faultLimit,
                        longestGap / 1_000_000,
                        pause / 1_000_000));
        assertThat(mostOnBus).as("page faults of the bus thread").isLessThan(faultLimit);
        assertThat(mostInAPass).as("page faults in a progress()").isLessThan(faultLimit);
    }

    /** Page faults of a thread that populates as much memory as an import has. */
    private static long faultsOfOneImport() {
        long before = PageFaults.ofThisThread();
        try (SharedMemory _ = SharedMemory.allocate(MEMORY_BYTES)) {
            return PageFaults.ofThisThread() - before;
        }
    }

    /** A server whose limit allows the attacker's clients beside its own. */
    private static Card.Pair pair(Card card) {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(CONNECTIONS + 1);
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
