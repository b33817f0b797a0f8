package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.ConsumerAnnouncement;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.FastPathConsumer;
import io.softdpu.fabric.ring.FastPathProducer;
import io.softdpu.fabric.ring.FastPathRing;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.ProcessView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Protocol violations of a client end its own connection only. */
class HostilePeerTest {
    private static final byte[] NOTHING = {};
    private static final long FAR = 1L << 40;

    @TempDir Path folder;
    private Card card;
    private Card.Pair pair;
    private RogueClient rogue;

    @BeforeEach
    void open() {
        card = new Card(folder);
        pair = card.pair();
        rogue = new RogueClient(card);
    }

    @AfterEach
    void close() throws Exception {
        rogue.close();
        card.close();
    }

    @Clause({"cc-038", "cc-039"})
    @Test
    void shouldRefuseHelloThatDoesNotFit() {
        refuses(NOTHING, Status.INVALID_VALUE);
        refuses(Arrays.copyOf(RogueClient.hello(), 20), Status.INVALID_VALUE);
        byte[] version = RogueClient.hello();
        version[4] = 9;
        refuses(version, Status.UNSUPPORTED_VERSION);
        for (String name :
                new String[] {"test serves", "test serve", "test servers", "Test server"}) {
            refuses(new Hello(RogueClient.TERMS, "host/pf0", name).toBytes(), Status.NOT_PERMITTED);
        }
        refuses(
                new Hello(RogueClient.TERMS, "host/pf1", Card.NAME).toBytes(),
                Status.NOT_PERMITTED);
        refuses(
                new Hello(ChannelTerms.of(4079, 64), "host/pf0", Card.NAME).toBytes(),
                Status.INVALID_VALUE);
        // More slots than the memory that came along has room for.
        refuses(
                new Hello(ChannelTerms.of(4080, 1024), "host/pf0", Card.NAME).toBytes(),
                Status.INVALID_VALUE);
        stillServes();
    }

    @Test
    void shouldAllocateNothingForClientThatCannotBeTaken() throws Exception {
        card.settle();
        long before = ringsOfThisProcess();
        refusesWithoutRing(
                new Hello(RogueClient.TERMS, "host/pf0", "test serves"),
                Status.NOT_PERMITTED,
                before);
        refusesWithoutRing(
                new Hello(RogueClient.TERMS, "host/pf1", Card.NAME), Status.NOT_PERMITTED, before);
        refusesWithoutRing(
                new Hello(ChannelTerms.of(4079, 64), "host/pf0", Card.NAME),
                Status.INVALID_VALUE,
                before);
        refusesWithoutRing(
                new Hello(ChannelTerms.of(4080, 1024), "host/pf0", Card.NAME),
                Status.INVALID_VALUE,
                before);
        stillServes();
    }

    /** Checks while the client waits for the server's engine, which has not been progressed yet. */
    private void refusesWithoutRing(Hello hello, Status status, long rings) throws Exception {
        var answer = rogue.begin(hello.toBytes());
        ComchServer server = (ComchServer) pair.server().endpoint;
        Await.until(
                "the client waits for the decision",
                Duration.ofNanos(Card.DEADLINE_NANOS),
                () -> ((ServerContext) server).pendingClients() == 1);

        assertThat(ringsOfThisProcess()).as("rings for " + hello).isEqualTo(rings);

        card.until("server answers", answer::isDone);
        assertThat(answer)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(FabricException.class)
                .satisfies(e ->
                        assertThat(((FabricException) e.getCause()).refusalCode())
                                .isEqualTo(status.code()));
        card.settle();
    }

    private static long ringsOfThisProcess() {
        return ProcessView.self().descriptors().stream()
                .filter(target -> target.contains("softdpu-comch-queue"))
                .count();
    }

    @Test
    void shouldBreakOverUnknownMessageType() {
        breaksOver(r -> r.write(99, 0, NOTHING));
        breaksOver(r -> r.write(0, 0, NOTHING));
        breaksOver(r -> r.write(-1, 0, NOTHING));
    }

    @Test
    void shouldBreakOverIllegalDataMessage() {
        breaksOver(r -> r.write(MessageType.DATA.code(), 1, new byte[4]));
    }

    @Test
    void shouldBreakOverLengthBeyondTheSlot() {
        breaksOver(r -> {
            r.write(MessageType.DATA.code(), 0, new byte[4]);
            r.pokeServerRing(1024, Integer.MAX_VALUE);
        });
        breaksOver(r -> {
            r.write(MessageType.DATA.code(), 0, new byte[4]);
            r.pokeServerRing(1024, 0xffff_ffffL);
        });
    }

    @Test
    void shouldBreakOverIndexOutOfRange() {
        breaksOver(r -> r.pokeProduced(FAR));
        breaksOver(r -> r.pokeProduced(-1));
        breaksOver(r -> r.pokeProduced(Long.MIN_VALUE));
    }

    @Test
    void shouldBreakOverReleaseOfWhatWasNeverSent() {
        join();
        ComchConnection connection = pair.server().connection;
        ComchSendTask task = pair.server().endpoint.allocateSendTask(connection);
        task.setMessage(new byte[] {1});
        task.submit();
        rogue.pokeConsumed(FAR);
        card.until("cut off", rogue::isCutOff);
        assertThat(pair.server().sends).containsExactly(Status.CONNECTION_RESET);
        assertThat(connection.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        stillServes();
    }

    @Test
    void shouldBreakOverIllegalControlMessages() {
        // Ids of the wrong side, unknown or not rising ids; replies without an announcement.
        breaksOver(r -> r.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(2), new byte[168]));
        breaksOver(r -> r.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(0), new byte[168]));
        breaksOver(
                r -> r.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(-1), new byte[168]));
        breaksOver(r -> r.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(1), new byte[167]));
        breaksOver(r -> r.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(1), NOTHING));
        breaksOver(r -> r.write(MessageType.CONSUMER_READY.code(), ControlWord.of(2), NOTHING));
        breaksOver(
                r -> r.write(MessageType.CONSUMER_REFUSED.code(), ControlWord.of(2, 3), NOTHING));
        breaksOver(r -> r.write(MessageType.CONSUMER_EXPIRED.code(), ControlWord.of(1), NOTHING));
        breaksOver(
                r -> r.write(MessageType.CONSUMER_EXPIRED.code(), ControlWord.of(1), new byte[1]));
        breaksOver(r -> r.write(MessageType.DISCONNECT.code(), 7, NOTHING));
        breaksOver(r -> {
            r.write(MessageType.DISCONNECT.code(), 0, NOTHING);
            r.write(MessageType.DATA.code(), 0, NOTHING);
        });
    }

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
            card.settle();
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
        announce(
                1,
                new ConsumerAnnouncement(
                        4,
                        rogue.bus.export(ring, true, null).address(),
                        rogue.bus.export(small, true, null).address()));
        card.until("known", () -> pair.server().consumers.contains(1));
        Queue.Sending sending = new Queue.Sending(pair.server(), card.dpuEngine, 8192, 4).run(card);
        consumer.post(4000, 1 << 20); // the room reaches beyond the end of the memory
        assertThat(sending.send(1, new byte[97], NOTHING)).isEqualTo(Status.CONNECTION_RESET);
        card.until("cut off", rogue::isCutOff);
        card.until("stopped", () -> sending.producer.state() == ContextState.IDLE);
        assertThat(small.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        stillServes();
    }

    @Test
    void shouldNotBelieveThatPeerHasImported() {
        join();
        ((EndpointContext) pair.server().endpoint).requireThread();
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
        Peer.stop(card, pair.client().endpoint);
        Peer.stop(card, pair.server().endpoint);
        // Within it the peer takes the consumer in; then it keeps the memory until it is over.
        pair.server().endpoint.setControlTimeout(2_000_000_000L);
        pair.server().endpoint.start();
        join();
        Queue.Receiving receiving = new Queue.Receiving(pair.server(), card.dpuEngine, 4096, 1);
        receiving.consumer.start();
        ImportedConsumer consumer = importStarted(receiving);
        receiving.post(0, 100);
        receiving.consumer.stop();
        card.until("idle", () -> receiving.consumer.state() == ContextState.IDLE);
        assertThat(receiving.statuses).containsExactly(Status.SHUTDOWN);
        assertThat(consumer.ring.revoked()).isTrue();
        assertThat(consumer.memory.revoked()).isTrue();
        consumer.close();
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
        var ring = rogue.bus.importRegion(announced.ring(), true, true, 5_000_000_000L);
        var memory = rogue.bus.importRegion(announced.memory(), true, true, 5_000_000_000L);
        card.until("imported", () -> ring.isDone() && memory.isDone());
        rogue.write(MessageType.CONSUMER_READY.code(), rogue.inbound.word(), NOTHING);
        card.until("runs", () -> receiving.consumer.state() == ContextState.RUNNING);
        return new ImportedConsumer(announced.slots(), ring.get(), memory.get());
    }

    private void refuses(byte[] hello, Status status) {
        FabricException refusal = rogue.tryConnect(hello);
        assertThat(refusal).isNotNull();
        assertThat(refusal.kind()).isEqualTo(FabricException.Kind.REFUSED);
        assertThat(refusal.refusalCode()).isEqualTo(status.code());
    }

    private void join() {
        assertThat(rogue.tryConnect(RogueClient.hello())).isNull();
        card.settle();
    }

    /** Connects, violates the protocol, and is disconnected. */
    private void breaksOver(Consumer<RogueClient> crime) {
        int before = pair.server().events.size();
        join();
        crime.accept(rogue);
        card.until("cut off", rogue::isCutOff);
        assertThat(pair.server().events.subList(before, before + 2))
                .containsExactly("connected true", "disconnected false");
        assertThat(pair.server().connection.failure().status()).isEqualTo(Status.CONNECTION_RESET);
        rogue.close();
        rogue = new RogueClient(card);
        stillServes();
    }

    private void stillServes() {
        assertThat(pair.server().endpoint.state()).isEqualTo(ContextState.RUNNING);
        if (pair.client().endpoint.state() == ContextState.RUNNING) {
            int before = pair.server().messages.size();
            pair.client().send("still here");
            card.until("served", () -> pair.server().messages.size() == before + 1);
        }
    }

    private void announce(int id, ConsumerAnnouncement announcement) {
        byte[] payload = new byte[ConsumerAnnouncement.WIRE_BYTES];
        announcement.encode(MemorySegment.ofArray(payload), 0);
        rogue.write(MessageType.CONSUMER_NEW.code(), ControlWord.of(id), payload);
    }

    private SharedSegment memory(long sizeBytes) {
        SharedSegment memory = SharedSegment.allocate("rogue", sizeBytes);
        card.keep(memory::release);
        return memory;
    }
}
