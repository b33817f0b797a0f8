package io.softdpu.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.memory.AccessFlag;
import io.softdpu.core.memory.Buf;
import io.softdpu.core.memory.Mmap;
import io.softdpu.junit.SoftDpu;
import io.softdpu.junit.SoftDpuTest;
import io.softdpu.testkit.Clause;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** States of the context, refused submissions and failures of its tasks. */
@SoftDpuTest(sanitized = false)
class ShaStateTest {
    private static final int SIZE = 1 << 20;

    private ShaFixture fixture;
    private Mmap digests;
    private final List<ShaHashTask> tasks = new ArrayList<>();
    private final List<Buf> bufs = new ArrayList<>();

    @BeforeEach
    void open(SoftDpu card) {
        fixture = new ShaFixture(card.dpuDevice());
        digests = fixture.base.local(4096);
    }

    @AfterEach
    void close() throws Exception {
        free();
        fixture.close();
    }

    private void free() {
        tasks.forEach(ShaHashTask::free);
        bufs.forEach(Buf::release);
        tasks.clear();
        bufs.clear();
    }

    private ShaHashTask allocate(Mmap from, long sizeBytes) {
        Buf source = kept(fixture.base.source(from, 0, sizeBytes));
        Buf destination = kept(fixture.base.destination(digests, 100L * tasks.size(), 32));
        ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA256, source, destination);
        tasks.add(task);
        return task;
    }

    private ShaHashTask submit(Mmap from, long sizeBytes) {
        ShaHashTask task = allocate(from, sizeBytes);
        task.submit();
        return task;
    }

    private Buf kept(Buf buf) {
        bufs.add(buf);
        return buf;
    }

    @Test
    @Clause("core-260")
    void shouldStartWithTasksOfOneTypeAtLeast() {
        throwing(
                Status.BAD_STATE,
                fixture.sha::start,
                "mandatory item is missing: item=hash tasks, context=" + fixture.sha);
        fixture.sha.setPartialHashTasks(1, _ -> {}, _ -> {});
        fixture.sha.start();
        Buf buf = kept(fixture.base.source(digests, 0, 64));
        throwing(
                Status.BAD_STATE,
                () -> fixture.sha.allocateHash(ShaAlgorithm.SHA1, buf, buf),
                "task type was not configured: type=hash");
        fixture.sha.allocatePartialHash(ShaAlgorithm.SHA1, buf, buf).free();
        throwing(
                Status.BAD_STATE,
                () -> fixture.sha.setHashTasks(1, _ -> {}, _ -> {}),
                "context is started");
    }

    @Test
    void shouldRefuseACountOutOfRange() {
        int most = fixture.sha.capabilities().maxTasks();
        for (int count : new int[] {0, -1, most + 1, Integer.MAX_VALUE}) {
            throwing(
                    Status.INVALID_VALUE,
                    () -> fixture.sha.setHashTasks(count, _ -> {}, _ -> {}),
                    "count=" + count);
            throwing(
                    Status.INVALID_VALUE,
                    () -> fixture.sha.setPartialHashTasks(count, _ -> {}, _ -> {}),
                    "count=" + count);
        }
    }

    @Test
    void shouldRefuseWhatCannotBeHashed() {
        fixture.start(2);
        Mmap memory = fixture.memoryOf(new byte[1000]);
        ShaHashTask task = allocate(memory, 64);
        task.source().setDataLength(0);
        refused(task, Status.INVALID_VALUE, "source has no data");
        task.source().setDataLength(64);
        task.destination().setDataLength(1);
        refused(task, Status.INVALID_VALUE, "tailroom 31 < 32: destination=");
        task.destination().setDataLength(0);
        Buf list = kept(fixture.base.source(memory, 0, 1));
        for (int i = 0; i < fixture.sha.capabilities().maxBufferListLength(); i++) {
            list.chain(fixture.base.source(memory, i, 1));
        }
        task.setSource(list);
        refused(task, Status.INVALID_VALUE, "buf list is too long: listLength=65");
        Buf behind = list.lastInList();
        task.setSource(behind);
        refused(task, Status.NOT_PERMITTED, "in a list behind its head", "operand=source");
        Buf own = kept(fixture.base.inventory.bufByArgs(memory, 500, 200, 500, 64));
        task.setSource(own).setDestination(own);
        refused(task, Status.IN_USE, "buf is in flight", "operand=destination");
        Mmap readOnly = fixture.base.mmap(1000, AccessFlag.LOCAL_READ_ONLY);
        Buf unwritable = kept(fixture.base.destination(readOnly, 0, 64));
        task.setDestination(unwritable);
        refused(task, Status.NOT_PERMITTED, "operand=destination");
        Buf released = fixture.base.source(memory, 0, 64);
        released.release();
        task.setSource(released);
        refused(task, Status.BAD_STATE, "buf was released");
        Buf readable = kept(fixture.base.source(readOnly, 0, 64));
        task.setSource(readable).setDestination(bufs.get(1));
        task.submit();
        fixture.awaitEnd();
        assertThat(task.status()).as("after all refusals").isEqualTo(Status.SUCCESS);
    }

    private static void refused(ShaHashTask task, Status status, String... words) {
        assertThat(task.trySubmit()).isEqualTo(status);
        assertThat(task.refusal()).isNotNull().hasMessageContainingAll(words);
    }

    @Test
    void shouldFlushWithShutdownAndLeaveTheBufsAsTheyWere() {
        fixture.start(2);
        Mmap memory = fixture.base.local(SIZE);
        ShaHashTask large = submit(memory, SIZE);
        assertThat(fixture.engine.progress()).isTrue();
        assertThat(large.status()).isEqualTo(Status.IN_PROGRESS);
        ShaHashTask second = submit(memory, 64).setUserData(1);
        assertThat(fixture.sha.stop()).isEqualTo(Status.IN_PROGRESS);
        fixture.awaitEnd();
        assertThat(large.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(second.status()).isEqualTo(Status.SHUTDOWN);
        assertThat(large.destination().dataLength()).isZero();
        large.source().setData(0, 10); // the user's again
        free();
        fixture.base.awaitState(fixture.sha, ContextState.IDLE);
        assertThat(fixture.sha.failure()).isNull();
        fixture.sha.start();
        assertThat(submit(memory, 64).status()).isEqualTo(Status.IN_PROGRESS);
        fixture.awaitEnd();
        assertThat(fixture.ended).containsExactly(Status.SHUTDOWN, Status.SHUTDOWN, Status.SUCCESS);
        assertThat(DmaFixture.bytes(digests.segment(), 0, 32))
                .as("nothing is left of the hash before")
                .isEqualTo(ShaFixture.expected(ShaAlgorithm.SHA256, new byte[64]));
    }

    @Test
    @Clause("core-139")
    void shouldMoveToStoppingByItselfWhereATaskFails() {
        fixture.start(3);
        Mmap memory = fixture.base.local(SIZE);
        Mmap doomed = fixture.base.local(SIZE);
        ShaHashTask good = submit(memory, 64);
        ShaHashTask bad = submit(doomed, SIZE);
        ShaHashTask late = submit(memory, SIZE);
        doomed.stop();
        fixture.awaitEnd();
        assertThat(good.status()).isEqualTo(Status.SUCCESS);
        assertThat(bad.status()).isEqualTo(Status.BAD_STATE);
        assertThat(bad.destination().dataLength()).isZero();
        assertThat(late.status()).as("flushed").isEqualTo(Status.SHUTDOWN);
        DpuException failure = fixture.sha.failure();
        assertThat(failure)
                .isNotNull()
                .hasMessageContainingAll(
                        "hash has failed: context=" + fixture.sha, "sizeBytes=" + SIZE);
        assertThat(failure.status()).isEqualTo(Status.BAD_STATE);
        assertThat(fixture.sha.state()).isEqualTo(ContextState.STOPPING);
        free();
        fixture.base.awaitState(fixture.sha, ContextState.IDLE);
        fixture.sha.start();
        assertThat(fixture.sha.failure()).isNull();
    }

    /** The digest has no place any more; what comes before it is not hashed in vain. */
    @Test
    void shouldFailWhereTheDestinationIsStopped() {
        fixture.start(1);
        for (boolean behindHead : new boolean[] {true, false}) {
            Mmap doomed = fixture.base.local(64);
            Buf source = kept(fixture.base.source(fixture.base.local(SIZE), 0, SIZE));
            Buf destination =
                    kept(
                            fixture.base.destination(
                                    behindHead ? digests : doomed, 0, behindHead ? 7 : 64));
            if (behindHead) {
                destination.chain(fixture.base.destination(doomed, 0, 64));
            }
            ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA512, source, destination);
            task.submit();
            assertThat(fixture.engine.progress()).isTrue();
            doomed.stop();
            fixture.awaitEnd();
            assertThat(task.status()).isEqualTo(Status.BAD_STATE);
            assertThat(destination.dataLength()).isZero();
            task.free();
            fixture.base.awaitState(fixture.sha, ContextState.IDLE);
            fixture.sha.start();
        }
        fixture.sha.stop();
    }

    @Test
    void shouldFailATaskWhoseMemoryTheProgramFreesUnderIt() {
        fixture.start(2);
        try (Arena arena = Arena.ofShared()) {
            submit(fixture.base.over(arena.allocate(SIZE)), SIZE);
            fixture.engine.progress();
        }
        fixture.awaitEnd();
        assertThat(fixture.ended).containsExactly(Status.BAD_STATE);
    }

    @Test
    void shouldRefuseAnotherThread() throws Exception {
        fixture.start(1);
        Mmap memory = fixture.base.local(64);
        ShaHashTask task = allocate(memory, 64);
        ShaPartialHashTask partial =
                fixture.sha.allocatePartialHash(
                        ShaAlgorithm.SHA256, task.source(), task.destination());
        List<Status> seen = new ArrayList<>();
        List<ThrowingCallable> calls =
                List.of(
                        task::submit,
                        task::free,
                        () -> task.setAlgorithm(ShaAlgorithm.SHA1),
                        partial::submit,
                        partial::reset,
                        () -> partial.setAlgorithm(ShaAlgorithm.SHA1),
                        () -> partial.setFinal(true),
                        () -> partial.setDestination(task.destination()),
                        fixture.sha::stop);
        Thread other =
                Thread.ofPlatform().start(() -> calls.forEach(call -> seen.add(statusOf(call))));
        other.join();
        assertThat(seen).hasSize(calls.size()).containsOnly(Status.NOT_PERMITTED);
        partial.free();
    }

    @Test
    void shouldAnswerAFreedTaskWithBadState() {
        fixture.start(1);
        Buf buf = kept(fixture.base.source(digests, 0, 64));
        ShaHashTask task = fixture.sha.allocateHash(ShaAlgorithm.SHA256, buf, buf);
        ShaPartialHashTask partial = fixture.sha.allocatePartialHash(ShaAlgorithm.SHA256, buf, buf);
        task.free();
        partial.free();
        List<ThrowingCallable> calls =
                List.of(
                        task::source,
                        task::destination,
                        () -> task.setAlgorithm(ShaAlgorithm.SHA1),
                        partial::source,
                        partial::destination,
                        partial::reset,
                        () -> partial.setAlgorithm(ShaAlgorithm.SHA1),
                        () -> partial.setFinal(true));
        assertThat(calls)
                .allSatisfy(call -> assertThat(statusOf(call)).isEqualTo(Status.BAD_STATE));
    }

    @Test
    void shouldHaveNoTasksWithoutAnEngine() {
        Sha sha = fixture.base.add(Sha.create(fixture.base.device));
        sha.start();
        Buf buf = kept(fixture.base.source(digests, 0, 64));
        throwing(
                Status.BAD_STATE,
                () -> sha.allocateHash(ShaAlgorithm.SHA1, buf, buf),
                "or createHashJob");
        throwing(
                Status.BAD_STATE,
                () -> sha.allocatePartialHash(ShaAlgorithm.SHA1, buf, buf),
                "or createPartialHashJob");
        sha.stop();
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
