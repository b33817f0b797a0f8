package io.softdpu.comch;

import static io.softdpu.comch.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.testkit.Clause;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The states of the four contexts, beyond what connecting and parting show. */
class ContextStateTest {
    @TempDir Path folder;
    private Card card;
    private Card.Pair pair;

    @BeforeEach
    void open() {
        card = new Card(folder);
        pair = card.pair();
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    @Clause({"cc-148", "cc-153", "cc-158", "cc-161", "cc-162", "cc-163"})
    @Test
    void shouldStayInStoppingUntilAllTasksOfTheServerAreFreed() {
        ComchEndpoint server = pair.server().endpoint;
        ComchConnection connection = pair.server().connection;
        ComchSendTask kept = server.allocateSendTask(connection);
        kept.setMessage(new byte[1]);
        assertThat(server.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(server.state()).isEqualTo(ContextState.STOPPING);
        card.until("client", () -> pair.client().endpoint.state() == ContextState.IDLE);
        card.settle();
        assertThat(server.state()).isEqualTo(ContextState.STOPPING);
        assertThat(kept.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertRefused(Status.BAD_STATE, () -> server.allocateSendTask(connection));
        assertRefused(Status.BAD_STATE, server::stop);
        assertRefused(Status.BAD_STATE, server::start);
        assertRefused(Status.IN_USE, server::close);
        assertThat(server.state()).isEqualTo(ContextState.STOPPING);
        kept.free();
        card.until("idle", () -> server.state() == ContextState.IDLE);
        card.until("told", () -> pair.server().states.contains(ContextState.IDLE));
        assertThat(pair.server().states)
                .containsExactly(ContextState.RUNNING, ContextState.STOPPING, ContextState.IDLE);
    }

    @Clause({"cc-148", "cc-153", "cc-158", "cc-161", "cc-162", "cc-163"})
    @Test
    void shouldStayInStoppingUntilAllTasksOfConsumerAndProducerAreFreed() {
        Queue.Receiving receiving =
                new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 2).run(card);
        Queue.Sending sending =
                new Queue.Sending(pair.client(), card.hostEngine, 4096, 2).run(card);
        Buf target = receiving.memory.inventory().bufByAddress(receiving.memory.mmap(), 0, 64);
        Buf source = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, 64);
        ComchPostReceiveTask receive = receiving.consumer.allocatePostReceiveTask(target);
        ComchProducerSendTask send =
                sending.producer.allocateSendTask(source, receiving.consumer.id());
        receiving.consumer.stop();
        sending.producer.stop();
        card.settle();
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.STOPPING);
        assertThat(sending.producer.state()).isEqualTo(ContextState.STOPPING);
        assertThat(receive.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertThat(send.trySubmit()).isEqualTo(Status.BAD_STATE);
        assertRefused(Status.BAD_STATE, () -> receiving.consumer.allocatePostReceiveTask(target));
        assertRefused(Status.BAD_STATE, () -> sending.producer.allocateSendTask(source, 1));
        assertRefused(Status.BAD_STATE, receiving.consumer::stop);
        assertRefused(Status.BAD_STATE, sending.producer::stop);
        receive.free();
        send.free();
        target.release();
        source.release();
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
    }

    @Clause({"cc-152", "cc-155", "cc-159"})
    @Test
    void shouldReportEachStateOfConsumerAndProducerOnce() {
        Card.Memory memory = card.memory(card.p0, 4096);
        ComchConsumer consumer =
                card.keep(ComchConsumer.create(pair.server().connection, memory.mmap()));
        ComchProducer producer = card.keep(ComchProducer.create(pair.server().connection));
        card.dpuEngine.connect(consumer);
        card.dpuEngine.connect(producer);
        List<ContextState> ofConsumer = new ArrayList<>();
        List<ContextState> ofProducer = new ArrayList<>();
        consumer.setStateChangedCallback((context, from, to) -> ofConsumer.add(to));
        producer.setStateChangedCallback((context, from, to) -> ofProducer.add(to));
        consumer.setPostReceiveTasks(1, task -> {}, task -> {});
        producer.setSendTasks(1, task -> {}, task -> {});
        for (int round = 0; round < 2; round++) {
            ofConsumer.clear();
            ofProducer.clear();
            assertThat(consumer.start()).isEqualTo(Status.IN_PROGRESS);
            assertThat(producer.start()).isEqualTo(Status.IN_PROGRESS);
            assertThat(consumer.state()).isEqualTo(ContextState.STARTING);
            assertThat(producer.state()).isEqualTo(ContextState.STARTING);
            card.until("run", () -> consumer.state() == ContextState.RUNNING);
            card.until("run", () -> producer.state() == ContextState.RUNNING);
            consumer.stop();
            assertThat(producer.stop()).isEqualTo(Status.SUCCESS); // nothing is in flight
            card.until("idle", () -> ofConsumer.contains(ContextState.IDLE));
            card.until("idle", () -> ofProducer.contains(ContextState.IDLE));
            assertThat(ofConsumer)
                    .isEqualTo(ofProducer)
                    .containsExactly(
                            ContextState.STARTING,
                            ContextState.RUNNING,
                            ContextState.STOPPING,
                            ContextState.IDLE);
        }
    }

    @Test
    void shouldStopConsumerAndProducerThatAreStarting() {
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        sending.producer.start();
        receiving.consumer.stop();
        sending.producer.stop();
        card.until("consumer", () -> receiving.consumer.state() == ContextState.IDLE);
        card.until("producer", () -> sending.producer.state() == ContextState.IDLE);
        card.settle();
        assertThat(pair.client().consumers).isEmpty();
        receiving.run(card);
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.RUNNING);
        card.settle();
        assertThat(pair.client().consumers).containsExactly(receiving.consumer.id());
    }

    @Test
    void shouldTimeOutRegistrationAtPeerThatDoesNotProgress() {
        Peer.stop(card, pair.client().endpoint);
        pair.client().endpoint.setControlTimeout(100_000_000L);
        pair.client().endpoint.start();
        card.until("runs", () -> pair.client().endpoint.state() == ContextState.RUNNING);
        Queue.Receiving receiving = new Queue.Receiving(pair.client(), card.hostEngine, 4096, 1);
        receiving.consumer.start();
        long deadline = System.nanoTime() + Card.DEADLINE_NANOS;
        while (receiving.consumer.state() != ContextState.IDLE) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            card.hostEngine.await(10_000_000_000L); // woken by the time limit, not by this one
        }
        assertThat(receiving.consumer.failure().status()).isEqualTo(Status.TIME_OUT);
    }
}
