package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.Handshakes;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Listeners that violate the protocol, or are silent: the connection fails, the context of the side
 * that connects does not change, and it connects to an orderly one afterwards.
 */
class ShmHostileAnswerTest extends RogueFixture {
    private Rdma connector;

    @BeforeEach
    void start() {
        connector = start(nearDevice, 1, rdma -> {});
    }

    /** The failed connection to a listener that answers so. */
    private RdmaConnection answered(Consumer<PendingLink> answer) {
        Endpoint endpoint =
                rogue.bus.listen(RogueBus.nameOf(device), pending -> answer.accept(pending));
        RdmaConnection here = connector.connect(address(), NO_DATA);
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);
        endpoint.close();
        return here;
    }

    private RdmaConnection changed(UnaryOperator<byte[]> change) {
        return answered(pending ->
                rogue.bus.release(pending.accept(change.apply(rogue.accept()), rogue.memory())));
    }

    private void requireUnchanged(RdmaConnection failed) {
        assertThat(failed.peerPrivateData()).isEmpty();
        assertThat(failed.failureReason())
                .startsWith("RDMA connection by address failed: ")
                .contains("address=" + device.info().ipv4().getHostAddress())
                .contains("port=" + PORT);
        assertThat(connector.state()).isEqualTo(ContextState.STARTING);
        requireConnects();
    }

    /** The same instance connects to a listener that keeps to the protocol. */
    private void requireConnects() {
        listener(1);
        RdmaConnection again = connector.connect(address(), NO_DATA);
        RdmaConnection _ = nextRequest().accept(NO_DATA);
        until("connected", () -> again.state() == RdmaConnection.State.CONNECTED);
        assertThat(connector.state()).isEqualTo(ContextState.RUNNING);
    }

    @ParameterizedTest
    @CsvSource({
        // offset, changed bits of that byte, status
        "0, 1, INVALID_VALUE", // magic
        "4, 3, UNSUPPORTED_VERSION", // 2
        "6, 3, INVALID_VALUE", // a request
        "6, 1, INVALID_VALUE", // a reject with details
        "6, 8, INVALID_VALUE",
        "11, -128, INVALID_VALUE", // no permission
        "12, 3, INVALID_VALUE", // less private data than there is
        "12, 1, INVALID_VALUE", // more
        "12, -1, INVALID_VALUE", // more than is allowed
        "15, -1, INVALID_VALUE", // negative
        "16, 8, UNSUPPORTED_VERSION", // details
        "48, 1, INVALID_VALUE", // region of another kernel
        "64, 1, INVALID_VALUE", // region of another folder
    })
    void shouldFailOnABadAnswer(int offset, byte bits, Status status) {
        RdmaConnection failed =
                changed(answer -> {
                    answer[offset] ^= bits;
                    return answer;
                });

        assertThat(failed.failure()).isEqualTo(status);
        requireUnchanged(failed);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 127, 129, 131, 4096})
    void shouldFailOnAnAnswerOfAnotherLength(int length) {
        RdmaConnection failed = changed(answer -> Arrays.copyOf(answer, length));

        assertThat(failed.failure()).isEqualTo(Status.INVALID_VALUE);
        requireUnchanged(failed);
    }

    @ParameterizedTest
    @ValueSource(longs = {4097, Handshakes.MAX_JOINING_BYTES})
    void shouldFailOnAnAnswerWithMoreMemoryThanItNeeds(long sizeBytes) {
        SharedSegment large = SharedSegment.allocate("rogue", sizeBytes);
        RdmaConnection failed =
                answered(pending -> rogue.bus.release(pending.accept(rogue.accept(), large)));
        rogue.bus.release(large);

        assertThat(failed.failure()).isEqualTo(Status.INVALID_VALUE);
        assertThat(failed.failureReason()).contains("sizeBytes=" + sizeBytes, "limitBytes=4096");
        requireUnchanged(failed);
    }

    @ParameterizedTest
    @ValueSource(ints = {148, 149, 196, 4000})
    void shouldTakeAsMuchPrivateDataOfARejectAsIsAllowed(int sizeBytes) {
        RdmaConnection failed = changed(_ -> ConnectMessage.reject(new byte[sizeBytes]).encode());

        boolean allowed = sizeBytes <= Rdma.MAX_REJECT_DATA_BYTES;
        assertThat(failed.failure())
                .isEqualTo(allowed ? Status.CONNECTION_ABORTED : Status.INVALID_VALUE);
        assertThat(failed.peerPrivateData()).hasSize(allowed ? sizeBytes : 0);
        assertThat(connector.state()).isEqualTo(ContextState.STARTING);
        requireConnects();
    }

    @ParameterizedTest
    @CsvSource({"0, UNKNOWN", "-1, UNKNOWN", "24, FULL", "25, UNKNOWN"})
    void shouldFailOnARefusalWithAnyCodeAndText(int code, String status) {
        RdmaConnection failed =
                answered(pending -> pending.refuse(code, "because\n\033[31m" + "x".repeat(3000)));

        if (!status.equals("UNKNOWN")) {
            assertThat(failed.failure()).isEqualTo(Status.valueOf(status));
        }
        assertThat(failed.failure().isError()).isTrue();
        assertThat(failed.failureReason()).doesNotContain("\n", "\033").hasSizeLessThan(1500);
        requireUnchanged(failed);
    }

    /** Kind of a listener that is no end of a connection. */
    enum Silence {
        NO_ACCEPT,
        NO_FRAME,
        NO_DECISION,
        NO_CONNECTION
    }

    @ParameterizedTest
    @EnumSource(Silence.class)
    void shouldWaitForASilentListenerNoLongerThanWasSet(Silence silence) {
        Rdma hasty = start(nearDevice, 1, rdma -> rdma.setConnectTimeout(Duration.ofMillis(200)));
        String name = RogueBus.nameOf(device);
        CompletableFuture<PendingLink> undecided = new CompletableFuture<>();
        Endpoint endpoint = null;
        int bare = -1;
        switch (silence) {
            case NO_ACCEPT, NO_FRAME -> bare = rogue.serveBare(name);
            case NO_DECISION -> endpoint = rogue.bus.listen(name, undecided::complete);
            case NO_CONNECTION ->
                    endpoint =
                            rogue.bus.listen(
                                    name,
                                    pending ->
                                            rogue.bus.release(
                                                    pending.accept(
                                                            rogue.accept(), rogue.memory())));
        }
        RdmaConnection here = hasty.connect(address(), NO_DATA);
        if (silence == Silence.NO_FRAME) {
            int socket = rogue.acceptBare(bare);
            assertThat(rogue.receive(socket)).isInstanceOf(Frame.Hello.class);
        }
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);

        assertThat(here.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(hasty.state()).isEqualTo(ContextState.STARTING);
        if (endpoint != null) {
            endpoint.close();
        }
        if (undecided.isDone()) {
            undecided.resultNow().refuse(Status.TIME_OUT.code(), "late");
        }
        rogue.close(bare);
        requireConnects();
    }

    /** Second answer of a listener that has accepted. */
    enum Second {
        ACCEPT,
        REJECT,
        REFUSE,
        GARBAGE,
        END
    }

    @ParameterizedTest
    @EnumSource(Second.class)
    void shouldTakeTheFirstOfTwoAnswers(Second second) {
        int listener = rogue.serveBare(RogueBus.nameOf(device));
        Duration timeout = Duration.ofMillis(200);
        while (!isFirstTakenWithin(timeout, second, listener)) {
            timeout = timeout.multipliedBy(2);
        }
        rogue.close(listener);
        requireConnects();
    }

    /** Returns false if the time was over before the first answer was there. */
    private boolean isFirstTakenWithin(Duration timeout, Second second, int listener) {
        Rdma hasty = start(nearDevice, 1, rdma -> rdma.setConnectTimeout(timeout));
        RdmaConnection here = hasty.connect(address(), NO_DATA);
        int socket = rogue.acceptBare(listener);
        assertThat(rogue.receive(socket)).isInstanceOf(Frame.Hello.class);
        assertThat(rogue.trySendFrame(socket, RogueBus.welcome(rogue.accept())))
                .isIn(0, Errno.EPIPE);
        switch (second) {
            case ACCEPT -> sendSecond(socket, RogueBus.welcome(rogue.accept()));
            case REJECT ->
                    sendSecond(
                            socket,
                            RogueBus.welcome(ConnectMessage.reject(new byte[] {9}).encode()));
            case REFUSE -> sendSecond(socket, new Frame.Refuse(16, "not"));
            case GARBAGE ->
                    assertThat(RogueBus.sendBytes(socket, new byte[100])).isIn(0, Errno.EPIPE);
            case END -> rogue.close(socket);
        }
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);

        assertThat(here.failure()).as("it never leased the ring").isEqualTo(Status.TIME_OUT);
        assertThat(hasty.state()).isEqualTo(ContextState.STARTING);
        rogue.close(socket);
        if (here.peerPrivateData().length == 0) {
            return false;
        }
        assertThat(here.peerPrivateData()).containsExactly(1, 2);
        return true;
    }

    /** Without a descriptor, which the kernel may refuse; the other side may have closed. */
    private static void sendSecond(int socket, Frame frame) {
        int error = RogueBus.sendBytes(socket, Frame.encode(frame));
        assertThat(error).isIn(0, Errno.EPIPE);
    }

    /** Step at which a listener vanishes. */
    enum Step {
        /** The client waits in the backlog, as where a living process stops listening. */
        CONNECTED,
        ACCEPTED,
        RECEIVED,
        ANSWERED
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void shouldFailWhenTheListenerVanishesAfterAnyStep(Step step) {
        RogueBus vanishing = new RogueBus(folder());
        int listener = vanishing.serveBare(RogueBus.nameOf(device));
        RdmaConnection here = connector.connect(address(), NO_DATA);
        int socket = -1;
        if (step == Step.CONNECTED) {
            RogueBus.awaitReadable(listener);
        } else {
            socket = vanishing.acceptBare(listener);
        }
        if (step == Step.RECEIVED || step == Step.ANSWERED) {
            assertThat(vanishing.receive(socket)).isInstanceOf(Frame.Hello.class);
        }
        if (step == Step.ANSWERED) {
            vanishing.sendFrame(socket, RogueBus.welcome(vanishing.accept()));
        }
        vanishing.close();

        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);

        assertThat(here.failure()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(here.failureReason())
                .startsWith("RDMA connection by address failed: ")
                .contains("address=" + device.info().ipv4().getHostAddress() + ", port=");
        assertThat(connector.state()).isEqualTo(ContextState.STARTING);
        requireConnects();
    }

    @Test
    void shouldFindNoListenerBehindALockAlone() {
        String name = RogueBus.nameOf(device);
        int lock =
                FileDescriptors.open(
                        rogue.lockOf(name).toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT,
                        0600);
        assertThat(FileDescriptors.tryLockExclusive(lock)).isTrue();
        RdmaConnection here = connector.connect(address(), NO_DATA);
        until("a failure", () -> here.state() == RdmaConnection.State.FAILED);
        FileDescriptors.close(lock);

        assertThat(here.failure()).isEqualTo(Status.NOT_FOUND);
        requireUnchanged(here);
    }
}
