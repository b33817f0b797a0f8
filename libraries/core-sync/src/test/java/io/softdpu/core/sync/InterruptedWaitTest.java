package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Interrupts of a thread that waits for a value that never comes. */
class InterruptedWaitTest extends SyncEventFixture {
    private SyncEvent event;

    @BeforeEach
    void start() {
        event = started();
    }

    @AfterEach
    void clear() {
        var _ = Thread.interrupted();
    }

    @Test
    void shouldEndAtOnceOnAThreadThatWasInterruptedBeforeAndBeRepeatable() {
        Thread.currentThread().interrupt();
        assertInterrupted();
        assertInterrupted();
        assertThat(Thread.interrupted()).isTrue();
        assertTimeout();
    }

    @Test
    void shouldEndAtOnceWhileItWaitsAndBeRepeatable() throws Exception {
        Thread waiting = Thread.currentThread();
        AtomicBoolean ended = new AtomicBoolean();
        FutureTask<Void> interrupter =
                new FutureTask<>(
                        () -> {
                            Await.until("the thread waits", () -> isInAwait(waiting));
                            waiting.interrupt();
                            Await.until("the wait ends", ended::get);
                        },
                        null);
        Thread.ofPlatform().start(interrupter);
        assertInterrupted();
        ended.set(true);
        assertThat(Thread.interrupted()).isTrue();
        interrupter.get();
        assertTimeout();
    }

    private static boolean isInAwait(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(at ->
                        at.getClassName().equals(SyncEvent.class.getName())
                                && at.getMethodName().equals("await"));
    }

    private void assertInterrupted() {
        Thrown.with(Status.CONNECTION_ABORTED, () -> event.waitGreater(5, ALL, Patience.LIMIT))
                .hasMessageContainingAll("interrupted", "event=");
        assertThat(Thread.currentThread().isInterrupted()).as("the flag is kept").isTrue();
    }

    private void assertTimeout() {
        Thrown.with(Status.TIME_OUT, () -> event.waitGreater(5, ALL, Duration.ofMillis(1)));
    }
}
