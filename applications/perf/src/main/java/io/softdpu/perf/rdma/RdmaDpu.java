package io.softdpu.perf.rdma;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
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
 * The DPU side: its memory is accessed, or it receives; and it answers where the host waits for
 * that. It ends when its standard input does, since the host has ended then.
 */
public final class RdmaDpu extends RdmaSide {
    /** A line for the host: connected, and receives are posted. */
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
    private byte seen;
    private long answered;

    /** Opens the machine, the device, the memory and the RDMA instance. */
    public RdmaDpu(RdmaPlan plan, ComchPair pair, Path fabric) {
        super(plan, pair, fabric, Side.DPU, plan.isAnswered(), plan.operation().isReceived());
    }

    /**
     * Serves the host until it has gone.
     *
     * @param in lines of the host
     * @param out lines for it
     * @throws DpuException TIME_OUT after the time limit of all of it; UNEXPECTED for a line that
     *     is none of the host's
     */
    public void run(InputStream in, PrintStream out) {
        Thread.ofPlatform().daemon().name("softdpu-perf-lines").start(() -> readAll(in));
        try (var _ = stop) {
            pin();
            out.println(export());
            String first = awaitLine();
            if (first == null) {
                return; // the host has ended before
            }
            connect(
                    PeerExport.parse(first)
                            .orElseThrow(() ->
                                    DpuLines.unexpected(
                                            first, "peer: connection=..., memory=...", null)));
            out.println(READY);
            serve(out);
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

    private static boolean isEndOfHost(Status status) {
        return switch (status) {
            case CONNECTION_RESET, CONNECTION_ABORTED, NOT_CONNECTED, NOT_FOUND, SHUTDOWN -> true;
            default -> false;
        };
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
            if (plan.isAnswered()) {
                answer();
            }
        }
    }

    private void reply(String line, PrintStream out) {
        switch (line) {
            case RUN -> {
                answered = 0;
                if (receives() != null) {
                    receives().reset();
                }
                if (plan.operation().isAtomic()) {
                    clearValue();
                }
                out.println(ResourceUse.now());
            }
            case END -> {
                out.println(
                        new RdmaRun(
                                receives() == null ? answered : receives().received(),
                                plan.operation().isAtomic() ? value() : 0));
                out.println(ResourceUse.now());
            }
            case LINE -> line().answer(plan.deadlineNanos(), this::checkMeanwhile);
            default -> throw DpuLines.unexpected(line, "run, end or line", null);
        }
    }

    /** Answers what has come, once the answer before has been completed. */
    private void answer() {
        if (!requests().isIdle()) {
            return;
        }
        if (plan.isPolled()) {
            byte number = writtenNumber();
            if (number != seen) {
                seen = number;
                setNumber(number);
                answered++;
                requests().submit(0);
            }
        } else if (receives() != null && receives().received() > answered) {
            answered++;
            requests().submit(0);
        }
    }
}
