package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.Thrown;
import io.softdpu.core.device.Device;
import io.softdpu.core.device.Representor;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Patience;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ContextTest {
    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;
    private final List<String> changes = new ArrayList<>();

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
        engine = machines.add(ProgressEngine.create());
        context = machines.add(new TinyContext(device));
        context.setStateChangedCallback((c, previous, next) -> {
            assertThat(c).isSameAs(context);
            assertThat(context.progressing()).as("inside progress").isTrue();
            changes.add(previous + ">" + next);
        });
    }

    @AfterEach
    void close() throws Exception {
        context.drained = true;
        context.inhabited = false;
        while (context.state() != ContextState.IDLE && engine.progress()) {}
        machines.close();
    }

    private void running() {
        engine.connect(context);
        assertThat(context.start()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldAllowTheTransitionsOfTheTableAndNoOther() {
        for (ContextState from : ContextState.values()) {
            Set<ContextState> allowed = EnumSet.noneOf(ContextState.class);
            for (ContextState to : ContextState.values()) {
                if (from.mayBecome(to)) {
                    allowed.add(to);
                }
            }
            assertThat(allowed)
                    .as("from %s", from)
                    .isEqualTo(
                            switch (from) {
                                case IDLE ->
                                        EnumSet.of(ContextState.STARTING, ContextState.RUNNING);
                                case STARTING ->
                                        EnumSet.of(ContextState.RUNNING, ContextState.STOPPING);
                                case RUNNING -> EnumSet.of(ContextState.STOPPING);
                                case STOPPING -> EnumSet.of(ContextState.IDLE);
                            });
        }
        assertThat(List.of(ContextState.values()))
                .extracting(ContextState::code)
                .containsExactly(0, 1, 2, 3);
    }

    @Test
    void shouldRefuseATransitionThatIsNotInTheTable() {
        running();
        context.postWork(context::establishNow);
        assertThatThrownBy(engine::progress)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("from=RUNNING", "to=RUNNING");
    }

    @Test
    @Clause("core-002")
    void shouldRunFromCreateToCloseAndTellEachChangeInsideProgress() {
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        running();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        assertThat(changes).as("before any progress").isEmpty();
        assertThat(engine.progress()).isTrue();
        assertThat(changes).containsExactly("IDLE>RUNNING");

        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        engine.progress();
        assertThat(changes).containsExactly("IDLE>RUNNING", "RUNNING>STOPPING", "STOPPING>IDLE");
        context.close();
        context.close();
        assertThat(context.calls).containsExactly("start", "stop", "destroy");
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("closed");
    }

    @Test
    void shouldGoThroughStartingWhereAPeerHasToAnswer() {
        context.startsAtOnce = false;
        engine.connect(context);
        assertThat(context.start()).isEqualTo(Status.IN_PROGRESS);
        assertThat(context.state()).isEqualTo(ContextState.STARTING);
        context.establish();
        assertThat(context.state()).isEqualTo(ContextState.STARTING);
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        assertThat(changes).containsExactly("IDLE>STARTING", "STARTING>RUNNING");
    }

    @Test
    void shouldRefuseToBeStartedByItsLibraryOutsideProgress() {
        context.startsAtOnce = false;
        engine.connect(context);
        context.start();
        assertThatThrownBy(context::establishNow)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("only inside progress");
        assertThat(context.state()).isEqualTo(ContextState.STARTING);
    }

    @Test
    void shouldRefuseCallsOfAThreadThatIsNotItsEngines() throws Exception {
        engine.connect(context);
        CompletableFuture.runAsync(
                        () -> {
                            Thrown.with(
                                    Status.NOT_PERMITTED,
                                    () -> context.setStateChangedCallback(null));
                            Thrown.with(Status.NOT_PERMITTED, context::start);
                            Thrown.with(
                                    Status.NOT_PERMITTED,
                                    () -> context.breakDown(Status.IO_FAILED, "broken"));
                        })
                .get(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(context.hasCallback()).isTrue();
    }

    @Test
    void shouldTellItsLibraryWhetherItHasACallback() {
        assertThat(context.hasCallback()).isTrue();
        context.setStateChangedCallback(null);
        assertThat(context.hasCallback()).isFalse();
    }

    @Test
    void shouldLetItsLibraryRefuseTheCloseWhileItIsStarted() {
        running();
        context.refusedClose = new DpuException(Status.IN_USE, "stop it first");
        Thrown.with(Status.IN_USE, context::close).hasMessageContaining("stop it first");
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.stop();
        context.close();
        assertThat(context.calls).containsExactly("start", "stop", "destroy");
    }

    @Test
    void shouldStopFromStarting() {
        context.startsAtOnce = false;
        engine.connect(context);
        context.start();
        assertThat(context.stop()).isEqualTo(Status.SUCCESS);
        engine.progress();
        assertThat(changes).containsExactly("IDLE>STARTING", "STARTING>STOPPING", "STOPPING>IDLE");
    }

    @Test
    void shouldRefuseToStartWithoutAMandatoryItemAndNameIt() {
        engine.connect(context);
        context.setMandatory(false);
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("item=mandatory");
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        context.setMandatory(true);
        assertThat(context.start()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldRefuseToStartWithoutAnEngine() {
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("no progress engine");
    }

    @Test
    @Clause("core-260")
    void shouldRefuseConfigurationAfterStart() {
        running();
        Thrown.with(Status.BAD_STATE, () -> context.setMandatory(false))
                .hasMessage(
                        "context is started: context=%s, state=RUNNING, call=setMandatory,"
                                + " expected=IDLE, before start or after stop",
                        context);
        Thrown.with(Status.BAD_STATE, () -> context.setStateChangedCallback(null))
                .hasMessageContaining("call=setStateChangedCallback, ");
        Thrown.with(Status.BAD_STATE, context::start).hasMessageContaining("call=start, ");
        context.stop();
        engine.progress();
        assertThat(changes)
                .as("the callback of before")
                .containsExactly("IDLE>RUNNING", "RUNNING>STOPPING", "STOPPING>IDLE");
    }

    @Test
    @Clause("core-009")
    void shouldStartAgainWithAnotherConfigurationAfterAStop() {
        running();
        context.stop();
        context.setQueueDepth(2);
        assertThat(context.start()).isEqualTo(Status.SUCCESS);
        context.stop();
        assertThat(context.stop()).as("stopped already").isEqualTo(Status.SUCCESS);
        context.close();
        Thrown.with(Status.BAD_STATE, context::stop).hasMessageContaining("closed");
    }

    @Test
    @Clause("core-138")
    void shouldFlushTasksWhenItStopsAndBeIdleWhenNoneIsLeft() {
        running();
        context.completesByItself = false;
        List<Status> ended = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TinyTask task = context.allocate();
            task.setCallback(t -> {
                ended.add(t.status());
                assertThat(t.trySubmit()).isEqualTo(Status.BAD_STATE);
                t.free();
            });
            task.submit();
        }
        assertThat(context.inFlightTasks()).isEqualTo(3);
        assertThat(engine.inFlightTasks()).isEqualTo(3);
        assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        assertThat(ended).as("no callback outside progress").isEmpty();
        assertThat(context.state()).isEqualTo(ContextState.STOPPING);
        assertThat(context.stop()).as("joins the stop").isEqualTo(Status.IN_PROGRESS);
        assertThat(engine.progress()).isTrue();
        assertThat(ended).containsExactly(Status.SHUTDOWN, Status.SHUTDOWN, Status.SHUTDOWN);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(engine.inFlightTasks()).isZero();
    }

    @Test
    void shouldStayStoppingUntilTheLibraryIsDrained() {
        running();
        context.drained = false;
        assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        engine.progress();
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.STOPPING);
        context.drained = true;
        assertThat(engine.progress()).isTrue();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldStopFromInsideACallback() {
        running();
        context.completesByItself = false;
        TinyTask first = context.allocate();
        TinyTask second = context.allocate();
        List<Status> ended = new ArrayList<>();
        first.setCallback(t -> {
            ended.add(t.status());
            assertThat(context.stop()).isEqualTo(Status.IN_PROGRESS);
        });
        second.setCallback(t -> ended.add(t.status()));
        first.submit();
        second.submit();
        context.allow(1);
        engine.progress();
        engine.progress();
        assertThat(ended).containsExactly(Status.SUCCESS, Status.SHUTDOWN);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    @Clause("core-139")
    void shouldStopByItselfAfterAFatalErrorAndSayWhy() {
        running();
        assertThat(context.failure()).isNull();
        context.postWork(() -> context.breakDown(Status.IO_FAILED, "disk is gone: disk=7"));
        engine.progress();
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(context.failure()).hasMessage("disk is gone: disk=7");
        assertThat(context.failure().status()).isEqualTo(Status.IO_FAILED);
        assertThat(changes).containsExactly("IDLE>RUNNING", "RUNNING>STOPPING", "STOPPING>IDLE");
        context.start();
        assertThat(context.failure()).isNull();
        context.stop();
        engine.progress();
        assertThat(context.failure()).as("stopped by its user").isNull();
    }

    @Test
    @Clause("core-139")
    void shouldStopWhenTheLibraryItselfThrows() {
        running();
        context.defect = new IllegalStateException("already closed");
        assertThatThrownBy(engine::progress).isSameAs(context.defect);
        assertThat(context.state()).isEqualTo(ContextState.STOPPING);
        assertThat(context.failure().status()).isEqualTo(Status.UNEXPECTED);
        context.defect = null;
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldKeepItsDeviceOpenWhileItIsStarted() {
        running();
        Thrown.with(Status.IN_USE, device::close).hasMessageContaining("tiny");
        context.stop();
        device.close();
        Thrown.with(Status.BAD_STATE, context::start)
                .hasMessageContainingAll("device=" + device, "user=" + context);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        context.close();
        Thrown.with(Status.BAD_STATE, () -> new TinyContext(device));
    }

    @Test
    void shouldKeepItsRepresentorOpenWhileItIsStarted() throws Exception {
        Device p0 = machines.device(Side.DPU, "p0");
        Representor hpf0 = p0.findRepresentor("hpf0").open();
        TinyContext behind = new TinyContext(p0, hpf0);
        engine.connect(behind);
        behind.start();
        Thrown.with(Status.IN_USE, hpf0::close).hasMessageContaining("tiny behind a representor");
        behind.stop();
        hpf0.close();
        Thrown.with(Status.BAD_STATE, behind::start)
                .hasMessageContainingAll("representor=" + hpf0, "user=" + behind);
        Thrown.with(Status.BAD_STATE, () -> new TinyContext(p0, hpf0));
        p0.close(); // the start that failed has given it back
        behind.close();
    }

    @Test
    void shouldGiveBackWhatAFailedStartHasTaken() {
        engine.connect(context);
        context.failingStart = new DpuException(Status.NO_MEMORY, "no memory: sizeBytes=1");
        for (int i = 0; i < 3; i++) {
            Thrown.with(Status.NO_MEMORY, context::start);
        }
        engine.close();
        device.close();
        context.close();
    }

    @Test
    void shouldNotStopUnderWhatLivesOnItUnlessItHasTo() {
        running();
        context.inhabited = true;
        Thrown.with(Status.IN_USE, context::stop);
        Thrown.with(Status.IN_USE, context::close);
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        context.postWork(() -> context.breakDown(Status.IO_FAILED, "gone"));
        engine.progress();
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
    }

    @Test
    void shouldNotCollectChangesWithoutEndForAProgressThatNeverComes() {
        engine.connect(context);
        Thrown.with(
                        Status.BAD_STATE,
                        () -> {
                            for (int i = 0; i < 1000; i++) {
                                context.start();
                                context.stop();
                            }
                        })
                .hasMessageContaining("without a progress");
        engine.progress();
        assertThat(changes)
                .hasSizeLessThan(40)
                .startsWith("IDLE>RUNNING")
                .endsWith("STOPPING>IDLE");
        assertThat(context.start()).isEqualTo(Status.SUCCESS);
    }

    @Test
    void shouldNotLetAnyThreadButTheEnginesIn() throws Exception {
        running();
        TinyTask task = context.allocate();
        List<DpuException> refusals =
                onAnotherThread(
                        context::stop,
                        context::close,
                        () -> context.setMandatory(true),
                        context::allocate,
                        task::submit,
                        task::trySubmit,
                        task::free);
        assertThat(refusals)
                .hasSize(7)
                .allSatisfy(e -> {
                    assertThat(e.status()).isEqualTo(Status.NOT_PERMITTED);
                    assertThat(e)
                            .hasMessageContainingAll(
                                    "thread=other",
                                    "engineThread=" + Thread.currentThread().getName());
                });
        assertThat(context.state()).isEqualTo(ContextState.RUNNING);
        task.free();
    }

    static List<DpuException> onAnotherThread(Runnable... calls) throws Exception {
        CompletableFuture<List<DpuException>> done = new CompletableFuture<>();
        Thread.ofPlatform()
                .name("other")
                .start(() -> {
                    List<DpuException> refusals = new ArrayList<>();
                    for (Runnable call : calls) {
                        try {
                            call.run();
                        } catch (DpuException e) {
                            refusals.add(e);
                        } catch (Throwable e) {
                            done.completeExceptionally(e);
                        }
                    }
                    done.complete(refusals);
                });
        return done.get(Patience.SECONDS, TimeUnit.SECONDS);
    }
}
