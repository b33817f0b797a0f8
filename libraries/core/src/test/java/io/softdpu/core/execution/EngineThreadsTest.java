package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.internal.engine.EngineImpl;
import io.softdpu.core.internal.wait.AdaptiveWait;
import io.softdpu.core.internal.wait.AffinityPolicy;
import io.softdpu.testkit.Bounded;
import io.softdpu.testkit.Patience;
import io.softdpu.testkit.ProcessView;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Work of other threads for an engine, engines of threads that have ended, virtual threads. */
class EngineThreadsTest {
    private static final int CAPACITY = 1024;

    @TempDir Path folder;
    private Machines machines;
    private ProgressEngine engine;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        engine = machines.add(ProgressEngine.create());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    // ---- execute ----

    @Test
    void shouldRunWorkOfAnotherThreadInsideProgressAndInItsOrder() throws Exception {
        List<Integer> ran = new ArrayList<>();
        Bounded.call(
                "execute",
                () -> {
                    for (int i = 0; i < 3; i++) {
                        int number = i;
                        engine.execute(() -> {
                            assertThat(Thread.currentThread()).isSameAs(engine.owner());
                            Thrown.with(Status.NOT_PERMITTED, engine::progress);
                            ran.add(number);
                        });
                    }
                    return null;
                });
        assertThat(ran).isEmpty();
        assertThat(engine.progress()).isTrue();
        assertThat(ran).containsExactly(0, 1, 2);
        assertThat(engine.progress()).isFalse();
    }

    @Test
    void shouldRunWorkOfWorkInTheNextPass() {
        List<String> ran = new ArrayList<>();
        engine.execute(() -> engine.execute(() -> ran.add("second")));
        assertThat(engine.progress()).isTrue();
        assertThat(ran).isEmpty();
        assertThat(engine.progress()).isTrue();
        assertThat(ran).containsExactly("second");
    }

    @Test
    void shouldEndASleepForWorkOfAnyThread() throws Exception {
        Thread waiting = Thread.currentThread();
        FutureTask<String> future = new FutureTask<>(() -> Thread.currentThread().getName());
        Thread other =
                Thread.ofVirtual()
                        .start(() -> {
                            InterruptedWaitsTest.awaitIn(waiting, "Poller.poll");
                            engine.execute(future);
                        });
        engine.runUntil(future::isDone, Patience.LIMIT);
        assertThat(future.get()).isEqualTo(waiting.getName());
        other.join();
    }

    @Test
    void shouldMakeAHandleReadableForWork() {
        List<String> ran = new ArrayList<>();
        engine.requestNotification();
        engine.execute(() -> ran.add("work"));
        assertThat(engine.awaitNotification(Patience.LIMIT)).isTrue();
        engine.clearNotification();
        assertThat(engine.progress()).isTrue();
        assertThat(ran).containsExactly("work");
    }

    @Test
    void shouldMakeAFutureOfACallInOneStep() throws Exception {
        CompletableFuture<Long> id =
                CompletableFuture.supplyAsync(() -> Thread.currentThread().threadId(), engine);
        engine.runUntil(id::isDone, Patience.LIMIT);
        assertThat(id.get()).isEqualTo(Thread.currentThread().threadId());
    }

    @Test
    void shouldThrowTheExceptionOfWorkAfterAllWorkHasRun() {
        List<String> ran = new ArrayList<>();
        engine.execute(() -> {
            throw new IllegalStateException("first");
        });
        engine.execute(() -> ran.add("second"));
        assertThatThrownBy(engine::progress).isInstanceOf(IllegalStateException.class);
        assertThat(ran).containsExactly("second");
    }

    @Test
    void shouldRunWorkThatIsLeftWhenItIsClosedAndRefuseLaterWork() {
        List<String> ran = new ArrayList<>();
        ProgressEngine closed = ProgressEngine.create();
        closed.execute(() -> {
            ran.add("last");
            Thrown.with(Status.SHUTDOWN, () -> closed.execute(() -> ran.add("too late")));
        });
        closed.close();
        assertThat(ran).containsExactly("last");
        Thrown.with(Status.SHUTDOWN, () -> closed.execute(() -> ran.add("too late")))
                .hasMessageContainingAll("closed", "engineThread=");
        assertThat(ran).containsExactly("last");
        Thrown.with(Status.INVALID_VALUE, () -> engine.execute(null));
    }

    @Test
    void shouldRefuseMoreWorkThanItHasRoomFor() {
        int[] ran = {0};
        for (int i = 0; i < CAPACITY; i++) {
            engine.execute(() -> ran[0]++);
        }
        Thrown.with(Status.FULL, () -> engine.execute(() -> ran[0]++))
                .hasMessageContaining("waiting=" + CAPACITY + ", limit=" + CAPACITY);
        assertThat(engine.progress()).isTrue();
        assertThat(ran[0]).isEqualTo(CAPACITY);
        engine.execute(() -> ran[0]++);
        assertThat(engine.progress()).isTrue();
        assertThat(ran[0]).isEqualTo(CAPACITY + 1);
    }

    @Test
    void shouldLoseNoWorkOfSeveralThreads() throws Exception {
        int threads = 4;
        int each = 3 * CAPACITY;
        List<Integer> ran = new ArrayList<>();
        List<FutureTask<Void>> offering = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            int first = t * each;
            FutureTask<Void> task =
                    new FutureTask<>(
                            () -> {
                                for (int i = 0; i < each; ) {
                                    int number = first + i;
                                    try {
                                        engine.execute(() -> ran.add(number));
                                        i++;
                                    } catch (DpuException e) {
                                        assertThat(e.status()).isEqualTo(Status.FULL);
                                        Thread.yield();
                                    }
                                }
                            },
                            null);
            offering.add(task);
            Thread.ofPlatform().daemon().start(task);
        }
        engine.runUntil(() -> ran.size() == threads * each, Patience.LIMIT);
        for (FutureTask<Void> task : offering) {
            task.get(Patience.SECONDS, TimeUnit.SECONDS);
        }
        for (int t = 0; t < threads; t++) {
            int first = t * each;
            List<Integer> own = ran.stream().filter(n -> n >= first && n < first + each).toList();
            assertThat(own).hasSize(each);
            List<Integer> sorted = new ArrayList<>(own);
            Collections.sort(sorted);
            assertThat(own).as("in the order of the thread").isEqualTo(sorted);
        }
    }

    @Test
    void shouldAllocateNothingForWork() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        int[] ran = {0};
        Runnable work = () -> ran[0]++;
        long allocated = Long.MAX_VALUE;
        for (int repetition = 0; repetition < 20 && allocated > 0; repetition++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < CAPACITY; i++) {
                engine.execute(work);
            }
            engine.progress();
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).isZero();
    }

    // ---- engines of threads that have ended ----

    @Test
    void shouldBeTakenOverWhenItsThreadHasEnded() throws Exception {
        AtomicReference<ProgressEngine> made = new AtomicReference<>();
        AtomicReference<TinyContext> started = new AtomicReference<>();
        Thread creator =
                Thread.ofPlatform()
                        .name("creator")
                        .start(() -> {
                            ProgressEngine own = ProgressEngine.create();
                            TinyContext context =
                                    new TinyContext(machines.device(Side.HOST, "pf0"));
                            own.start(context, Patience.LIMIT);
                            made.set(own);
                            started.set(context);
                        });
        creator.join();
        ProgressEngine own = made.get();
        TinyContext context = started.get();
        Thrown.with(Status.NOT_PERMITTED, own::progress)
                .hasMessageContainingAll(
                        "thread=" + Thread.currentThread().getName() + "#",
                        "engineThread=creator#" + creator.threadId() + "(ended)",
                        "expected=ProgressEngine.takeOver");
        own.takeOver();
        assertThat(own.owner()).isSameAs(Thread.currentThread());
        BooleanSupplier done = context.submitOne();
        own.runUntil(done, Patience.LIMIT, context);
        context.close();
        own.close();
        Thrown.with(
                Status.BAD_STATE,
                () ->
                        Bounded.call(
                                "take over",
                                () -> {
                                    made.get().takeOver();
                                    return null;
                                }));
    }

    @Test
    void shouldNotBeTakenOverFromAThreadThatLives() throws Exception {
        engine.takeOver(); // it is the owner
        Bounded.call(
                "take over",
                () -> {
                    Thrown.with(Status.NOT_PERMITTED, engine::takeOver)
                            .hasMessageContainingAll(
                                    "has not ended", "expected=ProgressEngine.execute");
                    Thrown.with(Status.NOT_PERMITTED, engine::progress)
                            .hasMessageContaining("expected=ProgressEngine.execute");
                    return null;
                });
        assertThat(engine.await(Duration.ZERO)).isFalse();
    }

    @Test
    void shouldLeaveTheBindingOfTheThreadThatTakesOverAsItIs() throws Exception {
        List<String> told = Collections.synchronizedList(new ArrayList<>());
        AffinityPolicy policy =
                new AffinityPolicy() {
                    @Override
                    public void yielded(long nowNanos, boolean slow) {
                        told.add("yield of " + Thread.currentThread().getName());
                    }

                    @Override
                    public void close() {
                        told.add("close by " + Thread.currentThread().getName());
                    }
                };
        EngineImpl own = madeByAnother(policy);
        own.takeOver();
        awaitWithAYield(own);
        own.close();
        assertThat(told).as("the policy is that of the ended thread").isEmpty();

        EngineImpl kept = new EngineImpl(new AdaptiveWait(policy));
        kept.takeOver(); // it is the owner
        awaitWithAYield(kept);
        kept.close();
        String here = Thread.currentThread().getName();
        assertThat(told).contains("yield of " + here).endsWith("close by " + here);
    }

    private static EngineImpl madeByAnother(@Nullable AffinityPolicy policy) throws Exception {
        FutureTask<EngineImpl> made =
                new FutureTask<>(() -> new EngineImpl(new AdaptiveWait(policy)));
        Thread creator = Thread.ofPlatform().start(made);
        creator.join();
        return made.get();
    }

    /** Waits for what never comes: the first wait of an engine yields before it sleeps. */
    private static void awaitWithAYield(EngineImpl waiting) {
        assertThat(waiting.await(AdaptiveWait.YIELD_NANOS)).isFalse();
    }

    // ---- virtual threads ----

    @Test
    void shouldRefuseVirtualThreadsBeforeAnythingIsCreated() throws Exception {
        EngineImpl left = madeByAnother(null);
        FutureTask<Void> task =
                new FutureTask<>(() -> {
                    long before = pollers();
                    for (Runnable create :
                            List.<Runnable>of(
                                    ProgressEngine::create,
                                    () -> ProgressEngine.create(CpuBinding.any()),
                                    () -> WorkQueue.create(1),
                                    left::takeOver)) {
                        Thrown.with(Status.NOT_SUPPORTED, create::run)
                                .hasMessageContainingAll(
                                        "thread=#" + Thread.currentThread().threadId(),
                                        "virtual=true",
                                        "Thread.ofPlatform",
                                        "ProgressEngine.execute");
                    }
                    assertThat(pollers()).as("open pollers").isEqualTo(before);
                    Thrown.with(Status.NOT_PERMITTED, engine::progress)
                            .hasMessageContaining("expected=ProgressEngine.execute");
                    return null;
                });
        Thread.ofVirtual().start(task);
        task.get(Patience.SECONDS, TimeUnit.SECONDS);
        left.takeOver(); // still that of the thread that has ended
        left.close();
    }

    /** Descriptors of this process that engines and event-driven queues open. */
    private static long pollers() {
        return ProcessView.self().descriptors().stream()
                .filter(target -> target.contains("eventpoll") || target.contains("eventfd"))
                .count();
    }
}
