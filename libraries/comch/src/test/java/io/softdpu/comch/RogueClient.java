package io.softdpu.comch;

import io.softdpu.comch.wire.ChannelTerms;
import io.softdpu.comch.wire.Hello;
import io.softdpu.comch.wire.Welcome;
import io.softdpu.core.device.Topology;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** Client on the bare bus, which sends and writes arbitrary bytes. */
final class RogueClient implements AutoCloseable {
    static final ChannelTerms TERMS = ChannelTerms.of(4080, 64);
    private static final long CONSUMED_OFFSET = 256;

    private final Card card;
    final Bus bus;
    final SharedSegment inboundMemory;
    final MessageRing.Consumer inbound;
    Attachment attachment;
    MessageRing.Producer outbound;

    RogueClient(Card card) {
        this.card = card;
        this.bus =
                Bus.open(
                        new Bus.Config(
                                card.dpu.fabricFolder(),
                                Topology.builtin().sha256(),
                                Topology.builtin().name(),
                                Patience.NANOS,
                                1L << 30,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        this.inboundMemory = SharedSegment.allocate("rogue", TERMS.ring().sizeBytes());
        this.inbound = MessageRing.consumer(inboundMemory.segment(), TERMS.ring());
    }

    static byte[] hello() {
        return new Hello(TERMS, "host/pf0", Card.NAME).toBytes();
    }

    /** Begins to connect with this payload. */
    CompletableFuture<Attachment> begin(byte[] hello) {
        String name = ChannelName.ofServer(card.p0.info(), card.hpf0.info().function(), Card.NAME);
        return bus.connect(name, hello, inboundMemory, Patience.NANOS).future();
    }

    /** Connects with this payload; the refusal if the server refuses. */
    FabricException tryConnect(byte[] hello) {
        CompletableFuture<Attachment> answer = begin(hello);
        card.until("server answers", answer::isDone);
        try {
            attachment = answer.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return (FabricException) e.getCause();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
        ChannelTerms theirs = Welcome.decode(attachment.payload()).terms();
        outbound = MessageRing.producer(attachment.remote().segment(), theirs.ring());
        return null;
    }

    /** Writes a message of any type into the server's ring. */
    void write(int type, long word, byte[] payload) {
        long room = outbound.claim();
        MemorySegment.copy(
                payload, 0, outbound.segment(), ValueLayout.JAVA_BYTE, room, payload.length);
        outbound.commit(type, payload.length, word);
    }

    /** Overwrites the length in the header of the message that was written last. */
    void pokeServerRing(long offset, long value) {
        attachment.remote().segment().set(ValueLayout.JAVA_LONG, offset, value);
    }

    /** Claims to have released messages that the server never sent. */
    void pokeConsumed(long value) {
        inboundMemory.segment().set(ValueLayout.JAVA_LONG, CONSUMED_OFFSET, value);
    }

    boolean isCutOff() {
        return attachment.link().peerGone();
    }

    @Override
    public void close() {
        if (attachment != null) {
            attachment.link().close();
            attachment.remote().release();
        }
        inboundMemory.release();
        bus.close();
    }
}
