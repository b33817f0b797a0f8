package io.softdpu.fabric.handshake;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.link.Link;
import io.softdpu.fabric.memory.DescriptorCheck;
import io.softdpu.fabric.memory.ExaminedMemory;
import io.softdpu.fabric.memory.PeerMapping;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.ReceivedMessage;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks of the replies to HELLO (Welcome) and LEASE (Grant), which take over their descriptors.
 * Nothing is mapped here. On the bus thread.
 */
final class HandshakeReplies {
    private HandshakeReplies() {}

    /** Checks an endpoint's reply to a HELLO. */
    static Import.Granted<Attachment> welcome(
            Handshakes handshakes, OutgoingHandshake.Reply reply) {
        if (!(reply.frame() instanceof Frame.Welcome(long memoryBytes, byte[] payload))) {
            throw unexpected(reply.frame(), "Welcome");
        }
        ReceivedMessage message = reply.message();
        requireDescriptors(message, 1);
        long allocatedBytes =
                DescriptorCheck.verify(
                        message.descriptor(0), memoryBytes, handshakes.maxJoiningBytes());
        Link link = Link.open(handshakes.threads(), reply.socket(), reply.peer());
        return new Import.Granted<>(
                link,
                List.of(
                        new ExaminedMemory(
                                message.takeDescriptor(0), memoryBytes, true, allocatedBytes)),
                List.of(),
                memory -> new Attachment(link, memory.getFirst(), payload),
                attachment -> attachment.close(handshakes.threads()));
    }

    /**
     * Checks an exporter's reply to a LEASE.
     *
     * @param map whether the memory is to be mapped; the generation pages always are
     */
    static Import.Granted<ImportedRegion> grant(
            Handshakes handshakes,
            RegionAddress region,
            boolean writable,
            boolean map,
            OutgoingHandshake.Reply reply) {
        if (!(reply.frame() instanceof Frame.Grant grant)) {
            throw unexpected(reply.frame(), "Grant");
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
        ReceivedMessage message = reply.message();
        requireDescriptors(message, 1 + pages);
        long allocatedBytes =
                DescriptorCheck.verify(
                        message.descriptor(0), region.sizeBytes(), handshakes.maxImportBytes());
        long[] allocatedOfPages = new long[pages];
        for (int i = 0; i < pages; i++) {
            allocatedOfPages[i] =
                    DescriptorCheck.verify(message.descriptor(1 + i), pageBytes, pageBytes);
        }
        Link link = Link.open(handshakes.threads(), reply.socket(), reply.peer());
        List<ExaminedMemory> parts = new ArrayList<>();
        for (int i = 0; i < pages; i++) {
            parts.add(
                    new ExaminedMemory(
                            message.takeDescriptor(1 + i), pageBytes, false, allocatedOfPages[i]));
        }
        int memory = message.takeDescriptor(0);
        if (map) {
            parts.add(new ExaminedMemory(memory, region.sizeBytes(), writable, allocatedBytes));
        }
        return new Import.Granted<>(
                link,
                parts,
                map ? List.of() : List.of(memory),
                mapped ->
                        new ImportedRegion(
                                handshakes.threads(),
                                region.busId(),
                                link,
                                writable,
                                region.sizeBytes(),
                                memory,
                                map ? mapped.getLast() : null,
                                (descriptor, gone) ->
                                        PeerMapping.begin(
                                                handshakes.threads(),
                                                handshakes.mappedBytes(),
                                                link.peerPid(),
                                                new ExaminedMemory(
                                                        descriptor,
                                                        region.sizeBytes(),
                                                        writable,
                                                        allocatedBytes),
                                                gone),
                                mapped.subList(0, pages),
                                grant.generations()),
                ImportedRegion::close);
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
