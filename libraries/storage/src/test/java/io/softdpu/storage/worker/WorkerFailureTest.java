package io.softdpu.storage.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import io.softdpu.core.execution.CpuBinding;
import io.softdpu.storage.Pipeline;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exceptions and errors in commands, in the data path and in the end of a worker. */
class WorkerFailureTest extends WorkerFixture {
    @Test
    @Clause("sto-096")
    void shouldLetNoErrorOfACommandEscapeFromItsThread() {
        start(Patience.NANOS);
        Thread thread = watchedThread();

        RuntimeException thrown =
                catchThrowableOfType(
                        RuntimeException.class,
                        () ->
                                worker.execute(() -> {
                                    throw new StackOverflowError("too deep");
                                }));

        assertThat(thrown).hasMessageContaining("too deep");
        assertNothingEscapes(thread, "too deep");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Clause("sto-096")
    void shouldLetNoErrorOfTheDataPathOrOfItsEndEscapeFromItsThread(boolean atEnd) {
        start(Patience.NANOS);
        Thread thread = watchedThread();
        if (atEnd) {
            worker.atRelease = new StackOverflowError("too deep");
        } else {
            worker.errorInRound = new StackOverflowError("too deep");
        }
        worker.startDataPath();
        Pipeline.await(worker.rounds);

        worker.beginEnd();

        assertNothingEscapes(thread, "too deep");
    }

    /** The worker's thread, which tells from now on what ends it. */
    private Thread watchedThread() {
        return worker.query(() -> {
            Thread thread = Thread.currentThread();
            thread.setUncaughtExceptionHandler((_, e) -> escaped.add(e));
            return thread;
        });
    }

    private void assertNothingEscapes(Thread thread, String reason) {
        Await.until("worker has ended", worker::hasEnded);
        Pipeline.join(thread);
        assertThat(escaped).isEmpty();
        assertThat(worker.failure().status()).isEqualTo(Status.UNEXPECTED);
        assertThat(worker.failure()).hasMessageContaining(reason);
        assertThat(events).endsWith("release");
    }

    @Test
    @Clause("sto-096")
    void shouldLetNoExceptionEscapeFromTheDataPath() {
        start(Patience.NANOS);
        worker.inRound = new IllegalStateException("broken round");
        worker.startDataPath();

        Await.until("data path has ended", () -> worker.failure() != null);

        DpuException failure =
                catchThrowableOfType(DpuException.class, () -> worker.throwFailure());
        assertThat(failure.status()).isEqualTo(Status.UNEXPECTED);
        assertThat(failure)
                .hasMessageContaining("role=test, worker=3")
                .hasMessageContaining("broken round");
        assertThat(worker.hasDataPathEnded()).isTrue();
        assertThat(catchThrowableOfType(DpuException.class, () -> worker.execute(() -> {})))
                .hasMessageContaining("broken round");
    }

    @Test
    @Clause("sto-096")
    void shouldKeepTheStatusOfWhatFailedAtTheBeginning() {
        start(Patience.NANOS);
        worker.atBegin = new DpuException(Status.NO_MEMORY, "no room: of=anything");
        worker.startDataPath();

        Await.until("worker has failed", () -> worker.failure() != null);

        assertThat(worker.failure().status()).isEqualTo(Status.NO_MEMORY);
    }

    @Test
    @Clause("sto-097")
    void shouldThrowWhatACommandThrewAndGoOn() {
        start(Patience.NANOS);
        RuntimeException thrown =
                catchThrowableOfType(
                        RuntimeException.class,
                        () ->
                                worker.execute(() -> {
                                    throw new IllegalArgumentException("not so");
                                }));

        assertThat(thrown).isInstanceOf(IllegalArgumentException.class).hasMessage("not so");
        assertThat(worker.query(() -> "still here")).isEqualTo("still here");
    }

    @Test
    void shouldEndAlsoWhereTakingDownEndsInAnError() {
        start(Patience.NANOS);
        worker.atRelease = new StackOverflowError("too deep");

        worker.beginEnd();

        Await.until("worker has ended", worker::hasEnded);
        assertThat(worker.failure().status()).isEqualTo(Status.UNEXPECTED);
        assertThat(worker.failure()).hasMessageContaining("too deep");
    }

    @Test
    void shouldSayWhyItCouldNotBegin() {
        worker = new TestWorker(Patience.NANOS, CpuBinding.hard(4095));

        DpuException failure = catchThrowableOfType(DpuException.class, () -> worker.start());

        assertThat(failure).isNotNull();
        assertThat(failure).hasMessageContaining("4095");
    }
}
