package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Producers and consumers on an engine of their own that are stopped and started again before the
 * connection's answer to the first start is handled: it is not taken for one to the second.
 */
final class EarlierStartTest {
    @TempDir Path folder;
    private Card card;
    private Peer client;

    @BeforeEach
    void open() {
        card = new Card(folder);
        client = card.pair().client();
    }

    @AfterEach
    void close() throws Exception {
        card.close();
    }

    @Test
    void shouldNotRunForTheAnswerToAnEarlierStart() {
        ProgressEngine own = card.engine();
        Queue.Sending sending = new Queue.Sending(client, own, 4096, 1);
        ComchProducer producer = sending.producer;
        assertThat(producer.start()).isEqualTo(Status.IN_PROGRESS);
        card.hostEngine.progress(); // registers it; the answer waits for the producer's engine
        assertThat(producer.stop()).isEqualTo(Status.SUCCESS);
        assertThat(producer.start()).isEqualTo(Status.IN_PROGRESS);

        own.progress();

        assertThat(producer.state()).isEqualTo(ContextState.STARTING);
        card.until("runs", () -> producer.state() == ContextState.RUNNING);
        assertThat(producer.id()).isEqualTo(2);
    }

    @Test
    void shouldNotTakeAnIdAfterItWasStopped() {
        ProgressEngine own = card.engine();
        Queue.Receiving receiving = new Queue.Receiving(client, own, 4096, 1);
        ComchConsumer consumer = receiving.consumer;
        assertThat(consumer.start()).isEqualTo(Status.IN_PROGRESS);
        card.hostEngine.progress(); // gives it an id, which waits for the consumer's engine
        assertThat(consumer.stop()).isEqualTo(Status.SUCCESS);

        own.progress();

        assertThat(consumer.id()).isZero();
        receiving.run(card);
        assertThat(consumer.id()).isEqualTo(3);
    }
}
