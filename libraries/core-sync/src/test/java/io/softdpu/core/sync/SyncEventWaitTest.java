package io.softdpu.core.sync;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.testkit.Await;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Use of the processor by a thread that waits in synchronous mode, as the kernel counts it. The
 * measure is CPU time of that thread, so a busy machine makes these tests slower and no different.
 */
class SyncEventWaitTest extends SyncEventFixture {

    /** CPU time of a wait, in ticks of 10 ms, whatever the kernel's own are. */
    private static final long SPUN_TICKS = 10;

    /** CPU time in the kernel after which a wait is one that yields. */
    private static final long YIELDED_TICKS = 3;

    /** CPU time without yields after which a wait is none that yields. */
    private static final long MANY_TICKS = 100;

    /** Sleeps of a thread that sleeps for no wait: of the JVM, for its own work. */
    private static final long FEW_SLEEPS = 100;

    /** A sleep or yield between two looks would be seen: as a switch, or as time in the kernel. */
    @Test
    @Clause("core-194")
    void shouldPollWithoutAPauseUntilTheValueIsGreater() throws Exception {
        Use use =
                measured(
                        event -> event.waitGreater(1, ALL),
                        now -> now.userTicks >= SPUN_TICKS || now.sleeps > FEW_SLEEPS);
        assertThat(use.sleeps).as("%s", use).isLessThanOrEqualTo(FEW_SLEEPS);
        assertThat(use.kernelTicks).as("%s", use).isLessThanOrEqualTo(SPUN_TICKS / 3);
    }

    /** A yield is a system call that takes longer than a look: much of the time is the kernel's. */
    @Test
    @Clause("core-195")
    void shouldYieldAfterEachPollAndNotSleep() throws Exception {
        Use use =
                measured(
                        event -> event.waitGreaterYield(1, ALL),
                        now ->
                                now.kernelTicks >= YIELDED_TICKS
                                        || now.userTicks >= MANY_TICKS
                                        || now.sleeps > FEW_SLEEPS);
        assertThat(use.sleeps).as("%s", use).isLessThanOrEqualTo(FEW_SLEEPS);
        assertThat(use.kernelTicks).as("%s", use).isGreaterThanOrEqualTo(YIELDED_TICKS);
    }

    /**
     * Processor time and switches of a thread since it began to wait.
     *
     * @param userTicks CPU time outside of the kernel
     * @param kernelTicks CPU time in the kernel
     * @param sleeps switches to another thread because it could not go on
     */
    private record Use(long userTicks, long kernelTicks, long sleeps) {
        private static final int USER_FIELD = 11; // behind the name, which may have spaces
        private static final int KERNEL_FIELD = 12;

        /** Of a thread, by its folder in /proc. */
        static Use of(Path thread) {
            String stat = ProcessView.text(thread.resolve("stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
            return new Use(
                    Long.parseLong(fields[USER_FIELD]),
                    Long.parseLong(fields[KERNEL_FIELD]),
                    sleeps(thread));
        }

        private static long sleeps(Path thread) {
            return ProcessView.text(thread.resolve("status"))
                    .lines()
                    .filter(line -> line.startsWith("voluntary_ctxt_switches:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                    .findFirst()
                    .orElseThrow();
        }

        Use since(Use before) {
            return new Use(
                    userTicks - before.userTicks,
                    kernelTicks - before.kernelTicks,
                    sleeps - before.sleeps);
        }
    }

    /** Waits on a thread of its own for 2, at first 0 and then 1, until it has used enough. */
    private Use measured(Consumer<SyncEvent> wait, Predicate<Use> enough) throws Exception {
        SyncEvent event = started();
        CompletableFuture<Path> thread = new CompletableFuture<>();
        CompletableFuture<Long> value = new CompletableFuture<>();
        Thread.ofPlatform()
                .name("waiter")
                .start(() -> {
                    try {
                        thread.complete(Path.of("/proc").resolve(threadSelf()));
                        wait.accept(event);
                        value.complete(event.get());
                    } catch (Throwable e) {
                        thread.completeExceptionally(e);
                        value.completeExceptionally(e);
                    }
                });
        Path waiter = thread.get(Patience.SECONDS, TimeUnit.SECONDS);
        try {
            Use before = Use.of(waiter);
            event.set(1);
            Await.until("use of CPU time", () -> enough.test(Use.of(waiter).since(before)));
            assertThat(value).as("an equal value").isNotDone();
            return Use.of(waiter).since(before);
        } finally {
            event.set(2);
            assertThat(value.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(2);
        }
    }

    private static Path threadSelf() throws IOException {
        return Files.readSymbolicLink(Path.of("/proc/thread-self"));
    }
}
