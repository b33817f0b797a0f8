package io.softdpu.perf.pair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the round trip of a cache line between two threads with mappings of their own. */
class SharedLineTest {
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final Runnable NOTHING = () -> {};

    @TempDir Path folder;

    @Test
    void shouldMeasureAgainAndAgainWhileTheOtherSideAnswers() throws Exception {
        Path file = folder.resolve("line");
        try (ExecutorService other = Executors.newSingleThreadExecutor();
                SharedLine line = new SharedLine(file)) {
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Void> answers =
                        CompletableFuture.runAsync(() -> answer(file), other);
                assertThat(line.measure(TIMEOUT_NANOS, NOTHING)).isPositive();
                answers.get(TIMEOUT_NANOS, TimeUnit.NANOSECONDS);
            }
        }
    }

    /** Else the next measurement could begin before the other side has seen the end of this one. */
    @Test
    void shouldEndOnlyWhenTheOtherSideHasSeenIt() throws Exception {
        Path file = folder.resolve("line");
        try (ExecutorService other = Executors.newSingleThreadExecutor();
                SharedLine line = new SharedLine(file)) {
            CompletableFuture<Void> answers =
                    CompletableFuture.runAsync(() -> answerWithoutConfirmation(file), other);
            DpuException stillWaiting = new DpuException(Status.AGAIN, "waits for the other side");
            Runnable check =
                    () -> {
                        if (answers.isDone()) {
                            throw stillWaiting;
                        }
                    };

            assertThatThrownBy(() -> line.measure(TIMEOUT_NANOS, check)).isSameAs(stillWaiting);
            answers.get(TIMEOUT_NANOS, TimeUnit.NANOSECONDS);
        }
    }

    /** Steps of a side that loses its processor before it has seen the end. */
    private static void answerWithoutConfirmation(Path file) {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel =
                        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment line = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena);
            VarHandle number = ValueLayout.JAVA_LONG.varHandle();
            long found = 0;
            while (found >= 0) {
                found = (long) number.getAcquire(line, 0L);
                if (found % 2 == 1) {
                    number.setRelease(line, 0L, found + 1);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldNotWaitWithoutEndForTheOtherSide() {
        try (SharedLine line = new SharedLine(folder.resolve("line"))) {
            assertTimeOut(() -> line.answer(1_000_000, NOTHING), "expected=1, waitedMillis=1");
            assertTimeOut(() -> line.measure(1_000_000, NOTHING), "expected=2, waitedMillis=1");
        }
    }

    @Test
    void shouldEndWhereTheCheckThrows() {
        DpuException aborted = new DpuException(Status.CONNECTION_ABORTED, "interrupted");
        Runnable check =
                () -> {
                    throw aborted;
                };
        try (SharedLine line = new SharedLine(folder.resolve("line"))) {
            assertThatThrownBy(() -> line.answer(TIMEOUT_NANOS, check)).isSameAs(aborted);
            assertThatThrownBy(() -> line.measure(TIMEOUT_NANOS, check)).isSameAs(aborted);
        }
    }

    private static void answer(Path file) {
        try (SharedLine line = new SharedLine(file)) {
            line.answer(TIMEOUT_NANOS, NOTHING);
        }
    }

    private static void assertTimeOut(Runnable call, String end) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        DpuException.class, e -> assertThat(e.status()).isEqualTo(Status.TIME_OUT))
                .hasMessage("other side does not answer in the shared line: " + end);
    }
}
