package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.LogCapture;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Violations around consumers and their memory: they end the client's own connection only. */
class HostileConsumerTest extends RogueClientFixture {
    /** Index of a consumer's ring that tells how many buffers it has posted. */
    private static final long POSTED_OFFSET = 256;

    @Test
    void shouldRefuseConsumerWhoseMemoryDoesNotExist() {
        join();
        SharedSegment ring = memory(new FastPathRing.Geometry(4).sizeBytes());
        ExportedRegion exported = rogue.bus.export(ring, true, null);
        ConsumerAnnouncement announcement =
                new ConsumerAnnouncement(4, exported.address(), exported.address());
        exported.revoke();
        announce(1, announcement);
        card.until("answer", () -> rogue.inbound.poll() >= 0);
        assertThat(rogue.inbound.type()).isEqualTo(MessageType.CONSUMER_REFUSED.code());
        assertThat(ControlWord.consumerId(rogue.inbound.word())).isEqualTo(1);
        assertThat(ControlWord.statusCode(rogue.inbound.word())).isNotZero();
        assertThat(pair.server().consumers).isEmpty();
        // The number is used up.
        announce(1, announcement);
        card.until("cut off", rogue::isCutOff);
        stillServes();
    }

    @Test
    void shouldBreakOverRingOfAnotherSize() {
        join();
        SharedSegment ring = memory(new FastPathRing.Geometry(4).sizeBytes());
        ExportedRegion exported = rogue.bus.export(ring, true, null);
        announce(1, new ConsumerAnnouncement(8, exported.address(), exported.address()));
        card.until("cut off", rogue::isCutOff);
        stillServes();
    }

    @Test
    void shouldRefuseWhatPeerAnnouncesBeyondTheLimits() {
        join();
        int limit = ComchCapabilities.of(card.p0.info()).maxConsumers();
        SharedSegment ring = memory(new FastPathRing.Geometry(4).sizeBytes());
        ExportedRegion exported = rogue.bus.export(ring, true, null);
        ConsumerAnnouncement announcement =
                new ConsumerAnnouncement(4, exported.address(), exported.address());
        for (int i = 0; i < limit; i++) {
            announce(2 * i + 1, announcement);
            int known = i + 1;
            card.until("known", () -> pair.server().consumers.size() == known);
            assertThat(rogue.inbound.poll()).isPositive();
            assertThat(rogue.inbound.type()).isEqualTo(MessageType.CONSUMER_READY.code());
            rogue.inbound.release();
        }
        announce(2 * limit + 1, announcement);
        card.until("answer", () -> rogue.inbound.poll() >= 0);
        assertThat(rogue.inbound.type()).isEqualTo(MessageType.CONSUMER_REFUSED.code());
        assertThat(ControlWord.statusCode(rogue.inbound.word())).isEqualTo(Status.FULL.code());
        rogue.close();
        card.until("gone", () -> pair.server().consumers.isEmpty());
        rogue = new RogueClient(card);
        stillServes();
    }

    @Test
    void shouldBreakWhenAnswersAreNeverRead() {
        join();
        SharedSegment ring = memory(new FastPathRing.Geometry(4).sizeBytes());
        ExportedRegion exported = rogue.bus.export(ring, true, null);
        ConsumerAnnouncement announcement =
                new ConsumerAnnouncement(4, exported.address(), exported.address());
        exported.revoke();
        for (int id = 1; !rogue.isCutOff() && id < 2000; id += 2) {
            announce(id, announcement);
            card.until("read", () -> rogue.isCutOff() || rogue.outbound.free() > 0);
        }
        card.until("cut off", rogue::isCutOff);
        stillServes();
    }

    @Test
    void shouldNotWriteWherePostingPointsOutsideTheMemory() {
        join();
        FastPathRing.Geometry geometry = new FastPathRing.Geometry(4);
        SharedSegment ring = memory(geometry.sizeBytes());
        SharedSegment small = memory(4096);
        FastPathConsumer consumer = FastPathRing.consumer(ring.segment(), geometry);
        announceConsumer(ring, small);
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 8192, 4).run(card);
        consumer.post(4000, 1 << 20); // the room reaches beyond the end of the memory
        assertThat(sending.send(1, new byte[97], NOTHING)).isEqualTo(Status.CONNECTION_RESET);
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> sending.producer.state() == ContextState.IDLE);
        assertThat(small.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        stillServes();
    }

    /** Data in the ring needs no place in the memory: where the peer has posted one is not read. */
    @Test
    void shouldNotReadWhereTheMemoryIsForDataInTheRing() {
        join();
        FastPathRing.Geometry geometry = new FastPathRing.Geometry(4);
        SharedSegment ring = memory(geometry.sizeBytes());
        FastPathConsumer consumer = FastPathRing.consumer(ring.segment(), geometry);
        announceConsumer(ring, memory(4096));
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 8192, 4).run(card);
        for (int length : new int[] {0, 64}) {
            consumer.post(-1, 1 << 20);
            byte[] immediate = {1, 2, 3};
            assertThat(sending.send(1, new byte[length], immediate)).isEqualTo(Status.SUCCESS);
            assertThat(consumer.poll()).isPositive();
            assertThat(consumer.isInline()).isTrue();
            assertThat(consumer.length()).isEqualTo(length);
            assertThat(consumer.immediateLength()).isEqualTo(3);
            consumer.release();
        }
        card.settle();
        assertThat(sending.statuses).containsExactly(Status.SUCCESS, Status.SUCCESS);
        assertThat(rogue.isCutOff()).isFalse();
        consumer.post(-1, 1 << 20);
        assertThat(sending.send(1, new byte[65], NOTHING)).isEqualTo(Status.CONNECTION_RESET);
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> sending.producer.state() == ContextState.IDLE);
        stillServes();
    }

    /** Messages before the violation are sent, those after it are their user's again. */
    @Test
    void shouldStopASubmissionOfSeveralAtAPostingOutsideTheMemory() {
        join();
        FastPathRing.Geometry geometry = new FastPathRing.Geometry(4);
        SharedSegment ring = memory(geometry.sizeBytes());
        FastPathConsumer consumer = FastPathRing.consumer(ring.segment(), geometry);
        announceConsumer(ring, memory(4096));
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 8192, 4).run(card);
        long[] offsets = {0, 4095, 8, 16};
        int[] lengths = {16, 97, 97, 16};
        ComchProducerSendTask[] tasks = new ComchProducerSendTask[offsets.length];
        for (int i = 0; i < tasks.length; i++) {
            consumer.post(offsets[i], 128);
            Buf buf = sending.memory.inventory().bufByData(sending.memory.mmap(), 0, lengths[i]);
            tasks[i] = sending.producer.allocateSendTask(buf, 1);
        }

        assertThat(sending.producer.trySubmitAll(tasks, 0, tasks.length)).isEqualTo(1);

        assertThat(sending.producer.inFlightTasks()).isEqualTo(1);
        assertThat(tasks[1].trySubmit()).isEqualTo(Status.CONNECTION_RESET);
        assertThat(consumer.poll()).as("the first message").isPositive();
        assertThat(consumer.length()).isEqualTo(16);
        for (int i = 1; i < tasks.length; i++) {
            consumer.release();
            assertThat(consumer.poll()).as("abandoned: ticket=%d", i).isPositive();
            assertThat(consumer.isAbandoned()).isTrue();
            tasks[i].buf().release();
            tasks[i].free();
        }
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> sending.producer.state() == ContextState.IDLE);
        stillServes();
    }

    /** A producer that waits for buffers is told of any, and finds the violation when it sends. */
    @Test
    void shouldBreakWhenTheIndexThatAProducerWaitsForIsImpossible() {
        join();
        FastPathRing.Geometry geometry = new FastPathRing.Geometry(4);
        SharedSegment ring = memory(geometry.sizeBytes());
        var _ = FastPathRing.consumer(ring.segment(), geometry);
        announceConsumer(ring, memory(4096));
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 8192, 4).run(card);
        assertThat(sending.send(1, new byte[97], NOTHING)).isEqualTo(Status.AGAIN);
        card.settle();
        assertThat(card.dpuEngine.progress()).isFalse();

        ring.segment().set(ValueLayout.JAVA_LONG, POSTED_OFFSET, geometry.slots() + 1L);

        assertThat(card.dpuEngine.progress()).as("buffers, as it seems").isTrue();
        assertThat(rogue.isCutOff()).isFalse();
        assertThat(sending.send(1, new byte[97], NOTHING)).isEqualTo(Status.CONNECTION_RESET);
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> sending.producer.state() == ContextState.IDLE);
        stillServes();
    }

    @Test
    void shouldNotBelieveThatPeerHasImported() {
        join();
        ((EndpointContext<?>) pair.server().endpoint).requireThread();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        card.until("announced", () -> rogue.inbound.poll() >= 0);
        assertThat(rogue.inbound.type()).isEqualTo(MessageType.CONSUMER_NEW.code());
        rogue.write(MessageType.CONSUMER_READY.code(), rogue.inbound.word(), NOTHING);
        card.settle();
        assertThat(receiving.consumer.state()).isEqualTo(ContextState.STARTING);
        rogue.write(MessageType.CONSUMER_READY.code(), rogue.inbound.word(), NOTHING);
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> receiving.consumer.state() == ContextState.IDLE);
        stillServes();
    }

    @Test
    void shouldSurviveImpossibleSlotsOfItsOwnConsumer() throws Exception {
        join();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        ImportedConsumer consumer = importStarted(receiving);
        receiving.post(0, 100);
        consumer.commitMoreThanPosted();
        card.until("cut off", rogue::isCutOff);
        consumer.close();
        card.until("stopped", () -> receiving.consumer.state() == ContextState.IDLE);
        assertThat(receiving.statuses).containsExactly(Status.CONNECTION_RESET);
        assertThat(receiving.consumer.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        stillServes();
    }

    @Test
    void shouldReportAnImpossibleSlotOnceHoweverOftenItIsSeen() throws Exception {
        join();
        ProgressEngine own = card.engine();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), own, 4096, 1);
        receiving.consumer.start();
        ImportedConsumer consumer = importStarted(receiving);
        receiving.post(0, 100);
        consumer.commitMoreThanPosted();

        int moved = 0; // the connection's engine stands still meanwhile
        for (int i = 0; i < 1000; i++) {
            if (own.progress()) {
                moved++;
            }
        }

        assertThat(receiving.consumer.failure()).isNotNull();
        assertThat(moved).as("rounds that had something to report, of 1000").isLessThan(10);
        card.until("cut off", rogue::isCutOff);
        consumer.close();
        card.until("stopped", () -> receiving.consumer.state() == ContextState.IDLE);
        stillServes();
    }

    @Test
    void shouldNotWaitForeverForPeerThatKeepsTheMemory() throws Exception {
        join();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        ImportedConsumer consumer = importStarted(receiving);
        receiving.post(0, 100);
        Peer.limitReplies(receiving.consumer.connection());
        receiving.consumer.stop();
        card.until("idle", () -> receiving.consumer.state() == ContextState.IDLE);
        assertThat(receiving.statuses).containsExactly(Status.SHUTDOWN);
        assertThat(consumer.ring.revoked()).isTrue();
        assertThat(consumer.memory.revoked()).isTrue();
        consumer.close();
    }

    /**
     * In event mode a pass includes only the contexts that had work when the notification was
     * cleared: what comes behind that is found when the next one is requested.
     */
    @Test
    void shouldStopInEventModeAlsoWhenTheMemoryIsReleasedBehindANotification() throws Exception {
        join();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        ImportedConsumer imported = importStarted(receiving);
        receiving.post(0, 100);
        receiving.consumer.stop();
        card.until("the release is awaited", () -> rogue.inbound.poll() >= 0);
        try (LogCapture log = new LogCapture(Context.class.getName())) {
            // The last event that the engine has by itself.
            card.until("warned", () -> !log.with("context does not stop").isEmpty());
        }
        card.settle();

        card.dpuEngine.wake();
        card.dpuEngine.requestNotification();
        takeNotification();
        imported.close();
        Await.until("released", ((ConsumerContext) receiving.consumer)::isReleased);
        while (card.dpuEngine.progress()) {}

        Await.byStep(
                "idle",
                () -> receiving.consumer.state() == ContextState.IDLE,
                () -> {
                    card.dpuEngine.requestNotification();
                    takeNotification();
                    while (card.dpuEngine.progress()) {}
                });
        assertThat(receiving.statuses).containsExactly(Status.SHUTDOWN);
    }

    private void takeNotification() {
        assertThat(card.dpuEngine.awaitNotification(Patience.LIMIT)).as("notified").isTrue();
        card.dpuEngine.clearNotification();
    }

    /** Exports of a consumer of the other side, imported by its peer. */
    private record ImportedConsumer(int slots, ImportedRegion ring, ImportedRegion memory)
            implements AutoCloseable {
        /** Commits a message of 101 bytes to a buffer of 100. */
        void commitMoreThanPosted() {
            FastPathProducer producer =
                    FastPathRing.producer(
                            ring.memory().segment(), new FastPathRing.Geometry(slots));
            producer.commit(producer.claim(1), 101, 1, 0, false);
        }

        @Override
        public void close() {
            ring.close();
            memory.close();
        }
    }

    /** Imports what a consumer announces that has just been started, until it runs. */
    private ImportedConsumer importStarted(Queue.Receiving receiving) throws Exception {
        card.until("announced", () -> rogue.inbound.poll() >= 0);
        byte[] payload =
                rogue.inbound
                        .segment()
                        .asSlice(rogue.inbound.poll(), ConsumerAnnouncement.WIRE_BYTES)
                        .toArray(ValueLayout.JAVA_BYTE);
        ConsumerAnnouncement announced =
                ConsumerAnnouncement.decode(MemorySegment.ofArray(payload), 0, payload.length);
        var ring = rogue.bus.importRegion(announced.ring(), true, true, Patience.NANOS).future();
        var memory =
                rogue.bus.importRegion(announced.memory(), true, true, Patience.NANOS).future();
        card.until("imported", () -> ring.isDone() && memory.isDone());
        rogue.write(MessageType.CONSUMER_READY.code(), rogue.inbound.word(), NOTHING);
        card.until("runs", () -> receiving.consumer.state() == ContextState.RUNNING);
        return new ImportedConsumer(announced.slots(), ring.get(), memory.get());
    }

    private void announce(int id, ConsumerAnnouncement announcement) {
        byte[] payload = new byte[ConsumerAnnouncement.WIRE_BYTES];
        announcement.encode(MemorySegment.ofArray(payload), 0);
        rogue.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(id), payload);
    }

    /** Announces consumer 1, with a ring of four slots, until the server knows it. */
    private void announceConsumer(SharedSegment ring, SharedSegment memory) {
        announce(
                1,
                new ConsumerAnnouncement(
                        4,
                        rogue.bus.export(ring, true, null).address(),
                        rogue.bus.export(memory, true, null).address()));
        card.until("known", () -> pair.server().consumers.contains(1));
    }

    private SharedSegment memory(long sizeBytes) {
        SharedSegment memory = SharedSegment.allocate("rogue", sizeBytes);
        card.keep(memory::release);
        return memory;
    }
}
