package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.execution.ContextState;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.CpuMeter;
import io.softdpu.testkit.HiccupMeter;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.SeededRandom;
import io.softdpu.testkit.Soak;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process writes arbitrary values to the rings that it shares with a server, thousands of times,
 * while another client of that server sends and receives: that one is not affected, and each end of
 * the first has a known reason.
 */
@StartsProcesses
class HostileRingPeerTest {
    /** CPU time of one progress. */
    private static final Duration CPU_LIMIT = Duration.ofMillis(500);

    private static final long HEAP_LIMIT_BYTES = 16 << 20;

    /** Reasons per word whose values are checked; other words may have any value. */
    private static final Map<String, String> NAMED =
            Map.ofEntries(
                    Map.entry("server-queue/slot-length", "ring slot length out of range"),
                    Map.entry("server-queue/slot-type", "message type is unknown"),
                    Map.entry("server-queue/slot-word", "illegal data message"),
                    Map.entry("own-queue/consumed", "ring consumed index out of range"),
                    Map.entry("own-consumer/consumed", "illegal posting posted index out of range"),
                    Map.entry(
                            "own-consumer/posting-offset",
                            "illegal posting posting outside the memory"),
                    Map.entry(
                            "own-consumer/posting-capacity",
                            "illegal posting posting capacity out of range"),
                    Map.entry(
                            "server-consumer/slot-length",
                            "illegal fast path slot slot length out of range"),
                    Map.entry(
                            "server-consumer/slot-immediate-length",
                            "illegal fast path slot slot immediate length out of range"),
                    Map.entry(
                            "server-consumer/slot-flags",
                            "illegal fast path slot slot flags out of range"));

    /** Other reasons: messages that a word changed to other types, and the attacker's own end. */
    private static final Set<String> OTHERWISE =
            Set.of(
                    "illegal control message",
                    "illegal disconnect",
                    "message after the disconnect",
                    "peer ended",
                    "orderly");

    @TempDir Path folder;
    private final Processes processes = new Processes();
    private final CpuMeter cpu = new CpuMeter();
    private final Map<ComchConnection, TrafficPeer> trafficPeers = new HashMap<>();
    private final Map<ComchConnection, Integer> pendingConsumers = new HashMap<>();
    private final Map<String, Integer> reasons = new TreeMap<>();
    private Card card;
    private HiccupMeter hiccups;
    private ComchServer server;
    private ComchClient client;
    private TrafficPeer own;
    private TrafficPeer friend;
    private long verifiedBefore;
    private long lastVerifiedNanos;
    private long longestGapNanos;
    private long longestWallNanos;
    private int arrived;
    private int thrownOut;

    @BeforeEach
    void open() {
        card = Card.shared(folder);
        server = card.keep(ComchServer.create(card.p0, card.hpf0, Card.NAME));
        card.dpuEngine.connect(server);
        configure(server);
        server.setConnectedCallback(connection -> {
            arrived++;
            trafficPeers.put(
                    connection,
                    new TrafficPeer(connection, card.p0, card.dpuEngine, trafficPeers.isEmpty()));
        });
        server.setDisconnectedCallback((connection, reason) -> left(connection));
        server.start();
        client = card.keep(ComchClient.create(card.pf0, Card.NAME));
        card.hostEngine.connect(client);
        configure(client);
        client.start();
        drive(
                "client runs",
                () -> client.state() == ContextState.RUNNING && !trafficPeers.isEmpty());
        trafficPeerOf(client.connection());
        friend =
                trafficPeers.values().stream()
                        .filter(peer -> peer != own)
                        .findFirst()
                        .orElseThrow();
        drive("traffic both ways", () -> own.isUnderWay() && friend.isUnderWay());
    }

    /** The peer of a connection, or null; known from its first message on. */
    private TrafficPeer trafficPeerOf(ComchConnection connection) {
        if (own == null && connection.endpoint() == client) {
            own = new TrafficPeer(connection, card.pf0, card.hostEngine, true);
            trafficPeers.put(connection, own);
        }
        return trafficPeers.get(connection);
    }

    private void configure(ComchEndpoint endpoint) {
        endpoint.setSendTasks(256, this::messageSent, this::messageSent);
        endpoint.setMessageCallback((from, message) -> {
            TrafficPeer peer = trafficPeerOf(from);
            if (peer != null) {
                peer.messageArrived(message);
            }
        });
        endpoint.setConsumerCallbacks(
                (connection, id) -> pendingConsumers.put(connection, id),
                (connection, id) -> {
                    TrafficPeer peer = trafficPeers.get(connection);
                    if (peer != null) {
                        peer.remoteConsumer(0);
                    }
                });
    }

    private void messageSent(ComchSendTask task) {
        TrafficPeer peer = trafficPeers.get(task.connection());
        if (peer != null) {
            peer.messageEnded();
        }
        task.free();
    }

    @AfterEach
    void close() throws Exception {
        processes.close();
        for (TrafficPeer peer : trafficPeers.values()) {
            peer.stop();
        }
        drive("contexts stop", () -> trafficPeers.values().stream().allMatch(TrafficPeer::isIdle));
        trafficPeers.values().forEach(TrafficPeer::close);
        trafficPeers.clear();
        client.stop();
        drive("client stops", () -> client.state() == ContextState.IDLE);
        server.stop();
        drive("server stops", () -> server.state() == ContextState.IDLE);
        card.close();
    }

    @Tag(Soak.TAG)
    @Test
    void shouldServeOthersWhileOneWritesAnythingIntoItsRings(SeededRandom random)
            throws IOException {
        int mutations = Soak.count(4_000, 4_000, 1_000_000);
        long begin = System.nanoTime();
        LeakCheck leaks = LeakCheck.begin();
        long verified = own.verified() + friend.verified();
        lastVerifiedNanos = begin;
        hiccups = new HiccupMeter();
        ChildProcess attacker =
                processes.start(
                        JavaCommand.ofClass(RingAttacker.class)
                                .withArguments(
                                        folder.resolve("fabric").toString(),
                                        ChannelName.ofServer(
                                                card.p0.info(),
                                                card.hpf0.info().function(),
                                                Card.NAME),
                                        "" + random.seed(),
                                        "" + mutations));
        while (thrownOut < 20 && attacker.isAlive()) {
            progress();
        }
        long heapBefore = heapUsed();
        while (!attacker.outputLines().contains(RingAttacker.ENOUGH) && attacker.isAlive()) {
            progress();
        }
        drive(
                "each word is to blame once",
                () -> reasons.keySet().containsAll(NAMED.values()) || !attacker.isAlive());
        attacker.standardInput().write('\n');
        attacker.standardInput().flush();
        while (attacker.isAlive()) {
            progress();
        }
        long heapAfter = heapUsed();
        int status = attacker.awaitExit();
        assertThat(status).as("attacker: %s", attacker.errorLines()).isZero();
        // A traffic peer ends before its connection, which still waits for the peer's disconnect.
        drive("the last of it goes", () -> trafficPeers.size() == 2 && thrownOut == arrived - 1);

        assertThat(own.connection.isConnected()).isTrue();
        assertThat(server.state()).isEqualTo(ContextState.RUNNING);
        long during = own.verified() + friend.verified() - verified;
        assertThat(during).as("verified meanwhile").isGreaterThan(100);
        hiccups.close();
        assertThat(cpu.longestNanos()).as("CPU time of a progress").isLessThan(CPU_LIMIT.toNanos());
        assertThat(heapAfter - heapBefore).as("heap growth").isLessThan(HEAP_LIMIT_BYTES);
        assertThat(reasons.keySet())
                .as("connections that ended, each by the word that was to blame: %s", reasons)
                .containsAll(NAMED.values())
                .allMatch(reason -> NAMED.containsValue(reason) || OTHERWISE.contains(reason));
        awaitClean(leaks);
        report(random, Duration.ofNanos(System.nanoTime() - begin), attacker, during);
    }

    /** Progresses until contexts and imports have released their resources. */
    private void awaitClean(LeakCheck leaks) {
        long begin = System.nanoTime();
        while (!leaks.isClean() && System.nanoTime() - begin < Patience.DEADLINE.toNanos()) {
            progress();
        }
        leaks.assertNothingLeft();
    }

    private void report(
            SeededRandom random, Duration took, ChildProcess attacker, long verifiedDuring) {
        List<String> findings = new ArrayList<>();
        attacker.outputLines().stream()
                .filter(line -> line.startsWith("done "))
                .map(line -> line.substring(5))
                .forEach(findings::add);
        findings.add("verified=" + verifiedDuring);
        findings.add("longestProgressCpuMicros=" + cpu.longestNanos() / 1000);
        findings.add("longestProgressMicros=" + longestWallNanos / 1000);
        findings.add("longestGapMicros=" + longestGapNanos / 1000);
        findings.add("longestHiccupMicros=" + hiccups.longestNanos() / 1000);
        new TreeMap<>(NAMED)
                .forEach((word, reason) -> findings.add("hit/" + word + "=" + reasons.get(reason)));
        OTHERWISE.stream()
                .sorted()
                .forEach(reason ->
                        findings.add(
                                reason.replace(' ', '-') + "=" + reasons.getOrDefault(reason, 0)));
        attacker.outputLines().stream()
                .filter(line -> line.startsWith("wrote "))
                .map(line -> line.substring(6))
                .forEach(findings::add);
        Soak.report("hostile-rings-comch", random.seed(), took, String.join(", ", findings));
    }

    private void left(ComchConnection connection) {
        pendingConsumers.remove(connection);
        DpuException failure = connection.failure();
        String message = failure == null ? "orderly" : String.valueOf(failure.getMessage());
        reasons.merge(nameOf(message), 1, Integer::sum);
        thrownOut++;
    }

    /** The reason without variable parts. */
    private static String nameOf(String message) {
        return message.replaceFirst("^.*peer violated the protocol: ", "")
                .replaceFirst("consumer=\\d+, ", "")
                .replaceFirst("[=:].*$", "")
                .replaceFirst(", \\w+$", "")
                .replace(",", "");
    }

    private static long heapUsed() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private void drive(String what, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            progress();
            if (System.nanoTime() - begin > Patience.DEADLINE.toNanos()) {
                throw new AssertionError("did not happen: " + what + ", reasons=" + reasons);
            }
        }
    }

    private void progress() {
        long wall = System.nanoTime();
        cpu.begin();
        boolean worked = card.dpuEngine.progress();
        cpu.next();
        longestWallNanos = Math.max(longestWallNanos, System.nanoTime() - wall);
        worked |= card.hostEngine.progress();
        cpu.end();
        pendingConsumers.forEach((connection, id) -> {
            TrafficPeer peer = trafficPeers.get(connection);
            if (peer != null) {
                peer.remoteConsumer(id);
            }
        });
        trafficPeers.forEach((connection, peer) -> {
            peer.pump();
            peer.message(connection.endpoint());
        });
        trafficPeers
                .values()
                .removeIf(peer -> {
                    if (peer.isOver()) {
                        peer.close();
                        return true;
                    }
                    return false;
                });
        watchTraffic();
        if (!worked) {
            card.hostEngine.await(Duration.ofMillis(1));
        }
    }

    private void watchTraffic() {
        if (lastVerifiedNanos == 0) {
            return; // not under attack yet
        }
        long now = System.nanoTime();
        long verified = own.verified() + friend.verified();
        if (verified != verifiedBefore) {
            longestGapNanos = Math.max(longestGapNanos, now - lastVerifiedNanos);
            verifiedBefore = verified;
            lastVerifiedNanos = now;
        } else if (now - lastVerifiedNanos > Patience.NANOS) {
            throw new AssertionError("the other client's traffic stands still");
        }
    }
}
