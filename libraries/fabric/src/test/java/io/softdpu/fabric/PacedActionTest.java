package io.softdpu.fabric;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.fabric.link.PacedAction;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Actions of the bus thread that are requested more often than they run. */
class PacedActionTest {
    private static final long INTERVAL_NANOS = 20_000_000;
    private static final int REQUESTS = 100;

    @TempDir Path folder;
    private Bus bus;

    @BeforeEach
    void open() {
        bus =
                Bus.open(
                        new Bus.Config(
                                folder.resolve("f"),
                                new byte[32],
                                "test",
                                Patience.NANOS,
                                1 << 30,
                                Long.MAX_VALUE,
                                Long.MAX_VALUE));
    }

    @AfterEach
    void close() {
        bus.close();
    }

    private void onBusThread(Runnable action) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        bus.threads()
                .loop()
                .execute(() -> {
                    action.run();
                    done.complete(null);
                });
        done.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    @Test
    void shouldRunOncePerIntervalAndAfterEachRequest() {
        AtomicInteger requested = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        PacedAction action =
                bus.paced(
                        INTERVAL_NANOS,
                        () -> {
                            runs.incrementAndGet();
                            seen.set(requested.get());
                        });
        long begin = System.nanoTime();
        for (int i = 0; i < REQUESTS; i++) {
            onBusThread(() -> {
                requested.incrementAndGet();
                action.request();
            });
        }
        Await.until("the last request is served", () -> seen.get() == REQUESTS);
        long intervals = (System.nanoTime() - begin) / INTERVAL_NANOS;
        assertThat((long) runs.get()).isLessThanOrEqualTo(intervals + 1);
    }

    @Test
    void shouldRunAtOnceIfItHasNotRunForAnInterval() {
        AtomicInteger runs = new AtomicInteger();
        PacedAction action = bus.paced(Patience.NANOS, runs::incrementAndGet);
        onBusThread(action::request);
        assertThat(runs.get()).isEqualTo(1);
        onBusThread(action::request);
        assertThat(runs.get()).as("not yet").isEqualTo(1);
        int watched = bus.threads().loop().watched();
        bus.close(); // its deadline ends with the bus
        assertThat(watched).isPositive();
        assertThat(runs.get()).isEqualTo(1);
    }
}
