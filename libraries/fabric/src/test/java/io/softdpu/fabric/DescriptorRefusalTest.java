package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.fabric.error.FabricException;
import io.softdpu.fabric.error.RefuseCode;
import io.softdpu.fabric.folder.FabricFolder;
import io.softdpu.fabric.handshake.Attachment;
import io.softdpu.fabric.handshake.Endpoint;
import io.softdpu.fabric.handshake.PendingLink;
import io.softdpu.fabric.memory.DescriptorCheck;
import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.fabric.region.ImportedRegion;
import io.softdpu.fabric.wire.Frame;
import io.softdpu.fabric.wire.RegionAddress;
import io.softdpu.linux.FileDescriptors;
import io.softdpu.linux.Memfd;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.text.Text;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.Soak;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Peers that send other descriptors than sealed memory of the declared size, wherever the bus
 * receives a descriptor: each is refused before it is mapped, and nothing of it stays.
 */
final class DescriptorRefusalTest {

    /** Also the size of a huge page, so that one of those is of the right size. */
    private static final long SIZE_BYTES = 2 << 20;

    private static final RegionAddress.Id HOSTILE_BUS = new RegionAddress.Id(13, 666);

    @TempDir Path folder;

    private Bus bus;
    private final List<PendingLink> arrived = new ArrayList<>();

    @BeforeEach
    void openBus() {
        bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("fabric"),
                                new byte[32],
                                "t",
                                Patience.NANOS,
                                8 << 20,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
        bus.listen("victim", arrived::add);
    }

    @AfterEach
    void closeBus() {
        bus.close();
    }

    /** A place where a descriptor comes in. */
    enum Way {
        /** A client's inbound memory. */
        HELLO {
            @Override
            void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors) {
                try (HostilePeer client = HostilePeer.connect(test.bus, "victim")) {
                    client.send(new Frame.Hello(declaredBytes, new byte[0]), descriptors);
                    Frame answer = client.receive();
                    client.awaitEnd();
                    assertThat(test.arrived).isEmpty();
                    assertThat(answer).isInstanceOf(Frame.Refuse.class);
                    Frame.Refuse refuse = (Frame.Refuse) answer;
                    throw FabricException.refused(refuse.code(), refuse.text());
                }
            }
        },

        /** A server's inbound memory. */
        WELCOME {
            @Override
            void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors)
                    throws Throwable {
                SharedSegment own = SharedSegment.allocate("own", 4096);
                try (HostilePeer server = HostilePeer.serve(test.bus, "hostile")) {
                    CompletableFuture<Attachment> connecting =
                            test.bus.connect("hostile", new byte[0], own, Patience.NANOS).future();
                    server.accept();
                    assertThat(server.receive()).isInstanceOf(Frame.Hello.class);
                    server.send(new Frame.Welcome(declaredBytes, new byte[0]), descriptors);
                    failureOf(connecting);
                } finally {
                    own.release();
                    test.unserve("hostile");
                }
            }
        },

        /** A region's memory, mapped by the importer. */
        GRANT_TO_MAP {
            @Override
            void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors)
                    throws Throwable {
                int page = BadDescriptor.good(MemoryMapping.pageSize());
                try {
                    test.importFrom(declaredBytes, true, followedBy(descriptors, page));
                } finally {
                    FileDescriptors.close(page);
                }
            }
        },

        /** A region's memory that is only to be passed on: others must be able to rely on it. */
        GRANT_TO_PASS_ON {
            @Override
            void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors)
                    throws Throwable {
                int page = BadDescriptor.good(MemoryMapping.pageSize());
                try {
                    test.importFrom(declaredBytes, false, followedBy(descriptors, page));
                } finally {
                    FileDescriptors.close(page);
                }
            }
        },

        /** The page that tells of a revocation; its size is not declared but known. */
        GENERATION_PAGE {
            @Override
            void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors)
                    throws Throwable {
                int memory = BadDescriptor.good(SIZE_BYTES);
                try {
                    int[] both = new int[descriptors.length + 1];
                    both[0] = memory;
                    System.arraycopy(descriptors, 0, both, 1, descriptors.length);
                    test.importFrom(SIZE_BYTES, true, both);
                } finally {
                    FileDescriptors.close(memory);
                }
            }

            @Override
            long declaredBytes() {
                return MemoryMapping.pageSize();
            }
        };

        long declaredBytes() {
            return SIZE_BYTES;
        }

        /** Plays the peer; throws the victim's refusal. */
        abstract void attempt(DescriptorRefusalTest test, long declaredBytes, int... descriptors)
                throws Throwable;

        private static int[] followedBy(int[] descriptors, int last) {
            int[] all = java.util.Arrays.copyOf(descriptors, descriptors.length + 1);
            all[descriptors.length] = last;
            return all;
        }
    }

    private void importFrom(long declaredBytes, boolean map, int... descriptors) throws Throwable {
        RegionAddress address =
                new RegionAddress(
                        bus.bootId(),
                        bus.fabricId(),
                        HOSTILE_BUS,
                        1,
                        new RegionAddress.Id(1, 2),
                        declaredBytes);
        String name = HostilePeer.exporterName(HOSTILE_BUS);
        try (HostilePeer exporter = HostilePeer.serve(bus, name)) {
            CompletableFuture<ImportedRegion> importing =
                    bus.importRegion(address, true, map, Patience.NANOS).future();
            exporter.accept();
            assertThat(exporter.receive()).isInstanceOf(Frame.Lease.class);
            exporter.send(new Frame.Grant(declaredBytes, true, new long[] {1}), descriptors);
            failureOf(importing);
        } finally {
            unserve(name);
        }
    }

    private static void failureOf(CompletableFuture<?> future) throws Throwable {
        try {
            future.get(Patience.SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause();
        }
    }

    private void unserve(String name) throws IOException {
        Files.delete(folder.resolve("fabric").resolve(FabricFolder.hash(name) + ".sock"));
    }

    static Stream<Arguments> everyBadDescriptorOnEveryWay() {
        return Stream.of(Way.values())
                .flatMap(way ->
                        Stream.of(BadDescriptor.values()).map(bad -> Arguments.of(way, bad)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("everyBadDescriptorOnEveryWay")
    void shouldRefuseBeforeMappingAndKeepNothing(Way way, BadDescriptor bad) throws IOException {
        long declaredBytes = way.declaredBytes();
        int descriptor = bad.open(declaredBytes, folder);
        try {
            boolean file = FileDescriptors.status(descriptor).isRegularFile();
            if (file) {
                ResourceSnapshot.forgetMappings(descriptor);
            }
            ResourceSnapshot before = ResourceSnapshot.now();

            assertThatThrownBy(() -> way.attempt(this, declaredBytes, descriptor))
                    .isInstanceOf(FabricException.class)
                    .hasMessageStartingWith("descriptor refused: " + bad.reason());

            ResourceSnapshot.awaitAgain(before);
            assertThat(file && ResourceSnapshot.wasMapped(descriptor)).as("was mapped").isFalse();
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    @Test
    void shouldAnswerARefusedClientWithInvalidValue() {
        int descriptor = Memfd.create("unsealed");
        try {
            assertThatThrownBy(() -> Way.HELLO.attempt(this, SIZE_BYTES, descriptor))
                    .isInstanceOfSatisfying(
                            FabricException.class,
                            e -> assertThat(e.refusalCode()).isEqualTo(RefuseCode.INVALID_VALUE));
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    void shouldRefuseTheWrongNumberOfDescriptors(Way way) {
        int good = BadDescriptor.good(way.declaredBytes());
        try {
            ResourceSnapshot before = ResourceSnapshot.now();

            assertThatThrownBy(() -> way.attempt(this, way.declaredBytes()))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("descriptors=");
            assertThatThrownBy(() -> way.attempt(this, way.declaredBytes(), good, good))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("descriptors=");
            assertThatThrownBy(() -> way.attempt(this, way.declaredBytes(), good, good, good, good))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("truncated");

            ResourceSnapshot.awaitAgain(before);
        } finally {
            FileDescriptors.close(good);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"HELLO", "WELCOME", "GRANT_TO_MAP"})
    void shouldRefuseMoreThanTheLimit(Way way) {
        long tooMuch = (8 << 20) + MemoryMapping.pageSize();
        int descriptor = BadDescriptor.good(tooMuch);
        try {
            ResourceSnapshot.forgetMappings(descriptor);

            assertThatThrownBy(() -> way.attempt(this, tooMuch, descriptor))
                    .hasMessageContaining(": sizeBytes=" + tooMuch + ", limit")
                    .hasMessageContaining("=" + (8 << 20));

            assertThat(ResourceSnapshot.wasMapped(descriptor)).isFalse();
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    /** The seals are right and the kernel itself forbids the map; nothing stays either. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"HELLO", "WELCOME", "GRANT_TO_MAP"})
    void shouldKeepNothingOfMemoryThatItCannotWrite(Way way) {
        int descriptor = Memfd.create("read only");
        try {
            Memfd.allocate(descriptor, SIZE_BYTES);
            Memfd.addSeals(descriptor, 7 | Memfd.SEAL_FUTURE_WRITE);
            ResourceSnapshot before = ResourceSnapshot.now();

            assertThatThrownBy(() -> way.attempt(this, SIZE_BYTES, descriptor))
                    .isInstanceOf(FabricException.class)
                    .hasMessageContaining("mmap failed: errno=1 (EPERM)");

            ResourceSnapshot.awaitAgain(before);
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    /** Without this the tests above would also pass where everything is refused, or unseen. */
    @Test
    void shouldTakeAndMapWhatIsInOrder() throws Exception {
        int descriptor = BadDescriptor.good(SIZE_BYTES);
        try {
            ResourceSnapshot.forgetMappings(descriptor);
            CompletableFuture<PendingLink> taken = new CompletableFuture<>();
            Endpoint endpoint = bus.listen("other", taken::complete);
            ResourceSnapshot before = ResourceSnapshot.now();
            try (HostilePeer honest = HostilePeer.connect(bus, "other")) {
                honest.send(new Frame.Hello(SIZE_BYTES, new byte[0]), descriptor);

                PendingLink pending = taken.get(Patience.SECONDS, TimeUnit.SECONDS);

                assertThat(ResourceSnapshot.wasMapped(descriptor)).isTrue();
                assertThat(ResourceSnapshot.now().sharedMappings())
                        .hasSize(before.sharedMappings().size() + 1);
                pending.refuse(2, "enough");
                assertThat(honest.receive()).isInstanceOf(Frame.Refuse.class);
                honest.awaitEnd();
            }
            ResourceSnapshot.awaitAgain(before);
            endpoint.close();
        } finally {
            FileDescriptors.close(descriptor);
        }
    }

    /**
     * The peer cuts the file and seals it while it is looked at. Whatever is accepted must really
     * have the size; that holds only if the size is asked for after the seals were seen.
     */
    @Tag(Soak.TAG)
    @Test
    void shouldNeverAcceptASizeThatWasTrueOnlyBeforeTheSeals() throws Exception {
        int rounds = Soak.count(200, 2_000, 100_000);
        long begin = System.nanoTime();
        AtomicInteger offered = new AtomicInteger(-1);
        AtomicInteger cut = new AtomicInteger();
        FutureTask<Integer> cutting =
                new FutureTask<>(() -> {
                    int round = 0;
                    for (; round < rounds; round++) {
                        int file = await(offered);
                        FileDescriptors.truncate(file, 4096);
                        Memfd.addSeals(file, 7);
                        offered.set(-1);
                        cut.incrementAndGet();
                    }
                    return round;
                });
        Thread.ofPlatform().daemon().name("cutter").start(cutting);
        int accepted = 0;
        for (int round = 0; round < rounds; round++) {
            int file = Memfd.create("cut");
            Memfd.allocate(file, 8192);
            offered.set(file);
            while (cut.get() == round && !cutting.isDone()) {
                accepted += isAccepted(file) ? 1 : 0;
            }
            FileDescriptors.close(file);
        }

        assertThat(cutting.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(rounds);
        Soak.report(
                "sizes-before-seals",
                0,
                Duration.ofNanos(System.nanoTime() - begin),
                Text.format("files=%d, accepted=%d", rounds, accepted));
        assertThat(accepted).as("files accepted that have another size now").isZero();
    }

    /** Spins, since the moment is what matters here. */
    private static int await(AtomicInteger offered) {
        long begin = System.nanoTime();
        int file = offered.get();
        while (file < 0) {
            assertThat(System.nanoTime() - begin)
                    .as("nanoseconds")
                    .isLessThan(Patience.DEADLINE.toNanos());
            Thread.onSpinWait();
            file = offered.get();
        }
        return file;
    }

    private static boolean isAccepted(int file) {
        try {
            DescriptorCheck.verify(file, 8192, 1 << 20);
            return true;
        } catch (FabricException e) {
            assertThat(e.kind()).isEqualTo(FabricException.Kind.MALFORMED);
            return false;
        }
    }
}
