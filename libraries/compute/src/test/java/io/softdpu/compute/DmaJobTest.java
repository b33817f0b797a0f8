package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.JobEvent;
import io.softdpu.core.execution.WorkQueue;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.BufInventory;
import io.softdpu.core.memory.Mmap;
import io.softdpu.core.memory.Permissions;
import io.softdpu.core.memory.SharedMemory;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.SeededRandom;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
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

/** DMA as jobs on work queues. */
@SoftDpuTest(sanitized = false)
class DmaJobTest {
    private static final int SIZE = 2 << 20;

    private DmaFixture fixture;
    private Dma dma;
    private Mmap memory;

    @BeforeEach
    void open(SoftDpu card, SeededRandom random) {
        fixture = new DmaFixture(card.dpuDevice());
        memory = fixture.local(SIZE);
        random.fill(memory.segment());
        dma = fixture.add(Dma.create(fixture.device));
        dma.start();
    }

    @AfterEach
    void close() throws Exception {
        if (dma.state() == ContextState.RUNNING) {
            dma.stop();
        }
        fixture.close();
    }

    private static Status retrieve(WorkQueue queue, JobEvent event) {
        long until = System.nanoTime() + Patience.DEADLINE.toNanos();
        Status status = queue.progressRetrieve(event);
        while (status == Status.AGAIN) {
            assertThat(System.nanoTime()).as("deadline").isLessThan(until);
            status = queue.progressRetrieve(event);
        }
        return status;
    }

    @Test
    @Clause({"core-124", "core-125", "core-132"})
    void shouldCopyAsAJobWithoutAnEngineAndWithoutTasks() {
        assertThat(dma.state()).isEqualTo(ContextState.RUNNING);
        try (WorkQueue queue = WorkQueue.create(4)) {
            queue.add(dma);
            byte[] before = DmaFixture.bytes(memory.segment(), 1000, 700_000);
            Buf source = fixture.source(memory, 1000, 700_000);
            Buf destination = fixture.destination(memory, SIZE / 2, 700_000);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            job.setUserData(77);
            assertThat(job.context()).isSameAs(dma);
            assertThat(job.type()).isEqualTo(Dma.MEMCPY_JOB);
            JobEvent event = JobEvent.create();
            assertThat(queue.progressRetrieve(event)).isEqualTo(Status.AGAIN);
            queue.submit(job);
            assertThat(queue.progressRetrieve(event))
                    .as("three slices, one a call")
                    .isEqualTo(Status.AGAIN);
            assertThat(job.isInFlight()).isTrue();
            assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
            assertThat(event.job()).isSameAs(job);
            assertThat(event.userData()).isEqualTo(77);
            assertThat(destination.dataLength()).isEqualTo(700_000);
            assertThat(DmaFixture.bytes(memory.segment(), SIZE / 2, 700_000)).isEqualTo(before);
            source.release();
            destination.release();
        }
    }

    /** One job that a single slice copies, and one of several slices. */
    @Test
    @Clause("core-135")
    void shouldReturnFromSubmitBeforeAnythingIsCopied() {
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(dma);
            JobEvent event = JobEvent.create();
            for (int size : new int[] {64, 700_000}) {
                byte[] before = DmaFixture.bytes(memory.segment(), SIZE / 2, size);
                byte[] data = DmaFixture.bytes(memory.segment(), 0, size);
                Buf source = fixture.source(memory, 0, size);
                Buf destination = fixture.destination(memory, SIZE / 2, size);
                DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
                queue.submit(job);
                assertThat(DmaFixture.bytes(memory.segment(), SIZE / 2, size)).isEqualTo(before);
                assertThat(job.isInFlight()).isTrue();
                assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
                assertThat(DmaFixture.bytes(memory.segment(), SIZE / 2, size)).isEqualTo(data);
                source.release();
                destination.release();
            }
        }
    }

    /** Lists of two elements that end at different places; the first destination has data. */
    @Test
    @Clause("core-124")
    void shouldCopyAJobsListOfBufsIntoAnother() {
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(dma);
            byte[] expected = Arrays.copyOf(DmaFixture.bytes(memory.segment(), 1000, 600), 1000);
            byte[] rest = DmaFixture.bytes(memory.segment(), 5000, 400);
            System.arraycopy(rest, 0, expected, 600, 400);
            Buf source = fixture.source(memory, 1000, 600);
            source.chain(fixture.source(memory, 5000, 400));
            long at = SIZE / 2;
            byte[] before = DmaFixture.bytes(memory.segment(), at, 20);
            Buf destination = fixture.inventory.bufByArgs(memory, at, 320, at, 20);
            Buf last = fixture.destination(memory, SIZE - 2000, 900);
            destination.chain(last);
            queue.submit(dma.createMemcpyJob(source, destination));
            assertThat(retrieve(queue, JobEvent.create())).isEqualTo(Status.SUCCESS);
            assertThat(destination.dataLength()).isEqualTo(320);
            assertThat(last.dataLength()).isEqualTo(700);
            assertThat(DmaFixture.bytes(memory.segment(), at, 20)).isEqualTo(before);
            assertThat(DmaFixture.bytes(memory.segment(), at + 20, 300))
                    .isEqualTo(Arrays.copyOf(expected, 300));
            assertThat(DmaFixture.bytes(memory.segment(), SIZE - 2000, 700))
                    .isEqualTo(Arrays.copyOfRange(expected, 300, 1000));
            source.release();
            destination.release();
        }
    }

    @Test
    @Clause({"core-143", "core-145"})
    void shouldWorkOnTheDeviceOfTheContextThatTheJobBelongsTo() {
        Device p1 = fixture.add(fixture.device.machine().findDevice("p1").open());
        Dma other = fixture.add(Dma.create(p1));
        other.start();
        for (Context context : List.of(dma, other)) {
            assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        }
        try (WorkQueue queue = WorkQueue.create(2)) {
            queue.add(dma);
            queue.add(other);
            Buf source = fixture.source(memory, 0, 64);
            Buf destination = fixture.destination(memory, 1000, 64);
            assertThat(queue.trySubmit(other.createMemcpyJob(source, destination)))
                    .as("memory that is not open to p1")
                    .isEqualTo(Status.NOT_PERMITTED);
            queue.submit(dma.createMemcpyJob(source, destination));
            JobEvent event = JobEvent.create();
            assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
            assertThat(event.job().context()).isSameAs(dma);
            source.release();
            destination.release();

            Mmap ofP1 =
                    fixture.add(
                            Mmap.create()
                                    .setMemory(fixture.add(SharedMemory.allocate(4096)))
                                    .setPermissions(Permissions.LOCAL_READ_WRITE)
                                    .addDevice(p1)
                                    .start());
            Buf from = fixture.source(ofP1, 0, 64);
            Buf to = fixture.destination(ofP1, 1000, 64);
            queue.submit(other.createMemcpyJob(from, to));
            refused(Status.NOT_PERMITTED, () -> queue.remove(other));
            assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
            assertThat(event.job().context()).isSameAs(other);
            from.release();
            to.release();
        }
        other.stop();
    }

    @Test
    void shouldNameTheListsOfAJobThatIsRefused() {
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.add(dma);
            int most = dma.capabilities().maxBufferListLength();
            Buf source = fixture.source(memory, 0, 8);
            for (int i = 1; i <= most; i++) {
                source.chain(fixture.source(memory, i * 8L, 8));
            }
            Buf destination = fixture.destination(memory, SIZE / 2, 64_000);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            assertThatThrownBy(() -> queue.submit(job))
                    .hasMessageContainingAll(
                            "type=" + Dma.MEMCPY_JOB,
                            "buf list is too long: listLength=" + (most + 1),
                            "expected=" + most + " at most, operand=source",
                            "destination=buf[");
            source.release();
            destination.release();
        }
    }

    @Test
    @Clause("core-110")
    void shouldRefuseAJobThatIsNotValidOrInFlight() {
        try (WorkQueue queue = WorkQueue.create(4)) {
            Buf source = fixture.source(memory, 0, 64);
            Buf destination = fixture.destination(memory, 1000, 64);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            assertThat(queue.trySubmit(job)).as("not added").isEqualTo(Status.NOT_FOUND);
            queue.add(dma);
            assertThat(queue.trySubmit(job.setSource(destination)))
                    .as("no data")
                    .isEqualTo(Status.INVALID_VALUE);
            queue.submit(job.setSource(source));
            assertThat(queue.trySubmit(job)).isEqualTo(Status.IN_USE);
            DmaMemcpyJob other = dma.createMemcpyJob(source, destination);
            assertThat(queue.trySubmit(other)).as("bufs in flight").isEqualTo(Status.IN_USE);
            refused(Status.IN_USE, () -> job.setSource(source));
            refused(Status.IN_USE, () -> job.setDestination(destination));
            refused(Status.IN_USE, source::release);
            JobEvent event = JobEvent.create();
            assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
            assertThat(queue.inFlightJobs()).isZero();
            source.release();
            destination.release();
        }
    }

    @Test
    @Clause({"core-138", "core-139"})
    @Clause({"core-258", "core-259"})
    void shouldFailAloneWithAValidEventAndLetTheRestGoOn() {
        try (WorkQueue queue = WorkQueue.create(4)) {
            queue.add(dma);
            Mmap doomed = fixture.local(4096);
            List<Buf> bufs = new ArrayList<>();
            DmaMemcpyJob bad = job(bufs, doomed, memory, 64);
            DmaMemcpyJob good = job(bufs, memory, memory, 64);
            queue.submit(bad);
            queue.submit(good);
            doomed.stop();
            JobEvent event = JobEvent.create();
            List<DmaMemcpyJob> failed = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Status status = retrieve(queue, event);
                if (event.job() == bad) {
                    assertThat(status).isEqualTo(Status.IO_FAILED);
                    assertThat(event.status()).isEqualTo(Status.BAD_STATE);
                    failed.add(bad);
                } else {
                    assertThat(status).isEqualTo(Status.SUCCESS);
                }
            }
            assertThat(failed).hasSize(1);
            assertThat(dma.state()).isEqualTo(ContextState.RUNNING);
            bufs.forEach(Buf::release);
        }
    }

    private DmaMemcpyJob job(List<Buf> bufs, Mmap from, Mmap to, int sizeBytes) {
        Buf source = fixture.source(from, 0, sizeBytes);
        Buf destination = fixture.destination(to, to.sizeBytes() - sizeBytes, sizeBytes);
        bufs.add(source);
        bufs.add(destination);
        return dma.createMemcpyJob(source, destination);
    }

    @Test
    @Clause("core-130")
    void shouldServeSeveralQueuesOnSeveralThreads(SeededRandom random) throws Exception {
        int threads = 4;
        List<SeededRandom> seeds = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            seeds.add(random.fork());
        }
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Callable<Integer>> works = new ArrayList<>();
            for (SeededRandom own : seeds) {
                works.add(() -> copyMany(own));
            }
            for (Future<Integer> done : pool.invokeAll(works)) {
                assertThat(done.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(200);
            }
        } finally {
            pool.shutdownNow();
        }
        assertThat(dma.stop()).isEqualTo(Status.SUCCESS);
    }

    /** On a thread of its own: its queue, its bufs, its memory. */
    private int copyMany(SeededRandom random) {
        int copied = 0;
        MemorySegment bytes = MemorySegment.ofArray(new byte[64 << 10]);
        random.fill(bytes);
        try (BufInventory inventory = BufInventory.create(2);
                Mmap own =
                        Mmap.create()
                                .setMemory(bytes)
                                .setPermissions(Permissions.LOCAL_READ_WRITE)
                                .addDevice(fixture.device)
                                .start();
                WorkQueue queue = WorkQueue.create(1)) {
            inventory.start();
            queue.add(dma);
            Buf source = inventory.bufByData(own, 0, 100);
            Buf destination = inventory.bufByAddress(own, 32 << 10, 32 << 10);
            DmaMemcpyJob job = dma.createMemcpyJob(source, destination);
            JobEvent event = JobEvent.create();
            for (int i = 0; i < 200; i++) {
                long size = random.between(1, 30_000);
                source.reuseByData(own, random.between(0, 1000), size);
                destination.resetDataLength();
                queue.submit(job);
                assertThat(retrieve(queue, event)).isEqualTo(Status.SUCCESS);
                assertThat(DmaFixture.bytes(bytes, 32 << 10, size))
                        .isEqualTo(DmaFixture.bytes(bytes, source.dataOffset(), size));
                copied++;
            }
            source.release();
            destination.release();
        }
        return copied;
    }

    @Test
    @Clause({"core-136", "core-142"})
    void shouldBeWaitedForInEventDrivenMode() {
        assertThat(dma.isEventDrivenSupported()).isTrue();
        try (WorkQueue queue = WorkQueue.create(1)) {
            queue.setEventDriven(true);
            queue.add(dma);
            List<Buf> bufs = new ArrayList<>();
            DmaMemcpyJob job = job(bufs, memory, memory, 700_000);
            JobEvent event = JobEvent.create();
            queue.armEvent();
            assertThat(queue.awaitEvent(Duration.ZERO)).as("nothing to do yet").isFalse();
            queue.submit(job);
            Status status = Status.AGAIN;
            int signals = 0;
            while (status == Status.AGAIN) {
                assertThat(queue.awaitEvent(Patience.LIMIT)).isTrue();
                signals++;
                queue.clearEvent();
                status = queue.progressRetrieve(event);
                queue.armEvent();
            }
            assertThat(status).isEqualTo(Status.SUCCESS);
            assertThat(signals).as("a slice a signal").isEqualTo(3);
            queue.clearEvent();
            bufs.forEach(Buf::release);
        }
    }

    @Test
    void shouldHaveNoTasksWithoutAnEngine() {
        dma.stop();
        dma.setMemcpyTasks(1, task -> {}, task -> {});
        dma.start();
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 64, 64);
        assertThatThrownBy(() -> dma.allocateMemcpy(source, destination))
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.BAD_STATE))
                .hasMessageContainingAll(
                        "no progress engine is connected",
                        "context=" + dma,
                        "expected=ProgressEngine.connect before its start");
        source.release();
        destination.release();
    }

    @Test
    void shouldNotHaveQueuesBesideAnEngine() {
        fixture.start(1);
        try (WorkQueue queue = WorkQueue.create(1)) {
            refused(Status.BAD_STATE, () -> queue.add(fixture.dma));
        }
    }

    private static void refused(Status status, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status));
    }
}
