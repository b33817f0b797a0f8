package io.softdpu.benchmarks;

import io.softdpu.core.Side;
import io.softdpu.core.device.Machine;
import io.softdpu.core.execution.Context;
import io.softdpu.core.execution.ContextState;
import io.softdpu.core.execution.ProgressEngine;
import io.softdpu.core.memory.Buf;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Machines of two sides in one JVM, over a fabric folder of their own, and their engines. What is
 * kept here is closed in reverse order.
 */
final class BothSides implements AutoCloseable {
    /** Far beyond any step of a benchmark, also on a slow machine. */
    private static final long DEADLINE_NANOS = TimeUnit.MINUTES.toNanos(3);

    private final Folder folder = Folder.make();
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final List<ProgressEngine> engines = new ArrayList<>();

    Machine machine(Side side) {
        return keep(Machine.builder(side).fabricFolder(folder.path()).open());
    }

    ProgressEngine engine() {
        ProgressEngine engine = keep(ProgressEngine.create());
        engines.add(engine);
        return engine;
    }

    <T extends AutoCloseable> T keep(T resource) {
        opened.push(resource);
        return resource;
    }

    Buf keep(Buf buf) {
        opened.push(buf::release);
        return buf;
    }

    /** Progresses the engines until a condition holds. */
    void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (!condition.getAsBoolean()) {
            engines.forEach(ProgressEngine::progress);
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("the other side does not follow");
            }
        }
    }

    /** Stops and closes a context. */
    void stop(Context context) {
        if (context.state() != ContextState.IDLE) {
            context.stop();
        }
        until(() -> context.state() == ContextState.IDLE);
        context.close();
    }

    /**
     * The deadline of a batch, which begins with the first look.
     *
     * @param deadline of the look before; 0 for the first
     * @param late describes a batch that is not complete by then
     * @return deadline for the next look
     */
    static long requireInTime(long deadline, Supplier<String> late) {
        long now = System.nanoTime();
        if (deadline != 0 && now - deadline > 0) {
            throw new IllegalStateException(late.get());
        }
        return deadline == 0 ? now + DEADLINE_NANOS : deadline;
    }

    @Override
    public void close() throws Exception {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
        folder.close();
    }
}
