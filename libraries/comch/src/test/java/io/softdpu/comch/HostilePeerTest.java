package io.softdpu.comch;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.ControlWord;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.MessageType;
import io.softdpu.core.Status;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.ProcessView;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Violations of the handshake and of messages: they end the client's own connection only. */
class HostilePeerTest extends RogueClientFixture {
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

    private void refuses(byte[] hello, Status status) {
        FabricException refusal = rogue.tryConnect(hello);
        assertThat(refusal).isNotNull();
        assertThat(refusal.kind()).isEqualTo(FabricException.Kind.REFUSED);
        assertThat(refusal.refusalCode()).isEqualTo(status.code());
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
}
