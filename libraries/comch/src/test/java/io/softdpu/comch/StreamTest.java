package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Sanitizer;
import io.softdpu.testkit.AllocationMeter;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages of streams that run: content, order, backpressure, callbacks and buffers. */
class StreamTest extends StreamFixture {
    private static final int MESSAGES = 20_000;

    private int taken;

    @Test
    void shouldCarryMessagesOfAllSizesWithImmediateDataBothWays() {
        open(4, 4);
        for (ComchStream[] way : new ComchStream[][] {{atClient, atServer}, {atServer, atClient}}) {
            for (int size : new int[] {0, 1, 64, 65, BYTES}) {
                byte[] message = pattern(size);
                byte[] immediate = pattern(size % 33);
                send(way[0], message, immediate);
                try (ComchReceiveBuffer received = next(way[1])) {
                    assertThat(received.length()).isEqualTo(size);
                    assertThat(bytes(received)).isEqualTo(message);
                    assertThat(immediate(received)).isEqualTo(immediate);
                    assertThat(received.segment().byteSize()).isEqualTo(BYTES);
                }
            }
        }
    }

    @Test
    void shouldCarryMessagesThatAreCopiedInSlices() {
        create(2, 2);
        atClient.setBufferBytes(MIB);
        atServer.setBufferBytes(MIB);
        start();
        byte[] message = pattern(MIB);
        send(atClient, message, NOTHING);
        send(atServer, message, NOTHING);
        try (ComchReceiveBuffer received = next(atServer);
                ComchReceiveBuffer reply = next(atClient)) {
            assertThat(bytes(received)).isEqualTo(message);
            assertThat(bytes(reply)).isEqualTo(message);
        }
    }

    @Test
    void shouldNotSendTheImmediateDataOfAnEarlierMessage() {
        open(1, 4);
        send(atClient, new byte[1], new byte[] {1, 2, 3});
        next(atServer).close();
        card.settle();
        send(atClient, new byte[2], NOTHING);
        assertThat(next(atServer).immediateLength()).isZero();
    }

    @Test
    void shouldEndWaitsOfAnInterruptedThread() {
        open(1, 1);
        ComchSendBuffer claimed = atClient.claim(Patience.LIMIT);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> atServer.receive(Patience.LIMIT))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_ABORTED))
                .hasMessageContainingAll(
                        "interrupted", "call=ComchStream.receive", "awaited=a message");
        assertThatThrownBy(() -> atClient.claim(Patience.LIMIT))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.CONNECTION_ABORTED))
                .hasMessageContainingAll(
                        "interrupted", "call=ComchStream.claim", "awaited=a free send buffer");
        assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
        claimed.send(1);
        next(atServer).close();
        card.settle();
        Thread.currentThread().interrupt();
        atClient.claim(Patience.LIMIT).send(1); // what is there needs no wait
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldReceiveWhatHasArrivedOnAnInterruptedThread() {
        open(1, 1);
        send(atClient, new byte[1], NOTHING);
        Thread.currentThread().interrupt();
        atServer.receive(Patience.LIMIT).close();
        atClient.claim(Patience.LIMIT).close();
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldHoldMessagesBackUntilTheProgramOfThePeerReceives() {
        open(4, 3);
        List<Integer> accepted = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            if (send(atClient, accepted.size())) {
                accepted.add(accepted.size());
            }
            card.settle();
        }
        assertThat(accepted).as("in buffers of both sides").hasSize(7);

        List<Integer> received = new ArrayList<>();
        card.until(
                "all",
                () -> {
                    received.addAll(numbers(atServer));
                    return received.size() == 7;
                });
        assertThat(received).isEqualTo(accepted);
        card.settle();
        assertThat(IntStream.range(0, 5).filter(i -> send(atClient, i)).count()).isEqualTo(4);
    }

    @Test
    void shouldKeepTheOrderOfMessagesThatTakeDifferentTime() {
        create(8, 8);
        atClient.setBufferBytes(MIB);
        atServer.setBufferBytes(MIB);
        start();
        int[] sizes = {MIB, 4, 4, 4096, 0, 65, MIB, 64};
        for (int size : sizes) {
            send(atClient, pattern(size), NOTHING);
        }
        for (int size : sizes) {
            try (ComchReceiveBuffer received = next(atServer)) {
                assertThat(bytes(received)).isEqualTo(pattern(size));
            }
        }
    }

    /** A program that sends while it can claim a buffer comes back to its engine. */
    @Test
    void shouldSendNoMoreThanItsBuffersHoldBetweenTwoPasses() {
        open(4, 64);
        for (int pass = 0; pass < 3; pass++) {
            int first = 4 * pass;
            for (int i = first; i < first + 4; i++) {
                assertThat(send(atClient, i)).isTrue();
            }
            assertThat(atClient.tryClaim()).isNull();
            card.hostEngine.progress();
        }
        List<Integer> received = new ArrayList<>();
        card.until("all", () -> received.addAll(numbers(atServer)) && received.size() == 12);
        assertThat(received).isEqualTo(IntStream.range(0, 12).boxed().toList());
    }

    @Test
    void shouldSignalANotificationThatWasRequestedBeforeASend() {
        open(4, 4);
        card.settle();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        send(atClient, 1);
        assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
        card.hostEngine.clearNotification();
        next(atServer).close();
    }

    @Test
    void shouldKeepTheOrderWhenBuffersAreClosedInAnother() {
        open(8, 4);
        List<Integer> received = new ArrayList<>();
        List<ComchReceiveBuffer> open = new ArrayList<>();
        int sent = 0;
        while (received.size() < 200) {
            while (sent < 200 && send(atClient, sent)) {
                sent++;
            }
            card.settle();
            ComchReceiveBuffer buffer;
            while ((buffer = atServer.tryReceive()) != null) {
                received.add(buffer.segment().get(java.lang.foreign.ValueLayout.JAVA_INT, 0));
                open.add(buffer);
            }
            open.reversed().forEach(ComchReceiveBuffer::close);
            open.clear();
        }
        assertThat(received).isEqualTo(IntStream.range(0, 200).boxed().toList());
    }

    @Test
    void shouldKeepMessagesThatTheProgramHolds() {
        open(4, 4);
        send(atClient, new byte[] {1, 2, 3}, new byte[] {9});
        ComchReceiveBuffer held = next(atServer);
        for (int i = 0; i < 50; i++) {
            int number = i;
            card.until("sent", () -> send(atClient, number));
            next(atServer).close();
        }
        assertThat(bytes(held)).containsExactly(1, 2, 3);
        assertThat(immediate(held)).containsExactly(9);
        held.close();
        held.close(); // has no effect
    }

    @Test
    void shouldCallOnceForMessagesOfOnePassAndAgainForFreeBuffers() {
        create(4, 8);
        List<String> calls = new ArrayList<>();
        atServer.setReadyCallback(stream -> calls.add("server " + numbers(stream)));
        atClient.setReadyCallback(_ -> calls.add("client"));
        start();
        for (int i = 0; i < 4; i++) {
            send(atClient, i);
        }
        card.settle();
        assertThat(calls).containsExactly("server [0, 1, 2, 3]");

        calls.clear();
        for (int i = 0; i < 4; i++) {
            send(atClient, i);
        }
        assertThat(atClient.tryClaim()).isNull();
        card.settle();
        assertThat(calls).containsExactlyInAnyOrder("server [0, 1, 2, 3]", "client");
    }

    @Test
    void shouldReplyInTheCallbackWithBackpressure() {
        create(4, 2);
        atServer.setSendBuffers(1);
        atServer.setReadyCallback(StreamTest::echo);
        start();
        List<Integer> replies = new ArrayList<>();
        int[] sent = {0};
        card.until(
                "replies",
                () -> {
                    while (sent[0] < 500 && send(atClient, sent[0])) {
                        sent[0]++;
                    }
                    replies.addAll(numbers(atClient));
                    return replies.size() == 500;
                });
        assertThat(replies).isEqualTo(IntStream.range(0, 500).boxed().toList());
    }

    /** Replies to messages while there are buffers: the next call is for the rest. */
    private static void echo(ComchStream stream) {
        ComchSendBuffer reply;
        while ((reply = stream.tryClaim()) != null) {
            ComchReceiveBuffer request = stream.tryReceive();
            if (request == null) {
                reply.close();
                return;
            }
            MemorySegment.copy(request.segment(), 0, reply.segment(), 0, request.length());
            reply.send(request.length());
            request.close();
        }
    }

    @Test
    void shouldThrowWhatTheCallbackThrowsAndGoOn() {
        create(4, 4);
        boolean[] failing = {true};
        atServer.setReadyCallback(_ -> {
            if (failing[0]) {
                throw new IllegalStateException("of this test");
            }
        });
        start();
        send(atClient, 1);
        assertThatThrownBy(card::settle).hasMessage("of this test");
        failing[0] = false;
        send(atClient, 2);
        card.settle();
        assertThat(numbers(atServer)).containsExactly(1, 2);
    }

    @Test
    void shouldReturnBuffersThatWereClosedBeforeTheyWereSent() {
        open(1, 1);
        ComchSendBuffer claimed = Objects.requireNonNull(atClient.tryClaim());
        claimed.close();
        claimed.close(); // has no effect
        ComchSendBuffer again = Objects.requireNonNull(atClient.tryClaim());
        assertThat(atClient.tryClaim()).isNull();
        again.send(0);
        assertThat(next(atServer).length()).isZero();
    }

    @Test
    void shouldSendOnceThoughTheBufferIsClosedAfterwards() {
        open(2, 2);
        try (ComchSendBuffer small = Objects.requireNonNull(atClient.tryClaim())) {
            small.send(8);
        }
        try (ComchSendBuffer large = Objects.requireNonNull(atClient.tryClaim())) {
            large.send(BYTES);
        }
        assertThat(atClient.tryClaim()).as("both are under way").isNull();
        assertThat(next(atServer).length()).isEqualTo(8);
        assertThat(next(atServer).length()).isEqualTo(BYTES);
        card.settle();
        assertThat(atServer.tryReceive()).as("two messages").isNull();
        assertThat(atClient.tryClaim()).isNotNull();
        assertThat(atClient.tryClaim()).isNotNull();
        assertThat(atClient.tryClaim()).as("two buffers").isNull();
    }

    @Test
    void shouldCallAgainWhenABufferIsClosedUnsentAfterNoneWasFound() {
        create(1, 1);
        List<String> calls = new ArrayList<>();
        atClient.setReadyCallback(_ -> calls.add("client"));
        start();
        ComchSendBuffer claimed = Objects.requireNonNull(atClient.tryClaim());
        assertThat(atClient.tryClaim()).isNull();
        card.settle();
        assertThat(calls).isEmpty();
        card.hostEngine.clearNotification(); // what has rung while it was polled
        card.hostEngine.requestNotification();
        claimed.close();
        assertThat(calls).as("outside progress").isEmpty();
        assertThat(card.hostEngine.awaitNotification(Patience.LIMIT)).isTrue();
        card.hostEngine.clearNotification();
        card.settle();
        assertThat(calls).containsExactly("client");
    }

    @Test
    void shouldRefuseBuffersThatTheProgramDoesNotHave() {
        open(2, 2);
        ComchSendBuffer buffer = Objects.requireNonNull(atClient.tryClaim());
        refuse(Status.INVALID_VALUE, () -> buffer.send(-1), "lengthBytes=-1, expected=0 to 4096");
        refuse(Status.INVALID_VALUE, () -> buffer.send(BYTES + 1), "lengthBytes=4097");
        refuse(
                Status.INVALID_VALUE,
                () -> buffer.setImmediate(MemorySegment.ofArray(new byte[33]), 0, 33),
                "immediate");
        buffer.send(8);
        refuse(Status.BAD_STATE, () -> buffer.send(8), "not sent");
        refuse(
                Status.BAD_STATE,
                () -> buffer.setImmediate(MemorySegment.ofArray(new byte[1]), 0, 1),
                "not sent");
        assertThat(next(atServer).length()).isEqualTo(8);
        card.settle();
        assertThat(atServer.tryReceive()).as("one message").isNull();
    }

    private static void refuse(
            Status status,
            org.assertj.core.api.ThrowableAssert.ThrowingCallable call,
            String text) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(text);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAllocateNothing(boolean inCallback) {
        create(8, 4); // so that messages also wait
        if (inCallback) {
            atServer.setReadyCallback(this::takeAll);
        }
        start();
        AllocationMeter.assertNone(
                MESSAGES,
                () -> {
                    int before = taken;
                    long deadline = System.nanoTime() + Patience.DEADLINE.toNanos();
                    while (taken == before) {
                        sendAll();
                        card.hostEngine.progress();
                        card.dpuEngine.progress();
                        if (!inCallback) {
                            takeAll(atServer);
                        }
                        if (System.nanoTime() > deadline) {
                            throw new AssertionError("no message arrives: taken=" + taken);
                        }
                    }
                });
    }

    /** Each round waits for a pass of progress in a claim and in a receive. */
    @Test
    void shouldAllocateNothingInAWait() {
        create(1, 2);
        atServer.setSendBuffers(2).setReadyCallback(StreamTest::echo);
        start();
        AllocationMeter.assertNone(
                MESSAGES,
                () -> {
                    atClient.claim(Patience.LIMIT).send(4);
                    atClient.claim(Patience.LIMIT).send(4);
                    card.dpuEngine.progress();
                    for (int i = 0; i < 2; i++) {
                        Objects.requireNonNull(atClient.receive(Patience.LIMIT)).close();
                    }
                });
    }

    private final MemorySegment fourBytes = MemorySegment.ofArray(new byte[] {1, 2, 3, 4});

    private void sendAll() {
        ComchSendBuffer buffer;
        while ((buffer = atClient.tryClaim()) != null) {
            buffer.setImmediate(fourBytes, 0, 4);
            buffer.send((taken & 1) == 0 ? 64 : 1000); // some fit into a slot, some do not
        }
    }

    private void takeAll(ComchStream stream) {
        ComchReceiveBuffer buffer;
        while ((buffer = stream.tryReceive()) != null) {
            taken++;
            buffer.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldKeepOrderAndContentUnderTheSanitizer(long seed) throws Exception {
        try (Sanitizer sanitizer = Sanitizer.start(seed)) {
            card.close();
            card = new Card(folder.resolve("checked"));
            pair = card.pair();
            create(8, 3);
            atServer.setSendBuffers(2);
            atServer.setReadyCallback(StreamTest::echo);
            start();
            List<Integer> replies = new ArrayList<>();
            int[] sent = {0};
            card.until(
                    "replies",
                    () -> {
                        while (sent[0] < 300 && send(atClient, sent[0])) {
                            sent[0]++;
                        }
                        replies.addAll(numbers(atClient));
                        return replies.size() == 300;
                    });
            assertThat(replies).isEqualTo(IntStream.range(0, 300).boxed().toList());
            atClient.stop();
            untilEnded(atClient);
            untilEnded(atServer);
            assertThat(atServer.failure()).isNull();
            card.close(); // with the check of leaks
            card = new Card(folder.resolve("next"));
            assertThat(sanitizer.reports()).isZero();
        }
    }
}
