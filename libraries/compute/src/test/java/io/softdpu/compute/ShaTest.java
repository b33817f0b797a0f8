package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Tasks that hash a source as a whole. */
@SoftDpuTest(sanitized = false)
class ShaTest {
    private static final String TWO_BLOCKS =
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    private static final String TWO_LONG_BLOCKS =
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                    + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu";

    private ShaFixture fixture;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new ShaFixture(card.dpuDevice()).start(8);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    /** The examples of FIPS 180. */
    @ParameterizedTest
    @Clause("core-123")
    @CsvSource({
        "SHA1, abc, a9993e364706816aba3e25717850c26c9cd0d89d",
        "SHA1, two, 84983e441c3bd26ebaae4aa1f95129e5e54670f1",
        "SHA1, million, 34aa973cd4c4daa4f61eeb2bdbad27316534016f",
        "SHA256, abc, ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "SHA256, two, 248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
        "SHA256, million, cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
        "SHA512, abc, ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "SHA512, two, 8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018"
                + "501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909",
        "SHA512, million, e718483d0ce769644e2e42c7bc15b4638e1f98b13b2044285632a803afa973eb"
                + "de0ff244877ea60a4cb0432ce577c31beb009c5c2c49aa2e4eadb217ad8cc09b"
    })
    void shouldAnswerTheExamplesOfTheStandard(ShaAlgorithm algorithm, String text, String digest) {
        String message =
                switch (text) {
                    case "million" -> "a".repeat(1_000_000);
                    case "two" -> algorithm == ShaAlgorithm.SHA512 ? TWO_LONG_BLOCKS : TWO_BLOCKS;
                    default -> text;
                };
        byte[] data = message.getBytes(StandardCharsets.US_ASCII);
        Mmap memory = fixture.memoryOf(data);
        Mmap digests = fixture.base.local(64);
        Buf destination = fixture.base.destination(digests, 0, 64);
        assertThat(
                        fixture.hash(
                                algorithm,
                                fixture.base.source(memory, 0, data.length),
                                destination))
                .isEqualTo(Status.SUCCESS);
        assertThat(destination.dataLength()).isEqualTo(algorithm.digestBytes());
        assertThat(
                        HexFormat.of()
                                .formatHex(
                                        DmaFixture.bytes(
                                                digests.segment(), 0, digest.length() / 2)))
                .isEqualTo(digest);
        destination.release();
    }

    @ParameterizedTest
    @Clause("core-123")
    @EnumSource(ShaAlgorithm.class)
    void shouldHashAsTheJdkDoesAndWriteTheDigestAlone(ShaAlgorithm algorithm, SeededRandom random) {
        int size = 300_000;
        Mmap memory = fixture.memoryOf(random.bytes(size));
        Mmap digests = fixture.base.local(4096);
        for (int i = 0; i < 40; i++) {
            int length = (int) random.between(1, i % 10 == 0 ? size : 1000);
            int from = (int) random.between(0, size - length);
            random.fill(digests.segment());
            byte[] expected = DmaFixture.bytes(digests.segment(), 0, 4096);
            byte[] data = DmaFixture.bytes(memory.segment(), from, length);
            byte[] digest = ShaFixture.expected(algorithm, data);
            System.arraycopy(digest, 0, expected, 130, digest.length);
            Buf destination = fixture.base.inventory.bufByArgs(digests, 100, 200, 110, 20);
            assertThat(
                            fixture.hash(
                                    algorithm,
                                    fixture.base.source(memory, from, length),
                                    destination))
                    .isEqualTo(Status.SUCCESS);
            assertThat(DmaFixture.bytes(digests.segment(), 0, 4096))
                    .as("%d bytes", length)
                    .isEqualTo(expected);
            assertThat(destination.dataOffset()).isEqualTo(110);
            assertThat(destination.dataLength()).isEqualTo(20 + digest.length);
            assertThat(DmaFixture.bytes(memory.segment(), from, length))
                    .as("source")
                    .isEqualTo(data);
            destination.release();
        }
    }

    @Test
    @Clause({"core-104", "core-105"})
    void shouldGatherAListAndScatterTheDigest(SeededRandom random) {
        for (int round = 0; round < 20; round++) {
            ShaAlgorithm algorithm = random.oneOf(ShaAlgorithm.values());
            byte[] data = random.bytes((int) random.between(10, 100_000));
            Mmap memory = fixture.memoryOf(data);
            Buf source = null;
            int at = 0;
            for (int left = (int) random.between(1, 20); left > 0; left--) {
                int length =
                        left == 1
                                ? data.length - at
                                : (int) random.between(0, (data.length - at) / 2);
                Buf element = fixture.base.source(memory, at, length);
                at += length;
                if (source == null) {
                    source = element;
                } else {
                    source.chain(element);
                }
            }
            Mmap digests = fixture.base.local(1000);
            byte[] expected = ShaFixture.expected(algorithm, data);
            Buf destination = fixture.base.destination(digests, 0, 7);
            destination.chain(fixture.base.destination(digests, 100, 0));
            destination.chain(fixture.base.destination(digests, 200, 100));
            assertThat(fixture.hash(algorithm, source, destination)).isEqualTo(Status.SUCCESS);
            assertThat(DmaFixture.bytes(digests.segment(), 0, 7))
                    .isEqualTo(Arrays.copyOf(expected, 7));
            assertThat(DmaFixture.bytes(digests.segment(), 200, expected.length - 7))
                    .isEqualTo(Arrays.copyOfRange(expected, 7, expected.length));
            assertThat(destination.dataLength()).isEqualTo(7);
            assertThat(destination.lastInList().dataLength()).isEqualTo(expected.length - 7);
            destination.release();
        }
    }

    @Test
    void shouldHashMemoryOfAnyKind() {
        byte[] data = new byte[100_000];
        Arrays.fill(data, (byte) 0x11);
        byte[] expected = ShaFixture.expected(ShaAlgorithm.SHA256, data);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offHeap = arena.allocate(data.length);
            offHeap.copyFrom(MemorySegment.ofArray(data));
            for (MemorySegment each : List.of(offHeap, MemorySegment.ofArray(data))) {
                Mmap memory = fixture.base.over(each);
                Mmap digests = fixture.base.over(MemorySegment.ofArray(new byte[32]));
                Buf destination = fixture.base.destination(digests, 0, 32);
                assertThat(
                                fixture.hash(
                                        ShaAlgorithm.SHA256,
                                        fixture.base.source(memory, 0, data.length),
                                        destination))
                        .isEqualTo(Status.SUCCESS);
                assertThat(DmaFixture.bytes(digests.segment(), 0, 32)).isEqualTo(expected);
                destination.release();
                memory.close();
            }
        }
    }

    /** Bufs of one inventory, each in several uses of both libraries. */
    @Test
    @Clause("core-106")
    void shouldTakeBufsOfOneInventoryAsSourceAndDestinationOfDmaAndSha(SeededRandom random) {
        fixture.base.start(2);
        byte[] data = random.bytes(5000);
        Mmap memory = fixture.memoryOf(data);
        Mmap copies = fixture.base.local(5000);
        Mmap digests = fixture.base.local(100);
        Buf original = fixture.base.source(memory, 0, 5000);
        Buf copy = fixture.base.destination(copies, 0, 5000);
        Buf digest = fixture.base.destination(digests, 0, 32);
        Buf digestCopy = fixture.base.destination(digests, 50, 32);
        for (Buf each : List.of(original, copy, digest, digestCopy)) {
            each.retain(); // released by each use
            each.retain();
        }
        assertThat(fixture.base.copy(original, copy)).isEqualTo(Status.SUCCESS);
        assertThat(fixture.hash(ShaAlgorithm.SHA256, copy, digest)).isEqualTo(Status.SUCCESS);
        assertThat(fixture.base.copy(digest, digestCopy)).isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 50, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, data));
        assertThat(copy.dataLength()).isEqualTo(5000);
        assertThat(digest.dataLength()).isEqualTo(32);
        for (Buf each : List.of(original, copy, digest, digestCopy)) {
            while (each.references() > 0) {
                each.release();
            }
        }
    }

    @Test
    @Clause(
            value = "core-274",
            refused = "no compression: adr/0056-calls-that-are-not-supported.md")
    void shouldRefuseACompressContext() {
        fixture.base.start(1);
        assertThatThrownBy(() -> Compress.create(fixture.base.device))
                .isInstanceOfSatisfying(
                        DpuException.class,
                        e -> assertThat(e.status()).isEqualTo(Status.NOT_SUPPORTED))
                .hasMessageContainingAll("no compression", "device=" + fixture.base.device);
    }

    /** The program knows which library a context belongs to at its creation alone. */
    @Test
    @Clause("core-143")
    void shouldBeDrivenThroughAContextVariable() {
        Dma dma = fixture.base.add(Dma.create(fixture.base.device));
        dma.setMemcpyTasks(1, _ -> {}, _ -> {});
        Sha sha = fixture.base.add(Sha.create(fixture.base.device));
        sha.setHashTasks(1, _ -> {}, _ -> {});
        List<String> changes = new ArrayList<>();
        for (Context context : List.of(dma, sha)) {
            context.setStateChangedCallback((_, from, to) -> changes.add(from + ">" + to));
            fixture.engine.connect(context);
            assertThat(context.isEventDrivenSupported()).isTrue();
            assertThat(context.device()).isSameAs(fixture.base.device);
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            assertThat(context.start()).isEqualTo(Status.SUCCESS);
            assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        }
        Mmap memory = fixture.base.local(200);
        Buf source = fixture.base.source(memory, 0, 64);
        Buf destination = fixture.base.destination(memory, 100, 64);
        var copy = dma.allocateMemcpy(source, destination);
        copy.submit();
        Context first = copy.context();
        assertThat(first).isSameAs(dma);
        assertThat(first.inFlightTasks()).isOne();
        fixture.awaitEnd(first);
        destination.resetDataLength();
        var hash = sha.allocateHash(ShaAlgorithm.SHA1, source, destination);
        hash.submit();
        Context second = hash.context();
        assertThat(second).isSameAs(sha);
        assertThat(second.inFlightTasks()).isOne();
        fixture.awaitEnd(second);
        assertThat(destination.dataLength()).isEqualTo(20);
        copy.free();
        hash.free();
        source.release();
        destination.release();
        for (Context context : List.of(dma, sha)) {
            assertThat(context.allocatedTasks()).isZero();
            assertThat(context.stop()).isEqualTo(Status.SUCCESS);
            assertThat(context.state()).isEqualTo(ContextState.IDLE);
            assertThat(context.failure()).isNull();
            fixture.engine.progress(); // runs the callbacks
            context.close();
        }
        assertThat(changes)
                .containsExactly(
                        "IDLE>RUNNING",
                        "IDLE>RUNNING",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE",
                        "RUNNING>STOPPING",
                        "STOPPING>IDLE");
    }

    @Test
    void shouldServeSmallHashesWhileALargeOneIsUnderWay() {
        Mmap memory = fixture.base.local(1 << 20);
        Mmap digests = fixture.base.local(100);
        Buf large = fixture.base.source(memory, 0, 1 << 20);
        Buf small = fixture.base.source(memory, 0, 64);
        Buf ofLarge = fixture.base.destination(digests, 0, 32);
        Buf ofSmall = fixture.base.destination(digests, 50, 32);
        ShaHashTask first = fixture.sha.allocateHash(ShaAlgorithm.SHA256, large, ofLarge);
        ShaHashTask second = fixture.sha.allocateHash(ShaAlgorithm.SHA256, small, ofSmall);
        first.submit();
        second.submit();
        int passes = 0;
        while (second.status() == Status.IN_PROGRESS) {
            assertThat(fixture.engine.progress()).isTrue();
            passes++;
        }
        assertThat(passes).as("passes until the small one has ended").isEqualTo(2);
        assertThat(first.status()).isEqualTo(Status.IN_PROGRESS);
        while (first.status() == Status.IN_PROGRESS) {
            assertThat(fixture.engine.progress()).isTrue();
            passes++;
        }
        assertThat(passes).as("32 slices, one of them shared").isEqualTo(33);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[1 << 20]));
        assertThat(DmaFixture.bytes(digests.segment(), 50, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[64]));
        first.free();
        second.free();
        List.of(large, small, ofLarge, ofSmall).forEach(Buf::release);
    }

    @Test
    void shouldChangeTheAlgorithmOfATask() {
        Mmap memory = fixture.memoryOf(new byte[] {1, 2, 3});
        Mmap digests = fixture.base.local(300);
        Buf source = fixture.base.source(memory, 0, 3);
        Buf destination = fixture.base.destination(digests, 0, 300);
        ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA512, source, destination);
        int at = 0;
        for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
            task.setAlgorithm(algorithm);
            assertThat(task.algorithm()).isEqualTo(algorithm);
            task.submit();
            fixture.awaitEnd();
            assertThat(DmaFixture.bytes(digests.segment(), at, algorithm.digestBytes()))
                    .isEqualTo(ShaFixture.expected(algorithm, new byte[] {1, 2, 3}));
            at += algorithm.digestBytes();
        }
        assertThat(destination.dataLength()).isEqualTo(at);
        task.free();
        source.release();
        destination.release();
    }
}
