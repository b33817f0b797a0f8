package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** States of the context, and the results of its tasks. */
@SoftDpuTest(sanitized = false)
class DmaStateTest {
    private static final int SIZE = 4 << 20;

    private DmaFixture fixture;
    private final List<DmaMemcpyTask> tasks = new ArrayList<>();
    private final List<Buf> bufs = new ArrayList<>();

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new DmaFixture(card.dpuDevice());
    }

    @AfterEach
    void close() throws Exception {
        give();
        fixture.close();
    }

    /** Everything back to where it came from. */
    private void give() {
        tasks.forEach(DmaMemcpyTask::free);
        bufs.forEach(Buf::release);
        tasks.clear();
        bufs.clear();
    }

    private DmaMemcpyTask submit(Mmap from, Mmap to, int sizeBytes) {
        Buf source = fixture.source(from, 0, sizeBytes);
        Buf destination = fixture.destination(to, to.sizeBytes() - sizeBytes, sizeBytes);
        bufs.add(source);
        bufs.add(destination);
        DmaMemcpyTask task = fixture.submit(source, destination);
        tasks.add(task);
        return task;
    }

    @Test
    @Clause("core-260")
    void shouldNotStartWithoutTasksAndNotBeConfiguredOnceStarted() {
        throwing(Status.BAD_STATE, () -> fixture.dma.start(), "item=memcpy tasks");
        fixture.start(1);
        assertThat(fixture.dma.state()).as("started at once").isEqualTo(ContextState.RUNNING);
        throwing(
                Status.BAD_STATE,
                () -> fixture.dma.setMemcpyTasks(2, _ -> {}, _ -> {}),
                "context is started");
        Mmap memory = fixture.local(4096);
        submit(memory, memory, 64);
        fixture.awaitEnd();
        assertThat(fixture.ended).as("the callbacks of before").containsExactly(Status.SUCCESS);
    }

    @Test
    void shouldCloseAtTheEndOfATryBlockWithCopiesInFlight() {
        List<Status> ended = new ArrayList<>();
        Mmap memory = fixture.local(2 * SIZE);
        Buf source = fixture.source(memory, 0, SIZE);
        Buf destination = fixture.destination(memory, SIZE, SIZE);
        bufs.addAll(List.of(source, destination));
        try (ProgressEngine engine = ProgressEngine.create();
                Dma dma = Dma.create(fixture.device)) {
            DmaTaskCallback<DmaMemcpyTask> end =
                    task -> {
                        ended.add(task.status());
                        task.free();
                    };
            dma.setMemcpyTasks(1, end, end);
            engine.start(dma, Patience.LIMIT);
            dma.allocateMemcpy(source, destination).submit();
        }
        assertThat(ended).as("flushed by the close").containsExactly(Status.SHUTDOWN);
    }

    @Test
    void shouldRefuseACountOutOfRange() {
        int most = fixture.dma.capabilities().maxTasks();
        for (int count : new int[] {0, -1, most + 1, Integer.MAX_VALUE}) {
            throwing(
                    Status.INVALID_VALUE,
                    () -> fixture.dma.setMemcpyTasks(count, _ -> {}, _ -> {}),
                    "count=" + count);
        }
        fixture.dma.setMemcpyTasks(most, _ -> {}, _ -> {});
    }

    @Test
    void shouldAllocateInRunningAloneAndAsManyAsConfigured() {
        Mmap memory = fixture.local(4096);
        Buf buf = fixture.source(memory, 0, 64);
        throwing(Status.BAD_STATE, () -> fixture.dma.allocateMemcpy(buf, buf), "expected=RUNNING");
        fixture.start(2);
        DmaMemcpyTask first = fixture.dma.allocateMemcpy(buf, buf);
        DmaMemcpyTask second = fixture.dma.allocateMemcpy(buf, buf);
        throwing(Status.NO_MEMORY, () -> fixture.dma.allocateMemcpy(buf, buf), "tasks=2");
        first.free();
        second.free();
        fixture.dma.allocateMemcpy(buf, buf).free();
        buf.release();
    }

    @Test
    void shouldFlushWithShutdownAndLeaveTheBufsAsTheyWere() {
        fixture.start(4);
        Mmap memory = fixture.local(SIZE);
        DmaMemcpyTask large = submit(memory, fixture.local(SIZE), SIZE / 2);
        DmaMemcpyTask small = submit(fixture.local(4096), fixture.local(4096), 64);
        assertThat(fixture.engine.progress()).isTrue();
        assertThat(large.status()).as("under way").isEqualTo(Status.IN_PROGRESS);
        assertThat(fixture.dma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(fixture.dma.state()).isEqualTo(ContextState.STOPPING);
        throwing(
                Status.BAD_STATE,
                () -> fixture.dma.allocateMemcpy(small.source(), small.destination()),
                "state=STOPPING");
        fixture.awaitEnd();
        assertThat(large.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(large.destination().dataLength()).as("not grown").isZero();
        assertThat(large.trySubmit()).as("again, in STOPPING").isEqualTo(Status.BAD_STATE);
        assertThat(fixture.dma.state()).as("tasks not freed").isEqualTo(ContextState.STOPPING);
        large.source().setData(0, 10); // the user's again
        give();
        fixture.awaitState(fixture.dma, ContextState.IDLE);
        assertThat(fixture.dma.failure()).isNull();
    }

    @Test
    void shouldFlushWhatIsLeftAfterAStopInsideACallback() {
        List<Status> ended = new ArrayList<>();
        fixture.dma.setMemcpyTasks(
                4,
                task -> {
                    ended.add(task.status());
                    fixture.dma.stop();
                },
                task -> ended.add(task.status()));
        fixture.dma.start();
        for (int i = 0; i < 4; i++) {
            submit(fixture.local(4096), fixture.local(4096), 64);
        }
        fixture.awaitEnd();
        assertThat(ended)
                .containsExactly(Status.SUCCESS, Status.SHUTDOWN, Status.SHUTDOWN, Status.SHUTDOWN);
    }

    @Test
    @Clause("core-009")
    void shouldBeRestartableWithAnotherNumberOfTasks() {
        Mmap memory = fixture.local(4096);
        for (int count = 3; count > 0; count--) {
            fixture.start(count);
            assertThat(
                            fixture.copy(
                                    fixture.source(memory, 0, 64),
                                    fixture.destination(memory, 64, 64)))
                    .isEqualTo(Status.SUCCESS);
            Buf buf = fixture.source(memory, 0, 64);
            for (int i = 0; i < count; i++) {
                tasks.add(fixture.dma.allocateMemcpy(buf, buf));
            }
            throwing(
                    Status.NO_MEMORY,
                    () -> fixture.dma.allocateMemcpy(buf, buf),
                    "tasks=" + count + ",");
            bufs.add(buf);
            give();
            assertThat(fixture.dma.stop()).as("nothing is left to do").isEqualTo(Status.SUCCESS);
            assertThat(fixture.dma.state()).isEqualTo(ContextState.IDLE);
        }
    }

    @Test
    @Clause("core-139")
    void shouldMoveToStoppingByItselfWhereATaskFails() {
        List<String> changes = new ArrayList<>();
        fixture.dma.setStateChangedCallback((_, from, to) -> changes.add(from + ">" + to));
        fixture.start(4);
        Mmap memory = fixture.local(SIZE);
        Mmap doomed = fixture.local(SIZE);
        DmaMemcpyTask good = submit(memory, fixture.local(4096), 64);
        DmaMemcpyTask bad = submit(memory, doomed, SIZE);
        DmaMemcpyTask late = submit(fixture.local(SIZE), fixture.local(SIZE), SIZE);
        doomed.stop();
        fixture.awaitEnd();
        assertThat(good.status()).isEqualTo(Status.SUCCESS);
        assertThat(bad.status()).isEqualTo(Status.BAD_STATE);
        assertThat(bad.destination().dataLength()).as("not grown").isZero();
        assertThat(late.status()).as("flushed").isEqualTo(Status.SHUTDOWN);
        assertThat(fixture.ended)
                .containsExactly(Status.SUCCESS, Status.BAD_STATE, Status.SHUTDOWN);
        DpuException failure = fixture.dma.failure();
        assertThat(failure).isNotNull().hasMessageContaining("sizeBytes=" + SIZE);
        assertThat(failure.status()).isEqualTo(Status.BAD_STATE);
        assertThat(fixture.dma.state()).isEqualTo(ContextState.STOPPING);
        give();
        fixture.awaitState(fixture.dma, ContextState.IDLE);
        assertThat(changes).containsExactly("IDLE>RUNNING", "RUNNING>STOPPING", "STOPPING>IDLE");
        fixture.dma.start();
        assertThat(fixture.dma.failure()).as("forgotten").isNull();
    }

    @Test
    void shouldFailWhereAnElementBehindTheHeadIsStoppedBeforeTheCopyComesToIt() {
        fixture.start(1);
        for (boolean ofSource : new boolean[] {true, false}) {
            Mmap doomed = fixture.local(64);
            Buf source = fixture.source(fixture.local(64), 0, 64);
            Buf destination = fixture.destination(fixture.local(64), 0, 64);
            if (ofSource) {
                source.chain(fixture.source(doomed, 0, 64));
                destination.chain(fixture.destination(fixture.local(64), 0, 64));
            } else {
                source.chain(fixture.source(fixture.local(64), 0, 64));
                destination.chain(fixture.destination(doomed, 0, 64));
            }
            DmaMemcpyTask task = fixture.submit(source, destination);
            doomed.stop();
            fixture.awaitEnd();
            Status status = task.status();
            task.free();
            source.release();
            destination.release();
            assertThat(status).as("source=%s", ofSource).isEqualTo(Status.BAD_STATE);
            fixture.awaitState(fixture.dma, ContextState.IDLE);
            fixture.dma.start();
        }
    }

    @Test
    void shouldFindTheContextInStoppingInsideTheCallbackOfTheTaskThatFailed() {
        List<ContextState> seen = new ArrayList<>();
        fixture.dma.setMemcpyTasks(2, _ -> {}, task -> seen.add(task.context().state()));
        fixture.dma.start();
        Mmap doomed = fixture.local(4096);
        submit(doomed, fixture.local(4096), 64);
        doomed.stop();
        fixture.awaitEnd();
        assertThat(seen).containsExactly(ContextState.STOPPING);
    }

    @Test
    void shouldFailATaskWhoseMemoryTheProgramFreesUnderIt() {
        fixture.start(2);
        try (Arena arena = Arena.ofShared()) {
            submit(fixture.over(arena.allocate(4 << 20)), fixture.local(4 << 20), 4 << 20);
            fixture.engine.progress();
        }
        fixture.awaitEnd();
        assertThat(fixture.ended).containsExactly(Status.BAD_STATE);
    }

    @Test
    void shouldRefuseAnotherThread() throws Exception {
        fixture.start(1);
        Mmap memory = fixture.local(4096);
        Buf source = fixture.source(memory, 0, 64);
        Buf destination = fixture.destination(memory, 64, 64);
        DmaMemcpyTask task = fixture.dma.allocateMemcpy(source, destination);
        List<Status> seen = new ArrayList<>();
        List<ThrowingCallable> calls =
                List.of(
                        task::submit,
                        task::trySubmit,
                        task::free,
                        () -> task.setSource(source),
                        () -> fixture.dma.allocateMemcpy(source, destination),
                        fixture.dma::stop);
        Thread other =
                Thread.ofPlatform().start(() -> calls.forEach(call -> seen.add(statusOf(call))));
        other.join();
        assertThat(seen).hasSize(calls.size()).containsOnly(Status.NOT_PERMITTED);
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldKeepTheEngineAndTheDeviceOpenWhileItIsStarted() {
        ProgressEngine engine = ProgressEngine.create();
        Dma dma = Dma.create(fixture.device).setMemcpyTasks(1, task -> {}, task -> {});
        engine.connect(dma);
        dma.start();
        throwing(Status.IN_USE, engine::close, "dma");
        throwing(Status.IN_USE, fixture.device::close, "dma");
        dma.stop();
        engine.close();
        throwing(Status.BAD_STATE, dma::start, "engine of the context is closed");
        dma.close();
    }

    private static Status statusOf(ThrowingCallable call) {
        try {
            call.call();
            return Status.SUCCESS;
        } catch (DpuException e) {
            return e.status();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static void throwing(Status status, ThrowingCallable call, String words) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessageContaining(words);
    }
}
