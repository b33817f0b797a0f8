package io.softdpu.rdma.shm;

import io.softdpu.core.device.Device;
import io.softdpu.core.spi.BusServices;
import io.softdpu.fabric.Bus;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ExportedRegion;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.ring.MessageRing;
import io.softdpu.rdma.spi.RnrTimer;
import io.softdpu.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * Peer that implements the wire protocol directly, and so can violate it: it has the victim's blob,
 * a region of its own, and raw access to both rings.
 */
final class HostilePeer implements AutoCloseable {
    private static final int DETAILS_OFFSET = 40;
    private static final int CHECK_OFFSET = 12;
    private static final MessageRing.Geometry GEOMETRY = ShmConnection.GEOMETRY;

    final ShmDetails victim;
    final ShmDetails.Key key = new ShmDetails.Key(0x1111, 0x2222);
    final SharedSegment memory =
            SharedSegment.allocate("hostile", ShmDetails.regionBytes(GEOMETRY));
    final MessageRing.Consumer inbound;
    private final Bus bus;
    private final ExportedRegion exported;
    private ImportedRegion ring;
    private MessageRing.Producer outbound;
    private boolean closed;

    HostilePeer(Device device, byte[] victimBlob) {
        victim =
                ShmDetails.decode(
                        Arrays.copyOfRange(victimBlob, DETAILS_OFFSET, victimBlob.length));
        bus = BusServices.bus(device);
        inbound =
                MessageRing.consumer(
                        memory.segment().asSlice(ShmWire.RING_OFFSET, GEOMETRY.sizeBytes()),
                        GEOMETRY);
        exported = bus.export(memory, true, null);
    }

    /** A blob that makes the victim connect to this peer's region. */
    byte[] blob() {
        byte[] details =
                new ShmDetails(GEOMETRY, key, exported.address(), 256, RnrTimer.atLeast(1))
                        .encode();
        ByteBuffer bytes =
                ByteBuffer.allocate(DETAILS_OFFSET + details.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0x43445253).putShort((short) 2).putShort((short) 1);
        bytes.putInt(6).putInt(0);
        bytes.putShort((short) 1).putShort((short) 0).putInt(details.length);
        bytes.put(new byte[] {'s', 'h', 'm'}).position(DETAILS_OFFSET);
        bytes.put(details);
        return putCheck(bytes.array());
    }

    /** Corrects the checksum of a connection blob. */
    static byte[] putCheck(byte[] blob) {
        ByteBuffer bytes = ByteBuffer.wrap(blob).order(ByteOrder.LITTLE_ENDIAN);
        CRC32C check = new CRC32C();
        bytes.putInt(CHECK_OFFSET, 0);
        check.update(blob);
        bytes.putInt(CHECK_OFFSET, (int) check.getValue());
        return blob;
    }

    /** Publishes how many messages the victim may send. */
    HostilePeer receiveLimit(long messages) {
        memory.segment().set(ValueLayout.JAVA_LONG, ShmWire.RECEIVE_LIMIT_OFFSET, messages);
        return this;
    }

    /** Takes a lease of the victim's ring and maps it. */
    HostilePeer lease() throws Exception {
        ring =
                bus.importRegion(victim.region(), true, true, Patience.NANOS)
                        .future()
                        .get(Patience.SECONDS, TimeUnit.SECONDS);
        outbound =
                MessageRing.producer(
                        victimMemory().asSlice(ShmWire.RING_OFFSET, GEOMETRY.sizeBytes()),
                        GEOMETRY);
        return this;
    }

    /** The victim's whole region. */
    MemorySegment victimMemory() {
        return Objects.requireNonNull(ring.memory()).segment();
    }

    /** Sends the correct hello. */
    HostilePeer hello() {
        return hello(ShmWire.HELLO_VERSION, victim.key(), key);
    }

    HostilePeer hello(int version, ShmDetails.Key receiver, ShmDetails.Key sender) {
        long at = outbound.claim();
        outbound.segment().set(ValueLayout.JAVA_INT, at, version);
        outbound.segment().set(ValueLayout.JAVA_INT, at + 4, 0);
        receiver.encode(outbound.segment(), at + ShmWire.HELLO_RECEIVER_KEY_OFFSET);
        sender.encode(outbound.segment(), at + ShmWire.HELLO_SENDER_KEY_OFFSET);
        outbound.commit(ShmWire.OPCODE_HELLO, ShmWire.HELLO_BYTES, 0);
        return this;
    }

    /** Sends any message; its payload is the content of the slot. */
    void message(int type, int lengthBytes, long word) {
        if (outbound.claim() < 0) {
            throw new IllegalStateException("ring is full");
        }
        outbound.commit(type, lengthBytes, word);
    }

    /** The victim's status word. */
    int victimStatus() {
        return outbound.status();
    }

    /** Number of messages that the victim has released. */
    long consumedByVictim() {
        return victimMemory().get(ValueLayout.JAVA_LONG, ShmWire.RING_OFFSET + 256);
    }

    /** Writes a word of the victim's ring. */
    void pokeVictimRing(long offset, long value) {
        victimMemory().set(ValueLayout.JAVA_LONG, ShmWire.RING_OFFSET + offset, value);
    }

    /** Writes a word of the header of this peer's own ring. */
    void pokeOwnRing(long offset, long value) {
        memory.segment().set(ValueLayout.JAVA_LONG, ShmWire.RING_OFFSET + offset, value);
    }

    /** Ends without a word; idempotent. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (ring != null) {
            ring.close();
        }
        exported.close();
        memory.release();
    }
}
