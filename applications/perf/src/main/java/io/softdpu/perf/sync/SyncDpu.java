package io.softdpu.perf.sync;

import io.softdpu.core.DpuException;
import io.softdpu.core.Side;
import io.softdpu.core.Status;
import io.softdpu.core.device.Device;
import io.softdpu.core.sync.SyncEvent;
import io.softdpu.linux.text.Reason;
import io.softdpu.perf.card.ComchPair;
import io.softdpu.perf.child.ResourceUse;
import io.softdpu.perf.pair.DpuLines;
import io.softdpu.perf.pair.ResourceStack;
import io.softdpu.perf.pair.SideDevice;
import io.softdpu.perf.pair.StopSign;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The DPU side: answers each value of the host by the next one, or adds. It ends when its standard
 * input does, since the host has ended then.
 */
public final class SyncDpu implements AutoCloseable {
    /** A line of the host: the export of the event in hexadecimal digits follows. */
    static final String EXPORT = "export ";

    /** The reply to an export: there is a handle. */
    static final String READY = "ready";

    /** A line of the host: begin a run. */
    static final String RUN = "run";

    /** The value that ends a run of round trips: greater than all others. */
    static final long END = -1;

    private final SyncPlan plan;
    private final ResourceStack resources = new ResourceStack();
    private final Device device;
    private final StopSign stop;

    /** Opens the machine and the device, and pins the calling thread if the plan says so. */
    public SyncDpu(SyncPlan plan, ComchPair pair, Path fabric) {
        this.plan = plan;
        stop = resources.keep(new StopSign(plan.limitNanos(), () -> {}));
        try {
            device = SideDevice.open(resources, Side.DPU, pair, fabric, 0, plan.cpus());
        } catch (RuntimeException e) {
            resources.closeAfter(e);
            throw e;
        }
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
        BufferedReader lines =
                new BufferedReader(new InputStreamReader(in, StandardCharsets.US_ASCII));
        String export = line(lines);
        if (export == null) {
            return; // the host has ended before
        }
        try (SyncHandle handle = SyncHandle.start(imported(export), plan, stop)) {
            out.println(READY);
            for (String line = line(lines); line != null; line = line(lines)) {
                if (!line.equals(RUN)) {
                    throw DpuLines.unexpected(line, RUN, null);
                }
                out.println(ResourceUse.now());
                SyncRun done = run(handle);
                out.println(done);
                out.println(ResourceUse.now());
            }
        } catch (DpuException e) {
            DpuException reason = stop.reason();
            if (reason != null) {
                throw reason;
            }
            if (e.status() != Status.CONNECTION_RESET && e.status() != Status.SHUTDOWN) {
                throw e;
            }
            // The host has ended during a run: it reports the reason, if it can.
        }
    }

    private SyncEvent imported(String line) {
        if (!line.startsWith(EXPORT)) {
            throw DpuLines.unexpected(line, EXPORT + "and an export", null);
        }
        try {
            return SyncEvent.createFromExport(
                    HexFormat.of().parseHex(line.substring(EXPORT.length())), device);
        } catch (IllegalArgumentException e) {
            throw DpuLines.unexpected(line, EXPORT + "and hexadecimal digits", e);
        }
    }

    private SyncRun run(SyncHandle handle) {
        if (plan.mode() == SyncMode.RATE) {
            return SyncRun.adding(handle, plan.nanos(), stop);
        }
        long begin = System.nanoTime();
        long answered = 0;
        while (true) {
            long value = handle.awaitGreater(answered);
            if (value == END) {
                return new SyncRun(0, System.nanoTime() - begin);
            }
            answered = value + 1;
            handle.set(answered);
        }
    }

    private static @Nullable String line(BufferedReader lines) {
        try {
            return lines.readLine();
        } catch (IOException e) {
            throw new DpuException(
                    Status.IO_FAILED, "standard input cannot be read: reason=" + Reason.of(e), e);
        }
    }

    @Override
    public void close() {
        resources.close();
    }
}
