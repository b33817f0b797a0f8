package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.DescriptorCheck;
import io.softdpu.fabric.memory.ExaminedMemory;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.ReceivedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Handlers of the replies to HELLO (Welcome) and LEASE (Grant): validate the reply and take over
 * its descriptors. Nothing is mapped here. On the bus thread.
 */
final class HandshakeReplies {
    private HandshakeReplies() {}

    /** Handles an endpoint's reply to a HELLO. */
    static final class Welcomes
            implements OutgoingHandshake.Reply<MappedReply.Checked<Attachment>> {
        private final Handshakes handshakes;

        Welcomes(Handshakes handshakes) {
            this.handshakes = handshakes;
        }

        @Override
        public MappedReply.Checked<Attachment> take(
                Frame frame, ReceivedMessage message, int socket, PeerCredentials peer) {
            if (!(frame instanceof Frame.Welcome(long memoryBytes, byte[] payload))) {
                throw unexpected(frame, "Welcome");
            }
            requireDescriptors(message, 1);
            long allocatedBytes =
                    DescriptorCheck.verify(
                            message.descriptor(0), memoryBytes, handshakes.maxJoiningBytes());
            Link link = Link.open(handshakes.threads(), socket, peer);
            return new MappedReply.Checked<>(
                    link,
                    List.of(
                            new ExaminedMemory(
                                    message.takeDescriptor(0), memoryBytes, true, allocatedBytes)),
                    List.of(),
                    memory -> new Attachment(link, memory.getFirst(), payload),
                    unwanted -> unwanted.close(handshakes.threads()));
        }

        @Override
        public void discard(MappedReply.Checked<Attachment> unwanted) {
            unwanted.discard(handshakes.threads());
        }
    }

    /** Handles an exporter's reply to a LEASE. */
    static final class Grants
            implements OutgoingHandshake.Reply<MappedReply.Checked<ImportedRegion>> {
        private final Handshakes handshakes;
        private final RegionAddress region;
        private final boolean writable;
        private final boolean map;

        /**
         * Expects the grant of a region.
         *
         * @param map whether the memory is to be mapped; the generation pages always are
         */
        Grants(Handshakes handshakes, RegionAddress region, boolean writable, boolean map) {
            this.handshakes = handshakes;
            this.region = region;
            this.writable = writable;
            this.map = map;
        }

        @Override
        public MappedReply.Checked<ImportedRegion> take(
                Frame frame, ReceivedMessage message, int socket, PeerCredentials peer) {
            if (!(frame instanceof Frame.Grant grant)) {
                throw unexpected(frame, "Grant");
            }
            if (grant.sizeBytes() != region.sizeBytes() || (writable && !grant.writable())) {
                throw new FabricException(
                        FabricException.Kind.MALFORMED,
                        "grant differs from the address: sizeBytes="
                                + grant.sizeBytes()
                                + ", expected="
                                + region.sizeBytes()
                                + ", writable="
                                + grant.writable());
            }
            int pages = grant.generations().length;
            long pageBytes = MemoryMapping.pageSize();
            requireDescriptors(message, 1 + pages);
            long allocatedBytes =
                    DescriptorCheck.verify(
                            message.descriptor(0), region.sizeBytes(), handshakes.maxImportBytes());
            long[] allocatedOfPages = new long[pages];
            for (int i = 0; i < pages; i++) {
                allocatedOfPages[i] =
                        DescriptorCheck.verify(message.descriptor(1 + i), pageBytes, pageBytes);
            }
            Link link = Link.open(handshakes.threads(), socket, peer);
            List<ExaminedMemory> parts = new ArrayList<>();
            for (int i = 0; i < pages; i++) {
                parts.add(
                        new ExaminedMemory(
                                message.takeDescriptor(1 + i),
                                pageBytes,
                                false,
                                allocatedOfPages[i]));
            }
            int memory = message.takeDescriptor(0);
            if (map) {
                parts.add(new ExaminedMemory(memory, region.sizeBytes(), writable, allocatedBytes));
            }
            return new MappedReply.Checked<>(
                    link,
                    parts,
                    map ? List.of() : List.of(memory),
                    mapped -> imported(link, memory, grant.generations(), mapped),
                    ImportedRegion::close);
        }

        private ImportedRegion imported(
                Link link, int descriptor, long[] generations, List<SharedSegment> mapped) {
            return new ImportedRegion(
                    handshakes.threads(),
                    region.busId(),
                    link,
                    writable,
                    region.sizeBytes(),
                    descriptor,
                    map ? mapped.getLast() : null,
                    mapped.subList(0, generations.length),
                    generations);
        }

        @Override
        public void discard(MappedReply.Checked<ImportedRegion> unwanted) {
            unwanted.discard(handshakes.threads());
        }
    }

    private static void requireDescriptors(ReceivedMessage message, int expected) {
        if (message.descriptors() != expected) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "reply refused: descriptors="
                            + message.descriptors()
                            + ", expected="
                            + expected);
        }
    }

    private static FabricException unexpected(Frame frame, String expected) {
        return new FabricException(
                FabricException.Kind.MALFORMED,
                "reply refused: frame="
                        + frame.getClass().getSimpleName()
                        + ", expected="
                        + expected);
    }
}
