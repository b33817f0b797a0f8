package io.softdpu.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.storage.initiator.ScriptedInitiator;
import io.softdpu.storage.wire.ControlMessage;
import io.softdpu.storage.wire.ControlMessageType;
import io.softdpu.storage.wire.ControlPayload;
import io.softdpu.storage.wire.IoMessageView;
import io.softdpu.storage.wire.IoType;
import io.softdpu.storage.wire.RdmaConnectionRole;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The io_messages that pass through a real service, between two peers led by the test. */
class RelayedMessagesTest {

    /** What the service has for each direction, and uses in turns. */
    private static final int BUFFERS = 2 * ScriptedInitiator.TRANSACTIONS;

    /** For what must not happen: a longer time finds no less, and costs more. */
    private static final long QUIET_NANOS = 200_000_000L;

    @TempDir private Path folder;
    private SeededRandom random;
    private ScriptedTarget target;
    private Pipeline pipeline;
    private ScriptedInitiator initiator;

    @BeforeEach
    void begin(SeededRandom seeded) {
        random = seeded;
        target = new ScriptedTarget(folder);
        pipeline = new Pipeline(folder);
        pipeline.startService(target.port());
        initiator = new ScriptedInitiator(folder, Pipeline.CHANNEL);
    }

    @AfterEach
    void end() throws Exception {
        initiator.close();
        pipeline.endSession();
        target.close();
        pipeline.close();
    }

    private void start() {
        for (int step = 0; step <= 2; step++) {
            initiator.proceed(step);
        }
    }

    private void finish(int operations) {
        initiator.proceed(3);
        initiator.proceed(4);
        initiator.close(); // the service waits for that
        SessionReport report = pipeline.awaitService();
        assertThat(report.status()).isEqualTo(Status.SUCCESS);
        assertThat(report.operations()).isEqualTo(operations);
    }

    /** An io_message none of whose bytes means anything. */
    private byte[] message() {
        byte[] message = new byte[IoMessageView.WIRE_BYTES];
        random.nextBytes(message);
        return message;
    }

    /** An io_message of this type. */
    private byte[] message(IoType type) {
        byte[] message = message();
        ByteBuffer.wrap(message).putInt(type.code());
        return message;
    }

    private void send(byte[] request) {
        assertThat(initiator.send(request)).isEqualTo(Status.SUCCESS);
    }

    /** Sends as soon as there is room: a service posts a buffer again after it has answered. */
    private void sendWhenReady(byte[] request) {
        Await.until(
                "room for a request",
                () -> {
                    Status status = initiator.send(request);
                    assertThat(status).isIn(Status.SUCCESS, Status.AGAIN);
                    return status == Status.SUCCESS;
                });
    }

    @Test
    @Clause({"sto-003", "sto-021", "sto-120"})
    @Clause("sto-019")
    void shouldPassARequestOnByteForByte() throws Exception {
        start();
        List<byte[]> all = new ArrayList<>();
        for (IoType type : List.of(IoType.READ, IoType.WRITE)) {
            for (int i = 0; i < BUFFERS; i++) {
                all.add(message(type)); // with odd bytes in all else
            }
            all.add(Arrays.copyOf(message(type), 41));
        }
        for (byte[] request : all) {
            sendWhenReady(request);
            assertThat(target.awaitRequest()).isEqualTo(request);
            target.answer(request);
            initiator.receive();
        }
        finish(all.size());
    }

    @Test
    @Clause({"sto-004", "sto-023", "sto-121"})
    void shouldPassAResponseOnByteForByte() throws Exception {
        start();
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < 2 * BUFFERS; i++) {
            all.add(i < BUFFERS ? message() : message(IoType.RESULT));
        }
        all.add(Arrays.copyOf(message(IoType.RESULT), 41));
        for (byte[] response : all) {
            sendWhenReady(message());
            target.awaitRequest();
            target.answer(response);
            assertThat(initiator.receive()).isEqualTo(response);
        }
        finish(all.size());
    }

    @Test
    @Clause({"sto-019", "sto-077", "sto-119"})
    @Clause("sto-002")
    void shouldSendTheTargetWhatTheInitiatorSendsAndNothingElse() throws Exception {
        start();
        for (int i = 0; i < 3; i++) {
            assertThat(target.waitingRequests()).as("before it is sent").isZero();
            byte[] nonsense = message(); // a target would refuse its type
            sendWhenReady(nonsense);
            assertThat(target.awaitRequest()).isEqualTo(nonsense);
            target.answer(nonsense);
            initiator.receive();
        }
        assertThat(target.waitingRequests()).isZero();
        finish(3);
        assertThat(target.waitingRequests()).isZero();
    }

    /** The target takes nothing meanwhile, so that no buffer of the service is posted again. */
    @Test
    @Clause({"sto-064", "sto-112"})
    void shouldTakeTwiceTheTransactionsAtOnceWithoutARetry() throws Exception {
        start();
        passOnAllAtOnce(this::send);
        passOnAllAtOnce(this::sendWhenReady); // all have to be posted again
        finish(2 * BUFFERS);
    }

    private void passOnAllAtOnce(Consumer<byte[]> send) throws InterruptedException {
        List<byte[]> requests = new ArrayList<>();
        CountDownLatch release = target.hold();
        try {
            for (int i = 0; i < BUFFERS; i++) {
                requests.add(message());
                send.accept(requests.getLast());
            }
        } finally {
            release.countDown();
        }
        List<byte[]> passedOn = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            passedOn.add(target.awaitRequest());
        }
        assertThat(passedOn).containsExactlyInAnyOrderElementsOf(requests);
        passedOn.forEach(target::answer);
        for (int i = 0; i < BUFFERS; i++) {
            initiator.receive();
        }
    }

    @Test
    @Clause({"sto-107", "sto-108", "sto-109"})
    void shouldKeepTransactionsApartThatAreInFlightTogether() throws Exception {
        start();
        int together = BUFFERS;
        int rounds = 3;
        for (int round = 0; round < rounds; round++) {
            List<byte[]> responses = new ArrayList<>();
            for (int i = 0; i < together; i++) {
                sendWhenReady(message());
            }
            for (int i = 0; i < together; i++) {
                target.awaitRequest();
                responses.add(message());
            }
            responses.forEach(target::answer);
            List<byte[]> heard = new ArrayList<>();
            for (int i = 0; i < together; i++) {
                heard.add(initiator.receive());
            }
            assertThat(heard).containsExactlyInAnyOrderElementsOf(responses);
        }
        finish(rounds * together);
    }

    /** A request without a response keeps the data path from ending. */
    @Test
    @Clause("sto-013")
    void shouldAnswerAStopOnlyOnceItsDataPathHasEnded() throws Exception {
        start();
        byte[] request = message();
        send(request);
        target.awaitRequest();
        initiator.say(new ControlPayload.StopStorageRequest());
        assertThat(initiator.isToldNothingFor(QUIET_NANOS)).isTrue();
        target.answer(request);

        assertThat(initiator.hear().type()).isEqualTo(ControlMessageType.STOP_STORAGE_RESPONSE);
        assertThat(initiator.receive()).isEqualTo(request);
    }

    /** The target starts only once both of its contexts are connected. */
    @Test
    @Clause({"sto-104", "sto-105"})
    void shouldConnectItsContextsToTheOnesThatTheTargetExported() {
        initiator.proceed(0);
        initiator.proceed(1);
        assertThat(target.isStarted()).isFalse();

        ControlMessage response = initiator.proceed(2);

        assertThat(response.type()).isEqualTo(ControlMessageType.START_STORAGE_RESPONSE);
        Await.until("the target has noted its start", target::isStarted);
        finish(0);
    }

    @Test
    @Clause("sto-075")
    void shouldLetTheTargetReachTheInitiatorsMemoryByTheDataConnectionAlone() {
        start();
        byte[] data = message();

        target.write(RdmaConnectionRole.IO_DATA, data);

        assertThat(target.read(RdmaConnectionRole.IO_DATA)).isEqualTo(data);
        assertRefused(() -> target.write(RdmaConnectionRole.IO_CONTROL, data));
        assertRefused(() -> target.read(RdmaConnectionRole.IO_CONTROL));
        finish(0);
    }

    private static void assertRefused(Runnable transfer) {
        assertThat(catchThrowableOfType(DpuException.class, transfer::run).status())
                .isEqualTo(Status.NOT_PERMITTED);
    }

    @Test
    @Clause({"sto-099", "sto-100", "sto-103"})
    void shouldHaveAConsumerAndAProducerOnceItIsInitialised() throws Exception {
        initiator.proceed(0);
        assertThat(initiator.consumersOfTheService()).isZero();
        initiator.proceed(1);
        initiator.awaitConsumerOfTheService();
        initiator.proceed(2);
        assertThat(initiator.consumersOfTheService()).isEqualTo(1);
        send(message()); // into the memory of the consumer, and from there by RDMA
        target.awaitRequest();
        byte[] response = message(); // by RDMA into memory of the producer
        target.answer(response);
        assertThat(initiator.receive()).isEqualTo(response);
        finish(1);
    }

    @Test
    @Clause("sto-088")
    void shouldHaveNoObjectsOfItsWorkersOnceItHasShutDown() {
        start();
        initiator.proceed(3);
        assertThat(initiator.consumersOfTheService()).as("stopped").isEqualTo(1);
        initiator.proceed(4);
        assertThat(initiator.consumersOfTheService()).isZero();
        initiator.close(); // the service waits for that
        assertThat(pipeline.awaitService().status()).isEqualTo(Status.SUCCESS);
    }
}
