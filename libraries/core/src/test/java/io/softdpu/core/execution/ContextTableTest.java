package io.softdpu.core.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.softdpu.core.DpuException;
import io.softdpu.core.Machines;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.execution.TinyContext.TinyTask;
import io.softdpu.testkit.Clause;
import io.softdpu.testkit.Soak;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Table of the calls that a context allows in each state. */
class ContextTableTest {
    /** A line a call, a column a place in a context's life; - where there is nothing to call. */
    private static final String TABLE =
            """
            call        UNCONNECTED   IDLE          STARTING   RUNNING    STOPPING   CLOSED
            configure   SUCCESS       SUCCESS       BAD_STATE  BAD_STATE  BAD_STATE  BAD_STATE
            callback    SUCCESS       SUCCESS       BAD_STATE  BAD_STATE  BAD_STATE  BAD_STATE
            connect     SUCCESS       NOT_PERMITTED BAD_STATE  BAD_STATE  BAD_STATE  BAD_STATE
            start       BAD_STATE     SUCCESS       BAD_STATE  BAD_STATE  BAD_STATE  BAD_STATE
            allocate    BAD_STATE     BAD_STATE     BAD_STATE  SUCCESS    BAD_STATE  BAD_STATE
            setUp       -             SUCCESS       SUCCESS    SUCCESS    SUCCESS    SUCCESS
            submit      -             BAD_STATE     BAD_STATE  SUCCESS    BAD_STATE  BAD_STATE
            trySubmit   -             BAD_STATE     BAD_STATE  SUCCESS    BAD_STATE  BAD_STATE
            free        -             SUCCESS       SUCCESS    SUCCESS    SUCCESS    SUCCESS
            progress    SUCCESS       SUCCESS       SUCCESS    SUCCESS    SUCCESS    SUCCESS
            stop        SUCCESS       SUCCESS       SUCCESS    SUCCESS    SUCCESS    BAD_STATE
            close       SUCCESS       SUCCESS       SUCCESS    SUCCESS    IN_USE     SUCCESS
            """;

    @TempDir Path folder;
    private Machines machines;
    private Device device;
    private ProgressEngine engine;
    private TinyContext context;
    private @Nullable TinyTask task;

    @BeforeEach
    void open() {
        machines = new Machines(folder);
        device = machines.device(Side.HOST, "pf0");
    }

    @AfterEach
    void close() throws Exception {
        machines.close();
    }

    private void newContext() {
        engine = ProgressEngine.create();
        context = new TinyContext(device);
    }

    private void end() {
        context.drained = true;
        for (int i = 0; context.state() != ContextState.IDLE && i < 100; i++) {
            if (context.state() == ContextState.RUNNING
                    || context.state() == ContextState.STARTING) {
                context.stop();
            }
            boolean unused = engine.progress();
        }
        context.close();
        engine.close();
    }

    /** A context in that place, with a task of its own, which it had when it ran before. */
    private void bring(String place) {
        newContext();
        task = null;
        if (place.equals("UNCONNECTED")) {
            return;
        }
        engine.connect(context);
        context.start();
        task = context.allocate();
        switch (place) {
            case "IDLE" -> context.stop();
            case "STARTING" -> {
                context.stop();
                context.startsAtOnce = false;
                context.start();
            }
            case "RUNNING" -> {}
            case "STOPPING" -> {
                context.drained = false;
                context.stop();
            }
            case "CLOSED" -> context.close();
            default -> throw new AssertionError(place);
        }
        boolean unused = engine.progress();
        String state = place.equals("CLOSED") ? "IDLE" : place;
        assertThat(context.state()).hasToString(state);
    }

    private Status call(String name) {
        try {
            switch (name) {
                case "configure" -> context.setQueueDepth(8);
                case "callback" -> context.setStateChangedCallback(null);
                case "connect" -> engine.connect(context);
                case "start" -> context.start();
                case "allocate" -> context.allocate();
                case "setUp" -> task.setCallback(t -> {});
                case "submit" -> task.submit();
                case "trySubmit" -> {
                    return task.trySubmit();
                }
                case "free" -> task.free();
                case "progress" -> engine.progress();
                case "stop" -> context.stop();
                case "close" -> context.close();
                default -> throw new AssertionError(name);
            }
            return Status.SUCCESS;
        } catch (DpuException e) {
            assertThat(e).as("names what it is about").hasMessageContaining("tiny");
            return e.status();
        }
    }

    @TestFactory
    @Clause({"core-009", "core-146", "core-260"})
    List<DynamicTest> shouldAllowWhatTheTableSays() {
        return rows(call -> !call.equals("close"));
    }

    /** It waits for a library that does not end. */
    @Tag(Soak.FULL_TAG)
    @TestFactory
    @Clause({"core-009", "core-146", "core-260"})
    List<DynamicTest> shouldAllowToCloseWhereTheTableSays() {
        return rows("close"::equals);
    }

    private List<DynamicTest> rows(Predicate<String> wanted) {
        List<String> lines = TABLE.lines().toList();
        String[] places = lines.getFirst().split(" +");
        return lines.stream()
                .skip(1)
                .map(line -> line.split(" +"))
                .filter(cells -> wanted.test(cells[0]))
                .map(cells ->
                        DynamicTest.dynamicTest(
                                cells[0],
                                () -> {
                                    for (int i = 1; i < cells.length; i++) {
                                        if (!cells[i].equals("-")) {
                                            assertCell(
                                                    cells[0], places[i], Status.valueOf(cells[i]));
                                        }
                                    }
                                }))
                .toList();
    }

    private void assertCell(String call, String place, Status expected) {
        bring(place);
        ContextState before = context.state();
        assertThat(call(call)).as("%s in %s", call, place).isEqualTo(expected);
        if (expected != Status.SUCCESS) {
            assertThat(context.state()).as("after a refused %s", call).isEqualTo(before);
        }
        end();
    }

    @Test
    @Clause("core-139")
    void shouldStopByItselfAndFlushTheRestWhenTheWorkOfATaskBreaksIt() {
        newContext();
        engine.connect(context);
        context.start();
        context.completesByItself = false;
        List<Status> ended = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TinyTask each = context.allocate();
            each.setCallback(t -> {
                ended.add(t.status());
                if (ended.size() == 1) {
                    context.breakDown(Status.IO_FAILED, "engine is broken: tiny");
                    assertThat(context.state()).isEqualTo(ContextState.STOPPING);
                    assertThat(t.trySubmit()).isEqualTo(Status.BAD_STATE);
                }
                t.free();
            });
            each.submit();
        }
        context.allow(1);
        for (int i = 0; i < 20; i++) {
            boolean unused = engine.progress();
        }
        assertThat(ended).containsExactly(Status.SUCCESS, Status.SHUTDOWN, Status.SHUTDOWN);
        assertThat(context.state()).isEqualTo(ContextState.IDLE);
        assertThat(context.failure().status()).isEqualTo(Status.IO_FAILED);
        assertThat(context.inFlightTasks()).isZero();
        assertThat(engine.inFlightTasks()).isZero();
        context.completesByItself = true;
        assertThat(context.start()).as("initialised again").isEqualTo(Status.SUCCESS);
        end();
    }

    @Test
    @Clause("core-137")
    void shouldDriveContextsOfSeveralKindsWithoutThreadsOfItsOwn() {
        Set<Thread> before = threads();
        newContext();
        engine.connect(context);
        context.start();
        TinyContext slow = new TinyContext(device);
        engine.connect(slow);
        slow.startsAtOnce = false;
        slow.start();
        TinyJobs other = new TinyJobs("jobs", device);
        engine.connect(other);
        other.start();
        int[] ended = new int[1];
        for (int i = 0; i < 4; i++) {
            TinyTask each = context.allocate();
            each.setCallback(t -> {
                ended[0]++;
                t.free();
            });
            each.submit();
        }
        slow.establish();
        assertThat(ended[0]).as("nothing goes on by itself").isZero();
        assertThat(slow.state()).isEqualTo(ContextState.STARTING);
        assertThat(engine.inFlightTasks()).isEqualTo(4);
        assertThat(before).as("no thread has been started").containsAll(threads());
        for (int i = 0; i < 20; i++) {
            boolean unused = engine.progress();
        }
        assertThat(ended[0]).isEqualTo(4);
        assertThat(slow.state()).isEqualTo(ContextState.RUNNING);
        assertThat(other.state()).isEqualTo(ContextState.RUNNING);
        assertThat(before).as("no thread has been started").containsAll(threads());
        slow.close();
        other.close();
        end();
    }

    /** The threads of the program, without those of the Java runtime, which have another group. */
    private static Set<Thread> threads() {
        ThreadGroup ours = Thread.currentThread().getThreadGroup();
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getThreadGroup() == ours)
                .collect(Collectors.toSet());
    }
}
