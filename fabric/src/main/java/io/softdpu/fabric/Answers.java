package io.softdpu.fabric;

import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.LinuxException;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.PeerCredentials;
import io.softdpu.linux.ReceivedMessage;
import java.util.ArrayList;
import java.util.List;

/** What the two requests of a client make of their answers. On the bus thread. */
final class Answers {
    private Answers() {}

    /** An endpoint's answer to a HELLO. */
    static final class Welcomes implements OutgoingHandshake.Answer<Attachment> {
        private final Bus bus;

        Welcomes(Bus bus) {
            this.bus = bus;
        }

        @Override
        public Attachment take(
                Frame frame, ReceivedMessage message, int socket, PeerCredentials peer) {
            if (!(frame instanceof Frame.Welcome(long memoryBytes, byte[] payload))) {
                throw unexpected(frame, "Welcome");
            }
            requireDescriptors(message, 1);
            int memory = DescriptorCheck.take(message, 0, memoryBytes, bus.maxJoiningBytes());
            SharedSegment remote = SharedSegment.adopt(memory, memoryBytes, true);
            try {
                return new Attachment(bus.newLink(socket, peer), remote, payload);
            } catch (RuntimeException e) {
                remote.release();
                throw e;
            }
        }

        @Override
        public void discard(Attachment unwanted) {
            unwanted.remote().release();
            unwanted.link().close();
        }
    }

    /** An exporter's answer to a LEASE; the memory is not mapped yet. */
    static final class Grants implements OutgoingHandshake.Answer<ImportedRegion> {
        private final Bus bus;
        private final RegionAddress region;
        private final boolean writable;

        Grants(Bus bus, RegionAddress region, boolean writable) {
            this.bus = bus;
            this.region = region;
            this.writable = writable;
        }

        @Override
        public ImportedRegion take(
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
            requireDescriptors(message, 1 + grant.generations().length);
            List<GenerationPage> pages = new ArrayList<>();
            int memory = DescriptorCheck.take(message, 0, region.sizeBytes(), bus.maxImportBytes());
            try {
                for (int i = 0; i < grant.generations().length; i++) {
                    long size = MemoryMapping.pageSize();
                    int page = DescriptorCheck.take(message, 1 + i, size, size);
                    pages.add(GenerationPage.adopt(page, grant.generations()[i]));
                }
                return new ImportedRegion(
                        region.busId(),
                        bus.newLink(socket, peer),
                        writable,
                        region.sizeBytes(),
                        memory,
                        pages.toArray(GenerationPage[]::new));
            } catch (RuntimeException e) {
                pages.forEach(GenerationPage::release);
                FileDescriptors.close(memory);
                throw e;
            }
        }

        @Override
        public void discard(ImportedRegion unwanted) {
            unwanted.close();
        }
    }

    /** What the caller of the bus sees in place of an error of the system. */
    static RuntimeException translated(RuntimeException e) {
        return e instanceof LinuxException
                ? new FabricException(
                        FabricException.Kind.SYSTEM, "cannot import: " + e.getMessage(), e)
                : e;
    }

    private static void requireDescriptors(ReceivedMessage message, int expected) {
        if (message.descriptors() != expected) {
            throw new FabricException(
                    FabricException.Kind.MALFORMED,
                    "answer refused: descriptors="
                            + message.descriptors()
                            + ", expected="
                            + expected);
        }
    }

    private static FabricException unexpected(Frame frame, String expected) {
        return new FabricException(
                FabricException.Kind.MALFORMED,
                "answer refused: frame="
                        + frame.getClass().getSimpleName()
                        + ", expected="
                        + expected);
    }
}
