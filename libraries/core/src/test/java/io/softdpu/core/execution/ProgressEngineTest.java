package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Await;
import io.softdpu.testkit.Patience;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProgressEngineTest {

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private TinyContext running() {
        TinyContext context = machines.add(new TinyContext(device));
        engine.connect(context);
        context.start();
        return context;
    }

    @Test
    void shouldDriveSeveralContexts() {
        List<TinyContext> contexts = List.of(running(), running(), running());
        List<Context> done = new ArrayList<>();
        for (TinyContext context : contexts) {
            TinyTask task = context.allocate();
            task.setCallback(t -> done.add(t.context()));
            task.submit();
        }
        assertThat(engine.inFlightTasks()).isEqualTo(3);
        engine.progress();
        assertThat(done).containsExactlyElementsOf(contexts);
    }

    @Test
    void shouldConnectAnIdleContextOnceOnly() {
        TinyContext context = machines.add(new TinyContext(device));
        engine.connect(context);
        try (ProgressEngine second = ProgressEngine.create()) {
            Thrown.with(Status.NOT_PERMITTED, () -> second.connect(context))
                    .hasMessageContainingAll("tiny", Thread.currentThread().getName());
            Thrown.with(Status.NOT_PERMITTED, () -> engine.connect(context));
            context.start();
            Thrown.with(Status.BAD_STATE, () -> second.connect(context));
        }
    }

    @Test
    void shouldStayOpenWhileContextsAreStarted() {
        TinyContext context = running();
        Thrown.with(Status.IN_USE, engine::close).hasMessageContaining("first=tiny");
        context.close();
        engine.close();
        engine.close();
        Thrown.with(Status.BAD_STATE, engine::progress);
        TinyContext late = machines.add(new TinyContext(device));
        Thrown.with(Status.BAD_STATE, () -> engine.connect(late));
    }

    @Test
    void shouldNotBeKeptOpenByAContextThatIsIdle() {
        TinyContext never = machines.add(new TinyContext(device));
        engine.connect(never);
        TinyContext stopped = machines.add(new TinyContext(device));
        stopped.setStateChangedCallback((context, from, to) -> {}); // waits for a progress
        engine.connect(stopped);
        stopped.start();
        stopped.stop();
        engine.close();
        for (TinyContext context : List.of(never, stopped)) {
            Thrown.with(Status.BAD_STATE, context::start)
                    .hasMessageContainingAll("engine of the context is closed", "" + context);
            context.close();
            context.close();
        }
    }

    /** The chain of calls that is lost most easily: create, configure, and start by the engine. */
    @Test
    void shouldNotReferenceAContextThatItCouldNotStart() {
        List<WeakReference<TinyContext>> references = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            TinyContext context = new TinyContext(device);
            context.failingStart = new DpuException(Status.NO_MEMORY, "no memory: sizeBytes=1");
            Thrown.with(Status.NO_MEMORY, () -> engine.start(context, Patience.LIMIT));
            references.add(new WeakReference<>(context));
        }
        Await.until(
                "nine are collected", // the last may be in a register
                () -> {
                    System.gc();
                    return references.stream().filter(each -> each.refersTo(null)).count() >= 9;
                });
        engine.close();
        device.close();
    }

    @Test
    void shouldAdvanceOnTheThreadThatMadeItAndNoOther() throws Exception {
        assertThat(engine.owner()).isSameAs(Thread.currentThread());
        TinyContext context = machines.add(new TinyContext(device));
        assertThat(
                        ContextTest.onAnotherThread(
                                engine::progress,
                                () -> engine.await(Duration.ZERO),
                                () -> engine.connect(context),
                                engine::requestNotification,
                                engine::clearNotification,
                                engine::close))
                .hasSize(6)
                .allSatisfy(e ->
                        assertThat(e).hasMessageContainingAll("thread=other", "engineThread="));
        assertThat(engine.hits() + engine.misses()).isZero();
    }

    @Test
    void shouldRefuseProgressAndCloseInsideACallback() {
        TinyContext context = running();
        TinyTask task = context.allocate();
        List<Status> refusals = new ArrayList<>();
        task.setCallback(t -> {
            Thrown.with(Status.NOT_PERMITTED, engine::progress);
            Thrown.with(Status.NOT_PERMITTED, () -> engine.await(Patience.LIMIT));
            Thrown.with(Status.IN_USE, engine::close);
            refusals.add(t.status());
        });
        task.submit();
        engine.progress();
        assertThat(refusals).hasSize(1);
    }

    @Test
    void shouldFinishThePassAndThenThrowWhatACallbackThrew() {
        TinyContext first = running();
        TinyContext second = running();
        IllegalArgumentException one = new IllegalArgumentException("one");
        AssertionError two = new AssertionError("two");
        List<TinyTask> tasks = new ArrayList<>();
        List<Status> ended = new ArrayList<>();
        for (TinyContext context : List.of(first, second)) {
            for (int i = 0; i < 2; i++) {
                TinyTask task = context.allocate();
                task.submit();
                tasks.add(task);
            }
        }
        tasks.get(0).setUserData(1);
        tasks.get(0).callback =
                t -> {
                    throw one;
                };
        tasks.get(1).callback = t -> ended.add(t.status());
        tasks.get(2).callback =
                t -> {
                    throw two;
                };
        tasks.get(3).callback = t -> ended.add(t.status());
        assertThatThrownBy(engine::progress).isSameAs(one).hasSuppressedException(two);
        assertThat(ended).hasSize(2);
        assertThat(engine.inFlightTasks()).isZero();
        assertThat(first.state()).isEqualTo(ContextState.RUNNING);
        assertThat(tasks.get(0).trySubmit()).isEqualTo(Status.SUCCESS);
        tasks.get(0).callback = null;
        assertThat(engine.progress()).isTrue();
        assertThat(engine.progress()).isFalse();
    }

    @Test
    void shouldGoOnAfterWorkInTheMailboxThrew() {
        TinyContext context = running();
        List<String> ran = new ArrayList<>();
        context.postWork(() -> {
            throw new IllegalStateException("posted");
        });
        context.postWork(() -> ran.add("next"));
        assertThatThrownBy(engine::progress).hasMessage("posted");
        engine.progress();
        assertThat(ran).containsExactly("next");
    }

    @Test
    void shouldThrowWhatAStateCallbackThrewWithTheStateChanged() {
        TinyContext context = machines.add(new TinyContext(device));
        context.setStateChangedCallback((c, previous, next) -> {
            throw new IllegalArgumentException(next.name());
        });
        engine.connect(context);
        context.start();
        assertThatThrownBy(engine::progress).hasMessage("RUNNING");
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
        assertThatThrownBy(engine::progress)
                .hasMessage("STOPPING")
                .satisfies(e -> assertThat(e.getSuppressed()[0]).hasMessage("IDLE"));
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldLetContextsComeAndGoInCallbacks() {
        TinyContext going = running();
        TinyContext staying = running();
        TinyContext coming = machines.add(new TinyContext(device));
        going.stop();
        TinyTask task = staying.allocate();
        task.setCallback(t -> {
            Thrown.with(Status.IN_USE, staying::close);
            going.close();
            engine.connect(coming);
            coming.start();
        });
        task.submit();
        engine.progress();
        assertThat(going.calls).endsWith("destroy");
        engine.progress();
        assertThat(staying.state()).as("close has begun to stop it").isEqualTo(ContextState.IDLE);
        TinyTask next = coming.allocate();
        next.submit();
        assertThat(engine.progress()).isTrue();
        assertThat(next.status()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldCountHitsAndMisses() {
        TinyContext context = running();
        TinyTask task = context.allocate();
        task.submit();
        engine.progress();
        engine.progress();
        engine.progress();
        assertThat(engine.hits()).isEqualTo(1);
        assertThat(engine.misses()).isEqualTo(2);
        assertThat(engine.payloadBytesCopied()).isZero();
        assertThat(engine.messageBytesCopied()).isZero();
    }

    @Test
    void shouldAwaitNoLongerThanAsked() {
        running();
        assertThat(engine.await(Duration.ZERO)).isFalse();
        long begin = System.nanoTime();
        assertThat(engine.await(Duration.ofMillis(20))).isFalse();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(20_000_000);
        Thrown.with(Status.INVALID_VALUE, () -> engine.await(Duration.ofNanos(-1)));
    }

    @Test
    void shouldAwaitADeadlineAndAPointInTime() {
        running();
        assertThat(engine.await(Deadline.in(Duration.ZERO))).isFalse();
        assertThat(engine.awaitUntil(System.nanoTime() - 1)).isFalse();
        long begin = System.nanoTime();
        assertThat(engine.await(Deadline.in(Duration.ofMillis(20)))).isFalse();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(20_000_000);
        assertThat(engine.awaitUntil(begin + 40_000_000)).isFalse();
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(40_000_000);
        engine.wake();
        assertThat(engine.await(Deadline.never())).as("woken before").isFalse();
    }

    /** Whether work has ended a sleep: the time limit may end it with work, too, but late. */
    private boolean workedInTime() {
        long begin = System.nanoTime();
        boolean worked = engine.await(Patience.LIMIT);
        return worked && System.nanoTime() - begin < Patience.DEADLINE.toNanos();
    }

    @Test
    void shouldBeWokenByWorkFromAnotherThread() throws Exception {
        TinyContext context = running();
        List<String> ran = new ArrayList<>();
        Thread poster = Thread.ofPlatform().start(() -> context.postWork(() -> ran.add("posted")));
        assertThat(workedInTime()).isTrue();
        assertThat(ran).containsExactly("posted");
        poster.join();
    }

    @Test
    void shouldEndAWaitThatIsGoingOnOrTheNextOne() throws Exception {
        running();
        engine.wake();
        assertThat(engine.await(Duration.ofNanos(Long.MAX_VALUE))).as("woken before").isFalse();
        Thread waker = Thread.ofPlatform().start(engine::wake);
        assertThat(engine.await(Duration.ofNanos(Long.MAX_VALUE))).as("woken meanwhile").isFalse();
        waker.join();
    }

    @Test
    void shouldLoseNoWakeUpBetweenEnginesOfTwoThreads() throws Exception {
        int rounds = 2_000;
        TinyContext here = running();
        AtomicInteger caught = new AtomicInteger();
        CompletableFuture<TinyContext> other = new CompletableFuture<>();
        CompletableFuture<Integer> ended = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try (ProgressEngine theirs = ProgressEngine.create();
                            TinyContext there = new TinyContext(device)) {
                        theirs.connect(there);
                        there.start();
                        other.complete(there);
                        int seen = 0;
                        while (seen < rounds) {
                            if (!theirs.await(Patience.LIMIT)) {
                                throw new AssertionError("not woken: round=" + seen);
                            }
                            while (seen < caught.get()) {
                                seen++;
                                here.postWork(() -> {});
                            }
                        }
                        there.close();
                        ended.complete(seen);
                    } catch (Throwable e) {
                        ended.completeExceptionally(e);
                    }
                });
        TinyContext there = other.get(Patience.SECONDS, TimeUnit.SECONDS);
        for (int i = 0; i < rounds; i++) {
            caught.incrementAndGet();
            there.postWork(() -> {});
            assertThat(workedInTime()).as("woken in round %d", i).isTrue();
        }
        assertThat(ended.get(Patience.SECONDS, TimeUnit.SECONDS)).isEqualTo(rounds);
    }

    @Test
    void shouldArmEachContextBeforeItSleepsAndDisarmItAfter() {
        TinyContext context = running();
        context.calls.clear();
        engine.await(
                Duration.ofMillis(300)); // long enough to get beyond its yields on a busy machine
        assertThat(context.calls).startsWith("arm", "disarm");
        assertThat(context.calls.stream().filter("arm"::equals).count())
                .isEqualTo(context.calls.stream().filter("disarm"::equals).count());
        context.stop();
        engine.progress();
        context.calls.clear();
        engine.await(Duration.ofMillis(1));
        assertThat(context.calls).as("an idle context has nothing to arm").isEmpty();
    }
}
