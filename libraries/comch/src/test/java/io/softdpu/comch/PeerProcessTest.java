package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.ChildProcess;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.JavaCommand;
import io.softdpu.testkit.OtherUser;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import io.softdpu.testkit.Processes;
import io.softdpu.testkit.Smoke;
import io.softdpu.testkit.StartsProcesses;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections to another process that is killed or frozen. */
@StartsProcesses
class PeerProcessTest {
    private static final byte[] NOTHING = {};

    @TempDir Path folder;
    private final Processes processes = new Processes();
    private Card card;

    @BeforeEach
    void open() {
        card = Card.shared(folder);
    }

    @AfterEach
    void close() throws Exception {
        processes.close(); // before the card looks for what was left behind
        card.close();
    }

    @Clause({"cc-001", "cc-093", "cc-164"})
    @Smoke
    @Test
    void shouldFailWhatIsUnderWayWhenTheServerIsKilledAndConnectToTheNext() {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("echo");
        card.until("echo", () -> client.texts().contains("echo"));
        card.until("delivered", () -> client.sends.size() == 1);
        card.until("posted", () -> client.consumers.size() == 1);
        card.until("posted", () -> server.outputLines().contains("posted"));
        Queue.Sending sending = new Queue.Sending(client, card.hostEngine, 16 << 20, 8).run(card);
        int consumer = client.consumers.getFirst();
        assertThat(sending.send(consumer, new byte[5], NOTHING)).isEqualTo(Status.SUCCESS);
        card.until("sent", () -> sending.statuses.size() == 1);
        Queue.Receiving receiving = new Queue.Receiving(client, card.hostEngine, 4096, 2).run(card);
        receiving.post(0, 64);

        server.freeze();
        for (int i = 0; i < 10; i++) {
            assertThat(client.send("never read")).isEqualTo(Status.SUCCESS);
        }
        assertThat(sending.send(consumer, new byte[8 << 20], NOTHING)).isEqualTo(Status.SUCCESS);
        card.hostEngine.progress(); // the large copy has begun
        server.kill();
        card.until("client", () -> client.endpoint.state() == ContextState.IDLE);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        assertThat(client.sends).hasSize(11);
        assertThat(client.sends.subList(1, 11)).containsOnly(Status.CONNECTION_RESET);
        assertThat(sending.statuses).hasSize(2);
        assertThat(receiving.statuses).containsExactly(Status.CONNECTION_RESET);
        assertThat(client.endpoint.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        card.until("told", () -> client.states.contains(ContextState.IDLE));
        assertThat(client.states)
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
        assertThat(sending.producer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(client.consumers).isEmpty();

        ChildProcess next = start("server");
        client.endpoint.start(); // before the next server is there
        card.until("runs again", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("connected", () -> next.outputLines().contains("connected true"));
    }

    @Clause({"cc-139", "cc-141"})
    @Smoke
    @Test
    void shouldTellTheServerOfKilledClientAndServeTheNext() {
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(1);
        server.endpoint.start();
        ChildProcess client = start("client");
        card.until("connected", () -> server.connection != null);
        card.until("its consumer", () -> server.consumers.size() == 1);
        Queue.Receiving receiving = new Queue.Receiving(server, card.dpuEngine, 4096, 2).run(card);
        receiving.post(0, 64);
        Queue.Sending sending = new Queue.Sending(server, card.dpuEngine, 4096, 2).run(card);
        client.kill();
        card.until("told", () -> server.events.contains("disconnected false"));
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
        assertThat(receiving.statuses).containsExactly(Status.CONNECTION_RESET);
        assertThat(server.connection.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(server.endpoint.state()).isEqualTo(ContextState.RUNNING);
        assertThat(server.consumers).isEmpty();
        start("client");
        card.until("next", () -> server.connection.isConnected());
    }

    @Test
    void shouldNameTheProcessOfThePeerAlsoOfARefusedClient() throws IOException {
        int uid = (int) Files.getAttribute(Path.of("/proc/self"), "unix:uid");
        Peer server = Peer.server(card, Card.NAME);
        ((ComchServer) server.endpoint).setMaxClients(1);
        server.endpoint.start();
        ChildProcess client = start("client");
        card.until("connected", () -> server.connection != null);
        ChildProcess tooMany = start("client");
        card.until("refused", () -> server.events.contains("connected false"));

        assertThat(server.connection.peer()).isEqualTo(new ComchPeer((int) client.pid(), uid));
        assertThat(server.connectionsOfEvents.getLast().peer())
                .isEqualTo(new ComchPeer((int) tooMany.pid(), uid));
        card.until("told", () -> client.outputLines().contains("running"));
        client.awaitLine(
                "peer ComchPeer\\[pid=" + ProcessHandle.current().pid() + ", uid=" + uid + "]");
        client.kill();
        card.until("ended", () -> !server.connection.isConnected());
        assertThat(server.connection.peer().pid()).isEqualTo((int) client.pid());
    }

    @Test
    void shouldNameTheUserOfThePeer() throws IOException {
        OtherUser nobody = OtherUser.nobody();
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        Path theirs = Files.createDirectory(folder.resolve("theirs"));
        nobody.own(theirs);

        ChildProcess server = processes.start(program("server", theirs).as(nobody));
        server.awaitLine("ready");
        ChildProcess client = processes.start(program("client", theirs).as(nobody));

        server.awaitLine(peerOf(client, nobody));
        client.awaitLine(peerOf(server, nobody));
    }

    private static String peerOf(ChildProcess process, OtherUser user) {
        return Text.format("peer ComchPeer\\[pid=%d, uid=%d]", process.pid(), user.uid());
    }

    @Test
    void shouldEndAWaitWithConnectionResetWhenThePeerIsKilled() {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        Peer client = Peer.client(card, Card.NAME);
        card.hostEngine.start(client.endpoint, Patience.LIMIT);
        assertThatThrownBy(() ->
                        card.hostEngine.runUntil(
                                () -> {
                                    server.kill(); // the program is in its wait
                                    return false;
                                },
                                Patience.LIMIT,
                                client.endpoint))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_RESET));
    }

    @Test
    void shouldCloseWhileThePeerIsFrozen() {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        Peer client = Peer.client(card, Card.NAME);
        card.hostEngine.start(client.endpoint, Patience.LIMIT);
        Queue.Receiving receiving = new Queue.Receiving(client, card.hostEngine, 4096, 2).run(card);
        receiving.post(0, 64);
        server.freeze();
        Peer.limitReplies(client.connection());
        receiving.consumer.close(); // whose memory the peer has mapped
        client.endpoint.close();
        assertThat(receiving.statuses).hasSize(1);
        assertThat(client.endpoint.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldDeliverToPeerThatStoodStillAndGoesOn() {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        Peer client = Peer.client(card, Card.NAME);
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        server.freeze();
        int sent = 0;
        while (sent < 32 && client.send("m" + sent) == Status.SUCCESS) {
            sent++;
        }
        assertThat(sent).isEqualTo(32);
        for (int i = 0; i < 1000; i++) {
            card.hostEngine.progress();
        }
        assertThat(client.sends).isEmpty();
        server.thaw();
        card.until("delivered", () -> client.sends.size() == 32);
        assertThat(client.sends).containsOnly(Status.SUCCESS);
    }

    @Clause("cc-002")
    @Test
    void shouldUseNoNetworkSocketOnEitherSide() throws Exception {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        Peer client = Peer.client(card, Card.NAME);
        Set<String> before = networkSockets(ProcessHandle.current().pid());
        client.endpoint.start();
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        client.send("echo");
        card.until("echo", () -> client.texts().contains("echo"));
        card.until("posted", () -> server.outputLines().contains("posted"));
        card.until("its consumer", () -> client.consumers.size() == 1);
        Queue.Sending sending = new Queue.Sending(client, card.hostEngine, 1 << 20, 2).run(card);
        Queue.Receiving receiving = new Queue.Receiving(client, card.hostEngine, 4096, 1).run(card);
        receiving.post(0, 64);
        int consumer = client.consumers.getFirst();
        assertThat(sending.send(consumer, new byte[5], NOTHING)).isEqualTo(Status.SUCCESS);
        assertThat(sending.send(consumer, new byte[1 << 20], NOTHING)).isEqualTo(Status.SUCCESS);
        card.until("sent", () -> sending.statuses.size() == 2);
        assertThat(sending.statuses).containsOnly(Status.SUCCESS);
        assertThat(networkSockets(server.pid())).isEmpty();
        assertThat(networkSockets(ProcessHandle.current().pid())).isEqualTo(before);
    }

    @Clause({"cc-002", "cc-003"})
    @Test
    void shouldWorkBetweenProcessesWithoutAnyNetwork() throws Exception {
        // Each process has a network of its own, in which not even the loopback interface is up.
        Assumptions.assumeTrue(canLeaveTheNetwork(), "unshare -n is not permitted here");
        ChildProcess server = processes.start(withoutNetwork("server"));
        server.awaitLine("ready");
        ChildProcess client = processes.start(withoutNetwork("client"));
        server.awaitLine("connected true");
        client.awaitLine("running");
        client.awaitLine("posted");
        server.awaitLine("posted");
        client.awaitLine("^consumer \\d+$");
        client.standardInput().write((PeerProgram.SEND + "\n").getBytes(StandardCharsets.US_ASCII));
        client.standardInput().flush();
        client.awaitLine("^message of 5 bytes$"); // which the server has echoed
        client.awaitLine("^sent$");
    }

    @Test
    void shouldLeaveNoMappingOfTheQueuesBehind() {
        ChildProcess server = start("server");
        server.awaitLine("ready");
        for (int i = 0; i < 3; i++) {
            Peer client = Peer.client(card, Card.NAME);
            client.endpoint.start();
            card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
            card.until("its consumer", () -> client.consumers.size() == 1);
            Peer.stop(card, client.endpoint);
        }
        Await.until(
                "nothing of the channel is mapped",
                () ->
                        ProcessView.self().mappings().stream()
                                .filter(ProcessView.Mapping::isMemfd)
                                .noneMatch(m -> m.toString().contains("softdpu-comch")));
    }

    private ChildProcess start(String role) {
        return processes.start(program(role, folder.resolve("fabric")));
    }

    private static JavaCommand program(String role, Path fabric) {
        return JavaCommand.ofClass(PeerProgram.class).withArguments(role, fabric.toString());
    }

    private JavaCommand withoutNetwork(String role) {
        return program(role, folder.resolve("fabric")).behind("unshare", "-n");
    }

    private static boolean canLeaveTheNetwork() throws Exception {
        try {
            return new ProcessBuilder("unshare", "-n", "true").start().waitFor() == 0;
        } catch (IOException e) {
            return false; // there is no such program
        }
    }

    /** Inodes of the sockets of a process that the kernel's lists of network sockets know. */
    private static Set<String> networkSockets(long pid) throws IOException {
        Set<String> network = new HashSet<>();
        for (String list :
                new String[] {
                    "tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "icmp", "icmp6",
                    "packet", "netlink"
                }) {
            Path file = Path.of("/proc/" + pid + "/net/" + list);
            if (Files.exists(file)) {
                for (String line : Files.readAllLines(file)) {
                    String[] fields = line.trim().split("\\s+");
                    int column = list.equals("packet") ? 8 : 9;
                    if (fields.length > column) {
                        network.add("socket:[" + fields[column] + "]");
                    }
                }
            }
        }
        Set<String> own = new HashSet<>(ProcessView.of(pid).descriptors());
        own.retainAll(network);
        return own;
    }
}
