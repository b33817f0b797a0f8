package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.SeededRandom;
import java.util.Arrays;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tasks that hash in parts. */
@SoftDpuTest(sanitized = false)
class ShaPartialTest {
    private ShaFixture fixture;
    private Mmap digests;

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new ShaFixture(card.dpuDevice()).start(2);
        digests = fixture.base.local(4096);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close();
    }

    @ParameterizedTest
    @Clause("core-123")
    @EnumSource(ShaAlgorithm.class)
    void shouldHashPartsAsTheWhole(ShaAlgorithm algorithm, SeededRandom random) {
        int block = algorithm.blockBytes();
        for (int round = 0; round < 20; round++) {
            byte[] data = random.bytes((int) random.between(block + 1, 100_000));
            Mmap memory = fixture.memoryOf(data);
            Buf destination = fixture.base.destination(digests, 0, 64);
            Buf first = fixture.base.source(memory, 0, block);
            ShaPartialHashTask task =
                    fixture.sha.allocatePartialHash(algorithm, first, destination);
            assertThat(fixture.part(task, first, false)).isEqualTo(Status.SUCCESS);
            long at = block;
            while (at < data.length) {
                long length = Math.min(block * random.between(1, 200), data.length - at);
                boolean isLast = at + length == data.length;
                assertThat(task.hasResult()).isFalse();
                assertThat(destination.dataLength()).as("before the last part").isZero();
                Status status = fixture.part(task, fixture.base.source(memory, at, length), isLast);
                assertThat(status).isEqualTo(Status.SUCCESS);
                at += length;
            }
            assertThat(task.hasResult()).isTrue();
            assertThat(task.isFinal()).isTrue();
            assertThat(destination.dataLength()).isEqualTo(algorithm.digestBytes());
            assertThat(DmaFixture.bytes(digests.segment(), 0, algorithm.digestBytes()))
                    .isEqualTo(ShaFixture.expected(algorithm, data));
            task.free();
            destination.release();
        }
    }

    @Test
    void shouldKeepTheHashesOfSeveralTasksApart(SeededRandom random) {
        byte[] data = random.bytes(2000);
        Mmap memory = fixture.memoryOf(data);
        Buf[] destinations = new Buf[2];
        ShaPartialHashTask[] tasks = new ShaPartialHashTask[2];
        for (int i = 0; i < 2; i++) {
            destinations[i] = fixture.base.destination(digests, 100 * i, 64);
            tasks[i] =
                    fixture.sha.allocatePartialHash(
                            ShaAlgorithm.SHA512,
                            fixture.base.source(memory, 128 * i, 640),
                            destinations[i]);
        }
        for (ShaPartialHashTask task : tasks) {
            task.submit();
        }
        fixture.awaitEnd();
        for (int i = 0; i < 2; i++) {
            tasks[i].source().release();
            tasks[i].setSource(fixture.base.source(memory, 1000, 1000 - i)).setFinal(true).submit();
        }
        fixture.awaitEnd();
        for (int i = 0; i < 2; i++) {
            byte[] hashed = new byte[1640 - i];
            System.arraycopy(data, 128 * i, hashed, 0, 640);
            System.arraycopy(data, 1000, hashed, 640, 1000 - i);
            assertThat(DmaFixture.bytes(digests.segment(), 100 * i, 64))
                    .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA512, hashed));
            tasks[i].source().release();
            destinations[i].release();
            tasks[i].free();
        }
    }

    @ParameterizedTest
    @EnumSource(ShaAlgorithm.class)
    void shouldRefuseAPartThatIsNoMultipleOfTheBlockUnlessItIsTheLast(ShaAlgorithm algorithm) {
        int block = algorithm.blockBytes();
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf source = fixture.base.source(memory, 0, 1000);
        source.setDataLength(block + 1L);
        ShaPartialHashTask task = fixture.sha.allocatePartialHash(algorithm, source, destination);
        refusedPart(task, "sizeBytes=" + (block + 1), "expected=a multiple of " + block);
        source.setDataLength(2L * block);
        task.submit();
        fixture.awaitEnd();
        source.setDataLength(1);
        refusedPart(task, "sizeBytes=1");
        task.setFinal(true).submit();
        fixture.awaitEnd();
        assertThat(DmaFixture.bytes(digests.segment(), 0, algorithm.digestBytes()))
                .as("a refused part changes nothing")
                .isEqualTo(ShaFixture.expected(algorithm, new byte[2 * block + 1]));
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldRefuseAFirstPartThatIsTheLast() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 200);
        Buf source = fixture.base.source(memory, 0, 64);
        ShaPartialHashTask task =
                fixture.sha.allocatePartialHash(ShaAlgorithm.SHA256, source, destination);
        task.setFinal(true);
        refusedPart(task, "first part of a hash is marked as the last", "reset()");
        task.setFinal(false).submit();
        fixture.awaitEnd();
        task.setFinal(true).submit();
        fixture.awaitEnd();
        assertThat(task.hasResult()).isTrue();
        refusedPart(task, "first part of a hash is marked as the last");
        assertThat(destination.dataLength()).isEqualTo(32);
        task.reset();
        assertThat(task.hasResult()).isFalse();
        assertThat(task.isFinal()).isFalse();
        task.submit();
        fixture.awaitEnd();
        task.setFinal(true).submit();
        fixture.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(64);
        assertThat(DmaFixture.bytes(digests.segment(), 32, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[128]));
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldKeepAlgorithmAndDestinationUntilTheLastPartOrAReset() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf other = fixture.base.destination(digests, 100, 64);
        Buf source = fixture.base.source(memory, 0, 128);
        ShaPartialHashTask task = fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, source, other);
        task.setAlgorithm(ShaAlgorithm.SHA256).setDestination(destination).submit();
        fixture.awaitEnd();
        refused(
                Status.BAD_STATE,
                () -> task.setAlgorithm(ShaAlgorithm.SHA512),
                "hash is in progress: item=algorithm, algorithm=SHA256");
        refused(
                Status.BAD_STATE,
                () -> task.setDestination(other),
                "hash is in progress: item=destination");
        assertThat(task.algorithm()).isEqualTo(ShaAlgorithm.SHA256);
        assertThat(task.destination()).isSameAs(destination);
        task.reset();
        task.setAlgorithm(ShaAlgorithm.SHA512).setDestination(other).submit();
        fixture.awaitEnd();
        task.setFinal(true).submit();
        fixture.awaitEnd();
        assertThat(DmaFixture.bytes(digests.segment(), 100, 64))
                .as("nothing is left of the hash before the reset")
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA512, new byte[256]));
        task.setAlgorithm(ShaAlgorithm.SHA1).setDestination(destination);
        task.free();
        source.release();
        destination.release();
        other.release();
    }

    @Test
    void shouldHaveOnePartInFlightAtATime() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf source = fixture.base.source(memory, 0, 128);
        ShaPartialHashTask task =
                fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, source, destination);
        task.submit();
        assertThat(task.trySubmit()).isEqualTo(Status.IN_USE);
        refused(Status.IN_USE, task::reset, "in flight");
        refused(Status.IN_USE, () -> task.setFinal(true), "in flight");
        refused(Status.IN_USE, () -> task.setSource(source), "in flight");
        refused(Status.IN_USE, () -> task.setDestination(destination), "in flight");
        refused(Status.IN_USE, () -> task.setAlgorithm(ShaAlgorithm.SHA1), "in flight");
        refused(Status.IN_USE, destination::resetDataLength, "a task has the buf");
        fixture.awaitEnd();
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldBeginAnewAfterTheTaskWasFreed() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf source = fixture.base.source(memory, 0, 128);
        for (int i = 0; i < 4; i++) { // each of the two tasks of the pool
            ShaPartialHashTask task =
                    fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, source, destination);
            assertThat(task.isFinal()).isFalse();
            destination.resetDataLength();
            task.submit();
            fixture.awaitEnd();
            task.setFinal(true).submit();
            fixture.awaitEnd();
            assertThat(DmaFixture.bytes(digests.segment(), 0, 20))
                    .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA1, new byte[256]));
            task.reset();
            task.submit(); // a hash that is never ended
            fixture.awaitEnd();
            task.free();
        }
        source.release();
        destination.release();
    }

    @Test
    void shouldForgetAPartWhoseListsAreRefused() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf other = fixture.base.destination(digests, 100, 64);
        Buf source = fixture.base.source(memory, 0, 128);
        ShaPartialHashTask task =
                fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, source, destination);
        ShaHashTask holder = fixture.sha.allocateHash(ShaAlgorithm.SHA1, source, other);
        holder.submit();
        assertThat(task.trySubmit()).as("source is in flight").isEqualTo(Status.IN_USE);
        task.setDestination(destination); // no hash has begun
        fixture.awaitEnd();
        task.submit();
        fixture.awaitEnd();
        holder.submit();
        task.setFinal(true);
        assertThat(task.trySubmit()).as("source is in flight").isEqualTo(Status.IN_USE);
        fixture.awaitEnd();
        task.submit();
        fixture.awaitEnd();
        assertThat(DmaFixture.bytes(digests.segment(), 0, 20))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA1, new byte[256]));
        task.free();
        holder.free();
        source.release();
        destination.release();
        other.release();
    }

    @Test
    void shouldLeaveTheDestinationToTheProgramBetweenTwoParts() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = fixture.base.destination(digests, 0, 64);
        Buf source = fixture.base.source(memory, 0, 64);
        ShaPartialHashTask task =
                fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, source, destination);
        task.submit();
        fixture.awaitEnd();
        destination.setDataLength(40);
        assertThat(task.setFinal(true).trySubmit()).isEqualTo(Status.SUCCESS);
        fixture.awaitEnd();
        assertThat(destination.dataLength()).isEqualTo(60);
        assertThat(DmaFixture.bytes(digests.segment(), 40, 20))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA1, new byte[128]));
        assertThat(DmaFixture.bytes(digests.segment(), 60, 4)).containsOnly(0);
        assertThat(Arrays.stream(ShaAlgorithm.values()).mapToInt(ShaAlgorithm::digestBytes).max())
                .hasValue(ShaAlgorithm.MAX_DIGEST_BYTES);
        task.free();
        source.release();
        destination.release();
    }

    private static void refusedPart(ShaPartialHashTask task, String... words) {
        assertThat(task.trySubmit()).isEqualTo(Status.INVALID_VALUE);
        assertThat(task.refusal()).isNotNull().hasMessageContainingAll(words);
    }

    private static void refused(Status status, ThrowingCallable call, String words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(words);
    }
}
