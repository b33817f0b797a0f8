package io.softdpu.perf.pair;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The DPU's side of a measurement whose processes exchange lines. It ends when its standard input
 * does, since the host has ended then. Subclasses connect, and do the DPU's part of the load.
 *
 * @param <P> the plan
 */
public abstract class PerfDpu<P extends PerfPlan> extends PerfSide<P> implements DpuSide {
    /** A line for the host: connected, and ready for runs. */
    static final String READY = "ready";

    /** A line of the host: begin a run, and tell the resource use. */
    static final String RUN = "run";

    /** A line of the host: tell this side's part of the run, and the resource use. */
    static final String END = "end";

    /** A line of the host: answer in the shared line, for its time. */
    static final String LINE = "line";

    /** Lines of the host, which the reading thread adds. */
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();

    private volatile boolean hasHostEnded;

    /**
     * Opens the machine and the device.
     *
     * @param pair the devices of both sides
     */
    protected PerfDpu(P plan, ComchPair pair, Path fabric) {
        super(plan, Side.DPU, pair, fabric);
    }

    /** Line by which the host connects; null if it needs none. */
    protected @Nullable String export() {
        return null;
    }

    /**
     * Connects to the host.
     *
     * @param line by which the host does
     */
    protected abstract void connect(String line);

    /** Makes the next run ready. */
    protected void prepare() {}

    /** Does this side's part of a run, where it does not wait for the end of the host's. */
    protected void drive() {}

    /** One round while lines are awaited, in runs and between them. */
    protected void turn() {
        stop.check();
        engine.await(EngineTurns.TURN);
    }

    /** Tells this side's part of the run. */
    protected abstract PerfReport report();

    /** Whether a failure comes from the end of the host. */
    protected boolean isEndOfHost(Status status) {
        return status == Status.CONNECTION_RESET || status == Status.SHUTDOWN;
    }

    @Override
    public final String peerName() {
        return "the host";
    }

    /**
     * Serves the host until it has gone.
     *
     * @throws DpuException TIME_OUT after the time limit of all of it; UNEXPECTED for a line that
     *     is none of the host's
     */
    @Override
    public final void run(InputStream in, PrintStream out) {
        Thread.ofPlatform().daemon().name("softdpu-perf-lines").start(() -> readAll(in));
        try (StopSign _ = stop) {
            pin();
            String export = export();
            if (export != null) {
                out.println(export);
            }
            String first = awaitLine();
            if (first != null) {
                connect(first);
                out.println(READY);
                serve(out);
            }
        } catch (DpuException e) {
            DpuException reason = stop.reason();
            if (reason != null) {
                throw reason;
            }
            if (!isEndOfHost(e.status())) {
                throw e;
            }
            // The host has ended during a run: it reports the reason, if it can.
        }
    }

    private void readAll(InputStream in) {
        try {
            BufferedReader reader =
                    new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
                engine.wake();
            }
        } catch (IOException e) {
            // If the stream cannot be read any more, the host has ended, too.
        }
        hasHostEnded = true;
        engine.wake();
    }

    /** The first line of the host; null if it has ended before. */
    private @Nullable String awaitLine() {
        String line = lines.poll();
        while (line == null && !hasHostEnded) {
            turn();
            line = lines.poll();
        }
        return line;
    }

    private void serve(PrintStream out) {
        while (true) {
            String line = lines.poll();
            if (line != null) {
                reply(line, out);
            } else if (hasHostEnded) {
                return;
            }
            turn();
        }
    }

    private void reply(String line, PrintStream out) {
        switch (line) {
            case RUN -> {
                prepare();
                out.println(ResourceUse.now());
                drive();
            }
            case END -> out.println(report());
            case LINE -> line().answer(plan.deadlineNanos(), this::checkMeanwhile);
            default -> throw DpuLines.unexpected(line, "run, end or line", null);
        }
    }
}
