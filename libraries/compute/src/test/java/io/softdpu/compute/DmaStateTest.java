package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.testkit.Clause;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the context begins and ends, and what becomes of the tasks. */
class DmaStateTest {
    private static final int SIZE = 4 << 20;

    @TempDir Path folder;
    private Desk desk;
    private final List<DmaMemcpyTask> tasks = new ArrayList<>();
    private final List<Buf> bufs = new ArrayList<>();

    @BeforeEach
    void open() {
        desk = new Desk(folder, Side.DPU, "p0");
    }

    @AfterEach
    void close() throws Exception {
        give();
        desk.close();
    }

    /** Everything back to where it came from. */
    private void give() {
        tasks.forEach(DmaMemcpyTask::free);
        bufs.forEach(Buf::release);
        tasks.clear();
        bufs.clear();
    }

    private DmaMemcpyTask submit(Mmap from, Mmap to, int sizeBytes) {
        Buf source = desk.source(from, 0, sizeBytes);
        Buf destination = desk.destination(to, to.sizeBytes() - sizeBytes, sizeBytes);
        bufs.add(source);
        bufs.add(destination);
        DmaMemcpyTask task = desk.submit(source, destination);
        tasks.add(task);
        return task;
    }

    @Test
    @Clause("core-260")
    void shouldNotStartWithoutTasksAndNotBeConfiguredOnceStarted() {
        throwing(Status.BAD_STATE, () -> desk.dma.start(), "item=memcpy tasks");
        desk.start(1);
        assertThat(desk.dma.state()).as("started at once").isEqualTo(ContextState.RUNNING);
        throwing(
                Status.BAD_STATE,
                () -> desk.dma.configureMemcpyTasks(1, _ -> {}, _ -> {}),
                "context is started");
    }

    @Test
    void shouldRefuseACountOutOfRange() {
        int most = desk.dma.capabilities().maxTasks();
        for (int count : new int[] {0, -1, most + 1, Integer.MAX_VALUE}) {
            throwing(
                    Status.INVALID_VALUE,
                    () -> desk.dma.configureMemcpyTasks(count, _ -> {}, _ -> {}),
                    "count=" + count);
        }
        desk.dma.configureMemcpyTasks(most, _ -> {}, _ -> {});
    }

    @Test
    void shouldAllocateInRunningAloneAndAsManyAsConfigured() {
        Mmap memory = desk.local(4096);
        Buf buf = desk.source(memory, 0, 64);
        throwing(Status.BAD_STATE, () -> desk.dma.allocateMemcpy(buf, buf), "expected=RUNNING");
        desk.start(2);
        DmaMemcpyTask first = desk.dma.allocateMemcpy(buf, buf);
        DmaMemcpyTask second = desk.dma.allocateMemcpy(buf, buf);
        throwing(Status.NO_MEMORY, () -> desk.dma.allocateMemcpy(buf, buf), "tasks=2");
        first.free();
        second.free();
        desk.dma.allocateMemcpy(buf, buf).free();
        buf.release();
    }

    @Test
    void shouldFlushWithShutdownAndLeaveTheBufsAsTheyWere() {
        desk.start(4);
        Mmap memory = desk.local(SIZE);
        DmaMemcpyTask large = submit(memory, desk.local(SIZE), SIZE / 2);
        DmaMemcpyTask small = submit(desk.local(4096), desk.local(4096), 64);
        assertThat(desk.engine.progress()).isTrue();
        assertThat(large.status()).as("under way").isEqualTo(Status.SUCCESS);
        assertThat(desk.dma.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(desk.dma.state()).isEqualTo(ContextState.STOPPING);
        throwing(
                Status.BAD_STATE,
                () -> desk.dma.allocateMemcpy(small.source(), small.destination()),
                "state=STOPPING");
        desk.awaitEnd();
        assertThat(large.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(large.destination().dataLength()).as("not grown").isZero();
        assertThat(large.trySubmit()).as("again, in STOPPING").isEqualTo(Status.BAD_STATE);
        assertThat(desk.dma.state()).as("tasks not freed").isEqualTo(ContextState.STOPPING);
        large.source().setData(0, 10); // the user's again
        give();
        desk.awaitState(desk.dma, ContextState.IDLE);
        assertThat(desk.dma.failure()).isNull();
    }

    @Test
    void shouldFlushWhatIsLeftAfterAStopInsideACallback() {
        List<Status> ended = new ArrayList<>();
        desk.dma.configureMemcpyTasks(
                4,
                task -> {
                    ended.add(task.status());
                    desk.dma.stop();
                },
                task -> ended.add(task.status()));
        desk.dma.start();
        for (int i = 0; i < 4; i++) {
            submit(desk.local(4096), desk.local(4096), 64);
        }
        desk.awaitEnd();
        assertThat(ended)
                .containsExactly(Status.SUCCESS, Status.SHUTDOWN, Status.SHUTDOWN, Status.SHUTDOWN);
    }

    @Test
    void shouldBeRestartable() {
        for (int i = 0; i < 3; i++) {
            desk.start(2);
            Mmap memory = desk.local(4096);
            assertThat(desk.copy(desk.source(memory, 0, 64), desk.destination(memory, 64, 64)))
                    .isEqualTo(Status.SUCCESS);
            assertThat(desk.dma.stop()).as("nothing is left to do").isEqualTo(Status.SUCCESS);
            assertThat(desk.dma.state()).isEqualTo(ContextState.IDLE);
        }
    }

    @Test
    @Clause("core-139")
    void shouldMoveToStoppingByItselfWhereATaskFails() {
        List<String> changes = new ArrayList<>();
        desk.dma.setStateChangedCallback((_, from, to) -> changes.add(from + ">" + to));
        desk.start(4);
        Mmap memory = desk.local(SIZE);
        Mmap doomed = desk.local(SIZE);
        DmaMemcpyTask good = submit(memory, desk.local(4096), 64);
        DmaMemcpyTask bad = submit(memory, doomed, SIZE);
        DmaMemcpyTask late = submit(desk.local(SIZE), desk.local(SIZE), SIZE);
        doomed.stop();
        desk.awaitEnd();
        assertThat(good.status()).isEqualTo(Status.SUCCESS);
        assertThat(bad.status()).isEqualTo(Status.BAD_STATE);
        assertThat(bad.destination().dataLength()).as("not grown").isZero();
        assertThat(late.status()).as("flushed").isEqualTo(Status.SHUTDOWN);
        assertThat(desk.ended).containsExactly(Status.SUCCESS, Status.BAD_STATE, Status.SHUTDOWN);
        DpuException failure = desk.dma.failure();
        assertThat(failure).isNotNull().hasMessageContaining("sizeBytes=" + SIZE);
        assertThat(failure.status()).isEqualTo(Status.BAD_STATE);
        assertThat(desk.dma.state()).isEqualTo(ContextState.STOPPING);
        give();
        desk.awaitState(desk.dma, ContextState.IDLE);
        assertThat(changes).containsExactly("IDLE>RUNNING", "RUNNING>STOPPING", "STOPPING>IDLE");
        desk.dma.start();
        assertThat(desk.dma.failure()).as("forgotten").isNull();
    }

    @Test
    void shouldFailWhereAnElementBehindTheHeadIsStoppedBeforeTheCopyComesToIt() {
        desk.start(1);
        for (boolean ofSource : new boolean[] {true, false}) {
            Mmap doomed = desk.local(64);
            Buf source = desk.source(desk.local(64), 0, 64);
            Buf destination = desk.destination(desk.local(64), 0, 64);
            if (ofSource) {
                source.chain(desk.source(doomed, 0, 64));
                destination.chain(desk.destination(desk.local(64), 0, 64));
            } else {
                source.chain(desk.source(desk.local(64), 0, 64));
                destination.chain(desk.destination(doomed, 0, 64));
            }
            DmaMemcpyTask task = desk.submit(source, destination);
            doomed.stop();
            desk.awaitEnd();
            Status status = task.status();
            task.free();
            source.release();
            destination.release();
            assertThat(status).as("source=%s", ofSource).isEqualTo(Status.BAD_STATE);
            desk.awaitState(desk.dma, ContextState.IDLE);
            desk.dma.start();
        }
    }

    @Test
    void shouldFindTheContextInStoppingInsideTheCallbackOfTheTaskThatFailed() {
        List<ContextState> seen = new ArrayList<>();
        desk.dma.configureMemcpyTasks(2, _ -> {}, task -> seen.add(task.context().state()));
        desk.dma.start();
        Mmap doomed = desk.local(4096);
        submit(doomed, desk.local(4096), 64);
        doomed.stop();
        desk.awaitEnd();
        assertThat(seen).containsExactly(ContextState.STOPPING);
    }

    @Test
    void shouldFailATaskWhoseMemoryTheProgramFreesUnderIt() {
        desk.start(2);
        try (Arena arena = Arena.ofShared()) {
            submit(desk.over(arena.allocate(4 << 20)), desk.local(4 << 20), 4 << 20);
            desk.engine.progress();
        }
        desk.awaitEnd();
        assertThat(desk.ended).containsExactly(Status.BAD_STATE);
    }

    @Test
    void shouldRefuseAnotherThread() throws Exception {
        desk.start(1);
        Mmap memory = desk.local(4096);
        Buf source = desk.source(memory, 0, 64);
        Buf destination = desk.destination(memory, 64, 64);
        DmaMemcpyTask task = desk.dma.allocateMemcpy(source, destination);
        List<Status> seen = new ArrayList<>();
        List<ThrowingCallable> calls =
                List.of(
                        task::submit,
                        task::trySubmit,
                        task::free,
                        () -> task.setSource(source),
                        () -> desk.dma.allocateMemcpy(source, destination),
                        desk.dma::stop);
        Thread stranger =
                Thread.ofPlatform().start(() -> calls.forEach(call -> seen.add(statusOf(call))));
        stranger.join();
        assertThat(seen).hasSize(calls.size()).containsOnly(Status.NOT_PERMITTED);
        task.free();
        source.release();
        destination.release();
    }

    @Test
    void shouldKeepTheEngineOpenWhileItIsConnected() {
        ProgressEngine engine = ProgressEngine.create();
        Dma dma = Dma.create(desk.device);
        engine.connect(dma);
        throwing(Status.IN_USE, engine::close, "dma");
        throwing(Status.IN_USE, desk.device::close, "dma");
        dma.close();
        engine.close();
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
