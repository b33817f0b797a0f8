package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Handshakes;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.linux.Errno;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.rdma.Rdma;
import io.softdpu.rdma.RdmaConnection;
import io.softdpu.rdma.RdmaConnectionRequest;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LeakCheck;
import io.softdpu.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of peers that violate the protocol, or vanish: the listener goes on with others. */
class ShmHostileRequestTest extends RogueFixture {

    /** The refusal of a request. */
    private FabricException refusalOf(byte[] request) {
        return refusalOf(rogue.send(RogueBus.nameOf(device), request));
    }

    private FabricException refusalOf(CompletableFuture<Attachment> answer) {
        until("an answer", answer::isDone);
        try {
            throw new AssertionError("answered: " + answer.get(Patience.SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException e) {
            return (FabricException) e.getCause();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @CsvSource({
        // offset, changed bits of that byte, status
        "0, 1, INVALID_VALUE", // magic
        "4, 3, UNSUPPORTED_VERSION", // 2
        "6, 3, INVALID_VALUE", // an answer
        "6, 2, INVALID_VALUE",
        "6, 1, INVALID_VALUE", // no kind
        "6, 5, INVALID_VALUE",
        "11, -128, INVALID_VALUE", // no permission
        "12, 1, INVALID_VALUE", // private data that is not there
        "12, 57, INVALID_VALUE", // more than is allowed
        "15, -1, INVALID_VALUE", // negative
        "26, 1, INVALID_VALUE", // from an IPv6 address to an IPv4 one
        "47, 64, NOT_FOUND", // another address
        "48, 64, NOT_FOUND", // another port
        "50, 1, INVALID_VALUE", // reserved
        "56, 8, UNSUPPORTED_VERSION", // details
        "88, 1, INVALID_VALUE", // region of another kernel
        "104, 1, INVALID_VALUE", // region of another folder
    })
    void shouldRefuseABadRequestBeforeTheProgramSeesIt(int offset, byte bits, Status status) {
        Rdma rdma = listener(1);
        byte[] request = rogue.request(device);
        request[offset] ^= bits;

        FabricException refusal = refusalOf(request);

        assertThat(refusal.kind()).isEqualTo(FabricException.Kind.REFUSED);
        assertThat(Status.ofCode(refusal.refusalCode())).isEqualTo(status);
        assertThat(refusal.getMessage()).contains("=");
        assertThat(requests).isEmpty();
        assertThat(rdma.state()).isEqualTo(ContextState.STARTING);
        requireServing();
    }

    @Test
    void shouldRefuseARequestOfAnyOtherLength() {
        listener(1);
        byte[] request = rogue.request(device, new byte[] {1, 2, 3});
        for (int length = 0; length <= request.length + 1; length++) {
            if (length != request.length) {
                FabricException refusal = refusalOf(Arrays.copyOf(request, length));
                assertThat(Status.ofCode(refusal.refusalCode()))
                        .as("length %d", length)
                        .isEqualTo(Status.INVALID_VALUE);
            }
        }
        assertThat(requests).isEmpty();
        requireServing();
    }

    @ParameterizedTest
    @ValueSource(longs = {4097, Handshakes.MAX_JOINING_BYTES})
    void shouldNotKeepMoreMemoryOfARequestThanItNeeds(long sizeBytes) {
        listener(1);
        SharedSegment large = SharedSegment.allocate("rogue", sizeBytes);
        try {
            FabricException refusal =
                    refusalOf(rogue.send(RogueBus.nameOf(device), rogue.request(device), large));
            assertThat(Status.ofCode(refusal.refusalCode())).isEqualTo(Status.INVALID_VALUE);
            assertThat(refusal.getMessage()).contains("sizeBytes=" + sizeBytes, "limitBytes=4096");
        } finally {
            rogue.bus.release(large);
        }
        assertThat(requests).isEmpty();
        requireServing();
    }

    @Test
    void shouldTakeARequestWithAPageOfMemory() {
        listener(1);
        SharedSegment page = SharedSegment.allocate("rogue", 4096);
        CompletableFuture<Attachment> answer =
                rogue.send(RogueBus.nameOf(device), rogue.request(device), page);
        nextRequest().reject(NO_DATA);
        until("the answer", answer::isDone);
        rogue.bus.release(answer.resultNow());
        rogue.bus.release(page);
        requireServing();
    }

    @Test
    void shouldKeepAFloodOfRequestsWithinItsCapacity() {
        Rdma rdma = listener(2);
        LeakCheck leaks = LeakCheck.begin(folder());
        List<CompletableFuture<Attachment>> flood = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            flood.add(rogue.send(RogueBus.nameOf(device), rogue.request(device)));
        }
        // Without progress of the victim's engine: as many as it can take, and 16 more.
        Await.until(
                "all but 18 are refused by the bus",
                () -> flood.stream().filter(CompletableFuture::isDone).count() == 282);
        until(
                "all but two are refused",
                () -> flood.stream().filter(CompletableFuture::isDone).count() == 298);

        assertThat(flood)
                .filteredOn(CompletableFuture::isDone)
                .allSatisfy(refused -> {
                    FabricException refusal = (FabricException) refused.exceptionNow();
                    assertThat(Status.ofCode(refusal.refusalCode()))
                            .isEqualTo(Status.CONNECTION_ABORTED);
                });
        assertThat(requests).hasSize(2).allMatch(RdmaConnectionRequest::isPending);
        assertThat(rdma.state()).isEqualTo(ContextState.STARTING);

        flood.forEach(request -> request.cancel(false));
        until(
                "their places are free",
                () -> requests.stream().noneMatch(RdmaConnectionRequest::isPending));
        requests.clear();
        until("nothing is left", leaks::isClean);
        requireServing();
    }

    @Test
    void shouldServeOthersBesideClientsThatSayNothing() {
        listener(1);
        for (int i = 0; i < 300; i++) {
            rogue.connectOnly(RogueBus.nameOf(device));
        }
        requireServing();
    }

    @Test
    void shouldAnswerARequestThatIsSentTwiceOnce() {
        Duration timeout = Duration.ofMillis(200);
        while (!isAnsweredOnceWithin(timeout)) {
            timeout = timeout.multipliedBy(2);
        }
        requireReporting();
    }

    /** Returns false if the listener was too slow to answer before it gave the peer up. */
    private boolean isAnsweredOnceWithin(Duration timeout) {
        Rdma rdma = listener(1, configured -> configured.setConnectTimeout(timeout));
        int socket = rogue.connectOnly(RogueBus.nameOf(device));
        rogue.sendFrame(socket, RogueBus.hello(rogue.request(device)));
        RdmaConnectionRequest request = nextRequest();
        RdmaConnection there = request.accept(NO_DATA);
        sendSecond(socket, rogue.request(device));
        until("it failed", () -> there.state() == RdmaConnection.State.FAILED);

        assertThat(there.failure()).as("it did not go on").isEqualTo(Status.TIME_OUT);
        assertThat(rdma.state()).isEqualTo(ContextState.RUNNING);
        assertThat(requests).isEmpty();
        Frame answer = rogue.receive(socket);
        if (answer instanceof Frame.Refuse) {
            stop(rdma);
            return false;
        }
        assertThat(answer).isInstanceOf(Frame.Welcome.class);
        assertThat(rogue.receive(socket)).isNull();
        return true;
    }

    /** The listener goes on, however short its connect timeout is. */
    private void requireReporting() {
        CompletableFuture<Attachment> answer =
                rogue.send(RogueBus.nameOf(device), rogue.request(device));
        nextRequest().reject(NO_DATA);
        until("the answer", answer::isDone);
        rogue.bus.release(answer.resultNow());
    }

    @Test
    void shouldReachTheProgramWithTheFirstOfTwoRequestsAlone() {
        listener(2);
        int socket = rogue.connectOnly(RogueBus.nameOf(device));
        byte[] first = rogue.request(device, new byte[] {1});
        rogue.sendFrame(socket, RogueBus.hello(first));
        RdmaConnectionRequest request = nextRequest();
        assertThat(request.privateData()).containsExactly(1);
        sendSecond(socket, rogue.request(device, new byte[] {2}));
        for (int i = 0; i < 100; i++) {
            engine.await(Duration.ofMillis(1));
        }
        assertThat(requests).isEmpty();
        rogue.close(socket);
        until("its end", () -> !request.isPending());
        requireServing();
    }

    /** Without a descriptor, which the kernel may refuse; the other side may have closed. */
    private static void sendSecond(int socket, byte[] payload) {
        assertThat(RogueBus.sendBytes(socket, Frame.encode(RogueBus.hello(payload))))
                .isIn(0, Errno.EPIPE);
    }

    /** Step of connecting after which a client vanishes. */
    enum Step {
        CONNECTED,
        REQUESTED,
        REPORTED,
        ACCEPTED,
        ANSWERED,
        LEASED,
        HELLO
    }

    @ParameterizedTest
    @EnumSource(Step.class)
    void shouldGoOnWhenAClientVanishesAfterAnyStep(Step step) throws Exception {
        Rdma rdma = listener(2); // goes on also when an established one fails
        requireServing(); // loads what is loaded once
        LeakCheck leaks = LeakCheck.begin(folder());
        RogueBus client = new RogueBus(folder());
        RdmaConnection there = null;
        if (step == Step.CONNECTED) {
            client.connectOnly(RogueBus.nameOf(device));
        } else {
            int socket = client.connectOnly(RogueBus.nameOf(device));
            client.sendFrame(socket, RogueBus.hello(client.request(device)));
            if (step.compareTo(Step.REPORTED) >= 0) {
                RdmaConnectionRequest request = nextRequest();
                if (step.compareTo(Step.ACCEPTED) >= 0) {
                    there = request.accept(NO_DATA);
                }
            }
            if (step.compareTo(Step.ANSWERED) >= 0) {
                engine.progress();
                engine.progress();
                goOn(client, socket, step);
            }
        }

        client.close();
        if (there != null) {
            RdmaConnection failing = there;
            until("its end", () -> failing.state() == RdmaConnection.State.FAILED);
            assertThat(failing.failure()).isIn(Status.CONNECTION_RESET, Status.NOT_FOUND);
        }
        until(
                "no place is taken",
                () -> requests.stream().noneMatch(RdmaConnectionRequest::isPending));
        requests.clear();
        assertThat(rdma.state()).isEqualTo(ContextState.RUNNING);
        until("nothing is left", leaks::isClean);
        requireServing();
    }

    /** Leases the listener's ring as far as the step says. */
    private void goOn(RogueBus client, int socket, Step step) throws Exception {
        Frame frame = client.receive(socket);
        assertThat(frame).isInstanceOf(Frame.Welcome.class);
        ShmDetails theirs =
                ConnectMessage.decodeAnswer(((Frame.Welcome) frame).payload()).requireDetails();
        if (step.compareTo(Step.LEASED) >= 0) {
            ImportedRegion region = client.lease(theirs);
            if (step == Step.HELLO) {
                hello(Objects.requireNonNull(region.memory()), theirs.key(), client.details.key());
            }
        }
        until("nothing is left to do", () -> !engine.progress());
    }

    private static void hello(SharedSegment region, ShmDetails.Key receiver, ShmDetails.Key own) {
        MessageRing.Producer producer =
                MessageRing.producer(
                        region.segment()
                                .asSlice(ShmWire.RING_OFFSET, ShmConnection.GEOMETRY.sizeBytes()),
                        ShmConnection.GEOMETRY);
        long at = producer.claim();
        producer.segment().set(ValueLayout.JAVA_INT, at, ShmWire.HELLO_VERSION);
        producer.segment().set(ValueLayout.JAVA_INT, at + 4, 0);
        receiver.encode(producer.segment(), at + ShmWire.HELLO_RECEIVER_KEY_OFFSET);
        own.encode(producer.segment(), at + ShmWire.HELLO_SENDER_KEY_OFFSET);
        producer.commit(ShmWire.OPCODE_HELLO, ShmWire.HELLO_BYTES, 0);
    }

    @Test
    void shouldGiveUpAnAcceptedPeerThatDoesNotCompleteTheConnection() {
        Duration timeout = Duration.ofMillis(200);
        while (!isGivenUpAfter(timeout)) {
            timeout = timeout.multipliedBy(2);
        }
        requireReporting();
    }

    /** Returns false if the listener was too slow to answer before it gave the peer up. */
    private boolean isGivenUpAfter(Duration timeout) {
        Rdma rdma = listener(1, configured -> configured.setConnectTimeout(timeout));
        CompletableFuture<Attachment> answer =
                rogue.send(RogueBus.nameOf(device), rogue.request(device, new byte[56]));
        RdmaConnection there = nextRequest().accept(new byte[196]);
        until("the answer", answer::isDone);
        if (answer.isCompletedExceptionally()) {
            stop(rdma);
            assertThat(there.failure()).isEqualTo(Status.TIME_OUT);
            return false;
        }
        Attachment attachment = answer.resultNow();
        ConnectMessage message = ConnectMessage.decodeAnswer(attachment.payload());
        assertThat(message.kind()).isEqualTo(ConnectMessage.Kind.ACCEPT);
        assertThat(message.privateData()).hasSize(196);
        rogue.bus.release(attachment);

        until("its end", () -> there.state() == RdmaConnection.State.FAILED);

        assertThat(there.failure()).isEqualTo(Status.TIME_OUT);
        assertThat(there.failureReason()) // the whole, or the lease of its ring
                .containsAnyOf("timeoutMillis=" + timeout.toMillis(), "did not reply in time");
        assertThat(rdma.state()).isEqualTo(ContextState.RUNNING);
        return true;
    }

    // ---- names ----

    @Test
    void shouldNotListenOnANameWhoseLockAnotherHoldsAndNotNameItsHolder() {
        Rdma rdma = start(device, 1, configured -> {});
        String name = RogueBus.nameOf(device);
        int lock =
                FileDescriptors.open(
                        rogue.lockOf(name).toString(),
                        FileDescriptors.O_RDWR | FileDescriptors.O_CREAT,
                        0600);
        try {
            assertThat(FileDescriptors.tryLockExclusive(lock)).isTrue();
            assertThat(refusalOf(rdma))
                    .startsWith("ALREADY_EXIST: ")
                    .contains("port=" + PORT + ",")
                    .contains("holder=process unknown");
        } finally {
            FileDescriptors.close(lock);
        }
        rdma.listen(PORT); // the lock of a process that has ended
        requireServing();
    }

    private static String refusalOf(Rdma rdma) {
        try {
            rdma.listen(PORT);
            return "none";
        } catch (DpuException e) {
            return e.status() + ": " + e.getMessage();
        }
    }

    @Test
    void shouldReplaceASocketThatNobodyHasLocked() {
        Rdma rdma = start(device, 1, configured -> {});
        rogue.serveBare(RogueBus.nameOf(device));
        rdma.listen(PORT);
        requireServing();
    }
}
