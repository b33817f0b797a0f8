package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Permissions;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Consumers as the peer of their connection knows them. */
class FastPathConsumersTest extends FastPathFixture {
    @Clause({"cc-142", "cc-143", "cc-144"})
    @Clause("cc-146")
    @Test
    void shouldCallEachOfTheTwoConsumerCallbacksOfEitherSide() {
        Queue.Receiving onServer = receiving(pair.server(), 4096, 1);
        Queue.Receiving onClient = receiving(pair.client(), 4096, 1);
        int ofServer = onServer.consumer.id();
        int ofClient = onClient.consumer.id();
        card.until("told", () -> pair.client().events.size() == 1);
        card.until("told", () -> pair.server().events.size() == 2); // of the connection, too
        Peer.stop(card, onServer.consumer);
        Peer.stop(card, onClient.consumer);
        card.until("told", () -> pair.client().events.size() == 2);
        card.until("told", () -> pair.server().events.size() == 3);
        assertThat(pair.client().events)
                .containsExactly("consumer " + ofServer, "expired " + ofServer);
        assertThat(pair.server().events)
                .containsExactly("connected true", "consumer " + ofClient, "expired " + ofClient);
    }

    @Clause({"cc-143", "cc-144"})
    @Test
    void shouldCallTheConsumerCallbacksThatWereSetLast() {
        Peer server = Peer.server(card, "another");
        Peer client = Peer.client(card, "another");
        List<String> calls = new ArrayList<>();
        server.endpoint.setConsumerCallbacks(
                (on, id) -> calls.add("created of client"),
                (on, id) -> calls.add("expired of client"));
        client.endpoint.setConsumerCallbacks(
                (on, id) -> calls.add("created of server"),
                (on, id) -> calls.add("expired of server"));
        server.endpoint.start();
        client.endpoint.start();
        card.until("connected", () -> server.connection != null);
        card.until("runs", () -> client.endpoint.state() == ContextState.RUNNING);
        Queue.Receiving onServer = receiving(server, 4096, 1);
        card.until("told", () -> calls.size() == 1);
        Queue.Receiving onClient = receiving(client, 4096, 1);
        card.until("told", () -> calls.size() == 2);
        Peer.stop(card, onServer.consumer);
        card.until("told", () -> calls.size() == 3);
        Peer.stop(card, onClient.consumer);
        card.until("told", () -> calls.size() == 4);
        assertThat(calls)
                .containsExactly(
                        "created of server",
                        "created of client",
                        "expired of server",
                        "expired of client");
        assertThat(server.consumers).isEmpty();
        assertThat(client.consumers).isEmpty();
    }

    /** Its memory is being imported when the server stops, and is not used when it is there. */
    @Test
    void shouldHaveNoConsumerThatWasAnnouncedJustBeforeTheStop() {
        card.settle();
        ComchConsumer consumer =
                new Queue.Receiving(pair.client(), card.hostEngine, 4096, 1).consumer;
        consumer.start();
        boolean[] announced = {false};
        Await.byStep(
                "the announcement",
                () -> announced[0],
                () -> {
                    card.hostEngine.progress();
                    announced[0] = card.dpuEngine.progress();
                });

        pair.server().endpoint.stop();
        card.until("consumer ends", () -> consumer.state() == ContextState.IDLE);
        card.until("server ends", () -> pair.server().endpoint.state() == ContextState.IDLE);
        card.settle();

        assertThat(consumer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(pair.server().events).containsExactly("connected true", "disconnected true");
    }

    @Clause("cc-065")
    @Test
    void shouldNeedConsumerCallbacksOnTheClient() {
        Peer server = Peer.server(card, "basic only");
        ComchClient client = card.keep(ComchClient.create(card.pf0, "basic only"));
        client.setSendTasks(1, task -> {}, task -> {});
        client.setMessageCallback((from, message) -> {});
        assertRefused(
                Status.INVALID_VALUE, () -> client.setConsumerCallbacks(null, (on, id) -> {}));
        assertRefused(
                Status.INVALID_VALUE, () -> client.setConsumerCallbacks((on, id) -> {}, null));
        card.hostEngine.connect(client);
        server.endpoint.start();
        client.start();
        card.until("connected", () -> server.connection != null);
        card.until("runs", () -> client.state() == ContextState.RUNNING);
        Card.Memory memory = card.memory(card.pf0, 4096);
        assertRefused(Status.BAD_STATE, () -> ComchProducer.create(client.connection()))
                .hasMessageContaining("consumer callbacks");
        assertRefused(
                        Status.BAD_STATE,
                        () -> ComchConsumer.create(client.connection(), memory.mmap()))
                .hasMessageContaining("consumer callbacks");
        Queue.Receiving refused = new Queue.Receiving(server, card.dpuEngine, 4096, 1);
        List<String> ids = new ArrayList<>();
        refused.consumer.setStateChangedCallback(
                (context, previous, next) -> ids.add(next + " id=" + refused.consumer.id()));
        refused.run(card);
        card.until("refused", () -> refused.consumer.state() == ContextState.IDLE);
        assertThat(refused.consumer.failure().status()).isEqualTo(Status.NOT_SUPPORTED);
        assertThat(refused.consumer.failure())
                .hasMessageContainingAll(
                        "peer refused the consumer: id=",
                        "expected=acceptStreams or setConsumerCallbacks at the peer");
        assertThat(ids).containsExactly("STARTING id=0", "STOPPING id=0", "IDLE id=0");
        Peer.stop(card, client);
    }

    @Clause({"cc-142", "cc-147"})
    @Test
    void shouldNameTheConnectionWithTheRemoteConsumer() {
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> pair.server().connectionsOfEvents.size() == 2);
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        ComchConnection ofFirst = pair.server().connectionsOfEvents.get(0);
        ComchConnection ofSecond = pair.server().connectionsOfEvents.get(1);
        Queue.Receiving later = receiving(second, 4096, 1);
        card.until("told", () -> pair.server().consumerConnections.size() == 1);
        Queue.Receiving earlier = receiving(pair.client(), 4096, 1);
        card.until("told", () -> pair.server().consumerConnections.size() == 2);
        Peer.stop(card, later.consumer);
        card.until("told", () -> pair.server().consumerConnections.size() == 3);
        Peer.stop(card, earlier.consumer);
        card.until("told", () -> pair.server().consumerConnections.size() == 4);
        assertThat(pair.server().consumerConnections)
                .containsExactly(ofSecond, ofFirst, ofSecond, ofFirst);

        ComchConnection ofClient = second.connection();
        Queue.Receiving onServer = receiving(pair.server(), 4096, 1); // for its last client
        card.until("told", () -> second.consumerConnections.size() == 1);
        Peer.stop(card, onServer.consumer);
        card.until("told", () -> second.consumerConnections.size() == 2);
        assertThat(second.consumerConnections).containsExactly(ofClient, ofClient);
    }

    @Clause({"cc-052", "cc-119", "cc-145"})
    @Test
    void shouldTellThePeerAndNobodyElseOfConsumers() {
        Queue.Receiving first = receiving(pair.server(), 4096, 1);
        Queue.Receiving second = receiving(pair.server(), 4096, 1);
        Queue.Receiving other = receiving(pair.client(), 4096, 1);
        card.settle();
        assertThat(pair.client().consumers)
                .containsExactly(first.consumer.id(), second.consumer.id());
        assertThat(pair.server().consumers).containsExactly(other.consumer.id());
        assertThat(pair.client().connection().remoteConsumers())
                .containsExactly(first.consumer.id(), second.consumer.id());
        assertThat(new int[] {first.consumer.id(), second.consumer.id(), other.consumer.id()})
                .doesNotHaveDuplicates();
        int gone = first.consumer.id();
        Peer.stop(card, first.consumer);
        assertThat(pair.client().events)
                .containsExactly(
                        "consumer " + gone, "consumer " + second.consumer.id(), "expired " + gone);
        assertThat(pair.client().connection().remoteConsumers())
                .containsExactly(second.consumer.id());
        first.run(card);
        assertThat(first.consumer.id()).isNotEqualTo(gone);
    }

    @Clause({"cc-051", "cc-053"})
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRegisterConsumerByProgressOfItsConnectionAlone(boolean onServer) {
        Peer peer = onServer ? pair.server() : pair.client();
        Peer remote = onServer ? pair.client() : pair.server();
        var own = card.engine();
        Queue.Receiving receiving = new Queue.Receiving(peer, own, 4096, 1);
        receiving.consumer.start();
        for (int i = 0; i < 2000; i++) {
            own.progress();
            (onServer ? card.hostEngine : card.dpuEngine).progress();
        }
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.STARTING);
        assertThat(remote.consumers).isEmpty();
        Buf buf = receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 64);
        assertRefused(Status.BAD_STATE, () -> receiving.consumer.allocatePostReceiveTask(buf));
        buf.release();
        card.until("runs", () -> receiving.consumer.state() == ContextState.RUNNING);
        assertThat(remote.consumers).containsExactly(receiving.consumer.id());
        assertThat(receiving.post(0, 64)).isEqualTo(Status.SUCCESS);
    }

    @Clause("cc-037")
    @Test
    void shouldBelongToTheConnectionOfTheServerThatItWasCreatedOn() {
        ComchConnection ofFirst = pair.server().connection();
        Peer second = Peer.client(card, Card.NAME);
        second.endpoint.start();
        card.until("second", () -> second.endpoint.state() == ContextState.RUNNING);
        card.until("second", () -> pair.server().connection() != ofFirst);
        Queue.Receiving onSecond = receiving(pair.server(), 4096, 1);
        card.settle();
        assertThat(onSecond.consumer.connection()).isSameAs(pair.server().connection());
        assertThat(second.consumers).containsExactly(onSecond.consumer.id());
        assertThat(pair.client().consumers).isEmpty();
        pair.server().connection = ofFirst;
        Queue.Receiving onFirst = receiving(pair.server(), 4096, 1);
        card.settle();
        assertThat(onFirst.consumer.connection()).isSameAs(ofFirst);
        assertThat(pair.client().consumers).containsExactly(onFirst.consumer.id());
        assertThat(second.events).containsExactly("consumer " + onSecond.consumer.id());
    }

    @Clause("cc-054")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReachTheConsumerInsideItsEvent(boolean onServer) {
        Peer server = Peer.server(card, "in the event");
        Peer client = Peer.client(card, "in the event");
        Queue.Sending[] sending = new Queue.Sending[1];
        List<Status> sent = new ArrayList<>();
        (onServer ? client : server)
                .endpoint.setConsumerCallbacks(
                        (connection, id) -> sent.add(sending[0].send(id, pattern(8), NOTHING)),
                        (connection, id) -> {});
        server.endpoint.start();
        client.endpoint.start();
        card.until("client", () -> client.endpoint.state() == ContextState.RUNNING);
        card.until("server", () -> server.connection != null);
        sending[0] = sending(onServer ? client : server, 4096, 1);
        Queue.Receiving receiving = receiving(onServer ? server : client, 4096, 1);
        card.until("told", () -> !sent.isEmpty());
        assertThat(sent).as("no buffer is posted").containsExactly(Status.AGAIN);
        receiving.post(0, 64);
        assertThat(sending[0].send(receiving.consumer.id(), pattern(8), NOTHING))
                .isEqualTo(Status.SUCCESS);
        card.until("received", () -> !receiving.statuses.isEmpty());
        assertThat(receiving.data.getFirst()).isEqualTo(pattern(8));
    }

    @Clause({"cc-062", "cc-104"})
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldNotBeCreatedWithoutMemoryThatThePeerMayWrite(boolean onServer) {
        ComchConnection connection = (onServer ? pair.server() : pair.client()).connection();
        Device device = onServer ? card.p0 : card.pf0;
        assertRefused(Status.INVALID_VALUE, () -> ComchConsumer.create(connection, null));
        for (Permissions lacking :
                new Permissions[] {
                    Permissions.LOCAL_READ_WRITE,
                    Permissions.of(AccessFlag.LOCAL_READ_WRITE, AccessFlag.PCI_READ_ONLY)
                }) {
            Card.Memory memory = card.memory(device, 4096, lacking);
            assertRefused(
                    Status.NOT_PERMITTED, () -> ComchConsumer.create(connection, memory.mmap()));
        }
        Card.Memory memory = card.memory(device, 4096);
        ComchConsumer.create(connection, memory.mmap()).close();
    }

    @Clause({"cc-065", "cc-142"})
    @Test
    void shouldExpireTheConsumersOfPeerThatEnds() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 4);
        int id = receiving.consumer.id();
        pair.client().endpoint.stop();
        card.until("idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        assertThat(pair.client().events).containsExactly("consumer " + id, "expired " + id);
        assertThat(pair.client().consumers).isEmpty();
    }

    @Test
    void shouldLimitConsumersOfOneSide() {
        int limit = ComchCapabilities.of(card.p0.info()).maxConsumers();
        Card.Memory memory = card.memory(card.p0, 4096);
        Queue.Receiving[] all = new Queue.Receiving[limit];
        for (int i = 0; i < limit; i++) {
            all[i] = new Queue.Receiving(pair.server(), card.dpuEngine, memory, 1);
            all[i].consumer.start();
        }
        card.until("all known", () -> pair.client().consumers.size() == limit);
        Queue.Receiving more = new Queue.Receiving(pair.server(), card.dpuEngine, memory, 1);
        more.run(card);
        card.until("refused", () -> more.consumer.state() == ContextState.IDLE);
        assertThat(more.consumer.failure().status()).isEqualTo(Status.FULL);
        Peer.stop(card, all[0].consumer);
        more.run(card);
        assertThat(more.consumer.state()).isEqualTo(ContextState.RUNNING);
    }
}
