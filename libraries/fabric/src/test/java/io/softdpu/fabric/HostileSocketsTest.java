package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.HiccupMeter;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that attack the bus by all means of a socket, while another client performs handshakes
 * and exchanges verified data: it is served all the time, and nothing of the attackers stays.
 */
@StartsProcesses
@Tag(Soak.TAG)
final class HostileSocketsTest {
    /** CPU time of one turn of the bus thread, and of one round of the engine. */
    private static final Duration CPU_LIMIT = Duration.ofMillis(250);

    /** Time limit for a client's HELLO: whoever waits for its end has failed before. */
    private static final long SILENCE_NANOS = 2 * Patience.NANOS;

    @TempDir Path folder;

    private Bus bus;
    private EchoServer server;
    private Bus client;
    private BusThreadMeter turns;
    private HiccupMeter hiccups;

    @BeforeEach
    void serve() {
        bus = bus();
        server = new EchoServer(bus, HostileClient.NAME);
        client = bus();
        turns = new BusThreadMeter(bus);
        hiccups = new HiccupMeter();
    }

    @AfterEach
    void close() throws Exception {
        hiccups.close();
        turns.close();
        client.close();
        server.close();
        bus.close();
    }

    private Bus bus() {
        return Bus.open(
                new Bus.Config(
                        folder.resolve("fabric"),
                        new byte[32],
                        "t",
                        SILENCE_NANOS,
                        8 << 20,
                        Long.MAX_VALUE,
                        Long.MAX_VALUE));
    }

    /** Waits until a bus has closed and unmapped what it was told to. */
    private static void settle(Bus bus) throws Exception {
        CompletableFuture<Void> turn = new CompletableFuture<>();
        bus.threads().loop().execute(() -> turn.complete(null));
        turn.get(Patience.SECONDS, TimeUnit.SECONDS);
        Await.until(
                "all is closed and unmapped",
                () -> bus.threads().workers().isIdle() && bus.threads().closer().isIdle());
    }

    private JavaCommand attacker(long seed, String... what) {
        return JavaCommand.ofClass(HostileClient.class)
                .withArguments(
                        folder.resolve("fabric").toString(),
                        folder.toString(),
                        Long.toString(ProcessHandle.current().pid()),
                        Long.toString(seed))
                .withArguments(what);
    }

    @Test
    void shouldServeOthersWhateverIsDoneToItsSockets(Processes processes, SeededRandom random)
            throws Exception {
        long begin = System.nanoTime();
        long seed = random.seed();
        shakeHandsAndVerify(seed);
        server.awaitNoClients();
        settle(bus);
        settle(client);
        ResourceSnapshot before = ResourceSnapshot.now();
        int watched = bus.threads().loop().watched();
        ChildProcess attacker =
                processes.start(attacker(seed, Integer.toString(Soak.count(340, 850, 51_000))));

        int served = 0;
        long slowest = 0;
        while (attacker.isAlive()) {
            slowest = Math.max(slowest, shakeHandsAndVerify(seed + served));
            served++;
        }

        assertThat(attacker.awaitExit()).as(attacker.toString()).isZero();
        String counts = attacker.awaitLine("^done ").substring("done ".length());
        String reached = requireThatEachReachedTheServer(attacker);
        requireShortTurns();
        assertThat(served).as("handshakes of the other client").isPositive();
        server.awaitNoClients();
        ResourceSnapshot.awaitAgain(before);
        Await.until("nothing more is watched", () -> bus.threads().loop().watched() <= watched);
        Soak.report(
                "hostile-sockets",
                seed,
                Duration.ofNanos(System.nanoTime() - begin),
                counts.replaceAll("[{}]", "")
                        + reached
                        + ", verified="
                        + served
                        + measured(slowest));
    }

    private void requireShortTurns() {
        assertThat(turns.turns()).as("turns of the bus thread").isPositive();
        assertThat(turns.longestCpuNanos())
                .as("CPU time of a turn of the bus thread")
                .isLessThan(CPU_LIMIT.toNanos());
        assertThat(server.longestCpuNanos())
                .as("CPU time of a round of the engine")
                .isLessThan(CPU_LIMIT.toNanos());
    }

    /** The longest wait beside what the machine did meanwhile, for people. */
    private String measured(long slowestNanos) {
        return ", slowest_ms="
                + slowestNanos / 1_000_000
                + ", hiccup_ms="
                + hiccups.longestNanos() / 1_000_000
                + ", longestTurnCpuMicros="
                + turns.longestCpuNanos() / 1000
                + ", longestEngineCpuMicros="
                + server.longestCpuNanos() / 1000;
    }

    /**
     * By what the server answered each time that the attacker looked; how often, for the report.
     */
    private static String requireThatEachReachedTheServer(ChildProcess attacker) {
        StringBuilder report = new StringBuilder();
        for (HostileClient.Attack attack : HostileClient.Attack.values()) {
            String line = attacker.awaitLine("^reached " + attack + "=");
            assertThat(line).matches("reached \\w+=([1-9]\\d*) of \\1, otherwise: never");
            report.append(line.replaceFirst("^reached (\\w+)=(\\d+).*", ", $1/reached=$2"));
        }
        return report.toString();
    }

    @Smoke
    @Test
    void shouldServeANewClientBesideAThousandIdleOnes(Processes processes, SeededRandom random)
            throws Exception {
        long begin = System.nanoTime();
        shakeHandsAndVerify(random.seed());
        ChildProcess idle = processes.start(attacker(random.seed(), "idle", "1000"));
        idle.awaitLine("^idle 1000");

        long took = shakeHandsAndVerify(random.seed());

        requireShortTurns();
        Soak.report(
                "idle-sockets",
                random.seed(),
                Duration.ofNanos(System.nanoTime() - begin),
                "idle=1000" + measured(took));
        idle.standardInput().close();
        assertThat(idle.awaitExit()).isZero();
    }

    /** A whole connection with an exchange that is verified; how long the handshake took. */
    private long shakeHandsAndVerify(long value) throws Exception {
        return EchoServer.verify(client, HostileClient.NAME, value, 200);
    }
}
