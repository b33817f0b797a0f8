package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Hash jobs on work queues, whole and in parts. */
@SoftDpuTest(sanitized = false)
class ShaJobTest {
    private ShaFixture fixture;
    private Sha sha;
    private Mmap digests;
    private WorkQueue queue;
    private JobEvent event;
    private final List<Buf> bufs = new ArrayList<>();

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new ShaFixture(card.dpuDevice());
        sha = fixture.base.add(Sha.create(card.dpuDevice()));
        assertThat(sha.start()).isEqualTo(Status.SUCCESS);
        digests = fixture.base.local(4096);
        queue = WorkQueue.create(4);
        queue.add(sha);
        event = JobEvent.create();
    }

    @AfterEach
    void close() throws Exception {
        while (queue.inFlightJobs() > 0) {
            queue.progressRetrieve(event);
        }
        queue.close();
        bufs.forEach(Buf::release);
        if (sha.state() == ContextState.RUNNING) {
            sha.stop();
        }
        fixture.close();
    }

    private Buf source(Mmap memory, long at, long length) {
        return kept(fixture.base.source(memory, at, length));
    }

    private Buf digestAt(long at) {
        return kept(fixture.base.destination(digests, at, 64));
    }

    private Buf kept(Buf buf) {
        bufs.add(buf);
        return buf;
    }

    private Status run(ShaPartialHashJob job) {
        queue.submit(job);
        return ShaFixture.retrieve(queue, event);
    }

    @Test
    @Clause({"core-123", "core-133"})
    void shouldHashByJobs(SeededRandom random) {
        byte[] data = random.bytes(200_000);
        Mmap memory = fixture.memoryOf(data);
        Buf source = source(memory, 0, 100);
        Buf destination = digestAt(0);
        ShaHashJob job = sha.createHashJob(ShaAlgorithm.SHA1, source, destination);
        job.setUserData(77);
        assertThat(job.type()).isEqualTo(Sha.HASH_JOB);
        assertThat(job.context()).isSameAs(sha);
        for (int i = 0; i < 60; i++) {
            ShaAlgorithm algorithm = random.oneOf(ShaAlgorithm.values());
            int size = (int) random.between(1, i % 10 == 0 ? 100_000 : 500);
            int from = (int) random.between(0, data.length - size);
            source.reuseByData(memory, from, size);
            destination.resetDataLength();
            assertThat(job.setAlgorithm(algorithm).algorithm()).isEqualTo(algorithm);
            queue.submit(job);
            assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.SUCCESS);
            assertThat(event.job()).isSameAs(job);
            assertThat(event.userData()).isEqualTo(77);
            assertThat(destination.dataLength()).isEqualTo(algorithm.digestBytes());
            assertThat(DmaFixture.bytes(digests.segment(), 0, algorithm.digestBytes()))
                    .isEqualTo(
                            ShaFixture.expected(
                                    algorithm, Arrays.copyOfRange(data, from, from + size)));
        }
    }

    @Test
    @Clause({"core-123", "core-133"})
    void shouldHashInPartsByJobsThatShareASession(SeededRandom random) {
        for (ShaAlgorithm algorithm : ShaAlgorithm.values()) {
            byte[] data = random.bytes(5 * 128 + 77);
            Mmap memory = fixture.memoryOf(data);
            Buf destination = digestAt(0);
            ShaSession session = sha.createSession(algorithm);
            assertThat(session.isInProgress()).isFalse();
            List<ShaPartialHashJob> parts = new ArrayList<>();
            for (int at = 0; at < data.length; at += 128) {
                int length = Math.min(128, data.length - at);
                ShaPartialHashJob job =
                        sha.createPartialHashJob(session, source(memory, at, length), destination);
                assertThat(job.session()).isSameAs(session);
                assertThat(job.type()).isEqualTo(Sha.PARTIAL_HASH_JOB);
                parts.add(job.setFinal(at + length == data.length));
            }
            for (ShaPartialHashJob part : parts) {
                assertThat(destination.dataLength()).isZero();
                assertThat(run(part)).isEqualTo(Status.SUCCESS);
                assertThat(session.isInProgress()).isEqualTo(!part.isFinal());
            }
            assertThat(destination.dataLength()).isEqualTo(algorithm.digestBytes());
            assertThat(DmaFixture.bytes(digests.segment(), 0, algorithm.digestBytes()))
                    .isEqualTo(ShaFixture.expected(algorithm, data));
        }
    }

    @Test
    void shouldHaveOnePartOfASessionInFlight() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = digestAt(0);
        ShaSession session = sha.createSession(ShaAlgorithm.SHA256);
        ShaPartialHashJob first =
                sha.createPartialHashJob(session, source(memory, 0, 64), destination);
        ShaPartialHashJob second =
                sha.createPartialHashJob(session, source(memory, 64, 64), destination);
        queue.submit(first);
        refusedPart(Status.IN_USE, second, "part of this hash is in flight");
        refused(Status.IN_USE, session::reset, "part of this hash is in flight");
        refused(
                Status.IN_USE,
                () -> session.setAlgorithm(ShaAlgorithm.SHA1),
                "part of this hash is in flight");
        refused(Status.IN_USE, () -> first.setFinal(true), "in flight");
        ShaPartialHashJob ofAnother =
                sha.createPartialHashJob(
                        sha.createSession(ShaAlgorithm.SHA256),
                        source(memory, 128, 64),
                        digestAt(100));
        queue.submit(ofAnother);
        assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.SUCCESS);
        assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.SUCCESS);
        assertThat(run(second.setFinal(true))).isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[128]));
    }

    @Test
    void shouldRefuseWhatASessionDoesNotAllow() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf destination = digestAt(0);
        Buf other = digestAt(100);
        Buf block = source(memory, 0, 64);
        ShaSession session = sha.createSession(ShaAlgorithm.SHA256);
        ShaPartialHashJob job = sha.createPartialHashJob(session, block, destination);
        refusedPart(
                Status.INVALID_VALUE,
                job.setFinal(true),
                "first part of a hash is marked as the last");
        block.setDataLength(63);
        refusedPart(Status.INVALID_VALUE, job.setFinal(false), "sizeBytes=63");
        assertThat(session.isInProgress()).as("changed nothing").isFalse();
        block.setDataLength(64);
        assertThat(run(job)).isEqualTo(Status.SUCCESS);
        refused(
                Status.BAD_STATE,
                () -> session.setAlgorithm(ShaAlgorithm.SHA1),
                "hash is in progress");
        refusedPart(
                Status.INVALID_VALUE,
                job.setDestination(other),
                "destination of a hash differs from that of its first part");
        try (WorkQueue second = WorkQueue.create(1)) {
            second.add(sha);
            job.setDestination(destination).setFinal(true);
            assertThat(second.trySubmit(job)).isEqualTo(Status.INVALID_VALUE);
            assertThat(job.refusal())
                    .isNotNull()
                    .hasMessageContaining("hash was begun on another work queue");
        }
        assertThat(run(job)).as("on its queue").isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[128]));
        session.setAlgorithm(ShaAlgorithm.SHA512);
        destination.resetDataLength();
        refusedPart(Status.INVALID_VALUE, job.setFinal(false), "expected=a multiple of 128");
    }

    @Test
    void shouldRefuseASessionOfAnotherContext() {
        Sha other = fixture.base.add(Sha.create(fixture.base.device));
        ShaSession session = other.createSession(ShaAlgorithm.SHA1);
        Buf buf = digestAt(0);
        refused(
                Status.INVALID_VALUE,
                () -> sha.createPartialHashJob(session, buf, buf),
                "session is of another context: context=" + other);
    }

    @Test
    void shouldFailAloneAndLeaveAHashThatCannotBeContinued() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Mmap doomed = fixture.memoryOf(new byte[1000]);
        Buf destination = digestAt(0);
        ShaSession session = sha.createSession(ShaAlgorithm.SHA1);
        ShaPartialHashJob part =
                sha.createPartialHashJob(session, source(memory, 0, 64), destination);
        assertThat(run(part)).isEqualTo(Status.SUCCESS);
        ShaPartialHashJob bad =
                sha.createPartialHashJob(session, source(doomed, 0, 64), destination);
        ShaHashJob good =
                sha.createHashJob(ShaAlgorithm.SHA1, source(memory, 64, 100), digestAt(100));
        queue.submit(bad);
        queue.submit(good);
        doomed.stop();
        for (int i = 0; i < 2; i++) {
            Status status = ShaFixture.retrieve(queue, event);
            if (event.job() == bad) {
                assertThat(status).isEqualTo(Status.IO_FAILED);
                assertThat(event.status()).isEqualTo(Status.BAD_STATE);
            } else {
                assertThat(status).isEqualTo(Status.SUCCESS);
            }
        }
        assertThat(sha.state()).isEqualTo(ContextState.RUNNING);
        assertThat(destination.dataLength()).isZero();
        refusedPart(
                Status.INVALID_VALUE,
                part.setFinal(true),
                "part of this hash has failed, so it cannot be continued");
        session.reset();
        assertThat(run(part.setFinal(false))).isEqualTo(Status.SUCCESS);
        assertThat(run(part.setFinal(true))).isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 20))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA1, new byte[128]));
    }

    @Test
    void shouldBeginAnewAfterAJobHasFailedInTheMiddle() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Mmap doomed = fixture.base.local(1 << 20);
        doomed.segment().fill((byte) 1);
        ShaHashJob job =
                sha.createHashJob(ShaAlgorithm.SHA1, source(doomed, 0, 1 << 20), digestAt(0));
        queue.submit(job);
        assertThat(queue.progressRetrieve(event)).as("a slice").isEqualTo(Status.AGAIN);
        doomed.stop();
        assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.IO_FAILED);
        assertThat(event.status()).isEqualTo(Status.BAD_STATE);
        queue.submit(job.setSource(source(memory, 0, 1000)));
        assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 20))
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA1, new byte[1000]));
    }

    @Test
    void shouldRefuseWhatATaskRefuses() {
        Mmap memory = fixture.memoryOf(new byte[1000]);
        Buf source = source(memory, 0, 64);
        Buf destination = digestAt(0);
        ShaHashJob job = sha.createHashJob(ShaAlgorithm.SHA512, source, destination);
        source.setDataLength(0);
        assertThat(queue.trySubmit(job)).isEqualTo(Status.INVALID_VALUE);
        assertThat(job.refusal())
                .isNotNull()
                .hasMessageContainingAll("source has no data", "algorithm=SHA512");
        source.setDataLength(64);
        destination.setDataLength(1);
        assertThat(queue.trySubmit(job)).isEqualTo(Status.INVALID_VALUE);
        assertThat(job.refusal()).isNotNull().hasMessageContaining("tailroom 63 < 64");
        destination.setDataLength(0);
        queue.submit(job);
        assertThat(queue.trySubmit(job)).isEqualTo(Status.IN_USE);
        refused(Status.IN_USE, () -> job.setAlgorithm(ShaAlgorithm.SHA1), "in flight");
        refused(Status.IN_USE, () -> job.setSource(source), "in flight");
        refused(Status.IN_USE, () -> job.setDestination(source), "in flight");
        assertThat(ShaFixture.retrieve(queue, event)).isEqualTo(Status.SUCCESS);
    }

    @Test
    @Clause({"core-130", "core-133"})
    void shouldServeSeveralQueuesOnSeveralThreads(SeededRandom random) throws Exception {
        int threads = 4;
        ShaSession shared = sha.createSession(ShaAlgorithm.SHA256);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Integer>> works = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                SeededRandom own = random.fork();
                works.add(() -> hashMany(own, shared));
            }
            for (Future<Integer> done : pool.invokeAll(works)) {
                assertThat(done.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(100);
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(shared.isInProgress()).isFalse();
    }

    /** On a thread of its own: its queue, its bufs, its memory; the session is shared by all. */
    private int hashMany(SeededRandom random, ShaSession shared) {
        int hashed = 0;
        byte[] bytes = random.bytes(10_000);
        try (BufInventory inventory = BufInventory.create(2);
                Mmap own =
                        Mmap.create()
                                .setMemory(MemorySegment.ofArray(bytes))
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(fixture.base.device)
                                .start();
                WorkQueue ofThread = WorkQueue.create(1)) {
            inventory.start();
            ofThread.add(sha);
            Buf source = inventory.bufByData(own, 0, 128);
            Buf destination = inventory.bufByAddress(own, 9_000, 64);
            ShaPartialHashJob part = sha.createPartialHashJob(shared, source, destination);
            JobEvent ended = JobEvent.create();
            long until = System.nanoTime() + Patience.DEADLINE.toNanos();
            while (hashed < 100) {
                destination.resetDataLength();
                Status begun = ofThread.trySubmit(part.setFinal(false));
                if (begun == Status.INVALID_VALUE) { // another thread has the session
                    assertThat(part.refusal()).hasMessageContaining("another work queue");
                    assertThat(System.nanoTime()).isLessThan(until);
                    Thread.onSpinWait();
                    continue;
                }
                assertThat(ShaFixture.retrieve(ofThread, ended)).isEqualTo(Status.SUCCESS);
                ofThread.submit(part.setFinal(true));
                assertThat(ShaFixture.retrieve(ofThread, ended)).isEqualTo(Status.SUCCESS);
                byte[] twice = Arrays.copyOf(bytes, 256);
                System.arraycopy(bytes, 0, twice, 128, 128);
                assertThat(Arrays.copyOfRange(bytes, 9_000, 9_032))
                        .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, twice));
                hashed++;
            }
            source.release();
            destination.release();
        }
        return hashed;
    }

    private void refusedPart(Status status, ShaPartialHashJob job, String words) {
        assertThat(queue.trySubmit(job)).isEqualTo(status);
        assertThat(job.refusal()).isNotNull().hasMessageContaining(words);
    }

    private static void refused(Status status, ThrowingCallable call, String words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(words);
    }
}
