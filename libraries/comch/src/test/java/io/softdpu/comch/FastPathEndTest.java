package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends of producers and consumers, and of the connection and memory under them. */
class FastPathEndTest extends FastPathFixture {
    @Clause("cc-153")
    @Test
    void shouldFlushPostedBuffersWhenTheConsumerStops() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 8);
        for (int i = 0; i < 5; i++) {
            receiving.post(i * 100L, 100);
        }
        assertThat(receiving.consumer.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.STOPPING);
        card.until("idle", () -> receiving.consumer.state() == ContextState.IDLE);
        assertThat(receiving.statuses).hasSize(5).containsOnly(Status.SHUTDOWN);
        assertThat(receiving.data).allMatch(bytes -> bytes.length == 0);
        assertThat(receiving.memory.inventory().free())
                .isEqualTo(receiving.memory.inventory().total());
    }

    @Test
    void shouldFinishTheSendsThatWereTakenWhenTheProducerStops() {
        Queue.Receiving receiving = receiving(pair.server(), 4 * MIB, 2);
        Queue.Sending sending = sending(pair.client(), 4 * MIB, 2);
        receiving.post(0, MIB);
        receiving.post(MIB, MIB);
        sending.send(receiving.consumer.id(), pattern(MIB), NOTHING);
        Buf small = sending.memory.inventory().bufByData(sending.memory.mmap(), 3 * MIB, 10);
        sending.send(receiving.consumer.id(), small, NOTHING);
        assertThat(sending.producer.stop()).isEqualTo(Status.IN_PROGRESS);
        card.until("idle", () -> sending.producer.state() == ContextState.IDLE);
        card.until("received", () -> receiving.statuses.size() == 2);
        assertThat(sending.statuses).containsExactly(Status.SUCCESS, Status.SUCCESS);
        assertThat(receiving.data.getFirst()).isEqualTo(pattern(MIB));
    }

    @Test
    void shouldFinishLargeCopyIntoConsumerThatStops() {
        Queue.Receiving receiving = receiving(pair.server(), 4 * MIB, 2);
        Queue.Sending sending = sending(pair.client(), 4 * MIB, 2);
        receiving.post(0, 2 * MIB);
        receiving.post(3 * MIB, 64);
        sending.send(receiving.consumer.id(), pattern(2 * MIB), NOTHING);
        card.hostEngine.progress(); // the copy has begun
        receiving.consumer.stop();
        card.until("idle", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("sent", () -> !sending.statuses.isEmpty());
        assertThat(receiving.statuses).containsExactly(Status.SUCCESS, Status.SHUTDOWN);
        assertThat(receiving.data.getFirst()).isEqualTo(pattern(2 * MIB));
        assertThat(sending.statuses).containsExactly(Status.SUCCESS);
    }

    @Test
    void shouldRefuseToStopTheEndpointUnderProducersAndConsumers() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        Queue.Sending sending = sending(pair.client(), 4096, 1);
        assertRefused(Status.IN_USE, pair.server().endpoint::stop);
        assertRefused(Status.IN_USE, pair.client().endpoint::stop);
        assertThat(pair.server().connection.disconnect()).isEqualTo(Status.IN_USE);
        assertThat(pair.client().connection().disconnect()).isEqualTo(Status.IN_USE);
        assertThat(pair.server().endpoint.state()).isEqualTo(ContextState.RUNNING);
        Peer.stop(card, receiving.consumer);
        Peer.stop(card, sending.producer);
        pair.client().endpoint.stop();
        card.until("idle", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
    }

    @Clause({"cc-109", "cc-164"})
    @Test
    void shouldStopConsumerAndProducerWhoseConnectionHasEnded() {
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 4);
        List<ContextState> states = new ArrayList<>();
        receiving.consumer.setStateChangedCallback((context, from, to) -> states.add(to));
        receiving.run(card);
        Queue.Sending ofServer = sending(pair.server(), 4096, 4);
        receiving.post(0, 100);
        receiving.post(100, 100);
        pair.client().endpoint.stop(); // the client has neither, so it may
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("producer", () -> ofServer.producer.state() == ContextState.IDLE);
        assertThat(receiving.statuses)
                .containsExactly(Status.CONNECTION_RESET, Status.CONNECTION_RESET);
        assertThat(receiving.consumer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(ofServer.producer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        card.until("told", () -> pair.server().events.contains("disconnected true"));
        assertThat(states)
                .containsExactly(
                        ContextState.STARTING,
                        ContextState.RUNNING,
                        ContextState.STOPPING,
                        ContextState.IDLE);
        assertRefused(Status.NOT_CONNECTED, receiving.consumer::start);
    }

    @Clause("cc-023")
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCreateNothingOnAConnectionThatHasEnded(boolean onServer) {
        ComchConnection connection = (onServer ? pair.server() : pair.client()).connection();
        Card.Memory memory = card.memory(onServer ? card.p0 : card.pf0, 4096);
        ComchProducer.create(connection).close();
        ComchConsumer.create(connection, memory.mmap()).close();
        pair.client().endpoint.stop();
        card.until("client", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.until("server", () -> pair.server().events.contains("disconnected true"));
        assertRefused(Status.NOT_CONNECTED, () -> ComchProducer.create(connection));
        assertRefused(Status.NOT_CONNECTED, () -> ComchConsumer.create(connection, memory.mmap()));
    }

    @Test
    void shouldNotCloseReceiveMemoryUnderConsumer() {
        Queue.Receiving receiving = receiving(pair.server(), 4096, 1);
        assertThat(org.assertj.core.api.Assertions.catchThrowable(receiving.memory.mmap()::close))
                .isNotNull();
        Peer.stop(card, receiving.consumer);
        receiving.consumer.close();
        receiving.memory.mmap().close();
    }

    /** One pass of a consumer completes 64. */
    @Test
    void shouldCompleteAllThatWasWrittenWhenThePeerHasReleasedTheMemory() {
        int messages = 300;
        Queue.Receiving receiving = receiving(pair.server(), messages * 64L, messages);
        for (int i = 0; i < messages; i++) {
            receiving.post(i * 64L, 64);
        }
        Queue.Sending sending = sending(pair.client(), 4096, messages);
        for (int i = 0; i < messages; i++) {
            assertThat(sending.send(receiving.consumer.id(), new byte[8], NOTHING))
                    .isEqualTo(Status.SUCCESS);
        }
        receiving.consumer.stop();
        card.dpuEngine.progress(); // the stop begins,
        card.dpuEngine.progress(); // and the peer is told
        ConsumerContext consumer = (ConsumerContext) receiving.consumer;
        Await.until(
                "released",
                () -> {
                    card.hostEngine.progress();
                    return consumer.isReleased();
                });
        Peer.stop(card, receiving.consumer);
        assertThat(receiving.statuses).hasSize(messages).containsOnly(Status.SUCCESS);
    }
}
